//! A GPU, through CUDA's driver and run-time compiler, which are loaded at run time.

use super::driver::{Driver, SourceUnit, Stream, Target};
use super::energy::EnergyCounter;
use super::free_list::FreeList;
use super::{locked, nvrtc};
use crate::comm::Communicator;
use crate::{Error, Result};
use cudarc::driver::{DriverError, result, sys};
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::path::Path;
use std::sync::{Mutex, OnceLock};

/// A GPU with a compute stream and a copy stream.
pub struct Gpu {
    device: sys::CUdevice,
    context: sys::CUcontext,
    stream: sys::CUstream,
    /// The copy stream, and the events by which the streams wait for each other.
    copy_stream: sys::CUstream,
    forked: sys::CUevent,
    joined: sys::CUevent,
    name: String,
    architecture: String,
    toolchain: String,
    multiprocessors: u32,
    shared_memory: u32,
    /// Dynamic shared memory that functions have opted in to.
    opted_in: Mutex<HashMap<u64, u32>>,
    /// Freed small buffers.
    free_list: Mutex<FreeList>,
    /// Address of the pinned staging buffer of small downloads; 0 before the first.
    staging: Mutex<u64>,
    /// The counter of its energy, if there is one.
    energy: OnceLock<Option<EnergyCounter>>,
}

// SAFETY: driver handles may be used by any thread with the context current, and every call makes it current.
unsafe impl Send for Gpu {}
unsafe impl Sync for Gpu {}

/// Size of the staging buffer (bytes).
const STAGING: usize = 4096;

/// Bytes of dynamic shared memory of a block above which a function must opt in.
const SHARED_WITHOUT_OPT_IN: u32 = 48 * 1024;

/// The remedy without driver, GPU or compiler.
const REMEDY: &str = "add --set run.device=cpu, or set run.device = \"auto\" in the deck, or run where a GPU and its driver are";

/// The driver's error with a remedy.
fn failed(doing: &str, cause: DriverError) -> Error {
    let name =
        cause.error_name().map_or_else(|_| format!("{:?}", cause.0), |name| name.to_string_lossy().into());
    let words = cause.error_string().map_or_else(|_| String::new(), |words| words.to_string_lossy().into());
    let remedy = match cause.0 {
        sys::CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU
        | sys::CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION
        | sys::CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH => {
            "install the driver that belongs to the CUDA compiler, or an older compiler (NVRTC); or run with device \"cpu\""
        }
        sys::CUresult::CUDA_ERROR_ECC_UNCORRECTABLE | sys::CUresult::CUDA_ERROR_DEVICE_UNAVAILABLE => {
            "look into the system's log: the GPU itself has failed or is taken; restart from the last checkpoint"
        }
        _ => {
            "restart from the last checkpoint; with HILBRIUM_CUDA_WAIT=1 every kernel is waited for and the one that fails is named"
        }
    };
    Error::device(format!("{doing} failed: {name} ({words})"), remedy)
}

/// Number of GPUs, 0 without CUDA's driver.
pub fn count() -> u32 {
    // SAFETY: only checks whether the library can be loaded
    if !unsafe { sys::is_culib_present() } || result::init().is_err() {
        return 0;
    }
    result::device::get_count().map_or(0, |count| count.max(0) as u32)
}

/// The newest CUDA version that the driver supports; `None` without a driver.
pub(super) fn driver_version() -> Option<String> {
    let mut version = 0;
    // SAFETY: only checks whether the library can be loaded; the version is written
    let asked = unsafe { sys::is_culib_present() && sys::cuDriverGetVersion(&mut version).result().is_ok() };
    asked.then(|| format!("{}.{}", version / 1000, version / 10 % 100))
}

/// Name and memory of each GPU.
pub(super) fn names() -> Vec<String> {
    let of = |number: u32| -> Result<String, DriverError> {
        let device = result::device::get(number as i32)?;
        // SAFETY: the device is valid
        let bytes = unsafe { result::device::total_mem(device)? };
        Ok(format!("{}, {:.0} GiB", result::device::get_name(device)?, bytes as f64 / 1024f64.powi(3)))
    };
    (0..count()).map(|number| of(number).unwrap_or_else(|cause| format!("GPU {number}: {cause:?}"))).collect()
}

/// The first two ranks that share a GPU, by its UUID ([`super::driver::Stream`]). Collective.
pub fn shared(gpu: [u8; 16], comm: &Communicator) -> Option<[usize; 2]> {
    let all = comm.all_gather(&[gpu]);
    let earlier =
        |second: usize| Some([all[..second].iter().position(|first| *first == all[second])?, second]);
    (0..all.len()).find_map(earlier)
}

