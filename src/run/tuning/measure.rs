//! Times of a candidate's list builds, prunes and sweeps.

use std::time::Instant;

use super::candidates::{Candidate, Open};
use super::cutoff;
use crate::Result;
use crate::neighborhood::{Costs, Method, Skins, SweptPairs};
use crate::neighbors::NeighborList;
use crate::step::Simulation;

/// Number of measurements of each cost, whose median is taken: fewer where times are long. A GPU measures large
/// systems once, so that the choice takes no more than some twenty steps.
fn repeats(count: u64, on_device: bool) -> usize {
    match on_device {
        true if count >= 1_000_000 => 1,
        false if count < 1 << 18 => 5,
        _ => 3,
    }
}

/// Steps that a gas list with a skin is assumed to serve.
const STEPS_OF_GAS_LIST: f64 = 10.0;

/// Measured costs of a candidate.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Costs of the lists of molecules.
    pub costs: Option<Costs>,
    /// The skins of the fewest predicted seconds, or those of the deck.
    pub skins: Skins,
    /// Seconds per build: order, halos and list.
    pub build: f64,
    /// Seconds per step without builds: sweep of the pairs, or force evaluation of a gas.
    pub sweep: f64,
    /// Predicted seconds per step, builds included.
    pub seconds: f64,
    /// Share of the builds in them.
    pub build_share: f64,
    /// Bytes per particle of lists or cells.
    pub bytes: f64,
}

/// Measures a candidate with the present particles. Collective.
///
/// # Errors
/// Those of a force evaluation; those of the device.
pub(super) fn measure(simulation: &mut Simulation, open: &Open, candidate: Candidate) -> Result<Measured> {
    let first = simulation.first_skins();
    let inner = inner_skin(simulation, candidate.method);
    let skins = Skins { inner: first.inner.filter(|_| inner != Some(0.0)), ..first };
    let settings = candidate.settings(skins);
    let (changes, first_list) = (settings != simulation.neighbors(), simulation.lists_built() == 0);
    if changes {
        simulation.set_neighbors(&settings)?;
    }
    let repeats = repeats(open.count, simulation.is_resident());
    let [build, prune, sweep, fixed] = match cutoff(simulation) {
        Some(_) if !simulation.is_resident() => on_processors(simulation, repeats)?,
        _ => {
            if changes || first_list {
                // compiles kernels and allocates memory
                simulation.evaluate_forces(0.0)?;
            }
            by_evaluations(simulation, repeats, skins)?
        }
    };
    let bytes = bytes_per_particle(simulation, open.count);
    let Some(cutoff) = cutoff(simulation) else {
        let builds = if skins.outer > 0.0 { build / STEPS_OF_GAS_LIST } else { build };
        let seconds = sweep + builds;
        let build_share = builds / seconds;
        return Ok(Measured { costs: None, skins, build, sweep, seconds, build_share, bytes });
    };
    let costs = Costs {
        build,
        prune,
        sweep,
        fixed,
        measured: skins,
        swept: swept(simulation, candidate.method),
        cutoff,
        number_density: open.number_density,
        stride: open.stride,
        widest: Skins::widest(&simulation.domain.bx, cutoff),
    };
    let best = match simulation.plan.neighbors.skin {
        Some(_) => skins,
        None => costs.best(inner),
    };
    let (seconds, build_share) = (costs.seconds(best), costs.build_share(best));
    Ok(Measured { costs: Some(costs), skins: best, build, sweep: sweep + fixed, seconds, build_share, bytes })
}

/// The inner skin that is not chosen: that of the deck, 0 where there is no inner list, else `None`.
pub(super) fn inner_skin(simulation: &Simulation, method: Method) -> Option<f64> {
    match method {
        Method::Clusters if !simulation.is_resident() => simulation.plan.neighbors.inner_skin,
        _ => Some(0.0),
    }
}

fn swept(simulation: &Simulation, method: Method) -> SweptPairs {
    match (method, simulation.neighborhood.list()) {
        (Method::Clusters, Some(NeighborList::Tiled(_))) if !simulation.is_resident() => SweptPairs::Tiles,
        (Method::Clusters, _) => SweptPairs::Clusters,
        (Method::Cells | Method::Search, _) if simulation.is_resident() => SweptPairs::InRange,
        _ => SweptPairs::Particles,
    }
}

