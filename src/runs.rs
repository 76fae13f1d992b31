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

    /// What is left of them from a row on.
    pub fn from_row(&self, row: usize) -> Rest<'_> {
        let before = self.runs.partition_point(|run| run.end <= row);
        let place: usize = self.runs[..before].iter().map(Range::len).sum();
        let mut rest = Rest { runs: &self.runs[before..], next: 0, place };
        if let Some(run) = rest.runs.first() {
            rest.next = run.start.max(row);
            rest.place += rest.next - run.start;
        }
        rest
    }
}

/// Rows that have not been taken yet.
#[derive(Clone, Debug)]
pub struct Rest<'r> {
    runs: &'r [Range<usize>],
    /// The first of them, if there are any.
    next: usize,
    /// How many rows were before it.
    place: usize,
}

impl Rest<'_> {
    /// The first row, if there is one.
    #[inline(always)]
    pub fn next_row(&self) -> Option<usize> {
        (!self.runs.is_empty()).then_some(self.next)
    }

    /// Take the first rows, consecutive ones before `end`, and return them and how many rows of all were before these.
    #[inline(always)]
    pub fn take_before(&mut self, end: usize) -> Option<(Range<usize>, usize)> {
        let run = self.runs.first().filter(|_| self.next < end)?;
        let (rows, place) = (self.next..run.end.min(end), self.place);
        (self.next, self.place) = (rows.end, place + rows.len());
        if rows.end == run.end {
            self.runs = &self.runs[1..];
            self.next = self.runs.first().map_or(0, |run| run.start);
        }
        Some((rows, place))
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

        #[test]
        fn rows_are_taken_in_order_each_once_with_their_places(
            rows in prop::collection::btree_set(0..300u32, 0..200),
            from in 0..320usize,
            step in 1..70usize,
        ) {
            let rows: Vec<u32> = rows.into_iter().collect();
            let runs = Runs::of(&rows);
            let mut rest = runs.from_row(from);
            let mut taken = Vec::new();
            for end in (0..400).step_by(step) {
                while let Some((own, place)) = rest.take_before(end) {
                    prop_assert!(!own.is_empty() && own.end <= end);
                    taken.extend(own.zip(place..));
                }
                prop_assert!(rest.next_row().is_none_or(|next| next >= end));
            }
            taken.extend(std::iter::from_fn(|| rest.take_before(usize::MAX)).flat_map(|(own, place)| own.zip(place..)));
            let places = rows.iter().enumerate().map(|(place, row)| (*row as usize, place));
            prop_assert_eq!(taken, places.filter(|(row, _)| *row >= from).collect::<Vec<_>>());
            prop_assert_eq!(rest.next_row(), None);
        }
    }
}
