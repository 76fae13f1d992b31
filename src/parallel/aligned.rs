//! Values whose first one is aligned for lanes.

use crate::particles::zeros;
use std::ops::{Deref, DerefMut};

/// Bytes that lanes are aligned to.
const ALIGNMENT: usize = 64;

/// A slice whose first value begins a line of the cache, so that no vector of eight crosses one.
pub struct Aligned<T> {
    values: Vec<T>,
    start: usize,
    length: usize,
}

/// Values that stand before the first one, at most.
const fn room<T>() -> usize {
    ALIGNMENT.div_ceil(size_of::<T>())
}

impl<T> Default for Aligned<T> {
    fn default() -> Self {
        Aligned { values: Vec::new(), start: 0, length: 0 }
    }
}

impl<T: Copy + Default + Send + Sync> Aligned<T> {
    /// So many default values, written by all threads.
    pub fn new(length: usize) -> Self {
        let values = if length > 0 { zeros(length + room::<T>()) } else { Vec::new() };
        Self { start: start(&values), values, length }
    }

    /// Change the length; what the values are then is not defined, but that they are.
    pub fn resize(&mut self, length: usize) {
        if self.values.len() < length + room::<T>() {
            self.values.resize(length + room::<T>(), T::default());
            self.start = start(&self.values);
        }
        self.length = length;
    }
}

/// The first place that begins a line.
fn start<T>(values: &[T]) -> usize {
    values.as_ptr().align_offset(ALIGNMENT).min(room::<T>()).min(values.len())
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
