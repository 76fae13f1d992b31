//! Parameters of unlike particles: from those of like ones by a rule, or pair by pair.

use serde::{Deserialize, Serialize};

choice! {
    /// How the parameters of unlike particles follow from those of like ones.
    Mixing {
        /// sigma is the arithmetic mean, epsilon the geometric one.
        LorentzBerthelot = "lorentz-berthelot",
        /// Both are geometric means.
        Geometric = "geometric",
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

/// The Lennard-Jones parameters epsilon and sigma of pairs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairParameters {
    /// All pairs have the same.
    Uniform([f64; 2]),
    /// By the rule of Lorentz and Berthelot from those of each species, in the order of the plan's species.
    Mixed(Vec<[f64; 2]>),
    /// A row of each species with the parameters of its pairs; at most
    /// [`crate::pair::language::Table::KINDS`] species.
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

    /// The parameters of the species `order[0]`, `order[1]`, ... of these.
    pub fn reordered(&self, order: &[usize]) -> Self {
        match self {
            Self::Uniform(all) => Self::Uniform(*all),
            Self::Mixed(species) => Self::Mixed(order.iter().map(|&k| species[k]).collect()),
            Self::Table(rows) => {
                Self::Table(order.iter().map(|&a| order.iter().map(|&b| rows[a][b]).collect()).collect())
            }
        }
    }

    /// The parameters of all pairs that are not mixed.
    pub fn given(&self) -> Vec<[f64; 2]> {
        match self {
            Self::Uniform(all) => vec![*all],
            Self::Mixed(species) => species.clone(),
            Self::Table(rows) => rows.concat(),
        }
    }
}
