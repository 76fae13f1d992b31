//! The folder of a run: what its files are called, and what is done with those that lie there already.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::deck::plan::{Plan, StartPlan};
use crate::{Error, Result, inputs};

/// What a file of a run is, as its name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A snapshot of a number, or what lies beside it for other programs.
    Snapshot(u64),
    /// A checkpoint of a step.
    Checkpoint(u64),
    /// A trajectory.
    Trajectory,
    /// A table of observables or measurements.
    Table,
    /// One of these that was set aside.
    Superseded,
    /// One of these that a killed run did not finish.
    Partial,
}

/// The tables that runs write.
const TABLES: [&str; 4] =
    ["observables.csv", "radial-distribution.csv", "mean-square-displacement.csv", "diffusion.csv"];

/// What the file of a name is; `None` where runs give no file this name.
fn kind_of(name: &str) -> Option<Kind> {
    let ends = [(".superseded", Kind::Superseded), (".partial", Kind::Partial), (".part", Kind::Partial)];
    let remainder = ends.into_iter().find_map(|(end, kind)| Some((name.strip_suffix(end)?, kind)));
    let whole = remainder.map_or(name, |(whole, _)| whole);
    let (stem, ending) = whole.split_once('.')?;
    let number = |start: &str, width: usize| {
        let digits = stem.strip_prefix(start)?;
        let number: u64 = digits.parse().ok()?;
        (format!("{number:0width$}") == digits).then_some(number)
    };
    let kind = match ending {
        "hdf5" | "xdmf" => Kind::Snapshot(number("snapshot-", 4)?),
        "h5" => Kind::Checkpoint(number("checkpoint-", 6)?),
        "h5md" | "xyz" if stem == "trajectory" => Kind::Trajectory,
        _ if TABLES.contains(&whole) => Kind::Table,
        _ => return None,
    };
    Some(remainder.map_or(kind, |(_, remainder)| remainder))
}

/// The files of runs in a folder, in the order of their names.
fn files(directory: &Path) -> Result<Vec<(PathBuf, Kind)>> {
    let failed = |cause: std::io::Error| Error::file("read", directory, &cause);
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let kind = entry.file_name().to_str().and_then(kind_of);
        found.extend(kind.map(|kind| (entry.path(), kind)));
    }
    found.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    Ok(found)
}

/// The snapshot of a number, counted from 0.
pub fn snapshot_path(directory: &Path, number: u64) -> PathBuf {
    directory.join(format!("snapshot-{number:04}.hdf5"))
}

/// Refuse a run whose files would replace its start file or one of these other inputs, such as its deck. Nothing is written.
///
/// # Errors
/// [`Error::Usage`], [`Error::File`].
pub fn keep_inputs(plan: &Plan, others: &[&Path]) -> Result<()> {
    let directory = &plan.output.directory;
    if !directory.is_dir() {
        return Ok(());
    }
    let mut known = others.to_vec();
    if let StartPlan::File(start) = &plan.start {
        known.push(&start.path);
    }
    inputs::keep(&known, files(directory)?.into_iter().map(|(path, _)| path), INPUT_IN_THE_WAY)
}

const INPUT_IN_THE_WAY: &str = "choose another folder with --set output.directory=..., or move the input out of this \
                                one and name its place on the command line or with --set start.file.path=...";

/// Refuse a restart whose files would replace the checkpoint of `step` that it begins from: one that lies in the folder
/// under another name than its own.
///
/// # Errors
/// [`Error::Usage`], [`Error::File`].
pub fn keep_checkpoint(directory: &Path, checkpoint: &Path, step: u64) -> Result<()> {
    let others = files(directory)?.into_iter().filter(|(_, kind)| *kind != Kind::Checkpoint(step));
    inputs::keep(&[checkpoint], others.map(|(path, _)| path), INPUT_IN_THE_WAY)
}

/// List the files of an earlier run in the output directory that are to go. They are still there: [`clear`] removes them,
/// once the run has its particles.
///
/// # Errors
/// [`Error::File`]; [`Error::Usage`] where there are such files and the deck does not allow to replace them.
pub fn prepare(plan: &Plan) -> Result<Vec<PathBuf>> {
    let directory = &plan.output.directory;
    let earlier: Vec<PathBuf> = files(directory)?.into_iter().map(|(path, _)| path).collect();
    match earlier.first().and_then(|path| path.file_name()) {
        Some(name) if !plan.output.overwrite => Err(Error::usage(
            format!("{} holds the files of an earlier run ({})", directory.display(), name.to_string_lossy()),
            "choose another folder with --set output.directory=..., or allow --set output.overwrite=true",
        )),
        _ => Ok(earlier),
    }
}

