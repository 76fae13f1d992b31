//! Two laws in one pass: a pair's distance is evaluated once, and both laws add to the same sums.

use super::device_text;
use super::law::{Columns, Cutoff, PairLaw, Parity, Reduction, Sum};
use crate::particles::Field;
use crate::simd::real::Real;
use crate::simd::vec3::Vec3;
use std::marker::PhantomData;

/// Maximum number of input columns of both laws.
const MOST: usize = 8;

/// Two laws with the same sums and outputs, each within its own cutoff.
///
/// The radius of the pass is the larger cutoff. `finish` of both laws must be the same linear map of the sums
/// plus self terms: the result is `finish` of the first law for all sums, plus that of the second law for no
/// pairs.
#[derive(Clone, Copy, Debug)]
pub struct Together<A, B> {
    /// The first law.
    pub first: A,
    /// The second law.
    pub second: B,
    /// Squared cutoffs.
    pub cutoffs2: [f64; 2],
}

impl<A: PairLaw, B: PairLaw> Together<A, B> {
    /// Combines two laws with their cutoffs.
    pub fn new(first: A, second: B, cutoffs: [f64; 2]) -> Self {
        const { assert!(alike(A::SUMS, B::SUMS), "the two laws have different sums") };
        // The printed law has no prepare function.
        const { assert!(!A::PREPARES && !B::PREPARES, "laws with a prepare function cannot be combined") };
        Together { first, second, cutoffs2: cutoffs.map(|cutoff| cutoff * cutoff) }
    }

    const JOINED: [Field; MOST] = {
        assert!(A::INPUTS.len() + B::INPUTS.len() <= MOST, "too many inputs");
        let mut joined = [Field::Position; MOST];
        let mut k = 0;
        while k < A::INPUTS.len() + B::INPUTS.len() {
            joined[k] = if k < A::INPUTS.len() { A::INPUTS[k] } else { B::INPUTS[k - A::INPUTS.len()] };
            k += 1;
        }
        joined
    };
}

/// Whether two laws have the same columns of sums, all of them reduced by addition and even or odd.
const fn alike(a: &[Sum], b: &[Sum]) -> bool {
    let mut same = a.len() == b.len();
    let mut k = 0;
    while same && k < a.len() {
        same = a[k].parity as u8 == b[k].parity as u8
            && !matches!(a[k].parity, Parity::Neither)
            && matches!((a[k].reduction, b[k].reduction), (Reduction::Sum, Reduction::Sum));
        k += 1;
    }
    same
}

/// Parameters of both laws.
#[derive(Clone, Copy, Debug)]
pub struct Parameters<P, Q, R> {
    first: P,
    second: Q,
    cutoffs2: [R; 2],
}

/// Inputs of both laws, those of the first law first.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<P, Q, R> {
    first: P,
    second: Q,
    lane: PhantomData<R>,
}

/// Columns of both laws.
#[derive(Clone, Copy, Debug)]
pub struct Few<R> {
    values: Option<[R; MOST]>,
    count: usize,
}

impl<R> AsRef<[R]> for Few<R> {
    fn as_ref(&self) -> &[R] {
        self.values.as_ref().map_or(&[], |values| &values[..self.count])
    }
}

impl<R> AsMut<[R]> for Few<R> {
    fn as_mut(&mut self) -> &mut [R] {
        self.values.as_mut().map_or(&mut [], |values| &mut values[..self.count])
    }
}

impl<R: Copy, P: Columns<R>, Q: Columns<R>> Columns<R> for Inputs<P, Q, R> {
    const COUNT: usize = P::COUNT + Q::COUNT;
    type Array = Few<R>;

    #[inline(always)]
    fn from_columns(mut column: impl FnMut(usize) -> R) -> Self {
        let first = P::from_columns(&mut column);
        let second = Q::from_columns(
            #[inline(always)]
            |c| column(P::COUNT + c),
        );
        Inputs { first, second, lane: PhantomData }
    }

