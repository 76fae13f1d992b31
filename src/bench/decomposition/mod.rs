//! `bench decomposition`: what each of many ranks would own, hold, send and remember, found in one process, and the model of
//! weak scaling that follows from it.

mod drawn;
mod probe;
mod table;
mod weak_scaling;

use super::case::Case;
use super::table::{Cell, Findings};
use crate::comm::Communicator;
use crate::domain::decomposition::Decomposition;
use crate::far::forest;
use crate::{Error, Result};
use drawn::{Drawn, draw, owners};
use probe::{mean_work, probe};
use table::of_ranks;
use weak_scaling::{Counted, Model, Probe, Share, Surface};

/// Numbers of ranks are divided by this, twice, for decompositions with more particles a rank.
const COARSER: usize = 8;
/// With fewer particles gravity's work does not yet grow with the logarithm of their number.
const LEAST_GROWN: usize = 20_000;
/// Ranks that the model needs at least in a decomposition.
const FEWEST: usize = 8;

/// What `bench decomposition` decomposes and predicts.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "All ranks are simulated in this process, with the functions that real ranks decide with. Particles have moved by 0.05 of \
    their radius since the decomposition before. Work is that of the case's passes, measured in a short run, and of \
    gravity, found by walking the tree. The model's second table adds up a step on the rank that has most of each part, \
    without overlap; docs/src/scaling.md explains it."
)]
pub struct Options {
    /// What is decomposed
    #[arg(long, value_enum, default_value_t = Case::Evrard)]
    case: Case,
    /// Number of particles of all ranks
    #[arg(long, default_value_t = 4_000_000, value_parser = clap::value_parser!(u64).range(200..1_000_000_000))]
    particles: u64,
    /// Ranks to divide them among
    #[arg(long, default_value_t = 4096, value_parser = clap::value_parser!(u64).range(1..=32_768))]
    ranks: u64,
    /// Set a key over the case's deck: --set sph.neighbors=200
    #[arg(long = "set", value_name = "SECTION.KEY=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    machine: Machine,
}

/// The machine whose steps are predicted.
#[derive(Clone, Debug, clap::Args)]
struct Machine {
    /// Particles of a rank, of which the model predicts the steps
    #[arg(long, value_name = "PARTICLES", default_value_t = 10_000_000,
          value_parser = clap::value_parser!(u64).range(1000..1 << 31))]
    pub per_rank: u64,
    /// Cores of a rank
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..=4096))]
    pub cores: u64,
    /// Particle updates a second and core [default: measured now on this machine]
    #[arg(long, value_parser = positive)]
    pub rate: Option<f64>,
    /// Latency of a message in microseconds
    #[arg(long, value_name = "MICROSECONDS", default_value_t = 2.0, value_parser = positive)]
    pub latency: f64,
    /// What a rank receives in GB a second
    #[arg(long, value_name = "GB/S", default_value_t = 10.0, value_parser = positive)]
    pub bandwidth: f64,
    /// Memory of a rank in GB
    #[arg(long, value_name = "GB", default_value_t = 64.0, value_parser = positive)]
    pub memory: f64,
}

fn positive(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("not a number above 0".into()),
    }
}

/// Decompose the case's particles, and predict weak scaling.
///
/// # Errors
/// [`Error::Usage`] for more than one real rank, [`Error::Deck`] for wrong options, and those of a step.
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
    let counted: Vec<Counted> =
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

/// The numbers of ranks to decompose for: the one asked for, and fewer with more particles each.
fn numbers_of_ranks(ranks: usize) -> impl Iterator<Item = usize> {
    [ranks, ranks / COARSER, ranks / COARSER / COARSER]
        .into_iter()
        .enumerate()
        .filter(|&(k, ranks)| k == 0 || ranks >= FEWEST)
        .map(|(_, ranks)| ranks)
}

/// The model that follows from the decompositions, the last of which has the most particles a rank.
fn model(
    machine: &Machine,
    probe: &Probe,
    drawn: &Drawn,
    coarsest: &Decomposition,
    counted: &[Counted],
) -> Model {
    let particles = &drawn.particles;
    let top = drawn
        .simulation
        .gravity
        .as_ref()
        .map(|plan| forest::top_cost(plan, coarsest.assignment(), particles));
    let growth: Vec<(f64, f64)> = drawn.simulation.gravity.as_ref().map_or_else(Vec::new, |plan| {
        [1, 8, 64]
            .into_iter()
            .filter(|stride| particles.len() / stride >= LEAST_GROWN)
            .map(|stride| mean_work(plan, particles, stride))
            .collect()
    });
    let surface = |of: &dyn Fn(&Share) -> f64| Surface::through(counted, of);
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
    use super::weak_scaling::Exchanged;
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
        // Through three numbers of ranks, for one between them and for one beyond.
        let comm = Communicator::solo();
        let options = options(Case::Uniform, 60_000, 512);
        // where all have the same work, halos do not ask for more than that
        let exchanged = Exchanged { exchanges: 5.0, columns: 20.0 };
        let probe = Probe {
            particles: 60_000.0,
            rate: 1e5,
            far_share: 0.0,
            near_work: 1000.0,
            far_work: 0.0,
            brought: exchanged,
            given_back: exchanged,
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
        let halos = |share: &Share| share.halos as f64;
        let surface = Surface::through_means(&[512, 128, 32].map(count), &halos);
        for ranks in [256, 64, 16] {
            let mean = count(ranks).spread(&halos)[1];
            let foretold = surface.at(60_000.0 / ranks as f64);
            println!("{ranks} ranks: {mean}, foretold {foretold}");
            assert!((foretold / mean - 1.0).abs() < 0.15, "{ranks} ranks: {mean}, foretold {foretold}");
        }
    }
}
