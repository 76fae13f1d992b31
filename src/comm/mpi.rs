//! Ranks as MPI processes.
//!
//! MPI errors keep MPI's default handler, which prints a message and aborts all ranks.

use super::Ranks;
use super::host::Place;
use super::host::all_gather::{self, Board};
use super::host::exchange::{HostMemory, MAX_SEGMENT_BYTES};
use crate::{Error, Result};
use mpi::datatype::PartitionMut;
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{AsRaw, Communicator, CommunicatorCollectives, Destination, Source};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Largest single message (bytes); MPI counts are 32-bit.
const LARGEST_MESSAGE: usize = 1 << 30;

/// The MPI world; dropping it finalizes MPI.
pub(super) struct World {
    rank: usize,
    size: usize,
    /// Rank and size among the ranks of this host.
    of_host: (usize, usize),
    /// Shared memory of the ranks of this host.
    host_memory: Option<Mutex<HostMemory>>,
    /// Shared-memory all-gather, if all ranks are on one host.
    board: Option<Mutex<Board>>,
    /// Whether a second thread may drive the progress of messages, and some messages go to other hosts.
    needs_progress_thread: bool,
    _universe: Universe,
}

/// The world of this process while it is in use: MPI can be initialized only once.
static CURRENT: Mutex<Weak<World>> = Mutex::new(Weak::new());

/// Returns the name and version that the library states, up to the first comma.
pub(super) fn library_version() -> Option<String> {
    let text = mpi::environment::library_version().ok()?;
    let first = text.split([',', '\n', '\0']).next().unwrap_or_default().trim();
    Some(first.to_owned())
}

/// Returns the MPI world; the first call initializes MPI.
pub(super) fn world() -> Result<Ranks> {
    let mut current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(world) = current.upgrade() {
        return Ok(Ranks::World(world));
    }
    if mpi::environment::is_finalized() {
        return Err(Error::usage(
            "MPI has been finalized in this process and cannot start again",
            "keep the first communicator until the program ends",
        ));
    }
    let Some((universe, threading)) = mpi::initialize_with_threading(mpi::Threading::Serialized) else {
        return Err(Error::usage(
            "MPI was already initialized by other code in this process",
            "let hilbrium initialize MPI first",
        ));
    };
    if threading < mpi::Threading::Funneled {
        return Err(Error::usage(
            "this MPI library does not allow threads beside it",
            "use one built with thread support (MPI_THREAD_FUNNELED or better), such as Open MPI",
        ));
    }
    let (rank, size) = (universe.world().rank() as usize, universe.world().size() as usize);
    let host = universe.world().split_shared(0);
    let of_host = (host.rank() as usize, host.size() as usize);
    let host_memory = host_memory(&host, rank).map(Mutex::new);
    let board = place(&host).filter(|place| place.count == size);
    let board = board.and_then(|place| Board::new(place, &|mine| gathered(&host, mine))).map(Mutex::new);
    let needs_progress_thread = of_host.1 != size && threading >= mpi::Threading::Serialized;
    let world = Arc::new(World {
        rank,
        size,
        of_host,
        host_memory,
        board,
        needs_progress_thread,
        _universe: universe,
    });
    if size > 1 {
        abort_on_panic();
    }
    *current = Arc::downgrade(&world);
    Ok(Ranks::World(world))
}

/// Creates the shared memory of the ranks of this host, if there are several and the host supports it.
fn host_memory(host: &SimpleCommunicator, rank: usize) -> Option<HostMemory> {
    let place = place(host)?;
    let mut ranks = vec![0u64; place.count];
    host.all_gather_into(&(rank as u64), &mut ranks[..]);
    let ranks = ranks.into_iter().map(|rank| rank as usize).collect();
    HostMemory::new(place, ranks, MAX_SEGMENT_BYTES, &|mine| gathered(host, mine))
}

/// Returns the place of this rank on its host, if the host has several ranks.
fn place(host: &SimpleCommunicator) -> Option<Place> {
    let (own, count) = (host.rank() as usize, host.size() as usize);
    (count > 1).then_some(Place { own, count })
}

fn gathered<const N: usize>(host: &SimpleCommunicator, mine: &[u8; N]) -> Vec<[u8; N]> {
    let mut all = vec![[0; N]; host.size() as usize];
    host.all_gather_into(&mine[..], all.as_flattened_mut());
    all
}

/// Installs a panic hook that prints as before and then aborts all ranks. Otherwise the other ranks would
/// wait forever.
fn abort_on_panic() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        print(panic);
        communicator().abort(1);
    }));
}

/// Returns a new handle of the MPI world; a handle must not be shared between threads.
fn communicator() -> SimpleCommunicator {
    SimpleCommunicator::world()
}

