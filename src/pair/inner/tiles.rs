//! Tiles: four particles i against as many single particles j as lanes take, all of them named by the list, so that few lanes
//! are out of range.
//!
//! What pairs need of the particles of a super-cluster's list is brought into its frame as a record each, and so is what these have
//! been given; both stay in the nearest caches, and are found by the numbers of the list.

use super::clusters;
use super::placed::Placed;
use super::stages::{Apart, Rows, Stages, UNDER_WAY, given};
use super::{Shared, Side, joined, lift, nearest, nothing};
use crate::neighbors::{
    CLUSTER, CLUSTERS, ENTRIES, GROUP, SUPER_CLUSTER, TILE, TILES, TileList, Tiles, VALUES, four,
};
use crate::pair::given::Given;
use crate::pair::lane::{Lanes, Scalar};
use crate::pair::law::{Columns, Cutoff, PairLaw, Parity, Reduction};
use crate::pair::real::Real;
use crate::pair::record::{OFFSETS, PARTICLES, QUAD, QUADS, quads};
use crate::pair::sums::ChunkSums;
use crate::pair::vec3::Vec3;
use fearless_simd::Simd;

const _: () = assert!(
    ENTRIES / VALUES <= PARTICLES && VALUES == QUAD,
    "a segment and one cluster more have records, whose begins are the entries"
);

/// Lanes of the type T.
type R<T, S> = <T as Scalar>::Lanes<S>;

/// Whether tiles serve a law: one cutoff, and sums that symmetry tells of both particles.
pub(super) const fn serve<L: PairLaw>() -> bool {
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

/// Vectors of what a cluster is given.
const fn given_vectors<L: PairLaw, T: Scalar, S: Simd>() -> usize {
    given_values::<L>() / R::<T, S>::COUNT
}

/// A segment of a group of super-clusters.
pub(super) struct Segment<'a, L, T: Scalar> {
    shared: &'a Shared<'a, L, T>,
    tiles: Tiles<'a>,
    placed: &'a Placed<T>,
    /// The group's first super-cluster.
    first: usize,
    /// Per particle j what pairs need of it.
    records: &'a T::Records,
    /// Per particle j what it has been given, but for the sign of what is odd.
    given: &'a mut T::Records,
    /// The same of all particles.
    kept: &'a mut Given<T>,
}

/// The sums of a chunk's super-clusters, with their reactions.
#[inline(always)]
pub(super) fn sums<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    shared: &Shared<L, T>,
    list: &TileList,
    side: Option<Side>,
    sums: &mut ChunkSums<T>,
) {
    if const { !serve::<L>() } {
        return clusters::sums::<L, T, S>(simd, shared, list.clusters(), side, sums);
    }
    let owned = shared.owned.start / CLUSTER..shared.owned.end.div_ceil(CLUSTER);
    let nothing = std::iter::repeat_n(0.0, const { given_vectors::<L, T, S>() });
    let (mut placed, mut kept) = (Placed::<T>::new(), Given::<T>::new(nothing, owned));
    let (mut records, mut given) = (T::take_records(), T::take_records());
    let mut begins = Vec::new();
    let pairs = AllPairs::<L, R<T, S>> {
        reach: R::<T, S>::literal(simd, shared.packed.largest * shared.packed.largest),
        parameters: shared.law.parameters::<R<T, S>>(simd),
    };
    let packed = &shared.packed;
    for group in list.groups(sums.super_clusters.clone()) {
        let members = list.members(group);
        let mut swept = [false; GROUP];
        for (swept, super_cluster) in swept.iter_mut().zip(members.clone()) {
            let own = sums.super_clusters.contains(&super_cluster);
            *swept = own && shared.swept(list.clusters(), side, super_cluster);
            if *swept {
                // sums of no pairs are sums too
                kept.begin(super_cluster * CLUSTERS);
            }
        }
        for tiles in list.segments(group) {
            let numbers = tiles.members.start as usize..tiles.members.end as usize;
            if !swept[numbers.clone()].contains(&true) {
                continue;
            }
            let of = members.start + numbers.start..members.start + numbers.end;
            placed.place_clusters(packed, of, tiles.clusters, true);
            begins.clear();
            begins.extend(tiles.clusters.iter().map(|cluster| kept.begin(*cluster as usize) as u32));
            bring::<L, T, S>(simd, shared, tiles.clusters, &placed, &mut records);
            bring_given::<L, T, S>(simd, &begins, &mut kept, &mut given);
            let (placed, first) = (&placed, members.start);
            let segment = Segment {
                shared,
                tiles,
                placed,
                first,
                records: &records,
                given: &mut given,
                kept: &mut kept,
            };
            match placed.images {
                false => segment.all_sums::<S, false>(simd, pairs, swept, sums),
                true => segment.all_sums::<S, true>(simd, pairs, swept, sums),
            }
            keep_given::<L, T, S>(simd, &begins, &mut given, &mut kept);
        }
    }
    sums.given = Some(kept);
    T::keep_records(records);
    T::keep_records(given);
}

