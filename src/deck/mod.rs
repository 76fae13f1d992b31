//! The deck: raw TOML, checked once, becomes a plan.
//!
//! `keys` is the one table of what may be written; `raw` walks the TOML along it and keeps every mistake with its
//! place; `check` and `physics` fill in defaults, join what belongs together and give the [`Plan`]; `mistake`
//! shows everything that is wrong in one report.

mod check;
mod former;
mod gas;
mod keys;
mod measure;
mod mistake;
mod molecules;
mod motion;
mod nearest;
mod pairs;
mod physics;
pub mod plan;
mod raw;
mod reach;
mod reference;
mod schema;
mod species;
mod template;
mod time_step;
mod value;

pub use check::Checked;
pub use former::is_default;
pub use mistake::{Mistake, Place, Report};
pub use plan::Plan;
pub use reach::{Misfit, WIDEST_IN_CUTOFFS};
pub use reference::reference;
pub use schema::schema;
pub use template::{CASES, Case, template};

use crate::{Error, Result};
use std::io::Read;
use std::path::Path;

/// Read and check the deck at `path`, with `section.key=value` options over it.
///
/// # Errors
/// [`Error::Usage`] where the path cannot be read, [`Error::Deck`] with the report of all mistakes.
pub fn read(path: &Path, overrides: &[String]) -> Result<Plan> {
    read_checked(path, overrides).map(|checked| checked.plan)
}

/// As [`read`], with the resolved deck as text.
///
/// # Errors
/// As [`read`].
pub fn read_checked(path: &Path, overrides: &[String]) -> Result<Checked> {
    let bytes = read_bytes(path)?;
    let name = path.display().to_string();
    examine_bytes(&name, &bytes, overrides).map_err(|report| Error::Deck { report: report.to_string() })
}

/// As [`read_checked`], for a restart: keys that the deck does not write have the defaults that `printed`,
/// the deck of the checkpoint, was made with.
///
/// # Errors
/// As [`read`].
pub fn read_for_restart(path: &Path, overrides: &[String], printed: &str) -> Result<Checked> {
    let bytes = read_bytes(path)?;
    let name = path.display().to_string();
    let checked = match std::str::from_utf8(&bytes) {
        Ok(text) => former::examine_after(&name, text, overrides, printed).map(|(checked, _)| checked),
        Err(_) => examine_bytes(&name, &bytes, overrides),
    };
    checked.map_err(|report| Error::Deck { report: report.to_string() })
}

/// Check the deck `text` that is called `name`, with `section.key=value` options over it. Besides the text, only
/// the existence of a start file is looked at.
///
/// # Errors
/// The report of all mistakes.
#[allow(clippy::result_large_err)]
pub fn examine(name: &str, text: &str, overrides: &[String]) -> Result<Checked, Report> {
    let source = (name.to_owned(), text.to_owned(), overrides.to_vec());
    check::check(raw::Raw::new(name, text, overrides)).map(|checked| Checked { source, ..checked })
}

/// The names of the species of a deck's text, in the order in which they are written; whatever else is wrong with it.
pub fn species_names(text: &str) -> Vec<String> {
    let raw = raw::Raw::new("deck", text, &[]);
    let sections = keys::section_at("species.*").map_or_else(Vec::new, |section| raw.instances(section));
    sections.iter().map(|section| species::name_of(section).to_owned()).collect()
}

/// As [`examine`], for bytes that may not be text.
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

/// The file's bytes, at most one more than the largest deck has.
fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    let refuse = |message: String, remedy: &str| Err(Error::usage(message, remedy));
    if path.is_dir() {
        let message = format!("{} is a folder, not a deck", path.display());
        return refuse(message, "name the deck inside it, a .toml file");
    }
    let mut bytes = Vec::new();
    let read =
        std::fs::File::open(path).and_then(|file| file.take(raw::LARGEST as u64 + 1).read_to_end(&mut bytes));
    match read {
        Err(cause) => refuse(
            format!("cannot read the deck {}: {cause}", path.display()),
            "check the path; `hilbrium new evrard` prints a deck to start from",
        ),
        Ok(_) if bytes.len() > raw::LARGEST => refuse(
            format!("{} is too large for a deck: more than {} KiB", path.display(), raw::LARGEST / 1024),
            "check that this is a deck and not a data file",
        ),
        Ok(_) => Ok(bytes),
    }
}
