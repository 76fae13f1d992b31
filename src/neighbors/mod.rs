//! Neighbor lists over clusters of 8 rows and super-clusters of 64 rows.
//!
//! Rows `8c..8c + 8` are cluster `c`, rows `64s..64s + 64` super-cluster `s`; rows are sorted by Hilbert key.
//! Method: Thaler and Keller, GPU-Native Compressed Neighbor Lists with a Space-Filling-Curve Data Layout.

pub mod band;
mod build;
mod cell_grid;
mod cell_list;
pub mod cluster;
pub mod compress;
mod half;
mod list;
mod near;
mod not_finite;
mod particle_list;
mod prune;
mod section_mask;
mod tiles;

pub use crate::particles::{CLUSTER, CLUSTERS, SUPER_CLUSTER};
pub use cell_list::CellList;
pub(crate) use cell_list::CellRun;
pub use list::{ClusterList, whole_super_clusters};
pub(crate) use list::{RecordChunk, inner_clusters};
pub(crate) use not_finite::not_finite;
pub use particle_list::ParticleList;
pub(crate) use section_mask::{SectionMask, Sections};
pub use tiles::{ENTRIES, ENTRY_SCALE, GROUP, SEGMENT, TILE, TILES, TileList};
pub(crate) use tiles::{TileChunk, TileSegment, unpack_entries};

use crate::particles::{Field, Particles};
use crate::space::SimulationBox;
use rayon::prelude::*;
use std::ops::Range;

/// Interaction radii of rows with columns of type `C`.
#[derive(Debug)]
pub enum RadiiOf<'a, C: ?Sized> {
    /// One radius for all rows.
    All(f64),
    /// One radius per row.
    Each(&'a C),
}

// derived implementations would require a column that can be copied
impl<C: ?Sized> Clone for RadiiOf<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: ?Sized> Copy for RadiiOf<'_, C> {}

/// Interaction radii of rows.
pub type Radii<'a> = RadiiOf<'a, [f64]>;

impl Radii<'_> {
    /// Radius of a row.
    pub fn at(&self, row: usize) -> f64 {
        match self {
            Radii::All(radius) => *radius,
            Radii::Each(radius) => radius[row],
        }
    }

    /// Largest radius, at least 0. NaN is ignored.
    pub fn largest(&self) -> f64 {
        /// Rows per task.
        const TASK_ROWS: usize = 8192;
        let larger = |most: f64, radius: f64| if radius > most { radius } else { most };
        // Eight running maxima, which vectorize.
        let of_task = |radius: &[f64]| {
            let (eights, rest) = radius.as_chunks::<8>();
            let mut most = [0.0; 8];
            for eight in eights {
                most.iter_mut().zip(eight).for_each(|(most, &radius)| *most = larger(*most, radius));
            }
            most.into_iter().chain(rest.iter().copied()).fold(0.0, larger)
        };
        match self {
            Radii::All(radius) => larger(0.0, *radius),
            Radii::Each(radius) => radius.par_chunks(TASK_ROWS).map(of_task).reduce(|| 0.0, larger),
        }
    }
}

/// Request for a list: all pairs of an owned row i and any other row j, without ghosts, whose minimum-image
/// distance is less than `max(radius_i, radius_j)`.
#[derive(Clone)]
pub struct ListRequest<'a> {
    /// The simulation box.
    pub bx: &'a SimulationBox,
    /// Position columns of all rows; inside the box in periodic dimensions.
    pub position: [&'a [f64]; 3],
    /// Interaction radius per row, including any skin.
    pub radius: &'a [f64],
    /// Ids; `u64::MAX` marks a ghost.
    pub id: &'a [u64],
    /// Hilbert keys, sorted except for ghosts, whose keys are not read.
    pub keys: &'a [u64],
    /// Owned rows; they begin with a super-cluster.
    pub owned: Range<usize>,
    /// Whether pairs of owned rows appear once (half list) or from both sides (full list). Pairs of an owned
    /// row and a halo appear once in either, on the owned side.
    pub symmetric: bool,
    /// For half lists in which one of two ranks lists a pair across their border: the first super-cluster
    /// that lists its pairs with the rows before the owned ones. Sums of a sweep over halos then belong to
    /// their owners.
    pub first_with_lower_halos: Option<usize>,
    /// Code of the indices; ignored by per-particle lists and cells.
    pub coding: Coding,
}

