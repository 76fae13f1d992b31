//! `bench search`: neighbor search on a device by grids of cells and by lists, in the scenes of a paper on
//! the two-level search.

mod lists;
mod quoted;

use super::{Cell, Column, Common, Findings, Table, median_value};
use crate::device::columns::Columns;
use crate::device::search::{Method, Space};
use crate::device::sweep::{Pass, SweepMemory};
use crate::device::{self, Device, cuda};
use crate::laws::lennard_jones;
use crate::pair::{Forces, Precision};
use crate::particles::{Field, Particles};
use crate::space::{Boundary, SimulationBox, Vec3d};
use crate::{Error, Result};
use quoted::Scene;
use rand::{RngExt as _, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::ops::Range;

/// Options of `bench search`.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Scenes, radii and numbers of particles are those of Gross, Koester and Krueger, CGVC 2019, tables 1\n\
    to 3: uniformly distributed particles in no order, in an open cube of edge 180 (scenes 1 and 2) or\n\
    360 (scene 3). The two-level search chooses its coarse cells, and has a second row with the paper's\n\
    18 per dimension. The counting grid (Hoetzlein) and the sorted grid (Green) have cells of twice the\n\
    radius, as in the paper, and in scene 2 18 per dimension. Lists are of clusters, each pair once, and\n\
    of particles, both without skin. The law is Lennard-Jones forces within the radius, in mixed\n\
    precision; the paper does not state its own. Times are of the device. Sort: rows into the order of\n\
    cells, packed; of lists, along the Hilbert curve. List: hierarchy and list. Search: sums over pairs\n\
    and the law's function at the end; of lists with packing. Bytes per particle are allocated beside\n\
    particles, packed rows and sums; of lists, those of the list alone. Quoted are the paper's times of\n\
    its own method, Hoetzlein's and Green's on a GeForce GTX 1080 Ti."
)]
pub struct Options {
    /// Scenes by number, comma-separated
    #[arg(long, value_delimiter = ',', default_value = "1,2,3",
          value_parser = clap::value_parser!(u64).range(1..=3))]
    scene: Vec<u64>,
    /// Search radii, comma-separated [default: those of the scene, from 0.2 or 0.3 to 1.0]
    #[arg(long, value_delimiter = ',', value_parser = radius)]
    radius: Vec<f64>,
    /// Numbers of particles, comma-separated
    #[arg(long, value_delimiter = ',', default_values_t = quoted::PARTICLES,
          value_parser = clap::value_parser!(u64).range(1..1_000_000_000))]
    particles: Vec<u64>,
}

fn radius(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(radius) if (0.05..=20.0).contains(&radius) => Ok(radius),
        _ => Err("a search radius is between 0.05 and 20".into()),
    }
}

const COLUMNS: &[Column] = &[
    ("scene", "scene"),
    ("radius", "radius"),
    ("particles", "particles"),
    ("strategy", "strategy"),
    ("cells", "cells"),
    ("sort ms", "sort_milliseconds"),
    ("list ms", "list_milliseconds"),
    ("search ms", "search_milliseconds"),
    ("total ms", "total_milliseconds"),
    ("quoted ms", "quoted_milliseconds"),
    ("quoted over total", "quoted_over_total"),
    ("bytes per particle", "bytes_per_particle"),
];

/// Repeats of a time; fewer, but at least three, if they take longer than this (s).
const REPEATS: u64 = 11;
const FEWEST_REPEATS: usize = 3;
const SECONDS: f64 = 0.2;

/// Coarse cells per dimension of the paper's method.
const PAPER_CELLS: f64 = 18.0;

