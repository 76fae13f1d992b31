//! The two-level search (kernels/search/two_level.cu) after Gross, Koester and Krueger, "Fast and Efficient
//! Nearest Neighbor Search for Particle Simulations", CGVC 2019.

use super::super::arguments::search_count::{CountInGlobalArguments, CountInSharedArguments, CountSections};
use super::super::arguments::search_two_level::{MoveToSectionsArguments, SearchTwoLevelArguments};
use super::super::arguments::{Arguments, Output};
use super::super::launch::WARP;
use super::super::sweep::{Pass, SweepMemory};
use super::super::{Buffer, Device, Unit};
use super::grid::{Grid, Space};
use super::places::{CountScan, PackedPlaces, Packing};
use super::{NeighborSearch, THREADS};
use crate::Result;
use crate::pair::{PairLaw, Precision};

/// As in kernels/search: sections of a coarse cell; threads and cells of a block that counts in shared
/// memory, and rows that its counters of 16 bits hold.
const SECTIONS: usize = 4;
const COUNT_THREADS: u32 = 1024;
const SHARED_CELLS: usize = 6144;
const MOST_COUNTED: usize = 65_535;

/// Rows a coarse cell, at least, in the mean: bounds the memory of cells, 24 bytes each, by 3 bytes a row.
const ROWS_OF_CELL: usize = 8;

/// Most coarse cells of a given width.
const MOST_CELLS: usize = 1 << 24;

/// Threads of a block for few and for many particles, its local cells, and how many blocks fill a
/// multiprocessor.
const BLOCKS: [Block; 2] = [
    Block { threads: 128, local_cells: 1024, resident: 8 },
    Block { threads: 384, local_cells: 2048, resident: 3 },
];

#[derive(Clone, Copy, Debug)]
struct Block {
    threads: usize,
    local_cells: usize,
    resident: usize,
}

impl Block {
    /// Mean number of particles in reach of a cell for which few cells need a second batch: a batch ends when
    /// there is no more room for one particle a thread.
    fn usual(&self, real: usize) -> f64 {
        let capacity = self.threads * if real == 4 { 4 } else { 2 };
        FILLED * (capacity - self.threads) as f64
    }
}

/// Share of that room that the mean number of particles fills.
const FILLED: f64 = 0.97;

/// Blocks for each one that is resident, so that their ends do not leave multiprocessors idle.
const ROUNDS: usize = 2;

/// Fewest particles of a coarse cell, in the mean: those of a warp.
const FEWEST: f64 = 32.0;

/// Most particles of an item: 4 rounds of a block.
const ROUNDS_OF_ITEM: usize = 4;

/// The two-level search of a law. Sums depend on the order of atomic counts: their last bits differ between
/// runs.
///
/// Beside packed rows it keeps 4 bytes a row (none for laws without inputs and with one or their own cutoff),
/// 16 bytes a coarse cell, and 8 bytes for each occupied cell and for each `4 * threads` rows.
#[derive(Debug)]
pub struct TwoLevel<L> {
    packing: Packing<L>,
    width: Option<f64>,
    scan: CountScan,
    sections: Buffer<u32>,
    items: Buffer<u32>,
    built: Option<Built>,
}

/// Memory that the searches of several laws share, one after the other.
#[derive(Debug)]
pub struct TwoLevelMemory {
    packed: PackedPlaces,
    scan: CountScan,
    sections: Buffer<u32>,
    items: Buffer<u32>,
}

impl TwoLevelMemory {
    /// Without memory yet.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device has failed.
    pub fn new(device: &Device) -> Result<Self> {
        Ok(Self {
            packed: PackedPlaces::new(device)?,
            scan: CountScan::new(device)?,
            sections: Buffer::new(device, 0)?,
            items: Buffer::new(device, 0)?,
        })
    }

    /// Allocated bytes beside packed rows.
    pub fn bytes(&self) -> usize {
        self.packed.bytes() + self.scan.bytes() + self.sections.bytes() + self.items.bytes()
    }
}

