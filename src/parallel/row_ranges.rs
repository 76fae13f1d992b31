//! Sorted set of rows, stored as ranges of consecutive rows, so that columns are copied by vectors.

use std::ops::Range;

/// Values per copied vector.
const VECTOR: usize = 8;

/// Sorted rows as ranges. No range is empty, and adjacent ranges are merged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowRanges {
    ranges: Vec<Range<usize>>,
    rows: usize,
}

impl RowRanges {
    /// Appends rows behind the others, at least one.
    pub fn add(&mut self, rows: Range<usize>) {
        self.rows += rows.len();
        match self.ranges.last_mut() {
            Some(last) if last.end == rows.start => last.end = rows.end,
            _ => self.ranges.push(rows),
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Iterates over the ranges.
    pub fn iter(&self) -> std::slice::Iter<'_, Range<usize>> {
        self.ranges.iter()
    }

    /// Packs the rows of a column into `values`, which has one value per row. Ranges are short, so whole
    /// vectors are copied: also beyond the end of a range, where the next range overwrites the excess.
    pub fn copy<T: Copy>(&self, column: &[T], values: &mut [T]) {
        assert!(values.len() == self.rows, "as many values as rows");
        let mut place = 0;
        for range in &self.ranges {
            let (from, to) = (&column[range.start..], &mut values[place..]);
            let whole = range.len().next_multiple_of(VECTOR);
            match (from.get(..whole), to.get_mut(..whole)) {
                (Some(from), Some(to)) => {
                    let vectors = to.as_chunks_mut::<VECTOR>().0.iter_mut().zip(from.as_chunks::<VECTOR>().0);
                    vectors.for_each(|(to, from)| *to = *from);
                }
                _ => to[..range.len()].copy_from_slice(&from[..range.len()]),
            }
            place += range.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl RowRanges {
        /// The set of these sorted rows.
        pub fn of(rows: &[u32]) -> Self {
            let mut ranges = RowRanges::default();
            rows.iter().for_each(|&row| ranges.add(row as usize..row as usize + 1));
            ranges
        }
    }

    proptest! {
        #[test]
        fn runs_have_the_rows_and_are_as_long_as_they_can_be(
            rows in prop::collection::btree_set(0..300u32, 0..200),
        ) {
            let rows: Vec<u32> = rows.into_iter().collect();
            let ranges = RowRanges::of(&rows);
            for behind in [0, 3, 20] {
                let column: Vec<u32> = (0..rows.last().map_or(0, |last| last + 1) + behind).collect();
                let mut copied = vec![0; rows.len()];
                ranges.copy(&column, &mut copied);
                prop_assert_eq!(&copied, &rows);
            }
            let of_runs: Vec<u32> = ranges.iter().cloned().flatten().map(|row| row as u32).collect();
            prop_assert_eq!(&of_runs, &rows);
            prop_assert_eq!((ranges.rows(), ranges.is_empty()), (rows.len(), rows.is_empty()));
            prop_assert!(ranges.iter().all(|range| !range.is_empty()));
            prop_assert!(ranges.ranges.windows(2).all(|two| two[0].end < two[1].start));
        }
    }
}
