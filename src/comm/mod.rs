//! Communicators. A serial run is a communicator of size one, not a second code path.
//!
//! Ranks are MPI processes ([`Communicator::world`]) or threads of this process ([`run_local`]). Both move
//! the same bytes. Reductions are computed here in rank order, so that both give bitwise equal results. All
//! methods are collective unless noted: every rank calls them in the same order, from one thread at a time.

pub(crate) mod distribution;
#[cfg_attr(not(feature = "mpi"), allow(dead_code, reason = "ranks of a host are processes"))]
mod host;
mod local;
#[cfg(feature = "mpi")]
mod mpi;
#[cfg(not(feature = "mpi"))]
#[path = "absent.rs"]
mod mpi;
pub mod traffic;

use crate::{Error, Result};
use bytemuck::Pod;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use traffic::{Meter, Traffic};

pub use local::run_local;

/// Reductions of at least this many values are distributed: each rank reduces a slice of them.
const SHARED_REDUCTION: usize = 4096;

/// Name and version of the MPI library; `None` in a build without MPI. May be called before MPI starts.
pub fn library_version() -> Option<String> {
    mpi::library_version()
}

/// A group of ranks, and the position of this rank in it.
#[derive(Clone)]
pub struct Communicator {
    ranks: Ranks,
    meter: Arc<Meter>,
}

#[derive(Clone)]
enum Ranks {
    Local(Arc<local::Member>),
    #[cfg_attr(not(feature = "mpi"), allow(dead_code, reason = "has no value without MPI"))]
    World(Arc<mpi::World>),
}

/// A number type of reductions.
pub trait Number: Pod + PartialOrd + Send + Sync + std::ops::Add<Output = Self> {}
impl Number for f64 {}
impl Number for u64 {}
impl Number for i64 {}

/// Calls the same method on either kind of ranks.
macro_rules! on_ranks {
    ($self:ident, $ranks:ident => $call:expr) => {
        match &$self.ranks {
            Ranks::Local($ranks) => $call,
            Ranks::World($ranks) => $call,
        }
    };
}

impl Communicator {
    fn new(ranks: Ranks) -> Self {
        Self { ranks, meter: Arc::default() }
    }

    /// Returns all processes that were started together (by `mpirun` or similar); a single process is a
    /// communicator of size one.
    ///
    /// The first call initializes MPI, and dropping the last clone finalizes it. With more than one rank, a
    /// panic on any rank aborts all ranks with status 1 from then on.
    ///
    /// # Errors
    /// [`Error::Usage`] if MPI was finalized before, does not support threads, or is not built in although
    /// several processes were started together.
    pub fn world() -> Result<Self> {
        mpi::world().map(Self::new)
    }

    /// Returns a communicator of size one.
    pub fn solo() -> Self {
        Self::new(Ranks::Local(Arc::new(local::Member::solo())))
    }

    /// Returns the rank of this process or thread, below [`Self::size`].
    pub fn rank(&self) -> usize {
        on_ranks!(self, ranks => ranks.rank())
    }

    /// Returns the number of ranks.
    pub fn size(&self) -> usize {
        on_ranks!(self, ranks => ranks.size())
    }

    /// Returns whether this is rank 0, which prints.
    pub fn is_root(&self) -> bool {
        self.rank() == 0
    }

    /// Returns the index of this rank among the ranks of its host, and their number. Threads are on one host.
    pub fn of_host(&self) -> (usize, usize) {
        on_ranks!(self, ranks => ranks.of_host())
    }

    /// Returns whether the ranks are threads of this process.
    pub fn in_one_process(&self) -> bool {
        matches!(self.ranks, Ranks::Local(_))
    }

    /// Returns the traffic received from other ranks so far, through this communicator and its clones.
    pub fn received(&self) -> Traffic {
        self.meter.read()
    }

    /// Waits until all ranks have arrived.
    pub fn barrier(&self) {
        on_ranks!(self, ranks => ranks.barrier());
    }

    /// Replaces each value by its sum over the ranks, in rank order. All ranks pass the same number of
    /// values.
    pub fn all_sum<T: Number>(&self, values: &mut [T]) {
        self.reduce(values, |sum, value| sum + value);
    }

    /// Replaces each value by its minimum over the ranks.
    pub fn all_min<T: Number>(&self, values: &mut [T]) {
        self.reduce(values, |least, value| if value < least { value } else { least });
    }

    /// Replaces each value by its maximum over the ranks.
    pub fn all_max<T: Number>(&self, values: &mut [T]) {
        self.reduce(values, larger);
    }

