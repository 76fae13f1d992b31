//! Registry of the cases. The file of each case implements [`Case`], the interface to the rest of the
//! program; `cases!` in `src/cases/mod.rs` registers it.

use super::tools::subject::{Findings, Subject};
use crate::layout::glass::Tile;
use crate::layout::{Arrangement, Layout};
use crate::particles::Field;
use crate::sections::{self, EXACT, Key, Kind, Section, between, key, quoted};
use crate::space::Boundary;
use crate::units::Dimension;
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Debug;
use std::ops::Range;

/// Largest number of particles: more than any machine holds, so a larger number is a typo.
pub const MAX_PARTICLES: f64 = 1e12;

/// Key of the number of particles.
pub const PARTICLES: Key = key(
    "particles",
    Kind::Integer(between(1.0, MAX_PARTICLES)),
    sections::Default::Required,
    "Number of particles; the layout may round it.",
)
.also(&["n", "count", "npart", "number", "num_particles"]);

/// Key of the seed.
pub const SEED: Key = key(
    "seed",
    Kind::Integer(between(0.0, EXACT)),
    sections::Default::Value("1"),
    "Seed of the random numbers.",
);

/// Key of the arrangement.
pub const ARRANGEMENT: Key = key(
    "arrangement",
    Kind::Choice(Arrangement::NAMES),
    sections::Default::Value("\"glass\""),
    "Layout before it is mapped to the density profile: a relaxed glass, a lattice, or random positions.",
)
.also(&["layout", "glass"]);

/// Key of the largest noise of a glass. The deck reads it for every section that has it, as
/// [`Surroundings::noise`].
pub const NOISE: Key = key(
    "noise",
    sections::number(between(1e-6, 1.0)),
    sections::Default::Unset("that of the usual relaxation, about 0.002"),
    "Largest noise of the glass before it is mapped to the density profile: the relative rms deviation of \
     its SPH density, with the default kernel and neighbors of [sph]. The glass is relaxed until it is as \
     quiet.",
)
.also(&["quiet", "max_noise"]);

/// A case: an initial state with its deck section, and the exact or reference solution.
///
/// The type holds the settings in code units. As part of the plan it describes the start of a run.
pub trait Case: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// Deck section `[start.NAME]`; NAME is the case's module with `-` for `_`, and its name in `--against`.
    const SECTION: Section;
    /// Title of verdicts and pictures.
    const TITLE: &'static str;
    /// The deck of `hilbrium new NAME`.
    const TEMPLATE: Template;
    /// Columns that [`Self::judge`] needs.
    const NEEDS: &'static [Field] = GAS;

    /// Reads the settings from the section, and reports inconsistent keys.
    fn read(section: &mut dyn CaseReader) -> Self;
    /// Reports what in the rest of the deck does not fit the case.
    fn check(&self, _surroundings: &Surroundings, _section: &mut dyn CaseReader) {}
    /// Lower and upper corner of the box that the case defines, if it defines one.
    fn corners(&self) -> Option<[[f64; 3]; 2]> {
        None
    }
    /// Number of particles that the deck requests.
    fn requested(&self) -> u64 {
        self.count()
    }
    /// Number of particles of the layout, at most a few from the requested.
    fn count(&self) -> u64;
    /// Seed of the random numbers.
    fn seed(&self) -> u64;
    /// Tiles of glass that [`Self::layout`] takes; the start checks that they are as quiet as asked.
    fn tiles(&self) -> Vec<Tile> {
        Vec::new()
    }
    /// Lays out the particles of a range of ids.
    fn layout(&self, surroundings: &Surroundings, share: Range<u64>) -> Layout;
    /// Compares a state with the solution.
    fn judge(&self, subject: &Subject) -> Findings;

    /// Returns the case with the defaults of all keys, and one particle where their number has no default.
    fn with_defaults() -> Self {
        Self::read(&mut Defaults(&Self::SECTION))
    }
}

/// Columns of a gas.
pub const GAS: &[Field] =
    &[Field::Position, Field::Velocity, Field::Mass, Field::Density, Field::InternalEnergy];
/// Columns of point masses.
pub const POINTS: &[Field] = &[Field::Position, Field::Velocity, Field::Mass];