impl Gpu {
    /// Opens a GPU by number.
    ///
    /// # Errors
    /// [`Error::Usage`] that names the missing driver, compiler or GPU.
    pub fn open(number: u32) -> Result<Self> {
        // SAFETY: only checks whether the library can be loaded
        if !unsafe { sys::is_culib_present() } {
            return Err(Error::usage("CUDA's driver (libcuda.so.1) is not installed here", REMEDY));
        }
        result::init()
            .map_err(|cause| Error::usage(format!("CUDA's driver does not start: {cause:?}"), REMEDY))?;
        let found = count();
        if number >= found {
            return Err(Error::usage(format!("there is no GPU number {number}: CUDA finds {found}"), REMEDY));
        }
        let compiler = nvrtc::version()?;
        Self::with_context(number, compiler).map_err(|cause| failed("opening the GPU", cause))
    }

    fn with_context(number: u32, compiler: (i32, i32)) -> Result<Self, DriverError> {
        use sys::CUdevice_attribute as Attribute;
        let device = result::device::get(number as i32)?;
        // SAFETY: the device is valid; the context is retained until the end of the program
        let context = unsafe { result::primary_ctx::retain(device)? };
        unsafe { result::ctx::set_current(context)? };
        let stream = result::stream::create(result::stream::StreamKind::NonBlocking)?;
        // the copy stream has the higher priority: its work is short and other ranks wait for it
        let (mut least, mut greatest) = (0, 0);
        unsafe { sys::cuCtxGetStreamPriorityRange(&mut least, &mut greatest) }.result()?;
        let kind = result::stream::StreamKind::NonBlocking;
        let copy_stream = result::stream::create_with_priority(kind, greatest)?;
        let event = || result::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING);
        let of = |attribute| unsafe { result::device::get_attribute(device, attribute) };
        let major = of(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = of(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        let mut version = 0;
        unsafe { sys::cuDriverGetVersion(&mut version) }.result()?;
        // keep freed memory in the pool for the next buffer
        let pool = unsafe { result::device::get_default_mem_pool(device)? };
        let mut keep = u64::MAX;
        let threshold = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        unsafe { sys::cuMemPoolSetAttribute(pool, threshold, (&raw mut keep).cast()) }.result()?;
        Ok(Self {
            device,
            context,
            stream,
            copy_stream,
            forked: event()?,
            joined: event()?,
            name: result::device::get_name(device)?,
            architecture: format!("sm_{major}{minor}"),
            toolchain: format!("nvrtc {}.{}, driver {version}", compiler.0, compiler.1),
            multiprocessors: of(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)? as u32,
            shared_memory: of(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)? as u32,
            opted_in: Mutex::default(),
            free_list: Mutex::default(),
            staging: Mutex::new(0),
            energy: OnceLock::new(),
        })
    }

    /// Calls the driver with the context current on this thread.
    fn with<T>(&self, doing: &str, act: impl FnOnce() -> Result<T, DriverError>) -> Result<T> {
        // SAFETY: the context lives as long as the program
        unsafe { result::ctx::set_current(self.context) }
            .and_then(|()| act())
            .map_err(|cause| failed(doing, cause))
    }

    /// Allows a function more dynamic shared memory than any card has without being asked.
    fn opt_in(&self, function: u64, shared: u32) -> Result<()> {
        let mut opted_in = locked(&self.opted_in);
        if opted_in.get(&function).is_some_and(|&allowed| allowed >= shared) {
            return Ok(());
        }
        let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the function is from function
        self.with("asking for shared memory", || {
            unsafe { sys::cuFuncSetAttribute(function as sys::CUfunction, attribute, shared as i32) }.result()
        })?;
        opted_in.insert(function, shared);
        Ok(())
    }

    fn uuid(&self) -> Result<[u8; 16]> {
        let uuid = self.with("asking which GPU this is", || result::device::get_uuid(self.device))?;
        Ok(uuid.bytes.map(|byte| byte as u8))
    }

    fn free_now(&self, address: u64) {
        // SAFETY: the address is from allocate; an error here repeats an earlier one
        let _ = self.with("giving memory back", || unsafe { result::free_async(address, self.stream) });
    }

    /// Returns the buffers of the free list to the driver.
    fn empty_free_list(&self) {
        locked(&self.free_list).drain().into_iter().for_each(|address| self.free_now(address));
    }

    /// Copies at most [`STAGING`] bytes to the host through the pinned staging buffer: a copy to pageable
    /// memory takes longer.
    fn download_small(&self, from: u64, bytes: &mut [u8]) -> Result<()> {
        let mut staging = locked(&self.staging);
        if *staging == 0 {
            *staging = self.pin(STAGING)?;
        }
        // SAFETY: the staging buffer holds the bytes, and no other copy uses it while it is locked
        self.with("copying from the GPU", || unsafe {
            let pinned = std::slice::from_raw_parts_mut(*staging as *mut u8, bytes.len());
            result::memcpy_dtoh_async(pinned, from, self.stream)?;
            self.wait()?;
            bytes.copy_from_slice(pinned);
            Ok(())
        })
    }

    fn wait(&self) -> Result<(), DriverError> {
        // SAFETY: the stream lives as long as self
        unsafe { result::stream::synchronize(self.stream) }
    }

    /// Makes the stream `behind` wait for all operations issued so far on `ahead`.
    fn follow(&self, behind: sys::CUstream, ahead: sys::CUstream, event: sys::CUevent) -> Result<()> {
        // SAFETY: streams and events live as long as self; a wait refers to the event's last record before it
        self.with("ordering what runs on the GPU", || unsafe {
            result::event::record(event, ahead)?;
            result::stream::wait_event(behind, event, sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT)
        })
    }
}

impl Driver for Gpu {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn target(&self) -> Target {
        Target {
            architecture: self.architecture.clone(),
            toolchain: self.toolchain.clone(),
            extension: "cubin",
        }
    }

