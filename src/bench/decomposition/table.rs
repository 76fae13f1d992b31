//! Table of minimum, mean and maximum over the ranks.

use super::weak_scaling::{RankCounts, RankShare};
use crate::bench::table::{Cell, Column, Table};
use crate::comm::traffic::Traffic;

const COLUMNS: &[Column] = &[
    ("of a rank", "quantity"),
    ("least", "least"),
    ("mean", "mean"),
    ("largest", "largest"),
    ("largest / mean", "imbalance"),
];

/// Builds the table of minimum, mean and maximum over the ranks.
pub(super) fn of_ranks(counted: &RankCounts) -> Table {
    let mut table = Table::new(COLUMNS);
    let mut row = |name: &str, decimals: usize, of: &dyn Fn(&RankShare) -> f64| {
        let [least, mean, largest] = counted.spread(of);
        let ratio = if mean > 0.0 { largest / mean } else { 1.0 };
        table.push(vec![
            Cell::text(name),
            Cell::Number(least, decimals),
            Cell::Number(mean, decimals),
            Cell::Number(largest, decimals),
            Cell::Number(ratio, 2),
        ]);
    };
    let kilobytes = |traffic: Traffic| traffic.bytes as f64 * 1e-3;
    row("particles", 0, &|share| share.particles as f64);
    row("cost, lane pairs a particle", 0, &|share| share.cost / share.particles.max(1) as f64);
    row("cost, million lane pairs", 3, &|share| share.cost * 1e-6);
    row("cost by measured times, core milliseconds", 3, &|share| share.seconds * 1e3);
    row("halo particles", 0, &|share| share.halos as f64);
    row("peers", 0, &|share| share.peers as f64);
    row("particles that come from other ranks", 1, &|share| share.migrants);
    row("tree: own nodes and top", 0, &|share| share.tree.own_nodes as f64);
    row("tree: nodes received", 0, &|share| share.tree.received_nodes as f64);
    row("tree: particles received", 0, &|share| share.tree.received_particles as f64);
    row("tree: ranks asked", 0, &|share| share.tree.owners as f64);
    row("received, kB: coarse leaves", 1, &|share| kilobytes(share.synced.entering + share.synced.assigning));
    row("received, kB: particles", 1, &|share| kilobytes(share.synced.migrating));
    row("received, kB: boxes", 1, &|share| kilobytes(share.synced.publishing));
    row("received, kB: halos", 1, &|share| kilobytes(share.synced.attaching));
    row("received, kB: fields of halos", 1, &|share| kilobytes(share.refreshed));
    row("received, kB: tree", 1, &|share| kilobytes(share.tree.traffic));
    row("received, kB: all", 1, &|share| kilobytes(share.traffic()));
    row("messages received", 0, &|share| share.traffic().messages as f64);
    row("columns and replicated arrays, kB", 0, &|share| share.memory as f64 * 1e-3);
    table
}
