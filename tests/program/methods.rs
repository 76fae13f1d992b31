//! `neighbors.method` in runs, restarts and `hilbrium tune`.

use crate::common::program::Case;
use serde_json::Value;

const LIQUID: &str = r#"
[run]
steps = 20
device = "cpu"
threads = 1
[start.lattice]
kind = "fcc"
cells = [6, 6, 6]
spacing = 1.6795962
density = 0.8442
temperature = 1.44
[space]
boundary = "periodic"
[interaction.lennard-jones]
[time_step]
fixed = 0.004
[output]
directory = "out"
overwrite = true
observables.every_steps = 10
"#;

#[test]
fn methods_give_the_same_energies() {
    let case = Case::new();
    let energies = |sets: &[&str]| {
        let (status, told) = case.run(LIQUID, sets);
        assert_eq!(status, 0, "{told}");
        (case.column("out", "total_energy"), told)
    };
    let (expected, told) = energies(&[]);
    assert!(told.contains("lists of clusters, each pair once: cutoff 2.5, built to "), "{told}");
    for method in ["clusters", "particles", "cells"] {
        let (found, _) = energies(&[&format!("neighbors.method={method}"), "neighbors.skin=0.15"]);
        assert_eq!(found.len(), 3);
        for (own, other) in expected.iter().zip(&found) {
            assert!((own - other).abs() < 1e-5 * own.abs(), "{method}: {own} {other}");
        }
    }
    let (status, told) = case.run(LIQUID, &["neighbors.method=search"]);
    assert_eq!(status, 2, "{told}");
    assert!(told.contains("neighbors.method = \"search\" needs a GPU"), "{told}");
    assert!(told.contains("write method = \"cells\" or \"clusters\""), "{told}");
}

#[test]
fn tune_prints_the_candidates_and_writes_nothing() {
    let case = Case::new();
    std::fs::write(case.path("deck.toml"), LIQUID).unwrap();
    // a method of the deck does not restrict the table
    let (status, told) = case.hilbrium(&["tune", "deck.toml", "--set", "neighbors.method=cells"]);
    assert_eq!(status, 0, "{told}");
    for text in
        ["method", "bytes a particle", "chosen", "not tried: evaluates each pair twice", "[neighbors]"]
    {
        assert!(told.contains(text), "{text} in {told}");
    }
    assert!(!case.path("out").exists(), "nothing is written");
    // the keys that it prints are a deck's
    let keys = told.split("[neighbors]\n").nth(1).expect("keys").trim();
    let fixed = format!("{LIQUID}[neighbors]\n{keys}\n");
    let (status, told) = case.run(&fixed, &[]);
    assert_eq!(status, 0, "{told}");
    assert!(!told.contains("built to"), "nothing is left to choose: {told}");

    std::fs::write(case.path("deck.toml"), LIQUID).unwrap();
    let (status, told) = case.hilbrium(&["tune", "deck.toml", "--json"]);
    let rows: Value = serde_json::from_str(told.trim()).expect("JSON");
    let rows = rows.as_array().expect("rows");
    assert_eq!((status, rows.len()), (0, 4));
    assert_eq!(rows.iter().filter(|row| row["chosen"] == true).count(), 1);
    assert!(
        rows[0]["build_seconds"].as_f64() > Some(0.0) && rows[0]["bytes_per_particle"].as_f64() > Some(1.0)
    );
    assert!(rows[2]["not_tried"].is_string() && rows[2]["build_seconds"].is_null());

    let (status, told) = case.hilbrium(&["tune", "deck.toml", "--set", "start.lattice.temperature=0"]);
    assert_eq!(status, 2, "{told}");
    assert!(told.contains("there is nothing to measure") && told.contains("temperature"), "{told}");
}

#[test]
fn a_gas_has_builds_in_its_evaluations() {
    let case = Case::new();
    let gas = "[run]\nsteps = 1\ndevice = \"cpu\"\nthreads = 1\n[start.evrard]\nparticles = 3000\n[sph]\n[gravity]\n";
    std::fs::write(case.path("deck.toml"), gas).unwrap();
    let (status, told) = case.hilbrium(&["tune", "deck.toml", "--json"]);
    let rows: Value = serde_json::from_str(told.trim()).expect("JSON");
    assert_eq!((status, rows[0]["method"].as_str()), (0, Some("clusters")), "{told}");
    let [build, sweep, step] =
        ["build_seconds", "sweep_seconds", "seconds_per_step"].map(|name| rows[0][name].as_f64().unwrap());
    assert!(build > 0.0 && sweep > build && (build + sweep - step).abs() < 1e-9 * step, "{told}");
    assert!(rows[2]["not_tried"].as_str().is_some_and(|reason| reason.contains("builds")), "{told}");
}

#[test]
fn a_restart_keeps_the_choice() {
    let case = Case::new();
    let (status, told) = case.run(LIQUID, &[]);
    assert_eq!(status, 0, "{told}");
    let (status, told) = case.hilbrium(&[
        "run",
        "deck.toml",
        "--restart",
        "out",
        "--set",
        "run.steps=30",
        "--set",
        "run.threads=1",
    ]);
    assert_eq!(status, 0, "{told}");
    assert!(!told.contains("each pair once: cutoff"), "nothing is measured again: {told}");
    assert_eq!(case.column("out", "step").last(), Some(&30.0));
}
