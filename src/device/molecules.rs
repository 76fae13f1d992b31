//! Molecules whose particles live on a device: the forces of pairs and the step of velocity Verlet, as
//! [`crate::molecules`] and [`crate::motion::verlet`] have them on processors.

use super::Device;
use super::columns::Columns;
use super::motion::{Drifted, Force, Motion, Moving};
use super::neighborhood::Neighborhood;
use super::sweep::{Pass, Sweep, SweepMemory};
use crate::clock::Clock;
use crate::molecules::{self, LawVisitor};
use crate::motion::thermostat::Thermostat;
use crate::pair::{Energies, Forces, PairLaw, Precision};
use crate::particles::{Field, Particles};
use crate::space::SimulationBox;
use crate::{Error, Result};

/// What is wanted of a run of molecules.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Arithmetic of the forces.
    pub precision: Precision,
    /// By what fraction of the cutoff lists are wider.
    pub skin: f64,
    /// Whether lists have each pair once.
    pub symmetric: bool,
}

/// Molecules on a device.
#[derive(Debug)]
pub struct Molecules {
    /// The particles.
    pub columns: Columns,
    /// The box; its open faces follow the particles.
    pub bx: SimulationBox,
    neighborhood: Neighborhood,
    memory: SweepMemory,
    motion: Motion,
    laws: Option<Laws>,
    cutoff: f64,
    /// What no particle has come farther than since the list was last asked for.
    drift: f64,
}

/// The kernels of the law of all pairs.
#[derive(Debug)]
struct Laws {
    forces: Sweep,
    /// In double precision: seldom, and read to many digits.
    energies: Sweep,
    inputs: Vec<Field>,
}

/// Compiles the law that it visits.
struct Compile<'a> {
    device: &'a Device,
    settings: &'a Settings,
    laws: Option<Result<Laws>>,
}

impl LawVisitor for Compile<'_> {
    fn visit<L: PairLaw>(&mut self, law: &L) {
        let Settings { precision, symmetric, .. } = *self.settings;
        let compiled = || {
            Ok(Laws {
                forces: Sweep::new(self.device, &Forces(*law), precision, symmetric)?,
                energies: Sweep::new(self.device, &Energies(*law), Precision::Double, symmetric)?,
                inputs: L::INPUTS.to_vec(),
            })
        };
        self.laws = Some(compiled());
    }
}

/// The way of a particle in a step beyond which it could not be taken back, in edges of the box.
const FARTHEST: f64 = 1e6;

impl Molecules {
    /// The owned particles brought to the device, with the law of their pairs. Forces are not evaluated yet.
    ///
    /// # Errors
    /// Those of the device; kernels that do not compile.
    pub fn new(
        device: &Device,
        molecules: &molecules::Molecules,
        bx: &SimulationBox,
        particles: &Particles,
        settings: &Settings,
    ) -> Result<Self> {
        let mut compile = Compile { device, settings, laws: None };
        molecules.visit(&mut compile);
        let laws = compile.laws.transpose()?;
        let cutoff = molecules.cutoff();
        Ok(Self {
            columns: upload(device, molecules, particles)?,
            bx: *bx,
            neighborhood: Neighborhood::new(device, cutoff, settings.skin, settings.symmetric)?,
            memory: SweepMemory::new(device)?,
            motion: Motion::new(device)?,
            laws,
            cutoff,
            drift: f64::INFINITY,
        })
    }

    /// Lists built so far.
    pub fn builds(&self) -> u64 {
        self.neighborhood.builds()
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
        let rows = 0..self.columns.rows();
        let heat = self.first_half(thermostat, dt, step)?;
        clock.lap("drift");
        if let Err(error) = self.forces(dt, clock) {
            if matches!(error, Error::State { .. }) {
                // what was finite got the second kick already
                self.motion.kick(&moving(&self.columns), rows.clone(), -dt, false)?;
                self.drift_back(thermostat, dt, step, false)?;
                self.neighborhood.invalidate();
                self.forces(0.0, clock)?;
                self.motion.kick(&moving(&self.columns), rows, -dt, false)?;
            }
            return Err(error);
        }
        Ok(heat + self.after_second_half(thermostat, dt, step)?)
    }

    /// Half a kick and the drift.
    fn first_half(&mut self, thermostat: Option<&Thermostat>, dt: f64, step: u64) -> Result<f64> {
        let (rows, farthest) = (0..self.columns.rows(), FARTHEST * self.bx.lengths().max());
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
        if refused == 0 {
            self.drift += way;
            return Ok(heat);
        }
        let thrown = self.motion.left_rows(rows.clone())?.first().copied().unwrap_or(0);
        let error = self.thrown(thrown, dt)?;
        self.drift_back(thermostat, dt, step, true)?;
        self.motion.kick(&moving(&self.columns), rows, -dt, true)?;
        Err(error)
    }

