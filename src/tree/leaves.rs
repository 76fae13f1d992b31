//! The cornerstone array: an octree held as the sorted keys at which its leaves begin.
//!
//! After Keller et al., Cornerstone: Octree Construction Algorithms for Scalable Particle Simulations (PASC 2023).

use crate::space::hilbert::{END, LEVELS};
use rayon::prelude::*;

/// The leaves of an octree over all keys.
///
/// Invariants: the keys are sorted, the first is 0, the last 2^63; the difference of two neighbors is a power of
/// 8 and divides the first of them. Leaf `k` holds the keys `keys()[k]..keys()[k + 1]`.
///
/// After [`Leaves::converge`] the array is a function of the particles' keys alone: a node is split exactly if it
/// holds more than the bucket size and lies above the deepest level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaves {
    keys: Vec<u64>,
}

/// The level of a node that covers `span` keys: 0 the root, 21 a cell.
pub(crate) fn level_of(span: u64) -> u32 {
    LEVELS - span.trailing_zeros() / 3
}

/// The keys that a node of `level` covers.
pub(crate) fn span_of(level: u32) -> u64 {
    END >> (3 * level)
}

impl Leaves {
    /// The tree of one leaf.
    pub fn root() -> Self {
        Self { keys: vec![0, END] }
    }

    /// The leaves with these boundaries; `None` if they break an invariant of the array.
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

    /// The boundaries: one more than there are leaves.
    pub fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// Number of leaves, at least 1.
    pub fn len(&self) -> usize {
        self.keys.len() - 1
    }

    /// Never: the root is a leaf at least.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The leaf that holds a key below 2^63.
    pub fn leaf_of(&self, key: u64) -> usize {
        self.keys.partition_point(|&first| first <= key).saturating_sub(1).min(self.len() - 1)
    }

    /// The level of a leaf.
    pub fn level(&self, leaf: usize) -> u32 {
        level_of(self.keys[leaf + 1] - self.keys[leaf])
    }

    /// First rows of the leaves in a sorted key column, and its length: one more than there are leaves.
    pub fn first_rows(&self, sorted_keys: &[u64]) -> Vec<usize> {
        let bound = |&key: &u64| match key {
            END => sorted_keys.len(),
            _ => sorted_keys.partition_point(|&k| k < key),
        };
        self.keys.par_iter().with_min_len(256).map(bound).collect()
    }

    /// Particles per leaf.
    pub fn count(&self, sorted_keys: &[u64]) -> Vec<u64> {
        self.first_rows(sorted_keys).windows(2).map(|rows| (rows[1] - rows[0]) as u64).collect()
    }

    /// One round towards the converged array, from the particles per leaf: eight sibling leaves that hold no more
    /// than `bucket` together become their parent, a leaf with more is split, by several levels at once where it
    /// holds more than 8 or 64 times as many. Returns whether nothing was to do.
    ///
    /// # Panics
    /// When `counts` is not one a leaf.
    pub fn update(&mut self, counts: &[u64], bucket: u64) -> bool {
        assert_eq!(counts.len(), self.len(), "one count a leaf");
        let bucket = bucket.max(1);
        let parts: Vec<usize> =
            (0..self.len()).into_par_iter().map(|k| self.parts(k, counts, bucket)).collect();
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

    /// Into how many parts a leaf is to be split; 0 if it is to be absorbed by its first sibling.
    fn parts(&self, leaf: usize, counts: &[u64], bucket: u64) -> usize {
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

    /// The first of eight sibling leaves with at most `bucket` particles together, if `leaf` is one of such.
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

    /// Rounds of [`Leaves::update`] with the counts of these keys until nothing changes. From the array of the
    /// step before this is one or two rounds.
    pub fn converge(&mut self, sorted_keys: &[u64], bucket: u64) {
        while !self.update(&self.count(sorted_keys), bucket) {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The converged leaves by their definition.
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

    /// Keys at random, some of them crowded into a few cells.
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
            // Six random boundaries never satisfy the invariants but for the root itself.
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
