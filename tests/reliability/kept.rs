//! Inputs that an output would replace, under whatever name: refused before anything is written.

use crate::case::*;
use crate::fault::*;
use std::collections::BTreeMap;
use std::path::Path;

/// Files below a folder, with what they hold.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    let files = entries.filter(|entry| entry.path().is_file());
    files
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, std::fs::read(entry.path()).expect("a file"))
        })
        .collect()
}

/// A run that is over, of which a test may change what it likes.
fn finished() -> Case {
    let case = Case::new(EVERYTHING);
    std::fs::create_dir(case.path("out")).expect("a folder");
    for name in reference().case.names("out") {
        std::fs::copy(reference().case.path("out").join(&name), case.path("out").join(&name))
            .expect("a copy");
    }
    case
}

#[test]
fn commands_do_not_replace_what_they_read() {
    let case = finished();
    let record = case.path("out/observables.csv");
    std::fs::hard_link(&record, case.path("out/linked.csv")).expect("a link");
    std::os::unix::fs::symlink(&record, case.path("out/observables.svg")).expect("a link");
    snapshot(&case.path("out/star.hdf5"), &[[0.0; 3], [0.1; 3], [0.2; 3]]);
    std::fs::copy(&record, case.path("out/table.png")).expect("a copy");
    let before = contents(&case.path("out"));
    for arguments in [
        &["average", "out/observables.csv", "--csv", "out/observables.csv"][..],
        &["average", "out/observables.csv", "--csv", "out/../out/linked.csv"],
        &["picture", "out/table.png"],
        &["picture", "out/observables.csv"],
    ] {
        let output = case.command(arguments).output().expect("the program starts");
        assert_eq!(status(&output), 2, "{arguments:?}: {}", told(&output));
        assert!(told(&output).contains("help: "), "{arguments:?}: {}", told(&output));
        assert!(contents(&case.path("out")) == before, "{arguments:?}");
    }
}

#[test]
fn a_run_does_not_replace_its_deck_its_start_or_its_checkpoint() {
    let case = finished();
    let out = case.path("out");
    let overwrite = ["--set", "output.overwrite=true"];
    // the deck as the record, and as a link to a snapshot's place
    std::fs::copy(case.path("deck.toml"), case.path("out/observables.csv")).expect("a copy");
    std::fs::hard_link(case.path("deck.toml"), case.path("out/snapshot-0009.xdmf")).expect("a link");
    // a checkpoint of step 9 under a name that the run is about to write to
    std::fs::copy(case.path("out/checkpoint-000009.h5"), case.path("out/snapshot-0004.hdf5"))
        .expect("a copy");
    let before = contents(&out);
    let restart = ["--restart", "out/snapshot-0004.hdf5", "--set", "run.steps=13"];
    for (deck, more) in [
        ("out/observables.csv", &overwrite[..]),
        ("deck.toml", &overwrite),
        ("deck.toml", &["--restart", "out"]),
    ] {
        let arguments = [&["run", deck], more].concat();
        let output = case.command(&arguments).output().expect("the program starts");
        assert_eq!(status(&output), 2, "{arguments:?}: {}", told(&output));
        assert!(told(&output).contains("output.directory="), "{arguments:?}: {}", told(&output));
        assert!(contents(&out) == before, "{arguments:?}: {:?}", case.names("out"));
    }
    std::fs::remove_file(case.path("out/snapshot-0009.xdmf")).expect("a file");
    let before = contents(&out);
    let output = case.command(&[&["run", "deck.toml"], &restart[..]].concat()).output();
    let output = output.expect("the program starts");
    assert_eq!(status(&output), 2, "{}", told(&output));
    assert!(told(&output).contains("snapshot-0004.hdf5 is an input"), "{}", told(&output));
    assert!(contents(&out) == before, "{:?}", case.names("out"));
}

#[test]
fn what_a_killed_run_did_not_finish_goes_with_a_restart() {
    let case = finished();
    for name in ["checkpoint-000011.h5.partial", "radial-distribution.csv.part", "notes.partial"] {
        std::fs::write(case.path("out").join(name), "of a run that is gone").expect("a file");
    }
    let arguments = ["run", "deck.toml", "--restart", "out/checkpoint-000009.h5"];
    let output = case.command(&arguments).output().expect("the program starts");
    assert_eq!(status(&output), 0, "{}", told(&output));
    let left: Vec<String> = case.names("out").into_iter().filter(|name| name.contains(".part")).collect();
    assert_eq!(left, ["notes.partial"]);
}
