//! Files on which HDF5 itself fails.
//!
//! HDF5 checks little of what it follows through a file: on one that is damaged in the wrong place it reads outside of its
//! memory, and the process gets a signal instead of an error; or it follows a ring, and takes memory until there is no more.
//! While a file is read, both say which one it was and end the process with status 1, as the error would have. No file is
//! being written then but the copy of a trajectory that is cut for a restart.

use crate::{Error, memory};
use std::cell::Cell;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, TryRecvError};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The signals of a process that has lost its way.
const SIGNALS: [libc::c_int; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGABRT];

/// Whether this process answers them: the program does, while tests and fuzzers shall see what happens.
static ANSWERS: AtomicBool = AtomicBool::new(false);

/// Bytes that HDF5 may take beside what it was asked to read.
const ROOM: u64 = if cfg!(test) { 32 << 20 } else { 1 << 30 };

/// How often it is looked at.
const TICK: Duration = Duration::from_millis(20);

/// Bytes that reading is expected to take.
static EXPECTED: AtomicU64 = AtomicU64::new(0);

static READ: Mutex<Read> = Mutex::new(Read { files: 0, before: Vec::new(), watch: None });

/// What is being read.
struct Read {
    /// So many files.
    files: usize,
    /// What was done about the signals before the first of them.
    before: Vec<libc::sigaction>,
    /// Who looks at the memory ends when this is dropped.
    watch: Option<mpsc::Sender<()>>,
}

thread_local! {
    /// What to say if HDF5 fails on this thread.
    static WORDS: Cell<&'static [u8]> = const { Cell::new(&[]) };
}

/// From now on this process answers the signals that HDF5 gets while it reads.
pub(super) fn answer() {
    ANSWERS.store(true, Ordering::Relaxed);
}

/// So many bytes are about to be read. They may be in memory four times: as HDF5 has them, as it hands them over, among the
/// particles and on the way to another rank.
pub(super) fn expect(bytes: usize) {
    EXPECTED.fetch_add((bytes as u64).saturating_mul(4), Ordering::Relaxed);
}

/// What was read so far is needed no more.
pub(super) fn expect_nothing() {
    EXPECTED.store(0, Ordering::Relaxed);
}

/// A file is being read by this thread.
pub(super) struct Reading {
    words: &'static [u8],
    before: &'static [u8],
    /// Of this thread, which has the words.
    thread: PhantomData<*const ()>,
}

impl Reading {
    /// A file of which there may be another copy.
    pub fn of(path: &Path) -> Self {
        Self::or(|what| Error::Damaged {
            path: path.to_owned(),
            what,
            remedy: "copy the file anew, or take an earlier one".into(),
        })
    }

    /// A file with such an error if HDF5 fails on it, until this is dropped. The words, a line each, stay in memory: a signal may
    /// come at any time.
    pub fn or(error: impl Fn(String) -> Error) -> Self {
        let words = |what: String| -> &'static [u8] {
            Box::leak(format!("error: {}\n", error(what)).into_bytes().into_boxed_slice())
        };
        let fails = words("HDF5 itself fails on it".into());
        let before = WORDS.replace(fails);
        if ANSWERS.load(Ordering::Relaxed) {
            let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
            if read.files == 0 {
                read.before = SIGNALS.iter().map(|&signal| act(signal, &told())).collect();
                expect_nothing();
                let mebibytes = ROOM >> 20;
                read.watch =
                    watch(words(format!("HDF5 itself takes more than {mebibytes} MiB beside what it holds")));
            }
            read.files += 1;
        }
        Self { words: fails, before, thread: PhantomData }
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        if ANSWERS.load(Ordering::Relaxed) {
            let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
            read.files = read.files.saturating_sub(1);
            if read.files == 0 {
                read.watch = None;
                SIGNALS.iter().zip(std::mem::take(&mut read.before)).for_each(|(&signal, before)| {
                    act(signal, &before);
                });
            }
        }
        if std::ptr::eq(WORDS.get(), self.words) {
            WORDS.set(self.before);
        }
    }
}

