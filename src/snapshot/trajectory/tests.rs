//! How a restart treats an existing trajectory file.

use std::path::PathBuf;

use super::*;
use crate::particles::Field;
use crate::plan::Every;
use crate::snapshot::collective::options;
use crate::space::{Boundary, Vec3d};
use crate::units::UnitSystem;

fn content(format: TrajectoryFormat) -> Content {
    let every = Every::EverySteps(1);
    Content {
        plan: TrajectoryPlan { every, format, velocities: true, forces: false, images: false, double: false },
        units: Units::new(UnitSystem::Reduced),
        species: vec!["Ar".into()],
        title: "Step=99 Properties=pos:R:3".into(),
    }
}

fn particles() -> Particles {
    let mut particles = Particles::new(&[Field::Position, Field::Velocity, Field::Force, Field::Mass], 2);
    particles.id = vec![8, 3];
    particles
}

fn cube() -> SimulationBox {
    SimulationBox { lower: Vec3d::zeros(), upper: Vec3d::repeat(1.0), boundary: [Boundary::Periodic; 3] }
}

/// Writes a trajectory with these steps; returns its path and bytes.
fn written(directory: &Path, content: &Content, steps: &[u64]) -> (PathBuf, Vec<u8>) {
    let (comm, particles) = (Communicator::solo(), particles());
    let bx = cube();
    let mut trajectory = Trajectory::create(directory, &comm, content, &bx, &particles).unwrap();
    for &step in steps {
        trajectory.append(&comm, &particles, &Moment { step, time: 0.5, bx }).unwrap();
    }
    let path = directory.join(content.file_name());
    let bytes = std::fs::read(&path).unwrap();
    (path, bytes)
}

fn resumed(directory: &Path, content: &Content, step: u64) -> Result<Trajectory> {
    Trajectory::resume(directory, &Communicator::solo(), content, &cube(), &particles(), step)
}

#[test]
fn a_text_of_another_program_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let content = content(TrajectoryFormat::Xyz);
    let (path, bytes) = written(folder.path(), &content, &[4]);
    let ours = String::from_utf8(bytes).unwrap();
    let ase =
        "2\nLattice=\"4 0 0 0 4 0 0 0 4\" Properties=species:S:1:pos:R:3 pbc=\"T T T\"\nAr 1 2 3\nAr 2 3 4\n";
    let cases = [
        ("2\nargon\nAr 1 2 3\nAr 2 3 4\n".to_owned(), "second line"),
        ("2\nargon".into(), "second line"),
        ("a line without an end".into(), "2 particles"),
        ("3\n".into(), "2 particles"),
        (ase.into(), "species:S:1:pos:R:3\""),
        (ours.replacen(" Step=4", " Frame=4", 1), "its Step"),
        (ours.replacen(":velo:R:3", "", 1), "deck asks for"),
        (ours.clone() + ase, "species:S:1:pos:R:3\""),
    ];
    for (text, said) in cases {
        std::fs::write(&path, &text).unwrap();
        let error = resumed(folder.path(), &content, 9).err().unwrap().to_string();
        assert!(error.contains(said) && error.contains("move the file away"), "{text}: {error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
    std::fs::write(&path, &ours).unwrap();
    let mut more = content.clone();
    more.plan.forces = true;
    let error = resumed(folder.path(), &more, 9).err().unwrap().to_string();
    assert!(error.contains("forces:R:3") && std::fs::read_to_string(&path).unwrap() == ours, "{error}");
}

#[test]
fn any_beginning_of_a_text_is_cut_to_whole_frames() {
    let folder = tempfile::tempdir().unwrap();
    let content = content(TrajectoryFormat::Xyz);
    let (path, bytes) = written(folder.path(), &content, &[0, 3, 6]);
    let frame = bytes.len() / 3;
    for length in 0..=bytes.len() {
        std::fs::write(&path, &bytes[..length]).unwrap();
        assert!(resumed(folder.path(), &content, 5).is_ok(), "{length} bytes");
        let kept = std::fs::read(&path).unwrap();
        assert!(kept == bytes[..(length / frame).min(2) * frame], "{length} bytes: {} are kept", kept.len());
    }
}

#[test]
fn a_later_format_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let content = content(TrajectoryFormat::H5md);
    let (path, _) = written(folder.path(), &content, &[0]);
    assert!(crate::snapshot::info(&path).is_ok() && resumed(folder.path(), &content, 0).is_ok());
    let file = options().open_rw(&path).unwrap();
    file.group("Hilbrium").unwrap().attr("Format version").unwrap().write_raw(&[2i64]).unwrap();
    file.close().unwrap();
    let errors = [crate::snapshot::info(&path).err(), resumed(folder.path(), &content, 0).err()];
    for error in errors.map(|error| error.unwrap().to_string()) {
        assert!(error.contains("format version is 2"), "{error}");
    }
}
