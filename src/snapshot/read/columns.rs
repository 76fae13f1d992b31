//! The datasets of the gas group: known fields, required shapes, and notes on ignored data.

use super::cosmology::Cosmology;
use super::groups::Groups;
use super::links::OpenFile;
use super::refusal::{Checked, Refusal};
use super::storage::{Table, WriteStatus};
use super::{counts, names, space};
use crate::particles::Field;
use crate::snapshot::layout::PARTICLE_GROUP;
use hdf5::{Group, LocationInfo};

/// Maximum number of dataset names in a note.
const MAX_NAMES_LISTED: usize = 12;

/// A field present in the file.
pub(super) struct Column {
    pub field: Field,
    pub table: Table,
    /// Multiplies the stored values to convert them to our units and definitions.
    pub factor: f64,
}

/// Opens the coordinates and checks them: three per row, as many rows as the header counts, all stored.
pub(super) fn coordinates(host: &OpenFile, group: &Group, counts: &[u64]) -> Checked<Table> {
    let label = format!("{PARTICLE_GROUP}/Coordinates");
    let table = Table::open(host, group, "Coordinates", &label)?.ok_or_else(|| {
        Refusal::new(format!("it has no {label}"), format!("write {label}, three numbers a row"))
    })?;
    match table.shape[..] {
        [_, 3] => {}
        [_] | [_, 1 | 2] => {
            return Err(space::not_three_dimensional(&format!("{label} has shape {:?}", table.shape)));
        }
        _ => return Err(wrong_shape(&table, &[table.rows() as usize, 3])),
    }
    if let Some(&stated) = counts.first()
        && stated != table.rows()
    {
        return Err(Refusal::new(
            format!("its header counts {stated} particles, but {} have coordinates", table.rows()),
            format!("write the number of rows of {label} as the first of Header/NumPart_ThisFile"),
        ));
    }
    table.check_stored()?;
    Ok(table)
}

/// Opens the fields present in the file; each has as many rows as the coordinates.
pub(super) fn open(
    host: &OpenFile,
    group: &Group,
    coordinates: Table,
    groups: &Groups,
    cosmology: Option<Cosmology>,
    notes: &mut Vec<String>,
) -> Checked<Vec<Column>> {
    let count = coordinates.rows() as usize;
    let mut coordinates = Some(coordinates);
    let mut columns = Vec::new();
    for &field in Field::ALL {
        let Some(name) = names::dataset_names(field).into_iter().find(|name| group.link_exists(name)) else {
            continue;
        };
        let opened = match field {
            Field::Position => coordinates.take(),
            _ => Table::open(host, group, name, &format!("{PARTICLE_GROUP}/{name}"))?,
        };
        let Some(table) = opened else { continue };
        let width = field.components();
        if table.shape != [count, width] && !(width == 1 && table.shape == [count]) {
            return Err(wrong_shape(&table, &[count, width]));
        }
        if field == Field::InternalEnergy {
            counts::check_energies(groups)?;
        }
        let label = &table.label;
        let factor = match cosmology {
            Some(cosmology) => cosmology.factor(&table.dataset, label, field)?,
            None => Some(1.0),
        };
        let Some(mut factor) = factor else {
            notes.push(format!("{label} is left out: it does not state its factors of a and h"));
            continue;
        };
        if field == Field::SmoothingLength {
            factor *= 0.5 * names::support_over_smoothing_length(groups.get("HydroScheme"));
        }
        note_unwritten(&table, notes)?;
        columns.push(Column { field, table, factor });
    }
    Ok(columns)
}

/// Opens the ids, with as many rows as the coordinates; `None` if the file has none.
pub(super) fn ids(host: &OpenFile, group: &Group, count: u64) -> Checked<Option<Table>> {
    let label = format!("{PARTICLE_GROUP}/ParticleIDs");
    let Some(table) = Table::open(host, group, "ParticleIDs", &label)? else { return Ok(None) };
    let count = count as usize;
    if table.shape != [count] && table.shape != [count, 1] {
        return Err(wrong_shape(&table, &[count, 1]));
    }
    if table.written == WriteStatus::Never && count > 1 {
        let remedy = format!("write {label}, or delete it: row numbers then serve as ids");
        return Err(Refusal::new(format!("{label} was created and never written"), remedy));
    }
    Ok(Some(table))
}

fn wrong_shape(table: &Table, expected: &[usize]) -> Refusal {
    Refusal::new(
        format!("{} has shape {:?} instead of {expected:?}", table.label, table.shape),
        format!("write {} with a row for each particle, or delete it", table.label),
    )
}

/// Notes values that were never written, for which HDF5 returns fill values.
fn note_unwritten(table: &Table, notes: &mut Vec<String>) -> Checked<()> {
    let label = &table.label;
    match table.written {
        WriteStatus::All => {}
        WriteStatus::Partly => notes
            .push(format!("{label} was written only partly: its other rows are read as HDF5's fill value")),
        WriteStatus::Never => {
            let mut row = vec![0.0f64; table.shape.iter().skip(1).product()];
            table.read(0, &mut row)?;
            let value = row.first().copied().unwrap_or(0.0);
            notes.push(format!("{label} was created and never written: read as HDF5's fill value, {value}"));
        }
    }
    Ok(())
}

/// Notes the gas datasets that are unknown, or that duplicate a field already read.
pub(super) fn note_unknown(group: &Group, columns: &[Column], notes: &mut Vec<String>) {
    let mut unknown = group.member_names().unwrap_or_default();
    unknown.retain(|name| {
        let label = format!("{PARTICLE_GROUP}/{name}");
        let left_out = format!("{label} is left out");
        name != "ParticleIDs"
            && !columns.iter().any(|column| column.table.label == label)
            && !notes.iter().any(|note| note.starts_with(&left_out))
    });
    unknown.retain(|name| {
        let Some(column) =
            columns.iter().find(|column| names::dataset_names(column.field).contains(&name.as_str()))
        else {
            return true;
        };
        let address = |location: hdf5::Result<LocationInfo>| location.ok().map(|at| (at.fileno, at.token));
        let read = &column.table;
        // A hard link to the dataset read, as swiftsimio writes, needs no note.
        if address(group.loc_info_by_name(name)) != address(read.dataset.loc_info()) {
            notes.push(format!("{PARTICLE_GROUP}/{name} is left out, because {} is read", read.label));
        }
        false
    });
    if unknown.is_empty() {
        return;
    }
    unknown.sort();
    let more = match unknown.len() {
        count if count > MAX_NAMES_LISTED => format!(" and {} more", count - MAX_NAMES_LISTED),
        _ => String::new(),
    };
    let names = unknown[..unknown.len().min(MAX_NAMES_LISTED)].join(", ");
    notes.push(format!("left out of {PARTICLE_GROUP}, because hilbrium has no such fields: {names}{more}"));
}
