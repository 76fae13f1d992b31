//! Particles from a file, here from HDF5. What it lacks is made as for every other start: velocities are zero, and first
//! smoothing lengths come from the local density.

use super::{configuration, enclose, fill_common, formats, neighbors, own_box, smoothing_length};
use crate::comm::Communicator;
use crate::deck::plan::{FileFormat, FileStart, Plan};
use crate::particles::{Field, Particles};
use crate::snapshot::read_snapshot_slice;
use crate::space::{SimulationBox, Vec3d};
use crate::{Error, Result};
use std::path::Path;

/// Levels of the grid that counts particles: 64 cells along an edge.
const LEVELS: u32 = 6;

/// The box and this rank's share of the particles of a file; collective.
///
/// # Errors
/// Those of [`read_snapshot_slice`]; [`Error::Content`] when the file lacks what the plan needs.
pub fn particles(
    start: &FileStart,
    plan: &Plan,
    comm: &Communicator,
    fields: &[Field],
) -> Result<(SimulationBox, Particles)> {
    let format = comm.agree_on(start.format.map_or_else(|| formats::format_of(&start.path), Ok))?;
    if format != FileFormat::Hdf5 {
        return configuration::particles(start, format, plan, comm, fields);
    }
    let (header, read) = read_snapshot_slice(&start.path, comm)?;
    let charged = plan.interaction.as_ref().is_some_and(|interaction| interaction.coulomb.is_some());
    // a file without masses has been refused already
    let needed = [
        (Field::InternalEnergy, plan.sph.is_some(), "take [sph] out of the deck if there is no gas"),
        (Field::Species, plan.species.len() > 1, "leave the deck one [species.NAME] if all are of one kind"),
        (
            Field::Charge,
            charged && plan.species.is_empty(),
            "give the deck [species.NAME] with a charge, or take [interaction.coulomb] out of it",
        ),
    ];
    if let Some((missing, _, otherwise)) =
        needed.iter().find(|(field, needed, _)| *needed && !read.has(*field))
    {
        return Err(Error::Content {
            path: start.path.clone(),
            what: format!("it has no {}", missing.name()),
            remedy: format!("add it to the file, or {otherwise}"),
        });
    }
    let mut particles = Particles::new(fields, read.len());
    particles.id.copy_from_slice(&read.id);
    fill_common(&mut particles, plan);
    let kept = [
        Field::Position,
        Field::Velocity,
        Field::Mass,
        Field::SmoothingLength,
        Field::InternalEnergy,
        Field::Viscosity,
        Field::Species,
        Field::Charge,
    ];
    for field in kept {
        if !particles.has(field) || !read.has(field) {
            continue;
        }
        for component in 0..field.components() {
            particles.component_mut(field, component).copy_from_slice(read.component(field, component));
        }
    }
    comm.agree(identify(&mut particles, plan, &start.path))?;
    let bx = match plan.space.corners {
        Some(_) => enclose(plan, comm, &mut particles),
        None => own_box(header.bx, plan, &mut particles),
    };
    if particles.has(Field::SmoothingLength) {
        guess_smoothing_lengths(&bx, neighbors(plan), comm, &mut particles);
    }
    Ok((bx, particles))
}

/// Mass and charge of the species.
///
/// # Errors
/// [`Error::Content`] where a particle is of a species that the plan does not have.
pub(super) fn identify(particles: &mut Particles, plan: &Plan, path: &Path) -> Result<()> {
    if plan.species.is_empty() {
        return Ok(());
    }
    species_known(particles, plan).map_err(|what| Error::Content {
        path: path.to_owned(),
        what,
        remedy: "give the deck a [species.NAME] for each, in the order of the file's numbers".into(),
    })?;
    for row in 0..particles.len() {
        let index = if particles.has(Field::Species) { particles.scalar(Field::Species)[row] } else { 0.0 };
        let kind = &plan.species[index as usize];
        particles.scalar_mut(Field::Mass)[row] = kind.mass;
        if particles.has(Field::Charge) {
            particles.scalar_mut(Field::Charge)[row] = kind.charge;
        }
    }
    Ok(())
}

