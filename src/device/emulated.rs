//! A device emulated on the host: a C++ compiler builds the kernels, which run fiber by fiber
//! (kernels/emulation/cuda.h). For tests without a GPU; a thousand times slower than one.

use super::driver::{Driver, SourceUnit, Stream, Target};
use super::locked;
use crate::{Error, Result};
use libloading::Library;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::time::Instant;

/// Fill byte of new memory, which makes reads of uninitialized memory visible.
const UNWRITTEN: u8 = 0xa5;

/// Largest allocation in bytes, so that tests can exhaust the memory.
const MOST: usize = 8 << 30;

/// Alignment of allocations in bytes.
const ALIGNMENT: usize = 256;

type EntryPoint = unsafe extern "C" fn(*const u32, *const u32, *mut *mut c_void);

/// The emulated device.
pub struct Emulation {
    compiler: String,
    version: String,
    libraries: Mutex<Vec<Library>>,
    marks: Mutex<BTreeMap<u64, Instant>>,
}

fn layout(bytes: usize) -> std::alloc::Layout {
    std::alloc::Layout::from_size_align(bytes, ALIGNMENT)
        .unwrap_or_else(|_| unreachable!("{bytes} bytes are no memory's size"))
}

impl Emulation {
    /// An emulated device.
    ///
    /// # Errors
    /// [`Error::Usage`] without a C++ compiler: g++, or the one named by CXX.
    pub fn new() -> Result<Self> {
        let compiler = std::env::var("CXX").unwrap_or_else(|_| "g++".into());
        let version = Command::new(&compiler).arg("--version").output().ok();
        let version = version.filter(|output| output.status.success()).ok_or_else(|| {
            Error::usage(
                format!("the emulation of devices needs a C++ compiler, and {compiler} does not run"),
                "install g++ or set CXX",
            )
        })?;
        let version = String::from_utf8_lossy(&version.stdout).lines().next().unwrap_or_default().to_string();
        Ok(Self { compiler, version, libraries: Mutex::default(), marks: Mutex::default() })
    }
}

impl Driver for Emulation {
    fn name(&self) -> String {
        "emulation".into()
    }

    fn target(&self) -> Target {
        Target { architecture: "host".into(), toolchain: self.version.clone(), extension: "so" }
    }

    fn multiprocessors(&self) -> u32 {
        std::thread::available_parallelism().map_or(1, |count| count.get() as u32)
    }

    fn shared_memory(&self) -> u32 {
        // that of compute capability 9
        227 * 1024
    }

    fn memory(&self) -> Result<(u64, u64)> {
        Ok((u64::MAX, u64::MAX))
    }

    fn release_freed(&self) -> Result<()> {
        // memory is freed at once
        Ok(())
    }

    fn allocate(&self, bytes: usize) -> Result<u64> {
        // SAFETY: the size is not 0, and the memory is written below
        unsafe {
            let memory =
                if bytes > MOST { std::ptr::null_mut() } else { std::alloc::alloc(layout(bytes.max(1))) };
            if memory.is_null() {
                return Err(Error::device(
                    format!("the emulated device's memory is full: {bytes} bytes more are needed"),
                    "use fewer particles",
                ));
            }
            memory.write_bytes(UNWRITTEN, bytes);
            Ok(memory as u64)
        }
    }

    fn free(&self, address: u64, bytes: usize) {
        // SAFETY: from allocate, of the same size
        unsafe { std::alloc::dealloc(address as *mut u8, layout(bytes.max(1))) }
    }

