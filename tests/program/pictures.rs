//! `hilbrium picture`: maps of snapshots and plots of tables, and what is refused.

use crate::common::program::Case;
use hilbrium::comm::Communicator;
use hilbrium::particles::{Field, Particles};
use hilbrium::snapshot::{Header, write_snapshot};
use hilbrium::space::{Boundary, SimulationBox, Vec3d};
use std::collections::BTreeSet;
use std::path::Path;

/// A ball of gas at its start.
const GAS: &str = r#"
title = "Ball"
[run]
steps = 0
device = "cpu"
threads = 1
[start.evrard]
particles = 1500
[sph]
neighbors = 60
[gravity]
[output]
directory = "out"
"#;

/// A crystal in molecular units with two snapshots.
const CRYSTAL: &str = r#"
[units]
system = "molecular"
[run]
steps = 2
device = "cpu"
threads = 1
[species.Ar]
mass = 39.948
epsilon = "119.8 K"
sigma = "3.405 angstrom"
[start.lattice]
kind = "fcc"
cells = [4, 4, 4]
density = "1374 kg/m3"
temperature = "90 K"
[space]
boundary = "periodic"
[interaction.lennard-jones]
cutoff = "8.5 angstrom"
[time_step]
fixed = "2 fs"
[output]
directory = "out"
snapshots = { every_steps = 1 }
"#;

/// Width and height of a PNG, and the number of its colors.
fn colors(path: &Path) -> (u32, u32, usize) {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    let colors: BTreeSet<&[u8]> = bytes.chunks_exact(3).collect();
    (info.width, info.height, colors.len())
}

fn holds(text: &str, parts: &[&str]) {
    parts.iter().for_each(|part| assert!(text.contains(part), "{part}\n{text}"));
}

#[test]
fn a_snapshot_of_gas_is_drawn_and_wrong_requests_are_refused() {
    let case = Case::new();
    let (status, text) = case.run(GAS, &[]);
    assert_eq!(status, 0, "{text}");
    // recognized by content
    std::fs::copy(case.path("out/snapshot-0000.hdf5"), case.path("state")).unwrap();
    let picture = |more: &[&str]| case.hilbrium(&[&["picture", "state"], more].concat());
    for (arguments, name, least) in [
        (&["--slice", "z=0", "--pixels", "200"][..], "state-density-slice-z.png", 100),
        (&["--project", "x", "--width", "1", "--pixels", "50"], "state-density-projection-x.png", 100),
        (
            &[
                "--slice",
                "y=0.1",
                "--quantity",
                "smoothing_length",
                "--center",
                "0.2,-0.1",
                "--width",
                "0.5",
                "--range",
                "0.01,1",
                "--scale",
                "log",
                "--colors",
                "inferno",
                "--pixels",
                "64",
                "--folder",
                "maps",
            ],
            "maps/state-smoothing_length-slice-y.png",
            20,
        ),
    ] {
        let (status, text) = picture(arguments);
        assert_eq!(status, 0, "{text}");
        holds(&text, &["drawn as", name]);
        assert!(!text.contains("note:"), "the deck names the kernel: {text}");
        let (width, height, colors) = colors(&case.path(name));
        assert!(colors > least, "{name} has {colors} colors");
        assert!(width % 2 == 0 && height % 2 == 0 && (700..1200).contains(&width), "{width} x {height}");
    }
    for (arguments, parts) in [
        (&["--slice", "z=0", "--quantity", "temperature"][..], &["temperature", "density", "velocity_x"][..]),
        (&["--slice", "w=0"], &["no axis: x, y or z"]),
        (&["--slice", "z"], &["AXIS=VALUE"]),
        (&["--slice", "z=1 nm"], &["--slice: \"1 nm\" is no length", "have no names"]),
        (&["--slice", "z=0", "--project", "z"], &["cannot be used with"]),
        (&[], &["--slice z=0", "--project z"]),
        (&["--slice", "z=50"], &["nothing to draw", "at z = 50"]),
        (&["--project", "z", "--width", "0"], &["--width is 0"]),
        (&["--project", "z", "--range", "2,1"], &["empty"]),
        (
            &["--project", "z", "--quantity", "velocity_x", "--scale", "log"],
            &["positive values", "--scale linear"],
        ),
        (&["--project", "z", "--smoothing", "0.1"], &["smoothing lengths of its own"]),
        (&["--project", "z", "--columns", "density"], &["--columns is for tables", "--quantity"]),
        (&["out/observables.csv", "--project", "z"], &["not drawn by one command"]),
    ] {
        let (status, text) = picture(arguments);
        assert_eq!(status, 2, "{arguments:?}: {text}");
        holds(&text, parts);
    }
    let (status, text) = case.hilbrium(&["picture", "out/observables.csv", "--slice", "z=0"]);
    assert_eq!(status, 2, "{text}");
    holds(&text, &["--slice is for snapshots"]);
}

