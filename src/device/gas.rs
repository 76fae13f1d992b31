//! A gas on a device: list updates, gravity, and the operations of a leapfrog step
//! ([`crate::motion::steps::Leapfrog`]), the counterpart of [`crate::step`] on processors. The passes are in
//! [`super::hydrodynamics`].

use super::Device;
use super::columns::Columns;
use super::domain::Domain;
use super::exchange::Exchange;
use super::external;
use super::gravity::Gravity;
use super::hydrodynamics::{GasOnDevice, Hydrodynamics};
use super::leapfrog::{self, Heated, Predicted};
use super::motion::Moving;
use super::neighborhood::Neighborhood;
use super::net_force::{NetForces, without_net_force};
use super::time_step::{self, GasRates};
use super::values;
use crate::clock::Clock;
use crate::comm::Communicator;
use crate::far::GravityPlan;
use crate::far::external::ExternalField;
use crate::motion::steps::{self, Leapfrog};
use crate::neighborhood::{InteractionRange, Method, NeighborSettings};
use crate::neighbors;
use crate::pair::Precision;
use crate::particles::{Field, Particles, Role};
use crate::plan::{SphPlan, TimeStepPlan};
use crate::space::SimulationBox;
use crate::sph::{self, SmoothingStatistics};
use crate::{Error, Result};

/// Bytes per row of a run that retains all memory between passes, in mixed and in double precision.
const RETAINED_BYTES: [u64; 2] = [570, 740];
/// Bytes per row of a run that releases memory between passes, in mixed and in double precision.
const FRUGAL_BYTES: [u64; 2] = [400, 560];
/// Bytes per row that lists of particles add, scratch memory of their build included, at 100 neighbors.
const PARTICLE_LIST_BYTES: u64 = 430;
/// Factor for halo rows on several ranks, in eighths.
const HALO_EIGHTHS: u64 = 10;

/// Settings of a gas.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The gas.
    pub sph: SphPlan,
    /// Gravity, if any.
    pub gravity: Option<GravityPlan>,
    /// External accelerations, if any.
    pub external: Option<ExternalField>,
    /// Arithmetic of the passes and of gravity.
    pub precision: Precision,
    /// Skin of the lists, as a fraction of the supports; 0 builds one in every step.
    pub skin: f64,
    /// How pairs are found.
    pub method: Method,
}

/// A gas on a device.
#[derive(Debug)]
pub struct Gas {
    device: Device,
    /// The particles.
    pub columns: Columns,
    /// The box; its open faces follow the particles.
    pub bx: SimulationBox,
    /// The passes.
    pub hydrodynamics: Hydrodynamics,
    neighborhood: Neighborhood,
    exchange: Exchange,
    gravity: Option<Gravity>,
    net_forces: NetForces,
    external: Option<ExternalField>,
    /// Total mass over all ranks.
    mass: f64,
    alpha_max: f64,
}

impl Gas {
    /// Uploads the owned particles. Evaluates no forces. Collective.
    ///
    /// # Errors
    /// Those of the device; kernels that do not compile.
    pub fn new(
        exchange: &Exchange,
        settings: &Settings,
        bx: &SimulationBox,
        particles: &Particles,
    ) -> Result<Self> {
        let mass = particles.mass(exchange.comm());
        let device = exchange.device();
        // without fields that a step recomputes, and without the work, which is for load balancing on
        // processors
        let mut fields = particles.fields_of(Role::State);
        fields.retain(|&field| field != Field::Work);
        let columns = Columns::upload(device, particles, &fields)?;
        let gravity = settings.gravity.as_ref().map(|plan| Gravity::new(device, plan, settings.precision));
        let mut hydrodynamics =
            Hydrodynamics::new(exchange, &settings.sph, settings.precision, settings.method)?;
        let (free, _) = device.memory()?;
        let of_row = RETAINED_BYTES[usize::from(settings.precision == Precision::Double)];
        let of_row = of_row + list_bytes(settings.method);
        let wanted = bytes_with_halos(of_row, columns.rows(), exchange.comm());
        hydrodynamics.frugal = releases_memory(settings.method, columns.rows())
            || free.saturating_add(columns.bytes() as u64) < wanted;
        Ok(Self {
            device: device.clone(),
            columns,
            bx: *bx,
            hydrodynamics,
            neighborhood: Neighborhood::new(
                exchange,
                InteractionRange::Supports,
                settings.skin,
                settings.method,
                false,
            )?,
            exchange: exchange.clone(),
            gravity: gravity.transpose()?,
            net_forces: NetForces::new(device)?,
            external: settings.external,
            mass,
            alpha_max: settings.sph.viscosity.alpha_max,
        })
    }

