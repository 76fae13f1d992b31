//! What a super-cluster's list names, decoded once: where the clusters are in the super-cluster's frame, and which of them
//! some rows have to meet.

use crate::neighbors::{CLUSTER, ClusterList, Entry, SUPER_CLUSTER};
use crate::pair::aligned::Aligned;
use crate::pair::lane::{Lanes, Scalar};
use crate::pair::law::Cutoff;
use crate::pair::pack::{Bounds, Packed, Shift};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x8, f32x16};

/// Clusters in a super-cluster.
pub(super) const CLUSTERS: usize = SUPER_CLUSTER / CLUSTER;

/// Entries whose bounds are tested at a time.
const TESTED: usize = 16;

/// Values of the bounds of an entry.
const COLUMNS: usize = 8;

/// Values of the bounds of a block of entries.
const BLOCK: usize = COLUMNS * TESTED;

/// Entries that have a bit in a word.
const WORD: usize = u64::BITS as usize;

/// Above the relative error of the distance of two boxes, of coordinates up to 1.
const MARGIN: f32 = 2e-6;

/// Entries that are looked at together, at most: what rows need of them stays in the second cache.
pub(super) const SEGMENT: usize = 4 * WORD;

/// The clusters that a super-cluster's list names, a segment of them at a time.
pub(super) struct Near<T> {
    /// All entries of the list.
    listed: Vec<Entry>,
    /// Those of the segment.
    pub entries: Vec<Entry>,
    /// What brings each into the super-cluster's frame.
    pub shifts: Vec<[T; 3]>,
    /// Words of bits, one per entry.
    words: usize,
    /// Per word its entries whose pairs' nearest images must be looked for.
    pub ambiguous: Vec<u64>,
    /// Whether there are such.
    pub images: bool,
    /// Per member of the super-cluster the number of its own entry, if there is one.
    itself: [usize; CLUSTERS],
    /// Bounds of the entries in the super-cluster's frame, `[block][16][column]` first, then `[block][column][16]`; of those
    /// that are missing in the last block, [`Bounds::NOTHING`].
    bounds: Aligned<f32>,
    /// The super-cluster's own rows in the unit of the bounds.
    rows: [[f32; SUPER_CLUSTER]; 3],
    /// What distances of bounds may be wrong by.
    margin: f32,
    /// Per vector of rows and word the entries that these have to meet: those whose bounds come within reach, and on half lists
    /// of its own super-cluster only those from the cluster of the rows on.
    met: Vec<u64>,
}

/// The bounds of some rows.
#[derive(Clone, Copy)]
struct RowBounds<S: Simd> {
    lower: [f32x16<S>; 3],
    upper: [f32x16<S>; 3],
    reach: f32x16<S>,
}

impl<T: Scalar> Near<T> {
    pub fn new() -> Self {
        Near {
            listed: Vec::new(),
            entries: Vec::new(),
            shifts: Vec::new(),
            words: 0,
            ambiguous: Vec::new(),
            images: false,
            itself: [usize::MAX; CLUSTERS],
            bounds: Aligned::new(0),
            rows: [[0.0; SUPER_CLUSTER]; 3],
            margin: 0.0,
            met: Vec::new(),
        }
    }

    /// Decode the list of a super-cluster; returns the number of its segments.
    #[inline(always)]
    pub fn decode(&mut self, list: &ClusterList, super_cluster: usize) -> usize {
        list.decode(super_cluster, &mut self.listed);
        self.listed.len().div_ceil(SEGMENT).max(1)
    }

    /// Find where the clusters of a segment are in the super-cluster's frame, of a list that may be symmetric.
    pub fn place<S: Simd>(
        &mut self,
        simd: S,
        packed: &Packed<T>,
        super_cluster: usize,
        segment: usize,
        symmetric: bool,
    ) {
        // a function that no law is part of, so that it is compiled once for all
        simd.vectorize(
            #[inline(always)]
            || self.place_in(simd, packed, super_cluster, segment, symmetric),
        );
    }

