//! Files in the output directory of a run: their names, and the treatment of files that are there already.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::plan::{Plan, StartPlan, TrajectoryFormat};
use crate::{Error, Result, inputs, run_report, status};

/// Kind of an output file, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileKind {
    /// A snapshot with its number, or the companion file for other programs.
    Snapshot(u64),
    /// A checkpoint with its step.
    Checkpoint(u64),
    /// A trajectory.
    Trajectory,
    /// A table of observables or measurements, the status or the report of the run.
    Table,
    /// One of these that was set aside.
    Superseded,
    /// One of these that a killed run left unfinished.
    Partial,
}

/// Names of the tables of observables and measurements, of the status and of the report.
const TABLES: [&str; 6] = [
    "observables.csv",
    "radial-distribution.csv",
    "mean-square-displacement.csv",
    "diffusion.csv",
    status::FILE_NAME,
    run_report::FILE_NAME,
];

/// Returns the kind of the file with this name; `None` if runs write no such file.
fn kind_of(name: &str) -> Option<FileKind> {
    let ends = [
        (".superseded", FileKind::Superseded),
        (".partial", FileKind::Partial),
        (".part", FileKind::Partial),
    ];
    let suffix = ends.into_iter().find_map(|(end, kind)| Some((name.strip_suffix(end)?, kind)));
    let whole = suffix.map_or(name, |(whole, _)| whole);
    let (stem, ending) = whole.split_once('.')?;
    let number = |start: &str, width: usize| {
        let digits = stem.strip_prefix(start)?;
        let number: u64 = digits.parse().ok()?;
        (format!("{number:0width$}") == digits).then_some(number)
    };
    let kind = match ending {
        "hdf5" | "xdmf" => FileKind::Snapshot(number("snapshot-", 4)?),
        "h5" => FileKind::Checkpoint(number("checkpoint-", 6)?),
        _ if is_trajectory(whole) => FileKind::Trajectory,
        _ if TABLES.contains(&whole) => FileKind::Table,
        _ => return None,
    };
    Some(suffix.map_or(kind, |(_, suffix)| suffix))
}

/// Whether runs give this name to a trajectory or its topology.
fn is_trajectory(name: &str) -> bool {
    let formats = TrajectoryFormat::ALL.iter();
    formats
        .flat_map(|format| [Some(format.file_name()), format.topology_name()])
        .flatten()
        .any(|own| own == name)
}

/// Returns the output files of runs in a directory, sorted by path.
fn files(directory: &Path) -> Result<Vec<(PathBuf, FileKind)>> {
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

/// Returns the path of a snapshot; numbers start at 0.
pub fn snapshot_path(directory: &Path, number: u64) -> PathBuf {
    directory.join(format!("snapshot-{number:04}.hdf5"))
}

/// Refuses a run whose output would overwrite its start file or another input, such as its deck. Writes
/// nothing.
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
    inputs::keep(&known, files(directory)?.into_iter().map(|(path, _)| path), INPUT_CONFLICT_HELP)
}

const INPUT_CONFLICT_HELP: &str = "choose another folder with --set output.directory=..., or move the input out of this \
                                one and name its place on the command line or with --set start.file.path=...";

/// Refuses a restart whose output would overwrite the checkpoint of `step` that it continues: one that lies
/// in the directory under a name other than its own.
///
/// # Errors
/// [`Error::Usage`], [`Error::File`].
pub fn protect_checkpoint(directory: &Path, checkpoint: &Path, step: u64) -> Result<()> {
    let others = files(directory)?.into_iter().filter(|(_, kind)| *kind != FileKind::Checkpoint(step));
    inputs::keep(&[checkpoint], others.map(|(path, _)| path), INPUT_CONFLICT_HELP)
}

