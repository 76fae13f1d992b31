//! Halo search and exchange: [`crate::domain::halo`] on devices.
//!
//! Every rank publishes the boxes of the clusters that begin in each of its coarse leaves, with the largest
//! radius inside. These boxes are unions of nodes of the hierarchy over owned rows and follow the shape of
//! the rank's domain, as leaves do; boxes of equal numbers of rows would extend far beyond it.

use super::super::arguments::Input;
use super::super::arguments::leaves::LeafExtentsArguments;
use super::super::arguments::needed::NeededRowsArguments;
use super::super::columns::Columns;
use super::super::exchange::{Exchange, Message, Pending};
use super::super::hierarchy::{Hierarchy, Radii};
use super::super::launch::{THREADS, WARP};
use super::super::scan::Scan;
use super::super::sort::{gather_words, rows_of_32_bits};
use super::super::{Buffer, Device};
use super::assign::Owners;
use crate::Result;
use crate::domain::halo_selection::union;
use crate::domain::interaction_test::{may_interact, rounding};
use crate::particles::{Field, SUPER_CLUSTER};
use crate::space::SimulationBox;
use crate::tree::bounds::Extent;
use std::ops::Range;

/// Warps a block; a warp takes one super-cluster.
const WARPS: usize = THREADS as usize / WARP;

/// The halos of a rank and the rows that others need.
#[derive(Debug)]
pub(super) struct Halos {
    device: Device,
    hierarchy: Hierarchy,
    scan: Scan,
    extents: Buffer<Extent>,
    marks: Buffer<u8>,
    marked: Buffer<u32>,
    boxes: Vec<Vec<Extent>>,
    /// Rows to send, and the range of each rank among them.
    rows: Buffer<u32>,
    leaving: Vec<Range<usize>>,
    /// For each rank the halo rows received from it.
    arriving: Vec<Range<usize>>,
    /// Whether any rank has halos.
    any: bool,
    /// Send buffer, column by column, and its capacity in columns. Written when a refresh begins, after the
    /// previous one is finished.
    staged: Buffer<u64>,
    room: usize,
}

impl Halos {
    /// Without halos.
    pub fn new(exchange: &Exchange) -> Result<Self> {
        let (device, ranks) = (exchange.device(), exchange.comm().size());
        Ok(Self {
            device: device.clone(),
            hierarchy: Hierarchy::new(device)?,
            scan: Scan::new(device)?,
            extents: Buffer::new(device, 0)?,
            marks: Buffer::new(device, 0)?,
            marked: Buffer::new(device, 0)?,
            boxes: vec![Vec::new(); ranks],
            rows: Buffer::new(device, 0)?,
            leaving: Vec::new(),
            arriving: Vec::new(),
            any: false,
            staged: Buffer::new(device, 0)?,
            room: 0,
        })
    }

    /// The boxes of all ranks.
    pub fn boxes(&self) -> &[Vec<Extent>] {
        &self.boxes
    }

    /// Drops the halos.
    pub fn forget(&mut self) {
        self.any = false;
    }

    /// Frees the memory of the search.
    pub fn release(&mut self) -> Result<()> {
        self.hierarchy = Hierarchy::new(&self.device)?;
        self.marks = Buffer::new(&self.device, 0)?;
        self.marked = Buffer::new(&self.device, 0)?;
        Ok(())
    }

    /// Finds the owned rows that each rank needs; there are no halos yet. Collective.
    pub fn find(
        &mut self,
        exchange: &Exchange,
        owners: &mut Owners,
        bx: &SimulationBox,
        columns: &Columns,
        radius: Radii,
    ) -> Result<()> {
        let comm = exchange.comm();
        if comm.size() == 1 {
            return Ok(());
        }
        let published = self.publish(owners, comm.rank(), columns, radius);
        let (own, largest) = comm.agree_on(published)?;
        self.boxes = comm.all_gather(&own);
        let whole = union(own.iter().copied());
        let (mut leaving, mut outcome) = (Vec::new(), self.rows.resize(0));
        for rank in 0..comm.size() {
            let start = self.rows.len();
            let theirs = &self.boxes[rank];
            // most ranks are far away: test the union of their boxes first
            let far = rank == comm.rank() || !may_interact(&whole, &union(theirs.iter().copied()), bx);
            let near: Vec<Extent> =
                theirs.iter().filter(|theirs| !far && may_interact(&whole, theirs, bx)).copied().collect();
            if outcome.is_ok() && !near.is_empty() {
                outcome = self.needed(&near, bx, columns, radius, largest);
            }
            leaving.push(start..self.rows.len());
        }
        self.leaving = leaving;
        comm.agree(outcome)
    }

    /// The boxes of the leaves with owned rows, and the largest radius.
    fn publish(
        &mut self,
        owners: &mut Owners,
        rank: usize,
        columns: &Columns,
        radius: Radii,
    ) -> Result<(Vec<Extent>, f64)> {
        let rows = columns.owned().len();
        if rows == 0 {
            return Ok((Vec::new(), 0.0));
        }
        let (unit, largest) = self.hierarchy.unit_of(radius, None, rows)?;
        self.hierarchy.build(columns.vector(Field::Position), radius, None, rows, unit)?;
        let first = owners.first_rows(rank, columns)?;
        let leaves = first.len() - 1;
        self.extents.resize(leaves)?;
        let arguments = LeafExtentsArguments {
            first: first.into(),
            center: self.hierarchy.center().into(),
            extent: self.hierarchy.extent().into(),
            nodes: self.hierarchy.nodes() as u32,
            unit,
            largest,
            extents: (&self.extents).into(),
        };
        self.device.run(leaves, THREADS, &arguments)?;
        let mut extents = self.extents.download()?;
        extents.retain(|extent| !extent.is_nothing());
        Ok((extents, largest))
    }

