//! How fast particles move, and how dense they are.

use std::ops::Range;

use super::cutoff;
use crate::neighborhood::tune::fastest;
use crate::particles::Field;
use crate::particles::blocks::reduce_blocks;
use crate::plan::ThermostatPlan;
use crate::step::Simulation;

/// Expected displacement of the fastest of the host's particles in a fixed step; 0 without one. Collective.
pub(super) fn expected_stride(simulation: &mut Simulation) -> f64 {
    let Some(step) = simulation.plan.time_step.fixed else { return 0.0 };
    simulation.synchronize_velocities();
    expected_speed(simulation) * step
}

/// Displacement per step that limits the lifetime of lists, at the step that has built one: on a device the
/// one that has used up the skin of the list before it. 0 if it is not known. Collective.
pub(super) fn stride_now(simulation: &mut Simulation) -> f64 {
    if !simulation.is_resident() {
        return expected_stride(simulation);
    }
    let (Some(cutoff), Some(chosen)) = (cutoff(simulation), simulation.chosen) else { return 0.0 };
    let Some(built) = chosen.built_at_step else { return 0.0 };
    0.5 * chosen.settings.skins.outer * cutoff / simulation.step.saturating_sub(built).max(1) as f64
}

/// Number of particles of all ranks and their number per volume of the box. Collective.
pub(super) fn count_and_density(simulation: &Simulation) -> (u64, f64) {
    let mut count = [simulation.owned() as u64];
    simulation.domain.comm.all_sum(&mut count);
    (count[0], count[0] as f64 / simulation.domain.bx.lengths().product())
}

/// Returns an estimate of the largest speed of the host's particles: that of the fastest particle of a
/// Maxwell distribution if all particles had the smallest mass. The temperature is the kinetic one, or the
/// thermostat's if that is higher.
fn expected_speed(simulation: &Simulation) -> f64 {
    let (particles, comm) = (&simulation.particles, &simulation.domain.comm);
    let masses = particles.scalar(Field::Mass);
    let block = |rows: Range<usize>| {
        rows.fold((0.0, f64::INFINITY), |(sum, lightest), row| {
            let twice = masses[row] * particles.vector_at(Field::Velocity, row).norm_squared();
            (sum + twice, masses[row].min(lightest))
        })
    };
    // blocks are reduced in order
    let reduced = reduce_blocks(particles.owned(), block, |a, b| (a.0 + b.0, a.1.min(b.1)));
    let (sum, least) = reduced.unwrap_or((0.0, f64::INFINITY));
    let (mut sums, mut lightest) = ([sum], [least]);
    let mut count = [particles.owned().len() as u64];
    comm.all_sum(&mut sums);
    comm.all_min(&mut lightest);
    comm.all_sum(&mut count);
    let bath = match simulation.plan.motion.thermostat {
        Some(
            ThermostatPlan::Langevin { temperature, .. }
            | ThermostatPlan::VelocityRescaling { temperature, .. },
        ) => simulation.plan.units.boltzmann * temperature,
        None => 0.0,
    };
    let temperature = bath.max(sums[0] / (3 * count[0].max(1)) as f64);
    fastest(count[0]) * (temperature / lightest[0]).sqrt()
}
