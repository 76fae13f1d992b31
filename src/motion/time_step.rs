//! The adaptive time step: the smallest criterion over all particles and ranks, with limited growth.
//!
//! ```text
//! Courant       courant h / v_signal            (Monaghan 1997, J. Comput. Phys. 136, 298)
//! acceleration  acceleration sqrt(h / |a|)      (h: smoothing or softening length; no limit without)
//! expansion     expansion / |div v|
//! energy        energy u / |du/dt|              (u at least (v_signal / 2)^2 if rising, 1 % of it else,
//!                                               so that a cold gas does not limit the step)
//! ```

use crate::comm::Communicator;
use crate::faults::{Fault, planted};
use crate::particles::blocks::reduce_blocks;
use crate::particles::{Field, Particles};
use crate::plan::TimeStepPlan;
use std::ops::Range;

/// An internal energy below this fraction of (v_signal / 2)^2 is dynamically negligible.
const NEGLIGIBLE_ENERGY: f64 = 0.01;

/// Factor on the criteria for the first step of a gas. At rest the expansion and energy criteria do not limit
/// yet; without the factor, pressure could throw particles farther than their distance.
const FIRST_STEP_FACTOR: f64 = 0.03;

/// The criterion that set the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Sound and shocks cross a fraction of a smoothing length.
    Courant,
    /// Acceleration moves a particle by a fraction of a smoothing length.
    Acceleration,
    /// The volume changes by a small factor.
    Expansion,
    /// The internal energy changes by a small factor.
    Energy,
    /// Growth limit, largest step, or fixed step.
    Setting,
}

/// Returns the time step after one of length `last` (`None` before the first), equal on all ranks. It is
/// infinite if nothing limits it. Collective.
pub fn next(
    plan: &TimeStepPlan,
    softening: f64,
    particles: &Particles,
    comm: &Communicator,
    last: Option<f64>,
) -> (f64, Limit) {
    if let Some(fixed) = plan.fixed {
        return (fixed, Limit::Setting);
    }
    let mut criteria = local_criteria(plan, softening, particles);
    comm.all_min(&mut criteria);
    least(plan, criteria, last)
}

/// Returns the minimum of the criteria (Courant, acceleration, expansion, energy) and the plan's limits.
pub fn least(plan: &TimeStepPlan, criteria: [f64; 4], last: Option<f64>) -> (f64, Limit) {
    if let Some(fixed) = plan.fixed {
        return (fixed, Limit::Setting);
    }
    let limits = [Limit::Courant, Limit::Acceleration, Limit::Expansion, Limit::Energy];
    let growth = if planted(Fault::GrowthIgnored) { f64::INFINITY } else { plan.growth };
    let grown = last.map_or(plan.first.unwrap_or(f64::INFINITY), |last| last * growth);
    let setting = (plan.largest.unwrap_or(f64::INFINITY).min(grown), Limit::Setting);
    let (least, limit) =
        criteria.into_iter().zip(limits).fold(setting, |best, one| if one.0 < best.0 { one } else { best });
    // the Courant criterion is finite only for a gas
    let first = last.is_none() && plan.first.is_none() && criteria[0].is_finite();
    (if first { FIRST_STEP_FACTOR * least } else { least }, limit)
}

/// Criteria of this rank: Courant, acceleration, expansion, energy; infinite if one does not apply.
fn local_criteria(plan: &TimeStepPlan, softening: f64, particles: &Particles) -> [f64; 4] {
    let minima = |a: [f64; 4], b: [f64; 4]| std::array::from_fn(|k| a[k].min(b[k]));
    let of_block = |rows: Range<usize>| {
        let mut least = [f64::INFINITY; 4];
        least[1] = acceleration(plan, softening, particles, rows.clone());
        if particles.has(Field::InternalEnergy) {
            [least[0], least[2], least[3]] = of_gas(plan, particles, rows);
        }
        least
    };
    reduce_blocks(particles.owned(), of_block, minima).unwrap_or([f64::INFINITY; 4])
}

/// Acceleration criterion of some rows.
fn acceleration(plan: &TimeStepPlan, softening: f64, particles: &Particles, rows: Range<usize>) -> f64 {
    let [x, y, z] = particles.vector(Field::Acceleration).map(|column| &column[rows.clone()]);
    let gas = particles.has(Field::InternalEnergy);
    let length = gas.then(|| &particles.scalar(Field::SmoothingLength)[rows.clone()]);
    let mut least = f64::INFINITY;
    for k in 0..rows.len() {
        let acceleration = (x[k] * x[k] + y[k] * y[k] + z[k] * z[k]).sqrt();
        let length = length.map_or(softening, |length| length[k]);
        if length > 0.0 {
            // `min` ignores NaN, such as 0 / 0 of a particle at rest
            least = least.min(plan.acceleration * (length / acceleration).sqrt());
        }
    }
    least
}

/// Courant, expansion and energy criteria of some rows.
fn of_gas(plan: &TimeStepPlan, particles: &Particles, rows: Range<usize>) -> [f64; 3] {
    let column = |field: Field| &particles.scalar(field)[rows.clone()];
    // present after a force evaluation, unless it failed
    let known = |field: Field| particles.has(field).then(|| column(field));
    let (signal, sound) = (known(Field::SignalSpeed), known(Field::SoundSpeed));
    let (length, divergence) = (column(Field::SmoothingLength), column(Field::VelocityDivergence));
    let (energy, rate) = (column(Field::InternalEnergy), column(Field::InternalEnergyRate));
    let [mut courant, mut expansion, mut heating] = [f64::INFINITY; 3];
    for k in 0..rows.len() {
        let at = |speed: Option<&[f64]>| speed.map_or(0.0, |speed| speed[k]);
        let signal = at(signal).max(at(sound));
        if !planted(Fault::CourantIgnored) {
            courant = courant.min(plan.courant * length[k] / signal);
        }
        expansion = expansion.min(plan.expansion / divergence[k].abs());
        // a cold gas may reach its post-shock energy in one step; its own energy is negligible against that
        let shocked = 0.25 * signal * signal;
        let scale = energy[k].max(if rate[k] > 0.0 { shocked } else { NEGLIGIBLE_ENERGY * shocked });
        heating = heating.min(plan.energy * scale / rate[k].abs());
    }
    [courant, expansion, heating]
}
