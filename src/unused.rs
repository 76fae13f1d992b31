//! Values that nobody uses at the moment, with their memory: in loops of threads who grow vectors anew each time wait for each
//! other in the allocator, and memory that is new to a process costs a fault for every page.

use std::sync::{Mutex, PoisonError};

/// Values that were left by who used them before, of all threads.
pub(crate) struct Unused<V>(Mutex<Vec<V>>);

impl<V: Default> Unused<V> {
    /// None yet.
    pub const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// The one that was left last, as it was left, or a new one.
    pub fn take(&self) -> V {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Leave one for the next.
    pub fn leave(&self, value: V) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_taken_with_its_memory() {
        let unused = Unused::<Vec<u32>>::new();
        let mut values = unused.take();
        assert_eq!(values.capacity(), 0);
        values.extend([1, 2, 3]);
        let address = values.as_ptr();
        unused.leave(values);
        let taken = unused.take();
        assert!(taken == [1, 2, 3] && taken.as_ptr() == address);
        assert_eq!(unused.take().capacity(), 0);
    }
}
