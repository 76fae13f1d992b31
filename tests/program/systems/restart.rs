//! A restart goes on with the same system: species by name, changes of the deck applied wholly or refused.

use super::case::*;
use hilbrium::comm::Communicator;
use hilbrium::snapshot::{read_checkpoint, write_checkpoint};

const SODIUM: &str = "[species.Na]\nmass = 1.0\ncharge = 1.0\nepsilon = 1.0\nsigma = 0.8\n";
const CHLORIDE: &str = "[species.Cl]\nmass = 3.0\ncharge = -1.0\nepsilon = 0.5\nsigma = 1.1\n";

fn salt(species: [&str; 2]) -> String {
    format!(
        "[run]\nsteps = 4\nprecision = \"double\"\ndevice = \"cpu\"\nthreads = 1\n{}{}[start.lattice]\nkind = \"rock-salt\"\n\
         cells = 4\nspacing = 2.6\ntemperature = 1.0\njitter = 0.01\n[space]\nboundary = \"periodic\"\n\
         [interaction.lennard-jones]\ncutoff = 2.5\n[interaction.coulomb]\n[time_step]\nfixed = 0.001\n\
         [neighbors]\nskin = 0.0\ninner_skin = 0.0\n[output]\ndirectory = \"out\"\n[output.checkpoint]\nevery_steps = 2\n",
        species[0], species[1]
    )
}

const COLUMNS: [&str; 4] = ["kinetic_energy", "potential_energy", "pressure", "conserved_energy"];

fn state(case: &Case, folder: &str) -> Vec<f64> {
    COLUMNS[..3].iter().map(|column| case.last(folder, column)).collect()
}

fn restarted(case: &Case, checkpoint: &str, more: &[&str]) -> Told {
    let sets = more.iter().flat_map(|set| ["--set", *set]);
    let arguments: Vec<&str> =
        ["run", "deck.toml", "--restart", checkpoint].into_iter().chain(sets).collect();
    case.command(&arguments)
}

#[test]
fn species_are_the_same_by_name_whatever_the_order_of_the_deck() {
    let case = Case::new(&salt([SODIUM, CHLORIDE]));
    case.run(&[]);
    let whole = state(&case, "out");
    close(whole[1], -1122.7667, 7);
    // version 0.1.0 kept the names in the deck's text alone
    let solo = Communicator::solo();
    let (mut kept, particles) = read_checkpoint(&case.path("out/checkpoint-000002.h5"), &solo).unwrap();
    kept.counters = serde_json::json!({ "snapshots": 1 });
    std::fs::create_dir(case.path("old")).unwrap();
    write_checkpoint(&case.path("old"), &solo, &particles, &kept).unwrap();
    case.write("deck.toml", &salt([CHLORIDE, SODIUM]));
    for (from, to) in [("out/checkpoint-000002.h5", "swapped"), ("old", "swapped-old")] {
        restarted(&case, from, &[&format!("output.directory={to}")]).done();
        let found = state(&case, to);
        found.iter().zip(&whole).for_each(|(found, whole)| close(*found, *whole, 13));
    }
}

#[test]
fn a_changed_species_holds_wholly() {
    let case = Case::new(&salt([SODIUM, CHLORIDE]));
    case.run(&[]);
    let at = |sets: &[&str]| {
        let folder = format!("output.directory=changed-{}", sets.len());
        let sets: Vec<&str> = sets.iter().copied().chain([folder.as_str(), "run.steps=4"]).collect();
        let told = restarted(&case, "out/checkpoint-000002.h5", &sets).done();
        (told, format!("changed-{}", sets.len() - 2))
    };
    let (_, same) = at(&[]);
    let (told, heavier) = at(&[
        "species.Na.mass=10.0",
        "species.Na.charge=2.0",
        "species.Cl.charge=-2.0",
        "species.Na.epsilon=4.0",
        "species.Cl.epsilon=2.0",
    ]);
    for words in [
        "species.Na.mass = 10.0 (before: 1.0)",
        "species.Na.epsilon = 4.0 (before: 1.0)",
        "energy drift counts from here",
    ] {
        assert!(told.contains(words), "{told}");
    }
    close(case.last(&heavier, "mass") / case.last(&same, "mass"), 13.0 / 4.0, 12);
    // charges of twice the size and depths of four times have four times the energy; the atoms moved on by two steps
    let ratio = case.last(&heavier, "potential_energy") / case.last(&same, "potential_energy");
    assert!((ratio - 4.0).abs() < 0.05, "{ratio}");
    let drift = told.lines().find(|line| line.starts_with("done")).unwrap().to_owned();
    assert!(!drift.contains("e0,") && drift.contains("energy drift"), "{drift}");
}

#[test]
fn another_start_and_other_units_are_refused() {
    let case = Case::new(&salt([SODIUM, CHLORIDE]));
    case.run(&["run.steps=2"]);
    for (set, words) in [
        ("start.lattice.temperature=2.0", &["start.lattice.temperature", "set these keys back"][..]),
        ("space.boundary=open", &["space.boundary"]),
        ("units.system=molecular", &["reduced units", "[units]"]),
    ] {
        let told = restarted(&case, "out", &[set, "output.directory=other"]);
        let status = told.status;
        assert!(status == 1 || status == 2, "{set}: {}", told.output);
        told.refused(status, words);
        assert!(!case.path("other").exists(), "{set}: nothing is written");
    }
    case.write("deck.toml", &salt([SODIUM, &CHLORIDE.replace("Cl", "Br")]));
    restarted(&case, "out", &[]).refused(2, &["\"Cl\"", "[species.Cl]"]);
}