    fn multiprocessors(&self) -> u32 {
        self.multiprocessors
    }

    fn shared_memory(&self) -> u32 {
        self.shared_memory
    }

    fn memory(&self) -> Result<(u64, u64)> {
        let (free, total) = self.with("asking for the memory", result::mem_get_info)?;
        Ok((free as u64, total as u64))
    }

    fn release_freed(&self) -> Result<()> {
        self.empty_free_list();
        self.synchronize()?;
        self.with("giving memory back", || {
            // SAFETY: the default pool exists as long as the device
            unsafe { sys::cuMemPoolTrimTo(result::device::get_default_mem_pool(self.device)?, 0) }.result()
        })
    }

    fn joules(&self) -> Option<f64> {
        let counter = self.energy.get_or_init(|| EnergyCounter::of(self.uuid().ok()?));
        counter.as_ref()?.joules()
    }

    fn allocate(&self, bytes: usize) -> Result<u64> {
        if let Some(address) = locked(&self.free_list).take(bytes) {
            return Ok(address);
        }
        let size = FreeList::size(bytes);
        // SAFETY: the stream lives as long as self
        let allocated = || self.with("allocating", || Ok(unsafe { result::malloc_async(self.stream, size) }));
        let mut outcome = allocated()?;
        if matches!(outcome, Err(DriverError(sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY))) {
            self.release_freed()?;
            outcome = allocated()?;
        }
        match outcome {
            Ok(address) => Ok(address),
            Err(DriverError(sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY)) => {
                let (free, total) = self.memory()?;
                Err(Error::device(
                    format!(
                        "the GPU's memory is full: {bytes} bytes more are needed where {free} of {total} are free"
                    ),
                    "use fewer particles, or more ranks with a GPU each; what was written so far is whole",
                ))
            }
            Err(cause) => Err(failed("allocating on the GPU", cause)),
        }
    }

    fn free(&self, address: u64, bytes: usize) {
        if !locked(&self.free_list).add(address, bytes) {
            self.free_now(address);
        }
    }

    fn upload(&self, to: u64, bytes: &[u8]) -> Result<()> {
        // SAFETY: the range is the caller's buffer; pageable memory has been staged when the call returns
        self.with("copying to the GPU", || unsafe { result::memcpy_htod_async(to, bytes, self.stream) })
    }

    fn download(&self, from: u64, bytes: &mut [u8]) -> Result<()> {
        if bytes.len() <= STAGING {
            return self.download_small(from, bytes);
        }
        // SAFETY: as for upload
        self.with("copying from the GPU", || {
            unsafe { result::memcpy_dtoh_async(bytes, from, self.stream)? };
            self.wait()
        })
    }

    fn pin(&self, bytes: usize) -> Result<u64> {
        // SAFETY: the memory belongs to the caller until unpin
        let memory = self.with("pinning memory of the host", || unsafe {
            result::malloc_host(bytes, sys::CU_MEMHOSTALLOC_PORTABLE)
        })?;
        Ok(memory as u64)
    }

    fn unpin(&self, address: u64, _bytes: usize) {
        // SAFETY: the address is from pin; an error here repeats an earlier one
        let _ =
            self.with("giving pinned memory back", || unsafe { result::free_host(address as *mut c_void) });
    }

    fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<()> {
        // SAFETY: both ranges are the caller's buffers; unified addressing identifies their memory
        self.with("copying on the GPU", || {
            unsafe { sys::cuMemcpyAsync(to, from, bytes, self.stream) }.result()
        })
    }

    fn fork(&self) -> Result<()> {
        self.follow(self.copy_stream, self.stream, self.forked)
    }

    fn copy_overlapped(&self, to: u64, from: u64, bytes: usize) -> Result<()> {
        // SAFETY: as for copy
        self.with("copying on the GPU", || {
            unsafe { sys::cuMemcpyAsync(to, from, bytes, self.copy_stream) }.result()
        })
    }

    fn synchronize_copies(&self) -> Result<()> {
        // SAFETY: the stream lives as long as self
        self.with("waiting for copies of the GPU", || unsafe {
            result::stream::synchronize(self.copy_stream)
        })
    }

    fn join(&self) -> Result<()> {
        self.follow(self.stream, self.copy_stream, self.joined)
    }

    fn fill(&self, to: u64, byte: u8, bytes: usize) -> Result<()> {
        // SAFETY: the range is the caller's buffer
        self.with("filling memory of the GPU", || unsafe {
            result::memset_d8_async(to, byte, bytes, self.stream)
        })
    }

    fn compile(&self, unit: &SourceUnit, into: &Path) -> Result<()> {
        let code = nvrtc::compile(unit, &self.architecture)?;
        std::fs::write(into, code).map_err(|cause| Error::file("write", into, &cause))
    }

    fn load(&self, file: &Path) -> Result<u64> {
        let code = std::fs::read(file).map_err(|cause| Error::file("read", file, &cause))?;
        // SAFETY: the driver validates and copies the code
        let module = self.with(&format!("loading {}", file.display()), || unsafe {
            result::module::load_data(code.as_ptr().cast())
        })?;
        Ok(module as u64)
    }

    fn function(&self, module: u64, name: &str) -> Result<u64> {
        let named = CString::new(name).unwrap_or_else(|_| unreachable!("names of kernels are words"));
        // SAFETY: the module is from load
        let function = self.with(&format!("finding kernel {name}"), || unsafe {
            result::module::get_function(module as sys::CUmodule, named)
        })?;
        Ok(function as u64)
    }

    fn launch(
        &self,
        function: u64,
        blocks: u32,
        threads: u32,
        shared: u32,
        arguments: &mut [*mut c_void],
    ) -> Result<()> {
        if shared > SHARED_WITHOUT_OPT_IN {
            self.opt_in(function, shared)?;
        }
        // SAFETY: the function is from function; the caller guarantees the arguments
        self.with("starting a kernel", || unsafe {
            let (grid, block) = ((blocks, 1, 1), (threads, 1, 1));
            result::launch_kernel(function as sys::CUfunction, grid, block, shared, self.stream, arguments)
        })
    }

    fn stream(&self) -> Result<Option<Stream>> {
        Ok(Some(Stream { handle: self.copy_stream as u64, gpu: self.uuid()? }))
    }

    fn compute_stream(&self) -> Result<Option<u64>> {
        self.with("making the GPU current", || Ok(()))?;
        Ok(Some(self.stream as u64))
    }

    fn synchronize(&self) -> Result<()> {
        self.with("running kernels", || self.wait())?;
        self.synchronize_copies()
    }

    fn mark(&self) -> Result<u64> {
        let flags = sys::CUevent_flags::CU_EVENT_DEFAULT;
        // SAFETY: the event is new and the stream lives as long as self
        let event = self.with("marking time", || {
            let event = result::event::create(flags)?;
            unsafe { result::event::record(event, self.stream)? };
            Ok(event)
        })?;
        Ok(event as u64)
    }

    fn seconds_between(&self, from: u64, to: u64) -> Result<f64> {
        let (from, to) = (from as sys::CUevent, to as sys::CUevent);
        // SAFETY: both are from mark and used for the last time
        self.with("measuring time", || unsafe {
            result::event::synchronize(to)?;
            let milliseconds = result::event::elapsed(from, to)?;
            result::event::destroy(from)?;
            result::event::destroy(to)?;
            Ok(1e-3 * f64::from(milliseconds))
        })
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        self.empty_free_list();
        let staging = *locked(&self.staging);
        if staging != 0 {
            self.unpin(staging, STAGING);
        }
        // SAFETY: streams, events and context are not used any more
        let _ = self.with("closing the GPU", || unsafe {
            for stream in [self.stream, self.copy_stream] {
                let _ = result::stream::synchronize(stream);
                result::stream::destroy(stream)?;
            }
            result::event::destroy(self.forked)?;
            result::event::destroy(self.joined)?;
            result::primary_ctx::release(self.device)
        });
    }
}
