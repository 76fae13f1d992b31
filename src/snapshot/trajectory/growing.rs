//! HDF5 datasets that grow by one row (a frame) at a time; each rank writes part of a frame.
//!
//! Only rank 0 handles HDF5's metadata. The ranks write the values with plain writes to the offsets that rank
//! 0 has reserved: by the file format, an unfiltered chunk holds its values contiguously. Values are
//! therefore in the file before readers see the dataset grow, all ranks write concurrently, with MPI or
//! threads, and a file system error is returned by the call that caused it. A chunk holds several frames, so
//! the chunk index rarely changes.
//!
//! A process killed between two writes leaves whole frames. The superblock states the new end of file before
//! anything refers to it (see `superblock`). A dataset is created with one frame, so that the first node of
//! its chunk index lies next to its header: the library writes adjacent metadata at once, so the frame count
//! is written together with its chunks.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

use hdf5::{Dataset, Extent, Group, H5Type, SimpleExtents};
use hdf5_sys::h5d;

use super::super::hdf::Outcome;
use super::superblock;

/// Maximum number of particles per chunk: HDF5 limits chunks to 4 GiB.
const MAX_CHUNK_PARTICLES: u64 = 1 << 22;
/// Target size of a chunk in bytes; the number of frames is clamped to the bounds below.
const CHUNK_BYTES: u64 = 1 << 20;
const MAX_CHUNK_FRAMES: u64 = 64;
const MIN_CHUNK_FRAMES: u64 = 2;

/// The stored number type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberType {
    Single,
    Double,
    Integer,
}

impl NumberType {
    fn bytes(self) -> u64 {
        match self {
            NumberType::Single | NumberType::Integer => 4,
            NumberType::Double => 8,
        }
    }

    fn append(self, value: f64, to: &mut Vec<u8>) {
        match self {
            NumberType::Single => to.extend((value as f32).to_ne_bytes()),
            NumberType::Double => to.extend(value.to_ne_bytes()),
            NumberType::Integer => to.extend((value as i32).to_ne_bytes()),
        }
    }
}

/// The shape of a growing dataset: [frames, particles, 3].
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    particles: u64,
    number: NumberType,
    /// Particles and frames per chunk.
    tile: u64,
    frames: u64,
}

impl Shape {
    pub(super) fn new(particles: u64, number: NumberType) -> Self {
        let tile = particles.clamp(1, MAX_CHUNK_PARTICLES);
        let frames = (CHUNK_BYTES / (tile * 3 * number.bytes())).clamp(MIN_CHUNK_FRAMES, MAX_CHUNK_FRAMES);
        Self { particles, number, tile, frames }
    }

    /// Bytes per number.
    pub(super) fn number_bytes(&self) -> u64 {
        self.number.bytes()
    }

    fn tiles(&self) -> u64 {
        self.particles.div_ceil(self.tile)
    }

    /// Creates the dataset `name` without frames.
    pub(super) fn create(&self, group: &Group, name: &str) -> Outcome<Dataset> {
        match self.number {
            NumberType::Single => self.create_of::<f32>(group, name),
            NumberType::Double => self.create_of::<f64>(group, name),
            NumberType::Integer => self.create_of::<i32>(group, name),
        }
    }

    fn create_of<T: H5Type>(&self, group: &Group, name: &str) -> Outcome<Dataset> {
        use hdf5::plist::dataset_create::{AllocTime, FillTime};
        let extents = [Extent::resizable(1), Extent::fixed(self.particles as usize), Extent::fixed(3)];
        let table = group
            .new_dataset::<T>()
            .shape(SimpleExtents::new(extents))
            .chunk((self.frames as usize, self.tile as usize, 3))
            .alloc_time(Some(AllocTime::Early))
            .fill_time(FillTime::Never)
            .obj_track_times(false)
            .create(name)?;
        table.resize((0, self.particles as usize, 3))?;
        Ok(table)
    }

    /// Allocates frame `frame` and returns the file offset of each of its tiles.
    pub(super) fn reserve(&self, table: &Dataset, frame: u64) -> Outcome<Vec<u64>> {
        table.resize((frame as usize + 1, self.particles as usize, 3))?;
        let within = frame % self.frames;
        let offset = within * self.tile * 3 * self.number.bytes();
        (0..self.tiles())
            .map(|tile| Ok(chunk_address(table, [frame - within, tile * self.tile, 0])? + offset))
            .collect()
    }

    /// Writes rows `first..` of a frame whose tiles start at `offsets`.
    pub(super) fn write(
        &self,
        file: &File,
        offsets: &[u64],
        first: u64,
        values: &[f64],
    ) -> std::io::Result<()> {
        let (tile, row_bytes) = (self.tile, 3 * self.number.bytes());
        let rows = values.len() as u64 / 3;
        let mut bytes = Vec::new();
        let mut row = first;
        while row < first + rows {
            let end = (first + rows).min((row / tile + 1) * tile);
            bytes.clear();
            for &value in &values[3 * (row - first) as usize..3 * (end - first) as usize] {
                self.number.append(value, &mut bytes);
            }
            let address = offsets
                .get((row / tile) as usize)
                .copied()
                .unwrap_or_else(|| unreachable!("row {row} has no tile"));
            file.write_all_at(&bytes, address + (row % tile) * row_bytes)?;
            row = end;
        }
        Ok(())
    }
}

