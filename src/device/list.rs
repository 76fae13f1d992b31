//! Cluster lists built on the device.
//!
//! The length of a record is known only when it is built. Records are therefore built in slots of one size,
//! with a common overflow for what is longer, and then moved to their places. The slot is 1.5 times the mean
//! length of the last records, so that most fit: in a gas with free surfaces few records are many times as
//! long as the mean, and slots for the longest would take that many times the memory of the list.
//! `hilbrium bench sweep --device cuda` measures builds of homogeneous lists, `hilbrium bench step --case
//! evrard` those of a gas with free surfaces (row "neighbors").

use super::arguments::build::{
    ListBuildArguments, ListMagnitudeArguments, ListOrderArguments, ListPlaceArguments,
};
use super::arguments::overflow::{OverflowWindow, RecordOverflow};
use super::arguments::search::{ListRecords, ListSearch};
use super::arguments::{Arguments, Input, Output, Rows};
use super::launch::{THREADS, WARP};
use super::scan::Scan;
use super::{Buffer, Device, Unit};
use crate::Result;
use crate::neighbors::{CLUSTER, SUPER_CLUSTER};
use crate::space::SimulationBox;
use std::ops::Range;

/// Warps a block of the kernel that builds records.
const WARPS: usize = 2;

/// Warps a multiprocessor up to which several share a record, and the most that share one.
const WARPS_WANTED: usize = 48;
const MOST_WARPS: usize = 4;

/// Largest number of blocks of the reduction.
const MOST_BLOCKS: usize = 1024;

/// Smallest, initial and largest size of a record's slot in bytes: multiples of 16.
const LEAST_SLOT: u32 = 64;
const FIRST_SLOT: u32 = 256;
const MOST_SLOT: u64 = 4096;

/// Initial capacity of the overflow in windows.
const FIRST_OVERFLOW: usize = 16;

/// 32-bit words of an [`OverflowWindow`].
const OVERFLOW_WORDS: usize = size_of::<OverflowWindow>() / 4;

/// Bytes past the last record that decoders may read.
const READ_AHEAD: u64 = 8;

/// The search for a cluster list: [`crate::neighbors::ListRequest`] with columns and boxes on the device.
#[derive(Clone)]
pub struct Search<'a> {
    /// Number of rows, including halos and ghosts.
    pub rows: usize,
    /// The owned rows, which begin with a super-cluster.
    pub owned: Range<usize>,
    /// Whether pairs of owned rows appear once.
    pub symmetric: bool,
    /// Position columns.
    pub position: [&'a Buffer<f64>; 3],
    /// Interaction radii, including the skin.
    pub radius: &'a Buffer<f64>,
    /// Identities; `u64::MAX` marks a ghost.
    pub id: &'a Buffer<u64>,
    /// Centers of the hierarchy's boxes: three columns of all nodes.
    pub center: &'a Buffer<f64>,
    /// Half widths and largest radii of the hierarchy's boxes, in units of `unit`.
    pub extent: &'a Buffer<[f32; 4]>,
    /// The unit of length of the hierarchy: a power of two.
    pub unit: f64,
    /// The box. Positions are inside along periodic dimensions.
    pub bx: &'a SimulationBox,
}

/// Records of a cluster list in device memory, in the encoding of [`crate::neighbors::ClusterList::records`].
/// Records with halo rows are known if halo rows come after the owned ones, from the next super-cluster on.
#[derive(Debug)]
pub struct Records {
    /// Nibble codes, followed by eight unused bytes.
    pub data: Buffer<u8>,
    /// Offset of each record in the data, then the end.
    pub offsets: Buffer<u64>,
    /// Number of entries of each record.
    pub counts: Buffer<u32>,
    /// The super-clusters with a record.
    pub super_clusters: Range<usize>,
    /// Total length of all records in bytes.
    pub length: u64,
    /// Numbers of the interior records, without halo rows, and of the boundary records, with such rows,
    /// ascending. `None` without halos, or if halo rows come before the owned ones.
    pub interior_and_boundary: Option<[Buffer<u32>; 2]>,
}

