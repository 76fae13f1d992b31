//! Time step criteria on a device: mirrors [`crate::motion::time_step`].

use super::arguments::Input;
use super::arguments::time_step::TimeStepArguments;
use super::reduction::{Findings, Vector, over_blocks, smallest};
use super::{Buffer, Device};
use crate::Result;
use crate::plan::TimeStepPlan;
use std::ops::Range;

/// Columns of the gas that limit the time step.
#[derive(Clone, Copy, Debug)]
pub struct GasRates<'a> {
    /// Smoothing lengths.
    pub length: &'a Buffer<f64>,
    /// Signal speeds of the last forces, if known.
    pub signal: Option<&'a Buffer<f64>>,
    /// Speeds of sound of the last forces, if known.
    pub sound: Option<&'a Buffer<f64>>,
    /// Velocity divergences.
    pub divergence: &'a Buffer<f64>,
    /// Internal energies.
    pub energy: &'a Buffer<f64>,
    /// Rates of the internal energies.
    pub rate: &'a Buffer<f64>,
}

/// The criteria of [`crate::motion::time_step`] over these rows, in the order Courant, acceleration,
/// expansion, energy; infinity where a criterion does not apply.
///
/// # Errors
/// Those of the device.
pub fn criteria(
    device: &Device,
    plan: &TimeStepPlan,
    softening: f64,
    acceleration: Vector,
    gas: Option<&GasRates>,
    rows: Range<usize>,
) -> Result<[f64; 4]> {
    let findings = Findings::new(device, 4)?;
    let column = |of: fn(&GasRates) -> Input<f64>| gas.map_or(Input::NULL, of);
    let arguments = TimeStepArguments {
        acceleration: acceleration.map(Input::from),
        length: column(|gas| gas.length.into()),
        signal: column(|gas| gas.signal.into()),
        sound: column(|gas| gas.sound.into()),
        divergence: column(|gas| gas.divergence.into()),
        energy: column(|gas| gas.energy.into()),
        rate: column(|gas| gas.rate.into()),
        courant_factor: plan.courant,
        acceleration_factor: plan.acceleration,
        expansion_factor: plan.expansion,
        energy_factor: plan.energy,
        softening,
        rows: (&rows).into(),
        least: findings.word(0),
    };
    over_blocks(device, &rows, &arguments)?;
    let words = findings.read()?;
    Ok(std::array::from_fn(|k| smallest(words[k])))
}
