//! Uniform particles in a cube of unit cells, on a device, and their pairs.

use crate::Result;
use crate::device::Device;
use crate::device::columns::Columns;
use crate::device::order::Order;
use crate::particles::{Field, Particles};
use crate::space::{Boundary, SimulationBox, Vec3d};
use rand::{RngExt as _, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::f64::consts::PI;

/// The cutoff: less than the width of a cell, so that rounding takes no cell away.
pub const CUTOFF: f64 = 1.0 - 1e-6;

/// Particles in an open cube of `edge` unit cells in each dimension, in the order of the Hilbert curve.
pub struct Scene {
    /// Cells of an edge.
    pub edge: u64,
    /// Mean number of particles of a cell.
    pub per_cell: u64,
    /// The box.
    pub bx: SimulationBox,
    /// The particles.
    pub columns: Columns,
    /// Ordered pairs of different particles in the same or in neighboring cells.
    pub neighbor_pairs: u64,
    /// Expected number of ordered pairs within the cutoff.
    pub pairs_in_range: f64,
}

impl Scene {
    /// Independent uniform particles, `per_cell` a cell on the mean.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(device: &Device, edge: u64, per_cell: u64) -> Result<Self> {
        let count = (edge * edge * edge * per_cell) as usize;
        let upper = Vec3d::repeat(edge as f64);
        let bx = SimulationBox { lower: Vec3d::zeros(), upper, boundary: [Boundary::Open; 3] };
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut particles = Particles::new(&[Field::Position, Field::PairEnergy], count);
        let mut counts = vec![0; (edge * edge * edge) as usize];
        for row in 0..count {
            let place = Vec3d::from_fn(|_, _| random.random_range(0.0..edge as f64));
            particles.set_vector(Field::Position, row, place);
            let [x, y, z] = [0, 1, 2].map(|d| (place[d] as u64).min(edge - 1));
            counts[(x + edge * (y + edge * z)) as usize] += 1;
        }
        let mut columns = Columns::upload(device, &particles, particles.fields())?;
        Order::new(device)?.sync(&bx, &mut columns)?;
        let (neighbor_pairs, pairs_in_range) = (neighbor_pairs(edge as usize, &counts), pairs(count, edge));
        Ok(Self { edge, per_cell, bx, columns, neighbor_pairs, pairs_in_range })
    }

    /// Number of particles.
    pub fn particles(&self) -> usize {
        self.columns.rows()
    }
}

/// Ordered pairs of different particles in the same or in neighboring cells, by the particles of each cell.
fn neighbor_pairs(edge: usize, counts: &[u64]) -> u64 {
    let near = |at: usize| at.saturating_sub(1)..=(at + 1).min(edge - 1);
    let cells =
        || (0..edge).flat_map(move |z| (0..edge).flat_map(move |y| (0..edge).map(move |x| [x, y, z])));
    let of = |[x, y, z]: [usize; 3]| counts[x + edge * (y + edge * z)];
    let about = |[x, y, z]: [usize; 3]| -> u64 {
        let rows = near(z).flat_map(|z| near(y).map(move |y| (y, z)));
        rows.flat_map(|(y, z)| near(x).map(move |x| [x, y, z])).map(of).sum()
    };
    cells().map(|cell| of(cell) * about(cell)).sum::<u64>() - counts.iter().sum::<u64>()
}

/// Expected ordered pairs within distance 1 of independent uniform particles in a cube. The probability of a
/// distance below r <= 1 in the unit cube is 4/3 pi r^3 - 3/2 pi r^4 + 8/5 r^5 - r^6/6 (cube line picking).
fn pairs(count: usize, edge: u64) -> f64 {
    let r = CUTOFF / edge as f64;
    let within = 4.0 / 3.0 * PI * r.powi(3) - 1.5 * PI * r.powi(4) + 1.6 * r.powi(5) - r.powi(6) / 6.0;
    count as f64 * (count as f64 - 1.0) * within
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_cells_are_those_of_the_paper() {
        // interactions a particle of table 1, which has random counts; here equal ones: n (3 d - 2)^3 / d^3 -
        // 1
        for (edge, per_cell) in [(2_usize, 1), (4, 10), (8, 100)] {
            let counts = vec![per_cell; edge * edge * edge];
            let along = (3 * edge - 2) as u64;
            let expected = along.pow(3) * per_cell * per_cell - edge.pow(3) as u64 * per_cell;
            assert_eq!(neighbor_pairs(edge, &counts), expected);
        }
    }

    #[test]
    fn pairs_in_range_are_a_sphere_inside_of_a_large_box() {
        let (count, edge) = (1_000_000, 100);
        let of_sphere = 4.0 / 3.0 * PI * count as f64;
        let share = pairs(count, edge) / of_sphere;
        assert!(share < 1.0 && share > 0.98, "{share}");
        // all pairs but those at the far corners of a unit cube
        assert!((pairs(1000, 1) / 999_000.0 - 0.9097).abs() < 1e-3);
    }
}
