//! Small results that kernels over single particles leave: extremes, first rows, counts, and sums (kernels/motion/block.cuh).

use super::arguments::whole::FinishSumsArguments;
use super::arguments::{Arguments, Output};
use super::{Buffer, Device};
use crate::Result;
use std::ops::Range;

/// Threads of a block of kernels over single particles.
pub const THREADS: u32 = 256;

/// Rows that a block takes which only reads them.
pub const PIECE: usize = 2048;

/// The columns of a vector field.
pub type Vector<'a> = [&'a Buffer<f64>; 3];

/// Starts a kernel of one thread a row.
pub(super) fn over_rows<A: Arguments>(device: &Device, rows: &Range<usize>, arguments: &A) -> Result<()> {
    device.run(rows.len().div_ceil(THREADS as usize), THREADS, arguments)
}

/// Starts a kernel whose blocks take [`PIECE`] rows each.
pub(super) fn over_pieces<A: Arguments>(device: &Device, rows: &Range<usize>, arguments: &A) -> Result<()> {
    device.run(rows.len().div_ceil(PIECE), THREADS, arguments)
}

/// First row and end, as kernels take them.
pub(super) fn bounds(rows: &Range<usize>) -> [u32; 2] {
    [rows.start, rows.end].map(|row| {
        u32::try_from(row)
            .unwrap_or_else(|_| unreachable!("the domain has refused more rows than 32 bits number"))
    })
}

/// Words of 64 bits in which kernels join what they find. Zero bits say that nothing was found yet.
#[derive(Debug)]
pub struct Findings {
    words: Buffer<u64>,
}

impl Findings {
    /// So many of them, nothing found.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(device: &Device, count: usize) -> Result<Self> {
        Ok(Self { words: Buffer::zeros(device, count)? })
    }

    /// Forget what was found.
    ///
    /// # Errors
    /// Those of the device.
    pub fn clear(&mut self) -> Result<()> {
        self.words.fill_bytes(0)
    }

    /// The address of a word.
    pub fn word(&self, index: usize) -> Output<u64> {
        Output::at(&self.words, index)
    }

    /// The address of the lower half of a word: a counter or a first row.
    pub fn lower_half(&self, index: usize) -> Output<u32> {
        Output::from_address(self.words.at(index))
    }

    /// All of them; waits for the kernels.
    ///
    /// # Errors
    /// Those of the device.
    pub fn read(&self) -> Result<Vec<u64>> {
        self.words.download()
    }
}

/// The number that kernels keep as that ordered word; 0 is none.
fn number(word: u64) -> Option<f64> {
    const SIGN: u64 = 1 << 63;
    (word != 0).then(|| f64::from_bits(if word & SIGN != 0 { word ^ SIGN } else { !word }))
}

/// The smallest number that was joined in a word, infinity if there was none.
pub fn smallest(word: u64) -> f64 {
    if word == 0 { f64::INFINITY } else { number(!word).unwrap_or(f64::INFINITY) }
}

/// The largest number that was joined in a word, if any.
pub fn largest(word: u64) -> Option<f64> {
    number(word)
}

/// The first row that was noted in a word.
pub fn first_row(word: u64) -> Option<usize> {
    (word != 0).then_some((!(word as u32)) as usize)
}

/// Sums of blocks, and their joining in a fixed order.
#[derive(Debug)]
pub struct Sums {
    device: Device,
    partial: Buffer<f64>,
    sums: Buffer<f64>,
}

impl Sums {
    /// No sums yet.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(device: &Device) -> Result<Self> {
        let empty = || Buffer::new(device, 0);
        Ok(Self { device: device.clone(), partial: empty()?, sums: empty()? })
    }

    /// Room for what so many blocks leave of so many sums.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device's memory is too small.
    pub fn room(&mut self, columns: usize, blocks: usize) -> Result<&Buffer<f64>> {
        self.partial.resize(columns * blocks)?;
        self.sums.resize(columns)?;
        Ok(&self.partial)
    }

    /// The sums over all blocks of the columns that [`Self::room`] was asked for; waits for them.
    ///
    /// # Errors
    /// Those of the device.
    pub fn finish(&self) -> Result<Vec<f64>> {
        let columns = self.sums.len();
        let blocks = self.partial.len() / columns.max(1);
        if blocks == 0 {
            return Ok(vec![0.0; columns]);
        }
        let arguments = FinishSumsArguments {
            partial: (&self.partial).into(),
            blocks: blocks as u32,
            sums: (&self.sums).into(),
        };
        self.device.run(columns, THREADS, &arguments)?;
        self.sums.download()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_their_numbers_and_order() {
        // as kernels make them
        let ordered = |value: f64| {
            let bits = value.to_bits() as i64;
            (bits ^ ((bits >> 63) | i64::MIN)) as u64
        };
        let numbers = [f64::NEG_INFINITY, -1e300, -2.0, -1e-300, 0.0, 1e-300, 3.5, f64::MAX, f64::INFINITY];
        for pair in numbers.windows(2) {
            assert!(ordered(pair[0]) < ordered(pair[1]), "{pair:?}");
        }
        for value in numbers {
            assert_eq!(largest(ordered(value)), Some(value));
            assert_eq!(smallest(!ordered(value)), value);
        }
        assert_eq!((largest(0), smallest(0), first_row(0)), (None, f64::INFINITY, None));
        assert_eq!(first_row(u64::from(!7u32)), Some(7));
    }
}
