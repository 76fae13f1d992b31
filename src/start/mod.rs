//! Initial conditions, one file a case.
//!
//! Every rank makes its own share of the particles. Particle `k` of a start is the same whatever the number of
//! ranks: arrangements are streamed in a fixed order of which a rank keeps its range of ids, and random numbers come
//! from a generator of the particle's own (stream `k` of the deck's seed).

mod cells;
mod composition;
mod configuration;
mod enclosure;
mod evrard;
mod file;
pub mod formats;
mod glass;
#[cfg(test)]
mod noise;
mod pattern;
mod plummer;
mod sedov;
pub(crate) mod species;
mod uniform;
pub(crate) mod units;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::comm::Communicator;
use crate::comm::shares::share;
use crate::deck::plan::{FileFormat, Plan, StartPlan};
use crate::particles::{Field, Particles};
use crate::space::{SimulationBox, Vec3d};
use crate::{Error, Result};
use enclosure::{Enclosure, enclose};

/// What a case lays out: the particles of one range of ids, all of one mass.
struct Layout {
    positions: Vec<Vec3d>,
    /// `None`: at rest.
    velocities: Option<Vec<Vec3d>>,
    mass: f64,
    internal_energy: InternalEnergy,
    /// Volume of a ball about a position that holds so many particles, in the continuum the case stands for.
    volume_of: Box<VolumeOf>,
}

/// Specific internal energies.
enum InternalEnergy {
    /// The same for all.
    Even(f64),
    /// One a particle.
    Each(Vec<f64>),
}

type VolumeOf = dyn Fn(&Vec3d, f64) -> f64;

/// Neighbors for the first smoothing lengths where a deck has no `[sph]` to say it.
const USUAL_NEIGHBORS: f64 = 100.0;

/// A start: the box, this rank's share of the particles, and what a user should know of them.
pub struct Start {
    /// The box.
    pub bx: SimulationBox,
    /// The particles, all inside the box.
    pub particles: Particles,
    /// The units of mass, length and time that the run computes in, in gram, centimetre and second; all 1 without units.
    pub units: [f64; 3],
    /// Sentences for the log: where the box comes from, what of a file was converted or left out.
    pub notes: Vec<String>,
}

/// The box and this rank's share of the particles that a plan starts from; collective. A run shows [`Start::notes`] too.
///
/// # Errors
/// As [`build`].
pub fn particles(plan: &Plan, comm: &Communicator, fields: &[Field]) -> Result<(SimulationBox, Particles)> {
    build(plan, comm, fields).map(|start| (start.bx, start.particles))
}

/// Build the start of a plan; collective.
///
/// `fields` are the columns to make; of those, position, velocity, mass, smoothing length, internal energy, viscosity
/// and work are set. The smoothing lengths are a guess by the case's density, h = (3 n_neighbors / (32 pi n))^(1/3), which the
/// first step's iteration refines.
///
/// # Errors
/// On all ranks: more particles than a rank can hold; those of reading a file, and where the file does not fit the plan.
pub fn build(plan: &Plan, comm: &Communicator, fields: &[Field]) -> Result<Start> {
    if let StartPlan::File(file) = &plan.start {
        let mut start = file::start(file, plan, comm, fields)?;
        if let Some(temperature) = file.temperature {
            heat(&mut start.particles, comm, plan.units.boltzmann * temperature, file.seed);
            start.notes.push(format!(
                "{}: velocities are new ones of `temperature` in [start.file]",
                file.path.display()
            ));
        }
        return Ok(start);
    }
    let total = count(&plan.start).unwrap_or(0);
    let share = share(total, comm.rank(), comm.size());
    few_enough(total, comm)?;
    let layout = match &plan.start {
        StartPlan::Evrard(start) => evrard::layout(start, share.clone()),
        StartPlan::UniformBox(start) => uniform::uniform_box(start, plan.space.corners, share.clone()),
        StartPlan::Lattice(start) => uniform::lattice(start, plan.space.corners, share.clone()),
        StartPlan::Random(start) => uniform::random(start, plan.space.corners, share.clone()),
        StartPlan::Plummer(start) => plummer::layout(
            start,
            plan.gravity.as_ref().map_or(1.0, |gravity| gravity.constant),
            share.clone(),
        ),
        StartPlan::Sedov(start) => sedov::layout(start, plan.space.corners, share.clone()),
        StartPlan::File(_) => unreachable!("a file has been dealt with above"),
    };
    let mut particles = rows(layout, share.start, plan, fields);
    composition::assign(&mut particles, plan, total);
    if let (Some(_), Some((temperature, seed))) = (&plan.interaction, thermal(&plan.start)) {
        heat(&mut particles, comm, plan.units.boltzmann * temperature, seed);
    }
    let Enclosure { bx, notes } = enclose(plan, None, comm, &mut particles)?;
    Ok(Start { bx, particles, units: plan.units.cgs, notes })
}

