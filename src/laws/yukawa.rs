//! Yukawa (screened Coulomb) interaction.

use super::coulomb::Charges;
use super::interaction::{CUTOFF, Example, Potential, SectionReader};
use crate::pair::language::*;
use crate::sections::{ANY, Default, NOT_NEGATIVE, Section, key, quantity, section};
use crate::units::Dimension;
use serde::{Deserialize, Serialize};

pub use yukawa::*;

/// V(r) = strength exp(-kappa r) / r - shift (Yukawa 1935; for charges in a plasma or an electrolyte, Debye &
/// Hueckel 1923).
#[pair(molecular)]
pub mod yukawa {
    /// Strength (energy times length), screening kappa (1 / length), and what the energy is lowered by.
    struct Law {
        strength: Real,
        screening: Real,
        shift: Real,
    }

    fn interact(law: Law, r: Vec3, r2: Real) -> Sums {
        let distance = r2.sqrt();
        let screened = law.screening * distance;
        let energy = law.strength * (-screened).exp() * distance.reciprocal();
        let virial = energy * (1.0 + screened);
        Sums { force: r * (virial * r2.reciprocal()), energy: energy - law.shift, virial }
    }
}

/// `[interaction.yukawa]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Yukawa {
    /// Strength (energy times length).
    pub strength: f64,
    /// Inverse screening length, >= 0.
    pub screening: f64,
    /// Cutoff distance, > 0.
    pub cutoff: f64,
}

impl Potential for Yukawa {
    const SECTION: Section = section(
        "interaction.yukawa",
        "strength exp(-screening r) / r.",
        &[
            key(
                "strength",
                quantity(ANY, Dimension::EnergyLength),
                Default::Value("1.0"),
                "Energy times length; negative attracts.",
            )
            .also(&["a"]),
            key(
                "screening",
                quantity(NOT_NEGATIVE, Dimension::InverseLength),
                Default::Value("1.0"),
                "Inverse of the screening length.",
            )
            .also(&["kappa"]),
            CUTOFF,
        ],
    );
    type Law = Law<f64>;

    fn read(section: &mut dyn SectionReader) -> Self {
        Yukawa {
            strength: section.number("strength"),
            screening: section.number("screening"),
            cutoff: section.number("cutoff"),
        }
    }

    fn cutoff(&self) -> f64 {
        self.cutoff
    }

    fn law(&self, _: Option<&Charges>) -> Law<f64> {
        Law { strength: self.strength, screening: self.screening, shift: 0.0 }
    }

    fn examples() -> Vec<Example<Self>> {
        let potential = Yukawa { strength: 2.0, screening: 0.8, cutoff: 2.5 };
        vec![Example {
            potential,
            energies: &[[0.95, 0.98456089896823], [1.4, 0.466113992318628], [2.3, 0.138102109658192]],
        }]
    }
}
