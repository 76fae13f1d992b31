//! Units of a snapshot in words.

use crate::report::picture::superscripts;
use crate::report::rounded;
use crate::snapshot::Header;
use crate::units::{UnitSystem, Units};

/// Units by their size in cgs. Files round them differently.
const LENGTHS: [(&str, f64); 7] = [
    ("cm", 1.0),
    ("m", 1e2),
    ("km", 1e5),
    ("au", 1.495978707e13),
    ("pc", 3.085677581e18),
    ("kpc", 3.085677581e21),
    ("Mpc", 3.085677581e24),
];
const MASSES: [(&str, f64); 4] = [("g", 1.0), ("kg", 1e3), ("M_sun", 1.98841e33), ("10¹⁰ M_sun", 1.98841e43)];
const TIMES: [(&str, f64); 4] = [("s", 1.0), ("yr", 3.15576e7), ("Myr", 3.15576e13), ("Gyr", 3.15576e16)];

/// Relative deviation at which a unit still has the name.
const TOLERANCE: f64 = 2e-3;

/// The unit system of a snapshot.
pub fn unit_system(header: &Header) -> UnitSystem {
    let molecular = Units::new(UnitSystem::Molecular).cgs;
    let same = header.units.iter().zip(molecular).all(|(unit, other)| (unit / other - 1.0).abs() < 1e-6);
    if same { UnitSystem::Molecular } else { UnitSystem::Reduced }
}

/// The unit with these exponents of mass, length and time, for [`crate::report::picture::axis_label`].
pub(super) fn unit(header: &Header, exponents: [i32; 3]) -> String {
    let units = Units::new(unit_system(header));
    // all 1: the run has no physical units
    if units.system == UnitSystem::Molecular || header.units == [1.0; 3] {
        return units.name(exponents);
    }
    physical_unit(header.units, exponents).unwrap_or_else(|| units.name(exponents))
}

/// The name of a unit of physical units; `None` if one of them has no name.
fn physical_unit(cgs: [f64; 3], [mass, length, time]: [i32; 3]) -> Option<String> {
    let named = |known: &[(&'static str, f64)], size: f64| {
        known.iter().find(|(_, unit)| (size / unit - 1.0).abs() < TOLERANCE).map(|(name, _)| *name)
    };
    let length_name = named(&LENGTHS, cgs[1]);
    let mut factors = Vec::new();
    if mass != 0 {
        factors.push((named(&MASSES, cgs[0])?, mass));
    }
    // a time of length over km/s, as in Gadget, is expressed by velocities
    let velocity =
        time != 0 && named(&TIMES, cgs[2]).is_none() && named(&LENGTHS, cgs[1] / cgs[2]) == Some("km");
    let length = if velocity { length + time } else { length };
    if length != 0 {
        factors.push((length_name?, length));
    }
    match (time, velocity) {
        (0, _) => {}
        (_, true) => factors.extend([("km", -time), ("s", time)]),
        (_, false) => factors.push((named(&TIMES, cgs[2])?, time)),
    }
    let factor = |(name, exponent): &(&str, i32)| match exponent {
        1 => (*name).to_owned(),
        _ => format!("{name}^{exponent}"),
    };
    Some(if factors.is_empty() {
        "1".into()
    } else {
        factors.iter().map(factor).collect::<Vec<_>>().join(" ")
    })
}

/// A value with its unit for a title; code units have no name.
pub(super) fn with_unit(header: &Header, value: f64, exponents: [i32; 3]) -> String {
    let number = rounded(value, 4).replace('-', "−");
    match unit(header, exponents) {
        unit if unit.contains("U_") => number,
        unit => format!("{number} {}", superscripts(&unit)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{Boundary, SimulationBox, Vec3d};

    fn header(units: [f64; 3]) -> Header {
        let boundary = [Boundary::Open; 3];
        let bx = SimulationBox { lower: Vec3d::zeros(), upper: Vec3d::repeat(1.0), boundary };
        Header { units, ..Header::new(bx) }
    }

    #[test]
    fn physical_units_have_names() {
        let gadget = [1.989e43, 3.085678e21, 3.085678e16];
        assert_eq!(physical_unit(gadget, [0, 1, -1]).unwrap(), "km s^-1");
        assert_eq!(physical_unit(gadget, [0, 2, -2]).unwrap(), "km^2 s^-2");
        assert_eq!(physical_unit(gadget, [1, -3, 0]).unwrap(), "10¹⁰ M_sun kpc^-3");
        assert_eq!(physical_unit([1.0, 1.0, 3.15576e13], [0, 0, 1]).unwrap(), "Myr");
        assert_eq!(physical_unit([2.0, 1.0, 1.0], [1, 0, 0]), None);
        assert_eq!(physical_unit([2.0, 1.0, 1.0], [0, 1, -1]).unwrap(), "cm s^-1");
    }

    #[test]
    fn units_of_decks_are_those_of_their_tables() {
        let molecular = header(Units::new(UnitSystem::Molecular).cgs);
        assert_eq!(
            (unit(&molecular, [0, -3, 0]), unit_system(&molecular)),
            ("nm^-3".into(), UnitSystem::Molecular)
        );
        assert_eq!(with_unit(&molecular, -2.5, [0, 0, 1]), "−2.5 ps");
        assert_eq!(unit(&header([1.0; 3]), [1, -3, 0]), "U_M U_L^-3");
        assert_eq!(with_unit(&header([1.0; 3]), 0.8, [0, 0, 1]), "0.8");
    }
}
