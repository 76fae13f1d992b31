//! Clusters against clusters: per super-cluster its list is decoded once, then each of its clusters runs over its entries,
//! some rows of particles i against eight j at a time.

use super::{Shared, collected, nearest, nothing, reaction, vector};
use crate::neighbors::{CLUSTER, ClusterList, Entry, SUPER_CLUSTER};
use crate::pair::lane::{Lanes, Scalar};
use crate::pair::law::{Columns, Cutoff, PairLaw};
use crate::pair::pack::{GEOMETRY, Packed};
use crate::pair::real::Real;
use crate::pair::sums::{Blocks, ChunkSums};
use crate::pair::vec3::Vec3;
use fearless_simd::Simd;
use std::ops::Range;

const CLUSTERS: usize = SUPER_CLUSTER / CLUSTER;

/// In the number of an entry that is listed: its pairs' nearest images must be looked for.
const AMBIGUOUS: u32 = 1 << 31;

/// Vectors of rows whose sums are kept in registers at a time: as many as fit, where a vector takes `parts` registers.
const fn vectors(sums: usize, parts: usize) -> usize {
    match (parts, sums) {
        (1, 0..=3) => 4,
        (1, 4..=5) => 2,
        _ => 1,
    }
}

/// The vectors of a law.
const fn vectors_of<L: PairLaw, T: Scalar, S: Simd>() -> usize {
    vectors(L::SUMS.len(), size_of::<R<T, S>>() / size_of::<S::f32s>())
}

/// Whether plain pairs have loops of their own: for laws of few sums, where that counts.
const fn many<L: PairLaw, T: Scalar, S: Simd>() -> bool {
    vectors_of::<L, T, S>() > 1
}

/// The clusters that a super-cluster's list names.
struct Near<T> {
    entries: Vec<Entry>,
    /// Per entry, x, y, z of eight particles from the super-cluster's centre.
    offsets: Vec<T>,
    /// On half lists, per entry what its particles are given, `[column][8]`.
    reactions: Vec<T>,
    /// Per i-cluster the numbers of its entries, in as much room as there are entries: the plain ones from the front,
    /// the others from the back.
    listed: Vec<u32>,
    /// Per i-cluster how many of each.
    plain: [usize; CLUSTERS],
    other: [usize; CLUSTERS],
    /// Of all entries, those whose particles get reactions: a range of clusters.
    reacting: Range<usize>,
}

impl<T: Scalar> Near<T> {
    fn new(reacting: Range<usize>) -> Self {
        Near {
            entries: Vec::new(),
            offsets: Vec::new(),
            reactions: Vec::new(),
            listed: Vec::new(),
            plain: [0; CLUSTERS],
            other: [0; CLUSTERS],
            reacting,
        }
    }

    /// Decode the list of a super-cluster, and bring its clusters into the super-cluster's frame.
    #[inline(always)]
    fn decode<L: PairLaw, S: Simd>(
        &mut self,
        simd: S,
        list: &ClusterList,
        packed: &Packed<T>,
        super_cluster: usize,
    ) {
        list.decode(super_cluster, &mut self.entries);
        let count = self.entries.len();
        let mut frame = packed.frame(super_cluster, list.symmetric());
        self.offsets.resize(count * 3 * CLUSTER, T::default());
        self.listed.resize(count * CLUSTERS, 0);
        (self.plain, self.other) = ([0; CLUSTERS], [0; CLUSTERS]);
        let blocks = self.offsets.chunks_exact_mut(3 * CLUSTER);
        for (number, (entry, offsets)) in self.entries.iter().zip(blocks).enumerate() {
            let cluster = entry.cluster as usize;
            let shift = packed.shift(&mut frame, cluster);
            let own = packed.block(cluster)[..3 * CLUSTER].chunks_exact(CLUSTER);
            for ((offsets, own), by) in offsets.chunks_exact_mut(CLUSTER).zip(own).zip(shift.by) {
                T::Lanes::<S>::shift(simd, own, by, offsets);
            }
            // an owned cluster of a half list reacts, and no pair of a full one does
            let alike =
                const { many::<L, T, S>() } && (!list.symmetric() || self.reacting.contains(&cluster));
            let same = cluster.wrapping_sub(super_cluster * CLUSTERS);
            let number = number as u32 | if shift.ambiguous { AMBIGUOUS } else { 0 };
            let mut members = entry.mask;
            while members != 0 {
                let member = members.trailing_zeros() as usize;
                members &= members - 1;
                let room = &mut self.listed[member * count..][..count];
                if alike && !shift.ambiguous && same != member {
                    room[self.plain[member]] = number;
                    self.plain[member] += 1;
                } else {
                    self.other[member] += 1;
                    room[count - self.other[member]] = number;
                }
            }
        }
        if list.symmetric() {
            self.reactions.resize(count * L::SUMS.len() * CLUSTER, T::default());
            for reactions in self.reactions.chunks_exact_mut(L::SUMS.len() * CLUSTER) {
                for (values, sum) in reactions.chunks_exact_mut(CLUSTER).zip(L::SUMS) {
                    values.fill(T::from_f64(sum.reduction.identity()));
                }
            }
        }
    }

