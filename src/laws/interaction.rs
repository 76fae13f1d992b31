//! Interactions that a deck can name: [`Potential`] is all that the rest of the program needs of one,
//! implemented in the file of its law; `interactions!` in `src/laws/mod.rs` registers it.

use super::coulomb::Charges;
use super::mixing::PairParameters;
use crate::pair::PairLaw;
use crate::pair::language::{Columns, Vec3};
use crate::sections::{Default, Key, POSITIVE, Section, key, quantity};
use crate::units::Dimension;
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Debug;

/// The key of a depth.
pub const EPSILON: Key = key(
    "epsilon",
    quantity(POSITIVE, Dimension::Energy),
    Default::Value("1.0"),
    "Depth of the energy's minimum.",
)
.also(&["eps"]);

/// The key of the zero of the energy.
pub const SIGMA: Key = key(
    "sigma",
    quantity(POSITIVE, Dimension::Length),
    Default::Value("1.0"),
    "Distance at which the energy is 0.",
);

/// The key of the cutoff.
pub const CUTOFF: Key = key(
    "cutoff",
    quantity(POSITIVE, Dimension::Length),
    Default::Value("2.5"),
    "Distance beyond which no pair acts.",
)
.also(&["rc", "r_c", "r_cut", "radius"]);

/// An interaction of molecules: its section of the deck, its constants, and the law that evaluates it.
///
/// The type holds the constants in code units. It is part of the plan, and as such of every checkpoint.
pub trait Potential:
    Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// `[interaction.NAME]`, with the name of the law's module, `_` as `-`.
    const SECTION: Section;
    /// Whether `[interaction.coulomb]` may stand beside it.
    const WITH_CHARGES: bool = false;
    /// The law, or a choice among laws.
    type Law: Laws;

    /// The constants that the section gives; reports rules between keys that do not hold.
    fn read(section: &mut dyn SectionReader) -> Self;
    /// Distance beyond which no pair acts, > 0.
    fn cutoff(&self) -> f64;
    /// The law of these constants; with charges it has their interaction too.
    fn law(&self, charges: Option<&Charges>) -> Self::Law;
    /// Constants for the tests of all laws.
    fn examples() -> Vec<Example<Self>>;

    /// Largest jump of a pair's energy at the cutoff; `None` where it is continuous.
    fn jump(&self) -> Option<f64> {
        Some(energy_at(&self.law(None), self.cutoff()).abs())
    }
    /// Half of sigma and the square root of epsilon of each species, or one for all, where the law mixes them
    /// by rule; else nothing.
    fn mixed(&self, _charges: Option<&Charges>) -> Vec<[f64; 2]> {
        Vec::new()
    }
    /// Put the species into another order.
    fn reorder(&mut self, _order: &[usize]) {}
    /// Whether observables are corrected for pairs beyond the cutoff.
    fn tail_corrected(&self) -> bool {
        false
    }
    /// What pairs beyond the cutoff add to the energy and to the virial of so many particles of each species
    /// at an even density, times the volume.
    fn tail(&self, _counts: &[u64]) -> [f64; 2] {
        [0.0; 2]
    }
}

/// Constants with which the tests evaluate a potential.
#[derive(Clone, Copy, Debug)]
pub struct Example<P> {
    /// The constants.
    pub potential: P,
    /// Distances, and the energies of a pair there to 1e-9, computed independently of this program.
    pub energies: &'static [[f64; 2]],
}

