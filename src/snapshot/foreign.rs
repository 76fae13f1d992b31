//! What other programs call our fields, and how their values become ours.
//!
//! Sources: the SWIFT snapshot description (section "Output" of its manual), the user guides of Gadget-2 (section
//! "File formats": comoving units with factors of h) and of Gadget-4 and Arepo (`a_scaling`, `h_scaling`).

use super::hdf::{read_numbers, read_string};
use super::layout::dataset_name;
use crate::particles::Field;
use hdf5::{File, Group, Location};

/// The names that a field may have, ours (SWIFT's) first.
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

/// The expansion factor and the reduced Hubble constant of a file in comoving units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cosmology {
    a: f64,
    h: f64,
}

impl Cosmology {
    /// What the file says; `None` if it is not in comoving units, `Err` if what it says is impossible.
    pub(super) fn of(file: &File, header: &Group) -> Result<Option<Self>, String> {
        let first = |from: &Location, name: &str| read_numbers::<f64>(from, name)?.first().copied();
        let within = |group: &str, name: &str| first(&*file.group(group).ok()?, name);
        let swift = within("Policy", "cosmological integration").or(within("Cosmology", "Cosmological run"));
        let matter = first(header, "Omega0").unwrap_or(0.0);
        let (a, h) = match swift {
            Some(1.0) => (first(header, "Scale-factor"), within("Cosmology", "h")),
            Some(_) => return Ok(None),
            None if matter > 0.0 => (first(header, "Time"), first(header, "HubbleParam")),
            None => return Ok(None),
        };
        match (a, h.unwrap_or(1.0)) {
            (Some(a), h) if a > 0.0 && a <= 2.0 && h > 0.0 && h <= 2.0 => Ok(Some(Self { a, h })),
            (a, h) => Err(format!("its cosmology makes no sense: scale factor {a:?}, h = {h}")),
        }
    }

    /// What to multiply the values of a dataset with to make them physical and free of h.
    pub(super) fn factor(self, dataset: &Location, field: Field) -> f64 {
        let exponent = |names: [&str; 3]| {
            names.iter().find_map(|name| read_numbers::<f64>(dataset, name)?.first().copied())
        };
        let a = exponent(["a-scale exponent", "a_scaling", "aexp-scale-exponent"]);
        let h = exponent(["h-scale exponent", "h_scaling", "h-scale-exponent"]);
        let (a, h) = match (a, h) {
            (None, None) => gadget_exponents(field),
            (a, h) => (a.unwrap_or(0.0), h.unwrap_or(0.0)),
        };
        self.a.powf(a) * self.h.powf(h)
    }
}

/// Exponents of a and h in Gadget's internal units.
fn gadget_exponents(field: Field) -> (f64, f64) {
    match field {
        Field::Position | Field::SmoothingLength => (1.0, -1.0),
        Field::Velocity => (0.5, 0.0),
        Field::Mass => (0.0, -1.0),
        Field::Density => (-3.0, 2.0),
        _ => (0.0, 0.0),
    }
}

/// The kernel's support radius in units of the file's smoothing length.
///
/// Ours and SWIFT say it, SWIFT by the kernel's name (ratios of Dehnen & Aly 2012, table 1); Gadget stores the support.
pub(super) fn support_over_smoothing_length(file: &File) -> f64 {
    let Ok(scheme) = file.group("HydroScheme") else { return 1.0 };
    let stated = read_numbers::<f64>(&scheme, "Kernel support over smoothing length");
    if let Some(&[ratio]) = stated.as_deref().filter(|ratio| ratio.iter().all(|r| *r > 0.0 && *r < 10.0)) {
        return ratio;
    }
    let Some(kernel) = read_string(&scheme, "Kernel function") else { return 1.0 };
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

/// Mass, length and time units in cgs, where the file says them.
pub(super) fn units(file: &File, header: &Group) -> [f64; 3] {
    let first = |from: &Location, name: &str| {
        read_numbers::<f64>(from, name)?.first().copied().filter(|unit| *unit > 0.0 && unit.is_finite())
    };
    let swift = file.group("Units").ok().and_then(|units| {
        Some([
            first(&units, "Unit mass in cgs (U_M)")?,
            first(&units, "Unit length in cgs (U_L)")?,
            first(&units, "Unit time in cgs (U_t)")?,
        ])
    });
    let gadget = |from: &Group| {
        let length = first(from, "UnitLength_in_cm")?;
        Some([first(from, "UnitMass_in_g")?, length, length / first(from, "UnitVelocity_in_cm_per_s")?])
    };
    swift.or_else(|| gadget(header)).or_else(|| gadget(&file.group("Parameters").ok()?)).unwrap_or([1.0; 3])
}
