//! Columns, velocities and boxes of `.gro`.

use super::*;

const RESTING: &str = "    1AR      AR    1   1.000   1.000   1.000\n";
const MOVING: &str = "    2AR      AR    2   1.400   1.000   1.000 -0.2500  0.1234  0.0000\n";

fn with(atoms: &[&str], bx: &str) -> String {
    format!("\n {}\n{}{bx}\n", atoms.len(), atoms.concat())
}

/// All atoms have velocities, or none: the error names the first atom that differs.
#[test]
fn velocities_of_some_atoms_are_refused() {
    let error = refusal("x.gro", with(&[RESTING, RESTING, MOVING, RESTING], "5 5 5"));
    says(&error, &["line 5 has a velocity", "first atom (line 3) has none", "every atom a velocity"]);
    let error = refusal("x.gro", with(&[MOVING, MOVING, MOVING, RESTING], "5 5 5"));
    says(&error, &["line 6 has no velocity", "first atom (line 3) has one"]);
    // The rank that has the row finds the error.
    let (_folder, path) = written("x.gro", with(&[RESTING, RESTING, MOVING, RESTING], "5 5 5").as_bytes());
    let refused = run_local(4, |comm| {
        let rows = |count| share(count, comm.rank(), comm.size());
        comm.agree_on(read(&path, FileFormat::Gromacs, Hints::default(), rows)).is_err()
    });
    assert_eq!(refused, [true; 4]);
    let found = parsed("x.gro", with(&[RESTING, RESTING], "5 5 5")).unwrap();
    assert_eq!((found.velocities, found.boundary_stated), (None, false));
}

#[test]
fn numbers_of_atoms_begin_anew_and_ids_go_on() {
    let count = 100_003;
    let atoms: String = (1..=count)
        .map(|id| format!("{0:5}AR      AR{0:5}   1.000   1.000   1.000\n", id % 100_000))
        .collect();
    let found = parsed("x.gro", format!("t\n{count}\n{atoms}   5 5 5\n")).unwrap();
    assert_eq!(found.ids, (1..=count).collect::<Vec<u64>>());
}

#[test]
fn a_box_of_nine_numbers_is_rectangular_but_for_rounding() {
    let found = parsed("x.gro", with(&[RESTING], "5 6 7 0 0 0.0 -3e-10 0 0")).unwrap();
    assert_eq!(found.bx.unwrap().upper, Vec3d::new(5.0, 6.0, 7.0));
    says(&found.notes[0], &["3e-10", "rounding noise"]);
    says(&refusal("x.gro", with(&[RESTING], "5 6 7 0 0 0 6e-10 0 0")), &["line 4", "not rectangular"]);
}

/// `%10.5f` leaves no blank before large numbers.
#[test]
fn a_large_box_is_read_by_its_decimals() {
    let found = parsed("x.gro", with(&[RESTING], "40000.0000041000.0000042000.00000")).unwrap();
    assert_eq!(found.bx.unwrap().upper, Vec3d::new(40000.0, 41000.0, 42000.0));
    let nine = "4000.000004100.000004200.00000   0.00000   0.00000-100.00000   0.00000   0.00000   0.00000";
    says(&refusal("x.gro", with(&[RESTING], nine)), &["line 4", "component -100 off the axes"]);
    says(&refusal("x.gro", with(&[RESTING], "5.0.0 5.0 5.0")), &["line 4"]);
}

#[test]
fn a_box_that_cannot_be_is_refused_with_its_line() {
    for (bx, said) in [
        ("", "three or nine numbers"),
        ("5 5", "three or nine numbers"),
        ("5 5 5 0", "three or nine numbers"),
        ("5 5 wide", "\"wide\""),
        ("0 0 0", "without extent"),
        ("5 -5 5", "without extent"),
        ("5 5 inf", "\"inf\""),
    ] {
        says(&refusal("x.gro", with(&[RESTING], bx)), &["line 4", said]);
    }
    says(&refusal("x.gro", format!("t\n1\n{RESTING}")), &["ends after line 3", "the box"]);
}

#[test]
fn what_columns_cannot_hold_is_refused() {
    let prime = "    1ARG    C1\u{2032}    1   1.000   1.000   1.000\n";
    says(&refusal("x.gro", with(&[prime], "5 5 5")), &["line 3", "ASCII"]);
    let more = MOVING.replace('\n', "  0.5\n");
    says(&refusal("x.gro", with(&[&more], "5 5 5")), &["line 3", "\"0.5\"", "behind the velocity"]);
    let remark = RESTING.replace('\n', " ; argon\n");
    says(&refusal("x.gro", with(&[&remark], "5 5 5")), &["line 3", "a velocity"]);
    // Trailing blanks are not velocities.
    let blanks = RESTING.replace('\n', "   \t \r\n");
    assert_eq!(parsed("x.gro", with(&[&blanks, RESTING], "5 5 5\r")).unwrap().velocities, None);
}
