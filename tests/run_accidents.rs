//! Runs of the program as a user starts it: restarts, signals, and what can go wrong on the way.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_hilbrium");

const DECK: &str = r#"
title = "a small collapse"
[run]
steps = 10
device = "cpu"
[start.evrard]
particles = 1500
[sph]
neighbors = 60
[gravity]
softening = 0.01
[output]
directory = "out"
observables = { every_steps = 1 }
"#;

/// A folder with a deck, in which commands run.
struct Case {
    folder: tempfile::TempDir,
}

impl Case {
    fn new(deck: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("deck.toml"), deck).expect("the deck");
        Case { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(arguments).current_dir(self.folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, sets: &[&str]) -> Output {
        let mut arguments = vec!["run", "deck.toml"];
        sets.iter().for_each(|set| arguments.extend(["--set", set]));
        self.command(&arguments).output().expect("the program starts")
    }
}

fn status(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("ended by a signal: {output:?}"))
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The newest checkpoint of a folder.
fn latest(folder: &Path) -> PathBuf {
    hilbrium::snapshot::find_latest(folder, &hilbrium::comm::Communicator::solo())
        .expect("a whole checkpoint")
}

/// The state columns of the last checkpoint in a folder, by the library's reader.
fn last_state(folder: &Path) -> Vec<(u64, Vec<u64>)> {
    use hilbrium::particles::Role;
    let path = latest(folder);
    let (_, particles) =
        hilbrium::snapshot::read_checkpoint(&path, &hilbrium::comm::Communicator::solo()).expect("whole");
    let fields = particles.fields_of(Role::State);
    let rows = particles.owned().map(|row| {
        let values = fields.iter().flat_map(|&field| (0..field.components()).map(move |c| (field, c)));
        (particles.id[row], values.map(|(field, c)| particles.component(field, c)[row].to_bits()).collect())
    });
    rows.collect()
}

#[test]
fn a_restart_gives_the_same_bits() {
    let case = Case::new(DECK);
    let whole = case.run(&["output.directory=whole", "output.checkpoint.every_steps=5"]);
    assert_eq!(status(&whole), 0, "{}", told(&whole));
    let first = case.run(&["output.directory=parts", "output.checkpoint.every_steps=5", "run.steps=5"]);
    assert_eq!(status(&first), 0, "{}", told(&first));
    let rest = case
        .command(&[
            "run",
            "deck.toml",
            "--set",
            "output.directory=parts",
            "--set",
            "output.checkpoint.every_steps=5",
        ])
        .args(["--restart", "parts/checkpoint-000005.h5"])
        .output()
        .expect("the program starts");
    assert_eq!(status(&rest), 0, "{}", told(&rest));
    assert!(last_state(&case.path("whole")) == last_state(&case.path("parts")));
    let record = |name: &str| std::fs::read_to_string(case.path(name)).expect("a record");
    assert_eq!(record("whole/observables.csv"), record("parts/observables.csv"));
}

#[test]
fn a_signal_stops_with_a_checkpoint_and_the_run_goes_on_from_it() {
    let case = Case::new(DECK);
    let mut child =
        case.command(&["run", "deck.toml", "--set", "run.steps=100000"]).spawn().expect("the program starts");
    wait_for(|| lines(&case.path("out/observables.csv")) > 4);
    kill("TERM", child.id());
    let status_after = child.wait().expect("it ends");
    assert_eq!(status_after.code(), Some(3));
    let checkpoint = latest(&case.path("out"));
    let name = checkpoint.file_name().expect("a name").to_string_lossy().into_owned();
    let step: u64 = name.trim_start_matches("checkpoint-").trim_end_matches(".h5").parse().expect("a step");
    let steps = format!("run.steps={}", step + 2);
    let rest = case
        .command(&["run", "deck.toml", "--set", &steps, "--restart"])
        .arg(&checkpoint)
        .output()
        .expect("the program starts");
    assert_eq!(status(&rest), 0, "{}", told(&rest));
}

#[test]
fn a_killed_rank_ends_the_others_and_leaves_earlier_files_intact() {
    let case = Case::new(DECK);
    let mut mpirun = Command::new("mpirun");
    mpirun
        .args(["-n", "2", "--oversubscribe", "--bind-to", "none", PROGRAM, "run", "deck.toml"])
        .args(["--set", "run.steps=100000"])
        .envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")])
        .current_dir(case.folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut job = mpirun.spawn().expect("mpirun starts");
    wait_for(|| lines(&case.path("out/observables.csv")) > 3);
    let ranks = children(job.id());
    assert_eq!(ranks.len(), 2, "two ranks run");
    kill("KILL", ranks[1]);
    let ended = ends_within(&mut job, Duration::from_secs(20));
    assert!(ended.is_some_and(|code| code != 0), "the job must fail soon");
    assert!(ranks.iter().all(|rank| !Path::new(&format!("/proc/{rank}/exe")).exists()), "no rank is left");
    let (header, particles) =
        hilbrium::snapshot::read_snapshot(&case.path("out/snapshot-0000.hdf5")).expect("intact");
    assert_eq!((header.step, particles.len()), (0, 1500));
}

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
    let files = std::fs::read_dir(case.path("out")).expect("the folder").flatten();
    let mut left: Vec<_> = files.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    left.sort();
    assert_eq!(left, ["observables.csv", "snapshot-0000.hdf5", "snapshot-0000.xdmf"]);
    hilbrium::snapshot::read_snapshot(&case.path("out/snapshot-0000.hdf5")).expect("intact");
}

#[test]
fn a_step_that_fails_leaves_the_state_before_it_as_a_checkpoint() {
    let case = Case::new(DECK);
    assert_eq!(status(&case.run(&["run.steps=3", "output.checkpoint.every_steps=3"])), 0);
    let before = last_state(&case.path("out"));
    let arguments =
        ["run", "deck.toml", "--set", "time_step.fixed=1e200", "--restart", "out/checkpoint-000003.h5"];
    let output = case.command(&arguments).output().expect("the program starts");
    assert_eq!(status(&output), 1, "{}", told(&output));
    for part in ["step 4: particle ", "which is no place", "kept as a checkpoint", "help:"] {
        assert!(told(&output).contains(part), "{}", told(&output));
    }
    assert!(last_state(&case.path("out")) == before);
    let rest = case.command(&["run", "deck.toml", "--restart", "out/checkpoint-000003.h5"]).output();
    assert_eq!(status(&rest.expect("the program starts")), 0);
}

#[test]
fn damaged_files_are_refused_by_every_command() {
    let case = Case::new(DECK);
    assert_eq!(status(&case.run(&["run.steps=2", "output.checkpoint.every_steps=2"])), 0);
    let commands = |file: &'static str| {
        let deck = |start: &str| {
            format!("[start.file]\npath = \"{start}\"\n[run]\nsteps = 1\n[sph]\nneighbors = 60\n")
        };
        std::fs::write(case.path("start.toml"), deck(file)).expect("a deck");
        match file.ends_with("hdf5") {
            true => vec![
                vec!["info", file],
                vec!["validate", file, "--against", "evrard"],
                vec!["run", "start.toml", "--set", "output.directory=again"],
            ],
            false => vec![vec!["info", file], vec!["run", "deck.toml", "--restart", file]],
        }
    };
    for (whole, damaged) in [("out/snapshot-0001.hdf5", "bad.hdf5"), ("out/checkpoint-000002.h5", "bad.h5")] {
        let bytes = std::fs::read(case.path(whole)).expect("a file");
        for arguments in commands(damaged) {
            // all cuts take from the content; the checksum behind it is 32 bytes
            for length in [0, 7, 100, bytes.len() / 2, bytes.len() - 33] {
                std::fs::write(case.path(damaged), &bytes[..length]).expect("a cut file");
                let output = case.command(&arguments).output().expect("the program starts");
                assert_eq!(status(&output), 1, "{arguments:?} cut to {length}: {}", told(&output));
                assert!(
                    told(&output).contains(damaged) && told(&output).contains("help:"),
                    "{}",
                    told(&output)
                );
            }
            for k in 0..8 {
                let mut flipped = bytes.clone();
                let at = (2 * k + 1) * bytes.len() / 16;
                flipped[at] ^= 0x40;
                std::fs::write(case.path(damaged), flipped).expect("a file with a wrong bit");
                let output = case.command(&arguments).output().expect("the program starts");
                assert_eq!(status(&output), 1, "{arguments:?} flipped at {at}: {}", told(&output));
                assert!(
                    told(&output).contains(damaged) && told(&output).contains("help:"),
                    "{}",
                    told(&output)
                );
            }
        }
    }
}

