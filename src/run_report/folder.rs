//! Files of a run in its output directory.

use std::path::{Path, PathBuf};

use crate::{Error, Result, status};

/// Names of the tables.
const OBSERVABLES: &str = "observables.csv";
const RADIAL_DISTRIBUTION: &str = "radial-distribution.csv";
const DISPLACEMENT: &str = "mean-square-displacement.csv";
const DIFFUSION: &str = "diffusion.csv";

/// Largest verdict file that is read (bytes), and most of them.
const LARGEST_VERDICT: u64 = 1 << 16;
const MOST_VERDICTS: usize = 20;

/// The files of a run that a report shows.
#[derive(Debug)]
pub struct Folder {
    /// The directory.
    pub path: PathBuf,
    /// Numbers and paths of the snapshots, in order.
    pub snapshots: Vec<(u64, PathBuf)>,
    /// The record of observables.
    pub observables: Option<PathBuf>,
    /// g(r).
    pub radial_distribution: Option<PathBuf>,
    /// Mean square displacement.
    pub displacement: Option<PathBuf>,
    /// Diffusion coefficients.
    pub diffusion: Option<PathBuf>,
    /// JSON files that may be verdicts of `hilbrium validate`.
    pub verdicts: Vec<PathBuf>,
}

impl Folder {
    /// Lists the files of a directory.
    ///
    /// # Errors
    /// [`Error::File`]; [`Error::Usage`] if there is no file of a run.
    pub fn read(directory: &Path) -> Result<Self> {
        let failed = |cause: std::io::Error| Error::file("read", directory, &cause);
        let mut folder = Folder {
            path: directory.to_owned(),
            snapshots: Vec::new(),
            observables: None,
            radial_distribution: None,
            displacement: None,
            diffusion: None,
            verdicts: Vec::new(),
        };
        let mut any = false;
        for entry in std::fs::read_dir(directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let (path, name) = (entry.path(), entry.file_name());
            let Some(name) = name.to_str() else { continue };
            any |= name == status::FILE_NAME;
            match name {
                OBSERVABLES => folder.observables = Some(path),
                RADIAL_DISTRIBUTION => folder.radial_distribution = Some(path),
                DISPLACEMENT => folder.displacement = Some(path),
                DIFFUSION => folder.diffusion = Some(path),
                _ => {
                    if let Some(number) = snapshot_number(name) {
                        folder.snapshots.push((number, path));
                    } else if name.ends_with(".json") && name != status::FILE_NAME {
                        // links are followed: no pipe is opened, no large file read
                        let data = std::fs::metadata(&path);
                        let small = data.is_ok_and(|data| data.is_file() && data.len() <= LARGEST_VERDICT);
                        folder.verdicts.extend(small.then_some(path));
                    }
                }
            }
        }
        folder.snapshots.sort();
        folder.verdicts.sort();
        folder.verdicts.truncate(MOST_VERDICTS);
        any |= !folder.snapshots.is_empty() || folder.observables.is_some();
        if any {
            return Ok(folder);
        }
        Err(Error::usage(
            format!(
                "{} holds no run: no {}, snapshot or {OBSERVABLES}",
                directory.display(),
                status::FILE_NAME
            ),
            "name the output directory of a run, `directory` of [output] in its deck",
        ))
    }

    /// The files that the report reads.
    pub fn inputs(&self) -> impl Iterator<Item = &Path> {
        let tables = [&self.observables, &self.radial_distribution, &self.displacement, &self.diffusion];
        let snapshots = self.snapshots.iter().map(|(_, path)| path);
        tables.into_iter().flatten().chain(snapshots).chain(&self.verdicts).map(PathBuf::as_path)
    }
}

/// Name of a file for a reader.
pub fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// Returns the file name of a snapshot.
pub fn snapshot_name(number: u64) -> String {
    format!("snapshot-{number:04}.hdf5")
}

/// Returns the number of the snapshot with that file name.
fn snapshot_number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("snapshot-")?.strip_suffix(".hdf5")?;
    let number: u64 = digits.parse().ok()?;
    (snapshot_name(number) == name).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_a_run_are_found_and_a_folder_without_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("notes.json"), "{}").unwrap();
        let error = Folder::read(folder.path()).unwrap_err();
        assert_eq!(error.exit_status(), 2);
        assert!(error.to_string().contains("holds no run"), "{error}");
        assert_eq!(Folder::read(&folder.path().join("missing")).unwrap_err().exit_status(), 1);
        for name in ["snapshot-0010.hdf5", "snapshot-0002.hdf5", "snapshot-2.hdf5", "observables.csv"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let found = Folder::read(folder.path()).unwrap();
        let numbers: Vec<u64> = found.snapshots.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [2, 10]);
        assert_eq!(found.verdicts.len(), 1);
        assert_eq!(found.inputs().count(), 4);
    }
}
