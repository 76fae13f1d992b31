//! Trajectories of the program as a user starts it: over kills, on full disks, over MPI, and for the programs that read them.
//!
//! The readers need a Python with `tests/python/requirements.txt`, named by the environment variable HILBRIUM_PYTHON.

use crate::common::skip;
use crate::common::trajectories::*;
use hilbrium::plan::TrajectoryFormat;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_hilbrium");

/// A run by a shell's line, in which PROGRAM stands for the program.
fn by_shell(folder: &Path, line: &str) -> std::process::Output {
    let line = line.replace("PROGRAM", PROGRAM);
    Command::new("sh").args(["-c", &line]).current_dir(folder).output().unwrap()
}

/// Kill the program again and again: the file opens, has the frames of consecutive steps and none of zeros, and restarts
/// lead to the frames of a run that nobody killed.
#[test]
fn a_killed_run_leaves_whole_frames_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let more = "[output]\ncheckpoint = { every_steps = 20 }\nobservables = { every_steps = 100 }\n\
                [output.trajectory]\nevery_steps = 1\n";
    std::fs::write(folder.path().join("deck.toml"), deck(400, more)).unwrap();
    let path = folder.path().join("out/trajectory.h5md");
    let mut kills = 0;
    let mut longest = 0;
    for round in 0..10u64 {
        let restart: PathBuf = folder.path().join("out");
        let mut command = Command::new(PROGRAM);
        command.args(["run", "deck.toml", "--set", "run.threads=1"]).current_dir(folder.path());
        if round > 0 && newest(&restart) {
            command.args(["--restart", "out"]);
        } else {
            command.args(["--set", "output.overwrite=true"]);
        }
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // later ones live longer: how many changes of the file a frame makes is up to the machine
        let changes = 30 + 17 * round % 23 + 20 * round.saturating_sub(3);
        let ended = after_changes(&path, &mut child, changes);
        child.kill().unwrap();
        child.wait().unwrap();
        if path.exists() {
            let found = frames(&path);
            assert_eq!(found.steps, (0..found.steps.len() as i64).collect::<Vec<_>>());
            let position = &found.fields.iter().find(|(name, _)| name == "position").unwrap().1;
            let last = &position[position.len().saturating_sub(256 * 3)..];
            assert!(last.iter().filter(|&&x| x == 0.0).count() < 10, "zeros in frame {}", found.steps.len());
            longest = longest.max(found.steps.len());
        }
        if let Some(status) = ended {
            assert!(status.success(), "{status}");
            break;
        }
        kills += 1;
    }
    println!("{kills} kills, {longest} frames");
    assert!(kills > 2 && longest > 40);
}

