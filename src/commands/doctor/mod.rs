//! `hilbrium doctor`: checks that this machine can run the program, and says what to do where it cannot.

mod files;
mod libraries;
mod machine;

use super::Ending;
use crate::{Error, Result, report};
use std::path::Path;

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// As it should be.
    Good,
    /// Something is missing or slow that some runs need.
    Limited,
    /// Runs fail.
    Bad,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            State::Good => "ok",
            State::Limited => "limited",
            State::Bad => "BAD",
        }
    }
}

/// What a check has found.
#[derive(Clone, Debug)]
struct Check {
    subject: &'static str,
    state: State,
    found: String,
    /// What to do, where the state is not good.
    remedy: String,
}

impl Check {
    fn good(subject: &'static str, found: impl Into<String>) -> Self {
        Self { subject, state: State::Good, found: found.into(), remedy: String::new() }
    }

    fn limited(subject: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { subject, state: State::Limited, found: found.into(), remedy: remedy.into() }
    }

    /// What an error says, with its own remedy; `consequence` is what it means for runs.
    fn limited_by(subject: &'static str, error: &Error, consequence: &str) -> Self {
        let text = error.to_string();
        let (cause, remedy) = text.split_once("\n  help: ").unwrap_or((&text, "see the message"));
        Self::limited(subject, format!("{cause}: {consequence}"), remedy)
    }

    fn bad(subject: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { subject, state: State::Bad, found: found.into(), remedy: remedy.into() }
    }
}

/// Prints all checks; outputs of runs would go to `directory`. Fails if runs would.
pub(super) fn doctor(directory: &Path) -> Result<Ending> {
    let mut checks = machine::checks();
    checks.extend(libraries::checks());
    checks.extend(files::checks(directory));
    report::line(&text(&checks));
    let bad = checks.iter().any(|check| check.state == State::Bad);
    Ok(if bad { Ending::Failed } else { Ending::Done })
}

/// Formats the checks, one a line, each remedy below its check, and a summary.
fn text(checks: &[Check]) -> String {
    let width = checks.iter().map(|check| check.subject.len()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for Check { subject, state, found, remedy } in checks {
        lines.push(format!("{:<7}  {subject:<width$}  {found}", state.word()));
        if !remedy.is_empty() {
            lines.push(format!("{:<7}  {:<width$}  -> {remedy}", "", ""));
        }
    }
    let count = |state| checks.iter().filter(|check| check.state == state).count();
    lines.push(match (count(State::Bad), count(State::Limited)) {
        (0, 0) => "all checks passed".into(),
        (0, limited) => format!("runs work here, with limits: {limited}"),
        (bad, _) => format!("runs fail here; failed checks: {bad}"),
    });
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remedy_stands_below_its_check() {
        let checks = [Check::good("HDF5", "1.14.5"), Check::bad("locked memory", "0", "raise it")];
        assert_eq!(
            text(&checks),
            "ok       HDF5           1.14.5\n\
             BAD      locked memory  0\n                        -> raise it\n\
             runs fail here; failed checks: 1"
        );
        assert!(text(&checks[..1]).ends_with("all checks passed"));
    }

    #[test]
    fn an_error_keeps_its_remedy() {
        let error = Error::usage("there is no mpirun", "install Open MPI");
        let check = Check::limited_by("mpirun", &error, "runs have one rank");
        assert_eq!(check.found, "there is no mpirun: runs have one rank");
        assert_eq!(check.remedy, "install Open MPI");
    }

    #[test]
    fn what_is_not_good_has_a_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let all = [machine::checks(), libraries::checks(), files::checks(folder.path())].concat();
        assert!(all.len() >= 10);
        assert!(all.iter().all(|check| check.remedy.is_empty() == (check.state == State::Good)), "{all:?}");
    }
}
