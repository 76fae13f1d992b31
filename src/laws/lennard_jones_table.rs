//! The Lennard-Jones interaction of several species, given pair by pair.

use super::shared::force_switch::{self, Switch};
use crate::pair::language::*;

pub use lennard_jones_table::*;

/// Lennard-Jones with a depth and a distance of each pair of species; truncated, shifted to zero energy at
/// the cutoff for every pair, or switched by [`force_switch`]. One law serves all three: beside the lookups,
/// what the switch costs is little.
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
    /// Truncated at the cutoff, with jumps of the energy; of tables of 4 epsilon and sigma^6.
    pub fn truncated(depth: Table<f64>, sigma6: Table<f64>, cutoff: f64) -> Self {
        Law { depth, sigma6, truncation: Switch::truncated(cutoff) }
    }

    /// Truncated and shifted to zero energy at the cutoff.
    pub fn shifted(depth: Table<f64>, sigma6: Table<f64>, cutoff: f64) -> Self {
        Law { depth, sigma6, truncation: Switch::shifted(cutoff) }
    }

    /// Switched from `start` to `cutoff`.
    pub fn switched(depth: Table<f64>, sigma6: Table<f64>, start: f64, cutoff: f64) -> Self {
        Law { depth, sigma6, truncation: Switch::new(start, cutoff) }
    }
}
