//! External accelerations: projectiles, orbits about a point mass, gases and molecules that fall; ranks.

use crate::common::{difference, evolved, plan, started};
use hilbrium::comm::{Communicator, run_local};
use hilbrium::particles::Field;
use hilbrium::step::Simulation;
use nalgebra::Vector3;

/// Total energy, with that in the field.
fn energy(simulation: &mut Simulation) -> f64 {
    simulation.observe(0.0).total_energy()
}

/// Velocity Verlet is exact in a uniform field, and the energy is constant.
#[test]
fn projectiles_fly_on_parabolas() {
    let deck = "[run]\nsteps = 40\nprecision = \"double\"\n[start.random]\nparticles = 70\n\
                [external]\nuniform = [0.5, 0.0, -2.0]\n[time_step]\nlargest = 0.05\n";
    let field = Vector3::new(0.5, 0.0, -2.0);
    for ranks in [1, 2] {
        run_local(ranks, |comm| {
            let mut simulation = started(&plan(deck), &comm);
            let rows = simulation.particles.owned();
            for row in rows {
                let kick = simulation.particles.id[row] as f64;
                let velocity = Vector3::new(kick.sin(), kick.cos(), 1.0);
                simulation.particles.set_vector(Field::Velocity, row, velocity);
            }
            let begin = simulation.particles.clone();
            let start: Vec<_> = begin
                .owned()
                .map(|row| {
                    let [x, v] = [Field::Position, Field::Velocity].map(|field| begin.vector_at(field, row));
                    (begin.id[row], x, v)
                })
                .collect();
            let first = energy(&mut simulation);
            for _ in 0..40 {
                simulation.advance(simulation.next_step).unwrap();
            }
            let time = simulation.time;
            assert!((time - 2.0).abs() < 1e-12, "{time}");
            let particles = &simulation.particles;
            for row in particles.owned() {
                // without forces of others particles stay on their rank or leave it with the box
                let Some((_, x, v)) = start.iter().find(|(id, ..)| *id == particles.id[row]) else {
                    continue;
                };
                let exact: Vector3<f64> = x + v * time + 0.5 * field * time * time;
                let apart = particles.vector_at(Field::Position, row) - exact;
                assert!(apart.norm() < 1e-13 * 40.0, "{apart}");
                let speed = particles.vector_at(Field::Velocity, row) - (v + field * time);
                assert!(speed.norm() < 1e-13 * 40.0, "{speed}");
            }
            let last = energy(&mut simulation);
            assert!((last - first).abs() < 1e-12, "{first} {last}");
            let external = simulation.observe(0.0).external.unwrap();
            assert!((last - simulation.observe(0.0).kinetic - external).abs() < 1e-13);
        });
    }
}

/// Position error after a period, energy error at its largest, for a number of steps a period.
fn orbit(steps: u32, settings: &str) -> [f64; 2] {
    let (comm, period) = (Communicator::solo(), 2.0 * std::f64::consts::PI);
    let deck = format!(
        "[run]\nend_time = 100.0\nprecision = \"double\"\n[start.random]\nparticles = 2\n\
         [external.point_mass]\nmass = 0.5\nconstant = 2.0\nposition = [1.0, 2.0, 3.0]\n{settings}\n\
         [time_step]\nfixed = {:?}\n",
        period / f64::from(steps)
    );
    let mut simulation = started(&plan(&deck), &comm);
    // semi-major axis 1, eccentricity 0.6, at the apocenter
    let start = Vector3::new(1.0, 2.0 + 1.6, 3.0);
    simulation.particles.set_vector(Field::Position, 0, start);
    simulation.particles.set_vector(Field::Velocity, 0, Vector3::new(0.5, 0.0, 0.0));
    // the other one is far away: it widens the box
    simulation.particles.set_vector(Field::Position, 1, start + Vector3::new(40.0, 0.0, 0.0));
    simulation.particles.set_vector(Field::Velocity, 1, Vector3::zeros());
    let id = simulation.particles.id[0];
    simulation.neighborhood.invalidate();
    simulation.evaluate_forces(0.0).unwrap();
    let first = energy(&mut simulation);
    let mut largest = 0.0f64;
    for _ in 0..steps {
        simulation.advance(simulation.next_step).unwrap();
        largest = largest.max((energy(&mut simulation) / first - 1.0).abs());
    }
    let row = simulation.particles.owned().find(|&row| simulation.particles.id[row] == id).unwrap();
    [(simulation.particles.vector_at(Field::Position, row) - start).norm(), largest]
}

