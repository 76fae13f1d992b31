//! How long a list may be reused, on a device: mirrors [`crate::neighbors`]' skin for rows that have not changed their
//! order since the list was built.

use super::reduction::{Findings, Vector, bounds, largest, map_blocks, over_rows};
use super::{Argument, Buffer, Device};
use crate::Result;
use crate::space::SimulationBox;
use std::ops::Range;

const FILE: &str = "motion/skin.cu";

/// The owned particles as they were when a list was built.
#[derive(Debug)]
pub struct Skin {
    device: Device,
    fraction: f64,
    rows: Range<usize>,
    position: [Buffer<f64>; 3],
    reach: Reach,
}

/// How far particles reached when the list was built, without the skin.
#[derive(Debug)]
enum Reach {
    /// No list was built.
    Nothing,
    /// All as far as this.
    All(f64),
    /// Their smoothing lengths times the factor, in a column.
    Each(f64, Buffer<f64>),
}

impl Skin {
    /// A skin of this fraction of each particle's reach.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(device: &Device, fraction: f64) -> Result<Self> {
        let empty = || Buffer::new(device, 0);
        Ok(Self {
            device: device.clone(),
            fraction: fraction.max(0.0),
            rows: 0..0,
            position: [empty()?, empty()?, empty()?],
            reach: Reach::Nothing,
        })
    }

    /// The skin as a fraction of each particle's reach.
    pub fn fraction(&self) -> f64 {
        self.fraction
    }

    /// Forget the list.
    pub fn forget(&mut self) {
        self.reach = Reach::Nothing;
    }

    /// Remember these rows as a list is built of particles that all reach as far as the cutoff.
    ///
    /// # Errors
    /// Those of the device.
    pub fn remember(&mut self, position: Vector, rows: Range<usize>, cutoff: f64) -> Result<()> {
        self.keep(position, rows)?;
        self.reach = Reach::All(cutoff);
        Ok(())
    }

    /// Remember these rows as a list is built of particles that reach `factor` times their smoothing lengths.
    ///
    /// # Errors
    /// Those of the device.
    pub fn remember_each(
        &mut self,
        position: Vector,
        rows: Range<usize>,
        length: &Buffer<f64>,
        factor: f64,
    ) -> Result<()> {
        self.keep(position, rows.clone())?;
        let mut reach = match std::mem::replace(&mut self.reach, Reach::Nothing) {
            Reach::Each(_, reach) => reach,
            _ => Buffer::new(&self.device, 0)?,
        };
        reach.resize(rows.len())?;
        scaled(length, factor, &reach, &rows)?;
        self.reach = Reach::Each(factor, reach);
        Ok(())
    }

    fn keep(&mut self, position: Vector, rows: Range<usize>) -> Result<()> {
        for (kept, now) in self.position.iter_mut().zip(position) {
            kept.resize(rows.len())?;
            scaled(now, 1.0, kept, &rows)?;
        }
        self.rows = rows;
        Ok(())
    }

    /// The skin that these rows have used up: the largest `2 (u + g) / r`, u the way of a particle since then, g the growth
    /// of its reach r. Infinite if there is no list, the rows are others, or something is no number. The list serves while it
    /// is at most the skin. `length` are the smoothing lengths, where particles reach as far as these.
    ///
    /// # Errors
    /// Those of the device.
    pub fn used(
        &self,
        bx: &SimulationBox,
        position: Vector,
        length: Option<&Buffer<f64>>,
        rows: Range<usize>,
    ) -> Result<f64> {
        if rows != self.rows {
            return Ok(f64::INFINITY);
        }
        let findings = Findings::new(&self.device, 1)?;
        let ([x, y, z], [x0, y0, z0]) = (position, &self.position);
        let ([begin, end], found) = (bounds(&rows), findings.at(0));
        match (&self.reach, length) {
            (Reach::All(cutoff), _) if *cutoff > 0.0 => {
                let (p, f) = (bx.finite_periods(), bx.frequencies());
                let arguments: [&dyn Argument; 15] =
                    [x, y, z, x0, y0, z0, &p.x, &p.y, &p.z, &f.x, &f.y, &f.z, &begin, &end, &found];
                map_blocks(&self.device, FILE, "farthest_way", &rows, &arguments)?;
                let square = largest(findings.read()?[0]).unwrap_or(0.0);
                Ok(2.0 * square.sqrt() / cutoff)
            }
            (Reach::Each(factor, reach), Some(length)) => {
                let p = bx.finite_periods();
                let arguments: [&dyn Argument; 15] =
                    [x, y, z, length, x0, y0, z0, reach, factor, &p.x, &p.y, &p.z, &begin, &end, &found];
                map_blocks(&self.device, FILE, "skin_used", &rows, &arguments)?;
                Ok(largest(findings.read()?[0]).unwrap_or(0.0))
            }
            _ => Ok(f64::INFINITY),
        }
    }

    /// By row the largest reach whose pairs the list still holds, if all others are within half their skins, into a column of
    /// all rows.
    ///
    /// # Errors
    /// Those of the device.
    pub fn limits(&self, bx: &SimulationBox, position: Vector, limit: &Buffer<f64>) -> Result<()> {
        let Reach::Each(_, reach) = &self.reach else {
            unreachable!("limits of a list whose particles reach as far as their smoothing lengths")
        };
        let ([x, y, z], [x0, y0, z0], p) = (position, &self.position, bx.finite_periods());
        let [begin, end] = bounds(&self.rows);
        let arguments: [&dyn Argument; 14] =
            [x, y, z, x0, y0, z0, reach, &self.fraction, &p.x, &p.y, &p.z, &begin, &end, limit];
        over_rows(&self.device, FILE, "skin_limits", &self.rows, &arguments)
    }
}

/// These rows of a column times a factor, from the first row of another on.
fn scaled(column: &Buffer<f64>, factor: f64, into: &Buffer<f64>, rows: &Range<usize>) -> Result<()> {
    let (from, begin, end) = (column.at(rows.start), 0u32, rows.len() as u32);
    let arguments: [&dyn Argument; 5] = [&from, &factor, into, &begin, &end];
    over_rows(column.device(), "sph/state.cu", "scaled_column", rows, &arguments)
}
