//! Loops that threads share. Each thread has a run of the items of its own, the same in every loop over as many of them, so that
//! what it needs is in its caches since the last loop; when it has done these it helps others.
//!
//! Threads of processors far from each other pay for every line of the cache that the other wrote last, and for every word about who
//! does what. Such a loop is handed to them once, where halving it again and again would be as many times.

use rayon::prelude::*;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Threads that the deck asks for, beyond those of the global pool; 0 where the pool has all of them.
static ASKED: AtomicUsize = AtomicUsize::new(0);

/// Let loops be split as for so many threads, although the global pool has fewer.
pub fn split_as_for(threads: usize) {
    ASKED.store(threads, Ordering::Relaxed);
}

/// The number of threads that sums are split for: results depend on it, to rounding, and not on how many threads there are.
pub fn threads_split_for() -> usize {
    match ASKED.load(Ordering::Relaxed) {
        0 => rayon::current_num_threads(),
        asked => asked,
    }
}

/// Runs of so many of what is in a range, and what is left.
pub fn runs(all: Range<usize>, length: usize) -> Vec<Range<usize>> {
    all.clone().step_by(length).map(|begin| begin..all.end.min(begin + length)).collect()
}

/// Do some work on every item. Returns the results in the order of the items.
pub fn each<T: Send, O: Send + Sync>(items: Vec<T>, work: impl Fn(T) -> O + Sync) -> Vec<O> {
    in_turns(items, work, Vec::<(Vec<usize>, ())>::new(), |_, ()| ())
}

/// Do some work on every item, and then what is to be done with some of the results, given by their numbers, each as soon as these are
/// there; others of the results may be there, too. Returns the results in the order of the items.
///
/// When there are no more items threads take what follows, first what has all that it needs, so that none is idle as long as there is
/// some of it to do. Neither may wait for other threads itself.
pub fn in_turns<T: Send, O: Send + Sync, E: Send>(
    items: Vec<T>,
    work: impl Fn(T) -> O + Sync,
    then: Vec<(Vec<usize>, E)>,
    follow: impl Fn(&[OnceLock<O>], E) + Sync,
) -> Vec<O> {
    let results: Vec<OnceLock<O>> = items.iter().map(|_| OnceLock::new()).collect();
    let items: Vec<Slot<T>> = items.into_iter().map(Slot::new).collect();
    let (needed, then): (Vec<Vec<usize>>, Vec<Slot<E>>) =
        then.into_iter().map(|(needed, what)| (needed, Slot::new(what))).unzip();
    take_turns(
        items.len(),
        &|number| {
            if let Some(item) = items[number].take() {
                // nobody else has it
                let _ = results[number].set(work(item));
            }
        },
        &needed,
        &|number| {
            if let Some(what) = then[number].take() {
                follow(&results, what);
            }
        },
    );
    results.into_iter().filter_map(OnceLock::into_inner).collect()
}

/// The same by numbers: of so many items, and of what follows some of them. So it is compiled once, not for each law and precision.
fn take_turns(
    items: usize,
    work: &(dyn Fn(usize) + Sync),
    needed: &[Vec<usize>],
    follow: &(dyn Fn(usize) + Sync),
) {
    if items <= 1 && needed.is_empty() {
        // not worth waking a thread
        return (0..items).for_each(work);
    }
    let threads = rayon::current_num_threads();
    let done: Vec<AtomicBool> = (0..items).map(|_| AtomicBool::new(false)).collect();
    let (items, then) = (Shares::new(items, threads), Shares::new(needed.len(), threads));
    let failed = AtomicBool::new(false);
    let turns_of = |_| {
        let _failing = Failing(&failed);
        let thread = rayon::current_thread_index().unwrap_or(0);
        while let Some(item) = items.next(thread, |_| true) {
            work(item);
            done[item].store(true, Ordering::Release);
        }
        let ready = |then: usize| needed[then].iter().all(|&item| done[item].load(Ordering::Acquire));
        let next = || then.next(thread, ready).or_else(|| then.next(thread, |_| true));
        while let Some(then) = next() {
            while !ready(then) {
                if failed.load(Ordering::Relaxed) {
                    return;
                }
                std::thread::yield_now();
            }
            follow(then);
        }
    };
    (0..threads).into_par_iter().with_max_len(1).for_each(turns_of);
}

/// A place from which one thread takes what is there.
struct Slot<T>(Mutex<Option<T>>);

impl<T> Slot<T> {
    fn new(item: T) -> Self {
        Slot(Mutex::new(Some(item)))
    }

