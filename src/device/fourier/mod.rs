//! Fourier transforms of meshes on a device, unnormalized: by cuFFT on a GPU, in `emulated.rs` on an emulated
//! device, whose memory is the host's.
//!
//! Values have the last dimension contiguous. Of a real transform the waves have half of the last dimension
//! plus one ([`half`]).

mod cufft;
mod emulated;

use super::Device;
use crate::Result;
use cufft::{Kind, Plan};

/// Whether cuFFT is installed.
pub(super) fn is_installed() -> bool {
    cufft::is_installed()
}

/// Number of complex waves of this many real values.
pub fn half(points: usize) -> usize {
    points / 2 + 1
}

/// Real transforms of a mesh in its three dimensions, or of each of its planes of constant x in two.
#[derive(Debug)]
pub struct RealTransform {
    way: Way<RealPlans>,
    points: [usize; 3],
    planar: bool,
    double: bool,
}

/// Transforms of complex lines along the first dimension, in place: element `k` of line `l` has the index
/// `k * lines + l`.
#[derive(Debug)]
pub struct LineTransform {
    way: Way<Plan>,
    points: usize,
    lines: usize,
    double: bool,
}

/// Who transforms.
#[derive(Debug)]
enum Way<P> {
    Cufft(P),
    Emulated,
}

#[derive(Debug)]
struct RealPlans {
    forward: Plan,
    inverse: Plan,
}

impl<P> Way<P> {
    /// Plans for a GPU; an emulated device needs none.
    fn new(device: &Device, plan: impl FnOnce() -> Result<P>) -> Result<Self> {
        match device.driver().compute_stream()? {
            Some(_) => plan().map(Way::Cufft),
            None => Ok(Way::Emulated),
        }
    }
}

impl RealTransform {
    /// Transforms of a mesh in three dimensions.
    ///
    /// # Errors
    /// [`crate::Error::Usage`] if cuFFT is not installed; [`crate::Error::Device`] when the device's memory
    /// is too small.
    pub fn of_mesh(device: &Device, points: [usize; 3], double: bool) -> Result<Self> {
        Self::new(device, points, false, double)
    }

    /// Transforms of the `points[0]` planes of a mesh; one plane at least.
    ///
    /// # Errors
    /// As [`Self::of_mesh`].
    pub fn of_planes(device: &Device, points: [usize; 3], double: bool) -> Result<Self> {
        Self::new(device, points, true, double)
    }

    fn new(device: &Device, points: [usize; 3], planar: bool, double: bool) -> Result<Self> {
        let plan = |kind| match planar {
            true => Plan::of_planes(device, points, kind),
            false => Plan::of_mesh(device, points, kind),
        };
        let kinds = match double {
            true => [Kind::RealToWavesDouble, Kind::WavesToRealDouble],
            false => [Kind::RealToWavesSingle, Kind::WavesToRealSingle],
        };
        let plans = || Ok(RealPlans { forward: plan(kinds[0])?, inverse: plan(kinds[1])? });
        Ok(Self { way: Way::new(device, plans)?, points, planar, double })
    }

    /// Transforms values at the device address `values` to waves at `waves`.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device has failed.
    pub fn forward(&self, values: u64, waves: u64) -> Result<()> {
        match &self.way {
            Way::Cufft(plans) => plans.forward.start(values, waves),
            Way::Emulated => {
                match self.double {
                    true => emulated::forward::<f64>(self.points, self.planar, values, waves),
                    false => emulated::forward::<f32>(self.points, self.planar, values, waves),
                }
                Ok(())
            }
        }
    }

    /// Transforms waves, which are overwritten, to values.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device has failed.
    pub fn inverse(&self, waves: u64, values: u64) -> Result<()> {
        match &self.way {
            Way::Cufft(plans) => plans.inverse.start(waves, values),
            Way::Emulated => {
                match self.double {
                    true => emulated::inverse::<f64>(self.points, self.planar, waves, values),
                    false => emulated::inverse::<f32>(self.points, self.planar, waves, values),
                }
                Ok(())
            }
        }
    }

    /// Bytes that cuFFT has allocated on the device.
    pub fn bytes(&self) -> usize {
        match &self.way {
            Way::Cufft(plans) => plans.forward.bytes() + plans.inverse.bytes(),
            Way::Emulated => 0,
        }
    }
}

impl LineTransform {
    /// Transforms of `lines` lines of `points` points; one line at least.
    ///
    /// # Errors
    /// As [`RealTransform::of_mesh`].
    pub fn new(device: &Device, points: usize, lines: usize, double: bool) -> Result<Self> {
        let kind = if double { Kind::LinesDouble } else { Kind::LinesSingle };
        let way = Way::new(device, || Plan::of_lines(device, points, lines, kind))?;
        Ok(Self { way, points, lines, double })
    }

    /// Transforms the lines at a device address; the inverse has the opposite sign of the exponent.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device has failed.
    pub fn transform(&self, lines: u64, inverse: bool) -> Result<()> {
        match &self.way {
            Way::Cufft(plan) => plan.start_lines(lines, inverse),
            Way::Emulated => {
                match self.double {
                    true => emulated::lines::<f64>(self.points, self.lines, lines, inverse),
                    false => emulated::lines::<f32>(self.points, self.lines, lines, inverse),
                }
                Ok(())
            }
        }
    }

    /// Bytes that cuFFT has allocated on the device.
    pub fn bytes(&self) -> usize {
        match &self.way {
            Way::Cufft(plan) => plan.bytes(),
            Way::Emulated => 0,
        }
    }
}
