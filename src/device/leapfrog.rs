//! The leapfrog of the gas on a device: mirrors [`crate::motion::leapfrog`].

use super::motion::Moving;
use super::reduction::{Findings, Vector, bounds, over_rows};
use super::{Argument, Buffer, Device};
use crate::Result;
use std::ops::Range;

const FILE: &str = "motion/leapfrog.cu";

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
    let Moving { position: [x, y, z], velocity: [u, v, w], acceleration: [a, b, c] } = *moving;
    let [begin, end] = bounds(&rows);
    let Heated { energy, rate, length, divergence } = *heated;
    let arguments: [&dyn Argument; 16] =
        [x, y, z, u, v, w, a, b, c, energy, rate, length, divergence, &dt, &begin, &end];
    over_rows(device, FILE, "leapfrog_kick_and_drift", &rows, &arguments)
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
    let Moving { velocity: [u, v, w], acceleration: [a, b, c], .. } = *moving;
    let ([d, e, f], [begin, end]) = (old.acceleration, bounds(&rows));
    let Heated { energy, rate, .. } = *heated;
    let arguments: [&dyn Argument; 15] =
        [u, v, w, a, b, c, d, e, f, energy, rate, old.rate, &dt, &begin, &end];
    over_rows(device, FILE, "leapfrog_kick", &rows, &arguments)
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
    let Moving { velocity: [u, v, w], acceleration: [a, b, c], .. } = *moving;
    let ([begin, end], lost) = (bounds(&rows), findings.at(0));
    let Heated { energy, rate, .. } = *heated;
    let arguments: [&dyn Argument; 13] = [u, v, w, a, b, c, energy, rate, &dt, &reach, &begin, &end, &lost];
    over_rows(device, FILE, "leapfrog_lost", &rows, &arguments)?;
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
    let ([x, y, z], [u, v, w], [d, e, f]) = (position, velocity, old.acceleration);
    let [begin, end] = bounds(&rows);
    let arguments: [&dyn Argument; 14] = [x, y, z, u, v, w, d, e, f, energy, old.rate, &dt, &begin, &end];
    over_rows(device, FILE, "leapfrog_undo", &rows, &arguments)
}
