//! Locally essential trees for other ranks (kernels/far/cut.cu).
//!
//! Each rank publishes some hundred boxes that contain all its targets, and some hundred coarse nodes, from
//! which others estimate accelerations. For each other rank it cuts its hierarchy at the highest nodes that
//! none of that rank's boxes opens, and sends the elements of the cut: nodes with their multipoles, and the
//! particles of opened clusters.

use super::super::arguments::cut::{CountCutArguments, CutArguments, PackCutArguments};
use super::super::arguments::gravity::{OpeningParameters, TargetBox};
use super::super::arguments::targets::JoinBoxesArguments;
use super::super::arguments::{Input, Output};
use super::super::exchange::Message;
use super::super::hierarchy::HierarchyLevel;
use super::super::launch::WARP;
use super::super::scan::Scan;
use super::super::{Buffer, Device, Unit};
use super::THREADS;
use super::sources::{Sources, Tree, nodes_of};
use crate::Result;
use crate::comm::Communicator;
use bytemuck::Pod;

/// Size of a node in 64-bit words.
pub(super) const NODE_WORDS: usize = 4;

/// Numbers a cluster: coordinates and masses of its particles.
const NUMBERS_OF_CLUSTER: usize = 32;

/// The level that represents a rank to others: the finest from `lowest` on with at most `most` nodes, else
/// the highest.
pub(super) fn representative(levels: &[HierarchyLevel], lowest: usize, most: usize) -> usize {
    (lowest..levels.len()).find(|&level| levels[level].count <= most).unwrap_or(levels.len() - 1)
}

/// All-gather without the own part: the data of each other rank. Collective.
pub(super) fn of_others<T: Pod>(comm: &Communicator, mine: &[T]) -> Vec<Vec<T>> {
    let mut all = comm.all_gather(mine);
    all[comm.rank()].clear();
    all
}

/// The essential trees sent and received. Empty with a single rank.
#[derive(Debug)]
pub(super) struct Essential {
    device: Device,
    /// The cut in an open and in a periodic box.
    units: [Unit; 2],
    /// Size of a node and of its multipole in 64-bit words.
    words: [usize; 2],
    scan: Scan,
    /// Coarse nodes of the other ranks.
    coarse: Buffer<u64>,
    /// Boxes that represent this rank; boxes of the other ranks, whose cuts are the sections; offset of each
    /// section's boxes; the ranks of the sections.
    joined: Buffer<TargetBox>,
    boxes: Buffer<TargetBox>,
    first_box: Buffer<u32>,
    sections: Vec<usize>,
    marks: Buffer<u8>,
    /// Elements, and clusters with particles, of each warp of marks; their prefix sums; totals of each
    /// section.
    counts: [Buffer<u32>; 2],
    sums: [Buffer<u64>; 2],
    totals: Buffer<u32>,
    shifts: Buffer<u32>,
    sent: Elements,
    arrived: Elements,
    received: usize,
}

/// Elements of cuts. Received nodes and multipoles are stored among those of the walk.
#[derive(Debug)]
struct Elements {
    nodes: Buffer<u64>,
    moments: Buffer<u64>,
    places: Buffer<u32>,
    particles: Buffer<f64>,
}

impl Elements {
    fn new(device: &Device) -> Result<Self> {
        Ok(Self {
            nodes: Buffer::new(device, 0)?,
            moments: Buffer::new(device, 0)?,
            places: Buffer::new(device, 0)?,
            particles: Buffer::new(device, 0)?,
        })
    }

    fn bytes(&self) -> usize {
        self.nodes.bytes() + self.moments.bytes() + self.places.bytes() + self.particles.bytes()
    }
}

impl Essential {
    /// Without memory yet.
    pub fn new(device: &Device, units: [Unit; 2], words: [usize; 2]) -> Result<Self> {
        Ok(Self {
            device: device.clone(),
            units,
            words,
            scan: Scan::new(device)?,
            coarse: Buffer::new(device, 0)?,
            joined: Buffer::new(device, 0)?,
            boxes: Buffer::new(device, 0)?,
            first_box: Buffer::new(device, 0)?,
            sections: Vec::new(),
            marks: Buffer::new(device, 0)?,
            counts: [Buffer::new(device, 0)?, Buffer::new(device, 0)?],
            sums: [Buffer::new(device, 0)?, Buffer::new(device, 0)?],
            totals: Buffer::new(device, 0)?,
            shifts: Buffer::new(device, 0)?,
            sent: Elements::new(device)?,
            arrived: Elements::new(device)?,
            received: 0,
        })
    }

