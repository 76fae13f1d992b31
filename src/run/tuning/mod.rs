//! Chooses by measuring how a run finds its pairs: method, half or full lists, skins.
//!
//! Candidates are timed in force evaluations at the present positions, which change nothing but the list: the
//! part of a step that depends on them. [`Costs`] predicts a step with the skins that suit each candidate,
//! and the fastest one is taken. The choice goes into the checkpoint, and a restart keeps it.

mod candidates;
mod measure;
mod speed;
mod table;

pub use candidates::Candidate;
pub use measure::Measured;
pub use table::{Fate, Row, Tuned};

use std::time::Instant;

use crate::Result;
use crate::neighborhood::{Chosen, Costs, InteractionRange, NeighborSettings};
use crate::plan;
use crate::step::Simulation;
use candidates::Open;

/// Gain from which on another candidate than the first one is taken.
const MIN_GAIN: f64 = 0.02;

/// Gain from which on a device changes the method or the skin during a run: speeds fluctuate, and a change
/// costs a list and may compile a kernel.
const MIN_GAIN_ON_DEVICE: f64 = 0.05;

/// Factor of the number density, or of the speed of the fastest particle, beyond which a run with `auto`
/// measures again.
pub const CHANGE: f64 = 2.0;

/// Measures the candidates that the deck leaves open, after the first forces, and takes the fastest one.
/// Returns `None` if there is nothing to choose. Collective.
///
/// # Errors
/// Those of a force evaluation; those of the device.
pub fn tune(simulation: &mut Simulation) -> Result<Option<Tuned>> {
    tune_at(simulation, None)
}

/// As [`tune`], with the displacement per step that limits the lifetime of lists, if it is known.
fn tune_at(simulation: &mut Simulation, stride: Option<f64>) -> Result<Option<Tuned>> {
    let Some(open) = Open::of(simulation, stride) else { return Ok(None) };
    let started = Instant::now();
    let before = simulation.neighbors();
    let mut rows: Vec<Row> = Vec::new();
    for candidate in open.candidates() {
        let fate = match open.ruled_out(candidate, &rows, simulation) {
            Some(reason) => Fate::NotTried(reason),
            None => Fate::Measured(measure::measure(simulation, &open, candidate)?),
        };
        let fate = match fate {
            Fate::Measured(_) if simulation.particle_lists_fell_back() => {
                Fate::NotTried("cannot number the neighbors in 16 bits, or meets several images".into())
            }
            Fate::Measured(found) if found.bytes > open.memory => Fate::TooLarge(found),
            fate => fate,
        };
        rows.push(Row { candidate, fate });
    }
    let Some((chosen, measured)) = fastest(&rows).or_else(|| smallest(&rows)) else { return Ok(None) };
    let settings =
        NeighborSettings { skins: measured.skins, ..rows[chosen].candidate.settings(before.skins) };
    simulation.set_neighbors(&settings)?;
    simulation.release_freed_memory()?;
    let several = rows.iter().filter(|row| row.measured().is_some()).count() > 1;
    if simulation.is_resident() || several || simulation.has_mesh() {
        // forces of the chosen method; on processors sweeps have left those of pairs, without a mesh
        simulation.evaluate_forces(0.0)?;
    }
    simulation.list_costs = measured.costs;
    simulation.chosen = Some(Chosen {
        settings,
        number_density: open.number_density,
        // lists of a device last longer than the expected speed says
        stride: if simulation.is_resident() { stride.unwrap_or(0.0) } else { open.stride },
        built_at_step: Some(simulation.step),
        on_device: simulation.is_resident(),
    });
    simulation.clock.lap("tuning");
    let tuned = Tuned { rows, chosen, settings, seconds: started.elapsed().as_secs_f64() };
    simulation.candidates = tuned.to_json();
    Ok(Some(tuned))
}

