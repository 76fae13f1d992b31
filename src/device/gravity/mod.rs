//! Self-gravity on a device (kernels/far): multipoles on the hierarchy over rows, and one tree walk a
//! super-cluster.
//!
//! The tree is not the octree of [`crate::far`]: its nodes are 8, 64, 512, ... consecutive rows along the
//! curve. Particles, near nodes and softening are treated as there. Far nodes act on all particles of a
//! super-cluster by a local expansion of fourth order, whose error is kept below that of the multipole
//! expansion.
//!
//! Each rank receives the locally essential trees of the others (`essential.rs`) and builds a second
//! hierarchy over them.

mod essential;
mod groups;
mod long_range;
mod sources;

pub use sources::{MassColumns, UnitScales};

use super::arguments::gravity::{OpeningParameters, SplitArguments, TargetBox};
use super::arguments::moments::{MomentsOfLevelArguments, MomentsOfRowsArguments, NodeRadiiArguments};
use super::arguments::targets::TargetsArguments;
use super::arguments::walk::WalkArguments;
use super::arguments::{Input, Output};
use super::columns::Columns;
use super::exchange::{Exchange, Message};
use super::hierarchy::{HierarchyLevel, levels_of};
use super::launch::WARP;
use super::reduction::Vector;
use super::sort::rows_of_32_bits;
use super::{Buffer, Device, Unit};
use crate::Result;
use crate::far::opening::RADIUS_BY_ANGLE;
use crate::far::softening::SPLINE_SUPPORT;
use crate::far::split::{LongRangePart, MOST_TERMS};
use crate::far::{Criterion, Expansion, GravityPlan, SofteningKernel};
use crate::neighbors::CLUSTER;
use crate::pair::Precision;
use crate::particles::Field;
use crate::space::SimulationBox;
use essential::{Essential, NODE_WORDS, of_others};
use groups::Groups;
use long_range::LongRange;
use sources::{Sources, Tree, nodes_of};
use std::ops::Range;

/// Threads a block of the kernels of multipoles and essential trees; rows and threads a block of the first
/// one.
const THREADS: u32 = 128;
const ROWS_PER_BLOCK: u32 = 512;

/// Largest number of boxes and of coarse nodes that represent a rank to others (at least an eighth of it, as
/// levels differ by 8), and of coarse nodes of all ranks, each of which is evaluated for each super-cluster.
const REPRESENTATIVES: usize = 512;
const REPRESENTATIVES_OF_ALL: usize = 4096;

/// The edge of a cube over its half diagonal: the ratio of a node's size to its radius.
const EDGE_BY_RADIUS: f64 = 1.154_700_538_379_251_5;

/// Geometric criterion: a cluster, and a larger node, is accepted beyond this times its size over the opening
/// angle. In periodic boxes, where estimates of accelerations lack the images, there is one factor. Errors
/// are then about those of the processors' octree at the same angle (docs/src/gpu.md).
const GEOMETRIC: [f64; 2] = [0.9, 1.25];
const GEOMETRIC_PERIODIC: f64 = 1.2;

/// Relative criterion: the fraction of the plan's error that is accepted of a cluster, and of a larger node.
const RELATIVE: [f64; 2] = [0.85, 0.34];

/// Errors over the acceleration that the geometric criterion accepts of a cluster, and of the local expansion
/// of a far node, over the fourth power of the opening angle; and those of a local expansion as a fraction of
/// what the relative criterion accepts of a larger node. These are the constants of the least work at a given
/// error (docs/lab-notes/gpu.md).
const CLUSTER_BY_ANGLE: f64 = 4.8e-3;
const FAR_BY_ANGLE: f64 = 1.2e-4;
const FAR_BY_ERROR: f64 = 0.07;

/// With octupoles over with quadrupoles: errors accepted of a cluster by the geometric criterion, and of
/// local expansions.
const CLUSTERS_OF_OCTUPOLES: f64 = 0.25;
const FAR_OF_OCTUPOLES: f64 = 0.125;