/// File offset of the chunk that holds an element.
fn chunk_address(table: &Dataset, element: [u64; 3]) -> Outcome<u64> {
    let (mut filters, mut address, mut size) = (0u32, 0, 0);
    // SAFETY: the dataset is open and has three dimensions; the outputs outlive the call, which holds the
    // lock.
    let status = hdf5::sync::sync(|| unsafe {
        h5d::H5Dget_chunk_info_by_coord(table.id(), element.as_ptr(), &mut filters, &mut address, &mut size)
    });
    if status < 0 || address == u64::MAX || size == 0 {
        return Err(format!("{} has no room at {element:?}", table.name()).into());
    }
    Ok(address)
}

/// Opens the file for writing values without HDF5.
pub(super) fn open(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().write(true).open(path)
}

/// Creates a dataset with one value or row per frame, written by rank 0 alone.
pub(super) fn create_per_frame<T: H5Type>(
    group: &Group,
    name: &str,
    width: Option<usize>,
) -> Outcome<Dataset> {
    let builder = group.new_dataset::<T>();
    let frames = Extent::resizable(1);
    let shaped = match width {
        None => builder.shape(SimpleExtents::new([frames])).chunk(256),
        Some(width) => builder.shape(SimpleExtents::new([frames, Extent::fixed(width)])).chunk((256, width)),
    };
    let early = hdf5::plist::dataset_create::AllocTime::Early;
    let table = shaped.alloc_time(Some(early)).obj_track_times(false).create(name)?;
    match width {
        None => table.resize(0)?,
        Some(width) => table.resize((0, width))?,
    }
    Ok(table)
}

/// Extends the file to HDF5's end of file, allocates the disk space, and updates the superblock. A full disk
/// or a size limit is detected here, before readers see the frame: a file shorter than its superblock states
/// cannot be opened.
pub(super) fn extend_file(path: &Path, file: &hdf5::File) -> Outcome<()> {
    let wanted = file.size();
    let longer = || -> std::io::Result<()> {
        let raw = OpenOptions::new().read(true).write(true).open(path)?;
        let there = raw.metadata()?.len();
        if there < wanted {
            preallocate(&raw, there, wanted)?;
        }
        superblock::set_end_of_file(&raw, wanted)
    };
    longer().map_err(|cause| cause.to_string().into())
}

/// Extends a file and allocates the disk space, so that later writes cannot fail for lack of it.
fn preallocate(file: &File, from: u64, to: u64) -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        loop {
            // SAFETY: the descriptor is open.
            match unsafe { libc::posix_fallocate64(file.as_raw_fd(), from as i64, (to - from) as i64) } {
                0 => return Ok(()),
                libc::EINTR => {}
                // Not supported by this file system.
                libc::EOPNOTSUPP | libc::EINVAL => break,
                other => return Err(std::io::Error::from_raw_os_error(other)),
            }
        }
    }
    file.set_len(to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::collective::options;
    use crate::snapshot::hdf;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn what_is_written_past_hdf5_is_what_hdf5_reads(
            particles in 1u64..30, tile in 1u64..12, frames in 1u64..5, count in 0u64..12, cut in 0u64..12,
            pieces in 1u64..4, kind in 0usize..3,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("growing.h5");
            let number = [NumberType::Single, NumberType::Double, NumberType::Integer][kind];
            let shape = Shape { particles, number, tile: tile.min(particles), frames };
            let value = |frame: u64, k: u64| (1000 * frame + k) as f64;
            let file = options().create(&path).unwrap();
            shape.create(&file, "x").unwrap();
            file.close().unwrap();
            let write = |first: u64, end: u64| {
                for frame in first..end {
                    let file = options().open_rw(&path).unwrap();
                    let table = file.dataset("x").unwrap();
                    let offsets = shape.reserve(&table, frame).unwrap();
                    let raw = open(&path).unwrap();
                    for piece in 0..pieces {
                        let rows = particles * piece / pieces..particles * (piece + 1) / pieces;
                        let values: Vec<f64> = (3 * rows.start..3 * rows.end).map(|k| value(frame, k)).collect();
                        shape.write(&raw, &offsets, rows.start, &values).unwrap();
                    }
                    drop(table);
                    file.close().unwrap();
                }
            };
            write(0, count);
            // Truncate and append again, as after a restart.
            let cut = cut.min(count);
            let file = options().open_rw(&path).unwrap();
            file.dataset("x").unwrap().resize((cut as usize, particles as usize, 3)).unwrap();
            file.close().unwrap();
            write(cut, count);
            let file = hdf::open(&path).unwrap();
            let found: Vec<f64> = file.dataset("x").unwrap().read_raw().unwrap();
            let expected = (0..count).flat_map(|frame| (0..3 * particles).map(move |k| value(frame, k)));
            prop_assert_eq!(found, expected.collect::<Vec<_>>());
        }
    }
}
