//! One traversal per super-cluster, and evaluation of its interaction lists.
//!
//! The kernels use units of the extent of all particles and of their total mass, both rounded to powers of
//! two so that scaling is exact. Coordinates are relative to the super-cluster's center.
use super::kernels::{self, Gathered, NodeSource, OCTUPOLE, PointSource, QUADRUPOLE, Softened, Targets};
use super::lanes::{Lane, ReciprocalSqrt, Scalar, with_lanes};
use super::opening::{Interactions, Opening, TargetBox, WalkNode};
use super::split::{LongRangePart, NEAR, Split};
use super::split_kernels;
use super::tree::Tree;
use crate::particles::SUPER_CLUSTER;
use fearless_simd::{f32x16, f64x8};
use rayon::prelude::*;

/// The walk's units: factors for lengths and masses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Units {
    pub length: f64,
    pub mass: f64,
}

impl Units {
    /// Chooses the units of a tree. With a force split, the unit of length is about the cut.
    pub fn of(tree: &Tree, split: Option<&Split>) -> Self {
        let rounded =
            |size: f64| if size > 0.0 && size.is_finite() { (-size.log2().ceil()).exp2() } else { 1.0 };
        let Some(root) = tree.moments.first() else { return Units { length: 1.0, mass: 1.0 } };
        let size = [0, 1, 2].map(|d| root.upper[d] - root.lower[d]).into_iter().fold(0.0, f64::max);
        let size = split.map_or(size, |split| split.cut);
        Units { length: rounded(size), mass: rounded(root.mass) }
    }
}

/// A tree, ready for evaluation.
pub(crate) struct Walk<'a> {
    pub opening: Opening,
    pub nodes: &'a [WalkNode],
    pub tree: &'a Tree,
    pub units: Units,
    pub softened: Softened,
}

/// Field of one super-cluster, and the number of its node and particle sources.
#[derive(Clone)]
pub(crate) struct GroupField {
    pub gathered: Gathered,
    pub nodes: usize,
    pub points: usize,
}

/// Per-thread buffers.
struct Scratch<E, const N: usize> {
    stack: Vec<u32>,
    found: Interactions,
    images: Vec<[f64; 3]>,
    points: Vec<PointSource<E>>,
    /// In a periodic box, the points near to all targets.
    near: Vec<PointSource<E>>,
    nodes: Vec<NodeSource<E, N>>,
}

