//! Particles sorted into the cells of a grid (kernels/cells/sort.cu).

use super::super::arguments::cells::{CellGrid, CellParticles};
use super::super::arguments::cells_sort::{
    CountCellsArguments, CountTasksArguments, OrderCellsArguments, PlaceRowsArguments,
    SummarizeCellsArguments, WriteTasksArguments,
};
use super::super::arguments::{Arguments, Input, Output};
use super::super::launch::THREADS;
use super::super::pack::{Packed, Shape};
use super::super::scan::Scan;
use super::super::sort::rows_of_32_bits;
use super::super::sweep::Pass;
use super::super::{Buffer, Device, Unit};
use crate::space::{Boundary, SimulationBox};
use crate::{Error, Result};

/// Cells per row at most, and at least this many in any case: wider cells bound the memory of sparse boxes.
const CELLS_PER_ROW: usize = 8;
const FEWEST_CELLS: usize = 4096;

/// What a cell is wider than the interaction radius, relatively: more than rounding of positions in the box.
const MARGIN: f64 = 1e-9;

/// The cells of a box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    /// Cells of each dimension.
    pub counts: [usize; 3],
    /// Lower corner.
    pub lower: [f64; 3],
    /// Upper corner.
    pub upper: [f64; 3],
    /// Widths of a cell, at least the interaction radius.
    pub width: [f64; 3],
    periodic: [bool; 3],
}

impl Grid {
    /// The finest grid of a box whose cells are at least `reach` wide, with at most 8 cells per row (and at
    /// least 4096).
    pub fn new(bx: &SimulationBox, reach: f64, rows: usize) -> Self {
        let lengths = bx.lengths();
        let most = (CELLS_PER_ROW * rows).max(FEWEST_CELLS);
        let counts_of = |width: f64| -> [usize; 3] {
            // a cast of a large number saturates
            [0, 1, 2].map(|d| ((lengths[d] / (width * (1.0 + MARGIN))) as usize).clamp(1, most))
        };
        let cells = |counts: [usize; 3]| counts.iter().map(|&count| count as f64).product::<f64>();
        let mut width = reach.max(lengths.max() / most as f64);
        let mut counts = counts_of(width);
        while cells(counts) > most as f64 {
            width *= (cells(counts) / most as f64).cbrt().max(1.01);
            counts = counts_of(width);
        }
        Self {
            counts,
            lower: bx.lower.into(),
            upper: bx.upper.into(),
            width: [0, 1, 2].map(|d| lengths[d] / counts[d] as f64),
            periodic: bx.boundary.map(|boundary| boundary == Boundary::Periodic),
        }
    }

    /// Number of cells.
    pub fn cells(&self) -> usize {
        self.counts.iter().product()
    }

    /// Number of sub-boxes of some cells.
    pub fn boxes(&self, shape: [usize; 3]) -> usize {
        (0..3).map(|d| self.counts[d].div_ceil(shape[d])).product()
    }

    fn arguments(&self) -> CellGrid {
        CellGrid {
            lower: self.lower,
            upper: self.upper,
            width: self.width,
            inverse: self.width.map(|width| 1.0 / width),
            counts: self.counts.map(|count| count as u32),
            periodic: (0..3).map(|d| u32::from(self.periodic[d]) << d).sum(),
        }
    }
}

/// Particles in the order of cells, with the memory of their sort.
#[derive(Debug)]
pub struct Cells {
    device: Device,
    scan: Scan,
    grid: Option<Grid>,
    /// Rows of the last build.
    rows: usize,
    counts: Buffer<u32>,
    row_cells: Buffer<u32>,
    ranks: Buffer<u32>,
    placed: Buffer<u32>,
    sums: Buffer<u64>,
    starts: Buffer<u32>,
    /// Cells with particles, particles of the fullest cell, particles.
    summary: Buffer<u32>,
    found: [u32; 3],
    position: Buffer<u8>,
    further: Buffer<u8>,
    squared_radius: Buffer<u8>,
    sorted_rows: Buffer<u32>,
    sorted_cells: Buffer<u32>,
    task_sums: Buffer<u64>,
    task_boxes: Buffer<u32>,
    task_slices: Buffer<u32>,
}

impl Cells {
    /// Without memory yet.
    ///
    /// # Errors
    /// [`Error::Device`] when the device has failed.
    pub fn new(device: &Device) -> Result<Self> {
        let words = || Buffer::<u32>::new(device, 0);
        let bytes = || Buffer::<u8>::new(device, 0);
        let sums = || Buffer::<u64>::new(device, 0);
        Ok(Self {
            device: device.clone(),
            scan: Scan::new(device)?,
            grid: None,
            rows: 0,
            counts: words()?,
            row_cells: words()?,
            ranks: words()?,
            placed: words()?,
            sums: sums()?,
            starts: words()?,
            summary: Buffer::new(device, 3)?,
            found: [0; 3],
            position: bytes()?,
            further: bytes()?,
            squared_radius: bytes()?,
            sorted_rows: words()?,
            sorted_cells: words()?,
            task_sums: sums()?,
            task_boxes: words()?,
            task_slices: words()?,
        })
    }

