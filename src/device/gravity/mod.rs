//! Self-gravity on a device (kernels/far): multipoles on the hierarchy over rows, and one walk a super-cluster.
//!
//! The tree is not the octree of [`crate::far`] but the rows' own one: 8, 64, 512, ... consecutive rows along the
//! curve. Particles, near nodes and softening act as there. Far nodes act on all particles of a super-cluster at once,
//! by a local expansion of fourth order whose error is held below that of the nodes' own expansion.
//!
//! Of the trees of other ranks each has what its targets need (`essential.rs`), with a hierarchy of its own over it.

mod essential;
mod sources;

pub use sources::{Extent, Massive};

use super::arguments::gravity::{OpeningParameters, TargetBox};
use super::arguments::moments::{MomentsOfLevelArguments, MomentsOfRowsArguments, NodeRadiiArguments};
use super::arguments::targets::TargetsArguments;
use super::arguments::walk::WalkArguments;
use super::arguments::{Input, Output};
use super::columns::Columns;
use super::exchange::{Exchange, Message};
use super::hierarchy::{HierarchyLevel, levels_of};
use super::reduction::Vector;
use super::sort::rows_of_32_bits;
use super::{Buffer, Device, Unit};
use crate::Result;
use crate::far::softening::SPLINE_SUPPORT;
use crate::far::{Criterion, Expansion, GravityPlan, SofteningKernel};
use crate::neighbors::CLUSTER;
use crate::pair::Precision;
use crate::particles::Field;
use crate::space::SimulationBox;
use essential::{Essential, NODE_WORDS, of_others};
use sources::{Sources, Tree, nodes_of};
use std::ops::Range;

/// Threads that walk for a super-cluster.
const WARP: u32 = 32;

/// Threads of a block of the kernels that make multipoles; the first one's takes as many rows.
const THREADS: u32 = 128;
const ROWS_OF_BLOCK: u32 = 512;

/// Boxes and nodes that a rank is known by, where its hierarchy has as many: from an eighth of this on, as levels differ by
/// that. Nodes of all ranks together, each of which is looked at for each super-cluster.
const REPRESENTATIVES: usize = 512;
const REPRESENTATIVES_OF_ALL: usize = 4096;

/// The edge of a cube over its half diagonal: what a node's size is by its radius.
const EDGE_BY_RADIUS: f64 = 1.154_700_538_379_251_5;

/// A node is accepted by the geometric criterion beyond so many of its sizes over the opening angle. With that the errors of
/// forces are those of the processors' octree at the same angle (see docs/src/gpu.md).
const GEOMETRIC: f64 = 1.2;

/// The same for the relative criterion: so much of the error that the plan accepts is accepted of a node.
const RELATIVE: f64 = 0.45;

/// What a far node may add to a force by the local expansion's error, as a part of the whole: times the fourth power of
/// the opening angle, or as a part of the relative criterion's error. So chosen that all errors grow by about a sixth.
const FAR_BY_ANGLE: f64 = 1.2e-4;
const FAR_BY_ERROR: f64 = 0.03;

/// Octupoles leave smaller errors, of which those of local expansions must be a small part too.
const FAR_OF_OCTUPOLES: f64 = 0.125;

/// Nodes are softened by at least this (softening_of_nodes of kernels/far/point.cuh).
const SMALLEST_SQUARE: f32 = 1e-36;

/// An angle of zero opens all that is larger than a point.
const NEVER: f32 = 1e30;

/// What the last evaluation met, own and received, summed over this rank's super-clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Met {
    /// Super-clusters.
    pub groups: u64,
    /// Particles that act one by one.
    pub points: u64,
    /// Nodes that act on each particle.
    pub near: u64,
    /// Nodes that act through the local expansion.
    pub far: u64,
}

/// Gravity's kernels with their memory: 64 bytes a node in mixed precision, a seventh as many nodes as rows, and a byte a row
/// for boxes; of each other rank a quarter of a byte a row and what is sent and received. Of the plan the `bucket` has no
/// meaning here: the smallest nodes are clusters of 8.
#[derive(Debug)]
pub struct Gravity {
    /// Other ranks know this one by at most so many boxes and as many nodes. The more they are, the less is sent that no
    /// target opens, and the longer it takes to find that out.
    pub representatives: usize,
    device: Device,
    plan: GravityPlan,
    multipoles: Unit,
    walk: Unit,
    essential: Essential,
    /// Bytes of a node and of its multipole, in words of 64 bits.
    words: [usize; 2],
    /// Of the own hierarchy, and behind them of that over what was received.
    nodes: Buffer<u64>,
    moments: Buffer<u64>,
    boxes: Buffer<TargetBox>,
    met: Buffer<u32>,
}

