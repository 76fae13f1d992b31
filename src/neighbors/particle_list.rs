//! Verlet list of rows per particle, the reference for cluster lists.

use super::{CLUSTER, ClusterList, Coding, ListBytes, ListRequest, SUPER_CLUSTER};
use crate::Result;
use crate::space::Vec3d;
use rayon::prelude::*;
use std::ops::Range;

/// Per owned row, the sorted rows within range, as in [`ListRequest`]. A symmetric list has a pair of owned
/// rows in the row whose super-cluster lists the other's; within a super-cluster, in the lower row.
#[derive(Clone, Debug)]
pub struct ParticleList {
    owned: Range<usize>,
    symmetric: bool,
    /// Offset of each row's neighbors; one more than owned rows.
    offsets: Vec<u64>,
    rows: Vec<u32>,
}

impl ParticleList {
    /// Builds the list in parallel.
    ///
    /// # Errors
    /// Those of [`ClusterList::build`].
    pub fn build(request: &ListRequest) -> Result<Self> {
        let clusters = ClusterList::build(&ListRequest { coding: Coding::Plain, ..request.clone() })?;
        let pieces: Vec<(Vec<u32>, Vec<u32>)> = clusters
            .super_clusters()
            .into_par_iter()
            .map(|super_cluster| Self::expand(request, &clusters, super_cluster))
            .collect();
        let mut offsets = Vec::with_capacity(request.owned.len() + 1);
        offsets.push(0);
        let mut end = 0;
        for count in pieces.iter().flat_map(|(counts, _)| counts) {
            end += u64::from(*count);
            offsets.push(end);
        }
        let mut rows = Vec::with_capacity(end as usize);
        pieces.iter().for_each(|(_, piece)| rows.extend_from_slice(piece));
        Ok(Self { owned: request.owned.clone(), symmetric: request.symmetric, offsets, rows })
    }

    /// A list of these sorted neighbors per owned row.
    pub fn from_rows(owned: Range<usize>, symmetric: bool, neighbors: &[Vec<u32>]) -> Self {
        assert_eq!(neighbors.len(), owned.len(), "neighbors for each owned row");
        let mut offsets = vec![0];
        offsets.extend(neighbors.iter().scan(0, |end, rows| {
            *end += rows.len() as u64;
            Some(*end)
        }));
        Self { owned, symmetric, offsets, rows: neighbors.concat() }
    }

    /// Neighbor counts and neighbors of a super-cluster's owned rows.
    fn expand(request: &ListRequest, clusters: &ClusterList, super_cluster: usize) -> (Vec<u32>, Vec<u32>) {
        let mut entries = Vec::new();
        clusters.decode(super_cluster, &mut entries);
        let at = |row: usize| Vec3d::from(request.position.map(|column| column[row]));
        let (mut counts, mut rows) = (Vec::new(), Vec::new());
        for member in 0..8 {
            let first = (8 * super_cluster + member) * CLUSTER;
            for i in (first..first + CLUSTER).filter(|row| request.owned.contains(row)) {
                let before = rows.len();
                for entry in entries.iter().filter(|entry| entry.mask >> member & 1 == 1) {
                    let begin = entry.cluster as usize * CLUSTER;
                    for j in begin..request.id.len().min(begin + CLUSTER) {
                        let same = j / SUPER_CLUSTER == super_cluster;
                        let twice = request.symmetric && request.owned.contains(&j) && same && j < i;
                        if j == i || twice || request.ghost(j) {
                            continue;
                        }
                        let reach = request.radius[i].max(request.radius[j]);
                        if request.bx.shortest(at(i) - at(j)).norm_squared() < reach * reach {
                            rows.push(j as u32);
                        }
                    }
                }
                counts.push((rows.len() - before) as u32);
            }
        }
        (counts, rows)
    }

    /// Neighbors of an owned row.
    #[inline(always)]
    pub fn neighbors(&self, row: usize) -> &[u32] {
        let k = row - self.owned.start;
        &self.rows[self.offsets[k] as usize..self.offsets[k + 1] as usize]
    }

    /// Whether pairs of owned rows appear once.
    pub fn symmetric(&self) -> bool {
        self.symmetric
    }

    /// Rows whose neighbors are listed.
    pub fn owned(&self) -> Range<usize> {
        self.owned.clone()
    }

    /// Memory of the list.
    pub fn bytes(&self) -> ListBytes {
        ListBytes {
            indices: size_of_val(&self.rows[..]) as u64,
            offsets: size_of_val(&self.offsets[..]) as u64,
        }
    }
}
