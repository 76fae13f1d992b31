//! Coulomb interaction within a cutoff: plain, shifted, or with a reaction field.

use super::interaction::{LawVisitor, Laws, SectionReader};
use crate::pair::Together;
use crate::pair::language::*;
use crate::sections::{ANY, Default, Interval, Kind, POSITIVE, Section, key, quantity, section};
use crate::units::Dimension;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

pub use coulomb::*;

/// V(r) = f q_i q_j (1 / r + k r^2 - c) within the cutoff r_c. Plain: k = c = 0. Shifted: k = 0, c = 1 / r_c.
/// Reaction field of a medium of relative permittivity e (Tironi et al. 1995, J. Chem. Phys. 102, 5451):
/// k = (e - 1) / ((2 e + 1) r_c^3), c = 1 / r_c + k r_c^2.
///
/// Each particle has the self-energy -f q^2 c / 2, the shift of a pair with itself, as in GROMACS. The shifts
/// then cancel for a neutral cutoff sphere, and energies of crystals converge to the Madelung energy.
#[pair(molecular)]
pub mod coulomb {
    /// The constant f = 1 / (4 pi epsilon_0) in the units of the run, k and c.
    struct Law {
        constant: Real,
        field: Real,
        shift: Real,
    }
    struct Particle {
        charge: Real,
    }

    fn interact(law: Law, i: Particle, j: Particle, r: Vec3, r2: Real) -> Sums {
        let charges = law.constant * (i.charge * j.charge);
        let inverse = r2.reciprocal_root();
        let field = law.field * r2;
        let virial = charges * (inverse - 2.0 * field);
        Sums {
            force: if planted(CoulombForce) {
                r * (0.5 * virial * (inverse * inverse))
            } else {
                r * (virial * (inverse * inverse))
            },
            energy: charges * (inverse + field - law.shift),
            virial,
        }
    }

    /// Half of each pair's energy and virial, and the particle's own energy.
    fn finish(law: Law, i: Particle, sums: Sums) -> Output {
        let own = law.constant * (i.charge * i.charge) * law.shift;
        Output { force: sums.force, pair_energy: 0.5 * (sums.energy - own), virial: 0.5 * sums.virial }
    }
}

impl Law<f64> {
    /// Truncated at the cutoff, with an energy jump.
    pub fn plain(constant: f64) -> Self {
        Law { constant, field: 0.0, shift: 0.0 }
    }

    /// Truncated and shifted to zero energy at the cutoff: a reaction field with permittivity 1.
    pub fn shifted(constant: f64, cutoff: f64) -> Self {
        Law { constant, field: 0.0, shift: 1.0 / cutoff }
    }

    /// Reaction field of a medium beyond the cutoff with this relative permittivity, possibly infinite.
    pub fn reaction_field(constant: f64, permittivity: f64, cutoff: f64) -> Self {
        let ratio =
            if permittivity.is_finite() { (permittivity - 1.0) / (2.0 * permittivity + 1.0) } else { 0.5 };
        let field = ratio / cutoff.powi(3);
        Law { constant, field, shift: 1.0 / cutoff + field * cutoff * cutoff }
    }
}

choice! {
    /// Truncation of the Coulomb interaction at its cutoff.
    CoulombTruncation {
        /// Nothing: energy and force jump.
        Plain = "plain",
        /// The energy is shifted to zero; the force jumps.
        Shifted = "shifted",
        /// A homogeneous medium beyond the cutoff answers to the charges within.
        ReactionField = "reaction-field",
    }
}

/// `[interaction.coulomb]`
pub const SECTION: Section = section(
    "interaction.coulomb",
    "q q / r of the species' charges, by the constant of the units, within a cutoff; alone, or with lennard-jones, formula or table.",
    &[
        key(
            "cutoff",
            quantity(POSITIVE, Dimension::Length),
            Default::Unset("that of the other interaction"),
            "Distance beyond which no pair acts.",
        )
        .also(&["rc", "r_c", "r_cut", "rcoulomb", "radius"]),
        key(
            "truncation",
            Kind::Choice(CoulombTruncation::NAMES),
            Default::Value("\"reaction-field\""),
            "At the cutoff: plain, shifted to zero energy, or with a medium beyond it that answers.",
        )
        .also(&["shift", "modifier", "coulombtype"]),
        key(
            "permittivity",
            Kind::Number(
                Interval { lower: 1.0, lower_allowed: true, upper_allowed: true, ..ANY },
                Dimension::Code,
            ),
            Default::Unset("infinite: a conductor"),
            "Relative permittivity of the medium of a reaction field.",
        )
        .also(&["epsilon_rf", "dielectric", "epsilon"]),
    ],
);

/// `[interaction.coulomb]`: the interaction of charges, alone or combined with a
/// [`Potential`](super::interaction::Potential) that allows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Coulomb {
    /// Cutoff distance, > 0.
    pub cutoff: f64,
    /// Truncation at the cutoff.
    pub truncation: CoulombTruncation,
    /// Relative permittivity of the reaction-field medium, >= 1; `None`: infinite, or no medium.
    pub permittivity: Option<f64>,
}

impl Coulomb {
    /// Reads the constants from the section. The cutoff defaults to that of the other interaction.
    pub fn read(section: &mut dyn SectionReader, other: Option<f64>) -> Self {
        let cutoff = section.optional_number("cutoff").or(other).unwrap_or_else(|| {
            let message = format!("`cutoff` is missing in [{}]", SECTION.path);
            section.report(&[], message, "give `cutoff = ...` below it".into());
            1.0
        });
        let truncation = CoulombTruncation::named(section.choice("truncation"))
            .unwrap_or(CoulombTruncation::ReactionField);
        let permittivity = section.optional_number("permittivity").filter(|value| value.is_finite());
        if truncation != CoulombTruncation::ReactionField {
            section.without_effect("permittivity", "truncation, which is not \"reaction-field\"");
            return Coulomb { cutoff, truncation, permittivity: None };
        }
        Coulomb { cutoff, truncation, permittivity }
    }

    /// Returns the law and its cutoff; `constant` is 1 / (4 pi epsilon_0) in the units of the run.
    pub fn charges(&self, constant: f64) -> Charges {
        let law = match self.truncation {
            CoulombTruncation::Plain => Law::plain(constant),
            CoulombTruncation::Shifted => Law::shifted(constant, self.cutoff),
            CoulombTruncation::ReactionField => {
                Law::reaction_field(constant, self.permittivity.unwrap_or(f64::INFINITY), self.cutoff)
            }
        };
        Charges { law, cutoff: self.cutoff }
    }
}

/// The law of charges and its cutoff.
#[derive(Clone, Copy, Debug)]
pub struct Charges {
    /// Law.
    pub law: Law<f64>,
    /// Cutoff distance.
    pub cutoff: f64,
}

/// A law alone, or combined with the law of charges in one pass.
#[derive(Clone, Debug)]
pub struct WithCharges<L> {
    law: L,
    cutoff: f64,
    charges: Option<Charges>,
}

impl<L> WithCharges<L> {
    /// Combines a law within its cutoff with `charges`, if any.
    pub fn new(law: L, cutoff: f64, charges: Option<&Charges>) -> Self {
        WithCharges { law, cutoff, charges: charges.copied() }
    }
}

impl<L: PairLaw + Debug> Laws for WithCharges<L> {
    fn visit<V: LawVisitor>(&self, visitor: &mut V) {
        match &self.charges {
            Some(charges) => {
                visitor.visit(&Together::new(self.law, charges.law, [self.cutoff, charges.cutoff]));
            }
            None => visitor.visit(&self.law),
        }
    }
}
