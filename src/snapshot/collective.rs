//! One HDF5 file written by all ranks. Under its final name it is either complete or absent.
//!
//! There are two phases. First, rank 0 alone writes the metadata: groups, attributes, and datasets, each
//! allocated as one contiguous byte range. Then HDF5 closes the file, and every rank writes its rows into
//! these ranges with plain file I/O, not through MPI: if one rank's part of a collective transfer fails,
//! HDF5's MPI driver hangs with Open MPI 5, and Open MPI 4 reports success.
//!
//! All methods are collective. The ranks agree on each outcome before the next call, so a failure makes all
//! ranks return and none wait.

use super::hdf::{self, Outcome};
use super::readback::RowDigest;
use super::seal;
use crate::comm::Communicator;
use crate::{Error, Result};
use hdf5::{Dataset, File, H5Type};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Rows per write call; bounds the memory of the conversion buffer.
const ROWS_PER_WRITE: u64 = 1 << 22;

/// Size of HDF5's metadata blocks in bytes. Usually all metadata fits in one block in front of the data.
const METADATA_BLOCK: u64 = 64 << 10;

/// A file under construction: it has a temporary name next to its final one.
pub(super) struct SharedFile<'a> {
    comm: &'a Communicator,
    target: PathBuf,
    partial: PathBuf,
    /// Open on the root, in the metadata phase.
    metadata_file: Option<File>,
    tables: Vec<Table>,
    /// Open on every rank, in the data phase.
    data_file: Option<std::fs::File>,
    /// Digests of the rows this rank has written, if other ranks write too.
    digests: Vec<RowDigest>,
    finished: bool,
}

/// A dataset with one row per particle.
struct Table {
    name: String,
    /// Bytes per row.
    width: u64,
    /// File offset of the first row, in bytes. Ranks other than the root know it in the data phase only.
    offset: u64,
}

/// Distribution of a dataset's rows over the ranks, in rank order.
pub(super) struct RowDistribution {
    counts: Vec<u64>,
}

impl RowDistribution {
    /// Gathers the number of rows of every rank. Collective.
    pub(super) fn new(comm: &Communicator, mine: usize) -> Self {
        Self { counts: comm.all_gather(&[mine as u64]).concat() }
    }

    /// Total rows of all ranks.
    pub(super) fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Rows per rank.
    pub(super) fn counts(&self) -> &[u64] {
        &self.counts
    }

    fn first_row(&self, rank: usize) -> u64 {
        self.counts[..rank].iter().sum()
    }

    fn chunk_count(&self) -> u64 {
        self.counts.iter().map(|count| count.div_ceil(ROWS_PER_WRITE)).max().unwrap_or(0)
    }

    /// The rows of chunk `chunk` of a rank, relative to the rank's first row.
    fn chunk(&self, rank: usize, chunk: u64) -> Range<u64> {
        let count = self.counts[rank];
        (chunk * ROWS_PER_WRITE).min(count)..((chunk + 1) * ROWS_PER_WRITE).min(count)
    }
}

impl<'a> SharedFile<'a> {
    /// Creates the file for `target` under its temporary name, and the parent directories.
    pub(super) fn create(target: &Path, comm: &'a Communicator) -> Result<Self> {
        let partial = partial_name(target);
        comm.agree(if comm.is_root() { check_creatable(target, &partial) } else { Ok(()) })?;
        let mut shared = Self {
            comm,
            target: target.to_owned(),
            partial,
            metadata_file: None,
            tables: Vec::new(),
            data_file: None,
            digests: Vec::new(),
            finished: false,
        };
        let created = comm.is_root().then(|| options().create(&shared.partial)).transpose();
        shared.metadata_file = shared.agree(created)?;
        Ok(shared)
    }

    /// Creates groups and attributes, on the root.
    pub(super) fn write_metadata(&self, work: impl FnOnce(&File) -> Outcome<()>) -> Result<()> {
        self.agree(self.metadata_file.as_ref().map_or(Ok(()), work))
    }

    /// Creates a dataset of shape [rows, `width`], or [rows] if `width` is 1, and calls `describe` on it.
    pub(super) fn plan_table<T: H5Type>(
        &mut self,
        name: &str,
        rows: &RowDistribution,
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
        let offset = self.agree(self.metadata_file.as_ref().map_or(Ok(0), create))?;
        self.tables.push(Table { name: name.to_owned(), width: (width * size_of::<T>()) as u64, offset });
        Ok(())
    }

    /// Ends the metadata phase and starts the data phase.
    pub(super) fn begin_data(&mut self) -> Result<()> {
        let closed = self.metadata_file.take().map_or(Ok(()), hdf::close);
        self.agree(closed)?;
        let mut offsets = self.tables.iter().map(|table| table.offset).collect();
        self.comm.broadcast(&mut offsets, 0);
        self.tables.iter_mut().zip(offsets).for_each(|(table, offset)| table.offset = offset);
        // Write-only: an NFS client that has read a page writes the whole page back, over the rows of other
        // ranks.
        let opened = std::fs::File::options().write(true).open(&self.partial);
        self.data_file = Some(self.comm.agree_on(opened.map_err(|cause| self.write_error(&cause)))?);
        Ok(())
    }

