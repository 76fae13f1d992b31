//! Faults of the system, put between a run and the C library by `fault.c`, and what must be left after them.

use crate::case::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A short run that writes every kind of file, with the same bits every time.
pub const EVERYTHING: &str = r#"
title = "all files that a run writes"
[run]
steps = 12
device = "cpu"
precision = "double"
threads = 1
[start.lattice]
kind = "fcc"
cells = [3, 3, 3]
spacing = 1.7
density = 0.8442
temperature = 1.44
[space]
boundary = "periodic"
[interaction.lennard-jones]
cutoff = 2.0
[time_step]
fixed = 0.004
[neighbors]
skin = 0.2
[measure.radial-distribution]
every_steps = 2
[output]
directory = "out"
snapshots = { every_steps = 4 }
observables = { every_steps = 1 }
checkpoint = { every_steps = 3 }
[output.trajectory]
every_steps = 2
velocities = true
"#;

/// What happens to some calls on files of a run; the kinds are those of `fault.c`.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    pub kind: &'static str,
    /// The first call that is meant, counted from 1.
    pub at: u64,
    /// How many are.
    pub times: u64,
    /// The rank that is meant, where only one is.
    pub rank: Option<usize>,
}

/// As many calls as there may be.
pub const ALL: u64 = 1 << 40;

impl Fault {
    /// Let a command have this fault on the files that a case's run writes.
    pub fn strikes(&self, command: &mut Command, case: &Case) {
        self.strikes_below(command, &case.folder.path().canonicalize().expect("a path").join("out"));
    }

    /// Let a command have this fault on files whose names begin so.
    pub fn strikes_below(&self, command: &mut Command, names: &Path) {
        command.env("LD_PRELOAD", library()).env("FAULT", self.kind).env("FAULT_FOLDER", names);
        command.env("FAULT_AT", self.at.to_string()).env("FAULT_TIMES", self.times.to_string());
        if let Some(rank) = self.rank {
            command.env("FAULT_RANK", rank.to_string());
        }
    }
}

/// Kills a command before call `at` on files whose names begin so. Nothing else may have ended it: a program
/// that crashes at its start leaves whole files too.
pub fn kill_below(mut command: Command, case: &Case, at: u64, names: &Path) {
    use std::os::unix::process::ExitStatusExt;
    Fault { kind: "kill", at, times: 1, rank: None }.strikes_below(&mut command, names);
    let report = case.path("killed");
    let output = command.env("FAULT_REPORT", &report).output().expect("the program starts");
    assert_eq!(output.status.signal(), Some(libc::SIGKILL), "killed at call {at}: {output:?}");
    let killed = std::fs::read_to_string(&report).unwrap_or_default();
    assert_eq!(killed.trim(), at.to_string(), "killed at call {at}: {output:?}");
}

/// Kills a command before call `at` on files of its output directory.
pub fn kill_at(command: Command, case: &Case, at: u64) {
    kill_below(command, case, at, &case.folder.path().canonicalize().expect("a path").join("out"));
}

/// The calls on files that a command makes.
pub fn count_calls(command: Command, case: &Case, rank: Option<usize>) -> u64 {
    let names = case.folder.path().canonicalize().expect("a path").join("out");
    count_calls_below(command, case, rank, &names)
}

/// The calls on files whose names begin so.
pub fn count_calls_below(mut command: Command, case: &Case, rank: Option<usize>, names: &Path) -> u64 {
    Fault { kind: "count", at: 0, times: 0, rank }.strikes_below(&mut command, names);
    let output = command.env("FAULT_REPORT", case.path("calls")).output().expect("it starts");
    assert_eq!(status(&output), 0, "{}", told(&output));
    let calls = std::fs::read_to_string(case.path("calls")).expect("a count");
    calls.trim().parse().expect("a number")
}

/// Some of the calls from 1 to `calls`: spread evenly, or every one where HILBRIUM_EVERY_FAULT is set.
pub fn some_of(calls: u64, points: u64) -> Vec<u64> {
    if std::env::var_os("HILBRIUM_EVERY_FAULT").is_some() {
        return (1..=calls).collect();
    }
    (0..points).map(|k| 1 + (2 * k + 1) * calls / (2 * points)).collect()
}

/// `fault.c`, compiled.
pub fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let library = folder.join("libfault.so");
        let fresh = folder.join(format!("libfault-{}.so", std::process::id()));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reliability/fault.c");
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .args([&fresh, &source])
            .arg("-ldl")
            .status();
        assert!(compiled.expect("a C compiler, which linking needs too").success());
        std::fs::rename(&fresh, &library).expect("the library");
        library
    })
}

/// What a run without a fault leaves, and how many calls it makes.
pub struct Reference {
    pub case: Case,
    pub calls: u64,
}

