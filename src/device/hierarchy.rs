//! The box hierarchy over rows on a device: bounding boxes and largest radii of 8, 64, 512, ... consecutive
//! rows (kernels/tree/hierarchy.cuh).

use super::arguments::hierarchy::{
    HierarchyAboveArguments, HierarchyFromRowsArguments, HierarchyNodes, LargestRadiusArguments,
};
use super::arguments::{Input, Output};
use super::launch::THREADS;
use super::sort::rows_of_32_bits;
use super::{Buffer, Device};
use crate::Result;
use crate::neighbors::CLUSTER;
use crate::neighbors::cluster::power_of_two_below;

/// Children a node.
const CHILDREN: usize = 8;

/// Levels a launch, and numbers a node of the bounds that it passes to the next launch.
const LEVELS_OF_LAUNCH: usize = 3;
const BOUNDS: usize = 8;

/// Blocks a multiprocessor of grid-stride loops.
const BLOCKS: usize = 8;

/// Interaction radii of rows on a device.
pub type Radii<'a> = crate::neighbors::RadiiOf<'a, Buffer<f64>>;

impl Radii<'_> {
    /// The arguments of kernels: the column, or null with one radius for all rows, and that radius.
    pub(super) fn arguments(self) -> (Input<f64>, f64) {
        match self {
            Radii::All(radius) => (Input::NULL, radius),
            Radii::Each(column) => (column.into(), 0.0),
        }
    }
}

/// The nodes of one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HierarchyLevel {
    /// Index of the level's first node.
    pub offset: usize,
    /// Nodes with rows.
    pub count: usize,
    /// All nodes: a multiple of 8, the last ones empty.
    pub padded: usize,
}

/// The levels over a number of rows, clusters first. There are at least two; the last one has at most 8
/// nodes.
pub fn levels_of(rows: usize) -> Vec<HierarchyLevel> {
    let mut levels: Vec<HierarchyLevel> = Vec::new();
    let (mut offset, mut below) = (0, rows);
    while levels.len() < 2 || levels[levels.len() - 1].count > CHILDREN {
        let count = below.div_ceil(CLUSTER);
        let padded = count.next_multiple_of(CHILDREN).max(CHILDREN);
        levels.push(HierarchyLevel { offset, count, padded });
        (offset, below) = (offset + padded, count);
    }
    levels
}

/// Bounding boxes and largest radii of all nodes.
#[derive(Debug)]
pub struct Hierarchy {
    device: Device,
    rows: usize,
    levels: Vec<HierarchyLevel>,
    center: Buffer<f64>,
    extent: Buffer<[f32; 4]>,
    unit: f64,
    /// Exact bounds of every third level, input of the levels above.
    bounds: [Buffer<f64>; 2],
    largest: Buffer<u64>,
}

impl Hierarchy {
    /// A hierarchy over no rows.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(device: &Device) -> Result<Self> {
        Ok(Self {
            device: device.clone(),
            rows: 0,
            levels: levels_of(0),
            center: Buffer::new(device, 0)?,
            extent: Buffer::new(device, 0)?,
            unit: 1.0,
            bounds: [Buffer::new(device, 0)?, Buffer::new(device, 0)?],
            largest: Buffer::new(device, 1)?,
        })
    }

    /// Builds the hierarchy over rows from positions, radii, and identities if there may be ghosts, which are
    /// left out. `unit` is the unit of length of extents, a power of two; see [`Self::unit_of`].
    ///
    /// # Errors
    /// Those of the device.
    pub fn build(
        &mut self,
        position: [&Buffer<f64>; 3],
        radii: Radii,
        id: Option<&Buffer<u64>>,
        rows: usize,
        unit: f64,
    ) -> Result<()> {
        assert!(position.iter().all(|column| column.len() >= rows), "a position for every row");
        let count = rows_of_32_bits(rows)?;
        self.levels = levels_of(rows);
        (self.rows, self.unit) = (rows, unit);
        let (levels, nodes) = (self.levels.len(), self.nodes());
        self.center.resize(3 * nodes)?;
        self.extent.resize(nodes)?;
        let (radius, radius_of_all) = radii.arguments();
        let nodes = HierarchyNodes {
            center: (&self.center).into(),
            extent: Output::cast(&self.extent),
            scale: 1.0 / unit,
            rows: count,
            levels: levels as u32,
            count: nodes as u32,
        };
        for level in (0..levels).step_by(LEVELS_OF_LAUNCH) {
            let next = level + LEVELS_OF_LAUNCH;
            let blocks = self.levels.get(next - 1).map_or(1, |highest| highest.padded);
            let [below, bounds] = &mut self.bounds;
            if next < levels {
                bounds.resize(blocks * BOUNDS)?;
            }
            let bounds = (next < levels).then_some(&*bounds).into();
            match level {
                0 => {
                    let arguments = HierarchyFromRowsArguments {
                        position: position.map(Input::from),
                        radius,
                        radius_of_all,
                        id: id.into(),
                        nodes,
                        bounds,
                    };
                    self.device.run(blocks, THREADS, &arguments)?;
                }
                _ => {
                    let below = (&*below).into();
                    let arguments = HierarchyAboveArguments { below, level: level as u32, nodes, bounds };
                    self.device.run(blocks, THREADS, &arguments)?;
                }
            }
            self.bounds.swap(0, 1);
        }
        Ok(())
    }

    /// The unit of length for these radii, the power of two at or below the largest radius without ghosts,
    /// and that radius.
    ///
    /// # Errors
    /// Those of the device.
    pub fn unit_of(&mut self, radii: Radii, id: Option<&Buffer<u64>>, rows: usize) -> Result<(f64, f64)> {
        let largest = match radii {
            Radii::All(radius) => radius,
            Radii::Each(column) => {
                self.largest.fill_bytes(0)?;
                let most = self.device.multiprocessors() as usize * BLOCKS;
                let blocks = rows.div_ceil(THREADS as usize).min(most);
                let arguments = LargestRadiusArguments {
                    radius: column.into(),
                    id: id.into(),
                    rows: rows_of_32_bits(rows)?,
                    largest: (&self.largest).into(),
                };
                self.device.run(blocks, THREADS, &arguments)?;
                f64::from_bits(self.largest.download()?[0])
            }
        };
        Ok((power_of_two_below(largest), largest))
    }

    /// Allocated bytes.
    pub fn bytes(&self) -> usize {
        let bounds = self.bounds.iter().map(Buffer::bytes).sum::<usize>();
        self.center.bytes() + self.extent.bytes() + bounds + self.largest.bytes()
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The levels, clusters first.
    pub fn levels(&self) -> &[HierarchyLevel] {
        &self.levels
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.levels.last().map_or(0, |top| top.offset + top.padded)
    }

    /// Box centers in units of the simulation: three columns of all nodes.
    pub fn center(&self) -> &Buffer<f64> {
        &self.center
    }

    /// Half widths and largest radius of each node in [`Self::unit`], rounded up; the radius of an empty node
    /// is -1.
    pub fn extent(&self) -> &Buffer<[f32; 4]> {
        &self.extent
    }

    /// The unit of length of the extents: a power of two.
    pub fn unit(&self) -> f64 {
        self.unit
    }
}
