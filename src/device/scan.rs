//! Running sums on a device, and which rows are marked.

use super::sort::rows_of_32_bits;
use super::{Buffer, Device, Unit};
use crate::Result;

/// Threads of a block, and the numbers of a tile.
const THREADS: u32 = 256;
const COUNTS: usize = 1024;
const MARKS: usize = 4096;

/// What scans keep between them.
#[derive(Debug)]
pub struct Scan {
    device: Device,
    /// What tiles publish; after them how many are taken, and how many rows were found.
    published: Buffer<u64>,
}

impl Scan {
    /// For numbers of a device.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(device: &Device) -> Result<Self> {
        Ok(Self { device: device.clone(), published: Buffer::new(device, 0)? })
    }

    /// `sums[k]` becomes the sum of the first k counts, for k from 0 to `counts.len()`.
    ///
    /// # Errors
    /// Those of the device.
    pub fn sums(&mut self, counts: &Buffer<u32>, sums: &mut Buffer<u64>) -> Result<()> {
        let count = rows_of_32_bits(counts.len())?;
        sums.resize(counts.len() + 1)?;
        let (tiles, taken, _) = self.prepare(counts.len().div_ceil(COUNTS))?;
        let kernel = self.device.kernel(&Unit::new("order/scan.cu"), "sum_counts")?;
        self.device.launch(&kernel, tiles, THREADS, &[counts, &count, &*sums, &self.published, &taken])
    }

    /// The rows whose mark is not zero, ascending; returns their number, to which `rows` is cut.
    ///
    /// # Errors
    /// Those of the device.
    pub fn marked(&mut self, marks: &Buffer<u8>, rows: &mut Buffer<u32>) -> Result<usize> {
        rows.resize(marks.len())?;
        let count = rows_of_32_bits(marks.len())?;
        let (tiles, taken, found) = self.prepare(marks.len().div_ceil(MARKS))?;
        let kernel = self.device.kernel(&Unit::new("order/scan.cu"), "find_marked")?;
        self.device.launch(
            &kernel,
            tiles,
            THREADS,
            &[marks, &count, &*rows, &found, &self.published, &taken],
        )?;
        let mut words = [0];
        self.published.download_to(tiles + 1, &mut words)?;
        rows.resize(words[0] as usize)?;
        Ok(words[0] as usize)
    }

    /// Zeros for at least one tile: their number, and where tiles are taken and findings left.
    fn prepare(&mut self, tiles: usize) -> Result<(usize, u64, u64)> {
        let tiles = tiles.max(1);
        self.published.resize(tiles + 2)?;
        self.published.fill_bytes(0)?;
        Ok((tiles, self.published.at(tiles), self.published.at(tiles + 1)))
    }
}
