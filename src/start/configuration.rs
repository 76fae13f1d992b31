//! Starts from configurations of other molecular dynamics programs.

use std::path::Path;

use super::formats::{self, Configuration, Hints};
use super::start_box::{Enclosure, FileBox, enclose};
use super::{Start, check_particle_count, fill_common, share, species, units};
use crate::comm::Communicator;
use crate::particles::{Field, Particles};
use crate::plan::{FileFormat, FileStart, FileUnits, Plan};
use crate::report;
use crate::units::{ASE_VELOCITY, UnitSystem};
use crate::{Error, Result};

/// Reads a start from a text file. Velocities missing in the file are zero. Collective.
///
/// # Errors
/// On all ranks: those of [`formats::read`]; [`Error::Content`] if the file lacks what the plan needs, or has
/// what the plan does not define.
pub(super) fn start(
    start: &FileStart,
    format: FileFormat,
    plan: &Plan,
    comm: &Communicator,
    fields: &[Field],
) -> Result<Start> {
    let path = &start.path;
    if plan.sph.is_some() {
        return Err(Error::usage(
            format!("{} is a file of molecules, and the deck has [sph]", path.display()),
            "start gas from an HDF5 file, or replace [sph] by an [interaction.LAW]",
        ));
    }
    let hints = Hints { atom_style: start.atom_style.map(|style| style.name()), first_frame: false };
    let rows = |count| share(count, comm.rank(), comm.size());
    let mut read = comm.agree_on(formats::read(path, format, hints, rows))?;
    check_particle_count(read.count, comm)?;
    formats::unique(path, comm, &read.ids)?;
    let units = units::of_text(start, format, read.units, plan)?;
    convert(&mut read, units);
    let names = all_names(comm, &read.names);
    let mut particles = comm.agree_on(build_particles(&read, &names, path, plan, fields))?;
    read.notes.extend(note_differences(&read, &particles, plan, comm));
    let mut notes = log_lines(path, format, &read, &names);
    let stated = FileBox {
        path,
        corners: read.bx.map(|bx| [bx.lower, bx.upper]),
        boundary: read.bx.map(|bx| bx.boundary),
        states_boundary: read.boundary_stated,
    };
    let Enclosure { bx, notes: about_box } = enclose(plan, Some(&stated), comm, &mut particles)?;
    notes.extend(about_box);
    Ok(Start { bx, particles, units: plan.units.cgs, notes })
}

/// Converts to the deck's units.
fn convert(read: &mut Configuration, units: FileUnits) {
    let [length, velocity] = match units {
        FileUnits::Lj | FileUnits::Gromacs => [1.0, 1.0],
        FileUnits::Real => [0.1, 100.0],
        FileUnits::Metal => [0.1, 0.1],
        FileUnits::Ase => [0.1, ASE_VELOCITY],
    };
    if let Some(bx) = &mut read.bx {
        (bx.lower, bx.upper) = (bx.lower * length, bx.upper * length);
    }
    read.positions.iter_mut().for_each(|position| *position *= length);
    for column in [&mut read.velocities, &mut read.momenta].into_iter().flatten() {
        column.iter_mut().for_each(|vector| *vector *= velocity);
    }
}

/// Species names of all ranks, sorted. Collective.
fn all_names(comm: &Communicator, mine: &[String]) -> Vec<String> {
    let text: Vec<u8> = mine.iter().flat_map(|name| name.bytes().chain([b'\n'])).collect();
    let all = comm.all_gather(&text).concat();
    let mut names: Vec<String> = String::from_utf8_lossy(&all).lines().map(str::to_owned).collect();
    names.sort();
    names.dedup();
    names
}

