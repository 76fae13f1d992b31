//! Vectors of pairs on their way through the stages of a sweep over tiles.
//!
//! A pair's instructions wait for each other, all the way from its particles to what these are given. A processor looks ahead by
//! fewer instructions than that way has, and those that wait are in the way of the others. So each vector is a stage ahead of the
//! next one, in the order of the program too: in one step the oldest is given, the next ones are evaluated, and the latest is read.

use super::segment::Segment;
use super::{joined, masked, nothing};
use crate::pair::lane::Scalar;
use crate::pair::law::{Columns, PairLaw};
use crate::pair::real::Real;
use crate::pair::vec3::Vec3;
use fearless_simd::Simd;

/// Vectors that are read and have not been evaluated.
pub(super) const UNDER_WAY: usize = 3;

/// What all pairs need: the square of their reach, and the law's parameters.
#[derive(Clone, Copy)]
pub(super) struct AllPairs<L: PairLaw, R: Real> {
    pub reach: R,
    pub parameters: L::Parameters<R>,
}

/// Positions of particles, and what else pairs need of them.
pub(super) type Particles<L, R> = (Vec3<R>, <L as PairLaw>::Prepared<R>);

/// A vector of pairs of four rows.
#[derive(Clone, Copy)]
pub(super) struct Apart<L: PairLaw, R: Real> {
    pub r: Vec3<R>,
    pub r2: R,
    pub j: L::Prepared<R>,
}

/// The same with what follows from their distance alone.
#[derive(Clone, Copy)]
struct Met<L: PairLaw, R: Real> {
    apart: Apart<L, R>,
    distance: L::Distance<R>,
}

/// The rows of a tile in lanes, and what their pairs need.
#[derive(Clone, Copy)]
pub(super) struct Rows<L: PairLaw, R: Real> {
    pub position: Vec3<R>,
    pub prepared: L::Prepared<R>,
}

/// Lanes of the type T.
type R<T, S> = <T as Scalar>::Lanes<S>;

/// The vectors under way, by how far they are.
pub(super) struct Stages<L: PairLaw, T: Scalar, S: Simd> {
    pairs: AllPairs<L, R<T, S>>,
    /// The words of their particles j, the latest first.
    words: [u64; UNDER_WAY + 1],
    read: Particles<L, R<T, S>>,
    apart: Apart<L, R<T, S>>,
    met: Met<L, R<T, S>>,
    given: L::Sums<R<T, S>>,
}

impl<L: PairLaw, T: Scalar, S: Simd> Stages<L, T, S> {
    /// Pairs of nobody, whose word this is.
    #[inline(always)]
    pub fn new(simd: S, pairs: AllPairs<L, R<T, S>>, nobody: u64) -> Self {
        let nowhere = R::<T, S>::literal(simd, f64::NAN);
        let position = Vec3 { x: nowhere, y: nowhere, z: nowhere };
        let j = L::Prepared::<R<T, S>>::from_columns(
            #[inline(always)]
            |_| R::<T, S>::literal(simd, 0.0),
        );
        let apart = Apart { r: position, r2: nowhere, j };
        Stages {
            pairs,
            words: [nobody; UNDER_WAY + 1],
            read: (position, j),
            apart,
            met: Met { apart, distance: L::distance(simd, nowhere) },
            given: nothing::<L, R<T, S>>(simd),
        }
    }

    /// Before the first step: rows of nobody's pairs.
    #[inline(always)]
    pub fn rows(&self) -> Rows<L, R<T, S>> {
        let (position, prepared) = self.read;
        Rows { position, prepared }
    }

    /// Every vector goes on by one stage: what the oldest gives goes to its particles j, the next one is evaluated for its rows, `old`,
    /// and their totals, what follows from the distance of the next one is found, the latest meets its rows, `new`, which may be others, and
    /// that of a word is read.
    #[inline(always)]
    pub fn step<const IMAGES: bool>(
        &mut self,
        simd: S,
        segment: &mut Segment<L, T>,
        word: u64,
        [old, new]: [&Rows<L, R<T, S>>; 2],
        totals: &mut L::Sums<R<T, S>>,
    ) {
        segment.give(simd, self.words[UNDER_WAY], self.given);
        let Met { apart, distance } = self.met;
        self.given = evaluated::<L, T, S>(simd, &self.pairs, old, apart, distance, None);
        *totals = joined::<L, R<T, S>>(*totals, self.given);
        self.met = Met { apart: self.apart, distance: L::distance(simd, self.apart.r2) };
        self.apart = segment.apart::<S, IMAGES>(simd, new, self.read);
        self.read = segment.read(simd, word);
        let [latest, next, last, _] = self.words;
        self.words = [word, latest, next, last];
    }

    /// Give the last ones their part, behind which nobody comes.
    #[inline(always)]
    pub fn end(self, simd: S, segment: &mut Segment<L, T>) {
        segment.give(simd, self.words[UNDER_WAY], self.given);
    }
}

/// What a vector of pairs, or those of some lanes, gives to the rows.
#[inline(always)]
pub(super) fn evaluated<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    pairs: &AllPairs<L, R<T, S>>,
    i: &Rows<L, R<T, S>>,
    Apart { r, r2, j }: Apart<L, R<T, S>>,
    distance: L::Distance<R<T, S>>,
    lanes: Option<<R<T, S> as Real>::Mask>,
) -> L::Sums<R<T, S>> {
    let mut mask = r2.less(pairs.reach);
    if let Some(lanes) = lanes {
        mask = mask & lanes;
    }
    masked::<L, R<T, S>>(
        simd,
        mask,
        L::interact_at::<R<T, S>>(simd, pairs.parameters, i.prepared, j, r, r2, distance),
    )
}
