//! Reading snapshots: ours, and those of SWIFT, Gadget, GIZMO and Arepo as initial conditions.
//!
//! Every rank reads its rows with plain reads, not through MPI: a damaged file then fails on a rank as it would alone,
//! and no rank waits in a collective call for one that has given up.

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

use super::fault;
use super::hdf::{read_numbers, read_string};
use super::layout::FORMAT_VERSION;
use super::{Header, seal};
use crate::comm::Communicator;
use crate::comm::shares::{repeated, share};
use crate::particles::{Field, Particles};
use crate::space::Vec3d;
use crate::{Error, Result};
use hdf5::Group;
use refusal::Refusal;
use std::path::Path;

const CHANGED: &str = "copy the file anew or take another; if it was changed on purpose, rewrite it with h5repack, which drops the seal";

/// Read all of a snapshot: of ours with every field it has, of other programs the gas particles (`PartType0`) with the fields
/// that we know, in physical units without factors of h. Ids are those of the file, or row numbers. The box is the file's exactly
/// as it states it, wherever the particles are, or without one an open box fitted around them; [`Header::stated`] says which.
///
/// # Errors
/// [`Error::File`] if it cannot be read, [`Error::Damaged`] if bytes are wrong or missing, [`Error::Content`] if it is of
/// another kind, or holds values that cannot be (masses that are not positive, negative internal energies, anything not finite,
/// an id twice), with the dataset and the row.
pub fn read_snapshot(path: &Path) -> Result<(Header, Particles)> {
    read_snapshot_slice(path, &Communicator::solo())
}

/// [`read_snapshot`], but each rank gets an even share of the rows, in rank order. Collective.
///
/// # Errors
/// As [`read_snapshot`], on every rank if any fails.
pub fn read_snapshot_slice(path: &Path, comm: &Communicator) -> Result<(Header, Particles)> {
    seal::verify(path, comm, CHANGED)?;
    let read = Source::open(path).and_then(|source| {
        let count = source.header.particle_count;
        let particles = source.particles(share(count, comm.rank(), comm.size()))?;
        // the file is closed here: what follows is no reading
        Ok((source.table_mass(), source.header, particles))
    });
    let (table_mass, mut header, particles) = comm.agree_on(read)?;
    comm.agree(match repeated(comm, &particles.id) {
        Some(id) => {
            let what = format!("the id {id} occurs more than once");
            let remedy = "give each particle an id of its own, or delete PartType0/ParticleIDs: row numbers then serve as ids";
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

/// The number of particles that [`read_snapshot`] would give.
///
/// # Errors
/// As [`read_snapshot`], of the header.
pub fn particle_count(path: &Path) -> Result<u64> {
    seal::verify(path, &Communicator::solo(), CHANGED)?;
    Source::open(path).map(|source| source.header.particle_count)
}

/// What a snapshot says beside its particles, whose values are not looked at; the box is that of the file, if it has one.
///
/// # Errors
/// As [`read_snapshot`], of the header.
pub fn read_header(path: &Path) -> Result<Header> {
    Source::open(path).map(|source| source.header)
}

/// A note where the masses are not the one of the header's table. Collective.
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

/// An open box around the particles, for a file that states none. Collective.
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

/// An error if one of our files is of another kind than `wanted`, or of a format that this program does not know.
pub(super) fn refuse_other_kinds(path: &Path, ours: &Group, wanted: &str) -> Result<()> {
    let kind = read_string(ours, "Kind").unwrap_or_default();
    if kind == wanted {
        return refuse_other_versions(path, ours);
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

/// An error if one of our files is of a format that this program does not know.
pub(super) fn refuse_other_versions(path: &Path, ours: &Group) -> Result<()> {
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

/// Room for `count` values, or an error instead of an abort.
pub(super) fn zeros<T: Clone + Default>(count: usize, path: &Path) -> Result<Vec<T>> {
    let mut values = Vec::new();
    values.try_reserve_exact(count).map_err(|cause| Error::File {
        action: "read",
        path: path.to_owned(),
        cause: format!("{count} values do not fit into memory: {cause}"),
        remedy: "use a machine with more memory, or more ranks".into(),
    })?;
    fault::expect(count * size_of::<T>());
    values.resize(count, T::default());
    Ok(values)
}
