//! Self-gravity moves and turns no isolated system: momentum and angular momentum over ranks and precisions.

use crate::common::{plan, started};
use hilbrium::comm::{Communicator, run_local};
use hilbrium::particles::Field;
use hilbrium::step::Simulation;
use nalgebra::Vector3;

/// Total momentum and angular momentum, and the sums of their magnitudes.
fn momenta(simulation: &Simulation, comm: &Communicator) -> ([Vector3<f64>; 2], [f64; 2]) {
    let particles = &simulation.particles;
    let (mut sums, mut sizes) = ([Vector3::zeros(); 2], [0.0; 2]);
    for row in particles.owned() {
        let momentum = particles.scalar(Field::Mass)[row] * particles.vector_at(Field::Velocity, row);
        let angular = particles.vector_at(Field::Position, row).cross(&momentum);
        sums[0] += momentum;
        sums[1] += angular;
        sizes[0] += momentum.norm();
        sizes[1] += angular.norm();
    }
    for sum in &mut sums {
        let mut total = <[f64; 3]>::from(*sum);
        comm.all_sum(&mut total);
        *sum = Vector3::from(total);
    }
    comm.all_sum(&mut sizes);
    (sums, sizes)
}

/// Changes of momentum and angular momentum in some steps, relative to the sums of their magnitudes.
fn changes(deck: &str, ranks: usize) -> [f64; 2] {
    let plan = plan(deck);
    let parts = run_local(ranks, |comm| {
        let mut simulation = started(&plan, &comm);
        let (before, _) = momenta(&simulation, &comm);
        for _ in 0..6 {
            simulation.advance(simulation.next_step).expect("a step");
        }
        let (after, sizes) = momenta(&simulation, &comm);
        [0, 1].map(|k| (after[k] - before[k]).norm() / sizes[k])
    });
    parts[0]
}

#[test]
fn stars_keep_momentum_and_angular_momentum() {
    for (precision, ranks) in [("double", 1), ("mixed", 1), ("double", 3)] {
        let deck = format!(
            "[run]\nsteps = 6\nprecision = \"{precision}\"\n[start.plummer]\nparticles = 600\n\
             [gravity]\nopening_angle = 0.9\nsoftening = 0.02\n[time_step]\nfixed = 0.01\n"
        );
        let [momentum, angular] = changes(&deck, ranks);
        assert!(momentum < 1e-14 && angular < 1e-14, "{precision} {ranks}: {momentum:e} {angular:e}");
    }
}

/// The gas conserves momentum to rounding; its own angular momentum depends on the gradients.
#[test]
fn a_gas_with_gravity_keeps_its_momentum() {
    for (precision, ranks, bound) in [("double", 1, 1e-13), ("double", 3, 1e-13), ("mixed", 1, 1e-8)] {
        let deck = format!(
            "[run]\nsteps = 6\nprecision = \"{precision}\"\n[start.evrard]\nparticles = 600\n[sph]\n\
             [gravity]\nopening_angle = 0.9\n[time_step]\nfixed = 0.01\n"
        );
        let [momentum, _] = changes(&deck, ranks);
        assert!(momentum < bound, "{precision} {ranks}: {momentum:e}");
    }
}
