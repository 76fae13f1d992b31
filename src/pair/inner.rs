//! The inner loops, once for all laws: clusters against clusters, and particles against their own lists.

use super::lane::{Lanes, Scalar, Task};
use super::law::{Columns, Cutoff, PairLaw, Parity, Sum};
use super::pack::Packed;
use super::real::Real;
use super::sums::ChunkSums;
use super::vec3::Vec3;
use crate::neighbors::{CLUSTER, ClusterList, NeighborList, ParticleList, SUPER_CLUSTER};
use fearless_simd::Simd;
use std::ops::Range;

const CLUSTERS: usize = SUPER_CLUSTER / CLUSTER;

/// What all chunks of a sweep share.
pub struct Shared<'a, L, T> {
    /// The law.
    pub law: &'a L,
    /// Its packed input.
    pub packed: Packed<'a, T>,
    /// Rows that get outputs.
    pub wanted: Vec<bool>,
    /// Rows this rank owns.
    pub owned: Range<usize>,
    /// Whether pairs of owned rows are listed once.
    pub symmetric: bool,
}

/// A chunk of super-clusters to sweep.
pub struct Chunk<'s, 'a, L, T> {
    /// What the chunks share.
    pub shared: &'s Shared<'a, L, T>,
    /// The list.
    pub list: &'s NeighborList,
    /// The chunk.
    pub super_clusters: Range<usize>,
}

impl<L: PairLaw, T: Scalar> Task for Chunk<'_, '_, L, T> {
    type Output = ChunkSums;
    type Scalar = T;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> ChunkSums {
        let touched = match self.shared.symmetric {
            true => 0..self.shared.wanted.len().div_ceil(SUPER_CLUSTER),
            false => self.super_clusters.clone(),
        };
        let mut sums = ChunkSums::new(L::SUMS, self.super_clusters, touched);
        match self.list {
            NeighborList::Clustered(list) => clusters::<L, T, S>(simd, self.shared, list, &mut sums),
            NeighborList::PerParticle(list) => particles::<L, T, S>(simd, self.shared, list, &mut sums),
        }
        sums
    }
}

