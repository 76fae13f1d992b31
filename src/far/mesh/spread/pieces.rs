//! Pieces: consecutive particles of a chunk whose mesh points fill a small box, with a block of values for
//! this box. Spreading and interpolation have different layouts of blocks.
//!
//! A chunk in Hilbert order is one piece or a few. Where particles are far apart, each one is a piece of its
//! own. Pieces depend on the particles only, not on threads.

use super::locate::{Axis, CHUNK, GROUPS, Located};
use super::scalar::{GROUP, SpreadScalar};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, i32x16};
use std::ops::Range;

/// Highest cost of a piece: its block should fit into the second level of the cache.
const MAX_COST: usize = 4096;

/// Cost that a piece may have beyond that of its parts, as one more piece has a cost too.
const SLACK: usize = 64;

/// Consecutive particles of a chunk, and the box of their mesh points.
#[derive(Clone, Debug)]
pub struct Piece {
    /// The particles, counted from the chunk's first one.
    pub particles: Range<usize>,
    /// Lowest mesh point, counted from the brick's origin. Where the brick is the whole mesh, the box may
    /// reach around the edges.
    pub low: [usize; 3],
    /// Mesh points per dimension.
    pub extent: [usize; 3],
    /// The block's first vector.
    pub start: usize,
}

impl Piece {
    /// Calls `visit` with x and y of each row of the block, counted from its first point, and with the row of
    /// the brick, for the brick's rows in `among`.
    #[inline(always)]
    pub fn rows(&self, axes: &[Axis; 3], among: &Range<usize>, mut visit: impl FnMut([usize; 2], usize)) {
        let rows_y = axes[1].extent;
        let mut x = self.low[0];
        for plane in 0..self.extent[0] {
            if x * rows_y < among.end && (x + 1) * rows_y > among.start {
                let mut y = self.low[1];
                for row in 0..self.extent[1] {
                    if among.contains(&(x * rows_y + y)) {
                        visit([plane, row], x * rows_y + y);
                    }
                    y = if y + 1 == rows_y { 0 } else { y + 1 };
                }
            }
            x = if x + 1 == axes[0].extent { 0 } else { x + 1 };
        }
    }

    /// Calls `visit` for each contiguous section of a row, of at most `most` points: its begin in the block's
    /// row and in the brick's, and its number of points.
    #[inline(always)]
    pub fn sections(&self, axis: &Axis, most: usize, mut visit: impl FnMut(usize, usize, usize)) {
        let (mut done, mut z) = (0, self.low[2]);
        while done < self.extent[2] {
            let count = (self.extent[2] - done).min(axis.extent - z).min(most);
            visit(done, z, count);
            done += count;
            z = if z + count == axis.extent { 0 } else { z + count };
        }
    }
}

/// First mesh points of several particles, relative to a reference.
#[derive(Clone, Copy)]
struct Bounds {
    low: [i32; 3],
    high: [i32; 3],
}

impl Bounds {
    fn joined(self, other: Bounds, shift: [i32; 3]) -> Self {
        Bounds {
            low: [0, 1, 2].map(|d| self.low[d].min(other.low[d] + shift[d])),
            high: [0, 1, 2].map(|d| self.high[d].max(other.high[d] + shift[d])),
        }
    }
}

/// A piece that may still grow.
struct OpenPiece {
    groups: Range<usize>,
    reference: [i32; 3],
    bounds: Bounds,
    cost: usize,
}

/// The pieces of a chunk.
pub struct Pieces {
    /// The pieces, in the order of particles.
    pub list: Vec<Piece>,
    /// Vectors of all blocks.
    pub vectors: usize,
    /// Added to a particle's entry in [`Located::first`]: its first point, counted from its piece's box.
    pub shift: [[i32; 3]; GROUPS],
    order: usize,
    lanes: usize,
    /// Vectors of a block of this extent.
    block_vectors: fn([usize; 3]) -> usize,
}

impl Pieces {
    /// No pieces. A block of an extent has `block_vectors(extent)` vectors.
    pub fn new(block_vectors: fn([usize; 3]) -> usize) -> Self {
        Pieces { list: Vec::new(), vectors: 0, shift: [[0; 3]; GROUPS], order: 0, lanes: 1, block_vectors }
    }

