//! `bench decomposition`: what each of many ranks would own, hold, send and remember, found in one process, and the model of
//! weak scaling that follows from it.

mod weak_scaling;

use super::case::{Case, simulation};
use super::table::{Cell, Column, Findings, Table};
use crate::comm::traffic::{Traffic, exchanging};
use crate::comm::{Communicator, run_local};
use crate::domain::decomposition::{self, Decomposition, columns_of_packed};
use crate::far::forest::{self, EssentialTree};
use crate::particles::{Field, Particles};
use crate::space::{SimulationBox, Vec3d};
use crate::step::Simulation;
use crate::{Error, Result};
use rayon::prelude::*;
use weak_scaling::{Counted, Model, Probe, Share, Surface};

/// Particles of the run that measures rates.
const PROBE: u64 = 20_000;
/// Steps of that run.
const PROBE_STEPS: u64 = 5;
/// How far each particle goes between two decompositions, in units of its radius: about a time step of sound.
const MOVED: f64 = 0.05;
/// Numbers of ranks are divided by this, twice, for decompositions with more particles a rank.
const COARSER: usize = 8;
/// With fewer particles gravity's work does not yet grow with the logarithm of their number.
const LEAST_GROWN: usize = 20_000;
/// Particles and ranks of the run that counts operations.
const COUNTED: (u64, usize) = (2000, 2);
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

/// All particles on one rank, in key order.
struct Drawn {
    simulation: Simulation,
    particles: Particles,
    bx: SimulationBox,
    radius: Vec<f64>,
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

/// Cut the curve, and tell the rank of each particle by its id.
fn owners(decomposition: &mut Decomposition, particles: &Particles) -> Vec<u32> {
    decomposition.assign(particles);
    let mut owners = vec![0; particles.len()];
    for rank in 0..decomposition.ranks() {
        decomposition.rows(rank).for_each(|row| owners[particles.id[row] as usize] = rank as u32);
    }
    owners
}

/// A short run on one rank: how fast it is, and what it would exchange.
fn probe(options: &Options, comm: &Communicator) -> Result<Probe> {
    let plan = options.case.plan(options.particles.min(PROBE), &options.set)?;
    let mut simulation = simulation(plan, comm)?;
    simulation.evaluate_forces(0.0)?;
    simulation.choose_step(None);
    simulation.clock = crate::clock::Clock::new();
    let refreshed = simulation.domain.refreshed();
    let built = simulation.neighborhood.builds();
    let start = std::time::Instant::now();
    for _ in 0..PROBE_STEPS {
        simulation.advance(simulation.next_step)?;
    }
    let seconds = start.elapsed().as_secs_f64();
    let of_step = |before: u64, after: u64| (after - before) as f64 / PROBE_STEPS as f64;
    let now = simulation.domain.refreshed();
    let particles = &simulation.particles;
    let owned = particles.owned();
    let count = owned.len().max(1) as f64;
    let work = particles.scalar(Field::Work)[owned].iter().sum::<f64>() / count;
    let far = simulation.gravity.map_or(0.0, |plan| mean_work(&plan, particles, 1).1);
    let components: usize = particles.fields().iter().map(|field| field.components()).sum();
    Ok(Probe {
        particles: count,
        rate: count * PROBE_STEPS as f64 / seconds / rayon::current_num_threads() as f64,
        far_share: simulation.clock.seconds("gravity") / seconds,
        near_work: (work - far).max(0.0),
        far_work: far,
        refreshes: of_step(refreshed[0], now[0]),
        components: of_step(refreshed[1], now[1]),
        builds: of_step(built, simulation.neighborhood.builds()),
        collectives: collectives(options)?,
        bytes_per_row: 8 * (components + 2),
        columns: columns_of_packed(particles.fields()),
    })
}

/// Operations of all ranks in a step.
fn collectives(options: &Options) -> Result<f64> {
    let plan = options.case.plan(COUNTED.0, &options.set)?;
    let count = |comm: &Communicator| -> Result<u64> {
        let mut simulation = simulation(plan.clone(), comm)?;
        simulation.evaluate_forces(0.0)?;
        simulation.choose_step(None);
        let before = comm.received().collectives;
        for _ in 0..PROBE_STEPS {
            simulation.advance(simulation.next_step)?;
        }
        Ok(comm.received().collectives - before)
    };
    // This thread, which waits for the ranks, may be the only one that there is for parallel loops.
    let counts: Vec<Result<u64>> = run_local(COUNTED.1, |comm| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        match comm.agree_on(pool.map_err(no_threads)) {
            Ok(pool) => pool.install(|| count(&comm)),
            Err(error) => Err(error),
        }
    });
    let all: u64 = counts.into_iter().sum::<Result<u64>>()?;
    Ok(all as f64 / (COUNTED.1 as u64 * PROBE_STEPS) as f64)
}

fn no_threads(error: rayon::ThreadPoolBuildError) -> Error {
    Error::usage(format!("no thread can be started: {error}"), "free memory, or raise the limit of processes")
}

/// Number of every `stride`th particle, and their mean work in gravity when they were all there is.
fn mean_work(plan: &crate::far::GravityPlan, particles: &Particles, stride: usize) -> (f64, f64) {
    let [x, y, z] = particles.vector(Field::Position);
    let mass = particles.scalar(Field::Mass);
    let rows: Vec<usize> = particles.owned().step_by(stride).collect();
    let points: Vec<[f64; 4]> = rows.iter().map(|&row| [x[row], y[row], z[row], mass[row]]).collect();
    let keys: Vec<u64> = rows.iter().map(|&row| particles.key[row]).collect();
    let work = forest::work(plan, &keys, &points);
    (rows.len() as f64, work.iter().sum::<f64>() / rows.len().max(1) as f64)
}

