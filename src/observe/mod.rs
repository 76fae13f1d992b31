//! Observables: energies, momenta and extremes over all particles, and their record `observables.csv`.

pub mod averages;
pub mod blocking;
mod columns;
pub mod diffusion;
pub mod displacement;
mod drift;
mod files;
mod history;
mod measurements;
pub mod pairs;
mod particles_by_id;
pub mod picture;
pub mod radial_distribution;
mod record;

pub use columns::{Columns, Rows};
pub use drift::Drift;
pub use history::History;
pub use measurements::Measurements;
pub use record::Record;

use rayon::prelude::*;

use crate::comm::Communicator;
use crate::faults::{Fault, planted};
use crate::particles::{Field, Particles};
use crate::plan::Plan;
use crate::space::{Boundary, SimulationBox, Vec3d};
use crate::units::Units;

/// Rows per partial sum: sums are bitwise equal for any number of threads.
const ROWS_PER_BLOCK: usize = 4096;

/// Observables of the particles of all ranks at one time, in the run's units.
#[derive(Clone, Debug, PartialEq)]
pub struct Observables {
    /// The step's number.
    pub step: u64,
    /// Time.
    pub time: f64,
    /// Length of the step.
    pub time_step: f64,
    /// Sum of m v^2 / 2.
    pub kinetic: f64,
    /// Sum of m u; zero without internal energies.
    pub thermal: f64,
    /// Sum of m phi / 2 (phi the gravitational potential) and of the pair energies, with the tail correction
    /// after [`Self::add_tail`]; zero without any of them.
    pub potential: f64,
    /// Sum of m v.
    pub momentum: Vec3d,
    /// Sum of m r x v, about the origin.
    pub angular_momentum: Vec3d,
    /// Sum of m r over the total mass.
    pub center_of_mass: Vec3d,
    /// Total mass.
    pub mass: f64,
    /// Largest density; zero without densities.
    pub maximum_density: f64,
    /// Smallest smoothing length; infinite without smoothing lengths.
    pub minimum_smoothing_length: f64,
    /// Number of particles.
    pub particles: u64,
    /// Temperature and pressure, if there are pair forces.
    pub molecular: Option<Molecular>,
    /// Sum of m phi in the external field, if there is one; not part of `potential`.
    pub external: Option<f64>,
    /// Heat added to the particles since the start, if thermostat or drift removal exchange any.
    pub heat: Option<f64>,
}

/// Observables of molecules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Molecular {
    /// Kinetic temperature about the center of mass: 2 E_kin / (3 (N - 1) k_B).
    pub temperature: f64,
    /// Virial pressure (2 E_kin + sum r . F) / (3 V), with E_kin about the center of mass; not a number if
    /// any boundary is open, since the volume is then undefined.
    pub pressure: f64,
}

/// Physical dimension of a column of the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Exponents of mass, length and time; all 0 for a pure number.
    Powers([i32; 3]),
    /// A temperature.
    Temperature,
}

impl Measure {
    /// Returns the name of the unit.
    pub fn unit(self, units: &Units) -> String {
        match self {
            Measure::Powers(exponents) => units.name(exponents),
            Measure::Temperature => units.temperature_name(),
        }
    }
}

const NUMBER: Measure = Measure::Powers([0; 3]);
const LENGTH: Measure = Measure::Powers([0, 1, 0]);
const TIME: Measure = Measure::Powers([0, 0, 1]);
const ENERGY: Measure = Measure::Powers([1, 2, -2]);
const MOMENTUM: Measure = Measure::Powers([1, 1, -1]);
const ANGULAR_MOMENTUM: Measure = Measure::Powers([1, 2, -1]);

/// Names and dimensions of the record's columns.
pub const COLUMNS: [(&str, Measure); 20] = [
    ("step", NUMBER),
    ("time", TIME),
    ("time_step", TIME),
    ("kinetic_energy", ENERGY),
    ("thermal_energy", ENERGY),
    ("potential_energy", ENERGY),
    ("total_energy", ENERGY),
    ("momentum_x", MOMENTUM),
    ("momentum_y", MOMENTUM),
    ("momentum_z", MOMENTUM),
    ("angular_momentum_x", ANGULAR_MOMENTUM),
    ("angular_momentum_y", ANGULAR_MOMENTUM),
    ("angular_momentum_z", ANGULAR_MOMENTUM),
    ("center_of_mass_x", LENGTH),
    ("center_of_mass_y", LENGTH),
    ("center_of_mass_z", LENGTH),
    ("mass", Measure::Powers([1, 0, 0])),
    ("maximum_density", Measure::Powers([1, -3, 0])),
    ("minimum_smoothing_length", LENGTH),
    ("particles", NUMBER),
];

