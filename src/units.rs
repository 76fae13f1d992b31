//! Unit systems of a run, and parsing of quantities as decks write them: "15min", "1h 30min", "3.4 angstrom",
//! "5/3".

use serde::{Deserialize, Serialize};

/// The unit system of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnitSystem {
    /// The deck's own units, in which physical constants are 1 unless the deck sets them.
    Reduced,
    /// Nanometre, picosecond, atomic mass unit, kilojoule per mole, elementary charge, kelvin.
    Molecular,
}

impl UnitSystem {
    /// The names in a deck, in the order of the variants.
    pub const NAMES: &[&str] = &["reduced", "molecular"];

    /// Returns the name in a deck.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// Returns the system of this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Reduced, Self::Molecular].into_iter().find(|system| system.name() == name)
    }
}

/// The gas constant in kJ/mol/K: exact, the product of the Boltzmann and Avogadro constants (SI of 2019).
const BOLTZMANN: f64 = 0.00831446261815324;
/// e^2 N_A / (4 pi epsilon_0) in kJ/mol nm: CODATA 2018 and 2022 agree to 1e-9 (Mohr, Newell, Taylor &
/// Tiesinga 2025, Rev. Mod. Phys. 97, 025002).
const COULOMB: f64 = 138.9354576;
/// An electronvolt in kJ/mol: exact, e N_A (SI of 2019).
const ELECTRONVOLT: f64 = 96.48533212331002;
/// A hartree in kJ/mol (CODATA 2022).
const HARTREE: f64 = 2625.4996394799;
/// ASE's unit of velocity, sqrt(eV/amu), in nm/ps.
pub const ASE_VELOCITY: f64 = 9.822694748556021;
/// ASE's unit of force, eV/angstrom, in kJ/mol/nm.
pub const ASE_FORCE: f64 = 10.0 * ELECTRONVOLT;
/// Gram in an atomic mass unit (CODATA 2022).
const ATOMIC_MASS: f64 = 1.66053906892e-24;

/// The units of a run, with the physical constants in them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Units {
    /// The system.
    pub system: UnitSystem,
    /// Boltzmann's constant, energy per temperature.
    pub boltzmann: f64,
    /// The constant of Coulomb's law, 1 / (4 pi epsilon_0): energy times length per squared charge.
    pub coulomb: f64,
    /// The units of mass, length and time in gram, centimetre and second; all 1 if the run has no physical
    /// units.
    pub cgs: [f64; 3],
}

impl Units {
    /// Returns the units of a system. Molecular units are coherent (amu nm^2 / ps^2 = kJ/mol) to 1.1e-9, the
    /// deviation of the molar mass constant from 1 g/mol.
    pub const fn new(system: UnitSystem) -> Self {
        match system {
            UnitSystem::Reduced => Units { system, boltzmann: 1.0, coulomb: 1.0, cgs: [1.0; 3] },
            UnitSystem::Molecular => {
                Units { system, boltzmann: BOLTZMANN, coulomb: COULOMB, cgs: [ATOMIC_MASS, 1e-7, 1e-12] }
            }
        }
    }

    /// Formats the unit with these exponents of mass, length and time, for headers: "U_M U_L^2 U_t^-2", "kJ
    /// mol^-1", "nm".
    pub fn name(&self, exponents: [i32; 3]) -> String {
        let [mass, length, time] = exponents;
        let names = match (self.system, mass, time) {
            (UnitSystem::Reduced, ..) => [("U_M", mass), ("U_L", length), ("U_t", time)],
            // Dimensions of energy times a power of length are expressed in kJ/mol.
            (UnitSystem::Molecular, 1, -2) => [("kJ", 1), ("mol", -1), ("nm", length - 2)],
            (UnitSystem::Molecular, ..) => [("amu", mass), ("nm", length), ("ps", time)],
        };
        let factors: Vec<String> = names
            .iter()
            .filter(|(_, exponent)| *exponent != 0)
            .map(|(name, exponent)| match exponent {
                1 => (*name).to_string(),
                _ => format!("{name}^{exponent}"),
            })
            .collect();
        if factors.is_empty() { "1".into() } else { factors.join(" ") }
    }

    /// Returns the unit of temperatures: that of energies if Boltzmann's constant is 1.
    pub fn temperature_name(&self) -> String {
        match self.system {
            UnitSystem::Reduced => self.name([1, 2, -2]),
            UnitSystem::Molecular => "K".into(),
        }
    }

