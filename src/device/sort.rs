//! Radix sort of rows by key on a device, and permutation of columns.
//!
//! Keys are sorted by their upper bits only, enough to separate nearly all rows, which takes half the passes
//! of a full sort. Runs of equal upper bits are sorted in place. If runs are too long for that, a sort by all
//! bits follows, and the next sort starts with more bits.

use super::arguments::gather::{GatherHalvesArguments, GatherWordsArguments, InvertOrderArguments};
use super::arguments::sort::{
    RadixBasesArguments, RadixHistogramsArguments, RadixPass, RadixPassFirstArguments,
    RadixPassNextArguments, RowsInOrderArguments, SortRunsArguments,
};
use super::arguments::{Input, Output};
use super::launch::THREADS;
use super::{Buffer, Device};
use crate::space::hilbert::LEVELS;
use crate::{Error, Result};
use bytemuck::Pod;

/// As in kernels/order/radix.cuh: threads and pairs a tile, values of a digit.
const TILE_THREADS: u32 = 512;
const TILE: usize = 11 * TILE_THREADS as usize;
const RADIX: usize = 256;

/// Threads a block and blocks a multiprocessor of the histogram kernel.
const HISTOGRAM_THREADS: u32 = 512;
const HISTOGRAM_BLOCKS: usize = 4;

const BITS_OF_DIGIT: u32 = 8;
const DIGITS: usize = 8;

/// Sorted bits beyond the bits of the number of rows, so that few rows agree in all of them.
const SPARE_BITS: u32 = 3;

/// Offsets of the counters of kernels.
const TRIVIAL: usize = DIGITS * RADIX;
const DESCENTS: usize = TRIVIAL + DIGITS;
const TAKEN: usize = DESCENTS + 1;
const TOO_LONG: usize = TAKEN + DIGITS;
const MOVED: usize = TOO_LONG + 1;
const WORDS: usize = MOVED + 1;

/// The number of rows as 32 bits.
///
/// # Errors
/// [`Error::Device`] for 2^30 rows or more.
pub(super) fn rows_of_32_bits(rows: usize) -> Result<u32> {
    u32::try_from(rows).ok().filter(|&rows| rows < 1 << 30).ok_or_else(|| {
        Error::device(
            format!("{rows} rows are more than a device's kernels can number"),
            "use more ranks, each with a device of its own",
        )
    })
}

/// Sorts keys. Keeps 17 bytes a row between sorts.
#[derive(Debug)]
pub struct Sort {
    device: Device,
    /// Output keys of the next pass.
    spare: Buffer<u64>,
    /// The rows in sorted order, and the output of the next pass.
    rows: [Buffer<u32>; 2],
    /// Published counts of tiles, of this pass and the next.
    published: [Buffer<u32>; 2],
    words: Buffer<u32>,
    /// Digits in addition to those that the number of rows requires.
    extra_digits: usize,
}

/// The rows of the sorted pairs.
#[derive(Clone, Copy, PartialEq)]
enum Rows {
    /// 0, 1, 2, ...
    InOrder,
    /// The rows of the last pass.
    Given,
}

