//! Moves of the energy minimization; the search itself is in `src/step/minimize.rs`.
//!
//! *Separation* moves overlapping particles apart, whose forces give little more than a direction. Every
//! particle moves along its force F by
//!
//! ```text
//! d F / (|F| + F_typical)
//! ```
//!
//! which is at most the maximum displacement d. If a force is not finite, the particle moves by d in its own
//! random direction.
//!
//! *FIRE* (Bitzek, Koskinen, Gaehler, Moseler & Gumbsch 2006, Phys. Rev. Lett. 97, 170201, in the form of
//! Guenole, Noehring, Vaid, Houlle, Xie, Prakash & Bitzek 2020, Comput. Mater. Sci. 175, 109584) integrates
//! the motion with the accelerations a, and turns the velocities u towards them:
//!
//! ```text
//! u' = (1 - mixing) (u + a dt) + mixing a |u| / |a|      x' = x + u' dt
//! ```
//!
//! If the power, the sum of F . u, is not positive, the particles move back half a step and stop.
//! Displacements are limited to d.

use fearless_simd::Simd;

use super::random::{LANES, Purpose, normals};
use super::verlet::MOTION_COLUMNS;
use crate::comm::Communicator;
use crate::particles::blocks::{BlockTask, RowBlock, map_blocks_simd};
use crate::particles::{Field, Particles};

/// Statistics of the forces on all particles of all ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Survey {
    /// Largest force; infinite if any is not finite.
    pub largest: f64,
    /// Geometric mean of the finite nonzero forces; 0 if there are none.
    pub typical: f64,
    /// Sum of F . u.
    pub power: f64,
    /// |u| / |a| over all particles; 0 if all accelerations are zero.
    pub turn: f64,
}

/// Search velocities, accelerations, masses.
const WANTED: [(Field, usize); 7] = {
    let [_, _, _, _, _, _, a0, a1, a2] = MOTION_COLUMNS;
    let [u0, u1, u2] = DESCENT;
    [u0, u1, u2, a0, a1, a2, (Field::Mass, 0)]
};

const DESCENT: [(Field, usize); 3] = [(Field::Descent, 0), (Field::Descent, 1), (Field::Descent, 2)];

/// Norm of a vector. Does not overflow unless a component does.
#[inline(always)]
fn magnitude(vector: [f64; 3]) -> f64 {
    let largest = vector[0].abs().max(vector[1].abs()).max(vector[2].abs());
    if largest == 0.0 || !vector.iter().all(|value| value.is_finite()) {
        return if largest == 0.0 { 0.0 } else { f64::INFINITY };
    }
    let sum: f64 = vector.iter().map(|value| (value / largest) * (value / largest)).sum();
    largest * sum.sqrt()
}

/// Computes the statistics of the owned particles of all ranks. Collective.
pub fn survey(particles: &mut Particles, comm: &Communicator) -> Survey {
    let mut sums = [0.0; 5];
    let mut largest = [0.0f64];
    for (block, most) in map_blocks_simd(particles, &ForceStatistics) {
        sums.iter_mut().zip(block).for_each(|(sum, value)| *sum += value);
        largest[0] = largest[0].max(most);
    }
    comm.all_sum(&mut sums);
    comm.all_max(&mut largest);
    let [logarithms, count, power, velocity2, acceleration2] = sums;
    Survey {
        largest: largest[0],
        typical: if count > 0.0 { (logarithms / count).exp() } else { 0.0 },
        power,
        turn: if acceleration2 > 0.0 { (velocity2 / acceleration2).sqrt() } else { 0.0 },
    }
}

struct ForceStatistics;

impl BlockTask<7> for ForceStatistics {
    type Output = ([f64; 5], f64);
    const WANTED: [(Field, usize); 7] = WANTED;
    #[inline(always)]
    fn run<S: Simd>(&self, _: S, block: RowBlock<7>) -> ([f64; 5], f64) {
        let [u0, u1, u2, a0, a1, a2, mass] = block.columns;
        let (mut sums, mut largest) = ([0.0; 5], 0.0f64);
        for k in 0..block.id.len() {
            let (u, a) = ([u0[k], u1[k], u2[k]], [a0[k], a1[k], a2[k]]);
            let force = mass[k] * magnitude(a);
            largest = largest.max(force);
            if force > 0.0 && force.is_finite() {
                sums[0] += force.ln();
                sums[1] += 1.0;
            }
            for c in 0..3 {
                sums[2] += mass[k] * a[c] * u[c];
                sums[3] += u[c] * u[c];
                sums[4] += a[c] * a[c];
            }
        }
        (sums, largest)
    }
}

