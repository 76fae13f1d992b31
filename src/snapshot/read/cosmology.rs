//! Files in comoving units with factors of h: detection, and conversion to physical units.
//!
//! Sources: SWIFT's manual (section "Output"), the user guides of Gadget-2 (section "File formats") and
//! Gadget-4 (`a_scaling`, `h_scaling`), GIZMO's and Arepo's `io.c` (the header's attributes).

use super::groups::{Groups, Value, value};
use super::refusal::{Checked, Refusal};
use crate::particles::Field;
use hdf5::Location;

/// Scale factor and Hubble parameter (in 100 km/s/Mpc) of a file in comoving units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cosmology {
    pub a: f64,
    /// `None` if the file does not state it; a conversion that needs it then fails.
    pub h: Option<f64>,
}

/// Flags that mark a run as cosmological, of SWIFT, GIZMO, Gadget-4 and Arepo, EAGLE's Gadget-3.
const FLAGS: [(&str, &str); 5] = [
    ("Policy", "cosmological integration"),
    ("Cosmology", "Cosmological run"),
    ("Header", "ComovingIntegrationOn"),
    ("Parameters", "ComovingIntegrationOn"),
    ("RuntimePars", "ComovingIntegrationOn"),
];

const OMEGA: [(&str, &str); 5] = [
    ("Header", "Omega0"),
    ("Header", "Omega_Matter"),
    ("Header", "OmegaMatter"),
    ("Parameters", "Omega0"),
    ("Parameters", "OmegaMatter"),
];

const HUBBLE: [(&str, &str); 4] = [
    ("Cosmology", "h"),
    ("Cosmology", "HubbleParam"),
    ("Header", "HubbleParam"),
    ("Parameters", "HubbleParam"),
];

/// Relative tolerance within which Time equals 1 / (1 + Redshift), for a file without a flag.
const REDSHIFT_TOLERANCE: f64 = 1e-6;

/// Relative tolerance between the stated scale factor and that of the redshift: some programs write single
/// precision or few digits.
const SCALE_FACTOR_TOLERANCE: f64 = 1e-4;

const AMBIGUOUS_REMEDY: &str = "say which it is: set Header/ComovingIntegrationOn to 0 where the values are \
                                physical, to 1 where they are \
                     comoving (with Time the scale factor, Redshift, and HubbleParam)";

impl Cosmology {
    /// Determines the cosmology from the file; `None` if the units are not comoving. Adds notes for the user.
    ///
    /// # Errors
    /// Statements that are contradictory, impossible, or ambiguous.
    pub fn of(groups: &Groups, notes: &mut Vec<String>) -> Checked<Option<Self>> {
        let mut stated = Vec::new();
        for (group, name) in FLAGS {
            if let Some(number) = groups.number(group, name)? {
                stated.push((format!("{group}/{name}"), number != 0.0));
            }
        }
        let on = stated.iter().find(|(_, on)| *on);
        let off = stated.iter().find(|(_, on)| !*on);
        match (on, off) {
            (Some((on, _)), Some((off, _))) => Err(Refusal::new(
                format!("{on} says that it is cosmological, {off} that it is not"),
                format!(
                    "set both to 1 if the values are comoving, or to 0 if they are physical: {on}, {off}"
                ),
            )),
            (None, Some(_)) => Ok(None),
            (Some((flag, _)), None) => Self::from_flag(groups, flag).map(Some),
            (None, None) => Self::infer(groups, notes),
        }
    }

    /// For a file flagged as cosmological.
    fn from_flag(groups: &Groups, flag: &str) -> Checked<Self> {
        let redshift = groups.number("Header", "Redshift")?;
        let mut places = vec![("Header", "Scale-factor"), ("Header", "ExpansionFactor")];
        if flag.ends_with("ComovingIntegrationOn") {
            places.push(("Header", "Time"));
        }
        let factor = groups.first(&places)?;
        let of_redshift = redshift.map(|redshift| ("Header/Redshift".to_owned(), 1.0 / (1.0 + redshift)));
        let Some((name, a)) = factor.or(of_redshift) else {
            return Err(Refusal::new(
                format!(
                    "{flag} says that it is cosmological, but it states neither scale factor nor redshift"
                ),
                "add Header/Redshift",
            ));
        };
        if let Some(redshift) = redshift
            && !(-SCALE_FACTOR_TOLERANCE..=SCALE_FACTOR_TOLERANCE).contains(&(a * (1.0 + redshift) - 1.0))
        {
            return Err(Refusal::new(
                format!("its scale factor is {a} by {name}, but Header/Redshift is {redshift}"),
                "correct the wrong one of the two: the scale factor is 1 / (1 + Redshift)",
            ));
        }
        Self::validated(groups, a)
    }

