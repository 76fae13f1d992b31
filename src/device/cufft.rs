//! Three-dimensional real Fourier transforms on a GPU by cuFFT, which is loaded at run time.

use super::Device;
use crate::{Error, Result};
use cudarc::cufft::{result, sys};

/// The remedy without the library.
const REMEDY: &str = "install cuFFT (libcufft, part of the CUDA toolkit or of PyPI's nvidia-cufft) and let LD_LIBRARY_PATH find it";

/// Forward and inverse transform of a mesh, unnormalized. Values have the last dimension contiguous; waves
/// have half of it plus one, [`waves`].
#[derive(Debug)]
pub struct Transform {
    forward: sys::cufftHandle,
    inverse: sys::cufftHandle,
    double: bool,
    device: Device,
}

/// Number of complex waves of a mesh.
pub fn waves(points: [usize; 3]) -> usize {
    points[0] * points[1] * (points[2] / 2 + 1)
}

fn failed(doing: &str, cause: result::CufftError) -> Error {
    let remedy = match cause.0 {
        sys::cufftResult::CUFFT_ALLOC_FAILED => {
            "use a coarser mesh, or fewer particles: the GPU's memory is full"
        }
        _ => "restart from the last checkpoint, or run with device \"cpu\"",
    };
    Error::device(format!("{doing} a Fourier transform failed: {cause}"), remedy)
}

impl Transform {
    /// Plans the transforms of a mesh on the compute stream of a GPU.
    ///
    /// # Errors
    /// [`Error::Usage`] if the device is an emulation or cuFFT is not installed; [`Error::Device`] when its
    /// memory is too small.
    pub fn new(device: &Device, points: [usize; 3], double: bool) -> Result<Self> {
        let Some(stream) = device.driver().compute_stream()? else {
            return Err(Error::usage("the device is emulated and has no cuFFT", REMEDY));
        };
        // SAFETY: only checks whether the library can be loaded
        if !unsafe { sys::is_culib_present() } {
            return Err(Error::usage("cuFFT (libcufft) is not installed here", REMEDY));
        }
        let [x, y, z] = points.map(|points| points as i32);
        let plan = |kind| {
            let plan = result::plan_3d(x, y, z, kind)?;
            // SAFETY: the plan is new, and the stream lives as long as the device
            unsafe { result::set_stream(plan, stream as sys::cudaStream_t) }.map(|()| plan)
        };
        use sys::cufftType::{CUFFT_C2R, CUFFT_D2Z, CUFFT_R2C, CUFFT_Z2D};
        let kinds = if double { [CUFFT_D2Z, CUFFT_Z2D] } else { [CUFFT_R2C, CUFFT_C2R] };
        let forward = plan(kinds[0]).map_err(|cause| failed("planning", cause))?;
        let inverse = plan(kinds[1]).map_err(|cause| failed("planning", cause))?;
        Ok(Transform { forward, inverse, double, device: device.clone() })
    }

    /// Transforms values at the device address `values` to waves at `waves`.
    ///
    /// # Errors
    /// [`Error::Device`] when the device has failed.
    pub fn forward(&self, values: u64, waves: u64) -> Result<()> {
        self.device.driver().compute_stream()?;
        // SAFETY: the caller's buffers have the sizes of the plan
        let done = unsafe {
            if self.double {
                result::exec_d2z(self.forward, values as *mut _, waves as *mut _)
            } else {
                result::exec_r2c(self.forward, values as *mut _, waves as *mut _)
            }
        };
        done.map_err(|cause| failed("starting", cause))
    }

    /// Transforms waves, which are overwritten, to values.
    ///
    /// # Errors
    /// [`Error::Device`] when the device has failed.
    pub fn inverse(&self, waves: u64, values: u64) -> Result<()> {
        self.device.driver().compute_stream()?;
        // SAFETY: as for forward
        let done = unsafe {
            if self.double {
                result::exec_z2d(self.inverse, waves as *mut _, values as *mut _)
            } else {
                result::exec_c2r(self.inverse, waves as *mut _, values as *mut _)
            }
        };
        done.map_err(|cause| failed("starting", cause))
    }
}

impl Drop for Transform {
    fn drop(&mut self) {
        if self.device.driver().compute_stream().is_ok() {
            // SAFETY: the plans are not used again
            unsafe {
                let _ = result::destroy(self.forward);
                let _ = result::destroy(self.inverse);
            }
        }
    }
}
