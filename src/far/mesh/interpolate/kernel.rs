//! Interpolation at the particles of a chunk.

use super::Job;
use crate::far::mesh::spread::locate::{Axis, Located};
use crate::far::mesh::spread::pieces::{Piece, Pieces};
use crate::far::mesh::spread::scalar::{GROUP, SpreadScalar, rows_per_vector};
use crate::far::mesh::spread::weights::Polynomials;
use crate::far::mesh::window::MOST_ORDER;
use crate::simd::Lanes;
use crate::simd::real::Real;
use crate::simd::reduction::Reduction;
use fearless_simd::Simd;
use std::ops::Range;

/// Weights and their derivatives with respect to the fraction, of the particles of a group.
struct GroupWeights<S> {
    /// In x, per point and particle: weights, derivatives.
    x: [[[S; GROUP]; MOST_ORDER]; 2],
    /// The same in y.
    y: [[[S; GROUP]; MOST_ORDER]; 2],
    /// In z, per particle and point. Zero beyond the order.
    z: [[[S; MOST_ORDER]; GROUP]; 2],
}

impl<S: SpreadScalar> GroupWeights<S> {
    fn new() -> Self {
        let columns = [[[S::default(); GROUP]; MOST_ORDER]; 2];
        GroupWeights { x: columns, y: columns, z: [[[S::default(); MOST_ORDER]; GROUP]; 2] }
    }

    #[inline(always)]
    fn compute<T: Simd, const ORDER: usize>(
        &mut self,
        token: T,
        polynomials: &Polynomials<S>,
        located: &Located<S>,
        begin: usize,
    ) {
        let [x, y, z] = &located.fraction;
        for lane in (0..GROUP).step_by(S::LANES) {
            let of_x = polynomials.weights_and_slopes::<T, ORDER>(token, &x[begin + lane..]);
            let of_y = polynomials.weights_and_slopes::<T, ORDER>(token, &y[begin + lane..]);
            let of_z = polynomials.weights_and_slopes::<T, ORDER>(token, &z[begin + lane..]);
            for derivative in 0..2 {
                for k in 0..ORDER {
                    of_x[derivative][k].store(&mut self.x[derivative][k][lane..][..S::LANES]);
                    of_y[derivative][k].store(&mut self.y[derivative][k][lane..][..S::LANES]);
                }
                let rows = self.z[derivative][lane..].as_flattened_mut();
                S::transpose(of_z[derivative], rows, MOST_ORDER);
            }
        }
    }
}

/// Vectors of a block: rows in z are whole vectors.
fn block_vectors<S: SpreadScalar>([x, y, z]: [usize; 3]) -> usize {
    x * y * z.div_ceil(S::LANES)
}

/// A chunk with its pieces and the block of one of them. Its memory is reused.
pub struct ChunkValues<S: SpreadScalar> {
    located: Box<Located<S>>,
    weights: Box<GroupWeights<S>>,
    pieces: Pieces,
    block: Vec<S::Vector>,
}

impl<S: SpreadScalar> ChunkValues<S> {
    pub fn new() -> Self {
        ChunkValues {
            located: Box::new(Located::new()),
            weights: Box::new(GroupWeights::new()),
            pieces: Pieces::new(block_vectors::<S>),
            block: Vec::new(),
        }
    }

    /// Interpolates at a chunk of particles.
    #[inline(always)]
    pub fn interpolate<T: Simd, const ORDER: usize>(
        &mut self,
        token: T,
        job: &Job<S>,
        particles: Range<usize>,
        mut columns: [&mut [f64]; 4],
    ) {
        let ChunkValues { located, weights, pieces, block } = self;
        located.locate(&job.axes, job.positions, particles);
        pieces.divide(token, &job.axes, ORDER, located);
        let mut terms = [S::Lanes::<T>::literal(token, 0.0); GROUP];
        for piece in &pieces.list {
            let (block, strides): (&[S], [usize; 2]) = match within_brick(piece, &job.axes, job.values) {
                Some(within) => within,
                None => {
                    copy_block(token, piece, &job.axes, job.values, block);
                    let row_values = piece.extent[2].next_multiple_of(S::LANES);
                    (bytemuck::cast_slice(block), [piece.extent[1] * row_values, row_values])
                }
            };
            let Range { start: mut next, end } = piece.particles;
            while next < end {
                let group = next / GROUP;
                let begin = group * GROUP;
                if next == begin {
                    weights.compute::<T, ORDER>(token, &job.polynomials, located, begin);
                }
                let last = end.min(begin + GROUP);
                for particle in next..last {
                    let [x, y, z] = &located.first;
                    let shift = pieces.shift[group];
                    let (x, y) = ((x[particle] + shift[0]) as usize, (y[particle] + shift[1]) as usize);
                    let at = x * strides[0] + y * strides[1] + (z[particle] + shift[2]) as usize;
                    let number = particle % GROUP;
                    terms[number] = if strides[1] == S::LANES {
                        let strides = [strides[0], S::LANES];
                        sum::<S, T, ORDER>(token, weights, number, &block[at..], strides)
                    } else {
                        sum::<S, T, ORDER>(token, weights, number, &block[at..], strides)
                    };
                }
                next = last;
                if last == located.count.min(begin + GROUP) {
                    store_sums::<S, T>(&terms, job.scale, &mut columns, begin..last);
                }
            }
        }
    }
}

