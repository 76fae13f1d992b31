//! Runs of molecules at constant energy and with heat baths: the drift of the energy, the canonical ensemble, momentum,
//! agreement over ranks and threads, and restarts.

use crate::common::{difference, evolved, plan, rows, started};
use hilbrium::comm::{Communicator, run_local};
use hilbrium::neighbors::{Entry, NeighborList};
use hilbrium::observe::Observables;
use hilbrium::observe::blocking::Blocking;
use hilbrium::particles::{Field, Role};
use hilbrium::snapshot::{read_checkpoint, write_checkpoint};
use hilbrium::space::Vec3d;
use hilbrium::step::Simulation;
use std::collections::HashSet;
use std::path::Path;
use std::process::{Command, Output};

const LANGEVIN: &str = "[thermostat.langevin]\ntemperature = 1.1\nfriction = 8.0\nseed = 4\n";
const RESCALING: &str =
    "[thermostat.velocity-rescaling]\ntemperature = 1.1\ntime_constant = 0.06\nseed = 4\n";

/// A liquid of 4 cells^3 atoms.
fn liquid(cells: usize, settings: &str) -> String {
    format!(
        r#"
        [run]
        steps = 20
        precision = "double"
        [start.lattice]
        kind = "fcc"
        cells = [{cells}, {cells}, {cells}]
        spacing = 1.6795962
        density = 0.8442
        temperature = 1.1
        [space]
        boundary = "periodic"
        [interaction.lennard-jones]
        cutoff = 2.0
        truncation = "switched"
        switch_start = 1.6
        [time_step]
        fixed = 0.003
        [neighbors]
        skin = 0.15
        {settings}
        "#
    )
}

/// With the heat, also where there is none.
fn seen(simulation: &mut Simulation) -> Observables {
    let heat = Some(simulation.heat);
    Observables { heat, ..simulation.observe(0.0) }
}

/// Slope of a line through equally spaced values, with its standard error by 16 blocks of them.
fn slope(values: &[f64], interval: f64) -> (f64, f64) {
    const BLOCKS: usize = 16;
    let size = values.len() / BLOCKS;
    let means: Vec<f64> =
        values.chunks_exact(size).take(BLOCKS).map(|block| block.iter().sum::<f64>() / size as f64).collect();
    let places: Vec<f64> = (0..BLOCKS).map(|k| k as f64 - 0.5 * (BLOCKS - 1) as f64).collect();
    let mean = means.iter().sum::<f64>() / BLOCKS as f64;
    let squares: f64 = places.iter().map(|x| x * x).sum();
    let slope = places.iter().zip(&means).map(|(x, y)| x * (y - mean)).sum::<f64>() / squares;
    let rest: f64 = places.iter().zip(&means).map(|(x, y)| (y - mean - slope * x).powi(2)).sum();
    let unit = size as f64 * interval;
    (slope / unit, (rest / (BLOCKS - 2) as f64 / squares).sqrt() / unit)
}

#[test]
fn the_energy_does_not_drift() {
    let drifted = |precision: &str| {
        let deck = liquid(3, "").replace("\"double\"", precision).replace("fixed = 0.003", "fixed = 0.002");
        let mut simulation = started(&plan(&deck), &Communicator::solo());
        let mut energies = Vec::new();
        while simulation.step < 17_000 {
            simulation.advance(0.002).expect("a step");
            // after the lattice has melted
            if simulation.step > 1000 {
                energies.push(seen(&mut simulation).total_energy() / 108.0);
            }
        }
        slope(&energies, 0.002)
    };
    let (double, mixed) = std::thread::scope(|scope| {
        let other = scope.spawn(|| drifted("\"mixed\""));
        (drifted("\"double\""), other.join().expect("a run"))
    });
    println!("double {double:?} mixed {mixed:?}");
    for ((slope, error), most) in [(double, 1e-6), (mixed, 1e-5)] {
        assert!(error < 1e-6 && slope.abs() < most + 3.0 * error, "{slope:e} +- {error:e}");
    }
}

