//! The locally essential trees of many ranks, found in one process: what the ranks would ask each other for and receive,
//! by the functions with which they do it, counted instead of sent.
use super::focus::{OwnTree, Share};
use super::gravity::{GravityPlan, owned_particles, work_of_each};
use super::kernels::{NodeSource, QUADRUPOLE, node_source};
use super::opening::{Interactions, Opening, TargetBox, WalkNode};
use super::prune::{Pruned, Pruning, SentNode, Wish, addressed, lanes_of, representatives, wishes};
use super::tree::{Node, Tree};
use super::walk::Units;
use crate::comm::Communicator;
use crate::comm::traffic::{Traffic, exchanging, gathering, sending};
use crate::domain::assign::Assignment;
use crate::particles::{Particles, SUPER_CLUSTER};
use crate::tree::{Leaves, Moments};
use rayon::prelude::*;
use std::ops::Range;
use std::time::Instant;

/// What one rank has of the tree, and what it takes to get it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EssentialTree {
    /// Nodes of the top and of the tree over the own particles.
    pub own_nodes: usize,
    /// Nodes received from other ranks.
    pub received_nodes: usize,
    /// Particles received from other ranks.
    pub received_particles: usize,
    /// Ranks that this one asks.
    pub owners: usize,
    /// What is received to have it.
    pub traffic: Traffic,
}

/// What a rank gets from one other.
#[derive(Clone, Copy, Default)]
struct Delivery {
    owner: usize,
    leaves: usize,
    boxes: usize,
    nodes: usize,
    sources: usize,
}

/// The tree over all particles as the ranks divide it.
struct Forest<'a> {
    assignment: &'a Assignment,
    opening: Opening,
    own: OwnTree,
    top: Vec<WalkNode>,
    walk_nodes: Vec<WalkNode>,
}

impl Forest<'_> {
    /// What a rank gets for the groups of its particles.
    fn deliveries(&self, rank: usize, particles: &[[f64; 4]]) -> Vec<Delivery> {
        let groups: Vec<TargetBox> = particles.chunks(SUPER_CLUSTER).map(TargetBox::around).collect();
        let boxes = representatives(&groups);
        let lanes = lanes_of(&boxes);
        let mut wanted = wishes(&self.opening, &self.top, self.own.leaf_of(), &boxes);
        let own = self.assignment.leaves_of(rank);
        wanted.retain(|wish| !own.contains(&(wish.leaf as usize)));
        wanted
            .chunk_by(|one, other| self.owner(one) == self.owner(other))
            .map(|wishes| {
                let pruning = Pruning {
                    opening: &self.opening,
                    walk_nodes: &self.walk_nodes,
                    tree: self.own.tree(),
                    boxes: &lanes,
                };
                let named = addressed(wishes, &boxes).1.len();
                let leaves = wishes.len();
                let mut delivery =
                    Delivery { owner: self.owner(&wishes[0]), leaves, boxes: named, ..Default::default() };
                for wish in wishes {
                    let Some(root) = self.own.node_of(wish.leaf as usize) else { continue };
                    let mut pruned = Pruned::default();
                    pruning.append(root, wish.boxes(), &mut pruned);
                    delivery.nodes += pruned.nodes.len();
                    delivery.sources += pruned.sources.len();
                }
                delivery
            })
            .collect()
    }

    fn owner(&self, wish: &Wish) -> usize {
        self.assignment.owner(wish.leaf as usize)
    }

    /// Nodes of the tree of a rank before it has received any.
    fn own_nodes(&self, rank: usize) -> usize {
        self.top.len() + self.own.below()[self.assignment.leaves_of(rank)].iter().sum::<usize>()
    }
}

/// The locally essential tree of every rank of an assignment. `particles` are those of all ranks, in key order; `rows_of`
/// tells those of a rank. With [`super::Criterion::RelativeError`] the groups' accelerations are taken as not known,
/// which opens every node: only the geometric criterion is simulated faithfully.
pub fn essential_trees(
    plan: &GravityPlan,
    assignment: &Assignment,
    particles: &Particles,
    rows_of: impl Fn(usize) -> Range<usize> + Sync,
) -> Vec<EssentialTree> {
    let ranks = assignment.ranks();
    let all = owned_particles(particles);
    let opening = plan.opening();
    let own = whole(plan, assignment.leaves(), &particles.key, &all);
    let forest = Forest {
        assignment,
        opening,
        top: own.closed_top(&opening),
        walk_nodes: opening.walk_nodes(own.tree()),
        own,
    };
    let deliveries: Vec<Vec<Delivery>> =
        (0..ranks).into_par_iter().map(|rank| forest.deliveries(rank, &all[rows_of(rank)])).collect();
    let mut asked = vec![[0u64; 3]; ranks];
    for delivery in deliveries.iter().flatten() {
        let [leaves, boxes, askers] = &mut asked[delivery.owner];
        (*leaves, *boxes, *askers) =
            (*leaves + delivery.leaves as u64, *boxes + delivery.boxes as u64, *askers + 1);
    }
    (0..ranks)
        .map(|rank| {
            let others = assignment.leaves().len() - assignment.leaves_of(rank).len();
            let mut tree = received(&deliveries[rank]);
            tree.own_nodes = forest.own_nodes(rank);
            if ranks > 1 {
                tree.traffic += gathering(ranks, (others * GATHERED) as u64);
                let [leaves, boxes, askers] = asked[rank];
                tree.traffic += sending(ranks, leaves * size_of::<Wish>() as u64, askers);
                tree.traffic += exchanging(boxes * size_of::<TargetBox>() as u64, askers);
            }
            tree
        })
        .collect()
}

