//! What a user forgets is said: in the log, as a note or a warning, or as an error whose remedy works.

use crate::common::program::Case;
use crate::common::skip;
use hilbrium::comm::Communicator;
use hilbrium::particles::{Field, Particles};
use hilbrium::snapshot::{Header, write_snapshot};
use hilbrium::space::{Boundary, SimulationBox, Vec3d};
use std::process::Command;

/// 256 atoms of a Lennard-Jones crystal that melts.
const LIQUID: &str = r#"
[run]
steps = 10
device = "cpu"
threads = 1
[start.lattice]
kind = "fcc"
cells = [4, 4, 4]
spacing = 1.68
density = 0.8442
temperature = 1.44
[space]
boundary = "periodic"
[interaction.lennard-jones]
truncation = "shifted"
cutoff = 2.5
[time_step]
fixed = 0.004
[output]
directory = "out"
"#;

/// Files of a folder whose names start and end so.
fn count(case: &Case, folder: &str, start: &str, end: &str) -> usize {
    let names = std::fs::read_dir(case.path(folder)).unwrap().map(|entry| entry.unwrap().file_name());
    names
        .filter(|name| name.to_str().is_some_and(|name| name.starts_with(start) && name.ends_with(end)))
        .count()
}

fn holds(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn molecules_in_a_box_need_its_boundary_and_both_remedies_run() {
    let case = Case::new();
    let deck = LIQUID.replace("[space]\nboundary = \"periodic\"\n", "");
    let (status, text) = case.run(&deck, &["run.steps=1"]);
    assert_eq!(status, 2, "{text}");
    holds(
        &text,
        &[
            "`boundary` is missing in [space]",
            "\"periodic\" in [space] for a liquid",
            "\"open\" for a cluster",
        ],
    );
    for boundary in ["periodic", "open"] {
        let (status, text) =
            case.run(&deck, &["run.steps=1", &format!("space.boundary={boundary}"), "output.overwrite=true"]);
        assert_eq!(status, 0, "{text}");
    }
}

#[test]
fn a_fixed_step_is_fixed() {
    let case = Case::new();
    let sets = ["run.end_time=0.04", "output.snapshots.every_time=0.013"];
    let (status, text) = case.run(&LIQUID.replace("steps = 10\n", ""), &sets);
    assert_eq!(status, 0, "{text}");
    let (times, steps) = (case.column("out", "time"), case.column("out", "time_step"));
    assert_eq!(times.iter().filter(|time| **time > 0.0).count(), 10);
    assert_eq!(*times.last().unwrap(), 0.04);
    assert!(steps.iter().all(|step| *step == 0.0 || *step == 0.004), "{steps:?}");
    // at the start, 3.25, 6.5 and 9.75 steps
    assert_eq!(count(&case, "out", "snapshot-", ".hdf5"), 4, "{text}");
    holds(
        &text,
        &["output.snapshots.every_time = 0.013 is no whole number of steps of time_step.fixed = 0.004"],
    );

    let sets = ["run.end_time=0.041", "output.overwrite=true"];
    let (status, text) = case.run(&LIQUID.replace("steps = 10\n", ""), &sets);
    assert_eq!(status, 0, "{text}");
    holds(&text, &["run.end_time = 0.041 is no whole number", "the run ends after step 11, at 0.044"]);
    assert_eq!(*case.column("out", "time").last().unwrap(), 0.044);
}

#[test]
fn a_step_too_long_is_warned_of_and_a_short_one_is_not() {
    let case = Case::new();
    let (status, text) = case.run(LIQUID, &["run.steps=40", "time_step.fixed=0.03"]);
    assert_eq!(status, 0, "{text}");
    holds(&text, &["warning: energy drift", "is large", "shorten time_step.fixed (now 0.03)"]);
    let (status, text) =
        case.run(LIQUID, &["run.steps=40", "time_step.fixed=0.002", "output.overwrite=true"]);
    assert!(status == 0 && !text.contains("warning"), "{text}");
}

#[test]
fn a_drift_from_no_energy_is_told_per_particle() {
    let case = Case::new();
    std::fs::write(case.path("one.xyz"), "1\nLattice=\"9 0 0 0 9 0 0 0 9\"\nA 1 1 1\n").unwrap();
    let deck = "[run]\nsteps = 20\ndevice = \"cpu\"\n[start.file]\npath = \"one.xyz\"\nunits = \"lj\"\n\
                [interaction.lennard-jones]\n[time_step]\nfixed = 0.004\n\
                [thermostat.langevin]\ntemperature = 1.0\nfriction = 1.0\n[output]\ndirectory = \"out\"\n";
    let (status, text) = case.run(deck, &[]);
    assert_eq!(status, 0, "{text}");
    holds(&text, &["U_M U_L^2 U_t^-2 a particle, files in out", "dE/N "]);
    assert!(!text.contains("dE/E") && !text.contains("warning"), "{text}");
}

#[test]
fn threads_without_work_are_told_of() {
    let case = Case::new();
    let sets = ["run.steps=1", "run.threads=2", "start.lattice.cells=2", "start.lattice.spacing=4.0"];
    let (status, text) = case.run(LIQUID, &sets);
    assert_eq!(status, 0, "{text}");
    holds(&text, &["2 threads for 32 particles: ", "set run.threads to at most 1"]);
}

#[test]
fn a_run_ends_with_a_checkpoint_from_which_another_ensemble_goes_on() {
    let case = Case::new();
    let bath = format!("{LIQUID}[thermostat.langevin]\ntemperature = 1.0\nfriction = 1.0\n");
    let (status, text) = case.run(&bath, &["output.directory=nvt"]);
    assert_eq!(status, 0, "{text}");
    assert_eq!(count(&case, "nvt", "checkpoint-", ".h5"), 1);
    assert!(case.path("nvt/checkpoint-000010.h5").exists());

    std::fs::write(case.path("nve.toml"), LIQUID.replace("\"out\"", "\"nve\"")).unwrap();
    let (status, text) = case.hilbrium(&["run", "nve.toml", "--restart", "nvt"]);
    assert_eq!(status, 2, "{text}");
    holds(
        &text,
        &[
            "it is at step 10 and run.steps is 10",
            "counts from the start of the first run: give more",
            "help: ",
        ],
    );
    assert!(!case.path("nve").exists());
    let (status, text) = case.hilbrium(&["run", "nve.toml", "--restart", "nvt", "--set", "run.steps=20"]);
    assert_eq!(status, 0, "{text}");
    assert!(!text.contains("warning"), "{text}");
    let energies = case.column("nve", "total_energy");
    let spread = energies.iter().fold(0.0f64, |most, energy| most.max((energy - energies[0]).abs()));
    assert!(spread < 1e-3 * energies[0].abs(), "{energies:?}");

    // without a step there is nothing to go on from
    assert_eq!(case.run(LIQUID, &["run.steps=0"]).0, 0);
    assert_eq!(count(&case, "out", "checkpoint-", ".h5"), 0);
}

/// A cube of gas with a second particle where the first is.
fn gas_with_a_pair(path: &std::path::Path) {
    let fields = [Field::Position, Field::Velocity, Field::Mass, Field::InternalEnergy];
    let mut particles = Particles::new(&fields, 513);
    for row in 0..512 {
        let place = Vec3d::new((row / 64) as f64, (row / 8 % 8) as f64, (row % 8) as f64);
        particles.set_vector(Field::Position, row, place.add_scalar(0.5));
    }
    particles.set_vector(Field::Position, 512, Vec3d::repeat(0.5));
    (0..513).for_each(|row| particles.id[row] = row as u64 + 1);
    particles.scalar_mut(Field::Mass).fill(1.0);
    particles.scalar_mut(Field::InternalEnergy).fill(1.0);
    let bx =
        SimulationBox { lower: Vec3d::zeros(), upper: Vec3d::repeat(8.0), boundary: [Boundary::Periodic; 3] };
    write_snapshot(path, &Communicator::solo(), &particles, &Header::new(bx), &fields).unwrap();
}

#[test]
fn particles_at_one_place_are_named() {
    let case = Case::new();
    gas_with_a_pair(&case.path("pair.hdf5"));
    let deck = "[run]\nsteps = 0\ndevice = \"cpu\"\n[start.file]\npath = \"pair.hdf5\"\n[space]\nboundary = \"periodic\"\n\
                [sph]\nneighbors = 40\nkernel = \"sinc-6\"\n[output]\noverwrite = true\n";
    for sets in
        [["run.precision=double", "sph.kernel=sinc-6"], ["run.precision=mixed", "sph.kernel=wendland-c6"]]
    {
        let (status, text) = case.run(deck, &sets);
        assert_eq!(status, 1, "{text}");
        holds(
            &text,
            &[
                "2 particles coincide",
                "particles 1, 513 are all at (5e-1, 5e-1, 5e-1)",
                "remove all of them but one",
            ],
        );
    }
    // the other remedy
    let (status, text) = case.run(deck, &["sph.neighbors=120"]);
    assert_eq!(status, 0, "{text}");
}

#[test]
fn a_box_beyond_mixed_precision_is_refused_and_double_runs() {
    let case = Case::new();
    let text = "2\nLattice=\"1e8 0 0 0 1e8 0 0 0 1e8\"\nA 0.25 1 1\nA 99999999.0 1 1\n";
    std::fs::write(case.path("pair.xyz"), text).unwrap();
    let deck = "[run]\nsteps = 1\ndevice = \"cpu\"\n[start.file]\npath = \"pair.xyz\"\nunits = \"lj\"\n\
                [interaction.lennard-jones]\n[time_step]\nfixed = 0.001\n[output]\noverwrite = true\n";
    let (status, text) = case.run(deck, &[]);
    assert_eq!(status, 1, "{text}");
    holds(
        &text,
        &["too wide for mixed precision", "interaction.lennard-jones.cutoff", "precision = \"double\""],
    );
    let (status, text) = case.run(deck, &["run.precision=double"]);
    assert_eq!(status, 0, "{text}");
}

#[test]
fn a_cutoff_beyond_half_the_box_of_a_file_is_told_with_units() {
    let case = Case::new();
    let text = "2\nLattice=\"42 0 0 0 42 0 0 0 42\"\nAr 1 1 1\nAr 5 5 5\n";
    std::fs::write(case.path("argon.xyz"), text).unwrap();
    let deck = "[run]\nsteps = 1\ndevice = \"cpu\"\n[units]\nsystem = \"molecular\"\n[species.Ar]\nmass = 39.9\n\
                [start.file]\npath = \"argon.xyz\"\n[interaction.lennard-jones]\nepsilon = \"119.8 K\"\nsigma = \"0.34 nm\"\n\
                cutoff = \"10 nm\"\n[time_step]\nfixed = \"1 fs\"\n";
    let (status, text) = case.run(deck, &[]);
    assert_eq!(status, 1, "{text}");
    holds(
        &text,
        &[
            "the cutoff of 10 nm (interaction.lennard-jones.cutoff)",
            "half of the box's 4.2 nm",
            "below 2.1 nm",
        ],
    );
}

#[test]
fn new_decks_of_molecules_pass_check_and_run() {
    for (name, cells) in [("argon", "5"), ("salt", "5"), ("liquid", "4")] {
        let case = Case::new();
        let (status, deck) = case.hilbrium(&["new", name]);
        assert_eq!(status, 0, "{deck}");
        std::fs::write(case.path("new.toml"), &deck).unwrap();
        let (status, text) = case.hilbrium(&["check", "new.toml"]);
        assert_eq!(status, 0, "{name}: {text}");
        let cells = format!("start.lattice.cells={cells}");
        let (status, text) = case.run(&deck, &["run.steps=3", &cells, "run.device=cpu", "run.threads=1"]);
        assert_eq!(status, 0, "{name}: {text}");
        holds(&text, &["after 3 steps"]);
    }
}

/// The lines of Python on the page of file formats make a start that the program reads.
#[test]
fn the_page_of_file_formats_makes_a_start() {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/src/file-formats.md")).unwrap();
    let block = page.split("```python\n").skip(1).find(|block| block.contains("InitialConditions:periodic"));
    let block = block.and_then(|block| block.split("```").next()).expect("a block of Python with a start");
    let Some(python) = skip::python("to make a start with h5py") else { return };
    let case = Case::new();
    std::fs::write(case.path("make.py"), block).unwrap();
    let made = Command::new(python).arg("make.py").current_dir(case.path("")).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let deck =
        "[run]\nsteps = 1\ndevice = \"cpu\"\n[start.file]\npath = \"start.hdf5\"\n[sph]\nneighbors = 50\n";
    std::fs::write(case.path("deck.toml"), deck).unwrap();
    let (status, text) = case.hilbrium(&["check", "deck.toml"]);
    assert_eq!(status, 0, "{text}");
    holds(&text, &["# particles: 1,000"]);
    let (status, text) = case.run(deck, &[]);
    assert_eq!(status, 0, "{text}");
    // mass and box as they were written: the record's masses, and a periodic box of edge 2
    assert!((case.column("out", "mass")[0] - 1.0).abs() < 1e-12, "{text}");
    let (status, text) = case.hilbrium(&["info", "out/snapshot-0000.hdf5"]);
    assert!(status == 0 && text.contains("periodic"), "{text}");
}
