//! Record of observables: a CSV whose header names the units; each row is flushed.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use super::files::replace_atomically;
use super::{Layout, Observables};
use crate::comm::Communicator;
use crate::{Error, Result};

/// The record's file, open on rank 0 only.
pub struct Record {
    path: PathBuf,
    file: Option<File>,
    last_step: Option<u64>,
}

impl Record {
    /// Starts a record at `path`, replacing an existing one (collective).
    ///
    /// # Errors
    /// The file cannot be written; all ranks fail.
    pub fn create(comm: &Communicator, path: &Path, layout: Layout) -> Result<Self> {
        Self::open(comm, path, |path| start_file(path, layout).map(|file| (file, None)))
    }

    /// Continues the record at `path` after a restart at `time` (collective): drops the later rows, which the
    /// run will compute again. The shortened file replaces the old one atomically. A missing file is created.
    ///
    /// # Errors
    /// The file cannot be read or written, or is not a record of this program; all ranks fail.
    pub fn resume(comm: &Communicator, path: &Path, layout: Layout, time: f64) -> Result<Self> {
        Self::open(comm, path, |path| {
            if path.exists() {
                truncate_after(path, layout, time)
            } else {
                start_file(path, layout).map(|file| (file, None))
            }
        })
    }

    fn open(
        comm: &Communicator,
        path: &Path,
        open: impl FnOnce(&Path) -> Result<(File, Option<u64>)>,
    ) -> Result<Self> {
        let opened = comm.agree_on(comm.is_root().then(|| open(path)).transpose())?;
        let (file, last_step) = opened.map_or((None, None), |(file, last)| (Some(file), last));
        Ok(Self { path: path.to_owned(), file, last_step })
    }

    /// Adds a row (collective). A step that is already the last row is not added again, as happens right
    /// after a restart.
    ///
    /// # Errors
    /// The row cannot be written, as on a full disk; all ranks fail.
    pub fn append(&mut self, comm: &Communicator, observables: &Observables) -> Result<()> {
        let mut outcome = Ok(());
        if let Some(file) = &mut self.file
            && self.last_step != Some(observables.step)
        {
            let row = observables.cells().join(",") + "\n";
            outcome = file
                .write_all(row.as_bytes())
                .and_then(|()| file.flush())
                .map_err(|cause| Error::file("write", &self.path, &cause));
            self.last_step = Some(observables.step);
        }
        comm.agree(outcome)
    }
}

fn start_file(path: &Path, layout: Layout) -> Result<File> {
    let mut file = File::create(path).map_err(|cause| Error::file("create", path, &cause))?;
    writeln!(file, "{}", layout.header()).map_err(|cause| Error::file("write", path, &cause))?;
    Ok(file)
}

