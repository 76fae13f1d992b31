//! Spreading the particles of a chunk into blocks, and adding blocks to rows of a brick.
//!
//! A block consists of tiles: vectors of [`tile_rows`] rows in y times four points in z. In single precision
//! a window of order 6 touches 2.25 x 2.25 tiles of a plane on average, but 6 x 1.3 vectors of 16 points.
//! Tiles are aligned, so that a particle's loads are forwarded from the stores of the one before. The vectors
//! of a tile in consecutive planes x are adjacent.

use super::locate::{Axis, Located};
use super::pieces::Pieces;
use super::scalar::{GROUP, SpreadScalar};
use super::weights::{PADDING, Polynomials, SpreadWeights};
use crate::simd::Lanes;
use crate::simd::real::Real;
use crate::simd::records::QUAD;
use fearless_simd::Simd;
use std::ops::Range;

/// Rows in y of a tile.
const fn tile_rows<S: SpreadScalar>() -> usize {
    S::LANES / QUAD
}

/// Vectors of a block.
fn block_vectors<S: SpreadScalar>([x, y, z]: [usize; 3]) -> usize {
    x * y.div_ceil(tile_rows::<S>()) * z.div_ceil(QUAD)
}

/// A chunk with its pieces and blocks. Its memory is reused.
pub struct ChunkBlocks<S: SpreadScalar> {
    located: Box<Located<S>>,
    weights: Box<SpreadWeights<S>>,
    pub pieces: Pieces,
    blocks: Vec<S::Vector>,
}

impl<S: SpreadScalar> ChunkBlocks<S> {
    pub fn new() -> Self {
        ChunkBlocks {
            located: Box::new(Located::new()),
            weights: Box::new(SpreadWeights::new()),
            pieces: Pieces::new(block_vectors::<S>),
            blocks: Vec::new(),
        }
    }

    /// Spreads a chunk into blocks.
    #[inline(always)]
    pub fn spread<T: Simd, const ORDER: usize>(
        &mut self,
        token: T,
        axes: &[Axis; 3],
        polynomials: &Polynomials<S>,
        positions: [&[f64]; 3],
        values: &[f64],
        particles: Range<usize>,
    ) {
        let ChunkBlocks { located, weights, pieces, blocks } = self;
        let values = &values[particles.clone()];
        located.locate(axes, positions, particles);
        pieces.divide(token, axes, ORDER, located);
        let zero = S::vector(0.0);
        // Rows are read in whole vectors of quads.
        let widest = pieces.list.iter().map(|piece| piece.extent[0]).max().unwrap_or(0);
        let needed = pieces.vectors + (tile_rows::<S>() - 1) * widest;
        if blocks.len() < needed {
            blocks.resize(needed, zero);
        }
        blocks[..pieces.vectors].fill(zero);
        for piece in &pieces.list {
            let Range { start: mut next, end } = piece.particles;
            while next < end {
                let group = next / GROUP;
                let begin = group * GROUP;
                if next == begin {
                    let of_group = &values[begin..values.len().min(begin + GROUP)];
                    weights.compute::<T, ORDER>(token, polynomials, located, begin, of_group);
                }
                let last = end.min(begin + GROUP);
                let block = &mut blocks[piece.start..];
                let extents = [piece.extent[0], piece.extent[2].div_ceil(QUAD)];
                let [shift_x, shift_y, shift_z] = pieces.shift[group];
                let [x, y, z] = &located.first;
                for particle in next..last {
                    let (x, y, z) = (x[particle] + shift_x, y[particle] + shift_y, z[particle] + shift_z);
                    let point = [x as usize, y as usize, z as usize];
                    add_particle::<S, T, ORDER>(token, weights, particle % GROUP, block, extents, point);
                }
                next = last;
            }
        }
    }
}

