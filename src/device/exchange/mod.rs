//! Bytes from the memory of one rank's device to that of another's: through NCCL, through MPI that knows of devices, or
//! through the hosts, whichever is the first that all ranks can use.

#[cfg(feature = "mpi")]
mod cuda_aware;
mod nccl;
mod staged;

use super::Device;
use crate::comm::Communicator;
use crate::{Error, Result};
use std::sync::Arc;

/// The variable of the environment that names the way to be used; that of rank 0 counts.
const VARIABLE: &str = "HILBRIUM_EXCHANGE";

/// A range of a device's memory that another rank is sent, or that what it sends goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The other rank.
    pub rank: usize,
    /// Where the bytes are on this rank's device.
    pub address: u64,
    /// How many they are.
    pub bytes: usize,
}

/// A way from device to device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// NVIDIA's library NCCL: each rank needs a GPU of its own.
    Nccl,
    /// MPI that is given addresses on devices.
    CudaAware,
    /// Through pinned memory of the hosts, and whatever their ranks send each other messages by.
    Staged,
}

impl Way {
    /// As the environment names it.
    fn named(name: &str) -> Result<Self> {
        match name {
            "nccl" => Ok(Way::Nccl),
            "cuda-aware" => Ok(Way::CudaAware),
            "staged" => Ok(Way::Staged),
            _ => Err(Error::usage(
                format!("{VARIABLE}={name} names no way from device to device"),
                "take nccl, cuda-aware or staged, or leave it unset for the first of them that works",
            )),
        }
    }

    /// Makes it ready on all ranks, or fails on all. Collective.
    fn start(self, device: &Device, comm: &Communicator) -> Result<Arc<dyn Carrier>> {
        match self {
            Way::Nccl => Ok(Arc::new(nccl::Nccl::new(device, comm)?)),
            #[cfg(feature = "mpi")]
            Way::CudaAware => Ok(Arc::new(cuda_aware::CudaAware::new(device, comm)?)),
            #[cfg(not(feature = "mpi"))]
            Way::CudaAware => Err(Error::usage(
                "this build has no MPI",
                "build it with the feature \"mpi\", or take another way",
            )),
            Way::Staged => Ok(Arc::new(staged::Staged::new(device))),
        }
    }
}

/// What carries messages.
trait Carrier: Send + Sync {
    /// What it is, in words.
    fn words(&self) -> &str;

    /// As [`Exchange::begin`]; no message is empty, and none for this rank itself.
    fn begin(&self, comm: &Communicator, send: &[Message], receive: &[Message]) -> Result<Box<dyn Arrival>>;
}

/// What a carrier has begun.
trait Arrival {
    /// As [`Exchange::finish`].
    fn finish(self: Box<Self>, comm: &Communicator) -> Result<()>;
}

/// Nothing is on its way.
struct Nothing;

impl Arrival for Nothing {
    fn finish(self: Box<Self>, _comm: &Communicator) -> Result<()> {
        Ok(())
    }
}

/// Messages on their way, from [`Exchange::begin`] to [`Exchange::finish`].
#[must_use = "other ranks wait until messages are finished"]
pub struct Pending(Box<dyn Arrival>);

impl std::fmt::Debug for Pending {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("Pending")
    }
}

/// One rank, which has nobody to send to.
struct Alone;

impl Carrier for Alone {
    fn words(&self) -> &str {
        "one rank alone"
    }

    fn begin(&self, _comm: &Communicator, send: &[Message], receive: &[Message]) -> Result<Box<dyn Arrival>> {
        assert!(send.is_empty() && receive.is_empty(), "there is no other rank");
        Ok(Box::new(Nothing))
    }
}

/// The ranks of a run with a device each, and how their bytes go from one to another.
#[derive(Clone)]
pub struct Exchange {
    device: Device,
    comm: Communicator,
    carrier: Arc<dyn Carrier>,
}

impl std::fmt::Debug for Exchange {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "Exchange({:?}, {:?}, {})", self.device, self.comm, self.way())
    }
}

impl Exchange {
    /// Between the devices of these ranks, on the way that HILBRIUM_EXCHANGE names (`nccl`, `cuda-aware` or `staged`), or
    /// else on the first of these that all ranks can use. Collective.
    ///
    /// # Errors
    /// [`Error::Usage`] when the way that is named cannot be used, with why; those of the device.
    pub fn new(device: &Device, comm: &Communicator) -> Result<Self> {
        let mut wanted = std::env::var(VARIABLE).unwrap_or_default().into_bytes();
        comm.broadcast(&mut wanted, 0);
        if !wanted.is_empty() {
            return Self::by(Way::named(&String::from_utf8_lossy(&wanted))?, device, comm);
        }
        Self::by(Way::Nccl, device, comm)
            .or_else(|_| Self::by(Way::CudaAware, device, comm))
            .or_else(|_| Self::by(Way::Staged, device, comm))
    }

    /// Between the devices of these ranks, on that way. One rank needs none, and loads nothing. Collective.
    ///
    /// # Errors
    /// [`Error::Usage`] when it cannot be used, with why; those of the device.
    pub fn by(way: Way, device: &Device, comm: &Communicator) -> Result<Self> {
        let carrier = match comm.size() {
            1 => Arc::new(Alone),
            _ => way.start(device, comm)?,
        };
        Ok(Self { device: device.clone(), comm: comm.clone(), carrier })
    }

    /// The device of this rank.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The ranks.
    pub fn comm(&self) -> &Communicator {
        &self.comm
    }

    /// How bytes go from device to device, in words: "NCCL 2.27.3", say. The same on all ranks.
    pub fn way(&self) -> &str {
        self.carrier.words()
    }

    /// Sends and receives, in the order of the device's other operations: what is started afterwards finds what has arrived.
    /// Between two ranks messages arrive in the order in which they are sent, and both agree on their sizes. No rank sends
    /// to itself. Collective.
    ///
    /// # Errors
    /// Those of the device; [`Error::Elsewhere`] when that of another rank failed beforehand, as far as the way tells.
    pub fn exchange(&self, send: &[Message], receive: &[Message]) -> Result<()> {
        let pending = self.begin(send, receive)?;
        self.finish(pending)
    }

    /// As [`Exchange::exchange`], but what is started before [`Exchange::finish`] does not wait for the messages, and goes on
    /// while they are on their way.
    ///
    /// Until then nothing may write or give back what is sent, nor use or give back what is received. Whatever becomes of what
    /// is done meanwhile, all ranks must finish what they began, in that order; they may send each other other things in
    /// between. Collective.
    ///
    /// # Errors
    /// As [`Exchange::exchange`]; nothing is to be finished then.
    pub fn begin(&self, send: &[Message], receive: &[Message]) -> Result<Pending> {
        let of_others = |messages: &[Message]| -> Vec<Message> {
            assert!(
                messages.iter().all(|message| message.rank != self.comm.rank()),
                "messages to other ranks"
            );
            messages.iter().copied().filter(|message| message.bytes > 0).collect()
        };
        self.carrier.begin(&self.comm, &of_others(send), &of_others(receive)).map(Pending)
    }

    /// What is started from now on finds what has arrived. Collective.
    ///
    /// # Errors
    /// As [`Exchange::exchange`].
    pub fn finish(&self, pending: Pending) -> Result<()> {
        pending.0.finish(&self.comm)
    }
}
