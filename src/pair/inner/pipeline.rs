//! Software pipelining of a sweep over tiles.
//!
//! The dependency chain of a pair, from gathering its particles to scattering its reactions, exceeds the
//! out-of-order window. So five vectors of pairs are in flight, each one stage behind the next: a step
//! scatters the reactions of the oldest, evaluates the second, finds distance terms of the third and
//! separations of the fourth, and gathers the fifth.

use super::segment::Segment;
use super::{identity_sums, join_sums, masked_sums};
use crate::pair::law::{Columns, PairLaw};
use crate::simd::Scalar;
use crate::simd::real::Real;
use crate::simd::vec3::Vec3;
use fearless_simd::Simd;

/// Vectors in flight that are gathered but not evaluated yet.
pub(super) const IN_FLIGHT: usize = 3;

/// Constants of all pairs: squared cutoff and parameters of the law.
#[derive(Clone, Copy)]
pub(super) struct PairConstants<L: PairLaw, R: Real> {
    pub reach: R,
    pub parameters: L::Parameters<R>,
}

/// Positions and prepared inputs of particles in lanes.
pub(super) type Particles<L, R> = (Vec3<R>, <L as PairLaw>::Prepared<R>);

/// Separations of a vector of pairs.
#[derive(Clone, Copy)]
pub(super) struct Separation<L: PairLaw, R: Real> {
    pub r: Vec3<R>,
    pub r2: R,
    pub j: L::Prepared<R>,
}

/// The same with the quantities that depend on the distance alone.
#[derive(Clone, Copy)]
struct DistanceStage<L: PairLaw, R: Real> {
    separation: Separation<L, R>,
    distance: L::Distance<R>,
}

/// Rows of a tile in lanes.
#[derive(Clone, Copy)]
pub(super) struct Rows<L: PairLaw, R: Real> {
    pub position: Vec3<R>,
    pub prepared: L::Prepared<R>,
}

/// Lanes with elements `T`.
type R<T, S> = <T as Scalar>::Lanes<S>;

/// State of the pipeline, by stage.
pub(super) struct Pipeline<L: PairLaw, T: Scalar, S: Simd> {
    pairs: PairConstants<L, R<T, S>>,
    /// Entries of the particles j of each vector, the latest first.
    words: [u64; IN_FLIGHT + 1],
    gathered: Particles<L, R<T, S>>,
    separation: Separation<L, R<T, S>>,
    distance_stage: DistanceStage<L, R<T, S>>,
    contribution: L::Sums<R<T, S>>,
}

impl<L: PairLaw, T: Scalar, S: Simd> Pipeline<L, T, S> {
    /// A pipeline filled with padding pairs, whose entries are the word `padding`.
    #[inline(always)]
    pub fn new(simd: S, pairs: PairConstants<L, R<T, S>>, padding: u64) -> Self {
        let not_a_number = R::<T, S>::literal(simd, f64::NAN);
        let position = Vec3 { x: not_a_number, y: not_a_number, z: not_a_number };
        let j = L::Prepared::<R<T, S>>::from_columns(
            #[inline(always)]
            |_| R::<T, S>::literal(simd, 0.0),
        );
        let separation = Separation { r: position, r2: not_a_number, j };
        Pipeline {
            pairs,
            words: [padding; IN_FLIGHT + 1],
            gathered: (position, j),
            separation,
            distance_stage: DistanceStage { separation, distance: L::distance(simd, not_a_number) },
            contribution: identity_sums::<L, R<T, S>>(simd),
        }
    }

    /// Rows of the padding pairs, before the first step.
    #[inline(always)]
    pub fn rows(&self) -> Rows<L, R<T, S>> {
        let (position, prepared) = self.gathered;
        Rows { position, prepared }
    }

    /// Advances every vector by one stage: scatters the reactions of the oldest; evaluates the next for its
    /// rows `old` and adds it to their `totals`; finds the distance terms of the next; separates the next
    /// from its rows `new`, which may be those of the next tile; and gathers the particles of `word`.
    #[inline(always)]
    pub fn step<const IMAGES: bool>(
        &mut self,
        simd: S,
        segment: &mut Segment<L, T>,
        word: u64,
        [old, new]: [&Rows<L, R<T, S>>; 2],
        totals: &mut L::Sums<R<T, S>>,
    ) {
        segment.scatter_reactions(simd, self.words[IN_FLIGHT], self.contribution);
        let DistanceStage { separation, distance } = self.distance_stage;
        self.contribution = evaluate::<L, T, S>(simd, &self.pairs, old, separation, distance, None);
        *totals = join_sums::<L, R<T, S>>(*totals, self.contribution);
        self.distance_stage =
            DistanceStage { separation: self.separation, distance: L::distance(simd, self.separation.r2) };
        self.separation = segment.separation::<S, IMAGES>(simd, new, self.gathered);
        self.gathered = segment.gather(simd, word);
        let [latest, next, last, _] = self.words;
        self.words = [word, latest, next, last];
    }

    /// Scatters the last reactions; only padding is left behind them.
    #[inline(always)]
    pub fn drain(self, simd: S, segment: &mut Segment<L, T>) {
        segment.scatter_reactions(simd, self.words[IN_FLIGHT], self.contribution);
    }
}

/// Contributions of a vector of pairs, or of those in `lanes`, to the rows.
#[inline(always)]
pub(super) fn evaluate<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    pairs: &PairConstants<L, R<T, S>>,
    i: &Rows<L, R<T, S>>,
    Separation { r, r2, j }: Separation<L, R<T, S>>,
    distance: L::Distance<R<T, S>>,
    lanes: Option<<R<T, S> as Real>::Mask>,
) -> L::Sums<R<T, S>> {
    let mut mask = r2.less(pairs.reach);
    if let Some(lanes) = lanes {
        mask = mask & lanes;
    }
    masked_sums::<L, R<T, S>>(
        simd,
        mask,
        L::interact_at::<R<T, S>>(simd, pairs.parameters, i.prepared, j, r, r2, distance),
    )
}
