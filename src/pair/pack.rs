//! Packed input of a pass: per cluster, columns of eight values or a record per particle.

use super::law::Cutoff;
use super::law_lanes::{LawLanes, LawShape};
use super::record::{OFFSETS, QUAD};
use crate::faults::{Fault, planted};
use crate::neighbors::cluster::power_of_two_below;
use crate::neighbors::{CLUSTER, CLUSTERS, Radii, SUPER_CLUSTER};
use crate::pair::scratch_pools::scratch_pools;
use crate::parallel::Aligned;
use crate::parallel::Scratch;
use crate::parallel::map_items;
use crate::simd::{Instructions, Scalar, dispatch};
use crate::space::{Boundary, SimulationBox};
use rayon::prelude::*;
use std::ops::Range;

mod frame;
mod write;

pub use frame::{Bounds, Shift};
pub use write::{GEOMETRY, PrepareTask, Source};

use frame::SuperClusterBox;
use write::{ColumnsTask, Prepare, RecordsTask};

/// Super-clusters per task.
const TASK_SUPER_CLUSTERS: usize = 16;

/// Layout of a cluster's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Columns of eight values: [`GEOMETRY`] columns, then the law's prepared inputs.
    Columns,
    /// Records of this number of quads: a particle's offsets, then its prepared inputs.
    Records(usize),
}

impl Layout {
    /// Values of a cluster, for `inputs` prepared inputs.
    fn width(self, inputs: usize) -> usize {
        match self {
            Layout::Columns => (GEOMETRY + inputs) * CLUSTER,
            Layout::Records(quads) => quads * QUAD * CLUSTER,
        }
    }
}

/// Input in a [`Layout`]. Offsets are computed in double precision, then rounded to the lanes' type. Ghosts
/// and rows beyond the end have infinite or NaN offsets, so no distance to them is within range.
pub struct PackedInput<T: 'static> {
    /// Values of a cluster.
    width: usize,
    layout: Layout,
    storage: Scratch<PackedStorage<T>>,
    /// Unit of the bounds: a power of two near the largest radius, so that squares neither overflow nor
    /// underflow.
    pub unit: f64,
    /// Periods, 0 if open.
    pub periods: [f64; 3],
    /// Inverse periods, 0 if open.
    pub frequency: [f64; 3],
    /// Largest radius.
    pub largest: f64,
    /// Cutoff rule of the law.
    pub cutoff: Cutoff,
}

/// Memory of packed input.
pub struct PackedStorage<T> {
    values: Aligned<T>,
    /// Bounding boxes of clusters, for columns only.
    bounds: Vec<Bounds>,
    boxes: Vec<SuperClusterBox>,
}

impl<T> Default for PackedStorage<T> {
    fn default() -> Self {
        PackedStorage { values: Aligned::default(), bounds: Vec::new(), boxes: Vec::new() }
    }
}

/// Source of the packing: all rows of positions, radii, and the law's inputs in their order.
pub struct Input<'a, T> {
    /// The law.
    pub law: &'a dyn LawLanes<T>,
    /// Position columns.
    pub position: [&'a [f64]; 3],
    /// Interaction radii.
    pub radius: Radii<'a>,
    /// The law's inputs.
    pub columns: &'a [&'a [f64]],
    /// Instructions of the packing.
    pub instructions: Instructions,
}

/// Creates `count` values, written by all threads.
fn fill_parallel<V: Send>(count: usize, value: impl Fn() -> V + Sync + Send) -> Vec<V> {
    (0..count).into_par_iter().with_min_len(1024).map(|_| value()).collect()
}

impl<T: Scalar> PackedStorage<T> {
    /// Resizes for `super_clusters` with `width` values per cluster; the contents are unspecified.
    fn resize(&mut self, super_clusters: usize, width: usize, layout: Layout) {
        let clusters = super_clusters * CLUSTERS;
        let bounds = if layout == Layout::Columns { clusters } else { self.bounds.len() };
        if self.boxes.is_empty() {
            self.values = Aligned::new(clusters * width);
            self.bounds = fill_parallel(bounds, || Bounds::EMPTY);
            self.boxes = fill_parallel(super_clusters, SuperClusterBox::empty);
        } else {
            self.values.resize(clusters * width);
            self.bounds.resize(bounds, Bounds::EMPTY);
            self.boxes.resize(super_clusters, SuperClusterBox::empty());
        }
    }
}

impl<T: Scalar> PackedInput<T> {
    /// Memory for `rows` rows of a law with these radii, not packed yet.
    pub fn new(law: &LawShape, layout: Layout, radius: Radii, rows: usize, bx: &SimulationBox) -> Self {
        // Molecules need the memory in every step. A gas frees it for other uses between its passes.
        let storage = match layout {
            Layout::Records(_) => scratch_pools::<T>().packed.take(),
            Layout::Columns => Scratch::unpooled(),
        };
        Self::of(storage, law.prepared, layout, law.cutoff, (radius, rows), bx)
    }

