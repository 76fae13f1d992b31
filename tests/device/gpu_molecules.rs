//! Runs of molecules whose particles live on a device, against the same runs on processors.

use crate::common::{difference, plan, rows, started};
use hilbrium::comm::Communicator;
use hilbrium::device::Device;
use hilbrium::particles::Field;
use hilbrium::space::Vec3d;
use hilbrium::step::Simulation;
use hilbrium::{Error, start};

/// 4 atoms a cell in a periodic box.
fn deck(settings: &str, precision: &str) -> String {
    // species have masses of their own
    let density = if settings.contains("[species") { "" } else { "density = 0.8442\n" };
    format!(
        "[run]\nsteps = 12\nprecision = \"{precision}\"\n\
         [start.lattice]\nkind = \"fcc\"\ncells = [4, 4, 4]\nspacing = 1.6795962\n{density}temperature = 1.44\n\
         [space]\nboundary = \"periodic\"\n[time_step]\nfixed = 0.004\n[neighbors]\nskin = 0.1\n{settings}"
    )
}

const LIQUID: &str = "[interaction.lennard-jones]\ncutoff = 2.5\n";
const SWITCHED: &str =
    "[interaction.lennard-jones]\ncutoff = 2.5\ntruncation = \"switched\"\nswitch_start = 2.0\n";
const LANGEVIN: &str = "[interaction.lennard-jones]\ncutoff = 2.5\n[thermostat.langevin]\ntemperature = 1.1\nfriction = 8.0\nseed = 4\n";
const RESCALING: &str = "[interaction.lennard-jones]\ncutoff = 2.5\n\
                         [thermostat.velocity-rescaling]\ntemperature = 1.1\ntime_constant = 0.06\nseed = 4\n";
/// Charges with an Ewald sum.
const IONS: &str = "[species.A]\nmass = 1.0\ncharge = 1.0\n[species.B]\nmass = 1.5\ncharge = -1.0\n\
                    [interaction.lennard-jones]\ncutoff = 2.5\n[interaction.coulomb]\nmethod = \"pme\"\n";

/// The plan's start on the device, with its first forces.
fn started_on_device(deck: &str) -> Simulation {
    let (plan, comm) = (plan(deck), Communicator::solo());
    let (space, particles) = start::particles(&plan, &comm, &Simulation::fields(&plan)).unwrap();
    let mut simulation = Simulation::new(plan, &comm, space, particles);
    simulation.move_to(&Device::under_test().unwrap()).unwrap();
    simulation.evaluate_forces(0.0).unwrap();
    simulation.choose_step(None).unwrap();
    simulation
}

fn run(simulation: &mut Simulation, steps: u64) {
    while simulation.step < steps {
        simulation.advance(simulation.next_step).unwrap();
    }
    simulation.copy_to_host().unwrap();
    simulation.evaluate_energies();
}

const SEEN: [Field; 5] =
    [Field::Position, Field::Velocity, Field::Acceleration, Field::PairEnergy, Field::Virial];

#[test]
fn a_device_moves_molecules_as_processors_do() {
    for (settings, precision, tolerance) in [
        (LIQUID, "double", 1e-9),
        (LIQUID, "mixed", 2e-3),
        (SWITCHED, "double", 1e-9),
        (LANGEVIN, "double", 1e-9),
        (RESCALING, "double", 1e-9),
        (IONS, "double", 1e-9),
        (IONS, "mixed", 2e-3),
    ] {
        let deck = deck(settings, precision);
        let mut there = started_on_device(&deck);
        run(&mut there, 12);
        let mut here = started(&plan(&deck), &Communicator::solo());
        run(&mut here, 12);
        let apart = difference(&rows(&here.particles, &SEEN), &rows(&there.particles, &SEEN));
        assert!(apart < tolerance, "{settings} {precision}: {apart:e}");
        assert!((here.heat - there.heat).abs() <= 1e-9 * here.heat.abs(), "{} {}", here.heat, there.heat);
        let (here, there) = (here.observe(0.0), there.observe(0.0));
        assert!((here.potential - there.potential).abs() < tolerance * here.potential.abs());
    }
}

/// Two atoms that repel each other from rest: their displacement of a step grows by 3, 5/3, 7/5, ..., so that
/// the first ones exceed the bound by which a step is enqueued, and the later ones do not.
#[test]
fn a_step_that_moves_farther_than_expected_is_evaluated_again() {
    let deck = |skin: f64| {
        format!(
            "[run]\nsteps = 12\nprecision = \"double\"\n\
             [start.lattice]\nkind = \"sc\"\ncells = [2, 1, 1]\nspacing = 1.0\ndensity = 1.0\n\
             [space]\nboundary = \"open\"\n[time_step]\nfixed = 0.001\n[neighbors]\nskin = {skin}\n{LIQUID}"
        )
    };
    let mut without_skin = started_on_device(&deck(0.0));
    let mut with_skin = started_on_device(&deck(0.5));
    assert_eq!(with_skin.repeated_forces(), 0);
    run(&mut without_skin, 12);
    run(&mut with_skin, 12);
    let apart = difference(&rows(&without_skin.particles, &SEEN), &rows(&with_skin.particles, &SEEN));
    assert_eq!(apart, 0.0);
    assert_eq!((without_skin.lists_built(), without_skin.repeated_forces()), (13, 0));
    assert_eq!(with_skin.lists_built(), 1);
    assert!((1..6).contains(&with_skin.repeated_forces()), "{}", with_skin.repeated_forces());
}