/// Access to the section of a potential in a deck. Wrong and missing values, which are reported, give a
/// placeholder.
pub trait SectionReader {
    /// The number that is written, else the default.
    fn number(&mut self, key: &str) -> f64;
    /// The number, if it is written.
    fn optional_number(&mut self, key: &str) -> Option<f64>;
    /// The flag that is written, else the default.
    fn flag(&mut self, key: &str) -> bool;
    /// The choice that is written, else the default.
    fn choice(&mut self, key: &str) -> &'static str;
    /// Epsilon and sigma of all pairs of species, by `epsilon`, `sigma` and `mixing` of the section, and what
    /// species and pairs have of their own.
    fn pair_parameters(&mut self) -> PairParameters;
    /// Report a mistake, at the first of these keys that is written; without keys at the header of the
    /// section.
    fn report(&mut self, keys: &[&str], message: String, help: String);
    /// Report a key that is written and has no effect.
    fn without_effect(&mut self, key: &str, why: &str);
    /// A quantity with its unit, for messages.
    fn format_quantity(&self, value: f64, dimension: Dimension) -> String;
}

/// A law, or a choice among laws that is made once for a run.
pub trait Laws: Clone + Debug + Send + Sync {
    /// Hands the law to a visitor, which is compiled for each that may come.
    fn visit<V: LawVisitor>(&self, visitor: &mut V);
}

impl<L: PairLaw + Debug> Laws for L {
    fn visit<V: LawVisitor>(&self, visitor: &mut V) {
        visitor.visit(self);
    }
}

/// What is done with the law of an interaction, which may be one of many.
pub trait LawVisitor {
    /// Called once, with the law; not at all where nothing interacts.
    fn visit<L: PairLaw>(&mut self, law: &L);
}

/// What is done with the law of every example; the energies are those of [`Example`].
pub trait ExampleVisitor {
    /// Called for each example.
    fn visit<L: PairLaw>(&mut self, law: &L, energies: &[[f64; 2]]);
}

/// Hands the laws of a potential's examples to a visitor.
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

/// The energy of a pair of particles without properties of their own.
pub fn energy_at(law: &impl Laws, distance: f64) -> f64 {
    let mut energy = EnergyAt { distance, energy: 0.0 };
    law.visit(&mut energy);
    energy.energy
}

struct EnergyAt {
    distance: f64,
    energy: f64,
}

/// The column of the energy in the sums, behind the force.
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

/// Registers interactions by the names of their modules: [`super::Interaction`] and [`super::InteractionLaw`]
/// have a variant for each, and [`super::visit_examples`] hands all of them to the tests.
macro_rules! interactions {
    ($($name:ident),+ $(,)?) => {
        $(pub mod $name;)+

        pastey::paste! {
            /// An interaction, as the deck gives it.
            #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
            #[serde(rename_all = "kebab-case")]
            pub enum Interaction {
                $(#[doc = "`[interaction." $name "]`"] [<$name:camel>]($name::[<$name:camel>]),)+
            }

            /// The law of an interaction, with its constants.
            #[derive(Clone, Debug)]
            pub enum InteractionLaw {
                $(#[doc = "Of `" $name "`."] [<$name:camel>](<$name::[<$name:camel>] as Potential>::Law),)+
            }

            impl Interaction {
                /// The sections of the deck, in the order in which it is printed.
                pub const SECTIONS: &[Section] = &[$($name::[<$name:camel>]::SECTION),+];
                /// Sections beside which `[interaction.coulomb]` may stand.
                pub const WITH_CHARGES: &[bool] = &[$($name::[<$name:camel>]::WITH_CHARGES),+];
                /// The laws as CUDA C++.
                const PRINTED: &[Printed] = &[$(printed_law!($name)),+];

                /// Reads the interaction of the section at `path`; `None` if no interaction has that section.
                pub fn read(path: &str, section: &mut dyn SectionReader) -> Option<Self> {
                    $(if path == $name::[<$name:camel>]::SECTION.path {
                        return Some(Self::[<$name:camel>](Potential::read(section)));
                    })+
                    None
                }

                /// Its section.
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

            /// Hands the laws of all examples of all interactions to a visitor.
            pub fn visit_examples(visitor: &mut impl ExampleVisitor) {
                $(interaction::visit_examples_of::<$name::[<$name:camel>]>(visitor);)+
            }
        }
    };
}
pub(super) use interactions;
