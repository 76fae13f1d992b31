//! Parallel loops with thread affinity. A thread owns the same index range in every loop of equal length, so
//! its data is still in its caches; then it steals items from other threads.
//!
//! A loop is handed to the threads once. Recursive splitting would cost more synchronization, which is
//! expensive between distant cores, as is every cache line that another core wrote last.

use rayon::prelude::*;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Requested number of threads if the global pool has fewer; 0 otherwise.
static REQUESTED_THREADS: AtomicUsize = AtomicUsize::new(0);

/// Splits loops as for `threads` threads, although the global pool may have fewer.
pub fn set_reduction_threads(threads: usize) {
    REQUESTED_THREADS.store(threads, Ordering::Relaxed);
}

/// Number of threads that reductions are split for. Results depend on it, to rounding, but not on the number
/// of threads that run.
pub fn reduction_threads() -> usize {
    match REQUESTED_THREADS.load(Ordering::Relaxed) {
        0 => rayon::current_num_threads(),
        requested => requested,
    }
}

/// Splits a range into ranges of `length`; the last one has the rest.
pub fn split_range(all: Range<usize>, length: usize) -> Vec<Range<usize>> {
    all.clone().step_by(length).map(|begin| begin..all.end.min(begin + length)).collect()
}

/// Maps items in parallel. Returns the results in the order of the items.
pub fn map_items<T: Send, O: Send + Sync>(items: Vec<T>, work: impl Fn(T) -> O + Sync) -> Vec<O> {
    map_then_finalize(items, work, Vec::<(Vec<usize>, ())>::new(), |_, ()| ())
}

/// Maps items in parallel, and runs finalizers as soon as their inputs are ready. Returns the results in the
/// order of the items.
///
/// A finalizer has the indices of the results that it needs; other results may be present or not. Threads
/// take finalizers when no items are left, ready ones first. Neither `work` nor `finalize` may wait for other
/// threads.
pub fn map_then_finalize<T: Send, O: Send + Sync, E: Send>(
    items: Vec<T>,
    work: impl Fn(T) -> O + Sync,
    finalizers: Vec<(Vec<usize>, E)>,
    finalize: impl Fn(&[OnceLock<O>], E) + Sync,
) -> Vec<O> {
    let results: Vec<OnceLock<O>> = items.iter().map(|_| OnceLock::new()).collect();
    let items: Vec<Slot<T>> = items.into_iter().map(Slot::new).collect();
    let (needed, finalizers): (Vec<Vec<usize>>, Vec<Slot<E>>) =
        finalizers.into_iter().map(|(needed, finalizer)| (needed, Slot::new(finalizer))).unzip();
    run_loops(
        items.len(),
        &|number| {
            if let Some(item) = items[number].take() {
                // An item is taken once, so its result is unset.
                let _ = results[number].set(work(item));
            }
        },
        &needed,
        &|number| {
            if let Some(finalizer) = finalizers[number].take() {
                finalize(&results, finalizer);
            }
        },
    );
    results.into_iter().filter_map(OnceLock::into_inner).collect()
}

/// Type-erased core of [`map_then_finalize`] on indices: compiled once, not per law and precision.
fn run_loops(
    items: usize,
    work: &(dyn Fn(usize) + Sync),
    needed: &[Vec<usize>],
    finalize: &(dyn Fn(usize) + Sync),
) {
    if items <= 1 && needed.is_empty() {
        // Too little to wake a thread.
        return (0..items).for_each(work);
    }
    let threads = rayon::current_num_threads();
    let done: Vec<AtomicBool> = (0..items).map(|_| AtomicBool::new(false)).collect();
    let (items, finalizers) = (WorkQueues::new(items, threads), WorkQueues::new(needed.len(), threads));
    let failed = AtomicBool::new(false);
    let run_thread = |_| {
        let _panic_flag = PanicFlag(&failed);
        let thread = rayon::current_thread_index().unwrap_or(0);
        while let Some(item) = items.next(thread, |_| true) {
            work(item);
            done[item].store(true, Ordering::Release);
        }
        let ready =
            |finalizer: usize| needed[finalizer].iter().all(|&item| done[item].load(Ordering::Acquire));
        let next = || finalizers.next(thread, ready).or_else(|| finalizers.next(thread, |_| true));
        while let Some(finalizer) = next() {
            while !ready(finalizer) {
                if failed.load(Ordering::Relaxed) {
                    return;
                }
                std::thread::yield_now();
            }
            finalize(finalizer);
        }
    };
    (0..threads).into_par_iter().with_max_len(1).for_each(run_thread);
}

/// A value that one thread takes.
struct Slot<T>(Mutex<Option<T>>);

impl<T> Slot<T> {
    fn new(item: T) -> Self {
        Slot(Mutex::new(Some(item)))
    }

