//! The choice of a method by measuring, with particles on a device, and restarts that keep it.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// As many atoms as a device needs to measure methods.
const LIQUID: &str = "[run]\nsteps = 2\nthreads = 1\n\
    [start.lattice]\nkind = \"fcc\"\ncells = [14, 14, 14]\nspacing = 1.6795962\ndensity = 0.8442\ntemperature = 1.44\n\
    [space]\nboundary = \"periodic\"\n[interaction.lennard-jones]\ncutoff = 1.5\n[time_step]\nfixed = 0.004\n\
    [output]\nobservables = { every_steps = 1 }\n";

/// What the program prints in a folder, on a device where the device is "cuda".
fn hilbrium(folder: &Path, arguments: &[&str]) -> String {
    let under_test = std::env::var("HILBRIUM_DEVICE_UNDER_TEST").unwrap_or_else(|_| "emulated".into());
    let output = Command::new(env!("CARGO_BIN_EXE_hilbrium"))
        .current_dir(folder)
        .args(arguments)
        .env("HILBRIUM_DEVICE_UNDER_TEST", under_test)
        .output()
        .unwrap();
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}");
    text
}

#[test]
fn a_device_measures_methods_and_restarts_keep_the_choice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::write(path.join("liquid.toml"), LIQUID).unwrap();
    let cuda = ["--set", "run.device=cuda"];
    let told = hilbrium(path, &[&["tune", "liquid.toml", "--json"][..], &cuda].concat());
    let rows: Value = serde_json::from_str(told.lines().last().unwrap()).unwrap();
    let rows = rows.as_array().unwrap();
    let names: Vec<(&str, bool)> =
        rows.iter().map(|row| (row["method"].as_str().unwrap(), row["symmetric"] == true)).collect();
    let all =
        [("clusters", true), ("clusters", false), ("particles", false), ("cells", false), ("search", false)];
    assert_eq!(names, all);
    let measured = |row: &Value| row["seconds_per_step"].as_f64().is_some_and(|seconds| seconds > 0.0);
    assert!(rows[..3].iter().all(measured), "{rows:?}");
    assert!(rows[3..].iter().all(|row| measured(row) || row["not_tried"].is_string()), "{rows:?}");
    let chosen: Vec<&Value> = rows.iter().filter(|row| row["chosen"] == true).collect();
    let [chosen] = chosen[..] else { panic!("one is chosen: {rows:?}") };
    let seconds = |row: &Value| row["seconds_per_step"].as_f64().unwrap_or(f64::INFINITY);
    assert!(rows.iter().all(|row| seconds(chosen) * 0.98 <= seconds(row) || row["fits_memory"] == false));

    // a skin of the deck holds, the method is open
    let keys = ["--set", "neighbors.method=auto", "--set", "neighbors.skin=0.2"];
    let told = hilbrium(path, &[&["run", "liquid.toml"][..], &keys, &cuda].concat());
    assert!(told.contains("(skin = 0.2)"), "{told}");
    assert!(told.contains("ms a step") && told.contains("chosen"), "{told}");
    let goes_on = ["run", "liquid.toml", "--restart", "out", "--set", "run.steps=3"];
    let told = hilbrium(path, &[&goes_on[..], &keys, &cuda].concat());
    assert!(!told.contains("ms a step"), "the choice is kept: {told}");
    // times of a device say nothing of processors
    let on_processors = ["--set", "run.device=cpu", "--set", "run.steps=4"];
    let told = hilbrium(path, &[&goes_on[..4], &keys, &on_processors].concat());
    assert!(told.contains("lists of clusters, each pair once: cutoff 1.5, built to "), "{told}");
}
