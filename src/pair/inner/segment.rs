//! Sweep over a segment of tiles, with reactions.

use super::cluster_shifts::ClusterShifts;
use super::pipeline::{IN_FLIGHT, PairConstants, Particles, Pipeline, Rows, Separation, evaluate};
use super::{Shared, identity_sums, join_sums, lift, minimum_image};
use crate::neighbors::{
    CLUSTER, ENTRIES, ENTRY_SCALE, GROUP, SUPER_CLUSTER, TILE, TILES, TileSegment, unpack_entries,
};
use crate::pair::law::{Columns, PairLaw, Parity};
use crate::pair::reaction_buffer::{
    MAX_REACTION_QUADS, ReactionBuffer, reaction_cluster_vectors, reaction_quads,
};
use crate::pair::record::{OFFSETS, QUAD, QUADS, quads};
use crate::pair::sums::ChunkSums;
use crate::simd::real::Real;
use crate::simd::vec3::Vec3;
use crate::simd::{Lanes, Scalar, vectorize};
use fearless_simd::Simd;

/// Lanes with elements `T`.
type R<T, S> = <T as Scalar>::Lanes<S>;

/// A segment of a group of super-clusters.
pub(super) struct Segment<'a, L, T: Scalar> {
    pub shared: &'a Shared<'a, L, T>,
    pub tiles: TileSegment<'a>,
    pub shifts: &'a ClusterShifts<T>,
    /// First super-cluster of the group.
    pub first: usize,
    /// Records of the particles j.
    pub records: &'a T::Records,
    /// Reaction records of the particles j; odd columns have opposite sign.
    pub reactions: &'a mut T::Records,
    /// Reaction records of all particles.
    pub buffer: &'a mut ReactionBuffer<T>,
}

/// A tile whose pairs are in flight.
#[derive(Clone, Copy)]
struct ActiveTile<L: PairLaw, R: Real> {
    /// First row; `None` for padding.
    row: Option<usize>,
    rows: Rows<L, R>,
    /// Totals of the pairs evaluated so far.
    totals: L::Sums<R>,
}

