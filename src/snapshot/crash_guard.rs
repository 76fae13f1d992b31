//! Crash protection while HDF5 reads.
//!
//! HDF5 validates little of a file's internal references. On a damaged file it may access invalid memory,
//! which raises a signal, or follow a cyclic reference and allocate without bound. While a file is being
//! read, a signal handler and a memory watchdog report the file and exit with status 1, as a regular error
//! would. The only file being written meanwhile is the copy of a trajectory that is truncated for a restart.

use crate::{Error, memory};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, TryRecvError};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The signals of a crash.
const SIGNALS: [libc::c_int; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGABRT];

/// Whether this process handles the signals. The program does; tests and fuzzers see the crash itself.
static HANDLE_SIGNALS: AtomicBool = AtomicBool::new(false);

/// Bytes HDF5 may allocate beyond the requested data.
const MEMORY_ALLOWANCE: u64 = if cfg!(test) { 32 << 20 } else { 1 << 30 };

/// Polling interval of the memory watchdog.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Bytes that reading is expected to allocate.
static EXPECTED: AtomicU64 = AtomicU64::new(0);

static ACTIVE_READS: Mutex<ActiveReads> =
    Mutex::new(ActiveReads { files: 0, previous: Vec::new(), watchdog: None });

/// The reads in progress.
struct ActiveReads {
    /// Number of files being read.
    files: usize,
    /// The signal actions in force before the first read.
    previous: Vec<libc::sigaction>,
    /// Dropping the sender stops the memory watchdog.
    watchdog: Option<mpsc::Sender<()>>,
}

thread_local! {
    /// Message to print if HDF5 crashes on this thread.
    static MESSAGE: Cell<&'static [u8]> = const { Cell::new(&[]) };
}

/// Enables the signal handlers and the watchdog for all later reads of this process.
pub(super) fn handle_signals() {
    HANDLE_SIGNALS.store(true, Ordering::Relaxed);
}

/// Announces the read of `bytes` bytes. They may be in memory four times: HDF5's buffer, the buffer it
/// returns, the particles, and a message to another rank.
pub(super) fn expect_allocation(bytes: usize) {
    EXPECTED.fetch_add((bytes as u64).saturating_mul(4), Ordering::Relaxed);
}

/// Resets the expected allocation, once the data read so far are freed.
pub(super) fn reset_expected() {
    EXPECTED.store(0, Ordering::Relaxed);
}

/// Marks a file as being read by this thread.
pub(super) struct ReadGuard {
    message: &'static [u8],
    before: &'static [u8],
    /// Not `Send`: the message belongs to this thread.
    thread: PhantomData<*const ()>,
}

impl ReadGuard {
    /// Guards the read of a file. The remedy suggests another copy.
    pub fn new(path: &Path) -> Self {
        Self::with_error(|what| Error::Damaged {
            path: path.to_owned(),
            what,
            remedy: "copy the file anew, or take an earlier one".into(),
        })
    }

    /// Guards the read of a file until dropped; `error` builds the error for a crash.
    pub fn with_error(error: impl Fn(String) -> Error) -> Self {
        let message = |what: String| -> &'static [u8] { leak_once(format!("error: {}\n", error(what))) };
        let fails = message("HDF5 crashed while reading it".into());
        let before = MESSAGE.replace(fails);
        if HANDLE_SIGNALS.load(Ordering::Relaxed) {
            let mut read = ACTIVE_READS.lock().unwrap_or_else(PoisonError::into_inner);
            if read.files == 0 {
                read.previous =
                    SIGNALS.iter().map(|&signal| set_action(signal, &reporting_action())).collect();
                reset_expected();
                let mebibytes = MEMORY_ALLOWANCE >> 20;
                read.watchdog = watch_memory(message(format!(
                    "HDF5 allocated more than {mebibytes} MiB beyond its contents"
                )));
            }
            read.files += 1;
        }
        Self { message: fails, before, thread: PhantomData }
    }
}

impl Drop for ReadGuard {
    fn drop(&mut self) {
        if HANDLE_SIGNALS.load(Ordering::Relaxed) {
            let mut read = ACTIVE_READS.lock().unwrap_or_else(PoisonError::into_inner);
            read.files = read.files.saturating_sub(1);
            if read.files == 0 {
                read.watchdog = None;
                SIGNALS.iter().zip(std::mem::take(&mut read.previous)).for_each(|(&signal, before)| {
                    set_action(signal, &before);
                });
            }
        }
        if std::ptr::eq(MESSAGE.get(), self.message) {
            MESSAGE.set(self.before);
        }
    }
}

/// Leaks a message, since a signal may arrive at any time; the same message only once.
fn leak_once(message: String) -> &'static [u8] {
    static LEAKED: Mutex<BTreeSet<&'static [u8]>> = Mutex::new(BTreeSet::new());
    let mut leaked = LEAKED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(message) = leaked.get(message.as_bytes()) {
        return message;
    }
    let message: &'static [u8] = Box::leak(message.into_bytes().into_boxed_slice());
    leaked.insert(message);
    message
}

