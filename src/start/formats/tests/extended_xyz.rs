//! Every syntax of the extended XYZ specification, and refused input.

use super::*;

/// A file of one argon atom with this comment line.
fn with(comment: &str) -> String {
    format!("1\n{comment}\nAr 1 2 3\n")
}

fn bx(comment: &str) -> SimulationBox {
    parsed("x.xyz", with(comment)).expect(comment).bx.expect("a box")
}

#[test]
fn every_boolean_is_known_in_every_list() {
    let (t, f) = (Boundary::Periodic, Boundary::Open);
    for [yes, no] in [["T", "F"], ["true", "false"], ["True", "False"], ["TRUE", "FALSE"], ["1", "0"]] {
        for list in [
            format!("\"{yes} {yes} {no}\""),
            format!("{{{yes} {yes} {no}}}"),
            format!("[{yes}, {yes}, {no}]"),
            format!("[{yes},{yes},{no}]"),
            format!("'{yes} {yes} {no}'"),
            format!("\"[{yes}, {yes}, {no}]\""),
        ] {
            let comment = format!("Lattice=\"4 0 0 0 5 0 0 0 6\" pbc = {list}");
            assert_eq!(bx(&comment).boundary, [t, t, f], "{comment}");
        }
        assert_eq!(bx(&format!("Lattice=\"4 0 0 0 5 0 0 0 6\" pbc={yes}")).boundary, [t; 3]);
        assert_eq!(bx(&format!("Lattice=\"4 0 0 0 5 0 0 0 6\" pbc={no}")).boundary, [f; 3]);
    }
    // A key without a value is true.
    assert_eq!(bx("Lattice=\"4 0 0 0 5 0 0 0 6\" pbc").boundary, [t; 3]);
}

#[test]
fn a_word_that_is_no_boolean_is_refused() {
    for word in ["yes", "TruE", "2", "tt", ".true.", "periodic", "T;T;T", "-1"] {
        let error = refusal("x.xyz", with(&format!("Lattice=\"4 0 0 0 5 0 0 0 6\" pbc=\"T T {word}\"")));
        says(&error, &["line 2", word, "no flag", "pbc=\"T T T\""]);
    }
    for pbc in ["\"T T\"", "\"T T T T\"", "[[T, T, T]]", "\"\"", "[]"] {
        says(
            &refusal("x.xyz", with(&format!("Lattice=\"4 0 0 0 5 0 0 0 6\" pbc={pbc}"))),
            &["line 2", "three flags"],
        );
    }
}

#[test]
fn the_boundary_is_stated_by_pbc_only() {
    let stated = |comment: &str| parsed("x.xyz", with(comment)).unwrap().boundary_stated;
    assert!(stated("Lattice=\"4 0 0 0 5 0 0 0 6\" pbc=\"F F F\""));
    assert!(!stated("Lattice=\"4 0 0 0 5 0 0 0 6\"") && !stated("pbc=\"F F F\"") && !stated("a title"));
    assert_eq!(bx("Lattice=\"4 0 0 0 5 0 0 0 6\"").boundary, [Boundary::Periodic; 3]);
    says(&refusal("x.xyz", with("pbc=\"T F F\" energy=-1")), &["line 2", "periodic", "no Lattice"]);
}

#[test]
fn a_lattice_is_read_in_every_form() {
    for lattice in [
        "\"4 0 0 0 5 0 0 0 6\"",
        "{4 0 0 0 5 0 0 0 6}",
        "'4 0 0 0 5 0 0 0 6'",
        "[4, 0, 0, 0, 5, 0, 0, 0, 6]",
        "[[4, 0, 0], [0, 5, 0], [0, 0, 6]]",
        "[[4,0,0],[0,5,0],[0,0,6]]",
        "\"[[4, 0, 0], [0, 5, 0], [0, 0, 6]]\"",
        "\"4.0\t0 0 0 5.0E0 0 0 0 0.6d+01\"",
        "\"4 5 6\"",
        "[4, 5, 6]",
        "{4 5 6}",
    ] {
        for key in ["Lattice", "lattice", "LATTICE", "\"Lattice\""] {
            let found = bx(&format!("{key}={lattice}"));
            assert_eq!((found.lower, found.upper), (Vec3d::zeros(), Vec3d::new(4.0, 5.0, 6.0)), "{lattice}");
        }
    }
    let moved = bx("Origin=[-1, -2, 0.5] Lattice=\"4 0 0 0 5 0 0 0 6\"");
    assert_eq!((moved.lower, moved.upper), (Vec3d::new(-1.0, -2.0, 0.5), Vec3d::new(3.0, 3.0, 6.5)));
}

