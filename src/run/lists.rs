//! Chooses the Verlet skins of molecules' neighbor lists from measured costs.

use std::ops::Range;
use std::time::Instant;

use crate::Result;
use crate::neighborhood::tune::fastest;
use crate::neighborhood::{Costs, InteractionRange, Skins};
use crate::neighbors::NeighborList;
use crate::particles::Field;
use crate::particles::blocks::reduce_blocks;
use crate::plan::ThermostatPlan;
use crate::report;
use crate::step::Simulation;

/// Number of measurements of each cost; the median is taken.
const REPEATS: usize = 5;

/// Measures list build, pruning and pair sweep after the first forces, and sets the skins that the deck
/// leaves open. They stay while the particles keep their speed. Returns a note for the user if skins were
/// chosen. Collective.
///
/// # Errors
/// Those of a list build.
pub fn tune(simulation: &mut Simulation) -> Result<Option<String>> {
    let Some(costs) = measure(simulation)? else { return Ok(None) };
    let best = costs.best(simulation.plan.neighbors.inner_skin);
    simulation.neighborhood.set_skins(best);
    simulation.list_costs = Some(costs);
    Ok(Some(summary(&costs, best)))
}

/// Adapts the skins after a step that built lists, if particles have become slower or faster, as in a melting
/// lattice. The measured costs are kept, so that a run continued from a checkpoint makes the same choice.
/// Returns a note for the user if skins were changed. Collective.
pub fn follow(simulation: &mut Simulation) -> Option<String> {
    // a device has one list, whose skin stays
    let here = !simulation.is_resident();
    let (costs, step) = (simulation.list_costs.filter(|_| here)?, simulation.plan.time_step.fixed?);
    simulation.synchronize_velocities();
    let (_, speed) = count_and_speed(simulation);
    let mut chosen = None;
    if speed > 0.0 && !costs.same_speed(speed * step) {
        let costs = Costs { stride: speed * step, ..costs };
        let best = costs.best(simulation.plan.neighbors.inner_skin);
        if costs.pays_off(best, simulation.neighborhood.skins()) {
            simulation.list_costs = Some(costs);
            simulation.neighborhood.set_skins(best);
            chosen = Some(summary(&costs, best));
        }
    }
    simulation.clock.lap("neighbors");
    chosen
}

fn summary(costs: &Costs, skins: Skins) -> String {
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
        costs.rebuild_interval(skins),
        report::rounded(skins.outer, 3),
    )
}

/// Measures the costs; `None` if there is nothing to choose.
fn measure(simulation: &mut Simulation) -> Result<Option<Costs>> {
    // a device has one list, whose skin the plan sets
    if simulation.is_resident() {
        return Ok(None);
    }
    let plan = &simulation.plan;
    let (Some(step), None) = (plan.time_step.fixed, plan.neighbors.skin) else { return Ok(None) };
    let (InteractionRange::Cutoff(cutoff), true) =
        (simulation.neighborhood.reach(), simulation.molecules.is_some())
    else {
        return Ok(None);
    };
    let (count, speed) = count_and_speed(simulation);
    if count < 2 || speed <= 0.0 {
        return Ok(None);
    }
    let measured = simulation.neighborhood.skins();
    let mut samples = [[0.0; REPEATS]; 3];
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
        // the slowest rank determines the time
        simulation.domain.comm.all_max(&mut seconds);
        (0..3).for_each(|k| samples[k][repeat] = seconds[k]);
    }
    // the sweeps have replaced the forces by those of pairs, without a mesh
    if simulation.molecules.as_ref().is_some_and(|molecules| molecules.ewald().is_some()) {
        simulation.evaluate_forces(0.0)?;
    }
    let [build, prune, sweep] = samples.map(|mut seconds| {
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

/// Returns the seconds of a force evaluation with the present list.
fn sweep(simulation: &mut Simulation) -> f64 {
    let start = Instant::now();
    if let Some(molecules) = &simulation.molecules {
        molecules.evaluate_forces(&simulation.domain, &simulation.neighborhood, &mut simulation.particles);
    }
    start.elapsed().as_secs_f64()
}

/// Returns the number of particles and an estimate of the largest speed: that of the fastest particle of a
/// Maxwell distribution if all particles had the smallest mass. The temperature is the kinetic one, or the
/// thermostat's if that is higher.
fn count_and_speed(simulation: &Simulation) -> (u64, f64) {
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
    (count[0], fastest(count[0]) * (temperature / lightest[0]).sqrt())
}
