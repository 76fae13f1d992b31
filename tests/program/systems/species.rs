//! Species by name, from every file.

use super::case::*;

fn pair(columns: &str, rows: [&str; 2]) -> String {
    format!(
        "2\nLattice=\"10 0 0 0 10 0 0 0 10\" Properties={columns}:pos:R:3\n{} 1 1 1\n{} 2.2 1 1\n",
        rows[0], rows[1]
    )
}

const OXYGEN_HYDROGEN: &str = "[species.O]\nmass = 16.0\n[species.H]\nmass = 1.0\n";

#[test]
fn elements_by_number_are_elements_and_not_places_in_the_deck() {
    let case = Case::new(&molecules("a.xyz", OXYGEN_HYDROGEN));
    case.write("a.xyz", &pair("numbers:I:1", ["1", "2"]));
    case.deck("run", &[]).refused(1, &["\"He\"", "[species.He]"]);
    case.write("a.xyz", &pair("numbers:I:1", ["8", "1"]));
    case.run(&[]);
    close(case.last("out", "mass"), 17.0, 14);
    // the first row is oxygen
    let (_, particles) = hilbrium::snapshot::read_snapshot(&case.path("out/snapshot-0000.hdf5")).unwrap();
    let row = (0..2).find(|&row| particles.id[row] == 0).unwrap();
    assert_eq!(particles.scalar(hilbrium::particles::Field::Mass)[row], 16.0);
}

/// Names that cannot be section names come into a deck by `names`; what the error proposes is a deck that runs.
#[test]
fn names_of_other_programs_have_a_way_into_a_deck() {
    let case = Case::new(&molecules("a.xyz", ""));
    case.write("a.xyz", &pair("species:S:1", ["C1'", "O5*"]));
    let error = case.deck("run", &[]).refused(1, &["\"C1'\", \"O5*\"", "[species.C1]"]);
    let sections: String =
        error.lines().skip_while(|line| !line.contains("[species")).collect::<Vec<_>>().join("\n");
    case.write("deck.toml", &molecules("a.xyz", &sections.replace("...", "2.0")));
    case.run(&[]);
    close(case.last("out", "mass"), 4.0, 14);
    close(case.last("out", "potential_energy"), pair_energy(1.2), 12);
}

#[test]
fn a_remark_behind_a_mass_is_no_name_where_two_types_share_it() {
    let data = "x\n\n2 atoms\n2 atom types\n\n0 10 xlo xhi\n0 10 ylo yhi\n0 10 zlo zhi\n\nMasses\n\n1 39.948 # amu\n\
                2 83.798 # amu\n\nAtoms # atomic\n\n1 1 1 1 1\n2 2 2.2 1 1\n";
    let case = Case::new(&molecules("a.data", ""));
    case.write("a.data", data);
    case.deck("run", &[]).refused(1, &["\"1\", \"2\"", "one kind of particles", "[species.1]"]);
    case.write("deck.toml", &molecules("a.data", "[species.1]\nmass = 39.948\n[species.2]\nmass = 83.798\n"));
    case.run(&[]);
    close(case.last("out", "mass"), 39.948 + 83.798, 14);
}

#[test]
fn a_snapshot_gives_its_species_by_name_whatever_the_order_of_the_deck() {
    let species = ["[species.Na]\nmass = 1.0\n", "[species.Cl]\nmass = 3.0\n"];
    let case = Case::new(&format!(
        "[run]\nsteps = 0\ndevice = \"cpu\"\nprecision = \"double\"\n{}{}[start.lattice]\nkind = \"rock-salt\"\ncells = 3\n\
         spacing = 2.0\ntemperature = 1.0\n[space]\nboundary = \"periodic\"\n[interaction.lennard-jones]\ncutoff = 2.5\n\
         [time_step]\nfixed = 0.001\n[output]\ndirectory = \"first\"\n",
        species[0], species[1]
    ));
    case.run(&[]);
    let kinetic = case.last("first", "kinetic_energy");
    for order in [[0, 1], [1, 0]] {
        let sections = order.map(|k| species[k]).concat();
        case.write("deck.toml", &molecules("first/snapshot-0000.hdf5", &sections));
        case.run(&[]);
        close(case.last("out", "kinetic_energy"), kinetic, 13);
    }
    case.write(
        "deck.toml",
        &molecules("first/snapshot-0000.hdf5", "[species.K]\nmass = 1\n[species.Cl]\nmass = 3\n"),
    );
    case.deck("run", &[]).refused(1, &["\"Na\"", "[species.Na]"]);
}