    /// Copies the coarse nodes of others to the device.
    pub fn take_coarse(&mut self, coarse: &[[u64; NODE_WORDS]]) -> Result<&Buffer<u64>> {
        self.coarse.resize(coarse.len() * NODE_WORDS)?;
        self.coarse.upload(coarse.as_flattened())?;
        Ok(&self.coarse)
    }

    /// The boxes that represent this rank to others, each the union of those of many super-clusters.
    pub fn joined_boxes(
        &mut self,
        sources: &Sources,
        boxes: &Buffer<TargetBox>,
        most: usize,
    ) -> Result<Vec<TargetBox>> {
        // clusters have no boxes
        let level = representative(&sources.levels, 1, most);
        let count = sources.levels[level].count;
        self.joined.resize(count)?;
        let arguments = JoinBoxesArguments {
            rows: sources.count(),
            level: level as u32,
            boxes: boxes.into(),
            joined: (&self.joined).into(),
        };
        self.device.run(count, WARP as u32, &arguments)?;
        let mut joined = self.joined.download()?;
        joined.retain(|joined| joined.squared_radius >= 0.0);
        Ok(joined)
    }

    /// Cuts the hierarchy for the ranks of these boxes. Returns for each rank the number of elements and of
    /// clusters with particles to send.
    pub fn cut(
        &mut self,
        tree: &Tree,
        boxes: &[Vec<TargetBox>],
        opening: OpeningParameters,
        periodic: bool,
    ) -> Result<Vec<[u64; 2]>> {
        self.sections = (0..boxes.len()).filter(|&rank| !boxes[rank].is_empty()).collect();
        let mut counts = vec![[0; 2]; boxes.len()];
        if self.sections.is_empty() {
            return Ok(counts);
        }
        let mut first_box = vec![0];
        first_box.extend(self.sections.iter().scan(0, |first, &rank| {
            *first += boxes[rank].len() as u32;
            Some(*first)
        }));
        let boxes = boxes.concat();
        self.boxes.resize(boxes.len())?;
        self.boxes.upload(&boxes)?;
        self.first_box.resize(first_box.len())?;
        self.first_box.upload(&first_box)?;
        let warps = self.warps(tree);
        self.marks.resize(warps * WARP)?;
        self.marks.fill_bytes(0)?;
        let sections = self.sections.len() as u32;
        let kernel = self.device.kernel(&self.units[usize::from(periodic)])?;
        for (number, level) in tree.sources.levels.iter().enumerate().rev() {
            let blocks = blocks_of(self.sections.len() * level.count.div_ceil(WARP));
            let arguments = CutArguments {
                rows: tree.sources.count(),
                level: number as u32,
                nodes: Input::cast(tree.nodes),
                boxes: (&self.boxes).into(),
                first_box: (&self.first_box).into(),
                sections,
                opening,
                marks: (&self.marks).into(),
            };
            self.device.launch(&kernel, blocks, THREADS, &arguments)?;
        }
        let [elements, clusters] = &mut self.counts;
        elements.resize(warps)?;
        clusters.resize(warps)?;
        self.totals.resize(2 * self.sections.len())?;
        self.totals.fill_bytes(0)?;
        let arguments = CountCutArguments {
            rows: tree.sources.count(),
            sections,
            marks: (&self.marks).into(),
            elements: elements.into(),
            clusters: clusters.into(),
            totals: (&self.totals).into(),
        };
        let kernel = self.device.kernel(&self.units[0])?;
        self.device.launch(&kernel, blocks_of(warps), THREADS, &arguments)?;
        for (&rank, totals) in self.sections.iter().zip(self.totals.download()?.chunks_exact(2)) {
            counts[rank] = [u64::from(totals[0]), u64::from(totals[1])];
        }
        Ok(counts)
    }