    /// Appends the rows that may interact with particles in these boxes.
    fn needed(
        &mut self,
        boxes: &[Extent],
        bx: &SimulationBox,
        columns: &Columns,
        radius: Radii,
        largest: f64,
    ) -> Result<()> {
        let rows = columns.owned().len();
        self.extents.resize(boxes.len())?;
        self.extents.upload(boxes)?;
        self.marks.resize(rows)?;
        let (radius, radius_of_all) = radius.arguments();
        let hierarchy = &self.hierarchy;
        let arguments = NeededRowsArguments {
            position: columns.vector(Field::Position).map(Input::from),
            radius,
            radius_of_all,
            center: hierarchy.center().into(),
            extent: hierarchy.extent().into(),
            unit: hierarchy.unit(),
            largest,
            rows: rows_of_32_bits(rows)?,
            nodes: hierarchy.nodes() as u32,
            offset: hierarchy.levels()[1].offset as u32,
            count: boxes.len() as u32,
            boxes: (&self.extents).into(),
            period: bx.finite_periods().into(),
            rounding: [0, 1, 2].map(|d| rounding(bx, d)),
            marks: (&self.marks).into(),
        };
        self.device.run(rows.div_ceil(SUPER_CLUSTER * WARPS), THREADS, &arguments)?;
        let (found, before) = (self.scan.marked(&self.marks, &mut self.marked)?, self.rows.len());
        self.rows.grow(before + found)?;
        self.rows.copy_from(before, &self.marked)
    }

    /// Receives identities and halo fields of the rows of [`Self::find`], and lays out the rows. Collective.
    pub fn attach(&mut self, exchange: &Exchange, columns: &mut Columns) -> Result<()> {
        let comm = exchange.comm();
        if comm.size() == 1 {
            return Ok(());
        }
        let counts: Vec<Vec<u64>> = self.leaving.iter().map(|rows| vec![rows.len() as u64]).collect();
        let mut moving = [self.rows.len() as u64];
        comm.all_sum(&mut moving);
        if moving[0] == 0 {
            return Ok(());
        }
        let owned = columns.owned().len();
        let mut next = owned.next_multiple_of(SUPER_CLUSTER);
        self.arriving.clear();
        for count in comm.all_to_all(&counts) {
            let rows = next..next + count[0] as usize;
            next = rows.end;
            self.arriving.push(rows);
        }
        let rows = if next == owned.next_multiple_of(SUPER_CLUSTER) { owned } else { next };
        let brought = columns.fields_of_halos();
        self.room = 1 + brought.iter().map(|field| field.components()).sum::<usize>();
        let ready = self.lay_out(columns, rows);
        comm.agree(ready.and_then(|()| self.staged.resize(self.room * self.rows.len())))?;
        self.any = true;
        let places = columns.all(&brought).into_iter().map(|column| column.at(0));
        let brought =
            self.bring(exchange, &[columns.id.at(0)].into_iter().chain(places).collect::<Vec<_>>())?;
        exchange.finish(brought)
    }

    /// Resizes the columns to `rows` rows: padding becomes ghosts, halo rows zero.
    fn lay_out(&self, columns: &mut Columns, rows: usize) -> Result<()> {
        let owned = columns.owned().len();
        columns.resize(rows, owned)?;
        let padding = owned..rows.min(owned.next_multiple_of(SUPER_CLUSTER));
        columns.id.fill_range(padding.clone(), u8::MAX)?;
        columns.key.fill_range(owned..rows, 0)?;
        columns.all_mut().try_for_each(|column| column.fill_range(owned..rows, 0))?;
        let nowhere = vec![f64::INFINITY; padding.len()];
        columns.vector_mut(Field::Position).try_for_each(|column| column.upload_to(owned, &nowhere))
    }

    /// Begins an update of these fields of the halo rows; `None` without halos. Collective.
    pub fn refresh(
        &mut self,
        exchange: &Exchange,
        columns: &Columns,
        fields: &[Field],
    ) -> Result<Option<Pending>> {
        if !self.any || fields.is_empty() {
            return Ok(None);
        }
        let places: Vec<u64> = columns.all(fields).into_iter().map(|column| column.at(0)).collect();
        if places.len() > self.room {
            self.room = places.len();
            exchange.comm().agree(self.staged.resize(self.room * self.rows.len()))?;
        }
        self.bring(exchange, &places).map(Some)
    }

    /// Gathers the rows that others need from the columns at these addresses, and begins to send them and to
    /// receive halo rows. Floor: 20 bytes a row and column sent, and 8 at either end of the transfer.
    /// Collective.
    fn bring(&self, exchange: &Exchange, columns: &[u64]) -> Result<Pending> {
        const BYTES: usize = size_of::<u64>();
        let count = self.rows.len();
        let staged: Vec<u64> = (0..columns.len()).map(|k| self.staged.at(k * count)).collect();
        gather_words(&self.rows, columns, &staged)?;
        let messages = |columns: &[u64], rows: &[Range<usize>]| {
            let mut messages = Vec::new();
            for (rank, rows) in rows.iter().enumerate().filter(|(_, rows)| !rows.is_empty()) {
                messages.extend(columns.iter().map(|column| Message {
                    rank,
                    address: column + (rows.start * BYTES) as u64,
                    bytes: rows.len() * BYTES,
                }));
            }
            messages
        };
        exchange.begin(&messages(&staged, &self.leaving), &messages(columns, &self.arriving))
    }
}
