//! Which of the clusters that a super-cluster's list names some rows have to meet.

use super::placed::Placed;
use crate::neighbors::{CLUSTER, CLUSTERS, SUPER_CLUSTER};
use crate::pair::aligned::Aligned;
use crate::pair::lane::{Lanes, Scalar, vectorize};
use crate::pair::law::Cutoff;
use crate::pair::pack::{Bounds, Packed};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x8, f32x16};

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

/// So many entries segment by segment, at least one: from which entry to before which.
pub(super) fn segments(entries: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..entries.max(1)).step_by(SEGMENT).map(move |first| (first, entries.min(first + SEGMENT)))
}

/// The clusters that a super-cluster's list names, a segment of them at a time, and which of them rows meet.
pub(super) struct Near<T> {
    /// Where they are.
    pub placed: Placed<T>,
    /// How many rows are tested together.
    together: usize,
    /// Words of bits, one per entry.
    words: usize,
    /// Bounds of the entries in the super-cluster's frame, `[block][16][column]` first, then `[block][column][16]`; of those
    /// that are missing in the last block, [`Bounds::NOTHING`].
    bounds: Aligned<f32>,
    /// The super-cluster's own rows in the unit of the bounds.
    rows: [[f32; SUPER_CLUSTER]; 3],
    /// What distances of bounds may be wrong by, in that unit.
    pub margin: f32,
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
    /// For so many rows at a time, which divide a cluster.
    pub fn new(together: usize) -> Self {
        Near {
            placed: Placed::new(),
            together,
            words: 0,
            bounds: Aligned::new(0),
            rows: [[0.0; SUPER_CLUSTER]; 3],
            margin: 0.0,
            met: Vec::new(),
        }
    }

    /// Find where entries of a decoded list, from one to before another, at most a segment, are in the super-cluster's frame, and
    /// which rows meet them. The list may be symmetric.
    pub fn place<S: Simd>(
        &mut self,
        simd: S,
        packed: &Packed<T>,
        super_cluster: usize,
        entries: (usize, usize),
        symmetric: bool,
    ) {
        // a function that no law is part of, so that it is compiled once for all
        vectorize(
            simd,
            #[inline(always)]
            || {
                self.place_in(simd, packed, super_cluster, entries, symmetric);
                self.meet(simd, packed, super_cluster, symmetric);
            },
        );
    }

    /// Bring the bounds of entries into the frame.
    #[inline(always)]
    fn place_in<S: Simd>(
        &mut self,
        simd: S,
        packed: &Packed<T>,
        super_cluster: usize,
        entries: (usize, usize),
        symmetric: bool,
    ) {
        let farthest = self.placed.place(packed, super_cluster, entries, symmetric);
        let scale = 1.0 / packed.unit;
        let count = self.placed.clusters.len();
        self.words = count.div_ceil(WORD);
        self.bounds.resize(count.div_ceil(TESTED) * BLOCK);
        let placed = self.placed.clusters.iter().zip(&self.placed.shifts);
        for ((cluster, shift), bounds) in placed.zip(self.bounds.as_chunks_mut::<COLUMNS>().0) {
            let own = f32x8::simd_from(simd, packed.bounds(*cluster as usize).values);
            (own + bounds_shift(simd, shift, scale)).store_slice(bounds);
        }
        for (word, &ambiguous) in self.placed.ambiguous.iter().enumerate() {
            let mut left = ambiguous;
            while left != 0 {
                let number = word * WORD + left.trailing_zeros() as usize;
                left &= left - 1;
                self.bounds[number * COLUMNS..][..COLUMNS].copy_from_slice(&Bounds::ANYTHING.values);
            }
        }
        self.bounds[count * COLUMNS..].as_chunks_mut().0.fill(Bounds::NOTHING.values);
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
    }