impl Search<'_> {
    /// Whether any dimension is periodic.
    pub(super) fn is_periodic(&self) -> bool {
        self.bx.any_periodic()
    }

    /// The arguments of kernels. Without a magnitude the search adds no slack for rounding errors.
    pub(super) fn arguments(&self, magnitude: Option<&Buffer<f64>>) -> ListSearch {
        ListSearch {
            position: self.position.map(Input::from),
            radius: self.radius.into(),
            id: self.id.into(),
            center: self.center.into(),
            extent: self.extent.into(),
            magnitude: magnitude.into(),
            scale: 1.0 / self.unit,
            period: self.bx.finite_periods().into(),
            rows: self.rows as u32,
            owned: Rows { begin: self.owned.start as u32, end: self.owned.end as u32 },
            symmetric: u32::from(self.symmetric),
            nodes: self.extent.len() as u32,
        }
    }

    /// The super-clusters with owned rows.
    pub fn super_clusters(&self) -> Range<usize> {
        let first = self.owned.start / SUPER_CLUSTER;
        first..if self.owned.is_empty() { first } else { self.owned.end.div_ceil(SUPER_CLUSTER) }
    }
}

impl Records {
    /// No records.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device has failed.
    pub fn new(device: &Device) -> Result<Self> {
        Ok(Self {
            data: Buffer::new(device, 0)?,
            offsets: Buffer::new(device, 0)?,
            counts: Buffer::new(device, 0)?,
            super_clusters: 0..0,
            length: 0,
            interior_and_boundary: None,
        })
    }

    /// Allocated bytes.
    pub fn bytes(&self) -> usize {
        let parts = self.interior_and_boundary.iter().flatten().map(Buffer::bytes).sum::<usize>();
        self.data.bytes() + self.offsets.bytes() + self.counts.bytes() + parts
    }
}

/// Builds cluster lists; owns the scratch memory.
#[derive(Debug)]
pub struct ListBuilder {
    device: Device,
    scan: Scan,
    magnitude: Buffer<f64>,
    /// The length of each record, then the number of windows in the overflow.
    lengths: Buffer<u32>,
    slots: Buffer<u8>,
    slot: u32,
    /// Windows of records beyond their slots, of [`OVERFLOW_WORDS`] words.
    overflow: Buffer<u32>,
    /// Marks of interior and of boundary records.
    marks: [Buffer<u8>; 2],
    /// Length of all records, then with the number of windows; number of entries.
    ends: Buffer<u64>,
    /// Records in the order of their builds, and counters of it.
    order: Buffer<u32>,
    placed: Buffer<u32>,
    /// Warps that share a record, if set.
    warps_of_record: Option<usize>,
}

impl ListBuilder {
    /// Without memory yet.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device has failed.
    pub fn new(device: &Device) -> Result<Self> {
        Ok(Self {
            device: device.clone(),
            scan: Scan::new(device)?,
            magnitude: Buffer::zeros(device, 1)?,
            lengths: Buffer::new(device, 0)?,
            slots: Buffer::new(device, 0)?,
            slot: FIRST_SLOT,
            overflow: Buffer::new(device, FIRST_OVERFLOW * OVERFLOW_WORDS)?,
            marks: [Buffer::new(device, 0)?, Buffer::new(device, 0)?],
            ends: Buffer::zeros(device, 3)?,
            order: Buffer::new(device, 0)?,
            placed: Buffer::zeros(device, 2)?,
            warps_of_record: None,
        })
    }

    /// Sets the number of warps that share a record, 1, 2 or 4: for tests and benchmarks.
    #[must_use]
    pub fn with_warps_of_record(self, warps: usize) -> Self {
        Self { warps_of_record: Some(warps), ..self }
    }

    /// Builds the records of a search, with the bytes of [`crate::neighbors::ClusterList::build`]. Waits for
    /// the device.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device fails or its memory is too small.
    pub fn build(&mut self, search: &Search, records: &mut Records) -> Result<()> {
        self.build_counted(search, records, None).map(|_| ())
    }