/// Columns after [`COLUMNS`] in the record of molecules.
pub const MOLECULAR_COLUMNS: [(&str, Measure); 2] =
    [("temperature", Measure::Temperature), ("pressure", Measure::Powers([1, -1, -2]))];

/// Columns after those in the record of a run with external accelerations.
pub const EXTERNAL_COLUMNS: [(&str, Measure); 1] = [("external_energy", ENERGY)];

/// Columns after those in the record of a run that exchanges heat.
pub const HEAT_COLUMNS: [(&str, Measure); 2] = [("thermostat_heat", ENERGY), ("conserved_energy", ENERGY)];

/// Columns and units of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    /// Whether the run has molecules.
    pub molecular: bool,
    /// Whether the run has external accelerations.
    pub external: bool,
    /// Whether the run exchanges heat.
    pub heat: bool,
    /// The units.
    pub units: Units,
}

impl Layout {
    /// Returns the layout of a plan's record.
    pub fn of(plan: &Plan) -> Self {
        Layout {
            molecular: plan.interaction.is_some(),
            external: plan.external.is_some(),
            heat: plan.motion.exchanges_heat(),
            units: plan.units,
        }
    }

    /// Returns the columns.
    pub fn columns(&self) -> Vec<(&'static str, Measure)> {
        let parts: [(bool, &[_]); 4] = [
            (true, &COLUMNS),
            (self.molecular, &MOLECULAR_COLUMNS),
            (self.external, &EXTERNAL_COLUMNS),
            (self.heat, &HEAT_COLUMNS),
        ];
        parts.into_iter().filter(|part| part.0).flat_map(|part| part.1.iter().copied()).collect()
    }

    /// Returns the first line of the record.
    pub fn header(&self) -> String {
        let columns = self.columns();
        let titles = columns.iter().map(|(name, measure)| format!("{name} [{}]", measure.unit(&self.units)));
        titles.collect::<Vec<_>>().join(",")
    }
}

impl Observables {
    /// Returns the sum of kinetic, thermal, potential and external energy.
    pub fn total_energy(&self) -> f64 {
        self.kinetic + self.thermal + self.potential + self.external.unwrap_or(0.0)
    }

    /// Returns the energy that the integrator conserves up to its error: the total energy minus the heat
    /// added.
    pub fn conserved_energy(&self) -> f64 {
        self.total_energy() - self.heat.unwrap_or(0.0)
    }

    /// Adds the tail correction: the contribution of pairs beyond the cutoff.
    pub fn add_tail(&mut self, energy: f64, pressure: f64) {
        self.potential += energy;
        if let Some(molecular) = &mut self.molecular {
            molecular.pressure += pressure;
        }
    }

    /// Formats the values in the order of the columns: the shortest decimal that reads back to the same bits.
    fn cells(&self) -> Vec<String> {
        let mut cells = vec![self.step.to_string()];
        let energies =
            [self.time, self.time_step, self.kinetic, self.thermal, self.potential, self.total_energy()];
        let vectors = [self.momentum, self.angular_momentum, self.center_of_mass];
        let rest = [self.mass, self.maximum_density, self.minimum_smoothing_length];
        let values =
            energies.into_iter().chain(vectors.iter().flat_map(|vector| vector.iter().copied())).chain(rest);
        cells.extend(values.map(|value| format!("{value:e}")));
        cells.push(self.particles.to_string());
        let molecular = self.molecular.map(|found| [found.temperature, found.pressure]);
        let heat = self.heat.map(|heat| [heat, self.conserved_energy()]);
        let more = molecular.into_iter().flatten().chain(self.external).chain(heat.into_iter().flatten());
        cells.extend(more.map(|value| format!("{value:e}")));
        cells
    }
}

/// Observes the owned particles of all ranks (collective; every rank gets the same values). The potential
/// energy is that of the columns [`Field::Potential`] and [`Field::PairEnergy`]. `external` and `heat` stay
/// unset: the caller knows them.
///
/// The result is bitwise equal for any number of threads, and reproducible for the same ranks.
pub fn observe(
    comm: &Communicator,
    bx: &SimulationBox,
    particles: &Particles,
    units: &Units,
    step: u64,
    time: f64,
    time_step: f64,
) -> Observables {
    let moment = Moment { step, time, time_step };
    Totals::of(particles).observables(comm, bx, units, moment, particles.has(Field::Virial))
}

