//! `bench step`: whole steps, by phase, over all ranks.

use super::{Cell, Settings, Table, simulation};
use crate::Result;
use crate::clock::Clock;
use crate::comm::Communicator;
use crate::memory::Peak;

/// So many steps after the first forces, without outputs.
pub(super) fn table(settings: &Settings, comm: &Communicator) -> Result<Table> {
    let mut simulation = simulation(settings, comm)?;
    simulation.evaluate_forces(0.0)?;
    simulation.choose_step(None);
    crate::run::lists::tune(&mut simulation)?;
    simulation.clock = Clock::new();
    let (mut updates, built) = (0, simulation.neighborhood.builds());
    for _ in 0..settings.repeats {
        simulation.advance(simulation.next_step)?;
        updates += simulation.particles.owned().len() as u64;
    }
    let phases = simulation.clock.phases(comm, updates, rayon::current_num_threads());
    let mut table =
        Table::new(&["phase", "min s", "mean s", "max s", "imbalance", "share %", "us per update"]);
    for phase in phases.rows.iter().chain([&phases.total]) {
        table.rows.push(vec![
            Cell::text(phase.name.clone()),
            Cell::Number(phase.min, 3),
            Cell::Number(phase.mean, 3),
            Cell::Number(phase.max, 3),
            Cell::Number(phase.imbalance, 2),
            Cell::Number(100.0 * phase.mean / phases.total.mean.max(f64::MIN_POSITIVE), 1),
            Cell::Number(phase.mean * 1e6 * phases.threads as f64 / phases.updates.max(1) as f64, 3),
        ]);
    }
    let memory = Peak::over_ranks(comm, simulation.particles.owned().len());
    table.remarks.extend([
        ("updates per second", Cell::Number(phases.rate(), 0)),
        ("updates per second and core", Cell::Number(phases.rate_per_core(), 0)),
        ("lists built", Cell::Number((simulation.neighborhood.builds() - built) as f64, 0)),
        ("peak memory per particle in bytes", Cell::Number(memory.per_particle.mean, 0)),
    ]);
    Ok(table)
}
