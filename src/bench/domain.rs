//! `bench domain`: cost of domain synchronization and halo exchange.

use super::sample::{Distribution, Sample};
use super::{Cell, Column, Common, Findings, Table, median_value};
use crate::comm::Communicator;
use crate::comm::traffic::Traffic;
use crate::domain::decomposition::Width;
use crate::particles::Field;
use crate::{Error, Result};
use rand::{RngExt, SeedableRng};
use std::collections::HashSet;
use std::time::Instant;

/// Bytes per exchanged value.
const WORD: usize = size_of::<u64>();

/// Options of `bench domain`.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Every repeat displaces each particle at random by up to --drift of the mean particle distance in\n\
    each dimension, then synchronizes the domain: box, keys, sorting, migration, halos. The first time\n\
    is the synchronization of the initial particles, on ranks that do not own them yet. Halos anew finds\n\
    and receives the halos again; refreshed sends one column of doubles to existing halos. Times are of\n\
    the slowest rank, medians over the repeats, in nanoseconds per particle of a rank. Moved is the\n\
    fraction of particles that change their rank in a repeat: they cross a border between ranks, or are\n\
    in the leaf or two by which borders move to balance the ranks. In open space, the box follows the\n\
    outermost particles in jumps. A jump changes all keys, so that most particles of a dense center may\n\
    migrate. Jumps are counted. Halos are halo rows over own rows, of the mean rank and of the rank with\n\
    most. Bytes are those received by a rank in a repeat, per own particle: particles, halos, and all\n\
    that were counted in the last repeat, including agreements. Messages are those received by a rank."
)]
pub struct Options {
    /// Number of particles of all ranks
    #[arg(long, default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(200..100_000_000_000))]
    particles: u64,
    /// Distributions of the particles, comma-separated
    #[arg(long, value_enum, value_delimiter = ',', default_value = "uniform,lattice,plummer")]
    distribution: Vec<Distribution>,
    /// Number of neighbors that determines the halo radius
    #[arg(long, default_value_t = 100.0, value_parser = super::neighbors::neighbor_count)]
    neighbors: f64,
    /// Displacement of the particles in a repeat, in mean distances
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

/// Measures one row per distribution.
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

/// Returns the time (s) of the slowest rank for a task that all start together. Collective.
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
    let moved = median_value(moved) / counts.particles;
    let halos = counts.halos / counts.particles;
    let [sync, anew, refreshed] = times.map(median_value);
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

/// Displaces each particle, identically on any number of ranks.
fn wander(sample: &mut Sample, options: &Options, repeat: usize) {
    let owned = sample.particles.owned();
    // Local mean distance, from the volume that the neighbors occupy.
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

/// Statistics over all ranks.
struct Counts {
    particles: f64,
    most_particles: f64,
    halos: f64,
    /// Largest ratio of halos to own particles of a rank.
    most_halos: f64,
    /// Number of ranks that a rank has halos of, summed over the ranks.
    peers: f64,
    /// Columns of particles that travel.
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
