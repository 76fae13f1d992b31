//! Devices: GPUs that hold the particle columns and run the passes of a step.
//!
//! A [`Device`] is a GPU or, for tests, an emulation on the host. Both run the kernels of the folder
//! `kernels`, which are compiled at their first use ([`program`]) and launched with typed arguments
//! ([`arguments`]).

pub mod arguments;
mod buffer;
pub mod cells;
pub mod columns;
pub mod cuda;
pub mod domain;
pub mod driver;
mod emulated;
mod energy;
mod ewald;
pub mod exchange;
pub mod external;
pub mod fourier;
mod free_list;
pub mod gas;
pub mod gravity;
pub mod hierarchy;
pub mod hydrodynamics;
pub mod keys;
mod launch;
pub mod leapfrog;
pub mod list;
pub mod mesh;
pub mod motion;
pub mod neighborhood;
pub mod net_force;
pub mod nvrtc;
pub mod order;
pub mod pack;
pub mod pair_sums;
pub mod particle_list;
pub mod particle_sweep;
pub mod program;
pub mod reduction;
pub mod scan;
pub mod search;
pub mod skin;
pub mod smoothing;
pub mod sort;
pub mod survey;
pub mod sweep;
pub mod time_step;
pub mod totals;
pub mod values;
pub mod verlet;

pub use buffer::Buffer;
pub use launch::{Function, Kernel};
pub use program::Unit;

use crate::comm::Communicator;
use crate::neighborhood::search_needs_a_gpu;
use crate::plan::{self, Plan};
use crate::{Error, Result, report};
use driver::Driver;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A handle of a device; clones share it.
#[derive(Clone)]
pub struct Device(Arc<Inner>);

struct Inner {
    driver: Box<dyn Driver>,
    /// Loaded units with their functions.
    modules: Mutex<HashMap<Unit, Module>>,
    /// Kernels launched since the last synchronization, among them the cause of a later error.
    started: Mutex<Vec<&'static str>>,
    waits: bool,
    launches: AtomicU64,
    host_waits: AtomicU64,
    /// Times of kernels, while they are measured.
    kernel_times: Mutex<Option<KernelTimes>>,
}

/// Launches of a kernel, and the seconds that they took together on the device, by name.
pub type KernelTimes = BTreeMap<&'static str, (u64, f64)>;

/// Counts of a device's operations since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    /// Launched kernels.
    pub launches: u64,
    /// Copies to the host and synchronizations, for which the host waited.
    pub waits: u64,
}

/// The largest power of two up to a number, at least 1.
fn largest_power_of_two(number: usize) -> usize {
    number.checked_ilog2().map_or(1, |power| 1 << power)
}

/// Locks a mutex, even if a thread has panicked while it held it.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Operations {
    /// The operations since an earlier count.
    pub fn since(self, earlier: Self) -> Self {
        Operations { launches: self.launches - earlier.launches, waits: self.waits - earlier.waits }
    }
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
        // synchronize after each kernel, so that an error names the kernel
        let waits = std::env::var_os("HILBRIUM_CUDA_WAIT").is_some_and(|value| value == "1");
        Device(Arc::new(Inner {
            driver,
            modules: Mutex::default(),
            started: Mutex::default(),
            waits,
            launches: AtomicU64::new(0),
            host_waits: AtomicU64::new(0),
            kernel_times: Mutex::default(),
        }))
    }

    /// Opens a GPU by number.
    ///
    /// # Errors
    /// [`Error::Usage`] without driver, compiler or such a GPU.
    pub fn cuda(number: u32) -> Result<Self> {
        Ok(Self::new(Box::new(cuda::Gpu::open(number)?)))
    }

    /// Opens an emulated device, for tests.
    ///
    /// # Errors
    /// [`Error::Usage`] without a C++ compiler.
    pub fn emulated() -> Result<Self> {
        Ok(Self::new(Box::new(emulated::Emulation::new()?)))
    }

    /// Opens the device of tests: the GPU HILBRIUM_DEVICE_NUMBER (default 0) if HILBRIUM_DEVICE_UNDER_TEST is
    /// "cuda", else the emulation.
    ///
    /// # Errors
    /// [`Error::Usage`] when it is missing.
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

    /// Number of multiprocessors.
    pub fn multiprocessors(&self) -> u32 {
        self.driver().multiprocessors()
    }

    /// Workers of each of `groups` tasks: the largest power of two up to `most`, a power of two, with which
    /// all tasks have at most `workers` workers a multiprocessor. A worker is one warp or several.
    fn workers(&self, groups: usize, workers: usize, most: usize) -> usize {
        most.min(largest_power_of_two(workers * self.multiprocessors() as usize / groups.max(1)))
    }

    /// Bytes of shared memory that a block may have at most: beyond 48 KB where the device has it.
    pub fn shared_memory(&self) -> usize {
        self.driver().shared_memory() as usize
    }

    /// Free and total bytes of memory.
    ///
    /// # Errors
    /// [`Error::Device`] when the device has failed.
    pub fn memory(&self) -> Result<(u64, u64)> {
        self.driver().memory()
    }

    /// Joules that the device has used since its driver was loaded; `None` if nothing counts them.
    pub fn joules(&self) -> Option<f64> {
        self.driver().joules()
    }

    /// Gives freed memory back to the system; without this call it is kept for later buffers. Waits for the
    /// device.
    ///
    /// # Errors
    /// [`Error::Device`] when the device has failed.
    pub fn release_freed(&self) -> Result<()> {
        self.driver().release_freed()
    }

    /// A function of a unit, which is compiled and loaded at its first use.
    ///
    /// # Errors
    /// [`Error::Device`] when it does not compile or load, [`Error::File`] when it cannot be cached on disk.
    pub fn function(&self, unit: &Unit, name: &'static str) -> Result<Function> {
        let mut modules = locked(&self.0.modules);
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

    /// Waits for all launched kernels.
    ///
    /// # Errors
    /// [`Error::Device`] with the names of recent kernels when one of them failed.
    pub fn synchronize(&self) -> Result<()> {
        self.note_wait();
        let done = self.driver().synchronize().map_err(|error| self.blame(error));
        locked(&self.0.started).clear();
        done
    }

    /// Measures the seconds that the device spends on the operations issued by `work`.
    ///
    /// # Errors
    /// Those of the work and of the device.
    pub fn time(&self, work: impl FnOnce() -> Result<()>) -> Result<f64> {
        let from = self.driver().mark()?;
        work()?;
        let to = self.driver().mark()?;
        self.driver().seconds_between(from, to).map_err(|error| self.blame(error))
    }

    /// Times each kernel launched by `work`; every launch is waited for.
    ///
    /// # Errors
    /// Those of the work and of the device.
    pub fn time_kernels(&self, work: impl FnOnce() -> Result<()>) -> Result<KernelTimes> {
        let times = || locked(&self.0.kernel_times);
        *times() = Some(KernelTimes::new());
        let done = work();
        let found = times().take().unwrap_or_default();
        done.map(|()| found)
    }

    /// Launches a kernel, and measures it if kernels are timed.
    fn launch_timed(&self, kernel: &'static str, launch: impl FnOnce() -> Result<()>) -> Result<()> {
        let mut times = locked(&self.0.kernel_times);
        let Some(times) = &mut *times else { return launch() };
        let from = self.driver().mark()?;
        launch()?;
        let to = self.driver().mark()?;
        let (launches, seconds) = times.entry(kernel).or_default();
        *launches += 1;
        *seconds += self.driver().seconds_between(from, to)?;
        Ok(())
    }

    fn driver(&self) -> &dyn Driver {
        &*self.0.driver
    }

    fn waits(&self) -> bool {
        self.0.waits
    }

    /// Counts of the operations so far.
    pub fn operations(&self) -> Operations {
        Operations { launches: self.0.launches.load(Relaxed), waits: self.0.host_waits.load(Relaxed) }
    }

    fn note_wait(&self) {
        self.0.host_waits.fetch_add(1, Relaxed);
    }

    fn note_launch(&self, kernel: &'static str) {
        const MOST: usize = 64;
        self.0.launches.fetch_add(1, Relaxed);
        let mut started = locked(&self.0.started);
        if started.last() != Some(&kernel) {
            started.push(kernel);
        }
        if started.len() > MOST {
            started.remove(0);
        }
    }

    /// Adds the names of recent kernels to an error.
    fn blame(&self, error: Error) -> Error {
        let started = locked(&self.0.started);
        match error {
            Error::Device { what, remedy } if !started.is_empty() => {
                Error::Device { what: format!("{what}; kernels since: {}", started.join(", ")), remedy }
            }
            other => other,
        }
    }
}

