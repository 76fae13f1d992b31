//! Snapshots and checkpoints of MPI processes, and what happens when the disk is full.
//!
//! The ignored tests are the parts that the others run as processes of their own.

use crate::common::skip;
use crate::common::snapshots::*;
use hilbrium::Error;
use hilbrium::comm::Communicator;
#[cfg(feature = "mpi")]
use hilbrium::particles::Field;
use hilbrium::snapshot::*;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Arc, atomic::AtomicBool};

const COUNT: usize = 5000;

/// SIGXFSZ on Linux: a file grew past the limit.
const XFSZ: i32 = 25;

fn state(step: u64) -> CheckpointState {
    CheckpointState {
        step,
        time: 0.1,
        time_step: 1e-3,
        bx: open_box(),
        title: "t".into(),
        deck: "d".into(),
        counters: serde_json::json!({}),
        numbers: BTreeMap::new(),
        tables: BTreeMap::new(),
    }
}

fn said(output: &Output) -> String {
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// What this rank wants the starting test to see: a file, since processes' output may be mixed.
fn report(folder: &Path, comm: &Communicator, text: &str) {
    std::fs::write(folder.join(format!("rank-{}-of-{}", comm.rank(), comm.size())), text).unwrap();
}

#[cfg(feature = "mpi")]
const THREE: &str = "timeout 60 mpirun --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 -n 3";

#[test]
#[ignore = "run by three_processes_write_what_one_writes"]
fn part_write() {
    let folder = passed_folder();
    hilbrium::snapshot::start();
    let comm = Communicator::world().unwrap();
    let particles = particles(&comm, COUNT, FIELDS);
    write_snapshot(&folder.join("many.hdf5"), &comm, &particles, &header(), FIELDS).unwrap();
    let path = write_checkpoint(&folder, &comm, &particles, &state(3)).unwrap();
    let (_, again) = read_checkpoint(&path, &comm).unwrap();
    assert_eq!(again.id, particles.id[particles.owned()]);
    let (read, slice) = read_snapshot_slice(&folder.join("many.hdf5"), &comm).unwrap();
    assert_eq!(read.particle_count, COUNT as u64);
    report(&folder, &comm, &slice.len().to_string());
}

#[cfg(feature = "mpi")]
#[test]
fn three_processes_write_what_one_writes() {
    let folder = tempfile::tempdir().unwrap();
    let output = run_again(THREE, module_path!(), "part_write", folder.path());
    assert!(output.status.success(), "{}", said(&output));
    for rank in 0..3 {
        let name = folder.path().join(format!("rank-{rank}-of-3"));
        let rows: usize = std::fs::read_to_string(&name).unwrap().parse().unwrap();
        assert!(rows.abs_diff(COUNT / 3) <= 1, "rank {rank}: {rows}");
    }
    let one = folder.path().join("one.hdf5");
    let comm = Communicator::solo();
    let whole = particles(&comm, COUNT, FIELDS);
    write_snapshot(&one, &comm, &whole, &header(), FIELDS).unwrap();
    let (one, many) =
        (read_snapshot(&one).unwrap(), read_snapshot(&folder.path().join("many.hdf5")).unwrap());
    assert_eq!(one.0, many.0);
    assert_eq!(one.1.id, many.1.id);
    for &field in FIELDS {
        for c in 0..field.components() {
            assert_eq!(one.1.component(field, c), many.1.component(field, c), "{}", field.name());
        }
    }
    let (_, restored) = read_checkpoint(&find_latest(folder.path(), &comm).unwrap(), &comm).unwrap();
    assert_eq!(restored.component(Field::Velocity, 2), &whole.component(Field::Velocity, 2)[whole.owned()]);
}

#[test]
#[ignore = "run by a_full_disk_..."]
fn part_disk_full() {
    let folder = passed_folder();
    let disk = folder.join("disk");
    hilbrium::snapshot::start();
    let comm = Communicator::world().unwrap();
    let limited = std::env::var_os("SNAPSHOT_TEST_LIMIT").is_some();
    if limited {
        // Only now, since MPI itself needs large files when it starts. With a handler the signal becomes an error
        // of the call that writes.
        signal_hook::flag::register(XFSZ, Arc::new(AtomicBool::new(false))).unwrap();
        let this = std::process::id().to_string();
        let outcome = Command::new("prlimit").args(["--fsize=2000000", "--pid", &this]).status();
        assert!(outcome.unwrap().success());
    }
    let few = particles(&comm, 300, FIELDS);
    write_snapshot(&disk.join("s.hdf5"), &comm, &few, &header(), FIELDS).unwrap();
    let earlier = write_checkpoint(&disk, &comm, &few, &state(3)).unwrap();

    let many = particles(&comm, 50 * COUNT, FIELDS);
    let snapshot = write_snapshot(&disk.join("s.hdf5"), &comm, &many, &header(), FIELDS).unwrap_err();
    let checkpoint = write_checkpoint(&disk, &comm, &many, &state(4)).unwrap_err();
    for error in [&snapshot, &checkpoint] {
        match error {
            // what describes the file is written by HDF5, which does not say why it failed
            Error::File { remedy, .. } => assert!(
                remedy.contains("free some space") || limited && remedy.contains("ulimit -f"),
                "{error}"
            ),
            Error::Elsewhere => assert!(comm.size() > 1),
            _ => panic!("{error}"),
        }
    }
    // What was there is untouched, nothing is left behind, and smaller files still fit.
    let (read, _) = read_snapshot_slice(&disk.join("s.hdf5"), &comm).unwrap();
    assert_eq!(read.particle_count, 300);
    assert_eq!(find_latest(&disk, &comm).unwrap(), earlier);
    assert_eq!(std::fs::read_dir(&disk).unwrap().count(), 3);
    comm.barrier();
    write_snapshot(&disk.join("t.hdf5"), &comm, &few, &header(), FIELDS).unwrap();
    read_snapshot_slice(&disk.join("t.hdf5"), &comm).unwrap();
    report(&folder, &comm, &format!("{snapshot}\n{checkpoint}"));
}

fn full_disk(launcher: &str, ranks: usize) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("disk")).unwrap();
    let output = run_again(launcher, module_path!(), "part_disk_full", folder.path());
    assert!(output.status.success(), "{}\n{}", output.status, said(&output));
    assert!(!said(&output).contains("HDF5-DIAG"), "{}", said(&output));
    let mut told = 0;
    for rank in 0..ranks {
        let text = std::fs::read_to_string(folder.path().join(format!("rank-{rank}-of-{ranks}"))).unwrap();
        eprintln!("rank {rank}: {text}");
        told += text.matches("cannot write").count();
    }
    assert!(told >= 2, "some rank says what failed");
}

