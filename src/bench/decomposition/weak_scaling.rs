//! Weak scaling model: extrapolates the counts of a decomposition to more ranks and more particles per rank,
//! and combines them with measured times and given rates. It assumes no overlap: a step is the sum of its
//! parts, each on the rank with the maximum.

use super::Machine;
use crate::bench::table::{Cell, Column, Remark, Table};
use crate::comm::traffic::Traffic;
use crate::domain::decomposition::{BYTES_PER_LEAF, PUBLISHED, SUMMED_PER_LEAF, SyncTraffic, Width};
use crate::far::simulated_ranks::{EssentialTree, GATHERED, TopCost};

/// Numbers of ranks in the table.
const RANKS: [f64; 11] =
    [1.0, 8.0, 64.0, 512.0, 4096.0, 8192.0, 16_384.0, 32_768.0, 65_536.0, 100_000.0, 1e6];
/// Bytes received from each other rank in a small collective: about two numbers and their count.
const SMALL: f64 = 24.0;
/// MPI counts the bytes of a gather in 32 bits: larger gathers use point-to-point messages between all ranks.
const LARGEST_GATHERING: f64 = (1u64 << 30) as f64;

/// Halo exchanges of a step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ExchangeRate {
    /// Number of exchanges.
    pub exchanges: f64,
    /// Number of columns in all of them.
    pub columns: f64,
}

/// Measurements of a short run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    /// Number of particles.
    pub particles: f64,
    /// Particle updates per second and core.
    pub rate: f64,
    /// Fraction of the time spent in gravity.
    pub far_share: f64,
    /// Mean work of a particle without gravity (lane pairs).
    pub near_work: f64,
    /// Mean gravity work of a particle (lane pairs of the passes).
    pub far_work: f64,
    /// Halo exchanges.
    pub halo_exchanges: ExchangeRate,
    /// Returns of reaction sums.
    pub returned_sums: ExchangeRate,
    /// List builds per step, each with migration and halos.
    pub builds: f64,
    /// Collective operations per step.
    pub collectives: f64,
    /// Bytes per row.
    pub bytes_per_row: usize,
    /// Columns of particles that travel.
    pub width: Width,
}

impl Probe {
    /// Returns the core time (s) of a lane pair of the passes (including everything in a step except
    /// gravity), and of an equal amount of gravity work. They are equal if the work units are well chosen.
    fn seconds_of_pairs(&self) -> [f64; 2] {
        let of = |share: f64, work: f64| if work > 0.0 { share / self.rate / work } else { 0.0 };
        [of(1.0 - self.far_share, self.near_work), of(self.far_share, self.far_work)]
    }

    /// Returns the core time (s) of a step for a particle with this gravity work.
    pub fn seconds(&self, far_work: f64) -> f64 {
        let [near, far] = self.seconds_of_pairs();
        near * self.near_work + far * far_work
    }
}

/// Particles, work and traffic of one rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct RankShare {
    pub particles: usize,
    /// Work (lane pairs).
    pub cost: f64,
    /// Core time (s), from the probe's times per lane pair.
    pub seconds: f64,
    pub migrants: f64,
    pub halos: usize,
    pub boxes: usize,
    pub peers: usize,
    pub synced: SyncTraffic,
    pub refreshed: Traffic,
    pub tree: EssentialTree,
    /// Bytes of the tree received from peers: all but the moments of the coarse leaves.
    pub tree_bytes: u64,
    /// Bytes of columns and replicated arrays.
    pub memory: u64,
}

impl RankShare {
    pub fn traffic(&self) -> Traffic {
        self.synced.total() + self.refreshed + self.tree.traffic
    }
}

/// The shares of all ranks.
pub(super) struct RankCounts {
    pub leaves: usize,
    pub shares: Vec<RankShare>,
}

impl RankCounts {
    /// Returns minimum, mean and maximum over the ranks.
    pub fn spread(&self, of: &dyn Fn(&RankShare) -> f64) -> [f64; 3] {
        let values = || self.shares.iter().map(of);
        let mean = values().sum::<f64>() / self.shares.len() as f64;
        [values().fold(f64::INFINITY, f64::min), mean, values().fold(0.0, f64::max)]
    }

    /// Returns maximum over mean core time.
    pub fn imbalance(&self) -> f64 {
        let [_, mean, largest] = self.spread(&|share| share.seconds);
        if mean > 0.0 { largest / mean } else { 1.0 }
    }
}

