//! Particles on a device that velocity Verlet moves, molecules and stars: forces of pairs, gravity and the step, as
//! [`crate::molecules`], [`crate::far`] and [`crate::motion::verlet`] have them on processors.

use super::columns::Columns;
use super::domain::{Arriving, Domain};
use super::exchange::Exchange;
use super::gravity::Gravity;
use super::motion::{Drifted, Motion, Moving};
use super::neighborhood::Neighborhood;
use super::sweep::{Pass, Sweep, SweepMemory};
use super::{Device, values};
use crate::clock::Clock;
use crate::far::GravityPlan;
use crate::molecules::{LawVisitor, Molecules};
use crate::motion::thermostat::Thermostat;
use crate::motion::verlet::{self, FARTHEST};
use crate::motion::whole::Whole;
use crate::neighbors::{self, Reach};
use crate::pair::{Energies, Forces, PairLaw, Precision};
use crate::particles::{Field, Particles};
use crate::space::{SimulationBox, Vec3d};
use crate::{Error, Result};

/// What is wanted of a run.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Gravity, if there is any.
    pub gravity: Option<GravityPlan>,
    /// Arithmetic of the forces.
    pub precision: Precision,
    /// By what fraction of the cutoff lists are wider.
    pub skin: f64,
    /// Whether lists have each pair once.
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
    /// Forces of pairs, if there are any.
    pairs: Option<Pairs>,
    gravity: Option<Gravity>,
    /// The mass of the particles of all ranks.
    mass: f64,
    /// What no particle has come farther than since the list was last asked for.
    drift: f64,
}

/// The kernels of the law of all pairs.
#[derive(Debug)]
struct Pairs {
    cutoff: f64,
    forces: Sweep,
    /// In double precision: seldom, and read to many digits.
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
    /// The owned particles brought to the device, with the law of their pairs if they act by pairs. Forces are not evaluated
    /// yet. Collective.
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
                cutoff.map_or(Reach::Nowhere, Reach::Cutoff),
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

    /// Lists built so far.
    pub fn builds(&self) -> u64 {
        self.neighborhood.builds()
    }

    /// Who owns and who holds which particles.
    pub fn domain(&self) -> &Domain {
        &self.neighborhood.domain
    }

    /// The next forces build a list.
    pub fn invalidate(&mut self) {
        self.neighborhood.invalidate();
    }

    /// Forces and accelerations at the present positions.
    ///
    /// # Errors
    /// [`Error::State`] with step 0 for accelerations or positions that are not finite and for a periodic box too small;
    /// those of the device.
    pub fn evaluate(&mut self, clock: &mut Clock) -> Result<()> {
        self.forces(0.0, clock)
    }

    /// One step of length `dt`, the `step`th; returns the heat that the thermostat gave. On an error of the particles
    /// these are back at the start of the step.
    ///
    /// # Errors
    /// Those of [`Self::evaluate`], and a particle that would be thrown too far.
    pub fn advance(
        &mut self,
        thermostat: Option<&Thermostat>,
        dt: f64,
        step: u64,
        clock: &mut Clock,
    ) -> Result<f64> {
        let heat = self.first_half(thermostat, dt, step)?;
        clock.lap("drift");
        if let Err(error) = self.forces(dt, clock) {
            if matches!(error, Error::State { .. } | Error::Elsewhere) {
                // what was finite got the second kick already
                self.motion.kick(&moving(&self.columns), self.columns.owned(), -dt, false)?;
                self.drift_back(thermostat, dt, step, false)?;
                self.neighborhood.invalidate();
                self.forces(0.0, clock)?;
                self.motion.kick(&moving(&self.columns), self.columns.owned(), -dt, false)?;
            }
            return Err(error);
        }
        Ok(heat + self.after_second_half(thermostat, dt, step)?)
    }

    /// Half a kick and the drift.
    fn first_half(&mut self, thermostat: Option<&Thermostat>, dt: f64, step: u64) -> Result<f64> {
        let (rows, farthest) = (self.columns.owned(), FARTHEST * self.bx.lengths().max());
        let all = moving(&self.columns);
        let Drifted { refused, farthest: way, heat } = match thermostat {
            Some(Thermostat::Langevin(langevin)) => {
                let (mass, id) = (self.columns.scalar(Field::Mass), &self.columns.id);
                self.motion.langevin_kick_and_drift(
                    langevin,
                    &all,
                    mass,
                    id,
                    rows.clone(),
                    dt,
                    step,
                    farthest,
                )?;
                self.motion.drifted_heated()?
            }
            Some(Thermostat::VelocityRescaling(_)) | None => {
                self.motion.kick_and_drift(&all, rows.clone(), dt, farthest)?;
                self.motion.drifted(dt)?
            }
        };
        let mut sums = [refused as f64, heat];
        self.exchange.comm().all_sum(&mut sums);
        let [refused_of_all, heat] = sums;
        if refused_of_all == 0.0 {
            self.drift += way;
            return Ok(heat);
        }
        let thrown = match refused {
            0 => Ok(()),
            _ => {
                let left = self.motion.left_rows(rows.clone())?;
                Err(self.thrown(left.first().copied().unwrap_or(0), dt)?)
            }
        };
        self.drift_back(thermostat, dt, step, true)?;
        self.motion.kick(&moving(&self.columns), rows, -dt, true)?;
        self.exchange.comm().agree(thrown).and(Err(Error::Elsewhere))
    }