    /// For a file without a flag, as Gadget-2, Gadget-3 and most generators of initial conditions write. It
    /// is cosmological if it states a matter density and Time is the scale factor of Redshift.
    fn infer(groups: &Groups, notes: &mut Vec<String>) -> Checked<Option<Self>> {
        let omega = groups.first(&OMEGA)?.filter(|(_, omega)| *omega > 0.0);
        let time = groups.number("Header", "Time")?.unwrap_or(0.0);
        let redshift = groups.number("Header", "Redshift")?;
        let same =
            redshift.is_some_and(|redshift| (time * (1.0 + redshift) - 1.0).abs() <= REDSHIFT_TOLERANCE);
        let expanded = redshift.is_some_and(|redshift| redshift != 0.0);
        match omega {
            Some(_) if same => Self::validated(groups, time).map(Some),
            Some((name, omega)) if expanded || (redshift.is_none() && time != 0.0) => {
                let redshift = redshift.map_or("not stated".to_owned(), |redshift| redshift.to_string());
                let what = format!(
                    "whether it is cosmological is open: {name} is {omega}, Header/Time {time}, \
                     Header/Redshift {redshift}"
                );
                Err(Refusal::new(what, AMBIGUOUS_REMEDY))
            }
            Some((name, omega)) => {
                notes.push(format!(
                    "{name} is {omega}, but Time {time} is not 1 / (1 + Redshift): read as it stands, as an \
                     isolated system"
                ));
                Ok(None)
            }
            None if same && expanded => {
                let what = format!(
                    "whether it is cosmological is open: Header/Time {time} is the scale factor of \
                     Header/Redshift {}, but no \
                     Omega0 and no flag says so",
                    redshift.unwrap_or_default()
                );
                Err(Refusal::new(what, AMBIGUOUS_REMEDY))
            }
            None => Ok(None),
        }
    }

    fn validated(groups: &Groups, a: f64) -> Checked<Self> {
        if !(a > 0.0 && a <= 2.0) {
            return Err(Refusal::new(
                format!("it is cosmological with a scale factor of {a}, which is not above 0 and at most 2"),
                "correct Header/Time (the scale factor of a cosmological file) and Header/Redshift, or set \
                 the flag of \
                 cosmological files to 0",
            ));
        }
        match groups.first(&HUBBLE)? {
            Some((name, h)) if !(h > 0.0 && h <= 2.0) => Err(Refusal::new(
                format!("it is cosmological with {name} = {h}, which is not above 0 and at most 2"),
                format!("write the Hubble constant in units of 100 km/s/Mpc to {name}"),
            )),
            hubble => Ok(Self { a, h: hubble.map(|(_, h)| h) }),
        }
    }

    /// Factor that converts a dataset to physical units without h; `None` if unknown. The dataset's
    /// attributes may state the exponents of a and h; otherwise Gadget's internal units are assumed.
    ///
    /// # Errors
    /// Exponents that are not numbers, one exponent without the other, and factors of an h that the file does
    /// not state.
    pub fn factor(self, dataset: &Location, name: &str, field: Field) -> Checked<Option<f64>> {
        let stated = self.stated_exponents(dataset, name)?;
        let Some((a, h)) = stated.or(gadget_exponents(field)) else { return Ok(None) };
        self.power(a, h, name).map(Some)
    }

    /// Factor for the masses in the header: same power of h as the coordinates.
    ///
    /// # Errors
    /// As [`Self::factor`].
    pub fn table_factor(self, coordinates: &Location, name: &str) -> Checked<f64> {
        let h = self.stated_exponents(coordinates, name)?.map_or(-1.0, |(_, h)| h);
        self.power(0.0, h, "Header/MassTable")
    }

    fn power(self, a: f64, h: f64, name: &str) -> Checked<f64> {
        match self.h {
            None if h != 0.0 => Err(Refusal::new(
                format!("{name} has a factor of h, and the file does not state h"),
                "add Header/HubbleParam",
            )),
            hubble => Ok(self.a.powf(a) * hubble.unwrap_or(1.0).powf(h)),
        }
    }

    fn stated_exponents(self, dataset: &Location, name: &str) -> Checked<Option<(f64, f64)>> {
        if matches!(value(dataset, "Value stored as physical"), Value::Numbers(flag) if flag.iter().any(|on| *on != 0.0))
        {
            return Ok(Some((0.0, 0.0)));
        }
        let exponent = |names: [&str; 3]| -> Checked<Option<f64>> {
            for attribute in names {
                match value(dataset, attribute) {
                    Value::Absent => {}
                    Value::Numbers(numbers) if numbers.len() == 1 && numbers[0].is_finite() => {
                        return Ok(Some(numbers[0]));
                    }
                    _ => {
                        let what = format!("the attribute {attribute} of {name} is no number");
                        return Err(Refusal::new(what, "write it as one number"));
                    }
                }
            }
            Ok(None)
        };
        let a = exponent(["a-scale exponent", "a_scaling", "aexp-scale-exponent"])?;
        let h = exponent(["h-scale exponent", "h_scaling", "h-scale-exponent"])?;
        match (a, h) {
            (Some(a), Some(h)) => Ok(Some((a, h))),
            (None, None) => Ok(None),
            _ => Err(Refusal::new(
                format!("{name} states the exponent of only one of scale factor and h"),
                "state both (a_scaling, h_scaling), or none for Gadget's internal units",
            )),
        }
    }
}

/// Exponents of a and h in Gadget's internal units, for the fields whose units are the same in all Gadget
/// versions.
fn gadget_exponents(field: Field) -> Option<(f64, f64)> {
    match field {
        Field::Position | Field::SmoothingLength => Some((1.0, -1.0)),
        Field::Velocity => Some((0.5, 0.0)),
        Field::Mass => Some((0.0, -1.0)),
        Field::Density => Some((-3.0, 2.0)),
        Field::InternalEnergy => Some((0.0, 0.0)),
        other => (other.dimensions() == [0; 3]).then_some((0.0, 0.0)),
    }
}