/// Bring the records of the particles of a segment's clusters into the super-cluster's frame, and write behind them one of a
/// particle that is out of reach.
#[inline(always)]
fn bring<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    shared: &Shared<L, T>,
    clusters: &[u32],
    placed: &Placed<T>,
    records: &mut T::Records,
) {
    let values = T::values_mut(records);
    let length = const { CLUSTER * QUAD * quads::<L>() };
    let (count, groups) = const { (R::<T, S>::COUNT, R::<T, S>::COUNT / QUAD) };
    for ((cluster, [x, y, z]), to) in clusters.iter().zip(&placed.shifts).zip(values.chunks_exact_mut(length))
    {
        let from = &shared.packed.block(*cluster as usize)[..length];
        let shift = R::<T, S>::fours(simd, &[*x, *y, *z, T::default()]);
        for (vector, (from, to)) in from.chunks_exact(count).zip(to.chunks_exact_mut(count)).enumerate() {
            // those of a record's first quad
            let mut lanes = 0;
            for group in 0..groups {
                if (vector * groups + group).is_multiple_of(const { quads::<L>() }) {
                    lanes |= 0xf << (group * QUAD);
                }
            }
            let mut own = R::<T, S>::load(simd, from);
            if lanes == (1 << count) - 1 {
                own = own + shift;
            } else if lanes != 0 {
                own = R::<T, S>::select(R::<T, S>::mask(simd, lanes), own + shift, own);
            }
            own.store(to);
        }
    }
    let behind = &mut values[clusters.len() * length..][..QUAD * quads::<L>()];
    behind.fill(T::default());
    behind[0] = T::from_f64(f64::NAN);
}

/// Bring what the particles of clusters have been given, whose vectors begin so.
#[inline(always)]
fn bring_given<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    begins: &[u32],
    kept: &mut Given<T>,
    given: &mut T::Records,
) {
    let values = T::values_mut(given);
    for (begin, values) in begins.iter().zip(values.chunks_exact_mut(given_values::<L>())) {
        let vectors = &kept.vectors_mut()[*begin as usize..][..given_vectors::<L, T, S>()];
        for (vector, values) in vectors.iter().zip(values.chunks_exact_mut(R::<T, S>::COUNT)) {
            R::<T, S>::load(simd, vector.as_ref()).store(values);
        }
    }
}

/// Keep what they have been given since.
#[inline(always)]
fn keep_given<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    begins: &[u32],
    given: &mut T::Records,
    kept: &mut Given<T>,
) {
    let values = T::values_mut(given);
    for (begin, values) in begins.iter().zip(values.chunks_exact(given_values::<L>())) {
        let vectors = &mut kept.vectors_mut()[*begin as usize..][..given_vectors::<L, T, S>()];
        for (vector, values) in vectors.iter_mut().zip(values.chunks_exact(R::<T, S>::COUNT)) {
            R::<T, S>::load(simd, values).store(vector.as_mut());
        }
    }
}

