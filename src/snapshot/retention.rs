//! The checkpoints of a directory: names, retention, and choice for a restart.

use super::checkpoint;
use crate::comm::Communicator;
use crate::{Error, Result};
use std::path::{Path, PathBuf};

/// File name of the checkpoint of a step.
pub(super) fn file_name(step: u64) -> String {
    format!("checkpoint-{step:06}.h5")
}

/// Steps of the checkpoints in a directory, ascending.
fn list_steps(directory: &Path) -> std::io::Result<Vec<u64>> {
    let step = |entry: std::io::Result<std::fs::DirEntry>| {
        let file = entry.ok()?.file_name().into_string().ok()?;
        let step = file.strip_prefix("checkpoint-")?.strip_suffix(".h5")?.parse().ok()?;
        (file_name(step) == file).then_some(step)
    };
    let mut steps: Vec<u64> = std::fs::read_dir(directory)?.filter_map(step).collect();
    steps.sort_unstable();
    Ok(steps)
}

/// Applies the retention rule after the checkpoint of `step` is written: keeps it and the previous one,
/// removes older ones, renames later ones. Errors are ignored: the new checkpoint itself is already safe.
pub(super) fn prune(directory: &Path, step: u64) {
    let steps = list_steps(directory).unwrap_or_default();
    let earlier: Vec<u64> = steps.iter().copied().filter(|&other| other < step).collect();
    for &other in &earlier[..earlier.len().saturating_sub(1)] {
        let _ = std::fs::remove_file(directory.join(file_name(other)));
    }
    for &other in steps.iter().filter(|&&other| other > step) {
        let path = directory.join(file_name(other));
        let _ = std::fs::rename(&path, path.with_extension("h5.superseded"));
    }
}

/// The remedy if the checkpoint `path` is damaged: names another checkpoint of its directory.
pub(super) fn damage_remedy(path: &Path) -> String {
    let directory = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let steps = list_steps(directory).unwrap_or_default();
    let is_other = |step: &&u64| path.file_name().is_none_or(|file| file != file_name(**step).as_str());
    let this = steps.iter().find(|step| !is_other(step)).copied().unwrap_or(u64::MAX);
    let others = || steps.iter().rev().filter(is_other);
    match others().find(|step| **step < this).or_else(|| others().next()) {
        Some(&step) => format!("use the previous checkpoint {}", directory.join(file_name(step)).display()),
        None => "there is no other checkpoint beside it: start again from the deck".into(),
    }
}

/// Finds the newest complete and unchanged checkpoint of a directory. Collective.
///
/// # Errors
/// [`Error::File`] if the directory cannot be read or has no checkpoint, [`Error::Content`] if all are
/// damaged.
pub fn find_latest(directory: &Path, comm: &Communicator) -> Result<PathBuf> {
    let mut steps = Vec::new();
    let listed = if comm.is_root() {
        list_steps(directory)
            .map(|found| steps = found)
            .map_err(|cause| Error::file("read", directory, &cause))
    } else {
        Ok(())
    };
    comm.agree(listed)?;
    comm.broadcast(&mut steps, 0);
    let mut outcome = Err(Error::File {
        action: "restart from",
        path: directory.to_owned(),
        cause: "it has no checkpoint-NNNNNN.h5".into(),
        remedy: "name the output directory of the run to continue, or start from the deck".into(),
    });
    for &step in steps.iter().rev() {
        let path = directory.join(file_name(step));
        outcome = checkpoint::verify(&path, comm).map(|()| path);
        if outcome.is_ok() {
            break;
        }
    }
    outcome
}
