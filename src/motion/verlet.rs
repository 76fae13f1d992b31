//! Velocity Verlet (kick-drift-kick) for forces that do not depend on velocities.
//!
//! ```text
//! v_half = v + a dt/2      x' = x + v_half dt      forces at x' -> a'      v' = v_half + a' dt/2
//! ```
//!
//! (Swope, Andersen, Berens & Wilson 1982, J. Chem. Phys. 76, 637.) The last half kick may be left to the
//! next step, which loads the velocities anyway; the results are bitwise equal. A step moves no particle by
//! more than a maximum distance. A chunk of rows with a particle that would exceed it is skipped, so that the
//! step can be reverted.

use std::ops::Range;

use fearless_simd::Simd;

use crate::Error;
use crate::faults::{Fault, planted};
use crate::particles::blocks::{BlockTask, RowBlock, map_blocks_simd};
use crate::particles::{Field, Particles};
use crate::space::Vec3d;

/// Maximum displacement of a step, in edges of the box. A larger one could not be reverted.
pub(crate) const MAX_DISPLACEMENT: f64 = 1e6;

/// Number of rows that are moved or skipped together.
const CHUNK: usize = 64;

/// First rows of the skipped chunks: those with a particle that would move too far, or whose velocity is not
/// finite.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkippedChunks(pub(super) Vec<usize>);

impl SkippedChunks {
    /// Whether no chunk was skipped.
    pub fn none(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over the rows of the skipped chunks.
    pub fn rows(&self, particles: &Particles) -> impl Iterator<Item = usize> {
        let end = particles.owned().end;
        self.0.iter().flat_map(move |&first| first..(first + CHUNK).min(end))
    }

    /// Iterates over the moved chunks of a row block, relative to its first row.
    #[inline(always)]
    pub(super) fn moved(&self, first: usize, count: usize) -> impl Iterator<Item = Range<usize>> {
        chunks(count).filter(move |chunk| self.none() || !self.0.contains(&(first + chunk.start)))
    }
}

/// Splits a row block into chunks of rows, relative to its first row.
#[inline(always)]
pub(super) fn chunks(count: usize) -> impl Iterator<Item = Range<usize>> {
    (0..count).step_by(CHUNK).map(move |begin| begin..(begin + CHUNK).min(count))
}

/// Position, velocity and acceleration columns.
pub(super) const MOTION_COLUMNS: [(Field, usize); 9] = [
    (Field::Position, 0),
    (Field::Position, 1),
    (Field::Position, 2),
    (Field::Velocity, 0),
    (Field::Velocity, 1),
    (Field::Velocity, 2),
    (Field::Acceleration, 0),
    (Field::Acceleration, 1),
    (Field::Acceleration, 2),
];

/// Result of a drift on this rank.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DriftResult {
    /// The skipped chunks.
    pub left: SkippedChunks,
    /// Upper bound of the displacements.
    pub farthest: f64,
    /// Heat that the thermostat added.
    pub heat: f64,
}

impl DriftResult {
    /// Adds the result of a row block: first rows of skipped chunks, largest squared displacement, heat.
    pub(super) fn add(&mut self, (left, square, heat): (Vec<usize>, f64, f64)) {
        self.left.0.extend(left);
        // round up, to bound the displacements in floating point too
        self.farthest = self.farthest.max(square.sqrt() * (1.0 + 1e-9));
        self.heat += heat;
    }
}

/// First half of a step of length `dt`: half kick and drift. No particle moves farther than `farthest`. If
/// the previous step, of length `open`, left its last half kick pending, that is applied first, also to
/// skipped chunks.
pub fn kick_and_drift(particles: &mut Particles, open: Option<f64>, dt: f64, farthest: f64) -> DriftResult {
    let mut drifted = DriftResult::default();
    let work = KickAndDrift { open, dt, farthest };
    map_blocks_simd(particles, &work).into_iter().for_each(|block| drifted.add(block));
    drifted
}

struct KickAndDrift {
    open: Option<f64>,
    dt: f64,
    farthest: f64,
}

impl BlockTask<9> for KickAndDrift {
    type Output = (Vec<usize>, f64, f64);
    const WANTED: [(Field, usize); 9] = MOTION_COLUMNS;
    #[inline(always)]
    fn run<S: Simd>(&self, _: S, block: RowBlock<9>) -> (Vec<usize>, f64, f64) {
        let (mut left, mut squares) = (Vec::new(), [0.0; CHUNK]);
        let [x0, x1, x2, v0, v1, v2, a0, a1, a2] = block.columns;
        let (x, mut v, a) = ([x0, x1, x2], [v0, v1, v2], [&*a0, a1, a2]);
        for rows in chunks(block.id.len()) {
            if let Some(open) = self.open {
                half_kick(&mut v, &a, rows.clone(), open);
            }
            if moves_too_far(&v, &a, rows.clone(), self.dt, self.farthest) {
                left.push(block.first + rows.start);
                continue;
            }
            for c in 0..3 {
                let (x, v, a) = (&mut x[c][rows.clone()], &mut v[c][rows.clone()], &a[c][rows.clone()]);
                for k in 0..x.len() {
                    let before = v[k];
                    v[k] += 0.5 * self.dt * a[k];
                    if planted(Fault::KickTwice) {
                        v[k] += 0.5 * self.dt * a[k];
                    }
                    x[k] += self.dt * if planted(Fault::DriftOldVelocity) { before } else { v[k] };
                }
            }
            let v = [&v[0][rows.clone()], &v[1][rows.clone()], &v[2][rows.clone()]];
            for (k, square) in squares[..rows.len()].iter_mut().enumerate() {
                *square = f64::max(*square, v[0][k] * v[0][k] + v[1][k] * v[1][k] + v[2][k] * v[2][k]);
            }
        }
        (left, squares.into_iter().fold(0.0, f64::max) * self.dt * self.dt, 0.0)
    }
}

