//! Files in comoving units with factors of h: what makes a file one, and how its values become physical ones.
//!
//! Sources: SWIFT's manual (section "Output"), the user guides of Gadget-2 (section "File formats") and Gadget-4
//! (`a_scaling`, `h_scaling`), GIZMO's and Arepo's `io.c` (the header's attributes).

use super::groups::{Groups, Value, value};
use super::refusal::{Checked, Refusal};
use crate::particles::Field;
use hdf5::Location;

/// The scale factor and the Hubble parameter (in 100 km/s/Mpc) of a file in comoving units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cosmology {
    pub a: f64,
    /// `None` where the file does not state it: then it must not be needed.
    pub h: Option<f64>,
}

/// Where programs say that a run is cosmological: SWIFT, GIZMO, Gadget-4 and Arepo, EAGLE's Gadget-3.
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

/// How well Time and Redshift of a file without a flag must agree to be those of one scale factor.
const SAME: f64 = 1e-6;

/// How far a stated scale factor may be off that of the redshift: some programs write single precision or few digits.
const NEAR: f64 = 1e-4;

const WHICH: &str = "say which it is: set Header/ComovingIntegrationOn to 0 where the values are physical, to 1 where they are \
                     comoving (with Time the scale factor, Redshift, and HubbleParam)";

impl Cosmology {
    /// What the file says; `None` if it is not in comoving units. What a user should know goes to `notes`.
    ///
    /// # Errors
    /// Statements that contradict each other, are impossible, or leave open which it is.
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
            (Some((flag, _)), None) => Self::stated(groups, flag).map(Some),
            (None, None) => Self::inferred(groups, notes),
        }
    }

    /// Of a file that says that it is cosmological.
    fn stated(groups: &Groups, flag: &str) -> Checked<Self> {
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
            && !(-NEAR..=NEAR).contains(&(a * (1.0 + redshift) - 1.0))
        {
            return Err(Refusal::new(
                format!("its scale factor is {a} by {name}, but Header/Redshift is {redshift}"),
                "correct the wrong one of the two: the scale factor is 1 / (1 + Redshift)",
            ));
        }
        Self::possible(groups, a)
    }

    /// Of a file without such a flag, as Gadget-2 and Gadget-3 and most makers of initial conditions write: cosmological where
    /// it states a density of matter, and Time is the scale factor of Redshift.
    fn inferred(groups: &Groups, notes: &mut Vec<String>) -> Checked<Option<Self>> {
        let omega = groups.first(&OMEGA)?.filter(|(_, omega)| *omega > 0.0);
        let time = groups.number("Header", "Time")?.unwrap_or(0.0);
        let redshift = groups.number("Header", "Redshift")?;
        let same = redshift.is_some_and(|redshift| (time * (1.0 + redshift) - 1.0).abs() <= SAME);
        let expanded = redshift.is_some_and(|redshift| redshift != 0.0);
        match omega {
            Some(_) if same => Self::possible(groups, time).map(Some),
            Some((name, omega)) if expanded || (redshift.is_none() && time != 0.0) => {
                let redshift = redshift.map_or("not stated".to_owned(), |redshift| redshift.to_string());
                let what = format!(
                    "whether it is cosmological is open: {name} is {omega}, Header/Time {time}, Header/Redshift {redshift}"
                );
                Err(Refusal::new(what, WHICH))
            }
            Some((name, omega)) => {
                notes.push(format!(
                    "{name} is {omega}, but Time {time} is not 1 / (1 + Redshift): read as it stands, as an isolated system"
                ));
                Ok(None)
            }
            None if same && expanded => {
                let what = format!(
                    "whether it is cosmological is open: Header/Time {time} is the scale factor of Header/Redshift {}, but no \
                     Omega0 and no flag says so",
                    redshift.unwrap_or_default()
                );
                Err(Refusal::new(what, WHICH))
            }
            None => Ok(None),
        }
    }

    fn possible(groups: &Groups, a: f64) -> Checked<Self> {
        if !(a > 0.0 && a <= 2.0) {
            return Err(Refusal::new(
                format!("it is cosmological with a scale factor of {a}, which is not above 0 and at most 2"),
                "correct Header/Time (the scale factor of a cosmological file) and Header/Redshift, or set the flag of \
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

    /// What to multiply the values of a dataset with to make them physical and free of h; `None` if that is not known.
    /// Programs state the exponents of a and h at the dataset; without them the units are Gadget's internal ones.
    ///
    /// # Errors
    /// Exponents that are no numbers, one without the other, and factors of an h that the file does not state.
    pub fn factor(self, dataset: &Location, name: &str, field: Field) -> Checked<Option<f64>> {
        let stated = self.stated_exponents(dataset, name)?;
        let Some((a, h)) = stated.or(gadget_exponents(field)) else { return Ok(None) };
        self.power(a, h, name).map(Some)
    }

    /// The factor of masses that are in the header: the same power of h as that of the lengths.
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

/// Exponents of a and h in Gadget's internal units, of the fields whose units are the same in all its versions.
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