/// Rewrites the file without rows after `time`, and opens it to append.
fn truncate_after(path: &Path, layout: Layout, time: f64) -> Result<(File, Option<u64>)> {
    let reading = |cause: std::io::Error| Error::file("read", path, &cause);
    let mut reader = BufReader::new(File::open(path).map_err(reading)?);
    let mut first = Vec::new();
    (&mut reader).take(layout.header().len() as u64 + 1).read_until(b'\n', &mut first).map_err(reading)?;
    if first != (layout.header() + "\n").as_bytes() && first.starts_with(b"step [1],time [") {
        return Err(Error::usage(
            format!(
                "{} has other columns than the record of this deck, which has another thermostat, interaction or units",
                path.display()
            ),
            "give the run a folder of its own with --set output.directory=...: it goes on from the checkpoint all the same, \
             with a record from there on",
        ));
    }
    if first != (layout.header() + "\n").as_bytes() {
        return Err(Error::Content {
            path: path.to_owned(),
            what: "its first line is not the header of this version's observables".into(),
            remedy:
                "move the file away, or choose another output directory; the restart then starts a new record"
                    .into(),
        });
    }
    let mut last_step = None;
    replace_atomically(path, |file| {
        writeln!(file, "{}", layout.header())?;
        for line in reader.lines() {
            let line = line?;
            let mut cells = line.split(',');
            let step = cells.next().and_then(|cell| cell.parse::<u64>().ok());
            let at = cells.next().and_then(|cell| cell.parse::<f64>().ok());
            // a row cut short by a crash is dropped like later ones; the rows after it are kept
            if line.split(',').count() == layout.columns().len()
                && step.is_some()
                && at.is_some_and(|at| at <= time)
            {
                writeln!(file, "{line}")?;
                last_step = step;
            }
        }
        Ok(())
    })?;
    let file =
        OpenOptions::new().append(true).open(path).map_err(|cause| Error::file("write", path, &cause))?;
    Ok((file, last_step))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::run_local;
    use crate::space::Vec3d;
    use crate::units::{UnitSystem, Units};

    const GAS: Layout =
        Layout { molecular: false, external: false, heat: false, units: Units::new(UnitSystem::Reduced) };

    pub(crate) fn row(step: u64, time: f64) -> Observables {
        Observables {
            step,
            time,
            time_step: 0.1,
            kinetic: 1.0 / 3.0,
            thermal: 0.05,
            potential: -2.0 / 3.0,
            momentum: Vec3d::zeros(),
            angular_momentum: Vec3d::zeros(),
            center_of_mass: Vec3d::zeros(),
            mass: 1.0,
            maximum_density: 12.0,
            minimum_smoothing_length: 0.01,
            particles: 10,
            molecular: None,
            external: None,
            heat: None,
        }
    }

    fn steps(path: &Path) -> Vec<u64> {
        let text = std::fs::read_to_string(path).unwrap();
        text.lines().skip(1).map(|line| line.split(',').next().unwrap().parse().unwrap()).collect()
    }

    #[test]
    fn a_restart_drops_the_future_and_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("observables.csv");
        let solo = Communicator::solo();
        let mut record = Record::create(&solo, &path, GAS).unwrap();
        (0..8).for_each(|step| record.append(&solo, &row(step, 0.1 * step as f64)).unwrap());
        drop(record);
        // a crash in the middle of a row
        write!(OpenOptions::new().append(true).open(&path).unwrap(), "8,0.2").unwrap();
        let mut record = Record::resume(&solo, &path, GAS, 0.1 * 4.0).unwrap();
        assert_eq!(steps(&path), [0, 1, 2, 3, 4]);
        (4..7).for_each(|step| record.append(&solo, &row(step, 0.1 * step as f64)).unwrap());
        assert_eq!(steps(&path), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    }

    #[test]
    fn values_read_back_to_the_same_bits() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("observables.csv");
        let solo = Communicator::solo();
        Record::resume(&solo, &path, GAS, 0.0).unwrap().append(&solo, &row(0, 0.1)).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let cells: Vec<_> = text.lines().nth(1).unwrap().split(',').collect();
        assert_eq!(cells[3].parse::<f64>().unwrap(), 1.0 / 3.0);
        assert!(text.starts_with("step [1],time [U_t],"));
    }

    #[test]
    fn accidents_are_errors_on_every_rank() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("missing/observables.csv");
        let failed = run_local(3, |comm| Record::create(&comm, &path, GAS).is_err());
        assert_eq!(failed, [true; 3]);
        let other = folder.path().join("other.csv");
        std::fs::write(&other, "t,E\n0,1\n").unwrap();
        let error = Record::resume(&Communicator::solo(), &other, GAS, 1.0).err().unwrap();
        assert!(error.to_string().contains("move the file away"), "{error}");
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "t,E\n0,1\n", "a strange file is left alone");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_says_what_to_do() {
        let solo = Communicator::solo();
        let error = Record::create(&solo, Path::new("/dev/full"), GAS).err().unwrap();
        assert!(error.to_string().contains("free some space"), "{error}");
    }
}