#[test]
fn a_test_particle_returns_after_a_period_to_second_order() {
    for settings in ["", "distance = \"cylindrical\""] {
        let [coarse, fine] = [orbit(500, settings), orbit(1000, settings)];
        for (coarse, fine) in coarse.into_iter().zip(fine) {
            let order = (coarse / fine).log2();
            assert!((order - 2.0).abs() < 0.1 && fine < 0.01, "{coarse:e} {fine:e}: order {order}");
        }
    }
    let [position, _] = orbit(1000, "softening = 0.1");
    assert!(position > 0.1, "a softened orbit is no ellipse: {position}");
}

/// Forces between particles do not change how their center of mass falls.
#[test]
fn gases_molecules_and_stars_fall_as_one() {
    let gas = "[start.evrard]\nparticles = 500\n[sph]\nneighbors = 50\n";
    let stars = "[start.plummer]\nparticles = 200\n[gravity]\nsoftening = 0.05\n";
    let molecules = "[start.lattice]\nkind = \"fcc\"\ncells = [3, 3, 3]\nspacing = 1.6\ndensity = 1.0\n\
                     temperature = 0.5\n[space]\nboundary = \"open\"\n[interaction.lennard-jones]\ncutoff = 2.5\n\
                     truncation = \"switched\"\nswitch_start = 2.0\n";
    let both = format!("{gas}[gravity]\nsoftening = 0.01\n");
    for matter in [gas, stars, molecules, &both] {
        let deck = format!(
            "[run]\nsteps = 5\nprecision = \"double\"\n{matter}[external]\nuniform = [0.0, 0.0, -3.0]\n\
             [time_step]\nfixed = 0.004\n"
        );
        let mut simulation = started(&plan(&deck), &Communicator::solo());
        let before = simulation.observe(0.0);
        for _ in 0..5 {
            simulation.advance(0.004).unwrap();
        }
        let after = simulation.observe(0.0);
        let time = simulation.time;
        let momentum = after.momentum - before.momentum - before.mass * time * Vector3::new(0.0, 0.0, -3.0);
        assert!(momentum.norm() < 1e-11 * before.mass, "{matter}: {momentum}");
        let fall = after.center_of_mass - before.center_of_mass - before.momentum / before.mass * time;
        assert!((fall.z + 1.5 * time * time).abs() < 1e-12, "{matter}: {fall}");
        assert!((after.total_energy() - before.total_energy()).abs() < 2e-3 * before.mass, "{matter}");
    }
}

#[test]
fn ranks_agree() {
    let deck = "[run]\nsteps = 3\nprecision = \"double\"\n[start.evrard]\nparticles = 600\n[sph]\nneighbors = 50\n\
                [external]\nuniform = [0.1, 0.0, 0.0]\n\
                [external.point_mass]\nmass = 2.0\nposition = [0.0, 0.0, 0.1]\nsoftening = 0.3\n";
    let fields = [Field::Position, Field::Velocity, Field::Acceleration, Field::Density];
    let plan = plan(deck);
    let one = evolved(&plan, 1, 1, 3, &fields);
    for ranks in [2, 3] {
        let apart = difference(&one, &evolved(&plan, ranks, 1, 3, &fields));
        assert!(apart < 1e-11, "{ranks} ranks: {apart:e}");
    }
}
