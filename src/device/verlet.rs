//! Molecules and stars on a device: pair forces, gravity and the operations of a velocity Verlet step
//! ([`crate::motion::steps::Verlet`]), the counterpart of [`crate::molecules`], [`crate::far`] and
//! [`crate::motion::verlet`] on processors.

use super::columns::Columns;
use super::domain::{Arriving, Domain};
use super::exchange::Exchange;
use super::gravity::Gravity;
use super::motion::{DriftResult, Motion, Moving};
use super::neighborhood::Neighborhood;
use super::sweep::{Pass, Sweep, SweepMemory};
use super::{Device, values};
use crate::clock::Clock;
use crate::comm::Communicator;
use crate::far::GravityPlan;
use crate::molecules::{LawVisitor, Molecules};
use crate::motion::bulk_motion::BulkMotion;
use crate::motion::steps::{self, FirstHalf, Reverted};
use crate::motion::thermostat::Thermostat;
use crate::motion::verlet::{self, MAX_DISPLACEMENT};
use crate::neighborhood::InteractionRange;
use crate::neighbors;
use crate::pair::{Energies, Forces, PairLaw, Precision};
use crate::particles::{Field, Particles};
use crate::space::{SimulationBox, Vec3d};
use crate::{Error, Result};

/// Settings of a run.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Gravity, if any.
    pub gravity: Option<GravityPlan>,
    /// Arithmetic of the forces.
    pub precision: Precision,
    /// Skin of the lists, as a fraction of the cutoff.
    pub skin: f64,
    /// Whether lists hold each pair once (half lists).
    pub symmetric: bool,
}

/// Molecules or stars on a device.
#[derive(Debug)]
pub struct Verlet {
    /// The particles.
    pub columns: Columns,
    /// The box; its open faces follow the particles.
    pub bx: SimulationBox,
    neighborhood: Neighborhood,
    exchange: Exchange,
    memory: SweepMemory,
    motion: Motion,
    /// Pair forces, if any.
    pairs: Option<Pairs>,
    gravity: Option<Gravity>,
    /// Total mass over all ranks.
    mass: f64,
    /// Bound of the displacements on all ranks since the last check of the list.
    drift: f64,
}

/// Kernels of the pair law.
#[derive(Debug)]
struct Pairs {
    cutoff: f64,
    forces: Sweep,
    /// In double precision: rare, and printed with many digits.
    energies: Sweep,
    inputs: Vec<Field>,
}

/// Compiles the law that it visits.
struct Compile<'a> {
    device: &'a Device,
    settings: &'a Settings,
    cutoff: f64,
    pairs: Option<Result<Pairs>>,
}

impl LawVisitor for Compile<'_> {
    fn visit<L: PairLaw>(&mut self, law: &L) {
        let Settings { precision, symmetric, .. } = *self.settings;
        let compiled = || {
            Ok(Pairs {
                cutoff: self.cutoff,
                forces: Sweep::new(self.device, &Forces(*law), precision, symmetric)?,
                energies: Sweep::new(self.device, &Energies(*law), Precision::Double, symmetric)?,
                inputs: L::INPUTS.to_vec(),
            })
        };
        self.pairs = Some(compiled());
    }
}

impl Verlet {
    /// Uploads the owned particles and compiles the pair law of `molecules`, if any. Evaluates no forces.
    /// Collective.
    ///
    /// # Errors
    /// Those of the device; kernels that do not compile.
    pub fn new(
        exchange: &Exchange,
        molecules: Option<&Molecules>,
        bx: &SimulationBox,
        particles: &Particles,
        settings: &Settings,
    ) -> Result<Self> {
        let device = exchange.device();
        let mass = particles.mass(exchange.comm());
        let cutoff = molecules.map(Molecules::cutoff);
        let mut compile = Compile { device, settings, cutoff: cutoff.unwrap_or(0.0), pairs: None };
        if let Some(molecules) = molecules {
            molecules.visit(&mut compile);
        }
        let gravity = settings.gravity.as_ref().map(|plan| Gravity::new(device, plan, settings.precision));
        Ok(Self {
            columns: upload(device, molecules, particles)?,
            bx: *bx,
            neighborhood: Neighborhood::new(
                exchange,
                cutoff.map_or(InteractionRange::Nowhere, InteractionRange::Cutoff),
                settings.skin,
                settings.symmetric,
            )?,
            exchange: exchange.clone(),
            memory: SweepMemory::new(device)?,
            motion: Motion::new(device)?,
            pairs: compile.pairs.transpose()?,
            gravity: gravity.transpose()?,
            mass,
            drift: f64::INFINITY,
        })
    }

