//! `bench sweep`: time of the laws over a list, and the fraction of peak performance that they reach.

use super::case::{Case, on_processors, simulation};
use super::machine;
use super::neighbors::Sides;
use super::operations::per_pair;
use super::pairs::InRange;
use super::{Cell, Column, Common, Findings, Table, median};
use crate::comm::Communicator;
use crate::laws::interaction::ExampleVisitor;
use crate::laws::*;
use crate::neighbors::{CellList, ClusterList, Coding, ListRequest, NeighborList, ParticleList, Radii};
use crate::pair::language::{RadialEnergy, Table as PairTable};
use crate::pair::radial::RadialFunction;
use crate::pair::{Forces, Instructions, Kernel, PairLaw, Pass, Precision, Sweep, Together, find_tiles};
use crate::particles::{Field, Particles};
use crate::{Error, Result};

/// Options of `bench sweep`.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Lists reach as far as a first step requires: 4 % beyond the supports of a gas, 20 % beyond a cutoff.\n\
    Lane pairs are the pairs whose distance is computed in a vector lane; the useful fraction of them is\n\
    in range. Operations are counted in the source of a law, including distance and sums, per pair in\n\
    range: a sum, product, quotient, root, minimum or maximum is one, a fused multiply-add two, the rest\n\
    zero. Share of peak is the operations of pairs in range over the measured peak of a core, fused\n\
    multiply-adds of the same precision with its widest vectors: work on pairs out of range lowers it.\n\
    Cycles per vector are of a thread, for 16 lane pairs in mixed precision and 8 in double, at the\n\
    measured clock rate."
)]
pub struct Options {
    /// Cases, whose laws are swept: gas or molecules, comma-separated
    #[arg(long, value_enum, value_delimiter = ',', default_value = "evrard,liquid")]
    case: Vec<Case>,
    /// Laws by the names in the table, comma-separated [default: all]
    #[arg(long, value_delimiter = ',')]
    law: Vec<String>,
    /// Number of particles
    #[arg(long, default_value_t = 65_465, value_parser = clap::value_parser!(u64).range(200..1_000_000_000))]
    particles: u64,
    /// Device of the sweeps; `cuda` sweeps Lennard-Jones and Coulomb forces of atoms on a lattice
    #[arg(long, value_enum, default_value_t = SweepDevice::Cpu)]
    device: SweepDevice,
    /// Cells of four atoms per dimension of that lattice
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(4..500))]
    cells: u64,
    /// Override a key of the case's deck: --set sph.neighbors=50
    #[arg(long = "set", value_name = "SECTION.KEY=VALUE")]
    set: Vec<String>,
}

/// Device of the sweeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum SweepDevice {
    /// CPU cores.
    Cpu,
    /// A GPU.
    Cuda,
}

/// A kind of list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Full list of clusters.
    Full,
    /// Half list: clusters for gas; for molecules the tiles of their runs, with pairs within the inner skin.
    Half,
    /// Neighbor rows per row.
    Rows,
    /// Rows by cell of a grid.
    Cells,
}

/// A combination of list, precision and instruction set.
#[derive(Clone, Copy, Debug)]
struct Variant {
    kind: Kind,
    precision: Precision,
    instructions: Instructions,
}

const MIXED: Variant =
    Variant { kind: Kind::Full, precision: Precision::Mixed, instructions: Instructions::Best };
const DOUBLE: Variant = Variant { precision: Precision::Double, ..MIXED };
const HALF: Variant = Variant { kind: Kind::Half, ..MIXED };