#[test]
fn a_huge_deck_and_senseless_numbers_are_refused_at_once() {
    let case = Case::new(DECK);
    let huge = std::fs::File::create(case.path("huge.toml")).expect("a file");
    huge.set_len(100_000_000).expect("a hole of 100 MB");
    let start = Instant::now();
    let output = case.command(&["run", "huge.toml"]).output().expect("the program starts");
    assert_eq!(status(&output), 2, "{}", told(&output));
    assert!(told(&output).contains("too large for a deck"), "{}", told(&output));
    assert!(start.elapsed() < Duration::from_secs(20));
    for set in [
        "start.evrard.particles=-5",
        "start.evrard.particles=nan",
        "sph.neighbors=nan",
        "sph.neighbors=-60",
        "gravity.softening=-0.1",
        "gravity.softening=inf",
        "time_step.courant=0",
        "run.steps=-1",
    ] {
        let output = case.run(&[set]);
        assert_eq!(status(&output), 2, "{set}: {}", told(&output));
        let key = set.split('=').next().and_then(|path| path.split('.').next_back()).expect("a key");
        assert!(told(&output).contains(key), "{set}: {}", told(&output));
    }
    assert!(!case.path("out").exists());
}

/// A snapshot of some particles of equal mass.
fn snapshot(path: &Path, positions: &[[f64; 3]]) {
    use hilbrium::particles::{Field, Particles};
    use hilbrium::space::{Boundary, SimulationBox, Vec3d};
    let fields =
        [Field::Position, Field::Velocity, Field::Mass, Field::InternalEnergy, Field::SmoothingLength];
    let mut particles = Particles::new(&fields, positions.len());
    for (row, position) in positions.iter().enumerate() {
        particles.id[row] = row as u64 + 1;
        particles.set_vector(Field::Position, row, Vec3d::from(*position));
    }
    particles.scalar_mut(Field::Mass).fill(1.0);
    particles.scalar_mut(Field::InternalEnergy).fill(1.0);
    particles.scalar_mut(Field::SmoothingLength).fill(0.1);
    let bx = SimulationBox {
        lower: Vec3d::repeat(-1.0),
        upper: Vec3d::repeat(1.0),
        boundary: [Boundary::Open; 3],
    };
    let header = hilbrium::snapshot::Header::new(bx);
    let comm = hilbrium::comm::Communicator::solo();
    hilbrium::snapshot::write_snapshot(path, &comm, &particles, &header, &fields).expect("a snapshot");
}

