//! `bench cells`: a law over the cells of a grid by each strategy (docs/src/cells.md), beside cluster lists
//! and particle lists, and prefix sums in shared memory.

mod lists;
mod quoted;
mod scene;

use super::operations::per_pair;
use super::{Cell, Column, Common, Findings, Table, median_value};
use crate::device::cells::prefix::{PrefixSums, Way};
use crate::device::cells::{CellSweep, Cells, Strategy};
use crate::device::sweep::{Part, Pass, SweepMemory};
use crate::device::{self, Buffer, Device, cuda};
use crate::laws::{prolonged_lennard_jones, separation_sum, softened_lennard_jones};
use crate::pair::{PairLaw, Precision};
use crate::particles::Field;
use crate::{Error, Result};
use scene::{CUTOFF, Scene};

/// Options of `bench cells`.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Particles are uniformly distributed in an open cube of cells as wide as the cutoff, in the order of\n\
    the Hilbert curve, in single precision. The first table evaluates all pairs of the 27 cells without\n\
    a test of distance, as Algis et al. 2024 (hal-04621128) do; their times are beside. The second one\n\
    has the cutoff: times are per pair in range (expected number), and lists of clusters and particles\n\
    are beside, built with the cutoff as their reach. The third one has laws of few and of many\n\
    operations. Build is the sort into cells with what blocks need, or the build of a list; all is pack,\n\
    build, sweep and finish. Times are means of many calls. The last table has prefix sums in shared\n\
    memory. It needs a GPU."
)]
pub struct Options {
    /// Cells of an edge of the cube, comma-separated
    #[arg(long, value_delimiter = ',', default_value = "2,4,8,16,32",
          value_parser = clap::value_parser!(u64).range(2..=256))]
    edges: Vec<u64>,
    /// Particles of a cell on the mean, comma-separated
    #[arg(long, value_delimiter = ',', default_value = "1,10,100",
          value_parser = clap::value_parser!(u64).range(1..=10_000))]
    per_cell: Vec<u64>,
}

const COLUMNS: &[Column] = &[
    ("cells of an edge", "edge"),
    ("particles of a cell", "per_cell"),
    ("pairs per particle", "pairs_per_particle"),
    ("strategy", "strategy"),
    ("build us", "build_microseconds"),
    ("sweep us", "sweep_microseconds"),
    ("all us", "all_microseconds"),
    ("ps per pair, sweep", "picoseconds_per_pair_of_sweep"),
    ("all", "picoseconds_per_pair"),
    ("speed-up of sweep", "speedup_of_sweep"),
    ("paper us, T600", "quoted_microseconds_t600"),
    ("A100", "quoted_microseconds_a100"),
    ("MI210", "quoted_microseconds_mi210"),
];

const LAW_COLUMNS: &[Column] = &[
    ("law", "law"),
    ("operations", "operations_per_pair"),
    ("cells of an edge", "edge"),
    ("particles of a cell", "per_cell"),
    ("strategy", "strategy"),
    ("sweep us", "sweep_microseconds"),
    ("ps per pair", "picoseconds_per_pair"),
    ("speed-up", "speedup"),
];

const PREFIX_COLUMNS: &[Column] = &[
    ("numbers", "numbers"),
    ("way", "way"),
    ("threads", "threads"),
    ("ns, one block a multiprocessor", "nanoseconds"),
    ("ns, four blocks", "nanoseconds_of_four_blocks"),
];

/// Runs the benchmark.
pub(super) fn measure(options: &Options, common: &Common) -> Result<Findings> {
    let device = open()?;
    let bench = Bench::new(&device, common.repeats(3));
    let mut tables = [
        Table::new(COLUMNS),
        Table::named("within_cutoff", COLUMNS),
        Table::named("laws", LAW_COLUMNS),
        Table::named("prefix_sums", PREFIX_COLUMNS),
    ];
    let law = softened_lennard_jones::Law::new(1.0, 0.5, 0.1);
    let of_laws = options.edges.iter().copied().filter(|&edge| edge <= LARGEST_OF_LAWS).max();
    for (&per_cell, &edge) in
        options.per_cell.iter().flat_map(|per_cell| options.edges.iter().map(move |edge| (per_cell, edge)))
    {
        let scene = Scene::new(&device, edge, per_cell)?;
        bench.all_pairs(&scene, law, &mut tables[0])?;
        bench.within_cutoff(&scene, law, &mut tables[1])?;
        if Some(edge) == of_laws {
            let laws = &mut tables[2];
            bench.law("few operations", &scene, separation_sum::Law::new(1.0), laws)?;
            bench.law("softened Lennard-Jones", &scene, law, laws)?;
            bench.law("many operations", &scene, prolonged_lennard_jones::Law::new(1.0, 0.5, 0.1), laws)?;
        }
    }
    for count in [8, 32, 128, 512, 1024, 4096] {
        bench.prefix(count, &mut tables[3])?;
    }
    let mut findings = Findings { tables: tables.into(), ..Findings::default() };
    findings.remarks.extend([
        (
            "quoted",
            Cell::text(
                "table 1 of Algis, Bramas, Darles and Aveneau 2024 (hal-04621128), the interaction call alone: \
                 T600, A100 40 GB, MI210",
            ),
        ),
        ("device", Cell::text(device.name())),
        ("multiprocessors", Cell::count(device.multiprocessors())),
        ("shared_memory_of_a_block_in_bytes", Cell::count(device.shared_memory())),
        ("repeats", Cell::count(bench.repeats)),
    ]);
    Ok(findings)
}

