//! Species names in a snapshot: attribute `names` of the species dataset, the same as in H5MD trajectories.

use super::hdf::{Outcome, checked_text};
use super::layout::dataset_name;
use crate::deck;
use crate::particles::Field;
use hdf5::types::{FixedAscii, FixedUnicode, TypeDescriptor, VarLenAscii, VarLenUnicode};
use hdf5::{Attribute, Dataset, Group, H5Type};

const ATTRIBUTE: &str = "names";
/// Maximum number of species names read; no deck may have as many.
const MAX_NAMES: usize = 1000;
/// Longest fixed-length name that is read, in bytes.
const MAX_NAME_BYTES: usize = 256;

/// Writes the names to the species dataset.
pub(super) fn write(dataset: &Dataset, names: &[String]) -> Outcome<()> {
    let names: Vec<VarLenUnicode> = names.iter().filter_map(|name| name.parse().ok()).collect();
    dataset.new_attr::<VarLenUnicode>().shape([names.len()]).create(ATTRIBUTE)?.write_raw(&names)
}

/// Reads the species names in the order of their numbers, from the attribute or else from the deck stored in
/// the file (version 0.1.0 wrote no attribute). Empty if the file has neither.
pub(super) fn read(group: &Group, deck: &str) -> Vec<String> {
    let attribute = group.dataset(dataset_name(Field::Species)).and_then(|dataset| dataset.attr(ATTRIBUTE));
    match attribute.ok().and_then(|attribute| read_strings(&attribute)) {
        Some(names) => names,
        None => deck::species_names(deck),
    }
}

/// Reads a string attribute of any string type; `None` if it is of another type, too large or not UTF-8.
pub(super) fn read_strings(attribute: &Attribute) -> Option<Vec<String>> {
    if attribute.size() > MAX_NAMES {
        return None;
    }
    Some(match attribute.dtype().and_then(|kind| kind.to_descriptor()).ok()? {
        TypeDescriptor::VarLenUnicode => read_strings_as(attribute, VarLenUnicode::as_bytes)?,
        TypeDescriptor::VarLenAscii => read_strings_as(attribute, VarLenAscii::as_bytes)?,
        TypeDescriptor::FixedAscii(length) if length <= MAX_NAME_BYTES => {
            read_strings_as(attribute, FixedAscii::<MAX_NAME_BYTES>::as_bytes)?
        }
        TypeDescriptor::FixedUnicode(length) if length <= MAX_NAME_BYTES => {
            read_strings_as(attribute, FixedUnicode::<MAX_NAME_BYTES>::as_bytes)?
        }
        _ => return None,
    })
}

fn read_strings_as<T: H5Type>(attribute: &Attribute, bytes: fn(&T) -> &[u8]) -> Option<Vec<String>> {
    let values = attribute.read_raw::<T>().ok()?;
    values.iter().map(|value| Some(checked_text(bytes(value))?.trim().to_owned())).collect()
}
