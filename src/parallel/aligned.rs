//! Arrays aligned to a cache line, and arrays that all threads initialize (first touch).

use rayon::prelude::*;
use std::ops::{Deref, DerefMut};

/// Alignment in bytes.
const ALIGNMENT: usize = 64;

/// An array that begins at a cache line, so that no vector of eight crosses one.
pub struct Aligned<T> {
    values: Vec<T>,
    start: usize,
    length: usize,
}

/// Maximum number of padding values in front of the first one.
const fn max_padding<T>() -> usize {
    ALIGNMENT.div_ceil(size_of::<T>())
}

impl<T> Default for Aligned<T> {
    fn default() -> Self {
        Aligned { values: Vec::new(), start: 0, length: 0 }
    }
}

impl<T: Copy + Default + Send + Sync> Aligned<T> {
    /// Allocates `length` default values, written by all threads.
    pub fn new(length: usize) -> Self {
        let values = if length > 0 { zeros(length + max_padding::<T>()) } else { Vec::new() };
        Self { start: start(&values), values, length }
    }

    /// Changes the length. All values are unspecified afterwards, but initialized.
    pub fn resize(&mut self, length: usize) {
        if self.values.len() < length + max_padding::<T>() {
            self.values.resize(length + max_padding::<T>(), T::default());
            self.start = start(&self.values);
        }
        self.length = length;
    }
}

/// Index of the first value that begins a cache line.
fn start<T>(values: &[T]) -> usize {
    values.as_ptr().align_offset(ALIGNMENT).min(max_padding::<T>()).min(values.len())
}

impl<T> Deref for Aligned<T> {
    type Target = [T];
    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.values[self.start..][..self.length]
    }
}

impl<T> DerefMut for Aligned<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.values[self.start..][..self.length]
    }
}

/// Values per task.
const TASK_VALUES: usize = 16 * 1024;

/// Allocates `count` default values, written by all threads: pages are placed on the NUMA nodes of the
/// threads that use them.
pub(crate) fn zeros<T: Copy + Default + Send + Sync>(count: usize) -> Vec<T> {
    const ROW: usize = 64;
    if count <= TASK_VALUES {
        return vec![T::default(); count];
    }
    let rows = (0..count.div_ceil(ROW)).into_par_iter().with_min_len(TASK_VALUES / ROW);
    let mut zeros = rows.map(|_| [T::default(); ROW]).collect::<Vec<_>>().into_flattened();
    zeros.truncate(count);
    zeros
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_value_begins_a_line() {
        let mut values = Aligned::<f32>::new(3);
        for length in [3, 1, 100, 7, 5000] {
            values.resize(length);
            assert_eq!(values.len(), length);
            assert_eq!(values.as_ptr().align_offset(ALIGNMENT), 0);
            values.fill(1.0);
        }
        assert_eq!(Aligned::<f64>::new(0).len(), 0);
    }
}
