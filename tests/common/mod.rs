//! Helpers of the test programs: decks as text, simulations on ranks that are threads, particles collected by
//! id; in modules, those that only some programs use.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(dead_code, reason = "each program uses its part")]

pub mod domain_cases;
pub mod processes;
pub mod program;
pub mod skip;
pub mod snapshots;
pub mod trajectories;

use hilbrium::comm::{Communicator, run_local};
use hilbrium::particles::{Field, Particles};
use hilbrium::plan::Plan;
use hilbrium::start;
use hilbrium::step::Simulation;

/// The plan of a deck given as text. Gases are of sinc-6 with 100 neighbors where the deck says nothing else:
/// the systems of tests are too small for the defaults.
pub fn plan(deck: &str) -> Plan {
    let directory = tempfile::tempdir().expect("a temporary folder");
    let path = directory.path().join("deck.toml");
    std::fs::write(&path, deck).expect("a deck can be written");
    let gas = deck.contains("[sph]");
    let pinned = [("kernel =", "sph.kernel=sinc-6"), ("neighbors =", "sph.neighbors=100")];
    let pinned = pinned.iter().filter(|(key, _)| gas && !deck.contains(key));
    let options: Vec<String> = pinned.map(|(_, option)| (*option).to_owned()).collect();
    hilbrium::deck::read(&path, &options).unwrap_or_else(|error| panic!("{error}"))
}

/// A simulation of a plan with its first forces.
pub fn started(plan: &Plan, comm: &Communicator) -> Simulation {
    let (space, particles) =
        start::particles(plan, comm, &Simulation::fields(plan)).expect("the start is laid out");
    let mut simulation = Simulation::new(plan.clone(), comm, space, particles);
    simulation.evaluate_forces(0.0).expect("first forces");
    simulation.choose_step(None).unwrap();
    simulation
}

/// One particle's values of some fields, in the order of the fields' components.
pub type Row = (u64, Vec<f64>);

/// The owned particles' values, by id.
pub fn rows(particles: &Particles, fields: &[Field]) -> Vec<Row> {
    let mut rows: Vec<Row> = particles
        .owned()
        .map(|row| {
            let values = fields.iter().flat_map(|&f| (0..f.components()).map(move |c| (f, c)));
            (particles.id[row], values.map(|(f, c)| particles.component(f, c)[row]).collect())
        })
        .collect();
    rows.sort_by_key(|row| row.0);
    rows
}

/// The particles after `steps` steps on so many ranks and threads, by id. Ranks of several threads sweep
/// while values of halos travel, as ranks of several hosts do.
pub fn evolved(plan: &Plan, ranks: usize, threads: usize, steps: u64, fields: &[Field]) -> Vec<Row> {
    let parts = run_local(ranks, |comm| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
        pool.install(|| {
            let mut simulation = started(plan, &comm);
            simulation.domain.overlaps = threads > 1;
            while simulation.step < steps {
                simulation.advance(simulation.next_step).expect("a step");
            }
            simulation.evaluate_energies();
            rows(&simulation.particles, fields)
        })
    });
    let mut all: Vec<Row> = parts.into_iter().flatten().collect();
    all.sort_by_key(|row| row.0);
    all
}

/// Largest difference of any value, relative to the field's rms over all particles; fields are vectors of
/// components.
pub fn difference(a: &[Row], b: &[Row]) -> f64 {
    assert_eq!(a.len(), b.len(), "the same particles");
    assert!(a.iter().zip(b).all(|(a, b)| a.0 == b.0), "the same ids");
    let columns = a.first().map_or(0, |row| row.1.len());
    let mut worst = 0.0f64;
    for column in 0..columns {
        let scale = (a.iter().map(|row| row.1[column].powi(2)).sum::<f64>() / a.len() as f64).sqrt();
        let apart = a.iter().zip(b).map(|(a, b)| (a.1[column] - b.1[column]).abs()).fold(0.0, f64::max);
        assert!(scale.is_finite() && apart.is_finite());
        if scale > 0.0 {
            worst = worst.max(apart / scale);
        }
    }
    worst
}
