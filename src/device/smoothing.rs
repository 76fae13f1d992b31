//! The searches for the smoothing lengths on a device: mirrors those of [`crate::sph`], whose rules are in
//! [`crate::sph::smoothing`].

use super::columns::Columns;
use super::reduction::{bounds, over_rows};
use super::{Argument, Buffer, Device};
use crate::Result;
use crate::neighbors::SUPER_CLUSTER;
use crate::particles::Field;
use crate::sph::smoothing;

const FILE: &str = "sph/smoothing.cu";

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
        let (all, [begin, end]) = (u32::from(all), bounds(&rows));
        let arguments: [&dyn Argument; 8] =
            [&self.lower, &self.upper, &self.active, &self.outgrown, &self.largest, &all, &begin, &end];
        over_rows(&self.device, FILE, "restart_searches", &rows, &arguments)
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
        let (target, [begin, end]) = (smoothing::target(neighbors), bounds(&rows));
        let [length, n, slope, mass, density] = [
            Field::SmoothingLength,
            Field::NumberDensity,
            Field::NumberDensitySlope,
            Field::Mass,
            Field::Density,
        ]
        .map(|field| columns.scalar(field));
        let arguments: [&dyn Argument; 16] = [
            length,
            n,
            slope,
            mass,
            density,
            support,
            &self.lower,
            &self.upper,
            &self.active,
            &self.outgrown,
            &target,
            &tolerance,
            &self.largest,
            &begin,
            &end,
            &self.counters,
        ];
        over_rows(&self.device, FILE, "search_smoothing_lengths", &rows, &arguments)?;
        let mut found = [0; 3];
        self.counters.download_to(0, &mut found)?;
        Ok(Found { outgrown: found[0], lonely: found[1], searching: found[2] })
    }
}
