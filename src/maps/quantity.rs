//! The quantities of a snapshot that a map can show.

use super::AXES;
use crate::particles::Field;
use crate::space::Vec3d;
use crate::{Error, Result};

const PAIRS: [&str; 6] = ["xx", "xy", "xz", "yy", "yz", "zz"];

/// A quantity of a map.
#[derive(Clone, Debug, PartialEq)]
pub enum Quantity {
    /// Mass density: the sum of m W.
    Density,
    /// Number density: the sum of W, of all particles or of a species by its index.
    NumberDensity(Option<usize>),
    /// A scalar, or one component of a vector or tensor.
    Component(Field, usize),
    /// Magnitude of a vector.
    Magnitude(Field),
    /// Kinetic temperature of molecules: m (v - V)^2 / (3 k_B), V the velocity of the center of mass.
    Temperature,
}

/// What a snapshot holds, as far as it decides which quantities exist.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Content {
    /// Fields of the particles.
    pub fields: Vec<Field>,
    /// Names of the species.
    pub species: Vec<String>,
    /// Whether the particles are molecules: their deck has an interaction.
    pub molecules: bool,
}

impl Content {
    /// Whether the particles have smoothing lengths.
    pub fn smoothed(&self) -> bool {
        self.fields.contains(&Field::SmoothingLength)
    }

    /// The names of all quantities, the default first.
    pub fn names(&self) -> Vec<(String, Quantity)> {
        let mut found = vec![
            ("density".to_owned(), Quantity::Density),
            ("number_density".to_owned(), Quantity::NumberDensity(None)),
        ];
        if !self.smoothed() {
            found.swap(0, 1);
        }
        if self.fields.contains(&Field::Species) {
            let named = |(index, name): (usize, &String)| {
                (format!("number_density_{name}"), Quantity::NumberDensity(Some(index)))
            };
            found.extend(self.species.iter().enumerate().map(named));
        }
        if self.molecules && self.fields.contains(&Field::Velocity) {
            found.push(("temperature".into(), Quantity::Temperature));
        }
        for &field in &self.fields {
            let name = field.name();
            match field {
                // the sum over the kernels, and indices of names
                Field::Position | Field::Density | Field::NumberDensity | Field::Species => {}
                _ if field.components() == 1 => found.push((name.into(), Quantity::Component(field, 0))),
                _ => {
                    let vector = field.components() == 3;
                    if vector {
                        let magnitude = if field == Field::Velocity { "speed" } else { name };
                        found.push((magnitude.into(), Quantity::Magnitude(field)));
                    }
                    let suffixes: &[&str] = if vector { &AXES } else { &PAIRS };
                    let component = |(c, suffix)| (format!("{name}_{suffix}"), Quantity::Component(field, c));
                    found.extend(suffixes.iter().enumerate().map(component));
                }
            }
        }
        found
    }

    /// The quantity of a name, or the default one.
    ///
    /// # Errors
    /// [`Error::Usage`] with the names that exist.
    pub fn quantity(&self, name: Option<&str>) -> Result<(String, Quantity)> {
        let mut names = self.names();
        let Some(name) = name else { return Ok(names.swap_remove(0)) };
        match names.iter().position(|(known, _)| known == name) {
            Some(place) => Ok(names.swap_remove(place)),
            None => {
                let known: Vec<&str> = names.iter().map(|(known, _)| known.as_str()).collect();
                let molecular = name == "temperature" && !self.molecules;
                let why = if molecular { ": temperatures are those of molecules" } else { "" };
                Err(Error::usage(
                    format!("the snapshot has no quantity \"{name}\"{why}"),
                    format!("it has {}", known.join(", ")),
                ))
            }
        }
    }
}

impl Quantity {
    /// Whether it is a sum of weights, and not a mean of values.
    pub fn is_sum(&self) -> bool {
        matches!(self, Self::Density | Self::NumberDensity(_))
    }

    /// Whether its values cannot be negative, so that a logarithmic scale makes sense.
    pub fn is_positive(&self) -> bool {
        use Field::{
            GradH, InternalEnergy, Mass, NumberDensity, Pressure, SignalSpeed, SmoothingLength, SoundSpeed,
            VelocityCurl, Viscosity, VolumeElement, VolumeSum, Work,
        };
        match self {
            Self::Component(field, _) => matches!(
                field,
                GradH
                    | InternalEnergy
                    | Mass
                    | NumberDensity
                    | Pressure
                    | SignalSpeed
                    | SmoothingLength
                    | SoundSpeed
                    | VelocityCurl
                    | Viscosity
                    | VolumeElement
                    | VolumeSum
                    | Work
            ),
            _ => true,
        }
    }