const FROM_FILE: &str =
    "[run]\nsteps = 3\n[start.file]\npath = \"start.hdf5\"\n[time_step]\nlargest = 0.01\n";

#[test]
fn particles_in_one_point_run_or_are_told_of() {
    let case = Case::new(&format!("{FROM_FILE}[gravity]\nsoftening = 0.01\n"));
    snapshot(&case.path("start.hdf5"), &[[0.25; 3]; 300]);
    let output = case.run(&[]);
    assert_eq!(status(&output), 0, "gravity alone: {}", told(&output));
    let output = case.run(&["sph.neighbors=60", "output.directory=gas"]);
    assert_eq!(status(&output), 1, "{}", told(&output));
    assert!(told(&output).contains("particle") && told(&output).contains("help:"), "{}", told(&output));
}

#[test]
fn numbers_in_a_file_that_are_no_place_are_told_of() {
    for wrong in [f64::NAN, f64::INFINITY] {
        let case = Case::new(&format!("{FROM_FILE}[gravity]\nsoftening = 0.01\n"));
        let path = case.path("start.hdf5");
        snapshot(&path, &[[0.25; 3]; 30]);
        // as another program writes it: without our checksum
        let file = std::fs::File::options().write(true).open(&path).expect("a file");
        file.set_len(file.metadata().expect("a length").len() - 32).expect("a shorter file");
        let file = hdf5::File::open_rw(&path).expect("a file of HDF5");
        let coordinates = file.dataset("PartType0/Coordinates").expect("positions");
        let mut values: Vec<f64> = coordinates.read_raw().expect("numbers");
        values[3 * 7 + 1] = wrong;
        coordinates.write_raw(&values).expect("numbers");
        file.close().expect("a whole file");
        let output = case.run(&[]);
        assert_eq!(status(&output), 1, "{}", told(&output));
        assert!(
            told(&output).contains("start.hdf5") || told(&output).contains("particle 8"),
            "{}",
            told(&output)
        );
    }
}

