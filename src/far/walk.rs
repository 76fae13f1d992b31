//! One traversal per super-cluster, and evaluation of its interaction lists.
//!
//! The kernels use units of the extent of all particles and of their total mass, both rounded to powers of
//! two so that scaling is exact. Coordinates are relative to the super-cluster's center.
use super::kernels::{self, Gathered, NodeSource, OCTUPOLE, PointSource, QUADRUPOLE, Softened, Targets};
use super::lanes::{Lane, ReciprocalSqrt, Scalar, with_lanes};
use super::opening::{Interactions, Opening, TargetBox, WalkNode};
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
    /// Chooses the units of a tree.
    pub fn of(tree: &Tree) -> Self {
        let rounded =
            |size: f64| if size > 0.0 && size.is_finite() { (-size.log2().ceil()).exp2() } else { 1.0 };
        let Some(root) = tree.moments.first() else { return Units { length: 1.0, mass: 1.0 } };
        let size = [0, 1, 2].map(|d| root.upper[d] - root.lower[d]).into_iter().fold(0.0, f64::max);
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
    points: Vec<PointSource<E>>,
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
            self.for_each_group(targets, boxes, |scratch, group, bounds| {
                with_lanes!(simd => self.group::<_, f64x8<_>, N>(simd, group, bounds, &packed, scratch))
            })
        } else {
            let packed = self.packed_nodes::<f32, N>();
            self.for_each_group(targets, boxes, |scratch, group, bounds| {
                with_lanes!(simd => self.group::<_, f32x16<_>, N>(simd, group, bounds, &packed, scratch))
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
                    points: Vec::new(),
                    nodes: Vec::new(),
                },
                |scratch, (group, bounds)| evaluate(scratch, group, bounds),
            )
            .collect()
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
        scratch: &mut Scratch<V::Element, N>,
    ) -> GroupField {
        let Units { length, mass } = self.units;
        let [x, y, z] = bounds.middle();
        // x, y, z relative to the group's center, and half the mass
        let (frame, unit) = ([x, y, z, 0.0], [length, length, length, 0.5 * mass]);
        let local = |particle: &[f64; 4]| -> [V::Element; 4] {
            let of = |k: usize| <V::Element as Scalar>::of((particle[k] - frame[k]) * unit[k]);
            [of(0), of(1), of(2), of(3)]
        };
        let mut targets: Targets<V::Element> = [[V::Element::default(); SUPER_CLUSTER]; 3];
        for (lane, particle) in group.iter().enumerate() {
            let target = local(particle);
            for d in 0..3 {
                targets[d][lane] = target[d];
            }
        }
        self.opening.walk(self.nodes, bounds, &mut scratch.stack, &mut scratch.found);
        let Scratch { found, points, nodes, .. } = scratch;
        // Use grow-only buffers and plain loops: an iterator's `collect` would not be compiled with the SIMD
        // features.
        let count = found.rows.iter().map(|&(first, end)| (end - first) as usize).sum();
        let mut free = &mut *resized(points, count, [V::Element::default(); 4]);
        for &(first, end) in &found.rows {
            let (filled, rest) = std::mem::take(&mut free).split_at_mut((end - first) as usize);
            for (point, source) in filled.iter_mut().zip(&self.tree.sources[first as usize..end as usize]) {
                *point = local(source);
            }
            free = rest;
        }
        let points = &points[..count];
        let nodes = resized(nodes, found.nodes.len(), [V::Element::default(); N]);
        for (node, &index) in nodes.iter_mut().zip(&found.nodes) {
            *node = packed[index as usize];
            let [x, y, z] = self.nodes[index as usize].center;
            [node[0], node[1], node[2], _] = local(&[x, y, z, 0.0]);
        }
        let mut gathered: Gathered = [[0.0; SUPER_CLUSTER]; 4];
        let softened =
            Softened { plummer: self.softened.plummer * length, spline: self.softened.spline * length };
        kernels::points::<S, V>(simd, &targets, group.len(), points, softened, &mut gathered);
        kernels::nodes::<S, V, N>(simd, &targets, group.len(), nodes, softened, &mut gathered);
        let scale = 0.25 * length * length / mass;
        for d in 0..3 {
            gathered[d].iter_mut().for_each(|value| *value *= scale);
        }
        gathered[3].iter_mut().for_each(|value| *value *= length / mass);
        GroupField { gathered, nodes: nodes.len(), points: points.len() }
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