/// Least squared softening of nodes (softening_of_nodes of kernels/far/point.cuh).
const SMALLEST_SQUARE: f32 = 1e-36;

/// Size factor of opening angle 0, which opens every node larger than a point, and in open boxes all
/// clusters.
const NEVER: f32 = 1e30;

/// Interaction counts of the last evaluation, own and received, summed over this rank's super-clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InteractionCounts {
    /// Number of super-clusters.
    pub groups: u64,
    /// Particles in direct interactions.
    pub points: u64,
    /// Nodes that act on each particle.
    pub near: u64,
    /// Nodes that act through the local expansion.
    pub far: u64,
}

/// The force split of an open box: none.
const NO_SPLIT: SplitArguments = SplitArguments {
    period: [0.0; 3],
    lower: [0.0; 3],
    upper: [0.0; 3],
    cut: 0.0,
    scale: 0.0,
    in_double: [0.0; 90],
    in_single: [0.0; 46],
};

/// The gravity solver. Memory: 64 bytes a node in mixed precision with one node per seven rows, a byte a row
/// for boxes, a quarter of a byte a row for each other rank, and the exchanged elements. The plan's `bucket`
/// is not used: the smallest nodes are clusters of 8.
#[derive(Debug)]
pub struct Gravity {
    /// Largest number of boxes and of coarse nodes that represent this rank to others. More of them reduce
    /// the size of the essential trees and lengthen the cut.
    pub representatives: usize,
    device: Device,
    plan: GravityPlan,
    precision: Precision,
    multipoles: Unit,
    /// The walk in an open and in a periodic box, without the macro for the number of warps a super-cluster.
    walk: [Unit; 2],
    /// Warps a super-cluster, if set.
    warps: Option<usize>,
    groups: Groups,
    essential: Essential,
    /// The long-range part in a periodic box.
    long_range: Option<LongRange>,
    /// Size of a node and of its multipole in 64-bit words.
    words: [usize; 2],
    /// Nodes and multipoles of the own hierarchy, then of the received one.
    nodes: Buffer<u64>,
    moments: Buffer<u64>,
    boxes: Buffer<TargetBox>,
    /// Super-clusters in the order of their walks, and counters of it.
    order: Buffer<u32>,
    placed: Buffer<u32>,
    interaction_counts: Buffer<u32>,
}

/// Warps a multiprocessor up to which several share a super-cluster: twice those that run at once; and the
/// most that share one.
const WARPS_WANTED: usize = 40;
const MOST_WARPS: usize = 4;