#[test]
fn a_lattice_that_cannot_be_is_refused_with_its_line() {
    for (lattice, said) in [
        ("[[10, 6, 6], [0, 10, 0], [0, 0, 10]]", "component 6 off the axes"),
        ("[[10, 0, 0], [0, 10, 0], [2, 0, 10]]", "component 2 off the axes"),
        ("\"0 4 0 4 0 0 0 0 4\"", "without extent"),
        ("\"4 0 0 0 5 0 0 0 0\"", "without extent"),
        ("\"4 0 0 0 -5 0 0 0 6\"", "without extent"),
        ("\"0 0 0\"", "without extent"),
        ("\"4 5\"", "2 numbers"),
        ("4", "1 numbers"),
        ("\"\"", "0 numbers"),
        ("\"4 5 wide\"", "\"wide\""),
        ("\"4 5 nan\"", "\"nan\""),
        ("[[4, 5, 6]]", "1 lists"),
        ("[[4], [5], [6]]", "3 lists"),
        ("[[4, 0, 0], [0, 5, 0], [0, 0]]", "3 lists"),
        ("[4, [5], 6]", "words and lists"),
        ("[[[4, 5, 6]]]", "two levels"),
        ("\"4 0 0 0 5 0 0 0 6", "not closed"),
        ("[4, 5, 6", "not closed"),
        ("{4 5 6", "not closed"),
        ("\"[4, 5, 6\"", "brackets"),
    ] {
        says(&refusal("x.xyz", with(&format!("Lattice={lattice}"))), &["line 2", said]);
    }
    says(&refusal("x.xyz", with("Lattice")), &["line 2", "\"T\""]);
    says(&refusal("x.xyz", with("Lattice=\"4 5 6\" lattice=\"4 5 6\"")), &["line 2", "more than once"]);
    says(&refusal("x.xyz", with("Lattice=\"4 5 6\" Origin=\"1 2\"")), &["line 2", "Origin"]);
}

#[test]
fn rounding_noise_off_the_axes_is_told_and_no_more() {
    let found = parsed("x.xyz", with("Lattice=\"10 6.1e-16 0 -9e-10 10 0 0 0 10\"")).unwrap();
    assert_eq!(found.bx.unwrap().upper, Vec3d::repeat(10.0));
    says(&found.notes[0], &["9e-10", "rounding noise"]);
    says(&refusal("x.xyz", with("Lattice=\"10 1.1e-9 0 0 10 0 0 0 10\"")), &["not rectangular"]);
    // The noise tolerance is relative to the shortest edge.
    says(&refusal("x.xyz", with("Lattice=\"1000 1e-9 0 0 1 0 0 0 1000\"")), &["not rectangular"]);
}

