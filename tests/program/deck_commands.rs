//! The commands that need no run: what they print, where, and their exit status.

use assert_cmd::Command;
use std::process::Stdio;

/// The folder of a deck may hold a run: `make evrard` writes one.
const OVER: &str = "output.overwrite=true";

fn hilbrium(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_hilbrium"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(arguments)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn check_prints_a_deck_that_reads_as_the_same() {
    let (status, first, complaint) =
        hilbrium(&["check", "inputs/evrard.toml", "--set", "start.evrard.particles=4000", "--set", OVER]);
    assert_eq!((status, complaint.as_str()), (0, ""));
    assert!(first.contains("particles = 4000\n") && first.contains("# particles: 4,000"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("resolved.toml");
    std::fs::write(&path, &first).unwrap();
    let (status, second, _) = hilbrium(&["check", path.to_str().unwrap()]);
    assert_eq!(status, 0);
    assert_eq!(first.matches(" = ").count(), second.matches(" = ").count());
}

#[test]
fn a_bad_deck_is_told_on_standard_error_with_status_2() {
    for command in ["check", "run"] {
        let (status, printed, complaint) = hilbrium(&[command, "tests/decks/bad/many.toml"]);
        assert_eq!((status, printed.as_str()), (2, ""), "{command}: {complaint}");
        assert!(
            complaint.contains("--> tests/decks/bad/many.toml:1:9") && complaint.contains("10 mistakes"),
            "{complaint}"
        );
    }
}

#[test]
fn bad_usage_has_status_2_and_help_0() {
    for arguments in
        [&[][..], &["rnu"], &["run"], &["check"], &["new", "nothing"], &["run", "a.toml", "--sett", "x=1"]]
    {
        let (status, printed, complaint) = hilbrium(arguments);
        assert_eq!((status, printed.as_str()), (2, ""), "{arguments:?}");
        assert!(complaint.contains("Usage") || complaint.contains("possible values"), "{complaint}");
    }
    let (status, printed, _) = hilbrium(&["--help"]);
    assert!(status == 0 && printed.contains("validate") && printed.contains("Exit status"));
    assert_eq!(
        hilbrium(&["--version"]),
        (0, format!("hilbrium {}\n", env!("CARGO_PKG_VERSION")), String::new())
    );
}

#[test]
fn missing_decks_and_folders_have_a_remedy() {
    for (path, message) in [("none.toml", "cannot read the deck"), ("inputs", "is a folder, not a deck")] {
        let (status, _, complaint) = hilbrium(&["run", path]);
        assert_eq!(status, 2);
        assert!(complaint.contains(message) && complaint.contains("help: "), "{complaint}");
    }
}

#[test]
fn new_decks_pass_check() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.toml");
    let cases = ["gas-at-rest", "sod", "sound-wave", "gresho", "noh", "blast-waves"];
    for case in ["evrard", "uniform-box", "lattice", "random", "plummer", "sedov"].iter().chain(&cases) {
        let (status, deck, _) = hilbrium(&["new", case]);
        assert_eq!(status, 0);
        std::fs::write(&path, deck).unwrap();
        let (status, _, complaint) = hilbrium(&["check", path.to_str().unwrap(), "--set", OVER]);
        assert_eq!(status, 0, "{case}: {complaint}");
    }
}

#[test]
fn the_schema_is_json() {
    let (status, text, _) = hilbrium(&["schema"]);
    let schema: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(status, 0);
    assert_eq!(schema["properties"]["sph"]["properties"]["neighbors"]["anyOf"][0]["maximum"], 1000.0);
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let check = ["check", "inputs/evrard.toml", "--set", OVER];
    for arguments in [&["schema"][..], &["--help"], &["new", "evrard"], &check] {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_hilbrium"))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            output.status.code(),
            Some(0),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn only_rank_0_prints() {
    let output = Command::new(env!("CARGO_BIN_EXE_hilbrium"))
        .env("PMI_RANK", "1")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["check", "inputs/evrard.toml", "--set", OVER])
        .output()
        .unwrap();
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty());
}

/// The limit is there before the program starts; its signal would end the process.
#[test]
fn a_limit_on_the_size_of_files_is_an_error_of_any_command() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..40).map(|k| format!("{k},{}\n", 1.0 + f64::from(k % 3))).collect();
    std::fs::write(folder.path().join("record.csv"), format!("time,temperature\n{rows}")).unwrap();
    let line =
        format!("ulimit -f 0; exec {} average record.csv --csv averages.csv", env!("CARGO_BIN_EXE_hilbrium"));
    let output = Command::new("sh").args(["-c", &line]).current_dir(folder.path()).output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{complaint}");
    assert!(complaint.contains("averages.csv") && complaint.contains("ulimit -f"), "{complaint}");
}

#[test]
fn files_that_are_no_snapshots_are_told_with_status_1() {
    for (file, message) in
        [("none.h5", "none.h5"), ("inputs", "inputs"), ("inputs/evrard.toml", "inputs/evrard.toml")]
    {
        for arguments in [&["info", file][..], &["validate", file, "--against", "evrard"]] {
            let (status, printed, complaint) = hilbrium(arguments);
            assert_eq!((status, printed.as_str()), (1, ""), "{arguments:?}: {complaint}");
            assert!(complaint.contains(message) && complaint.contains("help: "), "{complaint}");
        }
    }
    let (status, _, complaint) = hilbrium(&["validate", "none.h5", "--against", "evard"]);
    assert!(status == 2 && complaint.contains("evrard"), "{complaint}");
}