/// Neighbor lists address a rank's rows with 32 bits. The largest share is judged, so that all ranks say the same.
fn few_enough(total: u64, comm: &Communicator) -> Result<()> {
    if total.div_ceil(comm.size() as u64) <= u64::from(u32::MAX) / 2 {
        return Ok(());
    }
    Err(Error::usage(
        format!("{total} particles are too many for {} ranks: a rank holds less than 2^31", comm.size()),
        "start more ranks, or ask for fewer particles",
    ))
}

/// Temperature and seed of the starts whose particles may be molecules in motion.
fn thermal(start: &StartPlan) -> Option<(f64, u64)> {
    match start {
        StartPlan::UniformBox(start) => Some((start.temperature, start.seed)),
        StartPlan::Lattice(start) => Some((start.temperature, start.seed)),
        StartPlan::Random(start) => Some((start.temperature, start.seed)),
        StartPlan::Evrard(_) | StartPlan::Plummer(_) | StartPlan::Sedov(_) | StartPlan::File(_) => None,
    }
}

/// Give the particles velocities of the Maxwell-Boltzmann distribution of a temperature k_B T (an energy), without motion
/// of the whole, and scaled to the temperature exactly, of 3 N - 3 degrees of freedom. Other numbers of ranks give the same velocities to
/// rounding. Collective.
fn heat(particles: &mut Particles, comm: &Communicator, temperature: f64, seed: u64) {
    // another generator than that of the positions
    let seed = seed ^ 0x7665_6c6f_6369_7479;
    let rows = particles.owned();
    for row in rows.clone() {
        let mass = particles.scalar(Field::Mass)[row];
        let velocity = normal(&mut random_of(seed, particles.id[row])) * (temperature / mass).sqrt();
        particles.set_vector(Field::Velocity, row, velocity);
    }
    let mut sums = [0.0; 4];
    for row in rows.clone() {
        let (mass, velocity) =
            (particles.scalar(Field::Mass)[row], particles.vector_at(Field::Velocity, row));
        (0..3).for_each(|d| sums[d] += mass * velocity[d]);
        sums[3] += mass;
    }
    comm.all_sum(&mut sums);
    let mean = Vec3d::new(sums[0], sums[1], sums[2]) / sums[3].max(f64::MIN_POSITIVE);
    let (mut energy, mut count) = ([0.0], [rows.len() as u64]);
    for row in rows.clone() {
        let velocity = particles.vector_at(Field::Velocity, row) - mean;
        particles.set_vector(Field::Velocity, row, velocity);
        energy[0] += particles.scalar(Field::Mass)[row] * velocity.norm_squared();
    }
    comm.all_sum(&mut energy);
    comm.all_sum(&mut count);
    let freedom = 3.0 * count[0].saturating_sub(1) as f64;
    let scale = if energy[0] > 0.0 { (freedom * temperature / energy[0]).sqrt() } else { 0.0 };
    for row in rows {
        let velocity = particles.vector_at(Field::Velocity, row) * scale;
        particles.set_vector(Field::Velocity, row, velocity);
    }
}

/// Three independent normal deviates of unit variance (Box & Muller 1958).
fn normal(random: &mut impl RngExt) -> Vec3d {
    Vec3d::from_fn(|_, _| {
        let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
        radius * (2.0 * std::f64::consts::PI * random.random::<f64>()).cos()
    })
}

