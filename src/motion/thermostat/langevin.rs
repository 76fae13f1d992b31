//! The Langevin thermostat: friction and noise on every particle, in the middle of the drift of velocity
//! Verlet.
//!
//! ```text
//! v_1 = v + a dt/2         x_1 = x + v_1 dt/2
//! v_2 = c v_1 + sqrt((1 - c^2) k_B T / m) R,    c = exp(-friction dt),    R three normal deviates
//! x' = x_1 + v_2 dt/2      forces at x' -> a'      v' = v_2 + a' dt/2
//! ```
//!
//! This is the BAOAB splitting (Leimkuhler & Matthews 2013, Appl. Math. Res. Express 2013, 34). Sampling
//! errors of positions are of fourth order in the step for strong friction, and zero in harmonic wells. The
//! heat of a step is the change of the kinetic energy from v_1 to v_2. The rest is velocity Verlet, so the
//! total energy minus the heat is conserved up to the error of the integrator (Bussi & Parrinello 2007, Phys.
//! Rev. E 75, 056707), whose mean is of fourth order in the step (Sivak, Chodera & Crooks 2013, Phys. Rev. X
//! 3, 011007).

use fearless_simd::Simd;

use crate::faults::{Fault, planted};
use crate::motion::random::{LANES, Purpose, normals};
use crate::motion::verlet::{DriftResult, MOTION_COLUMNS, SkippedChunks, chunks, moves_too_far};
use crate::particles::blocks::{BlockTask, RowBlock, map_blocks_simd};
use crate::particles::{Field, Particles};

/// Parameters of the Langevin thermostat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Langevin {
    /// k_B T, > 0.
    pub thermal_energy: f64,
    /// Friction rate, > 0.
    pub friction: f64,
    /// Seed of the noise.
    pub seed: u64,
}

impl Langevin {
    /// First half of step number `step` of length `dt`: half kick, half drift, friction and noise, half
    /// drift. No particle moves farther than about `farthest`.
    pub fn kick_and_drift(
        &self,
        particles: &mut Particles,
        dt: f64,
        step: u64,
        farthest: f64,
    ) -> DriftResult {
        let mut drifted = DriftResult::default();
        let blocks =
            map_blocks_simd(particles, &KickAndDrift { ou_step: self.ou_step(dt, step), dt, farthest });
        blocks.into_iter().for_each(|block| drifted.add(block));
        drifted
    }

    /// Reverts drift, friction and noise of [`Self::kick_and_drift`], to rounding, which division by c
    /// amplifies.
    pub fn drift_back(&self, particles: &mut Particles, dt: f64, step: u64, left: &SkippedChunks) {
        map_blocks_simd(particles, &DriftBack { ou_step: self.ou_step(dt, step), dt, left });
    }

    /// Returns c and the variance of the noise times the mass, for a step of length `dt`.
    pub(crate) fn decay_and_noise(&self, dt: f64) -> [f64; 2] {
        let decay = (-self.friction * dt).exp();
        let factor = if planted(Fault::ThermostatTemperature) { 1.1 } else { 1.0 };
        // 1 - c^2 without cancellation
        [decay, -(-2.0 * self.friction * dt).exp_m1() * (factor * self.thermal_energy)]
    }

    fn ou_step(&self, dt: f64, step: u64) -> OrnsteinUhlenbeck {
        let [decay, noise] = self.decay_and_noise(dt);
        OrnsteinUhlenbeck { decay, noise, seed: self.seed, step }
    }
}

/// Friction and noise of one step: the O part of BAOAB.
#[derive(Clone, Copy)]
struct OrnsteinUhlenbeck {
    decay: f64,
    /// Variance of the noise times the mass.
    noise: f64,
    seed: u64,
    step: u64,
}

impl OrnsteinUhlenbeck {
    /// Velocity increments by noise of at most eight particles.
    #[inline(always)]
    fn kicks<S: Simd>(&self, simd: S, id: &[u64], mass: &[f64]) -> [[f64; LANES]; 3] {
        let (mut ids, mut masses) = ([0; LANES], [1.0; LANES]);
        ids[..id.len()].copy_from_slice(id);
        masses[..mass.len()].copy_from_slice(mass);
        let mut kicks = normals(simd, Purpose::Noise, self.seed, self.step, &ids);
        for l in 0..LANES {
            let deviation = (self.noise / masses[l]).sqrt();
            for c in 0..3 {
                kicks[c][l] *= deviation;
            }
        }
        kicks
    }
}