/// What arrives of the trees of others.
fn received(deliveries: &[Delivery]) -> EssentialTree {
    let sum = |of: fn(&Delivery) -> usize| deliveries.iter().map(of).sum::<usize>();
    let owners = deliveries.len();
    let bringing = deliveries.iter().filter(|delivery| delivery.sources > 0).count();
    let (leaves, nodes, sources) = (sum(|d| d.leaves), sum(|d| d.nodes), sum(|d| d.sources));
    let traffic = exchanging((leaves * size_of::<[u64; 3]>()) as u64, owners as u64)
        + exchanging((nodes * size_of::<SentNode>()) as u64, owners as u64)
        + exchanging((sources * size_of::<[f64; 4]>()) as u64, bringing as u64);
    EssentialTree {
        own_nodes: 0,
        received_nodes: nodes - leaves,
        received_particles: sources,
        owners,
        traffic,
    }
}

/// The tree of one rank that owns everything.
fn whole(plan: &GravityPlan, leaves: &Leaves, keys: &[u64], particles: &[[f64; 4]]) -> OwnTree {
    let particles = particles.to_vec();
    let share = Share { leaves, own: 0..leaves.len(), keys, particles, bucket: plan.bucket };
    OwnTree::build(&Communicator::solo(), share)
}

/// The work that gravity counts for each particle, in lane pairs, when one rank has all. `particles` are sorted by key.
pub fn work(plan: &GravityPlan, keys: &[u64], particles: &[[f64; 4]]) -> Vec<f64> {
    let mut leaves = Leaves::root();
    leaves.converge(keys, (keys.len() as u64 / 128).max(64));
    let (own, opening) = (whole(plan, &leaves, keys, particles), plan.opening());
    let nodes = opening.walk_nodes(own.tree());
    let of_group = |(stack, found): &mut (Vec<u32>, Interactions), group: &[[f64; 4]]| {
        opening.walk(&nodes, &TargetBox::around(group), stack, found);
        let points: usize = found.rows.iter().map(|(first, end)| (end - first) as usize).sum();
        vec![work_of_each(points, found.nodes.len(), group.len()); group.len()]
    };
    particles
        .par_chunks(SUPER_CLUSTER)
        .with_max_len(16)
        .map_init(<(Vec<u32>, Interactions)>::default, of_group)
        .flatten_iter()
        .collect()
}

/// How often a time is measured; the least counts.
const REPEATS: usize = 5;

/// Bytes of each coarse leaf that every rank gathers.
pub const GATHERED: usize = size_of::<Moments>();

/// What the coarse leaves of all ranks cost each of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct TopCost {
    /// Most bytes that are held at once, a leaf: the moments as they arrive and in order, the top of the tree, what the
    /// walk reads of it and its sources.
    pub held: usize,
    /// Seconds to build the top and to prepare it for the walk, a leaf.
    pub seconds: f64,
}

/// What the top of the tree costs, measured with these coarse leaves and particles of all ranks.
pub fn top_cost(plan: &GravityPlan, assignment: &Assignment, particles: &Particles) -> TopCost {
    let opening = plan.opening();
    let own = whole(plan, assignment.leaves(), &particles.key, &owned_particles(particles));
    let of_leaf = |leaf| own.node_of(leaf).map_or_else(Moments::default, |node| own.tree().moments[node]);
    let moments: Vec<Moments> = (0..assignment.leaves().len()).map(of_leaf).collect();
    let prepare = || {
        let start = Instant::now();
        let (top, _) = Tree::top(assignment.leaves(), &moments);
        let walk_nodes = opening.walk_nodes(&top);
        let units = Units::of(&top);
        let sources: Vec<NodeSource<f32, QUADRUPOLE>> =
            top.moments.iter().map(|m| node_source(m, units.length, units.mass)).collect();
        std::hint::black_box((walk_nodes, sources));
        (top.nodes.len(), start.elapsed().as_secs_f64())
    };
    // Other programs only add to a time.
    let times: Vec<(usize, f64)> = (0..REPEATS).map(|_| prepare()).collect();
    let seconds = times.iter().map(|(_, seconds)| *seconds).fold(f64::INFINITY, f64::min);
    let leaves = moments.len();
    let node = size_of::<Node>()
        + size_of::<Moments>()
        + size_of::<WalkNode>()
        + size_of::<NodeSource<f32, QUADRUPOLE>>();
    TopCost { held: 2 * size_of::<Moments>() + node * times[0].0 / leaves, seconds: seconds / leaves as f64 }
}