    /// Formats a quantity for messages: nine digits, with its unit if that has a name: "4.2 nm", "2.5".
    pub fn format_quantity(&self, value: f64, dimension: Dimension) -> String {
        let rounded: f64 = format!("{value:.8e}").parse().unwrap_or(value);
        let plain = rounded == 0.0 || (1e-4..1e7).contains(&rounded.abs()) || !rounded.is_finite();
        let number = if plain { rounded.to_string() } else { format!("{rounded:e}") };
        // The first unit is the system's own.
        match dimension.units(self.system).first() {
            Some((unit, _)) => format!("{number} {unit}"),
            None => number,
        }
    }

    /// Returns a note on the units of the numbers in an error, to be appended; empty if the units have no
    /// names.
    pub const fn of_numbers(&self) -> &'static str {
        match self.system {
            UnitSystem::Reduced => "",
            UnitSystem::Molecular => " (lengths in nm, times in ps)",
        }
    }

    /// Returns the unit of charges; a pure number if the constant of Coulomb's law is 1.
    pub fn charge_name(&self) -> &'static str {
        match self.system {
            UnitSystem::Reduced => "1",
            UnitSystem::Molecular => "e",
        }
    }
}

/// The dimension of a number, which determines the units it may carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// A pure number, or a quantity in code units in every system: no unit may be written.
    Code,
    /// Wall time (s).
    WallTime,
    /// A length.
    Length,
    /// Simulated time.
    Time,
    /// A mass.
    Mass,
    /// An energy.
    Energy,
    /// A temperature.
    Temperature,
    /// A charge.
    Charge,
    /// Mass per volume.
    Density,
    /// Inverse length.
    InverseLength,
    /// Energy times length.
    EnergyLength,
    /// Inverse time.
    Rate,
    /// Mass times length per squared time.
    Force,
    /// Length per squared time.
    Acceleration,
    /// Any dimension: products of units with whole powers, such as "kJ/mol nm^6". "K" is an energy here.
    Any,
}

const LENGTHS: &[(&str, f64)] = &[
    ("nm", 1.0),
    ("angstrom", 0.1),
    ("Å", 0.1),
    ("pm", 1e-3),
    ("bohr", 0.0529177210544),
    ("cm", 1e7),
    ("m", 1e9),
];
const TIMES: &[(&str, f64)] = &[("ps", 1.0), ("fs", 1e-3), ("ns", 1e3), ("us", 1e6), ("s", 1e12)];
const MASSES: &[(&str, f64)] = &[
    ("amu", 1.0),
    ("u", 1.0),
    ("Da", 1.0),
    ("g/mol", 1.0),
    ("g", 1.0 / ATOMIC_MASS),
    ("kg", 1e3 / ATOMIC_MASS),
];
const ENERGIES: &[(&str, f64)] =
    &[("kJ/mol", 1.0), ("kcal/mol", 4.184), ("eV", ELECTRONVOLT), ("K", BOLTZMANN), ("hartree", HARTREE)];
const DENSITIES: &[(&str, f64)] = &[
    ("amu/nm^3", 1.0),
    ("kg/m^3", 1e-24 / ATOMIC_MASS),
    ("kg/m3", 1e-24 / ATOMIC_MASS),
    ("g/cm^3", 1e-21 / ATOMIC_MASS),
    ("g/cm3", 1e-21 / ATOMIC_MASS),
];

/// Factors of the units of [`Dimension::Any`].
const FACTORS: &[(&str, f64)] = &[
    ("nm", 1.0),
    ("angstrom", 0.1),
    ("Å", 0.1),
    ("pm", 1e-3),
    ("bohr", 0.0529177210544),
    ("1/nm", 1.0),
    ("1/angstrom", 10.0),
    ("kJ/mol", 1.0),
    ("kcal/mol", 4.184),
    ("eV", ELECTRONVOLT),
    ("K", BOLTZMANN),
    ("hartree", HARTREE),
    ("e", 1.0),
    ("amu", 1.0),
    ("ps", 1.0),
    ("fs", 1e-3),
];

