//! How a restart treats an existing trajectory file.

use std::path::PathBuf;

use super::*;
use crate::particles::Field;
use crate::plan::Every;
use crate::snapshot::collective::options;
use crate::space::{Boundary, Vec3d};
use crate::units::UnitSystem;

mod layouts;

fn content(format: TrajectoryFormat) -> Content {
    let every = Every::EverySteps(3);
    let plan = TrajectoryPlan {
        every,
        format,
        velocities: format.topology_name().is_none(),
        forces: false,
        images: false,
        double: false,
        resolution: 0.001,
    };
    Content {
        plan,
        units: Units::new(UnitSystem::Reduced),
        species: vec!["Ar".into()],
        title: "Step=99 Properties=pos:R:3".into(),
        time_step: Some(0.002),
    }
}

fn particles() -> Particles {
    let mut particles = Particles::new(&[Field::Position, Field::Velocity, Field::Force, Field::Mass], 2);
    particles.id = vec![8, 3];
    particles
}

/// Particles with ids and places that look random, all with a charge.
fn many(count: usize) -> Particles {
    let fields = [Field::Position, Field::Velocity, Field::Mass, Field::Charge, Field::Species];
    let mut particles = Particles::new(&fields, count);
    for row in 0..count {
        let shuffled = (row * 7 + 3) % count;
        particles.id[row] = shuffled as u64;
        let place = [0.61, 0.37, 0.83].map(|step| (shuffled as f64 * step).fract());
        particles.set_vector(Field::Position, row, place.into());
        particles.scalar_mut(Field::Mass)[row] = 39.948 + shuffled as f64;
        particles.scalar_mut(Field::Charge)[row] = if shuffled.is_multiple_of(2) { 0.5 } else { -0.5 };
    }
    particles
}

fn cube() -> SimulationBox {
    SimulationBox { lower: Vec3d::zeros(), upper: Vec3d::repeat(1.0), boundary: [Boundary::Periodic; 3] }
}

/// Writes a trajectory with these steps; returns its path and bytes.
fn written(directory: &Path, content: &Content, steps: &[u64]) -> (PathBuf, Vec<u8>) {
    written_of(&particles(), directory, content, steps)
}

fn written_of(
    particles: &Particles,
    directory: &Path,
    content: &Content,
    steps: &[u64],
) -> (PathBuf, Vec<u8>) {
    let (comm, bx) = (Communicator::solo(), cube());
    let mut trajectory = Trajectory::create(directory, &comm, content, &bx, particles).unwrap();
    for &step in steps {
        trajectory.append(&comm, particles, &Moment { step, time: 0.5, bx }).unwrap();
    }
    let path = directory.join(content.plan.format.file_name());
    let bytes = std::fs::read(&path).unwrap();
    (path, bytes)
}

fn resumed(directory: &Path, content: &Content, step: u64) -> Result<Trajectory> {
    resumed_of(&particles(), directory, content, step)
}

fn resumed_of(particles: &Particles, directory: &Path, content: &Content, step: u64) -> Result<Trajectory> {
    Trajectory::resume(directory, &Communicator::solo(), content, &cube(), particles, step)
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

#[test]
fn a_field_that_is_not_asked_for_any_more_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let content = content(TrajectoryFormat::H5md);
    let (path, _) = written(folder.path(), &content, &[0]);
    let before = std::fs::read(&path).unwrap();
    let mut less = content.clone();
    less.plan.velocities = false;
    let error = resumed(folder.path(), &less, 9).err().unwrap().to_string();
    assert!(error.contains("it has velocity values") && error.contains("move the file away"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert!(resumed(folder.path(), &content, 9).is_ok());
}