    fn drift_back(
        &mut self,
        thermostat: Option<&Thermostat>,
        dt: f64,
        step: u64,
        but_left: bool,
    ) -> Result<()> {
        let (rows, all) = (0..self.columns.rows(), moving(&self.columns));
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
        let (rows, velocity) = (0..self.columns.rows(), self.columns.vector(Field::Velocity));
        let whole = self.motion.whole(velocity, self.columns.scalar(Field::Mass), rows.clone())?;
        let Some((factor, heat)) = rescaling.factor_and_heat(&whole, dt, step) else { return Ok(0.0) };
        self.motion.scale(velocity, rows, factor, whole.drift() * (1.0 - factor))?;
        Ok(heat)
    }

    /// Brings the center of mass to rest; returns the kinetic energy that this takes away.
    ///
    /// # Errors
    /// Those of the device.
    pub fn remove_drift(&mut self) -> Result<f64> {
        let (rows, velocity) = (0..self.columns.rows(), self.columns.vector(Field::Velocity));
        let whole = self.motion.whole(velocity, self.columns.scalar(Field::Mass), rows.clone())?;
        self.motion.scale(velocity, rows, 1.0, -whole.drift())?;
        Ok(whole.kinetic_of_drift())
    }

    /// The list, the forces, the accelerations; with a step the second half of its kick.
    fn forces(&mut self, dt: f64, clock: &mut Clock) -> Result<()> {
        let drift = std::mem::take(&mut self.drift);
        self.bx = self.neighborhood.update(&self.bx, &mut self.columns, drift)?;
        clock.lap("neighbors");
        self.sweep(true)?;
        let (rows, columns) = (0..self.columns.rows(), &self.columns);
        let force = Force::Double(columns.vector(Field::Force));
        self.motion.accelerate(&force, columns.scalar(Field::Mass), &moving(columns), rows, dt)?;
        let first = self.motion.first_not_finite()?;
        clock.lap("pair forces");
        first.map_or(Ok(()), |row| Err(self.not_finite(row)?))
    }

    /// Energies and virials at the present positions, with the list of the last forces.
    ///
    /// # Errors
    /// Those of the device.
    pub fn energies(&mut self) -> Result<()> {
        self.sweep(false)
    }

    fn sweep(&mut self, forces: bool) -> Result<()> {
        let (rows, columns) = (self.columns.rows(), &self.columns);
        let owned = 0..rows;
        let pass = Pass {
            rows,
            owned: &owned,
            position: columns.vector(Field::Position),
            id: None,
            radius: None,
            cutoff: self.cutoff,
            period: [0, 1, 2].map(|d| self.bx.periods()[d]),
            active: None,
        };
        let Some(laws) = &self.laws else { return Ok(()) };
        let (law, outputs) = match forces {
            true => (&laws.forces, columns.all(&[Field::Force])),
            false => (&laws.energies, columns.all(&[Field::PairEnergy, Field::Virial])),
        };
        law.run(&mut self.memory, &pass, &self.neighborhood.records, &columns.all(&laws.inputs), &outputs)
    }

    /// A particle as the host's errors name it: identity, position, velocity and acceleration.
    fn particle(&self, row: usize) -> Result<(u64, [[f64; 3]; 3])> {
        let mut id = [0];
        self.columns.id.download_to(row, &mut id)?;
        let mut values = [[0.0; 3]; 3];
        let fields = [Field::Position, Field::Velocity, Field::Acceleration];
        for (vector, field) in values.iter_mut().zip(fields) {
            for (c, value) in vector.iter_mut().enumerate() {
                self.columns.component(field, c).download_to(row, std::slice::from_mut(value))?;
            }
        }
        Ok((id[0], values))
    }

    fn thrown(&self, row: usize, dt: f64) -> Result<Error> {
        let (id, [_, v, a]) = self.particle(row)?;
        let moved = (0..3).map(|c| ((v[c] + 0.5 * dt * a[c]) * dt).abs()).fold(0.0, f64::max);
        Ok(Error::State {
            step: 0,
            what: format!(
                "particle {id} would move by {moved:e}, which is no place; its velocity is {v:?}, its acceleration {a:?}"
            ),
            remedy:
                "look for particles that were too close in the checkpoint of the last good step; a shorter \
                     time_step.fixed, or a [minimize] before the first step, often helps"
                    .into(),
        })
    }

    fn not_finite(&self, row: usize) -> Result<Error> {
        let (id, [x, _, a]) = self.particle(row)?;
        Ok(Error::State {
            step: 0,
            what: format!("the acceleration of particle {id} is {a:?}; it is at {x:?}"),
            remedy: "look at that particle in the checkpoint of the last good step; a shorter time_step.fixed, or a \
                     [minimize] before the first step, often helps"
                .into(),
        })
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
fn upload(device: &Device, molecules: &molecules::Molecules, particles: &Particles) -> Result<Columns> {
    let wanted = [Field::Force, Field::PairEnergy, Field::Virial];
    let fields: Vec<Field> =
        particles.fields().iter().copied().chain(wanted).filter(|&f| f != Field::Work).collect();
    let mut columns = Columns::upload(device, particles, &fields)?;
    for (k, field) in [Field::HalfSigma, Field::RootEpsilon].into_iter().enumerate() {
        let kinds = molecules.mixed();
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