/// Whether the second side of a pair must be evaluated by itself.
const fn two_sided(sums: &[Sum]) -> bool {
    let mut k = 0;
    while k < sums.len() {
        if matches!(sums[k].parity, Parity::Neither) {
            return true;
        }
        k += 1;
    }
    false
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

/// The nearest image of each lane's separation; `periods` and `inverse` are 0 where open.
#[inline(always)]
fn nearest<R: Real>(r: Vec3<R>, periods: Vec3<R>, inverse: Vec3<R>) -> Vec3<R> {
    Vec3 {
        x: r.x - periods.x * (r.x * inverse.x).round(),
        y: r.y - periods.y * (r.y * inverse.y).round(),
        z: r.z - periods.z * (r.z * inverse.z).round(),
    }
}

/// The sums of no pair.
#[inline(always)]
fn nothing<L: PairLaw, R: Real>(token: R::Token) -> L::Sums<R> {
    L::Sums::<R>::from_columns(
        #[inline(always)]
        |c| R::literal(token, L::SUMS[c].reduction.identity()),
    )
}

/// The totals with what the lanes of a mask were given.
#[inline(always)]
fn collected<L: PairLaw, R: Real>(
    token: R::Token,
    mask: R::Mask,
    given: L::Sums<R>,
    totals: L::Sums<R>,
) -> L::Sums<R> {
    totals.zip(
        given,
        #[inline(always)]
        |c, total, value| {
            let reduction = L::SUMS[c].reduction;
            reduction.join(total, R::select(mask, value, R::literal(token, reduction.identity())))
        },
    )
}

/// What j gets of a pair of which i was given `given`; `second` evaluates what no symmetry tells.
#[inline(always)]
fn reaction<L: PairLaw, R: Real>(given: L::Sums<R>, second: impl FnOnce() -> L::Sums<R>) -> L::Sums<R> {
    let own = if const { two_sided(L::SUMS) } { second() } else { given };
    own.zip(
        given,
        #[inline(always)]
        |c, own, given| match L::SUMS[c].parity {
            Parity::Even => given,
            Parity::Odd => -given,
            Parity::Neither => own,
        },
    )
}

/// A vector made component by component.
#[inline(always)]
fn vector<R>(component: impl Fn(usize) -> R) -> Vec3<R> {
    Vec3 { x: component(0), y: component(1), z: component(2) }
}

/// One column of a block spread over rows: particles i.
#[inline(always)]
fn spread<R: Lanes>(token: R::Token, block: &[R::Scalar], column: usize, first: usize) -> R {
    R::spread(token, &block[column * CLUSTER..][..CLUSTER], first)
}

/// One column of a block in every row: particles j.
#[inline(always)]
fn repeat<R: Lanes>(token: R::Token, block: &[R::Scalar], column: usize) -> R {
    R::repeat(token, &block[column * CLUSTER..][..CLUSTER])
}

/// One column of gathered values.
#[inline(always)]
fn gather<R: Lanes>(token: R::Token, values: &[R::Scalar], column: usize) -> R {
    let lanes = R::ROWS * CLUSTER;
    R::load(token, &values[column * lanes..][..lanes])
}

/// Clusters against clusters: per super-cluster its list is decoded once into offsets from its frame, then each of
/// its clusters runs over its entries, `ROWS` particles i against eight j at a time.
#[inline(always)]
fn clusters<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    shared: &Shared<L, T>,
    list: &ClusterList,
    sums: &mut ChunkSums,
) {
    let packed = &shared.packed;
    let (mut entries, mut offsets, mut own, mut listed) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for super_cluster in sums.super_clusters.clone() {
        let rows =
            super_cluster * SUPER_CLUSTER..((super_cluster + 1) * SUPER_CLUSTER).min(shared.wanted.len());
        if !shared.wanted[rows].contains(&true) {
            continue;
        }
        list.decode(super_cluster, &mut entries);
        let (centre, ambiguous) = packed.frame(super_cluster, shared.symmetric);
        offsets.clear();
        for entry in &entries {
            packed.offsets(entry.cluster as usize, &centre, true, &mut offsets);
        }
        own.clear();
        for k in 0..CLUSTERS {
            packed.offsets(super_cluster * CLUSTERS + k, &centre, false, &mut own);
        }
        for k in 0..CLUSTERS {
            let cluster = super_cluster * CLUSTERS + k;
            let rows = cluster * CLUSTER..((cluster + 1) * CLUSTER).min(shared.wanted.len());
            if rows.start >= shared.wanted.len() || !shared.wanted[rows.clone()].contains(&true) {
                continue;
            }
            listed.clear();
            listed.extend(
                entries
                    .iter()
                    .enumerate()
                    .filter(|(_, entry)| entry.mask >> k & 1 == 1)
                    .map(|(e, entry)| (e as u32, entry.cluster)),
            );
            rows.for_each(|row| sums.add_work(row, listed.len() * CLUSTER));
            let own = &own[k * 3 * CLUSTER..][..3 * CLUSTER];
            for first in (0..CLUSTER).step_by(T::Lanes::<S>::ROWS) {
                group::<L, T, S>(simd, shared, cluster, first, own, &listed, &offsets, ambiguous, sums);
            }
        }
    }
}

