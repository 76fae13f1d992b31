//! Velocity Verlet, kick-drift-kick, for forces that do not depend on velocities.
//!
//! ```text
//! v_half = v + a dt/2      x' = x + v_half dt      forces at x' -> a'      v' = v_half + a' dt/2
//! ```
//!
//! (Swope, Andersen, Berens & Wilson 1982, J. Chem. Phys. 76, 637.) The last half of a kick may be left to the next step, which goes
//! through velocities anyway: the same numbers in the same order. No particle is moved by more than a farthest
//! distance: the block of rows around one that would be is left as it was, so that the step can be taken back.

use std::ops::Range;

use fearless_simd::Simd;

use crate::Error;
use crate::pair::pieces::{Piece, Work, by_pieces};
use crate::particles::{Field, Particles};
use crate::space::Vec3d;

/// A step that would move a particle by so many edges of the box could not be taken back, and is none.
pub(crate) const FARTHEST: f64 = 1e6;

/// Rows that are moved or left together.
const BLOCK: usize = 64;

/// First rows of the blocks that were left as they were, because a particle of theirs would have moved too far (or to no
/// place, with a velocity that is not finite).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Left(pub(super) Vec<usize>);

impl Left {
    /// Whether every block was moved.
    pub fn none(&self) -> bool {
        self.0.is_empty()
    }

    /// The rows of these blocks.
    pub fn rows(&self, particles: &Particles) -> impl Iterator<Item = usize> {
        let end = particles.owned().end;
        self.0.iter().flat_map(move |&first| first..(first + BLOCK).min(end))
    }

    /// The blocks of a piece that were moved, counted from its first row.
    #[inline(always)]
    pub(super) fn moved(&self, first: usize, count: usize) -> impl Iterator<Item = Range<usize>> {
        blocks(count).filter(move |block| self.none() || !self.0.contains(&(first + block.start)))
    }
}

/// The blocks of a piece, counted from its first row.
#[inline(always)]
pub(super) fn blocks(count: usize) -> impl Iterator<Item = Range<usize>> {
    (0..count).step_by(BLOCK).map(move |begin| begin..(begin + BLOCK).min(count))
}

/// Position, velocity, acceleration.
pub(super) const MOVED: [(Field, usize); 9] = [
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

/// What a drift did to this rank's particles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drifted {
    /// What was left as it was.
    pub left: Left,
    /// No particle came farther than this.
    pub farthest: f64,
    /// Heat that a thermostat gave meanwhile.
    pub heat: f64,
}

impl Drifted {
    /// Adds a piece: first rows of blocks that were left, the largest square of a way, and the heat.
    pub(super) fn add(&mut self, (left, square, heat): (Vec<usize>, f64, f64)) {
        self.left.0.extend(left);
        // above what rounding takes from the way
        self.farthest = self.farthest.max(square.sqrt() * (1.0 + 1e-9));
        self.heat += heat;
    }
}

/// First half of a step of length `dt`: half a kick, and the drift; no particle moves farther than `farthest`. Before, and whatever is
/// moved, the half of a kick of a step of length `open` that was left to this one.
pub fn kick_and_drift(particles: &mut Particles, open: Option<f64>, dt: f64, farthest: f64) -> Drifted {
    let mut drifted = Drifted::default();
    let work = KickAndDrift { open, dt, farthest };
    by_pieces(particles, &work).into_iter().for_each(|piece| drifted.add(piece));
    drifted
}

struct KickAndDrift {
    open: Option<f64>,
    dt: f64,
    farthest: f64,
}