/// Join what the particles of a cluster were given with their totals, a column of eight each.
#[inline(always)]
pub fn join<L: PairLaw, T: Scalar, S: Simd>(simd: S, given: &[T::Vector], totals: &mut [f64]) {
    let count = const { R::<T, S>::COUNT };
    if const { given_quads::<L>() == 1 } {
        return R::<T, S>::join_quads(
            simd,
            #[inline(always)]
            |k| given[k].as_ref(),
            L::SUMS,
            totals,
        );
    }
    let mut flat = [T::default(); GIVEN * QUAD * CLUSTER];
    for (values, vector) in flat.chunks_exact_mut(count).zip(given) {
        values.copy_from_slice(vector.as_ref());
    }
    for quad in 0..given_quads::<L>() {
        let mut eight = [T::default(); CLUSTER * QUAD];
        for (k, values) in eight.chunks_exact_mut(QUAD).enumerate() {
            values.copy_from_slice(&flat[(k * given_quads::<L>() + quad) * QUAD..][..QUAD]);
        }
        let some = quad * QUAD..L::SUMS.len().min((quad + 1) * QUAD);
        let totals = &mut totals[some.start * CLUSTER..some.end * CLUSTER];
        R::<T, S>::join_quads(
            simd,
            #[inline(always)]
            |k| &eight[k * count..][..count],
            &L::SUMS[some],
            totals,
        );
    }
}

