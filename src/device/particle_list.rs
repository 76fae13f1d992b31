//! Particle (Verlet) lists on a device (kernels/neighbors/particle_list.cu), for runs whose method they are and
//! as the baseline of `bench sweep --device cuda` (docs/src/gpu.md).

use super::arguments::Arguments;
use super::arguments::particle_list::{ParticleListCountArguments, ParticleListWriteArguments};
use super::launch::WARP;
use super::list::{Records, Search};
use super::scan::Scan;
use super::{Buffer, Device, Unit};
use crate::Result;
use std::ops::Range;

/// Warps a block, as in the kernels.
const WARPS: usize = 4;

/// The neighbors of each owned row, as 16-bit indices among the particles of its super-cluster's neighbor
/// clusters: a full [`crate::neighbors::ParticleList`].
#[derive(Debug)]
pub struct ParticleRecords {
    /// Neighbor clusters of all super-clusters.
    pub clusters: Buffer<u32>,
    /// Offset of each super-cluster's neighbor clusters, then the end.
    pub begins: Buffer<u64>,
    /// Neighbor indices, two a word. Word m of lane l of a half super-cluster is at 32 (begin + m) + l.
    /// Particle k of neighbor cluster e has the index 8 (e + 1) + k; 0 is no neighbor.
    pub words: Buffer<u32>,
    /// Offset of each half super-cluster's words in units of 32 words, then the end.
    pub word_begins: Buffer<u64>,
    /// The super-clusters with a record.
    pub super_clusters: Range<usize>,
    /// Neighbor clusters of all super-clusters.
    pub entries: u64,
}

impl ParticleRecords {
    /// No records.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device has failed.
    pub fn new(device: &Device) -> Result<Self> {
        Ok(Self {
            clusters: Buffer::new(device, 0)?,
            begins: Buffer::new(device, 0)?,
            words: Buffer::new(device, 0)?,
            word_begins: Buffer::new(device, 0)?,
            super_clusters: 0..0,
            entries: 0,
        })
    }

    /// Allocated bytes.
    pub fn bytes(&self) -> usize {
        self.clusters.bytes() + self.begins.bytes() + self.words.bytes() + self.word_begins.bytes()
    }
}

/// Builds particle lists.
#[derive(Debug)]
pub struct ParticleListBuilder {
    device: Device,
    scan: Scan,
    widths: Buffer<u32>,
    unfit: Buffer<u32>,
}

impl ParticleListBuilder {
    /// Without memory yet.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device has failed.
    pub fn new(device: &Device) -> Result<Self> {
        Ok(Self {
            device: device.clone(),
            scan: Scan::new(device)?,
            widths: Buffer::new(device, 0)?,
            unfit: Buffer::new(device, 1)?,
        })
    }

    /// Allocated bytes of scratch memory.
    pub fn bytes(&self) -> usize {
        self.widths.bytes() + self.unfit.bytes()
    }

    /// Builds the records of a search from its full cluster list. Returns false if the encoding does not
    /// suffice: a super-cluster has more than 8190 neighbor clusters, or several images of a cluster are in
    /// reach in a small box. The cluster list is used then.
    ///
    /// Waits for the device. The result is reproducible bit for bit.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device fails or its memory is too small.
    pub fn build(&mut self, search: &Search, list: &Records, records: &mut ParticleRecords) -> Result<bool> {
        assert!(!search.symmetric, "lists of particles are full");
        assert_eq!(search.super_clusters(), list.super_clusters, "the list of clusters is of the same rows");
        let count = list.super_clusters.len();
        records.super_clusters = list.super_clusters.clone();
        self.scan.sums(&list.counts, &mut records.begins)?;
        let mut last = [0];
        records.begins.download_to(count, &mut last)?;
        [records.entries] = last;
        records.clusters.resize(records.entries as usize)?;
        self.widths.resize(2 * count)?;
        self.unfit.fill_bytes(0)?;
        let (first, super_clusters) = (list.super_clusters.start as u32, count as u32);
        let arguments = ParticleListCountArguments {
            search: search.arguments(None),
            list: list.into(),
            first,
            super_clusters,
            begins: (&records.begins).into(),
            clusters: (&records.clusters).into(),
            widths: (&self.widths).into(),
            unfit: (&self.unfit).into(),
        };
        self.launch(search, count, &arguments)?;
        self.scan.sums(&self.widths, &mut records.word_begins)?;
        records.word_begins.download_to(2 * count, &mut last)?;
        if self.unfit.download()? != [0] {
            return Ok(false);
        }
        records.words.resize(WARP * last[0] as usize)?;
        let arguments = ParticleListWriteArguments {
            search: search.arguments(None),
            list: list.into(),
            first,
            super_clusters,
            word_begins: (&records.word_begins).into(),
            words: (&records.words).into(),
            unfit: (&self.unfit).into(),
        };
        self.launch(search, count, &arguments)?;
        Ok(true)
    }

    /// Launches a kernel with one warp for each half super-cluster.
    fn launch<A: Arguments>(&self, search: &Search, count: usize, arguments: &A) -> Result<()> {
        let unit = Unit::new(A::UNIT).with("HILBRIUM_PERIODIC", u8::from(search.is_periodic()));
        let blocks = (2 * count).div_ceil(WARPS);
        self.device.launch(&self.device.kernel(&unit)?, blocks, (WARP * WARPS) as u32, arguments)
    }
}
