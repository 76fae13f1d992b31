//! Mesh points of the particles of a chunk.

use super::scalar::{GROUP, SpreadScalar};
use crate::far::mesh::{Brick, MeshGeometry};
use std::ops::Range;

/// Particles of a chunk: they are located, spread and interpolated together. A multiple of [`GROUP`].
pub const CHUNK: usize = 1024;

/// Groups of a chunk.
pub const GROUPS: usize = CHUNK / GROUP;

/// Dimensions with fewer points are not unwrapped: every piece may reach around the box.
const MIN_UNWRAPPED: usize = 16;

/// A period that no difference of mesh points reaches.
const NO_PERIOD: i32 = i32::MAX;

/// One dimension of a brick's mesh.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    lower: f64,
    scale: f64,
    points: f64,
    per_point: f64,
    /// Distance from a particle's first point, counted from the brick's origin, to its cell.
    shift: f64,
    /// Points in this dimension of the brick.
    pub extent: usize,
    /// Whether the brick is the whole mesh in this dimension.
    pub whole: bool,
    /// Period of differences of points, or [`NO_PERIOD`].
    pub period: i32,
}

impl Axis {
    /// Dimension of a mesh without a brick. The first point of a particle is its cell.
    pub fn of_cells(geometry: &MeshGeometry, dimension: usize) -> Self {
        let points = geometry.points[dimension];
        Axis {
            lower: geometry.lower[dimension],
            scale: geometry.scale[dimension],
            points: points as f64,
            per_point: 1.0 / points as f64,
            shift: 0.0,
            extent: points,
            whole: true,
            period: NO_PERIOD,
        }
    }

    /// The dimensions of a brick, for a window of `order` points.
    ///
    /// # Panics
    /// If a dimension has fewer points than `order`.
    pub fn of_brick<S>(geometry: &MeshGeometry, order: usize, brick: &Brick<S>) -> [Self; 3] {
        [0, 1, 2].map(|d| {
            let (points, extent) = (geometry.points[d], brick.extent()[d]);
            assert!(points >= order, "a mesh of {points} points is smaller than a window of {order}");
            assert!(points == brick.points()[d], "the brick is of another mesh");
            let whole = extent == points;
            let unwrapped = whole && points >= MIN_UNWRAPPED;
            Axis {
                shift: (brick.origin()[d] + order - 1) as f64,
                extent,
                whole,
                period: if unwrapped { points as i32 } else { NO_PERIOD },
                ..Axis::of_cells(geometry, d)
            }
        })
    }

    /// Writes the first mesh point of each particle, counted from the brick's origin, below the number of
    /// points. It is [`MeshGeometry::locate`] in double precision.
    #[inline(always)]
    fn locate<S: SpreadScalar>(&self, coordinates: &[f64], first: &mut [i32], fractions: &mut [S]) {
        // Adding it leaves an integer in the low bits of the mantissa.
        const MAGIC: f64 = 1.5 * (1u64 << 52) as f64;
        let last = self.points as i32 - 1;
        for ((coordinate, first), fraction) in coordinates.iter().zip(first).zip(fractions) {
            let scaled = (coordinate - self.lower) * self.scale;
            let cell = scaled.floor();
            *fraction = S::from_f64(scaled - cell);
            let point = cell - self.shift;
            // The quotient may be rounded to the next integer.
            let point = point - (point * self.per_point).floor() * self.points;
            let point = if point < 0.0 { point + self.points } else { point };
            let point = if point >= self.points { point - self.points } else { point };
            // NaN becomes some point.
            *first = ((point + MAGIC).to_bits() as i32).clamp(0, last);
        }
    }

    /// Shortest equal difference of two points.
    #[inline(always)]
    pub fn unwrap(&self, difference: i32) -> i32 {
        let half = self.period / 2;
        let below = if difference < -half { self.period } else { 0 };
        let above = if difference > half { self.period } else { 0 };
        difference + below - above
    }

    /// The point of the brick.
    #[inline(always)]
    pub fn wrap(&self, point: i32) -> usize {
        point.rem_euclid(self.extent as i32) as usize
    }
}

/// First mesh points and fractions of a chunk's particles, per dimension. Groups are full: the last one
/// repeats the last particle.
pub struct Located<S> {
    pub count: usize,
    pub first: [[i32; CHUNK]; 3],
    pub fraction: [[S; CHUNK]; 3],
}

impl<S: SpreadScalar> Located<S> {
    pub fn new() -> Self {
        Located { count: 0, first: [[0; CHUNK]; 3], fraction: [[S::default(); CHUNK]; 3] }
    }

    /// Locates at most [`CHUNK`] particles.
    #[inline(always)]
    pub fn locate(&mut self, axes: &[Axis; 3], positions: [&[f64]; 3], particles: Range<usize>) {
        self.count = particles.len();
        for d in 0..3 {
            let (first, fraction) = (&mut self.first[d], &mut self.fraction[d]);
            axes[d].locate(&positions[d][particles.clone()], first, fraction);
            let full = self.count.next_multiple_of(GROUP);
            for padded in self.count..full {
                (first[padded], fraction[padded]) = (first[self.count - 1], fraction[self.count - 1]);
            }
        }
    }

    /// Groups with particles.
    pub fn groups(&self) -> usize {
        self.count.div_ceil(GROUP)
    }
}
