//! Kick-drift-kick leapfrog of a gas, with velocities and internal energies predicted for the force
//! evaluation.
//!
//! With accelerations `a` and heating rates `q` of the last force evaluation, a step of length `dt` is
//!
//! ```text
//! v_half = v + a dt/2      x' = x + v_half dt      v_predicted = v + a dt      u_predicted = u + q dt
//! forces at (x', v_predicted, u_predicted) -> a', q'
//! v' = v_half + a' dt/2    u' = u_half + q' dt/2
//! ```
//!
//! This is second-order Verlet in the form that SPH needs, because its forces depend on velocities (Springel
//! 2005, MNRAS 364, 1105, section 4). Viscosity coefficients are advanced by the force evaluation.

use crate::faults::{Fault, planted};
use crate::particles::blocks::{map_blocks, reduce_blocks};
use crate::particles::{Field, Particles};
use std::ops::Range;

/// A predicted internal energy is at least this fraction of the present one.
const MIN_PREDICTED_FRACTION: f64 = 0.1;

/// First half of a step. Drifts the positions, and predicts velocity and internal energy at the end of the
/// step. The smoothing length follows the flow, `dh/dt = h div v / 3`. The rates are renamed to `Kick*`; the
/// forces compute new ones.
pub fn kick_and_drift(particles: &mut Particles, dt: f64) {
    for c in 0..3 {
        let moved = [(Field::Position, c), (Field::Velocity, c), (Field::Acceleration, c)];
        map_blocks(particles, moved, |block| {
            let [position, velocity, acceleration] = block.columns;
            for ((x, v), a) in position.iter_mut().zip(velocity).zip(acceleration) {
                let kicked = if planted(Fault::GasDriftOldVelocity) { *v } else { *v + 0.5 * dt * *a };
                *x += kicked * dt;
                *v += *a * dt;
            }
        });
    }
    particles.rename(Field::Acceleration, Field::KickAcceleration);
    let heated = [
        (Field::InternalEnergy, 0),
        (Field::InternalEnergyRate, 0),
        (Field::SmoothingLength, 0),
        (Field::VelocityDivergence, 0),
    ];
    map_blocks(particles, heated, |block| {
        let [energy, rate, length, divergence] = block.columns;
        for (((u, q), h), div) in energy.iter_mut().zip(rate).zip(length).zip(divergence) {
            // store the rate after clipping by the floor, because `kick` subtracts the rate that was applied
            *q = q.max((MIN_PREDICTED_FRACTION - 1.0) * *u / dt);
            *u += *q * dt;
            if !planted(Fault::SmoothingStale) {
                *h *= (*div * dt / 3.0).clamp(-0.2, 0.2).exp();
            }
        }
    });
    particles.rename(Field::InternalEnergyRate, Field::KickEnergyRate);
}

/// Second half of a step, after the forces: corrects the predictions by half the change of the rates, and
/// removes the old rates.
pub fn kick(particles: &mut Particles, dt: f64) {
    for c in 0..3 {
        let kicked = [(Field::Velocity, c), (Field::Acceleration, c), (Field::KickAcceleration, c)];
        map_blocks(particles, kicked, |block| {
            let [velocity, acceleration, old] = block.columns;
            for ((v, a), old) in velocity.iter_mut().zip(acceleration).zip(old) {
                if !planted(Fault::GasKickDropped) {
                    *v += 0.5 * dt * (*a - *old);
                }
            }
        });
    }
    particles.remove(&[Field::KickAcceleration]);
    let heated = [(Field::InternalEnergy, 0), (Field::InternalEnergyRate, 0), (Field::KickEnergyRate, 0)];
    map_blocks(particles, heated, |block| {
        let [energy, rate, old] = block.columns;
        for ((u, q), old) in energy.iter_mut().zip(rate).zip(old) {
            if !planted(Fault::GasEnergyKickDropped) {
                *u = (*u + 0.5 * dt * (*q - *old)).max(MIN_PREDICTED_FRACTION * *u);
            }
        }
    });
    particles.remove(&[Field::KickEnergyRate]);
}

/// Whether [`undo`] can revert a step of length `dt` to about eight digits: no particle moves more than
/// `1e6 reach` along an axis, and no energy changes by more than `1e6` times itself.
pub fn can_undo(particles: &Particles, dt: f64, reach: f64) -> bool {
    const LARGEST: f64 = 1e6;
    let drift_is_small = |rows: Range<usize>, c: usize| {
        let velocity = &particles.component(Field::Velocity, c)[rows.clone()];
        let acceleration = &particles.component(Field::Acceleration, c)[rows];
        velocity.iter().zip(acceleration).all(|(v, a)| ((v + 0.5 * dt * a) * dt).abs() <= LARGEST * reach)
    };
    let heating_is_small = |rows: Range<usize>| {
        let energy = &particles.scalar(Field::InternalEnergy)[rows.clone()];
        let rate = &particles.scalar(Field::InternalEnergyRate)[rows];
        energy.iter().zip(rate).all(|(u, q)| (q * dt).abs() <= LARGEST * u.abs())
    };
    let undoable =
        |rows: Range<usize>| (0..3).all(|c| drift_is_small(rows.clone(), c)) && heating_is_small(rows);
    reduce_blocks(particles.owned(), undoable, |a, b| a && b).unwrap_or(true)
}

