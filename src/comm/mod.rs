//! Ranks. One rank is a communicator of size one, never a second code path.
//!
//! Ranks are MPI processes ([`Communicator::world`]) or threads of this process ([`run_local`]); both move the same
//! bytes, and every reduction is done here, in rank order, so that both give the same bits. All methods are
//! collective: every rank must call them in the same order, each from one thread at a time.

#[cfg_attr(not(feature = "mpi"), allow(dead_code, reason = "ranks of a host are processes"))]
mod host;
mod local;
#[cfg(feature = "mpi")]
mod mpi;
#[cfg(not(feature = "mpi"))]
#[path = "absent.rs"]
mod mpi;
pub(crate) mod shares;
pub mod traffic;

use crate::{Error, Result};
use bytemuck::Pod;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use traffic::{Meter, Traffic};

pub use local::run_local;

/// Reductions of at least this many values are shared out: each rank reduces a slice of them.
const SHARED_REDUCTION: usize = 4096;

/// The ranks that work on one run, and which of them this is.
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

/// A number that ranks can reduce.
pub trait Number: Pod + PartialOrd + Send + Sync + std::ops::Add<Output = Self> {}
impl Number for f64 {}
impl Number for u64 {}
impl Number for i64 {}

/// Calls the same function of whichever kind of ranks there is.
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

    /// All processes that were started together (by `mpirun` and its like); alone, a communicator of size one.
    ///
    /// MPI is initialized by the first call and finalized when the last clone is dropped. With more than one rank, a
    /// panic on any rank from now on ends all of them with status 1.
    ///
    /// # Errors
    /// [`Error::Usage`] when MPI was finalized before, cannot be used beside threads, or is not built in although
    /// several processes were started together.
    pub fn world() -> Result<Self> {
        mpi::world().map(Self::new)
    }

    /// One rank alone.
    pub fn solo() -> Self {
        Self::new(Ranks::Local(Arc::new(local::Member::solo())))
    }

    /// Which rank this is, below [`Self::size`].
    pub fn rank(&self) -> usize {
        on_ranks!(self, ranks => ranks.rank())
    }

    /// The number of ranks.
    pub fn size(&self) -> usize {
        on_ranks!(self, ranks => ranks.size())
    }

    /// Whether this is rank 0, the one that prints.
    pub fn is_root(&self) -> bool {
        self.rank() == 0
    }

    /// Which of the ranks on this host this one is, and how many they are; threads share one host.
    pub fn of_host(&self) -> (usize, usize) {
        on_ranks!(self, ranks => ranks.of_host())
    }

    /// Whether the ranks are threads of this process.
    pub fn in_one_process(&self) -> bool {
        matches!(self.ranks, Ranks::Local(_))
    }

    /// What this rank has received from the others so far, through this communicator and its clones.
    pub fn received(&self) -> Traffic {
        self.meter.read()
    }

    /// Wait until every rank is here.
    pub fn barrier(&self) {
        on_ranks!(self, ranks => ranks.barrier());
    }

    /// Replace each value by its sum over the ranks, added in rank order. The number of values is the same everywhere.
    pub fn all_sum<T: Number>(&self, values: &mut [T]) {
        self.reduce(values, |sum, value| sum + value);
    }

    /// Replace each value by its smallest over the ranks.
    pub fn all_min<T: Number>(&self, values: &mut [T]) {
        self.reduce(values, |least, value| if value < least { value } else { least });
    }

    /// Replace each value by its largest over the ranks.
    pub fn all_max<T: Number>(&self, values: &mut [T]) {
        self.reduce(values, larger);
    }

    /// [`Self::all_sum`] of some values and [`Self::all_max`] of others, in one message.
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

    /// Everybody's `mine`, by rank; lengths may differ.
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

    /// `to[r]` goes to rank r; the result's `[r]` came from rank r. One entry per rank; peers without values cost
    /// no message.
    pub fn all_to_all<T: Pod>(&self, to: &[Vec<T>]) -> Vec<Vec<T>> {
        let counts: Vec<u64> = to.iter().map(|values| values.len() as u64).collect();
        let mut from = vec![0u64; counts.len()];
        on_ranks!(self, ranks => ranks.transpose(&counts, &mut from));
        self.meter.collective(from.len() - 1, size_of::<u64>());
        let others = |counts: Vec<usize>| some_of(&counts, |rank| rank != self.rank());
        let (to_others, from_others) = (
            others(to.iter().map(Vec::len).collect()),
            others(from.into_iter().map(|count| count as usize).collect()),
        );
        let mut came: Vec<Vec<T>> = Vec::new();
        let write = |rank: usize, values: &mut [T]| values.copy_from_slice(&to[rank]);
        let read = |values: &[&[T]]| came.extend(values.iter().map(|values| values.to_vec()));
        self.exchange_in_place((&to_others, write), (&from_others, read), || ());
        came[self.rank()].clone_from(&to[self.rank()]);
        came
    }

    /// [`Self::all_to_all`] when every rank already knows that it gets `counts[r]` values from rank r.
    pub fn exchange<T: Pod>(&self, to: &[Vec<T>], counts: &[usize]) -> Vec<Vec<T>> {
        self.exchange_with(to, counts, || ())
    }

    /// Work while messages of at most so many bytes are on their way. Another thread sees to large ones: most libraries move them
    /// only while they are called.
    fn attended(&self, bytes: usize, work: impl FnOnce()) {
        /// Bytes of messages that libraries send off at once.
        const EAGER: usize = 1 << 16;
        /// Between two looks at the messages: long enough to cost those who work nothing, a few in the time of a pass.
        const PAUSE: Duration = Duration::from_millis(1);
        if bytes <= EAGER || !on_ranks!(self, ranks => ranks.attended()) {
            return work();
        }
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let attendant = scope.spawn(|| {
                while !done.load(Ordering::Acquire) {
                    on_ranks!(self, ranks => ranks.attend());
                    std::thread::park_timeout(PAUSE);
                }
            });
            work();
            done.store(true, Ordering::Release);
            attendant.thread().unpark();
        });
    }

    /// So many values go to each rank, which `write` is to write, once for each rank to which some go; and so many come from each,
    /// which `read` is shown when all are there, by rank. `work` is done while they are on their way. Ranks of a host write and read
    /// in memory that they share. Nothing goes to the rank itself.
    pub fn exchange_in_place<T: Pod>(
        &self,
        (to, mut write): (&[usize], impl FnMut(usize, &mut [T])),
        (from, read): (&[usize], impl FnOnce(&[&[T]])),
        work: impl FnOnce(),
    ) {
        assert!(to[self.rank()] == 0 && from[self.rank()] == 0, "exchange: nothing goes to the rank itself");
        let bytes = |counts: &[usize]| counts.iter().map(|count| count * size_of::<T>()).collect::<Vec<_>>();
        // what was sent before may wait until its sender calls the library
        let idle = || on_ranks!(self, ranks => ranks.attend());
        let memory = on_ranks!(self, ranks => ranks.host_memory());
        let mut memory = memory.map(|memory| memory.lock().unwrap_or_else(PoisonError::into_inner));
        let shared: Vec<bool> = (0..self.size())
            .map(|rank| memory.as_ref().is_some_and(|memory| memory.is_shared_with(rank)))
            .collect();
        let refused = memory.as_mut().is_some_and(|memory| {
            memory.write(&bytes(to), |rank, values| write(rank, bytemuck::cast_slice_mut(values)), &idle)
        });
        let [to_far, from_far] = [to, from].map(|counts| some_of(counts, |rank| !shared[rank]));
        let largest = to_far.iter().chain(&from_far).max().map_or(0, |&values| values * size_of::<T>());
        let mut here = None;
        let came = self.exchange_with(&written(&to_far, &mut write), &from_far, || {
            self.attended(largest, work);
            here = memory.as_mut().map(|memory| memory.wait(&bytes(from), &idle));
        });
        let elsewhere = |rank: usize| here.as_ref().is_some_and(|here| here.refused(rank));
        let in_place = some_of(from, |rank| shared[rank] && !elsewhere(rank));
        self.meter.exchange(in_place.into_iter(), size_of::<T>());
        let late: Vec<usize> = some_of(from, elsewhere);
        let some = refused || late.iter().any(|&count| count > 0);
        let came_late = match on_ranks!(self, ranks => ranks.takes_part(some)) {
            true => self.exchange(&written(&some_of(to, |rank| shared[rank] && refused), &mut write), &late),
            false => vec![Vec::new(); self.size()],
        };
        let of = |rank: usize| match here.as_ref().and_then(|here| here.of(rank)) {
            Some(values) => bytemuck::cast_slice(values),
            None if elsewhere(rank) => &came_late[rank][..],
            None => &came[rank][..],
        };
        read(&(0..self.size()).map(of).collect::<Vec<_>>());
    }

    /// [`Self::exchange`] of and into memory that the caller has: `from[r]` is as long as what rank r sends.
    pub fn exchange_into<T: Pod>(&self, to: &[&[T]], from: &mut [&mut [T]]) {
        self.swap(to, from, || ());
    }

    /// Counts messages of so many bytes that have come from other ranks on another way than through this communicator.
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

    /// Replace `values` by those of rank `root`, whatever their number.
    pub fn broadcast<T: Pod>(&self, values: &mut Vec<T>, root: usize) {
        let mine: &[T] = if self.rank() == root { values } else { &[] };
        let mut all = self.all_gather(mine);
        *values = std::mem::take(&mut all[root]);
    }

    /// Every rank fails when one does: with its own error, or with [`Error::Elsewhere`].
    ///
    /// # Errors
    /// As said.
    pub fn agree(&self, outcome: Result<()>) -> Result<()> {
        let failures: u64 = self.gather_equal(&[u64::from(outcome.is_err())]).iter().sum();
        match outcome {
            Ok(()) if failures > 0 => Err(Error::Elsewhere),
            outcome => outcome,
        }
    }

    /// The value, if every rank has one; otherwise fails as [`Self::agree`].
    ///
    /// # Errors
    /// As said.
    pub fn agree_on<T>(&self, outcome: Result<T>) -> Result<T> {
        match outcome {
            Ok(value) => self.agree(Ok(())).map(|()| value),
            Err(error) => self.agree(Err(error)).and(Err(Error::Elsewhere)),
        }
    }

    /// Do something on rank 0 alone; every rank fails if it does, as [`Self::agree`].
    ///
    /// # Errors
    /// As said.
    pub fn on_root(&self, work: impl FnOnce() -> Result<()>) -> Result<()> {
        self.agree(if self.is_root() { work() } else { Ok(()) })
    }

    /// End all ranks now with this exit status. Among threads as ranks this ends the process.
    pub fn abort(&self, status: i32) -> ! {
        on_ranks!(self, ranks => ranks.abort(status))
    }

    /// The MPI handle, for libraries that communicate on their own; `None` when ranks are threads.
    #[cfg(feature = "mpi")]
    pub fn raw_mpi(&self) -> Option<::mpi::ffi::MPI_Comm> {
        match &self.ranks {
            Ranks::Local(_) => None,
            Ranks::World(world) => Some(world.raw()),
        }
    }

    /// Equally many values of every rank, one rank after the other.
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

    /// Combine the values of all ranks, in their order, each by its place.
    fn reduce_each<T: Number>(&self, values: &mut [T], combine: impl Fn(usize, T, T) -> T) {
        let ranks = self.size();
        if ranks == 1 || values.is_empty() {
            return;
        }
        // of the values from `first` on
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

/// The larger of two values; the first where the second is no number.
fn larger<T: Number>(most: T, value: T) -> T {
    if value > most { value } else { most }
}

/// The counts of some ranks, and 0 of the others.
fn some_of(counts: &[usize], whether: impl Fn(usize) -> bool) -> Vec<usize> {
    counts.iter().enumerate().map(|(rank, &count)| if whether(rank) { count } else { 0 }).collect()
}

/// So many values for each rank, written.
fn written<T: Pod>(counts: &[usize], write: &mut impl FnMut(usize, &mut [T])) -> Vec<Vec<T>> {
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
