//! Messages between devices, staged through pinned host memory.

use super::super::Device;
use super::{Arrival, Carrier, Message};
use crate::Result;
use crate::comm::Communicator;
use std::sync::{Arc, Mutex, PoisonError};

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
struct Rest {
    leaving: Pinned,
    arriving: Pinned,
}

impl Rest {
    fn new(device: &Device) -> Self {
        Self { leaving: Pinned::none(device), arriving: Pinned::none(device) }
    }
}

/// The transport through the hosts.
pub(super) struct Staged {
    device: Device,
    /// Staging buffers between exchanges; `None` during one.
    rest: Arc<Mutex<Option<Rest>>>,
}

impl Staged {
    pub(super) fn new(device: &Device) -> Self {
        Self { device: device.clone(), rest: Arc::default() }
    }
}

/// Bytes to or from each rank.
fn lengths(messages: &[Message], ranks: usize) -> Vec<usize> {
    let mut lengths = vec![0; ranks];
    messages.iter().for_each(|message| lengths[message.rank] += message.bytes);
    lengths
}

/// Messages with their addresses in the staging buffer that begins at `start`.
fn places(messages: &[Message], lengths: &[usize], start: u64) -> Vec<(Message, u64)> {
    let mut next: Vec<u64> = lengths
        .iter()
        .scan(start, |next, &length| Some(std::mem::replace(next, *next + length as u64)))
        .collect();
    let place = |message: &Message| {
        let next = &mut next[message.rank];
        (*message, std::mem::replace(next, *next + message.bytes as u64))
    };
    messages.iter().map(place).collect()
}

/// Splits a staging buffer by rank.
fn parts<'a>(mut memory: &'a mut [u8], lengths: &[usize]) -> Vec<&'a mut [u8]> {
    lengths.iter().filter_map(|&length| memory.split_off_mut(..length)).collect()
}

impl Carrier for Staged {
    fn words(&self) -> &str {
        "pinned memory of the host"
    }

    fn begin(&self, comm: &Communicator, send: &[Message], receive: &[Message]) -> Result<Box<dyn Arrival>> {
        let kept = self.rest.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut rest = kept.unwrap_or_else(|| Rest::new(&self.device));
        let (to, from) = (lengths(send, comm.size()), lengths(receive, comm.size()));
        let started = (|| {
            rest.leaving.reserve(to.iter().sum())?;
            rest.arriving.reserve(from.iter().sum())?;
            self.device.driver().part()?;
            for (message, place) in places(send, &to, rest.leaving.address) {
                self.device.driver().copy_aside(place, message.address, message.bytes)?;
            }
            Ok(())
        })();
        let (device, keeper) = (self.device.clone(), self.rest.clone());
        Ok(Box::new(Leaving { device, keeper, started, rest, to, from, receive: receive.to_vec() }))
    }
}

/// Messages being copied from the device.
struct Leaving {
    device: Device,
    keeper: Arc<Mutex<Option<Rest>>>,
    /// The outcome of starting the copies, on which the ranks agree at the end.
    started: Result<()>,
    rest: Rest,
    /// Bytes to and from each rank.
    to: Vec<usize>,
    from: Vec<usize>,
    receive: Vec<Message>,
}

impl Arrival for Leaving {
    fn finish(self: Box<Self>, comm: &Communicator) -> Result<()> {
        let Leaving { device, keeper, started, mut rest, to, from, receive } = *self;
        let left = started.and_then(|()| device.driver().wait_aside().map_err(|error| device.blame(error)));
        // the copies of the last exchange's messages have completed, too
        comm.agree(left)?;
        let Rest { leaving, arriving } = &mut rest;
        let parts_to = parts(leaving.first(to.iter().sum()), &to);
        let parts_to: Vec<&[u8]> = parts_to.iter().map(|part| &**part).collect();
        comm.exchange_into(&parts_to, &mut parts(arriving.first(from.iter().sum()), &from));
        // on the copy stream, so that kernels issued meanwhile overlap
        for (message, place) in places(&receive, &from, arriving.address) {
            device.driver().copy_aside(message.address, place, message.bytes)?;
        }
        device.driver().join()?;
        *keeper.lock().unwrap_or_else(PoisonError::into_inner) = Some(rest);
        Ok(())
    }
}
