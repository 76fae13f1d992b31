//! Signals: each stops a run after a checkpoint, and soon.

use crate::case::*;
use crate::fault::*;
use crate::lock::{ENDLESS, begun};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::time::Duration;

#[test]
fn signals_of_terminals_and_queues_stop_with_a_checkpoint() {
    each(&[libc::SIGHUP, libc::SIGUSR1, libc::SIGUSR2, libc::SIGXCPU, libc::SIGINT], |signal| {
        let case = Case::new(EVERYTHING);
        let mut run = begun(&case, case.command(&ENDLESS));
        kill(signal, run.id());
        if signal != libc::SIGINT {
            // however often
            kill(signal, run.id());
        }
        let ended = ends_within(&mut run, Duration::from_secs(60));
        assert_eq!(ended, Some(3), "signal {signal}");
        let state = last_state(&case.path("out"));
        assert_eq!(state.len(), 108, "signal {signal}");
        assert!(!case.path("out/.hilbrium.lock").exists(), "signal {signal}");
    });
}

#[test]
fn a_hangup_that_is_ignored_stays_ignored() {
    let case = Case::new(EVERYTHING);
    let mut command = case.command(&ENDLESS);
    let ignore = || {
        // SAFETY: allowed between fork and exec, and the disposition is a constant.
        unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
        Ok(())
    };
    // SAFETY: see there.
    unsafe { command.pre_exec(ignore) };
    let mut run = begun(&case, command);
    kill(libc::SIGHUP, run.id());
    let rows = lines(&case.path("out/observables.csv"));
    wait_for(|| lines(&case.path("out/observables.csv")) > rows + 20);
    assert!(run.try_wait().expect("a child").is_none());
    kill(libc::SIGTERM, run.id());
    assert_eq!(ends_within(&mut run, Duration::from_secs(60)), Some(3));
}

/// A process that is stopped gets both signals when it goes on, before any step.
#[test]
fn a_second_signal_ends_a_run_at_once_unless_the_first_was_a_warning() {
    for (first, expected) in [(libc::SIGTERM, 143), (libc::SIGUSR1, 3)] {
        let case = Case::new(EVERYTHING);
        let mut run = begun(&case, case.command(&ENDLESS));
        kill(libc::SIGSTOP, run.id());
        kill(first, run.id());
        kill(if first == libc::SIGTERM { libc::SIGINT } else { libc::SIGTERM }, run.id());
        kill(libc::SIGCONT, run.id());
        let ended = run.wait().expect("it ends");
        // the kernel delivers the lower number first, so SIGINT ends by SIGTERM
        assert_eq!((ended.code(), ended.signal()), (Some(expected), None), "after signal {first}");
    }
}

/// More threads than processors are not started: those that wait would take the processors from those that work.
#[test]
fn far_more_threads_than_processors_change_no_bit_and_answer_signals() {
    let case = Case::new(EVERYTHING);
    let many = ["--set", "run.threads=400"];
    let mut run = begun(&case, case.command(&[&ENDLESS[..], &many].concat()));
    let threads = std::fs::read_dir(format!("/proc/{}/task", run.id())).expect("its threads").count();
    assert!(threads < 400, "{threads} threads");
    kill(libc::SIGTERM, run.id());
    assert_eq!(ends_within(&mut run, Duration::from_secs(30)), Some(3));
    let output = case.run(&["output.directory=many", "run.threads=400"]);
    assert_eq!(status(&output), 0, "{}", told(&output));
    let log = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(log.contains("warning: run.threads = 400"), "{log}");
    assert!(last_state(&case.path("many")).len() == 108);
}
