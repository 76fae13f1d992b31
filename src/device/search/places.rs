//! Rows packed in the order of cells, and what the methods share.

use super::super::arguments::search_count::ScanCountsArguments;
use super::super::arguments::search_grid::{Places, SearchColumns, SearchRows, SearchSums};
use super::super::arguments::{Input, Output};
use super::super::pack::Shape;
use super::super::sort::rows_of_32_bits;
use super::super::sweep::{Pass, Sweep, SweepMemory};
use super::super::{Buffer, Device, Unit};
use crate::Result;
use crate::pair::law::{Columns, Cutoff};
use crate::pair::{PairLaw, Precision};

/// Counts a tile of the scan.
const SCAN_TILE: usize = 1024;
const SCAN_THREADS: u32 = 256;

/// A law with its kernels, and rows packed in the order of cells.
#[derive(Debug)]
pub(super) struct Packing<L> {
    pub device: Device,
    pub law: L,
    pub sweep: Sweep,
    pub packed: PackedPlaces,
    rows: u32,
}

/// Memory of rows packed in the order of cells.
#[derive(Debug)]
pub(super) struct PackedPlaces {
    position: Buffer<u8>,
    further: Buffer<u8>,
    squared_radius: Buffer<u8>,
    /// Rows of places; empty where positions hold them.
    row: Buffer<u32>,
}

impl PackedPlaces {
    pub fn new(device: &Device) -> Result<Self> {
        Ok(Self {
            position: Buffer::new(device, 0)?,
            further: Buffer::new(device, 0)?,
            squared_radius: Buffer::new(device, 0)?,
            row: Buffer::new(device, 0)?,
        })
    }

    /// Bytes of rows of places.
    pub fn bytes(&self) -> usize {
        self.row.bytes()
    }

    /// Bytes of packed rows.
    pub fn packed_bytes(&self) -> usize {
        self.position.bytes() + self.further.bytes() + self.squared_radius.bytes()
    }
}

impl<L: PairLaw> Packing<L> {
    pub fn new(device: &Device, law: L, precision: Precision) -> Result<Self> {
        let sweep = Sweep::new(device, &law, precision, false)?;
        Ok(Self { device: device.clone(), law, sweep, packed: PackedPlaces::new(device)?, rows: 0 })
    }

    /// The unit of a kernel file for the law.
    pub fn unit(&self, file: &'static str) -> Unit {
        let shape = self.sweep.shape();
        shape.unit(&self.law, file, shape.number())
    }

    /// Whether a position's last number is free and holds the row (ROW_INSIDE of kernels/search/place.cuh).
    fn row_inside() -> bool {
        <L::Prepared<f64> as Columns<f64>>::COUNT == 0 && L::CUTOFF != Cutoff::Either
    }

    /// Sizes the memory for the rows of a pass. Returns the columns to pack and the buffer of sums.
    pub fn prepare<'a>(
        &mut self,
        memory: &'a mut SweepMemory,
        pass: &Pass,
        inputs: &[&Buffer<f64>],
    ) -> Result<(SearchColumns, &'a Buffer<u8>)> {
        let shape: Shape = *self.sweep.shape();
        self.rows = rows_of_32_bits(pass.rows)?;
        let four = 4 * shape.real * pass.rows;
        self.packed.position.resize(four)?;
        self.packed.further.resize(four * shape.groups)?;
        self.packed.squared_radius.resize(if shape.own_radius { pass.rows * shape.real } else { 0 })?;
        self.packed.row.resize(if Self::row_inside() { 0 } else { pass.rows })?;
        let (columns, sums) = memory.columns(&shape, pass.rows, inputs)?;
        Ok((SearchColumns { radius: pass.radius.into(), inputs: columns }, sums))
    }

    /// The rows of a pass.
    pub fn rows(&self, pass: &Pass) -> SearchRows {
        SearchRows { position: pass.position.map(Input::from), id: pass.id.into(), count: self.rows }
    }

    /// The packed rows.
    pub fn places(&self) -> Places {
        Places {
            position: Output::cast(&self.packed.position),
            further: Output::cast(&self.packed.further),
            squared_radius: Output::cast(&self.packed.squared_radius),
            row: (&self.packed.row).into(),
            count: self.rows,
        }
    }

    /// The sums of a search.
    pub fn sums(&self, memory: &SweepMemory, pass: &Pass) -> SearchSums {
        SearchSums {
            cutoff: pass.cutoff,
            begin: pass.owned.start as u32,
            end: pass.owned.end as u32,
            active: pass.active.into(),
            sums: memory.sums(),
        }
    }
}

/// Prefix sums in place, and the items of occupied cells.
#[derive(Debug)]
pub(super) struct CountScan {
    device: Device,
    /// Published sums of tiles, then the numbers of tiles taken, of items, and of items taken.
    words: Buffer<u64>,
}

/// Offsets from the end of the words.
const WORDS: usize = 3;

impl CountScan {
    pub fn new(device: &Device) -> Result<Self> {
        Ok(Self { device: device.clone(), words: Buffer::new(device, 0)? })
    }

    /// Replaces counts by exclusive prefix sums; their number is a multiple of 4. With `items` (buffer, most
    /// particles of one), lists the items of cells of four counts.
    pub fn run(&mut self, counts: &Buffer<u32>, items: Option<(&Buffer<u32>, usize)>) -> Result<()> {
        let tiles = counts.len().div_ceil(SCAN_TILE).max(1);
        self.words.resize(tiles + WORDS)?;
        self.words.fill_bytes(0)?;
        let arguments = ScanCountsArguments {
            counts: counts.into(),
            count: counts.len() as u32,
            published: (&self.words).into(),
            tiles_taken: self.counter(0),
            items: items.map(|(items, _)| items).into(),
            item_count: self.counter(1),
            item_particles: items.map_or(1, |(_, most)| most as u32),
        };
        self.device.run(tiles, SCAN_THREADS, &arguments)
    }

    /// The address of a counter: tiles taken, items, items taken.
    fn counter(&self, index: usize) -> Output<u32> {
        Output::from_address(self.words.at(self.words.len() - WORDS + index))
    }

    /// The number of items.
    pub fn item_count(&self) -> Input<u32> {
        Input::from_address(self.words.at(self.words.len() - WORDS + 1))
    }

    /// The number of items taken, set to 0.
    pub fn items_taken(&mut self) -> Result<Output<u32>> {
        let last = self.words.len() - 1;
        self.words.fill_range(last..last + 1, 0)?;
        Ok(self.counter(2))
    }

    /// Allocated bytes.
    pub fn bytes(&self) -> usize {
        self.words.bytes()
    }
}