impl Work<9> for KickAndDrift {
    type Output = (Vec<usize>, f64, f64);
    const WANTED: [(Field, usize); 9] = MOVED;
    #[inline(always)]
    fn run<S: Simd>(&self, _: S, piece: Piece<9>) -> (Vec<usize>, f64, f64) {
        let (mut left, mut squares) = (Vec::new(), [0.0; BLOCK]);
        let [x0, x1, x2, v0, v1, v2, a0, a1, a2] = piece.columns;
        let (x, mut v, a) = ([x0, x1, x2], [v0, v1, v2], [&*a0, a1, a2]);
        for rows in blocks(piece.id.len()) {
            if let Some(open) = self.open {
                half_a_kick(&mut v, &a, rows.clone(), open);
            }
            if leaves(&v, &a, rows.clone(), self.dt, self.farthest) {
                left.push(piece.first + rows.start);
                continue;
            }
            for c in 0..3 {
                let (x, v, a) = (&mut x[c][rows.clone()], &mut v[c][rows.clone()], &a[c][rows.clone()]);
                for k in 0..x.len() {
                    v[k] += 0.5 * self.dt * a[k];
                    x[k] += self.dt * v[k];
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

/// Whether half a kick and a drift would move one of these rows too far.
#[inline(always)]
pub(super) fn leaves(
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

/// How far half a kick and a drift would move a particle along the axis where that is most; not a number where it is none
/// along an axis.
pub(crate) fn way(velocity: Vec3d, acceleration: Vec3d, dt: f64) -> f64 {
    let way = (velocity + 0.5 * dt * acceleration) * dt;
    let most = |most: f64, way: &f64| if most.is_nan() || way.abs() < most { most } else { way.abs() };
    way.iter().fold(0.0, most)
}

/// The error of a particle that a step would move too far.
pub(crate) fn thrown(id: u64, velocity: Vec3d, acceleration: Vec3d, dt: f64) -> Error {
    Error::State {
        step: 0,
        what: format!(
            "particle {id} would move by {:e}, which is no place; its velocity is {:e}, its acceleration {:e}",
            way(velocity, acceleration, dt),
            velocity.norm(),
            acceleration.norm(),
        ),
        remedy: "look for particles that were too close in the checkpoint of the last good step; a shorter \
                 time_step.fixed, or a [minimize] before the first step, often helps"
            .into(),
    }
}

/// Half a kick with the step `dt`, but not of what was left; of `-dt` it takes such a kick back.
pub fn kick(particles: &mut Particles, dt: f64, left: &Left) {
    by_pieces(particles, &Kick { dt, left });
}

struct Kick<'a> {
    dt: f64,
    left: &'a Left,
}

impl Work<6> for Kick<'_> {
    type Output = ();
    const WANTED: [(Field, usize); 6] = {
        let [_, _, _, v0, v1, v2, a0, a1, a2] = MOVED;
        [v0, v1, v2, a0, a1, a2]
    };
    #[inline(always)]
    fn run<S: Simd>(&self, _: S, mut piece: Piece<6>) {
        for rows in self.left.moved(piece.first, piece.id.len()) {
            let [v0, v1, v2, a0, a1, a2] = &mut piece.columns;
            half_a_kick(&mut [v0, v1, v2], &[a0, a1, a2], rows, self.dt);
        }
    }
}

/// Half a kick of some rows.
#[inline(always)]
fn half_a_kick(v: &mut [&mut [f64]; 3], a: &[&[f64]; 3], rows: Range<usize>, dt: f64) {
    for c in 0..3 {
        let (v, a) = (&mut v[c][rows.clone()], &a[c][rows.clone()]);
        for k in 0..v.len() {
            v[k] += 0.5 * dt * a[k];
        }
    }
}

/// Take the drift of [`kick_and_drift`] back, to rounding.
pub fn drift_back(particles: &mut Particles, dt: f64, left: &Left) {
    by_pieces(particles, &DriftBack { dt, left });
}

struct DriftBack<'a> {
    dt: f64,
    left: &'a Left,
}

impl Work<6> for DriftBack<'_> {
    type Output = ();
    const WANTED: [(Field, usize); 6] = {
        let [x0, x1, x2, v0, v1, v2, ..] = MOVED;
        [x0, x1, x2, v0, v1, v2]
    };
    #[inline(always)]
    fn run<S: Simd>(&self, _: S, mut piece: Piece<6>) {
        for rows in self.left.moved(piece.first, piece.id.len()) {
            let [x0, x1, x2, v0, v1, v2] = &mut piece.columns;
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
    fn a_particle_with_one_component_that_is_no_number_goes_nowhere() {
        let (still, gone) = (Vec3d::new(1.0, -3.0, 2.0), Vec3d::new(0.0, 0.0, f64::NAN));
        assert_eq!(way(still, Vec3d::zeros(), 0.5), 1.5);
        assert!(way(gone, still, 0.5).is_nan() && way(still, gone.zyx(), 0.5).is_nan());
        let error = thrown(7, gone, still, 0.5).to_string();
        assert!(error.contains("particle 7 would move by NaN, which is no place"), "{error}");
    }

    /// Particles that all move and are accelerated.
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

    /// Position error of an oscillator x'' = -x after time 1.
    fn oscillator(steps: usize) -> f64 {
        let mut particles = Particles::new(FIELDS, 1);
        let dt = 1.0 / steps as f64;
        particles.set_vector(Field::Position, 0, Vec3d::new(1.0, 0.0, 0.0));
        particles.set_vector(Field::Acceleration, 0, Vec3d::new(-1.0, 0.0, 0.0));
        for _ in 0..steps {
            assert!(kick_and_drift(&mut particles, None, dt, 1.0).left.none());
            let x = particles.vector_at(Field::Position, 0);
            particles.set_vector(Field::Acceleration, 0, -x);
            kick(&mut particles, dt, &Left::default());
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
        // its block is left where it is, with the whole kick
        particles.component_mut(Field::Velocity, 1)[100] = 1e9;
        let mut closed = particles.clone();
        kick(&mut closed, 0.03, &Left::default());
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
        let Drifted { left, farthest, heat } = kick_and_drift(&mut particles, None, 0.1, 1e6);
        assert_eq!(heat, 0.0);
        let rows: Vec<usize> = left.rows(&particles).collect();
        assert!(rows.len() == 2 * BLOCK && rows.contains(&4000) && rows.contains(&70), "{rows:?}");
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
