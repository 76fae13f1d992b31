//! Ranks as threads of one process, which exchange messages through one mailbox per rank.

use super::host::exchange::HostMemory;
use super::{Communicator, Ranks};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The posted message of a rank: one for each receiver, or one for all.
#[derive(Clone)]
enum Post {
    Each(Arc<Vec<Vec<u8>>>),
    All(Arc<Vec<u8>>),
}

/// State shared by the threads of a run.
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    size: usize,
}

struct State {
    posts: Vec<Option<Post>>,
    waiting: usize,
    /// Number of completed barriers.
    generation: u64,
    /// The reason why no further barrier can succeed.
    broken: Option<&'static str>,
    departed: bool,
}

/// A thread that acts as a rank.
pub(super) struct Member {
    rank: usize,
    shared: Arc<Shared>,
    memory: Option<Mutex<HostMemory>>,
}

/// Panic payload of ranks that end because another rank ended.
struct Abandoned;

/// Runs `work` on `ranks` threads, each as one rank, and returns the results by rank.
///
/// # Panics
/// If a thread panics, the others end at their next collective call, and the first panic is resumed here.
pub fn run_local<R: Send>(ranks: usize, work: impl Fn(Communicator) -> R + Sync) -> Vec<R> {
    assert!(ranks > 0, "run_local: at least one rank");
    let shared = Arc::new(Shared::new(ranks));
    let outcomes: Vec<std::thread::Result<R>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..ranks)
            .map(|rank| {
                let (shared, work) = (Arc::clone(&shared), &work);
                scope.spawn(move || {
                    let member = Member { rank, shared: Arc::clone(&shared), memory: None };
                    let outcome = catch_unwind(AssertUnwindSafe(|| {
                        work(Communicator::new(Ranks::Local(Arc::new(member))))
                    }));
                    shared.depart(outcome.is_err());
                    outcome
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(Err)).collect()
    });
    let mut results = Vec::with_capacity(ranks);
    let mut failure: Option<Box<dyn Any + Send>> = None;
    for outcome in outcomes {
        match outcome {
            Ok(result) => results.push(result),
            // Keep the panic of the rank that failed first, not of one that was abandoned.
            Err(panic) if failure.as_ref().is_none_or(|first| first.is::<Abandoned>()) => {
                failure = Some(panic)
            }
            Err(_) => {}
        }
    }
    match failure {
        Some(panic) => resume_unwind(panic),
        None => results,
    }
}

impl Shared {
    fn new(size: usize) -> Self {
        let state =
            State { posts: vec![None; size], waiting: 0, generation: 0, broken: None, departed: false };
        Self { state: Mutex::new(state), changed: Condvar::new(), size }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until all ranks have arrived; unwinds if one of them never will.
    fn barrier(&self) {
        let mut state = self.lock();
        if state.departed {
            state.broken.get_or_insert("a rank ended while another waited for it");
        }
        if state.broken.is_none() {
            state.waiting += 1;
            if state.waiting == self.size {
                state.waiting = 0;
                state.generation += 1;
                self.changed.notify_all();
                return;
            }
            let generation = state.generation;
            while state.generation == generation && state.broken.is_none() {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.generation != generation {
                return;
            }
        }
        drop(state);
        self.changed.notify_all();
        resume_unwind(Box::new(Abandoned));
    }

    fn depart(&self, failed: bool) {
        let mut state = self.lock();
        state.departed = true;
        if failed || state.waiting > 0 {
            state.broken.get_or_insert("a rank ended while another waited for it");
        }
        drop(state);
        self.changed.notify_all();
    }
}

impl Member {
    pub(super) fn solo() -> Self {
        Self { rank: 0, shared: Arc::new(Shared::new(1)), memory: None }
    }

    /// Returns the same rank with shared memory, as ranks of a host have it.
    #[cfg(test)]
    pub(super) fn sharing(&self, memory: Option<HostMemory>) -> Self {
        Self { rank: self.rank, shared: Arc::clone(&self.shared), memory: memory.map(Mutex::new) }
    }

    pub(super) fn rank(&self) -> usize {
        self.rank
    }

    pub(super) fn size(&self) -> usize {
        self.shared.size
    }

    pub(super) fn of_host(&self) -> (usize, usize) {
        (self.rank, self.shared.size)
    }

    pub(super) fn barrier(&self) {
        self.shared.barrier();
    }

    pub(super) fn transpose(&self, to: &[u64], from: &mut [u64]) {
        let to: Vec<&[u8]> = to.iter().map(bytemuck::bytes_of).collect();
        let mut from: Vec<&mut [u8]> = from.iter_mut().map(bytemuck::bytes_of_mut).collect();
        self.exchange(&to, &mut from, || ());
    }

    pub(super) fn all_gather(&self, mine: &[u8], all: &mut [&mut [u8]]) {
        self.swap(Post::All(Arc::new(mine.to_vec())), all);
    }

    pub(super) fn exchange(&self, to: &[&[u8]], from: &mut [&mut [u8]], meanwhile: impl FnOnce()) {
        meanwhile();
        if self.size() == 1 {
            return from[0].copy_from_slice(to[0]);
        }
        self.swap(Post::Each(Arc::new(to.iter().map(|part| part.to_vec()).collect())), from);
    }

    /// Returns the shared memory of the host. Only tests have one: threads post messages.
    pub(super) fn host_memory(&self) -> Option<&Mutex<HostMemory>> {
        self.memory.as_ref()
    }

    /// Returns whether this rank takes part in the fallback exchange after [`Self::host_memory`]. A posted
    /// exchange is collective for threads, hence all do.
    pub(super) fn joins_fallback(&self, some: bool) -> bool {
        some || self.memory.is_some()
    }

    /// Returns false: messages are copied after all ranks have posted theirs, without a progress thread.
    pub(super) fn needs_progress_thread(&self) -> bool {
        false
    }

    /// Does nothing.
    pub(super) fn make_progress(&self) {}

    /// Posts a message and copies those that the other ranks posted for this one.
    fn swap(&self, post: Post, from: &mut [&mut [u8]]) {
        self.shared.lock().posts[self.rank] = Some(post);
        self.barrier();
        let posts = self.shared.lock().posts.clone();
        for (post, part) in posts.iter().zip(from) {
            let message: &[u8] = match post {
                Some(Post::Each(messages)) => &messages[self.rank],
                Some(Post::All(message)) => message,
                None => unreachable!("every rank posts before the barrier"),
            };
            assert!(message.len() == part.len(), "ranks disagree about the length of a message");
            part.copy_from_slice(message);
        }
        self.barrier();
    }

    pub(super) fn abort(&self, status: i32) -> ! {
        std::process::exit(status)
    }
}
