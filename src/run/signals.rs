//! Signals that stop a run after a checkpoint.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU};
use signal_hook::{flag, low_level};

use crate::{Error, Result};

/// Signals that people and systems send to end a process: the second one ends it at once.
const ENDING: [(i32, &str); 2] = [(SIGTERM, "SIGTERM"), (SIGINT, "SIGINT")];

/// Signals that announce an end: a closed terminal, the warnings of a queue, a limit on processor time, which comes again
/// and again. However many come, the run stops in order.
const WARNING: [(i32, &str); 4] =
    [(SIGHUP, "SIGHUP"), (SIGUSR1, "SIGUSR1"), (SIGUSR2, "SIGUSR2"), (SIGXCPU, "SIGXCPU")];

/// What has come of the signals that this process listens to.
#[derive(Debug)]
pub struct Signals {
    /// The number of a signal that came; 0 for none.
    caught: Arc<AtomicUsize>,
    /// How many came that ask for an end.
    asked: Arc<AtomicUsize>,
    /// Whether SIGHUP was ignored at the start, as `nohup` lets it be.
    ignores_hangup: bool,
}

/// Whether SIGHUP was ignored before the libraries of the process were initialized.
static IGNORED_AT_THE_START: AtomicBool = AtomicBool::new(false);

/// Note whether SIGHUP is ignored, before the initializers of libraries run: that of UCX, on which Open MPI 5
/// depends, catches SIGHUP before `main`. For the program's `.preinit_array`; it calls nothing but sigaction.
pub extern "C" fn note_ignored_hangup() {
    IGNORED_AT_THE_START.store(is_ignored(SIGHUP), Ordering::Relaxed);
}

impl Signals {
    /// Listen, from now on and for the rest of the process, which a second signal that asks for an end ends at once. A
    /// SIGHUP that is ignored, as `nohup` lets it be, stays ignored.
    ///
    /// # Errors
    /// [`Error::Usage`] where the system refuses.
    pub fn listen() -> Result<Self> {
        Self::register(true)
    }

    /// As [`Self::listen`], but no signal ends the process.
    ///
    /// # Errors
    /// [`Error::Usage`] where the system refuses.
    pub fn listen_only() -> Result<Self> {
        Self::register(false)
    }

    fn register(second_ends: bool) -> Result<Self> {
        let ignores_hangup = IGNORED_AT_THE_START.load(Ordering::Relaxed) || is_ignored(SIGHUP);
        let signals = Signals { caught: Arc::default(), asked: Arc::default(), ignores_hangup };
        signals.keep_ignored();
        signals.register_all(second_ends).map(|()| signals).map_err(|cause| {
            Error::usage(format!("cannot listen to signals: {cause}"), "run on a system with POSIX signals")
        })
    }

    fn register_all(&self, second_ends: bool) -> std::io::Result<()> {
        for (signal, _) in ENDING {
            // warnings do not count: who warns may send SIGTERM later, while the checkpoint is being written
            let asked = self.asked.clone();
            let count = move || {
                if asked.fetch_add(1, Ordering::Relaxed) > 0 && second_ends {
                    low_level::exit(128 + signal);
                }
            };
            // SAFETY: adding to an atomic number and ending the process are allowed in a signal handler.
            unsafe { low_level::register(signal, count) }?;
        }
        let all = ENDING.iter().chain(&WARNING);
        for &(signal, _) in all.filter(|(signal, _)| *signal != SIGHUP || !self.ignores_hangup) {
            flag::register_usize(signal, self.caught.clone(), signal as usize)?;
        }
        Ok(())
    }

    /// Ignore SIGHUP again where it was at the start: UCX catches it. Also after MPI has started, which may
    /// load UCX.
    pub fn keep_ignored(&self) {
        if self.ignores_hangup {
            // SAFETY: a disposition that runs no code.
            unsafe { libc::signal(SIGHUP, libc::SIG_IGN) };
        }
    }

    /// A signal that has come: the number of the last one; 0 for none.
    pub fn caught(&self) -> usize {
        self.caught.load(Ordering::Relaxed)
    }

    /// Whether several came that ask for an end.
    pub fn asked_again(&self) -> bool {
        self.asked.load(Ordering::Relaxed) > 1
    }
}

/// The name of a signal that is listened to.
pub fn name(signal: usize) -> &'static str {
    let all = ENDING.iter().chain(&WARNING);
    all.clone().find(|(number, _)| *number as usize == signal).map_or("a signal", |(_, name)| name)
}

/// Whether a signal is ignored now.
fn is_ignored(signal: i32) -> bool {
    // SAFETY: all bytes zero are a value of it.
    let mut present: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: nothing is set, and the place for the answer is there.
    let asked = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut present) };
    asked == 0 && present.sa_sigaction == libc::SIG_IGN
}
