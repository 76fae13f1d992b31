//! `bench sweep --device cuda`: Lennard-Jones and Coulomb forces of atoms on an fcc lattice and the list
//! builds, on a device.

use super::{Cell, Column, Common, Findings, Table};
use crate::Result;
use crate::device::columns::Columns;
use crate::device::hierarchy::{Hierarchy, Radii};
use crate::device::list::{ListBuilder, Records, Search};
use crate::device::order::Order;
use crate::device::particle_list::{ParticleListBuilder, ParticleRecords};
use crate::device::particle_sweep::ParticleSweep;
use crate::device::sweep::{Part, Pass, Sweep, SweepMemory};
use crate::device::{self, Buffer, Device};
use crate::laws::{coulomb, lennard_jones, lennard_jones_coulomb};
use crate::neighbors::cluster::power_of_two_below;
use crate::pair::{Forces, Precision};
use crate::particles::{Field, Particles};
use crate::space::{Boundary, SimulationBox, Vec3d};
use rand::SeedableRng;
use rand::seq::SliceRandom;

/// Edge of an fcc cell with four atoms: number density 0.8442.
const EDGE: f64 = 1.679_596_2;

/// List radius over cutoff.
const LIST_RADIUS_FACTOR: f64 = 3.8 / 3.5;

/// Neighbors by list volume, and sweep times (ms) of the code of Thaler and Keller's paper on an H100 80GB
/// HBM3 (CUDA 13.0) with 4 million atoms, in mixed and double precision: symmetric compressed list and full
/// particle list.
const QUOTED: [(f64, Reference); 3] = [
    (24.0, Reference { symmetric: [1.26, 1.98], of_particles: [0.339, 0.412] }),
    (194.0, Reference { symmetric: [3.67, 5.78], of_particles: [3.31, 3.84] }),
    (1940.0, Reference { symmetric: [17.1, 26.3], of_particles: [48.8, 48.8] }),
];

struct Reference {
    symmetric: [f64; 2],
    of_particles: [f64; 2],
}

/// Beyond this number of neighbors, particle lists take kilobytes per particle.
const MAX_PARTICLE_LIST_NEIGHBORS: f64 = 500.0;

/// The kind of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Clusters, each pair once.
    Half,
    /// Clusters, from both sides.
    Full,
    /// Particles, from both sides.
    Particles,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Half => "clusters, pairs once",
            Kind::Full => "clusters, from both sides",
            Kind::Particles => "particles, from both sides",
        }
    }
}

const COLUMNS: &[Column] = &[
    ("list neighbors", "list_neighbors"),
    ("precision", "precision"),
    ("list", "list"),
    ("pack ms", "pack_milliseconds"),
    ("sweep ms", "sweep_milliseconds"),
    ("quoted sweep ms", "quoted_sweep_milliseconds"),
    ("list build ms", "build_milliseconds"),
    ("bytes per particle", "bytes_per_particle"),
    ("particles per s", "particles_per_second"),
];

/// Runs the sweeps on a lattice of `cells` cells in each dimension with open boundaries.
pub(super) fn measure(cells: u64, common: &Common) -> Result<Findings> {
    let device = if device::is_emulated() { Device::emulated()? } else { Device::cuda(0)? };
    let (repeats, mut table) = (common.repeats(11), Table::new(COLUMNS));
    let (bx, particles) = lattice(cells as usize);
    let mut order = Order::new(&device)?;
    let mut columns = Columns::upload(&device, &particles, particles.fields())?;
    order.sync(&bx, &mut columns)?;
    // Second upload: kernels are compiled and memory is allocated now.
    columns = Columns::upload(&device, &particles, particles.fields())?;
    let sorting = device.time(|| order.sync(&bx, &mut columns).map(drop))?;
    let again = seconds(&device, repeats, || order.sync(&bx, &mut columns).map(drop))?;
    let mut bench = Bench { device: &device, bx, columns: &columns, repeats, table: &mut table };
    for (neighbors, quoted) in QUOTED {
        bench.lists(neighbors, Kind::Half, Some(quoted.symmetric))?;
        bench.lists(neighbors, Kind::Full, None)?;
        if neighbors < MAX_PARTICLE_LIST_NEIGHBORS {
            bench.lists(neighbors, Kind::Particles, Some(quoted.of_particles))?;
        }
    }
    let mut findings = Findings::default();
    findings.tables.push(table);
    findings.remarks.extend([
        (
            "quoted",
            Cell::text(
                "the code of Thaler and Keller's paper, 4 million atoms, H100 80GB HBM3: its symmetric compressed list, and its \
                 full list of particles; 1.03, 2.88, 13.0 and 0.248, 2.27, 26.4 in single precision",
            ),
        ),
        ("device", Cell::text(device.name())),
        ("particles", Cell::count(particles.len())),
        ("repeats", Cell::count(repeats)),
        ("order_of_shuffled_particles_milliseconds", Cell::Number(1e3 * sorting, 3)),
        ("order_of_ordered_particles_milliseconds", Cell::Number(1e3 * again, 3)),
    ]);
    Ok(findings)
}

/// Creates the atoms of the lattice in random order.
fn lattice(cells: usize) -> (SimulationBox, Particles) {
    let mut sites: Vec<[usize; 3]> = Vec::with_capacity(4 * cells * cells * cells);
    for corner in [[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]] {
        for k in 0..cells * cells * cells {
            let cell = [k / (cells * cells), k / cells % cells, k % cells];
            sites.push([0, 1, 2].map(|d| 2 * cell[d] + corner[d]));
        }
    }
    sites.shuffle(&mut rand_chacha::ChaCha8Rng::seed_from_u64(1));
    let mut particles = Particles::new(&[Field::Position, Field::Charge, Field::Force], sites.len());
    for (row, site) in sites.iter().enumerate() {
        let place = Vec3d::from_fn(|d, _| 0.5 * EDGE * (site[d] as f64 + 0.5));
        particles.set_vector(Field::Position, row, place);
        particles.scalar_mut(Field::Charge)[row] = 12.0;
    }
    let upper = Vec3d::repeat(EDGE * cells as f64);
    (SimulationBox { lower: Vec3d::zeros(), upper, boundary: [Boundary::Open; 3] }, particles)
}

