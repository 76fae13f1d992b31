//! The time step: the smallest of the criteria over all particles and ranks, its growth limited.
//!
//! ```text
//! Courant       courant h / v_signal            (Monaghan 1997, J. Comput. Phys. 136, 298)
//! acceleration  acceleration sqrt(h / |a|)      (the softening length where there is no h; no limit without either)
//! expansion     expansion / |div v|
//! energy        energy u / |du/dt|          (u at least (v_signal / 2)^2 where it rises, 1 % of it where it falls: the
//!                                            energy of a cold gas limits nothing)
//! ```

use crate::comm::Communicator;
use crate::deck::plan::TimeStepPlan;
use crate::pair::pieces::reduce_pieces;
use crate::particles::{Field, Particles};
use std::ops::Range;

/// An internal energy below this fraction of (v_signal / 2)^2 has no part in the motion.
const SMALL_CHANGE: f64 = 0.01;

/// The part of the criteria that the first step of a gas takes: at rest nothing expands or heats yet, so that
/// two of the criteria see nothing; particles that pressure drives apart from rest would be thrown by more
/// than their distance.
const FIRST_STEP: f64 = 0.03;

/// Which criterion set the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Sound and shocks cross less than a smoothing length.
    Courant,
    /// Accelerated motion covers less than a smoothing length.
    Acceleration,
    /// The volume changes by a small factor.
    Expansion,
    /// The internal energy changes by a small factor.
    Energy,
    /// Last step times the growth, the largest step, or a fixed one.
    Setting,
}

/// The next time step after one of length `last` (`None` before the first), equal on all ranks; infinite when
/// nothing limits it.
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
    let mut criteria = local(plan, softening, particles);
    comm.all_min(&mut criteria);
    least(plan, criteria, last)
}

/// The least of what the criteria allow, in the order Courant, acceleration, expansion, energy, and of what the plan does.
pub fn least(plan: &TimeStepPlan, criteria: [f64; 4], last: Option<f64>) -> (f64, Limit) {
    if let Some(fixed) = plan.fixed {
        return (fixed, Limit::Setting);
    }
    let limits = [Limit::Courant, Limit::Acceleration, Limit::Expansion, Limit::Energy];
    let grown = last.map_or(plan.first.unwrap_or(f64::INFINITY), |last| last * plan.growth);
    let setting = (plan.largest.unwrap_or(f64::INFINITY).min(grown), Limit::Setting);
    let (least, limit) =
        criteria.into_iter().zip(limits).fold(setting, |best, one| if one.0 < best.0 { one } else { best });
    // the Courant criterion is finite for a gas alone
    let first = last.is_none() && plan.first.is_none() && criteria[0].is_finite();
    (if first { FIRST_STEP * least } else { least }, limit)
}

/// The criteria in the order Courant, acceleration, expansion, energy; infinite where none applies.
fn local(plan: &TimeStepPlan, softening: f64, particles: &Particles) -> [f64; 4] {
    let both = |a: [f64; 4], b: [f64; 4]| std::array::from_fn(|k| a[k].min(b[k]));
    let of_piece = |rows: Range<usize>| {
        let mut least = [f64::INFINITY; 4];
        least[1] = acceleration(plan, softening, particles, rows.clone());
        if particles.has(Field::InternalEnergy) {
            [least[0], least[2], least[3]] = of_gas(plan, particles, rows);
        }
        least
    };
    reduce_pieces(particles.owned(), of_piece, both).unwrap_or([f64::INFINITY; 4])
}

/// The criterion of the acceleration over some rows.
fn acceleration(plan: &TimeStepPlan, softening: f64, particles: &Particles, rows: Range<usize>) -> f64 {
    let [x, y, z] = particles.vector(Field::Acceleration).map(|column| &column[rows.clone()]);
    let gas = particles.has(Field::InternalEnergy);
    let length = gas.then(|| &particles.scalar(Field::SmoothingLength)[rows.clone()]);
    let mut least = f64::INFINITY;
    for k in 0..rows.len() {
        let acceleration = (x[k] * x[k] + y[k] * y[k] + z[k] * z[k]).sqrt();
        let length = length.map_or(softening, |length| length[k]);
        if length > 0.0 {
            // a minimum takes no notice of what is not a number, as 0 / 0 of a particle at rest
            least = least.min(plan.acceleration * (length / acceleration).sqrt());
        }
    }
    least
}

/// The criteria of Courant, expansion and energy over some rows.
fn of_gas(plan: &TimeStepPlan, particles: &Particles, rows: Range<usize>) -> [f64; 3] {
    let column = |field: Field| &particles.scalar(field)[rows.clone()];
    // known since the last forces, if these did not fail before
    let known = |field: Field| particles.has(field).then(|| column(field));
    let (signal, sound) = (known(Field::SignalSpeed), known(Field::SoundSpeed));
    let (length, divergence) = (column(Field::SmoothingLength), column(Field::VelocityDivergence));
    let (energy, rate) = (column(Field::InternalEnergy), column(Field::InternalEnergyRate));
    let [mut courant, mut expansion, mut heating] = [f64::INFINITY; 3];
    for k in 0..rows.len() {
        let at = |speed: Option<&[f64]>| speed.map_or(0.0, |speed| speed[k]);
        let signal = at(signal).max(at(sound));
        courant = courant.min(plan.courant * length[k] / signal);
        expansion = expansion.min(plan.expansion / divergence[k].abs());
        // a cold gas may be heated to what its shocks will give it in one step, and what energy it has is small change
        let shocked = 0.25 * signal * signal;
        let scale = energy[k].max(if rate[k] > 0.0 { shocked } else { SMALL_CHANGE * shocked });
        heating = heating.min(plan.energy * scale / rate[k].abs());
    }
    [courant, expansion, heating]
}