/// Runs the benchmark.
pub(super) fn measure(options: &Options, common: &Common) -> Result<Findings> {
    let device = open()?;
    let mut bench = Bench { device: &device, repeats: common.repeats(REPEATS), table: Table::new(COLUMNS) };
    for scene in options.scene.iter().map(|&number| Scene::numbered(number)) {
        for &particles in &options.particles {
            let mut sample = Sample::new(&device, scene.edge, particles as usize)?;
            let radii =
                if options.radius.is_empty() { scene.radii().to_vec() } else { options.radius.clone() };
            for radius in radii {
                bench.case(scene, &mut sample, radius)?;
            }
        }
    }
    let mut findings = Findings::default();
    findings.tables.push(bench.table);
    findings.remarks.extend([
        ("device", Cell::text(device.name())),
        ("law", Cell::text("lennard_jones forces, mixed precision")),
        ("quoted", Cell::text("Gross, Koester and Krueger, CGVC 2019, GeForce GTX 1080 Ti")),
        ("repeats", Cell::count(bench.repeats)),
    ]);
    Ok(findings)
}

/// Opens the emulation if it is asked for, else the first GPU.
fn open() -> Result<Device> {
    match device::is_emulated() {
        true => Device::emulated(),
        false if cuda::count() == 0 => Err(Error::usage(
            "bench search measures a GPU, and there is none",
            "run it on a machine with an NVIDIA GPU, CUDA's driver and its run-time compiler",
        )),
        false => Device::cuda(0),
    }
}

/// Particles of a scene.
struct Sample {
    bx: SimulationBox,
    /// In no order.
    columns: Columns,
    /// Copies, sorted for lists.
    sorted: Columns,
}

impl Sample {
    fn new(device: &Device, edge: f64, count: usize) -> Result<Self> {
        let (lower, upper) = (Vec3d::zeros(), Vec3d::repeat(edge));
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut particles = Particles::new(&[Field::Position, Field::Force], count);
        for row in 0..count {
            particles.set_vector(Field::Position, row, Vec3d::from_fn(|_, _| edge * random.random::<f64>()));
        }
        Ok(Self {
            bx: SimulationBox { lower, upper, boundary: [Boundary::Open; 3] },
            columns: Columns::upload(device, &particles, particles.fields())?,
            sorted: Columns::upload(device, &particles, particles.fields())?,
        })
    }

    /// Makes the sorted columns copies of the others.
    fn disorder(&mut self) -> Result<()> {
        self.sorted.id.copy_from(0, &self.columns.id)?;
        let from = self.columns.vector(Field::Position);
        self.sorted.vector_mut(Field::Position).zip(from).try_for_each(|(to, from)| to.copy_from(0, from))
    }
}

/// What searches.
struct Strategy {
    name: &'static str,
    cells: Option<String>,
    method: Option<Method>,
    bytes: usize,
}

/// Times of a strategy (s).
struct Times {
    sort: f64,
    list: Option<f64>,
    search: f64,
}

struct Bench<'a> {
    device: &'a Device,
    repeats: usize,
    table: Table,
}

/// A row of the table: scene, radius and the law of that radius.
#[derive(Clone, Copy)]
struct Case {
    scene: Scene,
    radius: f64,
    particles: usize,
}

impl Case {
    /// The law: its diameter is a tenth of the radius, so that forces of most pairs are finite.
    fn law(&self) -> Forces<lennard_jones::Law<f64>> {
        Forces(lennard_jones::Law::truncated(1.0, 0.1 * self.radius))
    }

    /// The pass over all particles of these columns.
    fn pass<'a>(&self, columns: &'a Columns, owned: &'a Range<usize>, bx: &'a SimulationBox) -> Pass<'a> {
        Pass {
            rows: self.particles,
            owned,
            position: columns.vector(Field::Position),
            id: None,
            radius: None,
            cutoff: self.radius,
            bx,
            active: None,
        }
    }

    /// Width of the cells of a method, unless it chooses.
    fn width(&self, method: Method) -> Option<f64> {
        match method {
            Method::TwoLevel => None,
            _ if self.scene.coarse => Some(self.scene.edge / PAPER_CELLS),
            _ => Some(2.0 * self.radius),
        }
    }
}

