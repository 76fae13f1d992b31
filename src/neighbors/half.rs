//! Half lists: which of two super-clusters has their pairs, and of which rows a list may have pairs.

use super::{CLUSTER, CLUSTERS, ListRequest, SUPER_CLUSTER, whole_super_clusters};
use std::ops::Range;

/// The owned rows that a half list's super-cluster does not list, because their super-clusters list it.
///
/// It lists the half of the others that follow it along the curve, from whose end one goes on at its begin. So the lists from first to
/// last have about as many entries each, and of the pairs across the border of two runs of super-clusters, which are the
/// curve, each has about half. The last super-cluster, where it has rows of others, lists none, and all list it.
pub(super) fn listed_there(request: &ListRequest, super_cluster: usize) -> [Range<usize>; 2] {
    let whole = whole_super_clusters(&request.owned, request.id.len());
    let rows =
        |begin: usize, end: usize| (whole.start + begin) * SUPER_CLUSTER..(whole.start + end) * SUPER_CLUSTER;
    let (place, count) = (super_cluster - whole.start, whole.len());
    if place >= count {
        return [rows(0, count), 0..0];
    }
    // of two that are as far from each other both ways the earlier one lists the later
    let listed = (count - 1) / 2 + usize::from(count.is_multiple_of(2) && place < count / 2);
    match place + listed + 1 {
        next if next < count => [rows(0, place), rows(next, count)],
        next => [rows(next - count, place), 0..0],
    }
}

/// Equal parts of all rows, at most 64, of which a word has a bit each: of whole super-clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parts {
    /// The logarithm of the clusters of a part.
    shift: u32,
}

impl Parts {
    /// Of so many rows.
    pub fn of(rows: usize) -> Self {
        let clusters = rows.div_ceil(CLUSTER);
        let of_part = clusters.div_ceil(u64::BITS as usize).max(CLUSTERS);
        Self { shift: of_part.next_power_of_two().trailing_zeros() }
    }

    /// The part of a cluster.
    #[inline(always)]
    pub fn with(self, cluster: usize) -> u64 {
        1 << (cluster >> self.shift)
    }

    /// The parts that have some of these rows.
    pub fn with_any(self, rows: Range<usize>) -> u64 {
        if rows.is_empty() {
            return 0;
        }
        let first = self.with(rows.start / CLUSTER);
        let last = self.with((rows.end - 1) / CLUSTER);
        last | (last - first)
    }
}

/// In which parts of all rows the rows are that something lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    /// The parts.
    pub parts: Parts,
    /// A bit for each.
    pub bits: u64,
}

impl Listed {
    /// Any rows.
    pub const ANY: Listed = Listed { parts: Parts { shift: u64::BITS - 1 }, bits: u64::MAX };

    /// Whether some of these rows may be listed: false only where they are not.
    pub fn may_have(&self, rows: Range<usize>) -> bool {
        self.bits & self.parts.with_any(rows) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neighbors::Coding;
    use crate::space::{Boundary, SimulationBox, Vec3d};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn of_two_super_clusters_one_lists_the_other(
            first in 0usize..5,
            owned in 1usize..2000,
            behind in 0usize..100,
        ) {
            let start = first * SUPER_CLUSTER;
            let (id, none) = (vec![0; start + owned + behind], Vec::new());
            let bx = SimulationBox { lower: Vec3d::zeros(), upper: Vec3d::repeat(1.0), boundary: [Boundary::Open; 3] };
            let request = ListRequest {
                bx: &bx,
                position: [&none; 3],
                radius: &none,
                id: &id,
                keys: &[],
                owned: start..start + owned,
                symmetric: true,
                with_lower_from: None,
                coding: Coding::Plain,
            };
            let all = first..(start + owned).div_ceil(SUPER_CLUSTER);
            let whole = whole_super_clusters(&request.owned, id.len());
            let lists = |a: usize, b: usize| {
                let there = listed_there(&request, a);
                !there.iter().any(|rows| rows.contains(&(b * SUPER_CLUSTER)))
            };
            for a in all.clone() {
                prop_assert!(lists(a, a));
                for b in a + 1..all.end {
                    prop_assert_ne!(lists(a, b), lists(b, a));
                }
                let listed = whole.clone().filter(|b| lists(a, *b)).count();
                let half = whole.len() / 2..whole.len() / 2 + 2;
                let expected = if whole.contains(&a) { half } else { 0..1 };
                prop_assert!(expected.contains(&listed), "{} of {}", listed, whole.len());
            }
        }

        #[test]
        fn rows_are_in_the_parts_that_have_them(
            rows in 1usize..300_000,
            (begin, length) in (any::<prop::sample::Index>(), 0usize..20_000),
        ) {
            let parts = Parts::of(rows);
            let begin = begin.index(rows);
            let some = begin..rows.min(begin + length);
            let expected = some.clone().fold(0, |any, row| any | parts.with(row / CLUSTER));
            prop_assert_eq!(parts.with_any(some), expected);
            // no more of them than a word has bits, and not many fewer
            prop_assert!(Listed::ANY.may_have(begin..begin + 1) && !Listed::ANY.may_have(begin..begin));
            let count = ((rows.div_ceil(CLUSTER) - 1) >> parts.shift) + 1;
            prop_assert!(count <= 64 && (1 << parts.shift == CLUSTERS || count > 32));
        }
    }
}
