//! Restarts: the same bits, and earlier files kept.

use crate::case::*;

#[test]
fn a_restart_gives_the_same_bits() {
    let case = Case::new(DECK);
    let whole = case.run(&["output.directory=whole", "output.checkpoint.every_steps=5"]);
    assert_eq!(status(&whole), 0, "{}", told(&whole));
    let first = case.run(&["output.directory=parts", "output.checkpoint.every_steps=5", "run.steps=5"]);
    assert_eq!(status(&first), 0, "{}", told(&first));
    let rest = case
        .command(&[
            "run",
            "deck.toml",
            "--set",
            "output.directory=parts",
            "--set",
            "output.checkpoint.every_steps=5",
        ])
        .args(["--restart", "parts/checkpoint-000005.h5"])
        .output()
        .expect("the program starts");
    assert_eq!(status(&rest), 0, "{}", told(&rest));
    assert!(last_state(&case.path("whole")) == last_state(&case.path("parts")));
    let record = |name: &str| std::fs::read_to_string(case.path(name)).expect("a record");
    assert_eq!(record("whole/observables.csv"), record("parts/observables.csv"));
}

#[test]
fn a_signal_stops_with_a_checkpoint_and_the_run_goes_on_from_it() {
    let case = Case::new(DECK);
    let mut child =
        case.command(&["run", "deck.toml", "--set", "run.steps=100000"]).spawn().expect("the program starts");
    wait_for(|| lines(&case.path("out/observables.csv")) > 4);
    kill(libc::SIGTERM, child.id());
    let status_after = child.wait().expect("it ends");
    assert_eq!(status_after.code(), Some(3));
    let checkpoint = latest(&case.path("out"));
    let name = checkpoint.file_name().expect("a name").to_string_lossy().into_owned();
    let step: u64 = name.trim_start_matches("checkpoint-").trim_end_matches(".h5").parse().expect("a step");
    let steps = format!("run.steps={}", step + 2);
    let rest = case
        .command(&["run", "deck.toml", "--set", &steps, "--restart"])
        .arg(&checkpoint)
        .output()
        .expect("the program starts");
    assert_eq!(status(&rest), 0, "{}", told(&rest));
}

