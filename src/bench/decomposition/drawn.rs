//! The particles that are decomposed, all in one process, and what every rank would have of them.

use super::Options;
use super::weak_scaling::{Counted, Probe, Share};
use crate::Result;
use crate::bench::case::on_processors;
use crate::comm::Communicator;
use crate::comm::traffic::exchanging;
use crate::domain::decomposition::{self, Decomposition};
use crate::far::forest::{self, EssentialTree};
use crate::particles::{Field, Particles};
use crate::space::{SimulationBox, Vec3d};
use crate::step::Simulation;
use rayon::prelude::*;

/// How far each particle goes between two decompositions, in units of its radius: about a time step of sound.
const MOVED: f64 = 0.05;

/// All particles on one rank, in key order.
pub(super) struct Drawn {
    pub simulation: Simulation,
    pub particles: Particles,
    bx: SimulationBox,
    radius: Vec<f64>,
}

/// The case's particles with the work that a step would count for them.
pub(super) fn draw(options: &Options, comm: &Communicator, probe: &Probe) -> Result<Drawn> {
    let plan = on_processors(options.case.plan(options.particles, &options.set)?)?;
    let mut fields = Simulation::fields(&plan);
    if plan.interaction.is_none() {
        // A gas has many columns, and few of them decide who owns what.
        let needed = [Field::Position, Field::Mass, Field::SmoothingLength, Field::Work];
        fields.retain(|field| needed.contains(field));
    }
    let (space, particles) = crate::start::particles(&plan, comm, &fields)?;
    // charges are summed up, so that the simulation has the particles at first
    let mut simulation = Simulation::new(plan, comm, space, particles);
    let mut particles = std::mem::take(&mut simulation.particles);
    let neighborhood = &simulation.neighborhood;
    simulation.domain.sync(&mut particles, |particles| neighborhood.radii(particles))?;
    let work = match &simulation.gravity {
        Some(plan) => forest::work(plan, &particles.key, &points(&particles)),
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
    /// Move every particle a little, each its own way.
    pub fn displace(&mut self) -> Result<()> {
        for (row, radius) in self.radius.iter().enumerate() {
            // Directions evenly spread over the sphere, by the golden section.
            let k = self.particles.id[row] as f64;
            let cosine = 2.0 * (k * 0.754_877_666_246_692_8).fract() - 1.0;
            let angle = std::f64::consts::TAU * (k * 0.569_840_290_998_053_2).fract();
            let sine = (1.0 - cosine * cosine).sqrt();
            let direction = Vec3d::new(sine * angle.cos(), sine * angle.sin(), cosine);
            let position = self.particles.vector_at(Field::Position, row) + direction * (MOVED * radius);
            self.particles.set_vector(Field::Position, row, position);
        }
        let neighborhood = &self.simulation.neighborhood;
        self.simulation.domain.sync(&mut self.particles, |particles| neighborhood.radii(particles))?;
        (self.bx, self.radius) = (self.simulation.domain.bx, neighborhood.radii(&self.particles));
        Ok(())
    }

    /// What every rank has and receives when the particles had these owners by their ids.
    pub fn count(&self, decomposition: &mut Decomposition, owners: &[u32], probe: &Probe) -> Counted {
        let particles = &self.particles;
        decomposition.assign(particles);
        let halos = decomposition.halos(&self.bx, particles, &self.radius);
        let before = |row: usize| owners[particles.id[row] as usize] as usize;
        let synced = decomposition.traffic(probe.width, &halos, before);
        let assignment = decomposition.assignment();
        let ranks = decomposition.ranks();
        let trees = match &self.simulation.gravity {
            Some(plan) => {
                forest::essential_trees(plan, assignment, particles, |rank| decomposition.rows(rank))
            }
            None => vec![EssentialTree::default(); ranks],
        };
        let work = particles.scalar(Field::Work);
        let leaves = assignment.leaves().len();
        let of_rank = |rank: usize| {
            let rows = decomposition.rows(rank);
            let (halos, tree, synced) = (&halos[rank], trees[rank], synced[rank]);
            // what is given back comes for the particles that others hold
            let brought = halos.received as f64 * probe.brought.columns;
            let given_back = halos.sent as f64 * probe.given_back.columns;
            let refreshed = (8.0 * (brought + given_back)) as u64;
            // The moments of all others' leaves, and the counts ahead of them and of the wishes.
            let others = leaves - assignment.leaves_of(rank).len();
            let gathered = (others * forest::GATHERED + 16 * (ranks - 1)) as u64;
            let held = rows.len() + halos.received;
            let messages = halos.senders as f64 * probe.brought.exchanges
                + halos.receivers as f64 * probe.given_back.exchanges;
            Share {
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
        Counted { leaves, shares: (0..ranks).into_par_iter().map(of_rank).collect() }
    }
}

/// Cut the curve, and tell the rank of each particle by its id.
pub(super) fn owners(decomposition: &mut Decomposition, particles: &Particles) -> Vec<u32> {
    decomposition.assign(particles);
    let mut owners = vec![0; particles.len()];
    for rank in 0..decomposition.ranks() {
        decomposition.rows(rank).for_each(|row| owners[particles.id[row] as usize] = rank as u32);
    }
    owners
}
