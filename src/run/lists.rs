//! Choosing how far lists of molecules reach beyond the cutoff.

use std::ops::Range;
use std::time::Instant;

use crate::Result;
use crate::deck::plan::ThermostatPlan;
use crate::neighbors::tune::fastest;
use crate::neighbors::{Costs, NeighborList, Reach, Skins};
use crate::pair::pieces::reduce_pieces;
use crate::particles::Field;
use crate::report;
use crate::step::Simulation;

/// How often each cost is measured; the median counts.
const REPEATS: usize = 5;

/// After the first forces: measure what lists cost, and choose the skins that a deck leaves open. They stay while particles are as
/// fast. Returns what a user should know, if anything was chosen. Collective.
///
/// # Errors
/// Those of building a list.
pub fn tune(simulation: &mut Simulation) -> Result<Option<String>> {
    let Some(costs) = measure(simulation)? else { return Ok(None) };
    let best = costs.best(simulation.plan.neighbors.inner_skin);
    simulation.neighborhood.set_skins(best);
    simulation.list_costs = Some(costs);
    Ok(Some(told(&costs, best)))
}

/// After a step that built lists: choose skins again if particles have become slower or faster since, as where a lattice melts. What
/// was measured stays, so that a run that goes on from a checkpoint chooses the same. Returns what a user should know, if
/// anything was chosen. Collective.
pub fn follow(simulation: &mut Simulation) -> Option<String> {
    // a device has one list, whose skin stays
    let here = !simulation.is_resident();
    let (costs, step) = (simulation.list_costs.filter(|_| here)?, simulation.plan.time_step.fixed?);
    simulation.close_kick();
    let (_, speed) = motion(simulation);
    let mut chosen = None;
    if speed > 0.0 && !costs.as_fast_as(speed * step) {
        let costs = Costs { stride: speed * step, ..costs };
        let best = costs.best(simulation.plan.neighbors.inner_skin);
        if costs.worth(best, simulation.neighborhood.skins()) {
            simulation.list_costs = Some(costs);
            simulation.neighborhood.set_skins(best);
            chosen = Some(told(&costs, best));
        }
    }
    simulation.clock.lap("neighbors");
    chosen
}

fn told(costs: &Costs, skins: Skins) -> String {
    let reach = |skin: f64| report::rounded(costs.cutoff * (1.0 + skin), 4);
    let pruned = skins.inner.map_or(String::new(), |inner| {
        format!(
            ", pruned to {} every {} steps or more (inner_skin = {})",
            reach(inner),
            costs.steps(inner),
            report::rounded(inner, 3)
        )
    });
    format!(
        "lists: cutoff {}, built to {} every {} steps or more (skin = {}){pruned}",
        costs.cutoff,
        reach(skins.outer),
        costs.life(skins),
        report::rounded(skins.outer, 3),
    )
}

/// The costs, where there is something to choose.
fn measure(simulation: &mut Simulation) -> Result<Option<Costs>> {
    // a device has one list, whose skin the plan gives
    if simulation.is_resident() {
        return Ok(None);
    }
    let plan = &simulation.plan;
    let (Some(step), None) = (plan.time_step.fixed, plan.neighbors.skin) else { return Ok(None) };
    let (Reach::Cutoff(cutoff), true) = (simulation.neighborhood.reach(), simulation.molecules.is_some())
    else {
        return Ok(None);
    };
    let (count, speed) = motion(simulation);
    if count < 2 || speed <= 0.0 {
        return Ok(None);
    }
    let measured = simulation.neighborhood.skins();
    let mut seen = [[0.0; REPEATS]; 3];
    for repeat in 0..REPEATS {
        let mut seconds = [0.0; 3];
        let start = Instant::now();
        simulation.neighborhood.invalidate();
        simulation.sync()?;
        seconds[0] = start.elapsed().as_secs_f64();
        let start = Instant::now();
        simulation.neighborhood.prune(&simulation.domain, &simulation.particles)?;
        seconds[1] = start.elapsed().as_secs_f64();
        seconds[2] = sweep(simulation);
        // the slowest rank counts
        simulation.domain.comm.all_max(&mut seconds);
        (0..3).for_each(|k| seen[k][repeat] = seconds[k]);
    }
    let [build, prune, sweep] = seen.map(|mut seconds| {
        seconds.sort_unstable_by(f64::total_cmp);
        seconds[REPEATS / 2]
    });
    let bx = &simulation.domain.bx;
    Ok(Some(Costs {
        build,
        prune,
        sweep,
        measured,
        tiled: matches!(simulation.neighborhood.list(), Some(NeighborList::Tiled(_))),
        cutoff,
        number_density: count as f64 / bx.lengths().product(),
        stride: speed * step,
        widest: Skins::widest(bx, cutoff),
    }))
}

/// Seconds of the forces with the list as it is.
fn sweep(simulation: &mut Simulation) -> f64 {
    let start = Instant::now();
    if let Some(molecules) = &simulation.molecules {
        molecules.evaluate_forces(&simulation.domain, &simulation.neighborhood, &mut simulation.particles);
    }
    start.elapsed().as_secs_f64()
}

/// How many particles there are, and how fast the fastest is by Maxwell's distribution at the temperature of the
/// velocities, or that of a thermostat if it is higher, if all had the smallest mass.
fn motion(simulation: &Simulation) -> (u64, f64) {
    let (particles, comm) = (&simulation.particles, &simulation.domain.comm);
    let masses = particles.scalar(Field::Mass);
    let piece = |rows: Range<usize>| {
        rows.fold((0.0, f64::INFINITY), |(sum, lightest), row| {
            let twice = masses[row] * particles.vector_at(Field::Velocity, row).norm_squared();
            (sum + twice, masses[row].min(lightest))
        })
    };
    // pieces are joined in their order
    let found = reduce_pieces(particles.owned(), piece, |a, b| (a.0 + b.0, a.1.min(b.1)));
    let (sum, least) = found.unwrap_or((0.0, f64::INFINITY));
    let (mut sums, mut lightest) = ([sum], [least]);
    let mut count = [particles.owned().len() as u64];
    comm.all_sum(&mut sums);
    comm.all_min(&mut lightest);
    comm.all_sum(&mut count);
    let kept = match simulation.plan.motion.thermostat {
        Some(
            ThermostatPlan::Langevin { temperature, .. }
            | ThermostatPlan::VelocityRescaling { temperature, .. },
        ) => simulation.plan.units.boltzmann * temperature,
        None => 0.0,
    };
    let temperature = kept.max(sums[0] / (3 * count[0].max(1)) as f64);
    (count[0], fastest(count[0]) * (temperature / lightest[0]).sqrt())
}
