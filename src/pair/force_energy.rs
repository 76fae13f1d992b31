//! Splits a molecular law into forces, needed in every step, and energies, needed by observers only.
//!
//! Each compiles to its own outputs alone. Forces have the same bits whether or not energies are evaluated.

use super::law::{Columns, Cutoff, PairLaw, Sum};
use crate::particles::Field;
use crate::simd::real::Real;
use crate::simd::vec3::Vec3;

/// Force of a law with force, energy and virial.
#[derive(Clone, Copy, Debug)]
pub struct Forces<L>(pub L);

/// Energy and virial of a law with force, energy and virial.
#[derive(Clone, Copy, Debug)]
pub struct Energies<L>(pub L);

const OUTPUTS: [Field; 3] = [Field::Force, Field::PairEnergy, Field::Virial];

/// Components of the force.
const FORCE: usize = 3;

/// Splits a law's sums, which must be force, energy, virial.
const fn sums<L: PairLaw>() -> (&'static [Sum], &'static [Sum]) {
    assert!(L::OUTPUTS.len() == OUTPUTS.len() && L::SUMS.len() == FORCE + 2, "force, energy and virial");
    let mut k = 0;
    while k < OUTPUTS.len() {
        assert!(L::OUTPUTS[k] as usize == OUTPUTS[k] as usize, "force, energy and virial");
        k += 1;
    }
    L::SUMS.split_at(FORCE)
}

/// Output columns of a law from sums that begin with column `first`; other sums are 0.
#[inline(always)]
fn finished<L: PairLaw>(law: &L, i: L::Particle<f64>, first: usize, sums: &[f64]) -> [f64; FORCE + 2] {
    let known = |c: usize| c.checked_sub(first).and_then(|c| sums.get(c)).copied().unwrap_or(0.0);
    let output = law.finish(i, L::Sums::<f64>::from_columns(known)).to_columns();
    std::array::from_fn(|c| output.as_ref()[c])
}

impl<L: PairLaw> PairLaw for Forces<L> {
    const NAME: &'static str = L::NAME;
    const CUTOFF: Cutoff = L::CUTOFF;
    const INPUTS: &'static [Field] = L::INPUTS;
    const OUTPUTS: &'static [Field] = OUTPUTS.split_at(1).0;
    const SUMS: &'static [Sum] = sums::<L>().0;
    type Parameters<R: Real> = L::Parameters<R>;
    const PREPARES: bool = L::PREPARES;
    type Particle<R: Real> = L::Particle<R>;
    type Prepared<R: Real> = L::Prepared<R>;
    type Sums<R: Real> = Vec3<R>;
    type Distance<R: Real> = L::Distance<R>;
    type Output = Vec3<f64>;

    fn namespace() -> String {
        L::namespace()
    }

    fn constants(&self) -> String {
        self.0.constants()
    }

    fn device_definitions(&self) -> String {
        self.0.device_definitions()
    }

    #[inline(always)]
    fn parameters<R: Real>(&self, token: R::Token) -> Self::Parameters<R> {
        self.0.parameters(token)
    }

    #[inline(always)]
    fn prepare<R: Real>(
        token: R::Token,
        law: Self::Parameters<R>,
        particle: Self::Particle<R>,
    ) -> Self::Prepared<R> {
        L::prepare(token, law, particle)
    }

    #[inline(always)]
    fn distance<R: Real>(token: R::Token, r2: R) -> L::Distance<R> {
        L::distance(token, r2)
    }

    #[inline(always)]
    fn interact_at<R: Real>(
        token: R::Token,
        law: Self::Parameters<R>,
        i: Self::Prepared<R>,
        j: Self::Prepared<R>,
        r: Vec3<R>,
        r2: R,
        distance: L::Distance<R>,
    ) -> Vec3<R> {
        let sums = L::interact_at(token, law, i, j, r, r2, distance).to_columns();
        let sums = sums.as_ref();
        Vec3 { x: sums[0], y: sums[1], z: sums[2] }
    }