/// Kinetic energy about the motion of the whole, its squared deviation from the canonical mean, potential energy, over the
/// steps of a run of 108 atoms; all per degree of freedom and k_B T.
struct Sampled {
    kinetic: Blocking,
    potential: Vec<f64>,
}

fn sampled(thermostat: &str, steps: u64) -> Sampled {
    let mut simulation = started(&plan(&liquid(3, thermostat)), &Communicator::solo());
    let mut found = Sampled { kinetic: Blocking::new(2), potential: Vec::new() };
    let mut conserved = vec![seen(&mut simulation).conserved_energy()];
    for step in 0..steps {
        simulation.advance(0.003).expect("a step");
        if (step + 1).is_multiple_of(1000) {
            conserved.push(seen(&mut simulation).conserved_energy());
        }
        if step < 1000 {
            continue;
        }
        let seen = seen(&mut simulation);
        let freedom = 3.0 * (seen.particles - 1) as f64;
        let kinetic = seen.kinetic - 0.5 * seen.momentum.norm_squared() / seen.mass;
        let deviation = kinetic / 1.1 - 0.5 * freedom;
        found.kinetic.push(&[2.0 * kinetic / 1.1 / freedom, deviation.powi(2) / (0.5 * freedom)]);
        found.potential.push(seen.potential / seen.particles as f64);
    }
    // noise after every step makes a random walk of the integrator's error, by Langevin's drift of the fourth order in the
    // step, here 1e-5 a unit of time and particle, off its place
    let strides: Vec<f64> = conserved.windows(2).map(|pair| (pair[1] - pair[0]) / 108.0).collect();
    let (count, apart) = (strides.len() as f64, strides.iter().sum::<f64>());
    let mean = apart / count;
    let squares = strides.iter().map(|stride| (stride - mean).powi(2)).sum::<f64>();
    let deviation = (count * squares / (count - 1.0)).sqrt();
    println!(
        "{apart:e} a particle off, {deviation:e} expected, after heat {:e}",
        seen(&mut simulation).heat.unwrap()
    );
    // the heat of a step is a thousand times that: forgetting a part of it would show
    assert!(deviation < 4e-3, "{deviation}");
    assert!(apart.abs() < 4.0 * deviation + 1e-5 * 0.003 * steps as f64, "{apart} {deviation}");
    found
}

/// Mean and variance of the potential energy with their errors.
fn spread(values: &[f64]) -> [(f64, f64); 2] {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let mut blocks = Blocking::new(2);
    values.iter().for_each(|value| blocks.push(&[*value, (value - mean).powi(2)]));
    [0, 1].map(|series| {
        let estimate = blocks.estimate(series);
        (estimate.mean, estimate.standard_error)
    })
}

#[test]
fn both_thermostats_sample_the_same_canonical_ensemble() {
    const STEPS: u64 = 24_000;
    let (langevin, rescaling) = std::thread::scope(|scope| {
        let other = scope.spawn(|| sampled(RESCALING, STEPS));
        (sampled(LANGEVIN, STEPS), other.join().expect("a run"))
    });
    for (name, found) in [("langevin", &langevin), ("velocity-rescaling", &rescaling)] {
        let [mean, variance] = [0, 1].map(|series| found.kinetic.estimate(series));
        println!("{name}: kinetic {mean:?}\n  variance {variance:?}");
        // the step makes the kinetic energy of Langevin's velocities smaller by some (frequency dt)^2 / 4
        assert!(mean.standard_error < 0.005 && variance.standard_error < 0.12, "{name}");
        assert!((mean.mean - 1.0).abs() < 4.0 * mean.standard_error + 0.003, "{name}: {}", mean.mean);
        assert!((variance.mean - 1.0).abs() < 4.0 * variance.standard_error, "{name}: {}", variance.mean);
    }
    let (a, b) = (spread(&langevin.potential), spread(&rescaling.potential));
    println!("potential {a:?} {b:?}");
    for ((a, error_a), (b, error_b)) in a.into_iter().zip(b) {
        let error = error_a.hypot(error_b);
        assert!(error < 0.25 * a.abs() && (a - b).abs() < 4.0 * error, "{a} {b} {error}");
    }
}

