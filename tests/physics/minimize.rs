//! Minimization before a run: from a random gas whose atoms overlap, on any ranks, and what the run is like afterwards.

use crate::common::{Row, difference, plan, rows};
use hilbrium::comm::{Communicator, run_local};
use hilbrium::deck::Plan;
use hilbrium::particles::Field;
use hilbrium::start;
use hilbrium::step::{Minimized, Simulation};

/// Independent positions at the density of a liquid.
fn gas(atoms: u32, precision: &str, settings: &str) -> String {
    let length = (f64::from(atoms) / 0.8442).cbrt();
    format!(
        r#"
        [run]
        steps = 1
        precision = "{precision}"
        [start.random]
        particles = {atoms}
        lengths = {length:?}
        density = 0.8442
        temperature = 0.7
        [space]
        boundary = "periodic"
        [interaction.lennard-jones]
        cutoff = 2.5
        truncation = "switched"
        switch_start = 2.0
        [time_step]
        fixed = 0.002
        [neighbors]
        skin = 0.12
        [minimize]
        {settings}
        "#
    )
}

/// The start, with the atoms of the first ids at one point, minimized.
fn minimized(plan: &Plan, comm: &Communicator, together: u64) -> (Simulation, Minimized) {
    let (space, mut particles) = start::particles(plan, comm, &Simulation::fields(plan)).expect("a start");
    for row in particles.owned().filter(|&row| particles.id[row] < together).collect::<Vec<_>>() {
        particles.set_vector(Field::Position, row, space.lower.map(|x| x + 1.0));
    }
    let mut simulation = Simulation::new(plan.clone(), comm, space, particles);
    let found = simulation.minimize().expect("a minimum").expect("the deck asks for it");
    simulation.evaluate_forces(0.0).expect("finite forces");
    simulation.choose_step(None).unwrap();
    (simulation, found)
}

#[test]
fn a_random_gas_becomes_a_liquid_that_runs_at_constant_energy() {
    for precision in ["mixed", "double"] {
        let deck = plan(&gas(2500, precision, "largest_force = 1.0"));
        let (mut simulation, found) = minimized(&deck, &Communicator::solo(), 3);
        println!("{precision}: {found:?}");
        assert!(found.converged && found.largest_force <= 1.0 && found.steps < 1500, "{found:?}");
        // amorphous packings of this density lie between -6 and -7 epsilon an atom without cutoff
        let per_atom = found.energy / 2500.0;
        assert!((-6.8..-4.5).contains(&per_atom) && !found.energy_before.is_finite(), "{found:?}");
        assert!(!simulation.particles.has(Field::Descent));
        let first = simulation.observe(0.0);
        // the velocities are those of the start, whose temperature is exact
        assert!((first.molecular.unwrap().temperature - 0.7).abs() < 1e-12);
        let mut most = 0.0f64;
        while simulation.step < 300 {
            simulation.advance(0.002).expect("a step");
            most = most.max((simulation.observe(0.0).total_energy() - first.total_energy()).abs() / 2500.0);
        }
        assert!(most < 2e-3, "{precision}: the energy wanders by {most} an atom");
    }
}

#[test]
fn ranks_find_the_same() {
    const FIELDS: &[Field] = &[Field::Position, Field::Velocity, Field::Force];
    // so many steps as rounding stays rounding
    let deck = plan(&gas(2100, "double", "largest_force = 1.0\nmost_steps = 60"));
    let on = |ranks: usize| -> (Vec<Row>, Minimized) {
        let mut parts = run_local(ranks, |comm| {
            let (simulation, found) = minimized(&deck, &comm, 2);
            (rows(&simulation.particles, FIELDS), found)
        });
        let found = parts[0].1;
        let mut all: Vec<Row> = parts.iter_mut().flat_map(|part| std::mem::take(&mut part.0)).collect();
        all.sort_by_key(|row| row.0);
        (all, found)
    };
    let (serial, found) = on(1);
    assert!(!found.converged && found.steps == 60, "{found:?}");
    for ranks in [2, 3] {
        let (other, same) = on(ranks);
        let apart = difference(&serial, &other);
        println!("{ranks}: {apart:e}, {same:?}");
        assert!(apart < 1e-8, "{ranks} ranks: {apart:e}");
        assert!((same.energy / found.energy - 1.0).abs() < 1e-9);
    }
}

#[test]
fn what_is_a_minimum_stays_and_a_pair_finds_its_distance() {
    let pair = |distance: f64| {
        let deck = plan(
            "[run]\nsteps = 1\nprecision = \"double\"\n[start.random]\nparticles = 2\nlengths = 20.0\n\
             density = 0.00025\n[space]\nboundary = \"periodic\"\n[interaction.lennard-jones]\n[time_step]\n\
             fixed = 0.005\n[minimize]\nlargest_force = 1e-9\n",
        );
        let comm = Communicator::solo();
        let (space, mut particles) = start::particles(&deck, &comm, &Simulation::fields(&deck)).unwrap();
        particles.set_vector(Field::Position, 0, space.lower.map(|x| x + 10.0));
        let other = particles.vector_at(Field::Position, 0).map(|x| x + distance / 3f64.sqrt());
        particles.set_vector(Field::Position, 1, other);
        let mut simulation = Simulation::new(deck, &comm, space, particles);
        let found = simulation.minimize().unwrap().unwrap();
        let apart = simulation.particles.vector_at(Field::Position, 0)
            - simulation.particles.vector_at(Field::Position, 1);
        (found, apart.norm())
    };
    let best = 2f64.powf(1.0 / 6.0);
    for start in [0.0, 1e-4, 0.3, 1.0, 2.0] {
        let (found, distance) = pair(start);
        println!("{start}: {found:?} {distance}");
        assert!(found.converged && (distance - best).abs() < 1e-6, "{start}: {distance} {found:?}");
        assert!((found.energy + 1.0).abs() < 1e-6);
    }
    let (found, distance) = pair(5.0);
    assert!(found.steps == 0 && (distance - 5.0).abs() < 1e-9 && found.energy == 0.0);
}
