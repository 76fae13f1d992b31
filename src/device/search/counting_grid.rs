//! The counting grid (kernels/search/counting_grid.cu) after Hoetzlein, "Fast fixed-radius nearest neighbors:
//! interactive million-particle fluids", GTC 2013.

use super::super::arguments::search_count::CountCellsArguments;
use super::super::arguments::search_counting_grid::{MoveToCellsArguments, SearchCountingGridArguments};
use super::super::arguments::{Arguments, Output};
use super::super::sweep::{Pass, SweepMemory};
use super::super::{Buffer, Device};
use super::grid::{Grid, Space};
use super::places::{CountScan, Packing};
use super::{NeighborSearch, THREADS};
use crate::Result;
use crate::pair::{PairLaw, Precision};

/// Most cells: 2^30, and those that an eighth of the device's memory holds.
const MOST_CELLS: usize = 1 << 30;
const SHARE_OF_MEMORY: u64 = 8;

/// The most cells of a grid with 4 bytes a cell in an eighth of the device's memory.
pub(super) fn most_cells(device: &Device) -> Result<usize> {
    let (_, total) = device.memory()?;
    Ok(((total / SHARE_OF_MEMORY / 4) as usize).min(MOST_CELLS))
}

/// The search of a law over a counting grid. Sums depend on the order of atomic counts: their last bits
/// differ between runs.
///
/// Beside packed rows it keeps 8 bytes a row (12 for most laws, see [`super::TwoLevel`]) and 4 a cell, in
/// place of 8 n + 8 m^3 where prefix sums are not in place.
#[derive(Debug)]
pub struct CountingGrid<L> {
    packing: Packing<L>,
    width: Option<f64>,
    scan: CountScan,
    counts: Buffer<u32>,
    cell: Buffer<u32>,
    place: Buffer<u32>,
    grid: Option<Grid>,
}

impl<L: PairLaw> CountingGrid<L> {
    /// Compiles the kernels of a law, unless they are cached. `width` is that of cells; by default the
    /// largest distance of a pair.
    ///
    /// # Errors
    /// Those of [`Device::kernel`].
    pub fn new(device: &Device, law: L, precision: Precision, width: Option<f64>) -> Result<Self> {
        Ok(Self {
            packing: Packing::new(device, law, precision)?,
            width,
            scan: CountScan::new(device)?,
            counts: Buffer::new(device, 0)?,
            cell: Buffer::new(device, 0)?,
            place: Buffer::new(device, 0)?,
            grid: None,
        })
    }
}

impl<L: PairLaw> NeighborSearch for CountingGrid<L> {
    fn build(
        &mut self,
        memory: &mut SweepMemory,
        pass: &Pass,
        space: &Space,
        inputs: &[&Buffer<f64>],
    ) -> Result<()> {
        let device = self.packing.device.clone();
        let grid = Grid::new(pass.bx, space, self.width.unwrap_or(space.reach), most_cells(&device)?);
        self.grid = Some(grid);
        let (columns, sums) = self.packing.prepare(memory, pass, inputs)?;
        if pass.rows == 0 {
            return Ok(());
        }
        self.counts.resize((grid.count() + 1).next_multiple_of(4))?;
        self.counts.fill_bytes(0)?;
        self.cell.resize(pass.rows)?;
        self.place.resize(pass.rows)?;
        let (rows, cells) = (self.packing.rows(pass), grid.arguments());
        let arguments = CountCellsArguments {
            rows,
            grid: cells,
            counts: (&self.counts).into(),
            cell: (&self.cell).into(),
            place: (&self.place).into(),
        };
        let blocks = pass.rows.div_ceil(THREADS as usize);
        device.run(blocks, THREADS, &arguments)?;
        self.scan.run(&self.counts, None)?;
        let arguments = MoveToCellsArguments {
            rows,
            columns,
            grid: cells,
            starts: (&self.counts).into(),
            cell: (&self.cell).into(),
            place: (&self.place).into(),
            places: self.packing.places(),
            sums: Output::cast(sums),
        };
        let kernel = device.kernel(&self.packing.unit(MoveToCellsArguments::UNIT))?;
        device.launch(&kernel, blocks, THREADS, &arguments)
    }

    fn search(&mut self, memory: &mut SweepMemory, pass: &Pass) -> Result<()> {
        let Some(grid) = self.grid.filter(|_| pass.rows > 0) else { return Ok(()) };
        let arguments = SearchCountingGridArguments {
            places: self.packing.places(),
            starts: (&self.counts).into(),
            cell: (&self.cell).into(),
            grid: grid.arguments(),
            sums: self.packing.sums(memory, pass),
        };
        let device = &self.packing.device;
        let kernel = device.kernel(&self.packing.unit(SearchCountingGridArguments::UNIT))?;
        device.launch(&kernel, pass.rows.div_ceil(THREADS as usize), THREADS, &arguments)
    }

    fn finish(&self, memory: &mut SweepMemory, pass: &Pass, outputs: &[&Buffer<f64>]) -> Result<()> {
        self.packing.sweep.finish(memory, pass, outputs)
    }

    fn bytes(&self) -> usize {
        let rows = self.packing.packed.bytes() + self.cell.bytes() + self.place.bytes();
        rows + self.counts.bytes() + self.scan.bytes()
    }

    fn packed_bytes(&self) -> usize {
        self.packing.packed.packed_bytes()
    }

    fn cells(&self) -> [u32; 3] {
        self.grid.map_or([0; 3], |grid| grid.cells)
    }
}
