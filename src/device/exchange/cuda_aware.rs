//! Messages between devices by CUDA-aware MPI.

use super::super::Device;
use super::{Arrival, Carrier, Message};
use crate::comm::Communicator;
use crate::{Error, Result};
use libloading::os::unix::Library;
use mpi::ffi;
use std::ffi::{c_int, c_void};

/// Bytes of the largest single message: MPI counts in 32 bits.
const LARGEST_MESSAGE: usize = 1 << 30;

/// Tag of these messages.
const TAG: c_int = 1;

/// The transport by CUDA-aware MPI.
pub(super) struct CudaAware {
    device: Device,
}

impl CudaAware {
    /// Fails on all ranks if one lacks support. Collective.
    pub(super) fn new(device: &Device, comm: &Communicator) -> Result<Self> {
        comm.agree(possible(device, comm))?;
        Ok(Self { device: device.clone() })
    }
}

/// Checks whether MPI accepts addresses of this device.
fn possible(device: &Device, comm: &Communicator) -> Result<()> {
    if comm.in_one_process() {
        return Err(Error::usage(
            "ranks that are threads of one process send each other nothing by MPI",
            REMEDY,
        ));
    }
    // addresses of the emulation are host addresses
    if device.driver().stream()?.is_none() || takes_addresses_of_gpus() {
        return Ok(());
    }
    Err(Error::usage(
        "this MPI library does not take addresses on GPUs, or does not say that it does",
        REMEDY,
    ))
}

/// The remedy without such an MPI library.
const REMEDY: &str = "use an MPI library built with CUDA (Open MPI: ompi_info --parsable --all | grep mpi_built_with_cuda_support), \
                      or HILBRIUM_EXCHANGE=staged";

/// The result of MPIX_Query_cuda_support, an extension of Open MPI; looked up by name, as other libraries
/// lack it.
fn takes_addresses_of_gpus() -> bool {
    // SAFETY: the signature is the documented one
    unsafe {
        let found = Library::this().get::<unsafe extern "C" fn() -> c_int>(b"MPIX_Query_cuda_support\0");
        found.is_ok_and(|ask| ask() == 1)
    }
}

/// Splits a message into pieces with 32-bit lengths: address and length.
fn pieces(message: &Message) -> impl Iterator<Item = (u64, c_int)> {
    let Message { address, bytes, .. } = *message;
    let starts = (0..bytes).step_by(LARGEST_MESSAGE);
    starts.map(move |start| (address + start as u64, LARGEST_MESSAGE.min(bytes - start) as c_int))
}

impl Carrier for CudaAware {
    fn name(&self) -> &str {
        "CUDA-aware MPI"
    }

    fn begin(&self, comm: &Communicator, send: &[Message], receive: &[Message]) -> Result<Box<dyn Arrival>> {
        let Some(world) = comm.raw_mpi() else { unreachable!("ranks are processes, as new has seen") };
        comm.agree(self.device.synchronize())?;
        let mut requests = Vec::new();
        // SAFETY: the caller's ranges stay valid until the requests complete. MPI errors abort all ranks.
        unsafe {
            for message in receive {
                for (address, bytes) in pieces(message) {
                    let mut request = ffi::RSMPI_REQUEST_NULL;
                    let (to, rank) = (address as *mut c_void, message.rank as c_int);
                    ffi::MPI_Irecv(to, bytes, ffi::RSMPI_UINT8_T, rank, TAG, world, &mut request);
                    requests.push(request);
                }
            }
            for message in send {
                for (address, bytes) in pieces(message) {
                    let mut request = ffi::RSMPI_REQUEST_NULL;
                    let (from, rank) = (address as *const c_void, message.rank as c_int);
                    ffi::MPI_Isend(from, bytes, ffi::RSMPI_UINT8_T, rank, TAG, world, &mut request);
                    requests.push(request);
                }
            }
        }
        comm.received_elsewhere(receive.iter().map(|message| message.bytes));
        Ok(Box::new(Requests(requests)))
    }
}

/// Pending MPI requests.
struct Requests(Vec<ffi::MPI_Request>);

impl Arrival for Requests {
    fn finish(mut self: Box<Self>, _comm: &Communicator) -> Result<()> {
        let count = self.0.len() as c_int;
        // SAFETY: the requests are from begin and are completed once
        unsafe { ffi::MPI_Waitall(count, self.0.as_mut_ptr(), ffi::RSMPI_STATUSES_IGNORE) };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_a_message_of_any_size() {
        for bytes in [1, LARGEST_MESSAGE - 1, LARGEST_MESSAGE, LARGEST_MESSAGE + 1, 5 * LARGEST_MESSAGE / 2] {
            let mut next = 1000;
            for (address, length) in pieces(&Message { rank: 0, address: 1000, bytes }) {
                assert!(address == next && length > 0 && length as usize <= LARGEST_MESSAGE);
                next += length as u64;
            }
            assert_eq!(next, 1000 + bytes as u64);
        }
    }
}