impl Dimension {
    /// Returns the accepted units, each with its size in the system's own unit; none if the system has no
    /// unit names.
    pub const fn units(self, system: UnitSystem) -> &'static [(&'static str, f64)] {
        match (self, system) {
            (Dimension::WallTime, _) => &[("s", 1.0), ("min", 60.0), ("h", 3600.0), ("d", 86400.0)],
            (Dimension::Code, _) | (_, UnitSystem::Reduced) => &[],
            (Dimension::Length, _) => LENGTHS,
            (Dimension::Time, _) => TIMES,
            (Dimension::Mass, _) => MASSES,
            (Dimension::Energy, _) => ENERGIES,
            (Dimension::Temperature, _) => &[("K", 1.0)],
            (Dimension::Charge, _) => &[("e", 1.0)],
            (Dimension::Density, _) => DENSITIES,
            (Dimension::InverseLength, _) => &[("1/nm", 1.0), ("nm^-1", 1.0), ("1/angstrom", 10.0)],
            (Dimension::EnergyLength, _) => &[("kJ/mol nm", 1.0), ("kcal/mol angstrom", 0.4184)],
            (Dimension::Rate, _) => &[("1/ps", 1.0), ("ps^-1", 1.0), ("1/fs", 1e3), ("1/ns", 1e-3)],
            (Dimension::Force, _) => {
                &[("kJ/mol/nm", 1.0), ("kcal/mol/angstrom", 41.84), ("eV/angstrom", ASE_FORCE)]
            }
            (Dimension::Acceleration, _) => &[("nm/ps^2", 1.0), ("m/s^2", 1e-15)],
            (Dimension::Any, _) => FACTORS,
        }
    }

    /// Returns the name of the dimension; `None` for numbers in code units.
    pub const fn name(self) -> Option<&'static str> {
        Some(match self {
            Dimension::Code => return None,
            Dimension::WallTime => "wall time",
            Dimension::Length => "length",
            Dimension::Time => "time",
            Dimension::Mass => "mass",
            Dimension::Energy => "energy",
            Dimension::Temperature => "temperature",
            Dimension::Charge => "charge",
            Dimension::Density => "density",
            Dimension::InverseLength => "inverse length",
            Dimension::EnergyLength => "energy times length",
            Dimension::Rate => "inverse time",
            Dimension::Force => "force",
            Dimension::Acceleration => "acceleration",
            Dimension::Any => "any dimension",
        })
    }
}

/// Why a text is not a quantity.
#[derive(Clone, Debug, PartialEq)]
pub enum QuantityMistake {
    /// It does not start with a number, or the number is not followed by a unit.
    NotANumber,
    /// The unit does not exist in this dimension.
    UnknownUnit(String),
    /// The dimension has units and the text has none.
    NoUnit,
}

/// Parses a text such as "15min", "1h 30min", "3.4 angstrom", "2.5" or "5/3" and returns the value in the
/// dimension's own unit. The result may be infinite or NaN if the text says so.
///
/// # Errors
/// [`QuantityMistake`] if the text is not a number with a unit of the dimension.
pub fn parse(text: &str, dimension: Dimension, system: UnitSystem) -> Result<f64, QuantityMistake> {
    let units = dimension.units(system);
    if dimension == Dimension::Any && !units.is_empty() {
        return product(text.trim(), units);
    }
    if dimension != Dimension::WallTime && !units.is_empty() {
        return single(text.trim(), units);
    }
    let mut rest = text.trim();
    let (mut total, mut parts) = (0.0, 0);
    while !rest.is_empty() {
        let (number, after) = leading_number(rest).ok_or(QuantityMistake::NotANumber)?;
        let after = after.trim_start();
        if let Some(denominator) = after.strip_prefix('/') {
            let (below, end) = leading_number(denominator.trim()).ok_or(QuantityMistake::NotANumber)?;
            return match (parts, end) {
                (0, "") => Ok(number / below),
                _ => Err(QuantityMistake::NotANumber),
            };
        }
        let end = after.find(|c: char| !(c.is_alphabetic() || c == '_')).unwrap_or(after.len());
        let (unit, next) = after.split_at(end);
        if unit.is_empty() {
            let only = parts == 0 && next.is_empty();
            return match (only, units.is_empty()) {
                (true, true) => Ok(number),
                (true, false) => Err(QuantityMistake::NoUnit),
                (false, _) => Err(QuantityMistake::NotANumber),
            };
        }
        let size = units.iter().find(|(name, _)| *name == unit).map(|(_, size)| size);
        total += number * size.ok_or_else(|| QuantityMistake::UnknownUnit(unit.into()))?;
        parts += 1;
        rest = next.trim_start();
    }
    if parts == 0 { Err(QuantityMistake::NotANumber) } else { Ok(total) }
}

