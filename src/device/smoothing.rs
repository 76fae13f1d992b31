//! Iteration of the smoothing lengths on a device: mirrors [`crate::sph::smoothing`].

use super::arguments::smoothing::{RestartSearchesArguments, SearchSmoothingArguments};
use super::columns::Columns;
use super::reduction::over_rows;
use super::{Buffer, Device};
use crate::Result;
use crate::neighbors::SUPER_CLUSTER;
use crate::particles::Field;
use crate::sph::passes::Searched;
use crate::sph::smoothing;

/// The root searches of all rows: 18 bytes a row.
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
    /// Starts the search of all rows, for smoothing lengths up to `largest`.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device's memory is too small.
    pub fn new(device: &Device, rows: usize, largest: f64) -> Result<Self> {
        // sweeps read whole super-clusters
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

    /// Restarts the search of rows that outgrew the list; the others stop.
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

    /// One byte a row, not 0 while the row searches.
    pub fn active(&self) -> &Buffer<u8> {
        &self.active
    }

    /// One iteration of the active rows, from number densities and their slopes at the present smoothing
    /// lengths: updates smoothing lengths and extrapolates densities to them. A row outgrows the list when
    /// its support 2h exceeds `support`.
    ///
    /// # Errors
    /// Those of the device.
    pub fn step(
        &mut self,
        columns: &Columns,
        support: &Buffer<f64>,
        neighbors: f64,
        tolerance: f64,
    ) -> Result<Searched> {
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
        let [outgrown, lonely, searching] = found.map(u64::from);
        Ok(Searched { outgrown, lonely, searching })
    }
}
