//! Plan of molecular dynamics: species and interactions.

pub use crate::laws::Interaction;
pub use crate::laws::coulomb::{Coulomb, CoulombTruncation};
pub use crate::laws::lennard_jones::{LennardJones, Truncation};
pub use crate::laws::mixing::{Mixing, PairParameters};

use serde::{Deserialize, Serialize};

/// `[species.NAME]`: a particle species.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpeciesPlan {
    /// Name: 1 to 24 letters, digits, `_`, `+` or `-`.
    pub name: String,
    /// Aliases in input files; no two species share a name.
    #[serde(default)]
    pub names: Vec<String>,
    /// Mass of a particle, > 0.
    pub mass: f64,
    /// Charge of a particle.
    pub charge: f64,
    /// Lennard-Jones epsilon, >= 0, and sigma, > 0; `None` if the deck gives neither.
    pub lennard_jones: Option<[f64; 2]>,
    /// Share of the particles in a generated start, > 0; the shares of all species add up to 1.
    pub fraction: f64,
}

/// Returns integer particle counts per species with sum `total`, by the largest remainder method: the counts
/// with the largest remainders are rounded up, ties in the order of the species.
pub fn composition(species: &[SpeciesPlan], total: u64) -> Vec<u64> {
    let shares: Vec<f64> = species.iter().map(|kind| kind.fraction * total as f64).collect();
    // do not round an integer share down because of a rounding error
    let mut counts: Vec<u64> = shares.iter().map(|share| (share + 1e-6).floor() as u64).collect();
    let mut order: Vec<usize> = (0..species.len()).collect();
    let remainder = |k: &usize| (shares[*k] - counts[*k] as f64).max(0.0);
    order.sort_by(|a, b| remainder(b).total_cmp(&remainder(a)));
    let missing = total.saturating_sub(counts.iter().sum()).min(species.len() as u64);
    order.iter().take(missing as usize).for_each(|&k| counts[k] += 1);
    counts
}

impl super::Plan {
    /// Reorders the species: first those with the indices `first`, then the others in their current order.
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

/// `[interaction]`: at least one of `law` and `coulomb` is present.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InteractionPlan {
    /// Pair law, if any; combined with `coulomb` it is one that allows charges.
    pub law: Option<Interaction>,
    /// Interaction of charges, if any.
    pub coulomb: Option<Coulomb>,
    /// Larger cutoff of both.
    pub cutoff: f64,
}
