//! Clocks that jump: nothing that is computed depends on them, and all intervals of wall time go on.

use crate::case::*;
use crate::fault::{EVERYTHING, Fault};

const YEARS: i64 = 10 * 365 * 86_400;

/// A run whose clocks jump again and again, from the first file on.
fn jumping(case: &Case, jump: i64) {
    let mut command = case.command(&["run", "deck.toml"]);
    Fault { kind: "count", at: 0, times: 0, rank: None }.strikes(&mut command, case);
    let output = command.env("FAULT_CLOCK", jump.to_string()).output().expect("the program starts");
    assert_eq!(status(&output), 0, "{jump}: {}", told(&output));
}

fn checkpoints(case: &Case) -> usize {
    case.names("out").iter().filter(|name| name.starts_with("checkpoint-")).count()
}

#[test]
fn a_clock_that_jumps_changes_nothing_but_times() {
    let deck = DECK.replace("particles = 1500", "particles = 400") + "checkpoint = { every_wall = \"1h\" }\n";
    let steady = Case::new(&deck);
    assert_eq!(status(&steady.run(&[])), 0);
    for jump in [YEARS, -YEARS] {
        let case = Case::new(&deck);
        jumping(&case, jump);
        for file in ["observables.csv", "snapshot-0000.hdf5", "snapshot-0001.hdf5"] {
            let bytes = |case: &Case| std::fs::read(case.path("out").join(file)).expect("a file");
            assert!(bytes(&case) == bytes(&steady), "{jump}: {file} differs");
        }
        // forth, hours went by since the last checkpoint, back none: there is that of the end alone
        assert_eq!(checkpoints(&case) > 1, jump > 0, "{jump}");
    }
    assert_eq!(checkpoints(&steady), 1, "an hour is long");
}

#[test]
fn lists_that_are_chosen_by_a_jumping_clock_are_lists_all_the_same() {
    let deck = EVERYTHING.replace("[neighbors]\nskin = 0.2\n", "");
    let steady = Case::new(&deck);
    assert_eq!(status(&steady.run(&[])), 0);
    for jump in [YEARS, -YEARS] {
        let case = Case::new(&deck);
        jumping(&case, jump);
        let last = |case: &Case| -> Vec<f64> {
            let record = std::fs::read_to_string(case.path("out/observables.csv")).expect("a record");
            let line = record.lines().next_back().expect("rows").to_owned();
            line.split(',').map(|cell| cell.parse().expect("a number")).collect()
        };
        let (found, expected) = (last(&case), last(&steady));
        assert_eq!((found[0], found[1]), (expected[0], expected[1]));
        // other skins, other roundings
        assert!((found[6] - expected[6]).abs() < 1e-9 * expected[6].abs(), "{found:?} {expected:?}");
    }
}
