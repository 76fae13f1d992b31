//! Validation of snapshots against exact and reference solutions: error norms, verdicts, plots.
//!
//! A solution is a file with a function from [`Subject`] to [`Findings`], and an entry in `SOLUTIONS`.
//!
//! # The JSON verdict
//!
//! ```json
//! {
//!   "against": "evrard", "snapshot": "out/evrard/snapshot-0008.hdf5", "time": 0.77, "particles": 100000,
//!   "passed": true,                      // at least one gate, none failed
//!   "checks": [{
//!     "name": "log10 density",           // every figure is a deviation: smaller is better
//!     "measured": 0.031,                 // null if it could not be measured
//!     "gate": 0.0469, "aim": 0.0328,     // null if there is none
//!     "baseline": 0.0469,                // SPH-EXA's figure at this number of particles, or null
//!     "ratio": 0.66,                     // measured / baseline, or null
//!     "outcome": "passed",               // "passed" | "failed" | "reported" (no gate) | "skipped"
//!     "note": "mean of |deviation|, 40 bins"
//!   }]
//! }
//! ```

mod evrard;
pub mod radial;
mod verdict;

pub use verdict::{Check, Outcome, Verdict};

use std::path::Path;

use crate::observe::History;
use crate::particles::{Field, Particles};
use crate::report::{self, picture::Picture};
use crate::{Error, Result, inputs};

/// The state to be judged.
pub struct Subject<'a> {
    /// The particles.
    pub particles: &'a Particles,
    /// Their time.
    pub time: f64,
    /// Energies of the run over time, if known.
    pub history: Option<&'a History>,
}

/// Results of a comparison: checks, and plots by the suffix of their file name.
pub struct Findings {
    /// The checks.
    pub checks: Vec<Check>,
    /// The pictures.
    pub pictures: Vec<(&'static str, Picture)>,
}

/// An exact or reference solution.
struct Solution {
    name: &'static str,
    title: &'static str,
    /// Required columns.
    needs: &'static [Field],
    judge: fn(&Subject) -> Findings,
}

const GAS: &[Field] = &[Field::Position, Field::Velocity, Field::Mass, Field::Density, Field::InternalEnergy];

/// All solutions, by their name in `--against`.
const SOLUTIONS: &[Solution] =
    &[Solution { name: "evrard", title: "Evrard collapse", needs: GAS, judge: evrard::judge }];

/// Returns the names for `--against`.
pub fn names() -> Vec<&'static str> {
    SOLUTIONS.iter().map(|solution| solution.name).collect()
}

/// Compares a snapshot with a solution: prints the table, writes the JSON verdict to `json` and the plots to
/// the folder `pictures`, if given (files are named after the snapshot). Returns whether it passed. Energies
/// over time are read from `observables.csv` beside the snapshot.
///
/// # Errors
/// An unknown solution; a file that cannot be read or written; a snapshot that lacks a column or contains a
/// value that is not finite.
pub fn run(snapshot: &Path, against: &str, json: Option<&Path>, pictures: Option<&Path>) -> Result<bool> {
    solution(against)?;
    let (header, particles) = crate::snapshot::read_snapshot(snapshot)?;
    let record = snapshot.with_file_name("observables.csv");
    let history = if record.exists() { Some(History::read(&record)?) } else { None };
    let subject = Subject { particles: &particles, time: header.time, history: history.as_ref() };
    let (verdict, findings) = judge(&subject, against, snapshot)?;
    let stem = snapshot.file_stem().map_or_else(|| "snapshot".into(), |stem| stem.to_string_lossy());
    let drawn = pictures.into_iter().flat_map(|folder| {
        let names = findings.pictures.iter().flat_map(|(tail, _)| ["png", "svg"].map(|end| (tail, end)));
        names.map(|(tail, end)| folder.join(format!("{stem}-{tail}.{end}")))
    });
    let outputs = drawn.chain(json.map(Path::to_owned));
    inputs::keep(&[snapshot, &record], outputs, "name another file with --json, or folder with --pictures")?;
    report::line(&verdict.text());
    if let Some(path) = json {
        let text = serde_json::to_string_pretty(&verdict)
            .unwrap_or_else(|_| unreachable!("a verdict is plain data"));
        std::fs::write(path, text + "\n").map_err(|cause| Error::file("write", path, &cause))?;
        report::line(&format!("verdict: {}", path.display()));
    }
    if let Some(folder) = pictures {
        for (tail, picture) in &findings.pictures {
            picture.write(folder, &format!("{stem}-{tail}"))?;
            report::line(&format!("picture: {}", folder.join(format!("{stem}-{tail}.png")).display()));
        }
    }
    Ok(verdict.passed)
}

/// Judges particles that have been read; `snapshot` names them in messages.
///
/// # Errors
/// An unknown solution, a missing column, or a value that is not finite (not positive, for masses, densities
/// and smoothing lengths).
pub fn judge(subject: &Subject, against: &str, snapshot: &Path) -> Result<(Verdict, Findings)> {
    let solution = solution(against)?;
    check_values(subject, solution, snapshot)?;
    let findings = (solution.judge)(subject);
    let count = subject.particles.owned().len() as u64;
    let name = snapshot.display().to_string();
    Ok((Verdict::new(solution.title, name, subject.time, count, findings.checks.clone()), findings))
}

fn solution(name: &str) -> Result<&'static Solution> {
    SOLUTIONS.iter().find(|solution| solution.name == name).ok_or_else(|| {
        Error::usage(
            format!("there is no solution \"{name}\""),
            format!("the solutions are: {}", names().join(", ")),
        )
    })
}

/// Checks that all values of the required columns, and of optional ones if present, are finite; masses,
/// densities and smoothing lengths also positive.
fn check_values(subject: &Subject, solution: &Solution, snapshot: &Path) -> Result<()> {
    let particles = subject.particles;
    let content = |what: String, remedy: &str| Error::Content {
        path: snapshot.to_owned(),
        what,
        remedy: remedy.into(),
    };
    if !subject.time.is_finite() {
        return Err(content("its time is no finite number".into(), "write the snapshot again"));
    }
    for &field in solution.needs {
        if !particles.has(field) {
            let what =
                format!("it has no {} of the particles, which \"{}\" needs", field.name(), solution.name);
            return Err(content(what, "write snapshots with this column"));
        }
    }
    for &field in solution.needs.iter().chain(&[Field::Pressure, Field::SmoothingLength]) {
        if !particles.has(field) {
            continue;
        }
        let positive = matches!(field, Field::Mass | Field::Density | Field::SmoothingLength);
        for component in 0..field.components() {
            let column = particles.component(field, component);
            let wrong =
                particles.owned().find(|&row| !column[row].is_finite() || positive && column[row] <= 0.0);
            if let Some(row) = wrong {
                let what = format!("{} of particle {} is {}", field.name(), particles.id[row], column[row]);
                return Err(content(what, "run again; the run that wrote it went wrong"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
