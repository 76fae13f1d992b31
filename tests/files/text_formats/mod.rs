//! Text formats of other programs: inputs that once were read as another system, files that ASE writes, and random files
//! that ASE reads too.
//!
//! The comparisons with ASE need a Python with `tests/python/requirements.txt`, named by the environment variable
//! HILBRIUM_PYTHON.

mod ase;
mod random;
mod rows;

use hilbrium::Result;
use hilbrium::start::formats::{self, Configuration, Hints};
use std::path::{Path, PathBuf};

/// A file of this text in a folder.
pub fn written(folder: &Path, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// All rows of a file, by the format that its name and content tell.
pub fn read(path: &Path, hints: Hints) -> Result<Configuration> {
    let format = formats::format_of(path)?;
    formats::read(path, format, hints, |count| 0..count)
}

/// The name of every atom.
pub fn names(found: &Configuration) -> Vec<String> {
    found.species.iter().map(|&kind| found.names[kind].clone()).collect()
}
