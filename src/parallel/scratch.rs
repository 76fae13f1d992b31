//! Values that nobody uses at the moment, with their memory: in loops of threads who grow vectors anew each time wait for each
//! other in the allocator, and memory that is new to a process costs a fault for every page.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Values that were left by who used them before, each on the shelf of the thread that had it, in the order in which they were left.
pub(crate) struct Unused<V: Default + 'static>([Shelf<V>; SHELVES]);

/// What threads left whose numbers have the same remainder by that of the shelves, in lines of the cache that no other thread writes.
#[repr(align(128))]
struct Shelf<V>(Mutex<Vec<V>>);

/// Shelves: more than most machines have threads.
const SHELVES: usize = 64;

impl<V: Default> Unused<V> {
    /// None yet.
    pub const fn new() -> Self {
        Self([const { Shelf(Mutex::new(Vec::new())) }; SHELVES])
    }

    /// One that was left, as it was left, or a new one: of those that this thread had the first that was left, so that in a loop
    /// like the last one it gets for each item what it had for it then, with what is in its caches.
    pub fn take(&'static self) -> Used<V> {
        let own = rayon::current_thread_index().unwrap_or(0) % SHELVES;
        let taken = (0..SHELVES).find_map(|other| {
            let mut left = self.shelf(own + other);
            (!left.is_empty()).then(|| left.remove(0))
        });
        Used { value: taken.unwrap_or_default(), home: Some((self, own)) }
    }

    fn shelf(&self, number: usize) -> MutexGuard<'_, Vec<V>> {
        self.0[number % SHELVES].0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A value in use, which is left for the next when it is dropped.
pub(crate) struct Used<V: Default + 'static> {
    value: V,
    home: Option<(&'static Unused<V>, usize)>,
}

impl<V: Default> Used<V> {
    /// A new value, which is not left for anybody.
    pub fn once() -> Self {
        Used { value: V::default(), home: None }
    }
}

impl<V: Default> Deref for Used<V> {
    type Target = V;

    #[inline(always)]
    fn deref(&self) -> &V {
        &self.value
    }
}

impl<V: Default> DerefMut for Used<V> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut V {
        &mut self.value
    }
}

impl<V: Default> Drop for Used<V> {
    fn drop(&mut self) {
        if let Some((unused, shelf)) = self.home {
            unused.shelf(shelf).push(std::mem::take(&mut self.value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_taken_with_its_memory() {
        static UNUSED: Unused<Vec<u32>> = Unused::new();
        let mut values = UNUSED.take();
        assert_eq!(values.capacity(), 0);
        values.extend([1, 2, 3]);
        let address = values.as_ptr();
        drop(values);
        let taken = UNUSED.take();
        assert!(*taken == [1, 2, 3] && taken.as_ptr() == address);
        assert_eq!(UNUSED.take().capacity(), 0);
    }

    #[test]
    fn a_thread_takes_what_it_had_in_the_same_order() {
        static UNUSED: Unused<Vec<usize>> = Unused::new();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let take = |count: usize| pool.broadcast(|_| (0..count).map(|_| UNUSED.take()).collect::<Vec<_>>());
        let mut first = take(3);
        first.iter_mut().enumerate().for_each(|(thread, taken)| {
            taken.iter_mut().enumerate().for_each(|(k, value)| value.push(10 * thread + k));
        });
        // whoever leaves them
        drop(first);
        for (thread, taken) in take(3).iter().enumerate() {
            assert!(taken.iter().enumerate().all(|(k, value)| **value == [10 * thread + k]));
        }
        // what only others had is better than nothing
        assert_eq!(UNUSED.take().len(), 1);
    }

    #[test]
    fn what_is_used_once_is_not_left() {
        static UNUSED: Unused<Vec<u32>> = Unused::new();
        let mut once = Used::<Vec<u32>>::once();
        once.push(1);
        drop(once);
        assert!(UNUSED.take().is_empty());
    }
}