/// The reference of [`EVERYTHING`].
pub fn reference() -> &'static Reference {
    static REFERENCE: OnceLock<Reference> = OnceLock::new();
    REFERENCE.get_or_init(|| {
        let case = Case::new(EVERYTHING);
        let calls = count_calls(case.command(&["run", "deck.toml"]), &case, None);
        assert!(calls > 100, "{calls} calls: what is written is not seen");
        Reference { case, calls }
    })
}

/// Positions and velocities of all frames, and their steps.
pub fn frames(path: &Path) -> Vec<(i64, Vec<f32>)> {
    let file = hdf5::File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let read = |name: &str| file.dataset(name).expect(name);
    let steps: Vec<i64> = read("particles/all/position/step").read_raw().expect("steps");
    let (position, velocity) = (read("particles/all/position/value"), read("particles/all/velocity/value"));
    let whole = position.shape()[0].min(velocity.shape()[0]).min(steps.len());
    let values = |name: &str| read(name).read_raw::<f32>().expect("values");
    let (position, velocity) =
        (values("particles/all/position/value"), values("particles/all/velocity/value"));
    let size = position.len().checked_div(whole.max(1)).unwrap_or(0);
    (0..whole)
        .map(|k| {
            let of = |values: &[f32]| values.get(k * size..(k + 1) * size).unwrap_or_default().to_vec();
            (steps[k], [of(&position), of(&velocity)].concat())
        })
        .collect()
}

impl Reference {
    /// See that what a case has under final names is what the reference has, as far as it got.
    pub fn begins_with(&self, case: &Case, what: &str) {
        let (ours, whole) = (case.path("out"), self.case.path("out"));
        for name in case.names("out") {
            let path = ours.join(&name);
            if name.starts_with("snapshot-") && (name.ends_with(".hdf5") || name.ends_with(".xdmf")) {
                let same = std::fs::read(&path).expect("a file")
                    == std::fs::read(whole.join(&name)).expect("a file");
                assert!(same, "{what}: {name} differs");
            } else if name.starts_with("checkpoint-") && name.ends_with(".h5") {
                let read = hilbrium::snapshot::read_checkpoint(&path, &hilbrium::comm::Communicator::solo());
                assert!(read.is_ok(), "{what}: {name}: {:?}", read.err());
            } else if name == "trajectory.h5md" {
                let (found, all) = (frames(&path), frames(&whole.join(&name)));
                assert!(all.starts_with(&found), "{what}: {} frames differ", found.len());
            } else if name == "observables.csv" {
                let text = std::fs::read_to_string(&path).expect("a record");
                let all = std::fs::read_to_string(whole.join(&name)).expect("a record");
                assert!(all.starts_with(&text), "{what}: the record differs");
            }
        }
    }

    /// See that a case has all that the reference has, but perhaps earlier checkpoints.
    pub fn equals(&self, case: &Case, what: &str) {
        self.begins_with(case, what);
        let texts = |case: &Case| -> BTreeMap<String, String> {
            let names = case.names("out").into_iter().filter(|name| name.ends_with(".csv"));
            names
                .map(|name| {
                    (name.clone(), std::fs::read_to_string(case.path("out").join(name)).expect("text"))
                })
                .collect()
        };
        assert_eq!(texts(case), texts(&self.case), "{what}");
        for name in self.case.names("out") {
            assert!(case.path("out").join(&name).exists(), "{what}: {name} is missing");
        }
        let frames_of = |case: &Case| frames(&case.path("out/trajectory.h5md"));
        assert_eq!(frames_of(case).len(), frames_of(&self.case).len(), "{what}");
        assert_eq!(last_state(&case.path("out")), last_state(&self.case.path("out")), "{what}");
    }

    /// Go on from the newest checkpoint, or begin anew where there is none, and end as the reference.
    pub fn reached_from(&self, case: &Case, what: &str) {
        let mut arguments = vec!["run", "deck.toml"];
        if case.names("out").iter().any(|name| name.starts_with("checkpoint-") && name.ends_with(".h5")) {
            arguments.extend(["--restart", "out"]);
        } else {
            let _ = std::fs::remove_dir_all(case.path("out"));
        }
        let output = case.command(&arguments).output().expect("the program starts");
        assert_eq!(status(&output), 0, "{what}, then {arguments:?}: {}", told(&output));
        self.equals(case, what);
    }
}

/// Do some independent work for each value, four at a time: most of a short run is waiting for MPI to start.
pub fn each<T: Copy + Send + Sync>(values: &[T], work: impl Fn(T) + Sync) {
    std::thread::scope(|scope| {
        for first in 0..4 {
            let work = &work;
            scope.spawn(move || values.iter().skip(first).step_by(4).for_each(|&value| work(value)));
        }
    });
}
