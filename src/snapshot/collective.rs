//! One HDF5 file written by all ranks, complete under its name or not there at all.
//!
//! Two phases. First rank 0 alone describes the file: groups, attributes, datasets with their room. Then the ranks fill
//! the datasets: over MPI all open the file with HDF5's MPI driver and write their rows in collective transfers; ranks
//! that are threads, and one rank alone, let rank 0 write. The first phase is serial because HDF5 gives up on some
//! ranks and waits on others when metadata cannot be written through MPI; in the second no metadata changes.
//!
//! All methods are collective, and every outcome is agreed on before the next one, so that a failing rank makes all
//! return and none wait.

use super::hdf::{self, Outcome, Transfer};
use super::seal;
use super::written::Written;
use crate::comm::Communicator;
use crate::{Error, Result};
use hdf5::{Dataset, File, H5Type};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Most rows written in one transfer: bounds the memory that is gathered, and MPI counts bytes in 32 bits.
const ROUND: u64 = 1 << 22;

/// HDF5's metadata is gathered in blocks of this many bytes, so that all of it usually stands before the data.
const METADATA_BLOCK: u64 = 64 << 10;

/// A file under construction, under a temporary name beside its final one.
pub(super) struct SharedFile<'a> {
    comm: &'a Communicator,
    target: PathBuf,
    partial: PathBuf,
    /// Open on the root, in the second phase over MPI on every rank.
    file: Option<File>,
    transfer: Transfer,
    /// What this rank has written collectively.
    written: Vec<Written>,
    finished: bool,
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
            file: None,
            transfer: Transfer::Independent,
            written: Vec::new(),
            finished: false,
        };
        let created = comm.is_root().then(|| options().create(&shared.partial)).transpose();
        shared.file = shared.agree(created)?;
        Ok(shared)
    }

    /// Create groups and attributes, on the root.
    pub(super) fn describe(&self, work: impl FnOnce(&File) -> Outcome<()>) -> Result<()> {
        self.agree(self.file.as_ref().map_or(Ok(()), work))
    }

    /// Create a dataset of one row per particle, `width` values wide (one-dimensional if 1), and describe it.
    pub(super) fn plan_table<T: H5Type>(
        &self,
        name: &str,
        rows: &Rows,
        width: usize,
        describe: impl FnOnce(&Dataset) -> Outcome<()>,
    ) -> Result<()> {
        use hdf5::plist::dataset_create::{AllocTime, FillTime};
        self.describe(|file| {
            let total = rows.total() as usize;
            let builder = file.new_dataset::<T>();
            let shaped =
                if width == 1 { builder.shape(vec![total]) } else { builder.shape(vec![total, width]) };
            let plan =
                shaped.alloc_time(Some(AllocTime::Early)).fill_time(FillTime::Never).obj_track_times(false);
            describe(&plan.create(name)?)
        })
    }

    /// Begin the second phase.
    pub(super) fn fill(&mut self) -> Result<()> {
        // Flushed first, and agreed on, because what cannot be flushed is abandoned.
        self.describe(|file| file.flush())?;
        #[cfg(feature = "mpi")]
        if let Some(ranks) = self.comm.raw_mpi().filter(|_| self.comm.size() > 1) {
            let closed = self.file.take().map_or(Ok(()), File::close);
            self.agree(closed)?;
            self.transfer = Transfer::Collective;
            let opened = options()
                .with_fapl(|access| {
                    access.mpio(ranks, None).all_coll_metadata_ops(true).coll_metadata_write(true)
                })
                .open_rw(&self.partial);
            let (file, opened) = opened.map_or_else(|error| (None, Err(error)), |file| (Some(file), Ok(())));
            self.file = file;
            self.agree(opened)?;
        }
        Ok(())
    }

    /// Fill a dataset. `values` gives the values of a range of this rank's rows, counted from its first.
    pub(super) fn write_table<T: H5Type + bytemuck::Pod + Default>(
        &mut self,
        name: &str,
        rows: &Rows,
        values: impl Fn(Range<usize>) -> Vec<T>,
    ) -> Result<()> {
        let dataset = self.agree(self.file.as_ref().map(|file| file.dataset(name)).transpose())?;
        for round in 0..rows.rounds() {
            let mine = rows.round(self.comm.rank(), round);
            let mine = values(mine.start as usize..mine.end as usize);
            let outcome = match self.transfer {
                #[cfg(feature = "mpi")]
                Transfer::Collective => dataset.as_ref().map_or(Ok(()), |dataset| {
                    let first = rows.first(self.comm.rank()) + rows.round(self.comm.rank(), round).start;
                    self.written.push(Written::new(name, first, &mine));
                    hdf::write_rows(dataset, first, &mine, Transfer::Collective)
                }),
                Transfer::Independent => {
                    let pieces = self.gather(mine);
                    dataset.as_ref().map_or(Ok(()), |dataset| {
                        pieces.iter().enumerate().try_for_each(|(rank, piece)| {
                            let first = rows.first(rank) + rows.round(rank, round).start;
                            hdf::write_rows(dataset, first, piece, Transfer::Independent)
                        })
                    })
                }
            };
            self.agree(outcome)?;
        }
        Ok(())
    }

    /// Everybody's values, on the root.
    fn gather<T: bytemuck::Pod>(&self, mine: Vec<T>) -> Vec<Vec<T>> {
        if self.comm.size() == 1 {
            return vec![mine];
        }
        let mut to = vec![Vec::new(); self.comm.size()];
        to[0] = mine;
        self.comm.all_to_all(&to)
    }

    /// Close the file, see that it holds what was written, seal it, write it to the disk, and give it its name.
    pub(super) fn finish(mut self) -> Result<()> {
        if self.transfer == Transfer::Independent {
            self.describe(|file| file.flush())?;
        }
        let closed = self.file.take().map_or(Ok(()), File::close);
        self.agree(closed)?;
        self.comm.barrier();
        if self.transfer != Transfer::Independent {
            let checked = Written::check(&self.written, &self.partial);
            self.agree(checked)?;
        }
        seal::seal(&self.partial, self.comm).map_err(|error| self.renamed(error))?;
        let renamed = if self.comm.is_root() { rename(&self.partial, &self.target) } else { Ok(()) };
        self.comm.agree(renamed)?;
        self.finished = true;
        Ok(())
    }

    fn agree<T>(&self, outcome: Outcome<T>) -> Result<T> {
        self.comm.agree_on(outcome.map_err(|error| failure("write", &self.target, &error)))
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
        let alone = self.transfer == Transfer::Independent;
        if let Some(file) = self.file.take() {
            if alone {
                hdf::abandon(file);
            } else {
                let _ = file.close();
            }
        }
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
