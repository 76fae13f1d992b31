//! `bench sweep`: how long the laws of a case take over a list.

use super::{Cell, Settings, Table, median, simulation};
use crate::Result;
use crate::comm::Communicator;
use crate::laws::{
    density, divergence_gradient, gradients, lennard_jones, lennard_jones_switched, mie,
    momentum_energy_standard, momentum_energy_volume, number_density, volume_elements, yukawa,
};
use crate::neighbors::{ClusterList, Coding, ListRequest, NeighborList, ParticleList};
use crate::pair::{Forces, Instructions, Kernel, PairLaw, Pass, Precision, sweep_with};
use crate::particles::{Field, Particles};

/// A kind of list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Full,
    Half,
    PerParticle,
}

/// One way to sweep.
#[derive(Clone, Copy, Debug)]
struct Way {
    kind: Kind,
    precision: Precision,
    instructions: Instructions,
}

const MIXED: Way = Way { kind: Kind::Full, precision: Precision::Mixed, instructions: Instructions::Best };
const DOUBLE: Way = Way { precision: Precision::Double, ..MIXED };

/// The ways compared for one law of a case; the others show the first.
const WAYS: [Way; 9] = [
    MIXED,
    DOUBLE,
    Way { kind: Kind::Half, ..MIXED },
    Way { kind: Kind::Half, ..DOUBLE },
    Way { kind: Kind::PerParticle, ..MIXED },
    Way { kind: Kind::PerParticle, ..DOUBLE },
    Way { instructions: Instructions::Avx2, ..MIXED },
    Way { instructions: Instructions::Avx2, ..DOUBLE },
    Way { instructions: Instructions::Baseline, ..DOUBLE },
];

/// Sweeps over the particles of a case at its start.
pub(super) fn table(settings: &Settings, comm: &Communicator) -> Result<Table> {
    let mut simulation = simulation(settings, comm)?;
    if let Some(hydrodynamics) = &mut simulation.hydrodynamics {
        // each law shall find its inputs
        hydrodynamics.keep_fields = true;
    }
    simulation.evaluate_forces(0.0)?;
    let listed = simulation.neighborhood.radius().to_vec();
    let bx = simulation.domain.bx;
    let request = |symmetric| ListRequest::of(&bx, &simulation.particles, &listed, symmetric, Coding::Nibble);
    let lists = Lists {
        full: NeighborList::Clustered(ClusterList::build(&request(false))?),
        half: NeighborList::Clustered(ClusterList::build(&request(true))?),
        per_particle: NeighborList::PerParticle(ParticleList::build(&request(false))?),
    };
    let radius: Vec<f64> = match &simulation.plan.interaction {
        Some(interaction) => vec![interaction.cutoff; listed.len()],
        None => simulation.particles.scalar(Field::SmoothingLength).iter().map(|h| 2.0 * h).collect(),
    };
    let pass = Pass { bx: &bx, radius: &radius, precision: Precision::Mixed, active: None };
    let in_range = ListRequest { radius: &radius, ..request(false) };
    let pairs = ParticleList::build(&in_range)?.bytes().indices as f64 / size_of::<u32>() as f64;
    let mut bench = Bench {
        table: Table::new(&[
            "law",
            "list",
            "precision",
            "instructions",
            "ns per particle",
            "ns per pair",
            "pairs of lane pairs",
        ]),
        repeats: settings.repeats,
        particles: &mut simulation.particles,
        lists,
        pass,
        pairs,
    };
    if let Some(sph) = &simulation.plan.sph {
        bench.gas(sph.kernel.name());
    }
    if let Some(interaction) = &simulation.plan.interaction {
        bench.molecules(interaction.cutoff);
    }
    Ok(bench.table)
}

struct Lists {
    full: NeighborList,
    half: NeighborList,
    per_particle: NeighborList,
}

struct Bench<'a> {
    table: Table,
    repeats: usize,
    particles: &'a mut Particles,
    lists: Lists,
    pass: Pass<'a>,
    /// Pairs in range, from both sides.
    pairs: f64,
}

impl Bench<'_> {
    /// The laws of the gas.
    fn gas(&mut self, kernel: &str) {
        let kernel = Kernel::named(kernel)
            .unwrap_or_else(|| unreachable!("the plan has a kernel that the passes lack"));
        let beta = 2.0;
        self.law(&number_density::Law { kernel }, &WAYS[..2]);
        self.law(&density::Law { kernel }, &WAYS[..2]);
        self.law(&volume_elements::Law { kernel }, &WAYS[..2]);
        self.law(&gradients::Law { kernel }, &WAYS[..2]);
        self.law(&divergence_gradient::Law { kernel }, &WAYS[..2]);
        self.law(&momentum_energy_standard::Law { kernel, beta, conductivity: 0.0 }, &WAYS[..2]);
        let momentum = momentum_energy_volume::Law {
            kernel,
            beta,
            conductivity: 0.0,
            crossing_start: 0.1,
            crossing_slope: 10.0,
        };
        self.law(&momentum, &WAYS);
    }

    /// The laws of molecules, of unit strength and length.
    fn molecules(&mut self, cutoff: f64) {
        let lennard_jones = lennard_jones::Law::truncated(1.0, 1.0);
        self.law(&Forces(lennard_jones), &WAYS);
        self.law(&Forces(lennard_jones_switched::Law::new(1.0, 1.0, 0.8 * cutoff, cutoff)), &WAYS[..4]);
        self.law(&Forces(mie::Law::truncated(1.0, 1.0, 12.0, 6.0)), &WAYS[..4]);
        self.law(&Forces(yukawa::Law { strength: 1.0, screening: 1.0, shift: 0.0 }), &WAYS[..4]);
    }

    fn law<L: PairLaw>(&mut self, law: &L, ways: &[Way]) {
        self.particles.add(L::OUTPUTS);
        for way in ways {
            let pass = Pass { precision: way.precision, ..self.pass };
            let list = match way.kind {
                Kind::Full => &self.lists.full,
                Kind::Half => &self.lists.half,
                Kind::PerParticle => &self.lists.per_particle,
            };
            let (seconds, statistics) =
                median(self.repeats, || sweep_with(law, &pass, list, self.particles, way.instructions));
            let count = self.particles.owned().len() as f64;
            let halved = if way.kind == Kind::Half { 0.5 } else { 1.0 };
            let useful = self.pairs * halved;
            self.table.rows.push(vec![
                Cell::text(L::NAME.replace('_', " ")),
                Cell::text(match way.kind {
                    Kind::Full => "full",
                    Kind::Half => "half",
                    Kind::PerParticle => "per particle",
                }),
                Cell::text(format!("{:?}", way.precision).to_lowercase()),
                Cell::text(format!("{:?}", way.instructions).to_lowercase()),
                Cell::Number(seconds * 1e9 / count, 0),
                Cell::Number(seconds * 1e9 / useful, 2),
                Cell::Number(useful / statistics.lane_pairs.max(1) as f64, 2),
            ]);
        }
    }
}
