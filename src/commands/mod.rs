//! Command line: argument parsing, and one file per command.

mod average;
mod bench;
mod check;
mod completions;
mod doctor;
mod info;
mod launch;
mod manual;
mod new;
mod picture;
mod report_page;
mod run;
mod schema;
mod stability;
mod stop;
mod threads;
mod tune;
mod validate;
mod watch;

use crate::bench::{Benchmark, Common};
use crate::observe::averages::Selection;
use crate::{Error, Result, report};
use clap::{Args, CommandFactory, Parser, Subcommand};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// How a command ended without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Completed.
    Done,
    /// A check failed.
    Failed,
    /// A signal or a request stopped the run after a checkpoint.
    Stopped,
}

impl Ending {
    fn exit_status(self) -> u8 {
        match self {
            Ending::Done => 0,
            Ending::Failed => 1,
            Ending::Stopped => 3,
        }
    }
}

#[derive(Debug, Parser)]
#[command(
    name = "hilbrium",
    version,
    about = "Smoothed particle hydrodynamics, gravity and molecular dynamics along a Hilbert curve",
    long_about = "Smoothed particle hydrodynamics, gravity and molecular dynamics along a Hilbert curve.\n\n\
        A run is described by a deck, a TOML file: `hilbrium new evrard` prints one to start from.\n\
        The same program runs alone and under mpirun.",
    after_help = "Exit status: 0 done, 1 failed run or check, 2 bad usage or deck, 3 stopped by a signal \
        or `hilbrium stop` after a checkpoint.",
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a deck; with --ranks, or under mpirun, on several ranks
    #[command(after_help = "Examples:\n  hilbrium run --ranks 2 inputs/evrard.toml\n  \
        hilbrium run inputs/evrard.toml --set start.evrard.particles=10000 --set output.directory=out/small\n\n\
        SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU and `hilbrium stop FOLDER` stop the run after its step and a \
        checkpoint, with status 3. A second SIGINT or SIGTERM ends it at once.")]
    Run {
        #[command(flatten)]
        deck: DeckArguments,
        /// Continue from this checkpoint, or from the newest intact one of this folder
        #[arg(long, value_name = "CHECKPOINT.h5|FOLDER")]
        restart: Option<PathBuf>,
        /// Start N ranks with Open MPI's mpirun. Unlike mpirun alone, signals leave time for the checkpoint
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        ranks: Option<u32>,
        /// Log shares of the phases with each snapshot, and each new choice of list settings
        #[arg(long, short)]
        verbose: bool,
    },
    /// Stop the run that writes to a folder after its current step and a checkpoint, and wait for its end
    #[command(after_help = "Example: hilbrium stop out/evrard --wait 3600\n\n\
        The run ends with status 3; `hilbrium run DECK --restart FOLDER` goes on. It looks for requests once a second.")]
    Stop {
        /// The run's output directory
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
        /// Maximum time to wait for its end; 0 only sends the request
        #[arg(long, value_name = "SECONDS", default_value_t = 600)]
        wait: u32,
    },
    /// Check a deck and print it with every default; runs nothing
    Check {
        #[command(flatten)]
        deck: DeckArguments,
    },
    /// Measure which method finds a deck's pairs fastest, as a run with method = "auto" does; writes nothing
    #[command(after_help = "Examples:\n  hilbrium tune inputs/lj-fluid.toml\n  \
        mpirun -n 2 hilbrium tune inputs/lj-fluid.toml --set run.threads=1\n\n\
        The table has a row for each candidate: method, half or full lists, the skin of the fewest seconds a\n\
        step. Candidates that a model of pairs and bytes rules out are not tried. The keys below the table\n\
        repeat the choice.")]
    Tune {
        #[command(flatten)]
        deck: DeckArguments,
        /// Print one JSON array instead of the table
        #[arg(long)]
        json: bool,
    },
    /// Compare a snapshot with an exact or reference solution; status 1 if it fails
    Validate {
        /// The snapshot
        #[arg(value_name = "SNAPSHOT.hdf5")]
        snapshot: PathBuf,
        /// The solution to compare with
        #[arg(long, value_name = "CASE", value_parser = clap::builder::PossibleValuesParser::new(
            crate::validate::names()))]
        against: String,
        /// Also write the verdict as JSON to this file
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
        /// Also draw the profiles as PNG and SVG into this folder
        #[arg(long, value_name = "FOLDER")]
        pictures: Option<PathBuf>,
    },
    /// Linear stability of lattices at rest in a deck's gas: growth rates of perturbations; runs nothing
    #[command(
        after_help = "Example:\n  hilbrium stability inputs/evrard.toml --lattice fcc --set sph.neighbors=130"
    )]
    Stability {
        #[command(flatten)]
        deck: DeckArguments,
        /// The lattices, comma-separated
        #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "sc,bcc,fcc,hcp",
              value_parser = lattice)]
        lattice: Vec<crate::plan::LatticeKind>,
        /// Print one JSON object per lattice instead of the table
        #[arg(long)]
        json: bool,
    },
    /// Average the columns of a record over time, with their statistical errors
    #[command(after_help = "Examples:\n  hilbrium average out/lj-fluid/observables.csv --from 20\n  \
        hilbrium average out/lj-fluid/observables.csv --columns temperature,pressure --csv averages.csv")]
    Average {
        /// The record: a table with a column `time`
        #[arg(value_name = "OBSERVABLES.csv")]
        record: PathBuf,
        /// First time, or "auto": where the quantities have equilibrated
        #[arg(long, value_name = "TIME", default_value = "auto", allow_negative_numbers = true)]
        from: crate::observe::averages::From,
        /// Last time
        #[arg(long, value_name = "TIME", default_value_t = f64::INFINITY, hide_default_value = true)]
        to: f64,
        /// Columns by name, comma-separated [default: temperature, energies, pressure]
        #[arg(long, value_name = "NAMES", value_delimiter = ',')]
        columns: Vec<String>,
        /// Divide energies by the number of particles
        #[arg(long)]
        per_particle: bool,
        /// Also write the averages to this file
        #[arg(long, value_name = "FILE.csv")]
        csv: Option<PathBuf>,
    },
    /// Measure a part of the step on this machine, and print a table
    #[command(subcommand_required = true, arg_required_else_help = true, disable_help_subcommand = true)]
    #[command(
        after_help = "Examples:\n  hilbrium bench step --case liquid --particles 32000 --threads 1 --repeats 300\n  \
        hilbrium bench neighbors --distribution lattice --neighbors 200 --list half --json\n\n\
        hilbrium bench NAME --help says what its numbers mean."
    )]
    Bench {
        /// What to measure
        #[command(subcommand)]
        benchmark: Benchmark,
        #[command(flatten)]
        common: Common,
    },
    /// Describe the content of a snapshot, checkpoint, trajectory or configuration
    Info {
        /// The file
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Draw tables of a run as PNG and SVG, or snapshots as PNG: slices and projections
    #[command(after_help = "Examples:\n  hilbrium picture out/lj-fluid/radial-distribution.csv\n  \
        hilbrium picture out/lj-fluid/observables.csv --columns temperature,pressure --folder pictures\n  \
        hilbrium picture out/evrard/snapshot-0008.hdf5 --slice z=0 --width 1\n  \
        hilbrium picture out/evrard/snapshot-0008.hdf5 --project x --quantity velocity_y --scale linear\n  \
        hilbrium picture out/evrard --slice z=0 --width 1 --folder frames\n\n\
        The last one draws a frame for each snapshot, with the same view and colors. ffmpeg joins them:\n  \
        ffmpeg -framerate 12 -i frames/density-slice-z-%04d.png -pix_fmt yuv420p density.mp4\n\n\
        An unknown --quantity lists those of the snapshot. Slices interpolate with the kernel: the density\n\
        is the sum of m W, other quantities are sum of m/rho A W over sum of m/rho W. Projections are column\n\
        densities, and mass-weighted means along the line of sight. Molecules, which have no smoothing\n\
        length, are smoothed over the mean particle spacing. Gray pixels have no particles.")]
    Picture(picture::PictureArguments),
    /// Show the state of a run in the terminal: progress, phases, memory, energy; refreshed every second
    #[command(after_help = "Examples:\n  hilbrium watch out/evrard\n  hilbrium watch out/evrard --once\n\n\
        It reads files of the output directory only: it works over ssh and on any host that sees them.\n\
        q, Escape or Ctrl-C end the display, not the run: `hilbrium stop` does.")]
    Watch {
        /// The run's output directory
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
        /// Print the state once as text, as without a terminal
        #[arg(long)]
        once: bool,
    },
    /// Write one HTML page with charts, particles and figures of a run, which opens without a network
    #[command(after_help = "Examples:\n  hilbrium report out/evrard\n  \
        hilbrium report out/evrard --output evrard.html\n\n\
        A run rewrites its page itself with `report = { every_wall = \"1min\" }` in [output].")]
    Report {
        /// The run's output directory
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
        /// The page [default: report.html in the folder]
        #[arg(long, value_name = "FILE.html")]
        output: Option<PathBuf>,
    },
    /// Print a commented deck to start from
    #[command(after_help = "Example: hilbrium new evrard > evrard.toml")]
    New {
        /// The case
        #[arg(value_name = "CASE", value_parser = clap::builder::PossibleValuesParser::new(
            crate::deck::cases().map(|case| case.name)))]
        case: String,
    },
    /// Print the JSON Schema of decks, for editors
    Schema,
    /// Check that this machine can run the program: MPI, HDF5, GPUs, memory, shared memory, file locks
    #[command(after_help = "Example: hilbrium doctor --directory /scratch/me\n\n\
        Each line says ok, limited or BAD, and what to do. The status is 1 if runs would fail. On a\n\
        cluster, start it in a job on a compute node.")]
    Doctor {
        /// The folder that outputs would go to
        #[arg(long, value_name = "FOLDER", default_value = ".")]
        directory: PathBuf,
    },
    /// Print a script that completes commands and options in a shell
    #[command(after_help = "Examples:\n  \
        hilbrium completions bash > ~/.local/share/bash-completion/completions/hilbrium\n  \
        hilbrium completions zsh > ~/.zfunc/_hilbrium\n  \
        hilbrium completions fish > ~/.config/fish/completions/hilbrium.fish")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages, hilbrium.1 and one for each command
    #[command(after_help = "Example: hilbrium manual ~/.local/share/man/man1 && man hilbrium-run")]
    Manual {
        /// The folder, which is created if it is missing
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
    },
}

