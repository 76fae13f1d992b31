//! Self-gravity on a device (kernels/far): multipoles on the hierarchy over rows, and one walk a super-cluster.
//!
//! The tree is not the octree of [`crate::far`] but the rows' own one: 8, 64, 512, ... consecutive rows along the
//! curve. Particles, near nodes and softening act as there. Far nodes act on all particles of a super-cluster at once,
//! by a local expansion of fourth order whose error is held below that of the nodes' own expansion.

use super::hierarchy::{HierarchyLevel, levels_of};
use super::reduction::{Vector, bounds};
use super::{Argument, Buffer, Device, Unit};
use crate::Result;
use crate::far::softening::SPLINE_SUPPORT;
use crate::far::{Criterion, Expansion, GravityPlan, SofteningKernel};
use crate::pair::Precision;
use std::ops::Range;

/// Rows of a super-cluster, and the threads that walk for one.
const GROUP: usize = 64;
const WARP: u32 = 32;

/// Threads of a block of the kernels that make multipoles; the first one's takes as many rows.
const THREADS: u32 = 128;
const ROWS_OF_BLOCK: u32 = 512;

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

/// An angle of zero opens all that is larger than a point.
const NEVER: f32 = 1e30;

/// The columns that gravity reads: lengths, masses, and identities, of which [`u64::MAX`] marks a row that is none. The mass
/// of such a row must be 0.
#[derive(Clone, Copy, Debug)]
pub struct Massive<'a> {
    /// Positions.
    pub position: Vector<'a>,
    /// Masses.
    pub mass: &'a Buffer<f64>,
    /// Identities.
    pub id: &'a Buffer<u64>,
}

/// About how large and heavy the whole is: any power of two near does. Single precision then neither overflows nor
/// underflows, whatever the run's units are.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// The longest edge of the box of all particles.
    pub length: f64,
    /// The mass of all particles.
    pub mass: f64,
}

/// What the last evaluation met, summed over super-clusters.
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

