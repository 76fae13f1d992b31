//! Spreading the particles of a chunk into blocks, and adding blocks to rows of a brick.

use super::locate::{Axis, Located};
use super::pieces::{Piece, Pieces};
use super::scalar::{GROUP, SpreadScalar};
use super::weights::{Polynomials, SpreadWeights};
use crate::simd::Lanes;
use crate::simd::real::Real;
use fearless_simd::Simd;
use std::ops::Range;

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
            pieces: Pieces::new(),
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
        if blocks.len() < pieces.vectors {
            blocks.resize(pieces.vectors, zero);
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
                let strides = [piece.extent[1] * piece.row_vectors, piece.row_vectors];
                for particle in next..last {
                    let [x, y, z] = &located.first;
                    let shift = pieces.shift[group];
                    let (x, y) = ((x[particle] + shift[0]) as usize, (y[particle] + shift[1]) as usize);
                    let at =
                        (piece.start + x * strides[0] + y * strides[1], (z[particle] + shift[2]) as usize);
                    let number = particle % GROUP;
                    add_particle::<S, T, ORDER>(token, weights, number, blocks, strides, at);
                }
                next = last;
            }
        }
    }
}

/// Adds a particle to a block: in each row a vector of weights in z times a factor. `at` is the first vector
/// of the first row, and the first point in this row.
#[inline(always)]
fn add_particle<S: SpreadScalar, T: Simd, const ORDER: usize>(
    token: T,
    weights: &SpreadWeights<S>,
    particle: usize,
    blocks: &mut [S::Vector],
    [stride_x, stride_y]: [usize; 2],
    at: (usize, usize),
) {
    let (vector, shift) = (at.0 + at.1 / S::LANES, at.1 % S::LANES);
    let row = &weights.rows[2 * particle * S::LANES..][..3 * S::LANES];
    let low = S::Lanes::<T>::load(token, &row[S::LANES - shift..][..S::LANES]);
    if shift + ORDER <= S::LANES {
        for i in 0..ORDER {
            let rows = &mut blocks[vector + i * stride_x..];
            let factors = &weights.factors[i * ORDER..][..ORDER];
            if stride_y == 1 {
                let rows = &mut rows[..ORDER];
                for j in 0..ORDER {
                    add_scaled::<S, T>(token, factors[j][particle], low, &mut rows[j]);
                }
            } else {
                for j in 0..ORDER {
                    add_scaled::<S, T>(token, factors[j][particle], low, &mut rows[j * stride_y]);
                }
            }
        }
    } else {
        let high = S::Lanes::<T>::load(token, &row[2 * S::LANES - shift..][..S::LANES]);
        for i in 0..ORDER {
            let rows = &mut blocks[vector + i * stride_x..];
            let factors = &weights.factors[i * ORDER..][..ORDER];
            for j in 0..ORDER {
                add_scaled::<S, T>(token, factors[j][particle], low, &mut rows[j * stride_y]);
                add_scaled::<S, T>(token, factors[j][particle], high, &mut rows[j * stride_y + 1]);
            }
        }
    }
}

/// Adds `factor` times a row of weights.
#[inline(always)]
fn add_scaled<S: SpreadScalar, T: Simd>(token: T, factor: S, row: S::Lanes<T>, sum: &mut S::Vector) {
    let factor = S::Lanes::<T>::broadcast(token, factor);
    factor.mul_add(row, S::Lanes::<T>::load(token, sum.as_ref())).store(sum.as_mut());
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
        piece.rows(
            axes,
            rows,
            #[inline(always)]
            |vector, row| {
                let block = &blocks[vector * S::LANES..];
                let values = &mut values[(row - rows.start) * axes[2].extent..];
                add_row::<S, T>(token, piece, &axes[2], block, values);
            },
        );
    }
}

/// Adds a row of a block to a row of the brick.
#[inline(always)]
fn add_row<S: SpreadScalar, T: Simd>(token: T, piece: &Piece, axis: &Axis, block: &[S], values: &mut [S]) {
    piece.sections(
        axis,
        S::LANES,
        #[inline(always)]
        |from, to, count| {
            let (from, to) = (&block[from..], &mut values[to..]);
            if from.len() >= S::LANES && to.len() >= S::LANES {
                let mask = S::Lanes::<T>::mask(token, (1 << count) - 1);
                let zero = S::Lanes::<T>::literal(token, 0.0);
                let (from, to) = (&from[..S::LANES], &mut to[..S::LANES]);
                let added = S::Lanes::<T>::select(mask, S::Lanes::<T>::load(token, from), zero);
                (S::Lanes::<T>::load(token, to) + added).store(to);
            } else {
                for k in 0..count {
                    to[k] = to[k] + from[k];
                }
            }
        },
    );
}
