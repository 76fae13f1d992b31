//! Messages between devices, staged through pinned host memory.

use super::super::{Device, locked};
use super::{Arrival, Carrier, Message};
use crate::Result;
use crate::comm::Communicator;
use std::sync::{Arc, Mutex};

/// Pinned memory, freed when dropped.
struct Pinned {
    device: Device,
    address: u64,
    bytes: usize,
}

impl Pinned {
    fn none(device: &Device) -> Self {
        Self { device: device.clone(), address: 0, bytes: 0 }
    }

    /// Provides at least `bytes` bytes; the contents may be lost.
    fn reserve(&mut self, bytes: usize) -> Result<()> {
        if bytes > self.bytes {
            *self = Self::none(&self.device);
            // spare capacity, because pinning is slow
            let bytes = bytes + bytes / 4;
            self.address = self.device.driver().pin(bytes)?;
            self.bytes = bytes;
        }
        Ok(())
    }

    /// The first `bytes` bytes.
    fn first(&mut self, bytes: usize) -> &mut [u8] {
        assert!(bytes <= self.bytes, "no more than was reserved");
        match bytes {
            0 => &mut [],
            // SAFETY: pinned as long as self, and no copy is pending
            _ => unsafe { std::slice::from_raw_parts_mut(self.address as *mut u8, bytes) },
        }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if self.bytes > 0 {
            // copies may be pending; an error here repeats an earlier one
            let _ = self.device.synchronize();
            self.device.driver().unpin(self.address, self.bytes);
        }
    }
}

/// Staging buffers, with the messages grouped by rank.
struct Staging {
    outgoing: Pinned,
    incoming: Pinned,
}

impl Staging {
    fn new(device: &Device) -> Self {
        Self { outgoing: Pinned::none(device), incoming: Pinned::none(device) }
    }
}

/// The transport through the hosts.
pub(super) struct Staged {
    device: Device,
    /// Staging buffers between exchanges; `None` during one.
    staging: Arc<Mutex<Option<Staging>>>,
}

impl Staged {
    pub(super) fn new(device: &Device) -> Self {
        Self { device: device.clone(), staging: Arc::default() }
    }
}

/// Bytes to or from each rank.
fn lengths(messages: &[Message], ranks: usize) -> Vec<usize> {
    let mut lengths = vec![0; ranks];
    messages.iter().for_each(|message| lengths[message.rank] += message.bytes);
    lengths
}

/// Messages with their addresses in the staging buffer that begins at `start`.
fn addressed(messages: &[Message], lengths: &[usize], start: u64) -> Vec<(Message, u64)> {
    let mut next: Vec<u64> = lengths
        .iter()
        .scan(start, |next, &length| Some(std::mem::replace(next, *next + length as u64)))
        .collect();
    let address = |message: &Message| {
        let next = &mut next[message.rank];
        (*message, std::mem::replace(next, *next + message.bytes as u64))
    };
    messages.iter().map(address).collect()
}

/// Splits a staging buffer by rank.
fn parts<'a>(mut memory: &'a mut [u8], lengths: &[usize]) -> Vec<&'a mut [u8]> {
    lengths.iter().filter_map(|&length| memory.split_off_mut(..length)).collect()
}

impl Carrier for Staged {
    fn name(&self) -> &str {
        "pinned memory of the host"
    }

    fn begin(&self, comm: &Communicator, send: &[Message], receive: &[Message]) -> Result<Box<dyn Arrival>> {
        let kept = locked(&self.staging).take();
        let mut staging = kept.unwrap_or_else(|| Staging::new(&self.device));
        let (to, from) = (lengths(send, comm.size()), lengths(receive, comm.size()));
        let started = (|| {
            staging.outgoing.reserve(to.iter().sum())?;
            staging.incoming.reserve(from.iter().sum())?;
            self.device.driver().fork()?;
            for (message, address) in addressed(send, &to, staging.outgoing.address) {
                self.device.driver().copy_overlapped(address, message.address, message.bytes)?;
            }
            Ok(())
        })();
        let (device, pool) = (self.device.clone(), self.staging.clone());
        Ok(Box::new(PendingCopies { device, pool, started, staging, to, from, receive: receive.to_vec() }))
    }
}

/// Messages being copied from the device.
struct PendingCopies {
    device: Device,
    pool: Arc<Mutex<Option<Staging>>>,
    /// The outcome of starting the copies, on which the ranks agree at the end.
    started: Result<()>,
    staging: Staging,
    /// Bytes to and from each rank.
    to: Vec<usize>,
    from: Vec<usize>,
    receive: Vec<Message>,
}

impl Arrival for PendingCopies {
    fn finish(self: Box<Self>, comm: &Communicator) -> Result<()> {
        let PendingCopies { device, pool, started, mut staging, to, from, receive } = *self;
        let left =
            started.and_then(|()| device.driver().synchronize_copies().map_err(|error| device.blame(error)));
        // the copies of the last exchange's messages have completed, too
        comm.agree(left)?;
        let Staging { outgoing, incoming } = &mut staging;
        let parts_to = parts(outgoing.first(to.iter().sum()), &to);
        let parts_to: Vec<&[u8]> = parts_to.iter().map(|part| &**part).collect();
        comm.exchange_into(&parts_to, &mut parts(incoming.first(from.iter().sum()), &from));
        // on the copy stream, so that kernels issued meanwhile overlap
        for (message, address) in addressed(&receive, &from, incoming.address) {
            device.driver().copy_overlapped(message.address, address, message.bytes)?;
        }
        device.driver().join()?;
        *locked(&pool) = Some(staging);
        Ok(())
    }
}