/// Returns the files of an earlier run in the output directory that are to be replaced. Removes nothing:
/// [`remove_files`] does, once the run has its particles.
///
/// # Errors
/// [`Error::File`]; [`Error::Usage`] if there are such files and the deck does not allow to overwrite them.
pub fn files_to_replace(plan: &Plan) -> Result<Vec<PathBuf>> {
    let directory = &plan.output.directory;
    if !directory.exists() {
        return Ok(Vec::new());
    }
    let earlier: Vec<PathBuf> = files(directory)?.into_iter().map(|(path, _)| path).collect();
    match earlier.first().and_then(|path| path.file_name()) {
        Some(name) if !plan.output.overwrite => Err(Error::usage(
            format!("{} holds the files of an earlier run ({})", directory.display(), name.to_string_lossy()),
            "choose another folder with --set output.directory=..., or allow --set output.overwrite=true",
        )),
        _ => Ok(earlier),
    }
}

/// Removes files that a killed run left unfinished.
///
/// # Errors
/// [`Error::File`] for the first one that cannot be removed.
pub fn remove_partial_files(directory: &Path) -> Result<()> {
    let partial = files(directory)?.into_iter().filter(|(_, kind)| *kind == FileKind::Partial);
    remove_files(&partial.map(|(path, _)| path).collect::<Vec<_>>())
}

/// Remove files of an earlier run.
///
/// # Errors
/// [`Error::File`] for the first one that cannot be removed; those after it remain.
pub fn remove_files(earlier: &[PathBuf]) -> Result<()> {
    earlier.iter().try_for_each(|path| match std::fs::remove_file(path) {
        Err(cause) if cause.kind() != ErrorKind::NotFound => Err(Error::file("remove", path, &cause)),
        _ => Ok(()),
    })
}

/// Renames the snapshots from number `first` on to `*.superseded`: the continued run replaces them.
///
/// # Errors
/// [`Error::File`].
pub fn set_aside_snapshots(directory: &Path, first: u64) -> Result<()> {
    for (path, kind) in files(directory)? {
        if matches!(kind, FileKind::Snapshot(number) if number >= first) {
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
            ("snapshot-0000.hdf5", FileKind::Snapshot(0)),
            ("snapshot-0012.xdmf", FileKind::Snapshot(12)),
            ("snapshot-12345.hdf5", FileKind::Snapshot(12345)),
            ("checkpoint-000010.h5", FileKind::Checkpoint(10)),
            ("checkpoint-1000000.h5", FileKind::Checkpoint(1_000_000)),
            ("trajectory.h5md", FileKind::Trajectory),
            ("trajectory.xyz", FileKind::Trajectory),
            ("trajectory.xtc", FileKind::Trajectory),
            ("trajectory.dcd", FileKind::Trajectory),
            ("trajectory.lammpstrj", FileKind::Trajectory),
            ("trajectory.psf", FileKind::Trajectory),
            ("trajectory.psf.partial", FileKind::Partial),
            ("snapshot-0001.hdf5.superseded", FileKind::Superseded),
            ("checkpoint-000010.h5.partial", FileKind::Partial),
            ("trajectory.h5md.partial", FileKind::Partial),
            ("observables.csv", FileKind::Table),
            ("diffusion.csv.part", FileKind::Partial),
            ("status.json", FileKind::Table),
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
            "topology.psf",
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
        assert_eq!(path.file_name().and_then(|name| kind_of(name.to_str()?)), Some(FileKind::Snapshot(7)));
    }

    #[test]
    fn later_snapshots_are_set_aside_and_nothing_else_is_touched() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["snapshot-0001.hdf5", "snapshot-0002.hdf5", "snapshot-0002.xdmf", "snapshot-0002.png"] {
            std::fs::write(folder.path().join(name), name).unwrap();
        }
        std::fs::create_dir(folder.path().join("snapshot-plots")).unwrap();
        set_aside_snapshots(folder.path(), 2).unwrap();
        let mut names: Vec<String> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        let aside = ["snapshot-0002.hdf5.superseded", "snapshot-0002.png", "snapshot-0002.xdmf.superseded"];
        assert_eq!(names, [&["snapshot-0001.hdf5"], &aside[..], &["snapshot-plots"]].concat());
    }
}
