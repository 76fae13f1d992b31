//! The soak in small, and that its judge finds what it is there for. `make soak` is the long one.

use std::process::{Command, Output};

fn soak(arguments: &[&str], results: &std::path::Path) -> Output {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/soak");
    let mut command = Command::new(script);
    command.args(arguments).env("RESULTS", results.join("soak")).env("INTERVAL", "0.01");
    command.output().expect("a script of bash")
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn a_thousand_steps_keep_memory_flat_and_energies_sane() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = soak(&[env!("CARGO_BIN_EXE_hilbrium"), "1500"], folder.path());
    assert!(output.status.success(), "{}", told(&output));
    assert_eq!(told(&output).matches("resident memory:").count(), 2, "{}", told(&output));
    assert_eq!(told(&output).matches("energy: at most").count(), 2, "{}", told(&output));
}

#[test]
fn a_leak_a_burst_and_silence_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("memory.csv");
    let judged = |resident: &dyn Fn(u64) -> Option<u64>| {
        let lines = (0..100).filter_map(|k| resident(k).map(|kib| format!("{},{kib}\n", 10 * k)));
        std::fs::write(&table, lines.collect::<String>()).expect("a table");
        soak(&["--judge", table.to_str().unwrap(), "1000"], folder.path())
    };
    let flat = judged(&|k| Some(if k < 10 { 10_000 } else { 40_000 + k % 3 }));
    assert!(flat.status.success(), "{}", told(&flat));
    let leak = judged(&|k| Some(40_000 + 30 * k));
    assert!(!leak.status.success() && told(&leak).contains("memory grows"), "{}", told(&leak));
    let burst = judged(&|k| Some(if k == 50 { 60_000 } else { 40_000 }));
    assert!(!burst.status.success() && told(&burst).contains("memory grows"), "{}", told(&burst));
    let silence = judged(&|k| (k < 50).then_some(40_000));
    assert!(!silence.status.success() && told(&silence).contains("too few samples"), "{}", told(&silence));
}
