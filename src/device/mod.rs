//! Devices: where columns live and passes run. Without one, processor cores do all.
//!
//! A [`Device`] is a GPU, or for tests a host that plays one; either runs the kernels of the folder `kernels`, which are
//! compiled when they are first needed ([`program`]).

pub mod arguments;
mod buffer;
pub mod columns;
pub mod cuda;
pub mod domain;
pub mod driver;
mod emulated;
pub mod exchange;
pub mod gas;
pub mod gravity;
pub mod hierarchy;
pub mod hydrodynamics;
pub mod keys;
mod launch;
pub mod leapfrog;
pub mod list;
pub mod motion;
pub mod neighborhood;
pub mod nvrtc;
pub mod order;
pub mod pack;
pub mod particle_list;
pub mod particle_sweep;
pub mod program;
pub mod reduction;
pub mod scan;
pub mod skin;
pub mod smoothing;
pub mod sort;
pub mod sweep;
pub mod time_step;
pub mod totals;
pub mod values;
pub mod verlet;

pub use buffer::Buffer;
pub use launch::{Function, Kernel};
pub use program::Unit;

use crate::comm::Communicator;
use crate::deck::plan::{self, Plan};
use crate::{Error, Result, report};
use driver::Driver;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A device that runs kernels; copies are the same one.
#[derive(Clone)]
pub struct Device(Arc<Inner>);

struct Inner {
    driver: Box<dyn Driver>,
    /// Loaded units with the kernels that were asked for.
    modules: Mutex<HashMap<Unit, Module>>,
    /// Kernels started since the device was last waited for: one of them is to blame for an error.
    started: Mutex<Vec<&'static str>>,
    waits: bool,
}

struct Module {
    handle: u64,
    functions: HashMap<&'static str, Function>,
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "Device({})", self.name())
    }
}

impl Device {
    fn new(driver: Box<dyn Driver>) -> Self {
        // to find out which kernel fails
        let waits = std::env::var_os("HILBRIUM_CUDA_WAIT").is_some_and(|value| value == "1");
        Device(Arc::new(Inner { driver, modules: Mutex::default(), started: Mutex::default(), waits }))
    }

    /// The GPU of that number.
    ///
    /// # Errors
    /// [`Error::Usage`] without driver, compiler or such a GPU.
    pub fn cuda(number: u32) -> Result<Self> {
        Ok(Self::new(Box::new(cuda::Gpu::open(number)?)))
    }

    /// A host that plays a device: for tests.
    ///
    /// # Errors
    /// [`Error::Usage`] without a C++ compiler.
    pub fn emulated() -> Result<Self> {
        Ok(Self::new(Box::new(emulated::Emulation::new()?)))
    }

    /// The device of tests: the GPU of number HILBRIUM_DEVICE_NUMBER, or 0, where HILBRIUM_DEVICE_UNDER_TEST is "cuda", else
    /// the emulation.
    ///
    /// # Errors
    /// [`Error::Usage`] when it is not there.
    pub fn under_test() -> Result<Self> {
        match std::env::var("HILBRIUM_DEVICE_UNDER_TEST").as_deref() {
            Ok("cuda") => {
                let number = std::env::var("HILBRIUM_DEVICE_NUMBER").ok();
                Self::cuda(number.and_then(|number| number.parse().ok()).unwrap_or(0))
            }
            _ => Self::emulated(),
        }
    }

    /// The device's name.
    pub fn name(&self) -> String {
        self.driver().name()
    }

    /// Multiprocessors.
    pub fn multiprocessors(&self) -> u32 {
        self.driver().multiprocessors()
    }

    /// Bytes free, and in all.
    ///
    /// # Errors
    /// [`Error::Device`] when the device has failed.
    pub fn memory(&self) -> Result<(u64, u64)> {
        self.driver().memory()
    }

    /// A function of a unit, which is compiled and loaded at its first use.
    ///
    /// # Errors
    /// [`Error::Device`] when it does not compile or load, [`Error::File`] when it cannot be kept on disk.
    pub fn function(&self, unit: &Unit, name: &'static str) -> Result<Function> {
        let mut modules = self.0.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if !modules.contains_key(unit) {
            let handle = self.driver().load(&program::compiled(self.driver(), unit)?)?;
            modules.insert(unit.clone(), Module { handle, functions: HashMap::new() });
        }
        let Some(module) = modules.get_mut(unit) else { unreachable!("the unit was loaded above") };
        if let Some(function) = module.functions.get(name) {
            return Ok(*function);
        }
        let function = Function { handle: self.driver().function(module.handle, name)?, name };
        module.functions.insert(name, function);
        Ok(function)
    }

