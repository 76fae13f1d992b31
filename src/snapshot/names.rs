//! The names of species in a snapshot: attribute `names` of the dataset of species, as H5MD has it in trajectories.

use super::hdf::Outcome;
use super::layout::dataset_name;
use crate::deck;
use crate::particles::Field;
use hdf5::types::{FixedAscii, FixedUnicode, TypeDescriptor, VarLenAscii, VarLenUnicode};
use hdf5::{Attribute, Dataset, Group};

const ATTRIBUTE: &str = "names";
/// Most species whose names are read: more than any deck may have.
const MOST: usize = 1000;
/// Longest name of fixed length that is read, in bytes.
const LONGEST: usize = 256;

/// Attach the names to the dataset of species.
pub(super) fn write(dataset: &Dataset, names: &[String]) -> Outcome<()> {
    let names: Vec<VarLenUnicode> = names.iter().filter_map(|name| name.parse().ok()).collect();
    dataset.new_attr::<VarLenUnicode>().shape([names.len()]).create(ATTRIBUTE)?.write_raw(&names)
}

/// The names of the species, in the order of their numbers: of the attribute, else those of the deck stored in the file,
/// as version 0.1.0 wrote it. Empty where the file has neither.
pub(super) fn read(group: &Group, deck: &str) -> Vec<String> {
    let attribute = group.dataset(dataset_name(Field::Species)).and_then(|dataset| dataset.attr(ATTRIBUTE));
    match attribute.ok().and_then(|attribute| texts(&attribute)) {
        Some(names) => names,
        None => deck::species_names(deck),
    }
}

/// The texts of an attribute of any kind of string; `None` if it is of another type or too large.
fn texts(attribute: &Attribute) -> Option<Vec<String>> {
    if attribute.size() > MOST {
        return None;
    }
    Some(match attribute.dtype().and_then(|kind| kind.to_descriptor()).ok()? {
        TypeDescriptor::VarLenUnicode => texts_as::<VarLenUnicode>(attribute)?,
        TypeDescriptor::VarLenAscii => texts_as::<VarLenAscii>(attribute)?,
        TypeDescriptor::FixedAscii(length) if length <= LONGEST => {
            texts_as::<FixedAscii<LONGEST>>(attribute)?
        }
        TypeDescriptor::FixedUnicode(length) if length <= LONGEST => {
            texts_as::<FixedUnicode<LONGEST>>(attribute)?
        }
        _ => return None,
    })
}

fn texts_as<T: hdf5::H5Type + AsRef<str>>(attribute: &Attribute) -> Option<Vec<String>> {
    let values = attribute.read_raw::<T>().ok()?;
    Some(values.iter().map(|value| value.as_ref().trim().to_owned()).collect())
}