    /// As [`Self::build`]; also writes where the entries of each record begin, then their number, and returns
    /// it.
    ///
    /// # Errors
    /// Those of [`Self::build`].
    pub fn build_counted(
        &mut self,
        search: &Search,
        records: &mut Records,
        mut begins: Option<&mut Buffer<u64>>,
    ) -> Result<u64> {
        records.super_clusters = search.super_clusters();
        let count = records.super_clusters.len();
        records.counts.resize(count)?;
        self.lengths.resize(count + 1)?;
        self.slots.resize(self.slot as usize * count)?;
        self.note_magnitude(search)?;
        let split = search.owned.start == 0 && search.rows > search.owned.end;
        if split {
            self.marks.iter_mut().try_for_each(|marks| marks.resize(count))?;
        }
        let [mut windows, mut entries] = self.encode(search, split, records, begins.as_deref_mut())?;
        if windows as usize > self.overflow_capacity() {
            // spare capacity, because the number of windows varies from list to list
            self.overflow.resize((windows + windows / 4) as usize * OVERFLOW_WORDS)?;
            [windows, entries] = self.encode(search, split, records, begins)?;
        }
        self.collect_marked(split, records)?;
        self.place(windows as usize, records)?;
        // next slot size: 1.5 times the mean length of these records
        let mean = records.length / count.max(1) as u64;
        let slot = (mean + mean / 2).next_multiple_of(16).min(MOST_SLOT);
        self.slot = (slot as u32).max(LEAST_SLOT);
        Ok(entries)
    }

    /// Number of windows that fit into the overflow.
    fn overflow_capacity(&self) -> usize {
        self.overflow.len() / OVERFLOW_WORDS
    }

    /// Builds the records in slots and overflow, and finds their offsets, and where their entries begin if
    /// that is asked for. Returns the number of windows in the overflow, which are incomplete if it exceeds
    /// the capacity, and the number of entries, 0 if not asked for.
    fn encode(
        &mut self,
        search: &Search,
        split: bool,
        records: &mut Records,
        begins: Option<&mut Buffer<u64>>,
    ) -> Result<[u64; 2]> {
        let count = records.super_clusters.len();
        self.lengths.fill_range(count..count + 1, 0)?;
        let shared_by = self.warps_of_record;
        let shared_by = shared_by.unwrap_or_else(|| self.device.workers(count, WARPS_WANTED, MOST_WARPS));
        let unit = Unit::new(ListBuildArguments::UNIT)
            .with("HILBRIUM_PERIODIC", u8::from(search.is_periodic()))
            .with("HILBRIUM_WARPS", WARPS)
            .with("HILBRIUM_WARPS_OF_RECORD", shared_by);
        let kernel = self.device.kernel(&unit)?;
        if shared_by == 1 {
            self.find_order(search, records, &unit)?;
        }
        let [interior, boundary] = self.marks.each_ref().map(|marks| split.then_some(marks));
        let arguments = ListBuildArguments {
            search: search.arguments(Some(&self.magnitude)),
            first: records.super_clusters.start as u32,
            super_clusters: count as u32,
            order: (shared_by == 1).then_some(&self.order).into(),
            slots: (&self.slots).into(),
            slot: self.slot,
            overflow: RecordOverflow {
                windows: Output::cast(&self.overflow),
                count: Output::at(&self.lengths, count),
                capacity: self.overflow_capacity() as u32,
            },
            counts: (&records.counts).into(),
            lengths: (&self.lengths).into(),
            interior: interior.into(),
            boundary: boundary.into(),
        };
        let warps = if shared_by > 1 { shared_by } else { WARPS };
        self.device.launch(
            &kernel,
            (count * shared_by).div_ceil(warps),
            (WARP * warps) as u32,
            &arguments,
        )?;
        // the number of windows is summed like a length; one copy brings all ends to the host
        self.scan.sums(&self.lengths, &mut records.offsets)?;
        self.ends.copy_range(0, &records.offsets, count..count + 2)?;
        let mut ends = [0; 3];
        match begins {
            Some(begins) => {
                self.scan.sums(&records.counts, begins)?;
                self.ends.copy_range(2, begins, count..count + 1)?;
                self.ends.download_to(0, &mut ends)?;
            }
            None => self.ends.download_to(0, &mut ends[..2])?,
        }
        records.offsets.resize(count + 1)?;
        records.length = ends[0];
        Ok([ends[1] - ends[0], ends[2]])
    }

