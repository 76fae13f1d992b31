//! Candidate entries: which clusters of a super-cluster's list some rows have to be tested against, by
//! bounding boxes.

use super::cluster_shifts::ClusterShifts;
use crate::neighbors::{CLUSTER, CLUSTERS, SUPER_CLUSTER};
use crate::pair::law::Cutoff;
use crate::pair::pack::{Bounds, PackedInput};
use crate::parallel::Aligned;
use crate::simd::{Lanes, Scalar, vectorize};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x8, f32x16};

/// Entries tested at once.
const BLOCK_ENTRIES: usize = 16;

/// Values of an entry's bounds.
const COLUMNS: usize = 8;

/// Values of the bounds in a block of entries.
const BLOCK: usize = COLUMNS * BLOCK_ENTRIES;

/// Entries per word of a mask.
const WORD: usize = u64::BITS as usize;

/// Bound of the relative error of the distance of two boxes, for coordinates up to 1.
const MARGIN: f32 = 2e-6;

/// Maximum number of entries processed together: their data fit the second-level cache.
pub(super) const SEGMENT: usize = 4 * WORD;

/// Splits `entries` entries into segments, at least one. Returns the begin and end of each.
pub(super) fn segments(entries: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..entries.max(1)).step_by(SEGMENT).map(move |first| (first, entries.min(first + SEGMENT)))
}

/// A segment of a super-cluster's list, with the candidate entries of its rows.
pub(super) struct Candidates<T> {
    /// The clusters and their shifts into the frame.
    pub shifts: ClusterShifts<T>,
    /// Rows tested together.
    rows_per_vector: usize,
    /// Words of a mask, one bit per entry.
    words: usize,
    /// Bounds of the entries in the super-cluster's frame: first `[block][16][column]`, then transposed to
    /// `[block][column][16]`. The last block is padded with [`Bounds::EMPTY`].
    bounds: Aligned<f32>,
    /// Rows of the super-cluster, in the unit of the bounds.
    rows: [[f32; SUPER_CLUSTER]; 3],
    /// Bound of the error of distances between bounds, in their unit.
    pub margin: f32,
    /// Per vector of rows, a mask of the entries within range. On half lists, a row excludes those of its own
    /// super-cluster that precede its cluster.
    candidates: Vec<u64>,
}

/// Bounding box of some rows.
#[derive(Clone, Copy)]
struct RowBounds<S: Simd> {
    lower: [f32x16<S>; 3],
    upper: [f32x16<S>; 3],
    reach: f32x16<S>,
}

impl<T: Scalar> Candidates<T> {
    /// For vectors of `rows_per_vector` rows, a divisor of the cluster size.
    pub fn new(rows_per_vector: usize) -> Self {
        Candidates {
            shifts: ClusterShifts::new(),
            rows_per_vector,
            words: 0,
            bounds: Aligned::new(0),
            rows: [[0.0; SUPER_CLUSTER]; 3],
            margin: 0.0,
            candidates: Vec::new(),
        }
    }

    /// Processes the entries `entries.0..entries.1` of the decoded list, at most a segment: finds their
    /// shifts into the super-cluster's frame, and the candidates of each vector of rows. `symmetric`: the
    /// list may be a half list.
    pub fn place<S: Simd>(
        &mut self,
        simd: S,
        packed: &PackedInput<T>,
        super_cluster: usize,
        entries: (usize, usize),
        symmetric: bool,
    ) {
        // Independent of the law, so it is compiled once.
        vectorize(
            simd,
            #[inline(always)]
            || {
                self.load_bounds(simd, packed, super_cluster, entries, symmetric);
                self.find_candidates(simd, packed, super_cluster, symmetric);
            },
        );
    }

    /// Loads the bounds of the entries into the frame.
    #[inline(always)]
    fn load_bounds<S: Simd>(
        &mut self,
        simd: S,
        packed: &PackedInput<T>,
        super_cluster: usize,
        entries: (usize, usize),
        symmetric: bool,
    ) {
        let max_offset = self.shifts.compute(packed, super_cluster, entries, symmetric);
        let scale = 1.0 / packed.unit;
        let count = self.shifts.clusters.len();
        self.words = count.div_ceil(WORD);
        self.bounds.resize(count.div_ceil(BLOCK_ENTRIES) * BLOCK);
        let entries = self.shifts.clusters.iter().zip(&self.shifts.shifts);
        for ((cluster, shift), bounds) in entries.zip(self.bounds.as_chunks_mut::<COLUMNS>().0) {
            let own = f32x8::simd_from(simd, packed.bounds(*cluster as usize).values);
            (own + bounds_shift(simd, shift, scale)).store_slice(bounds);
        }
        for (word, &ambiguous) in self.shifts.ambiguous.iter().enumerate() {
            let mut left = ambiguous;
            while left != 0 {
                let number = word * WORD + left.trailing_zeros() as usize;
                left &= left - 1;
                self.bounds[number * COLUMNS..][..COLUMNS].copy_from_slice(&Bounds::UNBOUNDED.values);
            }
        }
        self.bounds[count * COLUMNS..].as_chunks_mut().0.fill(Bounds::EMPTY.values);
        for block in self.bounds.chunks_exact_mut(BLOCK) {
            transpose_block(simd, block);
        }
        self.margin = MARGIN * ((max_offset * scale) as f32).min(f32::MAX);
        for k in 0..CLUSTERS {
            let own = packed.block(super_cluster * CLUSTERS + k);
            for d in 0..3 {
                let rows = &mut self.rows[d][k * CLUSTER..][..CLUSTER];
                T::Lanes::<S>::scale_narrow(simd, &own[d * CLUSTER..][..CLUSTER], scale, rows);
            }
        }
    }

