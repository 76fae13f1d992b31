//! Molecular dynamics.

pub use crate::laws::Interaction;
pub use crate::laws::coulomb::{Coulomb, CoulombTruncation};
pub use crate::laws::lennard_jones::{LennardJones, Truncation};
pub use crate::laws::mixing::{Mixing, PairParameters};

use serde::{Deserialize, Serialize};

/// `[species.NAME]`: a kind of particles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpeciesPlan {
    /// Its name: 1 to 24 letters, digits, `_`, `+` or `-`.
    pub name: String,
    /// Other names that files may have for it; no two species share a name.
    #[serde(default)]
    pub names: Vec<String>,
    /// Mass of a particle, > 0.
    pub mass: f64,
    /// Charge of a particle.
    pub charge: f64,
    /// Lennard-Jones depth, >= 0, and the distance at which the energy is 0, > 0; `None` where the deck gives none.
    pub lennard_jones: Option<[f64; 2]>,
    /// Share of the particles of a start that the program lays out, > 0; the shares of all species add up to 1.
    pub fraction: f64,
}

/// Whole numbers of particles of each species, `total` in all, as near to the fractions as can be: the largest remainders
/// are rounded up, of equal ones the first.
pub fn composition(species: &[SpeciesPlan], total: u64) -> Vec<u64> {
    let shares: Vec<f64> = species.iter().map(|kind| kind.fraction * total as f64).collect();
    // a rounding error must not take a particle from a share that is whole
    let mut counts: Vec<u64> = shares.iter().map(|share| (share + 1e-6).floor() as u64).collect();
    let mut order: Vec<usize> = (0..species.len()).collect();
    let remainder = |k: &usize| (shares[*k] - counts[*k] as f64).max(0.0);
    order.sort_by(|a, b| remainder(b).total_cmp(&remainder(a)));
    let missing = total.saturating_sub(counts.iter().sum()).min(species.len() as u64);
    order.iter().take(missing as usize).for_each(|&k| counts[k] += 1);
    counts
}

impl super::Plan {
    /// Put the species into another order: first those of `first`, by their present places, then the rest as they stand.
    pub fn order_species(&mut self, first: Vec<usize>) {
        let mut order = Vec::new();
        for k in first.into_iter().chain(0..self.species.len()) {
            if k < self.species.len() && !order.contains(&k) {
                order.push(k);
            }
        }
        self.species = order.iter().map(|&k| self.species[k].clone()).collect();
        if let Some(law) = self.interaction.as_mut().and_then(|interaction| interaction.law.as_mut()) {
            law.reorder(&order);
        }
    }
}

/// `[interaction]`: at least one of the two is there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InteractionPlan {
    /// The law of pairs, if any; with `coulomb` it is Lennard-Jones.
    pub law: Option<Interaction>,
    /// The charges' interaction, if any.
    pub coulomb: Option<Coulomb>,
    /// Distance beyond which no pair acts in any way: the larger cutoff.
    pub cutoff: f64,
}
