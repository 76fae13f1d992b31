//! Registry of the interactions of a deck. The file of each law implements [`Potential`], the interface to
//! the rest of the program; `interactions!` in `src/laws/mod.rs` registers it.

use super::coulomb::Charges;
use super::mixing::PairParameters;
use crate::pair::PairLaw;
use crate::pair::language::{Columns, Vec3};
use crate::sections::{Default, Key, POSITIVE, Section, key, quantity};
use crate::units::Dimension;
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Debug;
use std::ops::Range;

/// Key of the potential depth.
pub const EPSILON: Key = key(
    "epsilon",
    quantity(POSITIVE, Dimension::Energy),
    Default::Value("1.0"),
    "Depth of the energy's minimum.",
)
.also(&["eps"]);

/// Key of the distance of zero energy.
pub const SIGMA: Key = key(
    "sigma",
    quantity(POSITIVE, Dimension::Length),
    Default::Value("1.0"),
    "Distance at which the energy is 0.",
);

/// Key of the cutoff.
pub const CUTOFF: Key = key(
    "cutoff",
    quantity(POSITIVE, Dimension::Length),
    Default::Value("2.5"),
    "Distance beyond which no pair acts.",
)
.also(&["rc", "r_c", "r_cut", "radius"]);

/// An interaction of molecules: its deck section, its constants, and the law that evaluates it.
///
/// The type holds the constants in code units. As part of the plan it is stored in every checkpoint.
pub trait Potential:
    Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// Deck section `[interaction.NAME]`; NAME is the law's module with `-` for `_`.
    const SECTION: Section;
    /// Whether it can be combined with `[interaction.coulomb]`.
    const WITH_CHARGES: bool = false;
    /// Whether the law reads the species of particles even if there is only one.
    const NEEDS_SPECIES: bool = false;
    /// The law, or an enum of laws.
    type Law: Laws;

    /// Reads the constants from the section, and reports inconsistent keys.
    fn read(section: &mut dyn SectionReader) -> Self;
    /// Cutoff distance, > 0.
    fn cutoff(&self) -> f64;
    /// The law with these constants; includes the Coulomb interaction of `charges`.
    fn law(&self, charges: Option<&Charges>) -> Self::Law;
    /// Example constants, for the tests of all laws.
    fn examples() -> Vec<Example<Self>>;

    /// Largest energy jump of a pair at the cutoff; `None` if the energy is continuous.
    fn jump(&self) -> Option<f64> {
        Some(energy_at(&self.law(None), self.cutoff()).abs())
    }
    /// sigma / 2 and sqrt(epsilon) per species, or one entry for all particles, if the law mixes them by
    /// rule; otherwise empty.
    fn mixed(&self, _charges: Option<&Charges>) -> Vec<[f64; 2]> {
        Vec::new()
    }
    /// Notes for the user before the run.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
    /// Permutes the species: entry k of the new order is species `_order[k]` of the old one.
    fn reorder(&mut self, _order: &[usize]) {}
    /// Whether observables include the tail correction for pairs beyond the cutoff.
    fn tail_corrected(&self) -> bool {
        false
    }
    /// Tail correction of energy and virial for these particle counts per species, times the volume. Assumes
    /// a uniform density beyond the cutoff.
    fn tail(&self, _counts: &[u64]) -> [f64; 2] {
        [0.0; 2]
    }
}

/// Example constants of a potential, for tests.
#[derive(Clone, Copy, Debug)]
pub struct Example<P> {
    /// The constants.
    pub potential: P,
    /// Distance and pair energy, to 1e-9, computed independently of this program.
    pub energies: &'static [[f64; 2]],
}