const WANTED: [(Field, usize); 10] = {
    let [x0, x1, x2, v0, v1, v2, a0, a1, a2] = MOTION_COLUMNS;
    [x0, x1, x2, v0, v1, v2, a0, a1, a2, (Field::Mass, 0)]
};

struct KickAndDrift {
    ou_step: OrnsteinUhlenbeck,
    dt: f64,
    farthest: f64,
}

impl BlockTask<10> for KickAndDrift {
    type Output = (Vec<usize>, f64, f64);
    const WANTED: [(Field, usize); 10] = WANTED;
    #[inline(always)]
    fn run<S: Simd>(&self, simd: S, block: RowBlock<10>) -> (Vec<usize>, f64, f64) {
        let [x0, x1, x2, v0, v1, v2, a0, a1, a2, mass] = block.columns;
        let (x, v, a) = ([x0, x1, x2], [v0, v1, v2], [&*a0, a1, a2]);
        let (mut left, mut heat, mut farthest) = (Vec::new(), [0.0; LANES], [0.0; LANES]);
        for chunk in chunks(block.id.len()) {
            if moves_too_far(&v, &a, chunk.clone(), self.dt, self.farthest) {
                left.push(block.first + chunk.start);
                continue;
            }
            for first in chunk.clone().step_by(LANES) {
                let rows = first..(first + LANES).min(chunk.end);
                let mass = &mass[rows.clone()];
                let kicks = self.ou_step.kicks(simd, &block.id[rows.clone()], mass);
                let mut squares = [0.0; LANES];
                for c in 0..3 {
                    let (x, v, a) = (&mut x[c][rows.clone()], &mut v[c][rows.clone()], &a[c][rows.clone()]);
                    for l in 0..mass.len() {
                        let before = v[l] + 0.5 * self.dt * a[l];
                        let after = self.ou_step.decay * before + kicks[c][l];
                        let way = 0.5 * self.dt * (before + after);
                        x[l] += way;
                        squares[l] += way * way;
                        v[l] = after;
                        heat[l] += 0.5 * mass[l] * (after - before) * (after + before);
                    }
                }
                farthest.iter_mut().zip(squares).for_each(|(most, square)| *most = square.max(*most));
            }
        }
        (left, farthest.into_iter().fold(0.0, f64::max), heat.iter().sum())
    }
}

struct DriftBack<'a> {
    ou_step: OrnsteinUhlenbeck,
    dt: f64,
    left: &'a SkippedChunks,
}

