//! `bench step`: whole steps, by phase, over all ranks.

use super::{Cell, Settings, Table, simulation};
use crate::Result;
use crate::clock::Clock;
use crate::comm::Communicator;

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
    let mut memory = [peak_memory()];
    comm.all_sum(&mut memory);
    let mut particles = [simulation.particles.owned().len() as u64];
    comm.all_sum(&mut particles);
    table.remarks.extend([
        ("updates per second", Cell::Number(phases.rate(), 0)),
        ("updates per second and core", Cell::Number(phases.rate_per_core(), 0)),
        ("lists built", Cell::Number((simulation.neighborhood.builds() - built) as f64, 0)),
        ("peak memory per particle in bytes", Cell::Number(memory[0] as f64 / particles[0].max(1) as f64, 0)),
    ]);
    Ok(table)
}

/// The most memory that this process has had, in bytes; 0 where the system does not tell.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kibibytes.unwrap_or(0) * 1024
}
