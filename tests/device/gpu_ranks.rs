//! Runs on several devices, one a rank, against the same runs on processors. Runs on the emulation, and on GPUs with
//! HILBRIUM_DEVICE_UNDER_TEST=cuda, where ranks may share one.

use crate::common::{Row, difference, evolved, plan, rows};
use hilbrium::comm::{Communicator, run_local};
use hilbrium::device::Device;
use hilbrium::particles::Field;
use hilbrium::plan::Plan;
use hilbrium::step::Simulation;
use hilbrium::{Error, start};

/// The first forces of a plan on the rank's device.
fn started_on_devices(plan: &Plan, comm: &Communicator) -> Simulation {
    let (space, particles) = start::particles(plan, comm, &Simulation::fields(plan)).unwrap();
    let mut simulation = Simulation::new(plan.clone(), comm, space, particles);
    simulation.move_to(&Device::under_test().unwrap()).unwrap();
    simulation.evaluate_forces(0.0).unwrap();
    simulation.choose_step(None).unwrap();
    simulation
}

/// The particles after some steps on so many devices, by id; their conserved energy and heat; lists built.
fn on_devices(plan: &Plan, ranks: usize, steps: u64, fields: &[Field]) -> (Vec<Row>, [f64; 2], u64) {
    let parts = run_local(ranks, |comm| {
        let mut simulation = started_on_devices(plan, &comm);
        while simulation.step < steps {
            simulation.advance(simulation.next_step).unwrap();
        }
        simulation.copy_to_host().unwrap();
        let seen = simulation.observe(0.0);
        let energies = [seen.conserved_energy(), simulation.heat];
        (rows(&simulation.particles, fields), energies, simulation.lists_built())
    });
    let (energies, builds) = (parts[0].1, parts[0].2);
    assert!(parts.iter().all(|part| (part.1, part.2) == (energies, builds)), "ranks that agree");
    let owned = parts.iter().filter(|part| !part.0.is_empty()).count();
    assert!(owned == ranks, "particles on {owned} of {ranks} ranks");
    let mut all: Vec<Row> = parts.into_iter().flat_map(|part| part.0).collect();
    all.sort_by_key(|row| row.0);
    (all, energies, builds)
}

/// The same steps on processors and on one device and more; returns the lists that were built.
fn follow(plan: &Plan, steps: u64, fields: &[Field], tolerance: f64) -> u64 {
    let truth = evolved(plan, 1, 1, steps, fields);
    let mut builds = 0;
    for ranks in [1, 2, 3] {
        let found = on_devices(plan, ranks, steps, fields);
        let apart = difference(&truth, &found.0);
        assert!(apart < tolerance, "{apart:e} apart on {ranks} devices");
        builds = found.2;
    }
    builds
}

const GAS: [Field; 7] = [
    Field::Position,
    Field::Velocity,
    Field::SmoothingLength,
    Field::Density,
    Field::InternalEnergy,
    Field::Acceleration,
    Field::InternalEnergyRate,
];

const MOLECULES: [Field; 5] =
    [Field::Position, Field::Velocity, Field::Acceleration, Field::PairEnergy, Field::Virial];

fn collapse(formulation: &str, precision: &str, opening_angle: f64) -> Plan {
    plan(&format!(
        "[run]\nsteps = 20\ndevice = \"cpu\"\nprecision = \"{precision}\"\n[start.evrard]\nparticles = 800\n\
         [sph]\nformulation = \"{formulation}\"\nneighbors = 40\n\
         [gravity]\nopening_angle = {opening_angle:?}\nsoftening = 0.01\n"
    ))
}

/// With an opening angle of 0 gravity sums over all pairs on both.
#[test]
fn a_collapse_is_that_of_processors() {
    follow(&collapse("volume-elements", "double", 0.0), 3, &GAS, 1e-9);
    follow(&collapse("standard", "double", 0.0), 2, &GAS, 1e-9);
}

#[test]
fn a_collapse_in_mixed_precision_is_that_of_processors_to_single_rounding() {
    follow(&collapse("volume-elements", "mixed", 0.5), 2, &GAS, 2e-2);
}

/// A disturbed lattice in a periodic box, whose lists serve several steps.
#[test]
fn a_gas_in_a_periodic_box_is_that_of_processors() {
    let deck = |skin: f64| {
        plan(&format!(
            "[run]\nsteps = 20\ndevice = \"cpu\"\nprecision = \"double\"\n[space]\nboundary = \"periodic\"\n\
             [start.lattice]\nkind = \"bcc\"\ncells = [8, 8, 8]\nspacing = 0.1\ndensity = 1.0\ninternal_energy = 1.0\n\
             jitter = 0.15\n[sph]\nneighbors = 30\n[neighbors]\nskin = {skin:?}\n"
        ))
    };
    let new = follow(&deck(0.0), 3, &GAS, 1e-9);
    let used_again = follow(&deck(0.3), 3, &GAS, 1e-9);
    assert!(new >= 4 && used_again < new, "{new} lists without a skin, {used_again} with one");
}

