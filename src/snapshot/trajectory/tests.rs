//! What a restart makes of the file that it finds.

use std::path::PathBuf;

use super::*;
use crate::deck::plan::Every;
use crate::particles::Field;
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

/// A trajectory with these steps: its path and its bytes.
fn written(directory: &Path, content: &Content, steps: &[u64]) -> (PathBuf, Vec<u8>) {
    let (comm, particles) = (Communicator::solo(), particles());
    let mut trajectory = Trajectory::create(directory, &comm, content, &particles).unwrap();
    let bx =
        SimulationBox { lower: Vec3d::zeros(), upper: Vec3d::repeat(1.0), boundary: [Boundary::Periodic; 3] };
    for &step in steps {
        trajectory.append(&comm, &particles, &Moment { step, time: 0.5, bx }).unwrap();
    }
    let path = directory.join(content.file_name());
    let bytes = std::fs::read(&path).unwrap();
    (path, bytes)
}

fn resumed(directory: &Path, content: &Content, step: u64) -> Result<Trajectory> {
    Trajectory::resume(directory, &Communicator::solo(), content, &particles(), step)
}

#[test]
fn a_later_format_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let content = content(TrajectoryFormat::H5md);
    let (path, _) = written(folder.path(), &content, &[0]);
    assert!(crate::snapshot::info(&path).is_ok() && resumed(folder.path(), &content, 0).is_ok());
    let file = hdf5::File::open_rw(&path).unwrap();
    file.group("Hilbrium").unwrap().attr("Format version").unwrap().write_raw(&[2i64]).unwrap();
    file.close().unwrap();
    let errors = [crate::snapshot::info(&path).err(), resumed(folder.path(), &content, 0).err()];
    for error in errors.map(|error| error.unwrap().to_string()) {
        assert!(error.contains("format version is 2"), "{error}");
    }
}
