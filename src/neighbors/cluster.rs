//! Geometry of clusters: bounding boxes, largest radii, and particle positions relative to the cluster's
//! center.

use super::{CLUSTER, ListRequest};
use crate::tree::bounds::Extent;
use rayon::prelude::*;

/// First coordinate of ghost lanes: far enough to be out of range, small enough for a finite square.
pub(super) const FAR: f32 = 1e18;

/// Particles of a cluster, relative to its center, in units of [`Clusters::unit`].
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub struct Lanes {
    /// Coordinates; the first one of ghosts is `FAR`.
    pub position: [[f32; CLUSTER]; 3],
    /// Radii; 0 for ghosts.
    pub radius: [f32; CLUSTER],
}

/// Bounding box and largest radius of a cluster. Half edges and radius are rounded up.
#[derive(Clone, Copy, Debug)]
pub struct ClusterBox {
    /// Center of the bounding box, in units of the simulation.
    pub center: [f64; 3],
    /// Half edges, in units of [`Clusters::unit`].
    pub half: [f32; 3],
    /// Largest radius, in units of [`Clusters::unit`]; -1 if all rows are ghosts.
    pub radius: f32,
}

impl ClusterBox {
    /// Whether all rows are ghosts.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.radius < 0.0
    }
}

/// All clusters of a rank. Lengths are in single precision in a unit near the largest radius, so that squares
/// do not overflow, whatever the unit of the simulation.
#[derive(Clone, Debug)]
pub struct Clusters {
    /// Boxes by cluster.
    pub boxes: Vec<ClusterBox>,
    /// Particles by cluster.
    pub lanes: Vec<Lanes>,
    /// Unit of length: a power of two.
    pub unit: f64,
    /// Largest radius of all rows except ghosts, in units of the simulation.
    pub radius: f64,
}

/// Largest power of two that is not above a positive length; 1 for zero, subnormal and non-finite lengths.
pub fn power_of_two_below(length: f64) -> f64 {
    if length.is_normal() && length > 0.0 {
        f64::from_bits(length.to_bits() & !((1 << 52) - 1)).clamp(1e-290, 1e290)
    } else {
        1.0
    }
}

/// Rounds up to single precision.
#[inline(always)]
pub(super) fn up(length: f64) -> f32 {
    (length * (1.0 + 2e-7)) as f32 + f32::MIN_POSITIVE
}

impl Clusters {
    /// Clusters of all rows.
    pub fn new(request: &ListRequest) -> Self {
        let rows = request.id.len();
        let count = rows.div_ceil(CLUSTER);
        let ghost = |row: usize| request.ghost(row);
        let largest =
            |radius: f64, row: usize| if ghost(row) { radius } else { radius.max(request.radius[row]) };
        let radius =
            (0..rows).into_par_iter().with_min_len(4096).fold(|| 0.0, largest).reduce(|| 0.0, f64::max);
        let unit = power_of_two_below(radius);
        let scale = 1.0 / unit;
        let both = |cluster: usize| {
            let range = cluster * CLUSTER..rows.min((cluster + 1) * CLUSTER);
            let extent = Extent::of_rows(request.position, request.radius, &ghost, range.clone());
            let mut lanes = Lanes { position: [[0.0; CLUSTER]; 3], radius: [0.0; CLUSTER] };
            lanes.position[0] = [FAR; CLUSTER];
            if extent.is_nothing() {
                return (ClusterBox { center: [0.0; 3], half: [0.0; 3], radius: -1.0 }, lanes);
            }
            let center = [0, 1, 2].map(|d| 0.5 * extent.lower[d] + 0.5 * extent.upper[d]);
            let half =
                [0, 1, 2].map(|d| up((center[d] - extent.lower[d]).max(extent.upper[d] - center[d]) * scale));
            for (lane, row) in range.enumerate().filter(|&(_, row)| !ghost(row)) {
                for (d, column) in request.position.iter().enumerate() {
                    lanes.position[d][lane] = ((column[row] - center[d]) * scale) as f32;
                }
                lanes.radius[lane] = up(request.radius[row].max(0.0) * scale);
            }
            (ClusterBox { center, half, radius: up(extent.radius * scale) }, lanes)
        };
        let (boxes, lanes) = (0..count).into_par_iter().with_min_len(256).map(both).unzip();
        Self { boxes, lanes, unit, radius }
    }

    /// Largest magnitude of a coordinate, ignoring non-finite ones.
    pub fn magnitude(&self) -> f64 {
        let of = |bx: &ClusterBox| {
            (0..3).map(|d| bx.center[d].abs() + f64::from(bx.half[d]) * self.unit).fold(0.0, f64::max)
        };
        let finite = self.boxes.iter().filter(|bx| !bx.is_empty()).map(of).filter(|m| m.is_finite());
        finite.fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_powers_of_two_below() {
        assert_eq!([3.5, 0.26, 1.0].map(power_of_two_below), [2.0, 0.25, 1.0]);
        assert_eq!([0.0, f64::INFINITY, f64::NAN, 1e-310].map(power_of_two_below), [1.0; 4]);
    }
}
