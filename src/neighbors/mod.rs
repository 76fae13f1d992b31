//! Neighbors: clusters of 8, super-clusters of 64, and the lists of which clusters interact.
//!
//! Rows `8c..8c + 8` are cluster `c`, rows `64s..64s + 64` super-cluster `s`; nothing but the key orders them.
//! After Thaler and Keller, GPU-Native Compressed Neighbor Lists with a Space-Filling-Curve Data Layout.

pub mod band;
mod build;
pub mod cluster;
pub mod compress;
mod half;
mod list;
mod listed;
mod near;
mod nearest;
mod neighborhood;
mod particle_list;
mod prune;
pub mod skin;
mod tiles;
pub mod tune;

pub use crate::particles::{CLUSTER, CLUSTERS, SUPER_CLUSTER};
pub use list::{ClusterList, whole_super_clusters};
pub(crate) use list::{Piece, inner_clusters};
pub(crate) use listed::{Listed, Sections};
pub(crate) use nearest::not_finite;
pub(crate) use neighborhood::largest_smoothing_length;
pub use neighborhood::{Due, FindTiles, Neighborhood, ROOM_TO_GROW, Reach, Skins};
pub use particle_list::ParticleList;
pub use skin::Skin;
pub use tiles::{ENTRIES, GROUP, SEGMENT, TILE, TILES, TileList, VALUES};
pub(crate) use tiles::{TileChunk, Tiles, four};
pub use tune::Costs;

use crate::particles::{Field, Particles};
use crate::space::SimulationBox;
use rayon::prelude::*;
use std::ops::Range;

/// Radii of rows.
#[derive(Clone, Copy, Debug)]
pub enum Radii<'a> {
    /// One for all.
    All(f64),
    /// One each.
    Each(&'a [f64]),
}

impl Radii<'_> {
    /// The radius of a row.
    pub fn at(&self, row: usize) -> f64 {
        match self {
            Radii::All(radius) => *radius,
            Radii::Each(radius) => radius[row],
        }
    }

    /// The largest one, 0 if there is none above.
    pub fn largest(&self) -> f64 {
        /// Rows looked at in one piece.
        const PIECE: usize = 8192;
        let larger = |most: f64, radius: f64| if radius > most { radius } else { most };
        // eight at once, which compiles to lanes
        let of_piece = |radius: &[f64]| {
            let (eights, rest) = radius.as_chunks::<8>();
            let mut most = [0.0; 8];
            for eight in eights {
                most.iter_mut().zip(eight).for_each(|(most, &radius)| *most = larger(*most, radius));
            }
            most.into_iter().chain(rest.iter().copied()).fold(0.0, larger)
        };
        match self {
            Radii::All(radius) => larger(0.0, *radius),
            Radii::Each(radius) => radius.par_chunks(PIECE).map(of_piece).reduce(|| 0.0, larger),
        }
    }
}

/// What a list is to hold: the pairs of an owned row i and any other row j, no ghosts, whose shortest image
/// distance is less than `max(radius_i, radius_j)`.
#[derive(Clone)]
pub struct ListRequest<'a> {
    /// The simulation box.
    pub bx: &'a SimulationBox,
    /// Position columns, all rows; inside the box where it is periodic.
    pub position: [&'a [f64]; 3],
    /// Interaction radius of each row, any skin included.
    pub radius: &'a [f64],
    /// Identities; `u64::MAX` marks a ghost.
    pub id: &'a [u64],
    /// Hilbert keys, sorted but for ghosts, whose keys are not read.
    pub keys: &'a [u64],
    /// The owned rows; they begin with a super-cluster.
    pub owned: Range<usize>,
    /// Whether pairs of owned rows appear once (half) or from both sides (full). Pairs of an owned row and a halo
    /// appear once, on the owned side, in either.
    pub symmetric: bool,
    /// Where one of two ranks has their pairs: the first super-cluster whose pairs with the rows before the owned ones are
    /// in this list. Of half lists alone; what a sweep sums for halos is for their owners then.
    pub with_lower_from: Option<usize>,
    /// How the indices are coded; no matter to a per-particle list.
    pub coding: Coding,
}

impl<'a> ListRequest<'a> {
    /// The request for these particles, as the domain lays them out.
    pub fn of(
        bx: &'a SimulationBox,
        particles: &'a Particles,
        radius: &'a [f64],
        symmetric: bool,
        coding: Coding,
    ) -> Self {
        Self {
            bx,
            position: particles.vector(Field::Position),
            radius,
            id: &particles.id,
            keys: &particles.key,
            owned: particles.owned(),
            symmetric,
            with_lower_from: None,
            coding,
        }
    }

    /// Whether a row is padding.
    #[inline(always)]
    pub fn ghost(&self, row: usize) -> bool {
        self.id[row] == u64::MAX
    }
}

/// How a cluster list's indices are coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// Nibble code of the differences, see [`compress`].
    Nibble,
    /// 32-bit indices.
    Plain,
    /// The code of Band et al., see [`band`].
    Band,
}