impl Walk<'_> {
    /// Evaluates the field of the tree on the groups of `targets` (64 consecutive ones each; `boxes` has the
    /// box of each). Returns per group the acceleration and minus the potential in the run's units, with G =
    /// 1. `double` selects f64 lanes. The evaluation order does not depend on the number of threads.
    pub fn field(&self, targets: &[[f64; 4]], boxes: &[TargetBox], double: bool) -> Vec<GroupField> {
        if self.opening.order == 2 {
            self.field_of_order::<QUADRUPOLE>(targets, boxes, double)
        } else {
            self.field_of_order::<OCTUPOLE>(targets, boxes, double)
        }
    }

    fn field_of_order<const N: usize>(
        &self,
        targets: &[[f64; 4]],
        boxes: &[TargetBox],
        double: bool,
    ) -> Vec<GroupField> {
        if double {
            let packed = self.packed_nodes::<f64, N>();
            let part = self.long_range_part::<f64>();
            self.for_each_group(targets, boxes, |scratch, group, bounds| {
                with_lanes!(simd => {
                    self.group::<_, f64x8<_>, N>(simd, group, bounds, &packed, part.as_ref(), scratch)
                })
            })
        } else {
            let packed = self.packed_nodes::<f32, N>();
            let part = self.long_range_part::<f32>();
            self.for_each_group(targets, boxes, |scratch, group, bounds| {
                with_lanes!(simd => {
                    self.group::<_, f32x16<_>, N>(simd, group, bounds, &packed, part.as_ref(), scratch)
                })
            })
        }
    }

    fn for_each_group<E: Scalar, const N: usize>(
        &self,
        targets: &[[f64; 4]],
        boxes: &[TargetBox],
        evaluate: impl Fn(&mut Scratch<E, N>, &[[f64; 4]], &TargetBox) -> GroupField + Sync,
    ) -> Vec<GroupField> {
        targets
            .par_chunks(SUPER_CLUSTER)
            .zip(boxes)
            .with_max_len(16)
            .map_init(
                || Scratch {
                    stack: Vec::new(),
                    found: Interactions::default(),
                    images: Vec::new(),
                    points: Vec::new(),
                    near: Vec::new(),
                    nodes: Vec::new(),
                },
                |scratch, (group, bounds)| evaluate(scratch, group, bounds),
            )
            .collect()
    }

    /// The polynomials of the force split, if there is one.
    fn long_range_part<E: Scalar>(&self) -> Option<LongRangePart<E>> {
        self.opening.split.map(|split| LongRangePart::new(&split, self.units.length))
    }

    /// Packs every node as a source in the walk's units. The centers are set per group.
    fn packed_nodes<E: Scalar, const N: usize>(&self) -> Vec<NodeSource<E, N>> {
        let Units { length, mass } = self.units;
        self.tree
            .moments
            .par_iter()
            .with_min_len(512)
            .map(|moments| kernels::node_source(moments, length, mass))
            .collect()
    }

    #[inline(always)]
    fn group<S: ReciprocalSqrt, V: Lane<S>, const N: usize>(
        &self,
        simd: S,
        group: &[[f64; 4]],
        bounds: &TargetBox,
        packed: &[NodeSource<V::Element, N>],
        long_range: Option<&LongRangePart<V::Element>>,
        scratch: &mut Scratch<V::Element, N>,
    ) -> GroupField {
        let Units { length, mass } = self.units;
        let frame = Frame { origin: bounds.middle(), units: self.units };
        let mut targets: Targets<V::Element> = [[V::Element::default(); SUPER_CLUSTER]; 3];
        for (lane, particle) in group.iter().enumerate() {
            let target: [V::Element; 4] = frame.local(particle);
            for d in 0..3 {
                targets[d][lane] = target[d];
            }
        }
        let Scratch { stack, found, images, points, near, nodes } = scratch;
        // Use grow-only buffers and plain loops: an iterator's `collect` would not be compiled with the SIMD
        // features.
        let (mut point_count, mut near_count, mut node_count) = (0, 0, 0);
        images.clear();
        match (&self.opening.split, self.tree.moments.first()) {
            (Some(split), Some(root)) => {
                split.for_each_image(bounds, (root.lower, root.upper), |shift| images.push(shift));
            }
            _ => images.push([0.0; 3]),
        }
        for shift in images.iter() {
            let image = bounds.moved(*shift);
            self.opening.walk(self.nodes, &image, stack, found);
            let frame = Frame { origin: image.middle(), units: self.units };
            let count = found.rows.iter().map(|&(first, end)| (end - first) as usize).sum::<usize>();
            let empty = [V::Element::default(); 4];
            let free = &mut resized(points, point_count + count, empty)[point_count..];
            match &self.opening.split {
                None => point_count += frame.pack_all(&found.rows, &self.tree.sources, free),
                Some(split) => {
                    let free_near = &mut resized(near, near_count + count, empty)[near_count..];
                    let (sources, cut) = (&self.tree.sources, split.cut * length);
                    let packed = frame.pack_within(&found.rows, sources, [free_near, free], &image, cut);
                    near_count += packed[0];
                    point_count += packed[1];
                }
            };
            let end = node_count + found.nodes.len();
            let free = &mut resized(nodes, end, [V::Element::default(); N])[node_count..];
            for (node, &index) in free.iter_mut().zip(&found.nodes) {
                *node = packed[index as usize];
                let [x, y, z] = self.nodes[index as usize].center;
                [node[0], node[1], node[2], _] = frame.local(&[x, y, z, 0.0]);
            }
            node_count = end;
        }
        let (points, near, nodes) = (&points[..point_count], &near[..near_count], &nodes[..node_count]);
        let mut gathered: Gathered = [[0.0; SUPER_CLUSTER]; 4];
        let softened =
            Softened { plummer: self.softened.plummer * length, spline: self.softened.spline * length };
        match long_range {
            None => {
                kernels::points::<S, V>(simd, &targets, group.len(), points, softened, &mut gathered);
                kernels::nodes::<S, V, N>(simd, &targets, group.len(), nodes, softened, &mut gathered);
            }
            Some(part) => {
                let (count, gathered) = (group.len(), &mut gathered);
                split_kernels::points::<S, V, true>(simd, &targets, count, near, softened, part, gathered);
                split_kernels::points::<S, V, false>(simd, &targets, count, points, softened, part, gathered);
                split_kernels::nodes::<S, V, N>(simd, &targets, count, nodes, softened, part, gathered);
            }
        }
        let scale = 0.25 * length * length / mass;
        for d in 0..3 {
            gathered[d].iter_mut().for_each(|value| *value *= scale);
        }
        gathered[3].iter_mut().for_each(|value| *value *= length / mass);
        GroupField { gathered, nodes: node_count, points: near_count + point_count }
    }
}

