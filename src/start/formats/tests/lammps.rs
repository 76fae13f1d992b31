//! Styles, species names, boxes and velocities of LAMMPS data.

use super::*;

/// A file of two types with this section Masses, comment after Atoms, and atoms.
fn with(masses: &str, comment: &str, atoms: [&str; 2]) -> String {
    format!(
        "LAMMPS\n\n2 atoms\n2 atom types\n\n0 10 xlo xhi\n0 10 ylo yhi\n0 10 zlo zhi\n\nMasses\n\n{masses}\n\n\
         Atoms{comment}\n\n{}\n{}\n",
        atoms[0], atoms[1]
    )
}

const ATOMIC: [&str; 2] = ["1 1 1 1 1", "2 2 2.2 1 1"];
const CHARGE: [&str; 2] = ["1 1 0.5 1 1 1", "2 2 -0.5 2.2 1 1"];
const MASSES: &str = "1 39.948 # Ar\n2 83.798 # Kr";

fn styled(text: &str, style: &'static str) -> Result<Configuration> {
    hinted("x.data", text, Hints { atom_style: Some(style), first_frame: false })
}

#[test]
fn a_comment_that_is_no_style_is_a_remark() {
    let text = with(MASSES, " # id type x y z", ATOMIC);
    let found = styled(&text, "atomic").unwrap();
    assert_eq!(found.positions[1], Vec3d::new(2.2, 1.0, 1.0));
    says(&found.notes[0], &["id type x y z", "atom_style = \"atomic\""]);
    let found = parsed("x.data", &text).unwrap();
    says(&found.notes[0], &["names no atom style", "number of columns"]);
    // Six columns match several styles.
    says(
        &refusal("x.data", with(MASSES, " # id type q x y z", CHARGE)),
        &["line 17", "6 columns", "charge, bond"],
    );
    assert_eq!(
        styled(&with(MASSES, " # id type q x y z", CHARGE), "charge").unwrap().charges.unwrap(),
        [0.5, -0.5]
    );
}

#[test]
fn the_style_of_the_file_and_of_the_deck_agree() {
    let text = with(MASSES, "   #  charge ", CHARGE);
    assert!(styled(&text, "charge").is_ok() && parsed("x.data", &text).is_ok());
    assert!(parsed("x.data", with(MASSES, " # charge/kk", CHARGE)).is_ok());
    let error = styled(&text, "full").unwrap_err().to_string();
    says(&error, &["line 15", "style \"charge\"", "atom_style = \"full\"", "help:"]);
    // Styles with equal columns are compatible.
    let molecular = with(MASSES, " # molecular", ["1 1 1 1 1 1", "2 1 2 2.2 1 1"]);
    assert!(styled(&molecular, "bond").is_ok());
    for style in ["sphere", "body", "dipole", "hybrid charge sphere", "bpm/sphere", "ellipsoid"] {
        let error = styled(&with(MASSES, &format!(" # {style}"), ATOMIC), "atomic").unwrap_err().to_string();
        says(&error, &["line 15", style, "not available"]);
    }
}

#[test]
fn species_have_the_names_that_tell_types_apart() {
    for (masses, names, note) in [
        (MASSES, ["Ar", "Kr"], ""),
        ("1 39.948 # amu\n2 83.798 # amu", ["1", "2"], "\"amu\" behind masses is a unit"),
        ("1 39.948 # (g/mol)\n2 83.798 # Kr", ["1", "Kr"], "unit"),
        ("1 238.03 # U\n2 83.798 # u", ["U", "2"], "\"u\" behind masses is a unit"),
        ("1 12.011 # C\n2 13.019 # C", ["1", "2"], "types that differ (1, 2)"),
        ("1 39.948\n2 83.798 # Kr", ["1", "Kr"], ""),
        // A number would be mistaken for a type.
        ("1 39.948 # 2\n2 83.798 # 1", ["1", "2"], ""),
        ("2 83.798 # Kr krypton\n1 39.948 #Ar", ["Ar", "Kr"], ""),
    ] {
        let found = parsed("x.data", with(masses, " # atomic", ATOMIC)).unwrap();
        assert_eq!(found.names, names, "{masses}");
        assert_eq!(found.notes.len(), usize::from(!note.is_empty()), "{:?}", found.notes);
        found.notes.iter().for_each(|said| says(said, &[note]));
    }
}

#[test]
fn types_of_one_name_are_one_species_if_the_file_makes_no_difference() {
    let same = with("1 15.999 # O\n2 15.999 # O", " # atomic", ATOMIC);
    let found = parsed("x.data", &same).unwrap();
    assert_eq!((found.names, found.species), (vec!["O".to_owned()], vec![0, 0]));
    let told = |coefficients: &str| {
        let text = same.replace("Atoms #", &format!("{coefficients}\n\nAtoms #"));
        parsed("x.data", text).unwrap().names
    };
    assert_eq!(told("Pair Coeffs # lj/cut\n\n1 0.1 3.0\n2  0.1 3.0"), ["O"]);
    assert_eq!(told("Pair Coeffs # lj/cut\n\n1 0.1 3.0\n2 0.2 3.0"), ["1", "2"]);
    assert_eq!(told("PairIJ Coeffs # lj/cut\n\n1 1 0.1 3\n1 2 0.1 3\n2 2 0.1 3"), ["1", "2"]);
}

