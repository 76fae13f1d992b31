//! Files of results that are written anew while a run goes on.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use crate::{Error, Result};

/// Replace the file at `path` by what `write` writes, in one move: a reader sees the old content or the new one.
///
/// # Errors
/// [`Error::File`]; the old file is still there then.
pub(super) fn replace(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    let part = Path::new(&name);
    let written = || {
        let mut file = BufWriter::new(File::create(part)?);
        write(&mut file)?;
        file.flush()?;
        file.get_ref().sync_all()
    };
    let replaced = written()
        .map_err(|cause| Error::file("write", path, &cause))
        .and_then(|()| std::fs::rename(part, path).map_err(|cause| Error::file("replace", path, &cause)));
    if replaced.is_err() {
        let _ = std::fs::remove_file(part);
    }
    replaced
}

/// What a column of one kind, or of a pair of kinds, is called.
pub(super) fn column(name: &str, kinds: &[&str]) -> String {
    let named = kinds.iter().filter(|kind| !kind.is_empty());
    named.fold(name.to_owned(), |name, kind| format!("{name}_{kind}"))
}
