//! Energy counters of GPUs, by NVIDIA's management library (NVML), which is loaded at run time.
//!
//! The few functions used are declared here: bindings of the whole library would add a dozen dependencies.

use std::ffi::{CString, c_char, c_int, c_void};

/// File names of the library; it is part of the driver.
const NAMES: [&str; 2] = ["libnvidia-ml.so.1", "libnvidia-ml.so"];

/// nvmlDeviceGetTotalEnergyConsumption.
type TotalEnergy = unsafe extern "C" fn(*mut c_void, *mut u64) -> c_int;

/// The counter of one GPU.
#[derive(Debug)]
pub struct EnergyCounter {
    device: *mut c_void,
    total: TotalEnergy,
}

// SAFETY: NVML's functions may be called from any thread
unsafe impl Send for EnergyCounter {}
unsafe impl Sync for EnergyCounter {}

impl EnergyCounter {
    /// The counter of the GPU with this UUID; `None` without the library or on GPUs that count no energy.
    pub fn of(uuid: [u8; 16]) -> Option<Self> {
        // SAFETY: loading NVML runs only its own initializers; the types are those of its header
        unsafe {
            let library = NAMES.iter().find_map(|name| libloading::Library::new(*name).ok())?;
            let library: &'static libloading::Library = Box::leak(Box::new(library));
            let initialize: unsafe extern "C" fn() -> c_int = *library.get(b"nvmlInit_v2\0").ok()?;
            let by_uuid: unsafe extern "C" fn(*const c_char, *mut *mut c_void) -> c_int =
                *library.get(b"nvmlDeviceGetHandleByUUID\0").ok()?;
            let total: TotalEnergy = *library.get(b"nvmlDeviceGetTotalEnergyConsumption\0").ok()?;
            let mut device = std::ptr::null_mut();
            let name = CString::new(name_of(uuid)).ok()?;
            (initialize() == 0 && by_uuid(name.as_ptr(), &mut device) == 0).then_some(())?;
            let counter = Self { device, total };
            counter.joules().map(|_| counter)
        }
    }

    /// Joules since the driver was loaded.
    pub fn joules(&self) -> Option<f64> {
        let mut millijoules = 0;
        // SAFETY: the device is NVML's
        let answer = unsafe { (self.total)(self.device, &mut millijoules) };
        (answer == 0).then_some(1e-3 * millijoules as f64)
    }
}

/// NVML's name of a UUID.
fn name_of(uuid: [u8; 16]) -> String {
    let digits: String = uuid.iter().map(|byte| format!("{byte:02x}")).collect();
    let parts = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]];
    format!("GPU-{}", parts.join("-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_is_found_by_its_name() {
        let uuid: [u8; 16] = std::array::from_fn(|k| 17 * k as u8);
        assert_eq!(name_of(uuid), "GPU-00112233-4455-6677-8899-aabbccddeeff");
    }
}