impl<L: PairLaw, T: Scalar> Segment<'_, L, T> {
    /// [`Self::sums`] as a function of its own, for register allocation.
    #[inline(never)]
    pub fn sweep_outlined<S: Simd, const IMAGES: bool>(
        self,
        simd: S,
        pairs: PairConstants<L, R<T, S>>,
        swept: [bool; GROUP],
        sums: &mut ChunkSums<T>,
    ) {
        vectorize(
            simd,
            #[inline(always)]
            move || {
                // Local copies, which the compiler knows to be unaliased.
                let (Segment { shared, tiles, shifts, first, records, reactions, buffer }, pairs) =
                    (self, pairs);
                let mut own = Segment { shared, tiles, shifts, first, records, reactions, buffer };
                own.sums::<S, IMAGES>(simd, &pairs, &swept, sums);
            },
        );
    }

    /// Adds the sums over the segment of the group's swept super-clusters. With `IMAGES`, pairs are at
    /// minimum images.
    #[inline(always)]
    fn sums<S: Simd, const IMAGES: bool>(
        &mut self,
        simd: S,
        pairs: &PairConstants<L, R<T, S>>,
        swept: &[bool; GROUP],
        sums: &mut ChunkSums<T>,
    ) {
        let padding = self.padding();
        let mut pipeline = Pipeline::<L, T, S>::new(simd, *pairs, padding);
        let identity = identity_sums::<L, R<T, S>>(simd);
        let mut current = ActiveTile { row: None, rows: pipeline.rows(), totals: identity };
        let last = self.tiles.members.end as usize * TILES;
        for tile in self.tiles.members.start as usize * TILES..=last {
            let (next, entries) = match tile < last {
                true if self.is_swept(swept, tile, sums) => {
                    (self.begin_tile::<S, IMAGES>(simd, pairs, tile), self.tiles.entries(tile))
                }
                true => continue,
                // Padding follows the last tile, to drain the pipeline.
                false => (ActiveTile { row: None, totals: identity, ..current }, &[][..]),
            };
            let vectors = const { TILE * TILE / R::<T, S>::COUNT };
            let count = entries.len() * vectors;
            // The particles of a vector are in the lowest bits of the returned word.
            let word_of = |vector: usize| {
                let taken = TILE / vectors * (vector % vectors);
                entries[vector / vectors] >> (taken as u32 * u16::BITS)
            };
            for vector in 0..IN_FLIGHT {
                let word = if vector < count { word_of(vector) } else { padding };
                let latest = if vector == 0 { &current.rows } else { &next.rows };
                pipeline.step::<IMAGES>(simd, self, word, [&current.rows, latest], &mut current.totals);
            }
            if let Some(row) = current.row {
                self.add_row_totals(simd, row, current.totals);
            }
            current = next;
            for vector in IN_FLIGHT..count {
                pipeline.step::<IMAGES>(simd, self, word_of(vector), [&current.rows; 2], &mut current.totals);
            }
        }
        pipeline.drain(simd, self);
    }

    /// Loads the rows of a tile and evaluates the pairs among them.
    #[inline(always)]
    fn begin_tile<S: Simd, const IMAGES: bool>(
        &self,
        simd: S,
        pairs: &PairConstants<L, R<T, S>>,
        tile: usize,
    ) -> ActiveTile<L, R<T, S>> {
        let row = self.first * SUPER_CLUSTER + tile * TILE;
        let (mut rows, mut totals) = (self.rows::<S>(simd, row), identity_sums::<L, R<T, S>>(simd));
        // Pairs within the four rows belong to their first segment.
        if self.tiles.first {
            totals = self.pairs_within_tile::<S, IMAGES>(simd, pairs, row, &rows);
        }
        let [x, y, z] = self.shifts.member_shifts[tile / TILES - self.tiles.members.start as usize];
        let shift = Vec3 {
            x: R::<T, S>::broadcast(simd, x),
            y: R::<T, S>::broadcast(simd, y),
            z: R::<T, S>::broadcast(simd, z),
        };
        rows.position = rows.position + shift;
        ActiveTile { row: Some(row), rows, totals }
    }

    /// Whether a tile is swept; if so, counts its lane pairs.
    #[inline(always)]
    fn is_swept(&self, swept: &[bool; GROUP], tile: usize, sums: &mut ChunkSums<T>) -> bool {
        let (row, entries) = (self.first * SUPER_CLUSTER + tile * TILE, self.tiles.entries(tile));
        let included = self.tiles.first;
        if !swept[tile / TILES]
            || entries.is_empty() && !included
            || !self.shared.rows.wanted(row..row + TILE)
        {
            return false;
        }
        let tested = TILE * (entries.len() + usize::from(included));
        sums.add_work(row, TILE, tested);
        sums.lane_pairs += (TILE * tested) as u64;
        true
    }

    /// Adds the totals of a tile's rows to their reaction records.
    #[inline(always)]
    fn add_row_totals<S: Simd>(&mut self, simd: S, row: usize, totals: L::Sums<R<T, S>>) {
        let length = const { TILE * QUAD * reaction_quads::<L>() };
        let part = row % CLUSTER / TILE;
        let columns = quad_columns::<L, R<T, S>>(
            simd,
            totals,
            #[inline(always)]
            |c, total| if matches!(L::SUMS[c].parity, Parity::Odd) { -total } else { total },
        );
        if let Some(own) = self.shifts.self_entry(row / CLUSTER) {
            let rows = &mut T::values_mut(self.reactions)[(own * CLUSTER / TILE + part) * length..][..length];
            for quad in 0..const { reaction_quads::<L>() } {
                R::<T, S>::add_row_quads(columns[quad], rows, const { reaction_quads::<L>() }, quad);
            }
            return;
        }
        let mut rows = [T::default(); TILE * QUAD * MAX_REACTION_QUADS];
        for quad in 0..const { reaction_quads::<L>() } {
            R::<T, S>::add_row_quads(columns[quad], &mut rows, const { reaction_quads::<L>() }, quad);
        }
        let vectors = const { reaction_cluster_vectors::<L, T, S>() * TILE / CLUSTER };
        let begin = self.buffer.begin(row / CLUSTER) + part * vectors;
        let vectors = &mut self.buffer.vectors_mut()[begin..begin + vectors];
        for (vector, rows) in vectors.iter_mut().zip(rows.chunks_exact(R::<T, S>::COUNT)) {
            let previous = R::<T, S>::load(simd, vector.as_ref());
            (previous + R::<T, S>::load(simd, rows)).store(vector.as_mut());
        }
    }

    /// Sums of the pairs within a tile, in the frame of its own super-cluster.
    #[inline(always)]
    fn pairs_within_tile<S: Simd, const IMAGES: bool>(
        &self,
        simd: S,
        pairs: &PairConstants<L, R<T, S>>,
        row: usize,
        i: &Rows<L, R<T, S>>,
    ) -> L::Sums<R<T, S>> {
        let block = self.shared.packed.block(row / CLUSTER);
        let mut totals = identity_sums::<L, R<T, S>>(simd);
        let groups = const { R::<T, S>::COUNT / TILE };
        for first in (0..TILE).step_by(groups) {
            let mut columns = [[R::<T, S>::literal(simd, 0.0); QUAD]; QUADS];
            for quad in 0..const { quads::<L>() } {
                let first = row % CLUSTER + first;
                columns[quad] =
                    R::<T, S>::load_particle_quads(simd, block, first, const { quads::<L>() }, quad);
            }
            let (position, j) = particles::<L, R<T, S>>(&columns);
            // All lanes except those of a particle with itself.
            let self_lanes = (0..groups).fold(0, |lanes, g| lanes | 1 << R::<T, S>::tile_lane(first + g, g));
            let others =
                R::<T, S>::mask(simd, !self_lanes & (u64::MAX >> (u64::BITS as usize - R::<T, S>::COUNT)));
            let separation = self.separation::<S, IMAGES>(simd, i, (position, j));
            let contribution = evaluate::<L, T, S>(
                simd,
                pairs,
                i,
                separation,
                L::distance(simd, separation.r2),
                Some(others),
            );
            totals = join_sums::<L, R<T, S>>(totals, contribution);
        }
        totals
    }

    /// Word of four padding particles, which are out of range.
    #[inline(always)]
    fn padding(&self) -> u64 {
        let entry = (self.tiles.clusters.len() * CLUSTER * ENTRY_SCALE) as u64;
        (0..TILE).fold(0, |word, _| word << u16::BITS | entry)
    }

    /// Gathers the particles j of a word, one vector's worth.
    #[inline(always)]
    pub fn gather<S: Simd>(&self, simd: S, word: u64) -> Particles<L, R<T, S>> {
        let begins = record_begins(word, const { quads::<L>() });
        let mut columns = [[R::<T, S>::literal(simd, 0.0); QUAD]; QUADS];
        for quad in 0..const { quads::<L>() } {
            columns[quad] = R::<T, S>::gather_particle_quads(simd, self.records, &begins, quad);
        }
        particles::<L, R<T, S>>(&columns)
    }

    /// Sums contributions over the four rows and adds them to the reactions of the particles j.
    #[inline(always)]
    pub fn scatter_reactions<S: Simd>(&mut self, simd: S, word: u64, contribution: L::Sums<R<T, S>>) {
        let begins = record_begins(word, const { reaction_quads::<L>() });
        let columns = quad_columns::<L, R<T, S>>(
            simd,
            contribution,
            #[inline(always)]
            |_, contribution| contribution,
        );
        for quad in 0..const { reaction_quads::<L>() } {
            R::<T, S>::scatter_add_quads(columns[quad], self.reactions, &begins, quad);
        }
    }

    /// Positions of a tile's rows in the frame of their own super-cluster, and their prepared inputs,
    /// repeated for every particle j of a vector.
    #[inline(always)]
    fn rows<S: Simd>(&self, simd: S, row: usize) -> Rows<L, R<T, S>> {
        let block = self.shared.packed.block(row / CLUSTER);
        let block = &block[row % CLUSTER * QUAD * quads::<L>()..][..TILE * QUAD * quads::<L>()];
        let mut columns = [[R::<T, S>::literal(simd, 0.0); QUAD]; QUADS];
        for quad in 0..const { quads::<L>() } {
            columns[quad] = R::<T, S>::load_row_quads(simd, block, const { quads::<L>() }, quad);
        }
        let (position, prepared) = particles::<L, R<T, S>>(&columns);
        Rows { position, prepared }
    }

    /// Separations of rows and particles j.
    #[inline(always)]
    pub fn separation<S: Simd, const IMAGES: bool>(
        &self,
        simd: S,
        i: &Rows<L, R<T, S>>,
        (position, j): Particles<L, R<T, S>>,
    ) -> Separation<L, R<T, S>> {
        let mut r = i.position - position;
        if IMAGES {
            let packed = &self.shared.packed;
            r = minimum_image(r, lift(simd, packed.periods), lift(simd, packed.frequency));
        }
        Separation { r, r2: r.dot(r), j }
    }
}