/// Builds the particles from the configuration; positions may lie outside the box. `names` are sorted.
fn build_particles(
    read: &Configuration,
    names: &[String],
    path: &Path,
    plan: &Plan,
    fields: &[Field],
) -> Result<Particles> {
    let indices = species::indices(names, plan).map_err(|mismatch| mismatch.of_file(path))?;
    if plan.species.is_empty() && read.masses.is_none() && plan.units.system != UnitSystem::Reduced {
        let remedy =
            format!("give the deck [species.{}] with the mass", names.first().map_or("NAME", String::as_str));
        return Err(content(path, "it has no masses".into(), &remedy));
    }
    let kind_of = |name: &String| names.binary_search(name).map_or(0, |place| indices[place]);
    let kinds: Vec<usize> = read.names.iter().map(kind_of).collect();
    let mut particles = Particles::new(fields, read.ids.len());
    fill_common(&mut particles, plan);
    particles.id.copy_from_slice(&read.ids);
    for (row, position) in read.positions.iter().enumerate() {
        particles.set_vector(Field::Position, row, *position);
    }
    match &read.masses {
        Some(masses) => particles.scalar_mut(Field::Mass).copy_from_slice(masses),
        None => particles.scalar_mut(Field::Mass).fill(1.0),
    }
    for (row, &name) in read.species.iter().enumerate() {
        if particles.has(Field::Species) {
            particles.scalar_mut(Field::Species)[row] = kinds[name] as f64;
        }
        let Some(kind) = plan.species.get(kinds[name]) else { continue };
        particles.scalar_mut(Field::Mass)[row] = kind.mass;
        if particles.has(Field::Charge) {
            particles.scalar_mut(Field::Charge)[row] = kind.charge;
        }
    }
    if particles.has(Field::Charge) && plan.species.is_empty() {
        let charges = read.charges.as_ref().ok_or_else(|| {
            content(path, "it has no charges".into(), "give the deck [species.NAME] with a charge")
        })?;
        particles.scalar_mut(Field::Charge).copy_from_slice(charges);
    }
    if let Some(velocities) = &read.velocities {
        for (row, velocity) in velocities.iter().enumerate() {
            particles.set_vector(Field::Velocity, row, *velocity);
        }
    } else if let Some(momenta) = &read.momenta {
        for (row, momentum) in momenta.iter().enumerate() {
            let velocity = momentum / particles.scalar(Field::Mass)[row];
            particles.set_vector(Field::Velocity, row, velocity);
        }
    }
    if let Some(images) = read.images.as_ref().filter(|_| particles.has(Field::Image)) {
        for (row, image) in images.iter().enumerate() {
            particles.set_vector(Field::Image, row, image.map(f64::from).into());
        }
    }
    Ok(particles)
}

/// Notes masses and charges of the file that differ from those of the deck's species. Collective.
fn note_differences(
    read: &Configuration,
    particles: &Particles,
    plan: &Plan,
    comm: &Communicator,
) -> Vec<String> {
    let mut counts = [0u64; 2];
    if !plan.species.is_empty() {
        let columns = [(&read.masses, Field::Mass, 1e-3), (&read.charges, Field::Charge, 1e-6)];
        for (count, (stated, field, tolerance)) in counts.iter_mut().zip(columns) {
            for (row, stated) in stated.iter().flatten().enumerate() {
                let ours = if particles.has(field) { particles.scalar(field)[row] } else { 0.0 };
                *count += u64::from((stated - ours).abs() > tolerance * ours.abs().max(1.0));
            }
        }
    } else if let Some(charges) = read.charges.as_ref().filter(|_| !particles.has(Field::Charge)) {
        counts[1] = charges.iter().filter(|&&charge| charge != 0.0).count() as u64;
    }
    comm.all_sum(&mut counts);
    let holds =
        if plan.species.is_empty() { "the deck has no species" } else { "those of the deck's species hold" };
    let said = |count: u64, what: &str| {
        (count > 0).then(|| format!("its {what} of {count} particles are not used: {holds}"))
    };
    [said(counts[0], "masses"), said(counts[1], "charges")].into_iter().flatten().collect()
}

/// Lines for the log: what was read, and what of it is not used.
fn log_lines(path: &Path, format: FileFormat, read: &Configuration, names: &[String]) -> Vec<String> {
    let moving = read.velocities.is_some() || read.momenta.is_some();
    let parts = [
        (moving, "velocities"),
        (read.masses.is_some(), "masses"),
        (read.charges.is_some(), "charges"),
        (read.images.is_some(), "images"),
    ];
    let parts: Vec<&str> = parts.into_iter().filter(|(there, _)| *there).map(|(_, what)| what).collect();
    let with = if parts.is_empty() { String::new() } else { format!(", with {}", parts.join(", ")) };
    let resting = if moving { "" } else { "; no velocities, so they start at rest" };
    let first = format!(
        "{} ({}): {} particles of {}{with}{resting}",
        path.display(),
        format.name(),
        report::grouped(read.count),
        species::listed(names)
    );
    let notes = read.notes.iter().map(|note| format!("{}: {note}", path.display()));
    std::iter::once(first).chain(notes).collect()
}

fn content(path: &Path, what: String, remedy: &str) -> Error {
    Error::Content { path: path.to_owned(), what, remedy: remedy.into() }
}