impl<L: PairLaw, T: Scalar> Segment<'_, L, T> {
    /// [`Self::sums`] as a function of its own, whose registers are for nothing else.
    #[inline(never)]
    fn all_sums<S: Simd, const IMAGES: bool>(
        self,
        simd: S,
        pairs: AllPairs<L, R<T, S>>,
        swept: [bool; GROUP],
        sums: &mut ChunkSums<T>,
    ) {
        simd.vectorize(
            #[inline(always)]
            move || {
                // copies that nobody else can change
                let (Segment { shared, tiles, placed, first, records, given, kept }, pairs) = (self, pairs);
                let mut own = Segment { shared, tiles, placed, first, records, given, kept };
                own.sums::<S, IMAGES>(simd, &pairs, &swept, sums);
            },
        );
    }

    /// Add the sums over the segment of the rows of those of the group's super-clusters that are swept; with `IMAGES` the nearest
    /// images of pairs are looked for.
    #[inline(always)]
    fn sums<S: Simd, const IMAGES: bool>(
        &mut self,
        simd: S,
        pairs: &AllPairs<L, R<T, S>>,
        swept: &[bool; GROUP],
        sums: &mut ChunkSums<T>,
    ) {
        let nobody = self.nobody();
        let mut stages = Stages::<L, T, S>::new(simd, *pairs, nobody);
        // the tile whose pairs are still under way
        let (mut row, mut rows, mut totals) = (None, stages.rows(), nothing::<L, R<T, S>>(simd));
        let last = self.tiles.members.end as usize * TILES;
        for tile in self.tiles.members.start as usize * TILES..=last {
            let end = tile == last;
            if !end && !self.meets(swept, tile, sums) {
                continue;
            }
            let next_row = self.first * SUPER_CLUSTER + tile * TILE;
            let (mut next, mut next_totals, mut entries) = (rows, nothing::<L, R<T, S>>(simd), &[][..]);
            if !end {
                entries = self.tiles.entries(tile);
                next = self.rows::<S>(simd, next_row);
                // pairs within the four rows are in the first segment that they have
                if self.tiles.first {
                    next_totals = self.own_pairs::<S, IMAGES>(simd, pairs, next_row, &next);
                }
                let number = tile / TILES - self.tiles.members.start as usize;
                let [x, y, z] = self.placed.members[number];
                let shift = Vec3 {
                    x: R::<T, S>::every(simd, x),
                    y: R::<T, S>::every(simd, y),
                    z: R::<T, S>::every(simd, z),
                };
                next.position = next.position + shift;
            }
            let vectors = const { TILE * TILE / R::<T, S>::COUNT };
            let count = entries.len() * vectors;
            // the particles of a vector are the first of this word
            let of = |vector: usize| {
                let taken = TILE / vectors * (vector % vectors);
                entries[vector / vectors] >> (taken as u32 * u16::BITS)
            };
            for vector in 0..UNDER_WAY {
                let word = if vector < count { of(vector) } else { nobody };
                let new = if vector == 0 { &rows } else { &next };
                stages.step::<IMAGES>(simd, self, word, [&rows, new], &mut totals);
            }
            if let Some(row) = row {
                self.keep(simd, row, totals);
            }
            (row, rows, totals) = (Some(next_row), next, next_totals);
            for vector in UNDER_WAY..count {
                stages.step::<IMAGES>(simd, self, of(vector), [&rows, &rows], &mut totals);
            }
        }
        stages.end(simd, self);
    }

    /// Whether pairs of a tile are looked for; then they are counted.
    #[inline(always)]
    fn meets(&self, swept: &[bool; GROUP], tile: usize, sums: &mut ChunkSums<T>) -> bool {
        let (row, entries) = (self.first * SUPER_CLUSTER + tile * TILE, self.tiles.entries(tile));
        let included = self.tiles.first;
        if !swept[tile / TILES]
            || entries.is_empty() && !included
            || !self.shared.rows.wanted(row..row + TILE)
        {
            return false;
        }
        let met = TILE * (entries.len() + usize::from(included));
        sums.add_work(row, TILE, met);
        sums.lane_pairs += (TILE * met) as u64;
        true
    }

    /// Add the totals of a tile's rows to what these have been given.
    #[inline(always)]
    fn keep<S: Simd>(&mut self, simd: S, row: usize, totals: L::Sums<R<T, S>>) {
        let length = const { TILE * QUAD * given_quads::<L>() };
        let part = row % CLUSTER / TILE;
        let columns = columns::<L, R<T, S>>(
            simd,
            totals,
            #[inline(always)]
            |c, total| if matches!(L::SUMS[c].parity, Parity::Odd) { -total } else { total },
        );
        if let Some(own) = self.placed.itself(row / CLUSTER) {
            let rows = &mut T::values_mut(self.given)[(own * CLUSTER / TILE + part) * length..][..length];
            for quad in 0..const { given_quads::<L>() } {
                R::<T, S>::give_rows(columns[quad], rows, const { given_quads::<L>() }, quad);
            }
            return;
        }
        let mut rows = [T::default(); TILE * QUAD * GIVEN];
        for quad in 0..const { given_quads::<L>() } {
            R::<T, S>::give_rows(columns[quad], &mut rows, const { given_quads::<L>() }, quad);
        }
        let vectors = const { given_vectors::<L, T, S>() * TILE / CLUSTER };
        let begin = self.kept.begin(row / CLUSTER) + part * vectors;
        let vectors = &mut self.kept.vectors_mut()[begin..begin + vectors];
        for (vector, rows) in vectors.iter_mut().zip(rows.chunks_exact(R::<T, S>::COUNT)) {
            let had = R::<T, S>::load(simd, vector.as_ref());
            (had + R::<T, S>::load(simd, rows)).store(vector.as_mut());
        }
    }

    /// What the four rows of a tile get from each other, which all are in the frame of their own super-cluster.
    #[inline(always)]
    fn own_pairs<S: Simd, const IMAGES: bool>(
        &self,
        simd: S,
        pairs: &AllPairs<L, R<T, S>>,
        row: usize,
        i: &Rows<L, R<T, S>>,
    ) -> L::Sums<R<T, S>> {
        let block = self.shared.packed.block(row / CLUSTER);
        let mut totals = nothing::<L, R<T, S>>(simd);
        let groups = const { R::<T, S>::COUNT / TILE };
        for first in (0..TILE).step_by(groups) {
            let mut columns = [[R::<T, S>::literal(simd, 0.0); QUAD]; QUADS];
            for quad in 0..const { quads::<L>() } {
                let first = row % CLUSTER + first;
                columns[quad] =
                    R::<T, S>::particles_of_quads(simd, block, first, const { quads::<L>() }, quad);
            }
            let (position, j) = particles::<L, R<T, S>>(&columns);
            // all but those of a particle with itself
            let itself = (0..groups).fold(0, |lanes, g| lanes | 1 << R::<T, S>::meeting(first + g, g));
            let others =
                R::<T, S>::mask(simd, !itself & (u64::MAX >> (u64::BITS as usize - R::<T, S>::COUNT)));
            let apart = self.apart::<S, IMAGES>(simd, i, (position, j));
            let given = given::<L, T, S>(simd, pairs, i, apart, L::distance(simd, apart.r2), Some(others));
            totals = joined::<L, R<T, S>>(totals, given);
        }
        totals
    }

    /// Particles that are out of reach.
    #[inline(always)]
    fn nobody(&self) -> u64 {
        let behind = (self.tiles.clusters.len() * CLUSTER * VALUES) as u64;
        (0..TILE).fold(0, |word, _| word << u16::BITS | behind)
    }

    /// Positions of particles j and what else pairs need of them, as many as a vector takes for four rows.
    #[inline(always)]
    pub(super) fn read<S: Simd>(&self, simd: S, word: u64) -> Particles<L, R<T, S>> {
        let of = places(word, const { quads::<L>() });
        let mut columns = [[R::<T, S>::literal(simd, 0.0); QUAD]; QUADS];
        for quad in 0..const { quads::<L>() } {
            columns[quad] = R::<T, S>::meet_quads(simd, self.records, &of, quad);
        }
        particles::<L, R<T, S>>(&columns)
    }

    /// Give particles j what their pairs with four rows add up to.
    #[inline(always)]
    pub(super) fn give<S: Simd>(&mut self, simd: S, word: u64, given: L::Sums<R<T, S>>) {
        let of = places(word, const { given_quads::<L>() });
        let columns = columns::<L, R<T, S>>(
            simd,
            given,
            #[inline(always)]
            |_, given| given,
        );
        for quad in 0..const { given_quads::<L>() } {
            R::<T, S>::give_quads(columns[quad], self.given, &of, quad);
        }
    }

    /// Positions of a tile's rows in the frame of their own super-cluster, and what else pairs need of them, once for every four lanes.
    #[inline(always)]
    fn rows<S: Simd>(&self, simd: S, row: usize) -> Rows<L, R<T, S>> {
        let block = self.shared.packed.block(row / CLUSTER);
        let block = &block[row % CLUSTER * QUAD * quads::<L>()..][..TILE * QUAD * quads::<L>()];
        let mut columns = [[R::<T, S>::literal(simd, 0.0); QUAD]; QUADS];
        for quad in 0..const { quads::<L>() } {
            columns[quad] = R::<T, S>::rows_of_quads(simd, block, const { quads::<L>() }, quad);
        }
        let (position, prepared) = particles::<L, R<T, S>>(&columns);
        Rows { position, prepared }
    }

    /// How far rows and particles j are apart.
    #[inline(always)]
    pub(super) fn apart<S: Simd, const IMAGES: bool>(
        &self,
        simd: S,
        i: &Rows<L, R<T, S>>,
        (position, j): Particles<L, R<T, S>>,
    ) -> Apart<L, R<T, S>> {
        let mut r = i.position - position;
        if IMAGES {
            let packed = &self.shared.packed;
            r = nearest(r, lift(simd, packed.periods), lift(simd, packed.frequency));
        }
        Apart { r, r2: r.dot(r), j }
    }
}

