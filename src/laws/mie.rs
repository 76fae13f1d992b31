//! Mie interaction: Lennard-Jones with other exponents.

use super::coulomb::Charges;
use super::interaction::{CUTOFF, EPSILON, Example, Potential, SIGMA, SectionReader};
use crate::pair::language::*;
use crate::sections::{ABOVE_ONE, Default, Section, key, number, section};
use serde::{Deserialize, Serialize};

pub use mie::*;

/// V(r) = C epsilon [(sigma/r)^n - (sigma/r)^m] - shift with n > m > 0 and
/// C = n / (n - m) (n / m)^(m / (n - m)) (Mie 1903).
#[pair(molecular)]
pub mod mie {
    /// C epsilon, sigma^2, the powers n and m, and what the energy is lowered by.
    struct Law {
        depth: Real,
        sigma2: Real,
        repulsive: Real,
        attractive: Real,
        shift: Real,
    }

    fn interact(law: Law, r: Vec3, r2: Real) -> Sums {
        let inverse = r2.reciprocal();
        let logarithm = 0.5 * (law.sigma2 * inverse).ln();
        let repulsion = law.depth * (law.repulsive * logarithm).exp();
        let attraction = law.depth * (law.attractive * logarithm).exp();
        let virial = law.repulsive * repulsion - law.attractive * attraction;
        Sums { force: r * (virial * inverse), energy: repulsion - attraction - law.shift, virial }
    }
}

impl Law<f64> {
    /// Truncated at the cutoff; depth epsilon at the minimum.
    pub fn truncated(epsilon: f64, sigma: f64, repulsive: f64, attractive: f64) -> Self {
        let difference = repulsive - attractive;
        let depth = epsilon * repulsive / difference * (repulsive / attractive).powf(attractive / difference);
        Law { depth, sigma2: sigma * sigma, repulsive, attractive, shift: 0.0 }
    }
}

/// `[interaction.mie]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mie {
    /// Potential depth, > 0.
    pub epsilon: f64,
    /// Distance of zero energy, > 0.
    pub sigma: f64,
    /// Exponent of the repulsion, greater than that of the attraction.
    pub repulsive: f64,
    /// Exponent of the attraction, > 1.
    pub attractive: f64,
    /// Cutoff distance, > 0.
    pub cutoff: f64,
}

impl Potential for Mie {
    const SECTION: Section = section(
        "interaction.mie",
        "Lennard-Jones with other powers.",
        &[
            EPSILON,
            SIGMA,
            CUTOFF,
            key("repulsive", number(ABOVE_ONE), Default::Value("12.0"), "Power of the repulsion.")
                .also(&["n", "lambda_r"]),
            key("attractive", number(ABOVE_ONE), Default::Value("6.0"), "Power of the attraction.")
                .also(&["m", "lambda_a"]),
        ],
    );
    type Law = Law<f64>;

    fn read(section: &mut dyn SectionReader) -> Self {
        let (repulsive, attractive) = (section.number("repulsive"), section.number("attractive"));
        if repulsive <= attractive {
            let message = format!("repulsive = {repulsive} is not above attractive = {attractive}");
            section.report(&["repulsive", "attractive"], message, "give repulsive > attractive".into());
        }
        let (epsilon, sigma) = (section.number("epsilon"), section.number("sigma"));
        Mie { epsilon, sigma, repulsive, attractive, cutoff: section.number("cutoff") }
    }

    fn cutoff(&self) -> f64 {
        self.cutoff
    }

    fn law(&self, _: Option<&Charges>) -> Law<f64> {
        Law::truncated(self.epsilon, self.sigma, self.repulsive, self.attractive)
    }

    fn examples() -> Vec<Example<Self>> {
        let potential = Mie { epsilon: 0.7, sigma: 1.1, repulsive: 14.0, attractive: 6.5, cutoff: 2.5 };
        vec![Example {
            potential,
            energies: &[[0.95, 13.1954745324536], [1.4, -0.443044911618013], [2.3, -0.0209435354646667]],
        }]
    }
}