    /// Number of lists built.
    pub fn builds(&self) -> u64 {
        self.neighborhood.builds()
    }

    /// Changes the method and the outer skin; the next evaluation of forces builds what it needs. Lists stay
    /// full. Collective.
    ///
    /// # Errors
    /// Those of the device, on all ranks; kernels that do not compile.
    pub fn set_neighbors(&mut self, settings: &NeighborSettings) -> Result<()> {
        let settings = NeighborSettings { symmetric: false, ..*settings };
        let set = self.hydrodynamics.set_method(settings.method);
        let set = set.and_then(|()| self.neighborhood.set(&settings));
        let set = set.and_then(|()| {
            let (free, _) = self.device.memory()?;
            let rows = self.columns.rows();
            self.hydrodynamics.frugal |=
                releases_memory(settings.method, rows) || free < list_bytes(settings.method) * rows as u64;
            Ok(())
        });
        self.exchange.comm().agree(set)
    }

    /// How pairs are found.
    pub fn neighbors(&self) -> NeighborSettings {
        self.neighborhood.settings()
    }

    /// Whether lists of particles did not suffice at the last build, on any rank.
    pub fn fell_back(&self) -> bool {
        self.neighborhood.fell_back()
    }

    /// Allocated bytes of lists or grids in use, beside particles, packed rows and sums.
    pub fn neighbor_bytes(&self) -> usize {
        self.neighborhood.list_bytes() + self.hydrodynamics.grid_bytes()
    }

    /// Owners and halos of the particles.
    pub fn domain(&self) -> &Domain {
        &self.neighborhood.domain
    }

    /// Statistics of the smoothing-length searches so far.
    pub fn smoothing(&self) -> SmoothingStatistics {
        self.hydrodynamics.smoothing
    }

    /// Forces a list build in the next force evaluation.
    pub fn invalidate(&mut self) {
        self.neighborhood.invalidate();
    }

    /// Evaluates the forces at the current positions and (predicted) velocities; `dt` is the time since the
    /// last evaluation. Collective.
    ///
    /// # Errors
    /// [`Error::State`] with step 0: positions or rates that are not finite, a periodic box too small for the
    /// supports; those of the device.
    pub fn evaluate(&mut self, dt: f64, clock: &mut Clock) -> Result<()> {
        self.forces(dt, clock)?;
        self.check_rates()
    }

    /// Evaluates the forces without checking them.
    fn forces(&mut self, dt: f64, clock: &mut Clock) -> Result<()> {
        self.sync(clock)?;
        let mut gas = GasOnDevice {
            hydrodynamics: &mut self.hydrodynamics,
            bx: &self.bx,
            neighborhood: &mut self.neighborhood,
            columns: &mut self.columns,
            clock,
            supports: None,
        };
        sph::find_smoothing_lengths(&mut gas)?;
        sph::evaluate_passes(&mut gas, dt)?;
        self.attract(clock)
    }

    /// Waits for the forces, and checks that the rates are finite on all ranks. Collective.
    fn check_rates(&self) -> Result<()> {
        let checked = self.check_own_rates();
        self.exchange.comm().agree(checked)
    }

    /// Updates owners, order, halos and list, or only the halos if the list is valid.
    fn sync(&mut self, clock: &mut Clock) -> Result<()> {
        if self.neighborhood.is_valid(&self.bx, &self.columns)? {
            let changed = self.columns.fields_of_halos();
            self.neighborhood.domain.refresh(&mut self.columns, &changed)?;
            clock.lap("neighbors");
            return Ok(());
        }
        // the passes recompute these fields: free their memory until then
        self.columns.remove(&self.fields_of(Role::Derived));
        self.bx = self.neighborhood.order(&self.bx, &mut self.columns)?;
        if self.hydrodynamics.frugal {
            self.neighborhood.domain.release()?;
        }
        clock.lap("domain");
        self.neighborhood.build(&self.bx, &mut self.columns)?;
        clock.lap("neighbors");
        Ok(())
    }

