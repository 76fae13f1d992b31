//! Momentum and kinetic energy of all particles, and removal of the center-of-mass motion.

use fearless_simd::Simd;

use crate::comm::Communicator;
use crate::particles::blocks::{BlockTask, RowBlock, map_blocks_simd};
use crate::particles::{Field, Particles};
use crate::space::Vec3d;

/// Sums over the particles of all ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BulkMotion {
    /// Number of particles.
    pub particles: u64,
    /// Total mass.
    pub mass: f64,
    /// Sum of m v.
    pub momentum: Vec3d,
    /// Sum of m v^2 / 2.
    pub kinetic: f64,
}

impl BulkMotion {
    /// Sums over the owned particles of all ranks. Collective. Bitwise equal on all ranks and for any number
    /// of threads.
    pub fn of(particles: &mut Particles, comm: &Communicator) -> Self {
        let mut sums = [0.0; 6];
        sums[5] = particles.owned().len() as f64;
        for block in map_blocks_simd(particles, &Sums) {
            sums.iter_mut().zip(block).for_each(|(sum, value)| *sum += value);
        }
        let [mass, x, y, z, kinetic, count] = sums;
        BulkMotion { particles: count as u64, mass, momentum: Vec3d::new(x, y, z), kinetic }.over_ranks(comm)
    }

    /// Reduces the sums of the ranks. Collective.
    pub fn over_ranks(self, comm: &Communicator) -> Self {
        let [x, y, z] = self.momentum.into();
        let mut sums = [self.mass, x, y, z, self.kinetic, self.particles as f64];
        comm.all_sum(&mut sums);
        let [mass, x, y, z, kinetic, count] = sums;
        BulkMotion { particles: count as u64, mass, momentum: Vec3d::new(x, y, z), kinetic }
    }

    /// Velocity of the center of mass.
    pub fn drift(&self) -> Vec3d {
        if self.mass > 0.0 { self.momentum / self.mass } else { Vec3d::zeros() }
    }

    /// Kinetic energy of the center of mass, P^2 / (2 M).
    pub fn center_of_mass_energy(&self) -> f64 {
        0.5 * self.momentum.dot(&self.drift())
    }

    /// Kinetic energy relative to the center of mass.
    pub fn relative_kinetic_energy(&self) -> f64 {
        self.kinetic - self.center_of_mass_energy()
    }

    /// Degrees of freedom relative to the center of mass: 3 N - 3.
    pub fn degrees_of_freedom(&self) -> f64 {
        3.0 * self.particles.saturating_sub(1) as f64
    }
}

const VELOCITY_AND_MASS: [(Field, usize); 4] =
    [(Field::Velocity, 0), (Field::Velocity, 1), (Field::Velocity, 2), (Field::Mass, 0)];

/// Number of partial sums per quantity.
const LANES: usize = 8;

struct Sums;

impl BlockTask<4> for Sums {
    type Output = [f64; 5];
    const WANTED: [(Field, usize); 4] = VELOCITY_AND_MASS;
    #[inline(always)]
    fn run<S: Simd>(&self, _: S, block: RowBlock<4>) -> [f64; 5] {
        let [x, y, z, mass] = block.columns;
        let count = mass.len();
        let (x, y, z) = (&x[..count], &y[..count], &z[..count]);
        let mut sums = [[0.0; LANES]; 5];
        let full = count - count % LANES;
        for first in (0..full).step_by(LANES) {
            for l in 0..LANES {
                let k = first + l;
                add(&mut sums, l, mass[k], [x[k], y[k], z[k]]);
            }
        }
        for k in full..count {
            add(&mut sums, k - full, mass[k], [x[k], y[k], z[k]]);
        }
        sums.map(|lanes| lanes.iter().sum())
    }
}

#[inline(always)]
fn add(sums: &mut [[f64; LANES]; 5], lane: usize, mass: f64, velocity: [f64; 3]) {
    let momentum = [mass * velocity[0], mass * velocity[1], mass * velocity[2]];
    sums[0][lane] += mass;
    let mut mv2 = 0.0;
    for c in 0..3 {
        sums[1 + c][lane] += momentum[c];
        mv2 += momentum[c] * velocity[c];
    }
    sums[4][lane] += 0.5 * mv2;
}

/// Velocities become `factor v + offset`.
pub fn scale(particles: &mut Particles, factor: f64, offset: Vec3d) {
    map_blocks_simd(particles, &Scale { scale: factor, offset });
}

struct Scale {
    scale: f64,
    offset: Vec3d,
}

impl BlockTask<3> for Scale {
    type Output = ();
    const WANTED: [(Field, usize); 3] = {
        let [x, y, z, _] = VELOCITY_AND_MASS;
        [x, y, z]
    };
    #[inline(always)]
    fn run<S: Simd>(&self, _: S, block: RowBlock<3>) {
        for (c, column) in block.columns.into_iter().enumerate() {
            let offset = self.offset[c];
            for v in column {
                *v = *v * self.scale + offset;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::run_local;

    fn moving(first: usize, count: usize) -> Particles {
        let mut particles = Particles::new(&[Field::Velocity, Field::Mass], count);
        for row in 0..count {
            let t = (first + row) as f64;
            particles.set_vector(Field::Velocity, row, Vec3d::new(t.sin(), 1.0 + t.cos(), (2.0 * t).sin()));
            particles.scalar_mut(Field::Mass)[row] = 1.0 + 0.5 * t.sin();
        }
        particles
    }

    #[test]
    fn drift_is_removed_on_ranks_with_the_energy_told() {
        let mut whole = moving(0, 9001);
        let solo = Communicator::solo();
        let before = BulkMotion::of(&mut whole, &solo);
        assert!(before.particles == 9001 && before.center_of_mass_energy() > 1000.0);
        let direct: f64 = (0..9001)
            .map(|row| {
                0.5 * whole.scalar(Field::Mass)[row] * whole.vector_at(Field::Velocity, row).norm_squared()
            })
            .sum();
        assert!((before.kinetic / direct - 1.0).abs() < 1e-13);
        let parts = run_local(3, |comm| {
            let counts = [0, 6000, 3001];
            let mut particles = moving(counts[..comm.rank()].iter().sum(), counts[comm.rank()]);
            let whole = BulkMotion::of(&mut particles, &comm);
            scale(&mut particles, 1.0, -whole.drift());
            (whole.center_of_mass_energy(), BulkMotion::of(&mut particles, &comm))
        });
        for (taken, after) in parts {
            assert!((taken / before.center_of_mass_energy() - 1.0).abs() < 1e-12);
            assert!((after.kinetic / before.relative_kinetic_energy() - 1.0).abs() < 1e-12);
            assert!(after.momentum.norm() < 1e-10);
        }
    }

    #[test]
    fn scaling_keeps_the_motion_of_the_whole() {
        let mut particles = moving(0, 3000);
        let solo = Communicator::solo();
        let before = BulkMotion::of(&mut particles, &solo);
        scale(&mut particles, 0.7, before.drift() * (1.0 - 0.7));
        let after = BulkMotion::of(&mut particles, &solo);
        assert!((after.momentum - before.momentum).norm() < 1e-10 * before.momentum.norm());
        assert!(
            (after.relative_kinetic_energy() / (0.49 * before.relative_kinetic_energy()) - 1.0).abs() < 1e-12
        );
        assert_eq!(
            BulkMotion::of(&mut Particles::new(&[Field::Velocity, Field::Mass], 0), &solo).drift(),
            Vec3d::zeros()
        );
    }
}
