//! Range tests of a super-cluster's members against clusters: bounding boxes first, then particles.
//!
//! All tests are conservative: a list may cover a pair out of range and never misses one in range. Single
//! precision with a margin above its rounding errors is used if super-cluster and cluster are close and
//! compact; otherwise double precision with the minimum image of each pair.

use super::cluster::{Clusters, FAR, up};
use super::{CLUSTER, CLUSTERS, ListRequest, SUPER_CLUSTER};
use crate::space::Vec3d;
use crate::{Error, Result};
use fearless_simd::{Simd, f32x8, f32x16, prelude::*};

/// Bound of the relative error of a single-precision distance for coordinates up to 1: about ten roundings.
const MARGIN: f32 = 1.5e-6;

/// Data of all tests.
pub(super) struct RangeTests<'a> {
    pub request: &'a ListRequest<'a>,
    clusters: Clusters,
    /// Edges of periodic dimensions, infinity for open ones.
    pub period: [f64; 3],
    /// Bound of the absolute error of a double-precision distance.
    pub slack: f64,
}

/// Two rows of a cluster for eight lanes each, `[a a a a a a a a b b b b b b b b]`, and their squared radii.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct RowPair {
    position: [[f32; 16]; 3],
    reach: [f32; 16],
}

/// A super-cluster prepared for tests. Lengths are in the clusters' unit and relative to its center unless
/// noted.
pub(super) struct Frame {
    /// First cluster.
    pub first_cluster: usize,
    /// Bit k is set if cluster k has owned rows.
    pub present: u8,
    /// Center, in units of the simulation.
    pub center: [f64; 3],
    /// Half edges, in units of the simulation.
    pub half: [f64; 3],
    /// Largest radius, in units of the simulation.
    pub radius: f64,
    /// Largest radius, in the clusters' unit.
    reach: f32,
    /// Half the period minus half the edge: a cluster with half edge plus radius below it has one image in
    /// range.
    limit: [f32; 3],
    /// Largest coordinate for which `margin` holds.
    extent: f32,
    margin: f32,
    member_center: [[f32; CLUSTERS]; 3],
    member_half: [[f32; CLUSTERS]; 3],
    member_radius: [f32; CLUSTERS],
    rows: [[RowPair; CLUSTER / 2]; CLUSTERS],
}

/// Squared radius with a margin.
#[inline(always)]
fn squared_reach(radius: f32, margin: f32) -> f32 {
    let reach = radius + margin;
    reach * reach * (1.0 + 1e-6) + f32::MIN_POSITIVE
}

/// Loads eight lanes plus `shift`, repeated twice.
#[inline(always)]
fn load_twice<S: Simd>(simd: S, lanes: &[f32; CLUSTER], shift: f32) -> f32x16<S> {
    let half = f32x8::load_array_ref(simd, lanes) + shift;
    half.combine(half)
}

/// Checks the columns of a request and the number of its rows.
///
/// # Errors
/// [`Error::State`] for 2^32 rows or more.
pub(super) fn check_rows(request: &ListRequest) -> Result<()> {
    let rows = request.id.len();
    assert!(
        request.radius.len() == rows
            && request.keys.len() == rows
            && request.position.iter().all(|column| column.len() == rows)
            && request.owned.end <= rows
            && (request.owned.is_empty() || request.owned.start.is_multiple_of(SUPER_CLUSTER)),
        "columns of equal length, owned rows from a super-cluster on"
    );
    if rows >= u32::MAX as usize {
        return Err(Error::State {
            step: 0,
            what: format!("{rows} particles and halos on one rank are more than 2^32"),
            remedy: "run on more ranks".into(),
        });
    }
    Ok(())
}

impl<'a> RangeTests<'a> {
    /// Prepares the clusters of a request.
    ///
    /// # Errors
    /// Those of [`super::ClusterList::build`].
    pub fn new(request: &'a ListRequest<'a>) -> Result<Self> {
        check_rows(request)?;
        let clusters = Clusters::new(request);
        request.bx.check_reach(clusters.radius)?;
        let period = request.bx.periods();
        let finite_period = period.iter().filter(|p| p.is_finite()).fold(0.0, |a: f64, &b| a.max(b));
        let slack = 16.0 * f64::EPSILON * (clusters.magnitude() + finite_period);
        Ok(Self { request, clusters, period: period.into(), slack })
    }