    #[inline(always)]
    fn place_in<S: Simd>(
        &mut self,
        simd: S,
        packed: &Packed<T>,
        super_cluster: usize,
        segment: usize,
        symmetric: bool,
    ) {
        let begin = segment * SEGMENT;
        let end = self.listed.len().min(begin + SEGMENT);
        self.entries.clear();
        self.entries.extend_from_slice(&self.listed[begin..end]);
        self.make_room();
        let scale = 1.0 / packed.unit;
        let frame = packed.frame(super_cluster, symmetric);
        let mut farthest = frame.extent().into_iter().fold(0.0, f64::max);
        let entries = std::mem::take(&mut self.entries);
        let mut number = 0;
        for clusters in
            entries.chunk_by(|a, b| a.cluster as usize / CLUSTERS == b.cluster as usize / CLUSTERS)
        {
            let other = clusters[0].cluster as usize / CLUSTERS;
            if other == super_cluster {
                for (k, entry) in clusters.iter().enumerate() {
                    self.itself[entry.cluster as usize % CLUSTERS] = number + k;
                }
            }
            match packed.common_shift(&frame, other) {
                Some(shift) => {
                    farthest = farthest.max(packed.farthest(other, &shift));
                    self.shift(simd, packed, clusters, number, &shift);
                }
                None => {
                    for (k, entry) in clusters.iter().enumerate() {
                        let shift = packed.own_shift(&frame, entry.cluster as usize);
                        farthest = farthest.max(packed.farthest(other, &shift));
                        self.shift(simd, packed, std::slice::from_ref(entry), number + k, &shift);
                    }
                }
            }
            number += clusters.len();
        }
        self.entries = entries;
        self.bounds[number * COLUMNS..].as_chunks_mut().0.fill(Bounds::NOTHING.values);
        for block in self.bounds.chunks_exact_mut(BLOCK) {
            by_columns(simd, block);
        }
        self.margin = MARGIN * ((farthest * scale) as f32).min(f32::MAX);
        for k in 0..CLUSTERS {
            let own = packed.block(super_cluster * CLUSTERS + k);
            for d in 0..3 {
                let rows = &mut self.rows[d][k * CLUSTER..][..CLUSTER];
                T::Lanes::<S>::scale_narrow(simd, &own[d * CLUSTER..][..CLUSTER], scale, rows);
            }
        }
        self.images = self.ambiguous.iter().any(|&word| word != 0);
        // all at once: rows that go through their entries do not wait for tests of bounds
        let vectors = SUPER_CLUSTER / T::Lanes::<S>::ROWS;
        self.met.clear();
        self.met.resize(vectors * self.words, 0);
        for vector in 0..vectors {
            let member = vector * T::Lanes::<S>::ROWS / CLUSTER;
            let cluster = super_cluster * CLUSTERS + member;
            let rows = self.rows(simd, packed, cluster, vector * T::Lanes::<S>::ROWS);
            for word in 0..self.words {
                let near = match packed.cutoff {
                    Cutoff::Own if !symmetric => self.near::<S, false>(simd, &rows, word),
                    Cutoff::Common => self.near::<S, false>(simd, &rows, word),
                    Cutoff::Own | Cutoff::Either => self.near::<S, true>(simd, &rows, word),
                };
                let present = u64::MAX >> (WORD - (self.entries.len() - word * WORD).min(WORD));
                self.met[vector * self.words + word] = near & present;
            }
            // earlier clusters of the super-cluster itself meet these rows
            let earlier = if symmetric { &self.itself[..member] } else { &[] };
            for &number in earlier.iter().filter(|number| **number != usize::MAX) {
                self.met[vector * self.words + number / WORD] &= !(1 << (number % WORD));
            }
        }
    }

    /// Bring clusters, whose first has a number, into the frame by a shift.
    #[inline(always)]
    fn shift<S: Simd>(
        &mut self,
        simd: S,
        packed: &Packed<T>,
        clusters: &[Entry],
        number: usize,
        shift: &Shift,
    ) {
        let by = bounds_shift(simd, shift, 1.0 / packed.unit);
        let lanes = shift.by.map(T::from_f64);
        let bounds = self.bounds[number * COLUMNS..].as_chunks_mut::<COLUMNS>().0;
        for (entry, bounds) in clusters.iter().zip(bounds) {
            let values = packed.bounds(entry.cluster as usize).values;
            (f32x8::simd_from(simd, values) + by).store_slice(bounds);
            self.shifts.push(lanes);
        }
        if shift.ambiguous {
            for number in number..number + clusters.len() {
                self.ambiguous[number / WORD] |= 1 << (number % WORD);
                self.bounds[number * COLUMNS..][..COLUMNS].copy_from_slice(&Bounds::ANYTHING.values);
            }
        }
    }

    /// Arrays as long as the list of entries.
    fn make_room(&mut self) {
        let count = self.entries.len();
        self.words = count.div_ceil(WORD);
        self.itself = [usize::MAX; CLUSTERS];
        self.ambiguous.clear();
        self.ambiguous.resize(self.words, 0);
        self.shifts.clear();
        self.bounds.resize(count.div_ceil(TESTED) * BLOCK);
    }

