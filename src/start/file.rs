//! Starts from a file; reads HDF5 here. Missing data are set as in other starts: velocities are zero, and
//! first smoothing lengths follow from the local density.

use std::path::Path;

use super::start_box::{Enclosure, FileBox, enclose, extent};
use super::{Start, configuration, fill_common, formats, neighbors, smoothing_length, species, units};
use crate::comm::Communicator;
use crate::particles::{Field, Particles};
use crate::plan::{FileFormat, FileStart, Plan};
use crate::report;
use crate::snapshot::{Header, read_snapshot_slice};
use crate::space::{SimulationBox, Vec3d};
use crate::{Error, Result};

/// Levels of the counting grid: 2^6 = 64 cells per edge.
const LEVELS: u32 = 6;

/// Reads a start from a file. Collective.
///
/// # Errors
/// Those of [`read_snapshot_slice`] and of the text readers; [`Error::Content`] if the file lacks what the
/// plan needs or is in other units than the plan's.
pub(super) fn start(file: &FileStart, plan: &Plan, comm: &Communicator, fields: &[Field]) -> Result<Start> {
    let format = comm.agree_on(file.format.map_or_else(|| formats::format_of(&file.path), Ok))?;
    for (name, written, format_of_key) in [
        ("units", file.units.is_some(), format != FileFormat::Hdf5),
        ("atom_style", file.atom_style.is_some(), format == FileFormat::LammpsData),
    ] {
        if written && !format_of_key {
            return Err(Error::usage(
                format!(
                    "`{name}` of [start.file] has no effect on {} ({})",
                    file.path.display(),
                    format.name()
                ),
                format!("remove `{name}` from [start.file]"),
            ));
        }
    }
    if format != FileFormat::Hdf5 {
        return configuration::start(file, format, plan, comm, fields);
    }
    let (header, read) = read_snapshot_slice(&file.path, comm)?;
    check_fields(plan, &header, &read, &file.path)?;
    let (units, unit_note) = units::of_hdf5(&file.path, header.stated.units.then_some(header.units), plan)?;
    let (particles, Enclosure { bx, notes: about_box }) =
        fit_to_plan(&file.path, &header, &read, plan, comm, fields)?;
    let unused = unused_fields(plan, &read, file.temperature.is_some());
    let unused =
        (!unused.is_empty()).then(|| format!("its {} are not used: the deck's hold", unused.join(", ")));
    let mut notes = vec![summary(&file.path, &header, &read)];
    let about = header.stated.notes.into_iter().chain(unit_note).chain(unused);
    notes.extend(about.map(|note| format!("{}: {note}", file.path.display())));
    notes.extend(about_box);
    Ok(Start { bx, particles, units, notes })
}

/// The box, and the particles with the `fields` of the plan, of those that were read or given and have what
/// the plan needs. Collective.
///
/// # Errors
/// [`Error::Content`] if they do not fit the plan; those of the box.
pub(super) fn fit_to_plan(
    path: &Path,
    header: &Header,
    read: &Particles,
    plan: &Plan,
    comm: &Communicator,
    fields: &[Field],
) -> Result<(Particles, Enclosure)> {
    let mut particles = Particles::new(fields, read.len());
    particles.id.copy_from_slice(&read.id);
    fill_common(&mut particles, plan);
    for field in FIELDS {
        if !particles.has(field) || !read.has(field) {
            continue;
        }
        for component in 0..field.components() {
            particles.component_mut(field, component).copy_from_slice(read.component(field, component));
        }
    }
    let assigned = species::assign(&mut particles, &header.species, plan);
    comm.agree(assigned.map_err(|mismatch| mismatch.of_file(path)))?;
    check_three_dimensional(plan, path, comm, &particles)?;
    let stated = FileBox {
        path,
        corners: header.stated.bx.then_some([header.bx.lower, header.bx.upper]),
        boundary: header.stated.boundary.then_some(header.bx.boundary),
        states_boundary: header.stated.boundary,
    };
    let enclosure = enclose(plan, Some(&stated), comm, &mut particles)?;
    if particles.has(Field::SmoothingLength) {
        guess_smoothing_lengths(&enclosure.bx, neighbors(plan), comm, &mut particles);
    }
    Ok((particles, enclosure))
}