    /// Fields that it is computed from.
    pub fn fields(&self) -> Vec<Field> {
        match *self {
            Self::Density | Self::NumberDensity(None) => Vec::new(),
            Self::NumberDensity(Some(_)) => vec![Field::Species],
            Self::Component(field, _) | Self::Magnitude(field) => vec![field],
            Self::Temperature => vec![Field::Velocity],
        }
    }

    /// Exponents of mass, length and time of its unit; `None` for a temperature. A projection of a density
    /// has one length more.
    pub fn dimensions(&self, projection: bool) -> Option<[i32; 3]> {
        let length = -3 + i32::from(projection);
        match self {
            Self::Density => Some([1, length, 0]),
            Self::NumberDensity(_) => Some([0, length, 0]),
            Self::Component(field, _) | Self::Magnitude(field) => Some(field.dimensions()),
            Self::Temperature => None,
        }
    }

    /// The quantity in words, without a capital.
    pub fn words(&self, species: &[String], projection: bool) -> String {
        let column = if projection { "column " } else { "" };
        match self {
            Self::Density => format!("{column}density"),
            Self::NumberDensity(None) => format!("{column}number density"),
            Self::NumberDensity(Some(index)) => {
                let name = species.get(*index).map_or("", String::as_str);
                format!("{column}number density of {name}")
            }
            Self::Magnitude(Field::Velocity) => "speed".into(),
            Self::Magnitude(field) => field_words(*field),
            Self::Component(field, c) => match field.components() {
                1 => field_words(*field),
                3 => format!("{} component of the {}", AXES[*c % 3], field_words(*field)),
                _ => format!("{} component of the {}", PAIRS[*c % 6], field_words(*field)),
            },
            Self::Temperature => "kinetic temperature".into(),
        }
    }
}

fn field_words(field: Field) -> String {
    match field {
        Field::InternalEnergy => "specific internal energy".into(),
        Field::InternalEnergyRate => "rate of the specific internal energy".into(),
        Field::Viscosity => "viscosity coefficient α".into(),
        Field::VelocityDivergence => "divergence of the velocity".into(),
        Field::VelocityCurl => "curl of the velocity".into(),
        Field::Potential => "gravitational potential".into(),
        Field::PairEnergy => "pair energy per particle".into(),
        Field::Virial => "virial per particle".into(),
        other => other.name().replace('_', " "),
    }
}

/// Velocity of the center of mass.
pub(super) fn bulk_velocity(mass: &[f64], velocity: [&[f64]; 3]) -> Vec3d {
    let total: f64 = mass.iter().sum();
    let momentum = velocity.map(|column| column.iter().zip(mass).map(|(v, m)| v * m).sum::<f64>());
    Vec3d::from(momentum) / total
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gas() -> Content {
        let fields = vec![Field::Position, Field::Velocity, Field::SmoothingLength, Field::Pressure];
        Content { fields, ..Content::default() }
    }

    #[test]
    fn all_columns_have_names_and_unknown_ones_are_listed() {
        let names: Vec<String> = gas().names().into_iter().map(|(name, _)| name).collect();
        let expected = [
            "density",
            "number_density",
            "speed",
            "velocity_x",
            "velocity_y",
            "velocity_z",
            "smoothing_length",
            "pressure",
        ];
        assert_eq!(names, expected);
        assert_eq!(gas().quantity(None).unwrap().1, Quantity::Density);
        assert_eq!(gas().quantity(Some("velocity_y")).unwrap().1, Quantity::Component(Field::Velocity, 1));
        let error = gas().quantity(Some("temperature")).unwrap_err().to_string();
        assert!(error.contains("molecules") && error.contains("smoothing_length, pressure"), "{error}");
    }

    #[test]
    fn molecules_have_numbers_of_species_and_temperatures() {
        let fields = vec![Field::Position, Field::Velocity, Field::Species];
        let content = Content { fields, species: vec!["Na+".into(), "Cl-".into()], molecules: true };
        assert_eq!(content.quantity(None).unwrap().0, "number_density");
        let (_, chlorine) = content.quantity(Some("number_density_Cl-")).unwrap();
        assert_eq!(chlorine.words(&content.species, true), "column number density of Cl-");
        assert_eq!(chlorine.dimensions(true), Some([0, -2, 0]));
        assert_eq!(content.quantity(Some("temperature")).unwrap().1, Quantity::Temperature);
    }

    #[test]
    fn the_bulk_velocity_is_that_of_the_mass() {
        let velocity = bulk_velocity(&[1.0, 3.0], [&[4.0, 0.0], &[0.0, 4.0], &[1.0, 1.0]]);
        assert_eq!(velocity, Vec3d::new(1.0, 3.0, 1.0));
    }
}
