//! Half lists: which of two super-clusters lists their pairs.

use super::{ListRequest, SUPER_CLUSTER, whole_super_clusters};
use std::ops::Range;

/// Owned rows that a super-cluster of a half list does not list, because their super-clusters list it.
///
/// A super-cluster lists the half of the others that follows it along the curve, which is closed cyclically.
/// So all lists have about equally many entries, and if the curve is cut in two, each part lists about half
/// of the pairs across the cuts. The last super-cluster, if it has rows of other ranks, lists no others; all
/// list it.
pub(super) fn rows_listed_elsewhere(request: &ListRequest, super_cluster: usize) -> [Range<usize>; 2] {
    let whole = whole_super_clusters(&request.owned, request.id.len());
    let rows =
        |begin: usize, end: usize| (whole.start + begin) * SUPER_CLUSTER..(whole.start + end) * SUPER_CLUSTER;
    let (position, count) = (super_cluster - whole.start, whole.len());
    if position >= count {
        return [rows(0, count), 0..0];
    }
    // Of two opposite super-clusters the earlier one lists the later one.
    let listed = (count - 1) / 2 + usize::from(count.is_multiple_of(2) && position < count / 2);
    match position + listed + 1 {
        next if next < count => [rows(0, position), rows(next, count)],
        next => [rows(next - count, position), 0..0],
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
                first_with_lower_halos: None,
                coding: Coding::Plain,
            };
            let all = first..(start + owned).div_ceil(SUPER_CLUSTER);
            let whole = whole_super_clusters(&request.owned, id.len());
            let lists = |a: usize, b: usize| {
                let elsewhere = rows_listed_elsewhere(&request, a);
                !elsewhere.iter().any(|rows| rows.contains(&(b * SUPER_CLUSTER)))
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
    }
}
