//! The far field of groups of eight super-clusters (kernels/far/groups.cu), some thousand groups at a time.

use super::super::arguments::gravity::{GroupFields, OpeningParameters, TargetBox};
use super::super::arguments::groups::GroupsArguments;
use super::super::arguments::targets::JoinBoxesArguments;
use super::super::arguments::{Input, Output};
use super::super::launch::WARP;
use super::super::{Buffer, Device, Unit};
use super::sources::{Sources, Tree};
use crate::Result;
use crate::neighbors::CLUSTER;
use crate::pair::Precision;
use std::ops::Range;

/// Super-clusters of a group, and the level of its node in the hierarchy.
pub(super) const SUPER_CLUSTERS: usize = 8;
const LEVEL: u32 = 2;

/// Most groups whose candidates are stored at once.
const MOST: usize = 8192;

/// Groups a multiprocessor from which on there are enough for a warp each.
const WANTED: usize = 8;

/// Most candidates of a group: at an opening angle of 1, and in all.
const CANDIDATES_AT_ONE: f64 = 512.0;
const LEAST_CANDIDATES: f64 = 1024.0;
const MOST_CANDIDATES: f64 = 8192.0;

/// Terms of a local expansion (LOCAL_TERMS of kernels/far/local.cuh).
const TERMS: usize = 36;

/// Accepted error of a group's expansion over that of a super-cluster. Far nodes of groups are the most
/// distant ones, so that this costs little.
const SHARE: f32 = 0.5;

/// Groups for the walks of their super-clusters.
#[derive(Debug)]
pub(super) struct Groups {
    device: Device,
    unit: Unit,
    /// Bytes of a term.
    width: usize,
    /// The most candidates of a group (0: no groups) and the number of groups at once, if set.
    pub chosen: Option<[usize; 2]>,
    boxes: Buffer<TargetBox>,
    terms: Buffer<u32>,
    candidates: Buffer<u32>,
    counts: Buffer<u32>,
}

/// The walk that groups are for.
pub(super) struct Walk<'a> {
    pub tree: Tree<'a>,
    pub received: u32,
    pub opening: OpeningParameters,
    pub squared_softening: f64,
}

impl Groups {
    pub fn new(device: &Device, unit: Unit, precision: Precision) -> Result<Self> {
        Ok(Self {
            device: device.clone(),
            unit,
            width: if precision == Precision::Double { 8 } else { 4 },
            chosen: None,
            boxes: Buffer::new(device, 0)?,
            terms: Buffer::new(device, 0)?,
            candidates: Buffer::new(device, 0)?,
            counts: Buffer::new(device, 0)?,
        })
    }

    /// Super-clusters of a batch of walks.
    pub fn batch(&self) -> usize {
        self.chosen.map_or(MOST, |[_, at_once]| at_once) * SUPER_CLUSTERS
    }

    /// The ranges of super-clusters to walk one after the other, and the capacity of candidates; `None` if
    /// walks start at the root, as with few super-clusters.
    pub fn batches(&self, super_clusters: usize, angle: f64) -> Option<(Vec<Range<usize>>, usize)> {
        let groups = super_clusters.div_ceil(SUPER_CLUSTERS);
        let enough = angle > 0.0 && groups >= WANTED * self.device.multiprocessors() as usize;
        let usual = (CANDIDATES_AT_ONE / (angle * angle)).clamp(LEAST_CANDIDATES, MOST_CANDIDATES) as usize;
        let capacity = self.chosen.map_or(if enough { usual } else { 0 }, |[capacity, _]| capacity);
        let step = self.batch();
        let range = |first: usize| first..super_clusters.min(first + step);
        (capacity > 0).then(|| ((0..super_clusters).step_by(step).map(range).collect(), capacity))
    }

    /// Computes the boxes of all groups.
    pub fn make_boxes(&mut self, sources: &Sources, boxes: &Buffer<TargetBox>) -> Result<()> {
        let groups = sources.groups.div_ceil(SUPER_CLUSTERS);
        self.boxes.resize(groups)?;
        let arguments = JoinBoxesArguments {
            rows: sources.count(),
            level: LEVEL,
            boxes: boxes.into(),
            joined: (&self.boxes).into(),
        };
        self.device.run(groups, WARP as u32, &arguments)
    }

    /// Computes the fields and candidates of the groups of some super-clusters.
    pub fn make_fields(&mut self, walk: &Walk, batch: &Range<usize>, capacity: usize) -> Result<GroupFields> {
        let (first, groups) = (batch.start / SUPER_CLUSTERS, batch.len().div_ceil(SUPER_CLUSTERS));
        self.terms.resize(TERMS * self.width / size_of::<u32>() * groups)?;
        self.candidates.resize(capacity * groups)?;
        self.counts.resize(3 * groups)?;
        let fields = GroupFields {
            boxes: (&self.boxes).into(),
            terms: Output::cast(&self.terms),
            candidates: (&self.candidates).into(),
            counts: (&self.counts).into(),
            capacity: capacity as u32,
        };
        let arguments = GroupsArguments {
            rows: walk.tree.sources.count(),
            received: walk.received,
            nodes: Input::cast(walk.tree.nodes),
            multipoles: Input::cast(walk.tree.moments),
            opening: walk.opening,
            share: SHARE,
            squared_softening: walk.squared_softening,
            first: first as u32,
            groups: fields,
        };
        self.device.launch(&self.device.kernel(&self.unit)?, groups, WARP as u32, &arguments)?;
        Ok(fields)
    }

    /// No groups: walks start at the root.
    pub fn none() -> GroupFields {
        GroupFields {
            boxes: Input::NULL,
            terms: Output::NULL,
            candidates: Output::NULL,
            counts: Output::NULL,
            capacity: 0,
        }
    }

    /// Allocated bytes on the device.
    pub fn bytes(&self) -> usize {
        self.boxes.bytes() + self.terms.bytes() + self.candidates.bytes() + self.counts.bytes()
    }
}

const _: () = assert!(SUPER_CLUSTERS == CLUSTER, "a node of the hierarchy");