/// Wait until a file has changed so often, or the program has ended (then with its status).
fn after_changes(path: &Path, child: &mut Child, wanted: u64) -> Option<ExitStatus> {
    let begin = Instant::now();
    let (mut changes, mut last) = (0, None);
    while changes < wanted && begin.elapsed() < Duration::from_secs(20) {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        let now = std::fs::metadata(path).and_then(|data| data.modified()).ok();
        if now != last {
            (changes, last) = (changes + 1, now);
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    None
}

/// Whether a folder has a checkpoint.
fn newest(folder: &Path) -> bool {
    hilbrium::snapshot::find_latest(folder, &hilbrium::comm::Communicator::solo()).is_ok()
}

/// Counts of pairs in bins of distance, periodic, by counting all.
fn pair_counts(positions: &[f64], edge: f64, bins: usize, longest: f64) -> Vec<u64> {
    let mut counts = vec![0; bins];
    let points: Vec<&[f64]> = positions.chunks(3).collect();
    for (k, a) in points.iter().enumerate() {
        for b in &points[..k] {
            let squared: f64 = a
                .iter()
                .zip(*b)
                .map(|(a, b)| {
                    let apart = a - b;
                    (apart - edge * (apart / edge).round()).powi(2)
                })
                .sum();
            let bin = squared.sqrt() / longest * bins as f64;
            if bin < bins as f64 {
                counts[bin as usize] += 1;
            }
        }
    }
    counts
}

/// Compares what `run` writes in each format that OVITO knows with the run's H5MD.
fn read_in_ovito(python: &OsStr, folder: &Path, h5md: &Path, run: impl Fn(&str)) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/read_ovito.py");
    // XTC has a resolution of 0.001 nm, the others at least single precision
    for (format, name, tolerance) in
        [("xyz", "xyz", "1e-5"), ("xtc", "xtc", "0.0051"), ("lammps-dump", "lammpstrj", "1e-5")]
    {
        run(format);
        let path = folder.join("out/trajectory").with_extension(name);
        let arguments = [path.as_os_str(), h5md.as_os_str(), "10".as_ref(), tolerance.as_ref()];
        let output = Command::new(python).arg(script).args(arguments).output().unwrap();
        let said = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
        if output.status.code() == Some(77) {
            return skip::skip(&format!("OVITO is not installed: {}", said.concat().trim()));
        }
        assert!(output.status.success(), "{format}: {}", said.concat());
    }
}

#[test]
fn mdanalysis_and_ase_read_the_same_particles() {
    let Some(python) = skip::python("to read trajectories") else { return };
    let folder = tempfile::tempdir().unwrap();
    let molecular = |format: &str| {
        let fields = if matches!(format, "xtc" | "dcd") { "" } else { "velocities = true\nforces = true\n" };
        format!(
            "[units]\nsystem = \"molecular\"\n[species.Ar]\nmass = 39.948\n[run]\nsteps = 20\n\
             [start.lattice]\nkind = \"fcc\"\ncells = [4, 4, 4]\nspacing = \"5.4 angstrom\"\njitter = 0.02\ntemperature = \"94 K\"\n\
             [space]\nboundary = \"periodic\"\n\
             [interaction.lennard-jones]\nepsilon = 0.996\nsigma = 0.3405\ncutoff = 0.85\n[neighbors]\nskin = 0.1\n\
             [time_step]\nfixed = \"2 fs\"\n[output]\noverwrite = true\n\
             [output.trajectory]\nformat = \"{format}\"\nevery_steps = 5\n{fields}"
        )
    };
    let decks = [
        deck(20, "[output]\noverwrite = true\n[output.trajectory]\nevery_steps = 5\nvelocities = true\n"),
        molecular("h5md"),
    ];
    let run = |text: &str| {
        std::fs::write(folder.path().join("deck.toml"), text).unwrap();
        let output = by_shell(folder.path(), "timeout 60 PROGRAM run deck.toml --set run.threads=1");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/read_trajectory.py");
    let ask = |arguments: &[&str]| {
        let output = Command::new(&python).arg(script).args(arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
        said
    };
    for (text, longest, scale) in [(&decks[0], "3.0", 1.0), (&decks[1], "1.0", 10.0)] {
        run(text);
        let path = folder.path().join("out/trajectory.h5md");
        let found = frames(&path);
        let position = &found.fields.iter().find(|(name, _)| name == "position").unwrap().1;
        let edge = found.fields[0].1[0];
        let mut counts = vec![0u64; 50];
        for frame in position.chunks(256 * 3) {
            let of_frame = pair_counts(frame, edge, 50, longest.parse().unwrap());
            counts.iter_mut().zip(of_frame).for_each(|(sum, count)| *sum += count);
        }
        let said = ask(&["h5md", path.to_str().unwrap(), longest, &scale.to_string()]);
        let theirs: Vec<f64> =
            said.lines().nth(1).unwrap().split_whitespace().map(|n| n.parse().unwrap()).collect();
        let volume = edge.powi(3);
        let mut seen = 0.0f64;
        for (bin, (&count, theirs)) in counts.iter().zip(&theirs).enumerate() {
            let [inner, outer] = [bin, bin + 1].map(|k| k as f64 / 50.0 * longest.parse::<f64>().unwrap());
            let shell = 4.0 / 3.0 * std::f64::consts::PI * (outer.powi(3) - inner.powi(3));
            let ours = 2.0 * count as f64 * volume / (5.0 * 256.0 * 255.0 * shell);
            // a pair within rounding of a bin's border may be counted in the next
            assert!((ours - theirs).abs() < 0.02 * ours.max(1.0), "g of bin {bin}: {ours} and {theirs}");
            seen = seen.max(ours);
        }
        assert!(seen > 2.0, "no peak: {seen}");
    }
    // the next run empties the folder
    let kept = folder.path().join("kept.h5md");
    std::fs::copy(folder.path().join("out/trajectory.h5md"), &kept).unwrap();
    for (format, name) in [("xyz", "xyz"), ("xtc", "xtc"), ("dcd", "dcd"), ("lammps-dump", "lammpstrj")] {
        run(&molecular(format));
        let path = folder.path().join("out/trajectory").with_extension(name);
        println!("{}", ask(&[format, path.to_str().unwrap(), kept.to_str().unwrap(), "10"]));
    }
    read_in_ovito(&python, folder.path(), &kept, |format| run(&molecular(format)));
    // reduced units are written as they are
    let reduced = |format: &str| {
        deck(
            20,
            &format!(
                "[output]\noverwrite = true\n[output.trajectory]\nformat = \"{format}\"\nevery_steps = 5\n"
            ),
        )
    };
    run(&reduced("h5md"));
    std::fs::copy(folder.path().join("out/trajectory.h5md"), &kept).unwrap();
    for format in ["xtc", "dcd"] {
        run(&reduced(format));
        let path = folder.path().join("out/trajectory").with_extension(format);
        println!("{}", ask(&[format, path.to_str().unwrap(), kept.to_str().unwrap(), "1"]));
    }
}

#[cfg(feature = "mpi")]
#[test]
fn processes_write_what_one_writes() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("deck.toml"), deck(9, &ALL.replace("= 30", "= 2"))).unwrap();
    let output = by_shell(folder.path(), "timeout 60 PROGRAM run deck.toml --set run.threads=1");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let line = "timeout 60 mpirun --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 -n 3 PROGRAM run deck.toml \
                --set run.threads=1 --set output.directory=processes";
    let output = by_shell(folder.path(), line);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let one = frames(&folder.path().join("out/trajectory.h5md"));
    let many = frames(&folder.path().join("processes/trajectory.h5md"));
    assert_eq!((&many.steps, &many.ids), (&one.steps, &one.ids));
    assert_eq!(one.steps, [0, 2, 4, 6, 8]);
    for ((name, a), (_, b)) in one.fields.iter().zip(&many.fields) {
        let scale = a.iter().fold(1.0f64, |most, x| most.max(x.abs()));
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-9 * scale), "{name}");
    }
}