#[test]
fn texts_are_read_with_their_escapes() {
    let comment =
        r#"title="a \"b\" = [c] \\ d" note='5" wide' flag other={x y} energies=[1, 2] Lattice="4 5 6""#;
    let found = parsed("x.xyz", with(comment)).unwrap();
    assert_eq!(found.title, r#"a "b" = [c] \ d"#);
    assert_eq!(found.notes, ["keys not used: energies, flag, note, other"]);
    // A malformed line is a plain XYZ comment.
    for title in ["5' end of a \"chain", "frame = ] 1 [", "= 1", "lattice of argon, T = 84 K", ""] {
        let read = parsed("x.xyz", with(title));
        if title.starts_with("lattice") {
            says(&read.unwrap_err().to_string(), &["line 2"]);
        } else {
            assert_eq!((read.as_ref().unwrap().title.as_str(), read.as_ref().unwrap().bx), (title, None));
        }
    }
}

#[test]
fn atomic_numbers_are_elements_and_types_are_names() {
    for (column, first, second) in
        [("numbers", "H", "He"), ("Z", "H", "He"), ("species", "1", "2"), ("type", "1", "2")]
    {
        let kind = if column == "species" { "S" } else { "I" };
        let text = format!("2\nProperties={column}:{kind}:1:pos:R:3\n1 0 0 0\n2 1 0 0\n");
        assert_eq!(parsed("x.xyz", text).unwrap().names, [first, second]);
    }
    for number in ["0", "119", "-1", "H", "1.0"] {
        let text = format!("2\nProperties=numbers:I:1:pos:R:3\n1 0 0 0\n{number} 1 0 0\n");
        says(&refusal("x.xyz", text), &["line 4", number, "atomic number"]);
    }
    // A column z of reals is not one of atomic numbers.
    let found = parsed("x.xyz", "1\nProperties=z:R:1:pos:R:3\n1 0 0 0\n").unwrap();
    assert_eq!((found.names, found.notes), (vec!["X".to_owned()], vec!["columns not used: z".to_owned()]));
}

#[test]
fn columns_that_are_not_used_are_noted_once() {
    let text = "1\nProperties=species:S:1:pos:R:3:Z:I:1:forces:R:3:move_mask:L:1:velo:R:3:momenta:R:3 energy=-1\n\
                Ar 1 2 3 18 .1 .2 .3 T 4 5 6 7 8 9\n";
    let found = parsed("x.xyz", text).unwrap();
    assert_eq!(found.notes[0], "columns not used: forces, move_mask, Z, momenta");
    assert_eq!((found.names, found.momenta), (vec!["Ar".to_owned()], None));
    assert_eq!(found.velocities.unwrap(), [Vec3d::new(4.0, 5.0, 6.0)]);
    let plain = parsed("x.xyz", "2\n\nAr 1 2 3 4 5 6\nAr\t1 2 3 4 5 6").unwrap();
    assert_eq!((plain.notes.len(), plain.velocities), (1, None));
    says(&plain.notes[0], &["columns not used", "last 3"]);
}

#[test]
fn columns_that_contradict_are_refused() {
    for (properties, said) in [
        ("species:S:1:species:S:1:pos:R:3", "\"species\" twice"),
        ("species:S:1:pos:R:3:pos:R:3", "\"pos\" twice"),
        ("species:S:1:pos:R:3:positions:R:3", "mean the same"),
        ("pos:R:3:velo:R:3:vel:R:3", "mean the same"),
        ("pos:R:3:initial_charges:R:1:charges:R:1", "mean the same"),
        ("species:X:1:pos:R:3", "type \"X\""),
        ("species:S:1:pos:R:2", "2 columns to \"pos\""),
        ("species:S:one:pos:R:3", "\"one\""),
        ("species:S:1:pos:R", "triples"),
        ("", "triples"),
    ] {
        says(&refusal("x.xyz", with(&format!("Properties=\"{properties}\""))), &["line 2", said]);
    }
}

/// All atoms have velocities, or none.
#[test]
fn every_atom_has_the_columns_of_the_first() {
    let moving = "2\nProperties=species:S:1:pos:R:3:velo:R:3\nAr 1 2 3 4 5 6\nAr 1 2 3\n";
    says(&refusal("x.xyz", moving), &["line 4", "4 columns, fewer than 7"]);
    let resting = "2\nProperties=species:S:1:pos:R:3\nAr 1 2 3\nAr 1 2 3 4 5 6\n";
    says(&refusal("x.xyz", resting), &["line 4", "7 columns, more than 4"]);
    for (first, second) in [("", " 4 5 6"), (" 4 5 6", "")] {
        let plain = format!("2\n\nAr 1 2 3{first}\nAr 1 2 3{second}\n");
        says(&refusal("x.xyz", plain), &["line 4", "columns"]);
    }
}
