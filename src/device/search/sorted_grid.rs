//! The sorted grid (kernels/search/sorted_grid.cu) after Green, "Particle simulation using CUDA", NVIDIA
//! 2012.

use super::super::arguments::search_count::KeyCellsArguments;
use super::super::arguments::search_sorted_grid::{GatherCellsArguments, SearchSortedGridArguments};
use super::super::arguments::{Arguments, Output};
use super::super::sort::Sort;
use super::super::sweep::{Pass, SweepMemory};
use super::super::{Buffer, Device};
use super::counting_grid::most_cells;
use super::grid::{Grid, Space};
use super::places::Packing;
use super::{NeighborSearch, THREADS};
use crate::Result;
use crate::pair::{PairLaw, Precision};

/// The search of a law over particles sorted by cell. Sums are reproducible bit for bit.
///
/// Beside packed rows it keeps the sort, 24 bytes a row (28 for most laws, see [`super::TwoLevel`]), and 8 a
/// cell. The sort is by as many bits as cell numbers have.
#[derive(Debug)]
pub struct SortedGrid<L> {
    packing: Packing<L>,
    width: Option<f64>,
    sort: Sort,
    keys: Buffer<u64>,
    starts: Buffer<u32>,
    ends: Buffer<u32>,
    grid: Option<Grid>,
}

impl<L: PairLaw> SortedGrid<L> {
    /// Compiles the kernels of a law, unless they are cached. `width` is that of cells; by default the
    /// largest distance of a pair.
    ///
    /// # Errors
    /// Those of [`Device::kernel`].
    pub fn new(device: &Device, law: L, precision: Precision, width: Option<f64>) -> Result<Self> {
        Ok(Self {
            packing: Packing::new(device, law, precision)?,
            width,
            sort: Sort::new(device)?,
            keys: Buffer::new(device, 0)?,
            starts: Buffer::new(device, 0)?,
            ends: Buffer::new(device, 0)?,
            grid: None,
        })
    }
}

impl<L: PairLaw> NeighborSearch for SortedGrid<L> {
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
        self.keys.resize(pass.rows)?;
        self.starts.resize(grid.count())?;
        self.starts.fill_bytes(0xff)?;
        self.ends.resize(grid.count())?;
        let (rows, cells) = (self.packing.rows(pass), grid.arguments());
        let blocks = pass.rows.div_ceil(THREADS as usize);
        device.run(blocks, THREADS, &KeyCellsArguments { rows, grid: cells, keys: (&self.keys).into() })?;
        // rows without a cell have the number of cells as their key
        let bits = usize::BITS - grid.count().leading_zeros();
        self.sort.by_lowest_bits(&mut self.keys, bits)?;
        let arguments = GatherCellsArguments {
            rows,
            columns,
            grid: cells,
            keys: (&self.keys).into(),
            order: self.sort.rows().into(),
            starts: (&self.starts).into(),
            ends: (&self.ends).into(),
            places: self.packing.places(),
            sums: Output::cast(sums),
        };
        let kernel = device.kernel(&self.packing.unit(GatherCellsArguments::UNIT))?;
        device.launch(&kernel, blocks, THREADS, &arguments)
    }

    fn search(&mut self, memory: &mut SweepMemory, pass: &Pass) -> Result<()> {
        let Some(grid) = self.grid.filter(|_| pass.rows > 0) else { return Ok(()) };
        let arguments = SearchSortedGridArguments {
            places: self.packing.places(),
            keys: (&self.keys).into(),
            starts: (&self.starts).into(),
            ends: (&self.ends).into(),
            grid: grid.arguments(),
            sums: self.packing.sums(memory, pass),
        };
        let device = &self.packing.device;
        let kernel = device.kernel(&self.packing.unit(SearchSortedGridArguments::UNIT))?;
        device.launch(&kernel, pass.rows.div_ceil(THREADS as usize), THREADS, &arguments)
    }

    fn finish(&self, memory: &mut SweepMemory, pass: &Pass, outputs: &[&Buffer<f64>]) -> Result<()> {
        self.packing.sweep.finish(memory, pass, outputs)
    }

    fn bytes(&self) -> usize {
        let cells = self.starts.bytes() + self.ends.bytes();
        self.packing.packed.bytes() + self.sort.bytes() + self.keys.bytes() + cells
    }

    fn packed_bytes(&self) -> usize {
        self.packing.packed.packed_bytes()
    }

    fn cells(&self) -> [u32; 3] {
        self.grid.map_or([0; 3], |grid| grid.cells)
    }
}
