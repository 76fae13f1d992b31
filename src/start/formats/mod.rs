//! Configurations in text formats of other molecular dynamics programs: LAMMPS data, GROMACS `.gro`, extended
//! XYZ.
//!
//! Every rank streams the file and keeps the rows of its share: memory is bounded by the share, and any
//! number of ranks reads the same particles. A count stated in a file is refused if the file is too small for
//! it.

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
use crate::comm::distribution::repeated;
use crate::plan::{FileFormat, FileUnits};
use crate::space::{Boundary, SimulationBox, Vec3d};
use crate::{Error, Result};
pub use info::info;
use lines::Lines;

/// The rows of a file that one rank has read, in the file's units.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Configuration {
    /// The first line, or another text used as a title.
    pub title: String,
    /// Total particles in the file.
    pub count: u64,
    /// The box, if the file has one.
    pub bx: Option<SimulationBox>,
    /// Whether the file states the boundary of its box: only extended XYZ with `pbc` does. Boxes of LAMMPS
    /// data, `.gro` and extended XYZ without `pbc` are periodic by convention.
    pub boundary_stated: bool,
    /// The units stated in the file.
    pub units: Option<FileUnits>,
    /// Notes for the user, one sentence each.
    pub notes: Vec<String>,
    /// Species names, indexed by [`Self::species`].
    pub names: Vec<String>,
    /// Atom numbers, or row numbers if the file has none.
    pub ids: Vec<u64>,
    /// Species index of each particle.
    pub species: Vec<usize>,
    /// Positions; may lie outside the box.
    pub positions: Vec<Vec3d>,
    /// Velocities, if the file has them.
    pub velocities: Option<Vec<Vec3d>>,
    /// Momenta, if the file has them and no velocities.
    pub momenta: Option<Vec<Vec3d>>,
    /// Masses, if the file has them.
    pub masses: Option<Vec<f64>>,
    /// Charges, if the file has them.
    pub charges: Option<Vec<f64>>,
    /// Periodic image counts per dimension, if the file has them.
    pub images: Option<Vec<[i32; 3]>>,
}

/// Detects the format of a file by its content and name.
///
/// # Errors
/// [`Error::File`] if it cannot be read; [`Error::Content`] if no format matches, with how to convert a known
/// kind.
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

/// Options for reading a text file that does not describe itself completely.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints<'a> {
    /// Name of the atom style, which defines the columns of LAMMPS's Atoms section.
    pub atom_style: Option<&'a str>,
    /// Whether the file is only summarized, as by `hilbrium info`. Further frames are then noted instead of
    /// refused; of LAMMPS data without an atom style only header and types are read.
    pub first_frame: bool,
}

/// Reads the rows of a file that `share` selects from the total count.
///
/// # Errors
/// [`Error::File`] if the file cannot be read; [`Error::Content`], with the line, if it is damaged or
/// unsupported. An error in a row is found only by the rank that keeps the row, other errors by all ranks.
///
/// # Panics
/// If `format` is not a text format.
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

/// Checks that nothing follows the first frame, or notes further frames if the hints allow them.
fn check_single_frame(
    lines: &mut Lines,
    hints: Hints,
    found: &mut Configuration,
    remedy: &str,
) -> Result<()> {
    let mut text = String::new();
    while lines.next(&mut text)? {
        if text.trim().is_empty() {
            continue;
        }
        if !hints.first_frame {
            return Err(lines.error("begins a second frame: a start has one", remedy));
        }
        found
            .notes
            .push("more frames follow the first, which alone is told; a start takes a file of one".into());
        break;
    }
    Ok(())
}

/// Checks that the ids of all ranks are unique. Collective.
///
/// # Errors
/// [`Error::Content`] if an id occurs twice.
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

/// The index of a name in `names`; appends new names.
fn index_of(names: &mut Vec<String>, places: &mut BTreeMap<String, usize>, name: &str) -> usize {
    if let Some(&place) = places.get(name) {
        return place;
    }
    names.push(name.to_owned());
    places.insert(name.to_owned(), names.len() - 1);
    names.len() - 1
}

/// A box with these corners and boundaries; `None` if it has no extent or is not finite.
fn box_of(lower: Vec3d, upper: Vec3d, periodic: [bool; 3]) -> Option<SimulationBox> {
    let possible = |d: usize| lower[d].is_finite() && upper[d].is_finite() && lower[d] < upper[d];
    let boundary = periodic.map(|periodic| if periodic { Boundary::Periodic } else { Boundary::Open });
    (0..3).all(possible).then_some(SimulationBox { lower, upper, boundary })
}

/// Off-axis components up to this fraction of the shortest edge are rounding noise, as written by programs
/// that rotate the cell.
const OFF_AXIS_TOLERANCE: f64 = 1e-10;

/// The first off-axis component that is not rounding noise. Adds a note if there is only noise.
fn off_axes(edges: Vec3d, off: &[f64], notes: &mut Vec<String>) -> Option<f64> {
    let noise = OFF_AXIS_TOLERANCE * edges.amin();
    if let Some(&slant) = off.iter().find(|component| component.abs() > noise) {
        return Some(slant);
    }
    let largest = off.iter().fold(0.0, |most: f64, component| most.max(component.abs()));
    if largest > 0.0 {
        notes.push(format!(
            "its cell has components of {largest:e} off the axes: rounding noise, so the cell is taken as \
             rectangular"
        ));
    }
    None
}

/// Lists names in a line; truncates long lists.
fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(20).map(|name| lines::excerpt(name)).collect();
    shown.join(", ") + if names.len() > 20 { ", ..." } else { "" }
}

const RECTANGULAR_ONLY: &str = "hilbrium knows rectangular boxes only, because keys, lists and images are \
                                along x, y and z; build a \
                       rectangular cell of the same crystal or liquid";

#[cfg(test)]
mod tests;
