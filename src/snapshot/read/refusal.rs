//! Why a file is not read, before its path is known to who says so.

use crate::Error;
use std::path::Path;

/// Why a file is not read, and what to do.
#[derive(Debug)]
pub(super) struct Refusal {
    /// Whether bytes are wrong or missing, and not only what they say.
    damaged: bool,
    what: String,
    remedy: String,
}

/// What a step of reading gives.
pub(super) type Checked<T> = Result<T, Refusal>;

const COPY: &str = "copy the file anew, or take an earlier one";

impl Refusal {
    /// The file says what cannot be used.
    pub fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { damaged: false, what: what.into(), remedy: remedy.into() }
    }

    /// Bytes are wrong or missing.
    pub fn damaged(what: impl Into<String>) -> Self {
        Self { damaged: true, what: what.into(), remedy: COPY.into() }
    }

    /// The error on a file.
    pub fn at(self, path: &Path) -> Error {
        let (path, what, remedy) = (path.to_owned(), self.what, self.remedy);
        if self.damaged {
            Error::Damaged { path, what, remedy }
        } else {
            Error::Content { path, what, remedy }
        }
    }
}