/// What a build has chosen.
#[derive(Clone, Copy, Debug)]
struct Built {
    grid: Grid,
    block: Block,
    local: [u32; 3],
    local_scale: [f64; 3],
    reach: f64,
}

impl<L: PairLaw> TwoLevel<L> {
    /// Compiles the kernels of a law, unless they are cached. `width` is that of coarse cells, of which there
    /// are then at most 2^24. By default it follows the number of particles: as many in reach of a cell as
    /// shared memory holds, and fewer if these cells would not fill the device, with at least 8 rows a cell
    /// in the mean.
    ///
    /// # Errors
    /// Those of [`Device::kernel`].
    pub fn new(device: &Device, law: L, precision: Precision, width: Option<f64>) -> Result<Self> {
        Ok(Self {
            packing: Packing::new(device, law, precision)?,
            width,
            scan: CountScan::new(device)?,
            sections: Buffer::new(device, 0)?,
            items: Buffer::new(device, 0)?,
            built: None,
        })
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.packing.device
    }

    /// Exchanges the memory of the search with another one. What was built is lost.
    pub fn swap_memory(&mut self, memory: &mut TwoLevelMemory) {
        std::mem::swap(&mut self.packing.packed, &mut memory.packed);
        std::mem::swap(&mut self.scan, &mut memory.scan);
        std::mem::swap(&mut self.sections, &mut memory.sections);
        std::mem::swap(&mut self.items, &mut memory.items);
        self.built = None;
    }

    /// The unit of kernels for a block.
    fn unit(&self, block: Block) -> Unit {
        self.packing.unit(SearchTwoLevelArguments::UNIT).with("HILBRIUM_SEARCH_THREADS", block.threads)
    }

    /// Chooses grid and block.
    fn choose(&self, pass: &Pass, space: &Space) -> Built {
        let real = self.packing.sweep.shape().real;
        let most = if self.width.is_some() { MOST_CELLS } else { (pass.rows / ROWS_OF_CELL).max(1) };
        let (rows, lengths) = (pass.rows as f64, space.lengths());
        // mean number of particles in a cuboid
        let within = |edge: [f64; 3]| {
            let share = |d: usize| if lengths[d] > 0.0 { (edge[d] / lengths[d]).min(1.0) } else { 1.0 };
            rows * share(0) * share(1) * share(2)
        };
        let width = self.width.unwrap_or_else(|| {
            let blocks = self.packing.device.multiprocessors() as usize * BLOCKS[1].resident * ROUNDS;
            let own = (rows / blocks as f64).max(FEWEST);
            let full = BLOCKS[1].usual(real);
            let fits =
                |width: f64| within([width + 2.0 * space.reach; 3]) <= full && within([width; 3]) <= own;
            let (mut low, mut high) = (0.0, lengths.max().max(space.reach));
            for _ in 0..40 {
                let middle = 0.5 * (low + high);
                if fits(middle) { low = middle } else { high = middle }
            }
            low
        });
        let grid = Grid::new(pass.bx, space, width, most);
        let mean = within(grid.width.map(|width| width + 2.0 * space.reach));
        let block = match mean <= BLOCKS[0].usual(real) {
            true => BLOCKS[0],
            false => BLOCKS[1],
        };
        let (local, local_scale) = local_cells(&grid, space.reach, block.local_cells);
        Built { grid, block, local, local_scale, reach: space.reach }
    }
}

/// Local cells of a widened coarse cell, wider than the reach: their numbers, and cells per length.
fn local_cells(grid: &Grid, reach: f64, most: usize) -> ([u32; 3], [f64; 3]) {
    let edge = grid.width.map(|width| width + 2.0 * reach);
    // above the rounding of local cell numbers in single precision
    let least = reach * 1.001;
    let mut width = least.max((edge[0] * edge[1] * edge[2] / most as f64).cbrt());
    loop {
        let cells = edge.map(|edge| (edge / width).floor().max(1.0));
        if cells[0] * cells[1] * cells[2] <= most as f64 {
            let scale = [0, 1, 2].map(|d| cells[d] / edge[d]);
            return (cells.map(|cells| cells as u32), scale);
        }
        width *= 1.02;
    }
}