/// A quantity proportional to the surface layer of a rank's domain, as a function of its number of particles
/// n: `a n^(2/3) + b n^(1/3) + c`. The volume of a layer around a body is a polynomial of its size (Steiner
/// 1840).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Surface([f64; 3]);

impl Surface {
    /// Interpolates the means of up to three decompositions, the last of which has the most particles per
    /// rank, and scales by maximum over mean of the last one. With fewer than three points, fits the leading
    /// terms only.
    pub fn through(counted: &[RankCounts], of: &dyn Fn(&RankShare) -> f64) -> Self {
        let Self(mean) = Self::through_means(counted, of);
        let [_, last, largest] = counted[counted.len() - 1].spread(of);
        let ratio = if last > 0.0 { largest / last } else { 1.0 };
        Self(mean.map(|term| ratio * term))
    }

    /// Interpolates the means.
    pub fn through_means(counted: &[RankCounts], of: &dyn Fn(&RankShare) -> f64) -> Self {
        let mean = |of: &dyn Fn(&RankShare) -> f64, counted: &RankCounts| counted.spread(of)[1];
        let points: Vec<(f64, f64)> = counted
            .iter()
            .take(3)
            .map(|counted| (mean(&|share| share.particles as f64, counted), mean(of, counted)))
            .collect();
        Self::interpolating(&points)
    }

    /// Interpolates at most three points (n, value).
    fn interpolating(points: &[(f64, f64)]) -> Self {
        let basis = |n: f64| [n.cbrt().powi(2), n.cbrt(), 1.0];
        let size = points.len();
        let mut rows: Vec<([f64; 3], f64)> = points.iter().map(|&(n, value)| (basis(n), value)).collect();
        // Gaussian elimination without pivoting: the n differ, so that no pivot vanishes in this order.
        for k in 0..size {
            for below in k + 1..size {
                let factor = rows[below].0[k] / rows[k].0[k];
                (k..size).for_each(|column| rows[below].0[column] -= factor * rows[k].0[column]);
                rows[below].1 -= factor * rows[k].1;
            }
        }
        let mut solution = [0.0; 3];
        for k in (0..size).rev() {
            let known: f64 = (k + 1..size).map(|column| rows[k].0[column] * solution[column]).sum();
            solution[k] = (rows[k].1 - known) / rows[k].0[k];
        }
        Self(solution)
    }

    /// Returns the value for a rank with n particles.
    pub fn at(&self, n: f64) -> f64 {
        let [a, b, c] = self.0;
        (a * n.cbrt().powi(2) + b * n.cbrt() + c).max(0.0)
    }
}

const COLUMNS: &[Column] = &[
    ("ranks", "ranks"),
    ("particles", "particles"),
    ("compute s", "compute_seconds"),
    ("halos ms", "halo_milliseconds"),
    ("tree ms", "tree_milliseconds"),
    ("gathering ms", "gathering_milliseconds"),
    ("replicated work ms", "replicated_milliseconds"),
    ("small operations ms", "small_milliseconds"),
    ("step s", "step_seconds"),
    ("weak scaling %", "weak_scaling_percent"),
    ("efficiency %", "efficiency_percent"),
    ("replicated MB", "replicated_megabytes"),
    ("memory GB", "memory_gigabytes"),
];

/// The model with all of its inputs.
pub(super) struct Model {
    pub machine: Machine,
    pub probe: Probe,
    pub halos: Surface,
    pub migrants: Surface,
    pub tree_bytes: Surface,
    pub peers: f64,
    pub owners: f64,
    pub imbalance: f64,
    pub leaves_per_rank: f64,
    pub boxes_per_rank: f64,
    /// Sums over the coarse leaves per step.
    pub rounds: f64,
    /// Particle numbers and mean gravity work per particle.
    pub growth: Vec<(f64, f64)>,
    /// Time per rank and coarse leaf (s).
    pub leaf_seconds: f64,
    pub top: Option<TopCost>,
}

/// Time (s) and memory (bytes) of a step.
#[derive(Clone, Copy, Debug, Default)]
struct Step {
    /// Compute time without imbalance.
    even: f64,
    compute: f64,
    halos: f64,
    tree: f64,
    /// Gathering of replicated data.
    gathering: f64,
    /// Work on replicated data.
    replicated: f64,
    small: f64,
    replicated_bytes: f64,
    memory: f64,
}

impl Step {
    fn seconds(&self) -> f64 {
        self.compute + self.halos + self.tree + self.gathering + self.replicated + self.small
    }
}