/// Access to a potential's deck section. Invalid and missing values are reported and replaced by a
/// placeholder.
pub trait SectionReader {
    /// The section's path.
    fn path(&self) -> &'static str;
    /// Text; empty if it is missing.
    fn text(&mut self, key: &str) -> String;
    /// Names and numbers of a section whose keys the user chooses, in order of their names.
    fn chosen_numbers(&mut self, section: &str) -> Vec<(String, f64)>;
    /// Names of the species.
    fn species(&self) -> Vec<String>;
    /// `[species.NAME.parameters]` of each species: the same names in all; empty without any.
    fn species_parameters(&mut self) -> Vec<Vec<(String, f64)>>;
    /// Text, if given.
    fn optional_text(&mut self, key: &str) -> Option<String>;
    /// The text of the file that a key names; reports one that cannot be read or is larger than `most` bytes.
    fn file(&mut self, key: &str, most: u64) -> Option<String>;
    /// Reports an error in the text of a key; `span` is a byte range of the text.
    fn report_within(&mut self, key: &str, span: Range<usize>, message: String, help: String);
    /// Number, or its default.
    fn number(&mut self, key: &str) -> f64;
    /// Number, if given.
    fn optional_number(&mut self, key: &str) -> Option<f64>;
    /// Whole number, if given.
    fn optional_integer(&mut self, key: &str) -> Option<u64>;
    /// Whole numbers of the three dimensions, if given.
    fn optional_integers(&mut self, key: &str) -> Option<[u64; 3]>;
    /// Flag, or its default.
    fn flag(&mut self, key: &str) -> bool;
    /// Choice, or its default.
    fn choice(&mut self, key: &str) -> &'static str;
    /// Epsilon and sigma of all pairs of species, from `epsilon`, `sigma` and `mixing` of this section and
    /// the parameters of `[species.NAME]` and `[pair.NAME.NAME]`.
    fn pair_parameters(&mut self) -> PairParameters;
    /// Reports an error at the first given key of `keys`; for empty `keys`, at the section header.
    fn report(&mut self, keys: &[&str], message: String, help: String);
    /// Reports a key that is given but has no effect.
    fn without_effect(&mut self, key: &str, why: &str);
    /// Formats a quantity with its unit, for messages.
    fn format_quantity(&self, value: f64, dimension: Dimension) -> String;
}

/// Reads the start of a switch; reports a missing one, and one that is not below the cutoff.
pub fn switch_start(section: &mut dyn SectionReader, cutoff: f64) -> f64 {
    let Some(start) = section.optional_number("switch_start") else {
        let help = format!("add `switch_start = ...` below the cutoff in [{}]", section.path());
        section.report(&["truncation"], "a switched truncation needs a `switch_start`".into(), help);
        return 0.5 * cutoff;
    };
    if start >= cutoff {
        let cutoff = section.format_quantity(cutoff, Dimension::Length);
        let message = format!("`switch_start` is not below cutoff = {cutoff}");
        section.report(&["switch_start"], message, "give switch_start < cutoff".into());
    }
    start
}

/// A law, or an enum of laws whose variant is chosen once for a run.
pub trait Laws: Clone + Debug + Send + Sync {
    /// Calls the visitor with the law. The visitor is compiled for every possible law.
    fn visit<V: LawVisitor>(&self, visitor: &mut V);
}

impl<L: PairLaw + Debug> Laws for L {
    fn visit<V: LawVisitor>(&self, visitor: &mut V) {
        visitor.visit(self);
    }
}

/// Generic operation on the law of an interaction.
pub trait LawVisitor {
    /// Called once with the law; not called if nothing interacts.
    fn visit<L: PairLaw>(&mut self, law: &L);
}

/// Generic operation on the law of each [`Example`], with its reference energies.
pub trait ExampleVisitor {
    /// Called once per example.
    fn visit<L: PairLaw>(&mut self, law: &L, energies: &[[f64; 2]]);
}

/// Calls the visitor with the law of each example of a potential.
pub fn visit_examples_of<P: Potential>(visitor: &mut impl ExampleVisitor) {
    struct One<'a, V>(&'a mut V, &'static [[f64; 2]]);
    impl<V: ExampleVisitor> LawVisitor for One<'_, V> {
        fn visit<L: PairLaw>(&mut self, law: &L) {
            self.0.visit(law, self.1);
        }
    }
    for example in P::examples() {
        example.potential.law(None).visit(&mut One(visitor, example.energies));
    }
}

/// Returns the pair energy at a distance. Inputs of the particles are 0.
pub fn energy_at(law: &impl Laws, distance: f64) -> f64 {
    let mut energy = EnergyAt { distance, energy: 0.0 };
    law.visit(&mut energy);
    energy.energy
}

struct EnergyAt {
    distance: f64,
    energy: f64,
}

/// Column of the energy in the sums, after the force.
const ENERGY: usize = 3;

impl LawVisitor for EnergyAt {
    fn visit<L: PairLaw>(&mut self, law: &L) {
        let parameters = law.parameters::<f64>(());
        let particle = L::prepare::<f64>((), parameters, L::Particle::<f64>::from_columns(|_| 0.0));
        let r = Vec3 { x: self.distance, y: 0.0, z: 0.0 };
        let sums = L::interact::<f64>((), parameters, particle, particle, r, r.dot(r));
        self.energy = sums.to_columns().as_ref()[ENERGY];
    }
}

/// The [`super::Printed`] of a law's module.
macro_rules! printed_law {
    ($name:ident) => {
        Printed { name: stringify!($name), text: $name::CUDA, uses: $name::USES }
    };
}
pub(super) use printed_law;

