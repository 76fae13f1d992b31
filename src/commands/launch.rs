//! `hilbrium run --ranks N`: the ranks of a run by mpirun, with the settings that this program needs.

use super::status;
use crate::run::signals::{self, Signals};
use crate::{Error, Result, report};
use std::ffi::OsString;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Settings of Open MPI 4 and 5. In a container everyone is root and may not read the memory of another process; ranks
/// that wait leave their core to others. What the environment says already holds.
const SETTINGS: [(&str, &str); 6] = [
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("PRTE_ALLOW_RUN_AS_ROOT", "1"),
    ("PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("OMPI_MCA_btl_vader_single_copy_mechanism", "none"),
    ("OMPI_MCA_mpi_yield_when_idle", "1"),
];

/// More ranks than cores, which mpirun refuses otherwise.
const CROWDED: [(&str, &str); 2] =
    [("OMPI_MCA_rmaps_base_oversubscribe", "1"), ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe")];

/// Between two looks at signals and at mpirun.
const PAUSE: Duration = Duration::from_millis(50);

/// Until a signal is passed on again: ranks that were not there yet have not got it. A second one does nothing else.
const AGAIN: Duration = Duration::from_secs(2);

/// Start so many ranks of `hilbrium run` with these arguments, and end as they do.
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
    usable(super::launched_rank().is_some())?;
    let signals = Signals::listen_only()?;
    let program = std::env::current_exe().map_err(|cause| {
        Error::usage(format!("cannot tell where this program is: {cause}"), "start it with mpirun yourself")
    })?;
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let crowded = if ranks > cores { &CROWDED[..] } else { &[] };
    let missing = SETTINGS.iter().chain(crowded).filter(|(name, _)| std::env::var_os(name).is_none());
    let mut mpirun = Command::new("mpirun");
    mpirun
        .args(["--bind-to", "none", "-n", &ranks.to_string()])
        .arg(program)
        .args(arguments)
        .envs(missing.copied())
        // not in this group: a terminal's Ctrl-C is for this process, which passes it on in a way that leaves time
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    // SAFETY: prctl is allowed between fork and exec.
    unsafe { mpirun.pre_exec(stop_with_parent) };
    let mut mpirun = mpirun.spawn().map_err(|cause| no_mpirun(&cause))?;
    let output = mpirun.stdout.take();
    let ended = std::thread::scope(|scope| {
        scope.spawn(|| output.map(copy));
        attend(&mut mpirun, &signals)
    });
    ended.map(code).map_err(|cause| {
        Error::usage(format!("cannot wait for mpirun: {cause}"), "start the ranks with mpirun yourself")
    })
}

/// Let the ranks stop after a checkpoint when this process is killed, where the system can do that.
fn stop_with_parent() -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    // SAFETY: a number is all that it takes.
    if unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGUSR1) } != 0 {
        return Err(std::io::Error::last_os_error());
    }
    Ok(())
}

/// Whether ranks can be started from here.
fn usable(launched: bool) -> Result<()> {
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
    if text.contains("Open MPI") || text.contains("OpenRTE") || text.contains("PRRTE") {
        return Ok(());
    }
    let first = text.lines().next().unwrap_or("no word of its version");
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

/// The ranks' log goes through this process, which sees when it cannot be written.
fn copy(mut from: impl Read) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        report::forward(&bytes[..count]);
    }
}

/// Wait for mpirun. Signals go to the ranks as SIGUSR1, which mpirun passes on to all of them on all hosts; SIGTERM would
/// let it end them within seconds. A second signal that asks for an end does that.
fn attend(mpirun: &mut Child, signals: &Signals) -> std::io::Result<ExitStatus> {
    let process = mpirun.id() as libc::pid_t;
    // SAFETY: a signal to a child that was not waited for yet: the number is still its own.
    let send = |signal: i32| unsafe { libc::kill(process, signal) };
    let mut passed: Option<Instant> = None;
    loop {
        if let Some(ended) = mpirun.try_wait()? {
            return Ok(ended);
        }
        match (signals.caught(), passed) {
            (0, _) => {}
            _ if signals.asked_again() => {
                send(libc::SIGTERM);
                return mpirun.wait();
            }
            (signal, None) => {
                report::error(&format!("{}: the ranks stop after a checkpoint", signals::name(signal)));
                send(libc::SIGUSR1);
                passed = Some(Instant::now());
            }
            (_, Some(last)) if last.elapsed() >= AGAIN => {
                send(libc::SIGUSR1);
                passed = Some(Instant::now());
            }
            _ => {}
        }
        std::thread::sleep(PAUSE);
    }
}

fn code(ended: ExitStatus) -> u8 {
    let signal = ended.signal().map(|signal| 128 + signal);
    u8::try_from(ended.code().or(signal).unwrap_or(1)).unwrap_or(1)
}
