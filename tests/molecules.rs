//! Runs of molecules: conservation, agreement over ranks, threads and lists, and the pressure of a known liquid.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]

mod common;

use common::{difference, evolved, plan, started};
use hilbrium::comm::{Communicator, run_local};
use hilbrium::observe::Molecular;
use hilbrium::particles::Field;
use hilbrium::step::Simulation;

fn liquid(settings: &str, cells: usize, step: f64, skin: f64) -> String {
    format!(
        r#"
        [start.lattice]
        kind = "fcc"
        cells = [{cells}, {cells}, {cells}]
        spacing = 1.6795962
        density = 0.8442
        temperature = 1.44
        [space]
        boundary = "periodic"
        [interaction.lennard-jones]
        cutoff = 2.5
        truncation = "switched"
        switch_start = 2.0
        [time_step]
        fixed = {step}
        [neighbors]
        skin = {skin}
        {settings}
        "#
    )
}

/// Largest deviation of the energy per particle from its start over a time of 1.
fn wander(precision: &str, step: f64) -> f64 {
    let deck = liquid(&format!("[run]\nsteps = 1\nprecision = \"{precision}\""), 5, step, 0.12);
    let mut simulation = started(&plan(&deck), &Communicator::solo());
    let first = simulation.observe(0.0);
    let mut most = 0.0f64;
    while simulation.time < 1.0 {
        simulation.advance(step).expect("a step");
        most = most.max((simulation.observe(0.0).total_energy() - first.total_energy()).abs());
    }
    let last = simulation.observe(0.0);
    assert!(last.momentum.norm() < 1e-5 * last.particles as f64, "{}", last.momentum);
    most / last.particles as f64
}

#[test]
fn the_energy_fluctuates_with_the_square_of_the_step() {
    let [coarse, fine] = [0.004, 0.002].map(|step| wander("double", step));
    println!("{coarse:e} {fine:e}");
    assert!(coarse < 1e-2 && (3.0..5.5).contains(&(coarse / fine)), "{coarse:e} {fine:e}");
    let mixed = wander("mixed", 0.002);
    assert!((mixed / fine - 1.0).abs() < 0.2, "{mixed:e} {fine:e}");
}

#[test]
fn ranks_threads_and_skins_give_the_serial_trajectory() {
    const FIELDS: &[Field] = &[Field::Velocity, Field::Force, Field::PairEnergy];
    let deck = |skin: f64| plan(&liquid("[run]\nsteps = 1\nprecision = \"double\"", 6, 0.002, skin));
    let serial = evolved(&deck(0.0), 1, 1, 50, FIELDS);
    for (ranks, threads) in [(1, 2), (2, 1), (3, 2), (5, 1)] {
        let apart = difference(&serial, &evolved(&deck(0.1), ranks, threads, 50, FIELDS));
        println!("{ranks} {threads}: {apart:e}");
        assert!(apart < 1e-9, "{ranks} ranks, {threads} threads: {apart:e}");
    }
}

#[test]
fn a_start_has_the_temperature_asked_for_and_no_motion() {
    let deck = liquid("[run]\nsteps = 1", 6, 0.002, 0.1);
    let mut simulation = started(&plan(&deck), &Communicator::solo());
    let start = simulation.observe(0.0);
    let Some(Molecular { temperature, .. }) = start.molecular else { panic!("molecules") };
    assert!((temperature - 1.44).abs() < 1e-12, "{temperature}");
    assert!(start.momentum.norm() < 1e-11);
}

#[test]
fn ranks_count_work_once_for_each_list() {
    let deck = plan(&liquid("[run]\nsteps = 1", 6, 0.002, 0.1));
    let work = |simulation: &Simulation| {
        let owned = simulation.particles.owned();
        simulation.particles.scalar(Field::Work)[owned].to_vec()
    };
    run_local(2, |comm| {
        let mut simulation = started(&deck, &comm);
        let (counted, built) = (work(&simulation), simulation.neighborhood.builds());
        assert!(counted.iter().all(|&work| work > 0.0));
        simulation.advance(0.002).unwrap();
        assert_eq!((work(&simulation), simulation.neighborhood.builds()), (counted, built));
        simulation.neighborhood.invalidate();
        simulation.advance(0.002).unwrap();
        assert_eq!(simulation.neighborhood.builds(), built + 1);
        assert!(work(&simulation).iter().all(|&work| work > 0.0));
    });
}
