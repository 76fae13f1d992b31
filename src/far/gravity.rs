//! Self-gravity by a Barnes-Hut tree (Barnes & Hut 1986), with one traversal per super-cluster of 64
//! particles.
use super::acceleration_estimate::estimate_accelerations;
use super::essential_tree::{OwnTree, TreeInput};
use super::kernels::Softened;
use super::long_range::{CUT, MeshField, PeriodicMesh, PeriodicSettings};
use super::opening::{Criterion, Opening, TargetBox};
use super::softening::{SPLINE_SUPPORT, SofteningKernel};
use super::walk::{GroupField, Units, Walk};
use crate::Result;
use crate::comm::Communicator;
use crate::domain::Domain;
use crate::faults::{Fault, planted};
use crate::particles::blocks::{BLOCK_ROWS, map_blocks};
use crate::particles::{Field, Particles, SUPER_CLUSTER};
use crate::simd::Precision;
use crate::space::SimulationBox;
use crate::tree::Leaves;
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
    /// Mesh points per dimension in a periodic box; `None`: chosen from the number of particles.
    pub mesh: Option<[usize; 3]>,
    /// Split length r_s of a periodic box in units of the largest mesh spacing; `None`: 1.
    pub split: Option<f64>,
    /// Cut of the short-range part in units of r_s, 3 to 7.
    pub cut: f64,
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
            mesh: None,
            split: None,
            cut: CUT,
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
            split: None,
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
/// for G = 1. The potential includes the particle itself. In a periodic box, `mesh` has the long-range part of
/// the owned particles. Collective.
pub(crate) fn solve(
    plan: &GravityPlan,
    comm: &Communicator,
    input: TreeInput,
    mesh: Option<&MeshField>,
    double: bool,
) -> (Vec<GroupField>, GravityStatistics) {
    let split = mesh.map(|mesh| mesh.split);
    let opening = Opening { split, ..plan.opening() };
    let start = Instant::now();
    let own = OwnTree::build(comm, input);
    let mut boxes: Vec<TargetBox> =
        own.tree().sources.par_chunks(SUPER_CLUSTER).with_min_len(16).map(TargetBox::around).collect();
    if let Criterion::RelativeError(_) = plan.criterion {
        let of_mesh = |group: usize| mesh.map_or([0.0; 3], |mesh| mesh.mean_acceleration(group));
        let softening = plan.softening;
        estimate_accelerations(own.tree(), softening, split.as_ref(), of_mesh, &mut boxes);
    }
    let built = Instant::now();
    let essential = own.exchange(comm, &opening, &boxes);
    let targets = &essential.tree.sources[..essential.owned];
    let exchanged = Instant::now();
    let walk = Walk {
        opening,
        nodes: &essential.walk_nodes,
        tree: &essential.tree,
        units: Units::of(&essential.tree, split.as_ref()),
        softened: plan.softened(),
    };
    let mut fields = walk.field(targets, &boxes, double);
    if let Some(mesh) = mesh {
        let mass = essential.tree.moments.first().map_or(0.0, |root| root.mass);
        mesh.add_to(&mut fields, mass * mesh.split.tail());
    }
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

/// Self-gravity, with what it keeps between evaluations: the mesh of a periodic box.
#[derive(Debug)]
pub struct SelfGravity {
    /// The parameters.
    pub plan: GravityPlan,
    mesh: Option<PeriodicMesh>,
}

impl SelfGravity {
    /// Makes the solver of a plan.
    pub fn new(plan: &GravityPlan) -> Self {
        SelfGravity { plan: *plan, mesh: None }
    }

    /// Adds gravity to the acceleration of the owned rows, sets their [`Field::Potential`] (added if absent),
    /// and adds lane pairs to their [`Field::Work`] if present. The particles must be distributed over ranks
    /// by coarse leaves. Collective.
    ///
    /// `leaves` are the coarse leaves, equal on every rank. This rank owns the range `own` of them, and all
    /// particles in it.
    ///
    /// # Errors
    /// [`crate::Error::Usage`] in a box that is periodic in some dimensions only.
    pub fn evaluate_in_cells(
        &mut self,
        comm: &Communicator,
        bx: &SimulationBox,
        (leaves, own): (&Leaves, Range<usize>),
        particles: &mut Particles,
        precision: Precision,
    ) -> Result<GravityStatistics> {
        let owned = owned_particles(particles);
        let mesh = self.long_range(comm, bx, &owned, precision)?;
        let keys = &particles.key[particles.owned()];
        let input = TreeInput { leaves, own, keys, particles: owned, bucket: self.plan.bucket };
        let double = precision == Precision::Double;
        let (fields, statistics) = solve(&self.plan, comm, input, mesh.as_ref(), double);
        store(&self.plan, &fields, particles);
        Ok(statistics)
    }

    /// [`Self::evaluate_in_cells`] on the particles of a synchronized domain. Collective.
    ///
    /// # Errors
    /// Those of [`Self::evaluate_in_cells`].
    pub fn evaluate(
        &mut self,
        domain: &Domain,
        particles: &mut Particles,
        precision: Precision,
    ) -> Result<GravityStatistics> {
        let (comm, coarse) = (&domain.comm, domain.coarse());
        let cells = (coarse.leaves(), coarse.leaves_of(comm.rank()));
        self.evaluate_in_cells(comm, &domain.bx, cells, particles, precision)
    }

    /// The long-range part of the field at the own particles `[x, y, z, mass]` of a periodic box, and its force
    /// split; `None` in an open box. Collective.
    ///
    /// # Errors
    /// [`crate::Error::Usage`] in a box that is periodic in some dimensions only.
    pub(crate) fn long_range(
        &mut self,
        comm: &Communicator,
        bx: &SimulationBox,
        own: &[[f64; 4]],
        precision: Precision,
    ) -> Result<Option<MeshField>> {
        if !bx.any_periodic() {
            return Ok(None);
        }
        let mut particles = [own.len() as u64];
        comm.all_sum(&mut particles);
        let settings = PeriodicSettings::new(&self.plan, bx, particles[0])?;
        let mesh = match self.mesh.take().filter(|mesh| mesh.is_for(bx, &settings, precision)) {
            Some(mesh) => mesh,
            None => PeriodicMesh::new(comm, bx, settings, precision),
        };
        Ok(Some(self.mesh.insert(mesh).field(comm, own)))
    }
}

/// Evaluates gravity once: see [`SelfGravity::evaluate_in_cells`]. Collective.
///
/// # Errors
/// Those of [`SelfGravity::evaluate_in_cells`].
pub fn gravity_in_cells(
    plan: &GravityPlan,
    comm: &Communicator,
    bx: &SimulationBox,
    cells: (&Leaves, Range<usize>),
    particles: &mut Particles,
    precision: Precision,
) -> Result<GravityStatistics> {
    SelfGravity::new(plan).evaluate_in_cells(comm, bx, cells, particles, precision)
}

/// Evaluates gravity once on the particles of a synchronized domain: see [`SelfGravity::evaluate`].
/// Collective.
///
/// # Errors
/// Those of [`SelfGravity::evaluate`].
pub fn gravity(
    plan: &GravityPlan,
    domain: &Domain,
    particles: &mut Particles,
    precision: Precision,
) -> Result<GravityStatistics> {
    SelfGravity::new(plan).evaluate(domain, particles, precision)
}
