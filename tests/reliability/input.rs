//! Decks and particles at the edge of what can be run.

use crate::case::*;
use std::time::{Duration, Instant};

#[test]
fn a_huge_deck_and_senseless_numbers_are_refused_at_once() {
    let case = Case::new(DECK);
    let huge = std::fs::File::create(case.path("huge.toml")).expect("a file");
    huge.set_len(100_000_000).expect("a hole of 100 MB");
    let start = Instant::now();
    let output = case.command(&["run", "huge.toml"]).output().expect("the program starts");
    assert_eq!(status(&output), 2, "{}", told(&output));
    assert!(told(&output).contains("too large for a deck"), "{}", told(&output));
    assert!(start.elapsed() < Duration::from_secs(20));
    for set in [
        "start.evrard.particles=-5",
        "start.evrard.particles=nan",
        "sph.neighbors=nan",
        "sph.neighbors=-60",
        "gravity.softening=-0.1",
        "gravity.softening=inf",
        "time_step.courant=0",
        "run.steps=-1",
    ] {
        let output = case.run(&[set]);
        assert_eq!(status(&output), 2, "{set}: {}", told(&output));
        let key = set.split('=').next().and_then(|path| path.split('.').next_back()).expect("a key");
        assert!(told(&output).contains(key), "{set}: {}", told(&output));
    }
    assert!(!case.path("out").exists());
}

#[test]
fn particles_in_one_point_run_or_are_told_of() {
    let case = Case::new(&format!("{FROM_FILE}[gravity]\nsoftening = 0.01\n"));
    snapshot(&case.path("start.hdf5"), &[[0.25; 3]; 300]);
    let output = case.run(&[]);
    assert_eq!(status(&output), 0, "gravity alone: {}", told(&output));
    let output = case.run(&["sph.neighbors=60", "output.directory=gas"]);
    assert_eq!(status(&output), 1, "{}", told(&output));
    assert!(told(&output).contains("particle") && told(&output).contains("help:"), "{}", told(&output));
}

#[test]
fn a_device_that_cannot_be_used_is_refused_before_anything_is_written() {
    let case = Case::new(DECK);
    let output = case.run(&["run.device=cuda"]);
    assert_eq!(status(&output), 2, "{}", told(&output));
    assert!(told(&output).contains("CUDA") && told(&output).contains("run.device=cpu"), "{}", told(&output));
    assert!(!case.path("out").exists());
}

#[test]
fn few_particles_and_no_step_are_runs() {
    let plummer = |particles: u64| {
        format!(
            "[run]\nsteps = 3\ndevice = \"cpu\"\n[start.plummer]\nparticles = {particles}\n\
             [gravity]\nsoftening = 0.01\n[time_step]\nlargest = 0.01\n"
        )
    };
    for particles in [1, 2, 9] {
        let case = Case::new(&plummer(particles));
        let output = case.run(&[]);
        assert_eq!(status(&output), 0, "{particles}: {}", told(&output));
    }
    let none = Case::new(&plummer(0)).run(&[]);
    assert_eq!(status(&none), 2);
    assert!(told(&none).contains("particles"), "{}", told(&none));
}

#[test]
fn cold_and_isothermal_gases_run() {
    let cold = DECK.replace("[start.evrard]", "[start.random]\ninternal_energy = 0.0");
    let isothermal = DECK.replace("[sph]", "[sph]\nequation_of_state = \"isothermal\"\nsound_speed = 0.2");
    for (set, deck) in [("cold", cold), ("isothermal", isothermal)] {
        let case = Case::new(&deck);
        let output = case.run(&["run.steps=30", "run.end_time=10"]);
        assert_eq!(status(&output), 0, "{set}: {}", told(&output));
        let record = std::fs::read_to_string(case.path("out/observables.csv")).expect("a record");
        let last: Vec<f64> = record
            .lines()
            .next_back()
            .expect("rows")
            .split(',')
            .map(|x| x.parse().expect("a number"))
            .collect();
        assert!(last[0] == 30.0 && last[1] > 0.02 && last[2] > 1e-6, "{set}: {last:?}");
    }
}
