//! What GPU runs need, as found on this machine: driver, GPUs, compiler, libraries. Creates no CUDA context.

use super::exchange::nccl;
use super::{cuda, fourier, nvrtc, program};
use crate::Result;
use std::path::PathBuf;

/// What GPU runs need, as found on this machine.
#[derive(Debug)]
pub struct Survey {
    /// The newest CUDA version that the driver supports; `None` without a driver.
    pub driver: Option<String>,
    /// Name and memory of each GPU.
    pub gpus: Vec<String>,
    /// Version of CUDA's run-time compiler.
    pub nvrtc: Result<String>,
    /// Folder of compiled kernels, which can be written.
    pub kernel_cache: Result<PathBuf>,
    /// Whether cuFFT is installed.
    pub cufft: bool,
    /// Version of NCCL, for messages between GPUs.
    pub nccl: Result<String>,
}

/// Looks for all that GPU runs need.
pub fn survey() -> Survey {
    Survey {
        driver: cuda::driver_version(),
        gpus: cuda::names(),
        nvrtc: nvrtc::version().map(|(major, minor)| format!("{major}.{minor}")),
        kernel_cache: program::writable_cache_folder(),
        cufft: fourier::is_installed(),
        nccl: nccl::version(),
    }
}
