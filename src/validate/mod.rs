//! Validation of snapshots against exact and reference solutions: error norms, verdicts, plots.
//!
//! The solutions are those of `crate::cases`. The settings of a case are those of the snapshot's deck, if it
//! starts from this case, else the defaults.
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

pub use crate::cases::{Check, Findings, Outcome, Subject, Verdict};

use std::path::Path;

use crate::cases::AnyCase;
use crate::observe::History;
use crate::particles::Field;
use crate::plan::{Plan, StartPlan};
use crate::{Error, Result, deck, inputs, report};

/// Returns the names for `--against`.
pub fn names() -> Vec<&'static str> {
    AnyCase::names().collect()
}

/// Compares a snapshot with a solution: prints the table, writes the JSON verdict to `json` and the plots to
/// the folder `pictures`, if given (files are named after the snapshot). Returns whether it passed. Energies
/// over time are read from `observables.csv` beside the snapshot.
///
/// # Errors
/// An unknown solution; a file that cannot be read or written; a snapshot that lacks a column or contains a
/// value that is not finite.
pub fn run(snapshot: &Path, against: &str, json: Option<&Path>, pictures: Option<&Path>) -> Result<bool> {
    let default = case(against)?;
    let (header, particles) = crate::snapshot::read_snapshot(snapshot)?;
    let record = snapshot.with_file_name("observables.csv");
    let history = if record.exists() { Some(History::read(&record)?) } else { None };
    let plan = deck::examine("the snapshot's deck", &header.deck, &[]).ok().map(|checked| checked.plan);
    let subject = Subject {
        particles: &particles,
        time: header.time,
        gamma: header.adiabatic_index,
        history: history.as_ref(),
        surroundings: plan.as_ref().map(Plan::surroundings),
    };
    let case = plan.and_then(|plan| case_of(plan, against)).unwrap_or(default);
    let (verdict, findings) = judge_case(&subject, &case, snapshot)?;
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

/// Judges particles that have been read, by a case with its default settings; `snapshot` names them in
/// messages.
///
/// # Errors
/// An unknown solution, a missing column, or a value that is not finite (not positive, for masses, densities
/// and smoothing lengths).
pub fn judge(subject: &Subject, against: &str, snapshot: &Path) -> Result<(Verdict, Findings)> {
    judge_case(subject, &case(against)?, snapshot)
}

/// Judges particles that have been read; `snapshot` names them in messages.
///
/// # Errors
/// As [`judge`].
pub fn judge_case(subject: &Subject, case: &AnyCase, snapshot: &Path) -> Result<(Verdict, Findings)> {
    check_values(subject, case, snapshot)?;
    let findings = case.judge(subject);
    let count = subject.particles.owned().len() as u64;
    let name = snapshot.display().to_string();
    Ok((Verdict::new(case.title(), name, subject.time, count, findings.checks.clone()), findings))
}

/// The case of that name with its default settings.
fn case(name: &str) -> Result<AnyCase> {
    AnyCase::with_defaults(&format!("start.{name}")).ok_or_else(|| {
        Error::usage(
            format!("there is no solution \"{name}\""),
            format!("the solutions are: {}", names().join(", ")),
        )
    })
}

/// The case of a plan, if it starts from the case of that name.
fn case_of(plan: Plan, name: &str) -> Option<AnyCase> {
    match plan.start {
        StartPlan::Case(case) if case.name() == name => Some(case),
        _ => None,
    }
}

/// Checks that all values of the required columns, and of optional ones if present, are finite; masses,
/// densities and smoothing lengths also positive.
fn check_values(subject: &Subject, case: &AnyCase, snapshot: &Path) -> Result<()> {
    let particles = subject.particles;
    let content = |what: String, remedy: &str| Error::Content {
        path: snapshot.to_owned(),
        what,
        remedy: remedy.into(),
    };
    if !subject.time.is_finite() {
        return Err(content("its time is no finite number".into(), "write the snapshot again"));
    }
    for &field in case.needs() {
        if !particles.has(field) {
            let what =
                format!("it has no {} of the particles, which \"{}\" needs", field.name(), case.name());
            return Err(content(what, "write snapshots with this column"));
        }
    }
    for &field in case.needs().iter().chain(&[Field::Pressure, Field::SmoothingLength]) {
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
