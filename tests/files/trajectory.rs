//! Trajectories: what is in them, on any number of ranks and over restarts.

use crate::common::trajectories::*;
use crate::common::{rows, started};
use hilbrium::comm::run_local;
use hilbrium::deck::Checked;
use hilbrium::particles::Field;
use hilbrium::plan::TrajectoryFormat;
use std::path::Path;

fn checked(folder: &Path, text: &str) -> Checked {
    let path = folder.join("deck.toml");
    std::fs::write(&path, text).unwrap();
    let directory = format!("output.directory={:?}", folder.join("out"));
    hilbrium::deck::read_checked(&path, &[directory]).unwrap_or_else(|error| panic!("{error}"))
}

fn run(deck: &Checked, ranks: usize, restart: Option<&Path>) {
    run_local(ranks, |comm| {
        hilbrium::run::run(deck, &comm, restart).unwrap_or_else(|error| panic!("{error}"));
    });
}

#[test]
fn frames_hold_the_particles_by_id_on_any_number_of_ranks() {
    let folder = tempfile::tempdir().unwrap();
    let mut first: Option<Frames> = None;
    for ranks in [1, 2, 3, 5] {
        let set = format!("{ALL}[output]\noverwrite = true\nsnapshots = {{ every_steps = 100 }}\n");
        let deck = checked(folder.path(), &deck(61, &set));
        run(&deck, ranks, None);
        let found = frames(&folder.path().join("out/trajectory.h5md"));
        assert_eq!(found.steps, [0, 30, 60]);
        assert!(found.times.iter().zip([0.0, 0.03, 0.06]).all(|(time, at)| (time - at).abs() < 1e-12));
        assert_eq!(found.ids, (0..256).collect::<Vec<i64>>());
        if let Some(first) = &first {
            for ((name, a), (_, b)) in first.fields.iter().zip(&found.fields) {
                let scale = a.iter().fold(0.0f64, |most, x| most.max(x.abs())).max(1.0);
                let apart = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(apart <= 1e-8 * scale, "{name} on {ranks} ranks: {apart:e}");
            }
        }
        first = Some(found);
    }
    // the same bits as the simulation's own
    let first = first.unwrap();
    let plan = checked(folder.path(), &deck(61, ALL)).plan;
    let expected = run_local(1, |comm| {
        let mut simulation = started(&plan, &comm);
        let mut seen = Vec::new();
        for step in 0..61u64 {
            if step.is_multiple_of(30) {
                let fields = [Field::Position, Field::Velocity, Field::Force, Field::Image];
                seen.push(rows(&simulation.particles, &fields));
            }
            simulation.advance(simulation.next_step).unwrap();
        }
        seen
    })
    .remove(0);
    let mut crossed = 0.0;
    for (frame, rows) in expected.iter().enumerate() {
        for (place, (_, values)) in rows.iter().enumerate() {
            for (k, name) in ["position", "velocity", "force", "image"].iter().enumerate() {
                let stored = &first.fields.iter().find(|(field, _)| field == name).unwrap().1;
                for c in 0..3 {
                    let (found, exact) = (stored[(frame * 256 + place) * 3 + c], values[3 * k + c]);
                    assert!((found - exact).abs() <= 1e-7 * exact.abs().max(1.0), "{name} of {place}");
                    crossed += if *name == "image" { found.abs() } else { 0.0 };
                }
            }
        }
    }
    assert!(crossed > 10.0, "no particle crossed the box: images are not tested");
}

#[test]
fn a_restart_cuts_what_came_later_and_goes_on() {
    let checkpoints = "[output]\noverwrite = true\ncheckpoint = { every_steps = 10 }\n";
    for format in TrajectoryFormat::ALL {
        let (name, format) = (format.file_name(), format.name());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out").join(name);
        let fields = "velocities = true\nprecision = \"double\"\n";
        let fields = if matches!(format, "xtc" | "dcd") { "" } else { fields };
        let more =
            format!("{checkpoints}[output.trajectory]\nformat = \"{format}\"\nevery_steps = 2\n{fields}");
        let whole = checked(folder.path(), &deck(30, &more));
        run(&whole, 2, None);
        let bytes = std::fs::read(&path).unwrap();
        let compare = |what: &str| match format {
            "h5md" => {
                let kept = folder.path().join("kept");
                std::fs::write(&kept, &bytes).unwrap();
                assert_eq!(frames(&path), frames(&kept), "{what}");
            }
            _ => assert!(std::fs::read(&path).unwrap() == bytes, "{what}"),
        };
        // from step 20, with frames to step 30 there, and once more with the last frame half gone
        let checkpoint = folder.path().join("out/checkpoint-000020.h5");
        assert!(checkpoint.exists());
        {
            // somebody looks at it meanwhile, with a lock as HDF5 takes it
            let reader = std::fs::File::open(&path).unwrap();
            reader.lock_shared().unwrap();
            run(&whole, 2, Some(&checkpoint));
        }
        compare("after a restart");
        if format != "h5md" {
            std::fs::write(&path, &bytes[..bytes.len() - 1000]).unwrap();
            run(&whole, 2, Some(&checkpoint));
            compare("after a restart from half a frame");
        }
        std::fs::remove_file(&path).unwrap();
        run(&whole, 2, Some(&checkpoint));
        let lines = |bytes: &[u8]| bytes.iter().filter(|&&byte| byte == b'\n').count();
        match format {
            "h5md" => assert_eq!(frames(&path).steps, [22, 24, 26, 28, 30]),
            "xyz" => assert_eq!(lines(&std::fs::read(&path).unwrap()), 5 * 258),
            _ => {
                let told = hilbrium::snapshot::trajectory::info(&path).unwrap().unwrap();
                let [count, steps] = ["frames      5\n", "steps       22 to 30"];
                assert!(told.contains(count) && told.contains(steps), "{told}");
            }
        }
    }
}

#[test]
fn what_is_no_trajectory_of_this_run_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let more = format!("{ALL}[output]\noverwrite = true\ncheckpoint = {{ every_steps = 5 }}\n");
    let deck = checked(folder.path(), &deck(5, &more));
    run(&deck, 1, None);
    let path = folder.path().join("out/trajectory.h5md");
    let good = std::fs::read(&path).unwrap();
    let refused = |ranks: usize, text: &str, part: &str| {
        let deck = checked(folder.path(), text);
        let errors = run_local(ranks, |comm| {
            let restart = folder.path().join("out/checkpoint-000005.h5");
            hilbrium::run::run(&deck, &comm, Some(&restart)).expect_err("refused").to_string()
        });
        assert!(
            errors.iter().any(|error| error.contains(part) && error.contains("help:")),
            "{part}: {errors:?}"
        );
    };
    let text = std::fs::read_to_string(folder.path().join("deck.toml")).unwrap();
    refused(
        2,
        &text.replace("precision = \"double\"\n[output]", "precision = \"single\"\n[output]"),
        "deck asks for",
    );
    for length in [0, 100, good.len() / 3, 4000] {
        std::fs::write(&path, &good[..length]).unwrap();
        refused(2, &text, "trajectory.h5md");
    }
    let mut other = good.clone();
    let place = other.windows(8).position(|bytes| bytes == 77i64.to_ne_bytes()).unwrap();
    other[place..place + 8].copy_from_slice(&9999i64.to_ne_bytes());
    std::fs::write(&path, &other).unwrap();
    refused(3, &text, "9999");
}
