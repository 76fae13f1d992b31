//! One HDF5 file written by all ranks, complete under its name or not there at all.
//!
//! Two phases. First rank 0 alone describes the file: groups, attributes, datasets with their room, one contiguous range of
//! the file each. Then HDF5 is done with it, and every rank writes its rows into these ranges as plain bytes, outside MPI:
//! HDF5's MPI driver and Open MPI 5 wait for ever when one rank's part of a collective transfer fails, and Open MPI 4
//! reports success then.
//!
//! All methods are collective, and every outcome is agreed on before the next one, so that a failing rank makes all
//! return and none wait.

use super::hdf::{self, Outcome};
use super::seal;
use super::written::Written;
use crate::comm::Communicator;
use crate::{Error, Result};
use hdf5::{Dataset, File, H5Type};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Most rows written in one call: bounds the memory that they are converted in.
const ROUND: u64 = 1 << 22;

/// HDF5's metadata is gathered in blocks of this many bytes, so that all of it usually stands before the data.
const METADATA_BLOCK: u64 = 64 << 10;

/// A file under construction, under a temporary name beside its final one.
pub(super) struct SharedFile<'a> {
    comm: &'a Communicator,
    target: PathBuf,
    partial: PathBuf,
    /// Open on the root, in the first phase.
    description: Option<File>,
    tables: Vec<Table>,
    /// Open on every rank, in the second phase.
    rows: Option<std::fs::File>,
    /// What this rank has written beside others.
    written: Vec<Written>,
    finished: bool,
}

/// A dataset of one row per particle.
struct Table {
    name: String,
    /// Bytes of a row.
    width: u64,
    /// Where its first row begins in the file, in bytes; on other ranks than the root known in the second phase.
    offset: u64,
}

/// How the rows of a table are spread over the ranks, in rank order.
pub(super) struct Rows {
    counts: Vec<u64>,
}

impl Rows {
    /// Every rank brings its number of rows.
    pub(super) fn new(comm: &Communicator, mine: usize) -> Self {
        Self { counts: comm.all_gather(&[mine as u64]).concat() }
    }

    /// Rows of all ranks.
    pub(super) fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Rows of each rank.
    pub(super) fn counts(&self) -> &[u64] {
        &self.counts
    }

    fn first(&self, rank: usize) -> u64 {
        self.counts[..rank].iter().sum()
    }

    fn rounds(&self) -> u64 {
        self.counts.iter().map(|count| count.div_ceil(ROUND)).max().unwrap_or(0)
    }

    /// The rows of a rank, counted from its first, that are written in a round.
    fn round(&self, rank: usize, round: u64) -> Range<u64> {
        let count = self.counts[rank];
        (round * ROUND).min(count)..((round + 1) * ROUND).min(count)
    }
}

impl<'a> SharedFile<'a> {
    /// Create the file for `target` under its temporary name, with the folders above it.
    pub(super) fn create(target: &Path, comm: &'a Communicator) -> Result<Self> {
        let partial = partial_name(target);
        comm.agree(if comm.is_root() { prepare(target, &partial) } else { Ok(()) })?;
        let mut shared = Self {
            comm,
            target: target.to_owned(),
            partial,
            description: None,
            tables: Vec::new(),
            rows: None,
            written: Vec::new(),
            finished: false,
        };
        let created = comm.is_root().then(|| options().create(&shared.partial)).transpose();
        shared.description = shared.agree(created)?;
        Ok(shared)
    }

    /// Create groups and attributes, on the root.
    pub(super) fn describe(&self, work: impl FnOnce(&File) -> Outcome<()>) -> Result<()> {
        self.agree(self.description.as_ref().map_or(Ok(()), work))
    }

    /// Create a dataset of one row per particle, `width` values wide (one-dimensional if 1), and describe it.
    pub(super) fn plan_table<T: H5Type>(
        &mut self,
        name: &str,
        rows: &Rows,
        width: usize,
        describe: impl FnOnce(&Dataset) -> Outcome<()>,
    ) -> Result<()> {
        use hdf5::plist::dataset_create::{AllocTime, FillTime};
        let total = rows.total() as usize;
        let create = |file: &File| {
            let builder = file.new_dataset::<T>();
            let shaped =
                if width == 1 { builder.shape(vec![total]) } else { builder.shape(vec![total, width]) };
            let plan =
                shaped.alloc_time(Some(AllocTime::Early)).fill_time(FillTime::Never).obj_track_times(false);
            let dataset = plan.create(name)?;
            describe(&dataset)?;
            match dataset.offset() {
                None if total > 0 => Err(format!("{name} has no room in the file").into()),
                offset => Ok(offset.unwrap_or(0)),
            }
        };
        let offset = self.agree(self.description.as_ref().map_or(Ok(0), create))?;
        self.tables.push(Table { name: name.to_owned(), width: (width * size_of::<T>()) as u64, offset });
        Ok(())
    }