/// Number of particles of a start, rounded to what its arrangement can lay out; `None` for a file.
pub fn count(start: &StartPlan) -> Option<u64> {
    Some(match start {
        StartPlan::Evrard(start) => start.particles,
        StartPlan::UniformBox(start) => uniform::count(start),
        StartPlan::Lattice(start) => start.cells.iter().product::<u64>() * start.kind.particles_per_cell(),
        StartPlan::Random(start) => start.particles,
        StartPlan::Plummer(start) => start.particles,
        StartPlan::Sedov(start) => uniform::count(&start.gas()),
        StartPlan::File(_) => return None,
    })
}

/// Number of particles of a start, for a file by looking into it: at its counts and its structure, not at every value.
///
/// # Errors
/// Those of reading the file.
pub fn count_all(start: &StartPlan) -> Result<u64> {
    let StartPlan::File(file) = start else { return Ok(count(start).unwrap_or(0)) };
    match file.format.map_or_else(|| formats::format_of(&file.path), Ok)? {
        FileFormat::Hdf5 => crate::snapshot::particle_count(&file.path),
        format => {
            let hints =
                formats::Hints { atom_style: file.atom_style.map(|style| style.name()), first_frame: false };
            formats::read(&file.path, format, hints, |_| 0..0).map(|found| found.count)
        }
    }
}

/// The random numbers of a particle, independent of all others'.
fn random_of(seed: u64, id: u64) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(id);
    random
}

/// A point evenly distributed in a box.
fn random_point(random: &mut ChaCha8Rng, lower: Vec3d, lengths: Vec3d) -> Vec3d {
    lower + lengths.map(|length| random.random::<f64>() * length)
}

/// An evenly distributed direction.
fn random_direction(random: &mut ChaCha8Rng) -> Vec3d {
    let cosine = 2.0 * random.random::<f64>() - 1.0;
    let angle = 2.0 * std::f64::consts::PI * random.random::<f64>();
    let sine = (1.0 - cosine * cosine).sqrt();
    Vec3d::new(sine * angle.cos(), sine * angle.sin(), cosine)
}

/// The smoothing length whose support 2h fills a volume.
fn smoothing_length(volume: f64) -> f64 {
    0.5 * (volume * 3.0 / (4.0 * std::f64::consts::PI)).cbrt()
}

fn neighbors(plan: &Plan) -> f64 {
    plan.sph.as_ref().map_or(USUAL_NEIGHBORS, |sph| sph.neighbors)
}

/// Set every row of a scalar, if the particles have it.
fn fill(particles: &mut Particles, field: Field, value: f64) {
    if particles.has(field) {
        particles.scalar_mut(field).fill(value);
    }
}

/// What does not depend on the case: work is even at first, viscosity at the switch's lower end, as nothing has been
/// shocked yet, or at its one value.
fn fill_common(particles: &mut Particles, plan: &Plan) {
    fill(particles, Field::Work, 1.0);
    if let Some(sph) = &plan.sph {
        let viscosity = &sph.viscosity;
        fill(
            particles,
            Field::Viscosity,
            if viscosity.switch { viscosity.alpha_min } else { viscosity.alpha_max },
        );
    }
}

fn rows(layout: Layout, first_id: u64, plan: &Plan, fields: &[Field]) -> Particles {
    let mut particles = Particles::new(fields, layout.positions.len());
    for (row, position) in layout.positions.iter().enumerate() {
        particles.id[row] = first_id + row as u64;
        particles.set_vector(Field::Position, row, *position);
    }
    if particles.has(Field::SmoothingLength) {
        let wanted = neighbors(plan);
        for (length, position) in
            particles.scalar_mut(Field::SmoothingLength).iter_mut().zip(&layout.positions)
        {
            *length = smoothing_length((layout.volume_of)(position, wanted));
        }
    }
    if let Some(velocities) = layout.velocities.filter(|_| particles.has(Field::Velocity)) {
        for (row, velocity) in velocities.into_iter().enumerate() {
            particles.set_vector(Field::Velocity, row, velocity);
        }
    }
    fill(&mut particles, Field::Mass, layout.mass);
    match layout.internal_energy {
        InternalEnergy::Even(energy) => fill(&mut particles, Field::InternalEnergy, energy),
        InternalEnergy::Each(energies) if particles.has(Field::InternalEnergy) => {
            particles.scalar_mut(Field::InternalEnergy).copy_from_slice(&energies);
        }
        InternalEnergy::Each(_) => {}
    }
    fill_common(&mut particles, plan);
    particles
}

#[cfg(test)]
mod tests;
