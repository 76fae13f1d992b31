//! Tiles: four particles i against as many single particles j as lanes take, all of them named by the list, so that few lanes
//! are out of range.
//!
//! What pairs need of the particles of a super-cluster's list is brought into its frame as a record each, and what they give to
//! these goes to a record each, all in the nearest caches; both are found by the numbers of the list.

use super::clusters;
use super::given::Given;
use super::placed::{CLUSTERS, Placed};
use super::{Shared, Side, joined, lift, masked, nearest, nothing, vector};
use crate::neighbors::{CLUSTER, SUPER_CLUSTER, TILE, TileList, Tiles, four};
use crate::pair::lane::{Lanes, Scalar};
use crate::pair::law::{Columns, Cutoff, PairLaw, Parity, Reduction};
use crate::pair::pack::{GEOMETRY, Packed};
use crate::pair::real::Real;
use crate::pair::record::{OFFSETS, PARTICLES, QUAD, QUADS, quads};
use crate::pair::sums::ChunkSums;
use crate::pair::vec3::Vec3;
use fearless_simd::Simd;

const _: () = assert!(
    (crate::neighbors::SEGMENT + 1) * CLUSTER <= PARTICLES,
    "a segment and one cluster more have records"
);

/// Lanes of the type T.
type R<T, S> = <T as Scalar>::Lanes<S>;

/// Whether tiles serve a law: one cutoff, and sums that symmetry tells of both particles.
const fn serve<L: PairLaw>() -> bool {
    let mut serve = matches!(L::CUTOFF, Cutoff::Common) && L::SUMS.len() <= GIVEN * QUAD;
    let mut k = 0;
    while k < L::SUMS.len() {
        serve = serve
            && matches!(L::SUMS[k].reduction, Reduction::Sum)
            && !matches!(L::SUMS[k].parity, Parity::Neither);
        k += 1;
    }
    serve
}

/// Quads of what a particle is given.
const fn given_quads<L: PairLaw>() -> usize {
    L::SUMS.len().div_ceil(QUAD)
}

/// Quads of sums that a law may have, at most.
const GIVEN: usize = 4;

/// Values that a cluster is given.
const fn given_values<L: PairLaw>() -> usize {
    CLUSTER * QUAD * given_quads::<L>()
}

/// A segment of a super-cluster's list.
struct Segment<'a, L, T: Scalar> {
    shared: &'a Shared<'a, L, T>,
    tiles: Tiles<'a>,
    /// Per particle j what pairs need of it.
    records: &'a T::Records,
    /// Per particle j what pairs have given to it, but for the sign of what is odd.
    given: &'a mut T::Records,
}

/// The sums of a chunk's super-clusters, with their reactions.
#[inline(always)]
pub(super) fn sums<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    shared: &Shared<L, T>,
    list: &TileList,
    side: Option<Side>,
    sums: &mut ChunkSums,
) {
    if const { !serve::<L>() } {
        return clusters::sums::<L, T, S>(simd, shared, list.clusters(), side, sums);
    }
    let owned = shared.owned.start / CLUSTER..shared.owned.end.div_ceil(CLUSTER);
    let nothing = std::iter::repeat_n(0.0, given_values::<L>() / R::<T, S>::COUNT);
    let (mut placed, mut kept) = (Placed::<T>::new(), Given::<T>::new(nothing, owned));
    let (mut records, mut given) = (T::take_records(), T::take_records());
    let pairs = AllPairs::<L, R<T, S>> {
        reach: R::<T, S>::literal(simd, shared.packed.largest * shared.packed.largest),
        parameters: shared.law.parameters::<R<T, S>>(simd),
    };
    for super_cluster in sums.super_clusters.clone() {
        if !shared.swept(list.clusters(), side, super_cluster) {
            continue;
        }
        // sums of no pairs are sums too
        sums.blocks.touch(super_cluster * CLUSTERS);
        for (number, tiles) in list.segments(super_cluster).enumerate() {
            let packed = &shared.packed;
            placed.place_clusters(packed, super_cluster, tiles.clusters);
            write_records::<L, T, S>(simd, packed, &placed, &mut records);
            let count = placed.clusters.len();
            T::values_mut(&mut given)[..(count + 1) * given_values::<L>()].fill(T::default());
            let mut segment = Segment { shared, tiles, records: &records, given: &mut given };
            let included = number == 0;
            match placed.images {
                false => segment.sums::<S, false>(simd, &pairs, super_cluster, included, sums),
                true => segment.sums::<S, true>(simd, &pairs, super_cluster, included, sums),
            }
            let values = T::values_mut(&mut given).chunks_exact(given_values::<L>());
            for (cluster, values) in placed.clusters.iter().zip(values) {
                let begin = kept.begin(*cluster as usize);
                let targets = &mut kept.vectors_mut()[begin..begin + given_values::<L>() / R::<T, S>::COUNT];
                for (target, values) in targets.iter_mut().zip(values.chunks_exact(R::<T, S>::COUNT)) {
                    let had = R::<T, S>::load(simd, target.as_ref());
                    (had + R::<T, S>::load(simd, values)).store(target.as_mut());
                }
            }
        }
    }
    kept.take(
        #[inline(always)]
        |cluster, vectors| {
            let mut flat = [T::default(); QUADS * QUAD * CLUSTER];
            for (values, vector) in flat.chunks_exact_mut(R::<T, S>::COUNT).zip(vectors) {
                values.copy_from_slice(vector.as_ref());
            }
            join::<L, T, S>(simd, &flat, sums.blocks.cluster_mut(cluster));
        },
    );
    T::keep_records(records);
    T::keep_records(given);
}

