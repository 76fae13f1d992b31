//! `bench decomposition`: particles, halos, traffic and memory of each of many ranks, simulated in one
//! process, and a weak scaling model based on them.

mod drawn;
mod probe;
mod table;
mod weak_scaling;

use super::case::Case;
use super::table::{Cell, Findings};
use crate::comm::Communicator;
use crate::domain::decomposition::Decomposition;
use crate::far::simulated_ranks;
use crate::{Error, Result};
use drawn::{Drawn, draw, owners};
use probe::{mean_work, probe};
use table::of_ranks;
use weak_scaling::{Model, Probe, RankCounts, RankShare, Surface};

/// Coarser decompositions have this factor fewer ranks, applied twice.
const COARSER: usize = 8;
/// Below this number of particles, the gravity work per particle does not yet grow with log N.
const LEAST_GROWN: usize = 20_000;
/// Smallest number of ranks in a decomposition that the model uses.
const FEWEST: usize = 8;

/// Options of `bench decomposition`.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "All ranks are simulated in this process, with the functions that real ranks use. Particles have\n\
    moved by 0.05 of their radius since the previous decomposition. Work is that of the case's passes,\n\
    measured in a short run, and that of gravity, found by walking the tree. The second table is the\n\
    weak scaling model: a step is the sum of its parts without overlap, each on the rank with the\n\
    maximum; docs/src/scaling.md explains it."
)]
pub struct Options {
    /// Case to decompose
    #[arg(long, value_enum, default_value_t = Case::Evrard)]
    case: Case,
    /// Number of particles of all ranks
    #[arg(long, default_value_t = 4_000_000, value_parser = clap::value_parser!(u64).range(200..1_000_000_000))]
    particles: u64,
    /// Number of simulated ranks
    #[arg(long, default_value_t = 4096, value_parser = clap::value_parser!(u64).range(1..=32_768))]
    ranks: u64,
    /// Override a key of the case's deck: --set sph.neighbors=200
    #[arg(long = "set", value_name = "SECTION.KEY=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    machine: Machine,
}

/// The machine whose steps the model predicts.
#[derive(Clone, Debug, clap::Args)]
struct Machine {
    /// Particles per rank in the weak scaling model
    #[arg(long, value_name = "PARTICLES", default_value_t = 10_000_000,
          value_parser = clap::value_parser!(u64).range(1000..1 << 31))]
    pub per_rank: u64,
    /// Cores per rank
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..=4096))]
    pub cores: u64,
    /// Particle updates per second and core [default: measured on this machine]
    #[arg(long, value_parser = positive)]
    pub rate: Option<f64>,
    /// Latency of a message in microseconds
    #[arg(long, value_name = "MICROSECONDS", default_value_t = 2.0, value_parser = positive)]
    pub latency: f64,
    /// Receive bandwidth of a rank in GB/s
    #[arg(long, value_name = "GB/S", default_value_t = 10.0, value_parser = positive)]
    pub bandwidth: f64,
    /// Memory per rank in GB
    #[arg(long, value_name = "GB", default_value_t = 64.0, value_parser = positive)]
    pub memory: f64,
}

fn positive(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("not a number above 0".into()),
    }
}

/// Decomposes the particles of the case and predicts weak scaling.
///
/// # Errors
/// [`Error::Usage`] for more than one real rank, [`Error::Deck`] for wrong options, and errors of a step.
pub fn measure(options: &Options, comm: &Communicator) -> Result<Findings> {
    if comm.size() > 1 {
        return Err(Error::usage(
            format!("bench decomposition simulates its ranks on one, and {} were started", comm.size()),
            "start it without mpirun; --ranks sets the number of ranks to simulate",
        ));
    }
    let probe = probe(options, comm)?;
    let mut drawn = draw(options, comm, &probe)?;
    let ranks = options.ranks as usize;
    let settings = drawn.simulation.domain.settings();
    let mut all: Vec<Decomposition> =
        numbers_of_ranks(ranks).map(|ranks| Decomposition::new(ranks, settings)).collect();
    let owners: Vec<Vec<u32>> = all.iter_mut().map(|ranks| owners(ranks, &drawn.particles)).collect();
    drawn.displace()?;
    let both = all.iter_mut().zip(&owners);
    let counted: Vec<RankCounts> =
        both.map(|(decomposition, owners)| drawn.count(decomposition, owners, &probe)).collect();
    let model = model(&options.machine, &probe, &drawn, &all[all.len() - 1], &counted);
    let mut findings = Findings::from(of_ranks(&counted[0]));
    findings.tables.push(model.table());
    findings.remarks.extend([
        ("case", Cell::text(options.case.name())),
        ("particles", Cell::count(drawn.particles.len())),
        ("virtual_ranks", Cell::count(ranks)),
        ("coarse_leaves", Cell::count(all[0].assignment().leaves().len())),
        ("rounds_to_find_them", Cell::count(all[0].rounds().len())),
    ]);
    findings.remarks.extend(model.remarks());
    Ok(findings)
}

