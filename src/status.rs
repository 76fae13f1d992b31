//! Status file of a run, `status.json` in its output directory: what a program that watches the run reads.
//!
//! The run replaces the file about once a second ([`Status::write`]); [`read`] reads it. A killed run leaves
//! a file that says `running`: [`Condition::of`] tells it from one that goes on by the lock of the directory.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::clock::Phase;
use crate::{Error, Result};

/// Name of the status file in the output directory.
pub const FILE_NAME: &str = "status.json";

/// Version of the file's layout. Members may be added without a new version.
pub const FORMAT_VERSION: u32 = 1;

/// Largest size that is read (bytes); a status has a few thousand.
const LARGEST: u64 = 1 << 20;

/// State that a run has recorded of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It has started and recorded no end: it goes on, or was killed.
    Running,
    /// At its end time or number of steps.
    Done,
    /// By a signal or `hilbrium stop`, after a checkpoint.
    Stopped,
    /// By an error, which [`Status::message`] has.
    Failed,
}

/// Status of a run. Times are in the run's units, seconds are wall time. Numbers that are not finite are
/// absent (`null`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// [`FORMAT_VERSION`].
    pub format: u32,
    /// Version of the program.
    pub version: String,
    /// Title of the deck.
    pub title: String,
    /// State.
    pub state: State,
    /// The error of a failed run.
    pub message: Option<String>,
    /// Host of rank 0.
    pub host: String,
    /// Process of rank 0.
    pub process: u32,
    /// Start of this process's run (seconds since 1970, UTC). A restart is a new one.
    pub started: f64,
    /// When the file was written (seconds since 1970, UTC).
    pub updated: f64,
    /// Wall time since the start (s).
    pub elapsed: f64,
    /// Number of ranks.
    pub ranks: u64,
    /// Threads of all ranks.
    pub threads: u64,
    /// `cpu`, or the name of the GPUs.
    pub device: String,
    /// Particles of all ranks.
    pub particles: u64,
    /// Steps done, counted from the start of the first run.
    pub step: u64,
    /// Step at which this process began: 0, or that of the checkpoint.
    pub first_step: u64,
    /// Simulated time.
    pub time: f64,
    /// Length of the last step with a line of observables.
    pub time_step: Option<f64>,
    /// Unit of times; `U_t` in reduced units.
    pub time_unit: String,
    /// End conditions; the run ends at the first that is met.
    pub end: End,
    /// Fraction done, 0 to 1.
    pub fraction: f64,
    /// Estimate of the wall time left (s), if it is known.
    pub seconds_left: Option<f64>,
    /// Rates over the last seconds.
    pub recent: Rates,
    /// Rates over all steps of this process.
    pub mean: Rates,
    /// The conserved energy at the last line of the observables.
    pub energy: Option<Energy>,
    /// Phases of the step, in the order of their first end.
    pub phases: Vec<Phase>,
    /// Sum of the phases per rank.
    pub total: Option<Phase>,
    /// Memory.
    pub memory: Memory,
    /// How pairs are found; absent without pairs.
    pub neighbors: Option<Neighbors>,
    /// Snapshots written so far.
    pub snapshots: u64,
    /// Step of the last checkpoint.
    pub checkpoint: Option<u64>,
}

/// End conditions of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// End time.
    pub time: Option<f64>,
    /// Number of steps.
    pub steps: Option<u64>,
}

/// Rates of a run, if any step has been timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// Steps per second.
    pub steps_per_second: Option<f64>,
    /// Particle updates per second, over all ranks.
    pub updates_per_second: Option<f64>,
}

/// The conserved energy: total energy without the heat of thermostats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Energy {
    /// At the start of the first run.
    pub first: Option<f64>,
    /// Now.
    pub now: Option<f64>,
    /// Change over the magnitude of the first; absent if the first is near zero.
    pub relative_drift: Option<f64>,
    /// The drift as text: relative, or per particle with its unit.
    pub drift: String,
    /// Unit of energies.
    pub unit: String,
}

/// Memory of a run (bytes).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// Peak of the ranks: minimum, mean, maximum. Zero if the system does not report it.
    pub peak: [f64; 3],
    /// Estimate for all ranks before the start; absent on GPUs.
    pub estimate: Option<f64>,
}

/// How a run finds its pairs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Neighbors {
    /// The method, as in a deck.
    pub method: String,
    /// Whether each pair is found once.
    pub symmetric: bool,
    /// Outer skin, as a fraction of the range.
    pub skin: f64,
    /// Inner skin, if there is one.
    pub inner_skin: Option<f64>,
    /// Lists built by this process.
    pub builds: u64,
    /// Bytes of the lists of all ranks.
    pub bytes: u64,
}

impl Status {
    /// Replaces the status file in `directory` atomically. It is not flushed to the disk: a file that is
    /// rewritten every second needs no such wait.
    ///
    /// # Errors
    /// [`Error::File`]; the old file then still exists.
    pub fn write(&self, directory: &Path) -> Result<()> {
        let path = path_in(directory);
        let mut name = path.clone().into_os_string();
        name.push(".part");
        let temporary = Path::new(&name);
        let text = serde_json::to_string_pretty(self)
            .unwrap_or_else(|_| unreachable!("a status is plain data with names as keys"));
        let written = std::fs::write(temporary, text + "\n")
            .map_err(|cause| Error::file("write", &path, &cause))
            .and_then(|()| {
                std::fs::rename(temporary, &path).map_err(|cause| Error::file("replace", &path, &cause))
            });
        if written.is_err() {
            let _ = std::fs::remove_file(temporary);
        }
        written
    }
}

/// Path of the status file in a directory.
pub fn path_in(directory: &Path) -> PathBuf {
    directory.join(FILE_NAME)
}

