//! The units that a file states.

use super::cosmology::Cosmology;
use super::groups::Groups;
use super::refusal::{Checked, Refusal};

/// SWIFT's units of mass, length and time.
const SWIFT: [&str; 3] = ["Unit mass in cgs (U_M)", "Unit length in cgs (U_L)", "Unit time in cgs (U_t)"];

/// Units of mass, length and velocity of Gadget, Arepo and EAGLE.
const GADGET: [&str; 3] = ["UnitMass_in_g", "UnitLength_in_cm", "UnitVelocity_in_cm_per_s"];

/// GIZMO's units, already divided by the header's HubbleParam: file values times these units are physical.
const GIZMO: [&str; 3] = ["UnitMass_In_CGS", "UnitLength_In_CGS", "UnitVelocity_In_CGS"];

/// Relative tolerance between two statements of the same unit.
const UNIT_TOLERANCE: f64 = 1e-6;

/// Units of mass, length and time in g, cm and s; `None` if the file states none.
///
/// # Errors
/// Units that are not positive, incomplete, or contradictory between two places.
pub(super) fn units(groups: &Groups, cosmology: Option<Cosmology>) -> Checked<Option<[f64; 3]>> {
    let mut found: Option<(String, [f64; 3])> = None;
    for (group, names, velocity) in [
        ("Units", SWIFT, false),
        ("Units", GADGET, true),
        ("Header", GADGET, true),
        ("Header", GIZMO, true),
        ("Parameters", GADGET, true),
    ] {
        let Some(mut units) = stated(groups, group, names)? else { continue };
        if velocity {
            units[2] = units[1] / units[2];
        }
        if names == GIZMO
            && let Some(h) = cosmology.and_then(|cosmology| cosmology.h)
        {
            units = units.map(|unit| unit * h);
        }
        let name = format!("{group}/{}", names[0]);
        match &found {
            Some((first, others))
                if others.iter().zip(&units).any(|(a, b)| (a / b - 1.0).abs() > UNIT_TOLERANCE) =>
            {
                return Err(Refusal::new(
                    format!(
                        "its units are {others:?} by {first} and what is beside it, but {units:?} by {name}"
                    ),
                    "correct one of the two, or delete it (mass, length and time in gram, centimetre and \
                     second)",
                ));
            }
            Some(_) => {}
            None => found = Some((name, units)),
        }
    }
    Ok(found.map(|(_, units)| units))
}

fn stated(groups: &Groups, group: &str, names: [&str; 3]) -> Checked<Option<[f64; 3]>> {
    let mut units = [None; 3];
    for (unit, name) in units.iter_mut().zip(names) {
        *unit = groups.number(group, name)?;
        if let Some(unit) = *unit
            && !(unit > 0.0 && unit.is_finite())
        {
            return Err(Refusal::new(
                format!("its unit {group}/{name} is {unit}"),
                format!("write the unit as a positive number, or delete the units from {group}"),
            ));
        }
    }
    match units {
        [Some(mass), Some(length), Some(third)] => Ok(Some([mass, length, third])),
        [None, None, None] => Ok(None),
        _ => {
            let lacking: Vec<&str> =
                names.iter().zip(units).filter(|(_, unit)| unit.is_none()).map(|(name, _)| *name).collect();
            let lacking = lacking.join(" and ");
            Err(Refusal::new(
                format!("{group} states a part of the units, without {lacking}"),
                format!("add {lacking} to {group}, or delete the units from it"),
            ))
        }
    }
}
