//! Particles and meshes for tests.

use crate::far::mesh::{MeshGeometry, Window};
use crate::space::{Boundary, SimulationBox, Vec3d, hilbert};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Arrangements of particles in a periodic box.
pub const ARRANGEMENTS: [Arrangement; 6] = [
    Arrangement::Random,
    Arrangement::Sorted,
    Arrangement::OneCell,
    Arrangement::MeshPoints,
    Arrangement::Edges,
    Arrangement::Outside,
];

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrangement {
    /// Uniform, unsorted.
    Random,
    /// Uniform, in Hilbert order.
    Sorted,
    /// All in one mesh cell.
    OneCell,
    /// Exactly on mesh points.
    MeshPoints,
    /// On the lower and the upper edges of the box, or next to them.
    Edges,
    /// Up to three periods outside of the box.
    Outside,
}

/// Particles with values.
pub struct Sample {
    pub geometry: MeshGeometry,
    pub positions: [Vec<f64>; 3],
    pub values: Vec<f64>,
}

impl Sample {
    /// `count` particles in a box that is neither cubic nor at the origin.
    pub fn new(points: [usize; 3], count: usize, arrangement: Arrangement) -> Self {
        let (lower, upper) = (Vec3d::new(-1.0, 2.0, 0.3), Vec3d::new(4.0, 5.5, 2.9));
        let bx = SimulationBox { lower, upper, boundary: [Boundary::Periodic; 3] };
        let geometry = MeshGeometry::new(points, &bx);
        let mut random = ChaCha8Rng::seed_from_u64(count as u64 + points[2] as u64);
        let mut positions: [Vec<f64>; 3] = Default::default();
        for d in 0..3 {
            let length = upper[d] - lower[d];
            let cell = length / points[d] as f64;
            for _ in 0..count {
                let fraction: f64 = random.random_range(0.0..1.0);
                let point = random.random_range(0..points[d]) as f64;
                positions[d].push(match arrangement {
                    Arrangement::Random | Arrangement::Sorted => lower[d] + length * fraction,
                    Arrangement::OneCell => lower[d] + cell * (1.0 + fraction),
                    Arrangement::MeshPoints => lower[d] + cell * point,
                    Arrangement::Edges => {
                        let edges = [lower[d], upper[d], lower[d].next_down(), upper[d].next_down()];
                        edges[(fraction * 4.0) as usize]
                    }
                    Arrangement::Outside => lower[d] + length * (7.0 * fraction - 3.0),
                });
            }
        }
        if arrangement == Arrangement::Sorted {
            positions = in_hilbert_order(&bx, &positions);
        }
        let values = (0..count).map(|_| random.random_range(-1.0..1.0)).collect();
        Sample { geometry, positions, values }
    }

    pub fn positions(&self) -> [&[f64]; 3] {
        [&self.positions[0], &self.positions[1], &self.positions[2]]
    }
}

fn in_hilbert_order(bx: &SimulationBox, positions: &[Vec<f64>; 3]) -> [Vec<f64>; 3] {
    let mut keys = vec![0; positions[0].len()];
    hilbert::keys(bx, [&positions[0], &positions[1], &positions[2]], &mut keys);
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by_key(|&k| keys[k]);
    positions.each_ref().map(|column| order.iter().map(|&k| column[k]).collect())
}

/// Meshes for an order: as small as it, barely larger, and large.
pub fn meshes(order: usize) -> [[usize; 3]; 4] {
    [[order; 3], [order, order + 4, 16.max(order)], [8, order + 1, 21], [40, 33, 53]]
}

/// Random mesh values between -1 and 1.
pub fn mesh_values(geometry: &MeshGeometry) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    (0..geometry.len()).map(|_| random.random_range(-1.0..1.0)).collect()
}

/// Calls `check` for every order.
pub fn for_windows(mut check: impl FnMut(Window)) {
    crate::far::mesh::window::ORDERS.for_each(|order| check(Window::b_spline(order)));
}
