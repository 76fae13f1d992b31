//! Molecules and stars on a device: pair forces and gravity, the counterpart of [`crate::molecules`] and
//! [`crate::far`] on processors. The operations of a step are in `step.rs`, the pair law in `pairs.rs`.

mod batch;
mod fused;
mod pairs;
mod step;

use super::columns::Columns;
use super::domain::{Arriving, Domain};
use super::ewald::EwaldMesh;
use super::exchange::Exchange;
use super::external;
use super::gravity::Gravity;
use super::motion::{Motion, Moving};
use super::neighborhood::Neighborhood;
use super::net_force::{NetForces, without_net_force};
use super::pair_sums::SumMemory;
use super::sweep::Pass;
use super::{Device, values};
use crate::clock::Clock;
use crate::far::GravityPlan;
use crate::far::external::ExternalField;
use crate::molecules::Molecules;
use crate::motion::steps;
use crate::motion::thermostat::Thermostat;
use crate::motion::verlet;
use crate::neighborhood::{InteractionRange, Method};
use crate::neighbors;
use crate::pair::Precision;
use crate::particles::{Field, Particles};
use crate::space::{SimulationBox, Vec3d};
use crate::{Error, Result};
pub use batch::Performed;
use pairs::Pairs;
use step::Stepping;

/// Settings of a run.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Gravity, if any.
    pub gravity: Option<GravityPlan>,
    /// External accelerations, if any.
    pub external: Option<ExternalField>,
    /// Arithmetic of the forces.
    pub precision: Precision,
    /// Skin of the lists, as a fraction of the cutoff.
    pub skin: f64,
    /// How pairs are found.
    pub method: Method,
    /// Whether lists of clusters hold each pair once (half lists).
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
    memory: SumMemory,
    motion: Motion,
    /// The pair law, if any.
    molecules: Option<Molecules>,
    precision: Precision,
    /// Kernels of the pair law.
    pairs: Option<Pairs>,
    /// Mesh of the charges' Ewald sum, if they have one.
    ewald: Option<EwaldMesh>,
    gravity: Option<Gravity>,
    net_forces: NetForces,
    external: Option<ExternalField>,
    /// Total mass over all ranks.
    mass: f64,
    /// Largest displacement over the length of the last step, if known.
    speed: Option<f64>,
    /// Steps whose forces were evaluated twice.
    repeats: u64,
}

