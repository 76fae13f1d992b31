//! `bench domain`: what it costs to keep particles with their owners and halos up to date.

use super::sample::{Distribution, Sample};
use super::{Cell, Column, Common, Findings, Table, middle};
use crate::comm::Communicator;
use crate::comm::traffic::Traffic;
use crate::domain::decomposition::Width;
use crate::particles::Field;
use crate::{Error, Result};
use rand::{RngExt, SeedableRng};
use std::collections::HashSet;
use std::time::Instant;

/// Bytes of a value that travels.
const WORD: usize = size_of::<u64>();

/// What `bench domain` measures.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Every repeat moves each particle at random by up to --drift of the particles' mean distance in each\n\
    dimension, then brings them to their owners: box, keys, order, exchange, halos. The first time is\n\
    that of the particles as they start, among ranks that do not own them. Halos anew finds and receives\n\
    the halos again; refreshed sends one column of doubles to halos that are known. Times are of the\n\
    slowest rank, medians over the repeats, in nanoseconds per particle of a rank. Moved is the fraction\n\
    of particles that change their rank in a repeat: those that cross a border between ranks, and those\n\
    of a leaf or two that the borders move by to keep the ranks even. Where space is open the box follows\n\
    the outermost particles in jumps; the curve lies anew in a repeat with a jump, so that most of a dense\n\
    middle may move. Jumps are counted. Halos are rows of other ranks over own rows, of the\n\
    mean rank and of the one with most. Bytes are what a rank receives in a repeat, per own particle:\n\
    those of particles, those of halos, and all that were counted in the last one, agreements included;\n\
    messages are those of a rank from others."
)]
pub struct Options {
    /// Number of particles of all ranks
    #[arg(long, default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(200..100_000_000_000))]
    particles: u64,
    /// How the particles lie, with commas between
    #[arg(long, value_enum, value_delimiter = ',', default_value = "uniform,lattice,plummer")]
    distribution: Vec<Distribution>,
    /// Number of neighbors that halos are for
    #[arg(long, default_value_t = 100.0, value_parser = super::neighbors::neighbor_count)]
    neighbors: f64,
    /// How far particles move in a repeat, in mean distances
    #[arg(long, default_value_t = 0.1, value_parser = drift)]
    drift: f64,
}

fn drift(text: &str) -> std::result::Result<f64, String> {
    match text.parse() {
        Ok(drift) if (0.0..=100.0).contains(&drift) => Ok(drift),
        _ => Err("a drift lies between 0 and 100 mean distances".into()),
    }
}

const COLUMNS: &[Column] = &[
    ("distribution", "distribution"),
    ("particles", "particles"),
    ("most by mean", "imbalance"),
    ("moved", "moved_fraction"),
    ("jumps", "box_jumps"),
    ("halos", "halo_fraction"),
    ("most halos", "most_halo_fraction"),
    ("peers", "peers"),
    ("exchanged bytes", "exchanged_bytes_per_particle"),
    ("halo bytes", "halo_bytes_per_particle"),
    ("all bytes", "received_bytes_per_particle"),
    ("messages", "messages"),
    ("first ns", "first_nanoseconds"),
    ("sync ns", "sync_nanoseconds"),
    ("halos anew ns", "halos_nanoseconds"),
    ("refreshed ns", "refresh_nanoseconds"),
];

/// One row a distribution.
pub(super) fn measure(options: &Options, common: &Common, comm: &Communicator) -> Result<Findings> {
    let mut table = Table::new(COLUMNS);
    for &distribution in &options.distribution {
        table.push(of(distribution, options, common.repeats(5), comm)?);
    }
    let mut findings = Findings::from(table);
    findings.remarks.extend([
        ("neighbors", Cell::Number(options.neighbors, 1)),
        ("drift", Cell::Number(options.drift, 3)),
        ("repeats", Cell::count(common.repeats(5))),
    ]);
    Ok(findings)
}

/// Seconds of the slowest rank for what all do together, beginning together.
fn slowest<T>(comm: &Communicator, task: impl FnOnce() -> T) -> (f64, T) {
    comm.barrier();
    let start = Instant::now();
    let result = task();
    let mut seconds = [start.elapsed().as_secs_f64()];
    comm.all_max(&mut seconds);
    (seconds[0], result)
}