    /// Number of lists built.
    pub fn builds(&self) -> u64 {
        self.neighborhood.builds()
    }

    /// Owners and halos of the particles.
    pub fn domain(&self) -> &Domain {
        &self.neighborhood.domain
    }

    /// Forces a list build in the next force evaluation.
    pub fn invalidate(&mut self) {
        self.neighborhood.invalidate();
    }

    /// Evaluates forces and accelerations at the current positions. Collective.
    ///
    /// # Errors
    /// [`Error::State`] with step 0 for accelerations or positions that are not finite and for a periodic box
    /// too small; those of the device.
    pub fn evaluate(&mut self, clock: &mut Clock) -> Result<()> {
        self.forces(0.0, clock)
    }

    /// Performs step number `step`, of length `dt`. Returns the heat added to the particles of all ranks.
    /// Collective.
    ///
    /// # Errors
    /// Those of [`steps::verlet_step`].
    pub fn advance(
        &mut self,
        thermostat: Option<&Thermostat>,
        remove_drift: bool,
        dt: f64,
        step: u64,
        clock: &mut Clock,
    ) -> Result<f64> {
        let mut stepping = Stepping { verlet: self, thermostat, step, clock };
        steps::verlet_step(&mut stepping, thermostat, remove_drift, dt, step)
    }

    /// Reverts a half kick of all rows, or of all but the skipped ones.
    fn kick_back(&self, dt: f64, but_skipped: bool) -> Result<()> {
        self.motion.kick(&Moving::of(&self.columns), self.columns.owned(), -dt, but_skipped)
    }

    /// Updates the list and evaluates forces and accelerations, including the second half kick of a step of
    /// length
    /// `dt` (0: none).
    fn forces(&mut self, dt: f64, clock: &mut Clock) -> Result<()> {
        let arriving = self.sync()?;
        clock.lap("neighbors");
        let with_gravity = self.gravity.is_some();
        let mut first = None;
        if self.pairs.is_some() {
            self.sweep(true, arriving)?;
            let (rows, columns) = (self.columns.owned(), &self.columns);
            let force = columns.vector(Field::Force);
            let kick = if with_gravity { 0.0 } else { dt };
            self.motion.accelerate(force, columns.scalar(Field::Mass), &Moving::of(columns), rows, kick)?;
            first = self.motion.first_not_finite()?;
            clock.lap("pair forces");
        }
        if with_gravity {
            first = self.attract(dt)?;
            clock.lap("gravity");
        }
        let checked = match first {
            Some(row) => Err(self.not_finite(row)?),
            None => Ok(()),
        };
        self.exchange.comm().agree(checked)
    }

    /// Updates owners, order and list. If the list is still valid, only begins the exchange of halo
    /// positions.
    fn sync(&mut self) -> Result<Arriving> {
        let drift = std::mem::take(&mut self.drift);
        if self.neighborhood.serve(&self.bx, &self.columns, Some(drift))? {
            return self.neighborhood.domain.begin_refresh(&self.columns, &[Field::Position]);
        }
        self.bx = self.neighborhood.order(&self.bx, &mut self.columns)?;
        if self.pairs.is_none() {
            return Ok(Arriving::default());
        }
        self.neighborhood.build(&self.bx, &mut self.columns)?;
        let parameters = [Field::HalfSigma, Field::RootEpsilon].into_iter();
        let parameters: Vec<Field> = parameters.filter(|&field| self.columns.has(field)).collect();
        self.neighborhood.domain.refresh(&mut self.columns, &parameters)?;
        Ok(Arriving::default())
    }

