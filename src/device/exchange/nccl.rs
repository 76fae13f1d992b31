//! Messages between GPUs by NCCL, which is loaded at run time.
//!
//! The few functions used are declared here, because existing bindings do not load the run-time name
//! libnccl.so.2.

use super::super::{Device, cuda};
use super::{Arrival, Carrier, Message, Nothing};
use crate::comm::Communicator;
use crate::{Error, Result};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;

/// The remedy without the library.
const REMEDY: &str = "install NCCL (libnccl.so.2, part of NVIDIA's HPC SDK or of PyPI's nvidia-nccl-cu13) and let LD_LIBRARY_PATH find \
                      it, or set HILBRIUM_EXCHANGE=staged";

/// File names of the library.
const NAMES: [&str; 2] = ["libnccl.so.2", "libnccl.so"];

/// ncclUint8.
const BYTES: c_int = 1;

/// ncclUniqueId.
#[repr(C)]
#[derive(Clone, Copy)]
struct UniqueId([u8; 128]);

/// ncclComm_t.
type Handle = *mut c_void;

/// The library's functions, as its header declares them. It is never unloaded.
struct Library {
    get_version: unsafe extern "C" fn(*mut c_int) -> c_int,
    get_unique_id: unsafe extern "C" fn(*mut UniqueId) -> c_int,
    init_rank: unsafe extern "C" fn(*mut Handle, c_int, UniqueId, c_int) -> c_int,
    destroy: unsafe extern "C" fn(Handle) -> c_int,
    abort: unsafe extern "C" fn(Handle) -> c_int,
    group_start: unsafe extern "C" fn() -> c_int,
    group_end: unsafe extern "C" fn() -> c_int,
    send: unsafe extern "C" fn(*const c_void, usize, c_int, c_int, Handle, *mut c_void) -> c_int,
    receive: unsafe extern "C" fn(*mut c_void, usize, c_int, c_int, Handle, *mut c_void) -> c_int,
    error_string: unsafe extern "C" fn(c_int) -> *const c_char,
    last_error: unsafe extern "C" fn(Handle) -> *const c_char,
}

impl Library {
    /// The library, loaded at the first use.
    fn get() -> Result<&'static Self> {
        static LIBRARY: OnceLock<std::result::Result<Library, String>> = OnceLock::new();
        LIBRARY.get_or_init(Self::load).as_ref().map_err(|why| Error::usage(why, REMEDY))
    }

    fn load() -> std::result::Result<Self, String> {
        // SAFETY: loading NCCL runs only its own initializers
        let Some(library) = NAMES.iter().find_map(|name| unsafe { libloading::Library::new(*name) }.ok())
        else {
            return Err("NCCL (libnccl.so.2) is not installed here".into());
        };
        let library: &'static libloading::Library = Box::leak(Box::new(library));
        macro_rules! function {
            ($name:literal) => {
                // SAFETY: the field's type is that of NCCL's header
                *unsafe { library.get($name) }
                    .map_err(|cause| format!("this NCCL is too old for this program: {cause}"))?
            };
        }
        Ok(Self {
            get_version: function!(b"ncclGetVersion\0"),
            get_unique_id: function!(b"ncclGetUniqueId\0"),
            init_rank: function!(b"ncclCommInitRank\0"),
            destroy: function!(b"ncclCommDestroy\0"),
            abort: function!(b"ncclCommAbort\0"),
            group_start: function!(b"ncclGroupStart\0"),
            group_end: function!(b"ncclGroupEnd\0"),
            send: function!(b"ncclSend\0"),
            receive: function!(b"ncclRecv\0"),
            error_string: function!(b"ncclGetErrorString\0"),
            last_error: function!(b"ncclGetLastError\0"),
        })
    }

    /// Converts an NCCL status to a result with NCCL's message.
    fn checked(&self, doing: &str, answer: c_int) -> Result<()> {
        if answer == 0 {
            return Ok(());
        }
        // SAFETY: both return static texts or null
        let text = |words: *const c_char| match words.is_null() {
            true => String::new(),
            false => unsafe { CStr::from_ptr(words) }.to_string_lossy().trim().to_string(),
        };
        let words = text(unsafe { (self.error_string)(answer) });
        let last = text(unsafe { (self.last_error)(std::ptr::null_mut()) });
        let last = if last.is_empty() { last } else { format!(": {last}") };
        Err(Error::device(
            format!("{doing} failed: NCCL says \"{words}\"{last}"),
            "restart from the last checkpoint; NCCL_DEBUG=INFO shows more, HILBRIUM_EXCHANGE=staged does without NCCL",
        ))
    }

    /// "NCCL 2.27.3".
    fn words(&self) -> Result<String> {
        let mut version = 0;
        // SAFETY: it is written
        self.checked("asking NCCL for its version", unsafe { (self.get_version)(&mut version) })?;
        Ok(format!("NCCL {}.{}.{}", version / 10_000, version / 100 % 100, version % 100))
    }
}

