//! Grid of the cells of a [`super::CellList`].

use crate::space::{Boundary, SimulationBox, Vec3d};

/// Relative margin of the width of cells: above the rounding errors of coordinates on [`MAX_COUNT`] cells.
const MARGIN: f64 = 1e-9;

/// Maximum number of cells along a dimension.
const MAX_COUNT: usize = 1 << 20;

/// Maximum number of cells per row.
const CELLS_PER_ROW: usize = 8;

/// Number of cells that is always allowed.
const FEW_CELLS: usize = 4096;

/// Grid over the box in periodic dimensions, over the rows in open ones.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    lower: [f64; 3],
    /// Edges of a cell.
    width: [f64; 3],
    counts: [usize; 3],
    /// Periods, 0 if open.
    periods: [f64; 3],
}

impl Grid {
    /// Grid for `rows` rows with this extent. Cells are at least `reach` wide, and wider where there would be
    /// more than eight per row.
    pub fn new(bx: &SimulationBox, extent: (Vec3d, Vec3d), reach: f64, rows: usize) -> Self {
        let periodic = bx.boundary.map(|boundary| boundary == Boundary::Periodic);
        let lower = [0, 1, 2].map(|d| match periodic[d] {
            true => bx.lower[d],
            false if extent.0[d] <= extent.1[d] => extent.0[d],
            false => 0.0,
        });
        let lengths = [0, 1, 2].map(|d| match periodic[d] {
            true => bx.lengths()[d],
            // May overflow for far outliers.
            false => (extent.1[d] - extent.0[d]).clamp(0.0, f64::MAX),
        });
        let wanted = lengths.map(|length| {
            let count = length / (reach * (1.0 + MARGIN));
            // A length of 0 over a reach of 0 is NaN, which converts to 0.
            (count as usize).clamp(1, MAX_COUNT)
        });
        let most = (CELLS_PER_ROW * rows).clamp(FEW_CELLS, u32::MAX as usize / 2);
        let counts = reduced(wanted, most);
        let width = [0, 1, 2].map(|d| lengths[d] / counts[d] as f64);
        let periods = [0, 1, 2].map(|d| if periodic[d] { lengths[d] } else { 0.0 });
        Grid { lower, width, counts, periods }
    }

    /// Number of cells.
    pub fn cells(&self) -> usize {
        self.counts.iter().product()
    }

    /// Number of cells along each dimension.
    pub fn counts(&self) -> [usize; 3] {
        self.counts
    }

    /// Whether a period has fewer than three cells.
    pub fn needs_images(&self) -> bool {
        (0..3).any(|d| self.periods[d] > 0.0 && self.counts[d] < 3)
    }

    /// Cell of a position, wrapped in periodic dimensions. Positions beyond the grid are in its outermost
    /// cells, NaN in the first.
    pub fn cell(&self, at: Vec3d) -> usize {
        self.number([0, 1, 2].map(|d| {
            let (mut along, period) = (at[d] - self.lower[d], self.periods[d]);
            if period > 0.0 {
                along -= period * (along / period).floor();
            }
            ((along / self.width[d]) as usize).min(self.counts[d] - 1)
        }))
    }

    /// Number of the cell with these coordinates.
    #[inline(always)]
    pub fn number(&self, [x, y, z]: [usize; 3]) -> usize {
        (z * self.counts[1] + y) * self.counts[0] + x
    }

    /// Coordinates of a cell.
    #[inline(always)]
    pub fn coordinates(&self, cell: usize) -> [usize; 3] {
        let (row, x) = (cell / self.counts[0], cell % self.counts[0]);
        [x, row % self.counts[1], row / self.counts[1]]
    }

    /// Center of a cell.
    pub fn center(&self, cell: usize) -> Vec3d {
        let at = self.coordinates(cell);
        Vec3d::from([0, 1, 2].map(|d| self.lower[d] + (at[d] as f64 + 0.5) * self.width[d]))
    }

    /// Coordinates along a dimension of the distinct cells next to a coordinate, itself included, with the
    /// period to add to positions in them. Without period where several images are next to each other.
    pub fn near(&self, dimension: usize, at: usize) -> impl Iterator<Item = (usize, f64)> {
        let (count, period) = (self.counts[dimension], self.periods[dimension]);
        let wraps = period > 0.0 && count >= 3;
        let below = match at {
            0 if wraps => Some((count - 1, -period)),
            0 => None,
            _ => Some((at - 1, 0.0)),
        };
        let above = match at + 1 {
            next if next < count => Some((next, 0.0)),
            _ if wraps => Some((0, period)),
            _ => None,
        };
        [below, Some((at, 0.0)), above].into_iter().flatten()
    }
}

/// Reduces numbers of cells per dimension, by about the same factor, until there are at most `most` cells.
fn reduced(mut counts: [usize; 3], most: usize) -> [usize; 3] {
    loop {
        let cells = counts.iter().map(|&count| count as f64).product::<f64>();
        if cells <= most as f64 {
            return counts;
        }
        let factor = (cells / most as f64).cbrt();
        // At least one cell less: the factor may round to 1.
        counts = counts.map(|count| ((count as f64 / factor) as usize).min(count.max(2) - 1).max(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn cells_are_reduced_to_a_bound_and_not_much_below(
            counts in [1..3000usize, 1..3000usize, 1..3000usize],
            most in 4096..1_000_000usize,
        ) {
            let few = reduced(counts, most);
            let cells = few.iter().product::<usize>();
            prop_assert!(cells <= most && (0..3).all(|d| (1..=counts[d]).contains(&few[d])));
            if counts.iter().product::<usize>() <= most {
                prop_assert_eq!(few, counts);
            } else {
                prop_assert!(20 * cells >= most, "{} of {}", cells, most);
            }
        }
    }
}