/// Whether half kick and drift would move one of these rows too far along an axis.
#[inline(always)]
pub(super) fn moves_too_far(
    v: &[&mut [f64]; 3],
    a: &[&[f64]; 3],
    rows: Range<usize>,
    dt: f64,
    farthest: f64,
) -> bool {
    let mut far = false;
    for c in 0..3 {
        let (v, a) = (&v[c][rows.clone()], &a[c][rows.clone()]);
        for k in 0..v.len() {
            let moved = (v[k] + 0.5 * dt * a[k]) * dt;
            far |= moved.is_nan() | (moved.abs() > farthest);
        }
    }
    far
}

/// Largest component of the displacement by half kick and drift; NaN if a component is NaN.
pub(crate) fn displacement(velocity: Vec3d, acceleration: Vec3d, dt: f64) -> f64 {
    let way = (velocity + 0.5 * dt * acceleration) * dt;
    let most = |most: f64, way: &f64| if most.is_nan() || way.abs() < most { most } else { way.abs() };
    way.iter().fold(0.0, most)
}

/// Error for a particle that a step would move too far.
pub(crate) fn moved_too_far(id: u64, velocity: Vec3d, acceleration: Vec3d, dt: f64) -> Error {
    Error::State {
        step: 0,
        what: format!(
            "particle {id} would move by {:e}, which is too far; its velocity is {:e}, its acceleration {:e}",
            displacement(velocity, acceleration, dt),
            velocity.norm(),
            acceleration.norm(),
        ),
        remedy: "look for particles that were too close in the checkpoint of the last good step; a shorter \
                 time_step.fixed, or a [minimize] before the first step, often helps"
            .into(),
    }
}

/// Half kick of the step `dt`, except for skipped chunks. With `-dt` it reverts such a kick.
pub fn kick(particles: &mut Particles, dt: f64, left: &SkippedChunks) {
    map_blocks_simd(particles, &Kick { dt, left });
}

struct Kick<'a> {
    dt: f64,
    left: &'a SkippedChunks,
}

impl BlockTask<6> for Kick<'_> {
    type Output = ();
    const WANTED: [(Field, usize); 6] = {
        let [_, _, _, v0, v1, v2, a0, a1, a2] = MOTION_COLUMNS;
        [v0, v1, v2, a0, a1, a2]
    };
    #[inline(always)]
    fn run<S: Simd>(&self, _: S, mut block: RowBlock<6>) {
        for rows in self.left.moved(block.first, block.id.len()) {
            let [v0, v1, v2, a0, a1, a2] = &mut block.columns;
            half_kick(&mut [v0, v1, v2], &[a0, a1, a2], rows, self.dt);
        }
    }
}

/// Half kick of some rows.
#[inline(always)]
fn half_kick(v: &mut [&mut [f64]; 3], a: &[&[f64]; 3], rows: Range<usize>, dt: f64) {
    for c in 0..3 {
        let (v, a) = (&mut v[c][rows.clone()], &a[c][rows.clone()]);
        for k in 0..v.len() {
            v[k] += 0.5 * dt * a[k];
        }
    }
}

/// Reverts the drift of [`kick_and_drift`], to rounding.
pub fn drift_back(particles: &mut Particles, dt: f64, left: &SkippedChunks) {
    map_blocks_simd(particles, &DriftBack { dt, left });
}

struct DriftBack<'a> {
    dt: f64,
    left: &'a SkippedChunks,
}

