//! The program with particles on a device: outputs, restarts on processors and back, and what cannot run
//! there.

use hilbrium::Error;
use hilbrium::device::{Buffer, Device, Unit};
use std::path::Path;
use std::process::{Command, Output};

const LIQUID: &str = "[run]\nsteps = 8\nprecision = \"double\"\n\
    [start.lattice]\nkind = \"fcc\"\ncells = [4, 4, 4]\nspacing = 1.6795962\ndensity = 0.8442\ntemperature = 1.44\n\
    [space]\nboundary = \"periodic\"\n[interaction.lennard-jones]\ncutoff = 2.5\n[time_step]\nfixed = 0.004\n\
    [neighbors]\nskin = 0.1\n\
    [output]\nobservables = { every_steps = 1 }\ncheckpoint = { every_steps = 4 }\n";

/// The program in a folder; on a device where the device is "cuda".
fn hilbrium(folder: &Path, arguments: &[&str], device: &str) -> Output {
    let under_test = std::env::var("HILBRIUM_DEVICE_UNDER_TEST").unwrap_or_else(|_| "emulated".into());
    Command::new(env!("CARGO_BIN_EXE_hilbrium"))
        .current_dir(folder)
        .args(arguments)
        .args(["--set", &format!("run.device={device}")])
        .env("HILBRIUM_DEVICE_UNDER_TEST", under_test)
        .output()
        .unwrap()
}

/// Processes that share what devices there are, started in a folder as `mpirun` is told; status 124 at the
/// end of their time.
fn mpirun(folder: &Path, ranks: &str) -> Output {
    let under_test = std::env::var("HILBRIUM_DEVICE_UNDER_TEST").unwrap_or_else(|_| "emulated".into());
    let line =
        format!("timeout 120 mpirun --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 {ranks}");
    Command::new("sh")
        .args(["-c", &line])
        .current_dir(folder)
        .env("HILBRIUM_DEVICE_UNDER_TEST", under_test)
        .env("HILBRIUM_SHARE_GPU", "1")
        .output()
        .unwrap()
}

/// Standard output and error of a program that did what it was asked for.
fn done(output: &Output) -> String {
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}");
    text
}

/// The columns of the last row of a record.
fn last_row(folder: &Path) -> Vec<f64> {
    let record = std::fs::read_to_string(folder.join("observables.csv")).unwrap();
    let row = record.lines().rfind(|line| !line.is_empty()).unwrap();
    row.split(',').map(|value| value.parse().unwrap()).collect()
}

#[test]
fn a_run_goes_on_wherever_its_checkpoint_was_written() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("liquid.toml"), LIQUID).unwrap();
    let mut ends = Vec::new();
    for (first, second) in [("cpu", "cpu"), ("cuda", "cuda"), ("cuda", "cpu"), ("cpu", "cuda")] {
        let place = format!("{first}-{second}");
        let into = format!("output.directory={place}");
        let start = ["run", "liquid.toml", "--set", &into, "--set", "run.steps=4"];
        let told = done(&hilbrium(folder.path(), &start, first));
        assert_eq!(told.contains("particles live on"), first == "cuda", "{told}");
        done(&hilbrium(folder.path(), &["run", "liquid.toml", "--set", &into, "--restart", &place], second));
        ends.push((place.clone(), last_row(&folder.path().join(place))));
    }
    let (_, truth) = &ends[0];
    assert_eq!(truth[0], 8.0, "steps of {truth:?}");
    for (place, end) in &ends {
        assert_eq!(end.len(), truth.len());
        // step, time, step's length, kinetic, gravitational and potential energy
        for (k, (value, wanted)) in end.iter().zip(truth).enumerate().take(6) {
            assert!(
                (value - wanted).abs() <= 1e-9 * wanted.abs().max(1.0),
                "{place}, column {k}: {value} {wanted}"
            );
        }
    }
}

