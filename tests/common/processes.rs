//! Tests that start their own program again, as other processes: under mpirun, or with another environment.

use std::process::{Command, Output};

/// Returns the test harness's name of the test `part` of a module, which `module_path!()` names.
pub fn test_name(module: &str, part: &str) -> String {
    match module.split_once("::") {
        Some((_program, within)) => format!("{within}::{part}"),
        None => part.to_owned(),
    }
}

/// The environment variable that names the test that a started process plays.
pub const PART: &str = "HILBRIUM_TEST_PART";

/// Runs the test `part` of a module on `ranks` processes, with more variables in their environment.
pub fn under_mpirun(module: &str, part: &str, ranks: usize, environment: &[(&str, &str)]) -> Output {
    let myself = std::env::current_exe().expect("the path of this test");
    let version = Command::new("mpirun").arg("--version").output().expect("mpirun, which runs MPI programs");
    let mut command = Command::new("mpirun");
    command.args(["-n", &ranks.to_string()]);
    if String::from_utf8_lossy(&version.stdout).contains("Open MPI") {
        command.args(["--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]);
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    }
    command.env(PART, part).env("RAYON_NUM_THREADS", "1").envs(environment.iter().copied());
    command.arg(myself).args([&test_name(module, part), "--exact", "--nocapture", "--test-threads=1"]);
    command.output().expect("mpirun starts")
}

/// Whether this process was started to play the test `part`.
pub fn plays(part: &str) -> bool {
    std::env::var(PART).is_ok_and(|played| played == part)
}