#[test]
fn ranks_and_threads_give_the_serial_trajectory() {
    const FIELDS: &[Field] = &[Field::Velocity, Field::Force, Field::PairEnergy];
    for thermostat in [LANGEVIN, RESCALING, "[motion.remove_drift]\nevery_steps = 7\n"] {
        let deck = plan(&liquid(6, thermostat));
        let serial = evolved(&deck, 1, 1, 50, FIELDS);
        for (ranks, threads) in [(1, 2), (2, 1), (3, 2), (5, 1)] {
            let apart = difference(&serial, &evolved(&deck, ranks, threads, 50, FIELDS));
            println!("{thermostat}{ranks} {threads}: {apart:e}");
            assert!(apart < 1e-9, "{thermostat}{ranks} ranks, {threads} threads: {apart:e}");
        }
    }
}

#[test]
fn momentum_is_kept_or_removed() {
    for (settings, bound) in [
        ("", 1e-12),
        (RESCALING, 1e-12),
        (
            "[thermostat.langevin]\ntemperature = 1.1\nfriction = 8.0\n[motion.remove_drift]\nevery_steps = 20\n",
            1e-12,
        ),
    ] {
        let mut simulation = started(&plan(&liquid(3, settings)), &Communicator::solo());
        let start = seen(&mut simulation);
        let mut wandered = 0.0f64;
        while simulation.step < 200 {
            simulation.advance(0.003).expect("a step");
            wandered = wandered.max(seen(&mut simulation).momentum.norm());
        }
        let end = seen(&mut simulation);
        let apart = (end.momentum - start.momentum).norm() / end.particles as f64;
        assert!(apart < bound, "{settings}: {apart:e}");
        // noise does move the whole between removals, and what they take is accounted for
        assert_eq!(wandered > 1.0, settings.contains("langevin"), "{wandered}");
        let energy = (end.conserved_energy() - start.conserved_energy()) / end.particles as f64;
        assert!(energy.abs() < 5e-3, "{settings}: {energy}");
    }
}

fn hilbrium(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hilbrium"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the program starts")
}

/// Runs a deck with options; the status must be 0.
fn run(folder: &Path, options: &[&str], restart: Option<&str>) {
    let mut arguments = vec!["run", "deck.toml"];
    options.iter().for_each(|option| arguments.extend(["--set", option]));
    if let Some(path) = restart {
        arguments.extend(["--restart", path]);
    }
    let output = hilbrium(folder, &arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The state columns of a checkpoint, as bits.
fn state(path: &Path) -> Vec<(u64, Vec<u64>)> {
    let (_, particles) = read_checkpoint(path, &Communicator::solo()).expect("whole");
    let rows = rows(&particles, &particles.fields_of(Role::State));
    rows.into_iter().map(|(id, values)| (id, values.into_iter().map(f64::to_bits).collect())).collect()
}

#[test]
fn a_restart_gives_the_same_bits() {
    for thermostat in ["", LANGEVIN, RESCALING] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("deck.toml"), liquid(3, thermostat)).expect("the deck");
        let path = |name: &str| folder.path().join(name);
        let every = "output.checkpoint.every_steps=10";
        run(folder.path(), &["output.directory=whole", every], None);
        run(folder.path(), &["output.directory=parts", every, "run.steps=10"], None);
        run(folder.path(), &["output.directory=parts", every], Some("parts/checkpoint-000010.h5"));
        let [whole, parts] = ["whole", "parts"].map(|name| state(&path(name).join("checkpoint-000020.h5")));
        assert!(whole == parts, "{thermostat}");
        let record = |name: &str| std::fs::read_to_string(path(name)).expect("a record");
        assert_eq!(record("whole/observables.csv"), record("parts/observables.csv"));
        let header = record("whole/observables.csv").lines().next().unwrap().to_owned();
        assert_eq!(header.contains("conserved_energy"), !thermostat.is_empty());
        if thermostat.is_empty() {
            continue;
        }
        // on other ranks the same to rounding, the heat included
        let mut mpirun = Command::new("mpirun");
        let status = mpirun
            .args(["-n", "3", "--oversubscribe", "--bind-to", "none", env!("CARGO_BIN_EXE_hilbrium"), "run"])
            .args(["deck.toml", "--restart", "whole/checkpoint-000010.h5", "--set", "output.directory=ranks"])
            .envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")])
            .current_dir(folder.path())
            .output()
            .expect("mpirun starts");
        assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stderr));
        let cells = |name: &str| -> Vec<f64> {
            let text = record(name);
            text.lines().last().unwrap().split(',').map(|cell| cell.parse().unwrap()).collect()
        };
        let (whole, ranks) = (cells("whole/observables.csv"), cells("ranks/observables.csv"));
        let names: Vec<&str> = header.split(',').collect();
        for (column, (a, b)) in whole.iter().zip(&ranks).enumerate() {
            let momentum = names[column].contains("momentum") || names[column].contains("center");
            let scale = if momentum { 100.0 } else { 1.0 };
            // not the length of the last step, which is that of a row written at the end
            let same = (a - b).abs() < 1e-9 * a.abs().max(scale)
                || !a.is_finite()
                || names[column].contains("time_step");
            assert!(same, "{}: {a} {b}", names[column]);
        }
        assert_eq!(whole[0], 20.0);
    }
}

