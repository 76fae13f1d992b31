//! Reads snapshots: our own, and those of SWIFT, Gadget, GIZMO and Arepo as initial conditions.
//!
//! Each rank reads its rows independently, not through MPI: a damaged file then fails on a rank as it would
//! in a serial run, and no rank hangs in a collective call that another has left.

mod columns;
mod cosmology;
mod counts;
mod groups;
mod kinds;
mod links;
mod mapping;
mod names;
mod refusal;
mod source;
mod space;
mod storage;
mod units;

pub(super) use source::Source;

use super::crash_guard;
use super::hdf::{read_numbers, read_string};
use super::layout::FORMAT_VERSION;
use super::{Header, seal};
use crate::comm::Communicator;
use crate::comm::distribution::{repeated, share};
use crate::particles::{Field, Particles};
use crate::space::Vec3d;
use crate::{Error, Result};
use hdf5::Group;
use refusal::Refusal;
use std::path::Path;

const CHANGED_REMEDY: &str = "copy the file anew or take another; if it was changed on purpose, rewrite it \
                              with h5repack, which drops the seal";

/// Reads a whole snapshot. Our own files: all fields. Files of other programs: the gas particles
/// (`PartType0`) with the fields we know, in physical units without factors of h. Ids are those of the file,
/// or row numbers. The box is exactly the stated one, even if particles lie outside; without one, an open box
/// is fitted around the particles. [`Header::stated`] records which.
///
/// # Errors
/// [`Error::File`] if the file cannot be read; [`Error::Damaged`] if bytes are wrong or missing;
/// [`Error::Content`] if it is of another kind, or has invalid values (masses that are not positive, negative
/// internal energies, non-finite values, duplicate ids), with dataset and row.
pub fn read_snapshot(path: &Path) -> Result<(Header, Particles)> {
    read_snapshot_slice(path, &Communicator::solo())
}

/// Like [`read_snapshot`], but each rank reads an even share of the rows, in rank order. Collective.
///
/// # Errors
/// As [`read_snapshot`], on every rank if any rank fails.
pub fn read_snapshot_slice(path: &Path, comm: &Communicator) -> Result<(Header, Particles)> {
    seal::verify(path, comm, CHANGED_REMEDY)?;
    let read = Source::open(path).and_then(|source| {
        let count = source.header.particle_count;
        let particles = source.particles(share(count, comm.rank(), comm.size()))?;
        // This drops the source, which closes the file: the rest is not guarded as a read.
        Ok((source.table_mass(), source.header, particles))
    });
    let (table_mass, mut header, particles) = comm.agree_on(read)?;
    comm.agree(match repeated(comm, &particles.id) {
        Some(id) => {
            let what = format!("the id {id} occurs more than once");
            let remedy = "give each particle an id of its own, or delete PartType0/ParticleIDs: row numbers \
                          then serve as ids";
            Err(Refusal::new(what, remedy).at(path))
        }
        None => Ok(()),
    })?;
    note_masses(comm, table_mass, &particles, &mut header);
    if !header.stated.bx {
        comm.agree(fit_box(comm, path, &mut header, &particles))?;
    }
    Ok((header, particles))
}

/// Whether the file's content is HDF5.
///
/// # Errors
/// [`Error::File`] if it cannot be opened.
pub fn is_hdf5(path: &Path) -> Result<bool> {
    let mut file = std::fs::File::open(path).map_err(|cause| Error::file("read", path, &cause))?;
    Ok(source::is_hdf5(&mut file))
}

/// Reads the header, and those fields of all particles that `choose` selects. It is given the header and the
/// fields in the file; masses count as one of them, since the header may state them. Positions are always
/// read. Ids are row numbers. Memory is needed for the selected fields only.
///
/// # Errors
/// As [`read_snapshot`], without the check of ids; those of `choose`.
pub fn read_fields(
    path: &Path,
    choose: impl FnOnce(&Header, &[Field]) -> Result<Vec<Field>>,
) -> Result<(Header, Particles)> {
    let comm = Communicator::solo();
    seal::verify(path, &comm, CHANGED_REMEDY)?;
    let read = Source::open(path).and_then(|source| {
        let mut available = source.fields();
        available.push(Field::Mass);
        available.sort();
        available.dedup();
        let mut fields = choose(&source.header, &available)?;
        fields.push(Field::Position);
        let rows = 0..source.header.particle_count;
        let ids = source.row_numbers(rows.clone())?;
        let particles = source.particles_of(fields, ids, rows)?;
        // This drops the source, which closes the file: the rest is not guarded as a read.
        Ok((source.header, particles))
    });
    let (mut header, particles) = read?;
    if !header.stated.bx {
        fit_box(&comm, path, &mut header, &particles)?;
    }
    Ok((header, particles))
}