/// Remove what a killed run did not finish.
///
/// # Errors
/// [`Error::File`] with the first that cannot be removed.
pub fn clear_partial(directory: &Path) -> Result<()> {
    let partial = files(directory)?.into_iter().filter(|(_, kind)| *kind == Kind::Partial);
    clear(&partial.map(|(path, _)| path).collect::<Vec<_>>())
}

/// Remove files of an earlier run.
///
/// # Errors
/// [`Error::File`] with the first that cannot be removed; those after it are still there.
pub fn clear(earlier: &[PathBuf]) -> Result<()> {
    earlier.iter().try_for_each(|path| match std::fs::remove_file(path) {
        Err(cause) if cause.kind() != ErrorKind::NotFound => Err(Error::file("remove", path, &cause)),
        _ => Ok(()),
    })
}

/// Set aside the snapshots from this number on: they are of a future that this run replaces.
///
/// # Errors
/// [`Error::File`].
pub fn supersede(directory: &Path, first: u64) -> Result<()> {
    for (path, kind) in files(directory)? {
        if matches!(kind, Kind::Snapshot(number) if number >= first) {
            let mut aside = path.clone().into_os_string();
            aside.push(".superseded");
            std::fs::rename(&path, aside).map_err(|cause| Error::file("rename", &path, &cause))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_runs_give_are_theirs() {
        for (name, kind) in [
            ("snapshot-0000.hdf5", Kind::Snapshot(0)),
            ("snapshot-0012.xdmf", Kind::Snapshot(12)),
            ("snapshot-12345.hdf5", Kind::Snapshot(12345)),
            ("checkpoint-000010.h5", Kind::Checkpoint(10)),
            ("checkpoint-1000000.h5", Kind::Checkpoint(1_000_000)),
            ("trajectory.h5md", Kind::Trajectory),
            ("trajectory.xyz", Kind::Trajectory),
            ("snapshot-0001.hdf5.superseded", Kind::Superseded),
            ("checkpoint-000010.h5.partial", Kind::Partial),
            ("trajectory.h5md.partial", Kind::Partial),
            ("observables.csv", Kind::Table),
            ("diffusion.csv.part", Kind::Partial),
        ] {
            assert_eq!(kind_of(name), Some(kind), "{name}");
        }
        for name in [
            "snapshot-plots",
            "snapshot-plots.png",
            "snapshot-0001.png",
            "snapshot-+001.hdf5",
            "snapshot-1.hdf5",
            "snapshot-00001.hdf5",
            "snapshot-0001.h5",
            "snapshot-0001.hdf5.bak",
            "snapshot-0001.hdf5.superseded.superseded",
            "checkpoint-10.h5",
            "checkpoint-000010.hdf5",
            "trajectory.png",
            "trajectory",
            "old-trajectory.xyz",
            "averages.csv",
            "averages.csv.part",
            ".superseded",
            "",
        ] {
            assert_eq!(kind_of(name), None, "{name}");
        }
        let path = snapshot_path(Path::new("out"), 7);
        assert_eq!(path.file_name().and_then(|name| kind_of(name.to_str()?)), Some(Kind::Snapshot(7)));
    }

    #[test]
    fn later_snapshots_are_set_aside_and_nothing_else_is_touched() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["snapshot-0001.hdf5", "snapshot-0002.hdf5", "snapshot-0002.xdmf", "snapshot-0002.png"] {
            std::fs::write(folder.path().join(name), name).unwrap();
        }
        std::fs::create_dir(folder.path().join("snapshot-plots")).unwrap();
        supersede(folder.path(), 2).unwrap();
        let mut names: Vec<String> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        let aside = ["snapshot-0002.hdf5.superseded", "snapshot-0002.png", "snapshot-0002.xdmf.superseded"];
        assert_eq!(names, [&["snapshot-0001.hdf5"], &aside[..], &["snapshot-plots"]].concat());
    }
}