/// `ROWS` particles i of a cluster, from `first`, against the listed clusters j.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn group<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    shared: &Shared<L, T>,
    cluster: usize,
    first: usize,
    own: &[T],
    listed: &[(u32, u32)],
    offsets: &[T],
    ambiguous: bool,
    sums: &mut ChunkSums,
) {
    type R<T, S> = <T as Scalar>::Lanes<S>;
    let packed = &shared.packed;
    let width = (L::Particle::<R<T, S>>::COUNT + 1) * CLUSTER;
    let block = &packed.block(cluster)[..width];
    let parameters = shared.law.parameters::<R<T, S>>(simd);
    let i = L::Particle::<R<T, S>>::from_columns(
        #[inline(always)]
        |c| spread::<R<T, S>>(simd, block, c + 1, first),
    );
    let reach_i = spread::<R<T, S>>(simd, block, 0, first);
    let x = vector(
        #[inline(always)]
        |d| spread::<R<T, S>>(simd, own, d, first),
    );
    let [x_period, y_period, z_period] = packed.periods;
    let periods = Vec3 { x: x_period, y: y_period, z: z_period };
    let invert = |period: f64| if period > 0.0 { 1.0 / period } else { 0.0 };
    let inverse = Vec3 { x: invert(x_period), y: invert(y_period), z: invert(z_period) };
    let (periods, inverse) = (periods.lift::<R<T, S>>(simd), inverse.lift::<R<T, S>>(simd));
    let none = nothing::<L, R<T, S>>(simd);
    let mut totals = none;
    let mut useful = 0u32;
    let others = R::<T, S>::mask(simd, self_pairs(first, R::<T, S>::ROWS, shared.symmetric));
    let clusters_owned = shared.owned.start / CLUSTER..shared.owned.end.div_ceil(CLUSTER);

    for &(entry, neighbor) in listed {
        let neighbor = neighbor as usize;
        let offset = &offsets[entry as usize * 3 * CLUSTER..][..3 * CLUSTER];
        let block = &packed.block(neighbor)[..width];
        let mut r = x - vector(
            #[inline(always)]
            |d| repeat::<R<T, S>>(simd, offset, d),
        );
        if ambiguous {
            r = nearest(r, periods, inverse);
        }
        let r2 = r.dot(r);
        let reach_j = repeat::<R<T, S>>(simd, block, 0);
        let reach = match L::CUTOFF {
            Cutoff::Own => reach_i,
            Cutoff::Either => Real::max(reach_i, reach_j),
        };
        let both = shared.symmetric && clusters_owned.contains(&neighbor);
        let (mut mask, mut mask_j) = (r2.less(reach), r2.less(reach_j));
        if L::CUTOFF == Cutoff::Either {
            mask_j = mask;
        }
        if neighbor == cluster {
            mask = mask & others;
            mask_j = mask_j & others;
        }
        let acting = if both { R::<T, S>::bits(mask | mask_j) } else { R::<T, S>::bits(mask) };
        if acting == 0 {
            continue;
        }
        useful += acting.count_ones();
        let j = L::Particle::<R<T, S>>::from_columns(
            #[inline(always)]
            |c| repeat::<R<T, S>>(simd, block, c + 1),
        );
        let given = L::interact::<R<T, S>>(simd, parameters, i, j, r, r2);
        totals = collected::<L, R<T, S>>(simd, mask, given, totals);
        if both {
            let back = reaction::<L, R<T, S>>(
                given,
                #[inline(always)]
                || L::interact::<R<T, S>>(simd, parameters, j, i, -r, r2),
            );
            let back = collected::<L, R<T, S>>(simd, mask_j, back, none).to_columns();
            let target = sums.blocks.cluster_mut(neighbor);
            for (c, values) in target.chunks_exact_mut(CLUSTER).enumerate() {
                let reduction = L::SUMS[c].reduction;
                let value = back.as_ref()[c];
                for (total, value) in values.iter_mut().zip(value.fold(reduction)) {
                    *total = reduction.join(*total, value);
                }
            }
        }
    }
    sums.lane_pairs += (listed.len() * R::<T, S>::ROWS * CLUSTER) as u64;
    sums.useful_pairs += u64::from(useful);
    let totals = totals.to_columns();
    let target = sums.blocks.cluster_mut(cluster);
    for (c, values) in target.chunks_exact_mut(CLUSTER).enumerate() {
        let reduction = L::SUMS[c].reduction;
        for row in 0..R::<T, S>::ROWS {
            let value = totals.as_ref()[c].row(row, reduction);
            values[first + row] = reduction.join(values[first + row], value);
        }
    }
}