/// The usable row with the fewest predicted seconds; the first one unless another gains [`MIN_GAIN`].
fn fastest(rows: &[Row]) -> Option<(usize, Measured)> {
    let usable = || rows.iter().enumerate().filter_map(|(k, row)| Some((k, *row.usable()?)));
    let first = usable().next()?;
    let best = usable().min_by(|(_, a), (_, b)| a.seconds.total_cmp(&b.seconds))?;
    Some(if best.1.seconds < (1.0 - MIN_GAIN) * first.1.seconds { best } else { first })
}

/// The measured row with the fewest bytes, if none keeps within the memory.
fn smallest(rows: &[Row]) -> Option<(usize, Measured)> {
    let measured = rows.iter().enumerate().filter_map(|(k, row)| Some((k, *row.measured()?)));
    measured.min_by(|(_, a), (_, b)| a.bytes.total_cmp(&b.bytes))
}

/// Adapts the choice after a step that built lists, if particles have become slower or faster, as in a
/// melting lattice, or denser. With `auto` a change by [`CHANGE`] measures the candidates again. Smaller
/// changes of speed adapt the choice with the measured costs, so that a run continued from a checkpoint makes
/// the same one. Returns notes for the user if something was changed. Collective.
///
/// # Errors
/// Those of [`tune`].
pub fn follow(simulation: &mut Simulation) -> Result<Vec<String>> {
    let Some(chosen) = simulation.chosen else { return Ok(Vec::new()) };
    let stride = speed::stride_now(simulation);
    let base = if chosen.stride > 0.0 { chosen.stride } else { stride };
    simulation.chosen = Some(Chosen { stride: base, built_at_step: Some(simulation.step), ..chosen });
    let (_, number_density) = speed::count_and_density(simulation);
    let automatic = simulation.plan.neighbors.method == Some(plan::Method::Auto);
    let changed =
        |now: f64, then: f64| now > 0.0 && then > 0.0 && !(then / CHANGE..=then * CHANGE).contains(&now);
    if automatic && (changed(stride, base) || changed(number_density, chosen.number_density)) {
        simulation.copy_to_host()?;
        let tuned = tune_at(simulation, Some(stride).filter(|stride| *stride > 0.0))?;
        return Ok(tuned.map_or(Vec::new(), |tuned| tuned.lines()));
    }
    Ok(follow_speed(simulation, stride)?.into_iter().collect())
}

/// Adapts skins, and the method with `auto`, to another speed, by the measured costs. Collective.
fn follow_speed(simulation: &mut Simulation, stride: f64) -> Result<Option<String>> {
    let Some(costs) = simulation.list_costs else { return Ok(None) };
    if stride <= 0.0 || costs.same_speed(stride) || simulation.plan.neighbors.skin.is_some() {
        return Ok(None);
    }
    let present = simulation.neighbors();
    let own = Costs { stride, ..costs };
    let mut best = (present, own, f64::INFINITY);
    let others = table::measured_candidates(&simulation.candidates, costs.widest);
    let others = others.into_iter().filter(|(candidate, _)| candidate.settings(present.skins) != present);
    let all = std::iter::once((Candidate { method: present.method, symmetric: present.symmetric }, own));
    for (candidate, costs) in all.chain(others) {
        let costs = Costs { stride, ..costs };
        let skins = costs.best(measure::inner_skin(simulation, candidate.method));
        if costs.seconds(skins) < best.2 {
            best = (candidate.settings(skins), costs, costs.seconds(skins));
        }
    }
    let (settings, costs, seconds) = best;
    let least = if simulation.is_resident() { MIN_GAIN_ON_DEVICE } else { MIN_GAIN };
    if seconds >= (1.0 - least) * own.seconds(present.skins) {
        return Ok(None);
    }
    simulation.set_neighbors(&settings)?;
    simulation.list_costs = Some(costs);
    simulation.chosen = simulation.chosen.map(|chosen| Chosen { settings, ..chosen });
    Ok(Some(table::summary(&costs, &settings)))
}

/// Cutoff of the molecules.
fn cutoff(simulation: &Simulation) -> Option<f64> {
    match simulation.neighborhood.reach() {
        InteractionRange::Cutoff(cutoff) => Some(cutoff),
        InteractionRange::Supports | InteractionRange::Nowhere => None,
    }
}