/// The largest edge of the table of laws, whose largest one is taken.
const LARGEST_OF_LAWS: u64 = 16;

/// Opens the emulation if it is asked for, else the first GPU.
fn open() -> Result<Device> {
    match device::is_emulated() {
        true => Device::emulated(),
        false if cuda::count() == 0 => Err(Error::usage(
            "bench cells measures a GPU, and there is none here",
            "run it where a GPU and its driver are",
        )),
        false => Device::cuda(0),
    }
}

/// Shared memory that every card has (bytes).
const USUAL_SHARED: usize = 48 * 1024;

/// What is measured: strategies, the sub-box also within the memory that the paper has.
fn variants() -> impl Iterator<Item = (String, Strategy, Option<usize>)> {
    Strategy::ALL.into_iter().flat_map(|strategy| {
        let name = format!("{} ({})", strategy.name(), strategy.name_in_paper());
        let usual =
            (strategy == Strategy::SubBox).then(|| (format!("{name}, 48 KB"), strategy, Some(USUAL_SHARED)));
        usual.into_iter().chain([(name, strategy, None)])
    })
}

/// Seconds of the stages.
#[derive(Clone, Copy)]
struct Times {
    build: f64,
    sweep: f64,
    all: f64,
}

struct Bench<'a> {
    device: &'a Device,
    repeats: usize,
    /// Seconds that a measurement takes at least, and its largest number of calls.
    least: f64,
    most_calls: usize,
}

impl<'a> Bench<'a> {
    fn new(device: &'a Device, repeats: usize) -> Self {
        // 200 calls, as in the paper, of those that are fast
        let most_calls = if device::is_emulated() { 1 } else { 200 };
        Bench { device, repeats, least: 0.01, most_calls }
    }

    /// The seconds of a call: the median of means of many asynchronous ones, after two warm-up calls.
    fn seconds(&self, mut task: impl FnMut() -> Result<()>) -> Result<f64> {
        task()?;
        let once = self.device.time(&mut task)?;
        let calls = ((self.least / once.max(1e-9)) as usize).clamp(1, self.most_calls);
        let mean = || {
            let all = self.device.time(|| (0..calls).try_for_each(|_| task()))?;
            Ok(all / calls as f64)
        };
        let all: Result<Vec<f64>> = std::iter::repeat_with(mean).take(self.repeats).collect();
        Ok(median_value(all?))
    }

    fn pass<'b>(scene: &'b Scene, owned: &'b std::ops::Range<usize>) -> Pass<'b> {
        Pass {
            rows: scene.particles(),
            owned,
            position: scene.columns.vector(Field::Position),
            id: None,
            radius: None,
            cutoff: CUTOFF,
            bx: &scene.bx,
            active: None,
        }
    }

    /// The times of a strategy.
    fn times<L: PairLaw>(&self, sweep: &CellSweep<L>, scene: &Scene) -> Result<Times> {
        let owned = 0..scene.particles();
        let pass = Self::pass(scene, &owned);
        let outputs = [scene.columns.scalar(Field::PairEnergy)];
        let (mut memory, mut cells) = (SweepMemory::new(self.device)?, Cells::new(self.device)?);
        sweep.stages().pack(&mut memory, &pass, &[], Part::All)?;
        let launch = sweep.build(&mut memory, &mut cells, &pass, CUTOFF)?;
        let swept = self.seconds(|| sweep.sweep(&mut memory, &cells, &pass, &launch))?;
        let build = self.seconds(|| sweep.build(&mut memory, &mut cells, &pass, CUTOFF).map(drop))?;
        let all = self.seconds(|| sweep.run(&mut memory, &mut cells, &pass, CUTOFF, &[], &outputs))?;
        Ok(Times { build, sweep: swept, all })
    }

    fn strategy<L: PairLaw>(
        &self,
        law: L,
        (strategy, shared): (Strategy, Option<usize>),
        all_pairs: bool,
    ) -> Result<CellSweep<L>> {
        let mut sweep = CellSweep::new(self.device, law, Precision::Mixed, strategy)?;
        if let Some(bytes) = shared {
            sweep = sweep.with_shared_memory(bytes);
        }
        Ok(if all_pairs { sweep.with_all_pairs() } else { sweep })
    }

