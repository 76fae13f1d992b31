//! Disks that are full, locked, missing, or fail at any call.

use crate::case::*;
use crate::fault::*;
use std::io::Read as _;
use std::process::Command;
use std::time::Duration;

#[test]
fn a_full_disk_is_an_error_that_leaves_no_half_file() {
    let case = Case::new(DECK);
    let checkpoints = "output.checkpoint.every_steps=20";
    let mut child = case
        .command(&["run", "deck.toml", "--set", "run.steps=100000", "--set", checkpoints])
        .spawn()
        .expect("the program starts");
    wait_for(|| lines(&case.path("out/observables.csv")) > 3);
    // a limit on the size of files is a disk that fills up, for every user; MPI needs large files only at its start
    let limited = Command::new("prlimit").args(["--fsize=60000", "--pid", &child.id().to_string()]).status();
    assert!(limited.expect("prlimit starts").success());
    let ended = ends_within(&mut child, Duration::from_secs(120));
    let mut told = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut told).expect("text");
    assert_eq!(ended, Some(1), "{told}");
    assert!(told.contains("checkpoint-") && told.contains("free some space"), "{told}");
    let names = ["observables.csv", "snapshot-0000.hdf5", "snapshot-0000.xdmf", "status.json"];
    assert_eq!(case.names("out"), names);
    hilbrium::snapshot::read_snapshot(&case.path("out/snapshot-0000.hdf5")).expect("intact");
}

#[test]
fn a_folder_that_may_not_be_written_to_is_told_of() {
    use std::os::unix::fs::PermissionsExt;
    let case = Case::new(DECK);
    let locked = case.path("locked");
    std::fs::create_dir(&locked).expect("a folder");
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o555)).expect("permissions");
    // root may write anywhere but into the kernel's own folders
    let root = std::fs::write(locked.join("probe"), "").is_ok();
    let folder = if root { "/sys/hilbrium".to_owned() } else { "locked/out".to_owned() };
    let output = case.run(&[&format!("output.directory={folder}")]);
    assert_eq!(status(&output), 1, "{}", told(&output));
    assert!(
        told(&output).contains(&folder) && told(&output).contains("help: choose a folder"),
        "{}",
        told(&output)
    );
}

#[test]
fn what_cannot_be_written_or_read_is_named_with_a_remedy() {
    let case = Case::new(DECK);
    std::fs::write(case.path("file"), "not a folder").expect("a file");
    let output = case.run(&["output.directory=file/out"]);
    assert_eq!(status(&output), 1, "{}", told(&output));
    assert!(told(&output).contains("file/out") && told(&output).contains("help:"), "{}", told(&output));

    for (arguments, expected, wanted) in [
        (vec!["run", "missing.toml"], "missing.toml", 2),
        (vec!["run", "."], "folder", 2),
        (vec!["run", "deck.toml", "--restart", "missing.h5"], "missing.h5", 1),
        (vec!["run", "deck.toml", "--restart", "deck.toml"], "deck.toml", 1),
        (vec!["info", "deck.toml"], "deck.toml", 1),
        (vec!["validate", "missing.hdf5", "--against", "evrard"], "missing.hdf5", 1),
    ] {
        let output = case.command(&arguments).output().expect("the program starts");
        assert_eq!(status(&output), wanted, "{arguments:?}: {}", told(&output));
        assert!(told(&output).contains(expected), "{arguments:?}: {}", told(&output));
    }
}

/// A run with a fault: it ends with an error that names the file and a remedy, or as if nothing had been; then all under
/// final names is whole, and the run goes on from there.
fn defined(fault: Fault) {
    let reference = reference();
    let what = format!("{fault:?} of {} calls", reference.calls);
    let case = Case::new(EVERYTHING);
    let mut command = case.command(&["run", "deck.toml"]);
    fault.strikes(&mut command, &case);
    let output = command.output().expect("the program starts");
    let told = told(&output);
    if status(&output) == 0 {
        return reference.equals(&case, &what);
    }
    assert_eq!(status(&output), 1, "{what}: {told}");
    assert!(
        told.contains("error: cannot ") && told.contains(" out") && told.contains("help: "),
        "{what}: {told}"
    );
    assert!(!told.contains("see the reason above"), "{what} has no remedy: {told}");
    let half: Vec<String> = case.names("out").into_iter().filter(|name| name.contains(".part")).collect();
    // who cannot do anything cannot clear up either
    assert!(half.is_empty() || (fault.kind, fault.times) == ("broken", ALL), "{what}: {half:?} are left");
    if fault.times == 1 || fault.kind == "full" {
        reference.begins_with(&case, &what);
        reference.reached_from(&case, &what);
    }
}

#[test]
fn a_disk_that_fills_up_at_any_call_ends_the_run_with_all_before_intact() {
    each(&some_of(reference().calls, 8), |at| defined(Fault { kind: "full", at, times: ALL, rank: None }));
}

#[test]
fn a_call_that_fails_once_ends_the_run_with_all_before_intact() {
    each(&some_of(reference().calls, 10), |at| defined(Fault { kind: "broken", at, times: 1, rank: None }));
}

