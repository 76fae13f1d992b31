//! What reads bytes of others, one function a reader: each says how it took them, and none may panic, hang, or take
//! memory without bound. The fuzz targets call these with what they think up, `tests/corpus.rs` with what they found.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(dead_code, reason = "a fuzz target uses one")]

mod memory;

use flate2::Compression;
use flate2::write::GzEncoder;
use hilbrium::comm::Communicator;
use hilbrium::deck::{self, Plan};
use hilbrium::neighbors::Coding;
use hilbrium::plan::FileFormat;
use hilbrium::start::{self, formats};
use hilbrium::step::Simulation;
use hilbrium::{Result, snapshot};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// How a reader took some bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// As what they should be.
    Read,
    /// As wrong, told in these words.
    Refused(String),
}

/// Seconds of a core that a reader may take.
const SECONDS: f64 = 10.0;
/// Bytes that a reader may take whatever it reads.
const ROOM: usize = 64 << 20;
/// Bytes that it may take for each byte it reads: text of a letter a number, and a column for each.
const FOLD: usize = 2000;
/// Most particles whose forces are evaluated.
const FEW: usize = 100;

/// Let a reader take some bytes, and see that it stays within bounds.
pub fn bounded(reader: fn(&[u8]) -> Outcome, bytes: &[u8]) -> Outcome {
    let (before, start) = (memory::restart(), processor_seconds());
    let outcome = reader(bytes);
    let (taken, seconds) = (memory::peak().saturating_sub(before), processor_seconds() - start);
    assert!(taken < ROOM + FOLD * bytes.len(), "{taken} bytes of memory for {} bytes", bytes.len());
    assert!(seconds < SECONDS, "{seconds} s for {} bytes", bytes.len());
    if let Outcome::Refused(told) = &outcome {
        assert!(told.len() < 1 << 20, "{} bytes of error", told.len());
        assert!(!told.contains(['\u{1b}', '\0']), "a control letter reaches the terminal: {told:?}");
    }
    outcome
}

/// Processor time of all threads, which also counts right where the process is stopped for a while.
fn processor_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to the variable it is given.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

/// An error must say what to do, and a file's error which file.
fn told<T>(outcome: Result<T>, file: Option<&Path>) -> Outcome {
    let Err(error) = outcome else { return Outcome::Read };
    let text = error.to_string();
    assert!(text.contains("help: "), "no remedy: {text}");
    if let Some(file) = file {
        assert!(text.contains(&file.display().to_string()), "no file is named: {text}");
    }
    Outcome::Refused(text)
}

/// A deck, to a plan or a report.
pub fn deck(bytes: &[u8]) -> Outcome {
    match deck::examine_bytes("deck.toml", bytes, &[]) {
        Ok(checked) => {
            // what is printed with all defaults is the same deck
            let again = deck::examine("resolved.toml", &checked.resolved, &[]);
            let again = again.unwrap_or_else(|report| panic!("{}\nis refused:\n{report}", checked.resolved));
            assert_eq!(format!("{:?}", again.plan), format!("{:?}", checked.plan));
            Outcome::Read
        }
        Err(report) => {
            assert!(!report.mistakes().is_empty());
            Outcome::Refused(report.to_string())
        }
    }
}

/// A deck of few particles, to its first forces and one step.
pub fn step(bytes: &[u8]) -> Outcome {
    let plan = match deck::examine_bytes("deck.toml", bytes, &[]) {
        Ok(checked) => checked.plan,
        Err(report) => return Outcome::Refused(report.to_string()),
    };
    match start::count(&plan.start) {
        Some(count) if count <= FEW as u64 => told(one_step(&plan), None),
        _ => Outcome::Refused("of too many particles for this".into()),
    }
}

fn one_step(plan: &Plan) -> Result<()> {
    hilbrium::report::start(false);
    let comm = Communicator::solo();
    let (space, particles) = start::particles(plan, &comm, &Simulation::fields(plan))?;
    if particles.owned().len() > FEW {
        return Ok(());
    }
    let mut simulation = Simulation::new(plan.clone(), &comm, space, particles);
    simulation.evaluate_forces(0.0)?;
    simulation.choose_step(None).unwrap();
    simulation.advance(simulation.next_step.min(1.0))?;
    simulation.evaluate_energies();
    Ok(())
}

/// A file of this process that holds the bytes.
fn written(bytes: &[u8], extension: &str) -> PathBuf {
    let folder = Some(PathBuf::from("/dev/shm")).filter(|folder| folder.is_dir());
    let path = folder.unwrap_or_else(std::env::temp_dir).join(name(extension));
    std::fs::write(&path, bytes).expect("a temporary file");
    path
}

fn name(extension: &str) -> String {
    let thread = format!("{:?}", std::thread::current().id());
    let thread: String = thread.chars().filter(char::is_ascii_digit).collect();
    format!("hilbrium-examined-{}-{thread}.{extension}", std::process::id())
}

/// An HDF5 file without seal, as other programs write it.
pub fn snapshot(bytes: &[u8]) -> Outcome {
    let path = written(bytes, "hdf5");
    let told_of = told(snapshot::info(&path), Some(&path));
    let read = snapshot::read_snapshot(&path);
    if let Ok((header, particles)) = &read {
        assert_eq!(header.particle_count, particles.len() as u64);
    }
    let read = told(read.map(drop), Some(&path));
    let _ = std::fs::remove_file(&path);
    if read == Outcome::Read { read } else { told_of }
}