    /// The grid of the last build.
    ///
    /// # Errors
    /// [`Error::Device`] before the first build.
    pub fn grid(&self) -> Result<&Grid> {
        let missing = || Error::device("no particles have been sorted into cells", "build the cells first");
        self.grid.as_ref().ok_or_else(missing)
    }

    /// Number of cells with particles.
    pub fn occupied(&self) -> usize {
        self.found[0] as usize
    }

    /// Number of particles of the fullest cell.
    pub fn fullest(&self) -> usize {
        self.found[1] as usize
    }

    /// Number of particles: rows that are no ghosts.
    pub fn particles(&self) -> usize {
        self.found[2] as usize
    }

    /// Allocated bytes.
    pub fn bytes(&self) -> usize {
        let words = [
            &self.counts,
            &self.row_cells,
            &self.ranks,
            &self.placed,
            &self.starts,
            &self.summary,
            &self.sorted_rows,
            &self.sorted_cells,
            &self.task_boxes,
            &self.task_slices,
        ];
        let words: usize = words.iter().map(|buffer| buffer.bytes()).sum();
        let columns = self.position.bytes() + self.further.bytes() + self.squared_radius.bytes();
        words + columns + self.sums.bytes() + self.task_sums.bytes()
    }

    /// Sorts the packed rows of a pass into cells that are at least `reach` wide, the largest interaction
    /// radius. Within a cell particles are in the order of rows. Waits for the device.
    ///
    /// # Errors
    /// [`Error::State`] when the reach exceeds half of a periodic edge, [`Error::Device`] when the device
    /// fails or its memory is too small.
    pub(super) fn build(&mut self, shape: &Shape, packed: &Packed, pass: &Pass, reach: f64) -> Result<()> {
        pass.bx.check_reach(reach)?;
        let grid = Grid::new(pass.bx, reach, pass.rows);
        let rows = rows_of_32_bits(pass.rows)?;
        let count = grid.cells();
        (self.grid, self.rows) = (Some(grid), pass.rows);
        self.counts.resize(count)?;
        self.counts.fill_bytes(0)?;
        for buffer in [
            &mut self.row_cells,
            &mut self.ranks,
            &mut self.placed,
            &mut self.sorted_rows,
            &mut self.sorted_cells,
        ] {
            buffer.resize(pass.rows)?;
        }
        let counting = CountCellsArguments {
            position: pass.position.map(Input::from),
            id: pass.id.into(),
            rows,
            grid: grid.arguments(),
            counts: (&self.counts).into(),
            cells: (&self.row_cells).into(),
            ranks: (&self.ranks).into(),
        };
        self.over(pass.rows, &counting)?;
        self.scan.sums(&self.counts, &mut self.sums)?;
        self.starts.resize(count + 1)?;
        self.summary.fill_bytes(0)?;
        let summarizing = SummarizeCellsArguments {
            count: count as u32,
            sums: (&self.sums).into(),
            starts: (&self.starts).into(),
            summary: (&self.summary).into(),
        };
        self.over(count + 1, &summarizing)?;
        let placing = PlaceRowsArguments {
            rows,
            cells: (&self.row_cells).into(),
            ranks: (&self.ranks).into(),
            sums: (&self.sums).into(),
            placed: (&self.placed).into(),
        };
        self.over(pass.rows, &placing)?;
        self.order(shape, packed, pass, &grid)?;
        self.summary.download_to(0, &mut self.found)
    }

    /// Gathers the packed numbers of particles in their final order.
    fn order(&mut self, shape: &Shape, packed: &Packed, pass: &Pass, grid: &Grid) -> Result<()> {
        let four = 4 * shape.real;
        self.position.resize(pass.rows * four)?;
        self.further.resize(pass.rows * four * shape.groups)?;
        self.squared_radius.resize(if shape.own_radius { pass.rows * shape.real } else { 0 })?;
        let squared_radius = if shape.own_radius { Input::cast(&packed.squared_radius) } else { Input::NULL };
        let ordering = OrderCellsArguments {
            position: pass.position.map(Input::from),
            packed_position: Input::cast(&packed.position),
            packed_further: Input::cast(&packed.further),
            packed_squared_radius: squared_radius,
            packed_rows: packed.rows as u64,
            groups: shape.groups as u32,
            grid: grid.arguments(),
            row_cells: (&self.row_cells).into(),
            placed: (&self.placed).into(),
            starts: (&self.starts).into(),
            count: grid.cells() as u32,
            sorted_position: Output::cast(&self.position),
            sorted_further: Output::cast(&self.further),
            sorted_squared_radius: Output::cast(&self.squared_radius),
            rows: (&self.sorted_rows).into(),
            cells: (&self.sorted_cells).into(),
            stride: pass.rows as u64,
        };
        let unit = Unit::new(OrderCellsArguments::UNIT).with("HILBRIUM_REAL", shape.number());
        let kernel = self.device.kernel(&unit)?;
        self.device.launch(&kernel, pass.rows.div_ceil(THREADS as usize), THREADS, &ordering)
    }

