//! Planted faults: each is planted somewhere, is found by a check of `scripts/mutants`, and is in the book.

use hilbrium::faults::{Fault, notice, planted};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// Text of all source files but the list of faults.
fn source() -> String {
    let mut folders = vec![PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src"))];
    let mut text = String::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") && !path.ends_with("faults.rs") {
                text += &std::fs::read_to_string(&path).unwrap();
            }
        }
    }
    text
}

#[test]
fn every_fault_is_planted_and_has_a_check() {
    let (source, checks) = (source(), read("scripts/mutant_checks.py"));
    let checks = checks.split("CHECKS = {").nth(1).unwrap();
    let mut names = BTreeSet::new();
    for fault in Fault::ALL {
        let planted = [format!("planted(Fault::{fault:?})"), format!("planted({fault:?})")];
        assert!(planted.iter().any(|text| source.contains(text)), "{fault:?} is not planted");
        assert!(!fault.checks().is_empty());
        for check in fault.checks() {
            assert!(checks.contains(&format!("\"{check}\": ")), "{}: no check {check}", fault.name());
        }
        assert!(names.insert(fault.name()), "two faults are {}", fault.name());
    }
    assert!(Fault::ALL.len() >= 25);
}

#[test]
#[cfg(not(feature = "faults"))]
fn a_usual_build_plants_nothing() {
    assert!(Fault::ALL.iter().all(|&fault| !planted(fault)));
    assert_eq!(notice(), None);
}

/// The table of `docs/src/verification.md` comes from the list. UPDATE_DOCS=1 writes it.
#[test]
fn the_book_has_the_list() {
    let page = "docs/src/verification.md";
    let (begin, end) = (
        "<!-- Written by `UPDATE_DOCS=1 cargo test --test deck faults`. -->\n",
        "<!-- End of the faults. -->\n",
    );
    let mut table = String::from("| fault | what is wrong | checks |\n|---|---|---|\n");
    for fault in Fault::ALL {
        let checks: Vec<String> = fault.checks().iter().map(|check| format!("`{check}`")).collect();
        writeln!(table, "| `{}` | {} | {} |", fault.name(), fault.what(), checks.join(", ")).unwrap();
    }
    let text = read(page);
    let (before, rest) = text.split_once(begin).expect("the page has lost its mark");
    let (written, after) = rest.split_once(end).expect("the page has lost its second mark");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
        std::fs::write(path, format!("{before}{begin}{table}{end}{after}")).unwrap();
    } else {
        assert!(written == table, "{page} is stale: run UPDATE_DOCS=1 cargo test --test deck faults");
    }
}
