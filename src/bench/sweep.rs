//! `bench sweep`: how long the laws take over a list, and how much of what a core can do they do.

use super::case::{Case, on_processors, simulation};
use super::machine;
use super::neighbors::Sides;
use super::operations::per_pair;
use super::pairs::InRange;
use super::{Cell, Column, Common, Findings, Table, median};
use crate::comm::Communicator;
use crate::laws::interaction::ExampleVisitor;
use crate::laws::*;
use crate::neighbors::{ClusterList, Coding, ListRequest, NeighborList, ParticleList, Radii};
use crate::pair::language::Table as PairTable;
use crate::pair::{Forces, Instructions, Kernel, PairLaw, Pass, Precision, Together, find_tiles, sweep_with};
use crate::particles::{Field, Particles};
use crate::{Error, Result};

/// What `bench sweep` measures.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Lists reach as far as a first step asks for: 4 % beyond the supports of a gas, 20 % beyond a cutoff.\n\
    Lane pairs are those whose distance a vector looks at; the useful fraction of them is in range.\n\
    Operations are counted in the text of a law, those of distance and sums included, for a pair in\n\
    range: a sum, product, quotient, root, minimum or maximum is one, a fused multiply-add two, the rest\n\
    none. Share of peak is the operations of pairs in range over what a core was seen to do at most, in\n\
    fused multiply-adds of the same precision with its widest vectors: what is spent on pairs out of\n\
    range lowers it. Cycles per vector are of a thread, for 16 lane pairs in mixed precision and 8 in\n\
    double, at the clock that was seen."
)]
pub struct Options {
    /// Whose laws: those of a gas or those of molecules, with commas between
    #[arg(long, value_enum, value_delimiter = ',', default_value = "evrard,liquid")]
    case: Vec<Case>,
    /// Laws by name, as in the table, with commas between [default: all]
    #[arg(long, value_delimiter = ',')]
    law: Vec<String>,
    /// Number of particles
    #[arg(long, default_value_t = 65_465, value_parser = clap::value_parser!(u64).range(200..1_000_000_000))]
    particles: u64,
    /// Where the sweeps run: on a CUDA device they are of Lennard-Jones and Coulomb forces of atoms on a lattice
    #[arg(long, value_enum, default_value_t = Place::Cpu)]
    device: Place,
    /// Cells of four atoms in each dimension of that lattice
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(4..500))]
    cells: u64,
    /// Set a key over the case's deck: --set sph.neighbors=50
    #[arg(long = "set", value_name = "SECTION.KEY=VALUE")]
    set: Vec<String>,
}

/// Where sweeps run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Place {
    /// On processor cores.
    Cpu,
    /// On a GPU.
    Cuda,
}

/// A kind of list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Clusters(Sides),
    /// What runs of molecules sweep, of pairs within their narrow skin.
    Tiles,
    Rows,
}

/// One way to sweep.
#[derive(Clone, Copy, Debug)]
struct Way {
    kind: Kind,
    precision: Precision,
    instructions: Instructions,
}

const MIXED: Way =
    Way { kind: Kind::Clusters(Sides::Full), precision: Precision::Mixed, instructions: Instructions::Best };
const DOUBLE: Way = Way { precision: Precision::Double, ..MIXED };
const HALF: Way = Way { kind: Kind::Clusters(Sides::Half), ..MIXED };

/// The ways compared for one law of a case; the others show the first.
const WAYS: [Way; 14] = [
    MIXED,
    DOUBLE,
    HALF,
    Way { precision: Precision::Double, ..HALF },
    Way { kind: Kind::Tiles, ..MIXED },
    Way { kind: Kind::Tiles, ..DOUBLE },
    Way { kind: Kind::Tiles, instructions: Instructions::Avx2, ..MIXED },
    Way { kind: Kind::Tiles, instructions: Instructions::Avx2, ..DOUBLE },
    Way { kind: Kind::Tiles, instructions: Instructions::Baseline, ..DOUBLE },
    Way { kind: Kind::Rows, ..MIXED },
    Way { kind: Kind::Rows, ..DOUBLE },
    Way { instructions: Instructions::Avx2, ..MIXED },
    Way { instructions: Instructions::Avx2, ..DOUBLE },
    Way { instructions: Instructions::Baseline, ..DOUBLE },
];

