//! Inputs that were read as another system, refused though right, or refused with words that mislead.

use super::*;
use hilbrium::plan::FileUnits;
use hilbrium::space::{Boundary, Vec3d};

const PERIODIC: [Boundary; 3] = [Boundary::Periodic; 3];

fn found(name: &str, text: &str) -> Configuration {
    let folder = tempfile::tempdir().unwrap();
    read(&written(folder.path(), name, text), Hints::default())
        .unwrap_or_else(|error| panic!("{text}\n{error}"))
}

#[track_caller]
fn refused(name: &str, text: &str, words: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let error = read(&written(folder.path(), name, text), Hints::default()).expect_err(text).to_string();
    for word in words.iter().chain(&["help: "]) {
        assert!(error.contains(word), "no \"{word}\" in: {error}");
    }
}

/// Two atoms with this comment line.
fn pair(comment: &str) -> String {
    format!("2\n{comment}\nAr 0.5 1 1\nAr 8.5 1 1\n")
}

/// LAMMPS data of two atoms, with this section of masses and this comment behind Atoms.
fn data(masses: &str, comment: &str) -> String {
    format!(
        "LAMMPS data\n\n2 atoms\n2 atom types\n\n0 9 xlo xhi\n0 9 ylo yhi\n0 9 zlo zhi\n\nMasses\n\n{masses}\n\
         \nAtoms{comment}\n\n1 1 1 1 0.25\n2 2 1 1 8.5\n"
    )
}

#[test]
fn a_boundary_is_stated_or_a_convention() {
    let convention = found("across.data", &data("1 1\n2 1", " # atomic"));
    assert_eq!((convention.bx.unwrap().boundary, convention.boundary_stated), (PERIODIC, false));
    let lattice = "Lattice=\"9 0 0 0 9 0 0 0 9\" Properties=species:S:1:pos:R:3";
    let stated = found("capitals.xyz", &pair(&format!("{lattice} pbc=\"TRUE TRUE TRUE\"")));
    assert_eq!((stated.bx.unwrap().boundary, stated.boundary_stated), (PERIODIC, true));
    let slab = found("slab.xyz", &pair(&format!("{lattice} pbc=[True, true, FALSE]")));
    assert_eq!(slab.bx.unwrap().boundary, [Boundary::Periodic, Boundary::Periodic, Boundary::Open]);
    refused("word.xyz", &pair(&format!("{lattice} pbc=\"yes yes no\"")), &["line 2", "\"yes\"", "no flag"]);
}

#[test]
fn a_matrix_is_the_cell_and_noise_is_none() {
    let nested = "Lattice=[[10, 6, 6], [0, 10, 0], [0, 0, 10]] Properties=species:S:1:pos:R:3";
    refused("nested.xyz", &pair(nested), &["line 2", "not rectangular", "component 6"]);
    let noise =
        found("noise.xyz", &pair("Lattice=\"10 6.1e-16 0 0 10 0 0 0 10\" Properties=species:S:1:pos:R:3"));
    assert_eq!(noise.bx.unwrap().upper, Vec3d::repeat(10.0));
    assert!(noise.notes[0].contains("rounding noise"));
}

#[test]
fn species_are_what_the_file_calls_them() {
    let numbers = "2\nLattice=\"9 0 0 0 9 0 0 0 9\" Properties=numbers:I:1:pos:R:3\n1 1 1 1\n2 2 1 1\n";
    assert_eq!(found("numbers.xyz", numbers).names, ["H", "He"]);
    let primes = "2\nProperties=species:S:1:pos:R:3\nC1' 1 1 1\nO5* 2.2 1 1\n";
    assert_eq!(found("primes.xyz", primes).names, ["C1'", "O5*"]);
    let amu = found("amu.data", &data("1 39.948 # amu\n2 83.798 # amu", " # atomic"));
    assert_eq!((amu.names, amu.masses.unwrap()), (vec!["1".into(), "2".into()], vec![39.948, 83.798]));
    assert!(amu.notes[0].contains("\"amu\""));
}

#[test]
fn velocities_are_of_all_atoms_or_of_none() {
    let gro = "t\n 2\n    1AR      AR    1   1.000   1.000   1.000\n\
               \x20   2AR      AR    2   1.400   1.000   1.000 -0.2500  0.1234  0.0000\n   5.0   5.0   5.0\n";
    refused("second.gro", gro, &["line 4 has a velocity", "line 3", "every atom a velocity"]);
    let one = format!("{}\nVelocities\n\n2 1 2 3\n", data("1 1\n2 1", " # atomic"));
    refused("one.data", &one, &["velocity 2 of 2", "every atom a line in Velocities"]);
    refused(
        "one.xyz",
        "2\nProperties=pos:R:3:velo:R:3\n1 1 1 1 1 1\n2 2 2\n",
        &["line 4", "3 columns, fewer than 6"],
    );
}