    /// Finds the order in which the records are built.
    fn find_order(&mut self, search: &Search, records: &Records, unit: &Unit) -> Result<()> {
        let count = records.super_clusters.len();
        self.order.resize(count)?;
        self.placed.fill_bytes(0)?;
        let searched = search.arguments(None);
        let arguments = ListOrderArguments {
            extent: searched.extent,
            rows: searched.rows,
            first: records.super_clusters.start as u32,
            super_clusters: count as u32,
            order: (&self.order).into(),
            placed: (&self.placed).into(),
        };
        let kernel = self.device.kernel(unit)?;
        self.device.launch(&kernel, count.div_ceil(THREADS as usize), THREADS, &arguments)
    }

    /// Moves the records to their places.
    fn place(&self, windows: usize, records: &mut Records) -> Result<()> {
        let bytes = (records.length + READ_AHEAD) as usize;
        if bytes > records.data.bytes() {
            // spare capacity avoids a reallocation for the next list
            records.data.resize(bytes + bytes / 8)?;
        }
        records.data.resize(bytes)?;
        let count = records.super_clusters.len();
        let arguments = ListPlaceArguments {
            records: count as u32,
            slot: self.slot,
            slots: (&self.slots).into(),
            overflow: Input::cast(&self.overflow),
            overflow_count: windows as u32,
            offsets: (&records.offsets).into(),
            data: (&records.data).into(),
        };
        self.device.run((WARP * (count + windows)).div_ceil(THREADS as usize), THREADS, &arguments)
    }

    /// Allocated bytes of scratch memory.
    pub fn bytes(&self) -> usize {
        let marks = self.marks.iter().map(Buffer::bytes).sum::<usize>();
        self.lengths.bytes()
            + self.slots.bytes()
            + self.overflow.bytes()
            + self.order.bytes()
            + self.placed.bytes()
            + marks
    }

    /// Collects the numbers of interior and boundary records, if records are `split`.
    fn collect_marked(&mut self, split: bool, records: &mut Records) -> Result<()> {
        let before = records.interior_and_boundary.take();
        if !split {
            return Ok(());
        }
        let mut found = match before {
            Some(found) => found,
            None => [Buffer::new(&self.device, 0)?, Buffer::new(&self.device, 0)?],
        };
        for (marks, numbers) in self.marks.iter().zip(&mut found) {
            self.scan.marked(marks, numbers)?;
        }
        records.interior_and_boundary = Some(found);
        Ok(())
    }

    /// Finds the largest magnitude of a coordinate, on which rounding errors depend.
    fn note_magnitude(&mut self, search: &Search) -> Result<()> {
        self.magnitude.fill_bytes(0)?;
        let clusters = search.rows.div_ceil(CLUSTER);
        let arguments = ListMagnitudeArguments {
            clusters: clusters as u32,
            center: search.center.into(),
            extent: search.extent.into(),
            nodes: search.extent.len() as u32,
            unit: search.unit,
            magnitude: Output::cast(&self.magnitude),
        };
        self.device.run(clusters.div_ceil(THREADS as usize).min(MOST_BLOCKS), THREADS, &arguments)
    }
}

impl From<&Records> for ListRecords {
    fn from(records: &Records) -> Self {
        Self {
            data: (&records.data).into(),
            offsets: (&records.offsets).into(),
            counts: (&records.counts).into(),
        }
    }
}
