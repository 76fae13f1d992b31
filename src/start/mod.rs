//! Initial conditions: uniform boxes, the cases of `crate::cases`, files, and particles that a caller gives.
//!
//! Every rank makes its own share of the particles, independent of the number of ranks: particle `k` of a
//! start is always the same. Patterns are enumerated in a fixed order, of which a rank keeps its range of
//! ids. Random numbers come from a generator per particle (stream `k` of the deck's seed).

mod composition;
mod configuration;
mod file;
pub mod formats;
mod given;
mod radial_table;
pub(crate) mod species;
mod start_box;
mod uniform;
pub(crate) mod units;

use crate::comm::Communicator;
use crate::comm::distribution::share;
use crate::faults::{Fault, planted};
use crate::layout::{Layout, Values, normal, particle_rng};
use crate::particles::{Field, Particles};
use crate::plan::{FileFormat, Plan, StartPlan};
use crate::space::{SimulationBox, Vec3d};
use crate::{Error, Result};
use start_box::{Enclosure, enclose};

pub use given::{check_values, given};

/// Neighbor number for the first smoothing lengths if the deck has no `[sph]`.
const DEFAULT_NEIGHBORS: f64 = 100.0;

/// A start: the box, this rank's share of the particles, and notes for the user.
pub struct Start {
    /// The box.
    pub bx: SimulationBox,
    /// The particles, all inside the box.
    pub particles: Particles,
    /// Units of mass, length and time of the run in g, cm and s; all 1 for a run without units.
    pub units: [f64; 3],
    /// Sentences for the log: the origin of the box, data of a file that were converted or not read.
    pub notes: Vec<String>,
}

/// Builds the box and this rank's share of the particles. Collective. Drops [`Start::notes`], which a run
/// logs.
///
/// # Errors
/// As [`build`].
pub fn particles(plan: &Plan, comm: &Communicator, fields: &[Field]) -> Result<(SimulationBox, Particles)> {
    build(plan, comm, fields).map(|start| (start.bx, start.particles))
}

/// Builds the start of a plan. Collective.
///
/// `fields` are the columns to allocate; of these, position, velocity, mass, smoothing length, internal
/// energy, viscosity, work, species and charge are set. Smoothing lengths are estimates from the density, h =
/// (3 n_neighbors / (32 pi n))^(1/3), refined by the iteration of the first step.
///
/// # Errors
/// On all ranks: too many particles for a rank; a glass that cannot be as quiet as the plan asks; errors of
/// reading a file; a file that does not fit the plan.
pub fn build(plan: &Plan, comm: &Communicator, fields: &[Field]) -> Result<Start> {
    if let StartPlan::File(file) = &plan.start {
        let mut start = file::start(file, plan, comm, fields)?;
        if let Some(temperature) = file.temperature {
            draw_velocities(&mut start.particles, comm, plan.units.boltzmann * temperature, file.seed);
            start.notes.push(format!(
                "{}: velocities are new ones of `temperature` in [start.file]",
                file.path.display()
            ));
        }
        return Ok(start);
    }
    let total = count(&plan.start).unwrap_or(0);
    let share = share(total, comm.rank(), comm.size());
    check_particle_count(total, comm)?;
    check_noise(plan)?;
    let layout = match &plan.start {
        StartPlan::UniformBox(start) => {
            uniform::uniform_box(start, plan.space.corners, plan.noise, share.clone())
        }
        StartPlan::Lattice(start) => uniform::lattice(start, plan.space.corners, share.clone()),
        StartPlan::Random(start) => uniform::random(start, plan.space.corners, share.clone()),
        StartPlan::RadialTable(start) => comm.agree_on(radial_table::layout(start, share.clone()))?,
        StartPlan::Case(case) => case.layout(&plan.surroundings(), share.clone()),
        StartPlan::File(_) => unreachable!("a file has been dealt with above"),
    };
    let mut particles = to_particles(layout, share.start, plan, fields);
    composition::assign(&mut particles, plan, total);
    if let (Some(_), Some((temperature, seed))) = (&plan.interaction, thermal_start(&plan.start)) {
        draw_velocities(&mut particles, comm, plan.units.boltzmann * temperature, seed);
    }
    let Enclosure { bx, notes } = enclose(plan, None, comm, &mut particles)?;
    Ok(Start { bx, particles, units: plan.units.cgs, notes })
}