impl Model {
    fn rate(&self) -> f64 {
        self.machine.rate.unwrap_or(self.probe.rate)
    }

    /// Returns the gravity work per particle relative to the probe's: linear in log N.
    fn growth(&self, particles: f64) -> f64 {
        let (Some(most), Some(fewest)) = (self.growth.first(), self.growth.last()) else { return 1.0 };
        if most.0 <= fewest.0 {
            return 1.0;
        }
        let slope = (most.1 - fewest.1) / (most.0 / fewest.0).ln();
        let work = |count: f64| fewest.1 + slope * (count / fewest.0).ln();
        (work(particles) / work(self.probe.particles)).max(0.0)
    }

    fn step(&self, ranks: f64) -> Step {
        let (machine, probe) = (&self.machine, &self.probe);
        let n = machine.per_rank as f64;
        let per_byte = 1e-9 / machine.bandwidth;
        let latency = machine.latency * 1e-6;
        let others = (ranks - 1.0) / ranks;
        let far = probe.far_share * self.growth(n * ranks);
        let balance = if ranks > 1.0 { self.imbalance } else { 1.0 };
        let even = n / (self.rate() * machine.cores as f64) * (1.0 - probe.far_share + far);
        // A single rank has no neighbors; with few ranks, most of the surface is inside the rank or at the
        // box's faces.
        let surface = others;
        let halos = self.halos.at(n) * surface;
        let columns = probe.halo_exchanges.columns + probe.returned_sums.columns;
        let width = 8.0 * (probe.width.halo as f64 * probe.builds + columns);
        let migrating = self.migrants.at(n) * surface * 8.0 * probe.width.migrant as f64 * probe.builds;
        let exchanges = probe.halo_exchanges.exchanges + probe.returned_sums.exchanges;
        let messages = (self.peers * (exchanges + 2.0 * probe.builds)).min(1e3 * (ranks - 1.0));
        let leaves = self.leaves_per_rank * ranks;
        let boxes = self.boxes_per_rank * ranks;
        let summed = leaves * SUMMED_PER_LEAF as f64 * self.rounds;
        let moments = self.top.map_or(0.0, |_| leaves * GATHERED as f64);
        let gathered = probe.builds * (summed + boxes * PUBLISHED as f64) + moments;
        let top = self.top.unwrap_or_default();
        // Sums over many leaves are distributed, with messages between all ranks; so are gathers beyond the
        // 32-bit limit.
        let mut to_everybody = if leaves > 2048.0 { self.rounds * probe.builds } else { 0.0 };
        for bytes in [moments, boxes * PUBLISHED as f64, 16.0 * leaves] {
            to_everybody += if bytes > LARGEST_GATHERING { 1.0 } else { 0.0 };
        }
        let stages = ranks.log2().ceil();
        let replicated_bytes = leaves * (BYTES_PER_LEAF + top.held) as f64;
        Step {
            even,
            compute: even * balance,
            halos: (halos * width + migrating) * per_byte + messages * latency * surface,
            tree: self.tree_bytes.at(n) * surface * per_byte + 5.0 * self.owners * latency * surface,
            gathering: others * gathered * per_byte + to_everybody * latency * (ranks - 1.0),
            replicated: (probe.builds * self.leaf_seconds + top.seconds) * leaves,
            small: probe.collectives * (stages * latency + SMALL * (ranks - 1.0) * per_byte),
            replicated_bytes,
            memory: (n + halos) * probe.bytes_per_row as f64 + replicated_bytes,
        }
    }

    /// Returns the part of a step that a single rank would spend as well.
    fn efficiency(&self, ranks: f64) -> f64 {
        let step = self.step(ranks);
        step.even / step.seconds()
    }

    /// Returns the smallest number of ranks, in steps of 5 %, for which `holds` is true.
    fn first(&self, holds: impl Fn(f64) -> bool) -> Cell {
        let found =
            (0..400).map(|k| 1.05f64.powi(k)).take_while(|ranks| *ranks < 1e7).find(|ranks| holds(*ranks));
        match found {
            Some(ranks) => Cell::Number(ranks, 0),
            None => Cell::text("none below 10^7"),
        }
    }

