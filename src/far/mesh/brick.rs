//! Bricks: the box of the mesh that one rank spreads onto and interpolates from.

use super::spread::locate::{Axis, CHUNK, Located};
use super::{MeshGeometry, SpreadScalar};
use crate::parallel::{map_items, split_range, zeros};
use crate::simd::{Instructions, Task, dispatch};
use fearless_simd::Simd;
use std::ops::Range;

/// A dimension is whole if this many points or fewer are free: two ends more would not pay.
const MIN_FREE: usize = 4;

/// A box of mesh points with their values.
#[derive(Clone, Debug, PartialEq)]
pub struct Brick<S> {
    points: [usize; 3],
    origin: [usize; 3],
    extent: [usize; 3],
    /// Values, the last dimension contiguous: point (i, j, k), counted from the origin, is at
    /// `(i * extent_y + j) * extent_z + k`.
    pub values: Vec<S>,
}

impl<S: SpreadScalar> Brick<S> {
    /// A box of zeros. In each dimension it has the points `origin` to `origin + extent - 1`, modulo the
    /// number of points.
    ///
    /// # Panics
    /// If an origin is not below the number of points, or an extent above it.
    pub fn new(points: [usize; 3], origin: [usize; 3], extent: [usize; 3]) -> Self {
        let mut brick = Brick { points, origin: [0; 3], extent: [0; 3], values: Vec::new() };
        brick.values = zeros(extent.iter().product());
        brick.reshape(origin, extent);
        brick
    }

    /// The whole mesh of zeros.
    pub fn whole(points: [usize; 3]) -> Self {
        Self::new(points, [0; 3], points)
    }

    /// The smallest periodic box of zeros with all mesh points of the particles.
    pub fn covering(geometry: &MeshGeometry, order: usize, positions: [&[f64]; 3]) -> Self {
        let (origin, extent) = covering_box(geometry, order, positions);
        Self::new(geometry.points, origin, extent)
    }

    /// Changes the box. Values are unspecified afterwards; their memory is kept.
    ///
    /// # Panics
    /// If an origin is not below the number of points, or an extent above it.
    pub fn reshape(&mut self, origin: [usize; 3], extent: [usize; 3]) {
        for d in 0..3 {
            assert!(
                origin[d] < self.points[d].max(1) && extent[d] <= self.points[d],
                "a box beyond its mesh"
            );
        }
        (self.origin, self.extent) = (origin, extent);
        self.values.resize(extent.iter().product(), S::default());
    }
}

impl<S> Brick<S> {
    /// Points of the mesh.
    pub fn points(&self) -> [usize; 3] {
        self.points
    }

    /// First point per dimension.
    pub fn origin(&self) -> [usize; 3] {
        self.origin
    }

    /// Number of points per dimension. The mesh's number means the whole periodic dimension.
    pub fn extent(&self) -> [usize; 3] {
        self.extent
    }
}

/// Origin and extent of the smallest periodic box with all mesh points of the particles: per dimension all but
/// the largest free gap, or the whole dimension if this gap has a few points only. Without particles the
/// extents are 0.
///
/// # Panics
/// If columns differ in length.
pub fn covering_box(
    geometry: &MeshGeometry,
    order: usize,
    positions: [&[f64]; 3],
) -> ([usize; 3], [usize; 3]) {
    let count = positions[0].len();
    assert!(positions.iter().all(|column| column.len() == count), "columns of different lengths");
    if count == 0 {
        return ([0; 3], [0; 3]);
    }
    let axes = [0, 1, 2].map(|d| Axis::of_cells(geometry, d));
    let per_thread = count.div_ceil(rayon::current_num_threads()).next_multiple_of(CHUNK);
    let occupied = map_items(split_range(0..count, per_thread), |particles| {
        dispatch(Instructions::Best, Occupancy { axes: &axes, positions, particles })
    });
    let (mut origin, mut extent) = ([0; 3], [0; 3]);
    for d in 0..3 {
        let points = geometry.points[d];
        let cells: Vec<bool> = (0..points).map(|cell| occupied.iter().any(|of| of[d][cell])).collect();
        (origin[d], extent[d]) = (0, points);
        let (end, gap) = largest_gap(&cells);
        // The first cells after the gap reach `order - 1` points into it.
        if gap + 1 > order + MIN_FREE {
            (origin[d], extent[d]) = ((end + points + 1 - order) % points, points + order - 1 - gap);
        }
    }
    (origin, extent)
}