    /// The bounds of a vector of rows of the super-cluster, from its row `first` on, in its own frame.
    #[inline(always)]
    fn rows<S: Simd>(&self, simd: S, packed: &Packed<T>, cluster: usize, first: usize) -> RowBounds<S> {
        let nothing = f32x16::splat(simd, 0.0);
        let reach = f32x16::splat(simd, packed.cluster_reach(cluster));
        let mut bounds = RowBounds { lower: [nothing; 3], upper: [nothing; 3], reach };
        for d in 0..3 {
            let (a, b) = (self.rows[d][first], self.rows[d][first + T::Lanes::<S>::ROWS - 1]);
            // the one that is a number, if the other is a ghost
            bounds.lower[d] = f32x16::splat(simd, a.min(b));
            bounds.upper[d] = f32x16::splat(simd, a.max(b));
        }
        bounds
    }

    /// The entries of a word whose bounds come within reach of rows, or, with `BOTH`, these within theirs.
    #[inline(always)]
    fn near<S: Simd, const BOTH: bool>(&self, simd: S, rows: &RowBounds<S>, word: usize) -> u64 {
        let mut near = 0;
        let bounds = &self.bounds[word * (WORD / TESTED) * BLOCK..];
        for (k, block) in bounds.as_chunks::<BLOCK>().0.iter().take(WORD / TESTED).enumerate() {
            let mut square = f32x16::splat(simd, 0.0);
            for d in 0..3 {
                let lower = column(simd, block, Bounds::LOWER + d);
                let upper = column(simd, block, Bounds::UPPER + d);
                let gap = (lower - rows.upper[d]).max(rows.lower[d] - upper).max(0.0);
                square = gap.mul_add(gap, square);
            }
            let mut reach = rows.reach;
            if BOTH {
                reach = reach.max(column(simd, block, Bounds::REACH));
            }
            reach += self.margin;
            // not of ghosts
            near |= square.simd_le(reach * reach).to_bitmask() << (TESTED * k);
        }
        near
    }

    /// Per word the entries that rows of a cluster have to meet, as many rows as a vector has, from the row `first` on.
    #[inline(always)]
    pub fn met<S: Simd>(&self, cluster: usize, first: usize) -> &[u64] {
        let vector = (cluster % CLUSTERS * CLUSTER + first) / T::Lanes::<S>::ROWS;
        &self.met[vector * self.words..][..self.words]
    }

    /// The number of a cluster's own entry, if there is one.
    #[inline(always)]
    pub fn itself(&self, cluster: usize) -> Option<usize> {
        Some(self.itself[cluster % CLUSTERS]).filter(|own| *own != usize::MAX)
    }

    /// The entries of a word that need more than the usual: the cluster itself, and those that are ambiguous.
    #[inline(always)]
    pub fn special(&self, cluster: usize, word: usize) -> u64 {
        let own = self.itself[cluster % CLUSTERS];
        let itself = if own / WORD == word { 1 << (own % WORD) } else { 0 };
        self.ambiguous[word] | itself
    }
}

/// What shifts bounds.
#[inline(always)]
fn bounds_shift<S: Simd>(simd: S, shift: &Shift, scale: f64) -> f32x8<S> {
    let mut by = [0.0; 8];
    for d in 0..3 {
        by[Bounds::LOWER + d] = (shift.by[d] * scale) as f32;
        by[Bounds::UPPER + d] = by[Bounds::LOWER + d];
    }
    f32x8::simd_from(simd, by)
}

/// From sixteen entries of eight columns to eight columns of sixteen entries.
#[inline(always)]
fn by_columns<S: Simd>(simd: S, block: &mut [f32]) {
    let two = |k: usize| f32x16::from_slice(simd, &block[k * TESTED..][..TESTED]);
    // each time, every second column goes to the front
    let split = |v: [f32x16<S>; 8]| {
        [
            v[0].unzip_low(v[1]),
            v[2].unzip_low(v[3]),
            v[4].unzip_low(v[5]),
            v[6].unzip_low(v[7]),
            v[0].unzip_high(v[1]),
            v[2].unzip_high(v[3]),
            v[4].unzip_high(v[5]),
            v[6].unzip_high(v[7]),
        ]
    };
    let rows = [two(0), two(1), two(2), two(3), two(4), two(5), two(6), two(7)];
    let columns = split(split(split(rows)));
    for (column, values) in columns.into_iter().enumerate() {
        values.store_slice(&mut block[column * TESTED..][..TESTED]);
    }
}

/// One column of a block of bounds.
#[inline(always)]
fn column<S: Simd>(simd: S, block: &[f32; BLOCK], column: usize) -> f32x16<S> {
    f32x16::from_slice(simd, &block[column * TESTED..][..TESTED])
}