/// Settings outside of `[start.*]` that a case may depend on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surroundings {
    /// Whether there is a gas, `[sph]`.
    pub gas: bool,
    /// Adiabatic exponent, for an ideal gas.
    pub gamma: Option<f64>,
    /// Speed of sound, for an isothermal gas.
    pub sound_speed: Option<f64>,
    /// Gravitational constant, with `[gravity]`.
    pub gravity: Option<f64>,
    /// Softening of gravity, with `[gravity]`.
    pub softening: Option<Softening>,
    /// The fixed point mass, with `[external.point_mass]`.
    pub point_mass: Option<PointMass>,
    /// Length of every step, with `fixed` in `[time_step]`.
    pub fixed_step: Option<f64>,
    /// Lower and upper corner of the box, if the deck or the case defines it.
    pub corners: Option<[[f64; 3]; 2]>,
    /// The boundary.
    pub boundary: [Boundary; 3],
    /// Largest noise of a glass ([`Tile::noise`]); `None`: that of the usual relaxation.
    pub noise: Option<f64>,
}

/// The softening of gravity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Softening {
    /// Softening length, >= 0.
    pub length: f64,
    /// Whether the law is the cubic spline's; else Plummer's.
    pub spline: bool,
}

/// A fixed point mass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointMass {
    /// G M, > 0.
    pub strength: f64,
    /// Position.
    pub position: [f64; 3],
    /// Plummer softening length, >= 0.
    pub softening: f64,
    /// Whether distances are those from the axis along z.
    pub cylindrical: bool,
}

impl Surroundings {
    /// Lower corner of the box; the origin without a box.
    pub fn lower(&self) -> [f64; 3] {
        self.corners.map_or([0.0; 3], |[lower, _]| lower)
    }

    /// Adiabatic exponent; `default` without an ideal gas.
    pub fn gamma_or(&self, default: f64) -> f64 {
        self.gamma.unwrap_or(default)
    }
}

/// The deck of `hilbrium new`.
#[derive(Clone, Copy, Debug)]
pub struct Template {
    /// Title of the deck.
    pub title: &'static str,
    /// Optional sections in the deck, by path or by its first component.
    pub sections: &'static [&'static str],
    /// Settings beside the defaults, as path and TOML value.
    pub settings: &'static [(&'static str, &'static str)],
    /// Keys left out because they have no effect with these settings.
    pub omitted: &'static [&'static str],
}

/// Access to a case's deck section. Invalid and missing values are reported and replaced by a placeholder.
pub trait CaseReader {
    /// Whole number, or its default.
    fn integer(&mut self, key: &str) -> u64;
    /// Number, or its default.
    fn number(&mut self, key: &str) -> f64;
    /// Three numbers, or their default.
    fn numbers(&mut self, key: &str) -> [f64; 3];
    /// Choice, or its default.
    fn choice(&mut self, key: &str) -> &'static str;
    /// Reports an error at the first given key of `keys`; for none, at the section header. A key of another
    /// section is written with the section's path.
    fn report(&mut self, keys: &[&str], message: String, help: String);
    /// Reports a key that is given but has no effect.
    fn without_effect(&mut self, key: &str, why: &str);
    /// Formats a quantity with its unit, for messages.
    fn format_quantity(&self, value: f64, dimension: Dimension) -> String;
}

impl dyn CaseReader + '_ {
    /// The choice of [`ARRANGEMENT`].
    pub fn arrangement(&mut self) -> Arrangement {
        Arrangement::named(self.choice("arrangement")).unwrap_or(Arrangement::Glass)
    }

    /// Reports a boundary other than `wanted`.
    pub fn require_boundary(&mut self, surroundings: &Surroundings, wanted: Boundary) {
        if surroundings.boundary != [wanted; 3] {
            let name = match wanted {
                Boundary::Periodic => "periodic",
                Boundary::Open => "open",
            };
            let help = format!("write boundary = {} in [space]", quoted(&[name]));
            self.report(&["space.boundary"], format!("this case needs a box with a {name} boundary"), help);
        }
    }

    /// Reports a missing ideal gas.
    pub fn require_ideal_gas(&mut self, surroundings: &Surroundings) {
        if surroundings.gamma.is_none() {
            let help = "add [sph], with the equation of state of an ideal gas";
            self.report(&["sph.equation_of_state"], "this case needs an ideal gas".into(), help.into());
        }
    }

    /// Reports a gas, for cases of point masses.
    pub fn require_point_masses(&mut self, surroundings: &Surroundings) {
        if surroundings.gas {
            self.report(&[], "this case is of point masses, not of gas".into(), "remove [sph]".into());
        }
    }

    /// Reports missing gravity.
    pub fn require_gravity(&mut self, surroundings: &Surroundings) {
        if surroundings.gravity.is_none() {
            self.report(&[], "this case needs gravity".into(), "add [gravity]".into());
        }
    }
}

/// The defaults of a section.
struct Defaults(&'static Section);

impl Defaults {
    fn text(&self, key: &str) -> Option<&'static str> {
        match self.0.key(key)?.default {
            sections::Default::Value(text) => Some(text),
            _ => None,
        }
    }

    fn parse(&self, key: &str) -> f64 {
        self.text(key).and_then(|text| text.replace('_', "").parse().ok()).unwrap_or(1.0)
    }
}

