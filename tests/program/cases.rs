//! Every registered case, run small and judged by its gates.

use crate::common::skip::skip;
use hilbrium::cases::AnyCase;
use serde_json::Value;
use std::process::Command;

/// What is wrong with the small runs of a case; empty if its largest run of every variant passes.
fn complaints(name: &str, runs: &[Value]) -> Vec<String> {
    let own: Vec<&Value> = runs.iter().filter(|run| run["case"] == name).collect();
    if own.is_empty() {
        return vec![format!("{name}: no small run in scripts/validate-cases")];
    }
    // runs of a variant are in order of their sizes
    let last = |run: &Value| own.iter().rfind(|other| other["label"] == run["label"]).copied() == Some(run);
    let mut found = Vec::new();
    for run in own.iter().copied().filter(|run| last(run)) {
        let (label, verdict) = (&run["label"], &run["verdict"]);
        if let Some(error) = run["failed"].as_str() {
            found.push(format!("{label}: {error}"));
        } else if verdict["passed"] != true {
            for check in verdict["checks"].as_array().unwrap().iter().filter(|c| c["outcome"] == "failed") {
                found.push(format!(
                    "{label}: {} is {}, gate {}",
                    check["name"], check["measured"], check["gate"]
                ));
            }
        }
    }
    found
}

#[test]
fn every_case_passes_its_gates_at_its_small_size() {
    let folder = tempfile::tempdir().unwrap();
    let mut script = Command::new(std::env::var_os("HILBRIUM_PYTHON").unwrap_or("python3".into()));
    script
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["scripts/validate-cases", env!("CARGO_BIN_EXE_hilbrium")]);
    let Ok(output) = script.arg(folder.path()).args(["--small", "--set", "run.device=\"cpu\""]).output()
    else {
        return skip("the cases run by scripts/validate-cases, which needs python3");
    };
    let text = String::from_utf8_lossy(&output.stdout);
    println!("{text}");
    let written = std::fs::read(folder.path().join("cases.json"));
    let complaint = String::from_utf8_lossy(&output.stderr);
    let runs: Vec<Value> =
        serde_json::from_slice(&written.unwrap_or_else(|_| panic!("{text}{complaint}"))).unwrap();
    let found: Vec<String> = AnyCase::names().flat_map(|name| complaints(name, &runs)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
    // the page has a table of every case and pictures that exist
    let page = std::fs::read_to_string(folder.path().join("cases.md")).unwrap();
    for name in AnyCase::names() {
        assert!(page.contains(&format!("## {name}")), "{name} is not on the page");
    }
    for line in page.lines().filter(|line| line.starts_with("![")) {
        let picture = line.split_once("](").unwrap().1.trim_end_matches(')');
        assert!(folder.path().join(picture).exists(), "{picture}");
    }
}

#[test]
fn a_case_without_a_small_run_or_above_a_gate_is_named() {
    let runs: Vec<Value> = serde_json::from_str(
        r#"[
        {"case": "sod", "label": "sod-glass", "size": 24, "verdict": {"passed": false, "checks": []}},
        {"case": "sod", "label": "sod-glass", "size": 40, "verdict": {"passed": true, "checks": []}},
        {"case": "sod", "label": "sod-fcc", "size": 40, "verdict": {"passed": false, "checks": [
            {"name": "L1 density", "outcome": "failed", "measured": 2.0, "gate": 1.0},
            {"name": "energy drift", "outcome": "passed", "measured": 0.1, "gate": 1.0}]}},
        {"case": "noh", "label": "noh", "size": 10, "failed": "status 3"}]"#,
    )
    .unwrap();
    assert_eq!(complaints("sod", &runs), ["\"sod-fcc\": \"L1 density\" is 2.0, gate 1.0"]);
    assert_eq!(complaints("noh", &runs), ["\"noh\": status 3"]);
    assert_eq!(complaints("sedov", &runs), ["sedov: no small run in scripts/validate-cases"]);
}
