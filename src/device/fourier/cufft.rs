//! Plans of cuFFT, which is loaded at run time.

use super::super::Device;
use super::half;
use crate::{Error, Result};
use cudarc::cufft::{result, sys};

/// The remedy without the library.
const REMEDY: &str = "install cuFFT (libcufft, part of the CUDA toolkit or of PyPI's nvidia-cufft) and let LD_LIBRARY_PATH find it";

/// CUFFT_FORWARD and CUFFT_INVERSE: signs of the exponent.
const FORWARD: i32 = -1;
const INVERSE: i32 = 1;

/// Which numbers a plan transforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    RealToWavesSingle,
    WavesToRealSingle,
    RealToWavesDouble,
    WavesToRealDouble,
    LinesSingle,
    LinesDouble,
}

impl Kind {
    fn of_cufft(self) -> sys::cufftType {
        match self {
            Kind::RealToWavesSingle => sys::cufftType::CUFFT_R2C,
            Kind::WavesToRealSingle => sys::cufftType::CUFFT_C2R,
            Kind::RealToWavesDouble => sys::cufftType::CUFFT_D2Z,
            Kind::WavesToRealDouble => sys::cufftType::CUFFT_Z2D,
            Kind::LinesSingle => sys::cufftType::CUFFT_C2C,
            Kind::LinesDouble => sys::cufftType::CUFFT_Z2Z,
        }
    }
}

/// Where the numbers of a batch are: storage dimensions, distance of the last dimension's neighbors, and of
/// the transforms of the batch.
#[derive(Clone, Copy, Debug)]
struct Embedding<const N: usize> {
    points: [i32; N],
    stride: i32,
    distance: i32,
}

impl Embedding<2> {
    /// Contiguous planes.
    fn of_plane(points: [i32; 2]) -> Self {
        Embedding { points, stride: 1, distance: points[0] * points[1] }
    }
}

/// A plan on the compute stream of a GPU, destroyed when dropped.
#[derive(Debug)]
pub(super) struct Plan {
    handle: sys::cufftHandle,
    kind: Kind,
    device: Device,
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

/// Whether the library can be loaded.
pub(super) fn is_installed() -> bool {
    // SAFETY: only checks whether the library can be loaded
    unsafe { sys::is_culib_present() }
}

impl Plan {
    /// A mesh in three dimensions.
    ///
    /// # Errors
    /// [`Error::Usage`] if cuFFT is not installed; [`Error::Device`] when the GPU's memory is too small.
    pub(super) fn of_mesh(device: &Device, points: [usize; 3], kind: Kind) -> Result<Self> {
        let [x, y, z] = points.map(|points| points as i32);
        Self::new(device, kind, || result::plan_3d(x, y, z, kind.of_cufft()))
    }

    /// The planes of a mesh in two dimensions.
    ///
    /// # Errors
    /// As [`Self::of_mesh`].
    pub(super) fn of_planes(device: &Device, points: [usize; 3], kind: Kind) -> Result<Self> {
        let [planes, y, z] = points.map(|points| points as i32);
        let (values, waves) = (Embedding::of_plane([y, z]), Embedding::of_plane([y, half(points[2]) as i32]));
        match kind {
            Kind::WavesToRealSingle | Kind::WavesToRealDouble => {
                Self::many(device, kind, [y, z], waves, values, planes)
            }
            _ => Self::many(device, kind, [y, z], values, waves, planes),
        }
    }

    /// Lines whose points are as far apart as there are lines.
    ///
    /// # Errors
    /// As [`Self::of_mesh`].
    pub(super) fn of_lines(device: &Device, points: usize, lines: usize, kind: Kind) -> Result<Self> {
        let (points, lines) = (points as i32, lines as i32);
        let embedding = Embedding { points: [points], stride: lines, distance: 1 };
        Self::many(device, kind, [points], embedding, embedding, lines)
    }

    /// A batch of transforms of these points.
    fn many<const N: usize>(
        device: &Device,
        kind: Kind,
        mut points: [i32; N],
        mut from: Embedding<N>,
        mut to: Embedding<N>,
        batch: i32,
    ) -> Result<Self> {
        Self::new(device, kind, || {
            let mut handle = 0;
            // SAFETY: the numbers live until the call returns
            let planned = unsafe {
                sys::cufftPlanMany(
                    &mut handle,
                    N as i32,
                    points.as_mut_ptr(),
                    from.points.as_mut_ptr(),
                    from.stride,
                    from.distance,
                    to.points.as_mut_ptr(),
                    to.stride,
                    to.distance,
                    kind.of_cufft(),
                    batch,
                )
            };
            planned.result().map(|()| handle)
        })
    }

    fn new(
        device: &Device,
        kind: Kind,
        plan: impl FnOnce() -> Result<sys::cufftHandle, result::CufftError>,
    ) -> Result<Self> {
        let Some(stream) = device.driver().compute_stream()? else {
            unreachable!("plans are for GPUs");
        };
        if !is_installed() {
            return Err(Error::usage("cuFFT (libcufft) is not installed here", REMEDY));
        }
        let handle = plan().map_err(|cause| failed("planning", cause))?;
        let plan = Plan { handle, kind, device: device.clone() };
        // SAFETY: the plan is valid, and the stream lives as long as the device
        unsafe { result::set_stream(handle, stream as sys::cudaStream_t) }
            .map_err(|cause| failed("planning", cause))?;
        Ok(plan)
    }

    /// Starts the transform of a mesh or of planes; the input of waves is overwritten.
    ///
    /// # Errors
    /// [`Error::Device`] when the device has failed.
    pub(super) fn start(&self, from: u64, to: u64) -> Result<()> {
        self.device.driver().compute_stream()?;
        // SAFETY: the caller's buffers have the sizes of the plan
        let done = unsafe {
            match self.kind {
                Kind::RealToWavesSingle => result::exec_r2c(self.handle, from as *mut _, to as *mut _),
                Kind::WavesToRealSingle => result::exec_c2r(self.handle, from as *mut _, to as *mut _),
                Kind::RealToWavesDouble => result::exec_d2z(self.handle, from as *mut _, to as *mut _),
                Kind::WavesToRealDouble => result::exec_z2d(self.handle, from as *mut _, to as *mut _),
                Kind::LinesSingle | Kind::LinesDouble => unreachable!("lines are started with a direction"),
            }
        };
        done.map_err(|cause| failed("starting", cause))
    }

    /// Starts the transform of lines, in place.
    ///
    /// # Errors
    /// [`Error::Device`] when the device has failed.
    pub(super) fn start_lines(&self, lines: u64, inverse: bool) -> Result<()> {
        self.device.driver().compute_stream()?;
        let sign = if inverse { INVERSE } else { FORWARD };
        // SAFETY: the caller's buffer has the size of the plan
        let done = unsafe {
            match self.kind {
                Kind::LinesSingle => result::exec_c2c(self.handle, lines as *mut _, lines as *mut _, sign),
                Kind::LinesDouble => result::exec_z2z(self.handle, lines as *mut _, lines as *mut _, sign),
                _ => unreachable!("real transforms have no direction"),
            }
        };
        done.map_err(|cause| failed("starting", cause))
    }

    /// Bytes of the plan's work area.
    pub(super) fn bytes(&self) -> usize {
        // SAFETY: the plan is valid
        unsafe { result::get_size(self.handle) }.unwrap_or(0)
    }
}

impl Drop for Plan {
    fn drop(&mut self) {
        if self.device.driver().compute_stream().is_ok() {
            // SAFETY: the plan is not used again
            let _ = unsafe { result::destroy(self.handle) };
        }
    }
}
