//! Pools of reusable buffers, with a free list per thread. They avoid allocator contention when threads grow
//! vectors in loops, and page faults on fresh memory.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Pool of unused values. Each is in the free list of the thread that used it, in the order of release.
pub(crate) struct ScratchPool<V: Default + 'static>([FreeList<V>; FREE_LISTS]);

/// Free list of the threads with equal thread number modulo [`FREE_LISTS`], aligned to two cache lines to
/// avoid false sharing.
#[repr(align(128))]
struct FreeList<V>(Mutex<Vec<V>>);

/// Number of free lists: more than most machines have threads.
const FREE_LISTS: usize = 64;

impl<V: Default> ScratchPool<V> {
    /// An empty pool.
    pub const fn new() -> Self {
        Self([const { FreeList(Mutex::new(Vec::new())) }; FREE_LISTS])
    }

    /// Takes a value as it was released, or creates one. The thread's oldest released value comes first: in
    /// repeated loops a thread gets the buffers of the same items, with their contents still in its caches.
    pub fn take(&'static self) -> Scratch<V> {
        let own = rayon::current_thread_index().unwrap_or(0) % FREE_LISTS;
        let taken = (0..FREE_LISTS).find_map(|other| {
            let mut left = self.free_list(own + other);
            (!left.is_empty()).then(|| left.remove(0))
        });
        Scratch { value: taken.unwrap_or_default(), pool: Some((self, own)) }
    }

    fn free_list(&self, number: usize) -> MutexGuard<'_, Vec<V>> {
        self.0[number % FREE_LISTS].0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A value in use. It returns to its pool when dropped.
pub(crate) struct Scratch<V: Default + 'static> {
    value: V,
    pool: Option<(&'static ScratchPool<V>, usize)>,
}

impl<V: Default> Scratch<V> {
    /// A new value without a pool.
    pub fn unpooled() -> Self {
        Scratch { value: V::default(), pool: None }
    }
}

impl<V: Default> Deref for Scratch<V> {
    type Target = V;

    #[inline(always)]
    fn deref(&self) -> &V {
        &self.value
    }
}

impl<V: Default> DerefMut for Scratch<V> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut V {
        &mut self.value
    }
}

impl<V: Default> Drop for Scratch<V> {
    fn drop(&mut self) {
        if let Some((pool, free_list)) = self.pool {
            pool.free_list(free_list).push(std::mem::take(&mut self.value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn released_values_are_reused_with_their_memory() {
        static POOL: ScratchPool<Vec<u32>> = ScratchPool::new();
        let mut values = POOL.take();
        assert_eq!(values.capacity(), 0);
        values.extend([1, 2, 3]);
        let address = values.as_ptr();
        drop(values);
        let taken = POOL.take();
        assert!(*taken == [1, 2, 3] && taken.as_ptr() == address);
        assert_eq!(POOL.take().capacity(), 0);
    }

    #[test]
    fn a_thread_gets_its_values_in_the_same_order() {
        static POOL: ScratchPool<Vec<usize>> = ScratchPool::new();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let take = |count: usize| pool.broadcast(|_| (0..count).map(|_| POOL.take()).collect::<Vec<_>>());
        let mut first = take(3);
        first.iter_mut().enumerate().for_each(|(thread, taken)| {
            taken.iter_mut().enumerate().for_each(|(k, value)| value.push(10 * thread + k));
        });
        // The drop order does not matter.
        drop(first);
        for (thread, taken) in take(3).iter().enumerate() {
            assert!(taken.iter().enumerate().all(|(k, value)| **value == [10 * thread + k]));
        }
        // Values of other threads are reused rather than creating one.
        assert_eq!(POOL.take().len(), 1);
    }

    #[test]
    fn unpooled_values_are_not_reused() {
        static POOL: ScratchPool<Vec<u32>> = ScratchPool::new();
        let mut unpooled = Scratch::<Vec<u32>>::unpooled();
        unpooled.push(1);
        drop(unpooled);
        assert!(POOL.take().is_empty());
    }
}
