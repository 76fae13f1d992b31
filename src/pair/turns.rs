//! Work that threads take in turns: items one after the other, then what only needs the first of their results.

use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Do some work on every item, and then what is to be done with the first so many of the results, each as soon as these are there.
/// Returns the results in the order of the items.
///
/// Threads take items in their order, and when there are no more what follows, so that none is idle as long as there is some of it to do.
/// Neither may wait for other threads itself.
pub fn in_turns<T: Send, O: Send + Sync, E: Send>(
    items: Vec<T>,
    work: impl Fn(T) -> O + Sync,
    then: Vec<(usize, E)>,
    follow: impl Fn(&[OnceLock<O>], E) + Sync,
) -> Vec<O> {
    let results: Vec<OnceLock<O>> = items.iter().map(|_| OnceLock::new()).collect();
    let (items, then) = (Mutex::new(items.into_iter().zip(&results)), Mutex::new(then.into_iter()));
    let failed = AtomicBool::new(false);
    let take_turns = |_| {
        let _failing = Failing(&failed);
        while let Some((item, result)) = next(&items) {
            // nobody else has it
            let _ = result.set(work(item));
        }
        while let Some((needed, what)) = next(&then) {
            let first = &results[..needed];
            while first.iter().any(|result| result.get().is_none()) {
                if failed.load(Ordering::Relaxed) {
                    return;
                }
                std::thread::yield_now();
            }
            follow(first, what);
        }
    };
    (0..rayon::current_num_threads()).into_par_iter().with_max_len(1).for_each(take_turns);
    drop(items);
    results.into_iter().filter_map(OnceLock::into_inner).collect()
}

fn next<I: Iterator>(items: &Mutex<I>) -> Option<I::Item> {
    items.lock().unwrap_or_else(PoisonError::into_inner).next()
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
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    fn on<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
    }

    #[test]
    fn everything_is_done_once_and_what_follows_has_what_it_needs() {
        for threads in [1, 2, 5] {
            let followed: Vec<AtomicUsize> = (0..40).map(|_| AtomicUsize::new(0)).collect();
            let then: Vec<(usize, usize)> = (0..40).map(|k| (k / 2, k)).collect();
            let squares = on(threads, || {
                let square = |k: usize| {
                    // the first ones last
                    std::thread::sleep(std::time::Duration::from_micros(20 * (30 - k) as u64));
                    k * k
                };
                in_turns((0..30).collect(), square, then, |first, k| {
                    assert_eq!(first.len(), k / 2);
                    assert!(first.iter().enumerate().all(|(k, square)| square.get() == Some(&(k * k))));
                    followed[k].fetch_add(1, Ordering::Relaxed);
                })
            });
            assert!(squares.iter().enumerate().all(|(k, square)| *square == k * k) && squares.len() == 30);
            assert!(followed.iter().all(|times| times.load(Ordering::Relaxed) == 1), "{threads} threads");
        }
    }

    #[test]
    fn nothing_follows_nothing() {
        let none = in_turns(Vec::<u8>::new(), |_| 0_u8, Vec::<(usize, u8)>::new(), |_, _| ());
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
                    in_turns((0..5).collect(), work, vec![(5, ()); 5], |_, ()| {
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
