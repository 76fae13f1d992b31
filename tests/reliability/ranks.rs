//! Ranks that are killed, stopped, idle, or whose part of a file cannot be written.

use crate::case::*;
use crate::fault::*;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

#[test]
fn a_killed_rank_ends_the_others_and_leaves_earlier_files_intact() {
    let case = Case::new(DECK);
    let mut mpirun = case.ranks(2, &["run", "deck.toml", "--set", "run.steps=100000"]);
    let mut job = mpirun.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("mpirun starts");
    wait_for(|| lines(&case.path("out/observables.csv")) > 3);
    let ranks = children(job.id());
    assert_eq!(ranks.len(), 2, "two ranks run");
    kill(libc::SIGKILL, ranks[1]);
    let ended = ends_within(&mut job, Duration::from_secs(20));
    assert!(ended.is_some_and(|code| code != 0), "the job must fail soon");
    assert!(ranks.iter().all(|rank| !Path::new(&format!("/proc/{rank}/exe")).exists()), "no rank is left");
    let (header, particles) =
        hilbrium::snapshot::read_snapshot(&case.path("out/snapshot-0000.hdf5")).expect("intact");
    assert_eq!((header.step, particles.len()), (0, 1500));
}

#[test]
fn more_ranks_than_particles_run() {
    let case = Case::new(
        "[run]\nsteps = 3\ndevice = \"cpu\"\n[start.plummer]\nparticles = 3\n[gravity]\nsoftening = 0.01\n\
         [time_step]\nlargest = 0.01\n",
    );
    let output = case.ranks(5, &["run", "deck.toml"]).output().expect("mpirun starts");
    assert_eq!(status(&output), 0, "{}", told(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("5 cores"), "five ranks take part");
    let (header, particles) =
        hilbrium::snapshot::read_snapshot(&case.path("out/snapshot-0001.hdf5")).expect("whole");
    assert_eq!((header.step, particles.len()), (3, 3));
}

/// The state of a process: R runs, S sleeps, T is stopped.
fn state_of(process: u32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit(')').next()?.trim_start().chars().next()
}

#[test]
fn a_stopped_rank_holds_the_others_until_it_goes_on_and_nothing_is_lost() {
    let record = |case: &Case| std::fs::read_to_string(case.path("out/observables.csv")).expect("a record");
    let steps = ["run", "deck.toml", "--set", "run.steps=250"];
    let undisturbed = Case::new(DECK);
    assert_eq!(status(&undisturbed.ranks(2, &steps).output().expect("mpirun starts")), 0);
    let case = Case::new(DECK);
    let mut command = case.ranks(2, &steps);
    let mut job = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("mpirun starts");
    wait_for(|| lines(&case.path("out/observables.csv")) > 3);
    let ranks = children(job.id());
    kill(libc::SIGSTOP, ranks[1]);
    wait_for(|| state_of(ranks[1]) == Some('T'));
    // the other rank comes to where it waits: no row is added while many could be
    let rows = std::cell::Cell::new((0, std::time::Instant::now()));
    wait_for(|| {
        let now = lines(&case.path("out/observables.csv"));
        if now != rows.get().0 {
            rows.set((now, std::time::Instant::now()));
        }
        rows.get().1.elapsed() > Duration::from_secs(1)
    });
    assert!(rows.get().0 < 251, "the run ended although a rank was stopped");
    assert_eq!(job.try_wait().expect("a child"), None, "the job must wait");
    kill(libc::SIGCONT, ranks[1]);
    assert_eq!(ends_within(&mut job, Duration::from_secs(60)), Some(0));
    assert_eq!(record(&case), record(&undisturbed));
}

/// Files that the ranks of a host share have such names.
const SHARED: &str = "/dev/shm/hilbrium-";

#[test]
fn ranks_that_cannot_share_memory_exchange_by_messages_with_the_same_bits() {
    let names = Path::new(SHARED);
    let whole = Case::new(EVERYTHING);
    let calls = count_calls_below(whole.ranks(2, &["run", "deck.toml"]), &whole, Some(1), names);
    assert!(calls > 4, "the second rank shares memory, which grows: {calls} calls");
    // no file at all, none that grows, the last time alone, and writes in pieces
    let faults = [("broken", 1, ALL), ("full", 5, ALL), ("full", calls, 1), ("short", 1, ALL)];
    each(&faults, |(kind, at, times)| {
        let case = Case::new(EVERYTHING);
        let mut command = case.ranks(2, &["run", "deck.toml"]);
        Fault { kind, at, times, rank: Some(1) }.strikes_below(&mut command, names);
        let output = command.output().expect("mpirun starts");
        assert_eq!(status(&output), 0, "{kind} at {at} of {calls}: {}", told(&output));
        let record =
            |case: &Case| std::fs::read_to_string(case.path("out/observables.csv")).expect("a record");
        assert_eq!(record(&case), record(&whole), "{kind} at {at} of {calls}");
        assert!(last_state(&case.path("out")) == last_state(&whole.path("out")), "{kind} at {at} of {calls}");
    });
}

/// Checkpoints of two ranks, each of which has a part in every file.
const TWO: &str = r#"
[run]
steps = 8
device = "cpu"
threads = 1
[start.evrard]
particles = 300
[sph]
neighbors = 40
[gravity]
softening = 0.05
[output]
directory = "out"
checkpoint = { every_steps = 2 }
"#;

/// A job of two ranks whose second has a fault at some of its calls on files. Every time the job ends soon with an error,
/// and on two ranks the newest whole checkpoint leads to the same end.
fn second_rank(kind: &'static str) {
    let whole = Case::new(TWO);
    let calls = count_calls(whole.ranks(2, &["run", "deck.toml"]), &whole, Some(1));
    assert!(calls > 10, "the second rank writes: {calls} calls");
    each(&some_of(calls, 3), |at| {
        let case = Case::new(TWO);
        let mut command = case.ranks(2, &["run", "deck.toml"]);
        Fault { kind, at, times: 1, rank: Some(1) }.strikes(&mut command, &case);
        let mut job = command.stdout(Stdio::null()).spawn().expect("mpirun starts");
        let ended = ends_within(&mut job, Duration::from_secs(60));
        let mut text = String::new();
        std::io::Read::read_to_string(&mut job.stderr.take().expect("a pipe"), &mut text).expect("text");
        assert!(ended.is_some(), "{kind} at {at} of {calls}: the job hangs");
        let snapshot = |case: &Case| std::fs::read(case.path("out/snapshot-0001.hdf5")).expect("a file");
        if kind == "broken" && ended == Some(0) {
            // nothing depended on the call
            assert!(snapshot(&case) == snapshot(&whole), "{kind} at {at} of {calls}: nothing was said");
            assert!(
                last_state(&case.path("out")) == last_state(&whole.path("out")),
                "{kind} at {at} of {calls}"
            );
            return;
        }
        assert_ne!(ended, Some(0), "{kind} at {at} of {calls}");
        if kind == "broken" {
            assert!(
                text.contains("error: cannot ") && text.contains("help: "),
                "{kind} at {at} of {calls}: {text}"
            );
            let half = case.names("out").into_iter().find(|name| name.contains(".part"));
            assert_eq!(half, None, "{kind} at {at} of {calls}");
        }
        let restart =
            case.names("out").iter().any(|name| name.starts_with("checkpoint-") && name.ends_with(".h5"));
        let mut arguments = vec!["run", "deck.toml"];
        arguments.extend(if restart { &["--restart", "out"][..] } else { &[] });
        if !restart {
            let _ = std::fs::remove_dir_all(case.path("out"));
        }
        let output = case.ranks(2, &arguments).output().expect("mpirun starts");
        assert_eq!(status(&output), 0, "{kind} at {at} of {calls}: {}", told(&output));
        assert!(last_state(&case.path("out")) == last_state(&whole.path("out")), "{kind} at {at} of {calls}");
        let record =
            |case: &Case| std::fs::read_to_string(case.path("out/observables.csv")).expect("a record");
        assert_eq!(record(&case), record(&whole), "{kind} at {at} of {calls}");
    });
}

#[test]
fn a_rank_that_is_killed_while_it_writes_a_checkpoint_costs_no_whole_one() {
    second_rank("kill");
}

#[test]
fn a_rank_whose_part_of_a_file_cannot_be_written_ends_all_with_an_error() {
    second_rank("broken");
}

#[test]
fn a_signal_to_one_rank_stops_all_after_a_checkpoint() {
    let case = Case::new(TWO);
    let mut command = case.ranks(2, &["run", "deck.toml", "--set", "run.steps=100000"]);
    let mut job = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("mpirun starts");
    wait_for(|| lines(&case.path("out/observables.csv")) > 3);
    kill(libc::SIGTERM, children(job.id())[1]);
    assert_eq!(ends_within(&mut job, Duration::from_secs(60)), Some(3));
    assert_eq!(last_state(&case.path("out")).len(), 300);
}
