//! Lennard-Jones interaction with a force switch.

use super::shared::force_switch::{self, Switch};
use crate::pair::language::*;

pub use lennard_jones_switched::*;

/// Lennard-Jones whose force goes to zero with continuous slope at the cutoff, by [`force_switch`].
#[pair(molecular, uses(force_switch))]
pub mod lennard_jones_switched {
    /// The coefficients 4 epsilon sigma^a of both powers a.
    struct Law {
        repulsion: Real,
        attraction: Real,
        truncation: force_switch::Switch,
    }

    fn interact(law: Law, r: Vec3, r2: Real) -> Sums {
        let distance = r2.sqrt();
        let inverse = r2.reciprocal();
        let r6 = inverse * inverse * inverse;
        let powers = force_switch::switched(law.truncation, distance, r6);
        let virial = law.repulsion * powers.force12 - law.attraction * powers.force6;
        Sums {
            force: r * (virial * inverse),
            energy: law.repulsion * powers.energy12 - law.attraction * powers.energy6,
            virial,
        }
    }
}

impl Law<f64> {
    /// Switches the force off from `start` to `cutoff`.
    pub fn new(epsilon: f64, sigma: f64, start: f64, cutoff: f64) -> Self {
        let (repulsion, attraction) = (4.0 * epsilon * sigma.powi(12), 4.0 * epsilon * sigma.powi(6));
        Law { repulsion, attraction, truncation: Switch::new(start, cutoff) }
    }
}
