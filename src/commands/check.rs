//! `hilbrium check`: the resolved deck, the particle count and a memory estimate.

use super::Ending;
use crate::deck::{self, plan::ListKind, plan::Plan};
use crate::report::{grouped, line, quantity};
use crate::step::Simulation;
use crate::{Result, start};
use std::path::Path;

pub(super) fn check(path: &Path, overrides: &[String]) -> Result<Ending> {
    let checked = deck::read_checked(path, overrides)?;
    line(checked.resolved.trim_end());
    line("");
    let particles = start::count_all(&checked.plan.start)?;
    line(&format!("# particles: {}", grouped(particles)));
    let bytes = particles as f64 * bytes_per_particle(&checked.plan);
    line(&format!("# memory: about {}B over all ranks", quantity(bytes).replace('k', "K")));
    line("# this deck is right; nothing was run");
    Ok(Ending::Done)
}

/// Memory that a particle needs, in bytes: its columns with identity and key, half as much again for halos, the same
/// once more while it is sorted and exchanged, its share of list and tree.
fn bytes_per_particle(plan: &Plan) -> f64 {
    let columns: usize = Simulation::fields(plan).iter().map(|field| field.components()).sum();
    let row = 8.0 * (columns + 2) as f64;
    let neighbors = plan.sph.as_ref().map_or(0.0, |sph| sph.neighbors);
    let list = match plan.neighbors.list {
        ListKind::Clustered => 0.1 * neighbors,
        ListKind::PerParticle => 4.0 * neighbors,
    };
    let nodes = 2.5 / plan.neighbors.bucket_size as f64;
    row * 1.5 + row + list + nodes * 300.0
}
