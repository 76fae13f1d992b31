//! Short runs of a case that measure its rate on this machine and count its communication.

use super::Options;
use super::weak_scaling::{ExchangeRate, Probe};
use crate::bench::case::simulation;
use crate::comm::{Communicator, run_local};
use crate::domain::decomposition::Width;
use crate::far::simulated_ranks;
use crate::particles::{Field, Particles};
use crate::step::CountsWork;
use crate::{Error, Result};

/// Particles of the run that measures the rate.
const PROBE: u64 = 20_000;
/// Steps of that run.
const PROBE_STEPS: u64 = 5;
/// Particles and ranks of the run that counts collective operations.
const COUNTING_RUN: (u64, usize) = (2000, 2);

/// Runs a few steps on one rank: measures the rate and counts the columns that would be exchanged.
pub(super) fn probe(options: &Options, comm: &Communicator) -> Result<Probe> {
    let plan = options.case.plan(options.particles.min(PROBE), &options.set)?;
    let mut simulation = simulation(plan, comm)?;
    simulation.counts_work = CountsWork::Always;
    simulation.evaluate_forces(0.0)?;
    simulation.choose_step(None)?;
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
    let exchanged = |way: usize| {
        let [exchanges, columns] = [0, 1].map(|k| of_step(refreshed[way][k], now[way][k]));
        ExchangeRate { exchanges, columns }
    };
    let particles = &simulation.particles;
    let owned = particles.owned();
    let count = owned.len().max(1) as f64;
    let work = particles.scalar(Field::Work)[owned].iter().sum::<f64>() / count;
    let far = simulation.gravity.as_ref().map_or(0.0, |gravity| mean_work(&gravity.plan, particles, 1).1);
    let components: usize = particles.fields().iter().map(|field| field.components()).sum();
    Ok(Probe {
        particles: count,
        rate: count * PROBE_STEPS as f64 / seconds / rayon::current_num_threads() as f64,
        far_share: simulation.clock.seconds("gravity") / seconds,
        near_work: (work - far).max(0.0),
        far_work: far,
        halo_exchanges: exchanged(0),
        returned_sums: exchanged(1),
        builds: of_step(built, simulation.neighborhood.builds()),
        collectives: collectives(options)?,
        bytes_per_row: 8 * (components + 2),
        width: Width::of(particles.fields()),
    })
}

/// Counts the collective operations per step.
fn collectives(options: &Options) -> Result<f64> {
    let plan = options.case.plan(COUNTING_RUN.0, &options.set)?;
    let count = |comm: &Communicator| -> Result<u64> {
        let mut simulation = simulation(plan.clone(), comm)?;
        simulation.evaluate_forces(0.0)?;
        simulation.choose_step(None)?;
        let before = comm.received().collectives;
        for _ in 0..PROBE_STEPS {
            simulation.advance(simulation.next_step)?;
        }
        Ok(comm.received().collectives - before)
    };
    // A pool of its own for each rank: this thread, which waits for the ranks, may be the only worker of the
    // global pool.
    let counts: Vec<Result<u64>> = run_local(COUNTING_RUN.1, |comm| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        match comm.agree_on(pool.map_err(no_threads)) {
            Ok(pool) => pool.install(|| count(&comm)),
            Err(error) => Err(error),
        }
    });
    let all: u64 = counts.into_iter().sum::<Result<u64>>()?;
    Ok(all as f64 / (COUNTING_RUN.1 as u64 * PROBE_STEPS) as f64)
}

fn no_threads(error: rayon::ThreadPoolBuildError) -> Error {
    Error::usage(format!("no thread can be started: {error}"), "free memory, or raise the limit of processes")
}

/// Returns the number of every `stride`th particle and their mean gravity work if no others existed.
pub(super) fn mean_work(plan: &crate::far::GravityPlan, particles: &Particles, stride: usize) -> (f64, f64) {
    let [x, y, z] = particles.vector(Field::Position);
    let mass = particles.scalar(Field::Mass);
    let rows: Vec<usize> = particles.owned().step_by(stride).collect();
    let points: Vec<[f64; 4]> = rows.iter().map(|&row| [x[row], y[row], z[row], mass[row]]).collect();
    let keys: Vec<u64> = rows.iter().map(|&row| particles.key[row]).collect();
    let work = simulated_ranks::work(plan, &keys, &points);
    (rows.len() as f64, work.iter().sum::<f64>() / rows.len().max(1) as f64)
}
