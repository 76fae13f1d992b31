//! A simulation whose particles live on a device: the host has them when it asks for them.

use super::{Simulation, gravity_of, skins_of};
use crate::comm::Communicator;
use crate::device::columns::Columns;
use crate::device::domain::Domain;
use crate::device::exchange::Exchange;
use crate::device::totals::totals;
use crate::device::{Device, gas, time_step as time_step_of_device, verlet};
use crate::motion::time_step;
use crate::observe::{Moment, Observables};
use crate::particles::{Field, Role};
use crate::report;
use crate::space::SimulationBox;
use crate::{Error, Result};

/// The particles on a device, with what moves them there.
#[derive(Debug)]
pub enum Resident {
    /// Moved by velocity Verlet: molecules and stars.
    Verlet(Box<verlet::Verlet>),
    /// With smoothing lengths, and gravity or not.
    Gas(Box<gas::Gas>),
}

/// With so many rows kernels take so long that waiting for them costs nothing that shows.
const MANY: usize = 1 << 18;

/// How much wider than the cutoff a device's lists of molecules are where the plan leaves it open: as lists are built fast
/// there, less than processors choose.
const SKIN: f64 = 0.22;

impl Resident {
    fn columns(&self) -> &Columns {
        match self {
            Resident::Verlet(verlet) => &verlet.columns,
            Resident::Gas(gas) => &gas.columns,
        }
    }

    fn domain(&self) -> &Domain {
        match self {
            Resident::Verlet(verlet) => verlet.domain(),
            Resident::Gas(gas) => gas.domain(),
        }
    }

    fn bx(&self) -> SimulationBox {
        match self {
            Resident::Verlet(verlet) => verlet.bx,
            Resident::Gas(gas) => gas.bx,
        }
    }
}

impl Simulation {
    /// From now on the particles live on the ranks' devices, of which this is the rank's. Forces are to be evaluated before
    /// the next step. Returns how the devices exchange particles. Collective.
    ///
    /// # Errors
    /// Those of the devices, on all ranks: memory, kernels that do not compile. [`Error::State`] where pairs do not fit into the
    /// box.
    pub fn move_to(&mut self, device: &Device) -> Result<String> {
        self.check_space()?;
        let exchange = Exchange::new(device, &self.domain.comm)?;
        let (bx, particles, precision) = (&self.domain.bx, &self.particles, self.precision);
        let skin = skins_of(&self.plan, bx, SKIN).outer;
        let gravity = self.plan.gravity.as_ref().map(gravity_of);
        let moved = match &self.plan.sph {
            _ if gravity.is_some() && bx.any_periodic() => Err(Error::usage(
                "gravity in a periodic box is not supported: it sums over the particles, not over their images",
                "write boundary = \"open\" in [space], or remove [gravity] from the deck",
            )),
            None => {
                let symmetric = self.plan.neighbors.symmetric.unwrap_or(true);
                let settings = verlet::Settings { gravity, precision, skin, symmetric };
                verlet::Verlet::new(&exchange, self.molecules.as_ref(), bx, particles, &settings)
                    .map(|verlet| Resident::Verlet(Box::new(verlet)))
            }
            Some(sph) => {
                let settings = gas::Settings { sph: sph.clone(), gravity, precision, skin };
                gas::Gas::new(&exchange, &settings, bx, particles).map(|gas| Resident::Gas(Box::new(gas)))
            }
        };
        let moved = self.domain.comm.agree_on(moved)?;
        (self.resident, self.at_home) = (Some(moved), true);
        if self.particles.len() >= MANY {
            let device = device.clone();
            // a failure shows with the next call
            self.clock.wait_for(move || drop(device.synchronize()));
        }
        Ok(exchange.way().to_string())
    }

    /// Whether the particles live on a device.
    pub fn is_resident(&self) -> bool {
        self.resident.is_some()
    }

    /// Lists built so far, wherever the particles are.
    pub fn lists_built(&self) -> u64 {
        match &self.resident {
            Some(Resident::Verlet(verlet)) => verlet.builds(),
            Some(Resident::Gas(gas)) => gas.builds(),
            None => self.neighborhood.builds(),
        }
    }

    /// The host's particles become those of the present time, of the device if they live there, molecules then with energies at the
    /// present positions; nothing happens where they are that already. Collective.
    ///
    /// # Errors
    /// Those of the devices, on all ranks.
    pub fn copy_to_host(&mut self) -> Result<()> {
        self.synchronize_velocities();
        let Some(resident) = &mut self.resident else { return Ok(()) };
        if self.at_home {
            return Ok(());
        }
        let known = match resident {
            Resident::Verlet(verlet) if !self.energies_known => verlet.energies(),
            Resident::Verlet(_) => Ok(()),
            Resident::Gas(gas) => {
                if let Some(hydrodynamics) = &mut self.hydrodynamics {
                    hydrodynamics.smoothing = gas.smoothing();
                }
                Ok(())
            }
        };
        let columns = resident.columns();
        let fields: Vec<Field> = columns.fields().collect();
        let derived = self.particles.fields_of(Role::Derived);
        self.particles.remove(&derived);
        let brought = known.and_then(|()| columns.download(&mut self.particles, &fields));
        self.domain.comm.agree(brought)?;
        (self.at_home, self.energies_known) = (true, true);
        self.domain.adopt(resident.domain().assignment());
        self.clock.lap("from the device");
        Ok(())
    }

