//! Reads a deck: TOML text with `--set` options is checked once and becomes a [`Plan`].
//!
//! `keys` is the table of all sections and keys. `raw` walks the TOML tree along that table and records each
//! mistake with its position. `check` and the files named after sections apply defaults and the rules that
//! join several keys. `mistake` formats all mistakes as one report.

mod check;
mod cutoff_check;
mod external;
mod gas;
mod keys;
mod measure;
mod mistake;
mod molecules;
mod motion;
mod pairs;
mod raw;
mod recorded_defaults;
mod reference;
mod schema;
mod species;
mod start;
mod start_file;
mod suggest;
mod template;
mod time_step;
mod trajectory;
mod value;

pub use crate::plan::Plan;
pub use check::Checked;
pub use cutoff_check::{BoxMismatch, MAX_BOX_IN_CUTOFFS};
pub use mistake::{Mistake, Place, Report};
pub use recorded_defaults::is_default;
pub use reference::reference;
pub use schema::schema;
pub use template::{Case, cases, template};

use crate::plan::Kernel;
use crate::{Error, Result};
use std::io::Read;
use std::path::Path;

/// Reads and checks the deck at `path`; `overrides` are `section.key=value` options that take precedence.
///
/// # Errors
/// [`Error::Usage`] if the file cannot be read, [`Error::Deck`] with the report of all mistakes.
pub fn read(path: &Path, overrides: &[String]) -> Result<Plan> {
    read_checked(path, overrides).map(|checked| checked.plan)
}

/// Like [`read`], with the resolved deck (all defaults filled in) as text.
///
/// # Errors
/// As [`read`].
pub fn read_checked(path: &Path, overrides: &[String]) -> Result<Checked> {
    let bytes = read_bytes(path)?;
    let name = path.display().to_string();
    examine_bytes(&name, &bytes, overrides).map_err(|report| Error::Deck { report: report.to_string() })
}

/// Like [`read_checked`], for a session: see [`examine_for_session`].
///
/// # Errors
/// As [`read`].
pub fn read_for_session(path: &Path, overrides: &[String]) -> Result<Checked> {
    let bytes = read_bytes(path)?;
    let name = path.display().to_string();
    let checked = match std::str::from_utf8(&bytes) {
        Ok(text) => examine_for_session(&name, text, overrides, false),
        Err(_) => examine_bytes(&name, &bytes, overrides),
    };
    checked.map_err(|report| Error::Deck { report: report.to_string() })
}

/// Like [`read_checked`], for a restart: a key that the deck does not set takes the default recorded in
/// `printed`, the resolved deck stored in the checkpoint.
///
/// # Errors
/// As [`read`].
pub fn read_for_restart(path: &Path, overrides: &[String], printed: &str) -> Result<Checked> {
    let bytes = read_bytes(path)?;
    let name = path.display().to_string();
    let checked = match std::str::from_utf8(&bytes) {
        Ok(text) => recorded_defaults::examine_with_defaults(&name, text, overrides, printed)
            .map(|(checked, _)| checked),
        Err(_) => examine_bytes(&name, &bytes, overrides),
    };
    checked.map_err(|report| Error::Deck { report: report.to_string() })
}

/// Checks the deck `text`, called `name` in messages, with `section.key=value` options over it. The only file
/// access is a test that a start file exists, and reading the file of `[interaction.table]`.
///
/// # Errors
/// The report of all mistakes.
#[allow(clippy::result_large_err)]
pub fn examine(name: &str, text: &str, overrides: &[String]) -> Result<Checked, Report> {
    let source = (name.to_owned(), text.to_owned(), overrides.to_vec());
    check::check(raw::Raw::new(name, text, overrides)).map(|checked| Checked { source, ..checked })
}

/// Like [`examine`], for a session ([`crate::run::session`]): its caller may perform steps whatever end the
/// deck states, so that a deck without steps must have what steps need. With `given_particles` the deck has
/// no start, and the caller gives the particles ([`crate::start::given`]).
///
/// # Errors
/// The report of all mistakes; a start in a deck without one is one.
#[allow(clippy::result_large_err)]
pub fn examine_for_session(
    name: &str,
    text: &str,
    overrides: &[String],
    given_particles: bool,
) -> Result<Checked, Report> {
    let source = (name.to_owned(), text.to_owned(), overrides.to_vec());
    let raw = raw::Raw { given_particles, caller_steps: true, ..raw::Raw::new(name, text, overrides) };
    check::check(raw).map(|checked| Checked { source, ..checked })
}

/// Returns the species names of a deck in the order of the text, even if the rest of the deck is wrong.
pub fn species_names(text: &str) -> Vec<String> {
    let raw = raw::Raw::new("deck", text, &[]);
    let sections = keys::section_at("species.*").map_or_else(Vec::new, |section| raw.instances(section));
    sections.iter().map(|section| species::name_of(section).to_owned()).collect()
}

/// Returns the interpolation kernel that a deck names, even if the rest of the deck is wrong.
pub fn kernel(text: &str) -> Option<Kernel> {
    let raw = raw::Raw::new("deck", text, &[]);
    match raw.entry("sph", "kernel")?.value {
        Some(value::Value::Choice(name)) => Kernel::named(name),
        _ => None,
    }
}

/// Returns whether a deck has a pair interaction, even if the rest of the deck is wrong.
pub fn has_interaction(text: &str) -> bool {
    let raw = raw::Raw::new("deck", text, &[]);
    raw.sections.keys().any(|path| path.starts_with("interaction"))
}

/// Like [`examine`], for bytes that may not be UTF-8.
///
/// # Errors
/// The report of all mistakes.
#[allow(clippy::result_large_err)]
pub fn examine_bytes(name: &str, bytes: &[u8], overrides: &[String]) -> Result<Checked, Report> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let good = String::from_utf8_lossy(&bytes[..error.valid_up_to()]).into_owned();
            let end = good.len();
            let place = Some(Place { source: 0, span: end..end });
            let message = "the deck is not UTF-8 text from here on".into();
            let help = "save it as UTF-8, or check that this is a deck and not another file".into();
            let source = mistake::Source { name: name.into(), text: good };
            return Err(Report::new(vec![source], vec![Mistake { message, help, place }]));
        }
    };
    examine(name, text, overrides)
}

/// Reads the file, at most one byte more than the largest deck may have.
fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    let refuse = |message: String, remedy: &str| Err(Error::usage(message, remedy));
    if path.is_dir() {
        let message = format!("{} is a folder, not a deck", path.display());
        return refuse(message, "name the deck inside it, a .toml file");
    }
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path)
        .and_then(|file| file.take(raw::MAX_BYTES as u64 + 1).read_to_end(&mut bytes));
    match read {
        Err(cause) => refuse(
            format!("cannot read the deck {}: {cause}", path.display()),
            "check the path; `hilbrium new evrard` prints a deck to start from",
        ),
        Ok(_) if bytes.len() > raw::MAX_BYTES => refuse(
            format!("{} is too large for a deck: more than {} KiB", path.display(), raw::MAX_BYTES / 1024),
            "check that this is a deck and not a data file",
        ),
        Ok(_) => Ok(bytes),
    }
}