impl Sort {
    /// Without memory yet.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(device: &Device) -> Result<Self> {
        let empty = || Buffer::new(device, 0);
        Ok(Self {
            device: device.clone(),
            spare: Buffer::new(device, 0)?,
            rows: [empty()?, empty()?],
            published: [empty()?, empty()?],
            words: Buffer::new(device, WORDS)?,
            extra_digits: 0,
        })
    }

    /// Sorts keys below 2^63. Equal keys are sorted by identity if given, else by row. Returns whether the
    /// order changed; [`Self::rows`] is the permutation.
    ///
    /// # Errors
    /// Those of the device, and [`Error::Device`] for 2^30 keys or more.
    pub fn run(&mut self, keys: &mut Buffer<u64>, id: Option<&Buffer<u64>>) -> Result<bool> {
        let rows = keys.len();
        let count = rows_of_32_bits(rows)?;
        for buffer in &mut self.rows {
            buffer.resize(rows)?;
        }
        self.spare.resize(rows)?;
        if rows == 0 {
            return Ok(false);
        }
        let wanted = (u32::BITS - count.leading_zeros() + SPARE_BITS).div_ceil(BITS_OF_DIGIT) as usize;
        let digits = (wanted + self.extra_digits).min(DIGITS);
        let shift = (3 * LEVELS).saturating_sub(digits as u32 * BITS_OF_DIGIT);
        let unsorted = self.sort(keys, Rows::InOrder, shift, digits)?;
        if !unsorted && id.is_none() {
            return Ok(false);
        }
        // sorted keys may still contain equal ones out of the order of identities
        let shift = if unsorted { shift } else { 0 };
        let (too_long, moved) = self.order_runs(keys, id, shift)?;
        if !too_long {
            return Ok(unsorted || moved);
        }
        if shift > 0 {
            self.extra_digits += 1;
            self.sort(keys, Rows::Given, 0, DIGITS)?;
        }
        if let Some(id) = id
            && (shift == 0 || self.order_runs(keys, Some(id), 0)?.0)
        {
            self.order_by_identity(keys, id)?;
        }
        Ok(true)
    }

    /// Sorts keys stably by their lowest `bits` bits, rounded up to whole digits: equal keys keep the order
    /// of rows.
    ///
    /// # Errors
    /// Those of the device, and [`Error::Device`] for 2^30 keys or more.
    pub(super) fn by_lowest_bits(&mut self, keys: &mut Buffer<u64>, bits: u32) -> Result<()> {
        rows_of_32_bits(keys.len())?;
        for buffer in &mut self.rows {
            buffer.resize(keys.len())?;
        }
        self.spare.resize(keys.len())?;
        if !keys.is_empty() {
            let digits = bits.div_ceil(BITS_OF_DIGIT).max(1) as usize;
            self.sort(keys, Rows::InOrder, 0, digits.min(DIGITS))?;
        }
        Ok(())
    }

    /// Allocated bytes.
    pub(super) fn bytes(&self) -> usize {
        let rows: usize = self.rows.iter().chain(&self.published).map(Buffer::bytes).sum();
        self.spare.bytes() + rows + self.words.bytes()
    }

    /// The permutation of the last sort.
    pub fn rows(&self) -> &Buffer<u32> {
        &self.rows[0]
    }

    /// Stable sort by `digits` digits from bit `shift` on. If all keys are sorted already it only initializes
    /// the rows and returns false.
    fn sort(&mut self, keys: &mut Buffer<u64>, mut rows: Rows, shift: u32, digits: usize) -> Result<bool> {
        let device = self.device.clone();
        let count = keys.len() as u32;
        self.words.fill_bytes(0)?;
        let blocks = keys.len().div_ceil(2 * HISTOGRAM_THREADS as usize);
        let blocks = blocks.min(device.multiprocessors() as usize * HISTOGRAM_BLOCKS);
        let arguments = RadixHistogramsArguments {
            keys: (&*keys).into(),
            count,
            first_shift: shift,
            digits: digits as u32,
            histograms: (&self.words).into(),
            descents: Output::at(&self.words, DESCENTS),
        };
        device.run(blocks, HISTOGRAM_THREADS, &arguments)?;
        let trivial = Output::at(&self.words, TRIVIAL);
        let arguments = RadixBasesArguments { histograms: (&self.words).into(), trivial, count };
        device.run(digits, RADIX as u32, &arguments)?;
        let mut found = [0; DIGITS + 1];
        self.words.download_to(TRIVIAL, &mut found)?;
        let unsorted = found[DIGITS] != 0;

        let tiles = keys.len().div_ceil(TILE);
        for published in &mut self.published {
            published.resize(tiles * RADIX)?;
        }
        if unsorted {
            self.published[0].fill_bytes(0)?;
        }
        for digit in (0..digits).filter(|&digit| unsorted && found[digit] == 0) {
            let [rows_from, rows_to] = &self.rows;
            let [published, next_published] = &self.published;
            let pass = RadixPass {
                keys_from: (&*keys).into(),
                rows_from: rows_from.into(),
                keys_to: (&self.spare).into(),
                rows_to: rows_to.into(),
                base: Input::at(&self.words, digit * RADIX),
                published: published.into(),
                next_published: next_published.into(),
                tiles_taken: Output::at(&self.words, TAKEN + digit),
                count,
                shift: shift + digit as u32 * BITS_OF_DIGIT,
            };
            match rows {
                Rows::InOrder => device.run(tiles, TILE_THREADS, &RadixPassFirstArguments { pass })?,
                Rows::Given => device.run(tiles, TILE_THREADS, &RadixPassNextArguments { pass })?,
            }
            std::mem::swap(keys, &mut self.spare);
            self.rows.swap(0, 1);
            self.published.swap(0, 1);
            rows = Rows::Given;
        }
        if rows == Rows::InOrder {
            let blocks = keys.len().div_ceil(THREADS as usize);
            device.run(blocks, THREADS, &RowsInOrderArguments { rows: (&self.rows[0]).into(), count })?;
        }
        Ok(unsorted)
    }

    /// Sorts runs of keys that agree from bit `shift` on, in place. Returns whether a run was too long, and
    /// whether any pair moved.
    fn order_runs(
        &mut self,
        keys: &mut Buffer<u64>,
        id: Option<&Buffer<u64>>,
        shift: u32,
    ) -> Result<(bool, bool)> {
        let arguments = SortRunsArguments {
            keys: (&*keys).into(),
            rows: (&self.rows[0]).into(),
            id: id.into(),
            count: keys.len() as u32,
            shift,
            too_long: Output::at(&self.words, TOO_LONG),
            moved: Output::at(&self.words, MOVED),
        };
        self.device.run(keys.len().div_ceil(2 * THREADS as usize), THREADS, &arguments)?;
        let mut found = [0; 2];
        self.words.download_to(TOO_LONG, &mut found)?;
        Ok((found[0] != 0, found[1] != 0))
    }

    /// Sorts by identity, then stably by key: for arbitrarily long runs of equal keys.
    fn order_by_identity(&mut self, keys: &mut Buffer<u64>, id: &Buffer<u64>) -> Result<()> {
        let device = self.device.clone();
        let mut identity = Buffer::new(&device, keys.len())?;
        let mut rows = Buffer::new(&device, keys.len())?;
        gather(&self.rows[0], &[id], &[&identity])?;
        std::mem::swap(&mut rows, &mut self.rows[0]);
        self.sort(&mut identity, Rows::InOrder, 0, DIGITS)?;
        gather(&self.rows[0], &[&*keys], &[&self.spare])?;
        gather_halves(&self.rows[0], &rows, &self.rows[1])?;
        std::mem::swap(keys, &mut self.spare);
        self.rows.swap(0, 1);
        self.sort(keys, Rows::Given, 0, DIGITS)?;
        Ok(())
    }
}