    /// Memory for positions alone; pairs are within the largest of these radii.
    pub fn of_positions(radius: &[f64], bx: &SimulationBox) -> Self {
        let storage = scratch_pools::<T>().packed.take();
        Self::of(storage, 0, Layout::Columns, Cutoff::Common, (Radii::Each(radius), radius.len()), bx)
    }

    fn of(
        mut storage: Scratch<PackedStorage<T>>,
        inputs: usize,
        layout: Layout,
        cutoff: Cutoff,
        (radius, rows): (Radii, usize),
        bx: &SimulationBox,
    ) -> Self {
        let width = layout.width(inputs);
        storage.resize(rows.div_ceil(SUPER_CLUSTER), width, layout);
        let largest = radius.largest();
        let lengths = bx.lengths();
        let mut periods =
            [0, 1, 2].map(|d| if bx.boundary[d] == Boundary::Periodic { lengths[d] } else { 0.0 });
        if planted(Fault::ImageWrong) {
            periods[0] *= 1.01;
        }
        Self {
            width,
            layout,
            storage,
            unit: power_of_two_below(largest),
            periods,
            frequency: periods.map(|period| if period > 0.0 { 1.0 / period } else { 0.0 }),
            largest,
            cutoff,
        }
    }

    /// Packs some super-clusters.
    pub fn pack(&mut self, input: &Input<T>, super_clusters: Range<usize>) {
        let Input { law, position, radius, columns: inputs, instructions } = *input;
        let prepares = law.shape().prepares;
        let source = Source {
            position,
            radius,
            inputs,
            prepared: prepares,
            width: self.width,
            scale: 1.0 / self.unit,
        };
        match self.layout {
            Layout::Columns => self.pack_columns(&source, instructions, super_clusters, &|first, values| {
                if prepares {
                    let places = (source.width, GEOMETRY * CLUSTER);
                    law.prepare(instructions, &source, first, places, values);
                }
            }),
            Layout::Records(quads) => {
                let prepare = |first: usize, columns: &mut [T]| {
                    law.prepare(instructions, &source, first, (columns.len(), OFFSETS * CLUSTER), columns);
                };
                let prepare: Option<&Prepare<T>> = prepares.then_some(&prepare);
                let (begin, end, stride) = (super_clusters.start, super_clusters.end, CLUSTERS * self.width);
                let storage = &mut *self.storage;
                let pieces = storage.values[begin * stride..end * stride]
                    .chunks_mut(TASK_SUPER_CLUSTERS * stride)
                    .zip(storage.boxes[begin..end].chunks_mut(TASK_SUPER_CLUSTERS))
                    .enumerate()
                    .collect();
                map_items(pieces, |(piece, (records, boxes))| {
                    let first = (begin + piece * TASK_SUPER_CLUSTERS) * SUPER_CLUSTER;
                    let task = RecordsTask { source: &source, prepare, quads, first, records, boxes };
                    dispatch(instructions, task);
                });
            }
        }
    }

    /// Packs the positions of all super-clusters.
    pub fn pack_positions(&mut self, position: [&[f64]; 3], radius: &[f64], instructions: Instructions) {
        let (width, scale) = (self.width, 1.0 / self.unit);
        let radius = Radii::Each(radius);
        let source = Source { position, radius, inputs: &[], prepared: false, width, scale };
        self.pack_columns(&source, instructions, 0..self.super_clusters(), &|_, _| ());
    }

    /// Packs columns that need no preparation, then calls `prepare` with the first row and the values of each
    /// task.
    fn pack_columns(
        &mut self,
        source: &Source,
        instructions: Instructions,
        super_clusters: Range<usize>,
        prepare: &Prepare<T>,
    ) {
        let stride = CLUSTERS * self.width;
        let (begin, end) = (super_clusters.start, super_clusters.end);
        let storage = &mut *self.storage;
        let pieces = storage.values[begin * stride..end * stride]
            .chunks_mut(TASK_SUPER_CLUSTERS * stride)
            .zip(storage.bounds[begin * CLUSTERS..end * CLUSTERS].chunks_mut(TASK_SUPER_CLUSTERS * CLUSTERS))
            .zip(storage.boxes[begin..end].chunks_mut(TASK_SUPER_CLUSTERS))
            .enumerate()
            .collect();
        map_items(pieces, |(piece, ((values, bounds), boxes))| {
            let first = (begin + piece * TASK_SUPER_CLUSTERS) * SUPER_CLUSTER;
            dispatch(instructions, ColumnsTask { source, first, values: &mut *values, bounds, boxes });
            prepare(first, values);
        });
    }