/// Gravity's kernels with their memory: 64 bytes a node in mixed precision, a seventh as many nodes as rows. Of the plan the
/// `bucket` has no meaning here: the smallest nodes are clusters of 8.
#[derive(Debug)]
pub struct Gravity {
    device: Device,
    plan: GravityPlan,
    multipoles: Unit,
    walk: Unit,
    /// Bytes of a node and of its multipole, in words of 64 bits.
    words: [usize; 2],
    nodes: Buffer<u64>,
    moments: Buffer<u64>,
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
        let multipoles =
            Unit::new("far/moments.cu").with("HILBRIUM_REAL", real).with("HILBRIUM_ORDER", order);
        let walk = Unit::new("far/walk.cu")
            .with("HILBRIUM_REAL", real)
            .with("HILBRIUM_ORDER", order)
            .with("HILBRIUM_SOFTENING", softening)
            .with("HILBRIUM_CRITERION", u32::from(matches!(plan.criterion, Criterion::RelativeError(_))));
        let numbers = if order == 2 { 8 } else { 20 };
        Ok(Self {
            device: device.clone(),
            plan: *plan,
            multipoles,
            walk,
            words: [4, numbers * width / 8],
            nodes: Buffer::new(device, 0)?,
            moments: Buffer::new(device, 0)?,
            met: Buffer::new(device, 0)?,
        })
    }

    /// Adds what these rows do to each other to their acceleration, and sets their potential, without what a particle does
    /// to itself. Rows must be in the order of the curve; other orders are slow.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device's memory is too small or a kernel cannot be started.
    pub fn run(
        &mut self,
        massive: &Massive,
        rows: Range<usize>,
        extent: Extent,
        acceleration: Vector,
        potential: &Buffer<f64>,
    ) -> Result<()> {
        if rows.is_empty() {
            self.met.resize(0)?;
            return Ok(());
        }
        let levels = levels_of(rows.len());
        let groups = rows.len().div_ceil(GROUP);
        let nodes: usize = levels.iter().map(|level| level.padded).sum();
        self.nodes.resize(nodes * self.words[0])?;
        self.moments.resize(nodes * self.words[1])?;
        self.met.resize(3 * groups)?;
        let [first, end] = bounds(&rows);
        let count = end - first;
        let at = |column: &Buffer<f64>| column.at(rows.start);
        let [x, y, z] = massive.position.map(at);
        let (mass, id) = (at(massive.mass), massive.id.at(rows.start));
        let [length_unit, mass_unit] = [extent.length, extent.mass].map(unit_of);
        let columns: [&dyn Argument; 8] = [&x, &y, &z, &mass, &id, &count, &length_unit, &mass_unit];
        self.make_multipoles(&columns, &levels, count)?;

        let [size_by_angle, range, relative, far] = self.bounds(length_unit);
        let softening = self.plan.softening * length_unit;
        let (softening, inverse) = match self.plan.kernel {
            _ if softening == 0.0 => (0.0, 0.0),
            SofteningKernel::Plummer => (softening, 0.0),
            SofteningKernel::Spline => (SPLINE_SUPPORT * softening, 1.0 / (SPLINE_SUPPORT * softening)),
        };
        let (squared, own) = (softening * softening, self.plan.kernel.central(self.plan.softening));
        let [ax, ay, az] = acceleration.map(at);
        let potential = at(potential);
        let mut arguments = columns.to_vec();
        arguments.extend([&self.nodes as &dyn Argument, &self.moments]);
        arguments.extend([&size_by_angle as &dyn Argument, &range, &relative, &far]);
        arguments.extend([&squared as &dyn Argument, &inverse, &self.plan.constant, &own]);
        arguments.extend([&ax as &dyn Argument, &ay, &az, &potential, &self.met]);
        let kernel = self.device.kernel(&self.walk, "gravity_walk")?;
        self.device.launch(&kernel, groups, WARP, &arguments)
    }

    fn make_multipoles(
        &self,
        columns: &[&dyn Argument; 8],
        levels: &[HierarchyLevel],
        rows: u32,
    ) -> Result<()> {
        let kernel = |name| self.device.kernel(&self.multipoles, name);
        let mut arguments = columns.to_vec();
        arguments.extend([&self.nodes as &dyn Argument, &self.moments]);
        // blocks of 512 rows, those of the empty nodes of level 2 included
        let blocks = (rows.div_ceil(ROWS_OF_BLOCK) as usize).next_multiple_of(8);
        self.device.launch(&kernel("gravity_moments_of_rows")?, blocks, ROWS_OF_BLOCK, &arguments)?;
        for (number, level) in levels.iter().enumerate().skip(3) {
            let blocks = (8 * level.padded).div_ceil(THREADS as usize);
            let arguments: [&dyn Argument; 4] = [&rows, &(number as u32), &self.nodes, &self.moments];
            self.device.launch(&kernel("gravity_moments_of_level")?, blocks, THREADS, &arguments)?;
        }
        if levels.len() > 3 {
            let blocks = levels[1].count.div_ceil(THREADS as usize);
            self.device.launch(&kernel("gravity_radii")?, blocks, THREADS, &[&rows, &self.nodes])?;
        }
        Ok(())
    }

    /// The parameters of kernels/far/opening.cuh.
    fn bounds(&self, length_unit: f64) -> [f32; 4] {
        let angle = self.plan.opening_angle;
        let range = (self.plan.kernel.range(self.plan.softening) * length_unit) as f32;
        let octupoles = if self.plan.expansion == Expansion::Octupole { FAR_OF_OCTUPOLES } else { 1.0 };
        match self.plan.criterion {
            _ if angle == 0.0 => [NEVER, range, 0.0, 0.0],
            Criterion::Geometric => {
                let size = (GEOMETRIC * EDGE_BY_RADIUS / angle).max(1.0);
                [size as f32, range, 0.0, (FAR_BY_ANGLE * octupoles * angle.powi(4)) as f32]
            }
            Criterion::RelativeError(error) => {
                let error = RELATIVE * error;
                [EDGE_BY_RADIUS as f32, range, error as f32, (FAR_BY_ERROR * octupoles * error) as f32]
            }
        }
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
        self.nodes.bytes() + self.moments.bytes() + self.met.bytes()
    }
}

/// The power of two that brings a size to between 1/2 and 1; 1 for what has none.
fn unit_of(size: f64) -> f64 {
    if size > 0.0 && size.is_finite() { (-size.log2().ceil()).exp2() } else { 1.0 }
}
