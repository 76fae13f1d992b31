//! A gas whose particles live on a device: lists, smoothing lengths, passes, gravity and the leapfrog, as
//! [`crate::step`] has them on processors.

use super::Device;
use super::columns::Columns;
use super::domain::Domain;
use super::exchange::Exchange;
use super::gravity::Gravity;
use super::hydrodynamics::{Hydrodynamics, Stage};
use super::leapfrog::{self, Heated, Predicted};
use super::motion::Moving;
use super::neighborhood::Neighborhood;
use super::smoothing::Searches;
use super::time_step::{self, GasRates};
use super::values;
use crate::clock::Clock;
use crate::deck::plan::{SphPlan, TimeStepPlan};
use crate::far::GravityPlan;
use crate::neighbors::{self, Reach};
use crate::pair::Precision;
use crate::particles::{Field, Particles, Role};
use crate::space::SimulationBox;
use crate::sph::{self, Smoothing};
use crate::{Error, Result};

/// Bytes a row that a run takes which keeps all its memory between passes, in mixed and in double precision; and by how
/// much, over 8, rows of others may add to them.
const GENEROUS: [u64; 2] = [570, 740];
const WITH_OTHERS: u64 = 10;

/// What is wanted of a run of a gas.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The gas.
    pub sph: SphPlan,
    /// Gravity, if there is any.
    pub gravity: Option<GravityPlan>,
    /// Arithmetic of the passes and of gravity.
    pub precision: Precision,
    /// By what fraction of the supports lists are wider; 0 builds one in every step.
    pub skin: f64,
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
    /// The mass of the particles of all ranks.
    mass: f64,
    alpha_max: f64,
}

