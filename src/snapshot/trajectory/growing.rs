//! Tables of an HDF5 file that grow by a row (a frame) at a time, of which each rank writes a part.
//!
//! Rank 0 alone keeps HDF5's metadata; the values go past HDF5, by plain writes at the place that it has reserved for
//! them: chunks without filters are the values in order, as the file format says. So the values are in the file before
//! the table grows for those who read it, all ranks write at once over MPI as in threads, and an error of the file
//! system is the error of a call. A chunk holds several frames, so that the index of chunks rarely changes.
//!
//! A process that is killed between two writes leaves whole frames: the end of the file is stated before what refers to it
//! (`superblock`), and a table has one frame while it is created, so that the first node of its index comes to lie behind its
//! header. The library writes what lies side by side at once, and so the frames with their chunks.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

use hdf5::{Dataset, Extent, Group, H5Type, SimpleExtents};
use hdf5_sys::h5d;

use super::super::hdf::Outcome;
use super::superblock;

/// Most particles of a chunk: HDF5 bounds chunks to 4 GiB.
const TILE: u64 = 1 << 22;
/// A chunk holds so many frames as fit into these bytes, but some.
const CHUNK: u64 = 1 << 20;
const MOST_FRAMES: u64 = 64;
const FEWEST_FRAMES: u64 = 2;

/// A number as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    Single,
    Double,
    Integer,
}

impl Number {
    fn bytes(self) -> u64 {
        match self {
            Number::Single | Number::Integer => 4,
            Number::Double => 8,
        }
    }

    fn append(self, value: f64, to: &mut Vec<u8>) {
        match self {
            Number::Single => to.extend((value as f32).to_ne_bytes()),
            Number::Double => to.extend(value.to_ne_bytes()),
            Number::Integer => to.extend((value as i32).to_ne_bytes()),
        }
    }
}

/// The shape of a growing table: frames, particles, three components.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    particles: u64,
    number: Number,
    /// Particles and frames of a chunk.
    tile: u64,
    frames: u64,
}

impl Shape {
    pub(super) fn new(particles: u64, number: Number) -> Self {
        let tile = particles.clamp(1, TILE);
        let frames = (CHUNK / (tile * 3 * number.bytes())).clamp(FEWEST_FRAMES, MOST_FRAMES);
        Self { particles, number, tile, frames }
    }

    /// Bytes of a number.
    pub(super) fn number_bytes(&self) -> u64 {
        self.number.bytes()
    }

    fn tiles(&self) -> u64 {
        self.particles.div_ceil(self.tile)
    }

    /// Create the table `name` without frames.
    pub(super) fn create(&self, group: &Group, name: &str) -> Outcome<Dataset> {
        match self.number {
            Number::Single => self.create_of::<f32>(group, name),
            Number::Double => self.create_of::<f64>(group, name),
            Number::Integer => self.create_of::<i32>(group, name),
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

    /// Make room for frame number `frame`, and say where each tile of it begins in the file.
    pub(super) fn reserve(&self, table: &Dataset, frame: u64) -> Outcome<Vec<u64>> {
        table.resize((frame as usize + 1, self.particles as usize, 3))?;
        let within = frame % self.frames;
        let offset = within * self.tile * 3 * self.number.bytes();
        (0..self.tiles())
            .map(|tile| Ok(chunk(table, [frame - within, tile * self.tile, 0])? + offset))
            .collect()
    }

    /// Write rows `first..` of a frame whose tiles begin at `places`.
    pub(super) fn write(
        &self,
        file: &File,
        places: &[u64],
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
            let place = places
                .get((row / tile) as usize)
                .copied()
                .unwrap_or_else(|| unreachable!("row {row} has no tile"));
            file.write_all_at(&bytes, place + (row % tile) * row_bytes)?;
            row = end;
        }
        Ok(())
    }
}

/// Where the chunk begins that holds an element.
fn chunk(table: &Dataset, element: [u64; 3]) -> Outcome<u64> {
    let (mut filters, mut place, mut size) = (0u32, 0, 0);
    // SAFETY: the dataset is open and has three dimensions; the outputs live through the call, which holds the lock.
    let status = hdf5::sync::sync(|| unsafe {
        h5d::H5Dget_chunk_info_by_coord(table.id(), element.as_ptr(), &mut filters, &mut place, &mut size)
    });
    if status < 0 || place == u64::MAX || size == 0 {
        return Err(format!("{} has no room at {element:?}", table.name()).into());
    }
    Ok(place)
}

/// The file, to write values past HDF5.
pub(super) fn open(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().write(true).open(path)
}

/// A table of one value or row a frame, which rank 0 alone writes.
pub(super) fn create_small<T: H5Type>(group: &Group, name: &str, width: Option<usize>) -> Outcome<Dataset> {
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

/// Let the file be as long as HDF5 will say that it is, with room on the disk for all of it, and let it say so itself. A
/// disk or a limit that does not allow it is found here, before anything is told to those who read the file: one that is
/// shorter than it says does not open.
pub(super) fn lengthen(path: &Path, file: &hdf5::File) -> Outcome<()> {
    let wanted = file.size();
    let longer = || -> std::io::Result<()> {
        let raw = OpenOptions::new().read(true).write(true).open(path)?;
        let there = raw.metadata()?.len();
        if there < wanted {
            take_room(&raw, there, wanted)?;
        }
        superblock::state_end(&raw, wanted)
    };
    longer().map_err(|cause| cause.to_string().into())
}

/// Make a file longer, and have the disk keep the room, so that what is written there later cannot fail for lack of it.
fn take_room(file: &File, from: u64, to: u64) -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        loop {
            // SAFETY: the descriptor is open.
            match unsafe { libc::posix_fallocate64(file.as_raw_fd(), from as i64, (to - from) as i64) } {
                0 => return Ok(()),
                libc::EINTR => {}
                // file systems that do not know how
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
            let number = [Number::Single, Number::Double, Number::Integer][kind];
            let shape = Shape { particles, number, tile: tile.min(particles), frames };
            let value = |frame: u64, k: u64| (1000 * frame + k) as f64;
            let file = options().create(&path).unwrap();
            shape.create(&file, "x").unwrap();
            file.close().unwrap();
            let write = |first: u64, end: u64| {
                for frame in first..end {
                    let file = options().open_rw(&path).unwrap();
                    let table = file.dataset("x").unwrap();
                    let places = shape.reserve(&table, frame).unwrap();
                    let raw = open(&path).unwrap();
                    for piece in 0..pieces {
                        let rows = particles * piece / pieces..particles * (piece + 1) / pieces;
                        let values: Vec<f64> = (3 * rows.start..3 * rows.end).map(|k| value(frame, k)).collect();
                        shape.write(&raw, &places, rows.start, &values).unwrap();
                    }
                    drop(table);
                    file.close().unwrap();
                }
            };
            write(0, count);
            // shorter, and on again, as after a restart
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
