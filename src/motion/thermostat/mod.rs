//! Thermostats: exchange heat with molecules, so that their states sample the canonical ensemble.

mod langevin;
mod rescaling;

pub use langevin::Langevin;
pub use rescaling::VelocityRescaling;

use crate::plan::ThermostatPlan;
use crate::units::Units;

/// A thermostat with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Thermostat {
    /// Friction and noise on every particle.
    Langevin(Langevin),
    /// Velocities scaled by one random factor.
    VelocityRescaling(VelocityRescaling),
}

impl Thermostat {
    /// Creates the thermostat of a plan, in these units.
    pub fn new(plan: &ThermostatPlan, units: &Units) -> Self {
        match *plan {
            ThermostatPlan::Langevin { temperature, friction, seed } => {
                let thermal_energy = units.boltzmann * temperature;
                Thermostat::Langevin(Langevin { thermal_energy, friction, seed })
            }
            ThermostatPlan::VelocityRescaling { temperature, time_constant, seed } => {
                let thermal_energy = units.boltzmann * temperature;
                Thermostat::VelocityRescaling(VelocityRescaling { thermal_energy, time_constant, seed })
            }
        }
    }
}
