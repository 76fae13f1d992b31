//! Which particles are in range of some rows: found by the distances of whole clusters, no law being part of it.

use super::near::{Near, SEGMENT};
use super::placed::Placed;
use super::{lift, nearest, repeat, self_pairs, spread, vector};
use crate::neighbors::CLUSTER;
use crate::pair::aligned::Aligned;
use crate::pair::lane::{Lanes, Scalar, vectorize};
use crate::pair::law::Cutoff;
use crate::pair::pack::{GEOMETRY, Packed};
use crate::pair::real::Real;
use crate::pair::record::PARTICLES;
use crate::pair::vec3::Vec3;
use fearless_simd::prelude::*;
use fearless_simd::{Simd, u16x8};

/// Lanes of the type T.
type R<T, S> = <T as Scalar>::Lanes<S>;

/// Values of an entry's geometry: offsets and squared radii of eight particles.
pub(super) const GEOMETRIES: usize = GEOMETRY * CLUSTER;

/// Most rows in a vector.
const ROWS: usize = 2;

const _: () = assert!(SEGMENT * CLUSTER <= PARTICLES, "a segment has more particles than records");

/// Bring the clusters of a segment into the super-cluster's frame: per entry x, y, z of eight particles from its centre, and
/// their squared radii.
pub(super) fn bring<T: Scalar, S: Simd>(
    simd: S,
    packed: &Packed<T>,
    placed: &Placed<T>,
    offsets: &mut Aligned<T>,
) {
    // a function that no law is part of, so that it is compiled once for all
    vectorize(
        simd,
        #[inline(always)]
        || {
            offsets.resize(placed.clusters.len() * GEOMETRIES);
            let records = offsets.as_chunks_mut::<GEOMETRIES>().0;
            for ((cluster, shift), record) in placed.clusters.iter().zip(&placed.shifts).zip(records) {
                let own = &packed.block(*cluster as usize)[..GEOMETRIES];
                for d in 0..3 {
                    let column = d * CLUSTER..(d + 1) * CLUSTER;
                    T::Lanes::<S>::shift(simd, &own[column.clone()], shift[d], &mut record[column]);
                }
                record[3 * CLUSTER..].copy_from_slice(&own[3 * CLUSTER..]);
            }
        },
    );
}

/// The neighbors in range of some rows, by where their records begin.
pub(super) struct Found {
    /// Per row, and room for a whole vector more.
    starts: [[u16; PARTICLES + 2 * CLUSTER]; ROWS],
    /// Neighbors of each row.
    counts: [usize; ROWS],
    /// Units from record to record.
    stride: u16,
    /// Per pattern of eight bits where the records of those begin that are set, from the first of the eight on.
    places: [[u16; CLUSTER]; 256],
}

impl Found {
    /// None, of records that begin so many units after each other.
    pub fn new(stride: u16) -> Self {
        let mut places = [[0; CLUSTER]; 256];
        for (bits, places) in places.iter_mut().enumerate() {
            let set = (0..CLUSTER).filter(|place| bits >> place & 1 == 1);
            places.iter_mut().zip(set).for_each(|(start, place)| *start = place as u16 * stride);
        }
        Found { starts: [[0; PARTICLES + 2 * CLUSTER]; ROWS], counts: [0; ROWS], stride, places }
    }

    /// Where the records of a row's neighbors begin, and how many these are; what follows them are begins of records too.
    #[inline(always)]
    pub fn neighbors(&self, row: usize) -> (&[u16], usize) {
        (&self.starts[row], self.counts[row])
    }

    /// Find the neighbors in range of as many rows of a cluster as a vector has, from the row `first` on; returns the number
    /// of entries that they met. Pairs of `EITHER` are in range of the larger radius.
    #[inline(always)]
    pub fn find<T: Scalar, S: Simd, const EITHER: bool>(
        &mut self,
        simd: S,
        packed: &Packed<T>,
        cluster: usize,
        first: usize,
        near: &Near<T>,
        offsets: &[T],
    ) -> usize {
        let rows = const { R::<T, S>::ROWS };
        let block = packed.block(cluster);
        let reach = match packed.cutoff {
            Cutoff::Common => R::<T, S>::literal(simd, packed.largest * packed.largest),
            Cutoff::Own | Cutoff::Either => spread::<R<T, S>>(simd, block, GEOMETRY - 1, first),
        };
        let position = vector(
            #[inline(always)]
            |d| spread::<R<T, S>>(simd, block, d, first),
        );
        let others = R::<T, S>::mask(simd, self_pairs(first, rows, false));
        let offsets = offsets.as_chunks::<GEOMETRIES>().0;
        let stride = CLUSTER as u16 * self.stride;
        let (mut met, mut counts) = (0, [0; ROWS]);
        for (word, &entries) in near.met(cluster, first).iter().enumerate() {
            let mut left = entries;
            met += left.count_ones() as usize;
            let mut special = left & near.placed.special(cluster, word);
            left ^= special;
            let offsets = &offsets[word * u64::BITS as usize..];
            while special != 0 {
                let bit = special.trailing_zeros() as usize;
                special &= special - 1;
                let (mut r, reach) = apart::<T, S, EITHER>(simd, position, reach, &offsets[bit]);
                if near.placed.is_ambiguous(word * u64::BITS as usize + bit) {
                    r = nearest(r, lift(simd, packed.periods), lift(simd, packed.frequency));
                }
                let number = word * u64::BITS as usize + bit;
                let mut mask = r.dot(r).less(reach);
                if near.placed.clusters[number] as usize == cluster {
                    mask = mask & others;
                }
                self.keep(simd, &mut counts, rows, R::<T, S>::bits(mask), number as u16 * stride);
            }
            while left != 0 {
                let bit = left.trailing_zeros() as usize;
                left &= left - 1;
                let (r, reach) = apart::<T, S, EITHER>(simd, position, reach, &offsets[bit]);
                let bits = R::<T, S>::bits(r.dot(r).less(reach));
                let number = word * u64::BITS as usize + bit;
                self.keep(simd, &mut counts, rows, bits, number as u16 * stride);
            }
        }
        for k in 0..rows {
            // lanes beyond the last neighbor read the first record
            self.starts[k][counts[k]..][..2 * CLUSTER].fill(0);
        }
        self.counts = counts;
        met
    }

    /// Keep the neighbors of an entry whose bits are set.
    #[inline(always)]
    fn keep<S: Simd>(&mut self, simd: S, counts: &mut [usize; ROWS], rows: usize, bits: u64, first: u16) {
        let first = u16x8::splat(simd, first);
        for k in 0..rows {
            let hits = (bits >> (k * CLUSTER)) as u8;
            let starts = first + u16x8::from_slice(simd, &self.places[hits as usize]);
            starts.store_slice(&mut self.starts[k][counts[k] % PARTICLES..][..CLUSTER]);
            counts[k] += hits.count_ones() as usize;
        }
    }
}

/// The separations of rows from the particles of an entry, and the squares of how far their pairs reach.
#[inline(always)]
fn apart<T: Scalar, S: Simd, const EITHER: bool>(
    simd: S,
    position: Vec3<R<T, S>>,
    reach: R<T, S>,
    offsets: &[T; GEOMETRIES],
) -> (Vec3<R<T, S>>, R<T, S>) {
    let r = vector(
        #[inline(always)]
        |d| repeat::<R<T, S>>(simd, offsets, d),
    );
    let reach = if EITHER { Real::max(reach, repeat::<R<T, S>>(simd, offsets, GEOMETRY - 1)) } else { reach };
    (position - r, reach)
}