    /// Adds gravity to the accelerations of the pairs, then does the second half kick, except in rows whose
    /// acceleration is not finite. Returns the first such row.
    fn attract(&mut self, dt: f64) -> Result<Option<usize>> {
        let Some(gravity) = &mut self.gravity else { return Ok(None) };
        let rows = self.columns.owned();
        if self.pairs.is_none() {
            for column in self.columns.vector(Field::Acceleration) {
                values::fill(self.columns.device(), column, 0.0, rows.clone())?;
            }
        }
        gravity.attract(&self.exchange, &mut self.columns, &self.bx, self.mass)?;
        let all = Moving::of(&self.columns);
        self.motion.kick(&all, rows.clone(), dt, false)?;
        let found = values::first_not_finite(self.columns.device(), &all.acceleration, rows)?;
        Ok(found.into_iter().flatten().min())
    }

    /// Evaluates energies and virials at the current positions, with the list of the last force evaluation.
    ///
    /// # Errors
    /// Those of the device.
    pub fn energies(&mut self) -> Result<()> {
        self.sweep(false, Arriving::default())
    }

    /// Sweeps the pairs for forces, or for energies and virials. Interior records overlap a pending halo
    /// exchange.
    fn sweep(&mut self, forces: bool, arriving: Arriving) -> Result<()> {
        let domain = &self.neighborhood.domain;
        let Some(pairs) = &self.pairs else { return domain.finish_refresh(arriving) };
        let (rows, columns) = (self.columns.rows(), &self.columns);
        let owned = columns.owned();
        let pass = Pass {
            rows,
            owned: &owned,
            position: columns.vector(Field::Position),
            id: (rows > owned.len()).then_some(&columns.id),
            radius: None,
            cutoff: pairs.cutoff,
            bx: &self.bx,
            active: None,
        };
        let (law, outputs) = match forces {
            true => (&pairs.forces, columns.all(&[Field::Force])),
            false => (&pairs.energies, columns.all(&[Field::PairEnergy, Field::Virial])),
        };
        let (memory, records, inputs) =
            (&mut self.memory, &self.neighborhood.records, columns.all(&pairs.inputs));
        if arriving.is_nothing() {
            return law.run(memory, &pass, records, &inputs, &outputs);
        }
        law.sums_arriving(memory, &pass, records, &inputs, || domain.finish_refresh(arriving))?;
        law.finish(memory, &pass, &outputs)
    }

    /// Downloads identity, velocity and acceleration of a particle, for errors.
    fn particle(&self, row: usize) -> Result<(u64, [Vec3d; 2])> {
        let mut id = [0];
        self.columns.id.download_to(row, &mut id)?;
        let mut values = [Vec3d::zeros(); 2];
        let fields = [Field::Velocity, Field::Acceleration];
        for (vector, field) in values.iter_mut().zip(fields) {
            for (c, value) in vector.iter_mut().enumerate() {
                self.columns.component(field, c).download_to(row, std::slice::from_mut(value))?;
            }
        }
        Ok((id[0], values))
    }

    fn moved_too_far(&self, row: usize, dt: f64) -> Result<Error> {
        let (id, [velocity, acceleration]) = self.particle(row)?;
        Ok(verlet::moved_too_far(id, velocity, acceleration, dt))
    }

    fn not_finite(&self, row: usize) -> Result<Error> {
        let mut host = Particles::new(&[Field::Position], 0);
        self.columns.download(&mut host, &[Field::Position])?;
        let (_, [_, acceleration]) = self.particle(row)?;
        let value = acceleration.iter().copied().find(|value| !value.is_finite()).unwrap_or(f64::NAN);
        Ok(neighbors::not_finite(&self.bx, &host, Field::Acceleration, value, row))
    }
}

/// State of a step: the backend of [`steps::verlet_step`].
struct Stepping<'a> {
    verlet: &'a mut Verlet,
    thermostat: Option<&'a Thermostat>,
    step: u64,
    clock: &'a mut Clock,
}

