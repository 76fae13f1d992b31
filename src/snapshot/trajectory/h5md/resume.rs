//! Continues a trajectory after a restart. Frames after the checkpoint are cut off in a copy, which then
//! replaces the file: in place, HDF5 would truncate the last chunk before the dataset header, and the file
//! before its superblock.

use std::path::Path;

use hdf5::File;

use super::super::order::Order;
use super::super::{Content, foreign, growing};
use super::{ALL_PARTICLES, H5md, row_count, tables};
use crate::comm::Communicator;
use crate::particles::{Field, Particles};
use crate::snapshot::collective::{failure, options, partial_name, rename};
use crate::snapshot::crash_guard::ReadGuard;
use crate::snapshot::hdf::{self, Outcome, read_rows, read_string};
use crate::snapshot::layout::PROGRAM_GROUP;
use crate::snapshot::read::{check_format_version, zeros};
use crate::{Error, Result};

impl H5md {
    /// Opens the trajectory of a run that continues from `step`, without the frames after it. Collective.
    ///
    /// # Errors
    /// [`Error::Content`] if the file belongs to another run, or cannot be read.
    pub(in super::super) fn resume(
        path: &Path,
        comm: &Communicator,
        content: &Content,
        particles: &Particles,
        step: u64,
    ) -> Result<Self> {
        let order = Order::new(comm, &particles.id[particles.owned()]);
        let mut trajectory = Self {
            path: path.to_owned(),
            tables: tables(content, order.total()),
            order,
            frames: 0,
            last_step: None,
        };
        let cut = comm.is_root().then(|| trajectory.cut(step)).transpose();
        let (frames, last) = comm.agree_on(cut)?.unwrap_or_default();
        let mut shared = vec![frames, last.map_or(u64::MAX, |last| last)];
        comm.broadcast(&mut shared, 0);
        (trajectory.frames, trajectory.last_step) =
            (shared[0], Some(shared[1]).filter(|&last| last != u64::MAX));
        let ids = trajectory.order.redistribution(comm, particles).ids();
        comm.agree(trajectory.same_particles(comm, &ids))?;
        Ok(trajectory)
    }

    /// Cuts off the frames after `step`, on the root. Returns the number of frames left and the step of the
    /// last.
    fn cut(&self, step: u64) -> Result<(u64, Option<u64>)> {
        let unreadable = |error: hdf5::Error| self.other(hdf::reason(&error));
        let _reading = ReadGuard::with_error(|what| self.other(what));
        let file = hdf::open(&self.path).map_err(unreadable)?;
        let ours = file.group(PROGRAM_GROUP).ok();
        let ours = ours.filter(|ours| read_string(ours, "Kind").as_deref() == Some("trajectory"));
        let ours = ours.ok_or_else(|| self.other("it is no trajectory of hilbrium".into()))?;
        check_format_version(&self.path, &ours)?;
        let group = file.group(ALL_PARTICLES).map_err(unreadable)?;
        let steps = group.dataset("box/edges/step").map_err(unreadable)?;
        let (mut frames, mut longest) = (row_count(&steps), row_count(&steps));
        let mut count = |rows: u64| (frames, longest) = (frames.min(rows), longest.max(rows));
        for name in ["time", "value"] {
            count(row_count(&group.dataset(&format!("box/edges/{name}")).map_err(unreadable)?));
        }
        for field in [Field::Image, Field::Velocity, Field::Force] {
            let name = field.name();
            if group.link_exists(name) && self.tables.iter().all(|table| table.field != field) {
                return Err(self.other(format!("it has {name} values, which the deck does not ask for")));
            }
        }
        for table in &self.tables {
            let dataset = file.dataset(&table.name()).map_err(unreadable)?;
            let kind = dataset.dtype().map_err(unreadable)?;
            let shape = dataset.shape();
            if shape.len() != 3
                || shape[1..] != [self.order.total() as usize, 3]
                || kind.size() as u64 != table.shape.number_bytes()
            {
                let name = table.field.name();
                return Err(self.other(format!(
                    "its {name} is stored as {kind:?} of {shape:?}, other than the deck asks for"
                )));
            }
            count(shape[0] as u64);
        }
        let bytes =
            std::fs::metadata(&self.path).map_err(|cause| Error::file("read", &self.path, &cause))?.len();
        if frames.saturating_mul(8) > bytes {
            return Err(self.other(format!("it claims {frames} frames in {bytes} bytes")));
        }
        let mut values: Vec<i64> = zeros(frames as usize, &self.path)?;
        read_rows(&steps, 0, &mut values).map_err(unreadable)?;
        let kept = values.partition_point(|&value| value >= 0 && value as u64 <= step);
        drop((ours, group, steps, file));
        // Detects a read-only file now, before frames are written to it.
        growing::open(&self.path).map_err(|cause| Error::file("write", &self.path, &cause))?;
        if kept as u64 != longest {
            self.cut_in_copy(kept as u64)?;
        }
        Ok((kept as u64, kept.checked_sub(1).map(|last| values[last] as u64)))
    }