    /// [`Self::all_sum`] of `sums` and [`Self::all_max`] of `largest` in one reduction.
    pub fn all_sum_and_max<T: Number>(&self, sums: &mut [T], largest: &mut [T]) {
        let count = sums.len();
        let mut both = [&*sums, &*largest].concat();
        self.reduce_each(
            &mut both,
            |k, total, value| if k < count { total + value } else { larger(total, value) },
        );
        sums.copy_from_slice(&both[..count]);
        largest.copy_from_slice(&both[count..]);
    }

    /// Gathers `mine` of all ranks, by rank; lengths may differ.
    pub fn all_gather<T: Pod>(&self, mine: &[T]) -> Vec<Vec<T>> {
        if self.size() == 1 {
            return vec![mine.to_vec()];
        }
        let counts = self.gather_equal(&[mine.len() as u64]);
        let mut all: Vec<Vec<T>> = zeroed_each(counts.iter().map(|&count| count as usize));
        on_ranks!(self, ranks => ranks.all_gather(bytemuck::cast_slice(mine), &mut bytes_of_each(&mut all)));
        self.meter.collective(all.iter().map(Vec::len).sum::<usize>() - mine.len(), size_of::<T>());
        all
    }

    /// Sends `to[r]` to rank r and returns the messages received, by sender. `to` has one entry per rank;
    /// empty entries cost no message.
    pub fn all_to_all<T: Pod>(&self, to: &[Vec<T>]) -> Vec<Vec<T>> {
        let counts: Vec<u64> = to.iter().map(|values| values.len() as u64).collect();
        let mut from = vec![0u64; counts.len()];
        on_ranks!(self, ranks => ranks.transpose(&counts, &mut from));
        self.meter.collective(from.len() - 1, size_of::<u64>());
        let others = |counts: Vec<usize>| masked_counts(&counts, |rank| rank != self.rank());
        let (to_others, from_others) = (
            others(to.iter().map(Vec::len).collect()),
            others(from.into_iter().map(|count| count as usize).collect()),
        );
        let mut received: Vec<Vec<T>> = Vec::new();
        let write = |rank: usize, values: &mut [T]| values.copy_from_slice(&to[rank]);
        let read = |values: &[&[T]]| received.extend(values.iter().map(|values| values.to_vec()));
        self.exchange_in_place((&to_others, write), (&from_others, read), || ());
        received[self.rank()].clone_from(&to[self.rank()]);
        received
    }

    /// [`Self::all_to_all`] if every rank already knows the number of values `counts[r]` that it receives
    /// from rank r.
    pub fn exchange<T: Pod>(&self, to: &[Vec<T>], counts: &[usize]) -> Vec<Vec<T>> {
        self.exchange_with(to, counts, || ())
    }

