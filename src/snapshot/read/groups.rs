//! Attribute groups of a snapshot. Attribute reads distinguish absent from wrong type.

use super::refusal::{Checked, Refusal};
use crate::snapshot::hdf::{read_numbers, read_string};
use hdf5::types::TypeDescriptor;
use hdf5::{Group, Location};

/// Maximum number of characters of a text quoted in an error.
const MAX_TEXT_CHARS: usize = 60;

/// The value of an attribute.
pub(super) enum Value {
    Absent,
    /// Includes booleans, as h5py writes them: 0 or 1.
    Numbers(Vec<f64>),
    Text(String),
    /// Any other type: a reference, a compound, more than 64 numbers.
    Other,
}

/// Reads an attribute of a group or dataset.
pub(super) fn value(from: &Location, name: &str) -> Value {
    if let Some(numbers) = read_numbers::<f64>(from, name) {
        return Value::Numbers(numbers);
    }
    let Ok(attribute) = from.attr(name) else { return Value::Absent };
    let kind = attribute.dtype().and_then(|kind| kind.to_descriptor());
    if matches!(kind, Ok(TypeDescriptor::Boolean)) && attribute.size() <= 64 {
        let flags = attribute.read_raw::<bool>().ok();
        return flags
            .map_or(Value::Other, |flags| Value::Numbers(flags.into_iter().map(f64::from).collect()));
    }
    read_string(from, name).map_or(Value::Other, Value::Text)
}

/// The attribute groups present in a file.
pub(super) struct Groups(Vec<(&'static str, Group)>);

/// The attribute groups of the known programs. `Config` has one attribute per option of Gadget-4's or Arepo's
/// Config.sh.
pub(super) const GROUPS: [&str; 8] =
    ["Header", "Units", "Parameters", "RuntimePars", "Cosmology", "Policy", "HydroScheme", "Config"];

impl Groups {
    pub fn new(groups: Vec<(&'static str, Group)>) -> Self {
        Self(groups)
    }

    pub fn get(&self, name: &str) -> Option<&Group> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, group)| group)
    }

    /// Whether the file has the attribute, of any type.
    pub fn has(&self, group: &str, name: &str) -> bool {
        self.get(group).is_some_and(|group| group.attr(name).is_ok())
    }

    fn value(&self, group: &str, name: &str) -> Value {
        self.get(group).map_or(Value::Absent, |group| value(group, name))
    }

    /// All numbers of an attribute; `None` if absent.
    ///
    /// # Errors
    /// An attribute that is not numeric.
    pub fn numbers(&self, group: &str, name: &str) -> Checked<Option<Vec<f64>>> {
        let wrong = |what: String| {
            let remedy = format!("write {group}/{name} as numbers, or delete the attribute");
            Err(Refusal::new(format!("{group}/{name} is {what}"), remedy))
        };
        match self.value(group, name) {
            Value::Absent => Ok(None),
            Value::Numbers(numbers) if numbers.is_empty() => wrong("empty".into()),
            Value::Numbers(numbers) => Ok(Some(numbers)),
            Value::Text(text) => {
                let text: String = text.chars().take(MAX_TEXT_CHARS).collect();
                wrong(format!("the text {text:?}, no number"))
            }
            Value::Other => wrong("no number, nor at most 64 of them".into()),
        }
    }

    /// The single number of an attribute. Also accepts an array of equal numbers, or a text (SWIFT's
    /// parameters).
    ///
    /// # Errors
    /// An attribute with no number, or with several different ones.
    pub fn number(&self, group: &str, name: &str) -> Checked<Option<f64>> {
        if let Value::Text(text) = self.value(group, name)
            && let Ok(number) = text.trim().parse()
        {
            return Ok(Some(number));
        }
        let Some(numbers) = self.numbers(group, name)? else { return Ok(None) };
        match numbers[..] {
            [first, ..] if numbers.iter().all(|number| number.to_bits() == first.to_bits()) => {
                Ok(Some(first))
            }
            _ => Err(Refusal::new(
                format!("{group}/{name} has the numbers {numbers:?}, but one is expected"),
                format!("write one number to {group}/{name}"),
            )),
        }
    }

    /// The first attribute of a list that is present, with its name in the file.
    ///
    /// # Errors
    /// As [`Self::number`].
    pub fn first(&self, places: &[(&str, &str)]) -> Checked<Option<(String, f64)>> {
        for (group, name) in places {
            if let Some(number) = self.number(group, name)? {
                return Ok(Some((format!("{group}/{name}"), number)));
            }
        }
        Ok(None)
    }
}