/// The case's particles with the work that a step would count for them.
fn draw(options: &Options, comm: &Communicator, probe: &Probe) -> Result<Drawn> {
    let plan = options.case.plan(options.particles, &options.set)?;
    let mut fields = Simulation::fields(&plan);
    if plan.interaction.is_none() {
        // A gas has many columns, and few of them decide who owns what.
        let needed = [Field::Position, Field::Mass, Field::SmoothingLength, Field::Work];
        fields.retain(|field| needed.contains(field));
    }
    let (space, mut particles) = crate::start::particles(&plan, comm, &fields)?;
    let mut simulation = Simulation::new(plan, comm, space, Particles::default());
    let neighborhood = &simulation.neighborhood;
    simulation.domain.sync(&mut particles, |particles| neighborhood.radii(particles))?;
    let work = match &simulation.gravity {
        Some(plan) => forest::work(plan, &particles.key, &points(&particles)),
        None => vec![0.0; particles.len()],
    };
    for (own, far) in particles.scalar_mut(Field::Work).iter_mut().zip(work) {
        *own = probe.near_work + far;
    }
    let (bx, radius) = (simulation.domain.bx, simulation.neighborhood.radii(&particles));
    Ok(Drawn { simulation, particles, bx, radius })
}

fn points(particles: &Particles) -> Vec<[f64; 4]> {
    let [x, y, z] = particles.vector(Field::Position);
    let mass = particles.scalar(Field::Mass);
    particles.owned().map(|row| [x[row], y[row], z[row], mass[row]]).collect()
}

impl Drawn {
    /// Move every particle a little, each its own way.
    fn displace(&mut self) -> Result<()> {
        for (row, radius) in self.radius.iter().enumerate() {
            // Directions evenly spread over the sphere, by the golden section.
            let k = self.particles.id[row] as f64;
            let cosine = 2.0 * (k * 0.754_877_666_246_692_8).fract() - 1.0;
            let angle = std::f64::consts::TAU * (k * 0.569_840_290_998_053_2).fract();
            let sine = (1.0 - cosine * cosine).sqrt();
            let direction = Vec3d::new(sine * angle.cos(), sine * angle.sin(), cosine);
            let position = self.particles.vector_at(Field::Position, row) + direction * (MOVED * radius);
            self.particles.set_vector(Field::Position, row, position);
        }
        let neighborhood = &self.simulation.neighborhood;
        self.simulation.domain.sync(&mut self.particles, |particles| neighborhood.radii(particles))?;
        (self.bx, self.radius) = (self.simulation.domain.bx, neighborhood.radii(&self.particles));
        Ok(())
    }

    /// What every rank has and receives when the particles had these owners by their ids.
    fn count(&self, decomposition: &mut Decomposition, owners: &[u32], probe: &Probe) -> Counted {
        let particles = &self.particles;
        decomposition.assign(particles);
        let halos = decomposition.halos(&self.bx, particles, &self.radius);
        let before = |row: usize| owners[particles.id[row] as usize] as usize;
        let synced = decomposition.traffic(probe.columns, &halos, before);
        let assignment = decomposition.assignment();
        let ranks = decomposition.ranks();
        let trees = match &self.simulation.gravity {
            Some(plan) => {
                forest::essential_trees(plan, assignment, particles, |rank| decomposition.rows(rank))
            }
            None => vec![EssentialTree::default(); ranks],
        };
        let work = particles.scalar(Field::Work);
        let leaves = assignment.leaves().len();
        let of_rank = |rank: usize| {
            let rows = decomposition.rows(rank);
            let (halos, tree, synced) = (&halos[rank], trees[rank], synced[rank]);
            let refreshed = (halos.received as f64 * 8.0 * probe.components) as u64;
            // The moments of all others' leaves, and the counts ahead of them and of the wishes.
            let others = leaves - assignment.leaves_of(rank).len();
            let gathered = (others * forest::GATHERED + 16 * (ranks - 1)) as u64;
            let held = rows.len() + halos.received;
            let messages = (halos.senders as f64 * probe.refreshes) as u64;
            Share {
                particles: rows.len(),
                cost: work[rows.clone()].iter().map(|work| 1.0 + work).sum(),
                seconds: work[rows].iter().map(|work| probe.seconds(work - probe.near_work)).sum(),
                migrants: synced.migrating.bytes.saturating_sub(8 * (ranks as u64 - 1)) as f64
                    / (8 * probe.columns) as f64,
                halos: halos.received,
                boxes: halos.boxes,
                peers: halos.peers,
                synced,
                refreshed: exchanging(refreshed, messages),
                tree,
                tree_bytes: tree.traffic.bytes.saturating_sub(gathered),
                memory: (held * probe.bytes_per_row + leaves * decomposition::BYTES_PER_LEAF) as u64,
            }
        };
        Counted { leaves, shares: (0..ranks).into_par_iter().map(of_rank).collect() }
    }
}

const COLUMNS: &[Column] = &[
    ("of a rank", "quantity"),
    ("least", "least"),
    ("mean", "mean"),
    ("largest", "largest"),
    ("largest / mean", "imbalance"),
];

/// The table of least, mean and largest over the ranks.
fn of_ranks(counted: &Counted) -> Table {
    let mut table = Table::new(COLUMNS);
    let mut row = |name: &str, decimals: usize, of: &dyn Fn(&Share) -> f64| {
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
    use super::*;

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
        let probe = probe(&options, &comm).unwrap();
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
