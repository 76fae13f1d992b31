//! One traversal per super-cluster, and the evaluation of what it finds.
//!
//! The kernels work in units of the size of all particles and of their total mass, both rounded to a power of two (so
//! that nothing is rounded twice), and relative to the super-cluster's center.
use super::kernels::{self, GROUP, Gathered, NodeSource, PointSource, Softened, Targets};
use super::lanes::{Lane, Roots, Scalar, with_lanes};
use super::opening::{Interactions, Opening, TargetBox, WalkNode};
use super::tree::Tree;
use fearless_simd::{f32x16, f64x8};
use rayon::prelude::*;

/// The walk's units: multiply lengths and masses by these.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Units {
    pub length: f64,
    pub mass: f64,
}

impl Units {
    /// The units that suit a tree.
    pub fn of(tree: &Tree) -> Self {
        let rounded =
            |size: f64| if size > 0.0 && size.is_finite() { (-size.log2().ceil()).exp2() } else { 1.0 };
        let Some(root) = tree.moments.first() else { return Units { length: 1.0, mass: 1.0 } };
        let size = [0, 1, 2].map(|d| root.upper[d] - root.lower[d]).into_iter().fold(0.0, f64::max);
        Units { length: rounded(size), mass: rounded(root.mass) }
    }
}

/// A tree ready to act on targets.
pub(crate) struct Walk<'a> {
    pub opening: Opening,
    pub nodes: &'a [WalkNode],
    pub tree: &'a Tree,
    pub units: Units,
    pub softened: Softened,
}

/// What one super-cluster gathered, and from how many sources.
#[derive(Clone)]
pub(crate) struct GroupField {
    pub gathered: Gathered,
    pub nodes: usize,
    pub points: usize,
}

/// Buffers of one thread.
#[derive(Default)]
struct Scratch<E> {
    stack: Vec<u32>,
    found: Interactions,
    points: Vec<PointSource<E>>,
    nodes: Vec<NodeSource<E>>,
}

impl Walk<'_> {
    /// What the groups of `targets` (64 consecutive ones each, with the box of each) feel of the tree: per group the
    /// acceleration and minus the potential in the run's units with G = 1. `double` picks f64 lanes. Evaluation order
    /// does not depend on the number of threads.
    pub fn field(&self, targets: &[[f64; 4]], boxes: &[TargetBox], double: bool) -> Vec<GroupField> {
        if double {
            let packed = self.packed_nodes::<f64>();
            self.each(targets, boxes, |scratch, group, bounds| {
                with_lanes!(simd => self.group::<_, f64x8<_>>(simd, group, bounds, &packed, scratch))
            })
        } else {
            let packed = self.packed_nodes::<f32>();
            self.each(targets, boxes, |scratch, group, bounds| {
                with_lanes!(simd => self.group::<_, f32x16<_>>(simd, group, bounds, &packed, scratch))
            })
        }
    }

    fn each<E: Scalar>(
        &self,
        targets: &[[f64; 4]],
        boxes: &[TargetBox],
        evaluate: impl Fn(&mut Scratch<E>, &[[f64; 4]], &TargetBox) -> GroupField + Sync,
    ) -> Vec<GroupField> {
        targets
            .par_chunks(GROUP)
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

    /// Every node as a source, in the walk's units; the centers are set per group.
    fn packed_nodes<E: Scalar>(&self) -> Vec<NodeSource<E>> {
        let Units { length, mass } = self.units;
        self.tree
            .moments
            .par_iter()
            .with_min_len(512)
            .map(|moments| kernels::node_source(moments, moments.center, length, mass))
            .collect()
    }

    #[inline(always)]
    fn group<S: Roots, V: Lane<S>>(
        &self,
        simd: S,
        group: &[[f64; 4]],
        bounds: &TargetBox,
        packed: &[NodeSource<V::Element>],
        scratch: &mut Scratch<V::Element>,
    ) -> GroupField {
        let Units { length, mass } = self.units;
        let frame = bounds.middle();
        let local = |position: f64, d: usize| <V::Element as Scalar>::of((position - frame[d]) * length);
        let mut targets: Targets<V::Element> = [[V::Element::default(); GROUP]; 3];
        for (lane, particle) in group.iter().enumerate() {
            for d in 0..3 {
                targets[d][lane] = local(particle[d], d);
            }
        }
        self.opening.walk(self.nodes, bounds, &mut scratch.stack, &mut scratch.found);
        scratch.points.clear();
        for &(first, end) in &scratch.found.rows {
            for source in &self.tree.sources[first as usize..end as usize] {
                let mass = <V::Element as Scalar>::of(source[3] * mass);
                scratch.points.push([local(source[0], 0), local(source[1], 1), local(source[2], 2), mass]);
            }
        }
        scratch.nodes.clear();
        for &index in &scratch.found.nodes {
            let mut source = packed[index as usize];
            let center = self.tree.moments[index as usize].center;
            for d in 0..3 {
                source[d] = local(center[d], d);
            }
            scratch.nodes.push(source);
        }
        let mut gathered: Gathered = [[0.0; GROUP]; 4];
        let softened =
            Softened { plummer: self.softened.plummer * length, spline: self.softened.spline * length };
        kernels::points::<S, V>(simd, &targets, group.len(), &scratch.points, softened, &mut gathered);
        if self.opening.order == 2 {
            kernels::nodes::<S, V, false>(
                simd,
                &targets,
                group.len(),
                &scratch.nodes,
                softened,
                &mut gathered,
            );
        } else {
            kernels::nodes::<S, V, true>(
                simd,
                &targets,
                group.len(),
                &scratch.nodes,
                softened,
                &mut gathered,
            );
        }
        let scale = length * length / mass;
        for d in 0..3 {
            gathered[d].iter_mut().for_each(|value| *value *= scale);
        }
        gathered[3].iter_mut().for_each(|value| *value *= length / mass);
        GroupField { gathered, nodes: scratch.nodes.len(), points: scratch.points.len() }
    }
}