impl Bench<'_> {
    /// Measures all strategies.
    fn case(&mut self, scene: Scene, sample: &mut Sample, radius: f64) -> Result<()> {
        let case = Case { scene, radius, particles: sample.columns.rows() };
        for method in Method::ALL {
            self.grid(&case, sample, method, method.name(), case.width(method))?;
        }
        let paper = Some(scene.edge / PAPER_CELLS);
        self.grid(&case, sample, Method::TwoLevel, "two levels, 18 cells", paper)?;
        lists::measure(self, &case, sample)
    }

    /// The median device time (s) of a task, after a first run and `before` each one.
    fn seconds<T>(
        &self,
        state: &mut T,
        mut before: impl FnMut(&mut T) -> Result<()>,
        mut task: impl FnMut(&mut T) -> Result<()>,
    ) -> Result<f64> {
        // the first run compiles kernels and allocates memory
        before(state)?;
        task(state)?;
        let (mut times, mut spent) = (Vec::new(), 0.0);
        while times.len() < self.repeats.min(FEWEST_REPEATS)
            || (times.len() < self.repeats && spent < SECONDS)
        {
            before(state)?;
            let seconds = self.device.time(|| task(state))?;
            spent += seconds;
            times.push(seconds);
        }
        Ok(median_value(times))
    }

    /// Measures a method of grids.
    fn grid(
        &mut self,
        case: &Case,
        sample: &Sample,
        method: Method,
        name: &'static str,
        width: Option<f64>,
    ) -> Result<()> {
        let columns = &sample.columns;
        let owned = columns.owned();
        let pass = case.pass(columns, &owned, &sample.bx);
        // the scene is known, as in the paper
        let space = Space { lower: sample.bx.lower, upper: sample.bx.upper, reach: case.radius };
        let search = method.of(self.device, case.law(), Precision::Mixed, width)?;
        let mut state = (search, SweepMemory::new(self.device)?);
        let built =
            self.seconds(&mut state, |_| Ok(()), |(search, memory)| search.build(memory, &pass, &space, &[]));
        let sort = match built {
            Ok(sort) => sort,
            // an error of a kernel would recur here
            Err(Error::Device { .. }) => {
                self.device.synchronize()?;
                self.push(case, &Strategy { name, cells: None, method: Some(method), bytes: 0 }, None);
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let search = self.seconds(
            &mut state,
            |_| Ok(()),
            |(search, memory)| {
                search.search(memory, &pass)?;
                search.finish(memory, &pass, &columns.vector(Field::Force))
            },
        )?;
        let cells = state.0.cells().map(|cells| cells.to_string()).join(" x ");
        let strategy = Strategy { name, cells: Some(cells), method: Some(method), bytes: state.0.bytes() };
        self.push(case, &strategy, Some(Times { sort, list: None, search }));
        Ok(())
    }

    /// Adds a row; without times where memory does not suffice.
    fn push(&mut self, case: &Case, strategy: &Strategy, times: Option<Times>) {
        let milliseconds =
            |seconds: Option<f64>| seconds.map_or(Cell::Nothing, |time| Cell::Number(1e3 * time, 4));
        let total = times.as_ref().map(|times| times.sort + times.list.unwrap_or(0.0) + times.search);
        let quoted = |method| case.scene.quoted(case.radius, case.particles as u64, method);
        let quoted = strategy.method.and_then(quoted);
        let ratio = quoted.zip(total).map(|(quoted, total)| 1e-3 * quoted / total);
        self.table.push(vec![
            Cell::count(case.scene.number),
            Cell::Number(case.radius, 2),
            Cell::count(case.particles),
            Cell::text(strategy.name),
            strategy.cells.clone().map_or(Cell::Nothing, Cell::text),
            milliseconds(times.as_ref().map(|times| times.sort)),
            milliseconds(times.as_ref().and_then(|times| times.list)),
            milliseconds(times.as_ref().map(|times| times.search)),
            milliseconds(total),
            quoted.map_or(Cell::Nothing, |time| Cell::Number(time, 2)),
            ratio.map_or(Cell::Nothing, |ratio| Cell::Number(ratio, 1)),
            total.map_or(Cell::Nothing, |_| Cell::Number(strategy.bytes as f64 / case.particles as f64, 3)),
        ]);
    }
}