/// The law of an interaction's module; none if it uses another module's.
macro_rules! registered_laws {
    ($name:ident) => {
        &[printed_law!($name)]
    };
    ($name:ident as $law:ident) => {
        &[]
    };
}
pub(super) use registered_laws;

/// Registers interactions by module name, or as `name as law` if the law is that of another module: defines
/// [`super::Interaction`] and [`super::InteractionLaw`] with a variant each, and
/// [`super::visit_examples`] for the tests.
macro_rules! interactions {
    ($($name:ident $(as $law:ident)?),+ $(,)?) => {
        $(pub mod $name;)+

        pastey::paste! {
            /// Interaction of a deck.
            #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
            #[serde(rename_all = "kebab-case")]
            pub enum Interaction {
                $(#[doc = "`[interaction." $name "]`"] [<$name:camel>]($name::[<$name:camel>]),)+
            }

            /// Law of an interaction, with its constants.
            #[derive(Clone, Debug)]
            pub enum InteractionLaw {
                $(#[doc = "Law of `" $name "`."] [<$name:camel>](<$name::[<$name:camel>] as Potential>::Law),)+
            }

            impl Interaction {
                /// Deck sections, in the order of a printed deck.
                pub const SECTIONS: &[Section] = &[$($name::[<$name:camel>]::SECTION),+];
                /// [`Potential::WITH_CHARGES`] of each section.
                pub const WITH_CHARGES: &[bool] = &[$($name::[<$name:camel>]::WITH_CHARGES),+];
                /// The laws as CUDA C++.
                const PRINTED: &[&[Printed]] = &[$(registered_laws!($name $(as $law)?)),+];

                /// Reads the interaction of the section at `path`; `None` if no interaction has that section.
                pub fn read(path: &str, section: &mut dyn SectionReader) -> Option<Self> {
                    $(if path == $name::[<$name:camel>]::SECTION.path {
                        return Some(Self::[<$name:camel>](Potential::read(section)));
                    })+
                    None
                }

                /// Deck section.
                pub fn section(&self) -> &'static Section {
                    match self { $(Self::[<$name:camel>](_) => &$name::[<$name:camel>]::SECTION),+ }
                }

                /// [`Potential::cutoff`]
                pub fn cutoff(&self) -> f64 {
                    match self { $(Self::[<$name:camel>](potential) => potential.cutoff()),+ }
                }

                /// [`Potential::jump`]
                pub fn jump(&self) -> Option<f64> {
                    match self { $(Self::[<$name:camel>](potential) => potential.jump()),+ }
                }

                /// [`Potential::mixed`]
                pub fn mixed(&self, charges: Option<&coulomb::Charges>) -> Vec<[f64; 2]> {
                    match self { $(Self::[<$name:camel>](potential) => potential.mixed(charges)),+ }
                }

                /// [`Potential::notes`]
                pub fn notes(&self) -> Vec<String> {
                    match self { $(Self::[<$name:camel>](potential) => potential.notes()),+ }
                }

                /// [`Potential::NEEDS_SPECIES`]
                pub fn needs_species(&self) -> bool {
                    match self { $(Self::[<$name:camel>](_) => $name::[<$name:camel>]::NEEDS_SPECIES),+ }
                }

                /// [`Potential::tail_corrected`]
                pub fn tail_corrected(&self) -> bool {
                    match self { $(Self::[<$name:camel>](potential) => potential.tail_corrected()),+ }
                }

                /// [`Potential::tail`]
                pub fn tail(&self, counts: &[u64]) -> [f64; 2] {
                    match self { $(Self::[<$name:camel>](potential) => potential.tail(counts)),+ }
                }

                /// [`Potential::reorder`]
                pub fn reorder(&mut self, order: &[usize]) {
                    match self { $(Self::[<$name:camel>](potential) => potential.reorder(order)),+ }
                }

                /// [`Potential::law`]
                pub fn law(&self, charges: Option<&coulomb::Charges>) -> InteractionLaw {
                    match self {
                        $(Self::[<$name:camel>](potential) => {
                            InteractionLaw::[<$name:camel>](potential.law(charges))
                        }),+
                    }
                }
            }

            impl Laws for InteractionLaw {
                fn visit<V: LawVisitor>(&self, visitor: &mut V) {
                    match self { $(Self::[<$name:camel>](law) => law.visit(visitor)),+ }
                }
            }

            /// Calls the visitor with the laws of all examples of all interactions.
            pub fn visit_examples(visitor: &mut impl ExampleVisitor) {
                $(interaction::visit_examples_of::<$name::[<$name:camel>]>(visitor);)+
            }
        }
    };
}
pub(super) use interactions;