    /// Finds the candidates of each vector of rows.
    #[inline(always)]
    fn find_candidates<S: Simd>(
        &mut self,
        simd: S,
        packed: &PackedInput<T>,
        super_cluster: usize,
        symmetric: bool,
    ) {
        let (rows_per_vector, count) = (self.rows_per_vector, self.shifts.clusters.len());
        // All vectors in one go: the pair loops need not wait for these tests.
        let vectors = SUPER_CLUSTER / rows_per_vector;
        self.candidates.clear();
        self.candidates.resize(vectors * self.words, 0);
        for vector in 0..vectors {
            let member = vector * rows_per_vector / CLUSTER;
            let cluster = super_cluster * CLUSTERS + member;
            let rows = self.rows(simd, packed, cluster, vector * rows_per_vector);
            for word in 0..self.words {
                let bits = match packed.cutoff {
                    Cutoff::Own if !symmetric => self.within_reach::<S, false>(simd, &rows, word),
                    Cutoff::Common => self.within_reach::<S, false>(simd, &rows, word),
                    Cutoff::Own | Cutoff::Either => self.within_reach::<S, true>(simd, &rows, word),
                };
                let present = u64::MAX >> (WORD - (count - word * WORD).min(WORD));
                self.candidates[vector * self.words + word] = bits & present;
            }
            // Earlier clusters of the super-cluster have the pairs with these rows.
            let earlier = if symmetric { &self.shifts.self_entries[..member] } else { &[] };
            for &number in earlier.iter().filter(|number| **number != usize::MAX) {
                self.candidates[vector * self.words + number / WORD] &= !(1 << (number % WORD));
            }
        }
    }

    /// Bounds of a vector of rows of the super-cluster, from its row `first` on, in its own frame.
    #[inline(always)]
    fn rows<S: Simd>(&self, simd: S, packed: &PackedInput<T>, cluster: usize, first: usize) -> RowBounds<S> {
        let nothing = f32x16::splat(simd, 0.0);
        let reach = f32x16::splat(simd, packed.cluster_reach(cluster));
        let mut bounds = RowBounds { lower: [nothing; 3], upper: [nothing; 3], reach };
        for d in 0..3 {
            let rows = &self.rows[d][first..first + self.rows_per_vector];
            // `min` and `max` ignore the NaN of ghosts.
            bounds.lower[d] = f32x16::splat(simd, rows.iter().copied().fold(f32::NAN, f32::min));
            bounds.upper[d] = f32x16::splat(simd, rows.iter().copied().fold(f32::NAN, f32::max));
        }
        bounds
    }

    /// Entries of a word whose bounds are within the rows' range or, with `BOTH`, whose own range reaches the
    /// rows.
    #[inline(always)]
    fn within_reach<S: Simd, const BOTH: bool>(&self, simd: S, rows: &RowBounds<S>, word: usize) -> u64 {
        let mut bits = 0;
        let bounds = &self.bounds[word * (WORD / BLOCK_ENTRIES) * BLOCK..];
        for (k, block) in bounds.as_chunks::<BLOCK>().0.iter().take(WORD / BLOCK_ENTRIES).enumerate() {
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
            // False for ghosts, whose bounds give NaN or infinity.
            bits |= square.simd_le(reach * reach).to_bitmask() << (BLOCK_ENTRIES * k);
        }
        bits
    }

    /// Mask of the candidate entries of a vector of rows, from row `first` of a cluster on.
    #[inline(always)]
    pub fn words(&self, cluster: usize, first: usize) -> &[u64] {
        let vector = (cluster % CLUSTERS * CLUSTER + first) / self.rows_per_vector;
        &self.candidates[vector * self.words..][..self.words]
    }

    /// Entries that are candidates of any row, in order.
    pub fn any_candidates(&self) -> impl Iterator<Item = usize> {
        let word = |word| {
            self.candidates
                .iter()
                .skip(word)
                .step_by(self.words)
                .fold(0_u64, |any, candidates| any | candidates)
        };
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

/// Shift of bounds; their unit is a power of two, so scaling is exact.
#[inline(always)]
fn bounds_shift<S: Simd, T: Scalar>(simd: S, shift: &[T; 3], scale: f64) -> f32x8<S> {
    let mut by = [0.0; 8];
    for d in 0..3 {
        by[Bounds::LOWER + d] = (shift[d].to_f64() * scale) as f32;
        by[Bounds::UPPER + d] = by[Bounds::LOWER + d];
    }
    f32x8::simd_from(simd, by)
}

/// Vector k of a block.
#[inline(always)]
fn sixteen<S: Simd>(simd: S, block: &[f32], k: usize) -> f32x16<S> {
    f32x16::from_slice(simd, &block[k * BLOCK_ENTRIES..][..BLOCK_ENTRIES])
}

/// Per pair of vectors the even lanes, then the odd lanes.
#[inline(always)]
fn even_then_odd<S: Simd>(v: [f32x16<S>; 8]) -> [f32x16<S>; 8] {
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

/// Transposes 16 entries of 8 columns to 8 columns of 16 entries.
#[inline(always)]
fn transpose_block<S: Simd>(simd: S, block: &mut [f32]) {
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
    // Each pass moves every second column to the front.
    let columns = even_then_odd(even_then_odd(even_then_odd(rows)));
    for (column, values) in columns.into_iter().enumerate() {
        values.store_slice(&mut block[column * BLOCK_ENTRIES..][..BLOCK_ENTRIES]);
    }
}

/// Column of a block of bounds.
#[inline(always)]
fn column<S: Simd>(simd: S, block: &[f32; BLOCK], column: usize) -> f32x16<S> {
    f32x16::from_slice(simd, &block[column * BLOCK_ENTRIES..][..BLOCK_ENTRIES])
}
