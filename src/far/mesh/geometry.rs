//! Shape of a mesh and the cells of positions.

use crate::space::SimulationBox;

/// A mesh over a periodic box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshGeometry {
    /// Points per dimension.
    pub points: [usize; 3],
    /// Lower corner of the box.
    pub lower: [f64; 3],
    /// Points per length.
    pub scale: [f64; 3],
}

impl MeshGeometry {
    /// A mesh of this many points per dimension over a box.
    pub fn new(points: [usize; 3], bx: &SimulationBox) -> Self {
        let lengths = bx.lengths();
        MeshGeometry {
            points,
            lower: [0, 1, 2].map(|d| bx.lower[d]),
            scale: [0, 1, 2].map(|d| points[d] as f64 / lengths[d]),
        }
    }

    /// Returns the cell, below the number of points, and the fraction in `[0, 1]` of a coordinate. Coordinates
    /// outside the box are wrapped.
    #[inline]
    pub fn locate(&self, dimension: usize, coordinate: f64) -> (usize, f64) {
        let scaled = (coordinate - self.lower[dimension]) * self.scale[dimension];
        let cell = scaled.floor();
        let points = self.points[dimension];
        let wrapped = if cell >= 0.0 && cell < points as f64 {
            cell as usize
        } else {
            (cell as i64).rem_euclid(points as i64) as usize
        };
        (wrapped, scaled - cell)
    }

    /// Number of mesh points.
    pub fn len(&self) -> usize {
        self.points.iter().product()
    }

    /// Whether the mesh has no points.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
