//! Lists of single particles on a device (kernels/neighbors/particle_list.cu): for few neighbors. Runs do not use them; they
//! are there to compare lists of clusters with, in `bench sweep --device cuda` (docs/src/gpu.md).

use super::arguments::Arguments;
use super::arguments::particle_list::{ParticleListCountArguments, ParticleListWriteArguments};
use super::list::{Records, Search};
use super::scan::Scan;
use super::{Buffer, Device, Unit};
use crate::Result;
use std::ops::Range;

/// Warps of a block, as in the kernels, and lanes of a warp.
const WARPS: usize = 4;
const LANES: usize = 32;

/// The neighbors of each owned row, as numbers of 16 bits among the particles of its super-cluster's neighbor clusters:
/// those of [`crate::neighbors::ParticleList`], of full lists.
#[derive(Debug)]
pub struct ParticleRecords {
    /// The neighbor clusters of super-clusters, and where each one's begin; one more than there are super-clusters.
    pub clusters: Buffer<u32>,
    /// See there.
    pub begins: Buffer<u64>,
    /// Numbers of neighbors, two a word, word m of lane l of a half of a super-cluster at 32 (begin + m) + l: particle k of
    /// neighbor cluster e has the number 8 (e + 1) + k, and 0 is none.
    pub words: Buffer<u32>,
    /// Where those of each half begin, in units of 32 words; one more than there are halves.
    pub word_begins: Buffer<u64>,
    /// The super-clusters with a record.
    pub super_clusters: Range<usize>,
    /// Neighbor clusters of all super-clusters.
    pub entries: u64,
}

impl ParticleRecords {
    /// None.
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

    /// The memory it takes, in bytes.
    pub fn bytes(&self) -> usize {
        self.clusters.bytes() + self.begins.bytes() + self.words.bytes() + self.word_begins.bytes()
    }
}

/// Builds lists of particles.
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

    /// Replaces the records with those of this search, whose full list of clusters is given. Returns whether there are
    /// such records: not where a super-cluster has more than 8190 neighbor clusters, or the box is so small that a
    /// cluster has several images in reach; then the list of clusters is to be used.
    ///
    /// Waits for the device. The same bits in every run.
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
        records.words.resize(LANES * last[0] as usize)?;
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

    /// Starts a kernel with a warp for each half of a super-cluster.
    fn launch<A: Arguments>(&self, search: &Search, count: usize, arguments: &A) -> Result<()> {
        let unit = Unit::new(A::UNIT).with("HILBRIUM_PERIODIC", u8::from(search.is_periodic()));
        let blocks = (2 * count).div_ceil(WARPS);
        self.device.launch(&self.device.kernel(&unit)?, blocks, (LANES * WARPS) as u32, arguments)
    }
}