/// What a clock decided in one run is a number in its checkpoint, not decided again.
#[test]
fn a_restart_keeps_the_skins_that_were_chosen() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let deck = liquid(5, "").replace("[neighbors]\n        skin = 0.15\n", "");
    assert!(!deck.contains("skin"));
    std::fs::write(folder.path().join("deck.toml"), deck).expect("the deck");
    let every = "output.checkpoint.every_steps=10";
    run(folder.path(), &["output.directory=whole", every, "run.steps=20", "run.threads=1"], None);
    for threads in ["run.threads=1", "run.threads=2"] {
        let again = ["output.directory=again", "output.overwrite=true", every, "run.steps=20", threads];
        run(folder.path(), &again, Some("whole/checkpoint-000010.h5"));
        let [whole, again] =
            ["whole", "again"].map(|name| state(&folder.path().join(name).join("checkpoint-000020.h5")));
        let apart = whole.iter().zip(&again).flat_map(|(a, b)| a.1.iter().zip(&b.1));
        let apart = apart.map(|(a, b)| (f64::from_bits(*a) - f64::from_bits(*b)).abs()).fold(0.0, f64::max);
        assert!(apart < 1e-9, "{threads}: {apart:e}");
        // the order of sums over half lists is that of the threads
        assert!(whole == again || threads != "run.threads=1", "{threads}");
    }
}