#[test]
fn labels_of_types_are_the_files_own_names() {
    let labels = "Atom Type Labels\n\n1 Ar\n2 Kr\n\nMasses";
    let text = with("Ar 39.948 # argon\n2 83.798", " # atomic", ["1 Ar 1 1 1", "2 Kr 2.2 1 1"]);
    let found = parsed("x.data", text.replace("Masses", labels)).unwrap();
    assert_eq!((found.names, found.masses.unwrap()), (vec!["Ar".into(), "Kr".into()], vec![39.948, 83.798]));
    for (wrong, said) in
        [("1 Ar\n2 Ar", "type 1 has it"), ("1 Ar\n1 Kr", "second label"), ("1 Ar\n2 7", "like a number")]
    {
        let text = text.replace("Masses", &labels.replace("1 Ar\n2 Kr", wrong));
        says(&refusal("x.data", text), &["line 13", said]);
    }
    // A comment is not a label that atoms may use.
    says(
        &refusal("x.data", with(MASSES, " # atomic", ["1 Ar 1 1 1", "2 2 1 1 1"])),
        &["line 17", "\"Ar\"", "atom type"],
    );
}

#[test]
fn tilts_are_noise_or_refused_wherever_they_stand() {
    let text = with(MASSES, " # atomic", ATOMIC);
    let tilted = |tilts: &str| text.replace("0 10 xlo xhi", &format!("{tilts} xy xz yz\n0 10 xlo xhi"));
    assert_eq!(parsed("x.data", tilted("0 0.0 -0e0")).unwrap().notes, Vec::<String>::new());
    says(&parsed("x.data", tilted("1e-16 0 -9e-10")).unwrap().notes[0], &["9e-10", "rounding noise"]);
    says(&refusal("x.data", tilted("0 0 1.1e-9")), &["line 6", "yz = 0.0000000011", "rectangular"]);
    says(&refusal("x.data", tilted("0 0")), &["line 6", "three numbers"]);
}

#[test]
fn a_header_that_cannot_be_is_refused_with_its_line() {
    let text = with(MASSES, " # atomic", ATOMIC);
    for (from, to, said) in [
        ("0 10 ylo yhi", "10 ylo yhi", "line 7 does not give two numbers"),
        ("0 10 ylo yhi", "0 5 10 ylo yhi", "line 7 does not give two numbers"),
        ("0 10 ylo yhi", "0 ten ylo yhi", "line 7 has \"ten\""),
        ("0 10 ylo yhi", "0 0 ylo yhi", "line 7 gives the box no extent"),
        ("0 10 ylo yhi", "0 -10 ylo yhi", "line 7 gives the box no extent"),
        ("0 10 ylo yhi", "0 10 ylo yhi\n0 11 ylo yhi", "line 8 states this a second time"),
        ("0 10 ylo yhi\n", "", "ylo yhi"),
        ("2 atoms", "2 atoms\n2 atoms", "line 4 states this a second time"),
        ("0 10 ylo yhi", "7 nuclei", "line 7 is \"7 nuclei\""),
        ("1 39.948", "2 39.948", "line 13 gives a second mass to type 2"),
    ] {
        says(&refusal("x.data", text.replacen(from, to, 1)), &[said]);
    }
    // Any order, comments, tabs, exponents.
    let other = text
        .replace("2 atoms\n2 atom types", " 2\tatom types # of two\n\t2 atoms  # all")
        .replace("0 10 xlo xhi\n0 10 ylo yhi", "0.0e+00 1.0E1 ylo yhi\n0D0 1d+1 xlo xhi # side");
    assert_eq!(parsed("x.data", other).unwrap().bx.unwrap().upper, Vec3d::repeat(10.0));
}

/// All atoms have velocities, or none.
#[test]
fn velocities_of_some_atoms_are_refused() {
    let text = with(MASSES, " # atomic", ATOMIC);
    let moving = |lines: &str| format!("{text}\nVelocities\n\n{lines}\n");
    assert_eq!(
        parsed("x.data", moving("2 1 2 3\n1 0 0 0")).unwrap().velocities.unwrap()[1],
        Vec3d::new(1.0, 2.0, 3.0)
    );
    let remedy = "every atom a line in Velocities";
    says(&refusal("x.data", moving("2 1 2 3")), &["velocity 2 of 2", remedy]);
    says(
        &refusal("x.data", moving("2 1 2 3\n\nBond Coeffs\n\n1 2")),
        &["line 24 has \"Bond Coeffs\"", "velocity 2 of 2", remedy],
    );
    says(
        &refusal("x.data", moving("2 1 2 3\n3 1 2 3")),
        &["line 17 has the atom 1, which has no velocity", remedy],
    );
    says(&refusal("x.data", moving("2 1 2 3\n1 1 2")), &["line 23", "three components"]);
}

#[test]
fn info_tells_what_it_can_without_the_style() {
    let text = with(MASSES, "", CHARGE);
    let (_folder, path) = written("x.data", text.as_bytes());
    let told = info(&path, FileFormat::LammpsData).unwrap();
    for part in [
        "periodic by convention",
        "particles   2",
        "10",
        "line 17 has 6 columns",
        "charge, bond, angle, molecular",
        "atom_style",
        "\"Ar\" 39.948, \"Kr\" 83.798",
    ] {
        assert!(told.contains(part), "no \"{part}\" in:\n{told}");
    }
    says(&refusal("x.data", &text), &["line 17", "6 columns", "atom_style"]);
    let twelve = with(MASSES, "", ["1 1 1 1 1 1 1 1 1 1 1 1", "2 1 1 1 1 1 1 1 1 1 1 1"]);
    let (_folder, path) = written("x.data", twelve.as_bytes());
    let told = info(&path, FileFormat::LammpsData).unwrap();
    assert!(told.contains("none of the atom styles"), "{told}");
}