/// A device performs several steps before the host looks at them; outputs by step and by time keep theirs.
#[test]
fn outputs_come_after_the_same_steps_as_on_processors() {
    let folder = tempfile::tempdir().unwrap();
    let deck = LIQUID.replace("skin = 0.1", "skin = 0.3").replace(
        "observables = { every_steps = 1 }\ncheckpoint = { every_steps = 4 }",
        "observables = { every_time = 0.02 }\nsnapshots = { every_steps = 9 }\n\
         checkpoint = { every_steps = 14 }\n\
         [output.trajectory]\nevery_steps = 11",
    );
    std::fs::write(folder.path().join("liquid.toml"), deck).unwrap();
    let files = ["cpu", "cuda"].map(|device| {
        let into = format!("output.directory={device}");
        done(&hilbrium(
            folder.path(),
            &["run", "liquid.toml", "--set", &into, "--set", "run.steps=37"],
            device,
        ));
        let place = folder.path().join(device);
        let record = std::fs::read_to_string(place.join("observables.csv")).unwrap();
        let steps: Vec<u64> =
            record.lines().skip(1).map(|row| row.split(',').next().unwrap().parse().unwrap()).collect();
        let mut snapshots: Vec<_> = std::fs::read_dir(place)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.starts_with("snapshot"))
            .collect();
        snapshots.sort();
        (steps, snapshots)
    });
    assert_eq!(files[0], files[1]);
    assert_eq!(files[0].0, [0, 5, 10, 15, 20, 25, 30, 35, 37]);
}

/// Steps between two lists are three kernels, and the host waits for several together.
#[test]
fn the_benchmark_counts_launches_and_waits() {
    let folder = tempfile::tempdir().unwrap();
    let arguments =
        ["bench", "step", "--case", "liquid", "--particles", "864", "--repeats", "30", "--kernels", "--json"];
    let output = hilbrium(folder.path(), &arguments, "cuda");
    done(&output);
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let number = |key: &str| found[key].as_f64().unwrap();
    let launches = number("launches_per_step");
    assert!((3.0..10.0).contains(&launches), "{found}");
    assert!(number("host_waits_per_step") < 1.5, "{found}");
    let kernels = found["kernels"].as_array().unwrap();
    for name in ["drift_and_pack", "finish_and_accelerate"] {
        let kernel = kernels.iter().find(|row| row["kernel"] == name).unwrap();
        assert!(kernel["microseconds_per_launch"].as_f64().unwrap() > 0.0);
        assert!(kernel["launches_per_step"].as_f64().unwrap() > 0.5, "{found}");
    }
}

/// Gas, stars, molecules and test particles in an external field, with a restart in between.
#[test]
fn external_fields_act_wherever_the_particles_are() {
    let gas = "[start.evrard]\nparticles = 300\n[sph]\nneighbors = 40\n";
    let stars = "[start.plummer]\nparticles = 100\n[gravity]\nsoftening = 0.05\nopening_angle = 0.0\n";
    let molecules = "[start.lattice]\nkind = \"fcc\"\ncells = [3, 3, 3]\nspacing = 1.6\ndensity = 1.0\n\
                     temperature = 0.5\n[space]\nboundary = \"open\"\n[interaction.lennard-jones]\ncutoff = 2.5\n";
    let alone = "[start.random]\nparticles = 100\n";
    for (name, matter) in [("gas", gas), ("stars", stars), ("molecules", molecules), ("alone", alone)] {
        let folder = tempfile::tempdir().unwrap();
        let deck = format!(
            "[run]\nsteps = 6\nprecision = \"double\"\n{matter}[external]\nuniform = [0.1, 0.0, -2.0]\n\
             [external.point_mass]\nmass = 2.0\nposition = [3.0, 1.0, 0.0]\nsoftening = 0.1\n\
             [time_step]\nfixed = 0.004\n"
        );
        std::fs::write(folder.path().join("deck.toml"), deck).unwrap();
        let ends = [("cpu", "cpu"), ("cuda", "cuda"), ("cuda", "cpu")].map(|(first, second)| {
            let into = format!("output.directory={first}-{second}");
            let start = ["run", "deck.toml", "--set", &into, "--set", "run.steps=3"];
            let told = done(&hilbrium(folder.path(), &start, first));
            let lists = told.contains("pairs are found by lists of particles");
            assert_eq!(lists, name == "gas" && first == "cuda", "{told}");
            let place = format!("{first}-{second}");
            done(&hilbrium(
                folder.path(),
                &["run", "deck.toml", "--set", &into, "--restart", &place],
                second,
            ));
            last_row(&folder.path().join(place))
        });
        for end in &ends[1..] {
            for (k, (value, wanted)) in end.iter().zip(&ends[0]).enumerate() {
                let near = (value - wanted).abs() <= 1e-9 * wanted.abs().max(1.0);
                // a column without a value, such as the pressure of an open box, is NaN
                let same = value == wanted || value.is_nan() && wanted.is_nan();
                assert!(near || same, "{name}, column {k}: {value} {wanted}");
            }
        }
    }
}