/// Factor on the displacement of the last step as a bound of that of the next one. A step that exceeds it
/// evaluates its forces twice; a larger factor makes the host wait for more steps before the end of a list.
const DISPLACEMENT_MARGIN: f64 = 1.25;

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
        let Settings { precision, method, symmetric, .. } = *settings;
        let ewald = molecules.and_then(Molecules::ewald).map(|ewald| {
            let rows = particles.owned().len();
            EwaldMesh::new(exchange, bx, ewald, rows, settings.precision)
        });
        let gravity = settings.gravity.as_ref().map(|plan| Gravity::new(device, plan, settings.precision));
        Ok(Self {
            columns: upload(device, molecules, particles)?,
            bx: *bx,
            neighborhood: Neighborhood::new(
                exchange,
                cutoff.map_or(InteractionRange::Nowhere, InteractionRange::Cutoff),
                settings.skin,
                method,
                symmetric,
            )?,
            exchange: exchange.clone(),
            memory: SumMemory::new(device)?,
            motion: Motion::new(device)?,
            pairs: Pairs::new(device, molecules, precision, method, symmetric)?,
            molecules: molecules.cloned(),
            precision,
            ewald: ewald.transpose()?,
            gravity: gravity.transpose()?,
            net_forces: NetForces::new(device)?,
            external: settings.external,
            mass,
            speed: None,
            repeats: 0,
        })
    }

    /// Number of lists built.
    pub fn builds(&self) -> u64 {
        self.neighborhood.builds()
    }

    /// Number of steps whose forces were evaluated twice, because a particle moved farther than expected.
    pub fn repeats(&self) -> u64 {
        self.repeats
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
        self.motion.clear()?;
        self.forces(0.0, clock)?;
        let findings = self.motion.findings()?;
        self.check(findings.not_finite)
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
        let mut stepping = Stepping::new(self, thermostat, step, clock);
        steps::verlet_step(&mut stepping, thermostat, remove_drift, dt, step)
    }

    /// Reverts a half kick of all rows, or of all but the skipped ones.
    fn kick_back(&self, dt: f64, but_skipped: bool) -> Result<()> {
        self.motion.kick(&Moving::of(&self.columns), self.columns.owned(), -dt, but_skipped)
    }

    /// Updates the list and evaluates forces and accelerations, including the second half kick of a step of
    /// length `dt` (0: none). [`Motion::findings`] returns the first row that is not finite.
    fn forces(&mut self, dt: f64, clock: &mut Clock) -> Result<()> {
        let arriving = self.sync()?;
        clock.lap("neighbors");
        let with_fields = self.has_fields();
        if self.pairs.is_some() {
            self.sweep(true, arriving)?;
            self.add_mesh_forces(Some(clock))?;
            self.accelerate(if with_fields { 0.0 } else { dt }, f64::INFINITY)?;
            clock.lap("pair forces");
        }
        if with_fields {
            self.add_fields(dt, clock)?;
        }
        Ok(())
    }

    /// Evaluates the forces with the current list, if the drift of this step turns out to be at most `most`,
    /// or in a batch at most what remains there.
    fn enqueue_forces(&mut self, dt: f64, most: f64, mut clock: Option<&mut Clock>) -> Result<()> {
        self.sweep(true, Arriving::default())?;
        self.add_mesh_forces(clock.as_deref_mut())?;
        self.accelerate(dt, most)?;
        if let Some(clock) = clock {
            clock.lap("pair forces");
        }
        Ok(())
    }

    /// Whether gravity or an external field act.
    fn has_fields(&self) -> bool {
        self.gravity.is_some() || self.external.is_some()
    }

    fn accelerate(&mut self, dt: f64, most: f64) -> Result<()> {
        let (rows, columns) = (self.columns.owned(), &self.columns);
        let (force, mass) = (columns.vector(Field::Force), columns.scalar(Field::Mass));
        self.motion.accelerate(force, mass, &Moving::of(columns), rows, dt, most)
    }

    /// Reports the first row of this rank that is not finite. Collective.
    fn check(&self, not_finite: Option<usize>) -> Result<()> {
        let checked = not_finite.map_or(Ok(()), |row| Err(self.not_finite(row)?));
        self.exchange.comm().agree(checked)
    }

    /// A bound of the displacements in a step of length `dt` for which the list certainly serves, if there is
    /// one and the host need not know more before the forces: one rank, pair forces only.
    fn expected_displacement(&self, dt: f64) -> Option<f64> {
        let expected = self.speed_of_pairs_alone()? * dt * DISPLACEMENT_MARGIN;
        self.neighborhood.is_valid_after(expected).then_some(expected)
    }

    /// The largest speed in the last step, if the host need not know more before the forces of the next one:
    /// one rank, pair forces only.
    fn speed_of_pairs_alone(&self) -> Option<f64> {
        let pairs_only = self.pairs.is_some() && !self.has_fields() && self.exchange.comm().size() == 1;
        self.speed.filter(|_| pairs_only)
    }

    /// Records the largest displacement of a step of length `dt` on any rank.
    fn record_displacement(&mut self, largest: f64, dt: f64) {
        self.neighborhood.record_displacement(largest);
        self.speed = Some(largest / dt);
    }

    /// Updates owners, order and list. If the list is still valid, only begins the exchange of halo
    /// positions.
    fn sync(&mut self) -> Result<Arriving> {
        if self.neighborhood.is_valid(&self.bx, &self.columns)? {
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

    /// Adds gravity and the external field to the accelerations of the pairs, then does the second half kick,
    /// except in rows whose acceleration is not finite.
    fn add_fields(&mut self, dt: f64, clock: &mut Clock) -> Result<()> {
        let rows = self.columns.owned();
        if self.pairs.is_none() {
            for column in self.columns.vector(Field::Acceleration) {
                values::fill(self.columns.device(), column, 0.0, rows.clone())?;
            }
        }
        if let Some(gravity) = &mut self.gravity {
            let (exchange, bx, mass, alone) = (&self.exchange, &self.bx, self.mass, self.pairs.is_none());
            let attract = |columns: &mut Columns| gravity.attract(exchange, columns, bx, mass);
            without_net_force(&mut self.net_forces, exchange.comm(), &mut self.columns, bx, alone, attract)?;
            clock.lap("gravity");
        }
        if let Some(field) = &self.external {
            external::accelerate(field, &self.columns)?;
            clock.lap("external");
        }
        self.motion.kick_finite(&Moving::of(&self.columns), rows, dt)
    }

    /// Evaluates energies and virials at the current positions, with the list of the last force evaluation;
    /// with a new one after [`Verlet::set_neighbors`]. Collective.
    ///
    /// # Errors
    /// Those of the device.
    pub fn energies(&mut self) -> Result<()> {
        let arriving = if self.neighborhood.is_built() { Arriving::default() } else { self.sync()? };
        self.sweep(false, arriving)?;
        match &mut self.ewald {
            Some(ewald) => ewald.add_energies(&self.exchange, &self.columns),
            None => Ok(()),
        }
    }

    /// Adds the mesh forces of charges with an Ewald sum.
    fn add_mesh_forces(&mut self, mut clock: Option<&mut Clock>) -> Result<()> {
        let Some(ewald) = &mut self.ewald else { return Ok(()) };
        let mut lap = |phase| {
            if let Some(clock) = &mut clock {
                clock.lap(phase);
            }
        };
        lap("pair forces");
        ewald.add_forces(&self.exchange, &self.columns)?;
        lap("mesh");
        Ok(())
    }

    /// Sums over the pairs for forces, or for energies and virials. Interior records of lists of clusters
    /// overlap a pending halo exchange.
    fn sweep(&mut self, forces: bool, arriving: Arriving) -> Result<()> {
        let domain = &self.neighborhood.domain;
        let Some(pairs) = &mut self.pairs else { return domain.finish_refresh(arriving) };
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
            true => (&mut pairs.forces, columns.all(&[Field::Force])),
            false => (&mut pairs.energies, columns.all(&[Field::PairEnergy, Field::Virial])),
        };
        let (neighbors, inputs) = (self.neighborhood.neighbors(), columns.all(pairs.inputs));
        law.run(&mut self.memory, &pass, neighbors, [&inputs, &outputs], (domain, arriving))
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
