//! `bench neighbors`: memory of a list, and time to build, decode and sweep it.

use super::pairs::InRange;
use super::sample::{Distribution, Sample};
use super::{Cell, Column, Common, Findings, Table, median};
use crate::Result;
use crate::comm::Communicator;
use crate::laws::{lennard_jones, number_density};
use crate::neighbors::{self, CellList, ClusterList, ListRequest, NeighborList, ParticleList, Radii};
use crate::pair::law::Cutoff;
use crate::pair::{Forces, Kernel, PairLaw, Pass, Precision, Sweep, SweepStatistics, find_tiles};
use crate::particles::Particles;
use crate::space::SimulationBox;
use rayon::prelude::*;

/// Options of `bench neighbors`.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Bytes and nanoseconds are per particle; times are with all threads of the rank. The list is swept\n\
    with Lennard-Jones forces in mixed precision (half lists of clusters as tiles) or, for\n\
    the individual radii of a Plummer sphere, with the number density. Build by sweep is the ratio of the two times. The useful fraction is that of the\n\
    sweep's lane pairs that are in range."
)]
pub struct Options {
    /// Number of particles
    #[arg(long, default_value_t = 65_536, value_parser = clap::value_parser!(u64).range(200..1_000_000_000))]
    particles: u64,
    /// Distributions of the particles, comma-separated
    #[arg(long, value_enum, value_delimiter = ',', default_value = "uniform,lattice,plummer")]
    distribution: Vec<Distribution>,
    /// Mean numbers of neighbors within the list radius, comma-separated
    #[arg(long, value_delimiter = ',', default_value = "25,100,200,400", value_parser = neighbor_count)]
    neighbors: Vec<f64>,
    /// Half lists (each pair once) or full lists (both sides), comma-separated
    #[arg(long, value_enum, value_delimiter = ',', default_value = "half,full")]
    list: Vec<Sides>,
    /// Codings of the list, comma-separated
    #[arg(long, value_enum, value_delimiter = ',', default_value = "nibble,band,plain,rows,cells")]
    coding: Vec<Coding>,
    /// List radius over cutoff
    #[arg(long, default_value_t = 1.0, value_parser = reach)]
    reach: f64,
}

fn reach(text: &str) -> std::result::Result<f64, String> {
    match text.parse() {
        Ok(reach) if (1.0..=4.0).contains(&reach) => Ok(reach),
        _ => Err("a list reaches between 1 and 4 times as far as its law".into()),
    }
}

/// Parses a number of neighbors.
pub(super) fn neighbor_count(text: &str) -> std::result::Result<f64, String> {
    match text.parse() {
        Ok(count) if (1.0..=1e5).contains(&count) => Ok(count),
        _ => Err("a number of neighbors lies between 1 and 100000".into()),
    }
}

/// Half or full list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Sides {
    /// Each pair once
    Half,
    /// Each pair from both sides
    Full,
}

impl Sides {
    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Sides::Half => "half",
            Sides::Full => "full",
        }
    }
}

/// Coding of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Coding {
    /// Clusters, index differences in the nibble code
    Nibble,
    /// Clusters, index differences in the code of Band et al.
    Band,
    /// Clusters, as 32-bit numbers
    Plain,
    /// Rows per particle instead of clusters, as 32-bit numbers
    Rows,
    /// Rows by cell of a grid, as 32-bit numbers; full lists only
    Cells,
}

impl Coding {
    fn name(self) -> &'static str {
        match self {
            Coding::Nibble => "nibble",
            Coding::Band => "band",
            Coding::Plain => "plain",
            Coding::Rows => "rows",
            Coding::Cells => "cells",
        }
    }

    /// Returns the coding of a cluster list; `None` for other lists.
    fn of_clusters(self) -> Option<neighbors::Coding> {
        match self {
            Coding::Nibble => Some(neighbors::Coding::Nibble),
            Coding::Band => Some(neighbors::Coding::Band),
            Coding::Plain => Some(neighbors::Coding::Plain),
            Coding::Rows | Coding::Cells => None,
        }
    }
}

const COLUMNS: &[Column] = &[
    ("distribution", "distribution"),
    ("neighbors", "neighbors"),
    ("list", "list"),
    ("coding", "coding"),
    ("index bytes", "index_bytes"),
    ("offset bytes", "offset_bytes"),
    ("bytes", "bytes"),
    ("build ns", "build_nanoseconds"),
    ("decode ns", "decode_nanoseconds"),
    ("swept law", "swept_law"),
    ("sweep ns", "sweep_nanoseconds"),
    ("build by sweep", "build_by_sweep"),
    ("useful fraction", "useful_fraction"),
];