    /// Divides the chunk into pieces, for a window of `order` points. First points become relative to the
    /// piece, see [`Pieces::shift`].
    ///
    /// # Panics
    /// If the brick lacks points of a particle.
    #[inline(always)]
    pub fn divide<S: SpreadScalar, T: Simd>(
        &mut self,
        token: T,
        axes: &[Axis; 3],
        order: usize,
        located: &mut Located<S>,
    ) {
        self.list.clear();
        (self.vectors, self.order, self.lanes) = (0, order, S::LANES);
        let mut open: Option<OpenPiece> = None;
        for group in 0..located.groups() {
            let begin = group * GROUP;
            let reference = [0, 1, 2].map(|d| located.first[d][begin]);
            let bounds = relative_to(token, axes, &mut located.first, begin, reference);
            let cost = self.cost(self.extent_of(&bounds));
            let count = GROUP.min(located.count - begin);
            if cost > count * self.cost([order; 3]) + SLACK {
                self.close(axes, open.take(), located.count);
                self.separate(axes, located, begin..begin + count, reference);
                self.shift[group] = [0; 3];
                continue;
            }
            if let Some(piece) = &mut open {
                let shift = [0, 1, 2].map(|d| axes[d].unwrap(reference[d] - piece.reference[d]));
                let joined = piece.bounds.joined(bounds, shift);
                let together = self.cost(self.extent_of(&joined));
                if together <= (piece.cost + cost + SLACK).min(MAX_COST) {
                    (piece.groups.end, piece.bounds, piece.cost) = (group + 1, joined, together);
                    self.shift[group] = shift;
                    continue;
                }
            }
            self.close(axes, open.take(), located.count);
            self.shift[group] = [0; 3];
            open = Some(OpenPiece { groups: group..group + 1, reference, bounds, cost });
        }
        self.close(axes, open, located.count);
    }

    /// Points of the box around particles.
    fn extent_of(&self, bounds: &Bounds) -> [usize; 3] {
        [0, 1, 2].map(|d| (bounds.high[d] - bounds.low[d]) as usize + self.order)
    }

    /// Cost of a piece: the cache lines that its rows touch in the brick, approximately.
    fn cost(&self, [x, y, z]: [usize; 3]) -> usize {
        x * y * (z + self.lanes) / self.lanes
    }

    /// Adds a complete piece to the list.
    fn close(&mut self, axes: &[Axis; 3], open: Option<OpenPiece>, count: usize) {
        if let Some(piece) = open {
            for shift in &mut self.shift[piece.groups.clone()] {
                *shift = [0, 1, 2].map(|d| shift[d] - piece.bounds.low[d]);
            }
            let particles = piece.groups.start * GROUP..count.min(piece.groups.end * GROUP);
            let low = [0, 1, 2].map(|d| piece.reference[d] + piece.bounds.low[d]);
            self.push(axes, particles, low, self.extent_of(&piece.bounds));
        }
    }

    /// Makes every particle a piece.
    fn separate<S: SpreadScalar>(
        &mut self,
        axes: &[Axis; 3],
        located: &mut Located<S>,
        particles: Range<usize>,
        reference: [i32; 3],
    ) {
        for particle in particles {
            let low = [0, 1, 2].map(|d| reference[d] + std::mem::take(&mut located.first[d][particle]));
            self.push(axes, particle..particle + 1, low, [self.order; 3]);
        }
    }

    fn push(&mut self, axes: &[Axis; 3], particles: Range<usize>, low: [i32; 3], extent: [usize; 3]) {
        for d in 0..3 {
            let inside = low[d] >= 0 && low[d] as usize + extent[d] <= axes[d].extent;
            assert!(inside || axes[d].whole, "the brick lacks mesh points of particles");
        }
        let low = [0, 1, 2].map(|d| axes[d].wrap(low[d]));
        self.list.push(Piece { particles, low, extent, start: self.vectors });
        self.vectors += (self.block_vectors)(extent);
    }
}

/// Makes the first points of a group relative to `reference`, and returns their bounds.
#[inline(always)]
fn relative_to<T: Simd>(
    token: T,
    axes: &[Axis; 3],
    first: &mut [[i32; CHUNK]; 3],
    begin: usize,
    reference: [i32; 3],
) -> Bounds {
    let mut bounds = Bounds { low: [0; 3], high: [0; 3] };
    for d in 0..3 {
        let period = i32x16::splat(token, axes[d].period);
        let half = i32x16::splat(token, axes[d].period / 2);
        let zero = i32x16::splat(token, 0);
        let first = &mut first[d][begin..][..GROUP];
        let difference = i32x16::from_slice(token, first) - reference[d];
        let below = (-half).simd_gt(difference).select(period, zero);
        let above = difference.simd_gt(half).select(period, zero);
        let relative = difference + below - above;
        relative.store_slice(first);
        (bounds.low[d], bounds.high[d]) = (relative.reduce_min(), relative.reduce_max());
    }
    bounds
}