#[test]
fn a_restart_at_the_end_writes_nothing_and_one_elsewhere_makes_its_folder() {
    let case = Case::new(DECK);
    let checkpoints = "output.checkpoint.every_steps=5";
    assert_eq!(status(&case.run(&[checkpoints])), 0);
    let restart = |sets: &[&str]| {
        let mut arguments = vec!["run", "deck.toml", "--restart", "out/checkpoint-000010.h5"];
        sets.iter().for_each(|set| arguments.extend(["--set", set]));
        case.command(&arguments).output().expect("the program starts")
    };
    let before = case.names("out");
    let output = restart(&[]);
    assert_eq!(status(&output), 0, "{}", told(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("is the end already"));
    assert_eq!(case.names("out"), before);
    let output = restart(&["run.steps=12", "output.directory=elsewhere/deep"]);
    assert_eq!(status(&output), 0, "{}", told(&output));
    let (header, _) =
        hilbrium::snapshot::read_snapshot(&case.path("elsewhere/deep/snapshot-0002.hdf5")).expect("whole");
    assert_eq!(header.step, 12);
    assert!(header.deck.contains("softening"), "the deck is in the file: {}", header.deck);
    // in the same folder, the snapshot of the former end stays: its checkpoint counts it
    assert_eq!(status(&restart(&["run.steps=12", "output.snapshots.every_steps=100"])), 0);
    let snapshots: Vec<String> =
        case.names("out").into_iter().filter(|name| name.contains(".hdf5")).collect();
    assert_eq!(snapshots, ["snapshot-0000.hdf5", "snapshot-0001.hdf5", "snapshot-0002.hdf5"]);
}

#[test]
fn files_of_an_earlier_run_are_kept_unless_they_may_go() {
    let case = Case::new(DECK);
    assert_eq!(status(&case.run(&["run.steps=1"])), 0);
    let again = case.run(&["run.steps=1"]);
    assert_eq!(status(&again), 2);
    assert!(told(&again).contains("output.overwrite=true"), "{}", told(&again));
    assert_eq!(status(&case.run(&["run.steps=0", "output.overwrite=true"])), 0);
    assert!(case.path("out/snapshot-0000.hdf5").exists() && !case.path("out/snapshot-0001.hdf5").exists());
}

#[test]
fn a_restart_with_a_deck_of_fewer_species_is_refused() {
    let kind =
        |name: &str, sigma: f64| format!("[species.{name}]\nmass = 1.0\nepsilon = 1.0\nsigma = {sigma:?}\n");
    let kinds = [kind("A", 1.0), kind("B", 0.9), kind("C", 0.8)];
    let deck = |count: usize| {
        format!(
            "[run]\nsteps = 2\ndevice = \"cpu\"\n[start.lattice]\nkind = \"fcc\"\ncells = [4, 4, 4]\nspacing = 1.7\n\
             temperature = 1.0\n[space]\nboundary = \"periodic\"\n[time_step]\nfixed = 0.001\n\
             [interaction.lennard-jones]\ncutoff = 2.5\ntail = true\n\
             [output]\ndirectory = \"out\"\ncheckpoint = {{ every_steps = 2 }}\n{}",
            kinds[..count].concat()
        )
    };
    let case = Case::new(&deck(3));
    assert_eq!(status(&case.run(&[])), 0);
    for (count, wanted) in [(2, 2), (1, 2), (3, 0)] {
        std::fs::write(case.path("deck.toml"), deck(count)).expect("the deck");
        let arguments = ["run", "deck.toml", "--set", "run.steps=3", "--restart", "out/checkpoint-000002.h5"];
        let output = case.command(&arguments).output().expect("the program starts");
        assert_eq!(status(&output), wanted, "{count}: {}", told(&output));
        for part in ["checkpoint-000002.h5: it has the species", "\"C\"", "help: write names"] {
            assert!(wanted == 0 || told(&output).contains(part), "{count}: {}", told(&output));
        }
    }
}

#[test]
fn a_start_that_fails_costs_no_earlier_run() {
    let case = Case::new(DECK);
    assert_eq!(status(&case.run(&["run.steps=1", "start.evrard.particles=300"])), 0);
    std::fs::write(case.path("out/snapshot-plots.png"), "drawn by a user").expect("a file");
    std::fs::create_dir(case.path("out/snapshot-plots")).expect("a folder");
    std::fs::copy(case.path("out/snapshot-0001.hdf5"), case.path("damaged.hdf5")).expect("a copy");
    let damaged = std::fs::File::options().write(true).open(case.path("damaged.hdf5"));
    damaged.and_then(|file| file.set_len(2000)).expect("cut off");
    let contents = || -> Vec<(String, Vec<u8>)> {
        let names = case.names("out").into_iter();
        names
            .map(|name| (name.clone(), std::fs::read(case.path("out").join(name)).unwrap_or_default()))
            .collect()
    };
    let before = contents();
    let from = |path: &str, more: &[&str]| {
        let start = format!("[start.file]\npath = \"{path}\"");
        let deck = DECK.replace("[start.evrard]\nparticles = 1500", &start);
        std::fs::write(case.path("deck.toml"), deck).expect("the deck");
        case.run(&[&["run.steps=1"], more].concat())
    };
    let overwrite = "output.overwrite=true";
    for (path, wanted, expected) in [
        ("out/snapshot-0001.hdf5", 2, "start.file.path="),
        ("out/../out/snapshot-0001.hdf5", 2, "start.file.path="),
        ("damaged.hdf5", 1, "damaged.hdf5"),
    ] {
        let output = from(path, &[overwrite]);
        assert_eq!(status(&output), wanted, "{path}: {}", told(&output));
        assert!(told(&output).contains(expected), "{path}: {}", told(&output));
        assert!(contents() == before, "{path}: {:?}", case.names("out"));
    }

    // a start elsewhere takes the place of the earlier run, and of nothing else
    std::fs::copy(case.path("out/snapshot-0001.hdf5"), case.path("start.hdf5")).expect("a copy");
    std::fs::write(case.path("out/snapshot-0007.xdmf"), "of a longer run").expect("a file");
    let output = from("start.hdf5", &[overwrite]);
    assert_eq!(status(&output), 0, "{}", told(&output));
    let names: Vec<String> = before.into_iter().map(|(name, _)| name).collect();
    assert_eq!(case.names("out"), names);
}

#[test]
fn a_step_that_fails_leaves_the_state_before_it_as_a_checkpoint() {
    let case = Case::new(DECK);
    assert_eq!(status(&case.run(&["run.steps=3", "output.checkpoint.every_steps=3"])), 0);
    let before = last_state(&case.path("out"));
    let arguments =
        ["run", "deck.toml", "--set", "time_step.fixed=1e200", "--restart", "out/checkpoint-000003.h5"];
    let output = case.command(&arguments).output().expect("the program starts");
    assert_eq!(status(&output), 1, "{}", told(&output));
    for part in ["step 4: particle ", "which is no place", "kept as a checkpoint", "help:"] {
        assert!(told(&output).contains(part), "{}", told(&output));
    }
    assert!(last_state(&case.path("out")) == before);
    let rest = case.command(&["run", "deck.toml", "--restart", "out/checkpoint-000003.h5"]).output();
    assert_eq!(status(&rest.expect("the program starts")), 0);
}

/// A run that was killed between its last checkpoint and its end has no last snapshot, which needs forces anew.
#[test]
fn a_restart_at_the_end_writes_the_snapshot_that_is_missing() {
    let case = Case::new(DECK);
    assert_eq!(status(&case.run(&["output.checkpoint.every_steps=5"])), 0);
    let read = |case: &Case| {
        hilbrium::snapshot::read_snapshot(&case.path("out/snapshot-0001.hdf5")).expect("the last snapshot")
    };
    let (header, whole) = read(&case);
    for name in ["snapshot-0001.hdf5", "snapshot-0001.xdmf"] {
        std::fs::remove_file(case.path("out").join(name)).expect("a file");
    }
    let record = std::fs::read_to_string(case.path("out/observables.csv")).expect("a record");
    let output =
        case.command(&["run", "deck.toml", "--restart", "out"]).output().expect("the program starts");
    assert_eq!(status(&output), 0, "{}", told(&output));
    let (again, written) = read(&case);
    assert_eq!((again.step, again.time), (header.step, header.time));
    use hilbrium::particles::Field;
    for field in [Field::Position, Field::Velocity, Field::Density, Field::Potential] {
        let scale = whole.component(field, 0).iter().fold(0.0f64, |most, x| most.max(x.abs()));
        let pairs = written.component(field, 0).iter().zip(whole.component(field, 0));
        let apart = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart < 1e-5 * scale, "{}: {apart} of {scale}", field.name());
    }
    assert_eq!(std::fs::read_to_string(case.path("out/observables.csv")).expect("a record"), record);
}
