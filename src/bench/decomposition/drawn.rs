//! Creates the particles of a simulated decomposition in one process and counts the share of each simulated
//! rank.

use super::Options;
use super::weak_scaling::{Probe, RankCounts, RankShare};
use crate::Result;
use crate::bench::case::on_processors;
use crate::comm::Communicator;
use crate::comm::traffic::exchanging;
use crate::domain::decomposition::{self, Decomposition};
use crate::far::simulated_ranks::{self, EssentialTree};
use crate::particles::{Field, Particles};
use crate::space::{SimulationBox, Vec3d};
use crate::step::Simulation;
use rayon::prelude::*;

/// Displacement of each particle between two decompositions in units of its radius: about an acoustic time
/// step.
const DISPLACEMENT: f64 = 0.05;

/// All particles on one rank, in key order.
pub(super) struct Drawn {
    pub simulation: Simulation,
    pub particles: Particles,
    bx: SimulationBox,
    radius: Vec<f64>,
}

/// Creates the particles of the case and sets their work to the value that a step would measure.
pub(super) fn draw(options: &Options, comm: &Communicator, probe: &Probe) -> Result<Drawn> {
    let plan = on_processors(options.case.plan(options.particles, &options.set)?)?;
    let mut fields = Simulation::fields(&plan);
    if plan.interaction.is_none() {
        // Keep only the columns that affect ownership; a gas has many more.
        let needed = [Field::Position, Field::Mass, Field::SmoothingLength, Field::Work];
        fields.retain(|field| needed.contains(field));
    }
    let (space, particles) = crate::start::particles(&plan, comm, &fields)?;
    // The simulation must own the particles at construction, because it sums up their charges.
    let mut simulation = Simulation::new(plan, comm, space, particles);
    let mut particles = std::mem::take(&mut simulation.particles);
    let neighborhood = &simulation.neighborhood;
    simulation.domain.sync(&mut particles, |particles| neighborhood.radii(particles))?;
    let work = match simulation.gravity.as_ref().map(|gravity| &gravity.plan) {
        Some(plan) => simulated_ranks::work(plan, &particles.key, &points(&particles)),
        None => vec![0.0; particles.len()],
    };
    for (own, far) in particles.scalar_mut(Field::Work).iter_mut().zip(work) {
        *own = probe.near_work + far;
    }
    let (bx, radius) = (simulation.domain.bx, simulation.neighborhood.radii(&particles));
    Ok(Drawn { simulation, particles, bx, radius })
}

fn points(particles: &Particles) -> Vec<[f64; 4]> {
    let [x, y, z] = particles.vector(Field::Position);
    let mass = particles.scalar(Field::Mass);
    particles.owned().map(|row| [x[row], y[row], z[row], mass[row]]).collect()
}

impl Drawn {
    /// Displaces every particle a little, each in a direction of its own, and synchronizes the domain.
    pub fn displace(&mut self) -> Result<()> {
        for (row, radius) in self.radius.iter().enumerate() {
            // Quasi-uniform directions on the sphere from a golden-ratio sequence of the id.
            let k = self.particles.id[row] as f64;
            let cosine = 2.0 * (k * 0.754_877_666_246_692_8).fract() - 1.0;
            let angle = std::f64::consts::TAU * (k * 0.569_840_290_998_053_2).fract();
            let sine = (1.0 - cosine * cosine).sqrt();
            let direction = Vec3d::new(sine * angle.cos(), sine * angle.sin(), cosine);
            let position =
                self.particles.vector_at(Field::Position, row) + direction * (DISPLACEMENT * radius);
            self.particles.set_vector(Field::Position, row, position);
        }
        let neighborhood = &self.simulation.neighborhood;
        self.simulation.domain.sync(&mut self.particles, |particles| neighborhood.radii(particles))?;
        (self.bx, self.radius) = (self.simulation.domain.bx, neighborhood.radii(&self.particles));
        Ok(())
    }

    /// Counts the share of each rank. `owners` gives the previous rank of each particle by id.
    pub fn count(&self, decomposition: &mut Decomposition, owners: &[u32], probe: &Probe) -> RankCounts {
        let particles = &self.particles;
        decomposition.assign(particles);
        let halos = decomposition.halos(&self.bx, particles, &self.radius);
        let before = |row: usize| owners[particles.id[row] as usize] as usize;
        let synced = decomposition.traffic(probe.width, &halos, before);
        let assignment = decomposition.assignment();
        let ranks = decomposition.ranks();
        let trees = match self.simulation.gravity.as_ref().map(|gravity| &gravity.plan) {
            Some(plan) => {
                simulated_ranks::essential_trees(plan, assignment, particles, |rank| decomposition.rows(rank))
            }
            None => vec![EssentialTree::default(); ranks],
        };
        let work = particles.scalar(Field::Work);
        let leaves = assignment.leaves().len();
        let of_rank = |rank: usize| {
            let rows = decomposition.rows(rank);
            let (halos, tree, synced) = (&halos[rank], trees[rank], synced[rank]);
            // Sums are returned for the particles that other ranks hold as halos.
            let halo_exchanges = halos.received as f64 * probe.halo_exchanges.columns;
            let returned_sums = halos.sent as f64 * probe.returned_sums.columns;
            let refreshed = (8.0 * (halo_exchanges + returned_sums)) as u64;
            // The moments of the leaves of all other ranks, and the counts that precede them and the
            // requests.
            let others = leaves - assignment.leaves_of(rank).len();
            let gathered = (others * simulated_ranks::GATHERED + 16 * (ranks - 1)) as u64;
            let held = rows.len() + halos.received;
            let messages = halos.senders as f64 * probe.halo_exchanges.exchanges
                + halos.receivers as f64 * probe.returned_sums.exchanges;
            RankShare {
                particles: rows.len(),
                cost: work[rows.clone()].iter().map(|work| 1.0 + work).sum(),
                seconds: work[rows].iter().map(|work| probe.seconds(work - probe.near_work)).sum(),
                migrants: synced.migrating.bytes.saturating_sub(8 * (ranks as u64 - 1)) as f64
                    / (8 * probe.width.migrant) as f64,
                halos: halos.received,
                boxes: halos.boxes,
                peers: halos.peers,
                synced,
                refreshed: exchanging(refreshed, messages as u64),
                tree,
                tree_bytes: tree.traffic.bytes.saturating_sub(gathered),
                memory: (held * probe.bytes_per_row + leaves * decomposition::BYTES_PER_LEAF) as u64,
            }
        };
        RankCounts { leaves, shares: (0..ranks).into_par_iter().map(of_rank).collect() }
    }
}

/// Partitions the curve and returns the rank of each particle by id.
pub(super) fn owners(decomposition: &mut Decomposition, particles: &Particles) -> Vec<u32> {
    decomposition.assign(particles);
    let mut owners = vec![0; particles.len()];
    for rank in 0..decomposition.ranks() {
        decomposition.rows(rank).for_each(|row| owners[particles.id[row] as usize] = rank as u32);
    }
    owners
}
