//! Buckingham's exponential-6 interaction: exponential repulsion of electron clouds, and dispersion.

use std::f64::consts::PI;

use super::coulomb::Charges;
use super::interaction::{CUTOFF, EPSILON, Example, Potential, SectionReader, energy_at};
use crate::pair::language::*;
use crate::sections::{Default, Kind, POSITIVE, Section, between, key, number, quantity, section};
use crate::units::Dimension;
use serde::{Deserialize, Serialize};

pub use buckingham::*;

/// V(r) = epsilon / (alpha - 6) [6 exp(alpha (1 - r/r_m)) - alpha (r_m/r)^6] (Buckingham 1938, Proc. R. Soc.
/// A 168, 264, in the form of Mason 1954, J. Chem. Phys. 22, 169). The minimum at r_m has depth epsilon; a
/// larger alpha is steeper.
///
/// At short distances the attraction dominates again, behind a barrier: 69 epsilon for alpha = 10, 28,000
/// epsilon for alpha = 14.
#[pair(molecular)]
pub mod buckingham {
    /// 6 epsilon / (alpha - 6), alpha, alpha / r_m, and alpha epsilon r_m^6 / (alpha - 6).
    struct Law {
        repulsion: Real,
        steepness: Real,
        rate: Real,
        attraction: Real,
    }

    fn interact(law: Law, r: Vec3, r2: Real) -> Sums {
        let distance = r2.sqrt();
        let inverse = r2.reciprocal();
        let r6 = inverse * inverse * inverse;
        let scaled = law.rate * distance;
        let repulsion = law.repulsion * (law.steepness - scaled).exp();
        let attraction = law.attraction * r6;
        let virial = scaled * repulsion - 6.0 * attraction;
        Sums { force: r * (virial * inverse), energy: repulsion - attraction, virial }
    }
}

/// `[interaction.buckingham]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Buckingham {
    /// Potential depth, > 0.
    pub epsilon: f64,
    /// Distance of the minimum, > 0.
    pub minimum: f64,
    /// alpha, 10 to 30.
    pub steepness: f64,
    /// Cutoff distance, > 0.
    pub cutoff: f64,
    /// Whether observables include the tail correction; requires a periodic box.
    pub tail: bool,
}

impl Potential for Buckingham {
    const SECTION: Section = section(
        "interaction.buckingham",
        "epsilon / (alpha - 6) [6 exp(alpha (1 - r/r_m)) - alpha (r_m/r)^6], r_m the minimum, alpha the steepness.",
        &[
            EPSILON,
            key(
                "minimum",
                quantity(POSITIVE, Dimension::Length),
                Default::Value("1.0"),
                "Distance of the energy's minimum.",
            )
            .also(&["r_m", "rm", "r_min"]),
            key(
                "steepness",
                number(between(10.0, 30.0)),
                Default::Value("14.0"),
                "alpha, of the repulsion; the barrier before the attraction at short distances rises with it.",
            )
            .also(&["alpha"]),
            CUTOFF,
            key(
                "tail",
                Kind::Flag,
                Default::Value("false"),
                "Whether energy and pressure are corrected for what an even density beyond the cutoff adds.",
            )
            .also(&["tail_correction", "long_range"]),
        ],
    );
    type Law = Law<f64>;

    fn read(section: &mut dyn SectionReader) -> Self {
        let [epsilon, minimum, steepness, cutoff] =
            ["epsilon", "minimum", "steepness", "cutoff"].map(|key| section.number(key));
        Buckingham { epsilon, minimum, steepness, cutoff, tail: section.flag("tail") }
    }

    fn cutoff(&self) -> f64 {
        self.cutoff
    }

    fn law(&self, _: Option<&Charges>) -> Law<f64> {
        let scale = self.epsilon / (self.steepness - 6.0);
        Law {
            repulsion: 6.0 * scale,
            steepness: self.steepness,
            rate: self.steepness / self.minimum,
            attraction: self.steepness * scale * self.minimum.powi(6),
        }
    }

    fn examples() -> Vec<Example<Self>> {
        let potential = Buckingham { epsilon: 1.3, minimum: 1.1, steepness: 14.0, cutoff: 2.5, tail: true };
        let energies =
            &[[0.8, 29.0089534854621], [1.1, -1.3], [1.4, -0.513847042962061], [2.3, -0.027224936391972]];
        vec![Example { potential, energies }]
    }

    fn tail_corrected(&self) -> bool {
        self.tail
    }

    /// 2 pi N^2 times the integrals of V r^2 and, by parts, of -dV/dr r^3 from the cutoff to infinity (Allen
    /// & Tildesley 2017, section 2.8).
    fn tail(&self, counts: &[u64]) -> [f64; 2] {
        let (law, end) = (self.law(None), self.cutoff);
        let Law { repulsion, steepness, rate, attraction } = law;
        let length = 1.0 / rate;
        let moments = length * (end * end + 2.0 * length * (end + length));
        let integral =
            repulsion * (steepness - rate * end).exp() * moments - attraction / (3.0 * end.powi(3));
        let particles: u64 = counts.iter().sum();
        let scale = 2.0 * PI * (particles as f64).powi(2);
        [scale * integral, scale * (end.powi(3) * energy_at(&law, end) + 3.0 * integral)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_the_integral_beyond_the_cutoff() {
        let potential = Buckingham { epsilon: 1.3, minimum: 1.1, steepness: 10.0, cutoff: 1.2, tail: true };
        let law = potential.law(None);
        // substitution r = cutoff / x, dr = cutoff / x^2 dx; midpoint rule
        let points = 20_000;
        let (mut energy, mut virial) = (0.0, 0.0);
        for k in 0..points {
            let x = (k as f64 + 0.5) / points as f64;
            let (r, step) = (potential.cutoff / x, 1e-4);
            let width = potential.cutoff / (x * x * points as f64);
            let slope =
                (energy_at(&law, r * (1.0 + step)) - energy_at(&law, r * (1.0 - step))) / (2.0 * step);
            energy += width * r * r * energy_at(&law, r);
            virial -= width * r * r * slope;
        }
        let [found_energy, found_virial] = potential.tail(&[2, 1]).map(|tail| tail / (2.0 * PI * 9.0));
        assert!((found_energy / energy - 1.0).abs() < 1e-5, "{found_energy} {energy}");
        assert!((found_virial / virial - 1.0).abs() < 1e-5, "{found_virial} {virial}");
    }
}
