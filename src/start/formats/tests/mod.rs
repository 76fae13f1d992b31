//! Supported input, refused input with its errors, and that no input makes a reader panic, hang or exhaust
//! the memory.

use std::path::PathBuf;

use proptest::prelude::*;

mod extended_xyz;
mod gromacs;
mod kinds;
mod lammps;

use super::*;
use crate::comm::distribution::share;
use crate::comm::run_local;

const LAMMPS: &str = "LAMMPS data file via write_data, version 29 Sep 2021, timestep = 0, units = real

3 atoms
2 atom types
-1 4.0 xlo xhi
0 5.5 ylo yhi
0 6 zlo zhi
0 0 0 xy xz yz

Masses

1 39.948 # Ar
2 83.798 # Kr

Pair Coeffs # lj/cut

1 0.238 3.4
2 0.318 3.6

Atoms # charge

10 1 0.5 -0.5 0.25 1 0 -1 2
7 2 -0.5 1.5 5.25 2 # a comment
8 2 0 2.5 0.25 3 0 0 0

Velocities

8 1 2 3
10 4 5 6
7 7 8 9
";

const GRO: &str = "Argon, t= 0.0
    3
    1AR      AR    1   0.238   0.144   0.166  0.1389  0.0377 -0.2112
    2AR      AR    2   0.632   0.282   0.033  0.0593 -0.0244  0.1872
99999KR      KR99999  -1.250   3.000   2.000 -0.0593  0.0244 -0.1872
   2.80000   2.90000   3.00000
";

const XYZ: &str = "3
Lattice=\"4 0 0 0 5.5 0 0.0 0 6\" Origin=\"-1 0 0\" Properties=species:S:1:pos:R:3:velo:R:3:mass:R:1:charge:R:1:id:I:1 pbc=\"T T F\"
Na 0.5 0.25 1.0 1 2 3 22.99 1 4
Cl 1.5 0.25 1.0 4 5 6 35.45 -1 9
Na 2.5 0.25 1.0 7 8 9 22.99 1 2
";

