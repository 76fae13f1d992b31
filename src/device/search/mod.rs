//! Neighbor search without lists on a device (kernels/search): sums of a law over the pairs of packed rows,
//! by grids of cells. [`super::sweep::Sweep`] computes the law's outputs from them.
//!
//! | method | source | between build and search |
//! |---|---|---|
//! | [`TwoLevel`] | Gross, Koester and Krueger, CGVC 2019 | coarse cells in memory, local ones in shared memory |
//! | [`CountingGrid`] | Hoetzlein, GTC 2013 | counters of all cells |
//! | [`SortedGrid`] | Green 2012 | particles sorted by cell, first and last place of each cell |
//!
//! Each moves the rows to the order of its cells, with positions relative to the center of their cell, so
//! that single precision suffices and periodic images are an integer number of cells away. Sums go to the
//! rows that they belong to. A law's `interact` is the function for each neighbor, its `finish` the one at
//! the end.

mod counting_grid;
mod grid;
mod places;
mod sorted_grid;
mod two_level;

pub use counting_grid::CountingGrid;
pub use grid::{Grid, Space};
pub use sorted_grid::SortedGrid;
pub use two_level::{TwoLevel, TwoLevelMemory};

use super::sweep::{Pass, SweepMemory};
use super::{Buffer, Device};
use crate::Result;
use crate::pair::{PairLaw, Precision};

/// Threads a block of kernels over rows or places.
const THREADS: u32 = 128;

/// A method of neighbor search for one law.
pub trait NeighborSearch {
    /// Counts or sorts rows, and packs them in the order of cells with the law's input columns, component by
    /// component.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device fails or its memory is too small, or for 2^30 rows or more.
    fn build(
        &mut self,
        memory: &mut SweepMemory,
        pass: &Pass,
        space: &Space,
        inputs: &[&Buffer<f64>],
    ) -> Result<()>;

    /// Sums over the pairs of the owned rows with all rows, after a build with the same pass.
    ///
    /// # Errors
    /// Those of the device.
    fn search(&mut self, memory: &mut SweepMemory, pass: &Pass) -> Result<()>;

    /// Outputs of the owned rows from the sums.
    ///
    /// # Errors
    /// Those of the device.
    fn finish(&self, memory: &mut SweepMemory, pass: &Pass, outputs: &[&Buffer<f64>]) -> Result<()>;

    /// Bytes allocated beside particles, packed rows and sums.
    fn bytes(&self) -> usize;

    /// Bytes of packed rows.
    fn packed_bytes(&self) -> usize;

    /// Numbers of cells of the grid in memory, after a build.
    fn cells(&self) -> [u32; 3];

    /// Evaluates the law for the owned rows and writes its outputs: build, search, finish.
    ///
    /// # Errors
    /// As [`NeighborSearch::build`].
    fn run(
        &mut self,
        memory: &mut SweepMemory,
        pass: &Pass,
        space: &Space,
        inputs: &[&Buffer<f64>],
        outputs: &[&Buffer<f64>],
    ) -> Result<()> {
        self.build(memory, pass, space, inputs)?;
        self.search(memory, pass)?;
        self.finish(memory, pass, outputs)
    }
}

/// The methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// [`TwoLevel`].
    TwoLevel,
    /// [`CountingGrid`].
    CountingGrid,
    /// [`SortedGrid`].
    SortedGrid,
}

impl Method {
    /// All methods.
    pub const ALL: [Self; 3] = [Self::TwoLevel, Self::CountingGrid, Self::SortedGrid];

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::TwoLevel => "two levels",
            Self::CountingGrid => "counting grid",
            Self::SortedGrid => "sorted grid",
        }
    }

    /// The method for a law. `width` is that of cells, or what the method chooses.
    ///
    /// # Errors
    /// Those of [`Device::kernel`].
    pub fn of<L: PairLaw>(
        self,
        device: &Device,
        law: L,
        precision: Precision,
        width: Option<f64>,
    ) -> Result<Box<dyn NeighborSearch>> {
        Ok(match self {
            Self::TwoLevel => Box::new(TwoLevel::new(device, law, precision, width)?),
            Self::CountingGrid => Box::new(CountingGrid::new(device, law, precision, width)?),
            Self::SortedGrid => Box::new(SortedGrid::new(device, law, precision, width)?),
        })
    }
}
