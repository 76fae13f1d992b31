//! A trajectory whose run goes on: frames after the checkpoint are cut off, in a copy that then takes the file's place. HDF5 cuts
//! a table's last chunk before the table's header says so, and the file before its superblock does.

use std::path::Path;

use hdf5::File;

use super::super::order::Order;
use super::super::{Content, foreign, growing};
use super::{GROUP, H5md, rows_of, tables};
use crate::comm::Communicator;
use crate::particles::Particles;
use crate::snapshot::collective::{failure, options, partial_name, rename};
use crate::snapshot::fault::Reading;
use crate::snapshot::hdf::{self, Outcome, read_rows, read_string};
use crate::snapshot::layout::OURS;
use crate::snapshot::read::{refuse_other_versions, zeros};
use crate::{Error, Result};

impl H5md {
    /// The trajectory of a run that goes on from `step`, without the frames after it. Collective.
    ///
    /// # Errors
    /// [`Error::Content`] if it is another one, or cannot be read.
    pub(in super::super) fn resume(
        path: &Path,
        comm: &Communicator,
        content: &Content,
        particles: &Particles,
        step: u64,
    ) -> Result<Self> {
        let order = Order::new(comm, &particles.id[particles.owned()]);
        let mut made = Self {
            path: path.to_owned(),
            tables: tables(content, order.total()),
            order,
            frames: 0,
            last_step: None,
        };
        let cut = comm.is_root().then(|| made.cut(step)).transpose();
        let (frames, last) = comm.agree_on(cut)?.unwrap_or_default();
        let mut shared = vec![frames, last.map_or(u64::MAX, |last| last)];
        comm.broadcast(&mut shared, 0);
        (made.frames, made.last_step) = (shared[0], Some(shared[1]).filter(|&last| last != u64::MAX));
        let ids = made.order.arrange(comm, particles).ids();
        comm.agree(made.same_particles(comm, &ids))?;
        Ok(made)
    }

    /// Cut off the frames after `step`, on the root: how many are left, and the step of the last.
    fn cut(&self, step: u64) -> Result<(u64, Option<u64>)> {
        let unreadable = |error: hdf5::Error| self.other(hdf::reason(&error));
        let _reading = Reading::or(|what| self.other(what));
        let file = hdf::open(&self.path).map_err(unreadable)?;
        let ours = file.group(OURS).ok();
        let ours = ours.filter(|ours| read_string(ours, "Kind").as_deref() == Some("trajectory"));
        let ours = ours.ok_or_else(|| self.other("it is no trajectory of hilbrium".into()))?;
        refuse_other_versions(&self.path, &ours)?;
        let group = file.group(GROUP).map_err(unreadable)?;
        let steps = group.dataset("box/edges/step").map_err(unreadable)?;
        let (mut frames, mut longest) = (rows_of(&steps), rows_of(&steps));
        let mut count = |rows: u64| (frames, longest) = (frames.min(rows), longest.max(rows));
        for name in ["time", "value"] {
            count(rows_of(&group.dataset(&format!("box/edges/{name}")).map_err(unreadable)?));
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
        // frames will be written into it: a file that refuses that is found now
        growing::open(&self.path).map_err(|cause| Error::file("write", &self.path, &cause))?;
        if kept as u64 != longest {
            self.cut_in_copy(kept as u64)?;
        }
        Ok((kept as u64, kept.checked_sub(1).map(|last| values[last] as u64)))
    }

    /// Leave so many frames. Whoever is killed meanwhile leaves the file as it was, and perhaps a copy under its temporary name.
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

    /// Leave so many frames, the position's first.
    pub(super) fn shrink(&self, file: &File, frames: u64) -> Outcome<()> {
        for table in self.tables.iter().rev() {
            let dataset = file.dataset(&table.name())?;
            let shape = dataset.shape();
            if shape.first().is_some_and(|&rows| rows as u64 > frames) {
                dataset.resize((frames as usize, shape[1], shape[2]))?;
            }
        }
        for (name, width) in [("step", None), ("time", None), ("value", Some(3))] {
            let dataset = file.dataset(&format!("{GROUP}/box/edges/{name}"))?;
            match width {
                None => dataset.resize(frames as usize)?,
                Some(width) => dataset.resize((frames as usize, width))?,
            }
        }
        Ok(())
    }

    /// See that the file is of the same particles.
    fn same_particles(&self, comm: &Communicator, ids: &[u64]) -> Result<()> {
        let unreadable = |error: hdf5::Error| self.other(hdf::reason(&error));
        let _reading = Reading::or(|what| self.other(what));
        let file = hdf::open(&self.path).map_err(unreadable)?;
        let dataset = file.dataset(&format!("{GROUP}/id")).map_err(unreadable)?;
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
