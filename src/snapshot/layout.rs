//! Names of our fields in SWIFT's layout, and the attributes that describe them.

use super::hdf::{self, Outcome};
use crate::particles::Field;
use hdf5::Location;

/// The group of the particles.
pub(super) const PARTICLE_GROUP: &str = "PartType0";

/// The group of attributes that only hilbrium reads. It also identifies the file as ours.
pub(super) const PROGRAM_GROUP: &str = "Hilbrium";

/// Version of our formats: snapshots, checkpoints, H5MD trajectories. Readers refuse unknown versions.
pub(super) const FORMAT_VERSION: i64 = 1;

/// Dataset name of a field: SWIFT's name if SWIFT has the field.
pub(super) fn dataset_name(field: Field) -> &'static str {
    match field {
        Field::Position => "Coordinates",
        Field::Velocity => "Velocities",
        Field::Mass => "Masses",
        Field::SmoothingLength => "SmoothingLengths",
        Field::InternalEnergy => "InternalEnergies",
        Field::Viscosity => "ViscosityParameters",
        Field::Acceleration => "Accelerations",
        Field::InternalEnergyRate => "InternalEnergyRates",
        Field::Density => "Densities",
        Field::VelocityDivergence => "VelocityDivergences",
        Field::Pressure => "Pressures",
        Field::SoundSpeed => "SoundSpeeds",
        Field::VelocityCurl => "VelocityCurls",
        Field::SignalSpeed => "SignalSpeeds",
        Field::Potential => "Potentials",
        Field::VolumeElement => "VolumeElements",
        other => other.name(),
    }
}

/// Text of the dataset's `Description`.
fn description(field: Field) -> String {
    match field {
        Field::Position => "Positions of the particles, counted from Header/BoxLower".into(),
        Field::SmoothingLength => "Smoothing lengths h; the kernel's support radius is 2h".into(),
        Field::InternalEnergy => "Internal energies per unit mass".into(),
        Field::Potential => "Gravitational potential energies per unit mass".into(),
        Field::Viscosity => "Artificial viscosity coefficients alpha".into(),
        Field::GradientMatrix => {
            "Inverse matrices of the integral approach to derivatives: xx xy xz yy yz zz".into()
        }
        other => {
            let name = other.name().replace('_', " ");
            name[..1].to_uppercase() + &name[1..] + " of the particles"
        }
    }
}

/// Writes SWIFT's description attributes of a field; `units` are mass, length and time in cgs.
pub(super) fn describe_field(dataset: &Location, field: Field, units: [f64; 3]) -> Outcome<()> {
    describe(dataset, &description(field), field.dimensions(), units)
}

/// Writes SWIFT's description attributes of the ids.
pub(super) fn describe_ids(dataset: &Location) -> Outcome<()> {
    describe(dataset, "Unique identities of the particles", [0; 3], [1.0; 3])
}

fn describe(dataset: &Location, text: &str, dimensions: [i32; 3], units: [f64; 3]) -> Outcome<()> {
    let [mass, length, time] = dimensions.map(f64::from);
    let exponents = [("M", mass), ("L", length), ("t", time), ("I", 0.0), ("T", 0.0)];
    for (unit, exponent) in exponents {
        hdf::write_numbers(dataset, &format!("U_{unit} exponent"), &[exponent])?;
    }
    for scale in ["a-scale exponent", "h-scale exponent"] {
        hdf::write_numbers(dataset, scale, &[0.0])?;
    }
    let factor: f64 = units.iter().zip(dimensions).map(|(unit, exponent)| unit.powi(exponent)).product();
    let to_cgs = "Conversion factor to CGS (not including cosmological corrections)";
    hdf::write_numbers(dataset, to_cgs, &[factor])?;
    let to_cgs = "Conversion factor to physical CGS (including cosmological corrections)";
    hdf::write_numbers(dataset, to_cgs, &[factor])?;
    let powers: Vec<String> = exponents
        .iter()
        .filter(|(_, exponent)| *exponent != 0.0)
        .map(|(unit, exponent)| format!("U_{unit}^{exponent}"))
        .collect();
    let powers = if powers.is_empty() { "[ - ]".to_owned() } else { powers.join(" ") };
    hdf::write_string(dataset, "Expression for physical CGS units", &powers)?;
    hdf::write_numbers(dataset, "Value stored as physical", &[1i32])?;
    hdf::write_numbers(dataset, "Property can be converted to comoving", &[0i32])?;
    hdf::write_string(dataset, "Description", text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_fields_share_a_dataset() {
        let mut names: Vec<&str> = Field::ALL.iter().map(|&field| dataset_name(field)).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Field::ALL.len());
        assert!(Field::ALL.iter().all(|&field| !description(field).is_empty()));
    }
}