fn written(name: &str, text: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

fn parsed(name: &str, text: impl AsRef<[u8]>) -> Result<Configuration> {
    hinted(name, text, Hints::default())
}

fn hinted(name: &str, text: impl AsRef<[u8]>, hints: Hints) -> Result<Configuration> {
    let (_folder, path) = written(name, text.as_ref());
    let format = format_of(&path)?;
    read(&path, format, hints, |count| 0..count)
}

/// The error of a refused text; it must have a remedy.
fn refusal(name: &str, text: impl AsRef<[u8]>) -> String {
    let shown = String::from_utf8_lossy(text.as_ref()).into_owned();
    let error = parsed(name, text).expect_err(&shown).to_string();
    assert!(error.contains("help: "), "{error}");
    error
}

/// Checks that an error contains all these words.
#[track_caller]
fn says(error: &str, words: &[&str]) {
    for word in words {
        assert!(error.contains(word), "no \"{word}\" in: {error}");
    }
}

#[test]
fn lammps_data_is_read_in_any_order() {
    let found = parsed("x.data", LAMMPS.as_bytes()).unwrap();
    assert_eq!(found.units, Some(FileUnits::Real));
    assert_eq!((found.count, found.ids), (3, vec![10, 7, 8]));
    assert_eq!(found.names, ["Ar", "Kr"]);
    assert_eq!(found.species, [0, 1, 1]);
    assert_eq!(found.masses.unwrap(), [39.948, 83.798, 83.798]);
    assert_eq!(found.charges.unwrap(), [0.5, -0.5, 0.0]);
    assert_eq!(found.images.unwrap(), [[0, -1, 2], [0; 3], [0; 3]]);
    let vector = |x, y, z| Vec3d::new(x, y, z);
    assert_eq!(
        found.velocities.unwrap(),
        [vector(4.0, 5.0, 6.0), vector(7.0, 8.0, 9.0), vector(1.0, 2.0, 3.0)]
    );
    assert_eq!(found.positions[1], vector(1.5, 5.25, 2.0));
    let bx = found.bx.unwrap();
    assert_eq!((bx.lower, bx.upper), (vector(-1.0, 0.0, 0.0), vector(4.0, 5.5, 6.0)));
    assert_eq!(bx.boundary, [Boundary::Periodic; 3]);
    assert!(found.notes[0].contains("lj/cut: 1 0.238 3.4; 2 0.318 3.6"), "{:?}", found.notes);
}

#[test]
fn gro_is_read_by_its_columns() {
    let found = parsed("x.gro", GRO.as_bytes()).unwrap();
    assert_eq!(found.ids, [1, 2, 3]);
    assert_eq!((found.names, found.species), (vec!["AR".into(), "KR".into()], vec![0, 0, 1]));
    assert_eq!(found.positions[2], Vec3d::new(-1.25, 3.0, 2.0));
    assert_eq!(found.velocities.unwrap()[0], Vec3d::new(0.1389, 0.0377, -0.2112));
    assert_eq!(found.bx.unwrap().lengths(), Vec3d::new(2.8, 2.9, 3.0));
    // More decimals, no velocities, coordinates that touch.
    let fine = "t\n1\n    1AR      AR    1-12.3456789-12.3456789-12.3456789\n 1 1 1 0 0 0 0 0 0\n";
    let found = parsed("x.gro", fine.as_bytes()).unwrap();
    assert_eq!((found.positions[0], found.velocities), (Vec3d::repeat(-12.3456789), None));
}

#[test]
fn extended_xyz_is_read_by_its_properties() {
    let found = parsed("x.xyz", XYZ.as_bytes()).unwrap();
    assert_eq!((found.ids, found.names), (vec![4, 9, 2], vec!["Na".into(), "Cl".into()]));
    assert_eq!(found.species, [0, 1, 0]);
    assert_eq!(found.velocities.unwrap()[1], Vec3d::new(4.0, 5.0, 6.0));
    assert_eq!((found.masses.unwrap()[1], found.charges.unwrap()[1]), (35.45, -1.0));
    let bx = found.bx.unwrap();
    assert_eq!((bx.lower.x, bx.upper), (-1.0, Vec3d::new(3.0, 5.5, 6.0)));
    assert_eq!(bx.boundary, [Boundary::Periodic, Boundary::Periodic, Boundary::Open]);
    // Plain XYZ, and momenta.
    let plain = parsed("x.xyz", b"1\nno keys here = \nAr 1 2 3 4 5 6").unwrap();
    assert_eq!((plain.ids, plain.bx, plain.velocities), (vec![0], None, None));
    let momenta = parsed("x.xyz", b"1\nProperties=pos:R:3:momenta:R:3 a={1 2} b\n1 2 3 4 5 6\n").unwrap();
    assert_eq!((momenta.momenta.unwrap()[0], momenta.velocities), (Vec3d::new(4.0, 5.0, 6.0), None));
}

/// The shortest possible atom lines are accepted; a count for which the file is too small is refused.
#[test]
fn the_shortest_lines_of_extended_xyz_are_read() {
    for count in [1, 2, 100] {
        let text = format!("{count}\nProperties=pos:R:3\n{}", "1 2 3\n".repeat(count));
        let found = parsed("x.xyz", text.trim_end().as_bytes()).unwrap();
        assert_eq!(found.positions, vec![Vec3d::new(1.0, 2.0, 3.0); count]);
    }
    let text = format!("200\nProperties=pos:R:3\n{}", "1 2 3\n".repeat(100));
    assert!(parsed("x.xyz", text.as_bytes()).unwrap_err().to_string().contains("more than"));
}

#[test]
fn formats_are_told_by_content_where_the_name_says_nothing() {
    for (text, format) in
        [(LAMMPS, FileFormat::LammpsData), (GRO, FileFormat::Gromacs), (XYZ, FileFormat::ExtendedXyz)]
    {
        let (_folder, path) = written("start", text.as_bytes());
        assert_eq!(format_of(&path).unwrap(), format);
    }
    assert!(parsed("start", b"a letter\nto nobody\n").unwrap_err().to_string().contains("start.file"));
}

#[test]
fn ranks_share_a_file_and_miss_nothing() {
    for (name, text) in [("x.data", LAMMPS), ("x.gro", GRO), ("x.xyz", XYZ)] {
        let (_folder, path) = written(name, text.as_bytes());
        let format = format_of(&path).unwrap();
        let whole = read(&path, format, Hints::default(), |count| 0..count).unwrap();
        let named = |found: &Configuration| -> Vec<(u64, String, Vec3d)> {
            let atoms = found.ids.iter().zip(&found.species).zip(&found.positions);
            atoms.map(|((&id, &kind), &at)| (id, found.names[kind].clone(), at)).collect()
        };
        for ranks in 2..6 {
            let parts = run_local(ranks, |comm| {
                let rows = |count| share(count, comm.rank(), ranks);
                let part = read(&path, format, Hints::default(), rows).unwrap();
                unique(&path, &comm, &part.ids).unwrap();
                part
            });
            assert_eq!(parts.iter().flat_map(&named).collect::<Vec<_>>(), named(&whole));
            let velocities: Vec<Vec3d> =
                parts.iter().flat_map(|part| part.velocities.clone().unwrap()).collect();
            assert_eq!(Some(velocities), whole.velocities);
            assert!(parts.iter().all(|part| part.bx == whole.bx && part.count == 3));
        }
    }
}

#[test]
fn an_id_that_occurs_twice_is_refused_on_all_ranks() {
    let failed =
        run_local(2, |comm| unique(Path::new("x"), &comm, &[5, 7 + comm.rank() as u64 / 2]).is_err());
    assert_eq!(failed, [true, true]);
}

/// Each error of a changed file, with its line.
#[test]
fn mistakes_name_the_line_and_the_remedy() {
    let lammps: [(&str, &str, &[&str]); 16] = [
        ("3 atoms", "300000 atoms", &["line 3", "more than", "cut off"]),
        ("3 atoms", "4 atoms", &["line 25", "is empty"]),
        ("3 atoms", "x atoms", &["line 3", "\"x\"", "whole number"]),
        ("0 0 0 xy", "0.5 0 0 xy", &["line 8", "xy = 0.5", "rectangular"]),
        ("0 5.5 ylo yhi", "", &["ylo yhi"]),
        ("0 5.5 ylo yhi", "6 5.5 ylo yhi", &["no extent"]),
        ("2 atom types", "2 atom types\n1 bonds", &["line 5", "1 bonds", "bonded"]),
        ("# charge", "# body", &["line 20", "body", "atomic, charge"]),
        ("# charge", "", &["line 22", "9 columns", "atom_style"]),
        ("10 1 0.5", "10 3 0.5", &["line 22", "type 3", "there are 2"]),
        ("7 2 -0.5", "7 2 nan", &["line 23", "nan", "a charge"]),
        ("7 2 -0.5 1.5", "7 2 -0.5", &["line 23", "5 columns"]),
        ("2 83.798", "2 -1", &["line 13", "mass -1"]),
        ("10 4 5 6", "11 4 5 6", &["line 22", "atom 10", "no velocity"]),
        ("Atoms # charge", "Ellipsoids", &["line 20", "Ellipsoids"]),
        ("units = real", "units = nano", &["nano", "real"]),
    ];
    let gro: [(&str, &str, &[&str]); 6] = [
        ("    3\n", "    4\n", &["line 6", "where a coordinate should be"]),
        ("    3\n", "    2\n", &["line 5", "box"]),
        ("3.00000\n", "3.00000 0 0 0.1 0 0 0\n", &["line 6", "0.1", "rectangular"]),
        ("0.282", "0.2x2", &["line 4", "0.2x2", "coordinate"]),
        ("   2.80000   2.90000   3.00000", "0 0 0", &["line 6", "without extent"]),
        ("3.00000\n", "3.00000\nnext\n", &["line 7", "second frame"]),
    ];
    let xyz: [(&str, &str, &[&str]); 7] = [
        ("3\n", "4\n", &["ends after line 5", "cut off"]),
        ("3\n", "2\n", &["line 5", "second frame"]),
        ("5.5 0 0.0", "5.5 0 0.2", &["line 2", "0.2", "rectangular"]),
        ("4 0 0 0", "4 0 0", &["line 2", "8 numbers"]),
        (":pos:R:3", ":where:R:3", &["line 2", "without pos"]),
        ("mass:R:1", "mass:R:900000000", &["line 2", "900000000"]),
        ("Cl 1.5 0.25", "Cl 1.5", &["line 4", "9 columns, fewer than 10"]),
    ];
    let cases = [("x.data", LAMMPS, &lammps[..]), ("x.gro", GRO, &gro[..]), ("x.xyz", XYZ, &xyz[..])];
    for (name, text, changes) in cases {
        for (from, to, said) in changes {
            assert!(text.contains(from), "{from}");
            let error = parsed(name, text.replacen(from, to, 1).as_bytes()).expect_err(to).to_string();
            assert!(said.iter().all(|part| error.contains(part)) && error.contains("help:"), "{to}: {error}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn damaged_files_are_read_or_refused(
        which in 0usize..3,
        cut in 0.0f64..1.3,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        ranks in 1usize..4,
    ) {
        let (name, text) = [("x.data", LAMMPS), ("x.gro", GRO), ("x.xyz", XYZ)][which];
        let mut bytes = text.as_bytes().to_vec();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        bytes.truncate((cut * text.len() as f64) as usize);
        let (_folder, path) = written(name, &bytes);
        let Ok(format) = format_of(&path) else { return Ok(()) };
        prop_assume!(format != FileFormat::Hdf5);
        for rank in 0..ranks {
            let rows = |count| share(count, rank, ranks);
            match read(&path, format, Hints::default(), rows) {
                Ok(found) => {
                    prop_assert!(found.positions.iter().all(|position| position.iter().all(|x| x.is_finite())));
                    prop_assert_eq!(found.species.len(), found.ids.len());
                }
                Err(error) => prop_assert!(error.to_string().contains("help:")),
            }
        }
    }

    #[test]
    fn any_bytes_are_refused_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..400), which in 0usize..3) {
        let name = ["x.data", "x.gro", "x.xyz"][which];
        let _ = parsed(name, &bytes);
    }
}