    /// Writes a dataset. `values` returns the values of a range of this rank's rows, relative to its first
    /// row.
    pub(super) fn write_table<T: H5Type + bytemuck::Pod + Default>(
        &mut self,
        name: &str,
        rows: &RowDistribution,
        values: impl Fn(Range<usize>) -> Vec<T>,
    ) -> Result<()> {
        let table = self.tables.iter().find(|table| table.name == name);
        let (Some(file), Some(table)) = (&self.data_file, table) else {
            unreachable!("{name} is filled in the second phase and planned in the first")
        };
        for chunk in 0..rows.chunk_count() {
            let mine = rows.chunk(self.comm.rank(), chunk);
            let first = rows.first_row(self.comm.rank()) + mine.start;
            let values = values(mine.start as usize..mine.end as usize);
            if self.comm.size() > 1 {
                self.digests.push(RowDigest::new(name, first, &values));
            }
            let outcome =
                file.write_all_at(bytemuck::cast_slice(&values), table.offset + first * table.width);
            self.comm.agree(outcome.map_err(|cause| self.write_error(&cause)))?;
        }
        Ok(())
    }

    /// Reads the rows back, seals the file, syncs it to disk, and renames it to its final name.
    pub(super) fn finish(mut self) -> Result<()> {
        // Sync here too, not only when sealing: some file systems report a failed write only to the
        // descriptor that wrote.
        let synced = self.data_file.take().map_or(Ok(()), |file| file.sync_all());
        self.comm.agree(synced.map_err(|cause| self.write_error(&cause)))?;
        let checked = RowDigest::check(&self.digests, &self.partial);
        self.agree(checked)?;
        seal::seal(&self.partial, self.comm).map_err(|error| self.with_target_path(error))?;
        let renamed = if self.comm.is_root() { rename(&self.partial, &self.target) } else { Ok(()) };
        self.comm.agree(renamed)?;
        self.finished = true;
        Ok(())
    }

    fn agree<T>(&self, outcome: Outcome<T>) -> Result<T> {
        self.comm.agree_on(outcome.map_err(|error| failure("write", &self.target, &error)))
    }

    fn write_error(&self, cause: &std::io::Error) -> Error {
        Error::file("write", &self.target, cause)
    }

    /// Replaces the path in the error by the one the user named.
    fn with_target_path(&self, error: Error) -> Error {
        match error {
            Error::File { action, cause, remedy, .. } => {
                Error::File { action, path: self.target.clone(), cause, remedy }
            }
            other => other,
        }
    }
}

impl Drop for SharedFile<'_> {
    /// Removes an unfinished file. Every rank gets here, because the ranks agree on all errors.
    fn drop(&mut self) {
        if self.finished || std::thread::panicking() {
            return;
        }
        if let Some(file) = self.metadata_file.take() {
            hdf::abandon(file);
        }
        self.data_file = None;
        self.comm.barrier();
        if self.comm.is_root() {
            let _ = std::fs::remove_file(&self.partial);
        }
    }
}

/// Options for creating and writing files.
pub(super) fn options() -> hdf5::FileBuilder {
    let mut options = hdf::unlocked();
    // The HDF5 1.8 format has metadata checksums; the default format has none. Without a sieve buffer, a
    // failed write leaves no data behind for close to write again.
    options.with_fapl(|access| access.libver_v18().meta_block_size(METADATA_BLOCK).sieve_buf_size(0));
    // No timestamps: the same particles produce the same bytes.
    options.with_fcpl(|plan| plan.obj_track_times(false));
    options
}

/// The temporary name next to `target`.
pub(super) fn partial_name(target: &Path) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(".partial");
    name.into()
}

/// Checks that `partial` can be created and renamed. The system error is available here, but not through
/// HDF5.
fn check_creatable(target: &Path, partial: &Path) -> Result<()> {
    if target.is_dir() {
        return Err(Error::file("write", target, &std::io::ErrorKind::IsADirectory.into()));
    }
    if let Some(folder) = target.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|cause| Error::file("create", folder, &cause))?;
    }
    std::fs::File::create(partial).map(drop).map_err(|cause| Error::file("create", target, &cause))
}

/// Renames a file and syncs its directory.
pub(super) fn rename(partial: &Path, target: &Path) -> Result<()> {
    std::fs::rename(partial, target).map_err(|cause| Error::file("rename", target, &cause))?;
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Some file systems cannot sync a directory; the file itself is already on disk.
    let _ = std::fs::File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// Converts a failed HDF5 call to an error with a remedy.
pub(super) fn failure(action: &'static str, path: &Path, error: &hdf5::Error) -> Error {
    let cause = hdf::reason(error);
    let remedy = "if the disk is full, free some space or choose another folder, if it failed, look into the \
                  system's log; then \
         restart from the last checkpoint";
    Error::File { action, path: path.to_owned(), cause, remedy: remedy.into() }
}