    /// Finds the tasks of blocks: the sub-boxes of `shape` cells that have particles, in slices of `slice`
    /// particles.
    ///
    /// # Errors
    /// Those of the device.
    pub(super) fn find_tasks(&mut self, shape: [usize; 3], slice: usize) -> Result<()> {
        let grid = *self.grid()?;
        let boxes = grid.boxes(shape);
        // no longer needed for cells
        self.counts.resize(boxes)?;
        let counting = CountTasksArguments {
            grid: grid.arguments(),
            starts: (&self.starts).into(),
            shape: shape.map(|cells| cells as u32),
            boxes: boxes as u32,
            slice: slice as u32,
            slices: (&self.counts).into(),
        };
        self.over(boxes, &counting)?;
        self.scan.sums(&self.counts, &mut self.task_sums)?;
        let bound = boxes.min(self.occupied()) + self.particles() / slice;
        self.task_boxes.resize(bound)?;
        self.task_slices.resize(bound)?;
        let writing = WriteTasksArguments {
            boxes: boxes as u32,
            sums: (&self.task_sums).into(),
            task_boxes: (&self.task_boxes).into(),
            task_slices: (&self.task_slices).into(),
        };
        self.over(boxes, &writing)
    }

    /// Blocks that take tasks: at least the number of tasks.
    pub fn tasks(&self) -> usize {
        self.task_boxes.len()
    }

    /// The grid as an argument.
    pub(super) fn grid_arguments(&self) -> Result<CellGrid> {
        Ok(self.grid()?.arguments())
    }

    /// The particles as an argument.
    pub(super) fn particle_arguments(&self) -> CellParticles {
        CellParticles {
            position: Input::cast(&self.position),
            further: Input::cast(&self.further),
            squared_radius: Input::cast(&self.squared_radius),
            rows: (&self.sorted_rows).into(),
            cells: (&self.sorted_cells).into(),
            starts: (&self.starts).into(),
            stride: self.rows as u64,
        }
    }

    /// Sub-boxes and slices of the tasks, and where their number is.
    pub(super) fn task_arguments(&self) -> (Input<u32>, Input<u32>, Input<u64>) {
        let count = Input::at(&self.task_sums, self.task_sums.len() - 1);
        ((&self.task_boxes).into(), (&self.task_slices).into(), count)
    }

    /// Launches a kernel with a thread an item.
    fn over<A: Arguments>(&self, items: usize, arguments: &A) -> Result<()> {
        self.device.run(items.div_ceil(THREADS as usize), THREADS, arguments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Vec3d;

    fn cube(edge: f64) -> SimulationBox {
        SimulationBox { lower: Vec3d::zeros(), upper: Vec3d::repeat(edge), boundary: [Boundary::Open; 3] }
    }

    #[test]
    fn cells_are_as_wide_as_the_reach() {
        let grid = Grid::new(&cube(10.0), 1.3, 10_000);
        assert_eq!(grid.counts, [7; 3]);
        assert!(grid.width.iter().all(|&width| width >= 1.3));
        assert_eq!(grid.boxes([3, 2, 1]), 3 * 4 * 7);
        // exact multiples lose a cell to the margin
        assert_eq!(Grid::new(&cube(10.0), 1.0, 10_000).counts, [9; 3]);
        assert_eq!(Grid::new(&cube(1.0), 2.0, 10).counts, [1; 3]);
    }

    #[test]
    fn sparse_boxes_have_bounded_grids() {
        for edge in [1e3, 1e9, 1e200] {
            let grid = Grid::new(&cube(edge), 1.0, 1000);
            assert!(grid.cells() <= 8000, "{:?}", grid.counts);
            assert!(grid.cells() > 4000, "{:?}", grid.counts);
        }
        // flat and long
        let mut long = cube(1.0);
        long.upper[2] = 1e12;
        assert!(Grid::new(&long, 1e-3, 1000).cells() <= 8000);
    }
}