    fn take(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Work-stealing queues, one per thread, with equal ranges of indices.
struct WorkQueues(Vec<WorkQueue>);

/// A thread's remaining indices, aligned to two cache lines to avoid false sharing.
#[repr(align(128))]
struct WorkQueue {
    /// Upper bound of the queue length. While it is 0, thieves read nothing else.
    remaining: AtomicUsize,
    numbers: Mutex<VecDeque<usize>>,
}

impl WorkQueues {
    fn new(count: usize, threads: usize) -> Self {
        let queue = |thread: usize| {
            let numbers: VecDeque<usize> =
                (thread * count / threads..(thread + 1) * count / threads).collect();
            WorkQueue { remaining: AtomicUsize::new(numbers.len()), numbers: Mutex::new(numbers) }
        };
        WorkQueues((0..threads).map(queue).collect())
    }

    /// Takes the first accepted index of the thread's own queue; if there is none, steals the last one of
    /// another queue.
    fn next(&self, thread: usize, accepts: impl Fn(usize) -> bool) -> Option<usize> {
        let first = |numbers: &mut VecDeque<usize>| numbers.remove(numbers.iter().position(|&k| accepts(k))?);
        let last = |numbers: &mut VecDeque<usize>| numbers.remove(numbers.iter().rposition(|&k| accepts(k))?);
        self.0[thread].take(first).or_else(|| self.other_queues(thread).find_map(|other| other.take(last)))
    }

    /// Queues of the other threads, from the next thread on.
    fn other_queues(&self, thread: usize) -> impl Iterator<Item = &WorkQueue> {
        (1..self.0.len()).map(move |other| &self.0[(thread + other) % self.0.len()])
    }
}

impl WorkQueue {
    fn take(&self, end: impl FnOnce(&mut VecDeque<usize>) -> Option<usize>) -> Option<usize> {
        if self.remaining.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = end(&mut numbers);
        self.remaining.store(numbers.len(), Ordering::Relaxed);
        taken
    }
}

/// Sets the flag when its thread panics, so that threads that wait for a result stop.
struct PanicFlag<'a>(&'a AtomicBool);

impl Drop for PanicFlag<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Runs `work` in a pool of `threads` threads.
    pub(crate) fn on<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
    }

    #[test]
    fn items_and_finalizers_run_once_and_finalizers_have_their_inputs() {
        let needed = |k: usize| vec![k / 2, 29 - k / 3];
        for threads in [1, 2, 5] {
            let followed: Vec<AtomicUsize> = (0..40).map(|_| AtomicUsize::new(0)).collect();
            let finalizers: Vec<(Vec<usize>, usize)> = (0..40).map(|k| (needed(k), k)).collect();
            let squares = on(threads, || {
                let square = |k: usize| {
                    // The first items finish last.
                    std::thread::sleep(std::time::Duration::from_micros(20 * (30 - k) as u64));
                    k * k
                };
                map_then_finalize((0..30).collect(), square, finalizers, |squares, k| {
                    assert!(needed(k).iter().all(|&k| squares[k].get() == Some(&(k * k))));
                    followed[k].fetch_add(1, Ordering::Relaxed);
                })
            });
            assert!(squares.iter().enumerate().all(|(k, square)| *square == k * k) && squares.len() == 30);
            assert!(followed.iter().all(|times| times.load(Ordering::Relaxed) == 1), "{threads} threads");
        }
    }

    #[test]
    fn a_thread_takes_its_own_items_in_order_then_steals_from_the_end() {
        let queues = WorkQueues::new(8, 3);
        // Initial ranges: 0..2, 2..5, 5..8.
        let taken: Vec<Option<usize>> =
            [1, 1, 0, 1, 1, 1, 0, 2, 2, 0].map(|thread| queues.next(thread, |_| true)).to_vec();
        let expected = [2, 3, 0, 4, 7, 6, 1, 5].map(Some);
        assert_eq!(taken[..8], expected);
        assert_eq!(taken[8..], [None, None]);
    }

    #[test]
    fn only_accepted_items_are_taken() {
        let queues = WorkQueues::new(8, 2);
        let taken = [0, 0, 0, 1].map(|thread| queues.next(thread, |item| item % 3 == 1));
        // Initial ranges: 0..4, 4..8.
        assert_eq!(taken, [Some(1), Some(7), Some(4), None]);
        assert_eq!([0, 0, 0, 0].map(|thread| queues.next(thread, |_| true)), [0, 2, 3, 6].map(Some));
    }

    #[test]
    fn a_range_is_split_completely() {
        assert_eq!(split_range(3..10, 3), [3..6, 6..9, 9..10]);
        assert_eq!(split_range(3..9, 3), [3..6, 6..9]);
        assert!(split_range(3..3, 3).is_empty());
    }

    #[test]
    fn results_are_in_the_order_of_items() {
        for threads in [1, 3] {
            for count in [0, 1, 2, 50] {
                let squares = on(threads, || map_items((0..count).collect(), |k: usize| k * k));
                assert!(
                    squares.iter().enumerate().all(|(k, square)| *square == k * k) && squares.len() == count
                );
            }
        }
    }

    #[test]
    fn nothing_follows_nothing() {
        let none = map_then_finalize(Vec::<u8>::new(), |_| 0_u8, Vec::<(Vec<usize>, u8)>::new(), |_, _| ());
        assert!(none.is_empty());
    }

    #[test]
    fn a_panic_ends_the_wait_for_a_result() {
        for threads in [1, 2, 5] {
            let outcome = std::panic::catch_unwind(|| {
                on(threads, || {
                    let work = |k: usize| {
                        std::thread::sleep(std::time::Duration::from_millis(10));
                        assert_ne!(k, 3, "as it should");
                    };
                    map_then_finalize((0..5).collect(), work, vec![((0..5).collect(), ()); 5], |_, ()| {
                        unreachable!("one is missing")
                    });
                });
            });
            let panic = outcome.unwrap_err();
            let said = panic.downcast_ref::<String>().unwrap();
            assert!(said.contains("as it should"), "{said}");
        }
    }
}
