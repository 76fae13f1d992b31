//! The status file of a run: what it says while the run goes on, and how it tells each end.

use crate::case::*;
use crate::fault::*;
use crate::lock::{ENDLESS, begun};
use hilbrium::run::lock;
use hilbrium::status::{Condition, State, Status, read};
use std::time::Duration;

fn status_of(case: &Case) -> Status {
    read(&case.path("out")).expect("a whole file").expect("a status")
}

/// The condition of the run in `out`, as another process tells it.
fn condition(case: &Case) -> Condition {
    let held = lock::find(&case.path("out")).expect("a folder").is_some();
    Condition::of(status_of(case).state, held)
}

#[test]
fn a_run_that_is_done_says_what_it_did() {
    let case = Case::new(EVERYTHING);
    let output = case.run(&[]);
    assert_eq!(status(&output), 0, "{}", told(&output));
    let found = status_of(&case);
    assert_eq!((condition(&case), found.message.as_deref()), (Condition::Done, None));
    assert_eq!(found.title, "all files that a run writes");
    assert_eq!((found.step, found.first_step, found.end.steps, found.end.time), (12, 0, Some(12), None));
    assert!((found.time - 12.0 * 0.004).abs() < 1e-12 && found.fraction == 1.0, "{found:?}");
    assert_eq!((found.particles, found.ranks, found.threads), (108, 1, 1));
    assert_eq!((found.device.as_str(), found.snapshots, found.checkpoint), ("cpu", 4, Some(12)));
    assert_eq!((found.seconds_left, found.time_unit.as_str()), (None, "U_t"));
    assert_eq!(found.time_step, Some(0.004));
    let energy = found.energy.expect("energies are observed");
    let table = std::fs::read_to_string(case.path("out/observables.csv")).expect("a record");
    let total = |line: &str| line.split(',').nth(6).expect("a cell").parse::<f64>().expect("a number");
    let mut rows = table.lines();
    assert_eq!(rows.next().expect("a header").split(',').nth(6), Some("total_energy [U_M U_L^2 U_t^-2]"));
    let (first, last) = (total(rows.next().expect("a row")), total(rows.next_back().expect("a row")));
    assert_eq!((energy.first, energy.now), (Some(first), Some(last)));
    assert!((energy.relative_drift.expect("a drift") - (last - first) / first.abs()).abs() < 1e-15);
    let total = found.total.expect("phases were timed");
    let sum: f64 = found.phases.iter().map(|phase| phase.mean).sum();
    assert!((sum / total.mean - 1.0).abs() < 1e-9 && total.mean <= found.elapsed, "{total:?} {sum}");
    assert!(found.phases.iter().any(|phase| phase.name == "pair forces"), "{:?}", found.phases);
    let rates = found.mean;
    let updates = 108.0 * rates.steps_per_second.expect("a rate");
    assert!((rates.updates_per_second.expect("a rate") / updates - 1.0).abs() < 1e-9, "{rates:?}");
    assert!(found.memory.peak[0] > 1e6 && found.memory.estimate.expect("an estimate") > 1e6);
    let list = found.neighbors.expect("pairs interact");
    assert!(list.skin > 0.0 && list.builds >= 1 && list.bytes > 0, "{list:?}");
}

#[test]
fn a_failed_run_says_why_and_a_restart_begins_anew() {
    let case = Case::new(EVERYTHING);
    let output = case.run(&["time_step.fixed=1e200"]);
    assert_eq!(status(&output), 1, "{}", told(&output));
    let found = status_of(&case);
    assert_eq!((condition(&case), found.state), (Condition::Failed, State::Failed));
    let message = found.message.expect("a failure has a message");
    assert!(told(&output).contains(&message) && message.contains("help: "), "{message}");
    let output = case.run(&["output.overwrite=true"]);
    assert_eq!(status(&output), 0, "{}", told(&output));
    assert_eq!(condition(&case), Condition::Done);
    let more = ["run", "deck.toml", "--restart", "out/checkpoint-000012.h5", "--set", "run.steps=14"];
    let output = case.command(&more).output().expect("the program starts");
    assert_eq!(status(&output), 0, "{}", told(&output));
    let found = status_of(&case);
    assert_eq!((found.first_step, found.step, found.state), (12, 14, State::Done));
}

#[test]
fn a_run_that_goes_on_is_followed_and_a_killed_one_is_told_apart() {
    let case = Case::new(EVERYTHING);
    let mut run = begun(&case, case.command(&ENDLESS));
    wait_for(|| status_of(&case).recent.steps_per_second.is_some());
    let early = status_of(&case);
    assert_eq!((condition(&case), early.process), (Condition::Running, run.id()));
    assert!(early.seconds_left.is_none_or(|left| left > 0.0) && early.fraction < 1.0);
    wait_for(|| status_of(&case).step > early.step);
    kill(libc::SIGKILL, run.id());
    run.wait().expect("it ends");
    let last = status_of(&case);
    assert_eq!((last.state, condition(&case)), (State::Running, Condition::Killed));
    assert!(last.updated > early.updated && last.updated - early.updated > 0.9, "about once a second");
}

#[test]
fn a_stopped_run_of_two_ranks_has_phases_of_both() {
    let case = Case::new(EVERYTHING);
    let mut run = begun(&case, case.ranks(2, &ENDLESS));
    wait_for(|| status_of(&case).recent.steps_per_second.is_some());
    let output = case.command(&["stop", "out"]).output().expect("the program starts");
    assert_eq!(status(&output), 0, "{}", told(&output));
    assert_eq!(ends_within(&mut run, Duration::from_secs(60)), Some(3));
    let found = status_of(&case);
    assert_eq!((condition(&case), found.ranks, found.threads), (Condition::Stopped, 2, 2));
    assert_eq!((found.particles, found.checkpoint), (108, Some(found.step)));
    assert!(found.phases.iter().any(|phase| phase.min < phase.max), "phases of one rank only");
    for phase in found.phases.iter().chain(&found.total) {
        assert!(phase.min <= phase.mean && phase.mean <= phase.max, "{phase:?}");
    }
    assert!(found.memory.peak[0] <= found.memory.peak[2] && found.memory.peak[0] > 1e6);
}

/// A run that is refused because of the files in its folder, and one whose start cannot be read, leave the
/// status of the earlier run; so does a restart whose trajectory does not fit.
#[test]
fn a_run_that_never_began_leaves_the_status_of_the_run_before() {
    let case = Case::new(EVERYTHING);
    assert_eq!(status(&case.run(&[])), 0);
    let before = status_of(&case);
    let output = case.run(&["output.directory=out"]);
    assert_eq!(status(&output), 2, "{}", told(&output));
    let other = ["--restart", "out", "--set", "run.steps=14", "--set", "output.trajectory.velocities=false"];
    let output = case.command(&[&["run", "deck.toml"], &other[..]].concat()).output().expect("it starts");
    assert_ne!(status(&output), 0, "{}", told(&output));
    assert_eq!(status_of(&case), before);
    std::fs::write(case.path("deck.toml"), FROM_FILE).expect("a deck");
    let output = case.run(&["output.overwrite=true"]);
    assert_ne!(status(&output), 0, "{}", told(&output));
    assert_eq!(status_of(&case), before);
}
