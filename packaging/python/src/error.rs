//! Errors and panics of the crate as Python exceptions.

use std::panic::{AssertUnwindSafe, catch_unwind};

use hilbrium::Error;
use pyo3::prelude::*;

mod python {
    pyo3::import_exception!(hilbrium._error, Error);
}

/// Help of errors that only a bug can cause.
const BUG_HELP: &str = "this is a bug of hilbrium: please report it with the deck";

/// Why a call failed.
pub enum Failure {
    /// For a reason that the crate states.
    Stated(Error),
    /// A panic, with its message.
    Panic(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Stated(error)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> PyErr {
        let (kind, text, remedy) = match failure {
            Failure::Stated(error) => (kind_of(&error), error.to_string(), remedy_of(&error)),
            Failure::Panic(message) => {
                ("bug", format!("internal error: {message}\n  help: {BUG_HELP}"), Some(BUG_HELP.to_owned()))
            }
        };
        python::Error::new_err((text, kind, remedy))
    }
}

/// The kind of an error, by which Python code tells errors apart.
fn kind_of(error: &Error) -> &'static str {
    match error {
        Error::Deck { .. } => "deck",
        Error::Usage { .. } => "usage",
        Error::File { .. } => "file",
        Error::Content { .. } => "content",
        Error::Damaged { .. } => "damaged",
        Error::State { .. } => "state",
        Error::Device { .. } | Error::Elsewhere => "device",
    }
}

/// The remedy of an error; the report of a deck has one for each mistake.
fn remedy_of(error: &Error) -> Option<String> {
    match error {
        Error::Usage { remedy, .. }
        | Error::File { remedy, .. }
        | Error::Content { remedy, .. }
        | Error::Damaged { remedy, .. }
        | Error::State { remedy, .. }
        | Error::Device { remedy, .. } => Some(remedy.clone()),
        Error::Deck { .. } | Error::Elsewhere => None,
    }
}

/// Calls `work` and turns a panic into a failure.
pub fn guarded<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Failure> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(outcome) => outcome.map_err(Failure::Stated),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(Failure::Panic(text.unwrap_or("without a message").to_owned()))
        }
    }
}

/// Calls `work` without the interpreter's lock; errors and panics become exceptions.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, Error> + Send) -> PyResult<T> {
    py.detach(|| guarded(work)).map_err(PyErr::from)
}