#[test]
fn a_disk_that_is_gone_from_any_call_on_ends_the_run() {
    each(&some_of(reference().calls, 6), |at| defined(Fault { kind: "broken", at, times: ALL, rank: None }));
}

#[test]
fn short_and_interrupted_reads_and_writes_are_gone_on_with() {
    let reference = reference();
    each(&["short", "interrupted"], |kind| {
        let case = Case::new(EVERYTHING);
        let fault = Fault { kind, at: 0, times: ALL, rank: None };
        for arguments in
            [&["run", "deck.toml"][..], &["run", "deck.toml", "--restart", "out/checkpoint-000009.h5"]]
        {
            let mut command = case.command(arguments);
            fault.strikes(&mut command, &case);
            let output = command.output().expect("the program starts");
            assert_eq!(status(&output), 0, "{kind} {arguments:?}: {}", told(&output));
        }
        // the option is in the deck that snapshots carry, which the restart has written anew but for the first
        let state = last_state(&case.path("out"));
        assert_eq!(state, last_state(&reference.case.path("out")), "{kind}");
        let record =
            |case: &Case| std::fs::read_to_string(case.path("out/observables.csv")).expect("a record");
        assert_eq!(record(&case), record(&reference.case), "{kind}");
        let mut command = case.command(&["info", "out/trajectory.h5md"]);
        fault.strikes(&mut command, &case);
        assert_eq!(status(&command.output().expect("the program starts")), 0);
    });
}

#[test]
fn standard_output_on_a_full_disk_lets_a_run_end_and_then_fails_it() {
    let case = Case::new(EVERYTHING);
    let full = || std::fs::File::options().write(true).open("/dev/full").expect("a full device");
    let output = case.command(&["run", "deck.toml"]).stdout(full()).output().expect("the program starts");
    assert_eq!(status(&output), 1);
    for part in ["standard output", "No space left", "the log is incomplete", "help: "] {
        assert!(told(&output).contains(part), "{}", told(&output));
    }
    reference().equals(&case, "without a log");
}

#[test]
fn commands_whose_output_is_lost_fail_unless_nobody_reads_it() {
    let reference = &reference().case;
    let commands: [&[&str]; 9] = [
        &["new", "evrard"],
        &["schema"],
        &["check", "deck.toml", "--set", "output.directory=other"],
        &["info", "out/snapshot-0001.hdf5"],
        &["average", "out/observables.csv"],
        &["picture", "out/observables.csv", "--folder", "drawn"],
        &["bench", "keys", "--particles", "1000", "--repeats", "1", "--threads", "1"],
        &["--help"],
        &["--version"],
    ];
    each(&commands, |arguments| {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("a full device");
        let output = reference.command(arguments).stdout(full).output().expect("the program starts");
        assert_eq!(status(&output), 1, "{arguments:?}: {}", told(&output));
        assert!(told(&output).contains("No space left"), "{arguments:?}: {}", told(&output));
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = reference.command(arguments).stdout(writer).output().expect("the program starts");
        assert_eq!((status(&output), told(&output)), (0, String::new()), "{arguments:?}");
    });
}

/// A frame that does not fit is cut off, in every format whose frames are appended.
#[test]
fn a_full_disk_leaves_whole_frames_of_appended_trajectories() {
    for (format, name) in
        [("xtc", "trajectory.xtc"), ("dcd", "trajectory.dcd"), ("lammps-dump", "trajectory.lammpstrj")]
    {
        let (head, _) = EVERYTHING.split_once("[measure").expect("what is measured");
        let deck = format!("{head}[output]\n[output.trajectory]\nevery_steps = 1\nformat = \"{format}\"\n");
        let names = |case: &Case| case.folder.path().canonicalize().expect("a path").join("out").join(name);
        let whole = Case::new(&deck);
        let calls = count_calls_below(whole.command(&["run", "deck.toml"]), &whole, None, &names(&whole));
        let described = |case: &Case| {
            let told = hilbrium::snapshot::trajectory::info(&case.path("out").join(name)).expect("readable");
            told.expect("a trajectory")
        };
        let frames = |told: &str| -> u64 {
            let count = told.lines().find_map(|line| line.strip_prefix("frames")).expect("a count");
            count.trim().parse().expect("a number")
        };
        assert_eq!(frames(&described(&whole)), 13);
        for at in some_of(calls, 3).into_iter().skip(1) {
            let case = Case::new(&deck);
            let mut command = case.command(&["run", "deck.toml"]);
            Fault { kind: "full", at, times: ALL, rank: None }.strikes_below(&mut command, &names(&case));
            let output = command.output().expect("the program starts");
            let told = told(&output);
            assert_eq!(status(&output), 1, "{format}: {told}");
            assert!(told.contains(name) && told.contains("help: "), "{format}: {told}");
            let left = described(&case);
            assert!(!left.contains("note") && (1..13).contains(&frames(&left)), "{format} at {at}: {left}");
        }
    }
}