/// Separation move number `step`. `typical` is F_typical, `farthest` the maximum displacement d.
pub fn part(particles: &mut Particles, typical: f64, farthest: f64, step: u64) {
    map_blocks_simd(particles, &Separate { typical, farthest, step });
}

struct Separate {
    typical: f64,
    farthest: f64,
    step: u64,
}

impl BlockTask<7> for Separate {
    type Output = ();
    const WANTED: [(Field, usize); 7] = {
        let [x0, x1, x2, _, _, _, a0, a1, a2] = MOTION_COLUMNS;
        [x0, x1, x2, a0, a1, a2, (Field::Mass, 0)]
    };
    #[inline(always)]
    fn run<S: Simd>(&self, simd: S, mut block: RowBlock<7>) {
        for k in 0..block.id.len() {
            let [x0, x1, x2, a0, a1, a2, mass] = &mut block.columns;
            let mut along = [a0[k], a1[k], a2[k]];
            let mut size = magnitude(along);
            let mut by = self.farthest;
            if size.is_finite() {
                let force = mass[k] * size;
                by *= force / (force + self.typical);
            } else {
                let random = normals(simd, Purpose::Separation, 0, self.step, &[block.id[k]; LANES]);
                along = random.map(|lanes| lanes[0]);
                size = magnitude(along);
            }
            if size > 0.0 {
                x0[k] += by * (along[0] / size);
                x1[k] += by * (along[1] / size);
                x2[k] += by * (along[2] / size);
            }
        }
    }
}

/// FIRE step of length `dt`. `turn` is |u| / |a|, `farthest` the maximum displacement d.
pub fn descend(particles: &mut Particles, dt: f64, mixing: f64, turn: f64, farthest: f64) {
    map_blocks_simd(particles, &Descend { dt, keep: 1.0 - mixing, pull: mixing * turn, farthest });
}

struct Descend {
    dt: f64,
    keep: f64,
    pull: f64,
    farthest: f64,
}

impl BlockTask<9> for Descend {
    type Output = ();
    const WANTED: [(Field, usize); 9] = {
        let [x0, x1, x2, _, _, _, a0, a1, a2] = MOTION_COLUMNS;
        let [u0, u1, u2] = DESCENT;
        [x0, x1, x2, u0, u1, u2, a0, a1, a2]
    };
    #[inline(always)]
    fn run<S: Simd>(&self, _: S, block: RowBlock<9>) {
        let [x0, x1, x2, u0, u1, u2, a0, a1, a2] = block.columns;
        let (x, u, a) = ([x0, x1, x2], [u0, u1, u2], [a0, a1, a2]);
        for k in 0..block.id.len() {
            let mut velocity = [0.0; 3];
            for c in 0..3 {
                velocity[c] = self.keep * (u[c][k] + self.dt * a[c][k]) + self.pull * a[c][k];
            }
            let moved = self.dt * magnitude(velocity);
            let scale = if moved > self.farthest { self.farthest / moved } else { 1.0 };
            for c in 0..3 {
                u[c][k] = scale * velocity[c];
                x[c][k] += self.dt * u[c][k];
            }
        }
    }
}

/// Moves back half a FIRE step and sets the search velocities to zero.
pub fn stop(particles: &mut Particles, dt: f64) {
    map_blocks_simd(particles, &Stop { dt });
}

struct Stop {
    dt: f64,
}

impl BlockTask<6> for Stop {
    type Output = ();
    const WANTED: [(Field, usize); 6] = {
        let [x0, x1, x2, ..] = MOTION_COLUMNS;
        let [u0, u1, u2] = DESCENT;
        [x0, x1, x2, u0, u1, u2]
    };
    #[inline(always)]
    fn run<S: Simd>(&self, _: S, block: RowBlock<6>) {
        let [x0, x1, x2, u0, u1, u2] = block.columns;
        for (x, u) in [(x0, u0), (x1, u1), (x2, u2)] {
            for (x, u) in x.iter_mut().zip(u.iter_mut()) {
                *x -= 0.5 * self.dt * *u;
                *u = 0.0;
            }
        }
    }
}
