//! Runs that are asked to stop, alone and under mpirun, and go on from there to the same bits.

use crate::case::*;
use crate::fault::*;
use crate::lock::{ENDLESS, begun};
use std::time::Duration;

/// A liquid of two ranks that writes a checkpoint after each step, so that one more changes nothing.
fn liquid() -> String {
    EVERYTHING.replace("checkpoint = { every_steps = 3 }", "checkpoint = { every_steps = 1 }")
}

/// The step of the newest checkpoint.
fn step(case: &Case) -> u64 {
    let name = latest(&case.path("out")).file_name().expect("a name").to_string_lossy().into_owned();
    name.trim_start_matches("checkpoint-").trim_end_matches(".h5").parse().expect("a step")
}

/// See that a run that was stopped goes on to the bits of a run that was not.
fn goes_on_to_the_same_bits(case: &Case, ranks: usize) {
    let steps = format!("run.steps={}", step(case) + 3);
    let command = |arguments: &[&str]| match ranks {
        1 => case.command(arguments),
        _ => case.ranks(ranks, arguments),
    };
    let run = ["run", "deck.toml", "--set", &steps];
    for more in [&["--restart", "out"][..], &["--set", "output.directory=undisturbed"]] {
        let output = command(&[&run, more].concat()).output().expect("it starts");
        assert_eq!(status(&output), 0, "{more:?}: {}", told(&output));
    }
    assert!(last_state(&case.path("out")) == last_state(&case.path("undisturbed")));
    let record = |folder: &str| std::fs::read_to_string(case.path(folder)).expect("a record");
    assert_eq!(record("out/observables.csv"), record("undisturbed/observables.csv"));
}

#[test]
fn a_run_that_is_asked_to_stop_does_and_the_request_is_for_no_other() {
    let case = Case::new(&liquid());
    let stop = |more: &[&str]| {
        let arguments = [&["stop", "out"], more].concat();
        case.command(&arguments).output().expect("the program starts")
    };
    assert_eq!(status(&stop(&[])), 1, "there is no folder");
    let mut run = begun(&case, case.command(&ENDLESS));
    kill(libc::SIGSTOP, run.id());
    let output = stop(&["--wait", "0"]);
    assert_eq!(status(&output), 0, "{}", told(&output));
    let output = stop(&["--wait", "1"]);
    assert_eq!(status(&output), 1, "{}", told(&output));
    assert!(told(&output).contains("it still goes on"), "{}", told(&output));
    // another one waits for the end: it has asked before the run goes on
    std::fs::remove_file(case.path("out/.hilbrium.stop")).expect("the request");
    let waits = case.command(&["stop", "out", "--wait", "100"]).spawn().expect("the program starts");
    wait_for(|| case.path("out/.hilbrium.stop").exists());
    kill(libc::SIGCONT, run.id());
    let output = waits.wait_with_output().expect("it ends");
    assert_eq!(status(&output), 0, "{}", told(&output));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(ends_within(&mut run, Duration::from_secs(60)), Some(3));
    assert!(said.contains(&format!("stopped after a checkpoint at step {}", step(&case))), "{said}");
    let hidden: Vec<String> = case.names("out").into_iter().filter(|name| name.starts_with('.')).collect();
    assert!(hidden.is_empty(), "{hidden:?}");
    let output = stop(&[]);
    assert_eq!(status(&output), 2, "{}", told(&output));
    assert!(told(&output).contains("no run writes into out"), "{}", told(&output));
    goes_on_to_the_same_bits(&case, 1);
}

#[cfg(feature = "mpi")]
#[test]
fn two_ranks_stop_on_request_and_on_warnings_to_mpirun() {
    let case = Case::new(&liquid());
    let mut job = begun(&case, case.ranks(2, &ENDLESS));
    let output = case.command(&["stop", "out"]).output().expect("the program starts");
    assert_eq!(status(&output), 0, "{}", told(&output));
    assert_eq!(ends_within(&mut job, Duration::from_secs(60)), Some(3));
    goes_on_to_the_same_bits(&case, 2);
    let case = Case::new(&liquid());
    let mut job = begun(&case, case.ranks(2, &ENDLESS));
    kill(libc::SIGUSR1, job.id());
    assert_eq!(ends_within(&mut job, Duration::from_secs(60)), Some(3));
    assert_eq!(last_state(&case.path("out")).len(), 108);
}

#[cfg(feature = "mpi")]
#[test]
fn ranks_that_the_program_starts_itself_get_the_time_for_a_checkpoint() {
    for signal in [libc::SIGTERM, libc::SIGINT] {
        let case = Case::new(&liquid());
        let mut run = begun(&case, case.command(&[&ENDLESS[..], &["--ranks", "2"]].concat()));
        assert_eq!(children(run.id()).len(), 3, "the launcher and two ranks");
        kill(signal, run.id());
        assert_eq!(ends_within(&mut run, Duration::from_secs(60)), Some(3), "signal {signal}");
        goes_on_to_the_same_bits(&case, 2);
    }
}

#[cfg(feature = "mpi")]
#[test]
fn the_status_and_the_log_of_ranks_come_through() {
    let case = Case::new(EVERYTHING);
    let ranks = ["run", "deck.toml", "--ranks", "2"];
    let output = case.command(&ranks).output().expect("the program starts");
    assert_eq!(status(&output), 0, "{}", told(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("done at t = "));
    let output = case.command(&ranks).output().expect("the program starts");
    assert_eq!(status(&output), 2, "{}", told(&output));
    assert!(told(&output).contains("output.overwrite=true"), "{}", told(&output));
    // no mpirun, and one of another library
    let output = case.command(&ranks).env("PATH", case.folder.path()).output().expect("the program starts");
    assert_eq!(status(&output), 2, "{}", told(&output));
    assert!(told(&output).contains("install Open MPI"), "{}", told(&output));
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(case.path("mpirun"), "#!/bin/sh\necho HYDRA build details:\n").expect("a script");
    std::fs::set_permissions(case.path("mpirun"), std::fs::Permissions::from_mode(0o755)).expect("a program");
    let output = case.command(&ranks).env("PATH", case.folder.path()).output().expect("the program starts");
    assert_eq!(status(&output), 2, "{}", told(&output));
    assert!(told(&output).contains("not that of Open MPI: HYDRA"), "{}", told(&output));
}
