//! Molecular dynamics.

use serde::{Deserialize, Serialize};

/// `[species.NAME]`: a kind of particles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpeciesPlan {
    /// Its name: 1 to 24 letters, digits, `_`, `+` or `-`.
    pub name: String,
    /// Mass of a particle, > 0.
    pub mass: f64,
    /// Charge of a particle.
    pub charge: f64,
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

choice! {
    /// What becomes of an interaction at its cutoff.
    Truncation {
        /// Nothing: energy and force jump.
        Plain = "plain",
        /// The energy is shifted to zero; the force jumps.
        Shifted = "shifted",
        /// The force goes to zero smoothly, and so does the energy.
        Switched = "switched",
    }
}

/// `[interaction.<law>]`: the law is the table's name.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interaction {
    /// Lennard-Jones.
    LennardJones {
        /// Depth, > 0.
        epsilon: f64,
        /// Zero of the energy, > 0.
        sigma: f64,
        /// At the cutoff.
        truncation: Truncation,
        /// Where a switched force begins to fall, > 0 and below the cutoff; the cutoff without a switch.
        switch_start: f64,
    },
    /// Mie.
    Mie {
        /// Depth, > 0.
        epsilon: f64,
        /// Zero of the energy, > 0.
        sigma: f64,
        /// Power of the repulsion, above that of the attraction.
        repulsive: f64,
        /// Power of the attraction, > 1.
        attractive: f64,
    },
    /// Yukawa.
    Yukawa {
        /// Energy times length.
        strength: f64,
        /// Inverse length, >= 0.
        screening: f64,
    },
}

/// `[interaction]`
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct InteractionPlan {
    /// The law.
    pub law: Interaction,
    /// Distance beyond which no pair acts, > 0.
    pub cutoff: f64,
}
