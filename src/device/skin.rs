//! Reuse of neighbor lists on a device: mirrors the skin of [`crate::neighbors`] for rows that have kept
//! their order since the list was built.

use super::arguments::skin::{FarthestWayArguments, SkinLimitsArguments, SkinUsedArguments};
use super::arguments::state::ScaledColumnArguments;
use super::arguments::{Input, Rows};
use super::reduction::{Findings, Vector, largest, over_blocks, over_rows};
use super::{Buffer, Device};
use crate::Result;
use crate::space::SimulationBox;
use std::ops::Range;

/// The owned particles at the time a list was built.
#[derive(Debug)]
pub struct Skin {
    device: Device,
    fraction: f64,
    rows: Range<usize>,
    position: [Buffer<f64>; 3],
    reach: RadiiAtBuild,
}

/// Interaction radii when the list was built, without the skin.
#[derive(Debug)]
enum RadiiAtBuild {
    /// No list.
    Nothing,
    /// One radius for all particles.
    All(f64),
    /// Smoothing lengths times the factor, as a column.
    Each(f64, Buffer<f64>),
}

impl Skin {
    /// A skin of this fraction of each particle's radius.
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
            reach: RadiiAtBuild::Nothing,
        })
    }

    /// The skin as a fraction of each particle's radius.
    pub fn fraction(&self) -> f64 {
        self.fraction
    }

    /// Drops the list.
    pub fn forget(&mut self) {
        self.reach = RadiiAtBuild::Nothing;
    }

    /// Stores the positions of these rows when a list with one cutoff is built.
    ///
    /// # Errors
    /// Those of the device.
    pub fn remember(&mut self, position: Vector, rows: Range<usize>, cutoff: f64) -> Result<()> {
        self.keep(position, rows)?;
        self.reach = RadiiAtBuild::All(cutoff);
        Ok(())
    }

    /// Stores positions and radii of these rows when a list with radii of `factor` smoothing lengths is
    /// built.
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
        let mut reach = match std::mem::replace(&mut self.reach, RadiiAtBuild::Nothing) {
            RadiiAtBuild::Each(_, reach) => reach,
            _ => Buffer::new(&self.device, 0)?,
        };
        reach.resize(rows.len())?;
        scaled(length, factor, &reach, &rows)?;
        self.reach = RadiiAtBuild::Each(factor, reach);
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

    /// The used fraction of the skin: the largest `2 (u + g) / r` over these rows, with the displacement u of
    /// a particle since then and the growth g of its radius r. The list is valid while it is at most
    /// [`Self::fraction`]. Infinite without a list, for other rows, or for values that are not numbers.
    /// `length` are the smoothing lengths, if radii follow them.
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
        let (position, then) = (position.map(Input::from), self.position.each_ref().map(Input::from));
        match (&self.reach, length) {
            (RadiiAtBuild::All(cutoff), _) if *cutoff > 0.0 => {
                let arguments = FarthestWayArguments {
                    position,
                    then,
                    bx: bx.into(),
                    rows: (&rows).into(),
                    largest_square: findings.word(0),
                };
                over_blocks(&self.device, &rows, &arguments)?;
                let square = largest(findings.read()?[0]).unwrap_or(0.0);
                Ok(2.0 * square.sqrt() / cutoff)
            }
            (RadiiAtBuild::Each(factor, reach), Some(length)) => {
                let arguments = SkinUsedArguments {
                    position,
                    smoothing_length: length.into(),
                    then,
                    reach_then: reach.into(),
                    factor: *factor,
                    bx: bx.into(),
                    rows: (&rows).into(),
                    used: findings.word(0),
                };
                over_blocks(&self.device, &rows, &arguments)?;
                Ok(largest(findings.read()?[0]).unwrap_or(0.0))
            }
            _ => Ok(f64::INFINITY),
        }
    }

    /// Writes for each row the largest radius whose pairs the list still covers, if all other rows are within
    /// half their skins.
    ///
    /// # Errors
    /// Those of the device.
    pub fn limits(&self, bx: &SimulationBox, position: Vector, limit: &Buffer<f64>) -> Result<()> {
        let RadiiAtBuild::Each(_, reach) = &self.reach else {
            unreachable!("limits of a list whose particles reach as far as their smoothing lengths")
        };
        let arguments = SkinLimitsArguments {
            position: position.map(Input::from),
            then: self.position.each_ref().map(Input::from),
            reach_then: reach.into(),
            skin: self.fraction,
            bx: bx.into(),
            rows: (&self.rows).into(),
            limit: limit.into(),
        };
        over_rows(&self.device, &self.rows, &arguments)
    }
}

/// Writes these rows of a column times a factor to the first rows of another.
fn scaled(column: &Buffer<f64>, factor: f64, into: &Buffer<f64>, rows: &Range<usize>) -> Result<()> {
    let arguments = ScaledColumnArguments {
        column: Input::at(column, rows.start),
        factor,
        scaled: into.into(),
        rows: Rows { begin: 0, end: rows.len() as u32 },
    };
    over_rows(column.device(), rows, &arguments)
}