/// Join what the particles of a cluster were given with their sums.
#[inline(always)]
fn join<L: PairLaw, T: Scalar, S: Simd>(simd: S, given: &[T], totals: &mut [f64]) {
    for quad in 0..given_quads::<L>() {
        let mut eight = [T::default(); CLUSTER * QUAD];
        for (k, values) in eight.chunks_exact_mut(QUAD).enumerate() {
            values.copy_from_slice(&given[(k * given_quads::<L>() + quad) * QUAD..][..QUAD]);
        }
        let some = quad * QUAD..L::SUMS.len().min((quad + 1) * QUAD);
        let totals = &mut totals[some.start * CLUSTER..some.end * CLUSTER];
        R::<T, S>::join_quads(simd, &eight, &L::SUMS[some], totals);
    }
}

/// Write the records of the particles of a segment's clusters, and behind them one of a particle that is out of reach.
#[inline(always)]
fn write_records<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    packed: &Packed<T>,
    placed: &Placed<T>,
    records: &mut T::Records,
) {
    let values = T::values_mut(records);
    let length = const { CLUSTER * QUAD * quads::<L>() };
    let places = placed.clusters.iter().zip(&placed.shifts).zip(values.chunks_exact_mut(length));
    for ((cluster, shift), records) in places {
        let block = packed.block(*cluster as usize);
        for quad in 0..const { quads::<L>() } {
            // where there is no column any, which nobody reads
            let mut four: [&[T]; QUAD] = [&block[..CLUSTER]; QUAD];
            for (k, four) in four.iter_mut().enumerate() {
                let column = match quad * QUAD + k {
                    c if c < OFFSETS => c,
                    c => c - OFFSETS + GEOMETRY,
                };
                if let Some(column) = block.get(column * CLUSTER..(column + 1) * CLUSTER) {
                    *four = column;
                }
            }
            let shift = if quad == 0 { Some(*shift) } else { None };
            R::<T, S>::write_quads(simd, four, shift, records, const { quads::<L>() }, quad);
        }
    }
    let behind = &mut values[placed.clusters.len() * length..][..QUAD * quads::<L>()];
    behind.fill(T::default());
    behind[0] = T::from_f64(f64::NAN);
}