#[test]
fn snapshots_of_molecules_are_frames_with_equal_colors() {
    let case = Case::new();
    let (status, text) = case.run(CRYSTAL, &[]);
    assert_eq!(status, 0, "{text}");
    let slice = ["picture", "out", "--slice", "z=0.5 nm", "--pixels", "80", "--folder", "film"];
    let (status, text) = case.hilbrium(&slice);
    assert_eq!(status, 0, "{text}");
    holds(&text, &["3 frames", "smoothed over h = 0.364", "ffmpeg", "number_density-slice-z-%04d.png"]);
    for frame in 0..3 {
        let (_, _, colors) = colors(&case.path(&format!("film/number_density-slice-z-{frame:04}.png")));
        assert!(colors > 100, "frame {frame} has {colors} colors");
    }
    let project = ["picture", "out/snapshot-0002.hdf5", "--project", "z", "--quantity", "temperature"];
    let (status, text) = case.hilbrium(
        &[&project[..], &["--smoothing", "3 angstrom", "--width", "1 nm", "--pixels", "40"]].concat(),
    );
    assert_eq!(status, 0, "{text}");
    holds(&text, &["h = 0.3 nm", "temperature-projection-z.png"]);
    let table = ["picture", "out/observables.csv", "--columns", "temperature"];
    let (status, text) = case.hilbrium(&table);
    assert_eq!(status, 0, "{text}");
    let svg = std::fs::read_to_string(case.path("out/observables.svg")).unwrap();
    holds(&svg, &["temperature (K)", "time (ps)", "Observables"]);
}

#[test]
fn damaged_and_empty_snapshots_are_errors() {
    let case = Case::new();
    let bx =
        SimulationBox { lower: Vec3d::zeros(), upper: Vec3d::repeat(1.0), boundary: [Boundary::Open; 3] };
    let fields = [Field::Position, Field::Mass, Field::SmoothingLength];
    let write = |name: &str, count: usize| {
        let mut particles = Particles::new(&fields, count);
        particles.fill(Field::Mass, 1.0);
        particles.fill(Field::SmoothingLength, 0.1);
        let path = case.path(name);
        write_snapshot(&path, &Communicator::solo(), &particles, &Header::new(bx), &fields).unwrap();
        path
    };
    write("empty.hdf5", 0);
    let whole = std::fs::read(write("whole.hdf5", 50)).unwrap();
    std::fs::write(case.path("cut.hdf5"), &whole[..whole.len() / 2]).unwrap();
    std::fs::create_dir(case.path("folder")).unwrap();
    let other = hdf5::File::create(case.path("stars.hdf5")).unwrap();
    other.create_group("PartType4").unwrap();
    other.create_group("Header").unwrap();
    other.close().unwrap();
    for (name, status, parts) in [
        ("empty.hdf5", 1, &["empty.hdf5", "no particles"][..]),
        ("cut.hdf5", 1, &["cut.hdf5", "damaged"]),
        ("stars.hdf5", 1, &["no gas particles (PartType0), only PartType4"]),
        ("folder", 2, &["folder has no snapshots"]),
        ("missing.hdf5", 1, &["missing.hdf5", "No such file"]),
    ] {
        let (found, text) = case.hilbrium(&["picture", name, "--slice", "z=0.5"]);
        assert_eq!(found, status, "{name}: {text}");
        holds(&text, parts);
    }
    // all at one point, without a deck
    let (status, text) = case.hilbrium(&["picture", "whole.hdf5", "--slice", "z=0", "--pixels", "40"]);
    assert_eq!(status, 0, "{text}");
    holds(&text, &["does not record its kernel: cubic-spline", "--kernel"]);
}