/// Where the records of a word's particles begin, each of so many quads.
#[inline(always)]
fn places(word: u64, quads: usize) -> [usize; TILE] {
    let [a, b, c, d] = four(word);
    match quads {
        1 => [a, b, c, d],
        // what the compiler does not know of longer ones
        _ => [a % ENTRIES * quads, b % ENTRIES * quads, c % ENTRIES * quads, d % ENTRIES * quads],
    }
}

/// Positions of particles, and what else pairs need of them.
pub(super) type Particles<L, R> = (Vec3<R>, <L as PairLaw>::Prepared<R>);

/// The particles of the columns of their records.
#[inline(always)]
fn particles<L: PairLaw, R: Real>(columns: &[[R; QUAD]; QUADS]) -> Particles<L, R> {
    let [x, y, z, _] = columns[0];
    let prepared = L::Prepared::<R>::from_columns(
        #[inline(always)]
        |c| columns[(OFFSETS + c) / QUAD][(OFFSETS + c) % QUAD],
    );
    (Vec3 { x, y, z }, prepared)
}

/// The columns of sums in quads, each as it is to be given.
#[inline(always)]
fn columns<L: PairLaw, R: Real>(
    token: R::Token,
    sums: L::Sums<R>,
    as_given: impl Fn(usize, R) -> R,
) -> [[R; QUAD]; GIVEN] {
    let mut columns = [[R::literal(token, 0.0); QUAD]; GIVEN];
    sums.zip(
        sums,
        #[inline(always)]
        |c, sum, _| {
            columns[c / QUAD][c % QUAD] = as_given(c, sum);
            sum
        },
    );
    columns
}

/// What all pairs need: the square of their reach, and the law's parameters.
#[derive(Clone, Copy)]
pub(super) struct AllPairs<L: PairLaw, R: Real> {
    pub reach: R,
    pub parameters: L::Parameters<R>,
}