/// The fields taken from an HDF5 file, or from given particles.
pub(super) const FIELDS: [Field; 8] = [
    Field::Position,
    Field::Velocity,
    Field::Mass,
    Field::SmoothingLength,
    Field::InternalEnergy,
    Field::Viscosity,
    Field::Species,
    Field::Charge,
];

/// Checks that a file has the fields the plan needs, and no unread particles that gravity would miss.
pub(super) fn check_fields(plan: &Plan, header: &Header, read: &Particles, path: &Path) -> Result<()> {
    let refused = |what: String, remedy: String| Err(Error::Content { path: path.to_owned(), what, remedy });
    let charged = plan.interaction.as_ref().is_some_and(|interaction| interaction.coulomb.is_some());
    // The reader refuses files without masses.
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
        return refused(
            format!("it has no {}", missing.name()),
            format!("add it to the file, or {otherwise}"),
        );
    }
    if read.has(Field::Species) && header.species.is_empty() && plan.interaction.is_some() {
        return refused(
            "its species have numbers and no names".into(),
            "give the dataset PartType0/species an attribute `names`, a list of the names in the order of \
             the numbers"
                .into(),
        );
    }
    if plan.gravity.is_some() && !header.stated.left_out.is_empty() {
        return refused(
            format!("it has {}, which gravity would lack", left_out(header)),
            "take these particles out of the file, or [gravity] out of the deck: only gas (PartType0) is \
             read"
                .into(),
        );
    }
    Ok(())
}

/// Checks that gas is neither planar nor linear, as in files of one or two dimensions that do not declare
/// them: such gas has no density. Collective.
fn check_three_dimensional(
    plan: &Plan,
    path: &Path,
    comm: &Communicator,
    particles: &Particles,
) -> Result<()> {
    let Some((lower, upper)) = extent(comm, particles).filter(|_| plan.sph.is_some()) else { return Ok(()) };
    let Some(d) = (0..3).find(|&d| lower[d] == upper[d]) else { return Ok(()) };
    Err(Error::Content {
        path: path.to_owned(),
        what: format!(
            "all particles have {} = {}: its gas is not three-dimensional",
            ["x", "y", "z"][d],
            lower[d]
        ),
        remedy: "repeat the particles along the missing dimension: gas runs in three dimensions only".into(),
    })
}

/// Lists the particles of other types than gas, by group.
fn left_out(header: &Header) -> String {
    let types = header.stated.left_out.iter();
    let texts: Vec<String> =
        types.map(|(group, count)| format!("{} particles of {group}", report::grouped(*count))).collect();
    texts.join(" and ")
}

/// Describes what was read, in one line.
fn summary(path: &Path, header: &Header, read: &Particles) -> String {
    let there: Vec<&str> =
        FIELDS.iter().filter(|&&field| read.has(field)).map(|field| field.name()).collect();
    let mut text = format!(
        "{} (hdf5): {} particles with {}",
        path.display(),
        report::grouped(header.particle_count),
        there.join(", ")
    );
    if !read.has(Field::Velocity) {
        text += "; no velocities, so they start at rest";
    }
    if !header.stated.left_out.is_empty() {
        text += &format!("; left out: {}", left_out(header));
    }
    text
}

/// Names the fields that were read or given and that the plan does not use, or replaces. With
/// `draws_velocities` it replaces velocities.
pub(super) fn unused_fields(plan: &Plan, read: &Particles, draws_velocities: bool) -> Vec<&'static str> {
    let gas = [Field::InternalEnergy, Field::SmoothingLength, Field::Viscosity];
    let mut fields = Vec::new();
    if plan.sph.is_none() {
        fields.extend(gas.iter().filter(|&&field| read.has(field)).map(|field| field.name()));
    }
    if draws_velocities && read.has(Field::Velocity) {
        fields.push(Field::Velocity.name());
    }
    if !plan.species.is_empty() {
        fields.extend([Field::Mass, Field::Charge].iter().filter(|&&f| read.has(f)).map(|f| f.name()));
    } else if read.has(Field::Charge) && plan.interaction.as_ref().is_none_or(|i| i.coulomb.is_none()) {
        fields.push(Field::Charge.name());
    }
    fields
}

/// Estimates missing smoothing lengths from the smallest cell of a grid hierarchy that holds enough particles
/// of all ranks. Collective.
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