/// The cell after the longest periodic run of free cells, and the run's length. One cell is occupied at least.
fn largest_gap(occupied: &[bool]) -> (usize, usize) {
    let count = occupied.len();
    let first = occupied.iter().position(|&cell| cell).unwrap_or(0);
    let (mut largest, mut gap) = ((first, 0), 0);
    for cell in first + 1..=first + count {
        if occupied[cell % count] {
            if gap > largest.1 {
                largest = (cell % count, gap);
            }
            gap = 0;
        } else {
            gap += 1;
        }
    }
    largest
}

/// Finds the cells of particles, per dimension.
struct Occupancy<'a> {
    axes: &'a [Axis; 3],
    positions: [&'a [f64]; 3],
    particles: Range<usize>,
}

impl Task for Occupancy<'_> {
    type Output = [Vec<bool>; 3];
    type Scalar = f64;

    #[inline(always)]
    fn run<T: Simd>(self, _: T) -> [Vec<bool>; 3] {
        let mut occupied = self.axes.map(|axis| vec![false; axis.extent]);
        let mut located = Box::new(Located::<f64>::new());
        for begin in self.particles.clone().step_by(CHUNK) {
            located.locate(self.axes, self.positions, begin..self.particles.end.min(begin + CHUNK));
            for (occupied, first) in occupied.iter_mut().zip(&located.first) {
                first[..located.count].iter().for_each(|&cell| occupied[cell as usize] = true);
            }
        }
        occupied
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::far::mesh::spread::samples::{Arrangement, Sample};

    #[test]
    fn the_largest_gap_is_periodic() {
        let cells = |occupied: &str| occupied.chars().map(|c| c == 'x').collect::<Vec<bool>>();
        assert_eq!(largest_gap(&cells("x.x...xx")), (6, 3));
        assert_eq!(largest_gap(&cells("..x.xx..")), (2, 4));
        assert_eq!(largest_gap(&cells("xxxx")), (0, 0));
        assert_eq!(largest_gap(&cells("...x")), (3, 3));
    }

    /// The box has every point of the particles, and a particle begins at each of its lower edges and ends
    /// at each of its upper ones.
    #[test]
    fn the_box_around_particles_is_the_smallest() {
        for order in [4, 7] {
            for shift in [0.0, 0.3, 0.7, 0.95] {
                let mut sample = Sample::new([40, 32, 50], 300, Arrangement::Sorted);
                for d in 0..2 {
                    let lower = sample.geometry.lower[d];
                    let length = sample.geometry.points[d] as f64 / sample.geometry.scale[d];
                    let squeezed = |x: &f64| lower + length * shift + 0.5 * (x - lower);
                    sample.positions[d] = sample.positions[d].iter().map(squeezed).collect();
                }
                let geometry = &sample.geometry;
                let (origin, extent) = covering_box(geometry, order, sample.positions());
                assert_eq!((origin[2], extent[2]), (0, 50));
                for d in 0..2 {
                    let points = geometry.points[d];
                    let firsts: Vec<usize> = sample.positions[d]
                        .iter()
                        .map(|&x| (geometry.locate(d, x).0 + 2 * points + 1 - order - origin[d]) % points)
                        .collect();
                    assert_eq!(firsts.iter().min(), Some(&0));
                    assert_eq!(firsts.iter().max(), Some(&(extent[d] - order)));
                }
            }
        }
    }

    #[test]
    fn one_particle_needs_as_many_points_as_the_window_and_none_needs_none() {
        let sample = Sample::new([20, 30, 40], 1, Arrangement::Outside);
        let brick = Brick::<f32>::covering(&sample.geometry, 6, sample.positions());
        assert_eq!((brick.extent(), brick.values.len()), ([6; 3], 216));
        let brick = Brick::<f32>::covering(&sample.geometry, 6, [&[]; 3]);
        assert_eq!((brick.extent(), brick.values.len()), ([0; 3], 0));
    }

    #[test]
    fn a_dimension_with_a_small_gap_is_whole() {
        let sample = Sample::new([20, 30, 40], 2000, Arrangement::Random);
        let brick = Brick::<f64>::covering(&sample.geometry, 4, sample.positions());
        assert!(brick == Brick::whole([20, 30, 40]));
    }

    #[test]
    #[should_panic = "a box beyond its mesh"]
    fn a_box_is_not_larger_than_the_mesh() {
        Brick::<f32>::new([10; 3], [0; 3], [10, 11, 10]);
    }
}
