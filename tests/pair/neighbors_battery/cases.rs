//! Particles in every distribution, box and layout that the battery goes through.

use hilbrium::space::{Boundary, SimulationBox, Vec3d, hilbert};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::ops::Range;

/// Particles sorted by key, all of one run.
pub struct Case {
    pub name: String,
    pub bx: SimulationBox,
    pub position: Vec<Vec3d>,
    pub radius: Vec<f64>,
}

/// What one rank sees of a case: all other ranks' particles are its halos.
pub struct Share {
    pub position: [Vec<f64>; 3],
    pub radius: Vec<f64>,
    pub id: Vec<u64>,
    pub keys: Vec<u64>,
    pub owned: Range<usize>,
}

const DISTRIBUTIONS: [&str; 11] = [
    "uniform",
    "lattice",
    "plummer",
    "one point",
    "collinear",
    "two clumps",
    "seven",
    "nine",
    "two",
    "one",
    "none",
];

fn points(distribution: &str, bx: &SimulationBox, rng: &mut ChaCha8Rng) -> Vec<Vec3d> {
    let lengths = bx.lengths();
    let mut uniform = |count: usize| -> Vec<Vec3d> {
        (0..count).map(|_| bx.lower + lengths.map(|length| length * rng.random::<f64>())).collect()
    };
    let center = bx.lower + lengths * 0.5;
    match distribution {
        "uniform" => uniform(500),
        "lattice" => (0..512)
            .map(|k| {
                bx.lower
                    + lengths.component_mul(&Vec3d::new((k / 64) as f64, (k / 8 % 8) as f64, (k % 8) as f64))
                        / 8.0
            })
            .collect(),
        "plummer" => (0..450)
            .map(|k| {
                let r = 0.02 / ((((k as f64) + 0.5) / 450.0).powf(-2.0 / 3.0) - 1.0).sqrt();
                let z: f64 = rng.random_range(-1.0..1.0);
                let phi: f64 = rng.random_range(0.0..std::f64::consts::TAU);
                let flat = (1.0 - z * z).sqrt();
                center
                    + lengths.component_mul(&Vec3d::new(flat * phi.cos(), flat * phi.sin(), z)) * r.min(0.49)
            })
            .collect(),
        "one point" => vec![center; 150],
        "collinear" => (0..300).map(|k| bx.lower + lengths * ((k as f64 + 0.5) / 300.0)).collect(),
        "two clumps" => (0..300)
            .map(|k| {
                let at = if k % 2 == 0 { 0.02 } else { 0.97 };
                bx.lower + lengths.map(|length| length * (at + 1e-3 * rng.random::<f64>()))
            })
            .collect(),
        "seven" => uniform(7),
        "nine" => uniform(9),
        "two" => uniform(2),
        "one" => uniform(1),
        _ => Vec::new(),
    }
}

/// Every distribution in every kind of box, with equal and with varying radii.
pub fn all() -> Vec<Case> {
    use Boundary::{Open, Periodic};
    let boundaries =
        [("open", [Open; 3]), ("periodic", [Periodic; 3]), ("mixed", [Periodic, Open, Periodic])];
    let mut cases = Vec::new();
    for (k, distribution) in DISTRIBUTIONS.into_iter().enumerate() {
        for (boundary_name, boundary) in boundaries {
            for varying in [false, true] {
                let mut rng = ChaCha8Rng::seed_from_u64(100 + k as u64);
                let (lower, upper) = (Vec3d::new(-1.0, 10.0, 0.0), Vec3d::new(1.0, 11.5, 3.0));
                let bx = SimulationBox { lower, upper, boundary };
                let mut position = points(distribution, &bx, &mut rng);
                position.sort_by_key(|p| hilbert::key_of(p, &bx));
                // Once within the clumps, once across the box.
                let clumped = distribution == "two clumps" && !varying;
                let base = if clumped { 5e-4 } else { 0.28 };
                let radius = (0..position.len())
                    .map(|_| if varying { base * 10f64.powf(rng.random_range(-2.0..0.4)) } else { base })
                    .collect();
                let name =
                    format!("{distribution}, {boundary_name}, {}", if varying { "varying" } else { "equal" });
                cases.push(Case { name, bx, position, radius });
            }
        }
    }
    cases
}

impl Case {
    /// The pairs in reach, lower row first: the truth.
    pub fn naive(&self) -> Vec<(u64, u64)> {
        let mut pairs = Vec::new();
        for i in 0..self.position.len() {
            for j in i + 1..self.position.len() {
                if self.reaches(i, j) {
                    pairs.push((i as u64, j as u64));
                }
            }
        }
        pairs
    }

    /// The exact test of a pair, by particle.
    pub fn reaches(&self, i: usize, j: usize) -> bool {
        let reach = self.radius[i].max(self.radius[j]);
        self.bx.shortest(self.position[i] - self.position[j]).norm_squared() < reach * reach
    }

    /// The particles as rank `rank` of `ranks` lays them out; ids are the particles' numbers.
    pub fn share(&self, rank: usize, ranks: usize) -> Share {
        let count = self.position.len();
        let (begin, end) = (rank * count / ranks, (rank + 1) * count / ranks);
        let padded = begin.next_multiple_of(64);
        let mut order: Vec<Option<usize>> = (0..begin).map(Some).collect();
        order.resize(padded, None);
        order.extend((begin..count).map(Some));
        let column = |of: &dyn Fn(usize) -> f64, ghost: f64| -> Vec<f64> {
            order.iter().map(|row| row.map_or(ghost, of)).collect()
        };
        Share {
            position: [0, 1, 2].map(|d| column(&|k| self.position[k][d], f64::INFINITY)),
            radius: column(&|k| self.radius[k], 0.0),
            id: order.iter().map(|row| row.map_or(u64::MAX, |k| k as u64)).collect(),
            keys: order
                .iter()
                .map(|row| row.map_or(u64::MAX, |k| hilbert::key_of(&self.position[k], &self.bx)))
                .collect(),
            owned: padded..padded + end - begin,
        }
    }
}
