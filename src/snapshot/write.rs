//! Writes snapshots: SWIFT's layout, one file from all ranks.

use super::collective::{RowDistribution, SharedFile};
use super::hdf::{self, Outcome};
use super::layout::{self, PARTICLE_GROUP, PROGRAM_GROUP};
use super::{Header, names, xdmf};
use crate::comm::Communicator;
use crate::particles::{Field, Particles};
use crate::space::{Boundary, SimulationBox, Vec3d};
use crate::{Error, Result};
use hdf5::File;
use std::path::Path;

/// Longest title stored, in bytes.
const LONGEST_TITLE: usize = 4096;

/// Longest deck stored, in bytes: HDF5 limits attributes to 64 KiB.
const LONGEST_DECK: usize = 60_000;

/// Writes the owned particles of all ranks, in rank order, to one file in SWIFT's layout, with an XDMF file
/// next to it. Collective.
///
/// Writes ids, position, mass and `fields`. Creates the directories of `path` and replaces an existing file.
/// All ranks pass the same header.
///
/// # Errors
/// On every rank if any rank fails: [`Error::Usage`] for a field that the particles lack or a position that
/// is not finite, [`Error::File`] otherwise. The file at `path` is then unchanged, unless the error concerns
/// the XDMF file.
pub fn write_snapshot(
    path: &Path,
    comm: &Communicator,
    particles: &Particles,
    header: &Header,
    fields: &[Field],
) -> Result<()> {
    let mut fields = [&[Field::Position, Field::Mass], fields].concat();
    fields.sort();
    fields.dedup();
    let missing: Vec<&str> =
        fields.iter().filter(|&&field| !particles.has(field)).map(|field| field.name()).collect();
    let complete = missing.is_empty();
    comm.agree(complete.then_some(()).ok_or_else(|| {
        let message =
            format!("a snapshot of {} is asked for, which this run does not have", missing.join(", "));
        Error::usage(message, "leave these fields out of the snapshot")
    }))?;
    let bx = enclosing_box(comm, particles, &header.bx)?;

    let mut file = SharedFile::create(path, comm)?;
    let rows = RowDistribution::new(comm, particles.owned().len());
    file.write_metadata(|file| describe(file, header, &bx, rows.total()))?;
    let table = |field| format!("{PARTICLE_GROUP}/{}", layout::dataset_name(field));
    let ids = format!("{PARTICLE_GROUP}/ParticleIDs");
    for &field in &fields {
        file.plan_table::<f64>(&table(field), &rows, field.components(), |dataset| {
            if field == Field::Species && !header.species.is_empty() {
                names::write(dataset, &header.species)?;
            }
            layout::describe_field(dataset, field, header.units)
        })?;
    }
    file.plan_table::<i64>(&ids, &rows, 1, |dataset| layout::describe_ids(dataset))?;

    file.begin_data()?;
    let start = particles.owned().start;
    for &field in &fields {
        let width = field.components();
        file.write_table(&table(field), &rows, |range| {
            let mut values = Vec::with_capacity(range.len() * width);
            for row in range {
                for c in 0..width {
                    let value = particles.component(field, c)[start + row];
                    values.push(if field == Field::Position { box_relative(value, &bx, c) } else { value });
                }
            }
            values
        })?;
    }
    file.write_table(&ids, &rows, |range| {
        range.map(|row| particles.id[start + row] as i64).collect::<Vec<i64>>()
    })?;
    file.finish()?;
    comm.agree(if comm.is_root() { xdmf::write(path, header.time, rows.total(), &fields) } else { Ok(()) })
}

/// Converts a coordinate to be relative to the lower face; the result is below the edge even after rounding.
fn box_relative(value: f64, bx: &SimulationBox, dimension: usize) -> f64 {
    let edge = bx.upper[dimension] - bx.lower[dimension];
    let value = value - bx.lower[dimension];
    let wrapped =
        if bx.boundary[dimension] == Boundary::Periodic { value.rem_euclid(edge) } else { value.max(0.0) };
    if wrapped < edge { wrapped } else { edge.next_down() }
}

/// Expands the box in its open dimensions to hold all particles: they move after the box was fitted.
fn enclosing_box(comm: &Communicator, particles: &Particles, bx: &SimulationBox) -> Result<SimulationBox> {
    let (mut lower, mut upper) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    let mut bad = None;
    for (d, column) in particles.vector(Field::Position).iter().enumerate() {
        for row in particles.owned() {
            lower[d] = column[row].min(lower[d]);
            upper[d] = column[row].max(upper[d]);
            if !column[row].is_finite() {
                bad = Some((particles.id[row], column[row]));
            }
        }
    }
    comm.agree(bad.map_or(Ok(()), |(id, value)| {
        let message = format!("particle {id} has a coordinate that is not finite: {value}");
        Err(Error::usage(message, "restart from the last checkpoint with a shorter time step"))
    }))?;
    comm.all_min(&mut lower);
    comm.all_max(&mut upper);
    let (lower, upper) = (Vec3d::from(lower), Vec3d::from(upper));
    let outside =
        |d: usize| bx.boundary[d] == Boundary::Open && (lower[d] < bx.lower[d] || upper[d] >= bx.upper[d]);
    let any = lower.x <= upper.x && (0..3).any(outside);
    Ok(if any { bx.fitted((lower, upper)) } else { *bx })
}