/// Returns the median device time (s) of a task, after one warm-up run.
fn seconds(device: &Device, repeats: usize, mut task: impl FnMut() -> Result<()>) -> Result<f64> {
    task()?;
    let mut all = (0..repeats).map(|_| device.time(&mut task)).collect::<Result<Vec<f64>>>()?;
    all.sort_unstable_by(f64::total_cmp);
    Ok(all[all.len() / 2])
}

struct Bench<'a> {
    device: &'a Device,
    bx: SimulationBox,
    columns: &'a Columns,
    repeats: usize,
    table: &'a mut Table,
}

/// A built list.
enum BuiltList {
    Clusters(Records),
    Particles(ParticleRecords),
}

impl Bench<'_> {
    /// Measures one list and its sweeps in both precisions.
    fn lists(&mut self, neighbors: f64, kind: Kind, quoted: Option<[f64; 2]>) -> Result<()> {
        let density = 4.0 / EDGE.powi(3);
        let reach = (neighbors / (density * 4.0 / 3.0 * std::f64::consts::PI)).cbrt();
        let rows = self.columns.rows();
        let (listed, build, bytes) = self.build(reach, kind)?;
        for (k, precision) in [Precision::Mixed, Precision::Double].into_iter().enumerate() {
            let [pack, sweep] =
                self.sweep(&listed, precision, kind == Kind::Half, reach / LIST_RADIUS_FACTOR)?;
            self.table.push(vec![
                Cell::Number(neighbors, 0),
                Cell::text(kind.name()),
                Cell::text(if precision == Precision::Mixed { "mixed" } else { "double" }),
                Cell::Number(1e3 * pack, 3),
                Cell::Number(1e3 * sweep, 3),
                quoted.map_or(Cell::Nothing, |quoted| Cell::Number(quoted[k], 3)),
                Cell::Number(1e3 * build, 3),
                Cell::Number(bytes as f64 / rows as f64, 3),
                Cell::Number(rows as f64 / (pack + sweep), 0),
            ]);
        }
        Ok(())
    }

    /// Builds a list, given keys and hierarchy. Returns it with the build time (s) and its size (bytes).
    fn build(&self, reach: f64, kind: Kind) -> Result<(BuiltList, f64, usize)> {
        let (rows, position) = (self.columns.rows(), self.columns.vector(Field::Position));
        let unit = power_of_two_below(reach);
        let mut hierarchy = Hierarchy::new(self.device)?;
        hierarchy.build(position, Radii::All(reach), None, rows, unit)?;
        let radius = Buffer::from_host(self.device, &vec![reach; rows])?;
        let search = Search {
            rows,
            owned: 0..rows,
            symmetric: kind == Kind::Half,
            position,
            radius: &radius,
            id: &self.columns.id,
            center: hierarchy.center(),
            extent: hierarchy.extent(),
            unit,
            bx: &self.bx,
        };
        let (mut builder, mut records) = (ListBuilder::new(self.device)?, Records::new(self.device)?);
        let build = seconds(self.device, self.repeats, || builder.build(&search, &mut records))?;
        if kind != Kind::Particles {
            let bytes = records.length as usize + records.offsets.bytes() + records.counts.bytes();
            return Ok((BuiltList::Clusters(records), build, bytes));
        }
        let mut refine = ParticleListBuilder::new(self.device)?;
        let mut particles = ParticleRecords::new(self.device)?;
        let refined =
            seconds(self.device, self.repeats, || refine.build(&search, &records, &mut particles).map(drop))?;
        let bytes = particles.bytes();
        Ok((BuiltList::Particles(particles), build + refined, bytes))
    }

    /// Returns the times to pack and to sweep (s).
    fn sweep(
        &self,
        listed: &BuiltList,
        precision: Precision,
        symmetric: bool,
        cutoff: f64,
    ) -> Result<[f64; 2]> {
        let charges = coulomb::Law::plain(1.0);
        let law = lennard_jones_coulomb::Law::new(lennard_jones::Law::truncated(1.0, 1.0), charges);
        let mut memory = SweepMemory::new(self.device)?;
        let rows = self.columns.rows();
        let pass = Pass {
            rows,
            owned: &(0..rows),
            position: self.columns.vector(Field::Position),
            id: None,
            radius: None,
            cutoff,
            bx: &self.bx,
            active: None,
        };
        let inputs = [self.columns.scalar(Field::Charge)];
        let (device, repeats) = (self.device, self.repeats);
        match listed {
            BuiltList::Clusters(records) => {
                let sweep = Sweep::new(device, &Forces(law), precision, symmetric)?;
                let pack = seconds(device, repeats, || sweep.pack(&mut memory, &pass, &inputs, Part::All))?;
                Ok([pack, seconds(device, repeats, || sweep.sweep(&mut memory, &pass, records, Part::All))?])
            }
            BuiltList::Particles(records) => {
                let sweep = ParticleSweep::new(device, Forces(law), precision)?;
                let pack =
                    seconds(device, repeats, || sweep.stages().pack(&mut memory, &pass, &inputs, Part::All))?;
                Ok([pack, seconds(device, repeats, || sweep.sweep(&mut memory, &pass, records))?])
            }
        }
    }
}