    /// Number of super-clusters.
    pub fn super_clusters(&self) -> usize {
        self.storage.boxes.len()
    }

    /// Values of a cluster.
    #[inline(always)]
    pub fn block(&self, cluster: usize) -> &[T] {
        &self.storage.values[cluster * self.width..][..self.width]
    }

    /// Value of a row, in columns.
    #[inline(always)]
    pub fn value(&self, row: usize, column: usize) -> T {
        self.storage.values[row / CLUSTER * self.width + column * CLUSTER + row % CLUSTER]
    }

    /// Bounds of a cluster, in columns.
    #[inline(always)]
    pub fn bounds(&self, cluster: usize) -> &Bounds {
        &self.storage.bounds[cluster]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::{gradients, lennard_jones, lennard_jones_mixed};
    use crate::pair::Kernel;
    use crate::pair::law::{Columns, PairLaw};
    use crate::pair::record::quads;
    use crate::space::Vec3d;
    use proptest::prelude::*;

    /// Checks that both layouts of a law's input have the same bits.
    fn records_are_columns<L: PairLaw, T: Scalar + std::fmt::Debug>(law: &L, position: &[Vec<f64>; 3]) {
        let rows = position[0].len();
        let bx = SimulationBox {
            lower: Vec3d::zeros(),
            upper: Vec3d::new(4.0, 5.0, 6.0),
            boundary: [Boundary::Periodic; 3],
        };
        let position = [0, 1, 2].map(|d| &position[d][..]);
        let inputs: Vec<Vec<f64>> = (0..L::Particle::<f64>::COUNT)
            .map(|c| (0..rows).map(|row| 0.5 + (row * 7 + c * 3) as f64 % 11.0).collect())
            .collect();
        let inputs: Vec<&[f64]> = inputs.iter().map(Vec::as_slice).collect();
        let radius = Radii::All(1.5);
        let shape = LawShape::of::<L>();
        let [columns, records] = [Layout::Columns, Layout::Records(shape.quads)].map(|layout| {
            let mut packed = PackedInput::<T>::new(&shape, layout, radius, rows, &bx);
            let input = Input { law, position, radius, columns: &inputs, instructions: Instructions::Best };
            packed.pack(&input, 0..packed.super_clusters());
            packed
        });
        let bits = |value: T| value.to_f64().to_bits();
        for row in 0..records.super_clusters() * SUPER_CLUSTER {
            let record = &records.block(row / CLUSTER)[row % CLUSTER * QUAD * quads::<L>()..];
            let offsets = (0..3).map(|d| (d, d));
            let needed = (0..L::Prepared::<f64>::COUNT).map(|c| (3 + c, GEOMETRY + c));
            for (index, column) in offsets.chain(needed) {
                let (own, value) = (record[index], columns.value(row, column));
                assert!(
                    bits(own) == bits(value) || own.to_f64().is_nan() && value.to_f64().is_nan(),
                    "{row}"
                );
            }
        }
        for super_cluster in 0..records.super_clusters() {
            let [a, b] = [&columns, &records].map(|packed| packed.storage.boxes[super_cluster]);
            assert_eq!((a.center, a.half), (b.center, b.half));
        }
        for cluster in 0..records.super_clusters() * CLUSTERS {
            for axis in 0..3 {
                let [(a, b), (c, d)] = [&columns, &records].map(|packed| packed.corners(cluster, axis));
                let near = |a: f64, b: f64| a == b || (a - b).abs() <= 1e-6 * a.abs().max(b.abs());
                assert!(near(a, c) && near(b, d), "{a} to {b}, {c} to {d}");
            }
        }
    }

    proptest! {
        #[test]
        fn records_have_what_columns_have(
            rows in prop::collection::vec(([0.0..4.0, 0.0..5.0, 0.0..6.0f64], 0..20u32), 1..200),
        ) {
            // Some rows are ghosts, others have NaN positions.
            let at = |(position, kind): &([f64; 3], u32), d: usize| match kind {
                0 => f64::INFINITY,
                1 => f64::NAN,
                _ => position[d],
            };
            let position = [0, 1, 2].map(|d| rows.iter().map(|row| at(row, d)).collect::<Vec<f64>>());
            let alike = lennard_jones::Law::truncated(1.0, 1.0);
            records_are_columns::<_, f32>(&alike, &position);
            records_are_columns::<_, f64>(&alike, &position);
            records_are_columns::<_, f32>(&lennard_jones_mixed::Law::truncated(), &position);
            records_are_columns::<_, f64>(&gradients::Law::new(Kernel::wendland_c2()), &position);
        }
    }
}