#[test]
fn the_style_and_units_are_the_files_or_the_decks() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), "named.data", data("1 1\n2 1", " # id type x y z"));
    let found = read(&path, Hints { atom_style: Some("atomic"), first_frame: false }).unwrap();
    assert_eq!(found.positions[1], Vec3d::new(1.0, 1.0, 8.5));
    assert!(found.notes[0].contains("id type x y z") && found.notes[0].contains("atomic"));
    let error = read(
        &written(folder.path(), "x.data", data("1 1\n2 1", " # atomic")),
        Hints { atom_style: Some("charge"), first_frame: false },
    );
    assert!(error.unwrap_err().to_string().contains("atom_style = \"charge\""));
    let real = data("1 1\n2 1", " # atomic").replacen("LAMMPS data", "LAMMPS data, units = real", 1);
    let path = written(folder.path(), "real.data", real);
    assert_eq!(read(&path, Hints::default()).unwrap().units, Some(FileUnits::Real));
}

#[test]
fn info_tells_of_data_whose_style_is_not_told() {
    let folder = tempfile::tempdir().unwrap();
    let text = data("1 39.948 # Ar\n2 83.798 # Kr", "")
        .replace("1 1 1 1 0.25\n2 2 1 1", "1 1 0 1 1 0.25\n2 2 0 1 1");
    let path = written(folder.path(), "untold.data", text);
    let told = formats::info(&path, formats::format_of(&path).unwrap()).unwrap();
    for part in ["particles   2", "9", "6 columns", "charge, bond", "atom_style", "\"Kr\" 83.798"] {
        assert!(told.contains(part), "no \"{part}\" in:\n{told}");
    }
}

#[test]
fn a_dump_and_a_byte_order_mark_are_what_they_are() {
    let dump = "ITEM: TIMESTEP\n500\nITEM: NUMBER OF ATOMS\n1\nITEM: BOX BOUNDS pp pp pp\n0 9\n0 9\n0 9\n\
                ITEM: ATOMS id type x y z\n1 1 1 1 1\n";
    for name in ["x.lammpstrj", "x.gro", "x.data", "x"] {
        refused(
            name,
            dump,
            &["a LAMMPS dump, not a data file", "write_data", "ase convert -i lammps-dump-text"],
        );
    }
    assert_eq!(found("mark.xyz", &format!("\u{feff}{}", pair(""))).count, 2);
}

/// Variants of the formats that test files of other programs have.
#[test]
fn unusual_files_of_other_programs_are_read() {
    // comments that are titles, a box of `%10.5f` without blanks, numbers of atoms all the same, columns by decimals
    let gro = "# a large box\n2\n    1SOL     OW    1 0.23001 0.62802 0.11303\n\
               \x20   1SOL    HW1    1 0.13701-0.62602 0.15003\n40000.0000040000.0000040000.00000\n\n\n";
    let water = found("water.gro", gro);
    assert_eq!((water.ids.as_slice(), names(&water)), (&[1, 2][..], vec!["OW".to_owned(), "HW1".to_owned()]));
    assert_eq!((water.positions[1].y, water.bx.unwrap().upper.z), (-0.62602, 40000.0));
    // aligned names, tabs, blank ends, no end of the last line
    let xyz = "  2 \nframe 0\n      CA     0.00000    1.0E+00\t2.00000  \n\tCB 3. 4.D0 -.5";
    assert_eq!(found("aligned.xyz", xyz).positions[1], Vec3d::new(3.0, 4.0, -0.5));
    // a header in another order, with tabs and remarks; sections of what is not used
    let lammps = "\n\n\t1 atom types # one\n 0 bonds\n 0  angles\n0 bond types\n2 extra bond per atom\n\n2\tatoms\n\
                  -1.5e+01 15 zlo zhi\n0 6.0E1 xlo xhi # a side\n-10.00 40.0000000000 ylo yhi\n0 0 0.0 xy xz yz\n\n\
                  Masses # g/mol\n\n  1 1.00794 # g/mol\n\n Pair Coeffs # lj/cut/coul/long/omp\n\n1 0.0663 3.5812\n\n\
                  Bond Coeffs\n\n1 100 1.0 # none is used\n\nAtoms  # full\n\n\
                  \x20 2 0 1 -0.1 1.5 48.5 -14.5 0 -1 0 # the second\n  1 0 1 +.1 0.0 4.4e1 1e-3 0 0 0\n\n\
                  Velocities\n\n  1 -5.6 7.9 -3.0\n  2 0 0 0\n";
    let found = found("order.data", lammps);
    assert_eq!((found.ids.as_slice(), found.names.as_slice()), (&[2, 1][..], &["1".to_owned()][..]));
    assert_eq!(found.bx.unwrap().lower, Vec3d::new(0.0, -10.0, -15.0));
    assert_eq!((found.charges.unwrap()[1], found.velocities.unwrap()[1].x), (0.1, -5.6));
    assert_eq!(found.notes.len(), 2, "{:?}", found.notes);
}
