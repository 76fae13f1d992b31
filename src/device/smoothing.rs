//! The searches for the smoothing lengths on a device: mirrors those of [`crate::sph`], whose rules are in
//! [`crate::sph::smoothing`].

use super::arguments::smoothing::{RestartSearchesArguments, SearchSmoothingArguments};
use super::columns::Columns;
use super::reduction::over_rows;
use super::{Buffer, Device};
use crate::Result;
use crate::neighbors::SUPER_CLUSTER;
use crate::particles::Field;
use crate::sph::smoothing;

/// What a step of all searches found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Rows that outgrew the list: they go on in another one.
    pub outgrown: u32,
    /// Rows that have not enough neighbors at the largest smoothing length.
    pub lonely: u32,
    /// Rows that still search.
    pub searching: u32,
}

/// The searches of a step, one a row: 18 bytes each.
#[derive(Debug)]
pub struct Searches {
    device: Device,
    rows: usize,
    largest: f64,
    /// Ends of the brackets.
    lower: Buffer<f64>,
    upper: Buffer<f64>,
    active: Buffer<u8>,
    outgrown: Buffer<u8>,
    counters: Buffer<u32>,
}

impl Searches {
    /// All rows search, among the smoothing lengths up to `largest`.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device's memory is too small.
    pub fn new(device: &Device, rows: usize, largest: f64) -> Result<Self> {
        // sweeps look at whole super-clusters
        let places = rows.next_multiple_of(SUPER_CLUSTER);
        let searches = Searches {
            device: device.clone(),
            rows,
            largest,
            lower: Buffer::new(device, rows)?,
            upper: Buffer::new(device, rows)?,
            active: Buffer::zeros(device, places)?,
            outgrown: Buffer::zeros(device, places)?,
            counters: Buffer::zeros(device, 3)?,
        };
        searches.begin(true)?;
        Ok(searches)
    }

    /// Those that outgrew the list search anew, the others no more.
    ///
    /// # Errors
    /// Those of the device.
    pub fn restart(&mut self) -> Result<()> {
        self.begin(false)
    }

    fn begin(&self, all: bool) -> Result<()> {
        let rows = 0..self.rows;
        let arguments = RestartSearchesArguments {
            lower: (&self.lower).into(),
            upper: (&self.upper).into(),
            active: (&self.active).into(),
            outgrown: (&self.outgrown).into(),
            largest: self.largest,
            all: u32::from(all),
            rows: (&rows).into(),
        };
        over_rows(&self.device, &rows, &arguments)
    }

    /// A byte a row that is not 0 while it searches.
    pub fn active(&self) -> &Buffer<u8> {
        &self.active
    }

    /// One step of the searches that are active, from number densities and their slopes at the present smoothing lengths:
    /// these change, and densities are taken on to them. A row outgrows the list where its support 2h passes `support`.
    ///
    /// # Errors
    /// Those of the device.
    pub fn step(
        &mut self,
        columns: &Columns,
        support: &Buffer<f64>,
        neighbors: f64,
        tolerance: f64,
    ) -> Result<Found> {
        self.counters.fill_bytes(0)?;
        let rows = 0..self.rows;
        let arguments = SearchSmoothingArguments {
            smoothing_length: columns.scalar(Field::SmoothingLength).into(),
            number_density: columns.scalar(Field::NumberDensity).into(),
            number_density_slope: columns.scalar(Field::NumberDensitySlope).into(),
            mass: columns.scalar(Field::Mass).into(),
            density: columns.scalar(Field::Density).into(),
            support: support.into(),
            lower: (&self.lower).into(),
            upper: (&self.upper).into(),
            active: (&self.active).into(),
            outgrown: (&self.outgrown).into(),
            target: smoothing::target(neighbors),
            tolerance,
            largest: self.largest,
            rows: (&rows).into(),
            counters: (&self.counters).into(),
        };
        over_rows(&self.device, &rows, &arguments)?;
        let mut found = [0; 3];
        self.counters.download_to(0, &mut found)?;
        Ok(Found { outgrown: found[0], lonely: found[1], searching: found[2] })
    }
}