impl<'a> ListRequest<'a> {
    /// Request for these particles in the layout of the domain.
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
            first_with_lower_halos: None,
            coding,
        }
    }

    /// Whether a row is padding (a ghost).
    #[inline(always)]
    pub fn ghost(&self, row: usize) -> bool {
        self.id[row] == u64::MAX
    }
}

/// Code of the indices of a cluster list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// Nibble code of the differences, see [`compress`].
    Nibble,
    /// 32-bit indices.
    Plain,
    /// Code of Band et al., see [`band`].
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

    /// Decodes `count` indices from the front of `bytes`, passes them to `take` in order, and returns the
    /// number of bytes read. Safe for any bytes: an invalid code is an error, after at most eight indices per
    /// byte.
    ///
    /// # Errors
    /// [`Malformed`] if the bytes are not a valid code.
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

/// Why bytes are not a valid index list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The bytes end too early.
    #[error("the coded indices end early")]
    Truncated,
    /// Indices do not increase, or exceed 32 bits.
    #[error("the coded indices do not increase within 32 bits")]
    Order,
    /// A number has more digits than necessary, or unused bits are set.
    #[error("the coded indices have set bits that mean nothing")]
    Padding,
}

/// Neighbor cluster in a super-cluster's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Neighbor cluster j.
    pub cluster: u32,
    /// Bit k is set if i-cluster k of the super-cluster is paired with j.
    pub mask: u8,
}

/// Memory of a list in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListBytes {
    /// Coded neighbor indices.
    pub indices: u64,
    /// Offsets and lengths of the lists.
    pub offsets: u64,
}

impl ListBytes {
    /// Sum of both.
    pub fn total(&self) -> u64 {
        self.indices + self.offsets
    }
}

/// A neighbor list of any kind.
#[derive(Clone, Debug)]
pub enum NeighborList {
    /// Neighbor clusters per super-cluster.
    Clustered(ClusterList),
    /// Neighbor particles per four rows, each pair once.
    Tiled(TileList),
    /// Neighbor rows per row.
    PerParticle(ParticleList),
    /// Rows by cell of a grid.
    Cells(CellList),
}

impl NeighborList {
    /// Whether pairs of owned rows appear once.
    pub fn symmetric(&self) -> bool {
        match self {
            NeighborList::Clustered(list) => list.symmetric(),
            NeighborList::Tiled(_) => true,
            NeighborList::PerParticle(list) => list.symmetric(),
            NeighborList::Cells(list) => list.symmetric(),
        }
    }

    /// Whether a pair of an owned row and a halo is listed by one of two ranks, not by both.
    pub fn shares_pairs(&self) -> bool {
        self.clusters().is_some_and(ClusterList::shares_pairs)
    }

    /// Rows whose neighbors are listed.
    pub fn owned(&self) -> Range<usize> {
        match self {
            NeighborList::Clustered(list) => list.owned(),
            NeighborList::Tiled(list) => list.owned(),
            NeighborList::PerParticle(list) => list.owned(),
            NeighborList::Cells(list) => list.owned(),
        }
    }

    /// The clusters listed, or those of the listed particles.
    pub fn clusters(&self) -> Option<&ClusterList> {
        match self {
            NeighborList::Clustered(list) => Some(list),
            NeighborList::Tiled(list) => Some(list.clusters()),
            NeighborList::PerParticle(_) | NeighborList::Cells(_) => None,
        }
    }

    /// Conservative mask of the row sections that some super-clusters list, their own rows included.
    pub(crate) fn section_mask(&self, super_clusters: Range<usize>) -> SectionMask {
        match self {
            NeighborList::Tiled(list) => list.section_mask(super_clusters),
            // Other lists keep no masks.
            _ => SectionMask::ANY,
        }
    }

    /// Memory of the list.
    pub fn bytes(&self) -> ListBytes {
        match self {
            NeighborList::Clustered(list) => list.bytes(),
            NeighborList::Tiled(list) => list.bytes(),
            NeighborList::PerParticle(list) => list.bytes(),
            NeighborList::Cells(list) => list.bytes(),
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
                // NaN is no radius.
                let row = unknown.index(radius.len());
                radius[row] = f64::NAN;
            }
            let expected = radius.iter().copied().fold(0.0, f64::max);
            prop_assert_eq!(Radii::Each(&radius).largest(), expected);
            prop_assert_eq!(Radii::All(expected).largest(), expected);
        }
    }
}
