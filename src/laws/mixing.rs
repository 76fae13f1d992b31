//! Parameters of pairs of species: uniform, by a mixing rule, or tabulated.

use serde::{Deserialize, Serialize};

choice! {
    /// Mixing rule for the parameters of unlike particles.
    Mixing {
        /// sigma is the arithmetic mean, epsilon the geometric one.
        LorentzBerthelot = "lorentz-berthelot",
        /// Both are geometric means.
        Geometric = "geometric",
    }
}

impl Mixing {
    /// Returns epsilon and sigma of a pair from those of both particles.
    pub fn mixed(self, [epsilon_a, sigma_a]: [f64; 2], [epsilon_b, sigma_b]: [f64; 2]) -> [f64; 2] {
        let sigma = match self {
            Self::LorentzBerthelot => 0.5 * (sigma_a + sigma_b),
            Self::Geometric => (sigma_a * sigma_b).sqrt(),
        };
        [(epsilon_a * epsilon_b).sqrt(), sigma]
    }
}

/// Lennard-Jones parameters epsilon and sigma of all pairs of species.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairParameters {
    /// The same for all pairs.
    Uniform([f64; 2]),
    /// Per species, in the order of the plan; pairs by Lorentz-Berthelot mixing.
    Mixed(Vec<[f64; 2]>),
    /// Symmetric table of pairs, one row per species; at most [`crate::pair::language::Table::KINDS`]
    /// species.
    Table(Vec<Vec<[f64; 2]>>),
}

impl PairParameters {
    /// Returns epsilon and sigma of the pair of species `a` and `b`.
    pub fn of(&self, a: usize, b: usize) -> [f64; 2] {
        match self {
            Self::Uniform(all) => *all,
            Self::Mixed(species) => Mixing::LorentzBerthelot.mixed(species[a], species[b]),
            Self::Table(rows) => rows[a][b],
        }
    }

    /// Returns epsilon and sigma of every pair of species, each once or twice.
    pub fn of_all_pairs(&self) -> Vec<[f64; 2]> {
        match self {
            Self::Mixed(species) => {
                let pairs = (0..species.len()).flat_map(|a| (0..=a).map(move |b| (a, b)));
                pairs.map(|(a, b)| self.of(a, b)).collect()
            }
            Self::Uniform(all) => vec![*all],
            Self::Table(rows) => rows.concat(),
        }
    }

    /// Permutes the species to `order[0]`, `order[1]`, ...
    pub fn reordered(&self, order: &[usize]) -> Self {
        match self {
            Self::Uniform(all) => Self::Uniform(*all),
            Self::Mixed(species) => Self::Mixed(order.iter().map(|&k| species[k]).collect()),
            Self::Table(rows) => {
                Self::Table(order.iter().map(|&a| order.iter().map(|&b| rows[a][b]).collect()).collect())
            }
        }
    }
}