    fn take(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Numbers in equal runs, one for each thread.
struct Shares(Vec<Share>);

/// What is left of a thread's run, in lines of the cache that are no other's.
#[repr(align(128))]
struct Share {
    /// How many numbers, at most: who looks for some only reads that, as long as there are none.
    left: AtomicUsize,
    numbers: Mutex<VecDeque<usize>>,
}

impl Shares {
    fn new(count: usize, threads: usize) -> Self {
        let share = |thread: usize| {
            let numbers: VecDeque<usize> =
                (thread * count / threads..(thread + 1) * count / threads).collect();
            Share { left: AtomicUsize::new(numbers.len()), numbers: Mutex::new(numbers) }
        };
        Shares((0..threads).map(share).collect())
    }

    /// The next of a thread's own, or when there is none the last of another's, of those that are wanted.
    fn next(&self, thread: usize, wanted: impl Fn(usize) -> bool) -> Option<usize> {
        let first = |numbers: &mut VecDeque<usize>| numbers.remove(numbers.iter().position(|&k| wanted(k))?);
        let last = |numbers: &mut VecDeque<usize>| numbers.remove(numbers.iter().rposition(|&k| wanted(k))?);
        self.0[thread].take(first).or_else(|| self.others(thread).find_map(|other| other.take(last)))
    }

    /// What is left of the other threads' runs, from the next one's on.
    fn others(&self, thread: usize) -> impl Iterator<Item = &Share> {
        (1..self.0.len()).map(move |other| &self.0[(thread + other) % self.0.len()])
    }
}

impl Share {
    fn take(&self, end: impl FnOnce(&mut VecDeque<usize>) -> Option<usize>) -> Option<usize> {
        if self.left.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = end(&mut numbers);
        self.left.store(numbers.len(), Ordering::Relaxed);
        taken
    }
}

/// Tells those who wait for a result that its thread has panicked.
struct Failing<'a>(&'a AtomicBool);

impl Drop for Failing<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Some work on so many threads.
    pub(crate) fn on<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
    }

    #[test]
    fn everything_is_done_once_and_what_follows_has_what_it_needs() {
        let needed = |k: usize| vec![k / 2, 29 - k / 3];
        for threads in [1, 2, 5] {
            let followed: Vec<AtomicUsize> = (0..40).map(|_| AtomicUsize::new(0)).collect();
            let then: Vec<(Vec<usize>, usize)> = (0..40).map(|k| (needed(k), k)).collect();
            let squares = on(threads, || {
                let square = |k: usize| {
                    // the first ones last
                    std::thread::sleep(std::time::Duration::from_micros(20 * (30 - k) as u64));
                    k * k
                };
                in_turns((0..30).collect(), square, then, |squares, k| {
                    assert!(needed(k).iter().all(|&k| squares[k].get() == Some(&(k * k))));
                    followed[k].fetch_add(1, Ordering::Relaxed);
                })
            });
            assert!(squares.iter().enumerate().all(|(k, square)| *square == k * k) && squares.len() == 30);
            assert!(followed.iter().all(|times| times.load(Ordering::Relaxed) == 1), "{threads} threads");
        }
    }

    #[test]
    fn a_thread_takes_its_own_run_in_order_and_then_the_last_of_others() {
        let shares = Shares::new(8, 3);
        // runs 0..2, 2..5, 5..8
        let taken: Vec<Option<usize>> =
            [1, 1, 0, 1, 1, 1, 0, 2, 2, 0].map(|thread| shares.next(thread, |_| true)).to_vec();
        let expected = [2, 3, 0, 4, 7, 6, 1, 5].map(Some);
        assert_eq!(taken[..8], expected);
        assert_eq!(taken[8..], [None, None]);
    }

    #[test]
    fn what_is_wanted_is_taken_before_other_items() {
        let shares = Shares::new(8, 2);
        let taken = [0, 0, 0, 1].map(|thread| shares.next(thread, |item| item % 3 == 1));
        // runs 0..4, 4..8
        assert_eq!(taken, [Some(1), Some(7), Some(4), None]);
        assert_eq!([0, 0, 0, 0].map(|thread| shares.next(thread, |_| true)), [0, 2, 3, 6].map(Some));
    }

    #[test]
    fn runs_are_all_of_a_range() {
        assert_eq!(runs(3..10, 3), [3..6, 6..9, 9..10]);
        assert_eq!(runs(3..9, 3), [3..6, 6..9]);
        assert!(runs(3..3, 3).is_empty());
    }

    #[test]
    fn each_item_gives_its_result_in_order() {
        for threads in [1, 3] {
            for count in [0, 1, 2, 50] {
                let squares = on(threads, || each((0..count).collect(), |k: usize| k * k));
                assert!(
                    squares.iter().enumerate().all(|(k, square)| *square == k * k) && squares.len() == count
                );
            }
        }
    }

    #[test]
    fn nothing_follows_nothing() {
        let none = in_turns(Vec::<u8>::new(), |_| 0_u8, Vec::<(Vec<usize>, u8)>::new(), |_, _| ());
        assert!(none.is_empty());
    }

    #[test]
    fn who_waits_for_a_thread_that_panics_does_not_wait_for_ever() {
        for threads in [1, 2, 5] {
            let outcome = std::panic::catch_unwind(|| {
                on(threads, || {
                    let work = |k: usize| {
                        std::thread::sleep(std::time::Duration::from_millis(10));
                        assert_ne!(k, 3, "as it should");
                    };
                    in_turns((0..5).collect(), work, vec![((0..5).collect(), ()); 5], |_, ()| {
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