    fn drift_back(
        &mut self,
        thermostat: Option<&Thermostat>,
        dt: f64,
        step: u64,
        but_left: bool,
    ) -> Result<()> {
        let (rows, all) = (self.columns.owned(), moving(&self.columns));
        match thermostat {
            Some(Thermostat::Langevin(langevin)) => {
                let (mass, id) = (self.columns.scalar(Field::Mass), &self.columns.id);
                self.motion.langevin_drift_back(langevin, &all, mass, id, rows, dt, step, but_left)
            }
            Some(Thermostat::VelocityRescaling(_)) | None => self.motion.drift_back(&all, rows, dt, but_left),
        }
    }

    /// What is done with the velocities of the end of a step; returns the heat that it gave.
    fn after_second_half(&mut self, thermostat: Option<&Thermostat>, dt: f64, step: u64) -> Result<f64> {
        let Some(Thermostat::VelocityRescaling(rescaling)) = thermostat else { return Ok(0.0) };
        let whole = self.whole()?;
        let Some((factor, heat)) = rescaling.factor_and_heat(&whole, dt, step) else { return Ok(0.0) };
        let velocity = self.columns.vector(Field::Velocity);
        self.motion.scale(velocity, self.columns.owned(), factor, whole.drift() * (1.0 - factor))?;
        Ok(heat)
    }

    /// Brings the center of mass to rest; returns the kinetic energy that this takes away.
    ///
    /// # Errors
    /// Those of the device.
    pub fn remove_drift(&mut self) -> Result<f64> {
        let whole = self.whole()?;
        let velocity = self.columns.vector(Field::Velocity);
        self.motion.scale(velocity, self.columns.owned(), 1.0, -whole.drift())?;
        Ok(whole.kinetic_of_drift())
    }

    /// Mass, momentum and kinetic energy of the particles of all ranks.
    fn whole(&mut self) -> Result<Whole> {
        let (mass, velocity) = (self.columns.scalar(Field::Mass), self.columns.vector(Field::Velocity));
        let own = self.motion.whole(velocity, mass, self.columns.owned())?;
        Ok(own.over_ranks(self.exchange.comm()))
    }

    /// The list, the forces, the accelerations; with a step the second half of its kick.
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
            self.motion.accelerate(force, columns.scalar(Field::Mass), &moving(columns), rows, kick)?;
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

    /// Owners, order and list up to date; positions of rows of others are on their way where the list still serves.
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
        let told = [Field::HalfSigma, Field::RootEpsilon].into_iter();
        let told: Vec<Field> = told.filter(|&field| self.columns.has(field)).collect();
        self.neighborhood.domain.refresh(&mut self.columns, &told)?;
        Ok(Arriving::default())
    }

    /// Gravity, added to what pairs have done; with a step the second half of its kick, but not where the acceleration is not
    /// finite. Returns the first such row.
    fn attract(&mut self, dt: f64) -> Result<Option<usize>> {
        let Some(gravity) = &mut self.gravity else { return Ok(None) };
        let rows = self.columns.owned();
        if self.pairs.is_none() {
            for column in self.columns.vector(Field::Acceleration) {
                values::fill(self.columns.device(), column, 0.0, rows.clone())?;
            }
        }
        gravity.attract(&self.exchange, &mut self.columns, &self.bx, self.mass)?;
        let all = moving(&self.columns);
        self.motion.kick(&all, rows.clone(), dt, false)?;
        let found = values::first_not_finite(self.columns.device(), &all.acceleration, rows)?;
        Ok(found.into_iter().flatten().min())
    }

    /// Energies and virials at the present positions, with the list of the last forces.
    ///
    /// # Errors
    /// Those of the device.
    pub fn energies(&mut self) -> Result<()> {
        self.sweep(false, Arriving::default())
    }

    /// Forces, or energies and virials, of what pairs give; what needs no rows of others while these arrive.
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

    /// A particle as errors name it: identity, velocity and acceleration.
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

    fn thrown(&self, row: usize, dt: f64) -> Result<Error> {
        let (id, [velocity, acceleration]) = self.particle(row)?;
        Ok(verlet::thrown(id, velocity, acceleration, dt))
    }

    fn not_finite(&self, row: usize) -> Result<Error> {
        let mut host = Particles::new(&[Field::Position], 0);
        self.columns.download(&mut host, &[Field::Position])?;
        let (_, [_, acceleration]) = self.particle(row)?;
        let value = acceleration.iter().copied().find(|value| !value.is_finite()).unwrap_or(f64::NAN);
        Ok(neighbors::not_finite(&self.bx, &host, Field::Acceleration, value, row))
    }
}

fn moving(columns: &Columns) -> Moving<'_> {
    Moving {
        position: columns.vector(Field::Position),
        velocity: columns.vector(Field::Velocity),
        acceleration: columns.vector(Field::Acceleration),
    }
}

/// The particles with the columns that the forces read and write.
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
