//! Space: the simulation box, its boundaries, and Hilbert keys.

pub mod hilbert;

use crate::{Error, Result};
use nalgebra::Vector3;

/// A point or vector in double precision.
pub type Vec3d = Vector3<f64>;

/// Boundary condition of a pair of opposite faces of the box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Boundary {
    /// Open: the box follows the particles.
    Open,
    /// Periodic images.
    Periodic,
}

/// The simulation box: an axis-aligned half-open cuboid, with a boundary condition per dimension.
///
/// Invariant: `lower < upper` in every dimension, both finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimulationBox {
    /// Lower corner.
    pub lower: Vec3d,
    /// Upper corner (exclusive).
    pub upper: Vec3d,
    /// Boundary per dimension.
    pub boundary: [Boundary; 3],
}

/// Rounds to the nearest integer. Below 2^51 it adds and subtracts 1.5 * 2^52, whose unit in the last place
/// is 1: without a rounding instruction, which not every processor has, `round` is a library call.
#[inline(always)]
pub fn rounded(number: f64) -> f64 {
    const MAGIC: f64 = 1.5 * (1u64 << 52) as f64;
    if number.abs() < (1u64 << 51) as f64 { (number + MAGIC) - MAGIC } else { number.round() }
}

impl SimulationBox {
    /// Edge lengths.
    pub fn lengths(&self) -> Vec3d {
        self.upper - self.lower
    }

    /// Center.
    pub fn center(&self) -> Vec3d {
        0.5 * (self.lower + self.upper)
    }

    /// Period per dimension: the edge length if periodic, infinity if open.
    pub fn periods(&self) -> Vec3d {
        let lengths = self.lengths();
        Vec3d::from_fn(|d, _| if self.boundary[d] == Boundary::Periodic { lengths[d] } else { f64::INFINITY })
    }

    /// Period per dimension: the edge length if periodic, 0 if open.
    pub fn finite_periods(&self) -> Vec3d {
        self.periods().map(|period| if period.is_finite() { period } else { 0.0 })
    }

    /// Reciprocal period per dimension: 1 over the edge length if periodic, 0 if open.
    pub fn frequencies(&self) -> Vec3d {
        self.periods().map(|period| 1.0 / period)
    }

    /// Whether any dimension is periodic.
    pub fn any_periodic(&self) -> bool {
        self.boundary.contains(&Boundary::Periodic)
    }

    /// Minimum image of a separation. Components in open dimensions are unchanged.
    pub fn shortest(&self, separation: Vec3d) -> Vec3d {
        let lengths = self.lengths();
        Vec3d::from_fn(|d, _| match self.boundary[d] {
            Boundary::Periodic => separation[d] - lengths[d] * rounded(separation[d] / lengths[d]),
            Boundary::Open => separation[d],
        })
    }

    /// Wraps a position into the box. Components in open dimensions are unchanged.
    pub fn wrap(&self, position: Vec3d) -> Vec3d {
        let lengths = self.lengths();
        Vec3d::from_fn(|d, _| match self.boundary[d] {
            Boundary::Periodic => {
                let inside = self.lower[d] + (position[d] - self.lower[d]).rem_euclid(lengths[d]);
                if inside < self.upper[d] { inside } else { self.lower[d] }
            }
            Boundary::Open => position[d],
        })
    }

    /// Checks that pairs within this reach have only one periodic image.
    ///
    /// # Errors
    /// [`crate::Error::State`] if a periodic edge is less than twice the reach.
    pub fn check_reach(&self, reach: f64) -> Result<()> {
        let lengths = self.lengths();
        for (d, axis) in ["x", "y", "z"].into_iter().enumerate() {
            if self.boundary[d] == Boundary::Periodic && lengths[d] < 2.0 * reach {
                return Err(Error::State {
                    step: 0,
                    what: format!(
                        "the box is {} wide in {axis}, where it is periodic, but the largest interaction radius is {reach}",
                        lengths[d]
                    ),
                    remedy: "a periodic edge must be at least twice the interaction radius: enlarge the box in that \
                             dimension, use more particles, or less neighbors, cutoff or skin"
                        .into(),
                });
            }
        }
        Ok(())
    }

    /// Fits the box to `extent` (lower and upper corner of the particles). Periodic dimensions keep their
    /// faces. Open dimensions get a common edge, rounded up to a quarter power of two, around a quantized
    /// center: the box depends on the extent only, and changes rarely.
    pub fn fitted(&self, extent: (Vec3d, Vec3d)) -> Self {
        let mut fitted = *self;
        let open: Vec<usize> = (0..3).filter(|&d| self.boundary[d] == Boundary::Open).collect();
        let widest = open.iter().map(|&d| extent.1[d] - extent.0[d]).fold(0.0, f64::max);
        let magnitude = open.iter().map(|&d| extent.0[d].abs().max(extent.1[d].abs())).fold(0.0, f64::max);
        // coincident particles still need a nonempty box; at the origin any size will do
        let needed = (widest * 1.05).max(magnitude * 1e-9);
        let needed = if needed > 0.0 { needed } else { 1.0 };
        let edge = ((needed.log2() * 4.0).ceil() / 4.0).exp2();
        let grain = edge / 64.0;
        for d in open {
            let center = ((extent.0[d] + extent.1[d]) * 0.5 / grain).round() * grain;
            fitted.lower[d] = center - 0.5 * edge;
            fitted.upper[d] = center + 0.5 * edge;
        }
        fitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_dimensions_have_no_period_and_no_frequency() {
        let boundary = [Boundary::Periodic, Boundary::Open, Boundary::Periodic];
        let bx =
            SimulationBox { lower: Vec3d::new(-1.0, 0.0, 2.0), upper: Vec3d::new(2.0, 7.0, 2.5), boundary };
        assert_eq!(bx.periods(), Vec3d::new(3.0, f64::INFINITY, 0.5));
        assert_eq!(bx.finite_periods(), Vec3d::new(3.0, 0.0, 0.5));
        assert_eq!(bx.frequencies(), Vec3d::new(1.0 / 3.0, 0.0, 2.0));
    }
}