/// Formulas and tables of several species, the formula with charges: on processors, on a device with a
/// restart, and on two ranks with a device each.
#[test]
fn formulas_tables_and_ewald_sums_act_wherever_the_particles_are() {
    let start = "[run]\nsteps = 6\nprecision = \"double\"\n\
                 [start.lattice]\nkind = \"fcc\"\ncells = [4, 4, 4]\nspacing = 1.6795962\ntemperature = 1.44\n\
                 [space]\nboundary = \"periodic\"\n[time_step]\nfixed = 0.004\n";
    let formula = "[species.A]\nmass = 1.0\ncharge = 0.5\nparameters = { s = 1.0, e = 1.0 }\n\
                   [species.B]\nmass = 2.0\ncharge = -0.5\nparameters = { s = 0.9, e = 0.7 }\n\
                   [interaction.formula]\nenergy = \"4*sqrt(e_i*e_j)*(x^12 - x^6) + a*exp(-r); x = (s_i + s_j)/(2*r)\"\n\
                   truncation = \"switched\"\nswitch_start = 2.0\n[interaction.formula.parameters]\na = 0.3\n\
                   [interaction.coulomb]\n";
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/tables/mixture.table");
    let table = format!(
        "[species.A]\nmass = 1.0\n[species.B]\nmass = 1.0\n\
         [interaction.table]\nfile = {file:?}\ntruncation = \"shifted\"\n"
    );
    let salt = "[species.A]\nmass = 1.0\ncharge = 0.5\n[species.B]\nmass = 2.0\ncharge = -0.5\n\
                [interaction.lennard-jones]\n[interaction.coulomb]\nmethod = \"pme\"\ntolerance = 1e-3\n";
    for (name, interaction) in [("formula", formula), ("table", &table), ("salt", salt)] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("deck.toml"), format!("{start}{interaction}")).unwrap();
        let mut ends: Vec<Vec<f64>> = [("cpu", "cpu"), ("cuda", "cuda"), ("cuda", "cpu")]
            .map(|(first, second)| {
                let place = format!("{first}-{second}");
                let into = format!("output.directory={place}");
                let start = ["run", "deck.toml", "--set", &into, "--set", "run.steps=3"];
                done(&hilbrium(folder.path(), &start, first));
                let go_on = ["run", "deck.toml", "--set", &into, "--restart", &place];
                done(&hilbrium(folder.path(), &go_on, second));
                last_row(&folder.path().join(place))
            })
            .into();
        let ranks = format!(
            "-n 2 {} run deck.toml --set run.threads=1 --set run.device=cuda --set output.directory=ranks",
            env!("CARGO_BIN_EXE_hilbrium")
        );
        done(&mpirun(folder.path(), &ranks));
        ends.push(last_row(&folder.path().join("ranks")));
        for end in &ends[1..] {
            for (k, (value, wanted)) in end.iter().zip(&ends[0]).enumerate() {
                let near = (value - wanted).abs() <= 1e-9 * wanted.abs().max(1.0);
                assert!(near || value == wanted, "{name}, column {k}: {value} {wanted}");
            }
        }
    }
}

