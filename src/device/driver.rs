//! What a device must be able to do: memory, compiled kernels, launches. [`super::cuda`] does it on a GPU;
//! a host can play it too (`emulated.rs`).

use crate::Result;
use std::ffi::c_void;
use std::path::Path;

/// How a device's kernels are compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The architecture, "sm_90" or the host's.
    pub architecture: String,
    /// Compiler and driver with their versions: compiled kernels serve as long as these are the same.
    pub toolchain: String,
    /// What a compiled unit's file name ends with.
    pub extension: &'static str,
}

/// What a kernel is compiled from.
#[derive(Clone, Copy, Debug)]
pub struct SourceUnit<'a> {
    /// File of the unit, below the folder of kernels.
    pub file: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Texts that it may include: names as they are included, and texts.
    pub headers: &'a [(String, String)],
    /// Macros and their values.
    pub definitions: &'a [(String, String)],
}

/// What libraries that work on a GPU on their own need to know of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// CUDA's handle of the stream that operations aside are on.
    pub handle: u64,
    /// What tells the GPU from every other one, on other hosts too.
    pub gpu: [u8; 16],
}

/// A device's operations in the order of calls. Addresses are the device's.
///
/// Some go on aside, so that bytes travel while kernels run: between [`Driver::part`] and [`Driver::join`] they are in no
/// order with the others, which must neither write nor give back what they use, nor use what they write.
pub trait Driver: Send + Sync {
    /// The device's name.
    fn name(&self) -> String;
    /// What its kernels are compiled for.
    fn target(&self) -> Target;
    /// Multiprocessors.
    fn multiprocessors(&self) -> u32;
    /// Bytes free, and in all.
    fn memory(&self) -> Result<(u64, u64)>;
    /// New memory whose content is not defined.
    fn allocate(&self, bytes: usize) -> Result<u64>;
    /// Gives memory back.
    fn free(&self, address: u64, bytes: usize);
    /// Writes bytes of the host; these may change when it returns.
    fn upload(&self, to: u64, bytes: &[u8]) -> Result<()>;
    /// Reads bytes to the host; done when it returns.
    fn download(&self, from: u64, bytes: &mut [u8]) -> Result<()>;
    /// Host memory that the device copies to and from on its own; addresses in it are the host's and the device's.
    fn pin(&self, bytes: usize) -> Result<u64>;
    /// Gives pinned memory back, which nothing that was started uses any more.
    fn unpin(&self, address: u64, bytes: usize);
    /// Copies between places on the device and in pinned memory.
    fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<()>;
    /// What is started aside from now on waits for all that was started before, and not for what is started later.
    fn part(&self) -> Result<()>;
    /// As [`Driver::copy`], aside.
    fn copy_aside(&self, to: u64, from: u64, bytes: usize) -> Result<()>;
    /// The host waits for what was started aside, and for what that has waited for; not for other operations.
    fn wait_aside(&self) -> Result<()>;
    /// What is started from now on waits for what was started aside before; the host does not wait.
    fn join(&self) -> Result<()>;
    /// Fills bytes.
    fn fill(&self, to: u64, byte: u8, bytes: usize) -> Result<()>;
    /// Compiles a unit for this device into a file.
    fn compile(&self, unit: &SourceUnit, into: &Path) -> Result<()>;
    /// Loads a compiled unit; it stays as long as the device.
    fn load(&self, file: &Path) -> Result<u64>;
    /// A kernel of a loaded unit.
    fn function(&self, module: u64, name: &str) -> Result<u64>;
    /// Starts a kernel with pointers to its arguments.
    fn launch(&self, function: u64, blocks: u32, threads: u32, arguments: &mut [*mut c_void]) -> Result<()>;
    /// Where a library may put its own operations aside of these, with the GPU made current on this thread; `None` where
    /// the device is no GPU.
    fn stream(&self) -> Result<Option<Stream>>;
    /// Waits for all that was started, aside too.
    fn synchronize(&self) -> Result<()>;
    /// A mark in the order of operations.
    fn mark(&self) -> Result<u64>;
    /// Seconds between two marks; waits for the second, and forgets both.
    fn seconds_between(&self, from: u64, to: u64) -> Result<f64>;
}
