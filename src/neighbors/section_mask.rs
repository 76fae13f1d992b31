//! Conservative 64-bit masks of the row sections that a list touches.

use super::{CLUSTER, CLUSTERS};
use std::ops::Range;

/// Partition of all rows into at most 64 equal sections of whole super-clusters, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sections {
    /// Logarithm (base 2) of the clusters per section.
    shift: u32,
}

impl Sections {
    /// Sections of `rows` rows.
    pub fn of(rows: usize) -> Self {
        let clusters = rows.div_ceil(CLUSTER);
        let of_section = clusters.div_ceil(u64::BITS as usize).max(CLUSTERS);
        Self { shift: of_section.next_power_of_two().trailing_zeros() }
    }

    /// Bit of a cluster's section.
    #[inline(always)]
    pub fn of_cluster(self, cluster: usize) -> u64 {
        1 << (cluster >> self.shift)
    }

    /// Bits of the sections that overlap some rows.
    pub fn of_rows(self, rows: Range<usize>) -> u64 {
        if rows.is_empty() {
            return 0;
        }
        let first = self.of_cluster(rows.start / CLUSTER);
        let last = self.of_cluster((rows.end - 1) / CLUSTER);
        last | (last - first)
    }
}

/// The sections that a list may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SectionMask {
    /// The partition.
    pub sections: Sections,
    /// One bit per section.
    pub bits: u64,
}

impl SectionMask {
    /// All rows.
    pub const ANY: SectionMask = SectionMask { sections: Sections { shift: u64::BITS - 1 }, bits: u64::MAX };

    /// Whether some of these rows may be listed; `false` is certain.
    pub fn may_contain(&self, rows: Range<usize>) -> bool {
        self.bits & self.sections.of_rows(rows) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neighbors::{ClusterList, Coding, GROUP, SUPER_CLUSTER, TileChunk, TileList};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn rows_are_in_the_sections_that_have_them(
            rows in 1usize..300_000,
            (begin, length) in (any::<prop::sample::Index>(), 0usize..20_000),
        ) {
            let sections = Sections::of(rows);
            let begin = begin.index(rows);
            let some = begin..rows.min(begin + length);
            let expected = some.clone().fold(0, |any, row| any | sections.of_cluster(row / CLUSTER));
            prop_assert_eq!(sections.of_rows(some), expected);
            // At most 64 sections, and more than 32 unless they have the minimum size.
            prop_assert!(SectionMask::ANY.may_contain(begin..begin + 1) && !SectionMask::ANY.may_contain(begin..begin));
            let count = ((rows.div_ceil(CLUSTER) - 1) >> sections.shift) + 1;
            prop_assert!(count <= 64 && (1 << sections.shift == CLUSTERS || count > 32));
        }

        #[test]
        fn tiles_list_their_own_rows_and_those_of_their_clusters(
            lists in prop::collection::vec(prop::collection::btree_set(0u32..2000, 0..20), 1..250),
        ) {
            let owned = 0..lists.len() * SUPER_CLUSTER;
            // Clusters behind the owned rows are halos.
            let sections = Sections::of(2000 * CLUSTER);
            let mut chunks = Vec::new();
            for lists in lists.chunks(TileChunk::LENGTH) {
                let mut chunk = TileChunk::default();
                for group in lists.chunks(GROUP) {
                    chunk.begin(group.len());
                    for (member, clusters) in group.iter().enumerate() {
                        let clusters: Vec<u32> = clusters.iter().copied().collect();
                        chunk.segment(member as u8..member as u8 + 1, true, &clusters, sections);
                    }
                }
                chunk.end();
                chunks.push(chunk);
            }
            let clusters: Vec<Vec<u32>> = lists.iter().map(|list| list.iter().copied().collect()).collect();
            let clusters = ClusterList::from_clusters(owned, true, Coding::Plain, &clusters);
            let list = TileList::new(clusters, sections, chunks);
            for (number, group) in lists.chunks(GROUP).enumerate() {
                let members = number * GROUP..number * GROUP + group.len();
                let own = (members.start * CLUSTERS..members.end * CLUSTERS).map(|cluster| cluster as u32);
                let all: BTreeSet<u32> = group.iter().flatten().copied().chain(own).collect();
                let expected = all.iter().fold(0, |any, &cluster| any | sections.of_cluster(cluster as usize));
                prop_assert_eq!(list.section_mask(members), SectionMask { sections, bits: expected });
            }
        }
    }
}
