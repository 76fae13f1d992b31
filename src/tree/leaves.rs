//! The cornerstone array: an octree as the sorted first keys of its leaves.
//!
//! Keller et al., Cornerstone: Octree Construction Algorithms for Scalable Particle Simulations (PASC 2023).

use crate::space::hilbert::{END, LEVELS};
use rayon::prelude::*;

/// The leaves of an octree over the whole key range.
///
/// Invariants: the keys are sorted, the first is 0, the last 2^63. The difference of consecutive keys is a
/// power of 8 and divides the first of the two. Leaf `k` holds the keys `keys()[k]..keys()[k + 1]`.
///
/// After [`Leaves::converge`] the array depends only on the particles' keys: a node is split if and only if
/// it holds more than the bucket size and is above the deepest level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaves {
    keys: Vec<u64>,
}

/// Level of a node that spans `span` keys: 0 for the root, 21 for a cell.
pub(crate) fn level_of(span: u64) -> u32 {
    LEVELS - span.trailing_zeros() / 3
}

/// Number of keys that a node of `level` spans.
pub(crate) fn span_of(level: u32) -> u64 {
    END >> (3 * level)
}

impl Leaves {
    /// Creates the tree with one leaf.
    pub fn root() -> Self {
        Self { keys: vec![0, END] }
    }

    /// Creates the leaves with these boundaries; `None` if they violate an invariant.
    pub fn from_keys(keys: Vec<u64>) -> Option<Self> {
        let ends = keys.len() >= 2 && keys[0] == 0 && keys[keys.len() - 1] == END;
        let leaf = |pair: &[u64]| {
            let span = pair[1].wrapping_sub(pair[0]);
            pair[0] < pair[1]
                && pair[1] <= END
                && span.is_power_of_two()
                && span.trailing_zeros().is_multiple_of(3)
                && pair[0].is_multiple_of(span)
        };
        (ends && keys.windows(2).all(leaf)).then_some(Self { keys })
    }

    /// Returns the boundaries: one more than the number of leaves.
    pub fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// Number of leaves, at least 1.
    pub fn len(&self) -> usize {
        self.keys.len() - 1
    }

    /// Always false: there is at least the root.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Returns the leaf that holds a key below 2^63.
    pub fn leaf_of(&self, key: u64) -> usize {
        self.keys.partition_point(|&first| first <= key).saturating_sub(1).min(self.len() - 1)
    }

    /// Returns the level of a leaf.
    pub fn level(&self, leaf: usize) -> u32 {
        level_of(self.keys[leaf + 1] - self.keys[leaf])
    }

    /// Returns the first row of each leaf in a sorted key column, then the column's length.
    pub fn first_rows(&self, sorted_keys: &[u64]) -> Vec<usize> {
        let bound = |&key: &u64| match key {
            END => sorted_keys.len(),
            _ => sorted_keys.partition_point(|&k| k < key),
        };
        self.keys.par_iter().with_min_len(256).map(bound).collect()
    }

    /// Counts the particles per leaf.
    pub fn count(&self, sorted_keys: &[u64]) -> Vec<u64> {
        self.first_rows(sorted_keys).windows(2).map(|rows| (rows[1] - rows[0]) as u64).collect()
    }

    /// One round towards the converged array, from the particles per leaf. Eight sibling leaves with at most
    /// `bucket` particles in total are merged. A leaf with more is split, by two or three levels at once if
    /// it holds more than 8 or 64 times as many. Returns whether the array has converged.
    ///
    /// # Panics
    /// If `counts` does not have one entry per leaf.
    pub fn update(&mut self, counts: &[u64], bucket: u64) -> bool {
        assert_eq!(counts.len(), self.len(), "one count a leaf");
        let bucket = bucket.max(1);
        let parts: Vec<usize> =
            (0..self.len()).into_par_iter().map(|k| self.split_count(k, counts, bucket)).collect();
        if parts.iter().all(|&count| count == 1) {
            return true;
        }
        let mut keys = Vec::with_capacity(parts.iter().sum::<usize>() + 1);
        for (leaf, &count) in parts.iter().enumerate() {
            let (first, span) = (self.keys[leaf], self.keys[leaf + 1] - self.keys[leaf]);
            keys.extend((0..count as u64).map(|part| first + part * (span / count as u64)));
        }
        keys.push(END);
        self.keys = keys;
        false
    }

    /// Number of parts that a leaf is split into; 0 if it is merged into its first sibling.
    fn split_count(&self, leaf: usize, counts: &[u64], bucket: u64) -> usize {
        if let Some(first) = self.first_of_merged(leaf, counts, bucket) {
            return usize::from(first == leaf);
        }
        let below = LEVELS - self.level(leaf);
        let wanted = match counts[leaf] {
            count if count <= bucket => 0,
            count if count <= bucket.saturating_mul(8) => 1,
            count if count <= bucket.saturating_mul(64) => 2,
            _ => 3,
        };
        1 << (3 * wanted.min(below))
    }

