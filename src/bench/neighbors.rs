//! `bench neighbors`: how long a list takes to build and how large it is, by kind and coding.

use super::{Cell, Settings, Table, median, simulation};
use crate::Result;
use crate::comm::Communicator;
use crate::neighbors::{ClusterList, Coding, ListBytes, ListRequest, NeighborList, ParticleList};

/// Lists of a case at its start, with the radii that a step asks for.
pub(super) fn table(settings: &Settings, comm: &Communicator) -> Result<Table> {
    let mut simulation = simulation(settings, comm)?;
    simulation.evaluate_forces(0.0)?;
    let (bx, particles) = (&simulation.domain.bx, &simulation.particles);
    let radius = simulation.neighborhood.radius();
    let count = particles.owned().len() as f64;
    let mut table = Table::new(&[
        "list",
        "pairs",
        "coding",
        "pairs per particle",
        "build ns per particle",
        "index bytes per particle",
        "bytes per particle",
    ]);
    for symmetric in [false, true] {
        let mut pairs = 0.0;
        let codings = [None, Some(Coding::Plain), Some(Coding::Band), Some(Coding::Nibble)];
        for coding in codings {
            let request = ListRequest::of(bx, particles, radius, symmetric, coding.unwrap_or(Coding::Plain));
            let (seconds, list) = median(settings.repeats, || match coding {
                None => ParticleList::build(&request).map(NeighborList::PerParticle),
                Some(_) => ClusterList::build(&request).map(NeighborList::Clustered),
            });
            let list = list?;
            let bytes: ListBytes = list.bytes();
            if coding.is_none() {
                pairs = bytes.indices as f64 / size_of::<u32>() as f64 / count;
            }
            table.rows.push(vec![
                Cell::text(if coding.is_none() { "per particle" } else { "clusters" }),
                Cell::text(if symmetric { "half" } else { "full" }),
                Cell::text(coding.map_or("32 bits".into(), |coding| format!("{coding:?}").to_lowercase())),
                Cell::Number(pairs, 1),
                Cell::Number(seconds * 1e9 / count, 0),
                Cell::Number(bytes.indices as f64 / count, 2),
                Cell::Number(bytes.total() as f64 / count, 2),
            ]);
        }
    }
    Ok(table)
}