impl CaseReader for Defaults {
    fn integer(&mut self, key: &str) -> u64 {
        self.parse(key) as u64
    }

    fn number(&mut self, key: &str) -> f64 {
        self.parse(key)
    }

    fn numbers(&mut self, key: &str) -> [f64; 3] {
        let text = self.text(key).unwrap_or("1.0").trim_matches(['[', ']']);
        let mut numbers = text.split(',').map(|part| part.trim().parse().unwrap_or(1.0)).cycle();
        std::array::from_fn(|_| numbers.next().unwrap_or(1.0))
    }

    fn choice(&mut self, key: &str) -> &'static str {
        self.text(key).unwrap_or("").trim_matches('"')
    }

    fn report(&mut self, _keys: &[&str], _message: String, _help: String) {}

    fn without_effect(&mut self, _key: &str, _why: &str) {}

    fn format_quantity(&self, value: f64, _dimension: Dimension) -> String {
        value.to_string()
    }
}

/// Registers cases by module name: defines [`super::AnyCase`] with a variant each.
macro_rules! cases {
    ($($name:ident),+ $(,)?) => {
        $(pub mod $name;)+

        pastey::paste! {
            /// The case of a deck.
            #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
            #[serde(rename_all = "kebab-case")]
            pub enum AnyCase {
                $(#[doc = "`[start." $name "]`"] [<$name:camel>]($name::[<$name:camel>]),)+
            }

            impl AnyCase {
                /// Deck sections, in the order of a printed deck.
                pub const SECTIONS: &[Section] = &[$($name::[<$name:camel>]::SECTION),+];
                /// [`Case::TEMPLATE`] of each section.
                pub const TEMPLATES: &[Template] = &[$($name::[<$name:camel>]::TEMPLATE),+];

                /// Reads the case of the section at `path`; `None` if no case has that section.
                pub fn read(path: &str, section: &mut dyn CaseReader) -> Option<Self> {
                    $(if path == $name::[<$name:camel>]::SECTION.path {
                        return Some(Self::[<$name:camel>](Case::read(section)));
                    })+
                    None
                }

                /// The case of the section at `path` with the defaults of all keys.
                pub fn with_defaults(path: &str) -> Option<Self> {
                    $(if path == $name::[<$name:camel>]::SECTION.path {
                        return Some(Self::[<$name:camel>](Case::with_defaults()));
                    })+
                    None
                }

                /// Deck section.
                pub fn section(&self) -> &'static Section {
                    match self { $(Self::[<$name:camel>](_) => &$name::[<$name:camel>]::SECTION),+ }
                }

                /// [`Case::TITLE`]
                pub fn title(&self) -> &'static str {
                    match self { $(Self::[<$name:camel>](_) => $name::[<$name:camel>]::TITLE),+ }
                }

                /// [`Case::NEEDS`]
                pub fn needs(&self) -> &'static [Field] {
                    match self { $(Self::[<$name:camel>](_) => $name::[<$name:camel>]::NEEDS),+ }
                }

                /// [`Case::check`]
                pub fn check(&self, surroundings: &Surroundings, section: &mut dyn CaseReader) {
                    match self { $(Self::[<$name:camel>](case) => case.check(surroundings, section)),+ }
                }

                /// [`Case::corners`]
                pub fn corners(&self) -> Option<[[f64; 3]; 2]> {
                    match self { $(Self::[<$name:camel>](case) => case.corners()),+ }
                }

                /// [`Case::requested`]
                pub fn requested(&self) -> u64 {
                    match self { $(Self::[<$name:camel>](case) => case.requested()),+ }
                }

                /// [`Case::count`]
                pub fn count(&self) -> u64 {
                    match self { $(Self::[<$name:camel>](case) => case.count()),+ }
                }

                /// [`Case::seed`]
                pub fn seed(&self) -> u64 {
                    match self { $(Self::[<$name:camel>](case) => case.seed()),+ }
                }

                /// [`Case::tiles`]
                pub fn tiles(&self) -> Vec<Tile> {
                    match self { $(Self::[<$name:camel>](case) => case.tiles()),+ }
                }

                /// [`Case::layout`]
                pub fn layout(&self, surroundings: &Surroundings, share: Range<u64>) -> Layout {
                    match self { $(Self::[<$name:camel>](case) => case.layout(surroundings, share)),+ }
                }

                /// [`Case::judge`]
                pub fn judge(&self, subject: &Subject) -> Findings {
                    match self { $(Self::[<$name:camel>](case) => case.judge(subject)),+ }
                }
            }
        }
    };
}
pub(super) use cases;