    /// Runs `work` while messages of at most `bytes` bytes are in flight. For large messages a second thread
    /// drives MPI progress: most MPI libraries move them only inside of calls.
    fn with_progress_thread(&self, bytes: usize, work: impl FnOnce()) {
        /// Message size that MPI libraries send eagerly (bytes).
        const EAGER: usize = 1 << 16;
        /// Interval between progress calls: long enough not to disturb the working threads, short enough for
        /// several calls per pass.
        const PAUSE: Duration = Duration::from_millis(1);
        if bytes <= EAGER || !on_ranks!(self, ranks => ranks.needs_progress_thread()) {
            return work();
        }
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let progress = scope.spawn(|| {
                while !done.load(Ordering::Acquire) {
                    on_ranks!(self, ranks => ranks.make_progress());
                    std::thread::park_timeout(PAUSE);
                }
            });
            work();
            done.store(true, Ordering::Release);
            progress.thread().unpark();
        });
    }

    /// Sends `to[r]` values to each rank r and receives `from[r]` values. `write(r, values)` fills the
    /// message for rank r, once per receiver with a non-zero count. `read` gets all received messages by
    /// rank. `work` runs while messages are in flight. Ranks of one host write and read in shared memory.
    /// Counts of this rank itself must be 0.
    pub fn exchange_in_place<T: Pod>(
        &self,
        (to, mut write): (&[usize], impl FnMut(usize, &mut [T])),
        (from, read): (&[usize], impl FnOnce(&[&[T]])),
        work: impl FnOnce(),
    ) {
        assert!(to[self.rank()] == 0 && from[self.rank()] == 0, "exchange: nothing goes to the rank itself");
        let bytes = |counts: &[usize]| counts.iter().map(|count| count * size_of::<T>()).collect::<Vec<_>>();
        // Earlier sends may not complete before their sender calls the MPI library.
        let idle = || on_ranks!(self, ranks => ranks.make_progress());
        let memory = on_ranks!(self, ranks => ranks.host_memory());
        let mut memory = memory.map(|memory| memory.lock().unwrap_or_else(PoisonError::into_inner));
        let shared: Vec<bool> = (0..self.size())
            .map(|rank| memory.as_ref().is_some_and(|memory| memory.is_shared_with(rank)))
            .collect();
        let refused = memory.as_mut().is_some_and(|memory| {
            memory.write(&bytes(to), |rank, values| write(rank, bytemuck::cast_slice_mut(values)), &idle)
        });
        let [to_remote, from_remote] = [to, from].map(|counts| masked_counts(counts, |rank| !shared[rank]));
        let largest = to_remote.iter().chain(&from_remote).max().map_or(0, |&values| values * size_of::<T>());
        let mut arrived = None;
        let received = self.exchange_with(&pack_messages(&to_remote, &mut write), &from_remote, || {
            self.with_progress_thread(largest, work);
            arrived = memory.as_mut().map(|memory| memory.wait(&bytes(from), &idle));
        });
        let was_refused = |rank: usize| arrived.as_ref().is_some_and(|arrived| arrived.refused(rank));
        let in_place = masked_counts(from, |rank| shared[rank] && !was_refused(rank));
        self.meter.exchange(in_place.into_iter(), size_of::<T>());
        let refused_counts: Vec<usize> = masked_counts(from, was_refused);
        let some = refused || refused_counts.iter().any(|&count| count > 0);
        let fallback = match on_ranks!(self, ranks => ranks.joins_fallback(some)) {
            true => self.exchange(
                &pack_messages(&masked_counts(to, |rank| shared[rank] && refused), &mut write),
                &refused_counts,
            ),
            false => vec![Vec::new(); self.size()],
        };
        let of = |rank: usize| match arrived.as_ref().and_then(|arrived| arrived.of(rank)) {
            Some(values) => bytemuck::cast_slice(values),
            None if was_refused(rank) => &fallback[rank][..],
            None => &received[rank][..],
        };
        read(&(0..self.size()).map(of).collect::<Vec<_>>());
    }

    /// [`Self::exchange`] with buffers of the caller: `from[r]` has the length of the message from rank r.
    pub fn exchange_into<T: Pod>(&self, to: &[&[T]], from: &mut [&mut [T]]) {
        self.swap(to, from, || ());
    }

    /// Counts received messages, of these sizes in bytes, that bypassed this communicator.
    pub(crate) fn received_elsewhere(&self, messages: impl Iterator<Item = usize>) {
        self.meter.exchange(messages, 1);
    }

    fn exchange_with<T: Pod>(
        &self,
        to: &[Vec<T>],
        counts: &[usize],
        meanwhile: impl FnOnce(),
    ) -> Vec<Vec<T>> {
        let mut from: Vec<Vec<T>> = zeroed_each(counts.iter().copied());
        let to: Vec<&[T]> = to.iter().map(Vec::as_slice).collect();
        let mut parts: Vec<&mut [T]> = from.iter_mut().map(Vec::as_mut_slice).collect();
        self.swap(&to, &mut parts, meanwhile);
        from
    }

    fn swap<T: Pod>(&self, to: &[&[T]], from: &mut [&mut [T]], meanwhile: impl FnOnce()) {
        assert!(to.len() == self.size() && from.len() == self.size(), "exchange: one entry per rank");
        let send: Vec<&[u8]> = to.iter().map(|values| bytemuck::cast_slice(values)).collect();
        let mut receive: Vec<&mut [u8]> =
            from.iter_mut().map(|values| bytemuck::cast_slice_mut(values)).collect();
        on_ranks!(self, ranks => ranks.exchange(&send, &mut receive, meanwhile));
        let others = from.iter().enumerate().filter(|(rank, _)| *rank != self.rank());
        self.meter.exchange(others.map(|(_, values)| values.len()), size_of::<T>());
    }

    /// Replaces `values` by those of rank `root`. Lengths may differ before the call.
    pub fn broadcast<T: Pod>(&self, values: &mut Vec<T>, root: usize) {
        let mine: &[T] = if self.rank() == root { values } else { &[] };
        let mut all = self.all_gather(mine);
        *values = std::mem::take(&mut all[root]);
    }

    /// Makes every rank fail if one does: with its own error, or with [`Error::Elsewhere`].
    ///
    /// # Errors
    /// The error of this rank, or [`Error::Elsewhere`] if only other ranks failed.
    pub fn agree(&self, outcome: Result<()>) -> Result<()> {
        let failures: u64 = self.gather_equal(&[u64::from(outcome.is_err())]).iter().sum();
        match outcome {
            Ok(()) if failures > 0 => Err(Error::Elsewhere),
            outcome => outcome,
        }
    }

    /// Returns the value if every rank has one.
    ///
    /// # Errors
    /// As [`Self::agree`].
    pub fn agree_on<T>(&self, outcome: Result<T>) -> Result<T> {
        match outcome {
            Ok(value) => self.agree(Ok(())).map(|()| value),
            Err(error) => self.agree(Err(error)).and(Err(Error::Elsewhere)),
        }
    }

    /// Runs `work` on rank 0 only; every rank fails if it fails.
    ///
    /// # Errors
    /// As [`Self::agree`].
    pub fn on_root(&self, work: impl FnOnce() -> Result<()>) -> Result<()> {
        self.agree(if self.is_root() { work() } else { Ok(()) })
    }

    /// Ends all ranks immediately with this exit status. With threads as ranks, ends the process.
    pub fn abort(&self, status: i32) -> ! {
        on_ranks!(self, ranks => ranks.abort(status))
    }

    /// Returns the MPI handle for libraries that communicate on their own; `None` if ranks are threads.
    #[cfg(feature = "mpi")]
    pub fn raw_mpi(&self) -> Option<::mpi::ffi::MPI_Comm> {
        match &self.ranks {
            Ranks::Local(_) => None,
            Ranks::World(world) => Some(world.raw()),
        }
    }

    /// Gathers equally many values of each rank, concatenated in rank order.
    fn gather_equal<T: Pod>(&self, mine: &[T]) -> Vec<T> {
        let mut all = vec![T::zeroed(); mine.len() * self.size()];
        if !mine.is_empty() {
            let mut parts: Vec<&mut [u8]> =
                all.chunks_exact_mut(mine.len()).map(|part| bytemuck::cast_slice_mut(part)).collect();
            on_ranks!(self, ranks => ranks.all_gather(bytemuck::cast_slice(mine), &mut parts));
        }
        self.meter.collective(all.len() - mine.len(), size_of::<T>());
        all
    }

    fn reduce<T: Number>(&self, values: &mut [T], combine: impl Fn(T, T) -> T) {
        self.reduce_each(values, |_, a, b| combine(a, b));
    }

    /// Combines the values of all ranks elementwise in rank order. `combine` gets the index of the value
    /// first.
    fn reduce_each<T: Number>(&self, values: &mut [T], combine: impl Fn(usize, T, T) -> T) {
        let ranks = self.size();
        if ranks == 1 || values.is_empty() {
            return;
        }
        // Reduces the values from index `first` on.
        let fold = |of_ranks: &[&[T]], first: usize, out: &mut [T]| {
            for (k, value) in out.iter_mut().enumerate() {
                *value =
                    of_ranks[1..].iter().fold(of_ranks[0][k], |sum, part| combine(first + k, sum, part[k]));
            }
        };
        if values.len() < SHARED_REDUCTION {
            let all = self.gather_equal(values);
            let parts: Vec<&[T]> = all.chunks_exact(values.len()).collect();
            return fold(&parts, 0, values);
        }
        let slice = |rank: usize| rank * values.len() / ranks..(rank + 1) * values.len() / ranks;
        let to: Vec<Vec<T>> = (0..ranks).map(|rank| values[slice(rank)].to_vec()).collect();
        let from = self.exchange(&to, &vec![slice(self.rank()).len(); ranks]);
        let mut reduced = to[self.rank()].clone();
        let parts: Vec<&[T]> = from.iter().map(Vec::as_slice).collect();
        fold(&parts, slice(self.rank()).start, &mut reduced);
        let all = self.all_gather(&reduced);
        values.copy_from_slice(&all.concat());
    }
}

