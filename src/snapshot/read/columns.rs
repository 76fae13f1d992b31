//! The datasets of the gas: which are ours, how many rows they must have, and what of them is left out.

use super::cosmology::Cosmology;
use super::groups::Groups;
use super::links::Place;
use super::refusal::{Checked, Refusal};
use super::storage::{Table, Written};
use super::{counts, names, space};
use crate::particles::Field;
use crate::snapshot::layout::GROUP;
use hdf5::{Group, LocationInfo};

/// Most names of datasets in one note.
const MOST_NAMES: usize = 12;

/// A field that the file has.
pub(super) struct Column {
    pub field: Field,
    pub table: Table,
    /// Makes its values ours.
    pub factor: f64,
}

/// The coordinates: three a row, of as many rows as the header counts, all of them stored.
pub(super) fn coordinates(place: &Place, group: &Group, counts: &[u64]) -> Checked<Table> {
    let label = format!("{GROUP}/Coordinates");
    let table = Table::open(place, group, "Coordinates", &label)?.ok_or_else(|| {
        Refusal::new(format!("it has no {label}"), format!("write {label}, three numbers a row"))
    })?;
    match table.shape[..] {
        [_, 3] => {}
        [_] | [_, 1 | 2] => return Err(space::flat(&format!("{label} has shape {:?}", table.shape))),
        _ => return Err(misshapen(&table, &[table.rows() as usize, 3])),
    }
    if let Some(&stated) = counts.first()
        && stated != table.rows()
    {
        return Err(Refusal::new(
            format!("its header counts {stated} particles, but {} have coordinates", table.rows()),
            format!("write the number of rows of {label} as the first of Header/NumPart_ThisFile"),
        ));
    }
    table.see_that_it_is_stored()?;
    Ok(table)
}

/// The fields that the file has, of as many rows as there are coordinates.
pub(super) fn open(
    place: &Place,
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
            _ => Table::open(place, group, name, &format!("{GROUP}/{name}"))?,
        };
        let Some(table) = opened else { continue };
        let width = field.components();
        if table.shape != [count, width] && !(width == 1 && table.shape == [count]) {
            return Err(misshapen(&table, &[count, width]));
        }
        if field == Field::InternalEnergy {
            counts::see_that_energies_are_energies(groups)?;
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

/// The ids, of as many rows as there are coordinates; `None` where the file has none.
pub(super) fn ids(place: &Place, group: &Group, count: u64) -> Checked<Option<Table>> {
    let label = format!("{GROUP}/ParticleIDs");
    let Some(table) = Table::open(place, group, "ParticleIDs", &label)? else { return Ok(None) };
    let count = count as usize;
    if table.shape != [count] && table.shape != [count, 1] {
        return Err(misshapen(&table, &[count, 1]));
    }
    if table.written == Written::Never && count > 1 {
        let remedy = format!("write {label}, or delete it: row numbers then serve as ids");
        return Err(Refusal::new(format!("{label} was created and never written"), remedy));
    }
    Ok(Some(table))
}

fn misshapen(table: &Table, expected: &[usize]) -> Refusal {
    Refusal::new(
        format!("{} has shape {:?} instead of {expected:?}", table.label, table.shape),
        format!("write {} with a row for each particle, or delete it", table.label),
    )
}

/// A note on values that nobody wrote, which HDF5 gives all the same.
fn note_unwritten(table: &Table, notes: &mut Vec<String>) -> Checked<()> {
    let label = &table.label;
    match table.written {
        Written::All => {}
        Written::Partly => notes
            .push(format!("{label} was written only partly: its other rows are read as HDF5's fill value")),
        Written::Never => {
            let mut row = vec![0.0f64; table.shape.iter().skip(1).product()];
            table.read(0, &mut row)?;
            let value = row.first().copied().unwrap_or(0.0);
            notes.push(format!("{label} was created and never written: read as HDF5's fill value, {value}"));
        }
    }
    Ok(())
}

/// Notes on the datasets of the gas that are none of our fields, or a field that another one has already.
pub(super) fn note_unknown(group: &Group, columns: &[Column], notes: &mut Vec<String>) {
    let mut unknown = group.member_names().unwrap_or_default();
    unknown.retain(|name| {
        let label = format!("{GROUP}/{name}");
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
        let place = |location: hdf5::Result<LocationInfo>| location.ok().map(|at| (at.fileno, at.token));
        let read = &column.table;
        // another name of the same dataset, as swiftsimio writes, is not worth a word
        if place(group.loc_info_by_name(name)) != place(read.dataset.loc_info()) {
            notes.push(format!("{GROUP}/{name} is left out, because {} is read", read.label));
        }
        false
    });
    if unknown.is_empty() {
        return;
    }
    unknown.sort();
    let more = match unknown.len() {
        count if count > MOST_NAMES => format!(" and {} more", count - MOST_NAMES),
        _ => String::new(),
    };
    let names = unknown[..unknown.len().min(MOST_NAMES)].join(", ");
    notes.push(format!("left out of {GROUP}, because hilbrium has no such fields: {names}{more}"));
}
