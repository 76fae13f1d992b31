//! Reasons for not reading a file, in code that does not know its path.

use crate::Error;
use std::path::Path;

/// Why a file cannot be read, and the remedy.
#[derive(Debug)]
pub(super) struct Refusal {
    /// Whether bytes are wrong or missing, as opposed to valid but unusable content.
    damaged: bool,
    what: String,
    remedy: String,
}

/// The result of a reading step.
pub(super) type Checked<T> = Result<T, Refusal>;

const COPY: &str = "copy the file anew, or take an earlier one";

impl Refusal {
    /// Valid but unusable content.
    pub fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { damaged: false, what: what.into(), remedy: remedy.into() }
    }

    /// Wrong or missing bytes.
    pub fn damaged(what: impl Into<String>) -> Self {
        Self { damaged: true, what: what.into(), remedy: COPY.into() }
    }

    /// Converts to an error on the file `path`.
    pub fn at(self, path: &Path) -> Error {
        let (path, what, remedy) = (path.to_owned(), self.what, self.remedy);
        if self.damaged {
            Error::Damaged { path, what, remedy }
        } else {
            Error::Content { path, what, remedy }
        }
    }
}