impl Gas {
    /// The owned particles brought to the device. Forces are not evaluated yet. Collective.
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
        // what a step makes anew is not brought; nor is the work, which balances ranks
        let mut fields = particles.fields_of(Role::State);
        fields.retain(|&field| field != Field::Work);
        let columns = Columns::upload(device, particles, &fields)?;
        let gravity = settings.gravity.as_ref().map(|plan| Gravity::new(device, plan, settings.precision));
        let mut hydrodynamics = Hydrodynamics::new(exchange, &settings.sph, settings.precision)?;
        let (free, _) = device.memory()?;
        let wanted = GENEROUS[usize::from(settings.precision == Precision::Double)] * columns.rows() as u64;
        let wanted = if exchange.comm().size() > 1 { wanted / 8 * WITH_OTHERS } else { wanted };
        hydrodynamics.frugal = free.saturating_add(columns.bytes() as u64) < wanted;
        Ok(Self {
            device: device.clone(),
            columns,
            bx: *bx,
            hydrodynamics,
            neighborhood: Neighborhood::new(exchange, Reach::Supports, settings.skin, false)?,
            exchange: exchange.clone(),
            gravity: gravity.transpose()?,
            mass,
            alpha_max: settings.sph.viscosity.alpha_max,
        })
    }

    /// Lists built so far.
    pub fn builds(&self) -> u64 {
        self.neighborhood.builds()
    }

    /// Who owns and who holds which particles.
    pub fn domain(&self) -> &Domain {
        &self.neighborhood.domain
    }

    /// How the smoothing lengths were found so far.
    pub fn smoothing(&self) -> Smoothing {
        self.hydrodynamics.smoothing
    }

    /// The next forces build a list.
    pub fn invalidate(&mut self) {
        self.neighborhood.invalidate();
    }

    /// The forces at the present positions and (predicted) velocities; `dt` is the time since the last ones.
    ///
    /// # Errors
    /// [`Error::State`] with step 0: positions or rates that are not finite, a periodic box too small for the supports;
    /// those of the device.
    pub fn evaluate(&mut self, dt: f64, clock: &mut Clock) -> Result<()> {
        self.sync(clock)?;
        self.smooth(clock)?;
        let mut stage =
            Stage { bx: &self.bx, neighborhood: &mut self.neighborhood, columns: &mut self.columns, clock };
        self.hydrodynamics.passes(&mut stage, dt)?;
        self.attract(clock)?;
        let checked = self.check_rates();
        self.exchange.comm().agree(checked)
    }

    /// Order and list up to date.
    fn sync(&mut self, clock: &mut Clock) -> Result<()> {
        if self.neighborhood.serve(&self.bx, &self.columns, None)? {
            let changed = self.columns.fields_of_halos();
            self.neighborhood.domain.refresh(&mut self.columns, &changed)?;
            clock.lap("neighbors");
            return Ok(());
        }
        // made anew by the passes: until then others can have the memory
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

    /// Find the smoothing lengths, in new lists for as long as one outgrows the present one.
    fn smooth(&mut self, clock: &mut Clock) -> Result<()> {
        let largest = self.neighborhood.largest_smoothing_length(&self.bx);
        let rows = self.columns.owned().len();
        let mut searches = Searches::new(&self.device, rows, largest)?;
        let mut searching = rows as u64;
        for _ in 0..sph::MOST_ROUNDS {
            let mut stage = Stage {
                bx: &self.bx,
                neighborhood: &mut self.neighborhood,
                columns: &mut self.columns,
                clock,
            };
            let unconverged = self.hydrodynamics.smoothing.unconverged;
            let outgrown = self.hydrodynamics.smooth(&mut stage, &mut searches, searching)?;
            if self.hydrodynamics.smoothing.unconverged > unconverged {
                let places = self.hydrodynamics.check_places(&self.bx, &self.columns);
                self.exchange.comm().agree(places)?;
            }
            clock.lap("smoothing lengths");
            let Some(of_this_rank) = outgrown else { return Ok(()) };
            searching = of_this_rank;
            searches.restart()?;
            self.neighborhood.build(&self.bx, &mut self.columns)?;
            clock.lap("neighbors");
        }
        Err(sph::outgrew_all())
    }

    /// Gravity, added to the accelerations.
    fn attract(&mut self, clock: &mut Clock) -> Result<()> {
        let Some(gravity) = &mut self.gravity else { return Ok(()) };
        gravity.attract(&self.exchange, &mut self.columns, &self.bx, self.mass)?;
        clock.lap("gravity");
        Ok(())
    }

    /// One step of length `dt`, or none: on an error of the particles these are back at the start of the step.
    ///
    /// # Errors
    /// Those of [`Self::evaluate`].
    pub fn advance(&mut self, dt: f64, clock: &mut Clock) -> Result<()> {
        let rows = self.columns.owned();
        let reach = self.bx.lengths().max();
        let (all, gas) = (moving(&self.columns), heated(&self.columns));
        let mut lost = [u64::from(leapfrog::lost(&self.device, &all, &gas, rows.clone(), dt, reach)? > 0)];
        // all ranks alike: the forces may move particles to other ranks before they fail
        self.exchange.comm().all_max(&mut lost);
        let before = if lost[0] > 0 { Some(self.copy()?) } else { None };
        leapfrog::kick_and_drift(&self.device, &all, &gas, rows.clone(), dt)?;
        for [from, to] in PREDICTED {
            self.rename(from, to);
        }
        clock.lap("drift");
        if let Err(error) = self.evaluate(dt, clock) {
            if matches!(error, Error::State { .. } | Error::Elsewhere) {
                self.take_back(dt, before)?;
            }
            return Err(error);
        }
        let old = Predicted {
            acceleration: self.columns.vector(Field::KickAcceleration),
            rate: self.columns.scalar(Field::KickEnergyRate),
        };
        let (all, gas) = (moving(&self.columns), heated(&self.columns));
        leapfrog::kick(&self.device, &all, &gas, &old, self.columns.owned(), dt)?;
        self.columns.remove(&PREDICTED.map(|[_, old]| old));
        clock.lap("kick");
        Ok(())
    }

    /// A step of length `dt` whose forces have failed.
    fn take_back(&mut self, dt: f64, before: Option<Columns>) -> Result<()> {
        self.invalidate();
        if let Some(before) = before {
            self.columns = before;
            return Ok(());
        }
        self.columns.remove(&PREDICTED.map(|[new, _]| new));
        let rows = self.columns.owned();
        let old = Predicted {
            acceleration: self.columns.vector(Field::KickAcceleration),
            rate: self.columns.scalar(Field::KickEnergyRate),
        };
        let (position, velocity) =
            (self.columns.vector(Field::Position), self.columns.vector(Field::Velocity));
        let energy = self.columns.scalar(Field::InternalEnergy);
        leapfrog::undo(&self.device, position, velocity, energy, &old, rows.clone(), dt)?;
        for [from, to] in PREDICTED {
            self.rename(to, from);
        }
        // what failed forces have spoiled of the state that a next step finds anew from a first guess
        let guesses = sph::first_guesses(self.alpha_max).into_iter();
        for (field, guess) in guesses.filter(|(field, _)| self.columns.has(*field)) {
            values::mend(&self.device, self.columns.scalar(field), guess, rows.clone())?;
        }
        Ok(())
    }

    fn rename(&mut self, from: Field, to: Field) {
        if let Some(columns) = self.columns.take(from) {
            self.columns.put(to, columns);
        }
    }

    /// The state as it is, in other memory.
    fn copy(&self) -> Result<Columns> {
        let state = self.fields_of(Role::State);
        let mut host = Particles::new(&[], 0);
        self.columns.download(&mut host, &state)?;
        Columns::upload(&self.device, &host, &state)
    }

    fn fields_of(&self, role: Role) -> Vec<Field> {
        self.columns.fields().filter(|field| field.role() == role).collect()
    }

    /// The criteria of the time step at the present state of this rank's particles, in the order Courant, acceleration,
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

    /// An error that names the first particle with a rate that is not a number.
    fn check_rates(&self) -> Result<()> {
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

/// The rates of a step's start, and what they are while it runs.
const PREDICTED: [[Field; 2]; 2] =
    [[Field::Acceleration, Field::KickAcceleration], [Field::InternalEnergyRate, Field::KickEnergyRate]];

fn moving(columns: &Columns) -> Moving<'_> {
    Moving {
        position: columns.vector(Field::Position),
        velocity: columns.vector(Field::Velocity),
        acceleration: columns.vector(Field::Acceleration),
    }
}

fn heated(columns: &Columns) -> Heated<'_> {
    Heated {
        energy: columns.scalar(Field::InternalEnergy),
        rate: columns.scalar(Field::InternalEnergyRate),
        length: columns.scalar(Field::SmoothingLength),
        divergence: columns.scalar(Field::VelocityDivergence),
    }
}