    /// First of eight sibling leaves with at most `bucket` particles in total, if `leaf` is one of them.
    fn first_of_merged(&self, leaf: usize, counts: &[u64], bucket: u64) -> Option<usize> {
        let (key, span) = (self.keys[leaf], self.keys[leaf + 1] - self.keys[leaf]);
        if span == END {
            return None;
        }
        let first = leaf.checked_sub((key / span % 8) as usize)?;
        let parent_begins = key - key % (8 * span);
        let siblings = first + 8 <= self.len()
            && self.keys[first] == parent_begins
            && self.keys[first + 8] - parent_begins == 8 * span;
        let total = || counts[first..first + 8].iter().fold(0u64, |sum, &count| sum.saturating_add(count));
        (siblings && total() <= bucket).then_some(first)
    }

    /// Repeats [`Leaves::update`] with the counts of these keys until it converges: one or two rounds from
    /// the array of the previous step.
    pub fn converge(&mut self, sorted_keys: &[u64], bucket: u64) {
        while !self.update(&self.count(sorted_keys), bucket) {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Recursive definition of the converged leaves.
    fn defined(keys: &[u64], bucket: u64, first: u64, level: u32, out: &mut Vec<u64>) {
        if level == LEVELS || keys.len() as u64 <= bucket {
            out.push(first);
            return;
        }
        let span = span_of(level + 1);
        for child in 0..8 {
            let begins = first + child * span;
            let from = keys.partition_point(|&k| k < begins);
            let to = keys.partition_point(|&k| k < begins + span);
            defined(&keys[from..to], bucket, begins, level + 1, out);
        }
    }

    fn expected(keys: &[u64], bucket: u64) -> Vec<u64> {
        let mut out = Vec::new();
        defined(keys, bucket, 0, 0, &mut out);
        out.push(END);
        out
    }

    /// Random keys, some of them clustered in a few cells.
    fn sorted_keys() -> impl Strategy<Value = Vec<u64>> {
        let crowded = (0u64..4, 0u64..100).prop_map(|(place, k)| place * (END / 5) + k);
        prop::collection::vec(prop_oneof![0..END, crowded], 0..300).prop_map(|mut keys| {
            keys.sort();
            keys
        })
    }

    proptest! {
        #[test]
        fn converged_leaves_are_the_defined_ones(keys in sorted_keys(), bucket in 1u64..70) {
            let mut leaves = Leaves::root();
            leaves.converge(&keys, bucket);
            prop_assert_eq!(leaves.keys(), &expected(&keys, bucket)[..]);
            prop_assert!(Leaves::from_keys(leaves.keys().to_vec()).is_some());
            prop_assert_eq!(leaves.count(&keys).iter().sum::<u64>(), keys.len() as u64);
        }

        #[test]
        fn the_history_leaves_no_trace(before in sorted_keys(), after in sorted_keys(), bucket in 1u64..70) {
            let mut leaves = Leaves::root();
            leaves.converge(&before, bucket);
            leaves.converge(&after, bucket);
            prop_assert_eq!(leaves.keys(), &expected(&after, bucket)[..]);
        }

        #[test]
        fn every_round_keeps_the_invariants(before in sorted_keys(), after in sorted_keys(), bucket in 1u64..70) {
            let mut leaves = Leaves::root();
            leaves.converge(&before, bucket);
            loop {
                let done = leaves.update(&leaves.count(&after), bucket);
                prop_assert_eq!(Leaves::from_keys(leaves.keys().to_vec()), Some(leaves.clone()));
                if done {
                    break;
                }
            }
        }

        #[test]
        fn a_key_lies_in_its_leaf(keys in sorted_keys(), key in 0..END) {
            let mut leaves = Leaves::root();
            leaves.converge(&keys, 4);
            let leaf = leaves.leaf_of(key);
            prop_assert!(leaves.keys()[leaf] <= key && key < leaves.keys()[leaf + 1]);
        }

        #[test]
        fn arbitrary_boundaries_are_checked(mut keys in prop::collection::vec(0..=END, 0..6)) {
            keys.sort();
            let valid = keys.len() >= 2 && keys[0] == 0 && keys[keys.len() - 1] == END && keys.len() == 2;
            // Six random boundaries satisfy the invariants only for the root.
            prop_assert_eq!(Leaves::from_keys(keys).is_some(), valid);
        }
    }

    #[test]
    fn equal_keys_end_at_the_deepest_level() {
        let keys = vec![END / 3; 1000];
        let mut leaves = Leaves::root();
        leaves.converge(&keys, 64);
        assert_eq!(leaves.len(), 1 + 7 * LEVELS as usize);
        assert_eq!(leaves.level(leaves.leaf_of(END / 3)), LEVELS);
    }

    #[test]
    fn misaligned_leaves_are_refused() {
        let eighth = END / 8;
        assert!(Leaves::from_keys((0..=8).map(|k| k * eighth).collect()).is_some());
        let mut shifted: Vec<u64> = (0..=8).map(|k| k * eighth).collect();
        shifted[3] += eighth / 8;
        assert!(Leaves::from_keys(shifted).is_none());
        assert!(Leaves::from_keys(vec![]).is_none());
        assert!(Leaves::from_keys(vec![0, END, END]).is_none());
    }
}
