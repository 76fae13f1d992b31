//! `hilbrium run --ranks N`: starts the ranks of a run with mpirun and suitable settings.

use super::status;
use crate::run::signals::{self, Signals};
use crate::{Error, Result, report};
use std::ffi::OsString;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Settings of Open MPI 4 and 5. In containers everyone is root, and processes may not read each other's
/// memory. Waiting ranks yield their cores. Variables that are already set take precedence.
const SETTINGS: [(&str, &str); 6] = [
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("PRTE_ALLOW_RUN_AS_ROOT", "1"),
    ("PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("OMPI_MCA_btl_vader_single_copy_mechanism", "none"),
    ("OMPI_MCA_mpi_yield_when_idle", "1"),
];

/// Settings for more ranks than cores, which mpirun refuses by default.
const OVERSUBSCRIBE: [(&str, &str); 2] =
    [("OMPI_MCA_rmaps_base_oversubscribe", "1"), ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe")];

/// Interval between polls of signals and of mpirun.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Interval between repetitions of a signal: ranks that had not started yet missed it. Repetition has no
/// other effect.
const RESEND_INTERVAL: Duration = Duration::from_secs(2);

/// Starts `ranks` ranks of `hilbrium run` with these arguments and returns their exit status.
pub(super) fn launch(ranks: usize, arguments: Vec<OsString>) -> u8 {
    match start(ranks, arguments) {
        Ok(code) => match report::check_output("the log is incomplete") {
            Err(error) if code == 0 || code == 3 => status(Err(error)),
            _ => code,
        },
        Err(error) => status(Err(error)),
    }
}

fn start(ranks: usize, arguments: Vec<OsString>) -> Result<u8> {
    check_launcher(super::launched_rank().is_some())?;
    let signals = Signals::listen_only()?;
    let program = std::env::current_exe().map_err(|cause| {
        Error::usage(format!("cannot tell where this program is: {cause}"), "start it with mpirun yourself")
    })?;
    let mut mpirun = mpirun(ranks);
    mpirun
        .arg(program)
        .args(arguments)
        // A process group of its own: the terminal sends Ctrl-C only to this process, which forwards it as
        // SIGUSR1.
        .process_group(0)
        .stdout(Stdio::piped());
    // SAFETY: prctl is async-signal-safe, hence allowed between fork and exec.
    unsafe { mpirun.pre_exec(stop_with_parent) };
    let mut mpirun = mpirun.spawn().map_err(|cause| no_mpirun(&cause))?;
    let output = mpirun.stdout.take();
    let ended = std::thread::scope(|scope| {
        scope.spawn(|| output.map(copy));
        wait_for_mpirun(&mut mpirun, &signals)
    });
    ended.map(code).map_err(|cause| {
        Error::usage(format!("cannot wait for mpirun: {cause}"), "start the ranks with mpirun yourself")
    })
}

/// The command that starts `ranks` processes; their program is to be added.
fn mpirun(ranks: usize) -> Command {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let oversubscribe = if ranks > cores { &OVERSUBSCRIBE[..] } else { &[] };
    let missing = SETTINGS.iter().chain(oversubscribe).filter(|(name, _)| std::env::var_os(name).is_none());
    let mut mpirun = Command::new("mpirun");
    mpirun.args(["--bind-to", "none", "-n", &ranks.to_string()]).envs(missing.copied()).stdin(Stdio::null());
    mpirun
}

/// Lets mpirun start two processes that do nothing; returns its version.
///
/// # Errors
/// [`Error::Usage`] if there is no mpirun of Open MPI, or with its last line if it fails.
pub(super) fn try_two_ranks() -> Result<String> {
    let version = check_launcher(super::launched_rank().is_some())?;
    let tried = mpirun(2).arg("true").output().map_err(|cause| no_mpirun(&cause))?;
    if tried.status.success() {
        return Ok(version);
    }
    let text = String::from_utf8_lossy(&tried.stderr).into_owned();
    let last =
        text.lines().rev().find(|line| line.chars().any(char::is_alphanumeric)).unwrap_or("no message");
    Err(Error::usage(
        format!("{version} cannot start two processes: {}", last.trim()),
        "run `mpirun -n 2 true` and follow its message",
    ))
}

/// Makes the ranks stop after a checkpoint if this process is killed, on systems that support it.
fn stop_with_parent() -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    // SAFETY: prctl takes only integers here.
    if unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGUSR1) } != 0 {
        return Err(std::io::Error::last_os_error());
    }
    Ok(())
}

/// Checks that ranks can be started from this process; returns the version of mpirun.
fn check_launcher(launched: bool) -> Result<String> {
    if cfg!(not(feature = "mpi")) {
        return Err(Error::usage(
            "this build has no MPI",
            "build it with the feature \"mpi\", or leave out --ranks",
        ));
    }
    if launched {
        return Err(Error::usage(
            "--ranks starts mpirun, but this process was started by an MPI launcher",
            "leave out either --ranks or the launcher",
        ));
    }
    let version = Command::new("mpirun").arg("--version").stdin(Stdio::null()).output();
    let version = version.map_err(|cause| no_mpirun(&cause))?;
    let text = String::from_utf8_lossy(&version.stdout).into_owned();
    let first = text.lines().next().unwrap_or("it reports no version");
    if text.contains("Open MPI") || text.contains("OpenRTE") || text.contains("PRRTE") {
        return Ok(first.to_owned());
    }
    Err(Error::usage(
        format!("mpirun is not that of Open MPI: {first}"),
        "put Open MPI's first in PATH, or leave out --ranks and start the ranks with the launcher of your MPI library",
    ))
}

fn no_mpirun(cause: &std::io::Error) -> Error {
    Error::usage(
        format!("cannot start mpirun: {cause}"),
        "install Open MPI (openmpi-bin on Debian), or leave out --ranks to run on one rank",
    )
}

/// Forwards the log of the ranks, so that this process detects write errors.
fn copy(mut from: impl Read) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        report::forward(&bytes[..count]);
    }
}

/// Waits for mpirun. Signals are forwarded as SIGUSR1, which mpirun passes to all ranks on all hosts; SIGTERM
/// would make mpirun kill them within seconds. A second termination signal sends SIGTERM.
fn wait_for_mpirun(mpirun: &mut Child, signals: &Signals) -> std::io::Result<ExitStatus> {
    let process = mpirun.id() as libc::pid_t;
    // SAFETY: sends a signal to a child that has not been waited for, so that its process id is still valid.
    let send = |signal: i32| unsafe { libc::kill(process, signal) };
    let mut last_sent: Option<Instant> = None;
    loop {
        if let Some(ended) = mpirun.try_wait()? {
            return Ok(ended);
        }
        match (signals.caught(), last_sent) {
            (0, _) => {}
            _ if signals.asked_again() => {
                send(libc::SIGTERM);
                return mpirun.wait();
            }
            (signal, None) => {
                report::error(&format!("{}: the ranks stop after a checkpoint", signals::name(signal)));
                send(libc::SIGUSR1);
                last_sent = Some(Instant::now());
            }
            (_, Some(last)) if last.elapsed() >= RESEND_INTERVAL => {
                send(libc::SIGUSR1);
                last_sent = Some(Instant::now());
            }
            _ => {}
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

fn code(ended: ExitStatus) -> u8 {
    let signal = ended.signal().map(|signal| 128 + signal);
    u8::try_from(ended.code().or(signal).unwrap_or(1)).unwrap_or(1)
}
