//! Simulates the locally essential trees of many ranks in one process. It calls the functions that the ranks
//! use, and counts messages instead of sending them.
use super::essential_tree::{OwnTree, TreeInput};
use super::gravity::{GravityPlan, owned_particles, work_of_each};
use super::kernels::{NodeSource, QUADRUPOLE, node_source};
use super::opening::{Interactions, Opening, TargetBox, WalkNode};
use super::prune::{
    LeafRequest, Pruned, Pruner, SentNode, box_lanes, compact_requests, merged_boxes, requests,
};
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

/// Size of one rank's locally essential tree, and the traffic to build it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EssentialTree {
    /// Nodes of the top and of the tree over the own particles.
    pub own_nodes: usize,
    /// Nodes received from other ranks.
    pub received_nodes: usize,
    /// Particles received from other ranks.
    pub received_particles: usize,
    /// Ranks that this one sends requests to.
    pub owners: usize,
    /// Data received to build it.
    pub traffic: Traffic,
}

/// Reply of one owner to a rank.
#[derive(Clone, Copy, Default)]
struct Reply {
    owner: usize,
    leaves: usize,
    boxes: usize,
    nodes: usize,
    sources: usize,
}

/// The tree over all particles, with its assignment to ranks.
struct PartitionedTree<'a> {
    assignment: &'a Assignment,
    opening: Opening,
    own: OwnTree,
    top: Vec<WalkNode>,
    walk_nodes: Vec<WalkNode>,
}

impl PartitionedTree<'_> {
    /// Computes the replies to a rank, which owns `particles`.
    fn replies(&self, rank: usize, particles: &[[f64; 4]]) -> Vec<Reply> {
        let groups: Vec<TargetBox> = particles.chunks(SUPER_CLUSTER).map(TargetBox::around).collect();
        let boxes = merged_boxes(&groups);
        let lanes = box_lanes(&boxes);
        let mut wanted = requests(&self.opening, &self.top, self.own.leaf_of(), &boxes);
        let own = self.assignment.leaves_of(rank);
        wanted.retain(|request| !own.contains(&(request.leaf as usize)));
        wanted
            .chunk_by(|one, other| self.owner(one) == self.owner(other))
            .map(|requests| {
                let pruner = Pruner {
                    opening: &self.opening,
                    walk_nodes: &self.walk_nodes,
                    tree: self.own.tree(),
                    boxes: &lanes,
                };
                let named = compact_requests(requests, &boxes).1.len();
                let leaves = requests.len();
                let mut reply =
                    Reply { owner: self.owner(&requests[0]), leaves, boxes: named, ..Default::default() };
                for request in requests {
                    let Some(root) = self.own.node_of(request.leaf as usize) else { continue };
                    let mut pruned = Pruned::default();
                    pruner.append(root, request.boxes(), &mut pruned);
                    reply.nodes += pruned.nodes.len();
                    reply.sources += pruned.sources.len();
                }
                reply
            })
            .collect()
    }

    fn owner(&self, request: &LeafRequest) -> usize {
        self.assignment.owner(request.leaf as usize)
    }

    /// Number of nodes of a rank's tree before the exchange.
    fn own_nodes(&self, rank: usize) -> usize {
        self.top.len() + self.own.below()[self.assignment.leaves_of(rank)].iter().sum::<usize>()
    }
}

/// Builds the locally essential tree of every rank of an assignment. `particles` are those of all ranks in
/// key order; `rows_of` returns the rows of a rank. Accelerations are unknown, so
/// [`super::Criterion::RelativeError`] opens every node: only the geometric criterion is simulated
/// faithfully.
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
    let partitioned = PartitionedTree {
        assignment,
        opening,
        top: own.closed_top(&opening),
        walk_nodes: opening.walk_nodes(own.tree()),
        own,
    };
    let replies: Vec<Vec<Reply>> =
        (0..ranks).into_par_iter().map(|rank| partitioned.replies(rank, &all[rows_of(rank)])).collect();
    let mut requests_at = vec![[0u64; 3]; ranks];
    for reply in replies.iter().flatten() {
        let [leaves, boxes, requesters] = &mut requests_at[reply.owner];
        (*leaves, *boxes, *requesters) =
            (*leaves + reply.leaves as u64, *boxes + reply.boxes as u64, *requesters + 1);
    }
    (0..ranks)
        .map(|rank| {
            let others = assignment.leaves().len() - assignment.leaves_of(rank).len();
            let mut tree = received(&replies[rank]);
            tree.own_nodes = partitioned.own_nodes(rank);
            if ranks > 1 {
                tree.traffic += gathering(ranks, (others * GATHERED) as u64);
                let [leaves, boxes, requesters] = requests_at[rank];
                tree.traffic += sending(ranks, leaves * size_of::<LeafRequest>() as u64, requesters);
                tree.traffic += exchanging(boxes * size_of::<TargetBox>() as u64, requesters);
            }
            tree
        })
        .collect()
}

