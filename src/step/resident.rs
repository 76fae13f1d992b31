//! A simulation whose particles live on a device: the host has them when it asks for them.

use super::{Simulation, gravity_of};
use crate::Result;
use crate::device::columns::Columns;
use crate::device::{Device, gas, molecules, motion};
use crate::motion::time_step;
use crate::particles::{Field, Role};
use crate::space::SimulationBox;

/// The particles on a device, with what moves them there.
#[derive(Debug)]
pub enum Resident {
    /// With forces of pairs.
    Molecules(Box<molecules::Molecules>),
    /// With smoothing lengths, and gravity or not.
    Gas(Box<gas::Gas>),
}

/// With so many rows kernels take so long that waiting for them costs nothing that shows.
const MANY: usize = 1 << 18;

/// By what fraction of the cutoff a device's lists of molecules are wider where the plan leaves it open: as lists are built
/// fast there, less than processors choose.
const SKIN: f64 = 0.15;

impl Resident {
    fn columns(&self) -> &Columns {
        match self {
            Resident::Molecules(molecules) => &molecules.columns,
            Resident::Gas(gas) => &gas.columns,
        }
    }

    fn bx(&self) -> SimulationBox {
        match self {
            Resident::Molecules(molecules) => molecules.bx,
            Resident::Gas(gas) => gas.bx,
        }
    }
}

impl Simulation {
    /// From now on the particles live on this device. Forces are to be evaluated before the next step.
    ///
    /// # Errors
    /// Those of the device: memory, kernels that do not compile.
    pub fn move_to(&mut self, device: &Device) -> Result<()> {
        let (bx, particles, precision) = (&self.domain.bx, &self.particles, self.precision);
        let skin = self.neighborhood.skins().outer;
        let moved = match (&self.molecules, &self.plan.sph) {
            (Some(law), _) => {
                let symmetric = self.plan.neighbors.symmetric.unwrap_or(true);
                let skin = self.plan.neighbors.skin.unwrap_or(skin.min(SKIN));
                let settings = molecules::Settings { precision, skin, symmetric };
                let moved = molecules::Molecules::new(device, law, bx, particles, &settings)?;
                Resident::Molecules(Box::new(moved))
            }
            (None, Some(sph)) => {
                let gravity = self.plan.gravity.as_ref().map(gravity_of);
                let settings = gas::Settings { sph: sph.clone(), gravity, precision, skin };
                Resident::Gas(Box::new(gas::Gas::new(device, &settings, bx, particles)?))
            }
            (None, None) => unreachable!("a device is asked for plans of molecules and of gas alone"),
        };
        (self.resident, self.at_home) = (Some(moved), true);
        if self.particles.len() >= MANY {
            let device = device.clone();
            // a failure shows with the next call
            self.clock.wait_for(move || drop(device.synchronize()));
        }
        Ok(())
    }

    /// Whether the particles live on a device.
    pub fn is_resident(&self) -> bool {
        self.resident.is_some()
    }

    /// Lists built so far, wherever the particles are.
    pub fn lists_built(&self) -> u64 {
        match &self.resident {
            Some(Resident::Molecules(molecules)) => molecules.builds(),
            Some(Resident::Gas(gas)) => gas.builds(),
            None => self.neighborhood.builds(),
        }
    }

    /// The host's particles become those of the device, molecules with energies at the present positions; nothing happens
    /// where they are that already.
    ///
    /// # Errors
    /// Those of the device.
    pub fn bring_home(&mut self) -> Result<()> {
        let Some(resident) = &mut self.resident else { return Ok(()) };
        if std::mem::replace(&mut self.at_home, true) {
            return Ok(());
        }
        match resident {
            Resident::Molecules(molecules) => {
                molecules.energies()?;
                self.energies_known = true;
            }
            Resident::Gas(gas) => {
                if let Some(hydrodynamics) = &mut self.hydrodynamics {
                    hydrodynamics.smoothing = gas.smoothing();
                }
            }
        }
        let columns = resident.columns();
        let fields: Vec<Field> = columns.fields().collect();
        let derived = self.particles.fields_of(Role::Derived);
        self.particles.remove(&derived);
        columns.download(&mut self.particles, &fields)?;
        self.clock.lap("from the device");
        Ok(())
    }

    /// A step on the device.
    pub(super) fn advance_resident(&mut self, dt: f64) -> Result<()> {
        let Some(resident) = &mut self.resident else { return Ok(()) };
        (self.at_home, self.energies_known) = (false, false);
        match resident {
            Resident::Molecules(molecules) => {
                let mut heat = molecules.advance(self.thermostat.as_ref(), dt, self.step, &mut self.clock)?;
                if self.plan.motion.remove_drift.is_some_and(|every| (self.step + 1).is_multiple_of(every)) {
                    heat -= molecules.remove_drift()?;
                }
                self.heat += heat;
            }
            Resident::Gas(gas) => gas.advance(dt, &mut self.clock)?,
        }
        self.domain.bx = resident.bx();
        Ok(())
    }

    /// The forces on the device; `dt` is the time since the last ones.
    pub(super) fn evaluate_resident(&mut self, dt: f64) -> Result<()> {
        let Some(resident) = &mut self.resident else { return Ok(()) };
        (self.at_home, self.energies_known) = (false, false);
        match resident {
            Resident::Molecules(molecules) => molecules.evaluate(&mut self.clock)?,
            Resident::Gas(gas) => gas.evaluate(dt, &mut self.clock)?,
        }
        self.domain.bx = resident.bx();
        Ok(())
    }

    /// The next step has to build a list, wherever the particles are.
    pub fn invalidate_lists(&mut self) {
        self.neighborhood.invalidate();
        match &mut self.resident {
            Some(Resident::Molecules(molecules)) => molecules.invalidate(),
            Some(Resident::Gas(gas)) => gas.invalidate(),
            None => {}
        }
    }

    /// Let the criteria choose the next step by what the device knows.
    pub(super) fn choose_step_of_resident(&mut self, softening: f64, last: Option<f64>) -> Result<()> {
        let plan = &self.plan.time_step;
        let criteria = match &self.resident {
            _ if plan.fixed.is_some() => [f64::INFINITY; 4],
            Some(Resident::Molecules(molecules)) => {
                let columns = &molecules.columns;
                let acceleration = columns.vector(Field::Acceleration);
                let rows = 0..columns.rows();
                motion::time_step_criteria(columns.device(), plan, softening, acceleration, None, rows)?
            }
            Some(Resident::Gas(gas)) => gas.time_step_criteria(plan, softening)?,
            None => [f64::INFINITY; 4],
        };
        (self.next_step, self.limit) = time_step::least(plan, criteria, last);
        Ok(())
    }
}
