//! Lennard-Jones interaction of several species with tabulated pair parameters.

use super::shared::force_switch::{self, Switch};
use crate::pair::language::*;

pub use lennard_jones_table::*;

/// Lennard-Jones with epsilon and sigma of each pair of species. Truncated, shifted to zero energy at the
/// cutoff for each pair, or switched by [`force_switch`]. One law covers all three, because the switch is
/// cheap compared with the table lookups.
#[pair(molecular, uses(force_switch))]
pub mod lennard_jones_table {
    /// 4 epsilon and sigma^6 of each pair of species, and the switch or shift.
    struct Law {
        depth: Table,
        sigma6: Table,
        truncation: force_switch::Switch,
    }
    /// Index of the species.
    struct Particle {
        species: Real,
    }

    fn interact(law: Law, i: Particle, j: Particle, r: Vec3, r2: Real) -> Sums {
        let depth = table_value(law.depth, i.species, j.species);
        let sigma6 = table_value(law.sigma6, i.species, j.species);
        let distance = r2.sqrt();
        let inverse = r2.reciprocal();
        let r6 = inverse * inverse * inverse;
        let powers = force_switch::switched(law.truncation, distance, r6);
        let attraction = depth * sigma6;
        let virial = attraction * (sigma6 * powers.force12 - powers.force6);
        Sums {
            force: r * (virial * inverse),
            energy: attraction * (sigma6 * powers.energy12 - powers.energy6),
            virial,
        }
    }
}

impl Law<f64> {
    /// Truncated at the cutoff, with energy jumps. The tables hold 4 epsilon and sigma^6.
    pub fn truncated(depth: Table<f64>, sigma6: Table<f64>, cutoff: f64) -> Self {
        Law { depth, sigma6, truncation: Switch::truncated(cutoff) }
    }

    /// Truncated and shifted to zero energy at the cutoff; tables as for [`Self::truncated`].
    pub fn shifted(depth: Table<f64>, sigma6: Table<f64>, cutoff: f64) -> Self {
        Law { depth, sigma6, truncation: Switch::shifted(cutoff) }
    }

    /// Switches the force off from `start` to `cutoff`; tables as for [`Self::truncated`].
    pub fn switched(depth: Table<f64>, sigma6: Table<f64>, start: f64, cutoff: f64) -> Self {
        Law { depth, sigma6, truncation: Switch::new(start, cutoff) }
    }
}
