//! The emulation of kernels on a host (kernels/emulation) does what a device does, and reports what a device would not
//! forgive. The programs of tests/emulation also compile with nvcc and then check a device in the same way.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A program of tests/emulation, compiled as the units of the emulation are.
fn compiled(folder: &Path, name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = folder.join(name);
    let output = Command::new(std::env::var("CXX").unwrap_or_else(|_| "g++".into()))
        .args(["-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-pthread"])
        .args(["-fsanitize=bounds,shift-exponent", "-fsanitize-undefined-trap-on-error"])
        .args(["-x", "c++", "-DHILBRIUM_EMULATED", "-include"])
        .arg(root.join("kernels/emulation/cuda.h"))
        .arg("-I")
        .arg(root.join("kernels/emulation"))
        .arg(root.join("tests/emulation").join(name).with_extension("cu"))
        .arg("-o")
        .arg(&program)
        .output()
        .expect("a C++ compiler: g++, or what CXX says");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

fn run(program: &Path, argument: &str, settings: &[(&str, &str)]) -> Output {
    let mut command = Command::new(program);
    command.env_remove("HILBRIUM_EMULATION_SEED").env_remove("HILBRIUM_EMULATION_THREADS");
    command.envs(settings.iter().copied()).arg(argument).output().unwrap()
}

/// In every order of threads, and with blocks that run at once.
#[test]
fn kernels_give_what_a_device_gives() {
    let folder = tempfile::tempdir().unwrap();
    for (name, least) in [("collectives", 9000), ("arithmetic", 40_000)] {
        let program = compiled(folder.path(), name);
        let seeds = ["0", "1", "2", "77", "123456789"].map(|seed| ("HILBRIUM_EMULATION_SEED", seed));
        for setting in seeds.into_iter().chain([("HILBRIUM_EMULATION_THREADS", "4")]) {
            let output = run(&program, "", &[setting]);
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(
                output.status.success(),
                "{name}, {setting:?}: {said}{}",
                String::from_utf8_lossy(&output.stderr)
            );
            let checked: usize = said.split(' ').next().unwrap().parse().unwrap();
            assert!(checked >= least, "{name}: {said}");
        }
    }
}

/// Faults that a device may or may not show: races and memory that nobody wrote give wrong numbers, the rest a report
/// that says where.
#[test]
fn faults_show() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "faults");
    assert!(run(&program, "innocent", &[]).status.success(), "a kernel without a fault");

    for fault in
        ["missing_syncwarp", "missing_syncthreads", "missing_second_barrier", "unwritten_shared_memory"]
    {
        for seed in ["1", "2", "3", "4", "5"] {
            let output = run(&program, fault, &[("HILBRIUM_EMULATION_SEED", seed)]);
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(
                output.status.code() == Some(1) && said.contains("WRONG"),
                "{fault}, seed {seed}: {said}"
            );
        }
    }

    let mut reports = vec![
        ("divergent_barrier", "deadlock", "lanes 0000007f wait at "),
        ("two_barriers", "threads wait at different barriers", "__syncthreads"),
        ("outside_of_mask", "is not in the mask 0000ffff of its __ballot_sync", "takes no part"),
        ("different_masks", "deadlock", "__shfl_sync with mask fffffffe"),
        (
            "past_the_end",
            "an address outside of all memory",
            "kernel past_the_end, block (0, 0, 0), thread (",
        ),
        ("outside_of_array", "an operation that is undefined", "thread (21, 0, 0)"),
        ("shifted_too_far", "an operation that is undefined", "kernel shifted_too_far"),
        ("waits_for_ever", "only wait for memory that none of them writes", "waits_for_ever"),
        ("much_local_memory", "the local memory of a thread passes", "much_local_memory"),
        ("large_block", "no device takes a grid of", "(1056, 1, 1)"),
    ];
    // elsewhere the division gives zero
    if cfg!(target_arch = "x86_64") {
        reports.push(("divided_by_zero", "a division of integers by zero", "thread ("));
    }
    for (fault, what, place) in reports {
        let output = run(&program, fault, &[]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && output.status.code().is_none(), "{fault} must abort: {said}");
        assert!(said.contains(what) && said.contains(place), "{fault}: {said}");
    }
}