impl Gravity {
    /// The solver of a plan.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(device: &Device, plan: &GravityPlan, precision: Precision) -> Result<Self> {
        let (real, width) = match precision {
            Precision::Mixed => ("float", 4),
            Precision::Double => ("double", 8),
        };
        let order = match plan.expansion {
            Expansion::Quadrupole => 2,
            Expansion::Octupole => 3,
        };
        let softening = match plan.kernel {
            _ if plan.softening == 0.0 => 0,
            SofteningKernel::Plummer => 1,
            SofteningKernel::Spline => 2,
        };
        let criterion = u32::from(matches!(plan.criterion, Criterion::RelativeError(_)));
        let multipoles =
            Unit::new("far/moments.cu").with("HILBRIUM_REAL", real).with("HILBRIUM_ORDER", order);
        let walk = Unit::new("far/walk.cu")
            .with("HILBRIUM_REAL", real)
            .with("HILBRIUM_ORDER", order)
            .with("HILBRIUM_SOFTENING", softening)
            .with("HILBRIUM_CRITERION", criterion);
        let walk = [0, 1].map(|periodic| walk.clone().with("HILBRIUM_PERIODIC", periodic));
        let groups = Unit::new("far/groups.cu")
            .with("HILBRIUM_REAL", real)
            .with("HILBRIUM_ORDER", order)
            .with("HILBRIUM_SOFTENING", softening)
            .with("HILBRIUM_CRITERION", criterion);
        let cut = Unit::new("far/cut.cu")
            .with("HILBRIUM_REAL", real)
            .with("HILBRIUM_ORDER", order)
            .with("HILBRIUM_CRITERION", criterion);
        let cut = [0, 1].map(|periodic| cut.clone().with("HILBRIUM_PERIODIC", periodic));
        let numbers = if order == 2 { 8 } else { 20 };
        let words = [NODE_WORDS, numbers * width / 8];
        Ok(Self {
            representatives: REPRESENTATIVES,
            device: device.clone(),
            plan: *plan,
            multipoles,
            walk,
            warps: None,
            groups: Groups::new(device, groups, precision)?,
            essential: Essential::new(device, cut, words)?,
            long_range: None,
            precision,
            words,
            nodes: Buffer::new(device, 0)?,
            moments: Buffer::new(device, 0)?,
            boxes: Buffer::new(device, 0)?,
            order: Buffer::new(device, 0)?,
            placed: Buffer::new(device, 0)?,
            interaction_counts: Buffer::new(device, 0)?,
        })
    }

    /// [`Self::run`] on the particles in this box; adds the field of potentials. `mass` is the total over
    /// ranks. Collective.
    ///
    /// # Errors
    /// Those of [`Self::run`].
    pub fn attract(
        &mut self,
        exchange: &Exchange,
        columns: &mut Columns,
        bx: &SimulationBox,
        mass: f64,
    ) -> Result<()> {
        columns.add(&[Field::Potential])?;
        let massive = MassColumns {
            position: columns.vector(Field::Position),
            mass: columns.scalar(Field::Mass),
            id: &columns.id,
        };
        let scales = UnitScales { length: bx.lengths().max(), mass };
        let (acceleration, potential) =
            (columns.vector(Field::Acceleration), columns.scalar(Field::Potential));
        self.run_in(bx, exchange, &massive, columns.owned(), scales, acceleration, potential)
    }

    /// [`Self::run`] in a box, which may be periodic. The rows of a periodic box have no ghosts.
    /// Collective.
    ///
    /// # Errors
    /// Those of [`Self::run`]; [`crate::Error::Usage`] in a box that is periodic in some dimensions only, and for the
    /// relative criterion in a periodic box.
    #[allow(clippy::too_many_arguments, reason = "those of run, and the box")]
    pub fn run_in(
        &mut self,
        bx: &SimulationBox,
        exchange: &Exchange,
        massive: &MassColumns,
        rows: Range<usize>,
        scales: UnitScales,
        acceleration: Vector,
        potential: &Buffer<f64>,
    ) -> Result<()> {
        let comm = exchange.comm();
        if bx.any_periodic() && self.plan.criterion != Criterion::Geometric {
            return Err(crate::Error::usage(
                "the relative criterion of gravity in a periodic box is not supported on devices: its estimate of \
                 accelerations sums over the particles, not over their images",
                "write criterion = \"geometric\" in [gravity], or run on processors",
            ));
        }
        let previous = self.long_range.take();
        let long_range = LongRange::prepare(previous, exchange, (&self.plan, self.precision), bx, &rows);
        self.long_range = comm.agree_on(long_range)?;
        self.run(exchange, massive, rows.clone(), scales, acceleration, potential)?;
        match &mut self.long_range {
            Some(mesh) => mesh.add(exchange, self.plan.constant, massive, &rows, (acceleration, potential)),
            None => Ok(()),
        }
    }

    /// Adds the gravity of all ranks' `rows` to the acceleration of these rows and sets their potential,
    /// without self-interaction. `rows` are the owned rows. For speed they are sorted along the curve, and a
    /// rank owns a range of it. Collective.
    ///
    /// # Errors
    /// On all ranks if there is one on any: [`crate::Error::Device`] when the device's memory is too small or
    /// a launch fails.
    pub fn run(
        &mut self,
        exchange: &Exchange,
        massive: &MassColumns,
        rows: Range<usize>,
        scales: UnitScales,
        acceleration: Vector,
        potential: &Buffer<f64>,
    ) -> Result<()> {
        let comm = exchange.comm();
        let ranks = comm.size();
        let sources = Sources::new(massive, &rows, scales);
        let coarse = comm.agree_on(self.make_tree(&sources, ranks))?;
        let coarse = of_others(comm, &coarse).concat();
        let boxes = comm.agree_on(self.make_targets(&sources, &coarse, ranks))?;
        let boxes = self.images_of(of_others(comm, &boxes), sources.length_unit());
        let opening = self.opening(sources.length_unit());
        let tree = Tree { sources: &sources, nodes: &self.nodes, moments: &self.moments };
        let counts = comm.agree_on(self.essential.cut(&tree, &boxes, opening, self.long_range.is_some()))?;
        let counts = comm.all_gather(&counts);
        let [send, receive] = comm.agree_on(self.prepare_exchange(&sources, comm.rank(), &counts))?;
        let acceleration = acceleration.map(|column| Output::at(column, rows.start));
        let potential = Output::at(potential, rows.start);
        let walked = exchange
            .exchange(&send, &receive)
            .and_then(|()| self.make_tree_of_received(&sources))
            .and_then(|()| self.walk(&sources, (opening, scales.mass), acceleration, potential));
        comm.agree(walked)
    }

    /// The images of other ranks' boxes that particles may be near to, in a periodic box; else the boxes.
    fn images_of(&self, boxes: Vec<Vec<TargetBox>>, length_unit: f64) -> Vec<Vec<TargetBox>> {
        if self.long_range.is_none() {
            return boxes;
        }
        let split = self.split_arguments(length_unit);
        let images = |target: &TargetBox| {
            let range = |d: usize| {
                let reach = f64::from(target.half_edges[d]) + split.cut;
                let first = ((target.middle[d] - reach - split.upper[d]) / split.period[d]).ceil();
                let last = ((target.middle[d] + reach - split.lower[d]) / split.period[d]).floor();
                first as i64..=last as i64
            };
            let mut images = Vec::new();
            for x in range(0) {
                for y in range(1) {
                    for z in range(2) {
                        let shift = [x, y, z];
                        let middle = [0, 1, 2].map(|d| target.middle[d] - shift[d] as f64 * split.period[d]);
                        images.push(TargetBox { middle, ..*target });
                    }
                }
            }
            images
        };
        boxes.iter().map(|of_rank| of_rank.iter().flat_map(images).collect()).collect()
    }

    /// Builds the multipoles of the own hierarchy. Returns the coarse nodes for other ranks, if there are
    /// any.
    fn make_tree(&mut self, sources: &Sources, ranks: usize) -> Result<Vec<[u64; NODE_WORDS]>> {
        let nodes = nodes_of(&sources.levels);
        self.nodes.resize(nodes * self.words[0])?;
        self.moments.resize(nodes * self.words[1])?;
        let arguments = MomentsOfRowsArguments {
            sources: sources.arguments,
            nodes: Output::cast(&self.nodes),
            multipoles: Output::cast(&self.moments),
        };
        // blocks of 512 rows, including empty nodes of level 2
        let blocks = (sources.count().div_ceil(ROWS_PER_BLOCK) as usize).next_multiple_of(8);
        let kernel = self.device.kernel(&self.multipoles)?;
        self.device.launch(&kernel, blocks, ROWS_PER_BLOCK, &arguments)?;
        self.make_levels(sources.count(), &sources.levels, 1, 0)?;
        if ranks == 1 {
            return Ok(Vec::new());
        }
        let most = self.representatives.min(REPRESENTATIVES_OF_ALL / ranks);
        let level = sources.levels[essential::representative(&sources.levels, 0, most)];
        let mut coarse = vec![[0; NODE_WORDS]; level.count];
        self.nodes.download_to(level.offset * NODE_WORDS, coarse.as_flattened_mut())?;
        Ok(coarse)
    }

    /// Builds the levels above level `from` + 1, with radii from the nodes of level `from`; also level 1 if
    /// `from` is 0. The hierarchy has `rows` rows, and its nodes follow `before` others.
    fn make_levels(&self, rows: u32, levels: &[HierarchyLevel], from: u32, before: usize) -> Result<()> {
        let nodes = Output::from_address(self.nodes.at(before * self.words[0]));
        let multipoles = Output::from_address(self.moments.at(before * self.words[1]));
        let kernel = self.device.kernel(&self.multipoles)?;
        let lowest = if from == 0 { 1 } else { from as usize + 2 };
        for (number, level) in levels.iter().enumerate().skip(lowest) {
            let blocks = (8 * level.padded).div_ceil(THREADS as usize);
            let arguments = MomentsOfLevelArguments { rows, level: number as u32, nodes, multipoles };
            self.device.launch(&kernel, blocks, THREADS, &arguments)?;
        }
        if levels.len() > from as usize + 2 {
            let blocks = levels[from as usize].count.div_ceil(THREADS as usize);
            let kernel = self.device.kernel(&self.multipoles)?;
            self.device.launch(&kernel, blocks, THREADS, &NodeRadiiArguments { rows, from, nodes })?;
        }
        Ok(())
    }

    /// Builds the boxes of the own targets with estimates of their accelerations from the own hierarchy and
    /// the coarse nodes of others. Returns the boxes for other ranks, if there are any.
    fn make_targets(
        &mut self,
        sources: &Sources,
        coarse: &[[u64; NODE_WORDS]],
        ranks: usize,
    ) -> Result<Vec<TargetBox>> {
        self.boxes.resize(sources.groups)?;
        let softening = self.plan.softening * sources.length_unit();
        let squared = match self.plan.kernel {
            SofteningKernel::Plummer => ((softening * softening) as f32).max(SMALLEST_SQUARE),
            SofteningKernel::Spline => SMALLEST_SQUARE,
        };
        let others = self.essential.take_coarse(coarse)?;
        let batch = self.groups.batch();
        self.order.resize(sources.groups)?;
        self.placed.resize(2 * sources.groups.div_ceil(batch))?;
        self.placed.fill_bytes(0)?;
        let arguments = TargetsArguments {
            sources: sources.arguments,
            nodes: Input::cast(&self.nodes),
            others: Input::cast(others),
            other_count: coarse.len() as u32,
            squared_softening: squared,
            boxes: (&self.boxes).into(),
            batch: batch as u32,
            order: (&self.order).into(),
            placed: (&self.placed).into(),
        };
        self.device.run(sources.groups, WARP as u32, &arguments)?;
        if ranks == 1 {
            return Ok(Vec::new());
        }
        self.essential.joined_boxes(sources, &self.boxes, self.representatives)
    }

    /// The messages of the essential trees: sent and received.
    fn prepare_exchange(
        &mut self,
        sources: &Sources,
        rank: usize,
        counts: &[Vec<[u64; 2]>],
    ) -> Result<[Vec<Message>; 2]> {
        let received: u64 = counts.iter().map(|counts| counts[rank][0]).sum();
        let received = rows_of_32_bits(CLUSTER * received as usize)? as usize / CLUSTER;
        let own = nodes_of(&sources.levels);
        let all = if received == 0 { own } else { own + nodes_of(&levels_of(CLUSTER * received)) };
        self.nodes.grow(all * self.words[0])?;
        self.moments.grow(all * self.words[1])?;
        let tree = Tree { sources, nodes: &self.nodes, moments: &self.moments };
        self.essential.prepare_exchange(&tree, rank, counts)
    }

    /// Builds the hierarchy over the received elements, if any.
    fn make_tree_of_received(&self, sources: &Sources) -> Result<()> {
        match CLUSTER * self.essential.received() {
            0 => Ok(()),
            rows => self.make_levels(rows as u32, &levels_of(rows), 0, nodes_of(&sources.levels)),
        }
    }

    /// The walk over both hierarchies, for a total mass.
    fn walk(
        &mut self,
        sources: &Sources,
        (opening, mass): (OpeningParameters, f64),
        acceleration: [Output<f64>; 3],
        potential: Output<f64>,
    ) -> Result<()> {
        self.interaction_counts.resize(3 * sources.groups)?;
        let softening = self.plan.softening * sources.length_unit();
        let (softening, inverse) = match self.plan.kernel {
            _ if softening == 0.0 => (0.0, 0.0),
            SofteningKernel::Plummer => (softening, 0.0),
            SofteningKernel::Spline => (SPLINE_SUPPORT * softening, 1.0 / (SPLINE_SUPPORT * softening)),
        };
        let (squared, own) = (softening * softening, self.plan.kernel.central(self.plan.softening));
        let tail = self.long_range.as_ref().map_or(0.0, |long_range| long_range.split().tail());
        let (places, particles) = self.essential.arrived();
        let arguments = WalkArguments {
            sources: sources.arguments,
            boxes: (&self.boxes).into(),
            order: (&self.order).into(),
            first: 0,
            groups: Groups::none(),
            nodes: Input::cast(&self.nodes),
            multipoles: Input::cast(&self.moments),
            received: self.essential.received() as u32,
            places: places.into(),
            particles: particles.into(),
            opening,
            split: self.split_arguments(sources.length_unit()),
            squared_softening: squared,
            inverse_support: inverse,
            constant: self.plan.constant,
            own,
            background: -self.plan.constant * mass * tail,
            acceleration,
            potential,
            interactions: (&self.interaction_counts).into(),
        };
        let batches = match self.long_range {
            None => self.groups.batches(sources.groups, self.plan.opening_angle),
            Some(_) => None,
        };
        let usual = if batches.is_some() { 1 } else { MOST_WARPS };
        let warps = self.warps.unwrap_or_else(|| self.device.workers(sources.groups, WARPS_WANTED, usual));
        let unit = self.walk[usize::from(self.long_range.is_some())].clone().with("HILBRIUM_WARPS", warps);
        let kernel = self.device.kernel(&unit)?;
        let Some((batches, capacity)) = batches.filter(|_| warps == 1) else {
            return self.device.launch(&kernel, sources.groups, (WARP * warps) as u32, &arguments);
        };
        self.groups.make_boxes(sources, &self.boxes)?;
        let tree = Tree { sources, nodes: &self.nodes, moments: &self.moments };
        let walk = groups::Walk { tree, received: arguments.received, opening, squared_softening: squared };
        for batch in batches {
            let groups = self.groups.make_fields(&walk, &batch, capacity)?;
            let of_batch = WalkArguments { first: batch.start as u32, groups, ..arguments };
            self.device.launch(&kernel, batch.len(), WARP as u32, &of_batch)?;
        }
        Ok(())
    }

    /// Walks by one warp a super-cluster, with the most candidates of a group of eight super-clusters (0:
    /// walks start at the root) and the number of groups at once: for tests and benchmarks.
    #[must_use]
    pub fn with_groups(mut self, capacity: usize, at_once: usize) -> Self {
        self.groups.chosen = Some([capacity, at_once]);
        self.warps = Some(1);
        self
    }

    /// Sets the number of warps a super-cluster, 1, 2 or 4: for tests and benchmarks.
    #[must_use]
    pub fn with_warps(self, warps: usize) -> Self {
        assert!(warps.is_power_of_two() && warps <= MOST_WARPS, "{warps} warps a super-cluster");
        Self { warps: Some(warps), ..self }
    }

    /// The multipole acceptance criterion in units of the walk.
    fn opening(&self, length_unit: f64) -> OpeningParameters {
        let angle = self.plan.opening_angle;
        let range = (self.plan.kernel.range(self.plan.softening) * length_unit) as f32;
        let [of_cluster, of_far] = match self.plan.expansion {
            Expansion::Quadrupole => [1.0, 1.0],
            Expansion::Octupole => [CLUSTERS_OF_OCTUPOLES, FAR_OF_OCTUPOLES],
        };
        let (size_by_angle, relative, far) = match self.plan.criterion {
            _ if angle == 0.0 => ([NEVER; 2], [0.0; 2], 0.0),
            Criterion::Geometric => {
                let factors = if self.long_range.is_some() { [GEOMETRIC_PERIODIC; 2] } else { GEOMETRIC };
                let size = factors.map(|factor| (factor * EDGE_BY_RADIUS / angle).max(1.0) as f32);
                let power = angle.powi(4);
                (size, [(CLUSTER_BY_ANGLE * of_cluster * power) as f32, 0.0], FAR_BY_ANGLE * of_far * power)
            }
            Criterion::RelativeError(error) => {
                let errors = RELATIVE.map(|factor| factor * error);
                let far = FAR_BY_ERROR * of_far * errors[1];
                ([EDGE_BY_RADIUS as f32; 2], errors.map(|error| error as f32), far)
            }
        };
        let [cut, widest] = self.long_range.as_ref().map_or([0.0; 2], |long_range| {
            let split = long_range.split();
            let widest = if angle == 0.0 { -1.0 } else { RADIUS_BY_ANGLE * angle / split.splitting };
            [(split.cut * length_unit) as f32, (widest * length_unit) as f32]
        });
        OpeningParameters { size_by_angle, range, relative, far: far as f32, cut, widest }
    }

    /// The force split in units of the walk; zeros in an open box.
    fn split_arguments(&self, length_unit: f64) -> SplitArguments {
        let Some(long_range) = &self.long_range else {
            return NO_SPLIT;
        };
        let (split, bx) = (long_range.split(), &long_range.bx);
        let (single, double) =
            (LongRangePart::<f32>::new(split, length_unit), LongRangePart::<f64>::new(split, length_unit));
        // particles may be outside of the box by what they move while a neighbor list is valid
        let margin = 0.1 * bx.lengths();
        let (lower, upper) = (bx.lower - margin, bx.upper + margin);
        let mut in_single = [0.0; 46];
        for (number, term) in in_single.iter_mut().enumerate().take(45) {
            *term = single.terms[number / 9][number % 9];
        }
        SplitArguments {
            period: split.lengths.map(|length| length * length_unit),
            lower: (length_unit * lower).into(),
            upper: (length_unit * upper).into(),
            cut: split.cut * length_unit,
            scale: double.scale,
            in_double: std::array::from_fn(|number| double.terms[number / MOST_TERMS][number % MOST_TERMS]),
            in_single,
        }
    }

    /// Interaction counts of the last evaluation; waits for it.
    ///
    /// # Errors
    /// Those of the device.
    pub fn interaction_counts(&self) -> Result<InteractionCounts> {
        let counts = self.interaction_counts.download()?;
        let sum = |k: usize| counts.iter().skip(k).step_by(3).map(|&count| u64::from(count)).sum();
        Ok(InteractionCounts { groups: counts.len() as u64 / 3, points: sum(0), near: sum(1), far: sum(2) })
    }

    /// Allocated bytes on the device.
    pub fn bytes(&self) -> usize {
        let tree = self.nodes.bytes() + self.moments.bytes();
        let walks =
            self.boxes.bytes() + self.order.bytes() + self.placed.bytes() + self.interaction_counts.bytes();
        tree + walks
            + self.groups.bytes()
            + self.essential.bytes()
            + self.long_range.as_ref().map_or(0, LongRange::bytes)
    }
}
