//! A run of the program as a user starts it, and what is asked about it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_hilbrium");

pub const DECK: &str = r#"
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
pub struct Case {
    pub folder: tempfile::TempDir,
}

impl Case {
    pub fn new(deck: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("deck.toml"), deck).expect("the deck");
        Case { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(arguments).current_dir(self.folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn run(&self, sets: &[&str]) -> Output {
        let mut arguments = vec!["run", "deck.toml"];
        sets.iter().for_each(|set| arguments.extend(["--set", set]));
        self.command(&arguments).output().expect("the program starts")
    }

    /// The program on so many ranks.
    pub fn ranks(&self, ranks: usize, arguments: &[&str]) -> Command {
        let mut command = Command::new("mpirun");
        command
            .args(["-n", &ranks.to_string(), "--oversubscribe", "--bind-to", "none", PROGRAM])
            .args(arguments)
            .envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")])
            .envs([
                ("OMPI_MCA_btl_vader_single_copy_mechanism", "none"),
                ("OMPI_MCA_mpi_yield_when_idle", "1"),
            ])
            .current_dir(self.folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// The names of the files in a folder, sorted.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let entries =
            std::fs::read_dir(self.path(folder)).map(|entries| entries.flatten().collect::<Vec<_>>());
        let names = entries.unwrap_or_default().into_iter();
        let mut names: Vec<String> =
            names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

pub fn status(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("ended by a signal: {output:?}"))
}

pub fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The newest checkpoint of a folder.
pub fn latest(folder: &Path) -> PathBuf {
    hilbrium::snapshot::find_latest(folder, &hilbrium::comm::Communicator::solo())
        .expect("a whole checkpoint")
}

/// The state columns of the last checkpoint in a folder, by the library's reader.
pub fn last_state(folder: &Path) -> Vec<(u64, Vec<u64>)> {
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

/// A snapshot of some particles of equal mass.
pub fn snapshot(path: &Path, positions: &[[f64; 3]]) {
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

pub const FROM_FILE: &str =
    "[run]\nsteps = 3\n[start.file]\npath = \"start.hdf5\"\n[time_step]\nlargest = 0.01\n";

pub fn lines(path: &Path) -> usize {
    std::fs::read_to_string(path).map_or(0, |text| text.lines().count())
}

pub fn wait_for(condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(120), "waited for too long");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Send a signal to a process, which is there.
pub fn kill(signal: i32, process: u32) {
    // SAFETY: numbers are all that it takes.
    let sent = unsafe { libc::kill(process as libc::pid_t, signal) };
    assert_eq!(sent, 0, "{}", std::io::Error::last_os_error());
}

/// The processes that run the program below a process, at any depth; asked of the kernel, as `ps` may be missing.
pub fn children(parent: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").expect("the kernel's list").flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mut processes: Vec<(u32, u32, String)> = numbers
        .filter_map(|process| {
            let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
            let (head, fields) = stat.rsplit_once(')')?;
            let name = head.split_once('(')?.1.to_owned();
            Some((process, fields.split_whitespace().nth(1)?.parse().ok()?, name))
        })
        .collect();
    processes.sort_unstable();
    let mut family = vec![parent];
    let mut k = 0;
    while k < family.len() {
        let parent = family[k];
        family.extend(processes.iter().filter(|process| process.1 == parent).map(|process| process.0));
        k += 1;
    }
    processes.iter().filter(|p| p.2 == "hilbrium" && family.contains(&p.0)).map(|p| p.0).collect()
}

pub fn ends_within(child: &mut Child, limit: Duration) -> Option<i32> {
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
