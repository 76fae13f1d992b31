//! `bench keys`: Hilbert keys and sorting by key.

use super::sample::{Distribution, Sample};
use super::{Cell, Column, Common, Findings, Table, median};
use crate::Result;
use crate::comm::Communicator;
use crate::domain;
use crate::particles::{Field, Particles};
use crate::space::hilbert;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

/// Options of `bench keys`.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Keys are computed from columns of positions with all threads of the rank. Sorting is that of the\n\
    domain in each step: keys, then the order of rows by key and id, without moving the particles.\n\
    DriftResult particles are in the key order of positions that differ by a tenth of the mean particle\n\
    distance in each dimension."
)]
pub struct Options {
    /// Numbers of particles, comma-separated
    #[arg(long, value_delimiter = ',', default_value = "65536,1000000",
        value_parser = clap::value_parser!(u64).range(200..1_000_000_000))]
    particles: Vec<u64>,
}

const COLUMNS: &[Column] = &[
    ("particles", "particles"),
    ("order", "order"),
    ("keys ns per particle", "keys_nanoseconds"),
    ("1e6 keys per s", "million_keys_per_second"),
    ("and thread", "million_keys_per_second_and_thread"),
    ("keys and sort ns", "sort_nanoseconds"),
    ("1e6 sorted per s", "million_sorted_per_second"),
];

/// Displacement of drifted particles, in mean distances.
const DRIFT: f64 = 0.1;

/// Measures keys and sorting of uniformly distributed particles in three initial orders.
pub(super) fn measure(options: &Options, common: &Common, comm: &Communicator) -> Result<Findings> {
    let repeats = common.repeats(5);
    let mut table = Table::new(COLUMNS);
    for &count in &options.particles {
        let mut sample = Sample::new(Distribution::Uniform, count, 1.0, comm)?;
        sample.sync()?;
        let (bx, mut particles) = (sample.domain.bx, sample.particles);
        for order in ["sorted", "drifted", "random"] {
            match order {
                "drifted" => drift(&mut particles, DRIFT * (bx.lengths().product() / count as f64).cbrt()),
                "random" => shuffle(&mut particles),
                _ => {}
            }
            let mut keys = vec![0; particles.len()];
            let (seconds, ()) =
                median(repeats, || hilbert::keys(&bx, particles.vector(Field::Position), &mut keys));
            let (sort, sorted) = median(repeats, || domain::sort(&bx, &mut particles));
            assert_eq!(sorted.rows.len(), particles.len(), "every row is sorted");
            let rate = |seconds: f64| count as f64 / seconds * 1e-6;
            let threads = rayon::current_num_threads() as f64;
            table.push(vec![
                Cell::count(count),
                Cell::text(order),
                Cell::Number(seconds * 1e9 / count as f64, 2),
                Cell::Number(rate(seconds), 1),
                Cell::Number(rate(seconds) / threads, 1),
                Cell::Number(sort * 1e9 / count as f64, 2),
                Cell::Number(rate(sort), 1),
            ]);
        }
    }
    let mut findings = Findings::from(table);
    findings.remarks.push(("repeats", Cell::count(repeats)));
    Ok(findings)
}

/// Displaces every coordinate by at most `by`; positions outside of the box get the key of its face.
fn drift(particles: &mut Particles, by: f64) {
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    for component in 0..3 {
        for x in particles.component_mut(Field::Position, component) {
            *x += random.random_range(-by..by);
        }
    }
}

/// Permutes the positions.
fn shuffle(particles: &mut Particles) {
    for component in 0..3 {
        // Same permutation for all components.
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(2);
        particles.component_mut(Field::Position, component).shuffle(&mut random);
    }
}
