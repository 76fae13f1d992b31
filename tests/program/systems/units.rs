//! Units that a file states, and keys that have no effect on it.

use super::case::*;

const REAL: &str = "LAMMPS data, units = real\n\n2 atoms\n1 atom types\n\n0 10 xlo xhi\n0 10 ylo yhi\n0 10 zlo zhi\n\n\
                    Masses\n\n1 39.948 # Ar\n\nAtoms # atomic\n\n1 1 1 1 1\n2 1 4.8 1 1\n";

fn molecular(file: &str, more: &str) -> String {
    let deck = molecules(file, more).replace("cutoff = 2.5", "cutoff = 0.4");
    format!("[units]\nsystem = \"molecular\"\n[species.Ar]\nmass = 39.948\n{deck}")
}

fn units_of(file: &hdf5::File, [mass, length, time]: [f64; 3]) {
    attribute(file, "Units", "Unit mass in cgs (U_M)", &[mass]);
    attribute(file, "Units", "Unit length in cgs (U_L)", &[length]);
    attribute(file, "Units", "Unit time in cgs (U_t)", &[time]);
}

const GALACTIC: [f64; 3] = [1.989e43, 3.0857e21, 3.0857e16];

#[test]
fn a_key_that_contradicts_the_file_is_refused() {
    let case = Case::new(&molecular("real.data", ""));
    case.write("real.data", REAL);
    case.run(&[]);
    for command in ["run", "check"] {
        let told = case.deck(command, &["start.file.units=metal"]);
        told.refused(1, &["\"real\"", "\"metal\"", "remove `units`"]);
    }
}

#[test]
fn a_key_without_effect_on_the_format_is_a_mistake() {
    let case = Case::new(&gas("gas.hdf5", ""));
    gas_file(&case.path("gas.hdf5"), |_| {});
    case.deck("run", &["start.file.units=real"]).refused(2, &["`units`", "no effect", "remove `units`"]);
    case.deck("run", &["start.file.atom_style=full"]).refused(2, &["`atom_style`", "no effect"]);
    case.run(&[]);
}

#[test]
fn molecules_of_hdf5_are_in_the_units_of_the_deck_or_refused() {
    let case = Case::new(&molecular("gas.hdf5", ""));
    gas_file(&case.path("gas.hdf5"), |file| units_of(file, GALACTIC));
    case.deck("run", &[]).refused(1, &["1.989e43 g", "amu, nm and ps"]);
    gas_file(&case.path("gas.hdf5"), |_| {});
    case.deck("run", &[]).refused(1, &["does not say its units", "group Units"]);
    gas_file(&case.path("gas.hdf5"), |file| units_of(file, [1.0; 3]));
    case.deck("run", &[]).refused(1, &["reduced units", "[units]"]);
    gas_file(&case.path("gas.hdf5"), |file| units_of(file, [1.66053906892e-24, 1e-7, 1e-12]));
    case.run(&[]);
    // and the reverse: our own molecular snapshot under a reduced deck
    case.write("deck.toml", &molecules("out/snapshot-0000.hdf5", ""));
    case.deck("run", &["output.directory=reduced"]).refused(1, &["reduced units", "system = \"molecular\""]);
}

/// A gas keeps the units of its file: its snapshots state them, and the gravitational constant must be that of these units.
#[test]
fn a_gas_keeps_the_units_of_its_file_also_over_a_restart() {
    let case = Case::new(&gas("gas.hdf5", ""));
    gas_file(&case.path("gas.hdf5"), |file| units_of(file, GALACTIC));
    let units = |name: &str| hilbrium::snapshot::read_header(&case.path(name)).unwrap().units;
    assert!(case.run(&["run.steps=2", "output.checkpoint.every_steps=1"]).contains("1.989e43 g"));
    assert_eq!(units("out/snapshot-0001.hdf5"), GALACTIC);
    case.command(&["run", "deck.toml", "--restart", "out", "--set", "run.steps=3"]).done();
    assert_eq!(units("out/snapshot-0002.hdf5"), GALACTIC);
    case.write("deck.toml", &gas("gas.hdf5", "[gravity]\nsoftening = 0.1\n"));
    let error = case.deck("run", &[]).refused(1, &["gravitational constant is 4.30"]);
    let constant = error.split("write constant = ").nth(1).unwrap().split_whitespace().next().unwrap();
    case.run(&[&format!("gravity.constant={constant}")]);
}

#[test]
fn particles_that_are_left_out_are_told_and_gravity_refuses_them() {
    let case = Case::new(&gas("halo.hdf5", ""));
    gas_file(&case.path("halo.hdf5"), |file| {
        attribute(file, "Header", "NumPart_ThisFile", &[512i32, 7, 0, 0, 3, 0]);
    });
    for command in ["run", "check"] {
        let told = case.deck(command, &[]).done();
        assert!(told.contains("7 particles of PartType1 and 3 particles of PartType4"), "{told}");
        let told = case.deck(command, &["gravity.softening=0.1"]);
        told.refused(1, &["7 particles of PartType1", "gravity"]);
    }
}
