//! Signals that stop a run after a checkpoint.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU};
use signal_hook::{flag, low_level};

use crate::{Error, Result};

/// Termination signals, sent by users and systems: the second one ends the process at once.
const TERMINATION: [(i32, &str); 2] = [(SIGTERM, "SIGTERM"), (SIGINT, "SIGINT")];

/// Warning signals: closed terminal, batch queue, CPU time limit (sent repeatedly). The run stops in order
/// however many come.
const WARNING: [(i32, &str); 4] =
    [(SIGHUP, "SIGHUP"), (SIGUSR1, "SIGUSR1"), (SIGUSR2, "SIGUSR2"), (SIGXCPU, "SIGXCPU")];

/// State of the signals that this process handles.
#[derive(Debug)]
pub struct Signals {
    /// Number of the last signal; 0 for none.
    caught: Arc<AtomicUsize>,
    /// Number of termination signals caught.
    terminations: Arc<AtomicUsize>,
    /// Whether SIGHUP was ignored at the start, as under `nohup`.
    ignores_hangup: bool,
}

/// Whether SIGHUP was ignored before the libraries of the process were initialized.
static IGNORED_AT_THE_START: AtomicBool = AtomicBool::new(false);

/// Records whether SIGHUP is ignored. Runs from the program's `.preinit_array`, before the initializers of
/// libraries: that of UCX, on which Open MPI 5 depends, catches SIGHUP before `main`. Calls nothing but
/// sigaction.
pub extern "C" fn note_ignored_hangup() {
    IGNORED_AT_THE_START.store(is_ignored(SIGHUP), Ordering::Relaxed);
}

impl Signals {
    /// Installs the handlers for the rest of the process; a second termination signal ends it at once. A
    /// SIGHUP that is ignored, as under `nohup`, stays ignored.
    ///
    /// # Errors
    /// [`Error::Usage`] if the system refuses.
    pub fn listen() -> Result<Self> {
        Self::register(true)
    }

    /// Like [`Self::listen`], but no signal ends the process.
    ///
    /// # Errors
    /// [`Error::Usage`] if the system refuses.
    pub fn listen_only() -> Result<Self> {
        Self::register(false)
    }

    fn register(second_terminates: bool) -> Result<Self> {
        let ignores_hangup = IGNORED_AT_THE_START.load(Ordering::Relaxed) || is_ignored(SIGHUP);
        let signals = Signals { caught: Arc::default(), terminations: Arc::default(), ignores_hangup };
        signals.keep_ignored();
        signals.register_all(second_terminates).map(|()| signals).map_err(|cause| {
            Error::usage(format!("cannot listen to signals: {cause}"), "run on a system with POSIX signals")
        })
    }

    fn register_all(&self, second_terminates: bool) -> std::io::Result<()> {
        for (signal, _) in TERMINATION {
            // warning signals do not count: their sender may follow with SIGTERM while the checkpoint is
            // written
            let terminations = self.terminations.clone();
            let count = move || {
                if terminations.fetch_add(1, Ordering::Relaxed) > 0 && second_terminates {
                    low_level::exit(128 + signal);
                }
            };
            // SAFETY: an atomic increment and ending the process are allowed in a signal handler.
            unsafe { low_level::register(signal, count) }?;
        }
        let all = TERMINATION.iter().chain(&WARNING);
        for &(signal, _) in all.filter(|(signal, _)| *signal != SIGHUP || !self.ignores_hangup) {
            flag::register_usize(signal, self.caught.clone(), signal as usize)?;
        }
        Ok(())
    }

    /// Ignores SIGHUP again if it was ignored at the start, since UCX catches it. Must be called again after
    /// MPI has started, which may load UCX.
    pub fn keep_ignored(&self) {
        if self.ignores_hangup {
            // SAFETY: this disposition runs no code.
            unsafe { libc::signal(SIGHUP, libc::SIG_IGN) };
        }
    }

    /// Returns the number of the last signal caught; 0 for none.
    pub fn caught(&self) -> usize {
        self.caught.load(Ordering::Relaxed)
    }

    /// Whether more than one termination signal was caught.
    pub fn asked_again(&self) -> bool {
        self.terminations.load(Ordering::Relaxed) > 1
    }
}

/// Returns the name of a handled signal.
pub fn name(signal: usize) -> &'static str {
    let all = TERMINATION.iter().chain(&WARNING);
    all.clone().find(|(number, _)| *number as usize == signal).map_or("a signal", |(_, name)| name)
}

/// Whether a signal is ignored now.
fn is_ignored(signal: i32) -> bool {
    // SAFETY: all bytes zero are a valid `sigaction`.
    let mut present: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: a null action changes nothing, and `present` is valid for writing.
    let queried = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut present) };
    queried == 0 && present.sa_sigaction == libc::SIG_IGN
}