    fn upload(&self, to: u64, bytes: &[u8]) -> Result<()> {
        // SAFETY: the range is the caller's buffer
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to as *mut u8, bytes.len()) };
        Ok(())
    }

    fn download(&self, from: u64, bytes: &mut [u8]) -> Result<()> {
        // SAFETY: the range is the caller's buffer
        unsafe { std::ptr::copy_nonoverlapping(from as *const u8, bytes.as_mut_ptr(), bytes.len()) };
        Ok(())
    }

    fn pin(&self, bytes: usize) -> Result<u64> {
        self.allocate(bytes)
    }

    fn unpin(&self, address: u64, bytes: usize) {
        self.free(address, bytes);
    }

    fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<()> {
        // SAFETY: both ranges are the caller's buffers
        unsafe { std::ptr::copy(from as *const u8, to as *mut u8, bytes) };
        Ok(())
    }

    fn fork(&self) -> Result<()> {
        Ok(())
    }

    fn copy_overlapped(&self, to: u64, from: u64, bytes: usize) -> Result<()> {
        self.copy(to, from, bytes)
    }

    fn synchronize_copies(&self) -> Result<()> {
        Ok(())
    }

    fn join(&self) -> Result<()> {
        Ok(())
    }

    fn fill(&self, to: u64, byte: u8, bytes: usize) -> Result<()> {
        // SAFETY: the range is the caller's buffer
        unsafe { (to as *mut u8).write_bytes(byte, bytes) };
        Ok(())
    }

    fn compile(&self, unit: &SourceUnit, into: &Path) -> Result<()> {
        let folder = into.with_extension("sources");
        let written = (|| {
            let place = folder.join(unit.file);
            for (name, text) in unit.headers.iter().map(|(name, text)| (name.trim_start_matches("../"), text))
            {
                let file = folder.join(name);
                std::fs::create_dir_all(file.parent().unwrap_or(&folder))?;
                std::fs::write(file, text)?;
            }
            std::fs::create_dir_all(place.parent().unwrap_or(&folder))?;
            std::fs::write(&place, unit.text)?;
            Ok(place)
        })();
        let source = written.map_err(|cause| Error::file("write", &folder, &cause))?;
        let output = Command::new(&self.compiler)
            .args([
                "-std=c++17",
                "-O2",
                "-shared",
                "-fPIC",
                "-pthread",
                "-w",
                // out-of-bounds indices and shifts abort with a report (kernels/emulation/launch.h)
                "-fsanitize=bounds,shift-exponent",
                "-fsanitize-undefined-trap-on-error",
                "-x",
                "c++",
                "-DHILBRIUM_EMULATED",
            ])
            .arg("-include")
            .arg(folder.join("emulation/cuda.h"))
            .args(unit.definitions.iter().map(|(name, value)| format!("-D{name}={value}")))
            .arg(&source)
            .arg("-o")
            .arg(into)
            .output()
            .map_err(|cause| Error::file("run the compiler on", &source, &cause))?;
        let _ = std::fs::remove_dir_all(&folder);
        match output.status.success() {
            true => Ok(()),
            false => Err(Error::device(
                format!(
                    "kernels of {} do not compile for the emulation: {}",
                    unit.file,
                    String::from_utf8_lossy(&output.stderr)
                ),
                "this is an error in the kernels",
            )),
        }
    }

    fn load(&self, file: &Path) -> Result<u64> {
        // SAFETY: the library is one of compile's, whose start does nothing
        let library = unsafe { Library::new(file) }.map_err(|cause| {
            Error::device(format!("loading {} failed: {cause}", file.display()), "remove that file")
        })?;
        let mut libraries = locked(&self.libraries);
        libraries.push(library);
        Ok(libraries.len() as u64 - 1)
    }

    fn function(&self, module: u64, name: &str) -> Result<u64> {
        let libraries = locked(&self.libraries);
        // SAFETY: the symbol is an entry point as the emulation declares it; the library is never closed
        let found =
            unsafe { libraries[module as usize].get::<EntryPoint>(format!("emulated_{name}").as_bytes()) };
        let entry = found.map_err(|cause| {
            Error::device(format!("finding kernel {name} failed: {cause}"), "this is an error in the kernels")
        })?;
        Ok(*entry as usize as u64)
    }

    fn launch(
        &self,
        function: u64,
        blocks: u32,
        threads: u32,
        shared: u32,
        arguments: &mut [*mut c_void],
    ) -> Result<()> {
        // SAFETY: the function is from function; the caller guarantees the arguments
        unsafe {
            let entry: EntryPoint = std::mem::transmute(function as usize);
            entry([blocks, 1, 1].as_ptr(), [threads, 1, 1, shared].as_ptr(), arguments.as_mut_ptr());
        }
        Ok(())
    }

    fn stream(&self) -> Result<Option<Stream>> {
        Ok(None)
    }

    fn compute_stream(&self) -> Result<Option<u64>> {
        Ok(None)
    }

    fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    fn mark(&self) -> Result<u64> {
        let mut marks = locked(&self.marks);
        let next = marks.last_key_value().map_or(0, |(last, _)| last + 1);
        marks.insert(next, Instant::now());
        Ok(next)
    }

    fn seconds_between(&self, from: u64, to: u64) -> Result<f64> {
        let mut marks = locked(&self.marks);
        match (marks.remove(&from), marks.remove(&to)) {
            (Some(from), Some(to)) => Ok((to - from).as_secs_f64()),
            _ => unreachable!("marks are used once"),
        }
    }
}