    /// Add the reactions to the sums of their particles.
    #[inline(always)]
    fn react<L: PairLaw, S: Simd>(&self, simd: S, blocks: &mut Blocks) {
        let width = L::SUMS.len() * CLUSTER;
        for (entry, given) in self.entries.iter().zip(self.reactions.chunks_exact(width)) {
            if !self.reacting.contains(&(entry.cluster as usize)) {
                continue;
            }
            let target = blocks.cluster_mut(entry.cluster as usize);
            let columns = target.chunks_exact_mut(CLUSTER).zip(given.chunks_exact(CLUSTER));
            for ((totals, given), sum) in columns.zip(L::SUMS) {
                T::Lanes::<S>::join_wide(simd, given, sum.reduction, totals);
            }
        }
    }
}

/// The sums of a chunk's super-clusters.
#[inline(always)]
pub(super) fn sums<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    shared: &Shared<L, T>,
    list: &ClusterList,
    sums: &mut ChunkSums,
) {
    let reacting = match shared.symmetric {
        true => shared.owned.start / CLUSTER..shared.owned.end.div_ceil(CLUSTER),
        false => 0..0,
    };
    let mut near = Near::new(reacting);
    for super_cluster in sums.super_clusters.clone() {
        let first = super_cluster * SUPER_CLUSTER;
        if !shared.rows.wanted(first..first + SUPER_CLUSTER) {
            continue;
        }
        near.decode::<L, S>(simd, list, &shared.packed, super_cluster);
        for member in 0..CLUSTERS {
            let cluster = super_cluster * CLUSTERS + member;
            let first = cluster * CLUSTER;
            if !shared.rows.wanted(first..first + CLUSTER) {
                continue;
            }
            let listed = near.plain[member] + near.other[member];
            sums.add_work(first, CLUSTER, listed * CLUSTER);
            sums.lane_pairs += (listed * CLUSTER * CLUSTER) as u64;
            match const { vectors_of::<L, T, S>() } {
                4 => cluster_sums::<L, T, S, 4>(simd, shared, cluster, &mut near, sums),
                2 => cluster_sums::<L, T, S, 2>(simd, shared, cluster, &mut near, sums),
                _ => cluster_sums::<L, T, S, 1>(simd, shared, cluster, &mut near, sums),
            }
        }
        if shared.symmetric {
            near.react::<L, S>(simd, &mut sums.blocks);
        }
    }
}

/// Lanes of the type T.
type R<T, S> = <T as Scalar>::Lanes<S>;

/// One column of a block in every row: particles j.
#[inline(always)]
fn repeat<R: Lanes>(token: R::Token, block: &[R::Scalar], column: usize) -> R {
    R::repeat(token, &block[column * CLUSTER..][..CLUSTER])
}

/// One column of a block spread over G vectors of rows from `first` on: particles i.
#[inline(always)]
fn spread<R: Lanes, const G: usize>(token: R::Token, column: &[R::Scalar], first: usize) -> [R; G] {
    let mut rows = [R::spread(token, column, first); G];
    for (g, row) in rows.iter_mut().enumerate() {
        *row = R::spread(token, column, first + g * R::ROWS);
    }
    rows
}

/// Lanes of a cluster's self pairs: each particle but itself, or those after it in half lists.
#[inline(always)]
fn self_pairs(first: usize, rows: usize, symmetric: bool) -> u64 {
    let row = |k: usize| {
        let i = first + k;
        let lanes: u64 = if symmetric { (0xfe << i) & 0xff } else { !(1 << i) & 0xff };
        lanes << (CLUSTER * k)
    };
    (0..rows).fold(0, |bits, k| bits | row(k))
}

