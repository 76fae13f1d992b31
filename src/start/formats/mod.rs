//! Configurations in the text formats of other molecular dynamics programs: LAMMPS data, GROMACS `.gro`, extended XYZ.
//!
//! Every rank streams the file and keeps the rows of its share, so that a rank's memory is bounded by its share and
//! every number of ranks reads the same particles. A count that a file states is believed only as far as the file has
//! bytes for it.

pub mod elements;
mod extended_xyz;
mod foreign;
mod gromacs;
mod info;
mod lammps;
mod lines;
mod source;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use crate::comm::Communicator;
use crate::comm::shares::repeated;
use crate::deck::plan::{FileFormat, FileUnits};
use crate::space::{Boundary, SimulationBox, Vec3d};
use crate::{Error, Result};
pub use info::info;
use lines::Lines;

/// The rows of a file that one rank has read, in the file's own units.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Configuration {
    /// The first line, or what stands for a title.
    pub title: String,
    /// Particles of the whole file.
    pub count: u64,
    /// The box, where the file has one.
    pub bx: Option<SimulationBox>,
    /// Whether the file itself states the boundary of its box: extended XYZ with `pbc`. Boxes of LAMMPS data and
    /// `.gro`, and of extended XYZ without `pbc`, are periodic by convention only.
    pub boundary_stated: bool,
    /// The units that the file says it is in.
    pub units: Option<FileUnits>,
    /// What else a user should know, a sentence each.
    pub notes: Vec<String>,
    /// Names of the species, of which [`Self::species`] are indices.
    pub names: Vec<String>,
    /// Atom numbers, or row numbers where there are none.
    pub ids: Vec<u64>,
    /// Species of each particle.
    pub species: Vec<usize>,
    /// Positions, perhaps outside of the box.
    pub positions: Vec<Vec3d>,
    /// Velocities, where the file has them.
    pub velocities: Option<Vec<Vec3d>>,
    /// Momenta, where the file has them and no velocities.
    pub momenta: Option<Vec<Vec3d>>,
    /// Masses, where the file has them.
    pub masses: Option<Vec<f64>>,
    /// Charges, where the file has them.
    pub charges: Option<Vec<f64>>,
    /// How often the particle has crossed the periodic box in each dimension, where the file has it.
    pub images: Option<Vec<[i32; 3]>>,
}

/// The format of a file, by its content and name.
///
/// # Errors
/// [`Error::File`] if it cannot be read, [`Error::Content`] if no format fits, with how to convert a known kind.
pub fn format_of(path: &Path) -> Result<FileFormat> {
    let mut lines = Lines::open(path)?;
    let compressed = lines.compressed();
    let head = lines.head()?;
    let refused =
        |what: &str, remedy: String| Error::Content { path: path.to_owned(), what: what.into(), remedy };
    if head.starts_with(b"\x89HDF\r\n\x1a\n") {
        return match compressed {
            false => Ok(FileFormat::Hdf5),
            true => Err(refused(
                "it is an HDF5 file compressed by gzip",
                format!("decompress it by `gunzip {}`", path.display()),
            )),
        };
    }
    foreign::by_content(path, head)?;
    let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("hdf5" | "h5") if !compressed => return Ok(FileFormat::Hdf5),
        Some("gro") => return Ok(FileFormat::Gromacs),
        Some("xyz" | "extxyz") => return Ok(FileFormat::ExtendedXyz),
        Some("data" | "lmp" | "lammps") => return Ok(FileFormat::LammpsData),
        _ => {}
    }
    let text = String::from_utf8_lossy(head);
    let whole = |line: Option<&str>| line.is_some_and(|line| line.trim().parse::<u64>().is_ok());
    if text.lines().take(60).any(|line| lammps::counts_atoms(line).is_some()) {
        Ok(FileFormat::LammpsData)
    } else if whole(text.lines().next()) {
        Ok(FileFormat::ExtendedXyz)
    } else if whole(text.lines().nth(1)) {
        Ok(FileFormat::Gromacs)
    } else {
        foreign::by_name(path, name)?;
        Err(refused(
            "neither its name nor its content tells the format",
            format!("give `format` in [start.file]: one of {}", FileFormat::NAMES.join(", ")),
        ))
    }
}