    /// Truncates to `frames` frames. If the process is killed meanwhile, the file is unchanged; the temporary
    /// copy may remain.
    fn cut_in_copy(&self, frames: u64) -> Result<()> {
        let partial = partial_name(&self.path);
        let cut = || -> Result<()> {
            std::fs::copy(&self.path, &partial).map_err(|cause| Error::file("copy", &self.path, &cause))?;
            let failed = |error: hdf5::Error| failure("write", &self.path, &error);
            let file = options().open_rw(&partial).map_err(failed)?;
            match self.shrink(&file, frames) {
                Ok(()) => hdf::close(file).map_err(failed)?,
                Err(error) => {
                    hdf::abandon(file);
                    return Err(failed(error));
                }
            }
            let synced = std::fs::File::open(&partial).and_then(|copy| copy.sync_all());
            synced.map_err(|cause| Error::file("write", &self.path, &cause))?;
            rename(&partial, &self.path)
        };
        cut().inspect_err(|_| drop(std::fs::remove_file(&partial)))
    }

    fn other(&self, what: String) -> Error {
        foreign(&self.path, what)
    }

    /// Truncates to `frames` frames, the position first.
    pub(super) fn shrink(&self, file: &File, frames: u64) -> Outcome<()> {
        for table in self.tables.iter().rev() {
            let dataset = file.dataset(&table.name())?;
            let shape = dataset.shape();
            if shape.first().is_some_and(|&rows| rows as u64 > frames) {
                dataset.resize((frames as usize, shape[1], shape[2]))?;
            }
        }
        for (name, width) in [("step", None), ("time", None), ("value", Some(3))] {
            let dataset = file.dataset(&format!("{ALL_PARTICLES}/box/edges/{name}"))?;
            match width {
                None => dataset.resize(frames as usize)?,
                Some(width) => dataset.resize((frames as usize, width))?,
            }
        }
        Ok(())
    }

    /// Checks that the file has the same particles.
    fn same_particles(&self, comm: &Communicator, ids: &[u64]) -> Result<()> {
        let unreadable = |error: hdf5::Error| self.other(hdf::reason(&error));
        let _reading = ReadGuard::with_error(|what| self.other(what));
        let file = hdf::open(&self.path).map_err(unreadable)?;
        let dataset = file.dataset(&format!("{ALL_PARTICLES}/id")).map_err(unreadable)?;
        let mut stored: Vec<i64> = zeros(ids.len(), &self.path)?;
        if dataset.shape() != [self.order.total() as usize] {
            return Err(self.other("it has another number of particles".into()));
        }
        read_rows(&dataset, self.order.rows(comm).start, &mut stored).map_err(unreadable)?;
        match stored.iter().zip(ids).find(|(stored, id)| **stored as u64 != **id) {
            Some((stored, id)) => {
                Err(self.other(format!("it has the particle {stored} where this run has {id}")))
            }
            None => Ok(()),
        }
    }
}
