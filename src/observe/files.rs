//! Result files that are rewritten during a run.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use crate::{Error, Result};

/// Replaces the file at `path` atomically by the output of `write`: a reader sees either the old or the new
/// content.
///
/// # Errors
/// [`Error::File`]; the old file then still exists.
pub(super) fn replace_atomically(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    let temporary = Path::new(&name);
    let written = || {
        let mut file = BufWriter::new(File::create(temporary)?);
        write(&mut file)?;
        file.flush()?;
        file.get_ref().sync_all()
    };
    let replaced = written().map_err(|cause| Error::file("write", path, &cause)).and_then(|()| {
        std::fs::rename(temporary, path).map_err(|cause| Error::file("replace", path, &cause))
    });
    if replaced.is_err() {
        let _ = std::fs::remove_file(temporary);
    }
    replaced
}

/// Returns the name of a column of one species, or of a pair of species.
pub(super) fn column_name(name: &str, kinds: &[&str]) -> String {
    let named = kinds.iter().filter(|kind| !kind.is_empty());
    named.fold(name.to_owned(), |name, kind| format!("{name}_{kind}"))
}
