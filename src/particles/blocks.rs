//! Parallel loops over owned rows in blocks of fixed size. Sums over blocks have the same bits for any number
//! of threads.

use std::ops::Range;

use fearless_simd::Simd;

use crate::parallel::{map_items, split_range};
use crate::particles::{Field, Particles};
use crate::simd::{Instructions, Task, dispatch};

/// Rows per block: its columns fit a core's cache.
pub const BLOCK_ROWS: usize = 2048;

/// Some columns of consecutive owned rows.
pub struct RowBlock<'a, const N: usize> {
    /// First row.
    pub first: usize,
    /// Ids of the rows.
    pub id: &'a [u64],
    /// The requested columns, in the order of the request; all of one length.
    pub columns: [&'a mut [f64]; N],
}

/// SIMD task on every block.
pub trait BlockTask<const N: usize>: Sync {
    /// Result of a block.
    type Output: Send + Sync;
    /// Columns that the task needs.
    const WANTED: [(Field, usize); N];
    /// Processes a block. Must be `#[inline(always)]`, as all functions it calls, or it is compiled without
    /// the processor's wider instructions.
    fn run<S: Simd>(&self, simd: S, block: RowBlock<N>) -> Self::Output;
}

/// Runs a task on all blocks of the owned rows. Returns the results in row order.
pub fn map_blocks_simd<const N: usize, W: BlockTask<N>>(
    particles: &mut Particles,
    work: &W,
) -> Vec<W::Output> {
    map_items(row_blocks(particles, W::WANTED), |block| dispatch(Instructions::Best, OnBlock { block, work }))
}

/// [`map_blocks_simd`] for work that does not gain from wider instructions.
pub fn map_blocks<const N: usize, O: Send + Sync>(
    particles: &mut Particles,
    wanted: [(Field, usize); N],
    work: impl Fn(RowBlock<N>) -> O + Send + Sync,
) -> Vec<O> {
    map_items(row_blocks(particles, wanted), work)
}

/// Splits the owned rows into blocks, in order; for loops that need more of a row than columns.
pub fn row_blocks<const N: usize>(
    particles: &mut Particles,
    wanted: [(Field, usize); N],
) -> Vec<RowBlock<'_, N>> {
    let owned = particles.owned();
    let (ids, columns) = particles.ids_and_components_mut(wanted);
    let mut columns = columns.map(|column| column[owned.clone()].chunks_mut(BLOCK_ROWS));
    let block = |(k, id)| RowBlock {
        first: owned.start + k * BLOCK_ROWS,
        id,
        columns: std::array::from_fn(|c| columns[c].next().unwrap_or_default()),
    };
    ids[owned.clone()].chunks(BLOCK_ROWS).enumerate().map(block).collect()
}

/// Reduces read-only results over the blocks of `rows`. `join` must be associative and commutative; returns
/// `None` without rows.
pub fn reduce_blocks<O: Send + Sync>(
    rows: Range<usize>,
    reduce: impl Fn(Range<usize>) -> O + Send + Sync,
    join: impl Fn(O, O) -> O + Send + Sync,
) -> Option<O> {
    map_items(split_range(rows, BLOCK_ROWS), reduce).into_iter().reduce(join)
}

struct OnBlock<'a, const N: usize, W> {
    block: RowBlock<'a, N>,
    work: &'a W,
}

impl<const N: usize, W: BlockTask<N>> Task for OnBlock<'_, N, W> {
    type Output = W::Output;
    type Scalar = f64;
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> W::Output {
        self.work.run(simd, self.block)
    }
}