/// Adds a particle to a block of `planes` planes in x and `tiles_z` tiles in z. x, y, z are its first point
/// in the block.
#[inline(always)]
fn add_particle<S: SpreadScalar, T: Simd, const ORDER: usize>(
    token: T,
    weights: &SpreadWeights<S>,
    particle: usize,
    block: &mut [S::Vector],
    [planes, tiles_z]: [usize; 2],
    [x, y, z]: [usize; 3],
) {
    let rows = tile_rows::<S>();
    let (from_y, from_z) = (y % rows, z % QUAD);
    let mut factors = [S::Lanes::<T>::literal(token, 0.0); ORDER];
    for i in 0..ORDER {
        factors[i] = S::Lanes::<T>::broadcast(token, weights.x[i][particle]);
    }
    let (of_y, of_z) = (&weights.y[particle], &weights.z[particle]);
    let mut first = (y / rows * tiles_z + z / QUAD) * planes + x;
    let mut from_y = PADDING - from_y;
    while from_y < PADDING + ORDER {
        let of_rows = S::repeat_values(token, &of_y[from_y..][..QUAD]);
        let (mut tile, mut from_z) = (first, PADDING - from_z);
        while from_z < PADDING + ORDER {
            let of_tile = of_rows * S::Lanes::<T>::repeat_quad(token, &of_z[from_z..][..QUAD]);
            let sums = &mut block[tile..][..ORDER];
            for i in 0..ORDER {
                let sum = S::Lanes::<T>::load(token, sums[i].as_ref());
                factors[i].mul_add(of_tile, sum).store(sums[i].as_mut());
            }
            tile += planes;
            from_z += QUAD;
        }
        first += tiles_z * planes;
        from_y += rows;
    }
}

/// Adds the blocks of a chunk to the rows `rows` of a brick, whose values are `values`.
#[inline(always)]
pub fn add_blocks<S: SpreadScalar, T: Simd>(
    token: T,
    chunk: &ChunkBlocks<S>,
    axes: &[Axis; 3],
    rows: &Range<usize>,
    values: &mut [S],
) {
    let blocks: &[S] = bytemuck::cast_slice(&chunk.blocks);
    for piece in &chunk.pieces.list {
        let [planes, _, extent_z] = piece.extent;
        let block = &blocks[piece.start * S::LANES..];
        let tiles_z = extent_z.div_ceil(QUAD);
        let (stride, period) = (planes * S::LANES, axes[2].extent);
        piece.rows(
            axes,
            rows,
            #[inline(always)]
            |[x, y], row| {
                let tile = y / tile_rows::<S>() * tiles_z * planes + x;
                let block = &block[tile * S::LANES + y % tile_rows::<S>() * QUAD..];
                let values = &mut values[(row - rows.start) * period..];
                add_row::<S, T>(token, block, stride, values, [piece.low[2], extent_z, period]);
            },
        );
    }
}

/// Adds a row of a block to a row of the brick. `block` begins with the row's first quad; the next ones
/// follow at `stride`. `values` begins with the brick's row, which has `period` points; the `extent` points
/// of the block's row begin at its point `z`.
#[inline(always)]
fn add_row<S: SpreadScalar, T: Simd>(
    token: T,
    block: &[S],
    stride: usize,
    values: &mut [S],
    [mut z, mut extent, period]: [usize; 3],
) {
    let mut quad = 0;
    loop {
        let count = extent.min(S::LANES);
        let quads = &block[quad * stride..];
        let before = count.min(period - z);
        let after = count - before;
        let whole = z + S::LANES <= values.len();
        if whole && after == 0 {
            add_vector(token, S::load_quads(token, quads, stride), &mut values[z..], before);
        } else if whole && after <= period {
            // The brick's row ends within the vector.
            let mut vectors = [S::vector(0.0); 2];
            let added = S::load_quads(token, quads, stride);
            added.store(vectors[0].as_mut());
            add_vector(token, added, &mut values[z..], before);
            let rest = &bytemuck::cast_slice(&vectors)[before..];
            add_vector(token, S::Lanes::<T>::load(token, &rest[..S::LANES]), values, after);
        } else {
            add_values(quads, stride, values, [z, count, period]);
        }
        if extent <= S::LANES {
            break;
        }
        extent -= S::LANES;
        quad += S::LANES / QUAD;
        z += S::LANES;
        while z >= period {
            z -= period;
        }
    }
}

/// Adds the first `count` lanes to the first values.
#[inline(always)]
fn add_vector<S: SpreadScalar, T: Simd>(token: T, added: S::Lanes<T>, values: &mut [S], count: usize) {
    let mask = S::Lanes::<T>::mask(token, (1 << count) - 1);
    let added = S::Lanes::<T>::select(mask, added, S::Lanes::<T>::literal(token, 0.0));
    let values = &mut values[..S::LANES];
    (S::Lanes::<T>::load(token, values) + added).store(values);
}

/// Adds `count` values of a row, as [`add_row`]. For the last rows of a part of the brick, and tiny meshes.
#[inline(never)]
fn add_values<S: SpreadScalar>(
    block: &[S],
    stride: usize,
    values: &mut [S],
    [mut z, count, period]: [usize; 3],
) {
    for k in 0..count {
        values[z] = values[z] + block[k / QUAD * stride + k % QUAD];
        z = if z + 1 == period { 0 } else { z + 1 };
    }
}