    /// Whether any allowed member has a pair with a cluster.
    #[inline(always)]
    pub fn meets<S: Simd>(&self, simd: S, frame: &Frame, cluster: usize, allowed: u8) -> bool {
        let other = &self.clusters.boxes[cluster];
        if other.is_empty() {
            return false;
        }
        let scale = 1.0 / self.clusters.unit;
        let mut offset = [0.0f32; 3];
        let (mut extent, mut compact) = (0.0f32, true);
        for d in 0..3 {
            let apart = other.center[d] - frame.center[d];
            let period = self.period[d];
            let image = if period.is_finite() { apart - period * (apart / period).round() } else { apart };
            offset[d] = (image * scale) as f32;
            extent = extent.max(offset[d].abs() + other.half[d]);
            compact &= other.half[d] + other.radius.max(frame.reach) < frame.limit[d];
        }
        compact &= extent <= frame.extent;
        let margin = frame.margin.max(extent * MARGIN);
        let mut square = f32x8::splat(simd, 0.0);
        for d in 0..3 {
            let apart = f32x8::load_array_ref(simd, &frame.member_center[d]) - offset[d];
            let apart = apart.max(-apart);
            let around = (self.period[d] * scale) as f32 - apart;
            let apart = apart.min(around.max(-around));
            let gap = apart - f32x8::load_array_ref(simd, &frame.member_half[d]) - other.half[d];
            let gap = gap.max(0.0);
            square = gap.mul_add(gap, square);
        }
        let reach = f32x8::load_array_ref(simd, &frame.member_radius).max(other.radius) + margin;
        let beyond = square.simd_gt(reach * reach * (1.0 + 1e-6));
        let mut near = !beyond.to_bitmask() as u8 & allowed;
        if near == 0 {
            return false;
        }
        if cluster.wrapping_sub(frame.first_cluster) < CLUSTERS {
            let own = 1 << (cluster - frame.first_cluster);
            if near & own != 0 && self.any_pair_exact(cluster, cluster) {
                return true;
            }
            near &= !own;
        }
        if !compact {
            return (0..CLUSTERS)
                .filter(|member| near >> member & 1 == 1)
                .any(|member| self.any_pair_exact(frame.first_cluster + member, cluster));
        }
        let lanes = &self.clusters.lanes[cluster];
        let x = load_twice(simd, &lanes.position[0], offset[0]);
        let y = load_twice(simd, &lanes.position[1], offset[1]);
        let z = load_twice(simd, &lanes.position[2], offset[2]);
        let reach = load_twice(simd, &lanes.radius, frame.margin);
        let reach = reach * reach * (1.0 + 1e-6);
        while near != 0 {
            let member = near.trailing_zeros();
            near &= near - 1;
            for pair in &frame.rows[member as usize] {
                let x = f32x16::load_array_ref(simd, &pair.position[0]) - x;
                let y = f32x16::load_array_ref(simd, &pair.position[1]) - y;
                let z = f32x16::load_array_ref(simd, &pair.position[2]) - z;
                let square = x.mul_add(x, y.mul_add(y, z * z));
                let beyond = square.simd_gt(f32x16::load_array_ref(simd, &pair.reach).max(reach));
                if beyond.any_false() {
                    return true;
                }
            }
        }
        false
    }

    /// Whether an owned row of cluster `i` has a pair with a row of cluster `j`, in double precision.
    #[cold]
    fn any_pair_exact(&self, i: usize, j: usize) -> bool {
        let request = self.request;
        let rows = |cluster: usize| cluster * CLUSTER..request.id.len().min((cluster + 1) * CLUSTER);
        let at = |row: usize| Vec3d::from(request.position.map(|column| column[row]));
        rows(i).filter(|row| request.owned.contains(row) && !request.ghost(*row)).any(|a| {
            rows(j).filter(|&b| b != a && !request.ghost(b)).any(|b| {
                let reach = request.radius[a].max(request.radius[b]) + self.slack;
                let square = request.bx.shortest(at(a) - at(b)).norm_squared();
                square <= reach * reach * (1.0 + 1e-9)
            })
        })
    }

