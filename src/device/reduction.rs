//! Reductions over rows: extremes, first rows, counts and sums (kernels/motion/block.cuh).

use super::arguments::whole::FinishSumsArguments;
use super::arguments::{Arguments, Input, Output};
use super::{Buffer, Device};
use crate::Result;
use std::ops::Range;

pub use super::launch::THREADS;

/// Rows a block of reductions.
pub const ROWS_PER_BLOCK: usize = 2048;

/// The columns of a vector field.
pub type Vector<'a> = [&'a Buffer<f64>; 3];

/// Starts a kernel of one thread a row.
pub(super) fn over_rows<A: Arguments>(device: &Device, rows: &Range<usize>, arguments: &A) -> Result<()> {
    device.run(rows.len().div_ceil(THREADS as usize), THREADS, arguments)
}

/// Starts a kernel whose blocks take [`ROWS_PER_BLOCK`] rows each.
pub(super) fn over_blocks<A: Arguments>(device: &Device, rows: &Range<usize>, arguments: &A) -> Result<()> {
    device.run(rows.len().div_ceil(ROWS_PER_BLOCK), THREADS, arguments)
}

/// First row and end as 32-bit numbers.
pub(super) fn bounds(rows: &Range<usize>) -> [u32; 2] {
    [rows.start, rows.end].map(|row| {
        u32::try_from(row)
            .unwrap_or_else(|_| unreachable!("the domain has refused more rows than 32 bits number"))
    })
}

/// 64-bit accumulators of reductions, which kernels update atomically. Zero is the empty state of all of
/// them.
#[derive(Debug)]
pub struct Findings {
    words: Buffer<u64>,
}

impl Findings {
    /// `count` empty accumulators.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(device: &Device, count: usize) -> Result<Self> {
        Ok(Self { words: Buffer::zeros(device, count)? })
    }

    /// Resets all accumulators.
    ///
    /// # Errors
    /// Those of the device.
    pub fn clear(&mut self) -> Result<()> {
        self.words.fill_bytes(0)
    }

    /// The address of an accumulator.
    pub fn word(&self, index: usize) -> Output<u64> {
        Output::at(&self.words, index)
    }

    /// The address of an accumulator that is only read.
    pub fn input(&self, index: usize) -> Input<u64> {
        Input::at(&self.words, index)
    }

    /// Changes the number of accumulators, whose contents are lost.
    ///
    /// # Errors
    /// Those of the device.
    pub fn resize(&mut self, count: usize) -> Result<()> {
        self.words.resize(count)
    }

    /// The address of an accumulator as memory of another type of 64 bits.
    pub fn number(&self, index: usize) -> Output<f64> {
        Output::from_address(self.words.at(index))
    }

    /// The address of an accumulator's lower half: a counter or a first row.
    pub fn lower_half(&self, index: usize) -> Output<u32> {
        Output::from_address(self.words.at(index))
    }

    /// Copies all accumulators to the host; waits for the kernels.
    ///
    /// # Errors
    /// Those of the device.
    pub fn read(&self) -> Result<Vec<u64>> {
        self.words.download()
    }
}

/// Decodes the order-preserving bits of a double; 0 is the empty state.
fn number(word: u64) -> Option<f64> {
    const SIGN: u64 = 1 << 63;
    (word != 0).then(|| f64::from_bits(if word & SIGN != 0 { word ^ SIGN } else { !word }))
}

/// The minimum in an accumulator, infinity if it is empty.
pub fn smallest(word: u64) -> f64 {
    if word == 0 { f64::INFINITY } else { number(!word).unwrap_or(f64::INFINITY) }
}

/// The maximum in an accumulator, if any.
pub fn largest(word: u64) -> Option<f64> {
    number(word)
}

/// The first row in an accumulator, if any.
pub fn first_row(word: u64) -> Option<usize> {
    (word != 0).then_some((!(word as u32)) as usize)
}

/// Partial sums of blocks and their reduction in a fixed order.
#[derive(Debug)]
pub struct Sums {
    device: Device,
    partial: Buffer<f64>,
    sums: Buffer<f64>,
}

impl Sums {
    /// Without memory yet.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(device: &Device) -> Result<Self> {
        let empty = || Buffer::new(device, 0);
        Ok(Self { device: device.clone(), partial: empty()?, sums: empty()? })
    }

    /// Provides memory for `columns` sums over `blocks` blocks.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device's memory is too small.
    pub fn room(&mut self, columns: usize, blocks: usize) -> Result<&Buffer<f64>> {
        self.partial.resize(columns * blocks)?;
        self.sums.resize(columns)?;
        Ok(&self.partial)
    }

    /// Sums over all blocks of the columns of [`Self::room`]; waits for the kernels.
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
        // as kernels encode numbers
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
