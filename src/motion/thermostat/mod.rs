//! Thermostats: what gives heat to molecules and takes it from them, so that their states are those of the canonical
//! ensemble.

mod langevin;
mod rescaling;

pub use langevin::Langevin;
pub use rescaling::VelocityRescaling;

use crate::deck::plan::ThermostatPlan;
use crate::units::Units;

/// A thermostat with its constants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Thermostat {
    /// Friction and noise on every particle.
    Langevin(Langevin),
    /// Velocities scaled by a random factor, the same for all.
    VelocityRescaling(VelocityRescaling),
}

impl Thermostat {
    /// That of a plan, in these units.
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