/// How a text file is to be read where it does not say so itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints<'a> {
    /// The columns of LAMMPS's Atoms section, by the name of the atom style.
    pub atom_style: Option<&'a str>,
    /// Whether the file is only summarized, as by `hilbrium info`: frames after the first are noted instead of
    /// refused, and of LAMMPS data without an atom style the header and the types are read.
    pub first_frame: bool,
}

/// The rows of a file that `share` gives out of the number of all.
///
/// # Errors
/// [`Error::File`] if it cannot be read; [`Error::Content`], with the line, if it is damaged or holds what this program
/// cannot do. A rank finds what is wrong in its own rows, and all ranks what is wrong elsewhere.
///
/// # Panics
/// If the format is no text.
pub fn read(
    path: &Path,
    format: FileFormat,
    hints: Hints,
    share: impl Fn(u64) -> Range<u64>,
) -> Result<Configuration> {
    let mut lines = Lines::open(path)?;
    foreign::by_content(path, lines.head()?)?;
    let read = match format {
        FileFormat::LammpsData => lammps::read(&mut lines, hints, &share),
        FileFormat::Gromacs => gromacs::read(&mut lines, hints, &share),
        FileFormat::ExtendedXyz => extended_xyz::read(&mut lines, hints, &share),
        FileFormat::Hdf5 => unreachable!("HDF5 is no text"),
    }?;
    debug_assert_eq!(read.ids.len(), read.positions.len());
    Ok(read)
}

/// See that nothing follows the first frame, or note it where the hints allow that.
fn only_frame(lines: &mut Lines, hints: Hints, found: &mut Configuration, remedy: &str) -> Result<()> {
    let mut text = String::new();
    while lines.next(&mut text)? {
        if text.trim().is_empty() {
            continue;
        }
        if !hints.first_frame {
            return Err(lines.wrong("begins a second frame: a start has one", remedy));
        }
        found
            .notes
            .push("more frames follow the first, which alone is told; a start takes a file of one".into());
        break;
    }
    Ok(())
}

/// An error if an id occurs twice in a file of which every rank has read its share; collective.
pub fn unique(path: &Path, comm: &Communicator, ids: &[u64]) -> Result<()> {
    comm.agree(match repeated(comm, ids) {
        Some(id) => Err(Error::Content {
            path: path.to_owned(),
            what: format!("the atom number {id} occurs more than once"),
            remedy: "give every atom a number of its own".into(),
        }),
        None => Ok(()),
    })
}

/// The index of a name in `names`, where it is added if it is new.
fn index_of(names: &mut Vec<String>, places: &mut BTreeMap<String, usize>, name: &str) -> usize {
    if let Some(&place) = places.get(name) {
        return place;
    }
    names.push(name.to_owned());
    places.insert(name.to_owned(), names.len() - 1);
    names.len() - 1
}

/// A box with these corners and boundaries; `None` where it has no extent or is not finite.
fn box_of(lower: Vec3d, upper: Vec3d, periodic: [bool; 3]) -> Option<SimulationBox> {
    let possible = |d: usize| lower[d].is_finite() && upper[d].is_finite() && lower[d] < upper[d];
    let boundary = periodic.map(|periodic| if periodic { Boundary::Periodic } else { Boundary::Open });
    (0..3).all(possible).then_some(SimulationBox { lower, upper, boundary })
}

/// Part of the shortest edge of a cell up to which components off the axes are rounding noise, as programs write them
/// that have turned the cell.
const ROUNDING: f64 = 1e-10;

/// The first of the components off the axes that is not rounding noise; a note where some are that.
fn off_axes(edges: Vec3d, off: &[f64], notes: &mut Vec<String>) -> Option<f64> {
    let noise = ROUNDING * edges.amin();
    if let Some(&slant) = off.iter().find(|component| component.abs() > noise) {
        return Some(slant);
    }
    let largest = off.iter().fold(0.0, |most: f64, component| most.max(component.abs()));
    if largest > 0.0 {
        notes.push(format!(
            "its cell has components of {largest:e} off the axes: rounding noise, so the cell is taken as rectangular"
        ));
    }
    None
}

/// Names, at most so many that a line can hold.
fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(20).map(|name| lines::shortened(name)).collect();
    shown.join(", ") + if names.len() > 20 { ", ..." } else { "" }
}

const SLANTED: &str = "hilbrium knows rectangular boxes only, because keys, lists and images are along x, y and z; build a \
                       rectangular cell of the same crystal or liquid";

#[cfg(test)]
mod tests;
