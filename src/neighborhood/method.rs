//! How pairs of particles are found, and the settings of it.

use super::Skins;

/// A method of finding the pairs within range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// Lists of clusters: super-clusters of 64 rows against clusters of 8.
    Clusters,
    /// Lists of the neighbors of each particle.
    Particles,
    /// Cells of a grid, at least as wide as the interaction range: pairs of neighboring cells.
    Cells,
    /// The two-level search without a list; on GPUs only.
    Search,
}

impl Method {
    /// All methods.
    pub const ALL: [Method; 4] = [Method::Clusters, Method::Particles, Method::Cells, Method::Search];

    /// Name in decks, tables and logs.
    pub fn name(self) -> &'static str {
        match self {
            Method::Clusters => "clusters",
            Method::Particles => "particles",
            Method::Cells => "cells",
            Method::Search => "search",
        }
    }
}

/// How a run finds its pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NeighborSettings {
    /// The method.
    pub method: Method,
    /// Whether each pair is found once (half lists), not from both sides.
    pub symmetric: bool,
    /// Skins of lists; the outer one is that of halos in any case.
    pub skins: Skins,
}