    /// Observe the particles where they live, after a step of length `dt` (0 if there was none), what a tail adds included.
    /// Collective.
    ///
    /// # Errors
    /// Those of the device.
    pub fn observe_resident(&mut self, dt: f64) -> Result<Observables> {
        let Some(resident) = &mut self.resident else { return Ok(self.observe(dt)) };
        if self.at_home {
            return Ok(self.observe(dt));
        }
        if let Resident::Verlet(verlet) = resident
            && !std::mem::replace(&mut self.energies_known, true)
        {
            let known = verlet.energies();
            together(&self.domain.comm, known)?;
            self.clock.lap("pair energies");
        }
        let columns = resident.columns();
        let totals = together(&self.domain.comm, totals(columns))?;
        let moment = Moment { step: self.step, time: self.time, time_step: dt };
        let (comm, bx, units) = (&self.domain.comm, &self.domain.bx, &self.plan.units);
        let observed = totals.observables(comm, bx, units, moment, columns.has(Field::Virial));
        Ok(self.with_heat_and_tail(observed))
    }

    /// A step on the device.
    pub(super) fn advance_resident(&mut self, dt: f64) -> Result<()> {
        // an open box has followed the particles of the last step
        self.check_space()?;
        let remove_drift = self.removes_drift();
        let Some(resident) = &mut self.resident else { return Ok(()) };
        (self.at_home, self.energies_known) = (false, false);
        let advanced = match resident {
            Resident::Verlet(verlet) => {
                let thermostat = self.thermostat.as_ref();
                let heat = verlet.advance(thermostat, remove_drift, dt, self.step, &mut self.clock);
                heat.map(|heat| self.heat += heat)
            }
            Resident::Gas(gas) => gas.advance(dt, &mut self.clock),
        };
        let advanced = advanced.map_err(|error| error.with_units(self.plan.units.of_numbers()));
        together(&self.domain.comm, advanced)?;
        self.domain.bx = resident.bx();
        Ok(())
    }

    /// The forces on the device; `dt` is the time since the last ones.
    pub(super) fn evaluate_resident(&mut self, dt: f64) -> Result<()> {
        let Some(resident) = &mut self.resident else { return Ok(()) };
        (self.at_home, self.energies_known) = (false, false);
        let evaluated = match resident {
            Resident::Verlet(verlet) => verlet.evaluate(&mut self.clock),
            Resident::Gas(gas) => gas.evaluate(dt, &mut self.clock),
        };
        let evaluated = evaluated.map_err(|error| error.with_units(self.plan.units.of_numbers()));
        together(&self.domain.comm, evaluated)?;
        self.domain.bx = resident.bx();
        Ok(())
    }

    /// The next step has to build a list, wherever the particles are.
    pub fn invalidate_lists(&mut self) {
        self.neighborhood.invalidate();
        match &mut self.resident {
            Some(Resident::Verlet(verlet)) => verlet.invalidate(),
            Some(Resident::Gas(gas)) => gas.invalidate(),
            None => {}
        }
    }

    /// Let the criteria choose the next step by what the device knows.
    pub(super) fn choose_step_of_resident(&mut self, softening: f64, last: Option<f64>) -> Result<()> {
        let plan = &self.plan.time_step;
        let criteria = match &self.resident {
            Some(Resident::Verlet(verlet)) if plan.fixed.is_none() => {
                let columns = &verlet.columns;
                let acceleration = columns.vector(Field::Acceleration);
                let rows = columns.owned();
                time_step_of_device::criteria(columns.device(), plan, softening, acceleration, None, rows)
            }
            Some(Resident::Gas(gas)) if plan.fixed.is_none() => gas.time_step_criteria(plan, softening),
            _ => Ok([f64::INFINITY; 4]),
        };
        let mut criteria = together(&self.domain.comm, criteria)?;
        if plan.fixed.is_none() {
            self.domain.comm.all_min(&mut criteria);
        }
        (self.next_step, self.limit) = time_step::least(plan, criteria, last);
        Ok(())
    }
}

/// The outcome of what all ranks did together. Of a device that failed the others know nothing, and wait for its messages:
/// where there are others, this ends all of them.
fn together<T>(comm: &Communicator, outcome: Result<T>) -> Result<T> {
    match outcome {
        Err(error @ (Error::State { .. } | Error::Elsewhere)) => Err(error),
        Err(error) if comm.size() > 1 => {
            report::error_on_any_rank(&format!("rank {}: {error}", comm.rank()));
            comm.abort(1)
        }
        outcome => outcome,
    }
}