    /// Builds the table of predicted steps.
    pub fn table(&self) -> Table {
        let mut table = Table::named("weak_scaling", COLUMNS);
        for ranks in RANKS {
            let step = self.step(ranks);
            let milliseconds = |seconds: f64| Cell::Number(seconds * 1e3, 2);
            table.push(vec![
                Cell::Number(ranks, 0),
                Cell::Error(ranks * self.machine.per_rank as f64),
                Cell::Number(step.compute, 3),
                milliseconds(step.halos),
                milliseconds(step.tree),
                milliseconds(step.gathering),
                milliseconds(step.replicated),
                milliseconds(step.small),
                Cell::Number(step.seconds(), 3),
                Cell::Number(100.0 * (self.step(1.0).seconds() / step.seconds()), 1),
                Cell::Number(100.0 * self.efficiency(ranks), 1),
                Cell::Number(step.replicated_bytes * 1e-6, 1),
                Cell::Number(step.memory * 1e-9, 2),
            ]);
        }
        table
    }

    /// Returns the inputs, and the numbers of ranks at which the model predicts a limit.
    pub fn remarks(&self) -> Vec<Remark> {
        let gathered = |ranks: f64| {
            self.top.is_some() && self.leaves_per_rank * ranks * GATHERED as f64 > LARGEST_GATHERING
        };
        let limit = self.machine.memory * 1e9;
        let [near, far] = self.probe.seconds_of_pairs();
        vec![
            ("particles_a_rank", Cell::Number(self.machine.per_rank as f64, 0)),
            ("cores_a_rank", Cell::Number(self.machine.cores as f64, 0)),
            ("updates_a_second_and_core", Cell::Number(self.rate(), 0)),
            ("latency_in_microseconds", Cell::Number(self.machine.latency, 2)),
            ("bandwidth_of_a_rank_in_GB/s", Cell::Number(self.machine.bandwidth, 2)),
            ("memory_of_a_rank_in_GB", Cell::Number(self.machine.memory, 1)),
            ("gravitys_part_of_the_time_measured", Cell::Number(self.probe.far_share, 3)),
            ("core_nanoseconds_of_a_lane_pair_of_the_passes", Cell::Number(1e9 * near, 3)),
            ("and_of_as_much_work_in_gravity", Cell::Number(1e9 * far, 3)),
            ("columns_of_halos_refreshed_a_step", Cell::Number(self.probe.halo_exchanges.columns, 1)),
            ("columns_of_halos_given_back_a_step", Cell::Number(self.probe.returned_sums.columns, 1)),
            ("lists_built_a_step", Cell::Number(self.probe.builds, 2)),
            ("operations_of_all_ranks_a_step", Cell::Number(self.probe.collectives, 1)),
            ("imbalance_of_the_cost", Cell::Number(self.imbalance, 3)),
            ("coarse_leaves_a_rank", Cell::Number(self.leaves_per_rank, 1)),
            ("halo_particles_of_a_rank", Cell::Number(self.halos.at(self.machine.per_rank as f64), 0)),
            ("peers_of_a_rank", Cell::Number(self.peers, 0)),
            ("nanoseconds_of_a_rank_for_a_coarse_leaf", Cell::Number(1e9 * self.leaf_seconds, 1)),
            ("and_for_its_node_of_gravity", Cell::Number(self.top.map_or(0.0, |top| 1e9 * top.seconds), 1)),
            ("ranks_where_gathered_moments_pass_32-bit_counts", self.first(gathered)),
            ("ranks_where_the_memory_is_full", self.first(|ranks| self.step(ranks).memory > limit)),
            ("ranks_where_the_efficiency_is_below_80_%", self.first(|ranks| self.efficiency(ranks) < 0.8)),
            ("ranks_where_the_efficiency_is_below_50_%", self.first(|ranks| self.efficiency(ranks) < 0.5)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layer_around_a_cube_is_extrapolated() {
        // Cube of n unit cells and the cells within distance 2, corners included: (n^(1/3) + 4)^3 - n.
        let layer = |n: f64| (n.cbrt() + 4.0).powi(3) - n;
        let points: Vec<(f64, f64)> = [1000.0, 8000.0, 64_000.0].map(|n| (n, layer(n))).to_vec();
        let surface = Surface::interpolating(&points);
        for n in [500.0, 1e5, 1e9] {
            assert!((surface.at(n) / layer(n) - 1.0).abs() < 1e-6, "{n}: {} {}", surface.at(n), layer(n));
        }
        assert_eq!(Surface::interpolating(&[]).at(1e6), 0.0);
        let one = Surface::interpolating(&points[..1]);
        assert!((one.at(8000.0) / (4.0 * layer(1000.0)) - 1.0).abs() < 1e-12);
    }
}