impl steps::Verlet for Stepping<'_> {
    fn comm(&self) -> &Communicator {
        self.verlet.exchange.comm()
    }

    fn kick_and_drift(&mut self, dt: f64) -> Result<FirstHalf> {
        let Verlet { columns, motion, bx, .. } = &mut *self.verlet;
        let (rows, farthest) = (columns.owned(), MAX_DISPLACEMENT * bx.lengths().max());
        let all = Moving::of(columns);
        let DriftResult { refused, farthest: displacement, heat } = match self.thermostat {
            Some(Thermostat::Langevin(langevin)) => {
                let (mass, id) = (columns.scalar(Field::Mass), &columns.id);
                motion.langevin_kick_and_drift(langevin, &all, mass, id, rows, dt, self.step, farthest)?;
                motion.drifted_heated()?
            }
            Some(Thermostat::VelocityRescaling(_)) | None => {
                motion.kick_and_drift(&all, rows, dt, farthest)?;
                motion.drifted(dt)?
            }
        };
        Ok(FirstHalf { skipped: u64::from(refused), displacement, heat })
    }

    fn record_displacement(&mut self, largest: f64) {
        self.verlet.drift += largest;
        self.clock.lap("drift");
    }

    fn moved_too_far(&self, dt: f64) -> Result<Error> {
        let skipped = self.verlet.motion.left_rows(self.verlet.columns.owned())?;
        self.verlet.moved_too_far(skipped.first().copied().unwrap_or(0), dt)
    }

    fn evaluate(&mut self, dt: f64) -> Result<()> {
        self.verlet.forces(dt, self.clock)
    }

    fn finish(&mut self, _: f64) {
        // the force evaluation did the second half kick
    }

    fn revert_second_half(&mut self, dt: f64) -> Result<()> {
        // rows with finite forces were kicked
        self.verlet.kick_back(dt, false)?;
        self.verlet.neighborhood.invalidate();
        Ok(())
    }

    fn revert_drift(&mut self, dt: f64, rows: Reverted) -> Result<()> {
        let Verlet { columns, motion, .. } = &mut *self.verlet;
        let (owned, all, but_skipped) = (columns.owned(), Moving::of(columns), rows == Reverted::Moved);
        match self.thermostat {
            Some(Thermostat::Langevin(langevin)) => {
                let (mass, id) = (columns.scalar(Field::Mass), &columns.id);
                motion.langevin_drift_back(langevin, &all, mass, id, owned, dt, self.step, but_skipped)
            }
            Some(Thermostat::VelocityRescaling(_)) | None => motion.drift_back(&all, owned, dt, but_skipped),
        }
    }

    fn revert_kick(&mut self, dt: f64, rows: Reverted) -> Result<()> {
        self.verlet.kick_back(dt, rows == Reverted::Moved)
    }

    fn bulk_motion(&mut self) -> Result<BulkMotion> {
        let Verlet { columns, motion, exchange, .. } = &mut *self.verlet;
        let (mass, velocity) = (columns.scalar(Field::Mass), columns.vector(Field::Velocity));
        let own = motion.whole(velocity, mass, columns.owned())?;
        Ok(own.over_ranks(exchange.comm()))
    }

    fn scale_velocities(&mut self, factor: f64, offset: Vec3d) -> Result<()> {
        let columns = &self.verlet.columns;
        self.verlet.motion.scale(columns.vector(Field::Velocity), columns.owned(), factor, offset)
    }
}

/// Uploads the particles, with the columns that the forces read and write.
fn upload(device: &Device, molecules: Option<&Molecules>, particles: &Particles) -> Result<Columns> {
    let wanted: &[Field] = match molecules {
        Some(_) => &[Field::Force, Field::PairEnergy, Field::Virial],
        None => &[],
    };
    let fields: Vec<Field> =
        particles.fields().iter().chain(wanted).copied().filter(|&f| f != Field::Work).collect();
    let mut columns = Columns::upload(device, particles, &fields)?;
    for (k, field) in [Field::HalfSigma, Field::RootEpsilon].into_iter().enumerate() {
        let kinds = molecules.map_or(&[][..], |molecules| molecules.mixed());
        let kind = |row: usize| match kinds.len() {
            1 => 0,
            _ => particles.scalar(Field::Species)[row] as usize,
        };
        if !kinds.is_empty() {
            let values: Vec<f64> = particles.owned().map(|row| kinds[kind(row)][k]).collect();
            columns.put(field, vec![super::Buffer::from_host(device, &values)?]);
        }
    }
    Ok(columns)
}
