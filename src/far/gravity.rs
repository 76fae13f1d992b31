//! Self-gravity by a tree (Barnes & Hut 1986): one traversal per super-cluster of 64 particles.
use super::focus::{OwnTree, Share};
use super::kernels::Softened;
use super::opening::{Criterion, Opening, TargetBox};
use super::softening::{SPLINE_SUPPORT, SofteningKernel};
use super::walk::{GroupField, Units, Walk};
use crate::comm::Communicator;
use crate::domain::Domain;
use crate::pair::Precision;
use crate::pair::pieces::{PIECE, over_pieces};
use crate::particles::{Field, Particles, SUPER_CLUSTER};
use crate::space::SimulationBox;
use crate::tree::Leaves;
use crate::{Error, Result};
use rayon::prelude::*;
use std::ops::Range;
use std::time::Instant;

/// How far the multipole expansion of a node goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expansion {
    /// Through the second moments.
    Quadrupole,
    /// Through the third moments.
    Octupole,
}

/// How gravity is computed.
#[derive(Clone, Copy, Debug)]
pub struct GravityPlan {
    /// The gravitational constant G, in the run's units.
    pub constant: f64,
    /// Opening angle theta; 0 opens every node, which is direct summation.
    pub opening_angle: f64,
    /// When a node is accepted.
    pub criterion: Criterion,
    /// Order of the nodes' expansion.
    pub expansion: Expansion,
    /// Softening length eps; 0 for point masses.
    pub softening: f64,
    /// Shape of the softened masses.
    pub kernel: SofteningKernel,
    /// Leaves of the tree hold at most so many particles.
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

/// What one evaluation of gravity did on this rank.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GravityStatistics {
    /// Owned particles.
    pub particles: usize,
    /// Particle-particle interactions, empty lanes not counted.
    pub pairs: u64,
    /// Particle-node interactions.
    pub nodes: u64,
    /// Nodes of the tree over all own particles and the top.
    pub own_nodes: usize,
    /// Nodes received from other ranks.
    pub received_nodes: usize,
    /// Particles received from other ranks.
    pub received_particles: usize,
    /// Seconds to build the own tree, to exchange, and to walk and evaluate.
    pub seconds: [f64; 3],
}

/// How many pairs one interaction with a node costs as much as.
const NODE_COST: u64 = 4;

/// How many lane pairs of gravity cost as much as one of the passes over neighbor lists, which have more to compute and to
/// gather: `bench decomposition` measures both. Without it ranks with much gravity would own too little.
const PAIRS_OF_PASSES: f64 = 1.6;

