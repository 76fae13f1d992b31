//! A simulation whose particles reside on a device; the host receives copies on request.

use super::state::{Freshness, Residence};
use super::{Simulation, fixed, gravity_of};
use crate::comm::Communicator;
use crate::device::columns::Columns;
use crate::device::domain::Domain;
use crate::device::exchange::Exchange;
use crate::device::totals::totals;
use crate::device::{Device, external, gas, time_step as time_step_of_device, verlet};
use crate::molecules::Molecules;
use crate::motion::time_step;
use crate::neighborhood::NeighborSettings;
use crate::observe::{Moment, Observables};
use crate::particles::{Field, Role};
use crate::report;
use crate::space::SimulationBox;
use crate::{Error, Result};
use std::sync::Arc;

/// Particles on a device, with their integrator.
#[derive(Debug)]
pub enum Resident {
    /// Molecules or stars: velocity Verlet.
    Verlet(Box<verlet::Verlet>),
    /// A gas, with or without gravity: leapfrog.
    Gas(Box<gas::Gas>),
}

/// From this number of rows on phases are timed by waiting for the device: kernels are long enough to make
/// the wait negligible.
const MIN_ROWS_TO_WAIT: usize = 1 << 18;

impl Resident {
    pub(super) fn columns(&self) -> &Columns {
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
    /// Moves the particles to `device`, the device of this rank. Evaluate the forces before the next step.
    /// Returns the transport between devices ([`Exchange::way`]). Collective.
    ///
    /// # Errors
    /// Those of the devices, on all ranks: memory, kernels that do not compile. [`Error::State`] if the pairs
    /// do not fit the box.
    pub fn move_to(&mut self, device: &Device) -> Result<String> {
        self.check_space()?;
        let exchange = Exchange::new(device, &self.domain.comm)?;
        let (bx, particles, precision) = (&self.domain.bx, &self.particles, self.precision);
        let NeighborSettings { method, symmetric, skins } = self.settings_for_device(device)?;
        let skin = skins.outer;
        let gravity = self.plan.gravity.as_ref().map(gravity_of);
        let external = self.external;
        let moved = match &self.plan.sph {
            None => {
                let settings = verlet::Settings { gravity, external, precision, method, skin, symmetric };
                verlet::Verlet::new(&exchange, self.molecules.as_ref(), bx, particles, &settings)
                    .map(|verlet| Resident::Verlet(Box::new(verlet)))
            }
            Some(sph) => {
                let settings = gas::Settings { sph: sph.clone(), gravity, external, precision, method, skin };
                gas::Gas::new(&exchange, &settings, bx, particles).map(|gas| Resident::Gas(Box::new(gas)))
            }
        };
        let moved = self.domain.comm.agree_on(moved)?;
        self.residence = Residence::Device { resident: moved, copy: Freshness::Current };
        if self.particles.len() >= MIN_ROWS_TO_WAIT {
            self.wait_for_phases();
        }
        let counted = device.clone();
        self.clock.count_joules(Arc::new(move || counted.joules()));
        Ok(exchange.way().to_string())
    }

    /// Adopts values of the fields `changed` that a caller has written to the host's current copy of the
    /// particles, and moves them to `device` if they reside there. Evaluate the forces before the next step.
    /// Collective.
    ///
    /// # Errors
    /// Those of [`Self::move_to`].
    pub fn adopt_changes(&mut self, changed: &[Field], device: Option<&Device>) -> Result<()> {
        self.energies = Freshness::Outdated;
        self.invalidate_lists();
        if changed.contains(&Field::Charge)
            && let Some(interaction) = &self.plan.interaction
        {
            let (comm, bx) = (&self.domain.comm, &self.domain.bx);
            let (plan, particles) = (&self.plan, &self.particles);
            self.molecules = Some(Molecules::new(plan, interaction, comm, bx, particles, self.precision));
            self.ewald = None;
        }
        if let Some(device) = device.filter(|_| self.is_resident()) {
            self.residence = Residence::Host;
            self.move_to(device)?;
        }
        Ok(())
    }

    /// Makes phases end when the device has done their work.
    pub(crate) fn wait_for_phases(&mut self) {
        if let Some(resident) = self.residence.resident() {
            let device = resident.columns().device().clone();
            // the next call reports a failure
            self.clock.wait_for(move || drop(device.synchronize()));
        }
    }

    /// The device on which the particles reside, if any.
    pub fn device(&self) -> Option<&Device> {
        self.residence.resident().map(|resident| resident.columns().device())
    }

    /// Whether the particles reside on a device.
    pub fn is_resident(&self) -> bool {
        self.residence.resident().is_some()
    }

    /// Number of lists built, on processors or the device.
    pub fn lists_built(&self) -> u64 {
        match self.residence.resident() {
            Some(Resident::Verlet(verlet)) => verlet.builds(),
            Some(Resident::Gas(gas)) => gas.builds(),
            None => self.neighborhood.builds(),
        }
    }

    /// Number of steps on a device whose forces were evaluated twice, because a particle moved farther than
    /// the list was known to serve.
    pub fn repeated_forces(&self) -> u64 {
        match self.residence.resident() {
            Some(Resident::Verlet(verlet)) => verlet.repeats(),
            Some(Resident::Gas(_)) | None => 0,
        }
    }

    /// Synchronizes velocities and copies the particles from the device to the host, molecules with energies
    /// at the current positions. Copies nothing if they are on the host or the copy is current. Collective.
    ///
    /// # Errors
    /// Those of the devices, on all ranks.
    pub fn copy_to_host(&mut self) -> Result<()> {
        self.synchronize_velocities();
        let Some(resident) = self.residence.ahead_of_host() else { return Ok(()) };
        let known = match resident {
            Resident::Verlet(verlet) if self.energies == Freshness::Outdated => verlet.energies(),
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
        self.domain.adopt(resident.domain().assignment());
        self.residence.copied();
        self.energies = Freshness::Current;
        self.clock.lap("from the device");
        Ok(())
    }

    /// Computes the observables where the particles reside, after a step of length `dt` (0 before the first
    /// step), including the tail correction. Collective.
    ///
    /// # Errors
    /// Those of the device.
    pub fn observe_resident(&mut self, dt: f64) -> Result<Observables> {
        let Some(resident) = self.residence.ahead_of_host() else { return Ok(self.observe(dt)) };
        if let Resident::Verlet(verlet) = resident
            && std::mem::replace(&mut self.energies, Freshness::Current) == Freshness::Outdated
        {
            let known = verlet.energies();
            abort_on_device_error(&self.domain.comm, known)?;
            self.clock.lap("pair energies");
        }
        let columns = resident.columns();
        let totals = abort_on_device_error(&self.domain.comm, totals(columns))?;
        let moment = Moment { step: self.step, time: self.time, time_step: dt };
        let (comm, bx, units) = (&self.domain.comm, &self.domain.bx, &self.plan.units);
        let mut observed = totals.observables(comm, bx, units, moment, columns.has(Field::Virial));
        if let Some(field) = &self.external {
            observed.external = Some(abort_on_device_error(comm, external::energy(field, columns, comm))?);
        }
        Ok(self.with_heat_and_tail(observed))
    }

    /// Performs a step on the device.
    pub(super) fn advance_resident(&mut self, dt: f64) -> Result<()> {
        // an open box changed in the last step
        self.check_space()?;
        let remove_drift = self.removes_drift();
        let Some(resident) = self.residence.change() else { return Ok(()) };
        self.energies = Freshness::Outdated;
        let advanced = match resident {
            Resident::Verlet(verlet) => {
                let thermostat = self.thermostat.as_ref();
                let heat = verlet.advance(thermostat, remove_drift, dt, self.step, &mut self.clock);
                heat.map(|heat| self.heat += heat)
            }
            Resident::Gas(gas) => gas.advance(dt, &mut self.clock),
        };
        let advanced = advanced.map_err(|error| error.with_units(self.plan.units.of_numbers()));
        abort_on_device_error(&self.domain.comm, advanced)?;
        self.domain.bx = resident.bx();
        Ok(())
    }

    /// Performs steps of length `dt` on the device, at least one and at most `most`, and counts them.
    pub(super) fn advance_resident_steps(&mut self, dt: f64, most: u64) -> Result<u64> {
        let (first, fixed, end) = (self.step, self.plan.time_step.fixed, self.plan.run.end_time);
        let remove_drift = self.removes_drift();
        self.check_space()?;
        let Some(Resident::Verlet(verlet)) = self.residence.change() else { return Ok(0) };
        self.energies = Freshness::Outdated;
        let thermostat = self.thermostat.as_ref();
        let performed = verlet.advance_batch(thermostat, remove_drift, dt, [first, most], &mut self.clock);
        self.domain.bx = verlet.bx;
        for added in performed.heat {
            self.heat += added;
            self.time = fixed::time_after(self.time, dt, fixed, end);
            self.step += 1;
        }
        let outcome = performed.error.map_or(Ok(()), Err);
        let outcome = outcome.map_err(|error| error.with_units(self.plan.units.of_numbers()));
        abort_on_device_error(&self.domain.comm, outcome)?;
        Ok(self.step - first)
    }

    /// Seconds per step of molecules on a device that performs several without the host: of the sweep over
    /// the present list, and of the rest. `None` where the host waits for each step.
    ///
    /// # Errors
    /// Those of the device.
    pub(crate) fn seconds_of_enqueued_forces(&mut self) -> Result<Option<[f64; 2]>> {
        match self.residence.change() {
            Some(Resident::Verlet(verlet)) => verlet.seconds_of_enqueued_forces(),
            Some(Resident::Gas(_)) | None => Ok(None),
        }
    }

    /// Evaluates the forces on the device; `dt` is the time since the last evaluation.
    pub(super) fn evaluate_resident(&mut self, dt: f64) -> Result<()> {
        let Some(resident) = self.residence.change() else { return Ok(()) };
        self.energies = Freshness::Outdated;
        let evaluated = match resident {
            Resident::Verlet(verlet) => verlet.evaluate(&mut self.clock),
            Resident::Gas(gas) => gas.evaluate(dt, &mut self.clock),
        };
        let evaluated = evaluated.map_err(|error| error.with_units(self.plan.units.of_numbers()));
        abort_on_device_error(&self.domain.comm, evaluated)?;
        self.domain.bx = resident.bx();
        Ok(())
    }

    /// Forces a list build in the next step, on processors and the device.
    pub fn invalidate_lists(&mut self) {
        self.forget_list_lifetime();
        self.neighborhood.invalidate();
        match &mut self.residence {
            Residence::Device { resident: Resident::Verlet(verlet), .. } => verlet.invalidate(),
            Residence::Device { resident: Resident::Gas(gas), .. } => gas.invalidate(),
            Residence::Host => {}
        }
    }

    /// [`Simulation::choose_step`] with the rates on the device.
    pub(super) fn choose_step_of_resident(&mut self, softening: f64, last: Option<f64>) -> Result<()> {
        let plan = &self.plan.time_step;
        let criteria = match self.residence.resident() {
            Some(Resident::Verlet(verlet)) if plan.fixed.is_none() => {
                let columns = &verlet.columns;
                let acceleration = columns.vector(Field::Acceleration);
                let rows = columns.owned();
                time_step_of_device::criteria(columns.device(), plan, softening, acceleration, None, rows)
            }
            Some(Resident::Gas(gas)) if plan.fixed.is_none() => gas.time_step_criteria(plan, softening),
            _ => Ok([f64::INFINITY; 4]),
        };
        let mut criteria = abort_on_device_error(&self.domain.comm, criteria)?;
        if plan.fixed.is_none() {
            self.domain.comm.all_min(&mut criteria);
        }
        (self.next_step, self.limit) = time_step::least(plan, criteria, last);
        Ok(())
    }
}

/// Returns the outcome of a collective operation on devices. Errors of the particles are known to all ranks.
/// A device error is not, and the other ranks would wait for messages: with several ranks it aborts all.
fn abort_on_device_error<T>(comm: &Communicator, outcome: Result<T>) -> Result<T> {
    match outcome {
        Err(error @ (Error::State { .. } | Error::Elsewhere)) => Err(error),
        Err(error) if comm.size() > 1 => {
            report::error_on_any_rank(&format!("rank {}: {error}", comm.rank()));
            comm.abort(1)
        }
        outcome => outcome,
    }
}
