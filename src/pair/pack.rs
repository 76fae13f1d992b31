//! A pass's input, packed for lanes: per cluster, per column, eight values side by side; or a record for each particle.

use super::aligned::Aligned;
use super::lane::{Instructions, Scalar, dispatch};
use super::law::{Columns, Cutoff, PairLaw};
use super::record::{QUAD, quads};
use crate::neighbors::cluster::power_of_two_below;
use crate::neighbors::{CLUSTER, CLUSTERS, Radii, SUPER_CLUSTER};
use crate::space::{Boundary, SimulationBox};
use crate::turns::each;
use crate::unused::Used;
use rayon::prelude::*;
use std::ops::Range;

mod frame;
mod write;

pub use frame::{Bounds, Shift};
pub use write::GEOMETRY;

use frame::Place;
use write::{Piece, Prepare, Records, Source};

/// Super-clusters packed in one piece.
const PIECE: usize = 16;

/// How the values of a cluster are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Columns of eight values: [`GEOMETRY`], then the law's inputs.
    Columns,
    /// Records of so many quads: a particle's offsets, then its inputs.
    Records(usize),
}

impl Layout {
    /// The records of a law.
    pub const fn records<L: PairLaw>() -> Self {
        Layout::Records(quads::<L>())
    }

    /// Values of a cluster whose pairs need so many of each particle.
    fn width(self, inputs: usize) -> usize {
        match self {
            Layout::Columns => (GEOMETRY + inputs) * CLUSTER,
            Layout::Records(quads) => quads * QUAD * CLUSTER,
        }
    }
}

/// Per cluster what its [`Layout`] says. Offsets are taken in double precision before they are rounded to
/// the lanes'; rows beyond the end and ghosts have offsets that are no numbers or infinite, so that no distance to
/// them is in range.
pub struct Packed<T: 'static> {
    /// Values of a cluster.
    width: usize,
    layout: Layout,
    room: Used<Room<T>>,
    /// The unit of the bounds: a power of two near the largest radius, so that squares neither overflow nor vanish.
    pub unit: f64,
    /// Periods, 0 where open.
    pub periods: [f64; 3],
    /// Their inverses, 0 where open.
    pub frequency: [f64; 3],
    /// The largest radius.
    pub largest: f64,
    /// When a pair of the law acts.
    pub cutoff: Cutoff,
}

/// The memory of packed input.
pub struct Room<T> {
    values: Aligned<T>,
    /// Of clusters in columns.
    bounds: Vec<Bounds>,
    places: Vec<Place>,
}

impl<T> Default for Room<T> {
    fn default() -> Self {
        Room { values: Aligned::default(), bounds: Vec::new(), places: Vec::new() }
    }
}

/// What is packed: positions, radii, and what a law reads, in the order of its inputs; all rows each.
pub struct Input<'a, L> {
    /// The law.
    pub law: &'a L,
    /// Position columns.
    pub position: [&'a [f64]; 3],
    /// Interaction radii.
    pub radius: Radii<'a>,
    /// The law's inputs.
    pub columns: &'a [&'a [f64]],
    /// The lanes that pack.
    pub instructions: Instructions,
}

/// So many of a value, written by all threads.
fn written<V: Send>(count: usize, value: impl Fn() -> V + Sync + Send) -> Vec<V> {
    (0..count).into_par_iter().with_min_len(1024).map(|_| value()).collect()
}

impl<T: Scalar> Room<T> {
    /// Make it that of so many super-clusters, with so many values of each cluster; what is in it is not defined.
    fn resize(&mut self, super_clusters: usize, width: usize, layout: Layout) {
        let clusters = super_clusters * CLUSTERS;
        let bounds = if layout == Layout::Columns { clusters } else { self.bounds.len() };
        if self.places.is_empty() {
            self.values = Aligned::new(clusters * width);
            self.bounds = written(bounds, || Bounds::NOTHING);
            self.places = written(super_clusters, Place::nowhere);
        } else {
            self.values.resize(clusters * width);
            self.bounds.resize(bounds, Bounds::NOTHING);
            self.places.resize(super_clusters, Place::nowhere());
        }
    }
}

impl<T: Scalar> Packed<T> {
    /// Room for so many rows of a law with these radii, none of which is packed yet.
    pub fn new<L: PairLaw>(layout: Layout, radius: Radii, rows: usize, bx: &SimulationBox) -> Self {
        // molecules need it in every step; a gas has other uses for the memory between its passes
        let room = match layout {
            Layout::Records(_) => T::kept().rooms.take(),
            Layout::Columns => Used::once(),
        };
        Self::of(room, L::Prepared::<f64>::COUNT, layout, L::CUTOFF, (radius, rows), bx)
    }

    /// Room for positions alone, of pairs within the largest of these radii.
    pub fn of_positions(radius: &[f64], bx: &SimulationBox) -> Self {
        let room = T::kept().rooms.take();
        Self::of(room, 0, Layout::Columns, Cutoff::Common, (Radii::Each(radius), radius.len()), bx)
    }

    fn of(
        mut room: Used<Room<T>>,
        inputs: usize,
        layout: Layout,
        cutoff: Cutoff,
        (radius, rows): (Radii, usize),
        bx: &SimulationBox,
    ) -> Self {
        let width = layout.width(inputs);
        room.resize(rows.div_ceil(SUPER_CLUSTER), width, layout);
        let largest = radius.largest();
        let lengths = bx.lengths();
        let periods = [0, 1, 2].map(|d| if bx.boundary[d] == Boundary::Periodic { lengths[d] } else { 0.0 });
        Self {
            width,
            layout,
            room,
            unit: power_of_two_below(largest),
            periods,
            frequency: periods.map(|period| if period > 0.0 { 1.0 / period } else { 0.0 }),
            largest,
            cutoff,
        }
    }