/// A file system of 3 MB on the folder `disk`; `None` where this user may not mount one.
fn small_disk(launcher: &str) -> Option<String> {
    let mount = "mount -t tmpfs -o size=3m none";
    let probe = tempfile::tempdir().unwrap();
    let line = format!("unshare -rm {mount} '{}'", probe.path().display());
    if !Command::new("bash").args(["-c", &line]).output().unwrap().status.success() {
        skip::skip("a full file system, since this user may not mount one (unshare -rm mount)");
        return None;
    }
    Some(format!(r#"unshare -rm bash -c '{mount} "$SNAPSHOT_TEST_FOLDER/disk" && exec "$@"' -- {launcher}"#))
}

#[test]
fn a_full_disk_is_an_error_with_a_remedy() {
    if let Some(launcher) = small_disk("timeout 60") {
        full_disk(&launcher, 1);
    }
}

#[test]
fn a_limit_on_the_size_of_files_is_an_error_with_a_remedy() {
    full_disk("SNAPSHOT_TEST_LIMIT=1 timeout 60", 1);
}

#[cfg(feature = "mpi")]
#[test]
fn a_full_disk_is_an_error_on_three_processes() {
    if let Some(launcher) = small_disk(THREE) {
        full_disk(&launcher, 3);
    }
}

#[cfg(feature = "mpi")]
#[test]
fn a_limit_on_the_size_of_files_is_an_error_on_three_processes() {
    full_disk(&format!("SNAPSHOT_TEST_LIMIT=1 {THREE}"), 3);
}
