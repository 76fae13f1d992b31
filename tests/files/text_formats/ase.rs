//! What ASE writes is read back, and what both read is the same.

use super::random::File;
use super::*;
use crate::common::skip;
use hilbrium::space::{Boundary, Vec3d};
use serde_json::Value;
use std::io::Write;
use std::process::{Command, Stdio};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/text_formats.py");
/// Random files of each format.
const FILES: u64 = 60;

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn vectors(value: &Value) -> Vec<Vec3d> {
    value.as_array().unwrap().iter().map(|row| Vec3d::from_vec(numbers(row))).collect()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

#[track_caller]
fn close(what: &str, found: &[Vec3d], expected: &[Vec3d], digit: f64) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (row, (found, expected)) in found.iter().zip(expected).enumerate() {
        let apart = (found - expected).amax();
        assert!(apart <= digit * 0.500001, "{what} of row {row}: {found:?} is not {expected:?}");
    }
}

#[test]
fn states_that_ase_writes_are_read_back() {
    let Some(python) = skip::python("to compare with ASE") else { return };
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(&python).arg(SCRIPT).arg("write").arg(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let state: Value = serde_json::from_slice(&output.stdout).unwrap();
    let [positions, velocities, momenta] =
        ["positions", "velocities", "momenta"].map(|key| vectors(&state[key]));
    let (elements, charges) = (texts(&state["names"]), numbers(&state["charges"]));
    let edges = Vec3d::new(21.5, 32.25, 43.125);
    for name in ["state.xyz", "numbers.xyz"] {
        let found = read(&folder.path().join(name), Hints::default()).unwrap();
        assert_eq!((names(&found), found.boundary_stated), (elements.clone(), true));
        close(name, &found.positions, &positions, 1e-8);
        close(name, found.momenta.as_ref().unwrap(), &momenta, 1e-8);
        let bx = found.bx.unwrap();
        assert_eq!(
            (bx.upper, bx.boundary),
            (edges, [Boundary::Periodic, Boundary::Open, Boundary::Periodic])
        );
        assert_eq!(found.charges, (name == "state.xyz").then(|| charges.clone()));
    }
    let found = read(&folder.path().join("state.gro"), Hints::default()).unwrap();
    assert_eq!(names(&found), elements);
    close("state.gro", &found.positions, &positions.iter().map(|at| at * 0.1).collect::<Vec<_>>(), 1e-3);
    let scaled = |by: &str| -> Vec<Vec3d> {
        velocities.iter().map(|velocity| velocity * state[by].as_f64().unwrap()).collect()
    };
    close("state.gro", found.velocities.as_ref().unwrap(), &scaled("gromacs"), 1e-4);
    close("state.gro", &[found.bx.unwrap().upper], &[edges * 0.1], 1e-5);
    for name in ["atomic", "charge", "full", "labels"] {
        let found = read(&folder.path().join(format!("{name}.data")), Hints::default()).unwrap();
        assert_eq!((names(&found), found.ids.as_slice()), (elements.clone(), &[1, 2, 3, 4, 5, 6][..]));
        let expected = if name == "labels" { vectors(&state["wrapped"]) } else { positions.clone() };
        close(name, &found.positions, &expected, 1e-12);
        close(name, found.velocities.as_ref().unwrap(), &scaled("metal"), 1e-12);
        assert_eq!(found.bx.unwrap().upper, edges);
        assert_eq!(found.charges, (name != "atomic").then(|| charges.clone()));
        let masses = numbers(&state["masses"]);
        let apart = |(found, expected): (&f64, &f64)| (found / expected - 1.0).abs();
        assert!(found.masses.unwrap().iter().zip(&masses).map(apart).all(|apart| apart < 1e-8));
        if name == "labels" {
            let images: Vec<[i32; 3]> =
                vectors(&state["images"]).iter().map(|image| [0, 1, 2].map(|d| image[d] as i32)).collect();
            assert_eq!(found.images.unwrap(), images);
        }
    }
}

/// Random files with the features that both know are the same to both, or refused with a reason.
#[test]
fn random_files_are_what_ase_finds() {
    let Some(python) = skip::python("to compare with ASE") else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for seed in 0..FILES {
        for make in [random::xyz, random::gromacs, random::lammps] {
            let file = make(seed);
            let path = written(folder.path(), &format!("{seed}.{}", file.ending), &file.text);
            files.push((file, path));
        }
    }
    let mut child = Command::new(&python)
        .arg(SCRIPT)
        .arg("read")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let list: String =
        files.iter().map(|(file, path)| format!("{} {}\n", file.format, path.display())).collect();
    child.stdin.take().unwrap().write_all(list.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let lines: Vec<Value> = output
        .stdout
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    assert_eq!(lines.len(), files.len());
    let mut same = 0;
    for ((file, path), theirs) in files.iter().zip(&lines) {
        match (read(path, Hints::default()), file.refused) {
            (Ok(ours), None) => {
                assert!(theirs.get("error").is_none(), "ASE: {theirs}\n{}", file.text);
                compare(file, &ours, theirs);
                same += 1;
            }
            (Err(error), Some(reason)) => {
                assert!(error.to_string().contains(reason), "{error}\n{}", file.text)
            }
            (ours, expected) => panic!("{expected:?} expected, {ours:?}\n{}", file.text),
        }
    }
    println!("{same} of {} files are the same to ASE, the others are refused", files.len());
    assert!(same as u64 > 2 * FILES);
}

fn compare(file: &File, ours: &Configuration, theirs: &Value) {
    let about = &file.text;
    let expected: Vec<String> = texts(&theirs["names"])
        .into_iter()
        .map(|name| file.renamed.get(&name).cloned().unwrap_or(name))
        .collect();
    assert_eq!(names(ours), expected, "{about}");
    close(about, &ours.positions, &vectors(&theirs["positions"]), 1e-9);
    let velocities = ours.velocities.as_ref().or(ours.momenta.as_ref());
    let key = if ours.momenta.is_some() { "momenta" } else { "velocities" };
    match (velocities, theirs.get(key)) {
        (Some(ours), Some(theirs)) => close(about, ours, &vectors(theirs), 1e-9),
        (None, None) => {}
        (ours, theirs) => panic!("{ours:?} is not {theirs:?}\n{about}"),
    }
    let cell = vectors(&theirs["cell"]);
    match &ours.bx {
        Some(bx) => {
            close(about, &[bx.lengths()], &[Vec3d::new(cell[0].x, cell[1].y, cell[2].z)], 1e-9);
            let flags: Vec<bool> = bx.boundary.iter().map(|&side| side == Boundary::Periodic).collect();
            let stated: Vec<bool> =
                theirs["pbc"].as_array().unwrap().iter().map(|flag| flag.as_bool().unwrap()).collect();
            assert_eq!(flags, stated, "{about}");
        }
        None => assert!(cell.iter().all(|vector| vector.amax() == 0.0), "{about}"),
    }
    for (column, key) in [(&ours.masses, "masses"), (&ours.charges, "charges")] {
        if let Some(column) = column {
            let theirs = numbers(&theirs[key]);
            let alike = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-7 * b.abs().max(1.0);
            assert!(column.len() == theirs.len() && column.iter().zip(&theirs).all(alike), "{key}\n{about}");
        }
    }
}
