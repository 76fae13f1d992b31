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

/// Thermal columns of the gas.
#[derive(Clone, Copy, Debug)]
pub struct Heated<'a> {
    /// Internal energies.
    pub energy: &'a Buffer<f64>,
    /// Rates of the internal energies.
    pub rate: &'a Buffer<f64>,
    /// Smoothing lengths.
    pub length: &'a Buffer<f64>,
    /// Velocity divergences.
    pub divergence: &'a Buffer<f64>,
}

/// The rates at the start of a step, from which it was predicted.
#[derive(Clone, Copy, Debug)]
pub struct Predicted<'a> {
    /// Accelerations.
    pub acceleration: Vector<'a>,
    /// Rates of the internal energies.
    pub rate: &'a Buffer<f64>,
}

/// First half of a step: drifts positions, predicts velocities and internal energies at the end of the step,
/// and scales smoothing lengths with the flow. Energy rates are limited as the predicted energies are.
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

/// Second half of a step, after the forces: corrects the predictions by half the change of the rates.
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

/// Counts the rows that a step of length `dt` would move too far or heat too much for [`undo`] to revert it.
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

/// Reverts the first half of a step, to rounding. `old` holds the rates of the start of the step.
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
