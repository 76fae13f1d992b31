//! Messages between devices of different ranks: by NCCL, CUDA-aware MPI, or staging through pinned host
//! memory, whichever is the first that all ranks support. Migrating particles, halo fields and essential
//! trees are sent this way. Staging is the only way without either library, and the way of the emulation; it
//! reaches 73 to 76 % of the rate of one GPU where NCCL reaches 87 to 94 % (docs/src/gpu.md, `mpirun -n 2
//! hilbrium bench step` with HILBRIUM_EXCHANGE=staged).

#[cfg(feature = "mpi")]
mod cuda_aware;
pub(super) mod nccl;
mod staged;

use super::Device;
use crate::comm::Communicator;
use crate::{Error, Result};
use std::sync::Arc;

/// Environment variable that selects the transport; the value of rank 0 counts.
const VARIABLE: &str = "HILBRIUM_EXCHANGE";

/// A range of device memory to send to, or receive from, another rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The other rank.
    pub rank: usize,
    /// Device address.
    pub address: u64,
    /// Length in bytes.
    pub bytes: usize,
}

/// A transport between devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// NVIDIA's library NCCL; each rank needs its own GPU.
    Nccl,
    /// CUDA-aware MPI, called with device addresses.
    CudaAware,
    /// Staging through pinned host memory and the communicator of the ranks.
    Staged,
}

impl Way {
    /// Parses the value of the environment variable.
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

    /// Initializes the transport on all ranks, or fails on all. Collective.
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

/// An initialized transport.
trait Carrier: Send + Sync {
    /// Its name for the log.
    fn name(&self) -> &str;

    /// As [`Exchange::begin`]. No message is empty, and none is for this rank.
    fn begin(&self, comm: &Communicator, send: &[Message], receive: &[Message]) -> Result<Box<dyn Arrival>>;
}

/// Pending messages of a transport.
trait Arrival {
    /// As [`Exchange::finish`].
    fn finish(self: Box<Self>, comm: &Communicator) -> Result<()>;
}

/// No pending messages.
struct Nothing;

impl Arrival for Nothing {
    fn finish(self: Box<Self>, _comm: &Communicator) -> Result<()> {
        Ok(())
    }
}

/// Pending messages, between [`Exchange::begin`] and [`Exchange::finish`].
#[must_use = "other ranks wait until messages are finished"]
pub struct Pending(Box<dyn Arrival>);

impl std::fmt::Debug for Pending {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("Pending")
    }
}

/// The transport of a single rank.
struct Alone;

impl Carrier for Alone {
    fn name(&self) -> &str {
        "one rank alone"
    }

    fn begin(&self, _comm: &Communicator, send: &[Message], receive: &[Message]) -> Result<Box<dyn Arrival>> {
        assert!(send.is_empty() && receive.is_empty(), "there is no other rank");
        Ok(Box::new(Nothing))
    }
}

/// The ranks of a run with one device each, and the transport between them.
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
    /// Initializes the transport that HILBRIUM_EXCHANGE selects (`nccl`, `cuda-aware` or `staged`), or else
    /// the first of these that all ranks support. Collective.
    ///
    /// # Errors
    /// [`Error::Usage`] with the reason when the selected transport is not supported; those of the device.
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

    /// Initializes a given transport. A single rank loads nothing. Collective.
    ///
    /// # Errors
    /// [`Error::Usage`] with the reason when it is not supported; those of the device.
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

    /// The transport's name, such as "NCCL 2.27.3"; the same on all ranks.
    pub fn way(&self) -> &str {
        self.carrier.name()
    }

    /// Sends and receives, ordered with the device's other operations: later ones see the received data.
    /// Messages between two ranks arrive in the order of sending, and both ranks agree on their sizes. No
    /// rank sends to itself. Collective.
    ///
    /// # Errors
    /// Those of the device; [`Error::Elsewhere`] when another rank's device failed before, if the transport
    /// reports it.
    pub fn exchange(&self, send: &[Message], receive: &[Message]) -> Result<()> {
        let pending = self.begin(send, receive)?;
        self.finish(pending)
    }

    /// As [`Exchange::exchange`], but nonblocking: operations issued before [`Exchange::finish`] overlap the
    /// transfer.
    ///
    /// Until then the sent ranges must not be written or freed, and the received ranges not be used or freed.
    /// All ranks must finish what they began, in that order, even after an error in between; they may
    /// communicate meanwhile. Collective.
    ///
    /// # Errors
    /// As [`Exchange::exchange`]; then there is nothing to finish.
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

    /// Completes a transfer: operations issued from now on see the received data. Collective.
    ///
    /// # Errors
    /// As [`Exchange::exchange`].
    pub fn finish(&self, pending: Pending) -> Result<()> {
        pending.0.finish(&self.comm)
    }
}
