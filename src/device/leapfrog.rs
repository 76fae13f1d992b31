//! The leapfrog of the gas on a device: mirrors [`crate::motion::leapfrog`].

use super::arguments::leapfrog::{
    LeapfrogKickAndDriftArguments, LeapfrogKickArguments, LeapfrogLostArguments, LeapfrogUndoArguments,
};
use super::arguments::{Input, Output};
use super::motion::Moving;
use super::reduction::{Findings, Vector, over_rows};
use super::{Buffer, Device};
use crate::Result;
use std::ops::Range;

/// What the gas has beside its motion.
#[derive(Clone, Copy, Debug)]
pub struct Heated<'a> {
    /// Internal energies.
    pub energy: &'a Buffer<f64>,
    /// Their rates.
    pub rate: &'a Buffer<f64>,
    /// Smoothing lengths.
    pub length: &'a Buffer<f64>,
    /// Velocity divergences.
    pub divergence: &'a Buffer<f64>,
}

/// What a step has been predicted with: the rates of its start.
#[derive(Clone, Copy, Debug)]
pub struct Predicted<'a> {
    /// Accelerations.
    pub acceleration: Vector<'a>,
    /// Rates of the internal energies.
    pub rate: &'a Buffer<f64>,
}

/// First half of a step: drift the positions; velocities and internal energies become their predictions for the end of the
/// step, smoothing lengths follow the flow. The rates stay, cut where the prediction was: they are what it was made with.
///
/// # Errors
/// Those of the device.
pub fn kick_and_drift(
    device: &Device,
    moving: &Moving,
    heated: &Heated,
    rows: Range<usize>,
    dt: f64,
) -> Result<()> {
    let arguments = LeapfrogKickAndDriftArguments {
        moving: moving.into(),
        energy: heated.energy.into(),
        rate: heated.rate.into(),
        length: heated.length.into(),
        divergence: heated.divergence.into(),
        step: dt,
        rows: (&rows).into(),
    };
    over_rows(device, &rows, &arguments)
}

/// Second half of a step, after the forces: correct the predictions by half the change of the rates.
///
/// # Errors
/// Those of the device.
pub fn kick(
    device: &Device,
    moving: &Moving,
    heated: &Heated,
    old: &Predicted,
    rows: Range<usize>,
    dt: f64,
) -> Result<()> {
    let arguments = LeapfrogKickArguments {
        velocity: moving.velocity.map(Output::from),
        acceleration: moving.acceleration.map(Input::from),
        old_acceleration: old.acceleration.map(Input::from),
        energy: heated.energy.into(),
        rate: heated.rate.into(),
        old_rate: old.rate.into(),
        step: dt,
        rows: (&rows).into(),
    };
    over_rows(device, &rows, &arguments)
}

/// How many rows a step of length `dt` would throw too far, or heat too much, for [`undo`] to take it back.
///
/// # Errors
/// Those of the device.
pub fn lost(
    device: &Device,
    moving: &Moving,
    heated: &Heated,
    rows: Range<usize>,
    dt: f64,
    reach: f64,
) -> Result<u32> {
    let findings = Findings::new(device, 1)?;
    let arguments = LeapfrogLostArguments {
        velocity: moving.velocity.map(Input::from),
        acceleration: moving.acceleration.map(Input::from),
        energy: heated.energy.into(),
        rate: heated.rate.into(),
        step: dt,
        reach,
        rows: (&rows).into(),
        lost: findings.lower_half(0),
    };
    over_rows(device, &rows, &arguments)?;
    Ok(findings.read()?[0] as u32)
}

/// Take the first half of a step back, to rounding. What `old` holds are then the rates of the start again.
///
/// # Errors
/// Those of the device.
pub fn undo(
    device: &Device,
    position: Vector,
    velocity: Vector,
    energy: &Buffer<f64>,
    old: &Predicted,
    rows: Range<usize>,
    dt: f64,
) -> Result<()> {
    let arguments = LeapfrogUndoArguments {
        position: position.map(Output::from),
        velocity: velocity.map(Output::from),
        old_acceleration: old.acceleration.map(Input::from),
        energy: energy.into(),
        old_rate: old.rate.into(),
        step: dt,
        rows: (&rows).into(),
    };
    over_rows(device, &rows, &arguments)
}
