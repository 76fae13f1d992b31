//! A process that is gone at any call on a file: what is there is whole, and the run goes on from it to the same end.

use crate::case::*;
use crate::fault::*;

#[test]
fn a_run_that_is_killed_at_any_call_goes_on_to_the_same_end() {
    let reference = reference();
    each(&some_of(reference.calls, 10), |at| {
        let what = format!("killed at call {at} of {}", reference.calls);
        let case = Case::new(EVERYTHING);
        let mut command = case.command(&["run", "deck.toml"]);
        Fault { kind: "kill", at, times: 1, rank: None }.strikes(&mut command, &case);
        let output = command.output().expect("the program starts");
        assert_eq!(output.status.code(), None, "{what}: {output:?}");
        reference.begins_with(&case, &what);
        reference.reached_from(&case, &what);
    });
}

/// As after the machine itself went down: a restart is killed too, again and again.
#[test]
fn restarts_that_are_killed_lose_nothing() {
    let reference = reference();
    let case = Case::new(EVERYTHING);
    for (k, at) in [reference.calls * 2 / 3, 60, 30, 90].into_iter().enumerate() {
        let restart = ["run", "deck.toml", "--restart", "out"];
        let mut command = case.command(if k == 0 { &restart[..2] } else { &restart });
        Fault { kind: "kill", at, times: 1, rank: None }.strikes(&mut command, &case);
        assert_eq!(command.output().expect("the program starts").status.code(), None, "killed at {at}");
        reference.begins_with(&case, &format!("killed at {at}, run {k}"));
    }
    reference.reached_from(&case, "killed four times");
}