/// Returns the numbers of ranks to decompose for: the requested one, and smaller ones with more particles per
/// rank.
fn numbers_of_ranks(ranks: usize) -> impl Iterator<Item = usize> {
    [ranks, ranks / COARSER, ranks / COARSER / COARSER]
        .into_iter()
        .enumerate()
        .filter(|&(k, ranks)| k == 0 || ranks >= FEWEST)
        .map(|(_, ranks)| ranks)
}

/// Builds the model from the decompositions; the last one has the most particles per rank.
fn model(
    machine: &Machine,
    probe: &Probe,
    drawn: &Drawn,
    coarsest: &Decomposition,
    counted: &[RankCounts],
) -> Model {
    let particles = &drawn.particles;
    let top = drawn
        .simulation
        .gravity
        .as_ref()
        .map(|gravity| simulated_ranks::top_cost(&gravity.plan, coarsest.assignment(), particles));
    let growth: Vec<(f64, f64)> = drawn.simulation.gravity.as_ref().map_or_else(Vec::new, |gravity| {
        [1, 8, 64]
            .into_iter()
            .filter(|stride| particles.len() / stride >= LEAST_GROWN)
            .map(|stride| mean_work(&gravity.plan, particles, stride))
            .collect()
    });
    let surface = |of: &dyn Fn(&RankShare) -> f64| Surface::through(counted, of);
    let last = &counted[counted.len() - 1];
    let ranks = last.shares.len() as f64;
    Model {
        machine: machine.clone(),
        probe: *probe,
        halos: surface(&|share| share.halos as f64),
        migrants: surface(&|share| share.migrants),
        tree_bytes: surface(&|share| share.tree_bytes as f64),
        peers: counted[0].spread(&|share| share.peers as f64)[2],
        owners: counted[0].spread(&|share| share.tree.owners as f64)[2],
        imbalance: last.imbalance(),
        leaves_per_rank: last.leaves as f64 / ranks,
        boxes_per_rank: last.spread(&|share| share.boxes as f64)[1],
        rounds: coarsest.rounds().len() as f64,
        growth,
        leaf_seconds: coarsest.seconds_per_leaf(particles),
        top,
    }
}

#[cfg(test)]
mod tests {
    use super::weak_scaling::ExchangeRate;
    use super::*;
    use crate::domain::decomposition::Width;

    fn options(case: Case, particles: u64, ranks: u64) -> Options {
        let machine = Machine {
            per_rank: 1_000_000,
            cores: 16,
            rate: Some(1e5),
            latency: 2.0,
            bandwidth: 10.0,
            memory: 64.0,
        };
        Options { case, particles, ranks, set: vec!["run.precision=mixed".into()], machine }
    }

    #[test]
    fn halos_of_more_ranks_are_foretold() {
        // Fits three numbers of ranks; compares with numbers in between and beyond.
        let comm = Communicator::solo();
        let options = options(Case::Uniform, 60_000, 512);
        // With uniform work, halos depend on nothing else in the probe.
        let exchanged = ExchangeRate { exchanges: 5.0, columns: 20.0 };
        let probe = Probe {
            particles: 60_000.0,
            rate: 1e5,
            far_share: 0.0,
            near_work: 1000.0,
            far_work: 0.0,
            halo_exchanges: exchanged,
            returned_sums: exchanged,
            builds: 1.0,
            collectives: 20.0,
            bytes_per_row: 200,
            width: Width { migrant: 12, halo: 9 },
        };
        let drawn = draw(&options, &comm, &probe).unwrap();
        let count = |ranks: usize| {
            let mut decomposition = Decomposition::new(ranks, drawn.simulation.domain.settings());
            let owners = owners(&mut decomposition, &drawn.particles);
            drawn.count(&mut decomposition, &owners, &probe)
        };
        let halos = |share: &RankShare| share.halos as f64;
        let surface = Surface::through_means(&[512, 128, 32].map(count), &halos);
        for ranks in [256, 64, 16] {
            let mean = count(ranks).spread(&halos)[1];
            let foretold = surface.at(60_000.0 / ranks as f64);
            println!("{ranks} ranks: {mean}, foretold {foretold}");
            assert!((foretold / mean - 1.0).abs() < 0.15, "{ranks} ranks: {mean}, foretold {foretold}");
        }
    }
}
