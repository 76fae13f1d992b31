//! What the engine knows of a law; `#[pair]` writes the implementations.

use super::real::Real;
use super::vec3::Vec3;
use crate::particles::Field;
use std::marker::PhantomData;

/// When a pair acts on its particle i.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cutoff {
    /// r < radius of i.
    Own,
    /// r < the larger radius of the two.
    Either,
    /// r < the one radius that all particles have, the largest of the pass.
    Common,
}

/// What exchanging i and j does to a quantity of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parity {
    /// It stays.
    Even,
    /// It changes its sign.
    Odd,
    /// It must be evaluated for both.
    Neither,
}

/// How the quantities of a particle's pairs become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// They are added, from 0.
    Sum,
    /// The least, at most infinity.
    Minimum,
    /// The largest, at least minus infinity.
    Maximum,
}

impl Reduction {
    /// The value of no pair.
    pub const fn identity(self) -> f64 {
        match self {
            Reduction::Sum => 0.0,
            Reduction::Minimum => f64::INFINITY,
            Reduction::Maximum => f64::NEG_INFINITY,
        }
    }

    /// Two values become one.
    #[inline(always)]
    pub fn join<R: Real>(self, a: R, b: R) -> R {
        match self {
            Reduction::Sum => a + b,
            Reduction::Minimum => a.min(b),
            Reduction::Maximum => a.max(b),
        }
    }
}

/// Symmetry and reduction of one column of a law's sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sum {
    /// Under exchange of i and j.
    pub parity: Parity,
    /// Over the pairs of i.
    pub reduction: Reduction,
}

/// A struct of lanes seen as an array of its components.
pub trait Columns<R>: Copy {
    /// Number of components.
    const COUNT: usize;
    /// The components.
    type Array: Copy + AsRef<[R]> + AsMut<[R]>;
    /// Made component by component.
    fn from_columns(column: impl FnMut(usize) -> R) -> Self;
    /// Taken apart.
    fn to_columns(self) -> Self::Array;
    /// Joined with another, component by component; the values never leave the registers for an array.
    fn zip(self, other: Self, join: impl FnMut(usize, R, R) -> R) -> Self;
}

/// The input of laws whose pairs need nothing but their distance.
#[derive(Clone, Copy, Debug)]
pub struct NoInput<R>(PhantomData<R>);

impl<R: Copy> Columns<R> for NoInput<R> {
    const COUNT: usize = 0;
    type Array = [R; 0];
    #[inline(always)]
    fn from_columns(_: impl FnMut(usize) -> R) -> Self {
        Self(PhantomData)
    }
    #[inline(always)]
    fn to_columns(self) -> [R; 0] {
        []
    }
    #[inline(always)]
    fn zip(self, _: Self, _: impl FnMut(usize, R, R) -> R) -> Self {
        self
    }
}

/// A law of pairs: what they need, what they give, and how it is stored. Written by `#[pair]`.
pub trait PairLaw: Copy + Send + Sync + 'static {
    /// The name of the law's module.
    const NAME: &'static str;
    /// When a pair acts.
    const CUTOFF: Cutoff;
    /// The fields read, in the order of the columns of `Particle`.
    const INPUTS: &'static [Field];
    /// The fields written, in the order of the columns of `Output`.
    const OUTPUTS: &'static [Field];
    /// Symmetry and reduction per column of `Sums`.
    const SUMS: &'static [Sum];
    /// The law's parameters in lanes.
    type Parameters<R: Real>: Copy;
    /// Whether pairs need something else of their particles than the fields that are read.
    const PREPARES: bool;
    /// What is read of a particle.
    type Particle<R: Real>: Columns<R>;
    /// What a pair needs of each of its particles.
    type Prepared<R: Real>: Columns<R>;
    /// What a pair gives.
    type Sums<R: Real>: Columns<R>;
    /// What of it follows from the distance alone, and can be evaluated before all else.
    type Distance<R: Real>: Copy;
    /// What is stored of a particle.
    type Output: Columns<f64> + Send;

    /// The first column of the printed law's sums, and of its outputs, that this is about: not 0 for a part of a law.
    const FIRST_COLUMN: usize = 0;

    /// The printed law's namespace.
    fn namespace() -> String {
        Self::NAME.into()
    }
    /// The printed law's `Law` of these parameters, as C++ initializers between commas.
    fn constants(&self) -> String;
    /// The parameters, lifted to lanes.
    fn parameters<R: Real>(&self, token: R::Token) -> Self::Parameters<R>;
    /// From what is read of a particle to what its pairs need, once for all of them.
    fn prepare<R: Real>(
        token: R::Token,
        law: Self::Parameters<R>,
        particle: Self::Particle<R>,
    ) -> Self::Prepared<R>;
    /// What follows from the square of a pair's distance alone.
    fn distance<R: Real>(token: R::Token, r2: R) -> Self::Distance<R>;
    /// What the pair at that distance gives to i; r = r_i - r_j, r2 = r.r.
    fn interact_at<R: Real>(
        token: R::Token,
        law: Self::Parameters<R>,
        i: Self::Prepared<R>,
        j: Self::Prepared<R>,
        r: Vec3<R>,
        r2: R,
        distance: Self::Distance<R>,
    ) -> Self::Sums<R>;
    /// What the pair gives to i.
    #[inline(always)]
    fn interact<R: Real>(
        token: R::Token,
        law: Self::Parameters<R>,
        i: Self::Prepared<R>,
        j: Self::Prepared<R>,
        r: Vec3<R>,
        r2: R,
    ) -> Self::Sums<R> {
        Self::interact_at(token, law, i, j, r, r2, Self::distance(token, r2))
    }
    /// From a particle's sums to what is stored, self terms included.
    fn finish(&self, i: Self::Particle<f64>, sums: Self::Sums<f64>) -> Self::Output;
}