impl BlockTask<10> for DriftBack<'_> {
    type Output = ();
    const WANTED: [(Field, usize); 10] = WANTED;
    #[inline(always)]
    fn run<S: Simd>(&self, simd: S, block: RowBlock<10>) {
        let [x0, x1, x2, v0, v1, v2, _, _, _, mass] = block.columns;
        let (x, v) = ([x0, x1, x2], [v0, v1, v2]);
        for chunk in self.left.moved(block.first, block.id.len()) {
            for first in chunk.clone().step_by(LANES) {
                let rows = first..(first + LANES).min(chunk.end);
                let mass = &mass[rows.clone()];
                let kicks = self.ou_step.kicks(simd, &block.id[rows.clone()], mass);
                for c in 0..3 {
                    let (x, v) = (&mut x[c][rows.clone()], &mut v[c][rows.clone()]);
                    for l in 0..mass.len() {
                        let before = (v[l] - kicks[c][l]) / self.ou_step.decay;
                        x[l] -= 0.5 * self.dt * (before + v[l]);
                        v[l] = before;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::verlet;
    use crate::space::Vec3d;

    const FIELDS: &[Field] = &[Field::Position, Field::Velocity, Field::Acceleration, Field::Mass];

    fn oscillators(count: usize) -> Particles {
        let mut particles = Particles::new(FIELDS, count);
        for row in 0..count {
            particles.scalar_mut(Field::Mass)[row] = if row % 2 == 0 { 1.0 } else { 4.0 };
        }
        particles
    }

    /// Takes one step in harmonic wells of angular frequency 1; returns the heat.
    fn advance(langevin: &Langevin, particles: &mut Particles, dt: f64, step: u64) -> f64 {
        let before = particles.clone();
        let DriftResult { left, farthest, heat } = langevin.kick_and_drift(particles, dt, step, 1e6);
        assert!(left.none());
        let at = |particles: &Particles, row| particles.vector_at(Field::Position, row);
        let way = |row| (at(particles, row) - at(&before, row)).norm();
        let longest = (0..particles.len()).map(way).fold(0.0, f64::max);
        assert!(longest <= farthest && farthest < longest * (1.0 + 1e-6), "{longest} {farthest}");
        for row in 0..particles.len() {
            let x = particles.vector_at(Field::Position, row);
            particles.set_vector(Field::Acceleration, row, -x);
        }
        verlet::kick(particles, dt, &left);
        heat
    }

    /// Harmonic wells of angular frequency 1: BAOAB samples positions exactly, and a kinetic energy that is
    /// too small by the factor 1 - dt^2 / 4.
    #[test]
    fn oscillators_are_sampled_canonically_at_any_step() {
        let (dt, temperature) = (0.8, 1.7);
        let langevin = Langevin { thermal_energy: temperature, friction: 1.3, seed: 5 };
        let mut particles = oscillators(6001);
        let (mut sums, mut samples) = ([[0.0; 2]; 2], 0.0);
        for step in 0..400 {
            advance(&langevin, &mut particles, dt, step);
            if step >= 40 && step % 4 == 0 {
                for row in 0..6000 {
                    let mass = particles.scalar(Field::Mass)[row];
                    sums[row % 2][0] += mass * particles.vector_at(Field::Position, row).norm_squared() / 3.0;
                    sums[row % 2][1] += mass * particles.vector_at(Field::Velocity, row).norm_squared() / 3.0;
                }
                samples += 3000.0;
            }
        }
        for [position, velocity] in sums {
            // correlated samples: a few times the independent error, sqrt(2 / 3 / samples) = 0.0016
            assert!((position / samples / temperature - 1.0).abs() < 0.008, "{}", position / samples);
            let shadow = temperature * (1.0 - dt * dt / 4.0);
            assert!((velocity / samples / shadow - 1.0).abs() < 0.008, "{}", velocity / samples);
        }
    }

    /// They start at rest in their minima: all their energy is heat, up to the error of the integrator.
    #[test]
    fn the_energy_less_the_heat_is_conserved_with_the_square_of_the_step() {
        let langevin = Langevin { thermal_energy: 1.7, friction: 1.3, seed: 6 };
        let drift = |dt: f64| {
            let mut particles = oscillators(3001);
            let heat: f64 =
                (0..(4.0 / dt) as u64).map(|step| advance(&langevin, &mut particles, dt, step)).sum();
            let energy = (0..3001).map(|row| {
                let motion = particles.vector_at(Field::Velocity, row).norm_squared();
                let place = particles.vector_at(Field::Position, row).norm_squared();
                0.5 * particles.scalar(Field::Mass)[row] * (motion + place)
            });
            (energy.sum::<f64>() - heat) / heat
        };
        let (coarse, fine) = (drift(0.1), drift(0.05));
        assert!(coarse.abs() < 0.01 && (coarse / fine - 4.0).abs() < 0.5, "{coarse} {fine}");
    }

    #[test]
    fn a_step_is_taken_back() {
        let langevin = Langevin { thermal_energy: 1.0, friction: 2.0, seed: 9 };
        let mut particles = oscillators(3000);
        for row in 0..3000 {
            let t = row as f64;
            particles.set_vector(Field::Velocity, row, Vec3d::new(t.sin(), t.cos(), 1.0));
            particles.set_vector(Field::Acceleration, row, Vec3d::new(t.cos(), 0.0, 2.0));
        }
        particles.component_mut(Field::Velocity, 0)[100] = 1e30;
        let before = particles.clone();
        let DriftResult { left, .. } = langevin.kick_and_drift(&mut particles, 0.3, 17, 1e6);
        assert!(left.rows(&particles).any(|row| row == 100));
        langevin.drift_back(&mut particles, 0.3, 17, &left);
        verlet::kick(&mut particles, -0.3, &left);
        for field in [Field::Position, Field::Velocity] {
            for row in 0..3000 {
                let apart = particles.vector_at(field, row) - before.vector_at(field, row);
                assert!(apart.norm() < 1e-13, "{row}: {apart}");
            }
        }
    }
}
