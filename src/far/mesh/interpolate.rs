//! Interpolation of the mesh at particles, in lanes and threads.
//!
//! Chunks are divided into pieces as for spreading (see [`super::spread`]). Mesh values are loaded from the
//! brick; those of a piece that reaches around the brick's edges are copied into a block first. Lanes hold
//! rows in z; the weights in z are applied once at the end.

mod kernel;
#[cfg(test)]
mod tests;

use super::spread::locate::{Axis, CHUNK};
use super::spread::weights::Polynomials;
use super::{Brick, MeshGeometry, SpreadScalar, Window};
use crate::parallel::map_items;
use crate::simd::{Instructions, Task, dispatch};
use fearless_simd::Simd;
use kernel::ChunkValues;
use std::ops::Range;

/// Tasks per thread: more than one balances the threads.
const TASKS: usize = 4;

/// Interpolates the mesh at positions: the potential, the sum of mesh value times weight, and its derivatives
/// with respect to x, y and z in units of mesh value per length (see [`super::naive::interpolate`]). Sums of a
/// particle are in the mesh's precision.
///
/// # Panics
/// If a dimension has fewer points than the window's order, columns differ in length, the brick is of
/// another mesh, or it lacks mesh points of a particle.
pub fn interpolate<S: SpreadScalar>(
    geometry: &MeshGeometry,
    window: &Window,
    brick: &Brick<S>,
    positions: [&[f64]; 3],
    columns: [&mut [f64]; 4],
) {
    interpolate_on(Instructions::Best, geometry, window, brick, positions, columns);
}

/// The same on at most these instructions.
fn interpolate_on<S: SpreadScalar>(
    instructions: Instructions,
    geometry: &MeshGeometry,
    window: &Window,
    brick: &Brick<S>,
    positions: [&[f64]; 3],
    columns: [&mut [f64]; 4],
) {
    let count = positions[0].len();
    let lengths =
        positions.iter().map(|column| column.len()).chain(columns.iter().map(|column| column.len()));
    assert!(lengths.into_iter().all(|length| length == count), "columns of different lengths");
    let job = Job {
        axes: Axis::of_brick(geometry, window.order(), brick),
        order: window.order(),
        polynomials: Polynomials::of(window),
        scale: geometry.scale,
        values: &brick.values,
        positions,
    };
    let per_task = count.div_ceil(rayon::current_num_threads() * TASKS).next_multiple_of(CHUNK).max(CHUNK);
    let [a, b, c, d] = columns.map(|column| column.chunks_mut(per_task));
    let columns = a.zip(b).zip(c.zip(d)).map(|((a, b), (c, d))| [a, b, c, d]);
    let tasks = columns.enumerate().map(|(number, columns)| {
        let first = number * per_task;
        InterpolateChunks { job: &job, particles: first..first + columns[0].len(), columns }
    });
    map_items(tasks.collect(), |task| dispatch(instructions, task));
}

/// What all tasks have in common.
struct Job<'a, S> {
    axes: [Axis; 3],
    order: usize,
    polynomials: Polynomials<S>,
    scale: [f64; 3],
    /// Values of the brick.
    values: &'a [S],
    positions: [&'a [f64]; 3],
}

/// Interpolates at particles, chunk by chunk.
struct InterpolateChunks<'a, S> {
    job: &'a Job<'a, S>,
    particles: Range<usize>,
    columns: [&'a mut [f64]; 4],
}

impl<S: SpreadScalar> Task for InterpolateChunks<'_, S> {
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

impl<S: SpreadScalar> InterpolateChunks<'_, S> {
    #[inline(always)]
    fn of_order<T: Simd, const ORDER: usize>(self, simd: T) {
        let InterpolateChunks { job, particles, columns: [a, b, c, d] } = self;
        let mut chunk = ChunkValues::new();
        for first in particles.clone().step_by(CHUNK) {
            let of_chunk = first..particles.end.min(first + CHUNK);
            let rows = first - particles.start..of_chunk.end - particles.start;
            let columns = [&mut a[rows.clone()], &mut b[rows.clone()], &mut c[rows.clone()], &mut d[rows]];
            chunk.interpolate::<T, ORDER>(simd, job, of_chunk, columns);
        }
    }
}