/// Processes with a device each write what one process on processors does: observables, measurements and
/// trajectories.
#[test]
fn processes_with_a_device_each_write_what_processors_do() {
    let folder = tempfile::tempdir().unwrap();
    let deck = format!(
        "{LIQUID}[output.trajectory]\nformat = \"xyz\"\nevery_steps = 4\nvelocities = false\n\
         [measure.radial-distribution]\ndistance = 3.0\nbins = 20\nevery_steps = 4\n\
         [measure.mean-square-displacement]\nwindow = 0.016\nevery_steps = 2\norigins = 2\n"
    );
    std::fs::write(folder.path().join("liquid.toml"), deck).unwrap();
    done(&hilbrium(folder.path(), &["run", "liquid.toml", "--set", "output.directory=one"], "cpu"));
    let ranks = format!(
        "-n 2 {} run liquid.toml --set run.threads=1 --set run.device=cuda --set output.directory=many",
        env!("CARGO_BIN_EXE_hilbrium")
    );
    let output = mpirun(folder.path(), &ranks);
    let told = done(&output);
    assert!(told.contains("particles live on 2 devices"), "{told}");
    for file in
        ["observables.csv", "radial-distribution.csv", "mean-square-displacement.csv", "trajectory.xyz"]
    {
        let read = |run: &str| std::fs::read_to_string(folder.path().join(run).join(file)).unwrap();
        let (one, many) = (read("one"), read("many"));
        assert_eq!(one.lines().count(), many.lines().count(), "{file}");
        let cells = |text: &str| -> Vec<String> {
            text.split([',', ' ', '\n', '"', '=']).map(str::to_string).collect()
        };
        for (a, b) in cells(&one).iter().zip(cells(&many)) {
            match (a.parse::<f64>(), b.parse::<f64>()) {
                (Ok(x), Ok(y)) if x == y => {}
                (Ok(x), Ok(y)) => assert!((x - y).abs() <= 1e-7 * x.abs().max(1.0), "{file}: {x} {y}"),
                _ => assert_eq!(*a, b, "{file}"),
            }
        }
    }
}

/// Two ranks, of which one cannot compile what the steps need: all end, the one says why, and what was
/// written before stays.
#[test]
fn a_device_that_fails_under_one_of_the_ranks_ends_all() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("liquid.toml"), LIQUID).unwrap();
    let start = ["run", "liquid.toml", "--set", "output.directory=out", "--set", "run.steps=4"];
    done(&hilbrium(folder.path(), &start, "cpu"));
    let checkpoint = folder.path().join("out/checkpoint-000004.h5");
    let before = std::fs::read(&checkpoint).unwrap();

    let kernels = folder.path().join("kernels");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels"), &kernels);
    let broken = kernels.join("motion/verlet.cu");
    let text = std::fs::read_to_string(&broken).unwrap();
    std::fs::write(&broken, format!("{text}\nthis is no kernel\n")).unwrap();
    // a shell on each rank: mpirun of Open MPI 5.0.7 with PMIx 5.0.7 ends in a segmentation fault where ranks
    // have command lines of their own (`-n 1 ... : -n 1 ...`)
    let ranks = format!(
        "-n 2 sh -c 'if [ $OMPI_COMM_WORLD_RANK = 1 ]; then export HILBRIUM_KERNELS={}; fi; exec {} run liquid.toml \
         --restart out --set run.threads=1 --set run.device=cuda --set output.directory=out'",
        kernels.display(),
        env!("CARGO_BIN_EXE_hilbrium"),
    );
    let output = mpirun(folder.path(), &ranks);
    let told =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(told.contains("particles live on 2 devices"), "{told}");
    assert!(told.contains("rank 1: kernels of motion/verlet.cu do not compile"), "{told}");
    // 124 would be the end of its time
    assert!(!matches!(output.status.code(), Some(0 | 124)), "{:?}\n{told}", output.status);
    assert_eq!(std::fs::read(&checkpoint).unwrap(), before);
    let end = done(&hilbrium(
        folder.path(),
        &["run", "liquid.toml", "--restart", "out", "--set", "output.directory=out"],
        "cpu",
    ));
    assert!(end.contains("done at t = 0.032"), "{end}");
}