impl std::fmt::Debug for Communicator {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "rank {} of {}", self.rank(), self.size())
    }
}

/// Returns the larger of two values; the first if the second is NaN.
fn larger<T: Number>(most: T, value: T) -> T {
    if value > most { value } else { most }
}

/// Returns the counts of the selected ranks, and 0 for all others.
fn masked_counts(counts: &[usize], whether: impl Fn(usize) -> bool) -> Vec<usize> {
    counts.iter().enumerate().map(|(rank, &count)| if whether(rank) { count } else { 0 }).collect()
}

/// Allocates and fills a message of `counts[r]` values for each rank r.
fn pack_messages<T: Pod>(counts: &[usize], write: &mut impl FnMut(usize, &mut [T])) -> Vec<Vec<T>> {
    let mut values: Vec<Vec<T>> = zeroed_each(counts.iter().copied());
    let some = values.iter_mut().enumerate().filter(|(_, values)| !values.is_empty());
    some.for_each(|(rank, values)| write(rank, values));
    values
}

fn zeroed_each<T: Pod>(counts: impl Iterator<Item = usize>) -> Vec<Vec<T>> {
    counts.map(|count| vec![T::zeroed(); count]).collect()
}

fn bytes_of_each<T: Pod>(parts: &mut [Vec<T>]) -> Vec<&mut [u8]> {
    parts.iter_mut().map(|part| bytemuck::cast_slice_mut(part)).collect()
}

#[cfg(test)]
mod tests;