/// Seconds per build, prune and pair sweep of molecules on processors, and 0 that depend on no skin; the
/// slowest rank counts.
fn on_processors(simulation: &mut Simulation, repeats: usize) -> Result<[f64; 4]> {
    let mut samples = Samples::default();
    for _ in 0..repeats {
        let mut seconds = [0.0; 4];
        let start = Instant::now();
        simulation.neighborhood.invalidate();
        simulation.sync()?;
        seconds[0] = start.elapsed().as_secs_f64();
        let start = Instant::now();
        simulation.neighborhood.prune(&simulation.domain, &simulation.particles)?;
        seconds[1] = start.elapsed().as_secs_f64();
        seconds[2] = sweep(simulation);
        samples.add(simulation, seconds);
    }
    Ok(samples.medians())
}

/// Returns the seconds of a force evaluation with the present list.
fn sweep(simulation: &mut Simulation) -> f64 {
    let start = Instant::now();
    if let Some(molecules) = &simulation.molecules {
        molecules.evaluate_forces(&simulation.domain, &simulation.neighborhood, &mut simulation.particles);
    }
    start.elapsed().as_secs_f64()
}

/// Seconds per build, prune (none) and sweep, and those per step that depend on no skin, from force
/// evaluations with and without a build. Without a skin each evaluation builds, and its phases say how long
/// that takes.
fn by_evaluations(simulation: &mut Simulation, repeats: usize, skins: Skins) -> Result<[f64; 4]> {
    let mut samples = Samples::default();
    for _ in 0..repeats {
        simulation.invalidate_lists();
        let seconds = if skins.outer > 0.0 {
            let all = evaluate(simulation)?;
            let again = evaluate(simulation)?;
            let others = if has_other_forces(simulation) { shares(simulation)?.others } else { 0.0 };
            let [sweep, fixed] = match simulation.seconds_of_enqueued_forces()? {
                Some(seconds) => seconds,
                None => [again * (1.0 - others), 0.0],
            };
            [(all - again).max(0.0), 0.0, sweep, fixed]
        } else {
            let Shares { seconds, lists, others } = shares(simulation)?;
            [seconds * lists, 0.0, seconds * (1.0 - lists - others).max(0.0), 0.0]
        };
        samples.add(simulation, seconds);
    }
    Ok(samples.medians())
}

/// Whether forces act that do not depend on the candidate.
fn has_other_forces(simulation: &Simulation) -> bool {
    let plan = &simulation.plan;
    simulation.has_mesh() || plan.gravity.is_some() || plan.external.is_some()
}

/// Shares of phases in a force evaluation.
struct Shares {
    seconds: f64,
    /// List builds.
    lists: f64,
    /// Phases that do not depend on the candidate.
    others: f64,
}

/// Times the phases of a force evaluation; each ends when a device has done its work.
fn shares(simulation: &mut Simulation) -> Result<Shares> {
    let of = |simulation: &Simulation, phases: &[&str]| {
        phases.iter().map(|phase| simulation.clock.seconds(phase)).sum::<f64>()
    };
    let (lists, others) = (["neighbors"], ["mesh", "gravity", "external"]);
    let waited = simulation.clock.waits();
    simulation.wait_for_phases();
    let before = [of(simulation, &lists), of(simulation, &others)];
    let seconds = evaluate(simulation)?;
    if !waited {
        simulation.clock.stop_waiting();
    }
    let share = |phases: &[&str], before: f64| ((of(simulation, phases) - before) / seconds).clamp(0.0, 1.0);
    Ok(Shares { seconds, lists: share(&lists, before[0]), others: share(&others, before[1]) })
}

/// Seconds of a force evaluation.
fn evaluate(simulation: &mut Simulation) -> Result<f64> {
    let start = Instant::now();
    simulation.evaluate_forces(0.0)?;
    Ok(start.elapsed().as_secs_f64())
}

/// Repeated measurements of four costs.
#[derive(Default)]
struct Samples([Vec<f64>; 4]);

impl Samples {
    /// Adds a measurement of this rank; the slowest rank determines the times. Collective.
    fn add(&mut self, simulation: &Simulation, mut seconds: [f64; 4]) {
        simulation.domain.comm.all_max(&mut seconds);
        self.0.iter_mut().zip(seconds).for_each(|(samples, seconds)| samples.push(seconds));
    }

    fn medians(self) -> [f64; 4] {
        self.0.map(|mut samples| {
            samples.sort_unstable_by(f64::total_cmp);
            samples.get(samples.len() / 2).copied().unwrap_or(0.0)
        })
    }
}

/// Bytes of lists or cells per particle of all ranks. Collective.
fn bytes_per_particle(simulation: &Simulation, count: u64) -> f64 {
    let mut bytes = [simulation.neighbor_bytes()];
    simulation.domain.comm.all_sum(&mut bytes);
    bytes[0] as f64 / count.max(1) as f64
}