const COLUMNS: &[Column] = &[
    ("case", "case"),
    ("particles", "particles"),
    ("law", "law"),
    ("list", "list"),
    ("precision", "precision"),
    ("instructions", "instructions"),
    ("ns per particle", "nanoseconds_per_particle"),
    ("ns per pair", "nanoseconds_per_pair"),
    ("1e9 lane pairs per s", "billion_lane_pairs_per_second"),
    ("useful fraction", "useful_fraction"),
    ("cycles per vector", "cycles_per_vector"),
    ("operations per pair", "operations_per_pair"),
    ("% of peak", "percent_of_peak"),
];

/// Sweeps over the particles of the cases at their start.
pub(super) fn measure(options: &Options, common: &Common, comm: &Communicator) -> Result<Findings> {
    if options.device == Place::Cuda {
        return super::device::measure(options.cells, common);
    }
    let mut table = Table::new(COLUMNS);
    let machine =
        Machine { clock: machine::clock(), peaks: [Precision::Mixed, Precision::Double].map(machine::peak) };
    let mut findings = Findings::default();
    for &case in &options.case {
        let plan = on_processors(case.plan(options.particles, &options.set)?)?;
        if plan.sph.is_none() && plan.interaction.is_none() {
            return Err(Error::usage(
                format!("no law acts between near particles of {}", case.name()),
                "choose a case of gas or molecules with --case",
            ));
        }
        let mut simulation = simulation(plan, comm)?;
        if let Some(hydrodynamics) = &mut simulation.hydrodynamics {
            // each law shall find its inputs
            hydrodynamics.keep_fields = true;
        }
        simulation.evaluate_forces(0.0)?;
        let listed = simulation.neighborhood.radius().to_vec();
        let bx = simulation.domain.bx;
        let request =
            |symmetric| ListRequest::of(&bx, &simulation.particles, &listed, symmetric, Coding::Nibble);
        let full = ClusterList::build(&request(false))?;
        let radius: Vec<f64> = match &simulation.plan.interaction {
            Some(interaction) => vec![interaction.cutoff; listed.len()],
            None => simulation.particles.scalar(Field::SmoothingLength).iter().map(|h| 2.0 * h).collect(),
        };
        let pairs = InRange::count(&bx, &simulation.particles, &radius, &full);
        let half = ClusterList::build(&request(true))?;
        // a gas has cutoffs of its particles' own, which tiles do not serve
        let tiles = match &simulation.plan.interaction {
            Some(_) => {
                let inner = 1.0 + simulation.neighborhood.skins().inner.unwrap_or(0.0);
                let near: Vec<f64> = radius.iter().map(|radius| radius * inner).collect();
                let request = ListRequest { radius: &near, ..request(true) };
                Some(NeighborList::Tiled(find_tiles(&half, &request, None)?))
            }
            None => None,
        };
        let rows = NeighborList::PerParticle(ParticleList::build(&request(false))?);
        let lists =
            Lists { full: NeighborList::Clustered(full), half: NeighborList::Clustered(half), tiles, rows };
        let pass = Pass { bx: &bx, radius: Radii::Each(&radius), precision: Precision::Mixed, active: None };
        let particles = &mut simulation.particles;
        let mut bench = Bench {
            case,
            table: &mut table,
            wanted: &options.law,
            repeats: common.repeats(5),
            particles,
            lists,
            pass,
            pairs,
            machine,
        };
        if let Some(sph) = &simulation.plan.sph {
            bench.gas(sph.kernel.name());
        }
        if let Some(interaction) = &simulation.plan.interaction {
            bench.molecules(interaction.cutoff);
        }
    }
    findings.tables.push(table);
    findings.remarks.extend([
        ("repeats", Cell::count(common.repeats(5))),
        ("clock_in_gigahertz", Cell::Number(machine.clock * 1e-9, 2)),
        ("peak_of_a_core_mixed_in_billions_per_second", Cell::Number(machine.peaks[0] * 1e-9, 1)),
        ("peak_of_a_core_double_in_billions_per_second", Cell::Number(machine.peaks[1] * 1e-9, 1)),
    ]);
    Ok(findings)
}