    /// Pack some super-clusters.
    pub fn pack<L: PairLaw>(&mut self, input: &Input<L>, super_clusters: Range<usize>) {
        let Input { law, position, radius, columns: inputs, instructions } = *input;
        let source = Source {
            position,
            radius,
            inputs,
            prepared: L::PREPARES,
            width: self.width,
            scale: 1.0 / self.unit,
        };
        match self.layout {
            Layout::Columns => self.pack_columns(&source, instructions, super_clusters, |first, values| {
                if L::PREPARES {
                    dispatch(instructions, Prepare { law, source: &source, first, values });
                }
            }),
            Layout::Records(_) => {
                let (begin, end, stride) = (super_clusters.start, super_clusters.end, CLUSTERS * self.width);
                let room = &mut *self.room;
                let pieces = room.values[begin * stride..end * stride]
                    .chunks_mut(PIECE * stride)
                    .zip(room.places[begin..end].chunks_mut(PIECE))
                    .enumerate()
                    .collect();
                each(pieces, |(piece, (records, places))| {
                    let first = (begin + piece * PIECE) * SUPER_CLUSTER;
                    dispatch(instructions, Records { law, source: &source, first, records, places });
                });
            }
        }
    }

    /// Pack the positions of all super-clusters.
    pub fn pack_positions(&mut self, position: [&[f64]; 3], radius: &[f64], instructions: Instructions) {
        let (width, scale) = (self.width, 1.0 / self.unit);
        let radius = Radii::Each(radius);
        let source = Source { position, radius, inputs: &[], prepared: false, width, scale };
        self.pack_columns(&source, instructions, 0..self.super_clusters(), |_, _| ());
    }

    /// Pack in columns what is read as it is, then what is `prepared` from the row of a piece on.
    fn pack_columns(
        &mut self,
        source: &Source,
        instructions: Instructions,
        super_clusters: Range<usize>,
        prepare: impl Fn(usize, &mut [T]) + Sync,
    ) {
        let stride = CLUSTERS * self.width;
        let (begin, end) = (super_clusters.start, super_clusters.end);
        let room = &mut *self.room;
        let pieces = room.values[begin * stride..end * stride]
            .chunks_mut(PIECE * stride)
            .zip(room.bounds[begin * CLUSTERS..end * CLUSTERS].chunks_mut(PIECE * CLUSTERS))
            .zip(room.places[begin..end].chunks_mut(PIECE))
            .enumerate()
            .collect();
        each(pieces, |(piece, ((values, bounds), places))| {
            let first = (begin + piece * PIECE) * SUPER_CLUSTER;
            dispatch(instructions, Piece { source, first, values: &mut *values, bounds, places });
            prepare(first, values);
        });
    }

    /// Number of super-clusters.
    pub fn super_clusters(&self) -> usize {
        self.room.places.len()
    }

    /// A cluster's values.
    #[inline(always)]
    pub fn block(&self, cluster: usize) -> &[T] {
        &self.room.values[cluster * self.width..][..self.width]
    }

    /// One value of a row, of a layout in columns.
    #[inline(always)]
    pub fn value(&self, row: usize, column: usize) -> T {
        self.room.values[row / CLUSTER * self.width + column * CLUSTER + row % CLUSTER]
    }

    /// The bounds of a cluster, of a layout in columns.
    #[inline(always)]
    pub fn bounds(&self, cluster: usize) -> &Bounds {
        &self.room.bounds[cluster]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::{gradients, lennard_jones, lennard_jones_mixed};
    use crate::pair::Kernel;
    use crate::space::Vec3d;
    use proptest::prelude::*;

    /// A law's input in both layouts: what records have of particles is what columns have, to the bit.
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
        let [columns, records] = [Layout::Columns, Layout::records::<L>()].map(|layout| {
            let mut packed = Packed::<T>::new::<L>(layout, radius, rows, &bx);
            let input = Input { law, position, radius, columns: &inputs, instructions: Instructions::Best };
            packed.pack(&input, 0..packed.super_clusters());
            packed
        });
        let bits = |value: T| value.to_f64().to_bits();
        for row in 0..records.super_clusters() * SUPER_CLUSTER {
            let record = &records.block(row / CLUSTER)[row % CLUSTER * QUAD * quads::<L>()..];
            let offsets = (0..3).map(|d| (d, d));
            let needed = (0..L::Prepared::<f64>::COUNT).map(|c| (3 + c, GEOMETRY + c));
            for (place, column) in offsets.chain(needed) {
                let (own, value) = (record[place], columns.value(row, column));
                assert!(
                    bits(own) == bits(value) || own.to_f64().is_nan() && value.to_f64().is_nan(),
                    "{row}"
                );
            }
        }
        for super_cluster in 0..records.super_clusters() {
            let [a, b] = [&columns, &records].map(|packed| packed.room.places[super_cluster]);
            assert_eq!((a.centre, a.half), (b.centre, b.half));
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
            // some are ghosts, others no places
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
            records_are_columns::<_, f64>(&gradients::Law { kernel: Kernel::wendland_c2() }, &position);
        }
    }
}