/// Checks the particle number: neighbor lists address a rank's rows with 32 bits. Tests the largest share, so
/// that all ranks agree.
fn check_particle_count(total: u64, comm: &Communicator) -> Result<()> {
    if total.div_ceil(comm.size() as u64) <= u64::from(u32::MAX) / 2 {
        return Ok(());
    }
    Err(Error::usage(
        format!("{total} particles are too many for {} ranks: a rank holds less than 2^31", comm.size()),
        "start more ranks, or ask for fewer particles",
    ))
}

/// Checks that the glass can be as quiet as the plan asks. All ranks relax the same tiles.
fn check_noise(plan: &Plan) -> Result<()> {
    let Some(allowed) = plan.noise else { return Ok(()) };
    let reached = plan.start.tiles().iter().map(|tile| tile.noise(allowed)).fold(0.0, f64::max);
    if reached <= allowed {
        return Ok(());
    }
    Err(Error::usage(
        format!("the glass reaches a noise of {reached:.2e}, not the {allowed:.2e} of `noise`"),
        "allow more `noise`, or take a lattice",
    ))
}

/// Temperature and seed of starts whose particles may have thermal velocities.
fn thermal_start(start: &StartPlan) -> Option<(f64, u64)> {
    match start {
        StartPlan::UniformBox(start) => Some((start.temperature, start.seed)),
        StartPlan::Lattice(start) => Some((start.temperature, start.seed)),
        StartPlan::Random(start) => Some((start.temperature, start.seed)),
        StartPlan::RadialTable(_) | StartPlan::Case(_) | StartPlan::File(_) => None,
    }
}

/// Draws velocities from the Maxwell-Boltzmann distribution at `temperature` = k_B T (an energy), removes the
/// center-of-mass motion, and rescales to the exact temperature with 3 N - 3 degrees of freedom. Independent
/// of the number of ranks up to rounding. Collective.
fn draw_velocities(particles: &mut Particles, comm: &Communicator, temperature: f64, seed: u64) {
    // A generator other than that of the positions.
    let seed = seed ^ 0x7665_6c6f_6369_7479;
    let rows = particles.owned();
    for row in rows.clone() {
        let mass = particles.scalar(Field::Mass)[row];
        let velocity = normal(&mut particle_rng(seed, particles.id[row])) * (temperature / mass).sqrt();
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

/// Number of particles of a start, rounded to what its arrangement supports; `None` for a file.
pub fn count(start: &StartPlan) -> Option<u64> {
    Some(match start {
        StartPlan::UniformBox(start) => start.cuboid(None).count(),
        StartPlan::Lattice(start) => start.cells.iter().product::<u64>() * start.kind.particles_per_cell(),
        StartPlan::Random(start) => start.particles,
        StartPlan::RadialTable(start) => start.particles,
        StartPlan::Case(case) => case.count(),
        StartPlan::File(_) => return None,
    })
}

/// Number of particles of a start. For a file, reads its counts and structure, but not every value.
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

/// The smoothing length h whose support sphere of radius 2h has a volume.
fn smoothing_length(volume: f64) -> f64 {
    0.5 * (volume * 3.0 / (4.0 * std::f64::consts::PI)).cbrt()
}

fn neighbors(plan: &Plan) -> f64 {
    plan.sph.as_ref().map_or(DEFAULT_NEIGHBORS, |sph| sph.neighbors)
}

/// Sets every row of a scalar field, if the particles have it.
fn fill(particles: &mut Particles, field: Field, value: f64) {
    if particles.has(field) {
        particles.scalar_mut(field).fill(value);
    }
}

/// Sets a scalar field of a layout's particles, if they have it.
fn assign(particles: &mut Particles, field: Field, values: &Values) {
    match values {
        Values::Uniform(value) => fill(particles, field, *value),
        Values::PerParticle(values) if particles.has(field) => {
            particles.scalar_mut(field).copy_from_slice(values);
        }
        Values::PerParticle(_) => {}
    }
}

/// Sets fields that do not depend on the case: uniform work, and viscosity at the lower limit of its switch
/// (nothing has been shocked yet) or at its constant value.
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

fn to_particles(layout: Layout, first_id: u64, plan: &Plan, fields: &[Field]) -> Particles {
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
    assign(&mut particles, Field::Mass, &layout.mass);
    assign(&mut particles, Field::InternalEnergy, &layout.internal_energy);
    if planted(Fault::StartEnergy) && particles.has(Field::InternalEnergy) {
        particles.scalar_mut(Field::InternalEnergy).iter_mut().for_each(|energy| *energy *= 1.05);
    }
    fill_common(&mut particles, plan);
    particles
}

#[cfg(test)]
mod tests;
