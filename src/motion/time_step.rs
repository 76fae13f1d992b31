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
use crate::particles::{Field, Particles};

/// An internal energy below this fraction of (v_signal / 2)^2 has no part in the motion.
const SMALL_CHANGE: f64 = 0.01;

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
    let mut least = local(plan, softening, particles);
    comm.all_min(&mut least);
    let limits = [Limit::Courant, Limit::Acceleration, Limit::Expansion, Limit::Energy];
    let grown = last.map_or(plan.first.unwrap_or(f64::INFINITY), |last| last * plan.growth);
    let setting = (plan.largest.unwrap_or(f64::INFINITY).min(grown), Limit::Setting);
    least.into_iter().zip(limits).fold(setting, |best, one| if one.0 < best.0 { one } else { best })
}

/// The criteria in the order Courant, acceleration, expansion, energy; infinite where none applies.
fn local(plan: &TimeStepPlan, softening: f64, particles: &Particles) -> [f64; 4] {
    let mut least = [f64::INFINITY; 4];
    let gas = particles.has(Field::InternalEnergy);
    // known since the last forces, if these did not fail before
    let speed_at =
        |field: Field, row: usize| if particles.has(field) { particles.scalar(field)[row] } else { 0.0 };
    for row in particles.owned() {
        let acceleration = particles.vector_at(Field::Acceleration, row).norm();
        let length = if gas { particles.scalar(Field::SmoothingLength)[row] } else { softening };
        if length > 0.0 {
            least[1] = least[1].min(plan.acceleration * (length / acceleration).sqrt());
        }
        if gas {
            let signal = speed_at(Field::SignalSpeed, row).max(speed_at(Field::SoundSpeed, row));
            least[0] = least[0].min(plan.courant * length / signal);
            least[2] = least[2].min(plan.expansion / particles.scalar(Field::VelocityDivergence)[row].abs());
            let (energy, rate) = (
                particles.scalar(Field::InternalEnergy)[row],
                particles.scalar(Field::InternalEnergyRate)[row],
            );
            // a cold gas may be heated to what its shocks will give it in one step, and what energy it has is small change
            let shocked = 0.25 * signal * signal;
            let scale = energy.max(if rate > 0.0 { shocked } else { SMALL_CHANGE * shocked });
            least[3] = least[3].min(plan.energy * scale / rate.abs());
        }
    }
    // 0 / 0 of a particle at rest without energy limits nothing
    least.map(|limit| if limit.is_nan() { f64::INFINITY } else { limit })
}