    /// Rows of all strategies over all pairs of neighboring cells.
    fn all_pairs<L: PairLaw>(&self, scene: &Scene, law: L, table: &mut Table) -> Result<()> {
        let mut first = None;
        for (name, strategy, shared) in variants() {
            let times = self.times(&self.strategy(law, (strategy, shared), true)?, scene)?;
            let first = *first.get_or_insert(times.sweep);
            let quoted = quoted::seconds(scene.edge, scene.per_cell, strategy);
            table.push(row(scene, scene.neighbor_pairs as f64, &name, times, first, quoted));
        }
        Ok(())
    }

    /// Rows of all strategies and of lists over the pairs within the cutoff.
    fn within_cutoff<L: PairLaw>(&self, scene: &Scene, law: L, table: &mut Table) -> Result<()> {
        let mut first = None;
        for (name, strategy, shared) in variants() {
            let times = self.times(&self.strategy(law, (strategy, shared), false)?, scene)?;
            let first = *first.get_or_insert(times.sweep);
            table.push(row(scene, scene.pairs_in_range, &name, times, first, None));
        }
        let first = first.unwrap_or(f64::NAN);
        for (name, symmetric) in
            [("cluster list, pairs once", true), ("cluster list, from both sides", false)]
        {
            let times = self.clusters(scene, &law, symmetric)?;
            table.push(row(scene, scene.pairs_in_range, name, times, first, None));
        }
        if let Some(times) = self.particle_list(scene, law)? {
            table.push(row(scene, scene.pairs_in_range, "particle list", times, first, None));
        }
        Ok(())
    }

    /// Rows of a law by all strategies, over all pairs of neighboring cells.
    fn law<L: PairLaw>(&self, name: &str, scene: &Scene, law: L, table: &mut Table) -> Result<()> {
        let mut first = None;
        for (strategy_name, strategy, shared) in variants() {
            let seconds = self.times(&self.strategy(law, (strategy, shared), true)?, scene)?.sweep;
            let first = *first.get_or_insert(seconds);
            table.push(vec![
                Cell::text(name),
                Cell::count(per_pair(&law, true, false)),
                Cell::count(scene.edge),
                Cell::count(scene.per_cell),
                Cell::text(strategy_name),
                Cell::Number(1e6 * seconds, 2),
                Cell::Number(1e12 * seconds / scene.neighbor_pairs as f64, 3),
                Cell::Number(first / seconds, 2),
            ]);
        }
        Ok(())
    }

    /// Rows of prefix sums of `count` numbers, with a thread for two numbers and for each.
    fn prefix(&self, count: usize, table: &mut Table) -> Result<()> {
        let repeats = if device::is_emulated() { 2 } else { 1000 };
        let blocks = if device::is_emulated() { 1 } else { self.device.multiprocessors() as usize };
        let mut threads =
            [count / 2, count].map(|threads| threads.next_multiple_of(32).clamp(32, 1024)).to_vec();
        threads.dedup();
        for (way, name) in [(Way::InPlace, "tree in place"), (Way::Warps, "by warps")] {
            for &threads in &threads {
                let prefix = PrefixSums { count, threads: threads as u32, repeats };
                let nanoseconds = |blocks: usize| -> Result<f64> {
                    let numbers = Buffer::<u32>::zeros(self.device, blocks * count)?;
                    let mut sums = Buffer::new(self.device, 0)?;
                    let seconds = self.seconds(|| prefix.run(way, &numbers, &mut sums))?;
                    Ok(1e9 * seconds / f64::from(repeats))
                };
                table.push(vec![
                    Cell::count(count),
                    Cell::text(name),
                    Cell::count(threads),
                    Cell::Number(nanoseconds(blocks)?, 1),
                    Cell::Number(nanoseconds(4 * blocks)?, 1),
                ]);
            }
        }
        Ok(())
    }
}

/// A row of the first two tables; `first` is the sweep of the first strategy (s).
fn row(
    scene: &Scene,
    pairs: f64,
    name: &str,
    times: Times,
    first: f64,
    quoted: Option<[f64; 3]>,
) -> Vec<Cell> {
    let microseconds = |seconds: f64| Cell::Number(1e6 * seconds, 2);
    let per_pair = |seconds: f64| Cell::Number(1e12 * seconds / pairs, 3);
    let quoted = |card: usize| quoted.map_or(Cell::Nothing, |seconds| Cell::Number(1e6 * seconds[card], 1));
    vec![
        Cell::count(scene.edge),
        Cell::count(scene.per_cell),
        Cell::Number(pairs / scene.particles() as f64, 1),
        Cell::text(name),
        microseconds(times.build),
        microseconds(times.sweep),
        microseconds(times.all),
        per_pair(times.sweep),
        per_pair(times.all),
        Cell::Number(first / times.sweep, 2),
        quoted(0),
        quoted(1),
        quoted(2),
    ]
}
