//! Two runs in one folder: the second is refused, and a run that is gone holds nothing.

use crate::case::*;
use crate::fault::*;
use std::process::{Child, Command};

/// A run that goes on until it is stopped.
pub const ENDLESS: [&str; 4] = ["run", "deck.toml", "--set", "run.steps=1000000"];

/// A run that has begun to write.
pub fn begun(case: &Case, mut command: Command) -> Child {
    let null = std::process::Stdio::null;
    let run = command.stdout(null()).stderr(null()).spawn().expect("the program starts");
    // the header and steps 0 to 5, with a checkpoint among them
    wait_for(|| lines(&case.path("out/observables.csv")) > 6);
    run
}

const LOCK: &str = "out/.hilbrium.lock";

#[test]
fn a_folder_belongs_to_one_run_at_a_time() {
    let case = Case::new(EVERYTHING);
    let mut run = begun(&case, case.command(&ENDLESS));
    let holder = format!("process {} on ", run.id());
    for more in [&["--restart", "out"][..], &["--set", "output.overwrite=true"], &[]] {
        let output = case.command(&[&ENDLESS, more].concat()).output().expect("the program starts");
        assert_eq!(status(&output), 2, "{more:?}: {}", told(&output));
        for part in [holder.as_str(), "since ", "help: ", "hilbrium stop out"] {
            assert!(told(&output).contains(part), "{more:?}: {}", told(&output));
        }
    }
    let reader = case.command(&["info", "out/snapshot-0000.hdf5"]).output().expect("the program starts");
    assert_eq!(status(&reader), 0, "readers are let in");
    assert!(case.path("out/snapshot-0000.hdf5").exists() && run.try_wait().expect("a child").is_none());
    // one that is killed leaves its lock, which holds nothing
    kill(libc::SIGKILL, run.id());
    run.wait().expect("it ends");
    assert!(case.path(LOCK).exists());
    let arguments = ["run", "deck.toml", "--restart", "out", "--set", "run.steps=1"];
    let output = case.command(&arguments).output().expect("the program starts");
    assert_eq!(status(&output), 0, "{}", told(&output));
    let log = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(log.contains(&holder) && log.contains("is gone"), "{log}");
    assert!(!case.path(LOCK).exists());
}

/// As on a network file system that lets no one lock.
#[test]
fn without_locks_the_lock_file_decides() {
    let case = Case::new(EVERYTHING);
    let without_locks = |arguments: &[&str]| {
        let mut command = case.command(arguments);
        let fault = Fault { kind: "unlockable", at: 0, times: ALL, rank: None };
        fault.strikes(&mut command, &case);
        command
    };
    let mut run = begun(&case, without_locks(&ENDLESS));
    let output = without_locks(&[&ENDLESS[..], &["--restart", "out"]].concat()).output();
    let output = output.expect("the program starts");
    assert_eq!(status(&output), 2, "{}", told(&output));
    for part in [&format!("process {} on ", run.id()), "if that run is gone, remove out/.hilbrium.lock"] {
        assert!(told(&output).contains(part), "{}", told(&output));
    }
    kill(libc::SIGKILL, run.id());
    run.wait().expect("it ends");
    let again = ["run", "deck.toml", "--set", "output.overwrite=true"];
    let text = std::fs::read_to_string(case.path(LOCK)).expect("the lock");
    let host = text.lines().next().expect("a line");
    std::fs::write(case.path(LOCK), text.replace(host, "host elsewhere")).expect("a lock");
    let output = without_locks(&again).output().expect("the program starts");
    assert_eq!(status(&output), 2, "{}", told(&output));
    assert!(told(&output).contains("on elsewhere"), "{}", told(&output));
    std::fs::write(case.path(LOCK), text).expect("a lock");
    let output = without_locks(&again).output().expect("the program starts");
    assert_eq!(status(&output), 0, "{}", told(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("file locks do not work in out"));
    assert!(!case.path(LOCK).exists());
}