/// Seconds since 1970, UTC.
pub fn now() -> f64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// Returns a number if it is finite: JSON has no others.
pub fn finite(value: f64) -> Option<f64> {
    Some(value).filter(|value| value.is_finite())
}

/// Reads the status file in a directory; `None` if there is none.
///
/// # Errors
/// [`Error::File`]; [`Error::Content`] if it is no status, or one of a later version.
pub fn read(directory: &Path) -> Result<Option<Status>> {
    let path = path_in(directory);
    let mut text = String::new();
    let file = match File::open(&path) {
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(|cause| Error::file("read", &path, &cause))?,
    };
    file.take(LARGEST).read_to_string(&mut text).map_err(|cause| Error::file("read", &path, &cause))?;
    let content =
        |what: String, remedy: &str| Error::Content { path: path.clone(), what, remedy: remedy.into() };
    #[derive(Deserialize)]
    struct Version {
        format: u32,
    }
    let damaged = |cause: serde_json::Error| {
        content(format!("it is no status of a run: {cause}"), "remove it; a run that goes on writes another")
    };
    let version: Version = serde_json::from_str(&text).map_err(damaged)?;
    if version.format > FORMAT_VERSION {
        return Err(content(
            format!("its format version is {}, this program knows {FORMAT_VERSION}", version.format),
            "use the hilbrium that wrote it, or a later one",
        ));
    }
    serde_json::from_str(&text).map(Some).map_err(damaged)
}

/// Condition of a run, as far as another process can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// It goes on.
    Running,
    /// It ended without a record of its end: killed, or its host went down.
    Killed,
    /// At its end time or number of steps.
    Done,
    /// After a checkpoint, by a signal or a request.
    Stopped,
    /// By an error.
    Failed,
}

impl Condition {
    /// Tells the condition of a run from its recorded state. `held` is whether a run holds the lock of the
    /// directory: a status `running` in a directory that no run holds is that of a killed run, and any other
    /// state in a held one is that of an earlier run, whose successor has not written its status yet.
    pub fn of(state: State, held: bool) -> Self {
        match (state, held) {
            (_, true) => Condition::Running,
            (State::Running, false) => Condition::Killed,
            (State::Done, false) => Condition::Done,
            (State::Stopped, false) => Condition::Stopped,
            (State::Failed, false) => Condition::Failed,
        }
    }

    /// Name in tables and pages.
    pub fn name(self) -> &'static str {
        match self {
            Condition::Running => "running",
            Condition::Killed => "killed",
            Condition::Done => "done",
            Condition::Stopped => "stopped",
            Condition::Failed => "failed",
        }
    }
}

/// A status of a failed run, for tests.
#[cfg(test)]
pub(crate) fn example() -> Status {
    let phase = Phase { name: "domain".into(), min: 1.0, mean: 1.5, max: 2.0, imbalance: 4.0 / 3.0 };
    Status {
        format: FORMAT_VERSION,
        version: "0.1.0".into(),
        title: "a \"title\"".into(),
        state: State::Failed,
        message: Some("step 3: it broke\n  help: mend it".into()),
        host: "host".into(),
        process: 7,
        started: 1e9,
        updated: 1e9 + 2.5,
        elapsed: 2.5,
        ranks: 2,
        threads: 2,
        device: "cpu".into(),
        particles: 1000,
        step: 3,
        first_step: 0,
        time: 0.1,
        time_step: None,
        time_unit: "U_t".into(),
        end: End { time: Some(0.8), steps: None },
        fraction: 0.125,
        seconds_left: Some(17.5),
        recent: Rates::default(),
        mean: Rates { steps_per_second: Some(1.2), updates_per_second: Some(1200.0) },
        energy: None,
        phases: vec![phase.clone()],
        total: Some(phase),
        memory: Memory { peak: [1e6, 2e6, 3e6], estimate: None },
        neighbors: None,
        snapshots: 1,
        checkpoint: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_reads_back_as_written() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()).unwrap(), None);
        let written = example();
        for _ in 0..2 {
            written.write(folder.path()).unwrap();
            assert_eq!(read(folder.path()).unwrap().as_ref(), Some(&written));
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
        let text = std::fs::read_to_string(path_in(folder.path())).unwrap();
        assert!(text.contains("\"state\": \"failed\"") && text.contains("\"seconds_left\": 17.5"), "{text}");
        // a later version of the program may add members
        let more = text.replacen('{', "{\"colour\": \"blue\",", 1);
        std::fs::write(path_in(folder.path()), more).unwrap();
        assert_eq!(read(folder.path()).unwrap(), Some(written));
    }

    #[test]
    fn what_is_no_status_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let whole = serde_json::to_string(&example()).unwrap();
        for (text, words) in [
            (String::new(), "no status"),
            (whole[..whole.len() / 2].to_owned(), "no status"),
            ("{\"format\": 1}".to_owned(), "missing field"),
            (whole.replacen("\"format\":1", "\"format\":99", 1), "version is 99"),
        ] {
            std::fs::write(path_in(folder.path()), text).unwrap();
            let error = read(folder.path()).unwrap_err().to_string();
            assert!(error.contains(words) && error.contains("status.json"), "{error}");
        }
    }

    #[test]
    fn the_lock_tells_a_killed_run_from_one_that_goes_on() {
        assert_eq!(Condition::of(State::Running, true), Condition::Running);
        assert_eq!(Condition::of(State::Running, false), Condition::Killed);
        assert_eq!(Condition::of(State::Done, false), Condition::Done);
        assert_eq!(Condition::of(State::Failed, true), Condition::Running, "a restart has begun");
    }
}
