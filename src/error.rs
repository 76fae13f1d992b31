//! The error type: each variant states the problem, its location and a remedy.

use std::path::{Path, PathBuf};

/// Errors with a cause outside of the code.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The deck, or an option that overrides it, is wrong. The report has one entry per mistake.
    #[error("{report}")]
    Deck {
        /// The rendered report: every mistake with file, line, column, excerpt and remedy.
        report: String,
    },
    /// The command line requests something impossible.
    #[error("{}\n  help: {}", plain(message), plain(remedy))]
    Usage {
        /// The problem.
        message: String,
        /// The remedy.
        remedy: String,
    },
    /// A file could not be read, written, created or renamed.
    #[error("cannot {action} {}: {}\n  help: {}", shown(path), plain(cause), plain(remedy))]
    File {
        /// The verb: "read", "write", "create", "rename".
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The reason reported by the system.
        cause: String,
        /// The remedy.
        remedy: String,
    },
    /// A file is intact but unusable: it has another format, or belongs to another system than the deck's.
    #[error("{} cannot be used: {}\n  help: {}", shown(path), plain(what), plain(remedy))]
    Content {
        /// The file.
        path: PathBuf,
        /// The problem and its location in the file.
        what: String,
        /// The remedy.
        remedy: String,
    },
    /// A file is corrupt or truncated.
    #[error("{} is damaged: {}\n  help: {}", shown(path), plain(what), plain(remedy))]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The problem and its location in the file.
        what: String,
        /// The remedy.
        remedy: String,
    },
    /// The state of the particles cannot be continued (NaN, a box smaller than a cutoff, ...).
    #[error("step {step}: {}\n  help: {}", plain(what), plain(remedy))]
    State {
        /// The step at which it was detected.
        step: u64,
        /// The quantity, the particle and the value.
        what: String,
        /// The remedy.
        remedy: String,
    },
    /// A device, its driver or a kernel on it failed.
    #[error("{}\n  help: {}", plain(what), plain(remedy))]
    Device {
        /// The kernel or transfer that failed, and the driver's message.
        what: String,
        /// The remedy.
        remedy: String,
    },
    /// Another rank failed; it has printed its own error.
    #[error("another rank failed")]
    Elsewhere,
}

/// Replaces control characters, because the text may come from a file.
fn plain(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() && letter != '\n' { '?' } else { letter }).collect()
}

fn shown(path: &Path) -> String {
    plain(&path.display().to_string())
}

/// Result of operations that can fail for a reason outside of the code.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Creates a file system error for `path`, with a remedy for its kind.
    pub fn file(action: &'static str, path: &Path, cause: &std::io::Error) -> Self {
        use std::io::ErrorKind as Kind;
        let remedy = match cause.kind() {
            Kind::NotFound => "check the spelling and that the folder exists",
            Kind::PermissionDenied | Kind::ReadOnlyFilesystem => {
                "choose a folder you may write to, or change its permissions"
            }
            Kind::IsADirectory => "name a file inside that folder",
            Kind::StorageFull | Kind::QuotaExceeded => {
                "free some space or choose another folder, then restart from the last checkpoint"
            }
            Kind::FileTooLarge => {
                "raise the limit on the size of files (ulimit -f), then restart from the last checkpoint"
            }
            _ if cause.raw_os_error() == Some(libc::EIO) => {
                "the disk or the way to it failed: look into the system's log, then restart from the last checkpoint"
            }
            _ => "see the reason above",
        };
        Error::File { action, path: path.to_owned(), cause: cause.to_string(), remedy: remedy.into() }
    }

    /// Sets the step of a state error; returns other errors unchanged.
    pub fn at_step(self, number: u64) -> Self {
        match self {
            Error::State { what, remedy, .. } => Error::State { step: number, what, remedy },
            other => other,
        }
    }

    /// Appends the units of the numbers to a state error; returns other errors unchanged.
    pub fn with_units(self, units: &str) -> Self {
        match self {
            Error::State { step, what, remedy } => Error::State { step, what: what + units, remedy },
            other => other,
        }
    }

    /// Creates a usage error.
    pub fn usage(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Error::Usage { message: message.into(), remedy: remedy.into() }
    }

    /// Creates a device error.
    pub fn device(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Error::Device { what: what.into(), remedy: remedy.into() }
    }

    /// Returns the exit status: 2 for bad usage or a bad deck, 1 otherwise.
    pub fn exit_status(&self) -> u8 {
        match self {
            Error::Deck { .. } | Error::Usage { .. } => 2,
            _ => 1,
        }
    }
}
