//! Rows in order, as runs of consecutive ones: what is done with their columns is done with whole vectors.

use std::ops::Range;

/// Values that are copied at once.
const VECTOR: usize = 8;

/// Rows in order; no run is empty, and none follows the one before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    runs: Vec<Range<usize>>,
    rows: usize,
}

impl Runs {
    /// Add rows behind the others, at least one.
    pub fn add(&mut self, rows: Range<usize>) {
        self.rows += rows.len();
        match self.runs.last_mut() {
            Some(last) if last.end == rows.start => last.end = rows.end,
            _ => self.runs.push(rows),
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The runs.
    pub fn iter(&self) -> std::slice::Iter<'_, Range<usize>> {
        self.runs.iter()
    }

    /// Copy the rows of a column, one after the other, into as many values. Runs are short: vectors are copied, beyond the end of a
    /// run too, where the next one comes.
    pub fn copy<T: Copy>(&self, column: &[T], values: &mut [T]) {
        assert!(values.len() == self.rows, "as many values as rows");
        let mut place = 0;
        for run in &self.runs {
            let (from, to) = (&column[run.start..], &mut values[place..]);
            let whole = run.len().next_multiple_of(VECTOR);
            match (from.get(..whole), to.get_mut(..whole)) {
                (Some(from), Some(to)) => {
                    let vectors = to.as_chunks_mut::<VECTOR>().0.iter_mut().zip(from.as_chunks::<VECTOR>().0);
                    vectors.for_each(|(to, from)| *to = *from);
                }
                _ => to[..run.len()].copy_from_slice(&from[..run.len()]),
            }
            place += run.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl Runs {
        /// Of these rows, which are in order.
        pub fn of(rows: &[u32]) -> Self {
            let mut runs = Runs::default();
            rows.iter().for_each(|&row| runs.add(row as usize..row as usize + 1));
            runs
        }
    }

    proptest! {
        #[test]
        fn runs_have_the_rows_and_are_as_long_as_they_can_be(
            rows in prop::collection::btree_set(0..300u32, 0..200),
        ) {
            let rows: Vec<u32> = rows.into_iter().collect();
            let runs = Runs::of(&rows);
            for behind in [0, 3, 20] {
                let column: Vec<u32> = (0..rows.last().map_or(0, |last| last + 1) + behind).collect();
                let mut copied = vec![0; rows.len()];
                runs.copy(&column, &mut copied);
                prop_assert_eq!(&copied, &rows);
            }
            let of_runs: Vec<u32> = runs.iter().cloned().flatten().map(|row| row as u32).collect();
            prop_assert_eq!(&of_runs, &rows);
            prop_assert_eq!((runs.rows(), runs.is_empty()), (rows.len(), rows.is_empty()));
            prop_assert!(runs.iter().all(|run| !run.is_empty()));
            prop_assert!(runs.runs.windows(2).all(|two| two[0].end < two[1].start));
        }
    }
}