/// Coordinates of a super-cluster in the walk's units.
struct Frame {
    /// The center of the super-cluster, or of its image.
    origin: [f64; 3],
    units: Units,
}

impl Frame {
    /// Returns x, y, z relative to the origin, and half the mass.
    #[inline(always)]
    fn local<E: Scalar>(&self, particle: &[f64; 4]) -> [E; 4] {
        self.local_double(particle).map(E::of)
    }

    #[inline(always)]
    fn local_double(&self, particle: &[f64; 4]) -> [f64; 4] {
        let Units { length, mass } = self.units;
        let of = |d: usize| (particle[d] - self.origin[d]) * length;
        [of(0), of(1), of(2), particle[3] * (0.5 * mass)]
    }

    /// Packs the sources of these rows, and returns their number.
    #[inline(always)]
    fn pack_all<E: Scalar>(
        &self,
        rows: &[(u32, u32)],
        sources: &[[f64; 4]],
        mut free: &mut [[E; 4]],
    ) -> usize {
        let count = free.len();
        for &(first, end) in rows {
            let (filled, rest) = std::mem::take(&mut free).split_at_mut((end - first) as usize);
            for (point, source) in filled.iter_mut().zip(&sources[first as usize..end as usize]) {
                *point = self.local(source);
            }
            free = rest;
        }
        count
    }

    /// Packs those sources of these rows that are within `cut`, in the walk's units, of the super-cluster's
    /// box: first those within [`NEAR`] of the cut of every point of the box, then the others. Returns their
    /// numbers.
    #[inline(always)]
    fn pack_within<E: Scalar>(
        &self,
        rows: &[(u32, u32)],
        sources: &[[f64; 4]],
        [near, other]: [&mut [[E; 4]]; 2],
        bounds: &TargetBox,
        cut: f64,
    ) -> [usize; 2] {
        let half = [0, 1, 2].map(|d| (bounds.upper[d] - self.origin[d]) * self.units.length);
        let (squared_cut, squared_near) = (cut * cut, NEAR * NEAR * cut * cut);
        let (mut near_count, mut count) = (0, 0);
        for &(first, end) in rows {
            for source in &sources[first as usize..end as usize] {
                let local = self.local_double(source);
                let outside = |d: usize| (local[d].abs() - half[d]).max(0.0);
                let farthest = |d: usize| local[d].abs() + half[d];
                let squared = outside(0) * outside(0) + outside(1) * outside(1) + outside(2) * outside(2);
                let largest =
                    farthest(0) * farthest(0) + farthest(1) * farthest(1) + farthest(2) * farthest(2);
                // both written, one counted: no branch
                (near[near_count], other[count]) = (local.map(E::of), local.map(E::of));
                let is_near = largest <= squared_near;
                near_count += usize::from(is_near);
                count += usize::from(!is_near && squared <= squared_cut);
            }
        }
        [near_count, count]
    }
}

/// Returns the first `count` elements of a buffer, which grows if it is too short.
#[inline(always)]
fn resized<T: Copy>(buffer: &mut Vec<T>, count: usize, empty: T) -> &mut [T] {
    if buffer.len() < count {
        buffer.resize(count, empty);
    }
    &mut buffer[..count]
}
