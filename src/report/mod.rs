//! Terminal output: lines on standard output, which are the log of a run, progress, tables and plots.
//!
//! This is the only place that writes to the terminal. Only rank 0 prints: after [`start`] with
//! `root = false` every function here is silent, except [`forward`] and [`error_on_any_rank`]. A closed pipe
//! (`hilbrium ... | head`) silences the output and is not a failure. Any other failed write to standard
//! output does not end the run, but its first cause is recorded: [`check_output`] returns it, and the command
//! exits with status 1.

mod listing;
pub mod picture;
mod progress;
mod table;

pub use listing::{Listing, boundary_text, box_text};
pub use progress::{Estimate, Progress, fraction};
pub use table::table;

use std::io::{ErrorKind, Write};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::{HumanCount, MultiProgress};

use crate::{Error, Result};

/// Output state of the process: whether it prints, and the terminal region that bars share with lines.
struct Screen {
    prints: bool,
    bars: MultiProgress,
}

static SCREEN: OnceLock<Screen> = OnceLock::new();

fn screen() -> &'static Screen {
    SCREEN.get_or_init(|| Screen { prints: true, bars: MultiProgress::new() })
}

/// Sets whether this process prints, as rank 0 does. Only the first call counts.
pub fn start(root: bool) {
    let _ = SCREEN.set(Screen { prints: root, bars: MultiProgress::new() });
}

/// Whether the log has more detail.
static VERBOSE: AtomicBool = AtomicBool::new(false);

/// Sets whether the log has more detail, as `--verbose` does. The same on all ranks.
pub fn set_verbose(verbose: bool) {
    VERBOSE.store(verbose, Ordering::Relaxed);
}

/// Whether the log has more detail: shares of the phases at each snapshot, each new choice of list settings.
pub fn verbose() -> bool {
    VERBOSE.load(Ordering::Relaxed)
}

/// Writes one or several lines to standard output.
pub fn line(text: &str) {
    if screen().prints {
        let written = screen().bars.suspend(|| write_line(&mut std::io::stdout().lock(), text));
        record(written);
    }
}

/// Writes bytes to standard output as they are: the log of ranks run by another process.
pub fn forward(bytes: &[u8]) {
    let mut output = std::io::stdout().lock();
    record(output.write_all(bytes).and_then(|()| output.flush()));
}

/// First failed write to standard output, other than to a closed pipe.
static FIRST_FAILURE: OnceLock<std::io::Error> = OnceLock::new();

/// Records the result of a write to standard output. A closed pipe is not a failure: its reader has left.
pub fn record(written: std::io::Result<()>) {
    if let Err(cause) = written
        && cause.kind() != ErrorKind::BrokenPipe
    {
        // the first cause counts
        let _ = FIRST_FAILURE.set(cause);
    }
}

/// Checks that all lines so far were written to standard output; `lost` names what is incomplete otherwise.
///
/// # Errors
/// [`Error::File`] with the first cause.
pub fn check_output(lost: &str) -> Result<()> {
    FIRST_FAILURE.get().map_or(Ok(()), |cause| {
        let error = Error::file("write all of", Path::new("standard output"), cause);
        Err(match error {
            Error::File { action, path, cause, .. } => Error::File {
                action,
                path,
                cause: format!("{cause}: {lost}"),
                remedy: "free some space, or send the output to another place".into(),
            },
            other => other,
        })
    })
}

/// Writes one or several lines to standard error: the message of a command that failed.
pub fn error(text: &str) {
    if screen().prints {
        let _ = screen().bars.suspend(|| write_line(&mut std::io::stderr().lock(), text));
    }
}

/// Writes to standard error on any rank, before it aborts all of them.
pub fn error_on_any_rank(text: &str) {
    let _ = screen().bars.suspend(|| write_line(&mut std::io::stderr().lock(), text));
}

fn write_line(output: &mut impl Write, text: &str) -> std::io::Result<()> {
    writeln!(output, "{text}").and_then(|()| output.flush())
}

/// Formats a duration: `0.42 s`, `42 s`, `7m 05s`, `3h 12m`.
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "?".into();
    }
    let whole = seconds.round() as u64;
    match whole {
        0..=9 => format!("{seconds:.2} s"),
        10..=99 => format!("{whole} s"),
        100..=5999 => format!("{}m {:02}s", whole / 60, whole % 60),
        _ => format!("{}h {:02}m", whole / 3600, whole % 3600 / 60),
    }
}

/// Formats a count or rate to three digits: `950`, `41.2k`, `3.41M`, `1.20G`.
pub fn quantity(value: f64) -> String {
    if !value.is_finite() {
        return "?".into();
    }
    let (scale, suffix) = match value.abs() {
        magnitude if magnitude < 999.5 => (1.0, ""),
        magnitude if magnitude < 999.5e3 => (1e3, "k"),
        magnitude if magnitude < 999.5e6 => (1e6, "M"),
        _ => (1e9, "G"),
    };
    let scaled = value / scale;
    let decimals = match scaled.abs() {
        magnitude if suffix.is_empty() && magnitude.fract() == 0.0 => 0,
        magnitude if magnitude < 9.995 => 2,
        magnitude if magnitude < 99.95 => 1,
        _ => 0,
    };
    format!("{scaled:.decimals$}{suffix}")
}

/// Formats a number with at most `digits` digits after its first, without trailing zeros:
/// `0.77` for 0.7700000000000002.
pub fn rounded(value: f64, digits: usize) -> String {
    let rounded: f64 = format!("{value:.digits$e}").parse().unwrap_or(value);
    format!("{rounded}")
}

/// Formats an integer with its digits in groups of three: `65,465`.
pub fn grouped(count: u64) -> String {
    HumanCount(count).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_read_durations_and_quantities() {
        assert_eq!(duration(0.417), "0.42 s");
        assert_eq!(duration(59.6), "60 s");
        assert_eq!(duration(425.0), "7m 05s");
        assert_eq!(duration(11_530.0), "3h 12m");
        assert_eq!(duration(f64::INFINITY), "?");
        assert_eq!(quantity(950.0), "950");
        assert_eq!(quantity(0.5), "0.50");
        assert_eq!(quantity(41_200.0), "41.2k");
        assert_eq!(quantity(999_700.0), "1.00M");
        assert_eq!(quantity(3.41e6), "3.41M");
        assert_eq!(quantity(f64::NAN), "?");
        assert_eq!(rounded(0.770_000_000_000_000_2, 6), "0.77");
        assert_eq!(grouped(65_465), "65,465");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_000_000), "1,000,000");
    }

    #[test]
    fn a_closed_pipe_is_no_failure_and_a_full_disk_is_one() {
        record(Err(ErrorKind::BrokenPipe.into()));
        assert!(check_output("text").is_ok());
        record(Err(std::io::Error::from_raw_os_error(libc::ENOSPC)));
        record(Err(std::io::Error::from_raw_os_error(libc::EIO)));
        let error = check_output("the log is incomplete").unwrap_err();
        assert_eq!(error.exit_status(), 1);
        let text = error.to_string();
        assert!(text.contains("No space left") && text.contains("the log is incomplete"), "{text}");
    }
}