/// What a core does at best: cycles and, in mixed and in double precision, operations a second.
#[derive(Clone, Copy)]
struct Machine {
    clock: f64,
    peaks: [f64; 2],
}

struct Lists {
    full: NeighborList,
    half: NeighborList,
    tiles: Option<NeighborList>,
    rows: NeighborList,
}

struct Bench<'a> {
    case: Case,
    table: &'a mut Table,
    wanted: &'a [String],
    repeats: usize,
    particles: &'a mut Particles,
    lists: Lists,
    pass: Pass<'a>,
    pairs: InRange,
    machine: Machine,
}

/// Sweeps the law of each registered interaction once.
struct Registered<'b, 'a> {
    bench: &'b mut Bench<'a>,
    /// Names of the laws that have been swept.
    swept: Vec<&'static str>,
}

impl ExampleVisitor for Registered<'_, '_> {
    fn visit<L: PairLaw>(&mut self, law: &L, _: &[[f64; 2]]) {
        if !self.swept.contains(&L::NAME) {
            self.swept.push(L::NAME);
            self.bench.law(&Forces(*law), &WAYS[..6]);
        }
    }
}

impl Bench<'_> {
    /// The laws of the gas.
    fn gas(&mut self, kernel: &str) {
        let kernel = Kernel::named(kernel)
            .unwrap_or_else(|| unreachable!("the plan has a kernel that the passes lack"));
        let (beta, conductivity) = (2.0, 0.0);
        self.law(&number_density::Law { kernel }, &WAYS[..2]);
        self.law(&density::Law { kernel }, &WAYS[..2]);
        self.law(&volume_elements::Law { kernel }, &WAYS[..2]);
        self.law(&gradients::Law { kernel }, &WAYS[..2]);
        self.law(&divergence_gradient::Law { kernel }, &WAYS[..2]);
        self.law(&momentum_energy_standard::Law { kernel, beta, conductivity }, &WAYS[..2]);
        let (crossing_start, crossing_slope) = (0.1, 10.0);
        let momentum =
            momentum_energy_volume::Law { kernel, beta, conductivity, crossing_start, crossing_slope };
        self.law(&momentum, &WAYS);
    }

    /// The laws of molecules, of unit strength and length; charges of either sign by turns, two species.
    fn molecules(&mut self, cutoff: f64) {
        self.particles.add(&[Field::Charge, Field::Species, Field::HalfSigma, Field::RootEpsilon]);
        self.particles.fill(Field::HalfSigma, 0.5);
        self.particles.fill(Field::RootEpsilon, 1.0);
        for row in 0..self.particles.len() {
            self.particles.scalar_mut(Field::Charge)[row] = if row % 2 == 0 { 1.0 } else { -1.0 };
            self.particles.scalar_mut(Field::Species)[row] = (row % 2) as f64;
        }
        let start = 0.8 * cutoff;
        let one = |value: f64| {
            PairTable::new(2, |_, _| value).unwrap_or_else(|| unreachable!("a table of two species"))
        };
        let charges = coulomb::Law::reaction_field(1.0, 80.0, cutoff);
        let mixed = lennard_jones_mixed::Law::truncated();
        let mixed_switched = lennard_jones_mixed_switched::Law::new(start, cutoff);
        let table = lennard_jones_table::Law::truncated(one(4.0), one(1.0), cutoff);
        let (clusters, both) = (&WAYS[..6], [cutoff, cutoff]);
        self.law(&Forces(lennard_jones::Law::truncated(1.0, 1.0)), &WAYS);
        self.law(&Forces(lennard_jones_switched::Law::new(1.0, 1.0, start, cutoff)), clusters);
        self.law(&Forces(mixed), clusters);
        self.law(&Forces(mixed_switched), clusters);
        self.law(&Forces(table), clusters);
        self.law(&Forces(charges), clusters);
        let alike = lennard_jones::Law::truncated(1.0, 1.0);
        self.law(&Forces(lennard_jones_coulomb::Law::new(alike, charges)), clusters);
        self.named("lennard jones mixed, coulomb", &Forces(Together::new(mixed, charges, both)), clusters);
        let together = Together::new(mixed_switched, charges, both);
        self.named("lennard jones mixed switched, coulomb", &Forces(together), clusters);
        self.named("lennard jones table, coulomb", &Forces(Together::new(table, charges, both)), clusters);
        visit_examples(&mut Registered {
            bench: self,
            swept: vec!["lennard_jones", "lennard_jones_switched"],
        });
    }

    fn law<L: PairLaw>(&mut self, law: &L, ways: &[Way]) {
        self.named(&L::NAME.replace('_', " "), law, ways);
    }

    fn named<L: PairLaw>(&mut self, name: &str, law: &L, ways: &[Way]) {
        if !self.wanted.is_empty() && !self.wanted.iter().any(|wanted| wanted == name) {
            return;
        }
        for way in ways {
            let pass = Pass { precision: way.precision, ..self.pass };
            let list = match way.kind {
                Kind::Clusters(Sides::Full) => &self.lists.full,
                Kind::Clusters(Sides::Half) => &self.lists.half,
                Kind::Tiles => match &self.lists.tiles {
                    Some(tiles) => tiles,
                    None => continue,
                },
                Kind::Rows => &self.lists.rows,
            };
            self.particles.add(L::OUTPUTS);
            let (seconds, statistics) =
                median(self.repeats, || sweep_with(law, &pass, list, self.particles, way.instructions));
            let half = matches!(way.kind, Kind::Clusters(Sides::Half) | Kind::Tiles);
            let sides = if half { Sides::Half } else { Sides::Full };
            let useful = self.pairs.useful(L::CUTOFF, sides) as f64;
            let single = way.precision == Precision::Mixed && way.instructions.have_single();
            let operations = per_pair(law, single, half);
            let lane_pairs = statistics.lane_pairs.max(1) as f64;
            let core_seconds = seconds * rayon::current_num_threads() as f64;
            let vectors = lane_pairs / if single { 16.0 } else { 8.0 };
            let peak = self.machine.peaks[usize::from(!single)];
            self.table.push(vec![
                Cell::text(self.case.name()),
                Cell::count(self.particles.owned().len()),
                Cell::text(name),
                Cell::text(match way.kind {
                    Kind::Clusters(sides) => sides.name(),
                    Kind::Tiles => "tiles",
                    Kind::Rows => "rows",
                }),
                Cell::text(format!("{:?}", way.precision).to_lowercase()),
                Cell::text(format!("{:?}", way.instructions).to_lowercase()),
                Cell::Number(seconds * 1e9 / self.particles.owned().len() as f64, 1),
                Cell::Number(seconds * 1e9 / useful, 2),
                Cell::Number(lane_pairs / seconds * 1e-9, 3),
                Cell::Number(useful / lane_pairs, 3),
                Cell::Number(core_seconds * self.machine.clock / vectors, 1),
                Cell::count(operations),
                Cell::Number(100.0 * useful * operations as f64 / (core_seconds * peak), 1),
            ]);
        }
    }
}