/// Copy a folder with all that is in it.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (from, to) = {
            let entry = entry.unwrap();
            (entry.path(), to.join(entry.file_name()))
        };
        if from.is_dir() {
            copy(&from, &to);
        } else {
            std::fs::copy(&from, &to).unwrap();
        }
    }
}

/// Where there is no GPU the device "cuda" is an error that says what to do, before anything is written.
#[test]
fn a_run_without_the_gpu_that_it_wants_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("liquid.toml"), LIQUID).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_hilbrium"))
        .current_dir(folder.path())
        .args(["run", "liquid.toml", "--set", "run.device=cuda"])
        .env("HILBRIUM_DEVICE_UNDER_TEST", "cuda")
        // no GPU is shown to the program where there are any
        .env("CUDA_VISIBLE_DEVICES", "")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("run.device=cpu") && !folder.path().join("out").exists(), "{text}");
}

/// Stars have gravity alone.
#[test]
fn stars_move_on_a_device_as_on_processors() {
    let folder = tempfile::tempdir().unwrap();
    let deck = "[run]\nsteps = 5\nprecision = \"double\"\n[start.plummer]\nparticles = 300\n\
                [gravity]\nopening_angle = 0.0\nsoftening = 0.05\n[time_step]\nlargest = 0.01\n\
                [output]\nobservables = { every_steps = 1 }\n";
    std::fs::write(folder.path().join("stars.toml"), deck).unwrap();
    let rows = ["cpu", "cuda"].map(|device| {
        let into = format!("output.directory={device}");
        done(&hilbrium(folder.path(), &["run", "stars.toml", "--set", &into], device));
        last_row(&folder.path().join(device))
    });
    assert_eq!(rows[0][0], 5.0);
    for (k, (here, there)) in rows[0].iter().zip(&rows[1]).enumerate() {
        let close = here == there || (here - there).abs() <= 1e-9 * here.abs().max(1.0);
        assert!(close, "column {k}: {here} {there}");
    }
}

#[test]
fn a_full_memory_and_kernels_that_do_not_compile_are_told() {
    let device = Device::under_test().unwrap();
    let Err(Error::Device { what, remedy }) = Buffer::<f64>::new(&device, 1 << 40) else {
        panic!("eight terabytes on a device")
    };
    assert!(what.contains("memory is full") && remedy.contains("particles"), "{what} {remedy}");
    // what was there is still usable
    let buffer = Buffer::from_host(&device, &[1.0, 2.0]).unwrap();
    assert_eq!(buffer.download().unwrap(), [1.0, 2.0]);

    let broken = Unit::new("motion/whole.cu").with("namespace", "nothing");
    let Err(Error::Device { what, .. }) = device.function(&broken, "whole_motion") else {
        panic!("a unit without its namespaces")
    };
    assert!(what.contains("motion/whole.cu") && what.contains("compile"), "{what}");
    let Err(Error::Device { what, .. }) = device.function(&Unit::new("motion/whole.cu"), "missing") else {
        panic!("a kernel that nobody wrote")
    };
    assert!(what.contains("missing"), "{what}");
}
