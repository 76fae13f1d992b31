//! `hilbrium bench decomposition`: tables for every case, from a few thousand particles.

use assert_cmd::Command;
use serde_json::Value;

fn hilbrium(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hilbrium"));
    command.args(["bench", "decomposition"]).args(arguments);
    command
}

fn found(arguments: &[&str]) -> Value {
    let output = hilbrium(arguments).arg("--json").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// The row of a quantity: least, mean and largest over the ranks.
fn of_ranks(found: &Value, quantity: &str) -> [f64; 3] {
    let rows = found["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["quantity"] == quantity).unwrap();
    ["least", "mean", "largest"].map(|which| number(&row[which]))
}

#[test]
fn every_case_is_decomposed_and_extrapolated() {
    for case in ["uniform", "evrard", "plummer", "liquid", "ions"] {
        let found = found(&[
            "--case",
            case,
            "--particles",
            "4000",
            "--ranks",
            "64",
            "--rate",
            "1e5",
            "--threads",
            "1",
        ]);
        let mean = number(&found["particles"]) / 64.0;
        let [least, found_mean, largest] = of_ranks(&found, "particles");
        assert_eq!(found_mean, mean, "{case}");
        assert!(least <= mean && mean <= largest, "{case}");
        let attracts = ["evrard", "plummer"].contains(&case);
        assert_eq!(of_ranks(&found, "tree: nodes received")[2] > 0.0, attracts, "{case}");
        // Stars do not act on each other by pairs.
        assert_eq!(of_ranks(&found, "halo particles")[2] > 0.0, case != "plummer", "{case}");
        let received = of_ranks(&found, "received, kB: all")[1];
        let parts: f64 = ["coarse leaves", "particles", "boxes", "halos", "fields of halos", "tree"]
            .iter()
            .map(|part| of_ranks(&found, &format!("received, kB: {part}"))[1])
            .sum();
        assert!(received > 0.0 && (parts / received - 1.0).abs() < 1e-9, "{case}: {parts} {received}");
        let steps = found["weak_scaling"].as_array().unwrap();
        assert_eq!(steps[0]["weak_scaling_percent"], 100.0, "{case}");
        for kind in ["weak_scaling_percent", "efficiency_percent"] {
            let all: Vec<f64> = steps.iter().map(|step| number(&step[kind])).collect();
            assert!(all.is_sorted_by(|a, b| a >= b) && all[steps.len() - 1] > 0.0, "{case}: {all:?}");
        }
    }
}

#[test]
fn the_machine_is_what_the_arguments_say() {
    let with = |machine: &[&str]| {
        let start = ["--case", "uniform", "--particles", "3000", "--ranks", "8", "--per-rank", "1000000"];
        let found = found(&[&start, machine].concat());
        found["weak_scaling"].as_array().unwrap()[4].clone()
    };
    let usual = with(&["--rate", "1e5", "--cores", "10"]);
    assert!((number(&usual["compute_seconds"]) / 1.0 - 1.0).abs() < 0.2, "{usual}");
    let quick = with(&["--rate", "2e5", "--cores", "20"]);
    assert!((number(&usual["compute_seconds"]) / number(&quick["compute_seconds"]) - 4.0).abs() < 1e-6);
    let narrow = with(&["--rate", "1e5", "--cores", "10", "--bandwidth", "0.1"]);
    assert!(number(&narrow["halo_milliseconds"]) > 10.0 * number(&usual["halo_milliseconds"]));
    for wrong in [["--rate", "0"], ["--latency", "-1"], ["--bandwidth", "nan"], ["--ranks", "0"]] {
        assert_eq!(hilbrium(&wrong).output().unwrap().status.code(), Some(2), "{wrong:?}");
    }
}