/// Columns a launch of the gather kernel.
pub(super) const COLUMNS_OF_LAUNCH: usize = 8;

/// Gathers columns of 64 bits.
fn gather<T: Pod>(rows: &Buffer<u32>, from: &[&Buffer<T>], to: &[&Buffer<T>]) -> Result<()> {
    const { assert!(size_of::<T>() == 8) };
    let places = |columns: &[&Buffer<T>]| columns.iter().map(|column| column.at(0)).collect::<Vec<_>>();
    gather_words(rows, &places(from), &places(to))
}

/// Gathers rows of columns of 64 bits by address, eight columns a launch.
pub(super) fn gather_words(rows: &Buffer<u32>, from: &[u64], to: &[u64]) -> Result<()> {
    let count = rows_of_32_bits(rows.len())?;
    for (from, to) in from.chunks(COLUMNS_OF_LAUNCH).zip(to.chunks(COLUMNS_OF_LAUNCH)) {
        let address = |columns: &[u64], k: usize| columns.get(k).copied().unwrap_or(0);
        let arguments = GatherWordsArguments {
            from: std::array::from_fn(|k| Input::from_address(address(from, k))),
            to: std::array::from_fn(|k| Output::from_address(address(to, k))),
            rows: rows.into(),
            count,
        };
        rows.device().run(rows.len().div_ceil(THREADS as usize), THREADS, &arguments)?;
    }
    Ok(())
}