impl World {
    pub(super) fn rank(&self) -> usize {
        self.rank
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    pub(super) fn of_host(&self) -> (usize, usize) {
        self.of_host
    }

    pub(super) fn raw(&self) -> mpi::ffi::MPI_Comm {
        communicator().as_raw()
    }

    pub(super) fn barrier(&self) {
        communicator().barrier();
    }

    /// Sends `to[r]` to rank r and receives `from[r]` from it.
    pub(super) fn transpose(&self, to: &[u64], from: &mut [u64]) {
        let Some(mut board) = self.board(size_of_val(to)) else {
            return communicator().all_to_all_into(to, from);
        };
        let mut all = vec![0u64; to.len() * to.len()];
        let mut rows: Vec<&mut [u8]> = all.chunks_exact_mut(to.len()).map(bytemuck::cast_slice_mut).collect();
        board.all_gather(bytemuck::cast_slice(to), &mut rows, &|| self.make_progress());
        from.iter_mut().zip(all.chunks_exact(to.len())).for_each(|(from, row)| *from = row[self.rank]);
    }

    /// Returns the shared-memory all-gather, if all ranks are on this host and messages of `most` bytes fit.
    fn board(&self, most: usize) -> Option<MutexGuard<'_, Board>> {
        let board = self.board.as_ref().filter(|_| most <= all_gather::MAX_BYTES)?;
        Some(board.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Gathers `mine` of all ranks into `all`. Every rank knows all lengths already.
    pub(super) fn all_gather(&self, mine: &[u8], all: &mut [&mut [u8]]) {
        let total: usize = all.iter().map(|part| part.len()).sum();
        if total == 0 {
            // The address of an empty buffer could equal a special MPI address.
            return;
        }
        if let Some(mut board) = self.board(all.iter().map(|part| part.len()).max().unwrap_or(0)) {
            return board.all_gather(mine, all, &|| self.make_progress());
        }
        if total > LARGEST_MESSAGE {
            return self.exchange(&vec![mine; self.size()], all, || ());
        }
        let counts: Vec<i32> = all.iter().map(|part| part.len() as i32).collect();
        let starts: Vec<i32> =
            counts.iter().scan(0, |next, count| Some(std::mem::replace(next, *next + count))).collect();
        let mut together = vec![0u8; total];
        let mut partition = PartitionMut::new(&mut together[..], counts, &starts[..]);
        communicator().all_gather_varcount_into(mine, &mut partition);
        let mut rest = &together[..];
        for part in all {
            let (head, tail) = rest.split_at(part.len());
            part.copy_from_slice(head);
            rest = tail;
        }
    }

    /// Sends `to[r]` to rank r and receives into `from[r]`, which has the right length. `meanwhile` runs
    /// while messages are in flight.
    pub(super) fn exchange(&self, to: &[&[u8]], from: &mut [&mut [u8]], meanwhile: impl FnOnce()) {
        let me = self.rank();
        from[me].copy_from_slice(to[me]);
        let communicator = communicator();
        mpi::request::scope(|scope| {
            let mut requests = Vec::new();
            for (rank, part) in from.iter_mut().enumerate().filter(|(rank, _)| *rank != me) {
                let peer = communicator.process_at_rank(rank as i32);
                for chunk in part.chunks_mut(LARGEST_MESSAGE) {
                    requests.push(peer.immediate_receive_into(scope, chunk));
                }
            }
            // Each rank starts with a different peer, to avoid contention on rank 0.
            for rank in (1..to.len()).map(|k| (me + k) % to.len()) {
                let peer = communicator.process_at_rank(rank as i32);
                for chunk in to[rank].chunks(LARGEST_MESSAGE) {
                    requests.push(peer.immediate_send(scope, chunk));
                }
            }
            meanwhile();
            requests.into_iter().for_each(|request| request.wait_without_status());
        });
    }

    /// Returns the memory shared with the other ranks of this host.
    pub(super) fn host_memory(&self) -> Option<&Mutex<HostMemory>> {
        self.host_memory.as_ref()
    }

    /// Returns whether this rank takes part in the fallback exchange: only if it has a message to send or
    /// receive.
    pub(super) fn joins_fallback(&self, some: bool) -> bool {
        some
    }

    /// Returns whether a progress thread helps. On one host it does not: the cores copy the messages
    /// themselves.
    pub(super) fn needs_progress_thread(&self) -> bool {
        self.needs_progress_thread
    }

    /// Drives MPI progress. No other thread may call MPI at the same time.
    pub(super) fn make_progress(&self) {
        communicator().any_process().immediate_probe();
    }

    pub(super) fn abort(&self, status: i32) -> ! {
        communicator().abort(status)
    }
}