    fn to_columns(self) -> Few<R> {
        let (first, second) = (self.first.to_columns(), self.second.to_columns());
        let mut all = first.as_ref().iter().chain(second.as_ref()).copied();
        let values = all.next().map(|some| {
            let mut values = [some; MOST];
            values[1..].iter_mut().zip(all).for_each(|(value, next)| *value = next);
            values
        });
        Few { values, count: Self::COUNT }
    }

    #[inline(always)]
    fn zip(self, other: Self, mut join: impl FnMut(usize, R, R) -> R) -> Self {
        let first = self.first.zip(other.first, &mut join);
        let second = self.second.zip(
            other.second,
            #[inline(always)]
            |c, a, b| join(P::COUNT + c, a, b),
        );
        Inputs { first, second, lane: PhantomData }
    }
}

impl<A: PairLaw, B: PairLaw> PairLaw for Together<A, B> {
    const NAME: &'static str = "together";
    const CUTOFF: Cutoff = Cutoff::Common;
    const INPUTS: &'static [Field] = Self::JOINED.split_at(A::INPUTS.len() + B::INPUTS.len()).0;
    const OUTPUTS: &'static [Field] = A::OUTPUTS;
    const SUMS: &'static [Sum] = A::SUMS;
    type Parameters<R: Real> = Parameters<A::Parameters<R>, B::Parameters<R>, R>;
    const PREPARES: bool = A::PREPARES || B::PREPARES;
    type Particle<R: Real> = Inputs<A::Particle<R>, B::Particle<R>, R>;
    type Prepared<R: Real> = Inputs<A::Prepared<R>, B::Prepared<R>, R>;
    type Sums<R: Real> = A::Sums<R>;
    type Distance<R: Real> = (A::Distance<R>, B::Distance<R>);
    type Output = A::Output;

    fn namespace() -> String {
        format!("{}_and_{}", A::NAME, B::NAME)
    }

    fn constants(&self) -> String {
        let [first, second] = self.cutoffs2.map(device_text::real);
        format!("{{{}}}, {{{}}}, {first}, {second}", self.first.constants(), self.second.constants())
    }

    fn device_definitions(&self) -> String {
        self.first.device_definitions() + &self.second.device_definitions()
    }

    #[inline(always)]
    fn parameters<R: Real>(&self, token: R::Token) -> Self::Parameters<R> {
        let [first, second] = self.cutoffs2;
        Parameters {
            first: self.first.parameters::<R>(token),
            second: self.second.parameters::<R>(token),
            cutoffs2: [R::literal(token, first), R::literal(token, second)],
        }
    }

    #[inline(always)]
    fn prepare<R: Real>(
        token: R::Token,
        law: Self::Parameters<R>,
        particle: Self::Particle<R>,
    ) -> Self::Prepared<R> {
        let first = A::prepare(token, law.first, particle.first);
        let second = B::prepare(token, law.second, particle.second);
        Inputs { first, second, lane: PhantomData }
    }

    #[inline(always)]
    fn distance<R: Real>(token: R::Token, r2: R) -> Self::Distance<R> {
        (A::distance(token, r2), B::distance(token, r2))
    }

    #[inline(always)]
    fn interact_at<R: Real>(
        token: R::Token,
        law: Self::Parameters<R>,
        i: Self::Prepared<R>,
        j: Self::Prepared<R>,
        r: Vec3<R>,
        r2: R,
        (first, second): Self::Distance<R>,
    ) -> Self::Sums<R> {
        let first = A::interact_at::<R>(token, law.first, i.first, j.first, r, r2, first);
        let second = B::interact_at::<R>(token, law.second, i.second, j.second, r, r2, second).to_columns();
        let second = A::Sums::<R>::from_columns(
            #[inline(always)]
            |c| second.as_ref()[c],
        );
        let within = [r2.less(law.cutoffs2[0]), r2.less(law.cutoffs2[1])];
        let zero = R::literal(token, 0.0);
        first.zip(
            second,
            #[inline(always)]
            |_, a, b| {
                let sum = R::select(within[0], a, zero);
                R::select(within[1], sum + b, sum)
            },
        )
    }

