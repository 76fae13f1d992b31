//! Even distribution over the ranks: rows by contiguous ranges in rank order, ids by remainder.

use super::Communicator;
use std::ops::Range;

/// Returns the rows of a rank out of `total`: contiguous ranges of even size that cover all rows.
pub fn share(total: u64, rank: usize, ranks: usize) -> Range<u64> {
    let border = |rank: usize| (u128::from(total) * rank as u128 / ranks as u128) as u64;
    border(rank)..border(rank + 1)
}

/// Returns the rank that handles an id on behalf of all ranks: the remainder by the number of ranks.
pub fn rank_of(id: u64, ranks: usize) -> usize {
    (id % ranks as u64) as usize
}

/// Returns the smallest id that occurs more than once among the ids of all ranks and that [`rank_of`] maps to
/// this rank. Each repeated id is detected on exactly one rank. Collective.
pub fn repeated(comm: &Communicator, ids: &[u64]) -> Option<u64> {
    let mut to = vec![Vec::new(); comm.size()];
    ids.iter().for_each(|&id| to[rank_of(id, comm.size())].push(id));
    let mut met = comm.all_to_all(&to).concat();
    met.sort_unstable();
    met.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::run_local;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn shares_are_even_and_leave_nothing_out(total in prop_oneof![0..50u64, any::<u64>()], ranks in 1usize..9) {
            let shares: Vec<Range<u64>> = (0..ranks).map(|rank| share(total, rank, ranks)).collect();
            prop_assert_eq!((shares[0].start, shares[ranks - 1].end), (0, total));
            prop_assert!(shares.windows(2).all(|pair| pair[0].end == pair[1].start));
            let even = total / ranks as u64;
            prop_assert!(shares.iter().all(|share| (even..=even.saturating_add(1)).contains(&(share.end - share.start))));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn ids_that_occur_twice_are_found_by_one_rank(
            ids in prop::collection::vec(prop_oneof![0..30u64, Just(u64::MAX)], 0..12), ranks in 1usize..5,
        ) {
            let found = run_local(ranks, |comm| {
                let mine: Vec<u64> = ids.iter().copied().skip(comm.rank()).step_by(ranks).collect();
                repeated(&comm, &mine)
            });
            let mut counts = BTreeMap::new();
            ids.iter().for_each(|&id| *counts.entry(id).or_insert(0) += 1);
            for (rank, found) in found.into_iter().enumerate() {
                let here = counts.iter().filter(|(id, count)| rank_of(**id, ranks) == rank && **count > 1);
                prop_assert_eq!(found, here.map(|(&id, _)| id).next());
            }
        }
    }
}
