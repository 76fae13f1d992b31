//! Values whose first one is aligned for lanes.

use std::ops::{Deref, DerefMut};

/// Bytes that lanes are aligned to.
const ALIGNMENT: usize = 64;

/// A slice whose first value begins a line of the cache, so that no vector of eight crosses one.
pub struct Aligned<T> {
    values: Vec<T>,
    start: usize,
    length: usize,
}

impl<T: Copy + Default> Aligned<T> {
    /// So many default values.
    pub fn new(length: usize) -> Self {
        let mut aligned = Self { values: Vec::new(), start: 0, length: 0 };
        aligned.resize(length);
        aligned
    }

    /// Change the length; what the values are then is not defined, but that they are.
    pub fn resize(&mut self, length: usize) {
        let room = ALIGNMENT.div_ceil(size_of::<T>());
        if self.values.len() < length + room {
            self.values.resize(length + room, T::default());
            self.start = self.values.as_ptr().align_offset(ALIGNMENT).min(room);
        }
        self.length = length;
    }
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
