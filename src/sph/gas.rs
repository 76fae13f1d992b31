//! Equations of state.

use crate::deck::plan::EquationOfState;
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

    /// Fill pressure and speed of sound of the owned particles.
    pub fn apply(&self, particles: &mut Particles) {
        let owned = particles.owned();
        let rows: Vec<(f64, f64)> = {
            let (density, energy) =
                (particles.scalar(Field::Density), particles.scalar(Field::InternalEnergy));
            owned.clone().map(|row| self.evaluate(density[row], energy[row])).collect()
        };
        let [pressure, sound] = particles.components_mut([(Field::Pressure, 0), (Field::SoundSpeed, 0)]);
        for (row, (p, c)) in owned.zip(rows) {
            pressure[row] = p;
            sound[row] = c;
        }
    }
}
