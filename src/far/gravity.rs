//! Self-gravity by a Barnes-Hut tree (Barnes & Hut 1986), with one traversal per super-cluster of 64
//! particles.
use super::essential_tree::{OwnTree, TreeInput};
use super::kernels::Softened;
use super::opening::{Criterion, Opening, TargetBox};
use super::softening::{SPLINE_SUPPORT, SofteningKernel};
use super::walk::{GroupField, Units, Walk};
use crate::comm::Communicator;
use crate::domain::Domain;
use crate::faults::{Fault, planted};
use crate::particles::blocks::{BLOCK_ROWS, map_blocks};
use crate::particles::{Field, Particles, SUPER_CLUSTER};
use crate::simd::Precision;
use crate::space::SimulationBox;
use crate::tree::Leaves;
use crate::{Error, Result};
use rayon::prelude::*;
use std::ops::Range;
use std::time::Instant;

/// Order of a node's multipole expansion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expansion {
    /// Up to the second moments.
    Quadrupole,
    /// Up to the third moments.
    Octupole,
}

/// Parameters of gravity.
#[derive(Clone, Copy, Debug)]
pub struct GravityPlan {
    /// The gravitational constant G, in the run's units.
    pub constant: f64,
    /// Opening angle theta. 0 opens every node: direct summation.
    pub opening_angle: f64,
    /// Acceptance criterion.
    pub criterion: Criterion,
    /// Order of the multipole expansion.
    pub expansion: Expansion,
    /// Softening length eps; 0 for point masses.
    pub softening: f64,
    /// Shape of the softened masses.
    pub kernel: SofteningKernel,
    /// Maximum number of particles in a leaf of the tree.
    pub bucket: usize,
}

impl Default for GravityPlan {
    fn default() -> Self {
        Self {
            constant: 1.0,
            opening_angle: 0.5,
            criterion: Criterion::Geometric,
            expansion: Expansion::Quadrupole,
            softening: 0.0,
            kernel: SofteningKernel::Plummer,
            bucket: 32,
        }
    }
}

/// Statistics of one evaluation of gravity on this rank.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GravityStatistics {
    /// Owned particles.
    pub particles: usize,
    /// Particle-particle interactions, without empty lanes.
    pub pairs: u64,
    /// Particle-node interactions.
    pub nodes: u64,
    /// Nodes of the top and of the tree over the own particles.
    pub own_nodes: usize,
    /// Nodes received from other ranks.
    pub received_nodes: usize,
    /// Particles received from other ranks.
    pub received_particles: usize,
    /// Seconds of: building the own tree, the exchange, walk and evaluation.
    pub seconds: [f64; 3],
}

/// Cost of one particle-node interaction, in particle-particle interactions.
const NODE_COST: u64 = 4;

/// Cost of one pair of a neighbor-list pass, in lane pairs of gravity (`bench decomposition` measures both).
/// List passes compute and gather more. Without this factor, ranks with much gravity would own too little.
const LANE_PAIRS_PER_LIST_PAIR: f64 = 1.6;

impl GravityPlan {
    pub(crate) fn opening(&self) -> Opening {
        Opening {
            criterion: self.criterion,
            angle: if planted(Fault::OpeningIgnored) { 2.0 } else { 1.0 } * self.opening_angle,
            range: self.kernel.range(self.softening),
            order: if self.expansion == Expansion::Quadrupole { 2 } else { 3 },
        }
    }

    fn softened(&self) -> Softened {
        match self.kernel {
            SofteningKernel::Plummer => Softened { plummer: self.softening, spline: 0.0 },
            SofteningKernel::Spline => Softened { plummer: 0.0, spline: SPLINE_SUPPORT * self.softening },
        }
    }
}

/// Evaluates gravity on the owned particles of `input`, 64 at a time: acceleration and minus the potential
/// for G = 1. The potential includes the particle itself. Collective.
pub(crate) fn solve(
    plan: &GravityPlan,
    comm: &Communicator,
    input: TreeInput,
    double: bool,
) -> (Vec<GroupField>, GravityStatistics) {
    let opening = plan.opening();
    let start = Instant::now();
    let own = OwnTree::build(comm, input);
    let mut boxes: Vec<TargetBox> =
        own.tree().sources.par_chunks(SUPER_CLUSTER).with_min_len(16).map(TargetBox::around).collect();
    if let Criterion::RelativeError(_) = plan.criterion {
        super::acceleration_estimate::estimate_accelerations(own.tree(), plan.softening, &mut boxes);
    }
    let built = Instant::now();
    let essential = own.exchange(comm, &opening, &boxes);
    let targets = &essential.tree.sources[..essential.owned];
    let exchanged = Instant::now();
    let walk = Walk {
        opening,
        nodes: &essential.walk_nodes,
        tree: &essential.tree,
        units: Units::of(&essential.tree),
        softened: plan.softened(),
    };
    let fields = walk.field(targets, &boxes, double);
    let mut statistics = GravityStatistics {
        particles: targets.len(),
        own_nodes: essential.own_nodes,
        received_nodes: essential.received_nodes,
        received_particles: essential.received_particles,
        seconds: [built - start, exchanged - built, exchanged.elapsed()].map(|time| time.as_secs_f64()),
        ..Default::default()
    };
    for (field, group) in fields.iter().zip(targets.chunks(SUPER_CLUSTER)) {
        statistics.pairs += (field.points * group.len()) as u64;
        statistics.nodes += (field.nodes * group.len()) as u64;
    }
    (fields, statistics)
}