/// The limit lets some frames be written and then no more: the run ends with an error that names the file, and the frames
/// before are whole.
#[test]
fn a_full_disk_ends_the_run_and_keeps_the_frames() {
    // frames of XTC and DCD are so small that the limit would have to be one below which MPI does not start
    for format in TrajectoryFormat::ALL.iter().filter(|format| format.topology_name().is_none()) {
        let (name, format) = (format.file_name(), format.name());
        let folder = tempfile::tempdir().unwrap();
        let fields = match format {
            "xyz" => "velocities = true\n",
            _ => "velocities = true\nimages = true\n",
        };
        let more = format!(
            "[output]\nobservables = {{ every_steps = 1000 }}\n\
             [output.trajectory]\nformat = \"{format}\"\nevery_steps = 1\n{fields}"
        );
        std::fs::write(folder.path().join("deck.toml"), deck(2000, &more)).unwrap();
        // blocks of 512 bytes
        let output =
            by_shell(folder.path(), "ulimit -f 16000; timeout 60 PROGRAM run deck.toml --set run.threads=1");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(told.contains(name) && told.contains("help:"), "{told}");
        let path = folder.path().join("out").join(name);
        let count = match format {
            "h5md" => {
                let found = frames(&path);
                assert_eq!(found.steps, (0..found.steps.len() as i64).collect::<Vec<_>>());
                for (field, values) in found.fields.iter().filter(|(field, _)| field != "image") {
                    let last = &values[values.len() - 3..];
                    assert!(last.iter().all(|&x| x != 0.0), "{field} ends with {last:?}");
                }
                found.steps.len()
            }
            "xyz" => std::fs::read_to_string(&path).unwrap().lines().filter(|&line| line == "256").count(),
            _ => {
                let told = hilbrium::snapshot::trajectory::info(&path).unwrap().unwrap();
                // the frame that did not fit is cut off
                assert!(!told.contains("note"), "{told}");
                let count = told.lines().find_map(|line| line.strip_prefix("frames")).unwrap();
                count.trim().parse().unwrap()
            }
        };
        assert!(count > 100, "{format}: {count} frames");
    }
}

/// The forces of an Ewald sum do not depend on how it is split, in the first frame as in later ones: lists
/// are tuned before it, by sweeps over pairs alone.
#[test]
fn forces_of_all_frames_have_both_parts_of_an_ewald_sum() {
    let folder = tempfile::tempdir().unwrap();
    let deck = concat!(env!("CARGO_MANIFEST_DIR"), "/inputs/salt-pme.toml");
    let forces_with = |splitting: &str| {
        let output = folder.path().join(splitting);
        let settings = [
            "run.steps=1".to_owned(),
            "run.device=cpu".to_owned(),
            "run.precision=double".to_owned(),
            "start.lattice.cells=[4,4,4]".to_owned(),
            "interaction.coulomb.mesh=48".to_owned(),
            "interaction.coulomb.order=8".to_owned(),
            format!("interaction.coulomb.splitting={splitting}"),
            "output.trajectory.every_steps=1".to_owned(),
            "output.trajectory.format=xyz".to_owned(),
            "output.trajectory.forces=true".to_owned(),
            "output.trajectory.precision=double".to_owned(),
            format!("output.directory={:?}", output.to_str().unwrap()),
        ];
        let arguments = settings.iter().flat_map(|setting| ["--set", setting]);
        let ran = Command::new(PROGRAM).args(["run", deck]).args(arguments).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        let text = std::fs::read_to_string(output.join("trajectory.xyz")).unwrap();
        let atoms = text.lines().filter(|line| line.starts_with("P ") || line.starts_with("M "));
        let force = |line: &str| -> Vec<f64> {
            let words: Vec<&str> = line.split_whitespace().collect();
            words[words.len() - 3..].iter().map(|word| word.parse().unwrap()).collect()
        };
        atoms.map(force).collect::<Vec<_>>()
    };
    let (one, other) = (forces_with("5.0"), forces_with("7.0"));
    assert_eq!((one.len(), other.len()), (2 * 512, 2 * 512));
    for (frame, (one, other)) in one.chunks(512).zip(other.chunks(512)).enumerate() {
        let square = |rows: &[Vec<f64>]| rows.iter().flatten().map(|x| x * x).sum::<f64>();
        let differences: Vec<Vec<f64>> =
            one.iter().zip(other).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a - b).collect()).collect();
        let relative = (square(&differences) / square(one)).sqrt();
        assert!(relative < 1e-6, "frame {frame}: {relative:e}");
    }
}
