//! Runs of molecules: conservation, agreement over ranks, threads and lists, and the pressure of a known liquid.

use crate::common::{difference, evolved, plan, started};
use hilbrium::comm::{Communicator, run_local};
use hilbrium::observe::Molecular;
use hilbrium::particles::Field;
use hilbrium::space::Vec3d;
use hilbrium::space::hilbert::key_of;
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

/// Single precision over tiles, with what ranks give each other for their pairs, and energies by the same lists.
#[test]
fn ranks_have_the_serial_forces_in_mixed_precision() {
    let deck = plan(&liquid("[run]\nsteps = 1\nprecision = \"mixed\"", 8, 0.002, 0.3));
    for fields in [&[Field::Force][..], &[Field::PairEnergy, Field::Virial]] {
        let serial = evolved(&deck, 1, 1, 10, fields);
        for (ranks, threads) in [(1, 2), (2, 1), (3, 2), (5, 1)] {
            let apart = difference(&serial, &evolved(&deck, ranks, threads, 10, fields));
            println!("{fields:?} {ranks} {threads}: {apart:e}");
            // rounding of pairs that nearly cancel; a pair that is missed is 1
            assert!(apart < 1e-4, "{fields:?}, {ranks} ranks, {threads} threads: {apart:e}");
        }
    }
}

#[test]
fn neighbors_of_what_is_no_number_are_named_across_ranks() {
    let deck = plan(&liquid("[run]\nsteps = 1\nprecision = \"mixed\"", 6, 0.002, 0.1));
    let told = run_local(2, |comm| {
        let mut simulation = started(&deck, &comm);
        let bx = simulation.domain.bx;
        let beyond = bx.lower + 0.5 * bx.lengths();
        // two places next to each other, on either side of the cut
        let places = (0..3).find_map(|d| {
            let mut above = bx.lower + Vec3d::new(0.1, 0.2, 0.3).component_mul(&bx.lengths());
            above[d] = beyond[d];
            let mut below = above;
            below[d] = beyond[d] - 1e-15 * bx.lengths()[d];
            let owner = |place: &Vec3d| {
                (0..2).find(|&rank| simulation.domain.range(rank).contains(&key_of(place, &bx)))
            };
            (owner(&above) != owner(&below))
                .then(|| if owner(&above) == Some(0) { [above, below] } else { [below, above] })
        });
        let row = simulation.particles.owned().start;
        simulation.particles.set_vector(Field::Position, row, places.unwrap()[comm.rank()]);
        let id = simulation.particles.id[row];
        simulation.neighborhood.invalidate();
        let error = simulation.evaluate_forces(0.0).unwrap_err().to_string();
        assert!(simulation.particles.id[simulation.particles.owned()].contains(&id), "it has stayed");
        (id, error)
    });
    for ([own, other], (_, error)) in [[0, 1], [1, 0]].into_iter().zip(&told) {
        let (own, other) = (told[own].0, told[other].0);
        let named = error.contains(&format!("of particle {own} is"))
            && error.contains(&format!("neighbors are [{other},"));
        assert!(named, "{error}");
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
