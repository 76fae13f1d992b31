//! Particle (Verlet) lists on a device (kernels/neighbors/particle_list.cu), for runs whose method they are
//! and as the baseline of `bench sweep --device cuda` (docs/src/gpu.md).

use super::arguments::particle_list::{ParticleListFindArguments, ParticleListWriteArguments};
use super::arguments::{Arguments, Output};
use super::launch::WARP;
use super::list::{Records, Search};
use super::scan::Scan;
use super::{Buffer, Device, Unit};
use crate::Result;
use crate::neighbors::{CLUSTER, SUPER_CLUSTER};
use std::ops::Range;

/// Warps a block, as in the kernels.
const WARPS: usize = 2;

/// Clusters of a record that are tested together, and words of the bits of their particles: one bit for each
/// pair with a particle of the super-cluster.
const BATCH: usize = 32;
const BATCH_WORDS: usize = BATCH * CLUSTER * SUPER_CLUSTER / 32;

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

/// Builds particle lists. A build takes scratch memory: 64 bytes for each neighbor cluster of a
/// super-cluster, and 2048 for each super-cluster.
#[derive(Debug)]
pub struct ParticleListBuilder {
    device: Device,
    scan: Scan,
    /// Bits of pairs.
    found: Buffer<u32>,
    /// Words of the longest list of each half super-cluster, then whether the encoding does not suffice.
    widths: Buffer<u32>,
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
            found: Buffer::new(device, 0)?,
            widths: Buffer::new(device, 0)?,
        })
    }

    /// Allocated bytes of scratch memory.
    pub fn bytes(&self) -> usize {
        self.widths.bytes() + self.found.bytes()
    }

    /// Builds the records of a search from its full cluster list. Returns false if the encoding does not
    /// suffice: a super-cluster has more than 8190 neighbor clusters, or several images of a particle are in
    /// reach in a small box. The cluster list is used then.
    ///
    /// Waits for the device. The result is reproducible bit for bit.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device fails or its memory is too small.
    pub fn build(&mut self, search: &Search, list: &Records, records: &mut ParticleRecords) -> Result<bool> {
        let count = list.super_clusters.len();
        self.scan.sums(&list.counts, &mut records.begins)?;
        let mut entries = [0];
        records.begins.download_to(count, &mut entries)?;
        [records.entries] = entries;
        self.build_counted(search, list, records)
    }

    /// As [`Self::build`], if [`super::list::ListBuilder::build_counted`] has found where the entries of the
    /// records begin and how many there are.
    ///
    /// # Errors
    /// Those of [`Self::build`].
    pub fn build_counted(
        &mut self,
        search: &Search,
        list: &Records,
        records: &mut ParticleRecords,
    ) -> Result<bool> {
        assert!(!search.symmetric, "lists of particles are full");
        assert_eq!(search.super_clusters(), list.super_clusters, "the list of clusters is of the same rows");
        let count = list.super_clusters.len();
        records.super_clusters = list.super_clusters.clone();
        records.clusters.resize(records.entries as usize)?;
        let words = self.find(search, list, records)?;
        let Some(words) = words else { return Ok(false) };
        records.words.resize(WARP * words)?;
        let arguments = ParticleListWriteArguments {
            super_clusters: count as u32,
            begins: (&records.begins).into(),
            found: (&self.found).into(),
            word_begins: (&records.word_begins).into(),
            words: (&records.words).into(),
        };
        self.launch(search, 2 * count, &arguments)?;
        // as large as the list: other stages may use the memory
        self.found = Buffer::new(&self.device, 0)?;
        Ok(true)
    }

    /// Finds the neighbors, their clusters, and the place of each half super-cluster's words. Returns the
    /// length of all words in units of 32; `None` if the encoding does not suffice.
    fn find(
        &mut self,
        search: &Search,
        list: &Records,
        records: &mut ParticleRecords,
    ) -> Result<Option<usize>> {
        let count = list.super_clusters.len();
        // each record begins a batch of its own
        self.found.resize((records.entries as usize / BATCH + count) * BATCH_WORDS)?;
        self.widths.resize(2 * count + 1)?;
        self.widths.fill_range(2 * count..2 * count + 1, 0)?;
        let arguments = ParticleListFindArguments {
            search: search.arguments(None),
            list: list.into(),
            first: list.super_clusters.start as u32,
            super_clusters: count as u32,
            begins: (&records.begins).into(),
            clusters: (&records.clusters).into(),
            found: (&self.found).into(),
            widths: (&self.widths).into(),
            unfit: Output::at(&self.widths, 2 * count),
        };
        self.launch(search, count, &arguments)?;
        // the mark is summed like a width, so that one copy brings both to the host
        self.scan.sums(&self.widths, &mut records.word_begins)?;
        let mut ends = [0; 2];
        records.word_begins.download_to(2 * count, &mut ends)?;
        records.word_begins.resize(2 * count + 1)?;
        Ok((ends[1] == ends[0]).then_some(ends[0] as usize))
    }

    /// Launches a kernel on a number of warps.
    fn launch<A: Arguments>(&self, search: &Search, warps: usize, arguments: &A) -> Result<()> {
        let unit = Unit::new(A::UNIT).with("HILBRIUM_PERIODIC", u8::from(search.is_periodic()));
        self.device.launch(
            &self.device.kernel(&unit)?,
            warps.div_ceil(WARPS),
            (WARP * WARPS) as u32,
            arguments,
        )
    }
}