impl Gravity {
    /// For a plan.
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
        let cut = Unit::new("far/cut.cu")
            .with("HILBRIUM_REAL", real)
            .with("HILBRIUM_ORDER", order)
            .with("HILBRIUM_CRITERION", criterion);
        let numbers = if order == 2 { 8 } else { 20 };
        let words = [NODE_WORDS, numbers * width / 8];
        Ok(Self {
            representatives: REPRESENTATIVES,
            device: device.clone(),
            plan: *plan,
            multipoles,
            walk,
            essential: Essential::new(device, cut, words)?,
            words,
            nodes: Buffer::new(device, 0)?,
            moments: Buffer::new(device, 0)?,
            boxes: Buffer::new(device, 0)?,
            met: Buffer::new(device, 0)?,
        })
    }

    /// [`Self::run`] on the particles of devices in this box, whose mass is that of all ranks' together: they get potentials.
    /// Collective.
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
        let massive = Massive {
            position: columns.vector(Field::Position),
            mass: columns.scalar(Field::Mass),
            id: &columns.id,
        };
        let extent = Extent { length: bx.lengths().max(), mass };
        let (acceleration, potential) =
            (columns.vector(Field::Acceleration), columns.scalar(Field::Potential));
        self.run(exchange, &massive, columns.owned(), extent, acceleration, potential)
    }

    /// Adds what all ranks' rows do to these to their acceleration, and sets their potential, without what a particle does
    /// to itself. `rows` are the ones that this rank owns: of what others own nothing else than their own `rows` acts. Rows
    /// must be in the order of the curve, and what a rank has be a part of it; other orders are slow. Collective.
    ///
    /// # Errors
    /// On all ranks when there is one on any: [`crate::Error::Device`] when the device's memory is too small or a kernel
    /// cannot be started.
    pub fn run(
        &mut self,
        exchange: &Exchange,
        massive: &Massive,
        rows: Range<usize>,
        extent: Extent,
        acceleration: Vector,
        potential: &Buffer<f64>,
    ) -> Result<()> {
        let comm = exchange.comm();
        let ranks = comm.size();
        let sources = Sources::new(massive, &rows, extent);
        let coarse = comm.agree_on(self.make_tree(&sources, ranks))?;
        let coarse = of_others(comm, &coarse).concat();
        let boxes = comm.agree_on(self.make_targets(&sources, &coarse, ranks))?;
        let boxes = of_others(comm, &boxes);
        let opening = self.opening(sources.length_unit());
        let tree = Tree { sources: &sources, nodes: &self.nodes, moments: &self.moments };
        let counts = comm.agree_on(self.essential.cut(&tree, &boxes, opening))?;
        let counts = comm.all_gather(&counts);
        let [send, receive] = comm.agree_on(self.prepare_exchange(&sources, comm.rank(), &counts))?;
        let acceleration = acceleration.map(|column| Output::at(column, rows.start));
        let potential = Output::at(potential, rows.start);
        let walked = exchange
            .exchange(&send, &receive)
            .and_then(|()| self.make_tree_of_received(&sources))
            .and_then(|()| self.walk(&sources, opening, acceleration, potential));
        comm.agree(walked)
    }

    /// The multipoles of the own hierarchy. Returns the nodes that other ranks know it by, if there are other ranks.
    fn make_tree(&mut self, sources: &Sources, ranks: usize) -> Result<Vec<[u64; NODE_WORDS]>> {
        let nodes = nodes_of(&sources.levels);
        self.nodes.resize(nodes * self.words[0])?;
        self.moments.resize(nodes * self.words[1])?;
        let arguments = MomentsOfRowsArguments {
            sources: sources.arguments,
            nodes: Output::cast(&self.nodes),
            multipoles: Output::cast(&self.moments),
        };
        // blocks of 512 rows, those of the empty nodes of level 2 included
        let blocks = (sources.count().div_ceil(ROWS_OF_BLOCK) as usize).next_multiple_of(8);
        let kernel = self.device.kernel(&self.multipoles)?;
        self.device.launch(&kernel, blocks, ROWS_OF_BLOCK, &arguments)?;
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

    /// The levels of a hierarchy above level `from` + 1, with radii from the nodes of level `from`, and where that is 0 also
    /// level 1. It has so many rows, and its nodes begin behind `before` others.
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

    /// The boxes of the own targets, with what they feel, roughly, of the own hierarchy and of these nodes of others.
    /// Returns the boxes that other ranks know them by, if there are other ranks.
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
        let arguments = TargetsArguments {
            sources: sources.arguments,
            nodes: Input::cast(&self.nodes),
            others: Input::cast(others),
            other_count: coarse.len() as u32,
            squared_softening: squared,
            boxes: (&self.boxes).into(),
        };
        self.device.run(sources.groups, WARP, &arguments)?;
        if ranks == 1 {
            return Ok(Vec::new());
        }
        self.essential.joined_boxes(sources, &self.boxes, self.representatives)
    }

    /// The messages that bring each rank its part of the others' hierarchies: those sent, and those received.
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

    /// The hierarchy over what was received, if anything was.
    fn make_tree_of_received(&self, sources: &Sources) -> Result<()> {
        match CLUSTER * self.essential.received() {
            0 => Ok(()),
            rows => self.make_levels(rows as u32, &levels_of(rows), 0, nodes_of(&sources.levels)),
        }
    }

    /// The walk over both hierarchies.
    fn walk(
        &mut self,
        sources: &Sources,
        opening: OpeningParameters,
        acceleration: [Output<f64>; 3],
        potential: Output<f64>,
    ) -> Result<()> {
        self.met.resize(3 * sources.groups)?;
        let softening = self.plan.softening * sources.length_unit();
        let (softening, inverse) = match self.plan.kernel {
            _ if softening == 0.0 => (0.0, 0.0),
            SofteningKernel::Plummer => (softening, 0.0),
            SofteningKernel::Spline => (SPLINE_SUPPORT * softening, 1.0 / (SPLINE_SUPPORT * softening)),
        };
        let (squared, own) = (softening * softening, self.plan.kernel.central(self.plan.softening));
        let (places, particles) = self.essential.came();
        let arguments = WalkArguments {
            sources: sources.arguments,
            boxes: (&self.boxes).into(),
            nodes: Input::cast(&self.nodes),
            multipoles: Input::cast(&self.moments),
            received: self.essential.received() as u32,
            places: places.into(),
            particles: particles.into(),
            opening,
            squared_softening: squared,
            inverse_support: inverse,
            constant: self.plan.constant,
            own,
            acceleration,
            potential,
            interactions: (&self.met).into(),
        };
        let kernel = self.device.kernel(&self.walk)?;
        self.device.launch(&kernel, sources.groups, WARP, &arguments)
    }

    /// The multipole acceptance criterion in units of the walk.
    fn opening(&self, length_unit: f64) -> OpeningParameters {
        let angle = self.plan.opening_angle;
        let range = (self.plan.kernel.range(self.plan.softening) * length_unit) as f32;
        let octupoles = if self.plan.expansion == Expansion::Octupole { FAR_OF_OCTUPOLES } else { 1.0 };
        let [size_by_angle, range, relative, far] = match self.plan.criterion {
            _ if angle == 0.0 => [NEVER, range, 0.0, 0.0],
            Criterion::Geometric => {
                let size = (GEOMETRIC * EDGE_BY_RADIUS / angle).max(1.0);
                [size as f32, range, 0.0, (FAR_BY_ANGLE * octupoles * angle.powi(4)) as f32]
            }
            Criterion::RelativeError(error) => {
                let error = RELATIVE * error;
                [EDGE_BY_RADIUS as f32, range, error as f32, (FAR_BY_ERROR * octupoles * error) as f32]
            }
        };
        OpeningParameters { size_by_angle, range, relative, far }
    }

    /// What the last evaluation met; waits for it.
    ///
    /// # Errors
    /// Those of the device.
    pub fn met(&self) -> Result<Met> {
        let counts = self.met.download()?;
        let sum = |k: usize| counts.iter().skip(k).step_by(3).map(|&count| u64::from(count)).sum();
        Ok(Met { groups: counts.len() as u64 / 3, points: sum(0), near: sum(1), far: sum(2) })
    }

    /// The memory it holds on the device, in bytes.
    pub fn bytes(&self) -> usize {
        let own = self.nodes.bytes() + self.moments.bytes() + self.boxes.bytes() + self.met.bytes();
        own + self.essential.bytes()
    }
}