fn of(
    distribution: Distribution,
    options: &Options,
    repeats: usize,
    comm: &Communicator,
) -> Result<Vec<Cell>> {
    let mut sample = Sample::new(distribution, options.particles, options.neighbors, comm)?;
    let (first, outcome) = slowest(comm, || sample.sync());
    outcome?;
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    let (mut moved, mut jumps, mut traffic) = (Vec::new(), 0, Traffic::default());
    for repeat in 0..repeats {
        wander(&mut sample, options, repeat);
        let before: HashSet<u64> = owned_ids(&sample).collect();
        let (received, bx) = (comm.received(), sample.domain.bx);
        let (seconds, outcome) = slowest(comm, || {
            sample.sync()?;
            Ok::<_, Error>(comm.received() - received)
        });
        traffic = outcome?;
        times[0].push(seconds);
        jumps += usize::from(sample.domain.bx != bx);
        let mut arrived = [owned_ids(&sample).filter(|id| !before.contains(id)).count() as u64];
        comm.all_sum(&mut arrived);
        moved.push(arrived[0] as f64);
        let Sample { domain, particles } = &mut sample;
        times[1].push(slowest(comm, || domain.renew_halos(particles, Sample::radii)).0);
        times[2].push(slowest(comm, || domain.exchange_halos(particles, &[Field::SmoothingLength])).0);
    }
    let mut received = [traffic.bytes, traffic.messages];
    comm.all_sum(&mut received);
    let counts = Counts::of(&sample, comm);
    let mean = counts.particles / comm.size() as f64;
    let nanoseconds = |seconds: f64| Cell::Number(seconds * 1e9 / mean, 1);
    let moved = middle(moved) / counts.particles;
    let halos = counts.halos / counts.particles;
    let [sync, anew, refreshed] = times.map(middle);
    Ok(vec![
        Cell::text(distribution.name()),
        Cell::Number(counts.particles, 0),
        Cell::Number(counts.most_particles / mean, 3),
        Cell::Number(moved, 4),
        Cell::count(jumps),
        Cell::Number(halos, 3),
        Cell::Number(counts.most_halos, 3),
        Cell::Number(counts.peers / comm.size() as f64, 1),
        Cell::Number(moved * (counts.width.migrant * WORD) as f64, 1),
        Cell::Number(halos * (counts.width.halo * WORD) as f64, 1),
        Cell::Number(received[0] as f64 / counts.particles, 1),
        Cell::Number(received[1] as f64 / comm.size() as f64, 1),
        nanoseconds(first),
        nanoseconds(sync),
        nanoseconds(anew),
        nanoseconds(refreshed),
    ])
}

fn owned_ids(sample: &Sample) -> impl Iterator<Item = u64> {
    sample.particles.id[sample.particles.owned()].iter().copied()
}

/// Move each particle, the same on any number of ranks.
fn wander(sample: &mut Sample, options: &Options, repeat: usize) {
    let owned = sample.particles.owned();
    // the mean distance where a particle is, from the volume that its neighbors fill
    let scale = options.drift * (32.0 * std::f64::consts::PI / (3.0 * options.neighbors)).cbrt();
    for row in owned {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(repeat as u64);
        random.set_stream(sample.particles.id[row]);
        let by = scale * sample.particles.scalar(Field::SmoothingLength)[row];
        for component in 0..3 {
            sample.particles.component_mut(Field::Position, component)[row] +=
                by * random.random_range(-1.0..=1.0);
        }
    }
}

/// What all ranks have together.
struct Counts {
    particles: f64,
    most_particles: f64,
    halos: f64,
    /// Of halos over own particles of a rank.
    most_halos: f64,
    /// Ranks that a rank has halos of, summed.
    peers: f64,
    /// Of particles that travel.
    width: Width,
}

impl Counts {
    fn of(sample: &Sample, comm: &Communicator) -> Self {
        let rows: Vec<usize> = (0..comm.size()).map(|rank| sample.domain.halo_rows(rank).len()).collect();
        let owned = sample.particles.owned().len() as f64;
        let halos = rows.iter().sum::<usize>() as f64;
        let peers = rows.iter().filter(|&&rows| rows > 0).count() as f64;
        let mut sums = [owned, halos, peers];
        comm.all_sum(&mut sums);
        let mut most = [owned, halos / owned.max(1.0)];
        comm.all_max(&mut most);
        Counts {
            particles: sums[0],
            most_particles: most[0],
            halos: sums[1],
            most_halos: most[1],
            peers: sums[2],
            width: Width::of(sample.particles.fields()),
        }
    }
}
