//! A segment of tiles: which rows meet which particles of it, and what both are given.

use super::placed::Placed;
use super::stages::{AllPairs, Apart, Particles, Rows, Stages, UNDER_WAY, evaluated};
use super::{Shared, joined, lift, nearest, nothing};
use crate::neighbors::{CLUSTER, ENTRIES, GROUP, SUPER_CLUSTER, TILE, TILES, Tiles, VALUES, four};
use crate::pair::given::{GIVEN, Given, given_quads, given_vectors};
use crate::pair::lane::{Lanes, Scalar, vectorize};
use crate::pair::law::{Columns, PairLaw, Parity};
use crate::pair::real::Real;
use crate::pair::record::{OFFSETS, QUAD, QUADS, quads};
use crate::pair::sums::ChunkSums;
use crate::pair::vec3::Vec3;
use fearless_simd::Simd;

/// Lanes of the type T.
type R<T, S> = <T as Scalar>::Lanes<S>;

/// A segment of a group of super-clusters.
pub(super) struct Segment<'a, L, T: Scalar> {
    pub shared: &'a Shared<'a, L, T>,
    pub tiles: Tiles<'a>,
    pub placed: &'a Placed<T>,
    /// The group's first super-cluster.
    pub first: usize,
    /// Per particle j what pairs need of it.
    pub records: &'a T::Records,
    /// Per particle j what it has been given, but for the sign of what is odd.
    pub given: &'a mut T::Records,
    /// The same of all particles.
    pub kept: &'a mut Given<T>,
}

/// A tile that has been begun, whose pairs are under way.
#[derive(Clone, Copy)]
struct Begun<L: PairLaw, R: Real> {
    /// Its first row, if it is one.
    row: Option<usize>,
    rows: Rows<L, R>,
    /// What they were given by pairs that have been evaluated.
    totals: L::Sums<R>,
}

impl<L: PairLaw, T: Scalar> Segment<'_, L, T> {
    /// [`Self::sums`] as a function of its own, whose registers are for nothing else.
    #[inline(never)]
    pub fn all_sums<S: Simd, const IMAGES: bool>(
        self,
        simd: S,
        pairs: AllPairs<L, R<T, S>>,
        swept: [bool; GROUP],
        sums: &mut ChunkSums<T>,
    ) {
        vectorize(
            simd,
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
        let nothing = nothing::<L, R<T, S>>(simd);
        let mut old = Begun { row: None, rows: stages.rows(), totals: nothing };
        let last = self.tiles.members.end as usize * TILES;
        for tile in self.tiles.members.start as usize * TILES..=last {
            let (new, entries) = match tile < last {
                true if self.meets(swept, tile, sums) => {
                    (self.begin::<S, IMAGES>(simd, pairs, tile), self.tiles.entries(tile))
                }
                true => continue,
                // behind the last tile nobody comes
                false => (Begun { row: None, totals: nothing, ..old }, &[][..]),
            };
            let vectors = const { TILE * TILE / R::<T, S>::COUNT };
            let count = entries.len() * vectors;
            // the particles of a vector are the first of this word
            let of = |vector: usize| {
                let taken = TILE / vectors * (vector % vectors);
                entries[vector / vectors] >> (taken as u32 * u16::BITS)
            };
            for vector in 0..UNDER_WAY {
                let word = if vector < count { of(vector) } else { nobody };
                let latest = if vector == 0 { &old.rows } else { &new.rows };
                stages.step::<IMAGES>(simd, self, word, [&old.rows, latest], &mut old.totals);
            }
            if let Some(row) = old.row {
                self.keep(simd, row, old.totals);
            }
            old = new;
            for vector in UNDER_WAY..count {
                stages.step::<IMAGES>(simd, self, of(vector), [&old.rows; 2], &mut old.totals);
            }
        }
        stages.end(simd, self);
    }

    /// The rows of a tile, which have met nobody but each other.
    #[inline(always)]
    fn begin<S: Simd, const IMAGES: bool>(
        &self,
        simd: S,
        pairs: &AllPairs<L, R<T, S>>,
        tile: usize,
    ) -> Begun<L, R<T, S>> {
        let row = self.first * SUPER_CLUSTER + tile * TILE;
        let (mut rows, mut totals) = (self.rows::<S>(simd, row), nothing::<L, R<T, S>>(simd));
        // pairs within the four rows are in the first segment that they have
        if self.tiles.first {
            totals = self.own_pairs::<S, IMAGES>(simd, pairs, row, &rows);
        }
        let [x, y, z] = self.placed.members[tile / TILES - self.tiles.members.start as usize];
        let shift =
            Vec3 { x: R::<T, S>::every(simd, x), y: R::<T, S>::every(simd, y), z: R::<T, S>::every(simd, z) };
        rows.position = rows.position + shift;
        Begun { row: Some(row), rows, totals }
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
            let given =
                evaluated::<L, T, S>(simd, pairs, i, apart, L::distance(simd, apart.r2), Some(others));
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
    pub fn read<S: Simd>(&self, simd: S, word: u64) -> Particles<L, R<T, S>> {
        let of = places(word, const { quads::<L>() });
        let mut columns = [[R::<T, S>::literal(simd, 0.0); QUAD]; QUADS];
        for quad in 0..const { quads::<L>() } {
            columns[quad] = R::<T, S>::meet_quads(simd, self.records, &of, quad);
        }
        particles::<L, R<T, S>>(&columns)
    }

    /// Give particles j what their pairs with four rows add up to.
    #[inline(always)]
    pub fn give<S: Simd>(&mut self, simd: S, word: u64, given: L::Sums<R<T, S>>) {
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

    /// Positions of a tile's rows in the frame of their own super-cluster, and what else pairs need of them, once for every
    /// particle that a vector meets.
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
    pub fn apart<S: Simd, const IMAGES: bool>(
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
