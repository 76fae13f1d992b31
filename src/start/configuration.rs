//! Particles from a configuration of another molecular dynamics program.

use std::path::Path;

use super::file::identify;
use super::formats::{self, Configuration, Hints};
use super::{enclose, few_enough, fill_common, own_box, share};
use crate::comm::Communicator;
use crate::deck::plan::{FileFormat, FileStart, FileUnits, Plan};
use crate::particles::{Field, Particles};
use crate::report;
use crate::space::{Boundary, SimulationBox};
use crate::units::{ASE_VELOCITY, UnitSystem};
use crate::{Error, Result};

/// The box and this rank's share of the particles of a text file; collective. Velocities that the file lacks are zero.
///
/// # Errors
/// On all ranks: those of [`formats::read`]; [`Error::Content`] where the file lacks what the plan needs, or has what the
/// plan does not know.
pub(super) fn particles(
    start: &FileStart,
    format: FileFormat,
    plan: &Plan,
    comm: &Communicator,
    fields: &[Field],
) -> Result<(SimulationBox, Particles)> {
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
    few_enough(read.count, comm)?;
    formats::unique(path, comm, &read.ids)?;
    let units = units_of(start, format, &read, plan)?;
    convert(&mut read, units);
    let names = all_names(comm, &read.names);
    let mut particles = comm.agree_on(made(&read, &names, path, plan, fields))?;
    read.notes.extend(differing(&read, &particles, plan, comm));
    tell(path, format, &read, &names);
    let bx = match (plan.space.corners, read.bx) {
        (None, Some(bx)) => own_box(bx, plan, &mut particles),
        (None, None) if plan.space.boundary.contains(&Boundary::Periodic) => {
            let what = "it has no box, and the deck's boundary is periodic".into();
            return Err(content(path, what, "give lower and upper in [space], or the box in the file"));
        }
        _ => enclose(plan, comm, &mut particles),
    };
    Ok((bx, particles))
}

/// The units that the file's numbers are in: the deck's key, what the file states, or what its format has by convention.
/// In a reduced deck numbers are taken as they stand unless one of the first two speaks of others.
fn units_of(start: &FileStart, format: FileFormat, read: &Configuration, plan: &Plan) -> Result<FileUnits> {
    let said = start.units.or(read.units);
    if plan.units.system == UnitSystem::Reduced {
        return match said {
            None | Some(FileUnits::Lj) => Ok(FileUnits::Lj),
            Some(units) => Err(content(
                &start.path,
                format!("it is in the units \"{}\", and the deck is in reduced units", units.name()),
                "write `system = \"molecular\"` in [units], or units = \"lj\" in [start.file] to take the numbers as they stand",
            )),
        };
    }
    let usual = match format {
        FileFormat::Gromacs => Some(FileUnits::Gromacs),
        FileFormat::ExtendedXyz => Some(FileUnits::Ase),
        FileFormat::LammpsData | FileFormat::Hdf5 => None,
    };
    match said.or(usual) {
        Some(FileUnits::Lj) => Err(content(
            &start.path,
            "it is in reduced units, and the deck is in molecular ones".into(),
            "take [units] out of the deck, or give the file's own in [start.file]: units = \"real\", ...",
        )),
        None => Err(content(
            &start.path,
            "it does not say its units".into(),
            "give units = \"real\" or \"metal\" in [start.file], as the LAMMPS script has it",
        )),
        Some(units) => Ok(units),
    }
}

/// Make the numbers the deck's.
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

/// The names of the species of all ranks, sorted; collective.
fn all_names(comm: &Communicator, mine: &[String]) -> Vec<String> {
    let text: Vec<u8> = mine.iter().flat_map(|name| name.bytes().chain([b'\n'])).collect();
    let all = comm.all_gather(&text).concat();
    let mut names: Vec<String> = String::from_utf8_lossy(&all).lines().map(str::to_owned).collect();
    names.sort();
    names.dedup();
    names
}

/// The particles of what has been read, at positions perhaps outside of the box.
fn made(
    read: &Configuration,
    names: &[String],
    path: &Path,
    plan: &Plan,
    fields: &[Field],
) -> Result<Particles> {
    if plan.species.is_empty() && names.len() > 1 {
        let what = format!("it has the species {}, and the deck knows one kind of particles", listed(names));
        return Err(content(path, what, "give the deck a section [species.NAME] for each"));
    }
    if plan.species.is_empty() && read.masses.is_none() && plan.units.system != UnitSystem::Reduced {
        let remedy =
            format!("give the deck [species.{}] with the mass", names.first().map_or("NAME", String::as_str));
        return Err(content(path, "it has no masses".into(), &remedy));
    }
    let kinds: Vec<usize> =
        read.names.iter().map(|name| species_of(name, path, plan)).collect::<Result<_>>()?;
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
    if particles.has(Field::Species) {
        let column = particles.scalar_mut(Field::Species);
        column.iter_mut().zip(&read.species).for_each(|(to, &name)| *to = kinds[name] as f64);
    }
    identify(&mut particles, plan, path)?;
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

/// The deck's species of a name in the file: of the same name, else of the same letters, small or capital; types that are
/// only numbered are the deck's species in their order.
fn species_of(name: &str, path: &Path, plan: &Plan) -> Result<usize> {
    if plan.species.is_empty() {
        return Ok(0);
    }
    let same = |matches: &dyn Fn(&str) -> bool| {
        let found: Vec<usize> = (0..plan.species.len()).filter(|&k| matches(&plan.species[k].name)).collect();
        if let [only] = found[..] { Some(only) } else { None }
    };
    let number = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    same(&|known| known == name)
        .or_else(|| same(&|known| known.eq_ignore_ascii_case(name)))
        .or(number.filter(|&number| number < plan.species.len()))
        .ok_or_else(|| {
            let known: Vec<String> = plan.species.iter().map(|kind| kind.name.clone()).collect();
            let what = format!("it has the species \"{name}\", and the deck has {}", listed(&known));
            content(
                path,
                what,
                &format!("name a section of the deck [species.{name}], or rename the species in the file"),
            )
        })
}

/// What the file says of masses and charges and the deck's species say otherwise; collective.
fn differing(read: &Configuration, particles: &Particles, plan: &Plan, comm: &Communicator) -> Vec<String> {
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

/// Say on rank 0 what was read, and what was not used of it.
fn tell(path: &Path, format: FileFormat, read: &Configuration, names: &[String]) {
    let with = |there: bool, what: &'static str| there.then_some(what);
    let parts = [
        with(read.velocities.is_some() || read.momenta.is_some(), "velocities"),
        with(read.masses.is_some(), "masses"),
        with(read.charges.is_some(), "charges"),
        with(read.images.is_some(), "images"),
    ];
    let parts: Vec<&str> = parts.into_iter().flatten().collect();
    let with = if parts.is_empty() { String::new() } else { format!(", with {}", parts.join(", ")) };
    report::line(&format!(
        "{} ({}): {} particles of {}{with}",
        path.display(),
        format.name(),
        report::grouped(read.count),
        listed(names)
    ));
    read.notes.iter().for_each(|note| report::line(&format!("{}: {note}", path.display())));
}

/// Names for people, at most a few.
fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(8).map(|name| format!("\"{name}\"")).collect();
    shown.join(", ") + if names.len() > 8 { ", ..." } else { "" }
}

fn content(path: &Path, what: String, remedy: &str) -> Error {
    Error::Content { path: path.to_owned(), what, remedy: remedy.into() }
}
