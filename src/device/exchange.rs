//! Bytes from the memory of one rank's device to that of another's.

use super::Device;
use crate::Result;
use crate::comm::Communicator;

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

/// The ranks of a run with a device each, and how their bytes go from one to another.
#[derive(Clone, Debug)]
pub struct Exchange {
    device: Device,
    comm: Communicator,
}

impl Exchange {
    /// Between the devices of these ranks. Collective.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(device: &Device, comm: &Communicator) -> Result<Self> {
        Ok(Self { device: device.clone(), comm: comm.clone() })
    }

    /// The device of this rank.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// How bytes go from one device to another.
    pub fn way(&self) -> &str {
        "memory of the host"
    }

    /// The ranks.
    pub fn comm(&self) -> &Communicator {
        &self.comm
    }

    /// Sends and receives, in the order of the device's other operations: what is started afterwards finds what has arrived.
    /// Between two ranks messages arrive in the order in which they are sent, and both agree on their sizes. Collective.
    ///
    /// # Errors
    /// Those of the device.
    pub fn exchange(&self, send: &[Message], receive: &[Message]) -> Result<()> {
        let ranks = self.comm.size();
        let mut leaving: Vec<Vec<u8>> = vec![Vec::new(); ranks];
        for message in send {
            let parcel = &mut leaving[message.rank];
            let start = parcel.len();
            parcel.resize(start + message.bytes, 0);
            self.device.driver().download(message.address, &mut parcel[start..])?;
        }
        let mut counts = vec![0; ranks];
        receive.iter().for_each(|message| counts[message.rank] += message.bytes);
        let arrived = self.comm.exchange(&leaving, &counts);
        let mut taken = vec![0; ranks];
        for message in receive {
            let start = taken[message.rank];
            taken[message.rank] += message.bytes;
            let bytes = &arrived[message.rank][start..taken[message.rank]];
            self.device.driver().upload(message.address, bytes)?;
        }
        Ok(())
    }
}