/// Parses one number with one unit, which may be compound: "0.65 kJ/mol".
fn single(text: &str, units: &[(&str, f64)]) -> Result<f64, QuantityMistake> {
    let (number, after) = leading_number(text).ok_or(QuantityMistake::NotANumber)?;
    let unit = after.split_whitespace().collect::<Vec<_>>().join(" ");
    if unit.is_empty() {
        return Err(QuantityMistake::NoUnit);
    }
    match units.iter().find(|(name, _)| *name == unit) {
        Some((_, size)) => Ok(number * size),
        None => Err(QuantityMistake::UnknownUnit(unit)),
    }
}

/// Largest power of a unit in a product.
const MAX_UNIT_POWER: i32 = 30;

/// Parses one number with a product of units with whole powers: "2.5 kJ/mol nm^6".
fn product(text: &str, units: &[(&str, f64)]) -> Result<f64, QuantityMistake> {
    let (number, after) = leading_number(text).ok_or(QuantityMistake::NotANumber)?;
    if after.trim().is_empty() {
        return Err(QuantityMistake::NoUnit);
    }
    let mut total = number;
    for factor in after.split_whitespace() {
        let unknown = || QuantityMistake::UnknownUnit(factor.into());
        let (name, power) = factor.split_once('^').unwrap_or((factor, "1"));
        let power: i32 = power.parse().map_err(|_| unknown())?;
        let (_, size) = units.iter().find(|(known, _)| *known == name).ok_or_else(unknown)?;
        if power.abs() > MAX_UNIT_POWER {
            return Err(unknown());
        }
        total *= size.powi(power);
    }
    Ok(total)
}