    /// Begin the second phase.
    pub(super) fn fill(&mut self) -> Result<()> {
        let closed = self.description.take().map_or(Ok(()), hdf::close);
        self.agree(closed)?;
        let mut offsets = self.tables.iter().map(|table| table.offset).collect();
        self.comm.broadcast(&mut offsets, 0);
        self.tables.iter_mut().zip(offsets).for_each(|(table, offset)| table.offset = offset);
        // Not to read: a client of NFS that has read a page writes all of it, over what another rank has written there.
        let opened = std::fs::File::options().write(true).open(&self.partial);
        self.rows = Some(self.comm.agree_on(opened.map_err(|cause| self.unwritable(&cause)))?);
        Ok(())
    }

    /// Fill a dataset. `values` gives the values of a range of this rank's rows, counted from its first.
    pub(super) fn write_table<T: H5Type + bytemuck::Pod + Default>(
        &mut self,
        name: &str,
        rows: &Rows,
        values: impl Fn(Range<usize>) -> Vec<T>,
    ) -> Result<()> {
        let table = self.tables.iter().find(|table| table.name == name);
        let (Some(file), Some(table)) = (&self.rows, table) else {
            unreachable!("{name} is filled in the second phase and planned in the first")
        };
        for round in 0..rows.rounds() {
            let mine = rows.round(self.comm.rank(), round);
            let first = rows.first(self.comm.rank()) + mine.start;
            let values = values(mine.start as usize..mine.end as usize);
            if self.comm.size() > 1 {
                self.written.push(Written::new(name, first, &values));
            }
            let outcome =
                file.write_all_at(bytemuck::cast_slice(&values), table.offset + first * table.width);
            self.comm.agree(outcome.map_err(|cause| self.unwritable(&cause)))?;
        }
        Ok(())
    }

    /// See that the file holds what was written, seal it, write it to the disk, and give it its name.
    pub(super) fn finish(mut self) -> Result<()> {
        // Here and not only when the file is sealed: some file systems report a failed write to the descriptor of the write.
        let synced = self.rows.take().map_or(Ok(()), |file| file.sync_all());
        self.comm.agree(synced.map_err(|cause| self.unwritable(&cause)))?;
        let checked = Written::check(&self.written, &self.partial);
        self.agree(checked)?;
        seal::seal(&self.partial, self.comm).map_err(|error| self.renamed(error))?;
        let renamed = if self.comm.is_root() { rename(&self.partial, &self.target) } else { Ok(()) };
        self.comm.agree(renamed)?;
        self.finished = true;
        Ok(())
    }

    fn agree<T>(&self, outcome: Outcome<T>) -> Result<T> {
        self.comm.agree_on(outcome.map_err(|error| failure("write", &self.target, &error)))
    }

    fn unwritable(&self, cause: &std::io::Error) -> Error {
        Error::file("write", &self.target, cause)
    }

    /// The error, told of the file that the user named.
    fn renamed(&self, error: Error) -> Error {
        match error {
            Error::File { action, cause, remedy, .. } => {
                Error::File { action, path: self.target.clone(), cause, remedy }
            }
            other => other,
        }
    }
}

impl Drop for SharedFile<'_> {
    /// Abandon an unfinished file: every rank gets here, because all errors are agreed on.
    fn drop(&mut self) {
        if self.finished || std::thread::panicking() {
            return;
        }
        if let Some(file) = self.description.take() {
            hdf::abandon(file);
        }
        self.rows = None;
        self.comm.barrier();
        if self.comm.is_root() {
            let _ = std::fs::remove_file(&self.partial);
        }
    }
}

/// How files are opened to write.
pub(super) fn options() -> hdf5::FileBuilder {
    let mut options = hdf::unlocked();
    // The format of HDF5 1.8 has checksums in its metadata; the default one does not. Without sieve buffer a failed
    // write leaves no data behind that closing would try to write again.
    options.with_fapl(|access| access.libver_v18().meta_block_size(METADATA_BLOCK).sieve_buf_size(0));
    // No clock's time in the file: the same particles shall make the same bytes.
    options.with_fcpl(|plan| plan.obj_track_times(false));
    options
}

/// The temporary name beside `target`.
pub(super) fn partial_name(target: &Path) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(".partial");
    name.into()
}

/// See that `partial` can be created and renamed: here the system's own error is known, in HDF5 it is not.
fn prepare(target: &Path, partial: &Path) -> Result<()> {
    if target.is_dir() {
        return Err(Error::file("write", target, &std::io::ErrorKind::IsADirectory.into()));
    }
    if let Some(folder) = target.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|cause| Error::file("create", folder, &cause))?;
    }
    std::fs::File::create(partial).map(drop).map_err(|cause| Error::file("create", target, &cause))
}

/// Rename, and have the system remember it.
pub(super) fn rename(partial: &Path, target: &Path) -> Result<()> {
    std::fs::rename(partial, target).map_err(|cause| Error::file("rename", target, &cause))?;
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Some file systems cannot sync a folder; the file itself is safe already.
    let _ = std::fs::File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// A failed HDF5 call as an error with the remedy that fits.
pub(super) fn failure(action: &'static str, path: &Path, error: &hdf5::Error) -> Error {
    let cause = hdf::reason(error);
    let remedy = "if the disk is full, free some space or choose another folder, if it failed, look into the system's log; then \
         restart from the last checkpoint";
    Error::File { action, path: path.to_owned(), cause, remedy: remedy.into() }
}