    #[inline(always)]
    fn finish(&self, i: Self::Particle<f64>, sums: Self::Sums<f64>) -> Self::Output {
        let own = self.second.finish(i.second, B::Sums::<f64>::from_columns(|_| 0.0)).to_columns();
        let own = A::Output::from_columns(|c| own.as_ref()[c]);
        self.first.finish(i.first, sums).zip(own, |_, a, b| a + b)
    }
}

/// CUDA C++ of two combined molecular laws: the namespace `<first>_and_<second>`, to be placed after those of
/// the two.
pub fn printed<A: PairLaw, B: PairLaw>() -> String {
    let (first, second) = (A::NAME, B::NAME);
    let member = |inputs: &[Field], law: &str, name: &str| match inputs.is_empty() {
        true => String::new(),
        false => format!("    {law}::Particle {name};\n"),
    };
    let pair = |inputs: &[Field], name: &str| match inputs.is_empty() {
        true => String::new(),
        false => format!("i.{name}, j.{name}, "),
    };
    let own =
        |inputs: &[Field], name: &str| if inputs.is_empty() { String::new() } else { format!("i.{name}, ") };
    let list = |codes: Vec<&str>| codes.join(", ");
    let parities = A::SUMS.iter().map(|sum| if sum.parity == Parity::Odd { "-1" } else { "1" }).collect();
    format!(
        "/// Both laws, each within its cutoff, added.\nnamespace {first}_and_{second} {{\n\n\
         struct Law {{\n    {first}::Law first;\n    {second}::Law second;\n    Real first_cutoff2, second_cutoff2;\n}};\n\n\
         struct Particle {{\n{}{}}};\n\n\
         using Sums = {first}::Sums;\nusing Output = {first}::Output;\n\n\
         constexpr int INPUTS = {}, PREPARED = INPUTS, SUMS = {first}::SUMS, OUTPUTS = {first}::OUTPUTS;\n\
         constexpr int PARITY[] = {{{}}};\nconstexpr int REDUCTION[] = {{{}}};\n\n\
         __device__ inline Sums interact(Law law, Particle i, Particle j, Vec3 r, Real r2) {{\n\
         \x20   const auto a = {first}::interact(law.first, {}r, r2);\n\
         \x20   const auto b = {second}::interact(law.second, {}r, r2);\n\
         \x20   Sums sums{{}};\n\
         \x20   if (r2 < law.first_cutoff2) sums = {{a.force, a.energy, a.virial}};\n\
         \x20   if (r2 < law.second_cutoff2)\n\
         \x20       sums = {{sums.force + b.force, sums.energy + b.energy, sums.virial + b.virial}};\n\
         \x20   return sums;\n}}\n\n\
         __device__ inline Output finish(Law law, Particle i, Sums sums) {{\n\
         \x20   const auto all = {first}::finish(law.first, {}sums);\n\
         \x20   const auto own = {second}::finish(law.second, {}{second}::Sums{{}});\n\
         \x20   return {{all.force + own.force, all.pair_energy + own.pair_energy, all.virial + own.virial}};\n}}\n\n\
         }} // namespace {first}_and_{second}\n",
        member(A::INPUTS, first, "first"),
        member(B::INPUTS, second, "second"),
        <Together<A, B> as PairLaw>::Particle::<f64>::COUNT,
        list(parities),
        list(vec!["0"; A::SUMS.len()]),
        pair(A::INPUTS, "first"),
        pair(B::INPUTS, "second"),
        own(A::INPUTS, "first"),
        own(B::INPUTS, "second"),
    )
}