/// Step and time of an observation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Number of steps done.
    pub step: u64,
    /// Simulated time.
    pub time: f64,
    /// Length of the last step; 0 at the start.
    pub time_step: f64,
}

/// Number of sums of [`Totals`].
pub const SUMS: usize = 14;

/// PartialSums and extremes over the owned particles of one rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Totals {
    /// Mass; kinetic, thermal and potential energy; momentum (3), angular momentum about the origin (3),
    /// sum of m r (3); virial.
    pub sums: [f64; SUMS],
    /// Largest density; zero without densities.
    pub maximum_density: f64,
    /// Smallest smoothing length; infinite without smoothing lengths.
    pub minimum_smoothing_length: f64,
    /// Number of particles.
    pub particles: u64,
}

impl Totals {
    /// Computes the totals of the host's particles.
    pub fn of(particles: &Particles) -> Self {
        let rows: Vec<usize> = particles.owned().step_by(ROWS_PER_BLOCK).collect();
        let blocks: Vec<PartialSums> = rows
            .par_iter()
            .map(|&first| {
                let end = (first + ROWS_PER_BLOCK).min(particles.owned().end);
                let mut sums = PartialSums::default();
                (first..end).for_each(|row| sums.add_row(particles, row));
                sums
            })
            .collect();
        let mut totals = Totals {
            sums: [0.0; SUMS],
            maximum_density: 0.0,
            minimum_smoothing_length: f64::INFINITY,
            particles: particles.owned().len() as u64,
        };
        for block in &blocks {
            totals.sums.iter_mut().zip(block.sums).for_each(|(sum, value)| *sum += value);
            totals.maximum_density = totals.maximum_density.max(block.maximum_density);
            totals.minimum_smoothing_length =
                totals.minimum_smoothing_length.min(block.minimum_smoothing_length);
        }
        totals
    }

    /// Reduces the totals over all ranks to observables. Collective. `molecular` is set if particles have
    /// virials.
    pub fn observables(
        self,
        comm: &Communicator,
        bx: &SimulationBox,
        units: &Units,
        moment: Moment,
        molecular: bool,
    ) -> Observables {
        let mut sums = self.sums;
        let (mut greatest, mut least) = ([self.maximum_density], [self.minimum_smoothing_length]);
        let mut count = [self.particles];
        comm.all_sum(&mut sums);
        comm.all_sum(&mut count);
        comm.all_max(&mut greatest);
        comm.all_min(&mut least);

        let [mass, kinetic, thermal, potential, ..] = sums;
        let vector = |first: usize| Vec3d::new(sums[first], sums[first + 1], sums[first + 2]);
        let Moment { step, time, time_step } = moment;
        Observables {
            step,
            time,
            time_step,
            kinetic,
            thermal,
            potential,
            momentum: vector(4),
            angular_momentum: vector(7),
            center_of_mass: if mass > 0.0 { vector(10) / mass } else { Vec3d::zeros() },
            mass,
            maximum_density: greatest[0],
            minimum_smoothing_length: least[0],
            particles: count[0],
            external: None,
            heat: None,
            molecular: molecular.then(|| {
                let thermal = kinetic - 0.5 * vector(4).norm_squared() / mass.max(f64::MIN_POSITIVE);
                let periodic = bx.boundary.iter().all(|&boundary| boundary == Boundary::Periodic);
                let volume = if periodic { bx.lengths().product() } else { f64::NAN };
                let virial = if planted(Fault::VirialSign) { -sums[13] } else { sums[13] };
                Molecular {
                    temperature: 2.0 * thermal
                        / (3.0 * count[0].saturating_sub(1).max(1) as f64 * units.boltzmann),
                    pressure: (2.0 * thermal + virial) / (3.0 * volume),
                }
            }),
        }
    }
}

/// Partial sums over a block of rows: mass, three energies, momentum, angular momentum, m r, virial.
struct PartialSums {
    sums: [f64; SUMS],
    maximum_density: f64,
    minimum_smoothing_length: f64,
}

impl Default for PartialSums {
    fn default() -> Self {
        Self { sums: [0.0; SUMS], maximum_density: 0.0, minimum_smoothing_length: f64::INFINITY }
    }
}

