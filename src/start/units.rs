//! The units of a start's file against those of the deck: equal, converted, or refused.

use std::path::Path;

use crate::deck::plan::{FileFormat, FileStart, FileUnits, Plan};
use crate::units::UnitSystem;
use crate::{Error, Result};

/// The gravitational constant in cm^3 g^-1 s^-2 (CODATA 2022).
const GRAVITATIONAL: f64 = 6.67430e-8;
/// Constants of other programs differ from CODATA's by less than this part.
const CONSTANT_TOLERANCE: f64 = 0.01;
/// Units that agree to this part are the same: programs round the atomic mass unit and the parsec.
const UNIT_TOLERANCE: f64 = 1e-4;

/// The units that a text file's numbers are in: the deck's key, what the file states, or what its format has by
/// convention. In a reduced deck numbers are taken as they stand unless one of the first two speaks of others.
///
/// # Errors
/// [`Error::Content`] where key and file contradict each other, where the file's units are not those of the deck's system, or
/// where nothing says them.
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

/// The units of mass, length and time in cgs that a run from an HDF5 file computes in, and what a user should know of them;
/// `stated` are those of the file.
///
/// # Errors
/// [`Error::Content`] where molecules are in other units than the deck's, or the deck's gravitational constant is not that
/// of the file's units.
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
                "take [units] out of the deck, or write the file in amu, nm and ps with these in its group Units",
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
                "it is in units of {}, in which the gravitational constant is {constant:.6e}, and the deck's is {:e}",
                text(units),
                gravity.constant
            ),
            &format!(
                "write constant = {constant:.6e} in [gravity], or set the units in the file to 1 if it has none"
            ),
        ));
    }
    let note = format!("its numbers are in units of {}, and so are those of this run", text(units));
    Ok((units, Some(note)))
}

/// The refusal of another unit system than that of a checkpoint; `stated` are its units of mass, length and time in cgs.
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