    /// Adds gravity and the external field to the accelerations.
    fn attract(&mut self, clock: &mut Clock) -> Result<()> {
        if let Some(gravity) = &mut self.gravity {
            let (exchange, bx, mass) = (&self.exchange, &self.bx, self.mass);
            let attract = |columns: &mut Columns| gravity.attract(exchange, columns, bx, mass);
            without_net_force(&mut self.net_forces, exchange.comm(), &mut self.columns, bx, false, attract)?;
            clock.lap("gravity");
        }
        if let Some(field) = &self.external {
            external::accelerate(field, &self.columns)?;
            clock.lap("external");
        }
        Ok(())
    }

    /// Performs a step of length `dt`, or reverts it on an error. Collective.
    ///
    /// # Errors
    /// Those of [`steps::leapfrog_step`].
    pub fn advance(&mut self, dt: f64, clock: &mut Clock) -> Result<()> {
        steps::leapfrog_step(&mut Stepping { gas: self, clock }, dt)
    }

    fn rename(&mut self, from: Field, to: Field) {
        if let Some(columns) = self.columns.take(from) {
            self.columns.put(to, columns);
        }
    }

    /// Copies the state through host memory.
    fn copy(&self) -> Result<Columns> {
        let state = self.fields_of(Role::State);
        let mut host = Particles::new(&[], 0);
        self.columns.download(&mut host, &state)?;
        Columns::upload(&self.device, &host, &state)
    }

    fn fields_of(&self, role: Role) -> Vec<Field> {
        self.columns.fields().filter(|field| field.role() == role).collect()
    }

    /// Time-step criteria of this rank's particles in the current state, in the order Courant, acceleration,
    /// expansion, energy.
    ///
    /// # Errors
    /// Those of the device.
    pub fn time_step_criteria(&self, plan: &TimeStepPlan, softening: f64) -> Result<[f64; 4]> {
        let column = |field| self.columns.has(field).then(|| self.columns.scalar(field));
        let gas = GasRates {
            length: self.columns.scalar(Field::SmoothingLength),
            signal: column(Field::SignalSpeed),
            sound: column(Field::SoundSpeed),
            divergence: self.columns.scalar(Field::VelocityDivergence),
            energy: self.columns.scalar(Field::InternalEnergy),
            rate: self.columns.scalar(Field::InternalEnergyRate),
        };
        let rows = self.columns.owned();
        let acceleration = self.columns.vector(Field::Acceleration);
        time_step::criteria(&self.device, plan, softening, acceleration, Some(&gas), rows)
    }

    /// Returns an error that names the first particle of this rank with a rate that is not finite.
    fn check_own_rates(&self) -> Result<()> {
        let fields = [Field::Acceleration, Field::InternalEnergyRate, Field::Density, Field::SmoothingLength];
        let columns = self.columns.all(&fields);
        let found = values::first_not_finite(&self.device, &columns, self.columns.owned())?;
        let names = fields.iter().flat_map(|&field| (0..field.components()).map(move |_| field));
        match found
            .into_iter()
            .zip(names)
            .zip(columns)
            .find_map(|((row, field), column)| Some((row?, field, column)))
        {
            Some((row, field, column)) => {
                let mut value = [0.0];
                column.download_to(row, &mut value)?;
                Err(self.not_finite(field, value[0], row)?)
            }
            None => Ok(()),
        }
    }

    fn not_finite(&self, field: Field, value: f64, row: usize) -> Result<Error> {
        let mut host = Particles::new(&[Field::Position], 0);
        self.columns.download(&mut host, &[Field::Position])?;
        Ok(neighbors::not_finite(&self.bx, &host, field, value, row))
    }
}

/// State of a step: the backend of [`steps::leapfrog_step`].
struct Stepping<'a> {
    gas: &'a mut Gas,
    clock: &'a mut Clock,
}