/// Writes the groups and attributes that readers expect.
fn describe(file: &File, header: &Header, bx: &SimulationBox, total: u64) -> Outcome<()> {
    let group = hdf::create_group(file, "Header")?;
    hdf::write_numbers(&group, "BoxSize", bx.lengths().as_slice())?;
    hdf::write_numbers(&group, "BoxLower", bx.lower.as_slice())?;
    let periodic = bx.boundary.map(|boundary| i32::from(boundary == Boundary::Periodic));
    hdf::write_numbers(&group, "Periodic", &periodic)?;
    hdf::write_numbers(&group, "Dimension", &[3i64])?;
    hdf::write_numbers(&group, "Time", &[header.time])?;
    hdf::write_numbers(&group, "Step", &[header.step as i64])?;
    hdf::write_numbers(&group, "Redshift", &[0.0])?;
    hdf::write_numbers(&group, "Scale-factor", &[1.0])?;
    hdf::write_string(&group, "Code", "SWIFT")?;
    hdf::write_string(&group, "RunName", truncated(&header.title, LONGEST_TITLE))?;
    hdf::write_string(&group, "OutputType", "FullVolume")?;
    hdf::write_string(&group, "SelectOutput", "Default")?;
    let count = |number: u64| [number, 0, 0, 0, 0, 0, 0];
    hdf::write_numbers(&group, "NumPart_ThisFile", &count(total).map(|n| n as i64))?;
    hdf::write_numbers(&group, "TotalNumberOfParticles", &count(total).map(|n| n as i64))?;
    hdf::write_numbers(&group, "NumPart_Total", &count(total & 0xffff_ffff).map(|n| n as u32))?;
    hdf::write_numbers(&group, "NumPart_Total_HighWord", &count(total >> 32).map(|n| n as u32))?;
    hdf::write_numbers(&group, "CanHaveTypes", &count(1).map(|n| n as i32))?;
    hdf::write_numbers(&group, "MassTable", &[0.0; 7])?;
    hdf::write_numbers(&group, "InitialMassTable", &[0.0; 7])?;
    for (name, value) in [
        ("NumPartTypes", 7i32),
        ("NumFilesPerSnapshot", 1),
        ("ThisFile", 0),
        ("Virtual", 0),
        ("Flag_Entropy_ICs", 0),
    ] {
        hdf::write_numbers(&group, name, &[value])?;
    }

    let [mass, length, time] = header.units;
    for name in ["Units", "InternalCodeUnits"] {
        let group = hdf::create_group(file, name)?;
        for (unit, value) in [
            ("mass in cgs (U_M)", mass),
            ("length in cgs (U_L)", length),
            ("time in cgs (U_t)", time),
            ("current in cgs (U_I)", 1.0),
            ("temperature in cgs (U_T)", 1.0),
        ] {
            hdf::write_numbers(&group, &format!("Unit {unit}"), &[value])?;
        }
    }
    let group = hdf::create_group(file, "Policy")?;
    hdf::write_numbers(&group, "cosmological integration", &[0i32])?;
    let group = hdf::create_group(file, "Cosmology")?;
    hdf::write_numbers(&group, "Cosmological run", &[0i32])?;
    let all_periodic = if periodic == [1; 3] { "1" } else { "0" };
    let group = hdf::create_group(file, "Parameters")?;
    hdf::write_string(&group, "InitialConditions:periodic", all_periodic)?;
    let group = hdf::create_group(file, "HydroScheme")?;
    hdf::write_numbers(&group, "Kernel support over smoothing length", &[2.0])?;
    if let Some(index) = header.adiabatic_index {
        hdf::write_numbers(&group, "Adiabatic index", &[index])?;
    }
    hdf::create_group(file, "SubgridScheme")?;
    hdf::create_group(file, PARTICLE_GROUP)?;

    let group = hdf::create_group(file, PROGRAM_GROUP)?;
    hdf::write_string(&group, "Kind", "snapshot")?;
    hdf::write_string(&group, "Version", env!("CARGO_PKG_VERSION"))?;
    hdf::write_numbers(&group, "Format version", &[layout::FORMAT_VERSION])?;
    hdf::write_string(&group, "Deck", truncated(&header.deck, LONGEST_DECK))
}

/// Truncates a text to at most `longest` bytes.
fn truncated(text: &str, longest: usize) -> &str {
    let end = (0..=longest.min(text.len())).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    &text[..end]
}