impl BlockTask<6> for DriftBack<'_> {
    type Output = ();
    const WANTED: [(Field, usize); 6] = {
        let [x0, x1, x2, v0, v1, v2, ..] = MOTION_COLUMNS;
        [x0, x1, x2, v0, v1, v2]
    };
    #[inline(always)]
    fn run<S: Simd>(&self, _: S, mut block: RowBlock<6>) {
        for rows in self.left.moved(block.first, block.id.len()) {
            let [x0, x1, x2, v0, v1, v2] = &mut block.columns;
            for (x, v) in [(x0, v0), (x1, v1), (x2, v2)] {
                let (x, v) = (&mut x[rows.clone()], &v[rows.clone()]);
                for k in 0..x.len() {
                    x[k] -= self.dt * v[k];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: &[Field] = &[Field::Position, Field::Velocity, Field::Acceleration];

    #[test]
    fn a_particle_with_one_component_that_is_nan_goes_nowhere() {
        let (still, gone) = (Vec3d::new(1.0, -3.0, 2.0), Vec3d::new(0.0, 0.0, f64::NAN));
        assert_eq!(displacement(still, Vec3d::zeros(), 0.5), 1.5);
        assert!(displacement(gone, still, 0.5).is_nan() && displacement(still, gone.zyx(), 0.5).is_nan());
        let error = moved_too_far(7, gone, still, 0.5).to_string();
        assert!(error.contains("particle 7 would move by NaN, which is too far"), "{error}");
    }

    /// Particles with nonzero velocities and accelerations.
    fn moving(count: usize) -> Particles {
        let mut particles = Particles::new(FIELDS, count);
        for row in 0..count {
            let t = row as f64;
            particles.set_vector(Field::Position, row, Vec3d::new(t.sin(), t.cos(), 0.1 * t));
            particles.set_vector(Field::Velocity, row, Vec3d::new(t.cos(), 1.0, -0.5));
            particles.set_vector(Field::Acceleration, row, Vec3d::new(0.0, t.sin(), 0.3));
        }
        particles
    }

    /// Error in phase space of an oscillator x'' = -x at time 1.
    fn oscillator(steps: usize) -> f64 {
        let mut particles = Particles::new(FIELDS, 1);
        let dt = 1.0 / steps as f64;
        particles.set_vector(Field::Position, 0, Vec3d::new(1.0, 0.0, 0.0));
        particles.set_vector(Field::Acceleration, 0, Vec3d::new(-1.0, 0.0, 0.0));
        for _ in 0..steps {
            assert!(kick_and_drift(&mut particles, None, dt, 1.0).left.none());
            let x = particles.vector_at(Field::Position, 0);
            particles.set_vector(Field::Acceleration, 0, -x);
            kick(&mut particles, dt, &SkippedChunks::default());
        }
        let (x, v) = (particles.vector_at(Field::Position, 0), particles.vector_at(Field::Velocity, 0));
        (x[0] - 1f64.cos()).hypot(v[0] + 1f64.sin())
    }

    #[test]
    fn an_oscillator_converges_with_the_square_of_the_step() {
        let (coarse, fine) = (oscillator(50), oscillator(100));
        assert!(coarse < 1e-3, "{coarse}");
        assert!((coarse / fine - 4.0).abs() < 0.1, "{coarse} / {fine}");
    }

    #[test]
    fn half_a_kick_left_to_the_next_step_makes_no_difference_to_the_last_bit() {
        let mut particles = moving(300);
        // this particle's chunk is skipped, but gets the pending half kick
        particles.component_mut(Field::Velocity, 1)[100] = 1e9;
        let mut closed = particles.clone();
        kick(&mut closed, 0.03, &SkippedChunks::default());
        let expected = kick_and_drift(&mut closed, None, 0.01, 1.0);
        assert!(!expected.left.none());
        assert_eq!(kick_and_drift(&mut particles, Some(0.03), 0.01, 1.0), expected);
        for field in [Field::Position, Field::Velocity] {
            assert_eq!(particles.vector(field), closed.vector(field));
        }
    }

    #[test]
    fn what_would_fly_away_is_left_and_the_rest_taken_back() {
        const COUNT: usize = 5000;
        let mut particles = moving(COUNT);
        particles.component_mut(Field::Acceleration, 1)[4000] = 1e30;
        particles.component_mut(Field::Velocity, 2)[70] = f64::NAN;
        let before = particles.clone();
        let DriftResult { left, farthest, heat } = kick_and_drift(&mut particles, None, 0.1, 1e6);
        assert_eq!(heat, 0.0);
        let rows: Vec<usize> = left.rows(&particles).collect();
        assert!(rows.len() == 2 * CHUNK && rows.contains(&4000) && rows.contains(&70), "{rows:?}");
        let moved = |a: &Particles, b: &Particles, field, row| {
            (a.vector_at(field, row) - b.vector_at(field, row)).norm()
        };
        assert!((0..COUNT).filter(|row| !rows.contains(row)).all(|row| moved(
            &particles,
            &before,
            Field::Position,
            row
        ) > 0.05));
        let way = |row| moved(&particles, &before, Field::Position, row);
        let longest = (0..COUNT).map(way).fold(0.0, f64::max);
        assert!(longest <= farthest && farthest < longest * (1.0 + 1e-6), "{longest} {farthest}");
        drift_back(&mut particles, 0.1, &left);
        kick(&mut particles, -0.1, &left);
        for row in (0..COUNT).filter(|&row| row != 70) {
            let apart = moved(&particles, &before, Field::Position, row)
                + moved(&particles, &before, Field::Velocity, row);
            assert!(apart < 1e-12, "{row}: {apart}");
        }
    }
}
