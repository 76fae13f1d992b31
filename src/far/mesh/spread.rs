//! Spreading particles onto a brick of the mesh, in lanes and threads.
//!
//! Particles are in Hilbert order, so consecutive ones touch a small box of the mesh. 1. A chunk of
//! `CHUNK` particles is divided into pieces, and each piece is spread into a block of its own: the box of
//! its mesh points, in tiles of four points in z times some rows in y, one vector each. 2. Threads that own
//! rows of the brick add the blocks, in the order of particles. There are no atomic operations, and the sums
//! do not depend on the number of threads. The memory of blocks is bounded by rounds of chunks.

pub(super) mod kernel;
pub(super) mod locate;
pub(super) mod pieces;
#[cfg(test)]
pub(super) mod samples;
pub(super) mod scalar;
#[cfg(test)]
mod tests;
pub(super) mod weights;

use super::{Brick, MeshGeometry, Window};
use crate::parallel::{map_items, split_range};
use crate::simd::{Instructions, Task, dispatch};
use fearless_simd::Simd;
use kernel::{ChunkBlocks, add_blocks};
use locate::{Axis, CHUNK};
pub use scalar::SpreadScalar;
use std::ops::Range;
use weights::Polynomials;

/// Chunks per thread in a round.
const ROUND_CHUNKS: usize = 8;

/// Parts of the brick per thread: more than one, as a round touches some parts only.
const PARTS: usize = 4;

/// Spreads particles onto bricks. Keeps its buffers.
pub struct Spreader<S: SpreadScalar> {
    chunks: Vec<ChunkBlocks<S>>,
    instructions: Instructions,
}

impl<S: SpreadScalar> Default for Spreader<S> {
    fn default() -> Self {
        Spreader { chunks: Vec::new(), instructions: Instructions::Best }
    }
}

impl<S: SpreadScalar> Spreader<S> {
    /// No buffers yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same on at most these instructions.
    #[cfg(test)]
    pub(super) fn on(instructions: Instructions) -> Self {
        Spreader { instructions, ..Self::default() }
    }

    /// Sets the values of the brick to the sums of value times weight of all particles, see
    /// [`super::naive::spread`]. Sums are in the mesh's precision; they do not depend on the number of threads.
    ///
    /// # Panics
    /// If a dimension has fewer points than the window's order, columns differ in length, the brick is of
    /// another mesh, or it lacks mesh points of a particle.
    pub fn spread(
        &mut self,
        geometry: &MeshGeometry,
        window: &Window,
        positions: [&[f64]; 3],
        values: &[f64],
        brick: &mut Brick<S>,
    ) {
        let count = values.len();
        assert!(positions.iter().all(|column| column.len() == count), "columns of different lengths");
        let job = Job {
            axes: Axis::of_brick(geometry, window.order(), brick),
            order: window.order(),
            polynomials: Polynomials::of(window),
            positions,
            values,
        };
        let chunks = split_range(0..count, CHUNK);
        let threads = rayon::current_num_threads();
        let round = if threads == 1 { 1 } else { (threads * ROUND_CHUNKS).min(chunks.len()).max(1) };
        self.chunks.resize_with(round.max(self.chunks.len()), ChunkBlocks::new);
        let [_, _, points_z] = brick.extent();
        let part_values = brick.values.len().div_ceil(threads * PARTS).next_multiple_of(points_z.max(1));
        let mut parts: Vec<&mut [S]> = match part_values {
            0 => Vec::new(),
            _ if threads == 1 => vec![&mut brick.values],
            _ => brick.values.chunks_mut(part_values).collect(),
        };
        map_items(parts.iter_mut().collect(), |part| part.fill(S::default()));
        for ranges in chunks.chunks(round) {
            let chunks = &mut self.chunks[..ranges.len()];
            let items = chunks.iter_mut().zip(ranges).collect();
            map_items(items, |(chunk, particles): (&mut ChunkBlocks<S>, &Range<usize>)| {
                dispatch(self.instructions, SpreadChunk { job: &job, chunk, particles: particles.clone() });
            });
            let chunks = &self.chunks[..ranges.len()];
            map_items(parts.iter_mut().enumerate().collect(), |(number, values)| {
                let first = number * part_values / points_z;
                let rows = first..first + values.len() / points_z;
                dispatch(self.instructions, AddBlocks { job: &job, chunks, rows, values });
            });
        }
    }
}

/// What all chunks have in common.
struct Job<'a, S> {
    axes: [Axis; 3],
    order: usize,
    polynomials: Polynomials<S>,
    positions: [&'a [f64]; 3],
    values: &'a [f64],
}

/// Spreads a chunk into blocks.
struct SpreadChunk<'a, S: SpreadScalar> {
    job: &'a Job<'a, S>,
    chunk: &'a mut ChunkBlocks<S>,
    particles: Range<usize>,
}

impl<S: SpreadScalar> Task for SpreadChunk<'_, S> {
    type Output = ();
    // Of the positions. So meshes in single precision exist on all instruction sets.
    type Scalar = f64;

    #[inline(always)]
    fn run<T: Simd>(self, simd: T) {
        match self.job.order {
            4 => self.of_order::<T, 4>(simd),
            5 => self.of_order::<T, 5>(simd),
            6 => self.of_order::<T, 6>(simd),
            7 => self.of_order::<T, 7>(simd),
            8 => self.of_order::<T, 8>(simd),
            order => unreachable!("a window of order {order}"),
        }
    }
}

impl<S: SpreadScalar> SpreadChunk<'_, S> {
    #[inline(always)]
    fn of_order<T: Simd, const ORDER: usize>(self, simd: T) {
        let Job { axes, polynomials, positions, values, .. } = self.job;
        self.chunk.spread::<T, ORDER>(simd, axes, polynomials, *positions, values, self.particles);
    }
}

/// Adds the blocks of chunks to rows of the brick.
struct AddBlocks<'a, S: SpreadScalar> {
    job: &'a Job<'a, S>,
    chunks: &'a [ChunkBlocks<S>],
    rows: Range<usize>,
    values: &'a mut [S],
}

impl<S: SpreadScalar> Task for AddBlocks<'_, S> {
    type Output = ();
    type Scalar = f64;

    #[inline(always)]
    fn run<T: Simd>(self, simd: T) {
        for chunk in self.chunks {
            add_blocks(simd, chunk, &self.job.axes, &self.rows, self.values);
        }
    }
}