#[test]
fn more_ranks_than_particles_run() {
    let case = Case::new(
        "[run]\nsteps = 3\ndevice = \"cpu\"\n[start.plummer]\nparticles = 3\n[gravity]\nsoftening = 0.01\n\
         [time_step]\nlargest = 0.01\n",
    );
    let output = Command::new("mpirun")
        .args(["-n", "5", "--oversubscribe", "--bind-to", "none", PROGRAM, "run", "deck.toml"])
        .envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")])
        .current_dir(case.folder.path())
        .output()
        .expect("mpirun starts");
    assert_eq!(status(&output), 0, "{}", told(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("5 cores"), "five ranks take part");
    let (header, particles) =
        hilbrium::snapshot::read_snapshot(&case.path("out/snapshot-0001.hdf5")).expect("whole");
    assert_eq!((header.step, particles.len()), (3, 3));
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

#[test]
fn files_of_an_earlier_run_are_kept_unless_they_may_go() {
    let case = Case::new(DECK);
    assert_eq!(status(&case.run(&["run.steps=1"])), 0);
    let again = case.run(&["run.steps=1"]);
    assert_eq!(status(&again), 2);
    assert!(told(&again).contains("output.overwrite=true"), "{}", told(&again));
    assert_eq!(status(&case.run(&["run.steps=0", "output.overwrite=true"])), 0);
    assert!(case.path("out/snapshot-0000.hdf5").exists() && !case.path("out/snapshot-0001.hdf5").exists());
}

#[test]
fn a_device_that_cannot_be_used_is_refused_before_anything_is_written() {
    let case = Case::new(DECK);
    let output = case.run(&["run.device=cuda"]);
    assert_eq!(status(&output), 2, "{}", told(&output));
    assert!(told(&output).contains("CUDA") && told(&output).contains("run.device=cpu"), "{}", told(&output));
    assert!(!case.path("out").exists());
}

#[test]
fn few_particles_and_no_step_are_runs() {
    let plummer = |particles: u64| {
        format!(
            "[run]\nsteps = 3\ndevice = \"cpu\"\n[start.plummer]\nparticles = {particles}\n\
             [gravity]\nsoftening = 0.01\n[time_step]\nlargest = 0.01\n"
        )
    };
    for particles in [1, 2, 9] {
        let case = Case::new(&plummer(particles));
        let output = case.run(&[]);
        assert_eq!(status(&output), 0, "{particles}: {}", told(&output));
    }
    let none = Case::new(&plummer(0)).run(&[]);
    assert_eq!(status(&none), 2);
    assert!(told(&none).contains("particles"), "{}", told(&none));
}

#[test]
fn cold_and_isothermal_gases_run() {
    let cold = DECK.replace("[start.evrard]", "[start.random]\ninternal_energy = 0.0");
    let isothermal = DECK.replace("[sph]", "[sph]\nequation_of_state = \"isothermal\"\nsound_speed = 0.2");
    for (set, deck) in [("cold", cold), ("isothermal", isothermal)] {
        let case = Case::new(&deck);
        let output = case.run(&["run.steps=30", "run.end_time=10"]);
        assert_eq!(status(&output), 0, "{set}: {}", told(&output));
        let record = std::fs::read_to_string(case.path("out/observables.csv")).expect("a record");
        let last: Vec<f64> = record
            .lines()
            .next_back()
            .expect("rows")
            .split(',')
            .map(|x| x.parse().expect("a number"))
            .collect();
        assert!(last[0] == 30.0 && last[1] > 0.02 && last[2] > 1e-6, "{set}: {last:?}");
    }
}

#[test]
fn a_restart_at_the_end_writes_nothing_and_one_elsewhere_makes_its_folder() {
    let case = Case::new(DECK);
    let checkpoints = "output.checkpoint.every_steps=5";
    assert_eq!(status(&case.run(&[checkpoints])), 0);
    let restart = |sets: &[&str]| {
        let mut arguments = vec!["run", "deck.toml", "--restart", "out/checkpoint-000010.h5"];
        sets.iter().for_each(|set| arguments.extend(["--set", set]));
        case.command(&arguments).output().expect("the program starts")
    };
    let names = |folder: &str| {
        let entries = std::fs::read_dir(case.path(folder)).expect("the folder").flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    let before = names("out");
    let output = restart(&[]);
    assert_eq!(status(&output), 0, "{}", told(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("is the end already"));
    assert_eq!(names("out"), before);
    let output = restart(&["run.steps=12", "output.directory=elsewhere/deep"]);
    assert_eq!(status(&output), 0, "{}", told(&output));
    let (header, _) =
        hilbrium::snapshot::read_snapshot(&case.path("elsewhere/deep/snapshot-0001.hdf5")).expect("whole");
    assert_eq!(header.step, 12);
    assert!(header.deck.contains("softening"), "the deck is in the file: {}", header.deck);
    // in the same folder, the snapshot of the former end is set aside
    assert_eq!(status(&restart(&["run.steps=12", "output.snapshots.every_steps=100"])), 0);
    assert!(names("out").contains(&"snapshot-0001.hdf5.superseded".to_owned()), "{:?}", names("out"));
}

fn lines(path: &Path) -> usize {
    std::fs::read_to_string(path).map_or(0, |text| text.lines().count())
}

fn wait_for(condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(120), "waited for too long");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn kill(signal: &str, process: u32) {
    let status =
        Command::new("kill").args([format!("-{signal}"), process.to_string()]).status().expect("kill starts");
    assert!(status.success());
}

/// The processes that run the program below a process, at any depth.
fn children(parent: u32) -> Vec<u32> {
    let listing = Command::new("ps").args(["-e", "-o", "pid=,ppid=,comm="]).output().expect("ps starts");
    let listing = String::from_utf8_lossy(&listing.stdout).into_owned();
    let processes: Vec<(u32, u32, &str)> = listing
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?, words.next()?))
        })
        .collect();
    let mut family = vec![parent];
    let mut k = 0;
    while k < family.len() {
        let parent = family[k];
        family.extend(processes.iter().filter(|process| process.1 == parent).map(|process| process.0));
        k += 1;
    }
    processes.iter().filter(|p| p.2 == "hilbrium" && family.contains(&p.0)).map(|p| p.0).collect()
}

fn ends_within(child: &mut Child, limit: Duration) -> Option<i32> {
    let start = Instant::now();
    while start.elapsed() < limit {
        if let Some(status) = child.try_wait().expect("a child") {
            return Some(status.code().unwrap_or(-1));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    None
}