/// A deck and its overrides.
#[derive(Debug, Args)]
struct DeckArguments {
    /// The deck
    #[arg(value_name = "DECK.toml")]
    deck: PathBuf,
    /// Override a key of the deck; repeatable: --set run.end_time=0.5
    #[arg(long = "set", value_name = "SECTION.KEY=VALUE")]
    set: Vec<String>,
}

impl DeckArguments {
    /// Returns the arguments of a rank that runs the deck.
    fn of_rank(&self, restart: Option<&Path>, verbose: bool) -> Vec<OsString> {
        let run = std::iter::once("run".into()).chain(verbose.then(|| "--verbose".into()));
        let sets = self.set.iter().flat_map(|set| ["--set".into(), set.into()]);
        let restart = restart.into_iter().flat_map(|path| ["--restart".into(), path.into()]);
        run.chain(sets).chain(restart).chain(["--".into(), self.deck.clone().into()]).collect()
    }
}

/// Runs the command line and returns the exit status of the process. Under an MPI launcher only rank 0
/// prints, and only `run`, `bench` and `tune` use the other ranks.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    ignore_file_size_signal();
    #[cfg(feature = "faults")]
    if let Err(error) = crate::faults::choose() {
        report::start(true);
        return ExitCode::from(status(Err(error)));
    }
    crate::snapshot::start();
    let root = launched_rank().is_none_or(|rank| rank == 0);
    let command = match CommandLine::try_parse_from(arguments) {
        Ok(line) => line.command,
        Err(usage) => {
            if !root {
                return ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(2));
            }
            let printed = usage.print().and_then(|()| std::io::Write::flush(&mut std::io::stdout()));
            if usage.use_stderr() {
                return ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(2));
            }
            report::record(printed);
            return ExitCode::from(status(with_complete_output(Ok(Ending::Done))));
        }
    };
    if let Command::Run { deck, restart, ranks: Some(ranks @ 2..), verbose } = &command {
        return ExitCode::from(launch::launch(*ranks as usize, deck.of_rank(restart.as_deref(), *verbose)));
    }
    if let Command::Run { deck, restart, verbose, .. } = &command {
        report::set_verbose(*verbose);
        return ExitCode::from(run::run(&deck.deck, &deck.set, restart.as_deref()));
    }
    if let Command::Bench { benchmark, common } = &command {
        return ExitCode::from(bench::bench(benchmark, common));
    }
    if let Command::Tune { deck, json } = &command {
        return ExitCode::from(tune::tune(&deck.deck, &deck.set, *json));
    }
    if !root {
        return ExitCode::SUCCESS;
    }
    report::start(true);
    let outcome = match command {
        Command::Run { .. } | Command::Bench { .. } | Command::Tune { .. } => unreachable!("handled above"),
        Command::Check { deck } => check::check(&deck.deck, &deck.set),
        Command::Validate { snapshot, against, json, pictures } => {
            validate::validate(&snapshot, &against, json.as_deref(), pictures.as_deref())
        }
        Command::Stability { deck, lattice, json } => {
            stability::stability(&deck.deck, &deck.set, &lattice, json)
        }
        Command::Average { record, from, to, columns, per_particle, csv } => {
            let selection = Selection { from, to, columns, per_particle };
            average::average(&record, &selection, csv.as_deref())
        }
        Command::Info { file } => info::info(&file),
        Command::Picture(arguments) => picture::picture(&arguments),
        Command::Watch { folder, once } => watch::watch(&folder, once),
        Command::Report { folder, output } => report_page::report(&folder, output.as_deref()),
        Command::New { case } => new::new(&case),
        Command::Schema => schema::schema(),
        Command::Doctor { directory } => doctor::doctor(&directory),
        Command::Completions { shell } => completions::completions(shell, CommandLine::command()),
        Command::Manual { folder } => manual::manual(&folder, CommandLine::command()),
        Command::Stop { folder, wait } => stop::stop(&folder, Duration::from_secs(wait.into())),
    };
    ExitCode::from(status(with_complete_output(outcome)))
}