impl Coding {
    /// Appends strictly increasing indices below `u32::MAX`.
    pub fn encode(self, indices: &[u32], out: &mut Vec<u8>) {
        match self {
            Coding::Nibble => compress::encode(indices, compress::BLOCK, out),
            Coding::Plain => out.extend(indices.iter().flat_map(|index| index.to_le_bytes())),
            Coding::Band => band::encode(indices, out),
        }
    }

    /// Hands the `count` indices that `bytes` begins with to `take`, in order; returns the bytes read. Any bytes
    /// are safe to decode: what is no code is an error, after at most eight indices a byte.
    #[inline(always)]
    pub fn decode(
        self,
        bytes: &[u8],
        count: usize,
        mut take: impl FnMut(u32),
    ) -> std::result::Result<usize, Malformed> {
        match self {
            Coding::Nibble => compress::decode(bytes, count, compress::BLOCK, take),
            Coding::Plain => {
                let words = bytes.get(..count.saturating_mul(4)).ok_or(Malformed::Truncated)?;
                let mut next = 0;
                for word in words.chunks_exact(4) {
                    let index = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
                    next = index.checked_add(1).filter(|_| index >= next).ok_or(Malformed::Order)?;
                    take(index);
                }
                Ok(words.len())
            }
            Coding::Band => band::decode(bytes, count, take),
        }
    }
}

/// Why bytes are no index list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The bytes end before the indices do.
    #[error("the coded indices end early")]
    Truncated,
    /// Indices do not increase or exceed 32 bits.
    #[error("the coded indices do not increase within 32 bits")]
    Order,
    /// A number is coded longer than need be, or unused bits are set.
    #[error("the coded indices have set bits that mean nothing")]
    Padding,
}

/// A neighbor cluster in a super-cluster's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The neighbor cluster j.
    pub cluster: u32,
    /// Bit k: the super-cluster's i-cluster k meets it.
    pub mask: u8,
}

/// The memory of a list, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListBytes {
    /// Neighbor indices, coded.
    pub indices: u64,
    /// Where each list begins and how long it is.
    pub offsets: u64,
}

impl ListBytes {
    /// All of it.
    pub fn total(&self) -> u64 {
        self.indices + self.offsets
    }
}

/// A neighbor list of any kind.
#[derive(Clone, Debug)]
pub enum NeighborList {
    /// Clusters.
    Clustered(ClusterList),
    /// Particles by four rows, each pair once.
    Tiled(TileList),
    /// Rows.
    PerParticle(ParticleList),
}

impl NeighborList {
    /// Whether pairs of owned rows appear once.
    pub fn symmetric(&self) -> bool {
        match self {
            NeighborList::Clustered(list) => list.symmetric(),
            NeighborList::Tiled(_) => true,
            NeighborList::PerParticle(list) => list.symmetric(),
        }
    }

    /// Whether pairs of an owned row and a halo are in one list of two ranks, not in both.
    pub fn shares_pairs(&self) -> bool {
        self.clusters().is_some_and(ClusterList::shares_pairs)
    }

    /// The rows whose neighbors are listed.
    pub fn owned(&self) -> Range<usize> {
        match self {
            NeighborList::Clustered(list) => list.owned(),
            NeighborList::Tiled(list) => list.owned(),
            NeighborList::PerParticle(list) => list.owned(),
        }
    }

    /// The clusters that it lists, or that hold the particles that it lists.
    pub fn clusters(&self) -> Option<&ClusterList> {
        match self {
            NeighborList::Clustered(list) => Some(list),
            NeighborList::Tiled(list) => Some(list.clusters()),
            NeighborList::PerParticle(_) => None,
        }
    }

    /// What some super-clusters list, their own rows included.
    pub(crate) fn listed(&self, super_clusters: Range<usize>) -> Listed {
        match self {
            NeighborList::Tiled(list) => list.listed(super_clusters),
            // such lists do not know
            _ => Listed::ANY,
        }
    }

    /// The memory it takes.
    pub fn bytes(&self) -> ListBytes {
        match self {
            NeighborList::Clustered(list) => list.bytes(),
            NeighborList::Tiled(list) => list.bytes(),
            NeighborList::PerParticle(list) => list.bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_largest_radius_is_that_of_a_row(
            mut radius in prop::collection::vec(-1.0..1.0f64, 0..60),
            (more, unknown) in (0..20_000usize, any::<prop::sample::Index>()),
        ) {
            radius.extend((0..more).map(|k| 1e-4 * (k as f64).sin()));
            if !radius.is_empty() {
                // what is no number is no radius
                let row = unknown.index(radius.len());
                radius[row] = f64::NAN;
            }
            let expected = radius.iter().copied().fold(0.0, f64::max);
            prop_assert_eq!(Radii::Each(&radius).largest(), expected);
            prop_assert_eq!(Radii::All(expected).largest(), expected);
        }
    }
}
