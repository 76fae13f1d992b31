//! Particles that every rank can make alone, so that files of several ranks can be compared with those of
//! one.

use super::processes::test_name;
use hilbrium::comm::Communicator;
use hilbrium::particles::{Field, Particles};
use hilbrium::snapshot::Header;
use hilbrium::space::{Boundary, SimulationBox, Vec3d};
use std::path::Path;
use std::process::{Command, Output};

pub const FIELDS: &[Field] = &[
    Field::Position,
    Field::Velocity,
    Field::Mass,
    Field::SmoothingLength,
    Field::InternalEnergy,
    Field::Viscosity,
    Field::Density,
    Field::Pressure,
    Field::GradientMatrix,
    Field::Potential,
];

/// A number in [0, 1) that depends on nothing but its arguments.
pub fn noise(id: u64, field: Field, component: usize) -> f64 {
    let mut bits = id.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ ((field as u64 + 1) << 32) ^ component as u64;
    for shift in [30, 27, 31] {
        bits = (bits ^ (bits >> shift)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

/// Rank r of n has `total` particles shared out unevenly, rank 1 of several none; the ids are no row numbers.
/// The owned rows stand between 64 ghosts and 5 halos.
pub fn particles(comm: &Communicator, total: usize, fields: &[Field]) -> Particles {
    let weight = |rank: usize| if rank == 1 { 0 } else { rank + 2 };
    let sum: usize = (0..comm.size()).map(weight).sum();
    let first = |rank: usize| total * (0..rank).map(weight).sum::<usize>() / sum;
    let mine = first(comm.rank())..first(comm.rank() + 1);
    let mut particles = Particles::new(fields, 64 + mine.len() + 5);
    particles.set_owned(64..64 + mine.len());
    for row in 0..particles.len() {
        particles.id[row] = match row.checked_sub(64).filter(|row| *row < mine.len()) {
            Some(row) => ((mine.start + row) as u64 * 7919) % 1_000_003,
            None if row < 64 => u64::MAX,
            None => 2_000_000,
        };
        for &field in fields {
            for c in 0..field.components() {
                let value = noise(particles.id[row], field, c);
                let value = match field {
                    Field::Position => 2.0 * value - 1.0,
                    Field::Velocity | Field::Potential => value - 0.5,
                    _ => value + 1e-3,
                };
                particles.component_mut(field, c)[row] = value;
            }
        }
    }
    particles
}

pub fn open_box() -> SimulationBox {
    SimulationBox { lower: Vec3d::repeat(-1.0), upper: Vec3d::repeat(1.0), boundary: [Boundary::Open; 3] }
}

pub fn header() -> Header {
    Header {
        time: 0.1 + 0.2,
        step: 12,
        title: "Evrard – Kollaps".into(),
        adiabatic_index: Some(5.0 / 3.0),
        deck: "title = \"x\"\n".into(),
        ..Header::new(open_box())
    }
}

/// Runs the test `part` of a module as a process of its own: `launcher` precedes it on the shell's line.
pub fn run_again(launcher: &str, module: &str, part: &str, folder: &Path) -> Output {
    let this = std::env::current_exe().unwrap();
    let test = test_name(module, part);
    let line =
        format!("{launcher} '{}' --exact {test} --ignored --nocapture --test-threads=1", this.display());
    Command::new("bash")
        .args(["-c", &line])
        .env("SNAPSHOT_TEST_FOLDER", folder)
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .output()
        .unwrap()
}

/// The folder that [`run_again`] passed on.
pub fn passed_folder() -> std::path::PathBuf {
    std::env::var_os("SNAPSHOT_TEST_FOLDER").expect("run by another test").into()
}