/// A checkpoint, which gets a seal that fits.
pub fn checkpoint(bytes: &[u8]) -> Outcome {
    let path = written(&sealed(bytes), "h5");
    let _ = told(snapshot::info(&path), Some(&path));
    let read = told(snapshot::read_checkpoint(&path, &Communicator::solo()), Some(&path));
    let _ = std::fs::remove_file(&path);
    read
}

/// The bytes and their seal, as `docs/src/file-formats.md` describes it; below 4 MiB.
fn sealed(bytes: &[u8]) -> Vec<u8> {
    use xxhash_rust::xxh3::xxh3_64;
    let digest = xxh3_64(&xxh3_64(bytes).to_ne_bytes());
    let mut seal =
        [b"HLBSEAL1".as_slice(), &(bytes.len() as u64).to_le_bytes(), &digest.to_le_bytes()].concat();
    seal.extend(xxh3_64(&seal).to_le_bytes());
    [bytes, &seal].concat()
}

/// A trajectory, to its summary: XTC, DCD or a LAMMPS dump.
pub fn trajectory(bytes: &[u8]) -> Outcome {
    let path = written(bytes, "trajectory");
    let described = snapshot::trajectory::info(&path);
    let read = match described {
        Ok(None) => Outcome::Refused("of another format".into()),
        described => told(described, Some(&path)),
    };
    let _ = std::fs::remove_file(&path);
    read
}

/// GROMACS's `.gro`.
pub fn gromacs(bytes: &[u8]) -> Outcome {
    configuration(bytes, "gro")
}

/// LAMMPS's data.
pub fn lammps(bytes: &[u8]) -> Outcome {
    configuration(bytes, "data")
}

/// Extended XYZ.
pub fn xyz(bytes: &[u8]) -> Outcome {
    configuration(bytes, "xyz")
}

/// The first bytes of gzip's files.
const GZIP: &[u8] = b"\x1f\x8b";

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

/// A text file, as it is and compressed, to its summary, to particles of a reduced and of a molecular deck, and to a step of few.
fn configuration(bytes: &[u8], extension: &'static str) -> Outcome {
    static PLANS: OnceLock<Vec<String>> = OnceLock::new();
    let path = written(bytes, extension);
    let format = match formats::format_of(&path) {
        // whatever its name says
        Ok(FileFormat::Hdf5) => return snapshot(bytes),
        Ok(format) => format,
        Err(error) => return told(Err::<(), _>(error), Some(&path)),
    };
    let read = told(formats::info(&path, format), Some(&path));
    if !bytes.starts_with(GZIP) {
        let packed = written(&compressed(bytes), &format!("{extension}.gz"));
        let again = told(formats::info(&packed, format), Some(&packed));
        let _ = std::fs::remove_file(&packed);
        assert_eq!(read == Outcome::Read, again == Outcome::Read, "compressed: {read:?}, {again:?}");
    }
    let decks = PLANS.get_or_init(|| {
        let reduced = "[interaction.lennard-jones]\ncutoff = 2.5\n[time_step]\nfixed = 0.001\n";
        let molecular = "[units]\nsystem = \"molecular\"\n[species.NA]\nmass = 23.0\ncharge = 1.0\nepsilon = 0.1\n\
            sigma = 0.3\n[species.CL]\nmass = 35.0\ncharge = -1.0\nepsilon = 0.1\nsigma = 0.3\n\
            [interaction.lennard-jones]\ncutoff = 0.9\n[interaction.coulomb]\ncutoff = 0.9\n[time_step]\nfixed = \"1 fs\"\n";
        [reduced, molecular].map(|more| format!("[run]\nsteps = 1\n{more}[start.file]\npath = ")).into()
    });
    for deck in decks {
        let units = if extension == "data" && deck.contains("molecular") { "\nunits = \"real\"" } else { "" };
        let deck = format!("{deck}{:?}{units}\n", path.display().to_string());
        let plan = deck::examine("deck.toml", &deck, &[]).unwrap_or_else(|report| panic!("{report}")).plan;
        let _ = told(one_step(&plan), None);
    }
    let _ = std::fs::remove_file(&path);
    read
}

/// The codes of neighbor lists. The first byte says which, the next two how many indices.
pub fn list(bytes: &[u8]) -> Outcome {
    let [kind, low, high, code @ ..] = bytes else { return Outcome::Refused("no code".into()) };
    let coding = [Coding::Nibble, Coding::Plain, Coding::Band][*kind as usize % 3];
    let count = usize::from(u16::from_le_bytes([*low, *high]));
    let count = if count == usize::from(u16::MAX) { usize::MAX } else { count };
    let mut indices: Vec<u32> = Vec::new();
    let read = coding.decode(code, count, |index| indices.push(index));
    assert!(indices.len() <= 8 * code.len() && indices.windows(2).all(|pair| pair[0] < pair[1]));
    match read {
        Ok(read) => {
            assert_eq!(indices.len(), count);
            let mut again = Vec::new();
            coding.encode(&indices, &mut again);
            assert_eq!(again, code[..read], "another code of the same indices");
            Outcome::Read
        }
        Err(error) => Outcome::Refused(error.to_string()),
    }
}