/// Reverts the first half of a step, to rounding (see [`can_undo`]). Used when a run cannot complete the
/// step.
pub fn undo(particles: &mut Particles, dt: f64) {
    let owned = particles.owned();
    for c in 0..3 {
        let [position, velocity, old] = particles.components_mut([
            (Field::Position, c),
            (Field::Velocity, c),
            (Field::KickAcceleration, c),
        ]);
        for row in owned.clone() {
            velocity[row] -= old[row] * dt;
            position[row] -= (velocity[row] + 0.5 * dt * old[row]) * dt;
        }
    }
    particles.rename(Field::KickAcceleration, Field::Acceleration);
    let [energy, old] = particles.components_mut([(Field::InternalEnergy, 0), (Field::KickEnergyRate, 0)]);
    for row in owned {
        energy[row] -= old[row] * dt;
    }
    particles.rename(Field::KickEnergyRate, Field::InternalEnergyRate);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Vec3d;

    const FIELDS: &[Field] = &[
        Field::Position,
        Field::Velocity,
        Field::Acceleration,
        Field::InternalEnergy,
        Field::InternalEnergyRate,
        Field::SmoothingLength,
        Field::VelocityDivergence,
    ];

    /// Error in phase space of an oscillator x'' = -x at time 1.
    fn oscillator(steps: usize) -> f64 {
        let mut particles = Particles::new(FIELDS, 1);
        let dt = 1.0 / steps as f64;
        particles.set_vector(Field::Position, 0, Vec3d::new(1.0, 0.0, 0.0));
        particles.set_vector(Field::Acceleration, 0, Vec3d::new(-1.0, 0.0, 0.0));
        for _ in 0..steps {
            kick_and_drift(&mut particles, dt);
            let x = particles.vector_at(Field::Position, 0);
            particles.add(FIELDS);
            particles.set_vector(Field::Acceleration, 0, -x);
            kick(&mut particles, dt);
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
    fn undo_takes_the_first_half_back() {
        let mut particles = Particles::new(FIELDS, 1);
        particles.set_vector(Field::Position, 0, Vec3d::new(1.0, 2.0, 3.0));
        particles.set_vector(Field::Velocity, 0, Vec3d::new(-1.0, 0.5, 0.0));
        particles.set_vector(Field::Acceleration, 0, Vec3d::new(3.0, -2.0, 1.0));
        particles.scalar_mut(Field::InternalEnergy)[0] = 2.0;
        particles.scalar_mut(Field::InternalEnergyRate)[0] = -0.5;
        let before = particles.clone();
        kick_and_drift(&mut particles, 0.1);
        assert!(
            (particles.vector_at(Field::Position, 0) - before.vector_at(Field::Position, 0)).norm() > 0.05
        );
        undo(&mut particles, 0.1);
        for field in [Field::Position, Field::Velocity, Field::Acceleration] {
            assert!(
                (particles.vector_at(field, 0) - before.vector_at(field, 0)).norm() < 1e-14,
                "{}",
                field.name()
            );
        }
        assert!((particles.scalar(Field::InternalEnergy)[0] - 2.0).abs() < 1e-14);
        assert_eq!(particles.scalar(Field::InternalEnergyRate)[0], -0.5);
    }

    #[test]
    fn steps_that_lose_the_state_cannot_be_undone() {
        let mut particles = Particles::new(FIELDS, 1);
        particles.set_vector(Field::Acceleration, 0, Vec3d::new(1.0, 0.0, 0.0));
        particles.scalar_mut(Field::InternalEnergy)[0] = 1.0;
        assert!(can_undo(&particles, 0.1, 1.0) && !can_undo(&particles, 1e4, 1.0));
        assert!(!can_undo(&particles, f64::MAX, 1.0));
        particles.scalar_mut(Field::InternalEnergyRate)[0] = 1e8;
        assert!(!can_undo(&particles, 0.1, 1.0));
    }

    #[test]
    fn constant_heating_is_integrated_exactly_and_cooling_never_passes_zero() {
        let mut particles = Particles::new(FIELDS, 2);
        particles.scalar_mut(Field::InternalEnergy).copy_from_slice(&[1.0, 1.0]);
        particles.scalar_mut(Field::InternalEnergyRate).copy_from_slice(&[0.5, -100.0]);
        for _ in 0..4 {
            let rate = particles.scalar(Field::InternalEnergyRate).to_vec();
            kick_and_drift(&mut particles, 0.25);
            particles.add(FIELDS);
            particles.scalar_mut(Field::InternalEnergyRate).copy_from_slice(&rate);
            kick(&mut particles, 0.25);
        }
        assert!((particles.scalar(Field::InternalEnergy)[0] - 1.5).abs() < 1e-15);
        assert!(particles.scalar(Field::InternalEnergy)[1] > 0.0);
    }
}
