//! Dataset names of other programs, and their definitions of the smoothing length.

use crate::particles::Field;
use crate::snapshot::hdf::{read_numbers, read_string};
use crate::snapshot::layout::dataset_name;
use hdf5::Group;

/// Possible dataset names of a field, ours (SWIFT's) first.
pub(super) fn dataset_names(field: Field) -> Vec<&'static str> {
    let mut names = vec![dataset_name(field)];
    names.extend(match field {
        Field::Mass => Some("Mass"),
        Field::SmoothingLength => Some("SmoothingLength"),
        Field::InternalEnergy => Some("InternalEnergy"),
        Field::Density => Some("Density"),
        Field::Pressure => Some("Pressure"),
        Field::Potential => Some("Potential"),
        Field::Velocity => Some("Velocity"),
        _ => None,
    });
    names
}

/// Ratio of the kernel's support radius to the file's smoothing length, from the group `HydroScheme`.
///
/// Our files state it. SWIFT states the kernel's name (ratios of Dehnen & Aly 2012, table 1). Gadget stores
/// the support radius itself: ratio 1.
pub(super) fn support_over_smoothing_length(scheme: Option<&Group>) -> f64 {
    let Some(scheme) = scheme else { return 1.0 };
    let stated = read_numbers::<f64>(scheme, "Kernel support over smoothing length");
    if let Some(&[ratio]) = stated.as_deref().filter(|ratio| ratio.iter().all(|r| *r > 0.0 && *r < 10.0)) {
        return ratio;
    }
    let Some(kernel) = read_string(scheme, "Kernel function") else { return 1.0 };
    [
        ("Quartic", 2.018932),
        ("Quintic", 2.195775),
        ("Wendland C2", 1.936492),
        ("Wendland C4", 2.207940),
        ("Wendland C6", 2.449490),
    ]
    .iter()
    .find(|(name, _)| kernel.contains(name))
    .map_or(1.825742, |(_, ratio)| *ratio)
}
