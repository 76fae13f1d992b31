//! Type erasure of laws: a sweep is organized once per element type of the lanes, and calls the law through
//! [`LawLanes`], once per task of many rows. Only the code behind these calls is compiled for every law.

use super::finish::{Finish, OutputRows, ReducedSums, finish_rows};
use super::inner::{Chunk, LawChunk, supports_tiles};
use super::law::{Columns, Cutoff, PairLaw, Sum};
use super::pack::{Layout, PrepareTask, Source};
use super::record::quads;
use super::sums::ChunkSums;
use crate::neighbors::NeighborList;
use crate::particles::Field;
use crate::simd::{Instructions, Scalar, dispatch};

/// Constants of a law.
#[derive(Clone, Copy, Debug)]
pub struct LawShape {
    /// [`PairLaw::CUTOFF`]
    pub cutoff: Cutoff,
    /// [`PairLaw::INPUTS`]
    pub inputs: &'static [Field],
    /// [`PairLaw::OUTPUTS`]
    pub outputs: &'static [Field],
    /// [`PairLaw::SUMS`]
    pub sums: &'static [Sum],
    /// [`PairLaw::PREPARES`]
    pub prepares: bool,
    /// Columns of [`PairLaw::Prepared`].
    pub prepared: usize,
    /// Quads of a particle's record.
    pub quads: usize,
    /// Whether tiles support the law.
    pub supports_tiles: bool,
}

impl LawShape {
    /// Constants of a law.
    pub const fn of<L: PairLaw>() -> Self {
        LawShape {
            cutoff: L::CUTOFF,
            inputs: L::INPUTS,
            outputs: L::OUTPUTS,
            sums: L::SUMS,
            prepares: L::PREPARES,
            prepared: L::Prepared::<f64>::COUNT,
            quads: quads::<L>(),
            supports_tiles: supports_tiles::<L>(),
        }
    }

    /// Input layout of a sweep over a list.
    pub fn layout(&self, list: &NeighborList) -> Layout {
        match list {
            NeighborList::Tiled(_) if self.supports_tiles => Layout::Records(self.quads),
            _ => Layout::Columns,
        }
    }
}

/// A law in lanes with elements `T`; see [`PairLaw`] for its operations.
pub trait LawLanes<T: Scalar>: Sync {
    /// Constants of the law.
    fn shape(&self) -> LawShape;

    /// Prepares the pair inputs of consecutive clusters from row `first` on. `values` has `places.0` values
    /// per cluster, those of the inputs from `places.1` on.
    fn prepare(
        &self,
        instructions: Instructions,
        source: &Source,
        first: usize,
        places: (usize, usize),
        values: &mut [T],
    );

    /// Sweeps a chunk of super-clusters.
    fn sweep(&self, instructions: Instructions, chunk: Chunk<T>) -> ChunkSums<T>;

    /// Finishes rows with reduced sums.
    fn finish(&self, finish: &Finish, sums: &dyn ReducedSums, part: &mut OutputRows);
}

impl<L: PairLaw, T: Scalar> LawLanes<T> for L {
    fn shape(&self) -> LawShape {
        const { LawShape::of::<L>() }
    }

    fn prepare(
        &self,
        instructions: Instructions,
        source: &Source,
        first: usize,
        (width, begin): (usize, usize),
        values: &mut [T],
    ) {
        if const { L::PREPARES } {
            dispatch(instructions, PrepareTask { law: self, source, first, width, begin, values });
        }
    }

    fn sweep(&self, instructions: Instructions, chunk: Chunk<T>) -> ChunkSums<T> {
        dispatch(instructions, LawChunk { law: self, chunk })
    }

    fn finish(&self, finish: &Finish, sums: &dyn ReducedSums, part: &mut OutputRows) {
        finish_rows(self, finish, sums, part);
    }
}
