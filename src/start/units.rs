//! Compares the units of a start file with those of the deck: equal, converted, or refused.

use std::path::Path;

use crate::plan::{FileFormat, FileStart, FileUnits, Plan};
use crate::units::UnitSystem;
use crate::{Error, Result};

/// Gravitational constant in cm^3 g^-1 s^-2 (CODATA 2022).
const GRAVITATIONAL: f64 = 6.67430e-8;
/// Relative tolerance of the gravitational constant: other programs' values differ from CODATA's by less.
const CONSTANT_TOLERANCE: f64 = 0.01;
/// Relative tolerance for equal units: programs round the atomic mass unit and the parsec.
const UNIT_TOLERANCE: f64 = 1e-4;

/// The units of a text file: the deck's key, those stated in the file, or the convention of its format. With
/// a deck in reduced units, numbers are taken unchanged unless key or file states other units.
///
/// # Errors
/// [`Error::Content`] if key and file contradict each other, if the file's units do not belong to the deck's
/// unit system, or if no units are known.
pub(super) fn of_text(
    start: &FileStart,
    format: FileFormat,
    stated: Option<FileUnits>,
    plan: &Plan,
) -> Result<FileUnits> {
    let refused = |what: String, remedy: &str| Err(content(&start.path, what, remedy));
    if let (Some(key), Some(file)) = (start.units, stated)
        && key != file
    {
        return refused(
            format!("it says that its units are \"{}\", and the deck says \"{}\"", file.name(), key.name()),
            "remove `units` from [start.file], or correct the first line of the file",
        );
    }
    let said = start.units.or(stated);
    if plan.units.system == UnitSystem::Reduced {
        return match said {
            None | Some(FileUnits::Lj) => Ok(FileUnits::Lj),
            Some(units) => refused(
                format!("it is in the units \"{}\", and the deck is in reduced units", units.name()),
                if stated.is_none() {
                    "write `system = \"molecular\"` in [units], or remove `units` from [start.file]"
                } else {
                    "write `system = \"molecular\"` in [units]"
                },
            ),
        };
    }
    let usual = match format {
        FileFormat::Gromacs => Some(FileUnits::Gromacs),
        FileFormat::ExtendedXyz => Some(FileUnits::Ase),
        FileFormat::LammpsData | FileFormat::Hdf5 => None,
    };
    match said.or(usual) {
        Some(FileUnits::Lj) => refused(
            "it is in reduced units, and the deck is in molecular ones".into(),
            "take [units] out of the deck, or give the file's own with `units` in [start.file]",
        ),
        None => refused(
            "it does not say its units".into(),
            "give units = \"real\" or \"metal\" in [start.file], as the LAMMPS script has it",
        ),
        Some(units) => Ok(units),
    }
}

/// The run's units of mass, length and time in cgs for a start from an HDF5 file, with an optional note for
/// the user. `stated` are the units of the file.
///
/// # Errors
/// [`Error::Content`] if molecules are not in the deck's units, or if the deck's gravitational constant does
/// not match the file's units.
pub(super) fn of_hdf5(
    path: &Path,
    stated: Option<[f64; 3]>,
    plan: &Plan,
) -> Result<([f64; 3], Option<String>)> {
    let own = plan.units.cgs;
    let same = |a: [f64; 3], b: [f64; 3]| (0..3).all(|k| (a[k] / b[k] - 1.0).abs() < UNIT_TOLERANCE);
    let text = |[mass, length, time]: [f64; 3]| format!("{mass:e} g, {length:e} cm, {time:e} s");
    let physical = stated.filter(|units| !same(*units, [1.0; 3]));
    if plan.interaction.is_some() {
        let molecular = plan.units.system == UnitSystem::Molecular;
        return match (stated, molecular) {
            (Some(units), true) if same(units, own) => Ok((own, None)),
            (None, false) => Ok((own, None)),
            (Some(_), false) if physical.is_none() => Ok((own, None)),
            (Some(units), true) if physical.is_none() => Err(content(
                path,
                format!("it is in reduced units ({}), and the deck is in molecular ones", text(units)),
                "take [units] out of the deck, or write the file in amu, nm and ps with these in its group \
                 Units",
            )),
            (Some(units), true) => Err(content(
                path,
                format!("it is in units of {}, and the deck's are {}", text(units), text(own)),
                "write the file in amu, nm and ps, with these in its group Units",
            )),
            (None, true) => Err(content(
                path,
                "it does not say its units".into(),
                "write the units of its numbers, amu, nm and ps in cgs, into its group Units",
            )),
            (Some(units), false) => Err(content(
                path,
                format!("it is in units of {}, and the deck is in reduced units", text(units)),
                "write `system = \"molecular\"` in [units] if it is in amu, nm and ps, else convert the file",
            )),
        };
    }
    let Some(units) = physical else { return Ok((own, None)) };
    let [mass, length, time] = units;
    let constant = GRAVITATIONAL * mass * time.powi(2) / length.powi(3);
    if let Some(gravity) = &plan.gravity
        && (gravity.constant / constant - 1.0).abs() > CONSTANT_TOLERANCE
    {
        return Err(content(
            path,
            format!(
                "it is in units of {}, in which the gravitational constant is {constant:.6e}, and the deck's \
                 is {:e}",
                text(units),
                gravity.constant
            ),
            &format!(
                "write constant = {constant:.6e} in [gravity], or set the units in the file to 1 if it has \
                 none"
            ),
        ));
    }
    let note = format!("its numbers are in units of {}, and so are those of this run", text(units));
    Ok((units, Some(note)))
}

/// Checks that `system`, the unit system of the checkpoint `path`, is the deck's.
///
/// # Errors
/// [`Error::Content`] otherwise.
pub(crate) fn same_as(path: &Path, system: &str, plan: &Plan) -> Result<()> {
    if system == plan.units.system.name() {
        return Ok(());
    }
    Err(content(
        path,
        format!("it is in {system} units, and the deck is in {} ones", plan.units.system.name()),
        &format!("write `system = \"{system}\"` in [units], or restart with the deck of the checkpoint"),
    ))
}

fn content(path: &Path, what: String, remedy: &str) -> Error {
    Error::Content { path: path.to_owned(), what, remedy: remedy.into() }
}