/// The combinations measured for one law per case; other laws use a prefix.
const VARIANTS: [Variant; 14] = [
    MIXED,
    DOUBLE,
    HALF,
    Variant { kind: Kind::Half, ..DOUBLE },
    Variant { kind: Kind::Half, instructions: Instructions::Avx2, ..MIXED },
    Variant { kind: Kind::Half, instructions: Instructions::Avx2, ..DOUBLE },
    Variant { kind: Kind::Half, instructions: Instructions::Baseline, ..DOUBLE },
    Variant { kind: Kind::Rows, ..MIXED },
    Variant { kind: Kind::Rows, ..DOUBLE },
    Variant { kind: Kind::Cells, ..MIXED },
    Variant { kind: Kind::Cells, ..DOUBLE },
    Variant { instructions: Instructions::Avx2, ..MIXED },
    Variant { instructions: Instructions::Avx2, ..DOUBLE },
    Variant { instructions: Instructions::Baseline, ..DOUBLE },
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

/// Measures sweeps over the initial particles of the cases.
pub(super) fn measure(options: &Options, common: &Common, comm: &Communicator) -> Result<Findings> {
    if options.device == SweepDevice::Cuda {
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
            // Keep all fields, because each law is swept with its inputs.
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
        // Tiles support only one cutoff for all particles, hence not gas.
        let half = match &simulation.plan.interaction {
            Some(_) => {
                let inner = 1.0 + simulation.neighborhood.skins().inner.unwrap_or(0.0);
                let near: Vec<f64> = radius.iter().map(|radius| radius * inner).collect();
                let request = ListRequest { radius: &near, ..request(true) };
                NeighborList::Tiled(find_tiles(&half, &request, None)?)
            }
            None => NeighborList::Clustered(half),
        };
        let rows = NeighborList::PerParticle(ParticleList::build(&request(false))?);
        let cells = NeighborList::Cells(CellList::build(&request(false))?);
        let lists = Lists { full: NeighborList::Clustered(full), half, rows, cells };
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

/// Peak performance of a core: clock rate (Hz), and operations per second in mixed and double precision.
#[derive(Clone, Copy)]
struct Machine {
    clock: f64,
    peaks: [f64; 2],
}

struct Lists {
    full: NeighborList,
    half: NeighborList,
    rows: NeighborList,
    cells: NeighborList,
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
            self.bench.law(&Forces(*law), &VARIANTS[..4]);
        }
    }
}

impl Bench<'_> {
    /// Measures the laws of the gas.
    fn gas(&mut self, kernel: &str) {
        let kernel = Kernel::named(kernel)
            .unwrap_or_else(|| unreachable!("the plan has a kernel that the passes lack"));
        let (beta, conductivity, switched_conductivity) = (2.0, 0.0, 0.5);
        self.law(&number_density::Law { kernel }, &VARIANTS[..2]);
        self.law(&density::Law { kernel }, &VARIANTS[..2]);
        self.law(&volume_elements::Law { kernel }, &VARIANTS[..2]);
        self.law(&gradients::Law::new(kernel), &VARIANTS[..2]);
        let estimate = volume_estimate::Law {
            kernel,
            ideal: 1.0,
            sound_squared: 1.0,
            contrast_start: 0.0003,
            contrast_slope: 1000.0,
            offset_start: 0.04,
            offset_slope: 25.0,
            compression_start: 0.05,
            compression_slope: 20.0,
        };
        self.law(&estimate, &VARIANTS[..2]);
        self.law(&divergence_gradient::Law { kernel }, &VARIANTS[..2]);
        self.law(
            &momentum_energy_standard::Law { kernel, beta, conductivity, switched_conductivity },
            &VARIANTS[..2],
        );
        let (crossing_start, crossing_slope) = (0.1, 10.0);
        let momentum = momentum_energy_volume::Law {
            kernel,
            beta,
            conductivity,
            switched_conductivity,
            crossing_start,
            crossing_slope,
        };
        self.law(&momentum, &VARIANTS);
    }

    /// Measures the laws of molecules with unit strength and length, alternating charges and two species.
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
        let (common, both) = (&VARIANTS[..4], [cutoff, cutoff]);
        self.law(&Forces(lennard_jones::Law::truncated(1.0, 1.0)), &VARIANTS);
        self.law(&Forces(lennard_jones_switched::Law::new(1.0, 1.0, start, cutoff)), common);
        self.law(&Forces(mixed), common);
        self.law(&Forces(mixed_switched), common);
        self.law(&Forces(table), common);
        self.law(&Forces(charges), common);
        let alike = lennard_jones::Law::truncated(1.0, 1.0);
        self.law(&Forces(lennard_jones_coulomb::Law::new(alike, charges)), common);
        self.named("lennard jones mixed, coulomb", &Forces(Together::new(mixed, charges, both)), common);
        let together = Together::new(mixed_switched, charges, both);
        self.named("lennard jones mixed switched, coulomb", &Forces(together), common);
        self.named("lennard jones table, coulomb", &Forces(Together::new(table, charges, both)), common);
        self.named(
            "radial, coulomb",
            &Forces(Together::new(radial_lennard_jones(cutoff), charges, both)),
            common,
        );
        visit_examples(&mut Registered {
            bench: self,
            swept: vec!["lennard_jones", "lennard_jones_switched"],
        });
    }

    fn law<L: PairLaw>(&mut self, law: &L, variants: &[Variant]) {
        self.named(&L::NAME.replace('_', " "), law, variants);
    }

    fn named<L: PairLaw>(&mut self, name: &str, law: &L, variants: &[Variant]) {
        if !self.wanted.is_empty() && !self.wanted.iter().any(|wanted| wanted == name) {
            return;
        }
        for variant in variants {
            let pass = Pass { precision: variant.precision, ..self.pass };
            let list = match variant.kind {
                Kind::Full => &self.lists.full,
                Kind::Half => &self.lists.half,
                Kind::Rows => &self.lists.rows,
                Kind::Cells => &self.lists.cells,
            };
            self.particles.add(L::OUTPUTS);
            let (seconds, statistics) = median(self.repeats, || {
                Sweep::new(&pass, list).with_instructions(variant.instructions).run(law, self.particles)
            });
            let half = list.symmetric();
            let sides = if half { Sides::Half } else { Sides::Full };
            let useful = self.pairs.useful(L::CUTOFF, sides) as f64;
            let single = variant.precision == Precision::Mixed && variant.instructions.have_single();
            let operations = per_pair(law, single, half);
            let lane_pairs = statistics.lane_pairs.max(1) as f64;
            let core_seconds = seconds * rayon::current_num_threads() as f64;
            let vectors = lane_pairs / if single { 16.0 } else { 8.0 };
            let peak = self.machine.peaks[usize::from(!single)];
            self.table.push(vec![
                Cell::text(self.case.name()),
                Cell::count(self.particles.owned().len()),
                Cell::text(name),
                Cell::text(match list {
                    NeighborList::Clustered(_) => sides.name(),
                    NeighborList::Tiled(_) => "tiles",
                    NeighborList::PerParticle(_) => "rows",
                    NeighborList::Cells(_) => "cells",
                }),
                Cell::text(format!("{:?}", variant.precision).to_lowercase()),
                Cell::text(format!("{:?}", variant.instructions).to_lowercase()),
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

/// Lennard-Jones of unit strength and length, as a formula of a deck is evaluated.
fn radial_lennard_jones(cutoff: f64) -> radial::Law<f64> {
    let energy = |_: [usize; 2], square: f64| {
        let s6 = square.powi(-3);
        [4.0 * s6 * (s6 - 1.0), -12.0 * s6 * (2.0 * s6 - 1.0) / square]
    };
    let function = RadialFunction { kinds: 1, breakpoint: cutoff, cutoff, smallest: 0.0, energy: &energy };
    radial::Law { energy: RadialEnergy::fit(&function, None).0 }
}
