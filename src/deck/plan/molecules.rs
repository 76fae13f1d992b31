//! Molecular dynamics.

use serde::{Deserialize, Serialize};

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