/// Offsets of the records of a word's particles, of `quads` quads each.
#[inline(always)]
fn record_begins(word: u64, quads: usize) -> [usize; TILE] {
    let [a, b, c, d] = unpack_entries(word);
    match quads {
        1 => [a, b, c, d],
        // The remainder changes nothing; it proves the bound to the compiler.
        _ => [a % ENTRIES * quads, b % ENTRIES * quads, c % ENTRIES * quads, d % ENTRIES * quads],
    }
}

/// Particles from the columns of their records.
#[inline(always)]
fn particles<L: PairLaw, R: Real>(columns: &[[R; QUAD]; QUADS]) -> Particles<L, R> {
    let [x, y, z, _] = columns[0];
    let prepared = L::Prepared::<R>::from_columns(
        #[inline(always)]
        |c| columns[(OFFSETS + c) / QUAD][(OFFSETS + c) % QUAD],
    );
    (Vec3 { x, y, z }, prepared)
}

/// Columns of sums in quads, with signs set by `sign`.
#[inline(always)]
fn quad_columns<L: PairLaw, R: Real>(
    token: R::Token,
    sums: L::Sums<R>,
    sign: impl Fn(usize, R) -> R,
) -> [[R; QUAD]; MAX_REACTION_QUADS] {
    let mut columns = [[R::literal(token, 0.0); QUAD]; MAX_REACTION_QUADS];
    sums.zip(
        sums,
        #[inline(always)]
        |c, sum, _| {
            columns[c / QUAD][c % QUAD] = sign(c, sum);
            sum
        },
    );
    columns
}