/// Particles against their own lists: the neighbors are gathered, as many as there are lanes at a time.
#[inline(always)]
fn particles<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    shared: &Shared<L, T>,
    list: &ParticleList,
    sums: &mut ChunkSums,
) {
    type R<T, S> = <T as Scalar>::Lanes<S>;
    let lanes = R::<T, S>::ROWS * CLUSTER;
    let packed = &shared.packed;
    let columns = L::Particle::<R<T, S>>::COUNT + 1;
    let parameters = shared.law.parameters::<R<T, S>>(simd);
    let none = nothing::<L, R<T, S>>(simd);
    let mut separation = vec![T::default(); 3 * lanes];
    let mut gathered = vec![T::default(); columns * lanes];
    let begin = (sums.super_clusters.start * SUPER_CLUSTER).max(shared.owned.start);
    let end = (sums.super_clusters.end * SUPER_CLUSTER).min(shared.owned.end);
    for row in (begin..end).filter(|&row| shared.wanted[row]) {
        let i = L::Particle::<R<T, S>>::from_columns(
            #[inline(always)]
            |c| R::<T, S>::literal(simd, packed.value(row, c + 1).to_f64()),
        );
        let reach_i = R::<T, S>::literal(simd, packed.value(row, 0).to_f64());
        let mut totals = none;
        let neighbors = list.neighbors(row);
        sums.add_work(row, neighbors.len().next_multiple_of(lanes));
        for some in neighbors.chunks(lanes) {
            separation.fill(T::from_f64(f64::NAN));
            for (lane, &j) in some.iter().enumerate() {
                for d in 0..3 {
                    let (x, period) = (packed.position[d], packed.periods[d]);
                    let r = x[row] - x[j as usize];
                    let r = if period > 0.0 { r - period * (r / period).round_ties_even() } else { r };
                    separation[d * lanes + lane] = T::from_f64(r);
                }
                for c in 0..columns {
                    gathered[c * lanes + lane] = packed.value(j as usize, c);
                }
            }
            let r = vector(
                #[inline(always)]
                |d| gather::<R<T, S>>(simd, &separation, d),
            );
            let r2 = r.dot(r);
            let reach_j = gather::<R<T, S>>(simd, &gathered, 0);
            let reach = match L::CUTOFF {
                Cutoff::Own => reach_i,
                Cutoff::Either => Real::max(reach_i, reach_j),
            };
            let mask = r2.less(reach);
            let mask_j = if L::CUTOFF == Cutoff::Own { r2.less(reach_j) } else { mask };
            let j = L::Particle::<R<T, S>>::from_columns(
                #[inline(always)]
                |c| gather::<R<T, S>>(simd, &gathered, c + 1),
            );
            let given = L::interact::<R<T, S>>(simd, parameters, i, j, r, r2);
            totals = collected::<L, R<T, S>>(simd, mask, given, totals);
            let acting =
                if shared.symmetric { R::<T, S>::bits(mask | mask_j) } else { R::<T, S>::bits(mask) };
            sums.lane_pairs += lanes as u64;
            sums.useful_pairs += u64::from(acting.count_ones());
            if shared.symmetric {
                let back = reaction::<L, R<T, S>>(
                    given,
                    #[inline(always)]
                    || L::interact::<R<T, S>>(simd, parameters, j, i, -r, r2),
                );
                let back = collected::<L, R<T, S>>(simd, mask_j, back, none).to_columns();
                for (lane, &j) in
                    some.iter().enumerate().filter(|(_, j)| shared.owned.contains(&(**j as usize)))
                {
                    let target = sums.blocks.cluster_mut(j as usize / CLUSTER);
                    for c in 0..L::SUMS.len() {
                        let reduction = L::SUMS[c].reduction;
                        let value = back.as_ref()[c];
                        let total = &mut target[c * CLUSTER + j as usize % CLUSTER];
                        *total = reduction.join(*total, value.lanes()[lane].to_f64());
                    }
                }
            }
        }
        let totals = totals.to_columns();
        let target = sums.blocks.cluster_mut(row / CLUSTER);
        for c in 0..L::SUMS.len() {
            let reduction = L::SUMS[c].reduction;
            for half in 0..R::<T, S>::ROWS {
                let total = &mut target[c * CLUSTER + row % CLUSTER];
                *total = reduction.join(*total, totals.as_ref()[c].row(half, reduction));
            }
        }
    }
}