/// Parses the name of a lattice of the stability analysis.
fn lattice(name: &str) -> std::result::Result<crate::plan::LatticeKind, String> {
    let known = crate::stability::LATTICES;
    known.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
        format!("one of {} was expected", known.map(crate::plan::LatticeKind::name).join(", "))
    })
}

/// Checks that standard output has taken all of the output of a command.
fn with_complete_output(outcome: Result<Ending>) -> Result<Ending> {
    outcome.and_then(|ending| report::check_output("the output is incomplete").map(|()| ending))
}

/// Ignores SIGXFSZ, so that a write beyond the file size limit (`ulimit -f`) fails with an error instead of
/// killing the process. Must run before MPI and HDF5 start, because they write files too (shared memory,
/// session folders).
fn ignore_file_size_signal() {
    // SAFETY: no other thread runs yet, and SIG_IGN installs no handler.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// Prints the error of an outcome to standard error and returns the exit status.
fn status(outcome: Result<Ending>) -> u8 {
    match outcome {
        Ok(ending) => ending.exit_status(),
        Err(error) => {
            report::error(&error_text(&error));
            error.exit_status()
        }
    }
}

/// Formats an error for the user. A deck's report has its own headings.
fn error_text(error: &Error) -> String {
    match error {
        Error::Deck { .. } => error.to_string(),
        _ => format!("error: {error}"),
    }
}

/// Returns the rank that an MPI launcher gave this process, if any; does not start MPI.
fn launched_rank() -> Option<usize> {
    ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK"]
        .iter()
        .find_map(|name| std::env::var(name).ok()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        CommandLine::command().debug_assert();
    }
}