impl<L: PairLaw, T: Scalar> Segment<'_, L, T> {
    /// Add the sums of a super-cluster's rows over the segment, with the pairs of four rows among each other where these are
    /// `included`; with `IMAGES` their nearest images are looked for.
    #[inline(always)]
    fn sums<S: Simd, const IMAGES: bool>(
        &mut self,
        simd: S,
        pairs: &AllPairs<L, R<T, S>>,
        super_cluster: usize,
        included: bool,
        sums: &mut ChunkSums,
    ) {
        for cluster in super_cluster * CLUSTERS..(super_cluster + 1) * CLUSTERS {
            let mut totals = [nothing::<L, R<T, S>>(simd); CLUSTER / TILE];
            for (half, totals) in totals.iter_mut().enumerate() {
                let row = cluster * CLUSTER + half * TILE;
                *totals = self.tile_sums::<S, IMAGES>(simd, pairs, row, included, sums);
            }
            let [first, second] = totals;
            let target = sums.blocks.cluster_mut(cluster).as_chunks_mut::<CLUSTER>().0;
            first.zip(
                second,
                #[inline(always)]
                |c, first, second| {
                    first.add_fours(second, &mut target[c]);
                    first
                },
            );
        }
    }

    /// The sums of a tile's rows from `row` on.
    #[inline(always)]
    fn tile_sums<S: Simd, const IMAGES: bool>(
        &mut self,
        simd: S,
        pairs: &AllPairs<L, R<T, S>>,
        row: usize,
        included: bool,
        sums: &mut ChunkSums,
    ) -> L::Sums<R<T, S>> {
        let entries = self.tiles.entries(row % SUPER_CLUSTER / TILE);
        let nothing = nothing::<L, R<T, S>>(simd);
        if entries.is_empty() && !included || !self.shared.rows.wanted(row..row + TILE) {
            return nothing;
        }
        let met = TILE * (entries.len() + usize::from(included));
        sums.add_work(row, TILE, met);
        sums.lane_pairs += (TILE * met) as u64;
        let i = self.rows::<S>(simd, pairs, row);
        let totals = if included { self.own_pairs::<S, IMAGES>(simd, row, &i) } else { nothing };
        self.pairs::<S, IMAGES>(simd, &i, entries, totals)
    }

    /// What the four rows of a tile get from each other.
    #[inline(always)]
    fn own_pairs<S: Simd, const IMAGES: bool>(
        &self,
        simd: S,
        row: usize,
        i: &Rows<L, R<T, S>>,
    ) -> L::Sums<R<T, S>> {
        let block = self.shared.packed.block(row / CLUSTER);
        let four = |column: usize| &block[column * CLUSTER + row % CLUSTER..][..TILE];
        let mut totals = nothing::<L, R<T, S>>(simd);
        let groups = const { R::<T, S>::COUNT / TILE };
        for first in (0..TILE).step_by(groups) {
            let position = vector(
                #[inline(always)]
                |d| R::<T, S>::each_four_times(simd, four(d), first),
            );
            let j = L::Prepared::<R<T, S>>::from_columns(
                #[inline(always)]
                |c| R::<T, S>::each_four_times(simd, four(GEOMETRY + c), first),
            );
            // all but those of a particle with itself
            let others = R::<T, S>::mask(simd, 0x7bde >> (first * TILE));
            let given = self.meet::<S, IMAGES>(simd, i, position, j, Some(others));
            totals = joined::<L, R<T, S>>(totals, given);
        }
        totals
    }

    /// The totals with what the four rows of a tile get from particles by their numbers, which are given their part.
    ///
    /// A processor looks ahead by fewer instructions than a vector of pairs takes from its entries to its last store, so that
    /// three vectors are under way in the order of the program: one is given, one is evaluated, the next one is read.
    #[inline(always)]
    fn pairs<S: Simd, const IMAGES: bool>(
        &mut self,
        simd: S,
        i: &Rows<L, R<T, S>>,
        entries: &[u64],
        mut totals: L::Sums<R<T, S>>,
    ) -> L::Sums<R<T, S>> {
        let vectors = const { TILE * TILE / R::<T, S>::COUNT };
        // the word of a vector's particles, these first
        let of = |vector: usize| {
            let taken = TILE / vectors * (vector % vectors);
            entries[vector / vectors] >> (taken as u32 * u16::BITS)
        };
        let count = entries.len() * vectors;
        if count == 0 {
            return totals;
        }
        let (mut before, mut own) = (of(0), of(0));
        let (mut position, mut j) = self.read(simd, own);
        // nobody is given anything before the first vector
        let mut given = nothing::<L, R<T, S>>(simd);
        for next in 1..count {
            let word = of(next);
            let (own_position, own_j) = (position, j);
            (position, j) = self.read(simd, word);
            self.give(simd, before, given);
            given = self.meet::<S, IMAGES>(simd, i, own_position, own_j, None);
            totals = joined::<L, R<T, S>>(totals, given);
            (before, own) = (own, word);
        }
        self.give(simd, before, given);
        given = self.meet::<S, IMAGES>(simd, i, position, j, None);
        self.give(simd, own, given);
        joined::<L, R<T, S>>(totals, given)
    }

    /// Positions of particles j and what else pairs need of them, as many as a vector takes for four rows.
    #[inline(always)]
    fn read<S: Simd>(&self, simd: S, word: u64) -> Others<L, R<T, S>> {
        let of = four(word);
        let mut columns = [[R::<T, S>::literal(simd, 0.0); QUAD]; QUADS];
        for quad in 0..const { quads::<L>() } {
            columns[quad] = R::<T, S>::meet_quads(simd, self.records, &of, const { quads::<L>() }, quad);
        }
        let [x, y, z, _] = columns[0];
        let j = L::Prepared::<R<T, S>>::from_columns(
            #[inline(always)]
            |c| columns[(OFFSETS + c) / QUAD][(OFFSETS + c) % QUAD],
        );
        (Vec3 { x, y, z }, j)
    }

    /// Give particles j what their pairs with four rows add up to.
    #[inline(always)]
    fn give<S: Simd>(&mut self, simd: S, word: u64, given: L::Sums<R<T, S>>) {
        let of = four(word);
        let mut columns = [[R::<T, S>::literal(simd, 0.0); QUAD]; GIVEN];
        given.zip(
            given,
            #[inline(always)]
            |c, given, _| {
                columns[c / QUAD][c % QUAD] = given;
                given
            },
        );
        for quad in 0..const { given_quads::<L>() } {
            R::<T, S>::give_quads(columns[quad], self.given, &of, const { given_quads::<L>() }, quad);
        }
    }

    /// Positions of a tile's rows and what else pairs need of them, once for every four lanes.
    #[inline(always)]
    fn rows<S: Simd>(&self, simd: S, pairs: &AllPairs<L, R<T, S>>, row: usize) -> Rows<L, R<T, S>> {
        let packed = &self.shared.packed;
        let block = packed.block(row / CLUSTER);
        let four = |column: usize| &block[column * CLUSTER + row % CLUSTER..][..TILE];
        let position = vector(
            #[inline(always)]
            |d| R::<T, S>::fours(simd, four(d)),
        );
        let prepared = L::Prepared::<R<T, S>>::from_columns(
            #[inline(always)]
            |c| R::<T, S>::fours(simd, four(GEOMETRY + c)),
        );
        Rows { position, prepared, pairs: *pairs }
    }

    /// What a vector of pairs, or those of some lanes, gives to the rows.
    #[inline(always)]
    fn meet<S: Simd, const IMAGES: bool>(
        &self,
        simd: S,
        i: &Rows<L, R<T, S>>,
        position: Vec3<R<T, S>>,
        j: L::Prepared<R<T, S>>,
        lanes: Option<<R<T, S> as Real>::Mask>,
    ) -> L::Sums<R<T, S>> {
        let mut r = i.position - position;
        if IMAGES {
            let packed = &self.shared.packed;
            r = nearest(r, lift(simd, packed.periods), lift(simd, packed.frequency));
        }
        let r2 = r.dot(r);
        let mut mask = r2.less(i.pairs.reach);
        if let Some(lanes) = lanes {
            mask = mask & lanes;
        }
        masked::<L, R<T, S>>(
            simd,
            mask,
            L::interact::<R<T, S>>(simd, i.pairs.parameters, i.prepared, j, r, r2),
        )
    }
}

/// Positions of particles j, and what else pairs need of them.
type Others<L, R> = (Vec3<R>, <L as PairLaw>::Prepared<R>);

/// What all pairs need: the square of their reach, and the law's parameters.
#[derive(Clone, Copy)]
struct AllPairs<L: PairLaw, R: Real> {
    reach: R,
    parameters: L::Parameters<R>,
}

/// The rows of a tile in lanes, and what their pairs need.
struct Rows<L: PairLaw, R: Real> {
    position: Vec3<R>,
    prepared: L::Prepared<R>,
    pairs: AllPairs<L, R>,
}