/// Look at what the process takes from now on until what is returned is dropped.
fn watch(words: &'static [u8]) -> Option<mpsc::Sender<()>> {
    let before = Some(memory::held()).filter(|bytes| *bytes > 0)?;
    let (read, still_reading) = mpsc::channel();
    let look = move || {
        while still_reading.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            let most = before.saturating_add(ROOM).saturating_add(EXPECTED.load(Ordering::Relaxed));
            // if reading has ended meanwhile, what was looked at is not what it took
            if memory::held() > most && still_reading.try_recv() == Err(TryRecvError::Empty) {
                end(words);
            }
        }
    };
    // without a thread for it, or where the system does not tell, files are read as well
    std::thread::Builder::new().spawn(look).ok().map(|_| read)
}

/// Sets what is done about a signal, and returns what was.
fn act(signal: libc::c_int, action: &libc::sigaction) -> libc::sigaction {
    // SAFETY: all zeros are an action, and both are valid for the call.
    unsafe {
        let mut before: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, action, &mut before);
        before
    }
}

/// Saying what happened, as what is done about a signal.
fn told() -> libc::sigaction {
    // SAFETY: all zeros are an action without flags and with an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = tell as extern "C" fn(libc::c_int) as libc::sighandler_t;
    // on the stack for signals, where there is one: that of the thread may be full
    action.sa_flags = libc::SA_ONSTACK;
    action
}

/// Calls nothing but what may be called here.
extern "C" fn tell(signal: libc::c_int) {
    let words = WORDS.get();
    // SAFETY: the words are valid, and these functions may be called when a signal comes.
    unsafe {
        if words.is_empty() {
            // another thread's fault: once more, without us
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
            return;
        }
    }
    end(words);
}

/// Calls nothing but what may be called when a signal comes.
fn end(words: &[u8]) -> ! {
    // SAFETY: the words are valid, and these functions may be called at any time.
    unsafe {
        libc::write(libc::STDERR_FILENO, words.as_ptr().cast(), words.len());
        libc::_exit(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// Set for the process that gets the signal.
    const SIGNAL: &str = "HILBRIUM_TEST_SIGNAL";

    #[test]
    fn a_signal_names_the_file_that_is_read() {
        if let Ok(signal) = std::env::var(SIGNAL) {
            answer();
            let first = Reading::of(Path::new("first.hdf5"));
            drop(Reading::of(Path::new("second.hdf5")));
            if signal == "0" {
                drop(first);
            }
            // SAFETY: what comes of it is what is tested.
            unsafe { libc::raise(signal.parse().ok().filter(|signal| *signal > 0).unwrap_or(libc::SIGFPE)) };
            return;
        }
        let run = |signal: libc::c_int| {
            let this = std::env::current_exe().unwrap();
            let name = "snapshot::fault::tests::a_signal_names_the_file_that_is_read";
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
        // when no file is read the signal does what it did
        let (code, told) = run(0);
        assert!(code.is_none() && !told.contains("first.hdf5"), "{code:?} {told}");
    }

    /// Set for the process that takes memory.
    const TAKES: &str = "HILBRIUM_TEST_TAKES";

    #[test]
    fn memory_that_reading_does_not_account_for_names_the_file() {
        const BYTES: usize = 2 * ROOM as usize;
        if let Ok(how) = std::env::var(TAKES) {
            answer();
            let reading = Reading::of(Path::new("first.hdf5"));
            match how.as_str() {
                "expected" => expect(BYTES),
                "afterwards" => drop(reading),
                _ => {}
            }
            let taken = std::hint::black_box(vec![1u8; BYTES]);
            // who looks ends this early; on a busy machine that may take a while
            std::thread::sleep(if how == "unexpected" { 500 } else { 10 } * TICK);
            assert!(taken.iter().all(|byte| *byte == 1));
            return;
        }
        let run = |how: &str| {
            let mut command = Command::new(std::env::current_exe().unwrap());
            let name = "snapshot::fault::tests::memory_that_reading_does_not_account_for_names_the_file";
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