/// The brick's values from the first point of a piece on, and the strides in x and y. `None` if the piece
/// reaches around the brick's edges, or loads of [`MOST_ORDER`] values would reach beyond the brick's end.
fn within_brick<'a, S: SpreadScalar>(
    piece: &Piece,
    axes: &[Axis; 3],
    values: &'a [S],
) -> Option<(&'a [S], [usize; 2])> {
    let strides = [axes[1].extent * axes[2].extent, axes[2].extent];
    let inside = (0..3).all(|d| piece.low[d] + piece.extent[d] <= axes[d].extent);
    let first = piece.low[0] * strides[0] + piece.low[1] * strides[1] + piece.low[2];
    let [x, y, z] = piece.extent.map(|extent| extent - 1);
    let end = first + x * strides[0] + y * strides[1] + z + MOST_ORDER;
    (inside && end <= values.len()).then(|| (&values[first..], strides))
}

/// Copies the mesh values of a piece into its block.
#[inline(always)]
fn copy_block<S: SpreadScalar, T: Simd>(
    token: T,
    piece: &Piece,
    axes: &[Axis; 3],
    values: &[S],
    block: &mut Vec<S::Vector>,
) {
    // Interpolation loads up to a vector beyond the last value, and multiplies it by zero.
    let vectors = block_vectors::<S>(piece.extent) + 1;
    if block.len() < vectors {
        block.resize(vectors, S::vector(0.0));
    }
    let row_values = piece.extent[2].next_multiple_of(S::LANES);
    let block: &mut [S] = bytemuck::cast_slice_mut(block);
    piece.rows(
        axes,
        &(0..usize::MAX),
        #[inline(always)]
        |[x, y], row| {
            let to = &mut block[(x * piece.extent[1] + y) * row_values..];
            let from = &values[row * axes[2].extent..];
            // Sections are in ascending order: what a vector writes beyond its section is overwritten.
            piece.sections(
                &axes[2],
                S::LANES,
                #[inline(always)]
                |begin, z, count| {
                    let (from, to) = (&from[z..], &mut to[begin..]);
                    if from.len() >= S::LANES && to.len() >= S::LANES {
                        S::Lanes::<T>::load(token, &from[..S::LANES]).store(&mut to[..S::LANES]);
                    } else {
                        to[..count].copy_from_slice(&from[..count]);
                    }
                },
            );
        },
    );
}

/// Terms of the four sums of a particle, see [`SpreadScalar::complete_sums`]: potential, and derivatives with
/// respect to the fractions. `block` begins at the particle's first point.
#[inline(always)]
fn sum<S: SpreadScalar, T: Simd, const ORDER: usize>(
    token: T,
    weights: &GroupWeights<S>,
    particle: usize,
    block: &[S],
    strides: [usize; 2],
) -> S::Lanes<T> {
    let zero = S::Lanes::<T>::literal(token, 0.0);
    let rows = rows_per_vector::<S>(ORDER);
    let vectors = ORDER.div_ceil(rows);
    // Sums over x with weights, and with their derivatives.
    let (mut value, mut slope) = ([zero; MOST_ORDER], [zero; MOST_ORDER]);
    for i in 0..ORDER {
        let plane = &block[i * strides[0]..][..(ORDER - 1) * strides[1] + MOST_ORDER];
        let weight = S::Lanes::<T>::broadcast(token, weights.x[0][i][particle]);
        let derivative = S::Lanes::<T>::broadcast(token, weights.x[1][i][particle]);
        for k in 0..vectors {
            let loaded = S::load_rows::<T, ORDER>(token, plane, strides[1], k * rows);
            value[k] = weight.mul_add(loaded, value[k]);
            slope[k] = derivative.mul_add(loaded, slope[k]);
        }
    }
    // Sums over y: of values, of their derivatives in x, in y.
    let (mut sum, mut in_x, mut in_y) = (zero, zero, zero);
    let (y, slopes_y) = (weights.y[0].as_flattened(), weights.y[1].as_flattened());
    for k in 0..vectors {
        let weight = S::broadcast_to_rows::<T, ORDER>(token, &y[particle..], k * rows);
        let derivative = S::broadcast_to_rows::<T, ORDER>(token, &slopes_y[particle..], k * rows);
        sum = weight.mul_add(value[k], sum);
        in_x = weight.mul_add(slope[k], in_x);
        in_y = derivative.mul_add(value[k], in_y);
    }
    let weight = S::repeat_row::<T, ORDER>(token, &weights.z[0][particle]);
    let derivative = S::repeat_row::<T, ORDER>(token, &weights.z[1][particle]);
    let low = (weight * sum).join_adjacent(weight * in_x, Reduction::Sum);
    low.join_adjacent((weight * in_y).join_adjacent(derivative * sum, Reduction::Sum), Reduction::Sum)
}

/// Completes the sums of a group and stores those of `particles`.
#[inline(always)]
fn store_sums<S: SpreadScalar, T: Simd>(
    terms: &[S::Lanes<T>; GROUP],
    scale: [f64; 3],
    columns: &mut [&mut [f64]; 4],
    particles: Range<usize>,
) {
    let mut sums = [[0.0; GROUP]; 4];
    S::complete_sums(terms, &mut sums);
    let factors = [1.0, scale[0], scale[1], scale[2]];
    for k in 0..4 {
        let column = &mut columns[k][particles.clone()];
        column.iter_mut().zip(&sums[k]).for_each(|(to, sum)| *to = sum * factors[k]);
    }
}