    /// Waits for all kernels that were started.
    ///
    /// # Errors
    /// [`Error::Device`] when one of them failed, with their names.
    pub fn synchronize(&self) -> Result<()> {
        let done = self.driver().synchronize().map_err(|error| self.blame(error));
        self.0.started.lock().unwrap_or_else(PoisonError::into_inner).clear();
        done
    }

    /// Seconds that the device needs for what `work` starts.
    ///
    /// # Errors
    /// Those of the work and of the device.
    pub fn time(&self, work: impl FnOnce() -> Result<()>) -> Result<f64> {
        let from = self.driver().mark()?;
        work()?;
        let to = self.driver().mark()?;
        self.driver().seconds_between(from, to).map_err(|error| self.blame(error))
    }

    fn driver(&self) -> &dyn Driver {
        &*self.0.driver
    }

    fn waits(&self) -> bool {
        self.0.waits
    }

    fn note_launch(&self, kernel: &'static str) {
        const MOST: usize = 64;
        let mut started = self.0.started.lock().unwrap_or_else(PoisonError::into_inner);
        if started.last() != Some(&kernel) {
            started.push(kernel);
        }
        if started.len() > MOST {
            started.remove(0);
        }
    }

    /// The error with the kernels that may have caused it.
    fn blame(&self, error: Error) -> Error {
        let started = self.0.started.lock().unwrap_or_else(PoisonError::into_inner);
        match error {
            Error::Device { what, remedy } if !started.is_empty() => {
                Error::Device { what: format!("{what}; kernels since: {}", started.join(", ")), remedy }
            }
            other => other,
        }
    }
}

/// The device that a plan's particles are to live on, if any: `auto` takes GPUs where every rank has one of its own.
/// Collective.
///
/// # Errors
/// [`Error::Usage`] where a plan wants a device and there is none.
pub fn open(plan: &Plan, comm: &Communicator) -> Result<Option<Device>> {
    match plan.run.device {
        plan::Device::Cpu => Ok(None),
        plan::Device::Cuda if is_emulated() => comm.agree_on(Device::emulated()).map(Some),
        plan::Device::Cuda => own_gpu(comm).map(Some),
        plan::Device::Auto => match gpus_found(comm) {
            [0, 0] => Ok(None),
            [0, _] => {
                told(&Error::usage("some ranks find no GPU", "start ranks only where GPUs are"));
                Ok(None)
            }
            _ => Ok(own_gpu(comm).map_err(|why| told(&why)).ok()),
        },
    }
}

/// Whether a host is to play the devices of runs: for tests.
pub(crate) fn is_emulated() -> bool {
    std::env::var_os("HILBRIUM_DEVICE_UNDER_TEST").is_some_and(|value| value == "emulated")
}

/// Tells why GPUs that are there are not used.
fn told(why: &Error) {
    report::line(&format!("computing on processors, not on GPUs: {why}"));
}

/// The least and the greatest number of GPUs that ranks find. Collective.
fn gpus_found(comm: &Communicator) -> [u64; 2] {
    let (mut fewest, mut most) = ([u64::from(cuda::count())], [u64::from(cuda::count())]);
    comm.all_min(&mut fewest);
    comm.all_max(&mut most);
    [fewest[0], most[0]]
}

/// The GPU that belongs to this rank: those of a host are dealt out to its ranks. Collective.
fn own_gpu(comm: &Communicator) -> Result<Device> {
    let (rank, ranks) = comm.of_host();
    let found = cuda::count();
    let opened =
        Device::cuda(rank as u32 % found.max(1)).and_then(|device| Ok((device.driver().stream()?, device)));
    let (stream, device) = comm.agree_on(opened)?;
    // numbers do not tell: systems may show every rank one GPU alone, each another
    let Some(stream) = stream else { unreachable!("a GPU has a stream") };
    let sharing = std::env::var_os("HILBRIUM_SHARE_GPU").is_some_and(|value| value == "1");
    comm.agree_on(match cuda::shared(stream.gpu, comm) {
        Some([first, second]) if !sharing => Err(Error::usage(
            format!(
                "ranks {first} and {second} would share a GPU: {ranks} ranks are on this host, which shows {found} GPUs"
            ),
            "start one rank a GPU; HILBRIUM_SHARE_GPU=1 lets ranks share",
        )),
        _ => Ok(device),
    })
}