    /// Find which rows meet which entries.
    #[inline(always)]
    fn meet<S: Simd>(&mut self, simd: S, packed: &Packed<T>, super_cluster: usize, symmetric: bool) {
        let (together, count) = (self.together, self.placed.clusters.len());
        // all at once: rows that go through their entries do not wait for tests of bounds
        let vectors = SUPER_CLUSTER / together;
        self.met.clear();
        self.met.resize(vectors * self.words, 0);
        for vector in 0..vectors {
            let member = vector * together / CLUSTER;
            let cluster = super_cluster * CLUSTERS + member;
            let rows = self.rows(simd, packed, cluster, vector * together);
            for word in 0..self.words {
                let near = match packed.cutoff {
                    Cutoff::Own if !symmetric => self.near::<S, false>(simd, &rows, word),
                    Cutoff::Common => self.near::<S, false>(simd, &rows, word),
                    Cutoff::Own | Cutoff::Either => self.near::<S, true>(simd, &rows, word),
                };
                let present = u64::MAX >> (WORD - (count - word * WORD).min(WORD));
                self.met[vector * self.words + word] = near & present;
            }
            // earlier clusters of the super-cluster itself meet these rows
            let earlier = if symmetric { &self.placed.itself[..member] } else { &[] };
            for &number in earlier.iter().filter(|number| **number != usize::MAX) {
                self.met[vector * self.words + number / WORD] &= !(1 << (number % WORD));
            }
        }
    }

    /// The bounds of a vector of rows of the super-cluster, from its row `first` on, in its own frame.
    #[inline(always)]
    fn rows<S: Simd>(&self, simd: S, packed: &Packed<T>, cluster: usize, first: usize) -> RowBounds<S> {
        let nothing = f32x16::splat(simd, 0.0);
        let reach = f32x16::splat(simd, packed.cluster_reach(cluster));
        let mut bounds = RowBounds { lower: [nothing; 3], upper: [nothing; 3], reach };
        for d in 0..3 {
            let rows = &self.rows[d][first..first + self.together];
            // those that are numbers, if others are ghosts
            bounds.lower[d] = f32x16::splat(simd, rows.iter().copied().fold(f32::NAN, f32::min));
            bounds.upper[d] = f32x16::splat(simd, rows.iter().copied().fold(f32::NAN, f32::max));
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

    /// Per word the entries that rows of a cluster have to meet, as many rows as are tested together, from the row `first` on.
    #[inline(always)]
    pub fn met(&self, cluster: usize, first: usize) -> &[u64] {
        let vector = (cluster % CLUSTERS * CLUSTER + first) / self.together;
        &self.met[vector * self.words..][..self.words]
    }

    /// The entries that any rows have to meet, in order.
    pub fn any_met(&self) -> impl Iterator<Item = usize> {
        let word = |word| self.met.iter().skip(word).step_by(self.words).fold(0_u64, |any, met| any | met);
        (0..self.words).flat_map(move |number| {
            let mut left = word(number);
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(number * WORD + bit)
            })
        })
    }
}

/// What shifts bounds, whose unit is a power of two.
#[inline(always)]
fn bounds_shift<S: Simd, T: Scalar>(simd: S, shift: &[T; 3], scale: f64) -> f32x8<S> {
    let mut by = [0.0; 8];
    for d in 0..3 {
        by[Bounds::LOWER + d] = (shift[d].to_f64() * scale) as f32;
        by[Bounds::UPPER + d] = by[Bounds::LOWER + d];
    }
    f32x8::simd_from(simd, by)
}

/// The k-th sixteen values.
#[inline(always)]
fn sixteen<S: Simd>(simd: S, block: &[f32], k: usize) -> f32x16<S> {
    f32x16::from_slice(simd, &block[k * TESTED..][..TESTED])
}

/// The even values of each two vectors, then the odd ones.
#[inline(always)]
fn split<S: Simd>(v: [f32x16<S>; 8]) -> [f32x16<S>; 8] {
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
}

/// From sixteen entries of eight columns to eight columns of sixteen entries.
#[inline(always)]
fn by_columns<S: Simd>(simd: S, block: &mut [f32]) {
    let rows = [
        sixteen(simd, block, 0),
        sixteen(simd, block, 1),
        sixteen(simd, block, 2),
        sixteen(simd, block, 3),
        sixteen(simd, block, 4),
        sixteen(simd, block, 5),
        sixteen(simd, block, 6),
        sixteen(simd, block, 7),
    ];
    // each time, every second column goes to the front
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