impl Leapfrog for Stepping<'_> {
    type Saved = Columns;

    fn comm(&self) -> &Communicator {
        self.gas.exchange.comm()
    }

    fn can_undo(&self, dt: f64) -> Result<bool> {
        let Gas { device, columns, bx, .. } = &*self.gas;
        let reach = bx.lengths().max();
        Ok(leapfrog::lost(device, &Moving::of(columns), &heated(columns), columns.owned(), dt, reach)? == 0)
    }

    fn save(&self) -> Result<Columns> {
        self.gas.copy()
    }

    fn restore(&mut self, saved: Columns) {
        self.gas.invalidate();
        self.gas.columns = saved;
    }

    fn kick_and_drift(&mut self, dt: f64) -> Result<()> {
        let Gas { device, columns, .. } = &*self.gas;
        leapfrog::kick_and_drift(device, &Moving::of(columns), &heated(columns), columns.owned(), dt)?;
        for [from, to] in PREDICTED {
            self.gas.rename(from, to);
        }
        self.clock.lap("drift");
        Ok(())
    }

    fn evaluate(&mut self, dt: f64) -> Result<()> {
        self.gas.forces(dt, self.clock)
    }

    fn outcome(&mut self) -> Result<()> {
        self.gas.check_rates()
    }

    fn kick(&mut self, dt: f64) -> Result<()> {
        let Gas { device, columns, .. } = &mut *self.gas;
        let (old, rows) = (old_rates(columns), columns.owned());
        leapfrog::kick(device, &Moving::of(columns), &heated(columns), &old, rows, dt)?;
        columns.remove(&PREDICTED.map(|[_, old]| old));
        self.clock.lap("kick");
        Ok(())
    }

    fn undo(&mut self, dt: f64) -> Result<()> {
        self.gas.invalidate();
        let Gas { device, columns, alpha_max, .. } = &mut *self.gas;
        columns.remove(&PREDICTED.map(|[new, _]| new));
        let rows = columns.owned();
        let (position, velocity) = (columns.vector(Field::Position), columns.vector(Field::Velocity));
        let energy = columns.scalar(Field::InternalEnergy);
        leapfrog::undo(device, position, velocity, energy, &old_rates(columns), rows.clone(), dt)?;
        let guesses = sph::reset_values(*alpha_max).into_iter();
        for (field, guess) in guesses.filter(|(field, _)| columns.has(*field)) {
            values::mend(device, columns.scalar(field), guess, rows.clone())?;
        }
        for [from, to] in PREDICTED {
            self.gas.rename(to, from);
        }
        Ok(())
    }
}

/// Whether passes release their memory even if there is enough: lists of particles of large systems are long,
/// and their memory is then what others release.
fn releases_memory(method: Method, rows: usize) -> bool {
    const MANY_ROWS: usize = 1 << 20;
    method == Method::Particles && rows >= MANY_ROWS
}

/// Whether the free memory of a device suffices for lists of particles over `rows` owned rows of a gas.
///
/// # Errors
/// Those of the device.
pub fn particle_lists_fit(
    device: &Device,
    comm: &Communicator,
    rows: usize,
    precision: Precision,
) -> Result<bool> {
    let (free, _) = device.memory()?;
    let frugal = FRUGAL_BYTES[usize::from(precision == Precision::Double)];
    Ok(free >= bytes_with_halos(frugal + PARTICLE_LIST_BYTES, rows, comm))
}

/// Bytes of these owned rows, and of their halo rows on several ranks.
fn bytes_with_halos(of_row: u64, rows: usize, comm: &Communicator) -> u64 {
    let own = of_row * rows as u64;
    if comm.size() > 1 { own / 8 * HALO_EIGHTHS } else { own }
}

/// Bytes per row that a method takes beside [`RETAINED_BYTES`], which contain lists of clusters.
fn list_bytes(method: Method) -> u64 {
    match method {
        Method::Particles => PARTICLE_LIST_BYTES,
        Method::Clusters | Method::Cells | Method::Search => 0,
    }
}

/// Rates at the start of the step.
fn old_rates(columns: &Columns) -> Predicted<'_> {
    Predicted {
        acceleration: columns.vector(Field::KickAcceleration),
        rate: columns.scalar(Field::KickEnergyRate),
    }
}

/// Rate fields, and the fields that hold the rates of the step's start during a step.
const PREDICTED: [[Field; 2]; 2] =
    [[Field::Acceleration, Field::KickAcceleration], [Field::InternalEnergyRate, Field::KickEnergyRate]];

fn heated(columns: &Columns) -> Heated<'_> {
    Heated {
        energy: columns.scalar(Field::InternalEnergy),
        rate: columns.scalar(Field::InternalEnergyRate),
        length: columns.scalar(Field::SmoothingLength),
        divergence: columns.scalar(Field::VelocityDivergence),
    }
}
