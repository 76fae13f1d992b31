//! Prefix sums and compaction on a device.

use super::arguments::Output;
use super::arguments::scan::{FindMarkedArguments, SumCountsArguments};
use super::launch::THREADS;
use super::sort::rows_of_32_bits;
use super::{Buffer, Device};
use crate::Result;

/// Elements a tile of each kernel.
const COUNTS: usize = 1024;
const MARKS: usize = 4096;

/// Scratch memory of scans.
#[derive(Debug)]
pub struct Scan {
    device: Device,
    /// Published sums of tiles, then the number of tiles taken and of rows found.
    published: Buffer<u64>,
}

impl Scan {
    /// Without memory yet.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(device: &Device) -> Result<Self> {
        Ok(Self { device: device.clone(), published: Buffer::new(device, 0)? })
    }

    /// Computes exclusive prefix sums: `sums[k]` is the sum of the first k counts, for k from 0 to
    /// `counts.len()`.
    ///
    /// # Errors
    /// Those of the device.
    pub fn sums(&mut self, counts: &Buffer<u32>, sums: &mut Buffer<u64>) -> Result<()> {
        let count = rows_of_32_bits(counts.len())?;
        sums.resize(counts.len() + 1)?;
        let (tiles, taken, _) = self.prepare(counts.len().div_ceil(COUNTS))?;
        let arguments = SumCountsArguments {
            counts: counts.into(),
            count,
            sums: sums.into(),
            published: (&self.published).into(),
            tiles_taken: taken,
        };
        self.device.run(tiles, THREADS, &arguments)
    }

    /// Writes the rows whose mark is not zero, ascending, and returns their number, the new length of `rows`.
    ///
    /// # Errors
    /// Those of the device.
    pub fn marked(&mut self, marks: &Buffer<u8>, rows: &mut Buffer<u32>) -> Result<usize> {
        rows.resize(marks.len())?;
        let count = rows_of_32_bits(marks.len())?;
        let (tiles, taken, found) = self.prepare(marks.len().div_ceil(MARKS))?;
        let arguments = FindMarkedArguments {
            marks: marks.into(),
            rows: count,
            rows_of_marks: (&*rows).into(),
            found,
            published: (&self.published).into(),
            tiles_taken: taken,
        };
        self.device.run(tiles, THREADS, &arguments)?;
        let mut words = [0];
        self.published.download_to(tiles + 1, &mut words)?;
        rows.resize(words[0] as usize)?;
        Ok(words[0] as usize)
    }

    /// Clears the scratch memory for at least one tile. Returns the number of tiles and the addresses of both
    /// counters.
    fn prepare(&mut self, tiles: usize) -> Result<(usize, Output<u32>, Output<u32>)> {
        let tiles = tiles.max(1);
        self.published.resize(tiles + 2)?;
        self.published.fill_bytes(0)?;
        let lower_half = |index| Output::from_address(self.published.at(index));
        Ok((tiles, lower_half(tiles), lower_half(tiles + 1)))
    }
}