/// Writes the result of [`solve`] to the owned rows: adds to the acceleration, sets the potential, adds to
/// the work.
fn store(plan: &GravityPlan, fields: &[GroupField], particles: &mut Particles) {
    const { assert!(BLOCK_ROWS.is_multiple_of(SUPER_CLUSTER), "a row block is a whole number of groups") };
    let first = particles.owned().start;
    let self_potential =
        if planted(Fault::SelfPotential) { 0.0 } else { plan.kernel.central(plan.softening) };
    particles.add(&[Field::Potential]);
    let fields_of = |block: usize| &fields[(block - first) / SUPER_CLUSTER..];
    let wanted = [
        (Field::Acceleration, 0),
        (Field::Acceleration, 1),
        (Field::Acceleration, 2),
        (Field::Potential, 0),
        (Field::Mass, 0),
    ];
    map_blocks(particles, wanted, |block| {
        let [x, y, z, potential, mass] = block.columns;
        for (d, column) in [x, y, z].into_iter().enumerate() {
            for (rows, field) in column.chunks_mut(SUPER_CLUSTER).zip(fields_of(block.first)) {
                for (value, gathered) in rows.iter_mut().zip(&field.gathered[d]) {
                    *value += plan.constant * gathered;
                }
            }
        }
        let groups = potential.chunks_mut(SUPER_CLUSTER).zip(mass.chunks(SUPER_CLUSTER));
        for ((rows, masses), field) in groups.zip(fields_of(block.first)) {
            for ((value, mass), gathered) in rows.iter_mut().zip(masses).zip(&field.gathered[3]) {
                *value = -plan.constant * (gathered - mass * self_potential);
            }
        }
    });
    if particles.has(Field::Work) {
        map_blocks(particles, [(Field::Work, 0)], |block| {
            let [work] = block.columns;
            for (rows, field) in work.chunks_mut(SUPER_CLUSTER).zip(fields_of(block.first)) {
                let each = work_of_each(field.points, field.nodes, rows.len());
                rows.iter_mut().for_each(|value| *value += each);
            }
        });
    }
}

/// Work of each particle of a group, in lane pairs of the list passes. The group interacts with `points`
/// particles and `nodes` nodes. All lanes are counted: a partial group costs as much as a full one.
pub(super) fn work_of_each(points: usize, nodes: usize, particles: usize) -> f64 {
    let lanes = (points as u64 + NODE_COST * nodes as u64) * SUPER_CLUSTER as u64;
    lanes as f64 / particles as f64 / LANE_PAIRS_PER_LIST_PAIR
}

/// Returns the owned particles as `[x, y, z, mass]`.
pub(super) fn owned_particles(particles: &Particles) -> Vec<[f64; 4]> {
    let [x, y, z] = particles.vector(Field::Position);
    let mass = particles.scalar(Field::Mass);
    let rows = particles.owned().into_par_iter().with_min_len(BLOCK_ROWS);
    rows.map(|row| [x[row], y[row], z[row], mass[row]]).collect()
}

/// Adds gravity to the acceleration of the owned rows, sets their [`Field::Potential`] (added if absent), and
/// adds lane pairs to their [`Field::Work`] if present. The particles must be distributed over ranks by
/// coarse leaves. Collective.
///
/// `leaves` are the coarse leaves, equal on every rank. This rank owns the range `own` of them, and all
/// particles in it.
///
/// # Errors
/// [`Error::Usage`] in a periodic box.
pub fn gravity_in_cells(
    plan: &GravityPlan,
    comm: &Communicator,
    bx: &SimulationBox,
    (leaves, own): (&Leaves, Range<usize>),
    particles: &mut Particles,
    precision: Precision,
) -> Result<GravityStatistics> {
    if bx.any_periodic() {
        return Err(Error::usage(
            "gravity in a periodic box is not supported: the tree sums over the particles, not over their images",
            "write boundary = \"open\" in [space], or remove [gravity] from the deck",
        ));
    }
    let owned = owned_particles(particles);
    let keys = &particles.key[particles.owned()];
    let input = TreeInput { leaves, own, keys, particles: owned, bucket: plan.bucket };
    let (fields, statistics) = solve(plan, comm, input, precision == Precision::Double);
    store(plan, &fields, particles);
    Ok(statistics)
}

/// Evaluates gravity on the particles of a synchronized domain: see [`gravity_in_cells`]. Collective.
///
/// # Errors
/// [`Error::Usage`] in a periodic box.
pub fn gravity(
    plan: &GravityPlan,
    domain: &Domain,
    particles: &mut Particles,
    precision: Precision,
) -> Result<GravityStatistics> {
    let (comm, coarse) = (&domain.comm, domain.coarse());
    let cells = (coarse.leaves(), coarse.leaves_of(comm.rank()));
    gravity_in_cells(plan, comm, &domain.bx, cells, particles, precision)
}