#[test]
fn a_step_that_fails_is_taken_back() {
    let mut simulation = started_on_device(&deck(LIQUID, "double"));
    run(&mut simulation, 3);
    let before = rows(&simulation.particles, &SEEN);
    for length in [1e30, f64::NAN, 1e4] {
        let error = simulation.advance(length).unwrap_err();
        assert!(matches!(error, Error::State { step: 4, .. }), "{error}");
        simulation.copy_to_host().unwrap();
        let after = rows(&simulation.particles, &SEEN);
        let apart = difference(&before, &after);
        assert!(apart < 1e-6, "after a step of {length}: {apart:e}");
    }
    // and the run goes on
    simulation.advance(0.004).unwrap();
}

/// Steps that a device performs without the host between two lists. Full lists have reproducible bits.
#[test]
fn steps_enqueued_together_are_those_taken_one_by_one() {
    for (settings, precision) in
        [(LIQUID, "mixed"), (LIQUID, "double"), (LANGEVIN, "mixed"), (IONS, "mixed"), (RESCALING, "mixed")]
    {
        for method in ["particles", "clusters"] {
            let deck = deck(settings, precision)
                .replace("skin = 0.1", &format!("skin = 0.3\nsymmetric = false\nmethod = \"{method}\""));
            let mut single = started_on_device(&deck);
            let single_waits = waits(&mut single, |simulation| run(simulation, 40));
            let mut batch = started_on_device(&deck);
            let mut lengths = Vec::new();
            let batch_waits = waits(&mut batch, |simulation| {
                while simulation.step < 40 {
                    let (dt, most) = (simulation.next_step, 40 - simulation.step);
                    lengths.push(simulation.advance_steps(dt, most).unwrap());
                }
                run(simulation, 40);
            });
            assert_eq!(lengths.iter().sum::<u64>(), 40);
            let apart = difference(&rows(&single.particles, &SEEN), &rows(&batch.particles, &SEEN));
            // few charges are spread by atomic additions, whose order varies on a GPU
            let on_gpu = std::env::var("HILBRIUM_DEVICE_UNDER_TEST").is_ok_and(|device| device == "cuda");
            let bound = if settings == IONS && on_gpu { 2e-3 } else { 0.0 };
            assert!(apart <= bound, "{settings} {precision} {method}: {apart:e}");
            assert_eq!((single.time, single.heat), (batch.time, batch.heat));
            assert!(bound > 0.0 || single.lists_built() == batch.lists_built());
            if settings == RESCALING {
                assert!(lengths.iter().all(|&length| length == 1), "the host scales velocities");
            } else {
                assert!(lengths.iter().any(|&length| length > 5), "{lengths:?}");
                assert!(batch_waits + 20 < single_waits, "{batch_waits} waits, {single_waits} one by one");
            }
        }
    }
}

/// The results for which the host waits in some work on the device.
fn waits(simulation: &mut Simulation, work: impl FnOnce(&mut Simulation)) -> u64 {
    let now = |simulation: &Simulation| simulation.device().unwrap().operations().waits;
    let before = now(simulation);
    work(simulation);
    now(simulation) - before
}

/// Two atoms that meet in one point: their forces are not finite in a step of a batch.
#[test]
fn a_batch_ends_with_the_step_that_fails() {
    let deck = "[run]\nsteps = 12\nprecision = \"double\"\n\
         [start.random]\nparticles = 2\nlengths = 20.0\ndensity = 1.0\ntemperature = 1.0\n\
         [space]\nboundary = \"periodic\"\n[time_step]\nfixed = 0.5\n[neighbors]\nskin = 1.0\n\
         [interaction.lennard-jones]\ncutoff = 4.0\n";
    let begin = || {
        let (plan, comm) = (plan(deck), Communicator::solo());
        let (space, mut particles) = start::particles(&plan, &comm, &Simulation::fields(&plan)).unwrap();
        for row in particles.owned() {
            let side = if particles.id[row] == 0 { 1.0 } else { -1.0 };
            particles.set_vector(Field::Position, row, Vec3d::new(10.0 - side, 10.0, 10.0));
            particles.set_vector(Field::Velocity, row, Vec3d::new(0.5 * side, 0.0, 0.0));
            // so heavy that forces do not deflect them
            particles.component_mut(Field::Mass, 0)[row] = 1e30;
        }
        let mut simulation = Simulation::new(plan, &comm, space, particles);
        simulation.move_to(&Device::under_test().unwrap()).unwrap();
        simulation.evaluate_forces(0.0).unwrap();
        simulation.choose_step(None).unwrap();
        simulation
    };
    let (mut single, mut batch) = (begin(), begin());
    let single_error = loop {
        if let Err(error) = single.advance(0.5) {
            break error.to_string();
        }
    };
    let mut lengths = Vec::new();
    let batch_error = loop {
        match batch.advance_steps(0.5, 8) {
            Ok(length) => lengths.push(length),
            Err(error) => break error.to_string(),
        }
    };
    assert_eq!(single_error, batch_error);
    assert_eq!((single.step, single.time), (batch.step, batch.time));
    assert_eq!(lengths, [1], "the step that fails is enqueued with those before it");
    assert_eq!(batch.step, 3, "{batch_error}");
    single.copy_to_host().unwrap();
    batch.copy_to_host().unwrap();
    let apart = difference(&rows(&single.particles, &SEEN), &rows(&batch.particles, &SEEN));
    assert_eq!(apart, 0.0);
}