/// 4 atoms a cell in a periodic box.
fn liquid(settings: &str, precision: &str) -> Plan {
    plan(&format!(
        "[run]\nsteps = 20\ndevice = \"cpu\"\nprecision = \"{precision}\"\n[start.lattice]\nkind = \"fcc\"\ncells = [6, 4, 4]\n\
         spacing = 1.6795962\ndensity = 0.8442\ntemperature = 1.44\n[space]\nboundary = \"periodic\"\n\
         [time_step]\nfixed = 0.004\n[neighbors]\nskin = 0.1\n[interaction.lennard-jones]\ncutoff = 2.5\n{settings}"
    ))
}

#[test]
fn a_liquid_is_that_of_processors() {
    for (settings, precision, tolerance) in [
        ("", "double", 1e-9),
        ("", "mixed", 2e-3),
        ("[thermostat.langevin]\ntemperature = 1.1\nfriction = 8.0\nseed = 4\n", "double", 1e-9),
        (
            "[motion.remove_drift]\nevery_steps = 2\n[thermostat.velocity-rescaling]\ntemperature = 1.1\ntime_constant = 0.06\nseed = 4\n",
            "double",
            1e-9,
        ),
    ] {
        let builds = follow(&liquid(settings, precision), 12, &MOLECULES, tolerance);
        assert!((2..12).contains(&builds), "{builds} lists in 12 steps");
    }
}

/// Ions of two kinds, whose parameters are mixed by rule.
#[test]
fn a_salt_is_that_of_processors() {
    let salt = plan(
        "[run]\nsteps = 20\ndevice = \"cpu\"\nprecision = \"double\"\n\
         [species.cation]\nmass = 1.0\ncharge = 1.0\nepsilon = 1.0\nsigma = 0.8\n\
         [species.anion]\nmass = 1.5\ncharge = -1.0\nepsilon = 0.7\nsigma = 1.1\n\
         [start.lattice]\nkind = \"rock-salt\"\ncells = [4, 4, 4]\nspacing = 2.0\ntemperature = 0.5\njitter = 0.01\n\
         [space]\nboundary = \"periodic\"\n[time_step]\nfixed = 0.002\n\
         [interaction.lennard-jones]\ncutoff = 2.5\n[interaction.coulomb]\ncutoff = 2.5\n",
    );
    follow(&salt, 6, &MOLECULES, 1e-9);
}

#[test]
fn energies_and_heat_are_those_of_one_device() {
    let plan = liquid("[thermostat.langevin]\ntemperature = 1.1\nfriction = 8.0\nseed = 4\n", "double");
    let (_, one, _) = on_devices(&plan, 1, 5, &MOLECULES);
    for ranks in [2, 4] {
        let (_, many, _) = on_devices(&plan, ranks, 5, &MOLECULES);
        for (one, many) in one.iter().zip(many) {
            assert!((one - many).abs() < 1e-9 * one.abs(), "{one} {many}");
        }
    }
}

/// What goes wrong on one device is an error on all ranks, and the step is taken back on all.
#[test]
fn a_step_that_fails_on_one_device_is_taken_back_on_all() {
    for plan in [liquid("", "double"), collapse("volume-elements", "double", 0.5)] {
        let errors = run_local(3, |comm| {
            let mut simulation = started_on_devices(&plan, &comm);
            simulation.advance(1e-3).unwrap();
            simulation.copy_to_host().unwrap();
            let fields = [Field::Position, Field::Velocity];
            let before = rows(&simulation.particles, &fields);
            let error = simulation.advance(f64::NAN).unwrap_err();
            simulation.copy_to_host().unwrap();
            let gather = |rows: Vec<Row>| {
                let words: Vec<f64> =
                    rows.into_iter().flat_map(|row| [vec![row.0 as f64], row.1].concat()).collect();
                let mut all: Vec<Row> = comm
                    .all_gather(&words)
                    .concat()
                    .chunks_exact(7)
                    .map(|row| (row[0] as u64, row[1..].to_vec()))
                    .collect();
                all.sort_by_key(|row| row.0);
                all
            };
            let apart = difference(&gather(before), &gather(rows(&simulation.particles, &fields)));
            assert!(apart < 1e-6, "{apart:e}");
            simulation.advance(1e-3).unwrap();
            error
        });
        assert!(errors.iter().any(|error| matches!(error, Error::State { step: 2, .. })), "{errors:?}");
        assert!(errors.iter().all(|error| matches!(error, Error::State { .. } | Error::Elsewhere)));
    }
}
