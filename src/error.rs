//! The one error type: every variant says what happened, where, and what to do.

use std::path::{Path, PathBuf};

/// Everything that can go wrong for a reason outside the code.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The deck, or an option that overrides it, is wrong; the report has one entry per mistake.
    #[error("{report}")]
    Deck {
        /// The rendered report: every mistake with file, line, column, excerpt and remedy.
        report: String,
    },
    /// The command line asks for something that cannot be done.
    #[error("{}\n  help: {}", plain(message), plain(remedy))]
    Usage {
        /// What is wrong.
        message: String,
        /// What to do.
        remedy: String,
    },
    /// A file could not be read, written, created or renamed.
    #[error("cannot {action} {}: {}\n  help: {}", shown(path), plain(cause), plain(remedy))]
    File {
        /// The verb: "read", "write", "create", "rename".
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The reason the system gave.
        cause: String,
        /// What to do.
        remedy: String,
    },
    /// A file is whole, but it cannot be used: it is of another kind, or of another system than the deck's.
    #[error("{} cannot be used: {}\n  help: {}", shown(path), plain(what), plain(remedy))]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where in the file.
        what: String,
        /// What to do.
        remedy: String,
    },
    /// Bytes of a file are wrong or missing.
    #[error("{} is damaged: {}\n  help: {}", shown(path), plain(what), plain(remedy))]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where in the file.
        what: String,
        /// What to do.
        remedy: String,
    },
    /// The particles reached a state that cannot be continued (NaN, a box smaller than a cutoff, ...).
    #[error("step {step}: {}\n  help: {}", plain(what), plain(remedy))]
    State {
        /// The step at which it was found.
        step: u64,
        /// Which quantity of which particle, and its value.
        what: String,
        /// What to do.
        remedy: String,
    },
    /// A device, its driver or a kernel on it failed.
    #[error("{}\n  help: {}", plain(what), plain(remedy))]
    Device {
        /// What failed: the kernel or the transfer, and the driver's words.
        what: String,
        /// What to do.
        remedy: String,
    },
    /// Another rank failed; it has printed its own error.
    #[error("another rank failed")]
    Elsewhere,
}

/// A text that may come from a file, without letters that steer a terminal.
fn plain(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() && letter != '\n' { '?' } else { letter }).collect()
}

fn shown(path: &Path) -> String {
    plain(&path.display().to_string())
}

/// The result of everything that can fail for a reason outside the code.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error of the file system on `path`, with a remedy that fits its kind.
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

    /// A state's error, with the step at which it was found.
    pub fn at_step(self, number: u64) -> Self {
        match self {
            Error::State { what, remedy, .. } => Error::State { step: number, what, remedy },
            other => other,
        }
    }

    /// A state's error, with what its numbers are in behind it.
    pub fn with_units(self, units: &str) -> Self {
        match self {
            Error::State { step, what, remedy } => Error::State { step, what: what + units, remedy },
            other => other,
        }
    }

    /// A usage error.
    pub fn usage(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Error::Usage { message: message.into(), remedy: remedy.into() }
    }

    /// An error of a device.
    pub fn device(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Error::Device { what: what.into(), remedy: remedy.into() }
    }

    /// The exit status that belongs to this error: 2 for bad usage or deck, 1 for the rest.
    pub fn exit_status(&self) -> u8 {
        match self {
            Error::Deck { .. } | Error::Usage { .. } => 2,
            _ => 1,
        }
    }
}