/// Skins are chosen again where particles have become slower, by what a checkpoint says that lists cost: every restart
/// chooses the same, and one after the choice goes on with it.
#[test]
fn a_restart_across_a_second_choice_of_skins_gives_the_same_bits() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let deck = liquid(5, "").replace("[neighbors]\n        skin = 0.15\n", "");
    std::fs::write(folder.path().join("deck.toml"), deck).expect("the deck");
    let skin = |path: &Path| {
        let (state, _) = read_checkpoint(path, &Communicator::solo()).expect("whole");
        state.numbers["skin"]
    };
    let settings = ["output.checkpoint.every_steps=10", "output.overwrite=true", "run.threads=1"];
    let run = |name: &str, steps: &str, restart: Option<&str>| {
        let named = [&format!("output.directory={name}"), steps];
        run(folder.path(), &[named.as_slice(), &settings].concat(), restart);
        folder.path().join(name)
    };
    let first = run("first", "run.steps=10", None).join("checkpoint-000010.h5");

    // as if skins had been chosen for particles ten times as fast, where it costs much to build lists
    let (mut found, particles) = read_checkpoint(&first, &Communicator::solo()).expect("whole");
    let stride = 10.0 * found.numbers["list_stride"];
    for (name, number) in [
        ("list_build_seconds", 10.0),
        ("list_prune_seconds", 1.0),
        ("list_sweep_seconds", 1.0),
        ("list_stride", stride),
        ("skin", 0.1),
        ("inner_skin", 0.0),
    ] {
        assert!(found.numbers.insert(name.into(), number).is_some(), "{name}");
    }
    let changed = folder.path().join("changed");
    std::fs::create_dir(&changed).expect("a folder");
    write_checkpoint(&changed, &Communicator::solo(), &particles, &found).expect("a checkpoint");
    // programs that tests beside this one start meanwhile keep what this process has open, and its lock
    let prepared = "prepared.h5";
    std::fs::copy(changed.join("checkpoint-000010.h5"), folder.path().join(prepared)).expect("a copy");

    let whole = run("whole", "run.steps=30", Some(prepared));
    let [before, after] =
        [folder.path().join(prepared), whole.join("checkpoint-000020.h5")].map(|path| skin(&path));
    assert!(before == 0.1 && after > 0.15, "no second choice: {before}, {after}");
    let again = run("again", "run.steps=30", Some(prepared));
    let parts = run("parts", "run.steps=30", Some("whole/checkpoint-000020.h5"));
    for other in [again, parts] {
        let [one, other] = [&whole, &other].map(|run| run.join("checkpoint-000030.h5"));
        assert_eq!(skin(&one), skin(&other), "{}", other.display());
        assert!(state(&one) == state(&other), "{}", other.display());
    }
}

#[test]
fn a_step_that_cannot_be_done_is_taken_back() {
    const FIELDS: &[Field] = &[Field::Position, Field::Velocity, Field::Acceleration];
    for thermostat in ["", LANGEVIN] {
        let deck = plan(&liquid(4, thermostat));
        let apart = run_local(3, |comm| {
            let mut simulation = started(&deck, &comm);
            (0..5).for_each(|_| simulation.advance(0.003).expect("a step"));
            let before = rows(&simulation.particles, FIELDS);
            // one particle that would leave; the others learn of it
            if comm.rank() == 1 {
                let row = simulation.particles.owned().start + 7;
                simulation.particles.component_mut(Field::Velocity, 2)[row] = 1e12;
            }
            let error = simulation.advance(0.003).expect_err("no place").to_string();
            assert_eq!(error.contains("would move by"), comm.rank() == 1, "{error}");
            assert_eq!((simulation.step, simulation.heat != 0.0), (5, !thermostat.is_empty()));
            let after = rows(&simulation.particles, FIELDS);
            let faults = before.iter().zip(&after).flat_map(|(a, b)| a.1.iter().zip(&b.1));
            faults.map(|(a, b)| (a - b).abs()).filter(|&fault| fault < 1e11).fold(0.0, f64::max)
        });
        assert!(apart.iter().all(|&apart| apart < 1e-12), "{apart:?}");
    }
}

/// Two atoms out of each other's reach that a step brings to one point, where no force is defined.
#[test]
fn forces_that_are_no_numbers_leave_the_state_before_them() {
    let deck = liquid(3, "").replace("[start.lattice]", "[start.random]\nparticles = 2\nlengths = 10.0");
    let unwanted = ["kind", "cells", "spacing"];
    let kept = deck.lines().filter(|line| !unwanted.iter().any(|word| line.trim_start().starts_with(word)));
    let mut simulation = started(&plan(&kept.collect::<Vec<_>>().join("\n")), &Communicator::solo());
    for row in simulation.particles.owned() {
        let side = if simulation.particles.id[row] == 0 { 1.0 } else { -1.0 };
        simulation.particles.set_vector(Field::Position, row, Vec3d::new(4.0 - 1.5 * side, 5.0, 5.0));
        simulation.particles.set_vector(Field::Velocity, row, Vec3d::new(1.5 * side, 0.25, 0.0));
    }
    simulation.evaluate_forces(0.0).expect("no force");
    let state = |simulation: &Simulation| {
        rows(&simulation.particles, &[Field::Position, Field::Velocity, Field::Force])
    };
    let before = state(&simulation);
    let error = simulation.advance(1.0).expect_err("one point").to_string();
    assert!(error.contains("acceleration of particle") && error.contains("step 1"), "{error}");
    assert_eq!(state(&simulation), before);
    simulation.advance(0.5).expect("a step");
}