/// Sums up the replies.
fn received(replies: &[Reply]) -> EssentialTree {
    let sum = |of: fn(&Reply) -> usize| replies.iter().map(of).sum::<usize>();
    let owners = replies.len();
    let with_sources = replies.iter().filter(|reply| reply.sources > 0).count();
    let (leaves, nodes, sources) = (sum(|d| d.leaves), sum(|d| d.nodes), sum(|d| d.sources));
    let traffic = exchanging((leaves * size_of::<[u64; 3]>()) as u64, owners as u64)
        + exchanging((nodes * size_of::<SentNode>()) as u64, owners as u64)
        + exchanging((sources * size_of::<[f64; 4]>()) as u64, with_sources as u64);
    EssentialTree {
        own_nodes: 0,
        received_nodes: nodes - leaves,
        received_particles: sources,
        owners,
        traffic,
    }
}

/// Builds the tree of one rank that owns everything.
fn whole(plan: &GravityPlan, leaves: &Leaves, keys: &[u64], particles: &[[f64; 4]]) -> OwnTree {
    let particles = particles.to_vec();
    let input = TreeInput { leaves, own: 0..leaves.len(), keys, particles, bucket: plan.bucket };
    OwnTree::build(&Communicator::solo(), input)
}

/// Computes the work that gravity counts for each particle, in lane pairs, on one rank. `particles` are
/// sorted by key.
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

/// Number of timings; the minimum is used.
const REPEATS: usize = 5;

/// Bytes per coarse leaf in the all-gather.
pub const GATHERED: usize = size_of::<Moments>();

/// Cost of the top of the tree per coarse leaf, on every rank.
#[derive(Clone, Copy, Debug, Default)]
pub struct TopCost {
    /// Peak memory in bytes per leaf: the moments as received and in order, the top of the tree, its
    /// acceptance tests and its packed sources.
    pub held: usize,
    /// Seconds per leaf to build the top and to prepare it for the walk.
    pub seconds: f64,
}

/// Measures the cost of the top of the tree for these coarse leaves and the particles of all ranks.
pub fn top_cost(plan: &GravityPlan, assignment: &Assignment, particles: &Particles) -> TopCost {
    let opening = plan.opening();
    let own = whole(plan, assignment.leaves(), &particles.key, &owned_particles(particles));
    let of_leaf = |leaf| own.node_of(leaf).map_or_else(Moments::default, |node| own.tree().moments[node]);
    let moments: Vec<Moments> = (0..assignment.leaves().len()).map(of_leaf).collect();
    let prepare = || {
        let start = Instant::now();
        let (top, _) = Tree::top(assignment.leaves(), &moments);
        let walk_nodes = opening.walk_nodes(&top);
        let units = Units::of(&top, None);
        let sources: Vec<NodeSource<f32, QUADRUPOLE>> =
            top.moments.iter().map(|m| node_source(m, units.length, units.mass)).collect();
        std::hint::black_box((walk_nodes, sources));
        (top.nodes.len(), start.elapsed().as_secs_f64())
    };
    // other programs can only make it slower: take the minimum
    let times: Vec<(usize, f64)> = (0..REPEATS).map(|_| prepare()).collect();
    let seconds = times.iter().map(|(_, seconds)| *seconds).fold(f64::INFINITY, f64::min);
    let leaves = moments.len();
    let node = size_of::<Node>()
        + size_of::<Moments>()
        + size_of::<WalkNode>()
        + size_of::<NodeSource<f32, QUADRUPOLE>>();
    TopCost { held: 2 * size_of::<Moments>() + node * times[0].0 / leaves, seconds: seconds / leaves as f64 }
}