/// Some rows of a cluster, G vectors of them, and what their lanes need.
struct Rows<L: PairLaw, R: Lanes, const G: usize> {
    parameters: L::Parameters<R>,
    x: [Vec3<R>; G],
    i: [L::Particle<R>; G],
    reach: [R; G],
    others: [R::Mask; G],
    common: R,
    periods: Vec3<R>,
    inverse: Vec3<R>,
}

/// A cluster's sums over its entries.
#[inline(always)]
fn cluster_sums<L: PairLaw, T: Scalar, S: Simd, const G: usize>(
    simd: S,
    shared: &Shared<L, T>,
    cluster: usize,
    near: &mut Near<T>,
    sums: &mut ChunkSums,
) {
    let (packed, member) = (&shared.packed, cluster % CLUSTERS);
    let block = packed.block(cluster);
    let lift = |values: [f64; 3]| Vec3 { x: values[0], y: values[1], z: values[2] }.lift::<R<T, S>>(simd);
    let common = R::<T, S>::literal(simd, packed.largest * packed.largest);
    let count = near.entries.len();
    let listed = &near.listed[member * count..][..count];
    let (plain, other) = (&listed[..near.plain[member]], &listed[count - near.other[member]..]);
    let step = G * R::<T, S>::ROWS;
    for first in (0..CLUSTER).step_by(step) {
        let own = |column: usize| &block[column * CLUSTER..][..CLUSTER];
        let reach = match L::CUTOFF {
            Cutoff::Common => [common; G],
            Cutoff::Own | Cutoff::Either => spread::<R<T, S>, G>(simd, own(GEOMETRY - 1), first),
        };
        let x = spread::<R<T, S>, G>(simd, own(0), first);
        let y = spread::<R<T, S>, G>(simd, own(1), first);
        let z = spread::<R<T, S>, G>(simd, own(2), first);
        let mut rows = Rows::<L, R<T, S>, G> {
            parameters: shared.law.parameters::<R<T, S>>(simd),
            x: [Vec3 { x: x[0], y: y[0], z: z[0] }; G],
            i: [L::Particle::<R<T, S>>::from_columns(
                #[inline(always)]
                |_| common,
            ); G],
            reach,
            others: [R::<T, S>::mask(simd, 0); G],
            common,
            periods: lift(packed.periods),
            inverse: lift(packed.frequency),
        };
        for g in 0..G {
            let first = first + g * R::<T, S>::ROWS;
            rows.x[g] = Vec3 { x: x[g], y: y[g], z: z[g] };
            rows.i[g] = L::Particle::<R<T, S>>::from_columns(
                #[inline(always)]
                |c| R::<T, S>::spread(simd, own(GEOMETRY + c), first),
            );
            rows.others[g] = R::<T, S>::mask(simd, self_pairs(first, R::<T, S>::ROWS, shared.symmetric));
        }
        let mut totals = [nothing::<L, R<T, S>>(simd); G];
        let width = L::SUMS.len() * CLUSTER;
        // loops of their own, whose registers hold nothing for the rare pairs
        let usual = |number: u32| Other {
            offsets: &near.offsets[number as usize * 3 * CLUSTER..][..3 * CLUSTER],
            block: packed.block(near.entries[number as usize].cluster as usize),
            same: false,
            ambiguous: false,
        };
        if const { G == 1 } {
            debug_assert!(plain.is_empty());
        } else if shared.symmetric {
            for &number in plain {
                let other = usual(number);
                let back = pairs::<L, T, S, G, true, true>(simd, &rows, &other, &mut totals);
                react::<L, R<T, S>>(back, &mut near.reactions[number as usize * width..][..width]);
            }
        } else {
            for &number in plain {
                pairs::<L, T, S, G, false, true>(simd, &rows, &usual(number), &mut totals);
            }
        }
        for &number in other {
            let (number, ambiguous) = ((number & !AMBIGUOUS) as usize, number & AMBIGUOUS != 0);
            let neighbor = near.entries[number].cluster as usize;
            let other = Other {
                offsets: &near.offsets[number * 3 * CLUSTER..][..3 * CLUSTER],
                block: packed.block(neighbor),
                same: neighbor == cluster,
                ambiguous,
            };
            if near.reacting.contains(&neighbor) {
                let back = pairs::<L, T, S, G, true, false>(simd, &rows, &other, &mut totals);
                react::<L, R<T, S>>(back, &mut near.reactions[number * width..][..width]);
            } else {
                pairs::<L, T, S, G, false, false>(simd, &rows, &other, &mut totals);
            }
        }
        let target = sums.blocks.cluster_mut(cluster);
        for (c, totals_of) in target.chunks_exact_mut(CLUSTER).enumerate() {
            let reduction = L::SUMS[c].reduction;
            let mut column = [common; G];
            for g in 0..G {
                column[g] = totals[g].to_columns().as_ref()[c];
            }
            let joined = R::<T, S>::rows(column, reduction);
            for (total, value) in totals_of[first..first + step].iter_mut().zip(joined.lanes()) {
                *total = reduction.join(*total, value.to_f64());
            }
        }
    }
}

