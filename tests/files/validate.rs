//! From a snapshot file and its record of observables to a verdict, its JSON and its pictures.

use std::f64::consts::PI;
use std::path::Path;

use hilbrium::comm::Communicator;
use hilbrium::observe::{Layout, Record, observe};
use hilbrium::particles::{Field, Particles};
use hilbrium::snapshot::{Header, write_snapshot};
use hilbrium::space::{Boundary, SimulationBox, Vec3d};
use hilbrium::units::{UnitSystem, Units};
use hilbrium::validate;

const FIELDS: &[Field] = &[
    Field::Position,
    Field::Velocity,
    Field::Mass,
    Field::SmoothingLength,
    Field::InternalEnergy,
    Field::Density,
];

/// The Evrard sphere at its start, with potential -2 (1 - r / 2) of the whole sphere: phi(r) = r - 2.
fn sphere(count: usize) -> Particles {
    let mut particles = Particles::new(&[FIELDS, &[Field::Potential]].concat(), count);
    for row in 0..count {
        let radius = ((row as f64 + 0.5) / count as f64).sqrt();
        let z = 1.0 - 2.0 * (row as f64 * 0.754_877_666_246_692_7).fract();
        let turn = 2.0 * PI * (row as f64 * 0.569_840_290_998_053_2).fract();
        let ring = (1.0 - z * z).sqrt();
        let density = 1.0 / (2.0 * PI * radius);
        particles.set_vector(
            Field::Position,
            row,
            radius * Vec3d::new(ring * turn.cos(), ring * turn.sin(), z),
        );
        for (field, value) in [
            (Field::Mass, 1.0 / count as f64),
            (Field::Density, density),
            (Field::InternalEnergy, 0.05),
            (Field::SmoothingLength, 0.5 * (75.0 / (PI * density * count as f64)).cbrt()),
            (Field::Potential, radius - 2.0),
        ] {
            particles.scalar_mut(field)[row] = value;
        }
    }
    particles
}

fn header(time: f64) -> Header {
    let corner = Vec3d::new(2.0, 2.0, 2.0);
    let bx = SimulationBox { lower: -corner, upper: corner, boundary: [Boundary::Open; 3] };
    Header { time, ..Header::new(bx) }
}

fn write(path: &Path, particles: &Particles, time: f64) {
    write_snapshot(path, &Communicator::solo(), particles, &header(time), FIELDS).unwrap();
}

#[test]
fn a_good_start_passes_with_verdict_and_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let snapshot = folder.path().join("snapshot-0000.hdf5");
    let (solo, particles) = (Communicator::solo(), sphere(20_000));
    write(&snapshot, &particles, 0.0);
    let layout =
        Layout { molecular: false, external: false, heat: false, units: Units::new(UnitSystem::Reduced) };
    let mut record = Record::create(&solo, &folder.path().join("observables.csv"), layout).unwrap();
    let bx = header(0.0).bx;
    let seen = observe(&solo, &bx, &particles, &layout.units, 0, 0.0, 1e-3);
    assert!((seen.total_energy() + 0.616667).abs() < 1e-4 && (seen.mass - 1.0).abs() < 1e-12);
    record.append(&solo, &seen).unwrap();
    record.append(&solo, &observe(&solo, &bx, &particles, &layout.units, 1, 1e-3, 1e-3)).unwrap();

    let (json, pictures) = (folder.path().join("verdict.json"), folder.path().join("pictures"));
    assert!(validate::run(&snapshot, "evrard", Some(&json), Some(&pictures)).unwrap());
    let verdict: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!((&verdict["passed"], &verdict["particles"]), (&true.into(), &20_000.into()));
    let check = |name: &str| {
        let checks = verdict["checks"].as_array().unwrap();
        checks.iter().find(|check| check["name"] == name).unwrap().clone()
    };
    assert_eq!(check("energy drift")["outcome"], "passed");
    assert_eq!(check("log10 density")["outcome"], "passed");
    assert!(check("entropy ahead of the shock")["measured"].as_f64().unwrap() < 1e-3);
    for name in ["profiles.png", "profiles.svg", "energies.png", "energies.svg"] {
        assert!(pictures.join(format!("snapshot-0000-{name}")).exists(), "{name}");
    }
}

#[test]
fn the_start_is_no_collapse() {
    let folder = tempfile::tempdir().unwrap();
    let snapshot = folder.path().join("snapshot.hdf5");
    write(&snapshot, &sphere(20_000), 0.77);
    let json = folder.path().join("verdict.json");
    assert!(!validate::run(&snapshot, "evrard", Some(&json), None).unwrap());
    assert!(std::fs::read_to_string(&json).unwrap().contains("\"passed\": false"));
}

#[test]
fn accidents_are_errors_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let snapshot = folder.path().join("snapshot.hdf5");
    let message = |result: hilbrium::Result<bool>| result.err().unwrap().to_string();
    assert!(message(validate::run(&snapshot, "evrard", None, None)).contains("help:"));
    assert!(message(validate::run(folder.path(), "evrard", None, None)).contains("help:"));
    assert!(message(validate::run(&snapshot, "evrad", None, None)).contains("the solutions are"));

    write(&snapshot, &sphere(500), 0.0);
    let nowhere = folder.path().join("missing/verdict.json");
    assert!(
        message(validate::run(&snapshot, "evrard", Some(&nowhere), None)).contains("that the folder exists")
    );
    assert!(message(validate::run(&snapshot, "evrard", None, Some(&snapshot))).contains("help:"));

    let bare = folder.path().join("bare.hdf5");
    write_snapshot(&bare, &Communicator::solo(), &sphere(500), &header(0.0), &[Field::Velocity]).unwrap();
    assert!(message(validate::run(&bare, "evrard", None, None)).contains("it has no density"));

    std::fs::write(folder.path().join("observables.csv"), "damaged\n").unwrap();
    assert!(message(validate::run(&snapshot, "evrard", None, None)).contains("no column"));
}
