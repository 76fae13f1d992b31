//! The folder of a run: what its files are called, and what is done with those that lie there already.

use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// The snapshot of a number, counted from 0.
pub fn snapshot_path(directory: &Path, number: u64) -> PathBuf {
    directory.join(format!("snapshot-{number:04}.hdf5"))
}

/// Make the output directory; refuse one with another run's snapshots unless they may be replaced.
pub fn prepare(directory: &Path, overwrite: bool) -> Result<()> {
    std::fs::create_dir_all(directory).map_err(|cause| Error::file("create", directory, &cause))?;
    let entries = std::fs::read_dir(directory).map_err(|cause| Error::file("read", directory, &cause))?;
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let ours = ["snapshot-", "checkpoint-", "trajectory."].iter().any(|start| name.starts_with(start));
        if ours && !overwrite {
            return Err(Error::usage(
                format!("{} holds the files of an earlier run ({name})", directory.display()),
                "choose another folder with --set output.directory=..., or allow --set output.overwrite=true",
            ));
        }
        if ours {
            std::fs::remove_file(entry.path())
                .map_err(|cause| Error::file("remove", &entry.path(), &cause))?;
        }
    }
    Ok(())
}

/// Set aside the snapshots from this number on: they are of a future that this run replaces.
pub fn supersede(directory: &Path, first: u64) -> Result<()> {
    let entries = std::fs::read_dir(directory).map_err(|cause| Error::file("read", directory, &cause))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let Some((number, kind)) = name.strip_prefix("snapshot-").and_then(|rest| rest.split_once('.'))
        else {
            continue;
        };
        if ["hdf5", "xdmf"].contains(&kind) && number.parse::<u64>().is_ok_and(|number| number >= first) {
            std::fs::rename(&path, path.with_extension(format!("{kind}.superseded")))
                .map_err(|cause| Error::file("rename", &path, &cause))?;
        }
    }
    Ok(())
}
