//! What limits a time step, of the particles on a device: mirrors [`crate::motion::time_step`].

use super::reduction::{Findings, Vector, bounds, map_blocks, smallest};
use super::{Argument, Buffer, Device};
use crate::Result;
use crate::plan::TimeStepPlan;
use std::ops::Range;

/// What limits the steps of a gas; signal and sound as far as they are known.
#[derive(Clone, Copy, Debug)]
pub struct GasRates<'a> {
    /// Smoothing lengths.
    pub length: &'a Buffer<f64>,
    /// Signal speeds of the last forces.
    pub signal: Option<&'a Buffer<f64>>,
    /// Speeds of sound of the last forces.
    pub sound: Option<&'a Buffer<f64>>,
    /// Velocity divergences.
    pub divergence: &'a Buffer<f64>,
    /// Internal energies.
    pub energy: &'a Buffer<f64>,
    /// And their rates.
    pub rate: &'a Buffer<f64>,
}

/// The criteria of [`crate::motion::time_step`] over these rows, in the order Courant, acceleration, expansion, energy;
/// infinite where none applies.
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
    let ([a, b, c], [begin, end], least) = (acceleration, bounds(&rows), findings.at(0));
    let of = |column: fn(&GasRates) -> u64| gas.map_or(0, column);
    let [length, divergence, energy, rate] = [
        of(|gas| gas.length.at(0)),
        of(|gas| gas.divergence.at(0)),
        of(|gas| gas.energy.at(0)),
        of(|gas| gas.rate.at(0)),
    ];
    let (signal, sound) = (gas.and_then(|gas| gas.signal), gas.and_then(|gas| gas.sound));
    let arguments: [&dyn Argument; 17] = [
        a,
        b,
        c,
        &length,
        &signal,
        &sound,
        &divergence,
        &energy,
        &rate,
        &plan.courant,
        &plan.acceleration,
        &plan.expansion,
        &plan.energy,
        &softening,
        &begin,
        &end,
        &least,
    ];
    map_blocks(device, "motion/time_step.cu", "time_step_criteria", &rows, &arguments)?;
    let words = findings.read()?;
    Ok(std::array::from_fn(|k| smallest(words[k])))
}