/// Fours of rows, and rows that their list lets them meet.
fn covered(simulation: &Simulation) -> HashSet<(usize, usize)> {
    let mut covered = HashSet::new();
    match simulation.neighborhood.list() {
        Some(NeighborList::Tiled(list)) => list.pairs(|i, j| covered.extend([(i / 4, j)])),
        Some(NeighborList::Clustered(list)) => {
            let mut entries: Vec<Entry> = Vec::new();
            for super_cluster in list.super_clusters() {
                list.decode(super_cluster, &mut entries);
                let fours = |k: usize| [16 * super_cluster + 2 * k, 16 * super_cluster + 2 * k + 1];
                for (entry, k) in entries.iter().flat_map(|entry| (0..8).map(move |k| (entry, k))) {
                    let others = (0..8).map(|lane| 8 * entry.cluster as usize + lane);
                    if entry.mask >> k & 1 == 1 {
                        covered.extend(others.flat_map(|j| fours(k).map(|four| (four, j))));
                    }
                }
            }
        }
        _ => panic!("a list of clusters"),
    }
    covered
}

/// Super-clusters that are swept together, in one frame, get what each gets alone: the forces of a full list.
#[test]
fn super_clusters_that_share_a_segment_get_the_same_forces() {
    for (precision, tolerance) in [("double", 1e-11), ("mixed", 1e-4)] {
        let forces = |settings: &str| {
            let deck = liquid(16, settings)
                .replace("precision = \"double\"", &format!("precision = \"{precision}\""));
            assert!(deck.contains(precision), "{deck}");
            let mut simulation = started(&plan(&deck), &Communicator::solo());
            (0..3).for_each(|_| simulation.advance(0.003).expect("a step"));
            let shared = match simulation.neighborhood.list() {
                Some(NeighborList::Tiled(list)) => list.shared_segments(),
                _ => 0,
            };
            let rows = simulation.particles.owned();
            let forces = rows.map(|row| simulation.particles.vector_at(Field::Force, row));
            (shared, forces.collect::<Vec<_>>())
        };
        let ((shared, tiled), (none, clustered)) =
            (forces("inner_skin = 0.05\n"), forces("symmetric = false\n"));
        assert!(shared > 20 && none == 0, "{shared} {none}");
        assert_eq!(tiled.len(), 4 * 16 * 16 * 16);
        let largest = clustered.iter().map(|force| force.norm()).fold(0.0, f64::max);
        let apart = tiled.iter().zip(&clustered).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        assert!(largest > 0.1 && apart < tolerance * largest, "{precision}: {apart:e} of {largest}");
    }
}

/// A list that is used again, because nothing can have come across its skin, has every pair in reach.
#[test]
fn lists_hold_every_pair_in_every_step() {
    for settings in ["", LANGEVIN, "inner_skin = 0.05\n", "inner_skin = 0\n"] {
        let mut simulation = started(&plan(&liquid(3, settings)), &Communicator::solo());
        let mut pairs = 0;
        for _ in 0..100 {
            simulation.advance(0.003).expect("a step");
            let covered = covered(&simulation);
            let covers = |i: usize, j: usize| covered.contains(&(i / 4, j)) || covered.contains(&(j / 4, i));
            let at = |row| simulation.particles.vector_at(Field::Position, row);
            for i in simulation.particles.owned() {
                for j in simulation.particles.owned().filter(|j| *j > i) {
                    if simulation.domain.bx.shortest(at(i) - at(j)).norm() < 2.0 {
                        assert!(covers(i, j), "{settings} {i} {j}");
                        pairs += 1;
                    }
                }
            }
        }
        let builds = simulation.neighborhood.builds();
        assert!(pairs > 100 * 108 && (2..50).contains(&builds), "{settings} {pairs} {builds}");
    }
}