/// Returns the leading number of a text and the rest. An exponent's `e` must be followed by digits, so that a
/// unit may start with "e".
fn leading_number(text: &str) -> Option<(f64, &str)> {
    let bytes = text.as_bytes();
    let digits = |from: usize| from + bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let signed = |at: usize| at + usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
    let mut end = digits(signed(0));
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let exponent = signed(end + 1);
        if digits(exponent) > exponent {
            end = digits(exponent);
        }
    }
    text[..end].parse().ok().map(|number| (number, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_units_have_any_dimension() {
        let of = |text: &str| parse(text, Dimension::Any, UnitSystem::Molecular);
        assert!((of("2 kcal/mol angstrom^6").unwrap() / (2.0 * 4.184e-6) - 1.0).abs() < 1e-14);
        assert_eq!(of("3 1/nm").unwrap(), 3.0);
        assert_eq!(of("5 nm^-1").unwrap(), 5.0);
        assert_eq!(of("119.8 K").unwrap(), 119.8 * BOLTZMANN);
        assert_eq!(of("5"), Err(QuantityMistake::NoUnit));
        assert_eq!(of("5 furlong"), Err(QuantityMistake::UnknownUnit("furlong".into())));
        assert_eq!(of("5 nm^100"), Err(QuantityMistake::UnknownUnit("nm^100".into())));
        assert_eq!(of("5 nm^x"), Err(QuantityMistake::UnknownUnit("nm^x".into())));
        assert_eq!(parse("2.5", Dimension::Any, UnitSystem::Reduced), Ok(2.5));
    }

    #[test]
    fn sentences_have_units_where_these_have_names() {
        let (molecular, reduced) = (Units::new(UnitSystem::Molecular), Units::new(UnitSystem::Reduced));
        assert_eq!(molecular.format_quantity(2.1 + 2.1, Dimension::Length), "4.2 nm");
        assert_eq!(molecular.format_quantity(0.1 + 0.2, Dimension::Time), "0.3 ps");
        assert_eq!(molecular.format_quantity(1e-5, Dimension::Temperature), "1e-5 K");
        assert_eq!(reduced.format_quantity(2.5, Dimension::Length), "2.5");
        assert_eq!(reduced.format_quantity(f64::INFINITY, Dimension::Energy), "inf");
    }
    use UnitSystem::{Molecular, Reduced};
    use proptest::prelude::*;

    #[test]
    fn wall_times_add_up() {
        let parse = |text| parse(text, Dimension::WallTime, Reduced);
        for (text, seconds) in
            [("15min", 900.0), ("1h 30min", 5400.0), ("1h30min", 5400.0), ("2.5 d", 216000.0)]
        {
            assert_eq!(parse(text), Ok(seconds), "{text}");
        }
        assert_eq!(parse("15"), Err(QuantityMistake::NoUnit));
        assert_eq!(parse("3 weeks"), Err(QuantityMistake::UnknownUnit("weeks".into())));
        assert_eq!(parse("min"), Err(QuantityMistake::NotANumber));
        assert_eq!(parse(""), Err(QuantityMistake::NotANumber));
        assert_eq!(parse("1h 30"), Err(QuantityMistake::NotANumber));
    }

    #[test]
    fn code_units_take_numbers_and_fractions_only() {
        for (dimension, system) in [(Dimension::Code, Molecular), (Dimension::Length, Reduced)] {
            let parse = |text| parse(text, dimension, system);
            assert_eq!(parse("5/3"), Ok(5.0 / 3.0));
            assert_eq!(parse(" -2.5e-3 "), Ok(-2.5e-3));
            assert_eq!(parse("3 eV"), Err(QuantityMistake::UnknownUnit("eV".into())));
            assert_eq!(parse("3.4 angstrom"), Err(QuantityMistake::UnknownUnit("angstrom".into())));
            assert_eq!(parse("5/3/2"), Err(QuantityMistake::NotANumber));
            assert_eq!(parse("5/"), Err(QuantityMistake::NotANumber));
        }
    }

    #[test]
    fn molecular_quantities_arrive_in_their_units() {
        for (text, dimension, value) in [
            ("3.4 angstrom", Dimension::Length, 0.34),
            ("3.4Å", Dimension::Length, 0.34),
            ("2 fs", Dimension::Time, 0.002),
            ("300 K", Dimension::Temperature, 300.0),
            ("119.8 K", Dimension::Energy, 0.996072621654758),
            ("0.1 kcal/mol", Dimension::Energy, 0.4184),
            ("1 kg/m^3", Dimension::Density, 0.6022140753667368),
            ("-1 e", Dimension::Charge, -1.0),
            ("1e-1 kJ/mol  nm", Dimension::EnergyLength, 0.1),
            ("2 1/nm", Dimension::InverseLength, 2.0),
        ] {
            let found = parse(text, dimension, Molecular).unwrap_or(f64::NAN);
            assert!((found - value).abs() < 1e-10 * value.abs(), "{text}: {found}");
        }
        assert_eq!(parse("3", Dimension::Length, Molecular), Err(QuantityMistake::NoUnit));
        assert_eq!(
            parse("3 fs", Dimension::Length, Molecular),
            Err(QuantityMistake::UnknownUnit("fs".into()))
        );
    }

    #[test]
    fn molecular_units_are_coherent() {
        let [mass, length, time] = Units::new(Molecular).cgs;
        // 1 erg = 1e-7 J; converted to kJ/mol.
        let energy = mass * (length / time).powi(2) * 1e-7 * 6.02214076e23 * 1e-3;
        // A mole of atomic mass units is 1.00000000105 g (CODATA 2022).
        assert!((energy - 1.000_000_001_05).abs() < 1e-11, "{energy}");
        // e^2 / (4 pi epsilon_0) from CODATA 2022
        let coulomb = 1.602176634e-19f64.powi(2) / (4.0 * std::f64::consts::PI * 8.8541878188e-12);
        assert!((coulomb * 6.02214076e23 * 1e6 / COULOMB - 1.0).abs() < 5e-9);
        assert!((1.380649e-23 * 6.02214076e23 * 1e-3 / BOLTZMANN - 1.0).abs() < 1e-14);
    }

    #[test]
    fn units_have_names() {
        let (reduced, molecular) = (Units::new(Reduced), Units::new(Molecular));
        assert_eq!(reduced.name([1, 2, -2]), "U_M U_L^2 U_t^-2");
        assert_eq!(molecular.name([1, 2, -2]), "kJ mol^-1");
        assert_eq!(molecular.name([1, -1, -2]), "kJ mol^-1 nm^-3");
        assert_eq!(molecular.name([1, 1, -1]), "amu nm ps^-1");
        assert_eq!((reduced.name([0; 3]), molecular.name([0; 3])), ("1".into(), "1".into()));
        assert_eq!(molecular.temperature_name(), "K");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".*") {
            for dimension in [Dimension::Code, Dimension::WallTime, Dimension::Length] {
                let _ = (parse(&text, dimension, Reduced), parse(&text, dimension, Molecular));
            }
        }

        #[test]
        fn numbers_survive_being_written(number in any::<f64>().prop_filter("finite", |x| x.is_finite())) {
            prop_assert_eq!(parse(&format!("{number:e}"), Dimension::Code, Reduced), Ok(number));
        }
    }
}