/// Gathers a column of 32 bits.
fn gather_halves(rows: &Buffer<u32>, from: &Buffer<u32>, to: &Buffer<u32>) -> Result<()> {
    let count = rows_of_32_bits(rows.len())?;
    let arguments = GatherHalvesArguments { from: from.into(), to: to.into(), rows: rows.into(), count };
    rows.device().run(rows.len().div_ceil(THREADS as usize), THREADS, &arguments)
}

/// Permutes columns. Keeps eight spare columns of each type in use.
#[derive(Debug)]
pub struct Gather {
    device: Device,
    doubles: Vec<Buffer<f64>>,
    words: Vec<Buffer<u64>>,
}

impl Gather {
    /// For columns of a device.
    pub fn new(device: &Device) -> Self {
        Self { device: device.clone(), doubles: Vec::new(), words: Vec::new() }
    }

    /// Replaces row k of each column by row `rows[k]`; columns get the length of `rows`.
    ///
    /// # Errors
    /// Those of the device.
    pub fn doubles<'a>(
        &mut self,
        rows: &Buffer<u32>,
        columns: impl IntoIterator<Item = &'a mut Buffer<f64>>,
    ) -> Result<()> {
        in_place(rows, columns, &mut self.doubles)
    }

    /// [`Self::doubles`] for whole numbers of 64 bits.
    ///
    /// # Errors
    /// Those of the device.
    pub fn words<'a>(
        &mut self,
        rows: &Buffer<u32>,
        columns: impl IntoIterator<Item = &'a mut Buffer<u64>>,
    ) -> Result<()> {
        in_place(rows, columns, &mut self.words)
    }

    /// Spare columns, uninitialized.
    pub(super) fn spare_doubles(&mut self, columns: usize, rows: usize) -> Result<&mut [Buffer<f64>]> {
        spare(&self.device, &mut self.doubles, columns, rows)
    }

    /// [`Self::spare_doubles`] for whole numbers of 64 bits.
    pub(super) fn spare_words(&mut self, columns: usize, rows: usize) -> Result<&mut [Buffer<u64>]> {
        spare(&self.device, &mut self.words, columns, rows)
    }

    /// Frees the spare columns.
    pub fn release(&mut self) {
        *self = Self::new(&self.device);
    }
}

/// The first `columns` spare columns, resized to `rows` rows.
fn spare<'a, T: Pod>(
    device: &Device,
    kept: &'a mut Vec<Buffer<T>>,
    columns: usize,
    rows: usize,
) -> Result<&'a mut [Buffer<T>]> {
    while kept.len() < columns {
        kept.push(Buffer::new(device, rows)?);
    }
    kept[..columns].iter_mut().try_for_each(|buffer| buffer.resize(rows))?;
    Ok(&mut kept[..columns])
}

/// Gathers columns into spare ones and swaps both.
fn in_place<'a, T: Pod>(
    rows: &Buffer<u32>,
    columns: impl IntoIterator<Item = &'a mut Buffer<T>>,
    kept: &mut Vec<Buffer<T>>,
) -> Result<()> {
    let mut columns: Vec<_> = columns.into_iter().collect();
    for columns in columns.chunks_mut(COLUMNS_OF_LAUNCH) {
        let spare = spare(rows.device(), kept, columns.len(), rows.len())?;
        let from: Vec<&Buffer<T>> = columns.iter().map(|column| &**column).collect();
        gather(rows, &from, &spare.iter().collect::<Vec<_>>())?;
        for (column, buffer) in columns.iter_mut().zip(spare) {
            std::mem::swap(*column, buffer);
        }
    }
    Ok(())
}

/// The inverse permutation: `places[rows[k]] = k`.
///
/// # Errors
/// Those of the device.
pub fn inverse(rows: &Buffer<u32>) -> Result<Buffer<u32>> {
    let device = rows.device();
    let places = Buffer::new(device, rows.len())?;
    let count = rows_of_32_bits(rows.len())?;
    let arguments = InvertOrderArguments { rows: rows.into(), places: (&places).into(), count };
    device.run(rows.len().div_ceil(THREADS as usize), THREADS, &arguments)?;
    Ok(places)
}