/// Opens the device of a plan, if any: `auto` uses GPUs if every rank has its own. Collective.
///
/// # Errors
/// [`Error::Usage`] when the plan requires a device and there is none.
pub fn open(plan: &Plan, comm: &Communicator) -> Result<Option<Device>> {
    let device = choose(plan, comm)?;
    match (&device, plan.neighbors.method) {
        (None, Some(plan::Method::Search)) => Err(search_needs_a_gpu()),
        _ => Ok(device),
    }
}

/// Opens the device of a plan, if it has one. Collective.
fn choose(plan: &Plan, comm: &Communicator) -> Result<Option<Device>> {
    match plan.run.device {
        plan::Device::Cpu => Ok(None),
        plan::Device::Cuda if is_emulated() => comm.agree_on(Device::emulated()).map(Some),
        plan::Device::Cuda => own_gpu(comm).map(Some),
        plan::Device::Auto => match gpus_found(comm) {
            [0, 0] => Ok(None),
            [0, _] => {
                report_unused(&Error::usage("some ranks find no GPU", "start ranks only where GPUs are"));
                Ok(None)
            }
            _ => Ok(own_gpu(comm).map_err(|why| report_unused(&why)).ok()),
        },
    }
}

/// Whether runs use emulated devices, for tests.
pub(crate) fn is_emulated() -> bool {
    std::env::var_os("HILBRIUM_DEVICE_UNDER_TEST").is_some_and(|value| value == "emulated")
}

/// Reports why available GPUs are not used.
fn report_unused(why: &Error) {
    report::line(&format!("computing on processors, not on GPUs: {why}"));
}

/// Minimum and maximum over ranks of the number of GPUs found. Collective.
fn gpus_found(comm: &Communicator) -> [u64; 2] {
    let (mut fewest, mut most) = ([u64::from(cuda::count())], [u64::from(cuda::count())]);
    comm.all_min(&mut fewest);
    comm.all_max(&mut most);
    [fewest[0], most[0]]
}

/// Opens this rank's GPU: ranks of a host take its GPUs in turn. Collective.
fn own_gpu(comm: &Communicator) -> Result<Device> {
    let (rank, ranks) = comm.of_host();
    let found = cuda::count();
    let opened =
        Device::cuda(rank as u32 % found.max(1)).and_then(|device| Ok((device.driver().stream()?, device)));
    let (stream, device) = comm.agree_on(opened)?;
    // compare UUIDs, not numbers: a system may show each rank one GPU, numbered 0
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_are_rounded_down() {
        assert_eq!([0, 1, 2, 3, 4, 7, 8, 134].map(largest_power_of_two), [1, 1, 2, 2, 4, 4, 8, 128]);
    }
}