/// Measures all combinations of distribution, number of neighbors, sides and coding.
pub(super) fn measure(options: &Options, common: &Common, comm: &Communicator) -> Result<Findings> {
    let mut table = Table::new(COLUMNS);
    for &distribution in &options.distribution {
        for &neighbors in &options.neighbors {
            let mut sample = Sample::new(distribution, options.particles, neighbors, comm)?;
            sample.sync()?;
            let radius = Sample::radii(&sample.particles);
            let cutoff: Vec<f64> = radius.iter().map(|radius| radius / options.reach).collect();
            let lists =
                Lists { bx: sample.domain.bx, radius: &radius, cutoff: &cutoff, repeats: common.repeats(5) };
            let request = lists.request(&sample.particles, Sides::Full, neighbors::Coding::Nibble);
            let full = ClusterList::build(&request)?;
            let count = |radius| InRange::count(&lists.bx, &sample.particles, radius, &full);
            let (listed, pairs) = (count(&radius), count(&cutoff));
            drop(full);
            for &sides in &options.list {
                // Cells have both sides.
                let has = |coding: &&Coding| sides == Sides::Full || **coding != Coding::Cells;
                for &coding in options.coding.iter().filter(has) {
                    let found = lists.measure(&mut sample.particles, distribution, sides, coding)?;
                    let count = sample.particles.owned().len() as f64;
                    let mut row =
                        vec![Cell::text(distribution.name()), Cell::Number(listed.own as f64 / count, 1)];
                    row.extend([Cell::text(sides.name()), Cell::text(coding.name())]);
                    row.extend(found.cells(count, pairs.useful(found.swept.cutoff, sides)));
                    table.push(row);
                }
            }
        }
    }
    let mut findings = Findings::from(table);
    findings.remarks.extend([
        ("particles", Cell::count(options.particles)),
        ("reach", Cell::Number(options.reach, 3)),
        ("repeats", Cell::count(common.repeats(5))),
    ]);
    Ok(findings)
}

/// Settings of the lists of some particles.
struct Lists<'a> {
    bx: SimulationBox,
    radius: &'a [f64],
    cutoff: &'a [f64],
    repeats: usize,
}

/// Measurements of one list; times in seconds.
struct Found {
    bytes: neighbors::ListBytes,
    build: f64,
    decode: Option<f64>,
    swept: Swept,
}

/// Measurements of a sweep over a list.
struct Swept {
    law: String,
    cutoff: Cutoff,
    seconds: f64,
    statistics: SweepStatistics,
}

impl Lists<'_> {
    fn request<'a>(
        &'a self,
        particles: &'a Particles,
        sides: Sides,
        coding: neighbors::Coding,
    ) -> ListRequest<'a> {
        ListRequest::of(&self.bx, particles, self.radius, sides == Sides::Half, coding)
    }

    fn measure(
        &self,
        particles: &mut Particles,
        distribution: Distribution,
        sides: Sides,
        coding: Coding,
    ) -> Result<Found> {
        let clusters = coding.of_clusters();
        let request = self.request(particles, sides, clusters.unwrap_or(neighbors::Coding::Plain));
        let (build, list) = median(self.repeats, || match coding {
            Coding::Rows => ParticleList::build(&request).map(NeighborList::PerParticle),
            Coding::Cells => CellList::build(&request).map(NeighborList::Cells),
            _ => ClusterList::build(&request).map(NeighborList::Clustered),
        });
        let list = list?;
        let decode = match &list {
            NeighborList::Clustered(list) => Some(median(self.repeats, || decode(list)).0),
            NeighborList::Tiled(_) | NeighborList::PerParticle(_) | NeighborList::Cells(_) => None,
        };
        let tiles = match (&list, distribution) {
            (NeighborList::Clustered(half), Distribution::Uniform | Distribution::Lattice)
                if half.symmetric() =>
            {
                let request = ListRequest { radius: self.cutoff, ..request };
                Some(NeighborList::Tiled(find_tiles(half, &request, None)?))
            }
            _ => None,
        };
        let swept_list = tiles.as_ref().unwrap_or(&list);
        let swept = match distribution {
            Distribution::Plummer => {
                let kernel =
                    Kernel::named("sinc-6").unwrap_or_else(|| unreachable!("the kernel of the decks"));
                self.sweep(&number_density::Law { kernel }, swept_list, particles)
            }
            Distribution::Uniform | Distribution::Lattice => {
                let law = lennard_jones::Law::truncated(1.0, 0.1 * self.cutoff[0]);
                self.sweep(&Forces(law), swept_list, particles)
            }
        };
        Ok(Found { bytes: list.bytes(), build, decode, swept })
    }

    /// Measures a sweep of a law over the list.
    fn sweep<L: PairLaw>(&self, law: &L, list: &NeighborList, particles: &mut Particles) -> Swept {
        particles.add(L::OUTPUTS);
        let pass = Pass {
            bx: &self.bx,
            radius: Radii::Each(self.cutoff),
            precision: Precision::Mixed,
            active: None,
        };
        let (seconds, statistics) = median(self.repeats, || Sweep::new(&pass, list).run(law, particles));
        Swept { law: L::NAME.replace('_', " "), cutoff: L::CUTOFF, seconds, statistics }
    }
}

impl Found {
    /// Returns the cells for `count` particles with `pairs` useful pairs.
    fn cells(&self, count: f64, pairs: u64) -> Vec<Cell> {
        let bytes = |bytes: u64| Cell::Number(bytes as f64 / count, 2);
        let nanoseconds = |seconds: f64| Cell::Number(seconds * 1e9 / count, 1);
        vec![
            bytes(self.bytes.indices),
            bytes(self.bytes.offsets),
            bytes(self.bytes.total()),
            nanoseconds(self.build),
            self.decode.map_or(Cell::Nothing, nanoseconds),
            Cell::text(self.swept.law.clone()),
            nanoseconds(self.swept.seconds),
            Cell::Number(self.build / self.swept.seconds, 2),
            Cell::Number(pairs as f64 / self.swept.statistics.lane_pairs.max(1) as f64, 3),
        ]
    }
}

/// Decodes all records with all threads. Returns the number of entries, so that the work is not optimized
/// away.
fn decode(list: &ClusterList) -> usize {
    const CHUNK: usize = 32;
    let count = |entries: &mut Vec<neighbors::Entry>, super_cluster| {
        list.decode(super_cluster, entries);
        std::hint::black_box(&*entries).len()
    };
    list.super_clusters().into_par_iter().with_min_len(CHUNK).map_init(Vec::new, count).sum()
}