    /// Packs the elements and sizes the receive buffers: `counts[s][r]` are the counts of rank s for rank r.
    /// The caller has sized the nodes of the tree for them. Returns the messages to send and to receive.
    pub fn prepare_exchange(
        &mut self,
        tree: &Tree,
        rank: usize,
        counts: &[Vec<[u64; 2]>],
    ) -> Result<[Vec<Message>; 2]> {
        let own = nodes_of(&tree.sources.levels);
        let arriving: Vec<[u64; 2]> = counts.iter().map(|counts| counts[rank]).collect();
        let [elements, clusters] = total(&arriving);
        self.received = elements;
        self.arrived.places.resize(elements)?;
        self.arrived.particles.resize(clusters * NUMBERS_OF_CLUSTER)?;
        let receive = self.messages(tree.nodes, tree.moments, own, &self.arrived, &arriving);

        let leaving = &counts[rank];
        let [elements, clusters] = total(leaving);
        if elements == 0 {
            return Ok([Vec::new(), receive]);
        }
        // offset of a section's clusters here, and at the receiver
        let mut here = 0u64;
        let shifts: Vec<u32> = (self.sections.iter())
            .map(|&other| {
                let there: u64 = counts[..rank].iter().map(|counts| counts[other][1]).sum();
                let shift = (there as u32).wrapping_sub(here as u32);
                here += leaving[other][1];
                shift
            })
            .collect();
        self.shifts.resize(shifts.len())?;
        self.shifts.upload(&shifts)?;
        for (counts, sums) in self.counts.iter().zip(&mut self.sums) {
            self.scan.sums(counts, sums)?;
        }
        self.sent.nodes.resize(elements * self.words[0])?;
        self.sent.moments.resize(elements * self.words[1])?;
        self.sent.places.resize(elements)?;
        self.sent.particles.resize(clusters * NUMBERS_OF_CLUSTER)?;
        let arguments = PackCutArguments {
            sources: tree.sources.arguments,
            sections: self.sections.len() as u32,
            marks: (&self.marks).into(),
            elements_before: (&self.sums[0]).into(),
            clusters_before: (&self.sums[1]).into(),
            shift: (&self.shifts).into(),
            nodes: Input::cast(tree.nodes),
            multipoles: Input::cast(tree.moments),
            packed_nodes: Output::cast(&self.sent.nodes),
            packed_multipoles: Output::cast(&self.sent.moments),
            places: (&self.sent.places).into(),
            particles: (&self.sent.particles).into(),
        };
        let kernel = self.device.kernel(&self.units[0])?;
        self.device.launch(&kernel, blocks_of(self.warps(tree)), THREADS, &arguments)?;
        Ok([self.messages(&self.sent.nodes, &self.sent.moments, 0, &self.sent, leaving), receive])
    }

    /// The messages of elements grouped by rank, with nodes from `first` on.
    fn messages(
        &self,
        nodes: &Buffer<u64>,
        moments: &Buffer<u64>,
        first: usize,
        parcel: &Elements,
        counts: &[[u64; 2]],
    ) -> Vec<Message> {
        let [node, moment] = self.words.map(|words| 8 * words);
        let (mut element, mut cluster) = (0, 0);
        let mut messages = Vec::new();
        for (rank, &[elements, clusters]) in counts.iter().enumerate() {
            let [elements, clusters] = [elements as usize, clusters as usize];
            let parts = [
                (nodes.at((first + element) * self.words[0]), elements * node),
                (moments.at((first + element) * self.words[1]), elements * moment),
                (parcel.places.at(element), elements * size_of::<u32>()),
                (parcel.particles.at(cluster * NUMBERS_OF_CLUSTER), clusters * NUMBERS_OF_CLUSTER * 8),
            ];
            let parts = parts.into_iter().filter(|&(_, bytes)| bytes > 0);
            messages.extend(parts.map(|(address, bytes)| Message { rank, address, bytes }));
            element += elements;
            cluster += clusters;
        }
        messages
    }

    /// Number of received elements.
    pub fn received(&self) -> usize {
        self.received
    }

    /// The cluster of each received element, and the particles of these clusters.
    pub fn arrived(&self) -> (&Buffer<u32>, &Buffer<f64>) {
        (&self.arrived.places, &self.arrived.particles)
    }

    /// Number of warps of all marks.
    fn warps(&self, tree: &Tree) -> usize {
        self.sections.len() * tree.sources.levels[0].count.div_ceil(WARP)
    }

    /// Allocated bytes on the device.
    pub fn bytes(&self) -> usize {
        let boxes = self.joined.bytes() + self.boxes.bytes() + self.first_box.bytes();
        let counts: usize = self.counts.iter().map(Buffer::bytes).sum();
        let sums: usize = self.sums.iter().map(Buffer::bytes).sum();
        let cut = self.marks.bytes() + counts + sums + self.totals.bytes() + self.shifts.bytes();
        self.coarse.bytes() + boxes + cut + self.sent.bytes() + self.arrived.bytes()
    }
}

/// Number of blocks for `warps` warps.
fn blocks_of(warps: usize) -> usize {
    warps.div_ceil(THREADS as usize / WARP)
}

/// Totals of elements and clusters over ranks.
fn total(counts: &[[u64; 2]]) -> [usize; 2] {
    [0, 1].map(|k| counts.iter().map(|counts| counts[k] as usize).sum())
}
