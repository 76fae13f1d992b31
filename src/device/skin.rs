//! How long a list may be reused, on a device: mirrors [`crate::neighbors`]' skin for rows that have not changed their
//! order since the list was built.

use super::arguments::skin::{FarthestWayArguments, SkinLimitsArguments, SkinUsedArguments};
use super::arguments::state::ScaledColumnArguments;
use super::arguments::{Input, Rows};
use super::reduction::{Findings, Vector, largest, over_pieces, over_rows};
use super::{Buffer, Device};
use crate::Result;
use crate::space::SimulationBox;
use std::ops::Range;

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
        let (position, then) = (position.map(Input::from), self.position.each_ref().map(Input::from));
        match (&self.reach, length) {
            (Reach::All(cutoff), _) if *cutoff > 0.0 => {
                let arguments = FarthestWayArguments {
                    position,
                    then,
                    bx: bx.into(),
                    rows: (&rows).into(),
                    largest_square: findings.word(0),
                };
                over_pieces(&self.device, &rows, &arguments)?;
                let square = largest(findings.read()?[0]).unwrap_or(0.0);
                Ok(2.0 * square.sqrt() / cutoff)
            }
            (Reach::Each(factor, reach), Some(length)) => {
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
                over_pieces(&self.device, &rows, &arguments)?;
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

/// These rows of a column times a factor, from the first row of another on.
fn scaled(column: &Buffer<f64>, factor: f64, into: &Buffer<f64>, rows: &Range<usize>) -> Result<()> {
    let arguments = ScaledColumnArguments {
        column: Input::at(column, rows.start),
        factor,
        scaled: into.into(),
        rows: Rows { begin: 0, end: rows.len() as u32 },
    };
    over_rows(column.device(), rows, &arguments)
}
