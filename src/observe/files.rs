//! Files of results that are written anew while a run goes on.

use std::io::Write;
use std::path::Path;

use crate::{Error, Result};

/// Replace the file at `path` in one move: a reader sees the old content or the new one.
///
/// # Errors
/// [`Error::File`]; the old file is still there then.
pub(super) fn replace(path: &Path, text: &str) -> Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    let part = Path::new(&name);
    let write = || {
        let mut file = std::fs::File::create(part)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    };
    let replaced = write()
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