impl<L: PairLaw> NeighborSearch for TwoLevel<L> {
    fn build(
        &mut self,
        memory: &mut SweepMemory,
        pass: &Pass,
        space: &Space,
        inputs: &[&Buffer<f64>],
    ) -> Result<()> {
        let built = self.choose(pass, space);
        self.built = Some(built);
        let (columns, sums) = self.packing.prepare(memory, pass, inputs)?;
        if pass.rows == 0 {
            return Ok(());
        }
        let device = self.packing.device.clone();
        let (rows, grid) = (self.packing.rows(pass), built.grid.arguments());
        let cells = built.grid.count();
        self.sections.resize(SECTIONS * cells)?;
        self.sections.fill_bytes(0)?;
        let count = CountSections { rows, grid, reach: built.reach, sections: (&self.sections).into() };
        if cells <= SHARED_CELLS {
            let most = device.multiprocessors() as usize;
            let blocks = pass.rows.div_ceil(COUNT_THREADS as usize).min(most);
            let blocks = blocks
                .max(pass.rows.div_ceil(MOST_COUNTED / COUNT_THREADS as usize * COUNT_THREADS as usize));
            device.run(blocks, COUNT_THREADS, &CountInSharedArguments { count })?;
        } else {
            let blocks = pass.rows.div_ceil(THREADS as usize);
            device.run(blocks, THREADS, &CountInGlobalArguments { count })?;
        }
        let of_item = ROUNDS_OF_ITEM * built.block.threads;
        self.items.resize(2 * (cells.min(pass.rows) + pass.rows / of_item))?;
        self.scan.run(&self.sections, Some((&self.items, of_item)))?;
        let arguments = MoveToSectionsArguments {
            rows,
            columns,
            grid,
            reach: built.reach,
            sections: (&self.sections).into(),
            places: self.packing.places(),
            sums: Output::cast(sums),
        };
        let kernel = device.kernel(&self.unit(built.block))?;
        device.launch(&kernel, pass.rows.div_ceil(THREADS as usize), THREADS, &arguments)
    }

    fn search(&mut self, memory: &mut SweepMemory, pass: &Pass) -> Result<()> {
        let Some(built) = self.built.filter(|_| pass.rows > 0) else { return Ok(()) };
        let block = built.block;
        let arguments = SearchTwoLevelArguments {
            places: self.packing.places(),
            sections: (&self.sections).into(),
            items: (&self.items).into(),
            item_count: self.scan.item_count(),
            items_taken: self.scan.items_taken()?,
            item_particles: (ROUNDS_OF_ITEM * block.threads) as u32,
            grid: built.grid.arguments(),
            local: built.local,
            local_scale: built.local_scale,
            reach: built.reach,
            sums: self.packing.sums(memory, pass),
        };
        let unit = self.unit(block);
        let device = &self.packing.device;
        let blocks = (self.items.len() / 2).min(device.multiprocessors() as usize * block.resident);
        debug_assert!(block.threads.is_multiple_of(WARP), "whole warps");
        device.launch(&device.kernel(&unit)?, blocks, block.threads as u32, &arguments)
    }

    fn finish(&self, memory: &mut SweepMemory, pass: &Pass, outputs: &[&Buffer<f64>]) -> Result<()> {
        self.packing.sweep.finish(memory, pass, outputs)
    }

    fn bytes(&self) -> usize {
        self.packing.packed.bytes() + self.scan.bytes() + self.sections.bytes() + self.items.bytes()
    }

    fn packed_bytes(&self) -> usize {
        self.packing.packed.packed_bytes()
    }

    fn cells(&self) -> [u32; 3] {
        self.built.map_or([0; 3], |built| built.grid.cells)
    }
}
