//! A process that is gone at any call on a file: what is there is whole, and the run goes on from it to the same end.

use crate::case::*;
use crate::fault::*;
use std::path::{Path, PathBuf};

#[test]
fn a_run_that_is_killed_at_any_call_goes_on_to_the_same_end() {
    let reference = reference();
    each(&some_of(reference.calls, 10), |at| {
        let what = format!("killed at call {at} of {}", reference.calls);
        let case = Case::new(EVERYTHING);
        kill_at(case.command(&["run", "deck.toml"]), &case, at);
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
        kill_at(case.command(if k == 0 { &restart[..2] } else { &restart }), &case, at);
        reference.begins_with(&case, &format!("killed at {at}, run {k}"));
    }
    reference.reached_from(&case, "killed four times");
}

/// A run whose trajectory has a frame of each step and all that a frame can have; `output` is what else it writes.
fn filmed(steps: u64, output: &str) -> String {
    let deck = EVERYTHING.replace("steps = 12\n", &format!("steps = {steps}\n"));
    let (head, _) = deck.split_once("[measure").expect("what is measured");
    format!(
        "{head}[output]\n{output}[output.trajectory]\nevery_steps = 1\nvelocities = true\nforces = true\n"
    )
}

/// How the names of a case's trajectory begin.
fn trajectory(case: &Case) -> PathBuf {
    case.folder.path().canonicalize().expect("a path").join("out/trajectory")
}

/// A restart cuts the frames after its checkpoint off, a whole chunk with them: killed at every call meanwhile.
#[test]
fn a_trajectory_has_whole_frames_wherever_a_restart_cuts_it() {
    let deck = filmed(66, "checkpoint = { every_steps = 60 }\n");
    let run = Case::new(&deck);
    assert_eq!(status(&run.run(&[])), 0);
    let whole = frames(&run.path("out/trajectory.h5md"));
    assert_eq!(whole.len(), 67);
    // the run goes on from step 60 to 61
    let restart = |case: &Case| {
        let (from, to) = (run.path("out"), case.path("out"));
        std::fs::create_dir(&to).expect("a folder");
        for name in run.names("out") {
            std::fs::copy(from.join(&name), to.join(&name)).expect("a copy");
        }
        let checkpoint =
            run.names("out").into_iter().find(|name| name.contains("000060")).expect("a checkpoint");
        let checkpoint = format!("out/{checkpoint}");
        case.command(&["run", "deck.toml", "--restart", &checkpoint, "--set", "run.steps=61"])
    };
    let case = Case::new(&deck);
    let calls = count_calls_below(restart(&case), &case, None, &trajectory(&case));
    assert_eq!(frames(&case.path("out/trajectory.h5md")), whole[..62], "the first 60 and one more");
    assert!(calls > 20, "{calls} calls");
    each(&(1..=calls).collect::<Vec<_>>(), |at| {
        let case = Case::new(&deck);
        kill_below(restart(&case), &case, at, &trajectory(&case));
        let found = frames(&case.path("out/trajectory.h5md"));
        assert!(
            found.len() >= 61 && whole.starts_with(&found),
            "killed at call {at}: {} frames",
            found.len()
        );
    });
}

/// The first frames, and the ones after 64, where the file grows by a chunk: killed at every call on the file.
#[test]
fn a_trajectory_has_whole_frames_wherever_its_file_grows() {
    let deck = |steps: u64| filmed(steps, "");
    let calls = |steps: u64| {
        let case = Case::new(&deck(steps));
        (count_calls_below(case.command(&["run", "deck.toml"]), &case, None, &trajectory(&case)), case)
    };
    let ((begun, _), (full, _), (grown, whole)) = (calls(1), calls(63), calls(65));
    let whole = frames(&whole.path("out/trajectory.h5md"));
    assert_eq!(whole.len(), 66);
    assert!(10 < begun && begun < full && full + 10 < grown, "{begun}, {full} and {grown} calls");
    let points: Vec<u64> = (1..=begun).chain(full + 1..=grown).collect();
    each(&points, |at| {
        let case = Case::new(&deck(65));
        kill_below(case.command(&["run", "deck.toml"]), &case, at, &trajectory(&case));
        let path = case.path("out/trajectory.h5md");
        let found = if path.exists() { frames(&path) } else { Vec::new() };
        assert!(whole.starts_with(&found), "killed at call {at}: {} frames differ", found.len());
        assert!(
            at <= begun || found.len() >= 64,
            "killed at call {at}: {} frames are left in {:?}",
            found.len(),
            case.names("out")
        );
    });
}

/// Frames in front of the first that is damaged, and whether they begin as `whole` does; the numbers of
/// frames and steps in the head of DCD aside.
fn appended_frames(path: &Path, whole: &[u8]) -> u64 {
    let Ok(bytes) = std::fs::read(path) else { return 0 };
    let counted = if path.ends_with("trajectory.dcd") { 8..24 } else { 0..0 };
    for (k, (found, expected)) in bytes.iter().zip(whole).enumerate() {
        assert!(counted.contains(&k) || found == expected, "byte {k} of {}", path.display());
    }
    // a head that is not whole has no frames
    let told = hilbrium::snapshot::trajectory::info(path).ok().flatten().unwrap_or_default();
    let count = told.lines().find_map(|line| line.strip_prefix("frames"));
    count.map_or(0, |count| count.trim().parse().expect("a number"))
}

/// XTC and DCD, and the topology beside them: killed at every call, the complete frames are readable, and a
/// restart reaches the same bytes.
#[test]
fn xtc_and_dcd_keep_their_frames_wherever_a_run_is_killed() {
    for (format, name) in [("xtc", "trajectory.xtc"), ("dcd", "trajectory.dcd")] {
        let (head, _) = EVERYTHING.split_once("[measure").expect("what is measured");
        let head = head.replace("steps = 12\n", "steps = 5\n");
        let deck = format!(
            "{head}[output]\ncheckpoint = {{ every_steps = 2 }}\n\
             [output.trajectory]\nevery_steps = 1\nformat = \"{format}\"\n"
        );
        let case = Case::new(&deck);
        let calls = count_calls_below(case.command(&["run", "deck.toml"]), &case, None, &trajectory(&case));
        let whole = std::fs::read(case.path("out").join(name)).expect("a trajectory");
        let topology = std::fs::read(case.path("out/trajectory.psf")).expect("a topology");
        assert_eq!(appended_frames(&case.path("out").join(name), &whole), 6);
        assert!(calls > 10, "{calls} calls");
        each(&(1..=calls).collect::<Vec<_>>(), |at| {
            let what = format!("{format} killed at call {at} of {calls}");
            let case = Case::new(&deck);
            let path = case.path("out").join(name);
            kill_below(case.command(&["run", "deck.toml"]), &case, at, &trajectory(&case));
            let kept = appended_frames(&path, &whole);
            let checkpoints = case.names("out").into_iter().filter(|name| name.starts_with("checkpoint-"));
            let checkpoints = checkpoints.count() as u64;
            // a checkpoint is written behind the frame of its step
            assert!(kept > 2 * checkpoints || checkpoints == 0, "{what}: {kept} frames");
            let restart = ["run", "deck.toml", "--restart", "out"];
            let anew = ["run", "deck.toml", "--set", "output.overwrite=true"];
            let output = case.command(if checkpoints > 0 { &restart } else { &anew }).output();
            let output = output.expect("the program starts");
            assert_eq!(status(&output), 0, "{what}: {}", told(&output));
            assert!(std::fs::read(&path).expect("a trajectory") == whole, "{what}");
            assert!(
                std::fs::read(case.path("out/trajectory.psf")).expect("a topology") == topology,
                "{what}"
            );
        });
    }
}