/// Watches the memory of the process from now on, until the returned sender is dropped.
fn watch_memory(message: &'static [u8]) -> Option<mpsc::Sender<()>> {
    let before = Some(memory::held()).filter(|bytes| *bytes > 0)?;
    let (read, still_reading) = mpsc::channel();
    let look = move || {
        while still_reading.recv_timeout(POLL_INTERVAL) == Err(RecvTimeoutError::Timeout) {
            let most =
                before.saturating_add(MEMORY_ALLOWANCE).saturating_add(EXPECTED.load(Ordering::Relaxed));
            // If reading has ended meanwhile, the measured memory is not that of the read.
            if memory::held() > most && still_reading.try_recv() == Err(TryRecvError::Empty) {
                report_and_exit(message);
            }
        }
    };
    // Reading works without a watchdog too, if no thread starts or the system does not report memory.
    std::thread::Builder::new().spawn(look).ok().map(|_| read)
}

/// Sets the action of a signal and returns the previous one.
fn set_action(signal: libc::c_int, action: &libc::sigaction) -> libc::sigaction {
    // SAFETY: an all-zero `sigaction` is valid, and both pointers are valid for the call.
    unsafe {
        let mut before: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, action, &mut before);
        before
    }
}

/// The signal action that reports the file.
fn reporting_action() -> libc::sigaction {
    // SAFETY: an all-zero `sigaction` is an action without flags and with an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = report_signal as extern "C" fn(libc::c_int) as libc::sighandler_t;
    // Use the alternate signal stack, if there is one: the stack of the thread may be full.
    action.sa_flags = libc::SA_ONSTACK;
    action
}

/// The signal handler. Calls only async-signal-safe functions.
extern "C" fn report_signal(signal: libc::c_int) {
    let message = MESSAGE.get();
    // SAFETY: `signal` and `raise` are async-signal-safe.
    unsafe {
        if message.is_empty() {
            // The fault of a thread that reads no file: raise it again with the default action.
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
            return;
        }
    }
    report_and_exit(message);
}

/// Writes the message and exits. Calls only async-signal-safe functions.
fn report_and_exit(message: &[u8]) -> ! {
    // SAFETY: the message is valid, and both functions are async-signal-safe.
    unsafe {
        libc::write(libc::STDERR_FILENO, message.as_ptr().cast(), message.len());
        libc::_exit(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn the_message_of_a_file_is_leaked_once() {
        let message = || ReadGuard::new(Path::new("often.hdf5")).message;
        assert!(std::ptr::eq(message(), message()));
        assert_ne!(message(), ReadGuard::new(Path::new("other.hdf5")).message);
        assert!(MESSAGE.get().is_empty());
    }

    /// Set in the child process that receives the signal.
    const SIGNAL: &str = "HILBRIUM_TEST_SIGNAL";

    #[test]
    fn a_signal_names_the_file_that_is_read() {
        if let Ok(signal) = std::env::var(SIGNAL) {
            handle_signals();
            let first = ReadGuard::new(Path::new("first.hdf5"));
            drop(ReadGuard::new(Path::new("second.hdf5")));
            if signal == "0" {
                drop(first);
            }
            // SAFETY: raising the signal is the purpose of the test.
            unsafe { libc::raise(signal.parse().ok().filter(|signal| *signal > 0).unwrap_or(libc::SIGFPE)) };
            return;
        }
        let run = |signal: libc::c_int| {
            let this = std::env::current_exe().unwrap();
            let name = "snapshot::crash_guard::tests::a_signal_names_the_file_that_is_read";
            let mut command = Command::new(this);
            command.args([name, "--exact", "--nocapture"]).env(SIGNAL, signal.to_string());
            let output = command.output().unwrap();
            (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
        };
        for signal in SIGNALS {
            let (code, told) = run(signal);
            assert_eq!(code, Some(1), "{told}");
            assert!(told.contains("error: first.hdf5 is damaged") && told.contains("help: "), "{told}");
        }
        // While no file is read, the signal has its default action.
        let (code, told) = run(0);
        assert!(code.is_none() && !told.contains("first.hdf5"), "{code:?} {told}");
    }

    /// Set in the child process that allocates.
    const TAKES: &str = "HILBRIUM_TEST_TAKES";

    #[test]
    fn memory_that_reading_does_not_account_for_names_the_file() {
        const BYTES: usize = 2 * MEMORY_ALLOWANCE as usize;
        if let Ok(how) = std::env::var(TAKES) {
            handle_signals();
            let reading = ReadGuard::new(Path::new("first.hdf5"));
            match how.as_str() {
                "expected" => expect_allocation(BYTES),
                "afterwards" => drop(reading),
                _ => {}
            }
            let taken = std::hint::black_box(vec![1u8; BYTES]);
            // The watchdog ends this early; on a busy machine that may take a while.
            std::thread::sleep(if how == "unexpected" { 500 } else { 10 } * POLL_INTERVAL);
            assert!(taken.iter().all(|byte| *byte == 1));
            return;
        }
        let run = |how: &str| {
            let mut command = Command::new(std::env::current_exe().unwrap());
            let name =
                "snapshot::crash_guard::tests::memory_that_reading_does_not_account_for_names_the_file";
            let output = command.args([name, "--exact", "--nocapture"]).env(TAKES, how).output().unwrap();
            (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
        };
        for how in ["expected", "afterwards"] {
            let (code, told) = run(how);
            assert_eq!(code, Some(0), "{how}: {told}");
        }
        if memory::held() > 0 {
            let (code, told) = run("unexpected");
            assert_eq!(code, Some(1), "{told}");
            let named = told.contains("error: first.hdf5 is damaged") && told.contains("MiB");
            assert!(named && told.contains("help: "), "{told}");
        }
    }
}
