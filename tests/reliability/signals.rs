//! Signals: each stops a run after a checkpoint, and soon.

use crate::case::*;
use crate::fault::*;
use crate::lock::{ENDLESS, begun};
use std::os::unix::process::CommandExt;
use std::time::Duration;

#[test]
fn signals_of_terminals_and_queues_stop_with_a_checkpoint() {
    each(&[libc::SIGHUP, libc::SIGUSR1, libc::SIGUSR2, libc::SIGXCPU, libc::SIGINT], |signal| {
        let case = Case::new(EVERYTHING);
        let mut command = case.command(&ENDLESS);
        // whoever runs the tests may ignore hangups
        // SAFETY: allowed between fork and exec, and the disposition is a constant.
        unsafe {
            command.pre_exec(|| {
                libc::signal(libc::SIGHUP, libc::SIG_DFL);
                Ok(())
            })
        };
        let mut run = begun(&case, command);
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
    for (signals, expected) in [
        // the system chooses which of two comes first
        ([libc::SIGTERM, libc::SIGINT], [128 + libc::SIGTERM, 128 + libc::SIGINT]),
        ([libc::SIGUSR1, libc::SIGTERM], [3, 3]),
    ] {
        let case = Case::new(EVERYTHING);
        let mut run = begun(&case, case.command(&ENDLESS));
        kill(libc::SIGSTOP, run.id());
        signals.into_iter().for_each(|signal| kill(signal, run.id()));
        kill(libc::SIGCONT, run.id());
        let ended = ends_within(&mut run, Duration::from_secs(60)).expect("it ends");
        assert!(expected.contains(&ended), "{ended} after signals {signals:?}");
    }
}

/// Threads beyond the processors are not started: those that wait would take the processors from those that work.
#[test]
fn far_more_threads_than_processors_answer_signals() {
    let case = Case::new(EVERYTHING);
    let mut run = begun(&case, case.command(&[&ENDLESS[..], &["--set", "run.threads=4000"]].concat()));
    let threads = std::fs::read_dir(format!("/proc/{}/task", run.id())).expect("its threads").count();
    assert!(threads < 4000, "{threads} threads");
    kill(libc::SIGTERM, run.id());
    assert_eq!(ends_within(&mut run, Duration::from_secs(30)), Some(3));
}

#[test]
fn threads_that_are_not_started_change_no_bit() {
    let deck =
        EVERYTHING.replace("cells = [3, 3, 3]", "cells = [6, 6, 6]").replace("steps = 12", "steps = 3");
    let case = Case::new(&deck.replace("threads = 1", "threads = 3"));
    let mut command = case.command(&["run", "deck.toml"]);
    let on_one_processor = || {
        // SAFETY: all bytes zero are a value of it.
        let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        // SAFETY: the set is there, and as large as said.
        unsafe {
            let own = usize::try_from(libc::sched_getcpu()).unwrap_or(0);
            libc::CPU_SET(own, &mut set);
            match libc::sched_setaffinity(0, size_of_val(&set), &set) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        }
    };
    // SAFETY: it makes system calls alone.
    unsafe { command.pre_exec(on_one_processor) };
    let output = command.output().expect("the program starts");
    assert_eq!(status(&output), 0, "{}", told(&output));
    let log = String::from_utf8_lossy(&output.stdout).into_owned();
    let warning = "warning: run.threads = 3, but there is 1 processor here: 1 thread is started, and sums are split as for 3";
    assert!(log.contains(warning), "{log}");
    // with all the threads
    let overrides = [format!("output.directory={}", case.path("three").display())];
    let deck = hilbrium::deck::read_checked(&case.path("deck.toml"), &overrides).expect("a deck");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("threads");
    let comm = hilbrium::comm::Communicator::solo();
    pool.install(|| hilbrium::run::run(&deck, &comm, None)).expect("a run");
    assert!(last_state(&case.path("out")) == last_state(&case.path("three")));
    assert_eq!(status(&case.run(&["output.directory=one", "run.threads=1"])), 0);
    assert!(last_state(&case.path("out")) != last_state(&case.path("one")), "sums are split otherwise");
}