    /// Fills the frame of a super-cluster.
    #[inline(always)]
    pub fn prepare(&self, super_cluster: usize, frame: &mut Frame) {
        let (clusters, owned) = (&self.clusters, &self.request.owned);
        let (unit, scale) = (clusters.unit, 1.0 / clusters.unit);
        let first = super_cluster * CLUSTERS;
        frame.first_cluster = first;
        frame.present = 0;
        let (mut lower, mut upper) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        let mut reach = 0.0f32;
        let end = clusters.boxes.len().min(owned.end.div_ceil(CLUSTER));
        for cluster in (first..end.min(first + CLUSTERS)).filter(|&c| !clusters.boxes[c].is_empty()) {
            let bx = &clusters.boxes[cluster];
            frame.present |= 1 << (cluster - first);
            for d in 0..3 {
                lower[d] = lower[d].min(bx.center[d] - f64::from(bx.half[d]) * unit);
                upper[d] = upper[d].max(bx.center[d] + f64::from(bx.half[d]) * unit);
            }
            reach = reach.max(bx.radius);
        }
        if frame.present == 0 {
            return;
        }
        frame.center = [0, 1, 2].map(|d| 0.5 * lower[d] + 0.5 * upper[d]);
        frame.half = [0, 1, 2].map(|d| (0.5 * upper[d] - 0.5 * lower[d]) + self.slack);
        frame.reach = reach;
        frame.radius = f64::from(reach) * unit;
        let half = frame.half.map(|half| up(half * scale));
        frame.limit = [0, 1, 2].map(|d| (0.5 * self.period[d] * scale * (1.0 - 1e-6)) as f32 - half[d]);
        frame.extent = 4.0 * (half[0].max(half[1]).max(half[2]) + reach);
        frame.margin = frame.extent * MARGIN + up(self.slack * scale);
        for member in 0..CLUSTERS {
            self.prepare_member(frame, member);
        }
    }

    #[inline(always)]
    fn prepare_member(&self, frame: &mut Frame, member: usize) {
        let cluster = frame.first_cluster + member;
        if frame.present >> member & 1 == 0 {
            frame.member_center[0][member] = FAR;
            frame.member_radius[member] = 0.0;
            return;
        }
        let (bx, lanes) = (&self.clusters.boxes[cluster], &self.clusters.lanes[cluster]);
        let scale = 1.0 / self.clusters.unit;
        let offset = [0, 1, 2].map(|d| ((bx.center[d] - frame.center[d]) * scale) as f32);
        for d in 0..3 {
            frame.member_center[d][member] = offset[d];
            frame.member_half[d][member] = bx.half[d];
        }
        frame.member_radius[member] = bx.radius;
        for (k, pair) in frame.rows[member].iter_mut().enumerate() {
            for side in 0..2 {
                let (lane, half) = (2 * k + side, 8 * side..8 * side + 8);
                for d in 0..3 {
                    pair.position[d][half.clone()].fill(lanes.position[d][lane] + offset[d]);
                }
                // Ghosts among the j lanes are far away on the other side.
                let row = cluster * CLUSTER + lane;
                if !self.request.owned.contains(&row) || self.request.ghost(row) {
                    pair.position[0][half.clone()].fill(-FAR);
                }
                pair.reach[half].fill(squared_reach(lanes.radius[lane], frame.margin));
            }
        }
    }
}

impl Frame {
    pub const EMPTY: Frame = Frame {
        first_cluster: 0,
        present: 0,
        center: [0.0; 3],
        half: [0.0; 3],
        radius: 0.0,
        reach: 0.0,
        limit: [0.0; 3],
        extent: 0.0,
        margin: 0.0,
        member_center: [[0.0; CLUSTERS]; 3],
        member_half: [[0.0; CLUSTERS]; 3],
        member_radius: [0.0; CLUSTERS],
        rows: [[RowPair { position: [[0.0; 16]; 3], reach: [0.0; 16] }; CLUSTER / 2]; CLUSTERS],
    };
}
