//! Wraps particles into the box and sorts them along the Hilbert curve: the first part of
//! [`crate::domain::Domain::sync`], before migration.

use super::arguments::Output;
use super::arguments::enter::EnterBoxArguments;
use super::columns::Columns;
use super::reduction::{Findings, Vector, first_row, largest, over_blocks, smallest};
use super::sort::{Gather, Sort, rows_of_32_bits};
use super::{Device, keys};
use crate::comm::Communicator;
use crate::particles::Field;
use crate::space::{Boundary, SimulationBox, Vec3d};
use crate::{Error, Result};
use std::ops::Range;

/// Wraps and sorts particles.
#[derive(Debug)]
pub struct Order {
    device: Device,
    sort: Sort,
    /// Permutes columns.
    pub(super) gather: Gather,
}

impl Order {
    /// For the particles of a device.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(device: &Device) -> Result<Self> {
        Ok(Self { device: device.clone(), sort: Sort::new(device)?, gather: Gather::new(device) })
    }

    /// Wraps particles into periodic dimensions, fits the open faces of the box, and sorts all columns by
    /// key, then identity. Returns the box. Nothing changes on an error.
    ///
    /// # Errors
    /// [`Error::State`] with step 0 for a position that is not finite or too large; those of the device.
    pub fn sync(&mut self, bx: &SimulationBox, columns: &mut Columns) -> Result<SimulationBox> {
        match self.fit(&Communicator::solo(), bx, columns)? {
            Some(fitted) => self.enter(&fitted, columns).map(|()| fitted.bx),
            None => Ok(*bx),
        }
    }

    /// The box with open faces fitted to the particles of all ranks; `None` without particles. Changes no
    /// column. Collective.
    ///
    /// # Errors
    /// [`Error::State`] with step 0 for a position that is not finite or too large, and those of the device;
    /// [`Error::Elsewhere`] on the other ranks.
    pub(super) fn fit(
        &self,
        comm: &Communicator,
        bx: &SimulationBox,
        columns: &Columns,
    ) -> Result<Option<Fitted>> {
        let Entered { extent, .. } = comm.agree_on(self.find(bx, columns))?;
        let outside = |d: usize| {
            let [least, greatest] = extent[d];
            bx.boundary[d] == Boundary::Periodic && !(bx.lower[d] <= least && greatest < bx.upper[d])
        };
        let mut all: [f64; 6] = std::array::from_fn(|k| if k < 3 { extent[k][0] } else { -extent[k - 3][1] });
        comm.all_min(&mut all);
        if all[0] == f64::INFINITY {
            return Ok(None);
        }
        let corners = (Vec3d::from_fn(|d, _| all[d]), Vec3d::from_fn(|d, _| -all[3 + d]));
        Ok(Some(Fitted { bx: bx.fitted(corners), outside: (0..3).any(outside) }))
    }

    /// The extent of the particles. It does not wrap them: on an error of any rank no particle may move.
    fn find(&self, bx: &SimulationBox, columns: &Columns) -> Result<Entered> {
        let rows = columns.rows();
        rows_of_32_bits(rows)?;
        let open = SimulationBox { boundary: [Boundary::Open; 3], ..*bx };
        let found = enter(&self.device, &open, columns.vector(Field::Position), None, 0..rows)?;
        match (0..3).find_map(|d| found.nowhere[d].map(|row| (d, row))) {
            Some((axis, row)) => nowhere(columns, axis, row),
            None => Ok(found),
        }
    }

    /// Wraps particles into the box of [`Self::fit`], computes keys, and sorts.
    ///
    /// # Errors
    /// Those of the device.
    pub(super) fn enter(&mut self, fitted: &Fitted, columns: &mut Columns) -> Result<()> {
        let (bx, rows) = (&fitted.bx, columns.rows());
        if fitted.outside {
            let image = columns.has(Field::Image).then(|| columns.vector(Field::Image));
            enter(&self.device, bx, columns.vector(Field::Position), image, 0..rows)?;
        }
        let mut key = columns.take_keys()?;
        keys::keys(&self.device, bx, columns.vector(Field::Position), &mut key)?;
        columns.key = key;
        self.sort(columns)
    }

    /// Sorts all columns by key, then identity.
    ///
    /// # Errors
    /// Those of the device.
    pub(super) fn sort(&mut self, columns: &mut Columns) -> Result<()> {
        let mut key = columns.take_keys()?;
        let moved = self.sort.run(&mut key, Some(&columns.id))?;
        columns.key = key;
        if moved {
            let order = self.sort.rows();
            self.gather.words(order, [&mut columns.id])?;
            self.gather.doubles(order, columns.all_mut())?;
        }
        Ok(())
    }
}

/// A box that contains all particles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fitted {
    /// The box.
    pub bx: SimulationBox,
    /// Whether a particle of this rank is outside along a periodic dimension.
    outside: bool,
}

/// The error of a particle whose position is not finite or too large.
fn nowhere<T>(columns: &Columns, axis: usize, row: usize) -> Result<T> {
    let (mut id, mut value) = ([0], [0.0]);
    columns.id.download_to(row, &mut id)?;
    columns.component(Field::Position, axis).download_to(row, &mut value)?;
    Err(Error::State {
        step: 0,
        what: format!("particle {} has {} = {}, which is no place", id[0], ["x", "y", "z"][axis], value[0]),
        remedy: "look for a time step that is too long, overlapping particles, or wrong initial positions"
            .into(),
    })
}

/// The result of [`enter`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entered {
    /// Least and greatest coordinate of each dimension before wrapping; +infinity and -infinity without
    /// particles.
    pub extent: [[f64; 2]; 3],
    /// For each dimension the first row whose coordinate is not finite or too large.
    pub nowhere: [Option<usize>; 3],
}

/// Wraps these rows into periodic dimensions, counts the periods in `image` if given, and finds the extent.
///
/// # Errors
/// Those of the device.
pub fn enter(
    device: &Device,
    bx: &SimulationBox,
    position: Vector,
    image: Option<Vector>,
    rows: Range<usize>,
) -> Result<Entered> {
    let findings = Findings::new(device, 9)?;
    let arguments = EnterBoxArguments {
        position: position.map(Output::from),
        image: image.map_or([Output::NULL; 3], |image| image.map(Output::from)),
        bx: bx.into(),
        rows: (&rows).into(),
        extent: findings.word(0),
        // first rows of 32 bits follow each other
        first_nowhere: findings.lower_half(6),
    };
    over_blocks(device, &rows, &arguments)?;
    let words = findings.read()?;
    let of = |d: usize| [smallest(words[2 * d]), largest(words[2 * d + 1]).unwrap_or(f64::NEG_INFINITY)];
    let row = |d: usize| first_row(words[6 + d / 2] >> (32 * (d % 2)) & u64::from(u32::MAX));
    Ok(Entered { extent: [of(0), of(1), of(2)], nowhere: [row(0), row(1), row(2)] })
}