/// See that every particle's species is an index to those of the plan; a plan that names none has one.
///
/// # Errors
/// The first particle of another species, in words.
pub(crate) fn species_known(particles: &Particles, plan: &Plan) -> Result<(), String> {
    if !particles.has(Field::Species) {
        return Ok(());
    }
    let known = plan.species.len().max(1) as f64;
    let column = particles.scalar(Field::Species);
    match particles.owned().find(|&row| !(0.0..known).contains(&column[row]) || column[row].fract() != 0.0) {
        Some(row) => Err(format!(
            "particle {} is of species {}, and the deck has {}",
            particles.id[row],
            column[row],
            plan.species.len()
        )),
        None => Ok(()),
    }
}

/// Smoothing lengths where there are none, from the smallest cell of a hierarchy of grids that holds enough particles
/// of all ranks.
fn guess_smoothing_lengths(
    bx: &SimulationBox,
    neighbors: f64,
    comm: &Communicator,
    particles: &mut Particles,
) {
    let lacking = |length: f64| length.is_nan() || length <= 0.0;
    let lengths = particles.scalar(Field::SmoothingLength);
    let mut any = [u64::from(lengths.iter().any(|&length| lacking(length)))];
    comm.all_max(&mut any);
    if any[0] == 0 {
        return;
    }
    let edge = 1usize << LEVELS;
    let place = |position: Vec3d| {
        let cell = (position - bx.lower).component_div(&bx.lengths()) * edge as f64;
        [0, 1, 2].map(|d| (cell[d].max(0.0) as usize).min(edge - 1))
    };
    let mut counts = vec![vec![0u64; edge.pow(3)]];
    for row in 0..particles.len() {
        let [x, y, z] = place(particles.vector_at(Field::Position, row));
        counts[0][(x * edge + y) * edge + z] += 1;
    }
    comm.all_sum(&mut counts[0]);
    for level in 1..=LEVELS {
        let (fine, coarse) = (edge >> (level - 1), edge >> level);
        let mut sums = vec![0; coarse.pow(3)];
        for (cell, count) in counts[level as usize - 1].iter().enumerate() {
            let [x, y, z] = [cell / (fine * fine), cell / fine % fine, cell % fine].map(|c| c / 2);
            sums[(x * coarse + y) * coarse + z] += count;
        }
        counts.push(sums);
    }
    let smallest = bx.lengths().product() / edge.pow(3) as f64;
    for row in 0..particles.len() {
        if !lacking(particles.scalar(Field::SmoothingLength)[row]) {
            continue;
        }
        let [x, y, z] = place(particles.vector_at(Field::Position, row));
        let count = |level: u32| {
            let coarse = edge >> level;
            counts[level as usize][((x >> level) * coarse + (y >> level)) * coarse + (z >> level)] as f64
        };
        let level = (0..LEVELS).find(|&level| count(level) >= neighbors).unwrap_or(LEVELS);
        let density = count(level) / (smallest * f64::from(8u32.pow(level)));
        particles.scalar_mut(Field::SmoothingLength)[row] = smoothing_length(neighbors / density);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::run_local;
    use crate::space::Boundary;

    #[test]
    fn smoothing_lengths_come_from_the_local_density() {
        let bx = SimulationBox {
            lower: Vec3d::zeros(),
            upper: Vec3d::repeat(1.0),
            boundary: [Boundary::Periodic; 3],
        };
        let count = 32usize;
        let lengths = run_local(2, |comm| {
            let mut particles = Particles::new(&[Field::Position, Field::SmoothingLength], count.pow(3) / 2);
            for row in 0..particles.len() {
                let k = 2 * row + comm.rank();
                let cell = [k / (count * count), k / count % count, k % count];
                let position = Vec3d::from(cell.map(|c| (c as f64 + 0.5) / count as f64));
                particles.set_vector(Field::Position, row, position);
            }
            particles.scalar_mut(Field::SmoothingLength)[0] = 0.123;
            guess_smoothing_lengths(&bx, 100.0, &comm, &mut particles);
            particles.scalar(Field::SmoothingLength).to_vec()
        });
        let exact = smoothing_length(100.0 / (count as f64).powi(3));
        for lengths in lengths {
            assert_eq!(lengths[0], 0.123, "what is there stays");
            assert!(lengths[1..].iter().all(|length| (length / exact - 1.0).abs() < 1e-9));
        }
    }
}