    #[inline(always)]
    fn finish(&self, i: Self::Particle<f64>, sums: Vec3<f64>) -> Vec3<f64> {
        let [x, y, z, ..] = finished(&self.0, i, 0, &sums.to_columns());
        Vec3 { x, y, z }
    }
}

impl<L: PairLaw> PairLaw for Energies<L> {
    const NAME: &'static str = L::NAME;
    const CUTOFF: Cutoff = L::CUTOFF;
    const INPUTS: &'static [Field] = L::INPUTS;
    const OUTPUTS: &'static [Field] = OUTPUTS.split_at(1).1;
    const SUMS: &'static [Sum] = sums::<L>().1;
    type Parameters<R: Real> = L::Parameters<R>;
    const PREPARES: bool = L::PREPARES;
    const FIRST_COLUMN: usize = FORCE;
    type Particle<R: Real> = L::Particle<R>;
    type Prepared<R: Real> = L::Prepared<R>;
    type Sums<R: Real> = [R; 2];
    type Distance<R: Real> = L::Distance<R>;
    type Output = [f64; 2];

    fn namespace() -> String {
        L::namespace()
    }

    fn constants(&self) -> String {
        self.0.constants()
    }

    fn device_definitions(&self) -> String {
        self.0.device_definitions()
    }

    #[inline(always)]
    fn parameters<R: Real>(&self, token: R::Token) -> Self::Parameters<R> {
        self.0.parameters(token)
    }

    #[inline(always)]
    fn prepare<R: Real>(
        token: R::Token,
        law: Self::Parameters<R>,
        particle: Self::Particle<R>,
    ) -> Self::Prepared<R> {
        L::prepare(token, law, particle)
    }

    #[inline(always)]
    fn distance<R: Real>(token: R::Token, r2: R) -> L::Distance<R> {
        L::distance(token, r2)
    }

    #[inline(always)]
    fn interact_at<R: Real>(
        token: R::Token,
        law: Self::Parameters<R>,
        i: Self::Prepared<R>,
        j: Self::Prepared<R>,
        r: Vec3<R>,
        r2: R,
        distance: L::Distance<R>,
    ) -> [R; 2] {
        let sums = L::interact_at(token, law, i, j, r, r2, distance).to_columns();
        let sums = sums.as_ref();
        [sums[FORCE], sums[FORCE + 1]]
    }

    #[inline(always)]
    fn finish(&self, i: Self::Particle<f64>, sums: [f64; 2]) -> [f64; 2] {
        let [_, _, _, energy, virial] = finished(&self.0, i, FORCE, &sums);
        [energy, virial]
    }
}

impl<R: Copy> Columns<R> for Vec3<R> {
    const COUNT: usize = FORCE;
    type Array = [R; FORCE];
    #[inline(always)]
    fn from_columns(mut column: impl FnMut(usize) -> R) -> Self {
        Vec3 { x: column(0), y: column(1), z: column(2) }
    }
    #[inline(always)]
    fn to_columns(self) -> [R; FORCE] {
        [self.x, self.y, self.z]
    }
    #[inline(always)]
    fn zip(self, other: Self, mut join: impl FnMut(usize, R, R) -> R) -> Self {
        Vec3 { x: join(0, self.x, other.x), y: join(1, self.y, other.y), z: join(2, self.z, other.z) }
    }
}

impl<R: Copy> Columns<R> for [R; 2] {
    const COUNT: usize = 2;
    type Array = [R; 2];
    #[inline(always)]
    fn from_columns(mut column: impl FnMut(usize) -> R) -> Self {
        [column(0), column(1)]
    }
    #[inline(always)]
    fn to_columns(self) -> [R; 2] {
        self
    }
    #[inline(always)]
    fn zip(self, other: Self, mut join: impl FnMut(usize, R, R) -> R) -> Self {
        [join(0, self[0], other[0]), join(1, self[1], other[1])]
    }
}
