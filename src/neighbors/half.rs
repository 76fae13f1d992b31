//! Half lists: which of two super-clusters has their pairs.

use super::{ListRequest, SUPER_CLUSTER, whole_super_clusters};
use std::ops::Range;

/// The owned rows that a half list's super-cluster does not list, because their super-clusters list it.
///
/// It lists the half of the others that follow it along the curve, from whose end one goes on at its begin. So all lists have about as
/// many entries, and where the curve is cut in two, either part has about half of the pairs across their borders. The last
/// super-cluster, where it has rows of others, lists none, and all list it.
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
    }
}
