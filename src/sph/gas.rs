//! Equations of state.

use crate::deck::plan::EquationOfState;
use crate::pair::pieces::over_pieces;
use crate::particles::{Field, Particles};

impl EquationOfState {
    /// Pressure and speed of sound at density `rho` and specific internal energy `u`.
    pub fn evaluate(&self, rho: f64, u: f64) -> (f64, f64) {
        match *self {
            EquationOfState::IdealGas { gamma } => {
                ((gamma - 1.0) * rho * u, (gamma * (gamma - 1.0) * u).sqrt())
            }
            EquationOfState::Isothermal { sound_speed } => (sound_speed * sound_speed * rho, sound_speed),
        }
    }

    /// Give the owned particles pressure and speed of sound.
    pub fn apply(&self, particles: &mut Particles) {
        particles.add(&[Field::Pressure, Field::SoundSpeed]);
        let wanted =
            [(Field::Density, 0), (Field::InternalEnergy, 0), (Field::Pressure, 0), (Field::SoundSpeed, 0)];
        over_pieces(particles, wanted, |piece| {
            let [density, energy, pressure, sound] = piece.columns;
            let given = density.iter().zip(energy);
            for ((rho, u), (pressure, sound)) in given.zip(pressure.iter_mut().zip(sound)) {
                (*pressure, *sound) = self.evaluate(*rho, *u);
            }
        });
    }
}