impl GravityPlan {
    pub(crate) fn opening(&self) -> Opening {
        Opening {
            criterion: self.criterion,
            angle: self.opening_angle,
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

/// What gravity does to the particles of `share`, 64 at a time: acceleration and minus the potential for G = 1,
/// the particle itself included in the potential. Collective.
pub(crate) fn solve(
    plan: &GravityPlan,
    comm: &Communicator,
    share: Share,
    double: bool,
) -> (Vec<GroupField>, GravityStatistics) {
    let opening = plan.opening();
    let start = Instant::now();
    let own = OwnTree::build(comm, share);
    let mut boxes: Vec<TargetBox> =
        own.tree().sources.par_chunks(SUPER_CLUSTER).with_min_len(16).map(TargetBox::around).collect();
    if let Criterion::RelativeError(_) = plan.criterion {
        super::rough::estimate_accelerations(own.tree(), plan.softening, &mut boxes);
    }
    let built = Instant::now();
    let focus = own.exchange(comm, &opening, &boxes);
    let targets = &focus.tree.sources[..focus.owned];
    let exchanged = Instant::now();
    let walk = Walk {
        opening,
        nodes: &focus.walk_nodes,
        tree: &focus.tree,
        units: Units::of(&focus.tree),
        softened: plan.softened(),
    };
    let fields = walk.field(targets, &boxes, double);
    let mut statistics = GravityStatistics {
        particles: targets.len(),
        own_nodes: focus.own_nodes,
        received_nodes: focus.received_nodes,
        received_particles: focus.received_particles,
        seconds: [built - start, exchanged - built, exchanged.elapsed()].map(|time| time.as_secs_f64()),
        ..Default::default()
    };
    for (field, group) in fields.iter().zip(targets.chunks(SUPER_CLUSTER)) {
        statistics.pairs += (field.points * group.len()) as u64;
        statistics.nodes += (field.nodes * group.len()) as u64;
    }
    (fields, statistics)
}

/// Write what `solve` found to the owned rows: adds to the acceleration, sets the potential, adds to the work.
fn store(plan: &GravityPlan, fields: &[GroupField], particles: &mut Particles) {
    const { assert!(PIECE.is_multiple_of(SUPER_CLUSTER), "a group is in one piece") };
    let first = particles.owned().start;
    let own_share = plan.kernel.central(plan.softening);
    particles.add(&[Field::Potential]);
    let fields_of = |piece: usize| &fields[(piece - first) / SUPER_CLUSTER..];
    let wanted = [
        (Field::Acceleration, 0),
        (Field::Acceleration, 1),
        (Field::Acceleration, 2),
        (Field::Potential, 0),
        (Field::Mass, 0),
    ];
    over_pieces(particles, wanted, |piece| {
        let [x, y, z, potential, mass] = piece.columns;
        for (d, column) in [x, y, z].into_iter().enumerate() {
            for (rows, field) in column.chunks_mut(SUPER_CLUSTER).zip(fields_of(piece.first)) {
                for (value, gathered) in rows.iter_mut().zip(&field.gathered[d]) {
                    *value += plan.constant * gathered;
                }
            }
        }
        let groups = potential.chunks_mut(SUPER_CLUSTER).zip(mass.chunks(SUPER_CLUSTER));
        for ((rows, masses), field) in groups.zip(fields_of(piece.first)) {
            for ((value, mass), gathered) in rows.iter_mut().zip(masses).zip(&field.gathered[3]) {
                *value = -plan.constant * (gathered - mass * own_share);
            }
        }
    });
    if particles.has(Field::Work) {
        over_pieces(particles, [(Field::Work, 0)], |piece| {
            let [work] = piece.columns;
            for (rows, field) in work.chunks_mut(SUPER_CLUSTER).zip(fields_of(piece.first)) {
                let each = work_of_each(field.points, field.nodes, rows.len());
                rows.iter_mut().for_each(|value| *value += each);
            }
        });
    }
}

/// The work of each of the particles of a group, in lane pairs of the passes, that met so many particles and nodes. The
/// whole group is evaluated even where it has fewer particles.
pub(super) fn work_of_each(points: usize, nodes: usize, particles: usize) -> f64 {
    let lanes = (points as u64 + NODE_COST * nodes as u64) * SUPER_CLUSTER as u64;
    lanes as f64 / particles as f64 / PAIRS_OF_PASSES
}

/// The owned particles as x, y, z, mass.
pub(super) fn owned_particles(particles: &Particles) -> Vec<[f64; 4]> {
    let [x, y, z] = particles.vector(Field::Position);
    let mass = particles.scalar(Field::Mass);
    let rows = particles.owned().into_par_iter().with_min_len(PIECE);
    rows.map(|row| [x[row], y[row], z[row], mass[row]]).collect()
}

/// Gravity on particles whose keys are split among the ranks by coarse leaves: adds to the acceleration of the owned
/// rows, sets their potential (a field they are given), and adds lane pairs to their work if that field is there. Collective.
///
/// `leaves` are the coarse leaves, the same on every rank; this rank owns those in `own`, and all particles in them.
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
    let share = Share { leaves, own, keys, particles: owned, bucket: plan.bucket };
    let (fields, statistics) = solve(plan, comm, share, precision == Precision::Double);
    store(plan, &fields, particles);
    Ok(statistics)
}

/// Gravity on the particles of a synchronized domain: see [`gravity_in_cells`]. Collective.
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
