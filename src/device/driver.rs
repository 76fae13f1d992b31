//! The interface of a device: memory, compiled kernels, launches. [`super::cuda`] implements it for a GPU,
//! `emulated.rs` for a host.

use crate::Result;
use std::ffi::c_void;
use std::path::Path;

/// The target that kernels are compiled for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The architecture, "sm_90" or the host's.
    pub architecture: String,
    /// Compiler and driver with their versions: part of the key of compiled kernels.
    pub toolchain: String,
    /// Extension of the file of a compiled unit.
    pub extension: &'static str,
}

/// The source of a unit of kernels.
#[derive(Clone, Copy, Debug)]
pub struct SourceUnit<'a> {
    /// The unit's file below the folder of kernels.
    pub file: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Headers: names as they are included, and texts.
    pub headers: &'a [(String, String)],
    /// Macros and their values.
    pub definitions: &'a [(String, String)],
}

/// The copy stream and identity of a GPU, for communication libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// CUDA's handle of the copy stream.
    pub handle: u64,
    /// The GPU's UUID.
    pub gpu: [u8; 16],
}

/// A device with two streams. Operations run on the compute stream in the order of calls; addresses are
/// device addresses.
///
/// The copy stream overlaps transfers with kernels. Between [`Driver::fork`] and [`Driver::join`] its
/// operations are not ordered with the compute stream, which must neither write nor free their sources, nor
/// use their destinations.
pub trait Driver: Send + Sync {
    /// The device's name.
    fn name(&self) -> String;
    /// The target of its kernels.
    fn target(&self) -> Target;
    /// Number of multiprocessors.
    fn multiprocessors(&self) -> u32;
    /// Bytes of shared memory that a block may have at most, by opt-in.
    fn shared_memory(&self) -> u32;
    /// Free and total bytes.
    fn memory(&self) -> Result<(u64, u64)>;
    /// Joules since the driver was loaded; `None` if nothing counts them.
    fn joules(&self) -> Option<f64> {
        None
    }
    /// Allocates memory, uninitialized.
    fn allocate(&self, bytes: usize) -> Result<u64>;
    /// Frees memory.
    fn free(&self, address: u64, bytes: usize);
    /// Gives freed memory back to the system; without this call it is kept for later buffers.
    fn release_freed(&self) -> Result<()>;
    /// Copies bytes to the device. The host may change them afterwards.
    fn upload(&self, to: u64, bytes: &[u8]) -> Result<()>;
    /// Copies bytes to the host; blocks until they are there.
    fn download(&self, from: u64, bytes: &mut [u8]) -> Result<()>;
    /// Allocates pinned host memory; its addresses are valid on host and device.
    fn pin(&self, bytes: usize) -> Result<u64>;
    /// Frees pinned memory. No pending operation may use it.
    fn unpin(&self, address: u64, bytes: usize);
    /// Copies within device and pinned memory.
    fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<()>;
    /// Makes the copy stream wait for all operations issued so far on the compute stream.
    fn fork(&self) -> Result<()>;
    /// As [`Driver::copy`], on the copy stream.
    fn copy_overlapped(&self, to: u64, from: u64, bytes: usize) -> Result<()>;
    /// Blocks the host until the copy stream is idle.
    fn synchronize_copies(&self) -> Result<()>;
    /// Makes the compute stream wait for all operations issued so far on the copy stream.
    fn join(&self) -> Result<()>;
    /// Fills bytes.
    fn fill(&self, to: u64, byte: u8, bytes: usize) -> Result<()>;
    /// Compiles a unit into a file.
    fn compile(&self, unit: &SourceUnit, into: &Path) -> Result<()>;
    /// Loads a compiled unit for the lifetime of the device.
    fn load(&self, file: &Path) -> Result<u64>;
    /// Looks up a kernel of a loaded unit.
    fn function(&self, module: u64, name: &str) -> Result<u64>;
    /// Launches a kernel with pointers to its arguments and `shared` bytes of dynamic shared memory, at most
    /// [`Driver::shared_memory`] less the kernel's own.
    fn launch(
        &self,
        function: u64,
        blocks: u32,
        threads: u32,
        shared: u32,
        arguments: &mut [*mut c_void],
    ) -> Result<()>;
    /// The copy stream for use by a library, with the GPU made current on this thread; `None` if the device
    /// is no GPU.
    fn stream(&self) -> Result<Option<Stream>>;
    /// The compute stream for use by a library, with the GPU made current on this thread; `None` if the device
    /// is no GPU.
    fn compute_stream(&self) -> Result<Option<u64>>;
    /// Blocks until both streams are idle.
    fn synchronize(&self) -> Result<()>;
    /// Records an event on the compute stream.
    fn mark(&self) -> Result<u64>;
    /// Seconds between two events; waits for the second and destroys both.
    fn seconds_between(&self, from: u64, to: u64) -> Result<f64>;
}