/// Join what a cluster was given with what it had, `[column][8]`.
#[inline(always)]
fn react<L: PairLaw, R: Lanes>(given: L::Sums<R>, target: &mut [R::Scalar]) {
    let given = given.to_columns();
    for (c, target) in target.chunks_exact_mut(CLUSTER).enumerate() {
        given.as_ref()[c].fold_into(L::SUMS[c].reduction, target);
    }
}

/// A cluster of particles j.
struct Other<'a, T> {
    /// x, y, z in the frame of the rows.
    offsets: &'a [T],
    block: &'a [T],
    /// Whether it is that of the rows.
    same: bool,
    /// Whether the nearest image must be looked for.
    ambiguous: bool,
}

/// Rows against one cluster: their totals grow by what it gives them. Returned is what it gets, if `BOTH`. `PLAIN` promises
/// that it is neither the same nor ambiguous.
#[inline(always)]
fn pairs<L: PairLaw, T: Scalar, S: Simd, const G: usize, const BOTH: bool, const PLAIN: bool>(
    simd: S,
    rows: &Rows<L, R<T, S>, G>,
    other: &Other<T>,
    totals: &mut [L::Sums<R<T, S>>; G],
) -> L::Sums<R<T, S>> {
    let position = vector(
        #[inline(always)]
        |d| repeat::<R<T, S>>(simd, other.offsets, d),
    );
    let j = L::Particle::<R<T, S>>::from_columns(
        #[inline(always)]
        |c| repeat::<R<T, S>>(simd, other.block, GEOMETRY + c),
    );
    let reach_j = match L::CUTOFF {
        Cutoff::Common => rows.common,
        Cutoff::Own | Cutoff::Either => repeat::<R<T, S>>(simd, other.block, GEOMETRY - 1),
    };
    let mut back = nothing::<L, R<T, S>>(simd);
    for g in 0..G {
        let mut r = rows.x[g] - position;
        if !PLAIN && other.ambiguous {
            r = nearest(r, rows.periods, rows.inverse);
        }
        let r2 = r.dot(r);
        let reach = match L::CUTOFF {
            Cutoff::Common => rows.common,
            Cutoff::Own => rows.reach[g],
            Cutoff::Either => Real::max(rows.reach[g], reach_j),
        };
        let mut mask = r2.less(reach);
        let mut mask_j = if BOTH && L::CUTOFF == Cutoff::Own { r2.less(reach_j) } else { mask };
        if !PLAIN && other.same {
            mask = mask & rows.others[g];
            mask_j = mask_j & rows.others[g];
        }
        // many rows at a time belong to laws that cost less than a wrong guess
        if G < 4 && R::<T, S>::bits(if BOTH { mask | mask_j } else { mask }) == 0 {
            continue;
        }
        let given = L::interact::<R<T, S>>(simd, rows.parameters, rows.i[g], j, r, r2);
        totals[g] = collected::<L, R<T, S>>(mask, given, totals[g]);
        if BOTH {
            let reaction = reaction::<L, R<T, S>>(
                given,
                #[inline(always)]
                || L::interact::<R<T, S>>(simd, rows.parameters, j, rows.i[g], -r, r2),
            );
            back = collected::<L, R<T, S>>(mask_j, reaction, back);
        }
    }
    back
}
