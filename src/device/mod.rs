//! Devices: where the passes run. This version runs on processor cores.

use crate::deck::plan::Device;
use crate::{Error, Result};

/// Whether the passes can run where a plan wants them; `auto` takes what there is.
///
/// # Errors
/// [`Error::Usage`] for a device that this program cannot use.
pub fn check(wanted: Device) -> Result<()> {
    match wanted {
        Device::Auto | Device::Cpu => Ok(()),
        Device::Cuda => Err(Error::usage(
            "this version of hilbrium has no passes for CUDA devices",
            "set run.device = \"auto\" or \"cpu\" in the deck, or add --set run.device=cpu",
        )),
    }
}
