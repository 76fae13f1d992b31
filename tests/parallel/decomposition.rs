//! A decomposition that is only simulated is the one that ranks have: the same shares, halos, trees, bytes and messages.

use crate::common::domain_cases::{Cloud, Kind, boxes, radius};
use hilbrium::comm::run_local;
use hilbrium::comm::traffic::Traffic;
use hilbrium::domain::decomposition::{Decomposition, Width};
use hilbrium::domain::{Domain, DomainSettings, PairSharing};
use hilbrium::far::simulated_ranks::{EssentialTree, essential_trees};
use hilbrium::far::{GravityPlan, gravity};
use hilbrium::pair::Precision;
use hilbrium::particles::{Field, Particles};
use hilbrium::space::SimulationBox;

const FIELDS: &[Field] = &[
    Field::Position,
    Field::Velocity,
    Field::Mass,
    Field::SmoothingLength,
    Field::Work,
    Field::Acceleration,
    Field::Potential,
];

/// What is compared of a rank.
#[derive(Clone, Debug, Default, PartialEq)]
struct Found {
    owned: usize,
    received: usize,
    senders: usize,
    boxes: usize,
    synced: Traffic,
    synced_again: Traffic,
    tree: Option<EssentialTree>,
}

/// The particles of the cloud with these ids, before anything is known of keys.
fn some(cloud: &Cloud, ids: &[usize]) -> Particles {
    let mut particles = Particles::new(FIELDS, ids.len());
    for (row, &id) in ids.iter().enumerate() {
        particles.id[row] = id as u64;
    }
    place(cloud, &mut particles);
    particles
}

/// Set the state of the owned rows by their ids.
fn place(cloud: &Cloud, particles: &mut Particles) {
    for row in particles.owned() {
        let id = particles.id[row] as usize;
        particles.set_vector(Field::Position, row, cloud.position[id]);
        particles.scalar_mut(Field::SmoothingLength)[row] = cloud.smoothing[id];
        particles.scalar_mut(Field::Work)[row] = cloud.work[id];
        particles.scalar_mut(Field::Mass)[row] = 1.0;
    }
}

fn plan() -> GravityPlan {
    GravityPlan { softening: 1e-3, ..GravityPlan::default() }
}

fn on_ranks(
    cloud: &Cloud,
    moved: &Cloud,
    ranks: usize,
    settings: DomainSettings,
    attracts: bool,
) -> Vec<Found> {
    run_local(ranks, |comm| {
        let mine: Vec<usize> = (comm.rank()..cloud.len()).step_by(ranks).collect();
        let mut particles = some(cloud, &mine);
        let mut domain = Domain::new(comm.clone(), cloud.bx, settings);
        domain.sync(&mut particles, radius).unwrap();
        let synced = comm.received();
        place(moved, &mut particles);
        domain.sync(&mut particles, radius).unwrap();
        let synced_again = comm.received() - synced;
        let halos: Vec<usize> = (0..ranks).map(|rank| domain.halo_rows(rank).len()).collect();
        let others = halos.iter().enumerate().filter(|(rank, _)| *rank != comm.rank());
        let received: Vec<usize> = others.map(|(_, &count)| count).collect();
        let tree = attracts.then(|| {
            let before = comm.received();
            let found = gravity(&plan(), &domain, &mut particles, Precision::Mixed).unwrap();
            EssentialTree {
                own_nodes: found.own_nodes,
                received_nodes: found.received_nodes,
                received_particles: found.received_particles,
                owners: 0,
                traffic: comm.received() - before,
            }
        });
        Found {
            owned: particles.owned().len(),
            received: received.iter().sum(),
            senders: received.iter().filter(|&&count| count > 0).count(),
            boxes: domain.published(&particles, &radius(&particles)).len(),
            synced,
            synced_again,
            tree,
        }
    })
}

/// All particles in key order on one rank.
fn sorted(cloud: &Cloud, settings: DomainSettings) -> (SimulationBox, Particles) {
    let mut particles = some(cloud, &(0..cloud.len()).collect::<Vec<_>>());
    let mut domain = Domain::new(hilbrium::comm::Communicator::solo(), cloud.bx, settings);
    domain.sync(&mut particles, radius).unwrap();
    (domain.bx, particles)
}

fn simulated(
    cloud: &Cloud,
    moved: &Cloud,
    ranks: usize,
    settings: DomainSettings,
    attracts: bool,
) -> Vec<Found> {
    let mut decomposition = Decomposition::new(ranks, settings);
    let (bx, particles) = sorted(cloud, settings);
    decomposition.assign(&particles);
    let halos = decomposition.halos(&bx, &particles, &radius(&particles));
    let first = decomposition.traffic(Width::of(FIELDS), &halos, |row| particles.id[row] as usize % ranks);
    let mut owners = vec![0; cloud.len()];
    (0..cloud.len()).for_each(|row| owners[particles.id[row] as usize] = decomposition.rank_of(row));

    let (bx, particles) = sorted(moved, settings);
    decomposition.assign(&particles);
    let halos = decomposition.halos(&bx, &particles, &radius(&particles));
    let second = decomposition.traffic(Width::of(FIELDS), &halos, |row| owners[particles.id[row] as usize]);
    let trees = attracts.then(|| {
        essential_trees(&plan(), decomposition.assignment(), &particles, |rank| decomposition.rows(rank))
    });
    let sent: usize = halos.iter().map(|halos| halos.sent).sum();
    assert_eq!(sent, halos.iter().map(|halos| halos.received).sum::<usize>());
    (0..ranks)
        .map(|rank| Found {
            owned: decomposition.rows(rank).len(),
            received: halos[rank].received,
            senders: halos[rank].senders,
            boxes: halos[rank].boxes,
            synced: first[rank].total(),
            synced_again: second[rank].total(),
            tree: trees.as_ref().map(|trees| EssentialTree { owners: 0, ..trees[rank] }),
        })
        .collect()
}

#[test]
fn simulated_ranks_are_like_real_ones() {
    for (kind, which, attracts) in [
        (Kind::Uniform, 1, false),
        (Kind::Plummer, 0, true),
        (Kind::Lattice, 2, false),
        (Kind::OnePoint, 0, true),
    ] {
        let mut cloud = Cloud::new(kind, boxes()[which], 6000);
        cloud.work.iter_mut().enumerate().for_each(|(id, work)| *work = (id % 97) as f64);
        let mut moved = cloud.clone();
        for (id, position) in moved.position.iter_mut().enumerate() {
            position[id % 3] += 0.02 * (id % 7) as f64;
        }
        for (ranks, settings) in [
            (1, DomainSettings::default()),
            (2, DomainSettings::default()),
            (
                4,
                DomainSettings { bucket_size: 8, coarse_leaves_per_rank: 20, across: PairSharing::BothRanks },
            ),
            (
                8,
                DomainSettings {
                    bucket_size: 8,
                    coarse_leaves_per_rank: 300,
                    across: PairSharing::BothRanks,
                },
            ),
            (3, DomainSettings { bucket_size: 8, coarse_leaves_per_rank: 20, across: PairSharing::OneRank }),
        ] {
            let real = on_ranks(&cloud, &moved, ranks, settings, attracts);
            let virtual_ones = simulated(&cloud, &moved, ranks, settings, attracts);
            for (rank, (real, simulated)) in real.iter().zip(&virtual_ones).enumerate() {
                assert_eq!(real, simulated, "{kind:?}, rank {rank} of {ranks}");
            }
            assert!(ranks == 1 || real.iter().all(|found| found.synced.bytes > 0));
        }
    }
}