impl PartialSums {
    fn add_row(&mut self, particles: &Particles, row: usize) {
        let mass = particles.scalar(Field::Mass)[row];
        let position = particles.vector_at(Field::Position, row);
        let velocity = particles.vector_at(Field::Velocity, row);
        let optional = |field| particles.has(field).then(|| particles.scalar(field)[row]);
        let momentum = mass * velocity;
        let energies = [
            0.5 * momentum.dot(&velocity),
            mass * optional(Field::InternalEnergy).unwrap_or(0.0),
            0.5 * mass * optional(Field::Potential).unwrap_or(0.0)
                + optional(Field::PairEnergy).unwrap_or(0.0),
        ];
        let vectors = [momentum, position.cross(&momentum), mass * position];
        let virial = optional(Field::Virial).unwrap_or(0.0);
        let vectors = vectors.iter().flat_map(|v| v.iter().copied());
        let values = [mass].into_iter().chain(energies).chain(vectors).chain([virial]);
        self.sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        self.maximum_density = self.maximum_density.max(optional(Field::Density).unwrap_or(0.0));
        self.minimum_smoothing_length =
            self.minimum_smoothing_length.min(optional(Field::SmoothingLength).unwrap_or(f64::INFINITY));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::run_local;
    use crate::units::UnitSystem;

    const UNITS: Units = Units::new(UnitSystem::Reduced);

    fn open_box() -> SimulationBox {
        SimulationBox { lower: Vec3d::repeat(-1.0), upper: Vec3d::repeat(1.0), boundary: [Boundary::Open; 3] }
    }

    fn particles(first: usize, count: usize) -> Particles {
        let fields = [Field::Position, Field::Velocity, Field::Mass, Field::InternalEnergy, Field::Potential];
        let mut particles = Particles::new(&fields, count);
        for row in 0..count {
            let x = (first + row) as f64;
            particles.set_vector(Field::Position, row, Vec3d::new(x.sin(), x.cos(), 0.1 * x));
            particles.set_vector(Field::Velocity, row, Vec3d::new(0.0, 1.0, (2.0 * x).sin()));
            particles.scalar_mut(Field::Mass)[row] = 1.0 + 0.5 * x.sin();
            particles.scalar_mut(Field::InternalEnergy)[row] = 2.0;
            particles.scalar_mut(Field::Potential)[row] = -3.0;
        }
        particles
    }

    #[test]
    fn a_pair_by_hand() {
        let mut pair = particles(0, 2);
        for (row, side) in [(0, 1.0), (1, -1.0)] {
            pair.set_vector(Field::Position, row, Vec3d::new(side, 0.0, 0.0));
            pair.set_vector(Field::Velocity, row, Vec3d::new(0.0, side, 0.0));
            pair.scalar_mut(Field::Mass)[row] = 2.0;
        }
        let seen = observe(&Communicator::solo(), &open_box(), &pair, &UNITS, 3, 0.5, 0.1);
        assert_eq!((seen.kinetic, seen.thermal, seen.potential), (2.0, 8.0, -6.0));
        assert_eq!((seen.total_energy(), seen.mass, seen.particles), (4.0, 4.0, 2));
        assert_eq!(seen.momentum, Vec3d::zeros());
        assert_eq!(seen.angular_momentum, Vec3d::new(0.0, 0.0, 4.0));
        assert_eq!((seen.center_of_mass, seen.maximum_density), (Vec3d::zeros(), 0.0));
        assert_eq!(seen.cells().len(), COLUMNS.len());
    }

    #[test]
    fn ranks_agree_with_one() {
        let whole = observe(&Communicator::solo(), &open_box(), &particles(0, 10_000), &UNITS, 1, 0.0, 0.0);
        let parts = run_local(3, |comm| {
            let counts = [0, 6000, 4000];
            let first = counts[..comm.rank()].iter().sum();
            observe(&comm, &open_box(), &particles(first, counts[comm.rank()]), &UNITS, 1, 0.0, 0.0)
        });
        for part in &parts {
            assert_eq!(part, &parts[0]);
            assert_eq!(part.particles, 10_000);
            assert!((part.kinetic / whole.kinetic - 1.0).abs() < 1e-12);
            assert!((part.angular_momentum - whole.angular_momentum).norm() < 1e-8);
        }
    }

    #[test]
    fn no_particles_are_no_accident() {
        let seen = observe(&Communicator::solo(), &open_box(), &particles(0, 0), &UNITS, 0, 0.0, 0.0);
        assert_eq!((seen.mass, seen.center_of_mass), (0.0, Vec3d::zeros()));
    }
}
