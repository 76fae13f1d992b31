//! Molecular dynamics.

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

choice! {
    /// What becomes of an interaction at its cutoff.
    Truncation {
        /// Nothing: energy and force jump.
        Plain = "plain",
        /// The energy is shifted to zero; the force jumps.
        Shifted = "shifted",
        /// The force goes to zero smoothly, and so does the energy.
        Switched = "switched",
        /// Cut and shifted at the minimum, so that only the repulsion is left (Weeks, Chandler & Andersen 1971).
        Repulsive = "weeks-chandler-andersen",
    }
}

choice! {
    /// How the parameters of unlike particles follow from those of like ones.
    Mixing {
        /// sigma is the arithmetic mean, epsilon the geometric one.
        LorentzBerthelot = "lorentz-berthelot",
        /// Both are geometric means.
        Geometric = "geometric",
    }
}

/// The Lennard-Jones parameters epsilon and sigma of pairs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairParameters {
    /// All pairs have the same.
    Uniform([f64; 2]),
    /// By the rule of Lorentz and Berthelot from those of each species, in the order of the plan's species.
    Mixed(Vec<[f64; 2]>),
    /// A row of each species with the parameters of its pairs; at most [`crate::pair::language::Table::KINDS`] species.
    Table(Vec<Vec<[f64; 2]>>),
}

impl PairParameters {
    /// Epsilon and sigma of a pair of species.
    pub fn of(&self, a: usize, b: usize) -> [f64; 2] {
        match self {
            Self::Uniform(all) => *all,
            Self::Mixed(species) => Mixing::LorentzBerthelot.mixed(species[a], species[b]),
            Self::Table(rows) => rows[a][b],
        }
    }
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
        let law = self.interaction.as_mut().and_then(|interaction| interaction.law.as_mut());
        let Some(Interaction::LennardJones(law)) = law else { return };
        law.parameters = match &law.parameters {
            PairParameters::Uniform(all) => PairParameters::Uniform(*all),
            PairParameters::Mixed(species) => {
                PairParameters::Mixed(order.iter().map(|&k| species[k]).collect())
            }
            PairParameters::Table(rows) => PairParameters::Table(
                order.iter().map(|&a| order.iter().map(|&b| rows[a][b]).collect()).collect(),
            ),
        };
    }
}

impl Mixing {
    /// Epsilon and sigma of a pair of unlike particles.
    pub fn mixed(self, [epsilon_a, sigma_a]: [f64; 2], [epsilon_b, sigma_b]: [f64; 2]) -> [f64; 2] {
        let sigma = match self {
            Self::LorentzBerthelot => 0.5 * (sigma_a + sigma_b),
            Self::Geometric => (sigma_a * sigma_b).sqrt(),
        };
        [(epsilon_a * epsilon_b).sqrt(), sigma]
    }
}

/// `[interaction.lennard-jones]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LennardJonesPlan {
    /// Of which pair.
    pub parameters: PairParameters,
    /// Distance beyond which no pair acts, > 0.
    pub cutoff: f64,
    /// At the cutoff.
    pub truncation: Truncation,
    /// Where a switched force begins to fall, > 0 and below the cutoff; the cutoff without a switch.
    pub switch_start: f64,
    /// Whether observables are corrected for what lies beyond the cutoff; the truncation is plain then, and the box
    /// periodic.
    pub tail: bool,
}

/// `[interaction.<law>]`: the law is the table's name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interaction {
    /// Lennard-Jones.
    LennardJones(LennardJonesPlan),
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
        /// Distance beyond which no pair acts, > 0.
        cutoff: f64,
    },
    /// Yukawa.
    Yukawa {
        /// Energy times length.
        strength: f64,
        /// Inverse length, >= 0.
        screening: f64,
        /// Distance beyond which no pair acts, > 0.
        cutoff: f64,
    },
}

impl Interaction {
    /// Distance beyond which no pair acts.
    pub fn cutoff(&self) -> f64 {
        match self {
            Self::LennardJones(plan) => plan.cutoff,
            Self::Mie { cutoff, .. } | Self::Yukawa { cutoff, .. } => *cutoff,
        }
    }
}

choice! {
    /// What becomes of the Coulomb interaction at its cutoff.
    CoulombTruncation {
        /// Nothing: energy and force jump.
        Plain = "plain",
        /// The energy is shifted to zero; the force jumps.
        Shifted = "shifted",
        /// A homogeneous medium beyond the cutoff answers to the charges within.
        ReactionField = "reaction-field",
    }
}

/// `[interaction.coulomb]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoulombPlan {
    /// Distance beyond which no pair acts, > 0.
    pub cutoff: f64,
    /// At the cutoff.
    pub truncation: CoulombTruncation,
    /// Relative permittivity of the medium of a reaction field, >= 1; `None`: infinite, or there is no medium.
    pub permittivity: Option<f64>,
}

/// `[interaction]`: at least one of the two is there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InteractionPlan {
    /// The law of pairs, if any; with `coulomb` it is Lennard-Jones.
    pub law: Option<Interaction>,
    /// The charges' interaction, if any.
    pub coulomb: Option<CoulombPlan>,
    /// Distance beyond which no pair acts in any way: the larger cutoff.
    pub cutoff: f64,
}