/// Reads a snapshot in blocks of at most `rows` particles, in the order of the file, so that its size does
/// not bound what can be read. Calls `each` with the header and the particles of each block. Ids are not
/// compared between blocks, and a file without a box has the provisional one of [`read_header`].
///
/// # Errors
/// As [`read_snapshot`], apart from repeated ids.
pub fn read_snapshot_blocks(
    path: &Path,
    rows: u64,
    mut each: impl FnMut(&Header, &Particles),
) -> Result<Header> {
    seal::verify(path, &Communicator::solo(), CHANGED_REMEDY)?;
    let source = Source::open(path)?;
    let count = source.header.particle_count;
    for first in (0..count).step_by(rows.max(1) as usize) {
        let particles = source.particles(first..count.min(first + rows.max(1)))?;
        each(&source.header, &particles);
    }
    Ok(source.header)
}

/// Number of particles that [`read_snapshot`] returns.
///
/// # Errors
/// As [`read_snapshot`], for the header.
pub fn particle_count(path: &Path) -> Result<u64> {
    seal::verify(path, &Communicator::solo(), CHANGED_REMEDY)?;
    Source::open(path).map(|source| source.header.particle_count)
}

/// Returns the header, after the checksum of the whole file is verified. The box is the stated one, or
/// provisional if the file has none.
///
/// # Errors
/// As [`read_snapshot`], for the header.
pub fn read_header(path: &Path) -> Result<Header> {
    seal::verify(path, &Communicator::solo(), CHANGED_REMEDY)?;
    Source::open(path).map(|source| source.header)
}

/// Adds a note if the masses differ from the one in the header's mass table. Collective.
fn note_masses(comm: &Communicator, table_mass: Option<f64>, particles: &Particles, header: &mut Header) {
    let Some(mass) = table_mass else { return };
    let differs = |other: &f64| (other / mass - 1.0).abs() > 1e-6;
    let mut any = [u64::from(particles.scalar(Field::Mass).iter().any(differs))];
    comm.all_max(&mut any);
    if any[0] > 0 {
        header
            .stated
            .notes
            .push(format!("masses are those of PartType0, not {mass}, which Header/MassTable says too"));
    }
}

/// Fits an open box around the particles of a file without a box. Collective.
fn fit_box(comm: &Communicator, path: &Path, header: &mut Header, particles: &Particles) -> Result<()> {
    let (mut lower, mut upper) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for (d, column) in particles.vector(Field::Position).iter().enumerate() {
        lower[d] = column.iter().copied().fold(lower[d], f64::min);
        upper[d] = column.iter().copied().fold(upper[d], f64::max);
    }
    comm.all_min(&mut lower);
    comm.all_max(&mut upper);
    if header.particle_count == 0 {
        return Ok(());
    }
    let fitted = header.bx.fitted((Vec3d::from(lower), Vec3d::from(upper)));
    if (0..3).all(|d| fitted.lengths()[d] > 0.0 && fitted.lengths()[d].is_finite()) {
        header.bx = fitted;
        return Ok(());
    }
    let what = format!("no box holds its coordinates, from {lower:?} to {upper:?}");
    Err(Refusal::new(what, "write coordinates that lie closer to the origin").at(path))
}

/// Checks that one of our files is of kind `wanted` and of a known format version.
pub(super) fn check_kind(path: &Path, ours: &Group, wanted: &str) -> Result<()> {
    let kind = read_string(ours, "Kind").unwrap_or_default();
    if kind == wanted {
        return check_format_version(path, ours);
    }
    let remedy = match kind.as_str() {
        "checkpoint" => "continue a checkpoint with --restart",
        "snapshot" => "a snapshot is read by start.file, not by --restart",
        "trajectory" => "start from a snapshot of the run, or continue it with --restart from a checkpoint",
        _ => "use the hilbrium that wrote it, or a later one",
    };
    let kind: String = kind.chars().take(60).collect();
    let what = format!("it is a {kind}, not a {wanted}");
    Err(Error::Content { path: path.to_owned(), what, remedy: remedy.into() })
}

/// Checks that one of our files has a known format version.
pub(super) fn check_format_version(path: &Path, ours: &Group) -> Result<()> {
    let version = read_numbers::<i64>(ours, "Format version").and_then(|v| v.first().copied()).unwrap_or(0);
    if (1..=FORMAT_VERSION).contains(&version) {
        return Ok(());
    }
    Err(Error::Content {
        path: path.to_owned(),
        what: format!("its format version is {version}, this program knows 1 to {FORMAT_VERSION}"),
        remedy: "use the hilbrium that wrote it, or a later one".into(),
    })
}

/// Allocates `count` zeros; returns an error, instead of aborting, if memory is short.
pub(super) fn zeros<T: Clone + Default>(count: usize, path: &Path) -> Result<Vec<T>> {
    let mut values = Vec::new();
    values.try_reserve_exact(count).map_err(|cause| Error::File {
        action: "read",
        path: path.to_owned(),
        cause: format!("{count} values do not fit into memory: {cause}"),
        remedy: "use a machine with more memory, or more ranks".into(),
    })?;
    crash_guard::expect_allocation(count * size_of::<T>());
    values.resize(count, T::default());
    Ok(values)
}
