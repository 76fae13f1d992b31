//! Where particles are, and grids of cells over it.

use super::super::Device;
use super::super::arguments::search_grid::SearchGrid;
use super::super::hierarchy::{Hierarchy, Radii};
use super::super::order;
use super::super::sweep::Pass;
use crate::Result;
use crate::pair::law::Cutoff;
use crate::space::{Boundary, SimulationBox, Vec3d};

/// The space that particles fill, and the largest distance of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Space {
    /// Lower corner: of the box along periodic dimensions, elsewhere of the particles or below. Searches are
    /// correct for particles beyond these corners, but slow for many.
    pub lower: Vec3d,
    /// Upper corner.
    pub upper: Vec3d,
    /// Upper bound of the distance of pairs: the cutoff, or the largest radius.
    pub reach: f64,
}

impl Space {
    /// Measures the space of the rows of a pass: the extent along open dimensions, and the largest radius for
    /// laws with radii. Waits for the device.
    ///
    /// # Errors
    /// Those of the device.
    pub fn measure(device: &Device, pass: &Pass, cutoff: Cutoff) -> Result<Self> {
        let reach = match (cutoff, pass.radius) {
            (Cutoff::Own | Cutoff::Either, Some(radius)) => {
                Hierarchy::new(device)?.unit_of(Radii::Each(radius), pass.id, pass.rows)?.1
            }
            _ => pass.cutoff,
        };
        Self::around(device, pass, reach)
    }

    /// The space of the rows of a pass whose largest distance of a pair is known. Waits for the device where
    /// a dimension is open.
    ///
    /// # Errors
    /// Those of the device.
    pub fn around(device: &Device, pass: &Pass, reach: f64) -> Result<Self> {
        let (mut lower, mut upper) = (pass.bx.lower, pass.bx.upper);
        if pass.bx.boundary.contains(&Boundary::Open) {
            // without periodic dimensions nothing is wrapped
            let open = SimulationBox { boundary: [Boundary::Open; 3], ..*pass.bx };
            let found = order::enter(device, &open, pass.position, None, 0..pass.rows)?;
            for (d, [least, greatest]) in found.extent.into_iter().enumerate() {
                if pass.bx.boundary[d] == Boundary::Open && least <= greatest {
                    (lower[d], upper[d]) = (least, greatest);
                }
            }
        }
        Ok(Self { lower, upper, reach })
    }

    /// Edge lengths.
    pub fn lengths(&self) -> Vec3d {
        self.upper - self.lower
    }
}

/// A grid of equal cells, each at least as wide as the largest distance of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    lower: Vec3d,
    upper: Vec3d,
    /// Numbers of cells.
    pub cells: [u32; 3],
    /// Widths of cells.
    pub width: [f64; 3],
    periodic: u32,
}

/// Width of cells over the largest distance of a pair, at least: above the rounding of cell numbers.
const SLACK: f64 = 1.0 + 1e-6;

impl Grid {
    /// The grid of cells about `width` wide, and wider where there would be more than `most` cells. Cells
    /// divide a period, and an extent unless they would be narrower than the largest distance of a pair.
    pub fn new(bx: &SimulationBox, space: &Space, width: f64, most: usize) -> Self {
        let lengths = space.lengths();
        let positive = |value: f64| if value > 0.0 && value.is_finite() { value } else { 1.0 };
        let mut wanted = positive(width.max(space.reach * SLACK));
        loop {
            let dimension = |d: usize| -> (f64, f64) {
                let cells = lengths[d] / wanted;
                match bx.boundary[d] {
                    Boundary::Periodic => {
                        let cells = cells.floor().max(1.0);
                        (cells, lengths[d] / cells)
                    }
                    Boundary::Open => {
                        let cells = (cells - 1e-9).ceil().max(1.0);
                        let even = if lengths[d] > 0.0 { lengths[d] / cells } else { wanted };
                        (cells, positive(even.max(space.reach * SLACK)))
                    }
                }
            };
            let all = [0, 1, 2].map(dimension);
            let count: f64 = all.iter().map(|(cells, _)| cells).product();
            if count <= most.max(1) as f64 {
                return Self {
                    lower: space.lower,
                    upper: space.upper,
                    cells: all.map(|(cells, _)| cells as u32),
                    width: all.map(|(_, width)| width),
                    periodic: (0..3).map(|d| u32::from(bx.boundary[d] == Boundary::Periodic) << d).sum(),
                };
            }
            wanted *= (count / most.max(1) as f64).cbrt().max(1.01);
        }
    }

    /// Number of cells.
    pub fn count(&self) -> usize {
        self.cells.iter().map(|&cells| cells as usize).product()
    }

    /// The arguments of kernels.
    pub(super) fn arguments(&self) -> SearchGrid {
        SearchGrid {
            lower: self.lower.into(),
            upper: self.upper.into(),
            width: self.width,
            scale: self.width.map(|width| 1.0 / width),
            cells: self.cells,
            periodic: self.periodic,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bx(boundary: Boundary) -> (SimulationBox, Space) {
        let (lower, upper) = (Vec3d::zeros(), Vec3d::new(180.0, 90.0, 0.0));
        let bx = SimulationBox { lower, upper: upper + Vec3d::new(0.0, 0.0, 2.0), boundary: [boundary; 3] };
        let upper = if boundary == Boundary::Open { upper } else { bx.upper };
        (bx, Space { lower, upper, reach: 1.0 })
    }

    #[test]
    fn cells_are_as_wide_as_asked_for() {
        let (open, space) = bx(Boundary::Open);
        let grid = Grid::new(&open, &space, 10.0, 1000);
        assert_eq!((grid.cells, grid.width, grid.count()), ([18, 9, 1], [10.0; 3], 162));
        assert_eq!(Grid::new(&open, &space, 9.9, 1000).width, [180.0 / 19.0, 9.0, 9.9]);
        let (periodic, space) = bx(Boundary::Periodic);
        let grid = Grid::new(&periodic, &space, 11.0, 1000);
        assert_eq!(grid.cells, [16, 8, 1]);
        assert_eq!(grid.width, [11.25, 11.25, 2.0]);
    }

    #[test]
    fn cells_are_never_narrower_than_the_reach_nor_more_than_allowed() {
        let (open, space) = bx(Boundary::Open);
        let grid = Grid::new(&open, &space, 0.1, usize::MAX);
        assert!(grid.width.iter().all(|&width| width > 1.0 && width < 1.001), "{grid:?}");
        for most in [0, 1, 7, 100, 5000] {
            let grid = Grid::new(&open, &space, 0.1, most);
            assert!(grid.count() <= most.max(1), "{grid:?}");
        }
        let nothing = Space { reach: 0.0, upper: space.lower, ..space };
        assert_eq!(Grid::new(&open, &nothing, 0.0, 100).cells, [1, 1, 1]);
    }
}