/// "NCCL 2.27.3".
///
/// # Errors
/// [`Error::Usage`] where it is not installed.
pub(in crate::device) fn version() -> Result<String> {
    Library::get()?.words()
}

/// The transport by NCCL.
pub(super) struct Nccl {
    library: &'static Library,
    handle: Handle,
    device: Device,
    words: String,
}

// SAFETY: a communicator may be used by any thread with its GPU current, one at a time; calls are collective.
unsafe impl Send for Nccl {}
unsafe impl Sync for Nccl {}

impl Nccl {
    /// Fails on all ranks if one lacks support. Collective.
    pub(super) fn new(device: &Device, comm: &Communicator) -> Result<Self> {
        let (library, words, gpu) = comm.agree_on(Self::possible(device, comm))?;
        if let Some([first, second]) = cuda::shared(gpu, comm) {
            return Err(Error::usage(
                format!("NCCL needs a GPU for every rank, and ranks {first} and {second} have the same"),
                "start one rank a GPU, or set HILBRIUM_EXCHANGE=staged",
            ));
        }
        let mut id = UniqueId([0; 128]);
        let started = match comm.is_root() {
            // SAFETY: it is written
            true => library.checked("starting NCCL", unsafe { (library.get_unique_id)(&mut id) }),
            false => Ok(()),
        };
        comm.agree(started)?;
        let mut bytes = id.0.to_vec();
        comm.broadcast(&mut bytes, 0);
        id.0.copy_from_slice(&bytes);
        let mut handle = std::ptr::null_mut();
        let (ranks, rank) = (comm.size() as c_int, comm.rank() as c_int);
        // SAFETY: possible has made the GPU current; all ranks call with the same id
        let answer = unsafe { (library.init_rank)(&mut handle, ranks, id, rank) };
        let made = library.checked("connecting the GPUs", answer).map(|()| Self {
            library,
            handle,
            device: device.clone(),
            words,
        });
        comm.agree_on(made)
    }

    /// The library, its version text and the GPU's UUID, if this rank supports NCCL.
    fn possible(device: &Device, comm: &Communicator) -> Result<(&'static Library, String, [u8; 16])> {
        let library = Library::get()?;
        let words = library.words()?;
        let Some(stream) = device.driver().stream()? else {
            return Err(Error::usage(
                format!("NCCL connects GPUs, and the device {} is none", device.name()),
                "set HILBRIUM_EXCHANGE=staged, or leave it unset",
            ));
        };
        // Within a process NCCL may read directly from the peer GPU's memory, but memory pools are not
        // peer-accessible.
        if comm.in_one_process() && std::env::var("NCCL_P2P_DIRECT_DISABLE").as_deref() != Ok("1") {
            return Err(Error::usage(
                "NCCL between threads of one process would reach into memory that other GPUs do not see",
                "set NCCL_P2P_DIRECT_DISABLE=1, or start ranks as processes, or set HILBRIUM_EXCHANGE=staged",
            ));
        }
        Ok((library, words, stream.gpu))
    }
}

impl Carrier for Nccl {
    fn name(&self) -> &str {
        &self.words
    }

    fn begin(&self, comm: &Communicator, send: &[Message], receive: &[Message]) -> Result<Box<dyn Arrival>> {
        if send.is_empty() && receive.is_empty() {
            return Ok(Box::new(Nothing));
        }
        self.device.driver().fork()?;
        let Some(stream) = self.device.driver().stream()? else { unreachable!("a GPU, as new has seen") };
        let (library, stream) = (self.library, stream.handle as *mut c_void);
        // SAFETY: the caller frees no range before the streams are joined
        unsafe {
            library.checked("beginning to send between GPUs", (library.group_start)())?;
            let sent = send.iter().try_for_each(|message| {
                let (from, rank) = (message.address as *const c_void, message.rank as c_int);
                let answer = (library.send)(from, message.bytes, BYTES, rank, self.handle, stream);
                library.checked("sending to another GPU", answer)
            });
            let received = receive.iter().try_for_each(|message| {
                let (to, rank) = (message.address as *mut c_void, message.rank as c_int);
                let answer = (library.receive)(to, message.bytes, BYTES, rank, self.handle, stream);
                library.checked("receiving from another GPU", answer)
            });
            let ended = library.checked("sending between GPUs", (library.group_end)());
            sent.and(received).and(ended)?;
        }
        comm.received_elsewhere(receive.iter().map(|message| message.bytes));
        Ok(Box::new(OnCopyStream(self.device.clone())))
    }
}

/// Pending work on the copy stream.
struct OnCopyStream(Device);

impl Arrival for OnCopyStream {
    fn finish(self: Box<Self>, _comm: &Communicator) -> Result<()> {
        self.0.driver().join()
    }
}

impl Drop for Nccl {
    fn drop(&mut self) {
        // after a failure the communicator can only be aborted
        let end = match self.device.synchronize() {
            Ok(()) => self.library.destroy,
            Err(_) => self.library.abort,
        };
        // SAFETY: created by init_rank and not used again
        let _ = unsafe { end(self.handle) };
    }
}
