//! What runs conserve, over ranks, precisions and kinds of lists; and that a list that is used again misses
//! no pair.

use crate::common::{difference, evolved, plan, rows, started};
use hilbrium::comm::{Communicator, run_local};
use hilbrium::neighbors::{Entry, NeighborList};
use hilbrium::observe::observe;
use hilbrium::particles::{Field, Particles};
use hilbrium::start;
use hilbrium::step::Simulation;

/// A gas sphere that expands into empty space: no gravity.
fn expanding(settings: &str) -> String {
    format!(
        r#"
        [start.evrard]
        particles = 2000
        internal_energy = 1.0
        {settings}
        "#
    )
}

/// Sum of m v and of m |v|.
fn momentum(simulation: &Simulation) -> [f64; 4] {
    let particles = &simulation.particles;
    let mut sums = [0.0; 4];
    for row in particles.owned() {
        let (mass, velocity) =
            (particles.scalar(Field::Mass)[row], particles.vector_at(Field::Velocity, row));
        (0..3).for_each(|d| sums[d] += mass * velocity[d]);
        sums[3] += mass * velocity.norm();
    }
    sums
}

/// Volume elements need an estimate of the density: with equal masses it is that of the search for the
/// smoothing lengths, as good as that search, else it has a pass of its own.
#[test]
fn equal_masses_spare_a_pass() {
    let forces = |tolerance: f64, factor: f64| {
        let plan = plan(&expanding(&format!(
            "[run]\nsteps = 1\nprecision = \"double\"\n[sph]\nneighbors = 50\nneighbor_tolerance = {tolerance}\n"
        )));
        let parts = run_local(1, |comm| {
            let (space, mut particles) =
                start::particles(&plan, &comm, &Simulation::fields(&plan)).expect("the start is laid out");
            particles.scalar_mut(Field::Mass)[0] *= factor;
            let mut simulation = Simulation::new(plan.clone(), &comm, space, particles);
            simulation.evaluate_forces(0.0).expect("first forces");
            rows(&simulation.particles, &[Field::Density, Field::Acceleration, Field::InternalEnergyRate])
        });
        parts.concat()
    };
    let apart = |tolerance: f64| difference(&forces(tolerance, 1.0), &forces(tolerance, 1.0 + 1e-12));
    let (coarse, fine) = (apart(1e-4), apart(1e-8));
    assert!(fine > 0.0 && fine < 1e-7 && coarse < 1e-3, "{fine:e} {coarse:e}");
}

/// Volumes fill space at a jump of the density: each iteration brings the pressure of a cube in balance
/// closer to that of its surroundings.
#[test]
fn iterations_of_the_volumes_reduce_the_overshoot_of_the_pressure_at_a_jump() {
    let overshoot = |iterations: u64| {
        let plan = plan(&format!(
            "[run]\nsteps = 1\nprecision = \"double\"\n[start.lattice]\nkind = \"fcc\"\ncells = [8, 8, 8]\nspacing = 1.0\n\
             density = 1.0\ninternal_energy = 1.0\n[space]\nboundary = \"periodic\"\n\
             [sph]\nneighbors = 50\nvolume_iterations = {iterations}\n"
        ));
        run_local(1, |comm| {
            let (space, mut particles) =
                start::particles(&plan, &comm, &Simulation::fields(&plan)).expect("the start is laid out");
            // every second particle of half the box is missing: a jump of the spacing
            let half = 0.5 * (space.lower.x + space.upper.x);
            let keep: Vec<usize> = particles
                .owned()
                .filter(|&row| {
                    particles.vector_at(Field::Position, row).x < half || particles.id[row] % 4 == 0
                })
                .collect();
            let mut few = Particles::new(particles.fields(), keep.len());
            for (row, &from) in keep.iter().enumerate() {
                few.id[row] = particles.id[from];
                for &field in particles.fields() {
                    for c in 0..field.components() {
                        few.component_mut(field, c)[row] = particles.component(field, c)[from];
                    }
                }
                if particles.vector_at(Field::Position, from).x >= half {
                    few.scalar_mut(Field::InternalEnergy)[row] *= 4.0;
                }
            }
            particles = few;
            let mut simulation = Simulation::new(plan.clone(), &comm, space, particles);
            simulation.evaluate_forces(0.0).expect("first forces");
            let particles = &simulation.particles;
            let pressure = particles.owned().map(|row| {
                particles.scalar(Field::Density)[row] * particles.scalar(Field::InternalEnergy)[row]
            });
            pressure.fold(0.0, f64::max)
        })[0]
    };
    let [plain, once, twice] = [0, 1, 2].map(overshoot);
    assert!(plain > once && once > twice && twice > 1.0, "{plain} {once} {twice}");
}

#[test]
fn forces_of_the_gas_conserve_momentum_to_rounding() {
    for formulation in ["standard", "volume-elements"] {
        for symmetric in [false, true] {
            for (precision, bound) in [("double", 1e-14), ("mixed", 2e-7)] {
                let deck = expanding(&format!(
                    "[run]\nsteps = 12\nprecision = \"{precision}\"\n[sph]\nformulation = \"{formulation}\"\n\
                     neighbors = 50\n[neighbors]\nsymmetric = {symmetric}\n"
                ));
                let plan = plan(&deck);
                for ranks in [1, 3] {
                    let parts = run_local(ranks, |comm| {
                        let mut simulation = started(&plan, &comm);
                        while simulation.step < 12 {
                            simulation.advance(simulation.next_step).expect("a step");
                        }
                        momentum(&simulation)
                    });
                    let sum = |d: usize| parts.iter().map(|part| part[d]).sum::<f64>();
                    let net = (0..3).map(|d| sum(d).powi(2)).sum::<f64>().sqrt() / sum(3);
                    println!("{formulation} symmetric {symmetric} {precision} {ranks} ranks: {net:e}");
                    assert!(sum(3) > 0.01, "it moves");
                    assert!(net < bound, "{formulation} {symmetric} {precision} {ranks}: {net:e}");
                }
            }
        }
    }
}

/// Relative change of the total energy up to t = 0.1 in so many equal steps.
fn energy_change(formulation: &str, steps: u32) -> f64 {
    let dt = 0.1 / f64::from(steps);
    let deck = expanding(&format!(
        "[run]\nsteps = 1\nprecision = \"double\"\n[sph]\nformulation = \"{formulation}\"\nneighbors = 50\n\
         neighbor_tolerance = 1e-8\nviscosity = {{ switch = false, alpha_max = 0.5 }}\n[time_step]\nfixed = {dt:e}\n"
    ));
    let comm = Communicator::solo();
    let mut simulation = started(&plan(&deck), &comm);
    let energy = |simulation: &Simulation| {
        let (bx, units) = (&simulation.domain.bx, &simulation.plan.units);
        observe(&comm, bx, &simulation.particles, units, 0, 0.0, dt).total_energy()
    };
    let before = energy(&simulation);
    for _ in 0..steps {
        simulation.advance(dt).expect("a step");
    }
    energy(&simulation) / before - 1.0
}

#[test]
fn without_gravity_the_energy_is_conserved_to_the_order_of_the_integrator() {
    for formulation in ["standard", "volume-elements"] {
        let [coarse, middle, fine] = [25, 50, 100].map(|steps| energy_change(formulation, steps));
        println!("{formulation}: {coarse:e} {middle:e} {fine:e}");
        assert!(coarse.abs() < 1e-3, "{formulation}: {coarse:e}");
        // of second order: a quarter at half the step
        for ratio in [coarse / middle, middle / fine] {
            assert!((3.0..6.0).contains(&ratio), "{formulation}: {coarse:e} {middle:e} {fine:e}");
        }
    }
}

/// Pairs of owned particles within a support that the (full) list of a simulation does not hold.
fn missing(simulation: &Simulation) -> usize {
    let (particles, bx) = (&simulation.particles, &simulation.domain.bx);
    let Some(NeighborList::Clustered(list)) = simulation.neighborhood.list() else { panic!("clusters") };
    let h = particles.scalar(Field::SmoothingLength);
    let mut entries: Vec<Entry> = Vec::new();
    let mut missing = 0;
    for i in particles.owned() {
        list.decode(i / 64, &mut entries);
        let mut held = vec![false; particles.len().div_ceil(8)];
        for entry in entries.iter().filter(|entry| entry.mask >> (i / 8 % 8) & 1 == 1) {
            held[entry.cluster as usize] = true;
        }
        for j in (0..particles.len()).filter(|&row| row != i && !particles.ghost(row) && !held[row / 8]) {
            let apart = particles.vector_at(Field::Position, i) - particles.vector_at(Field::Position, j);
            missing += usize::from(bx.shortest(apart).norm() < 2.0 * h[i].max(h[j]));
        }
    }
    missing
}

#[test]
fn a_list_that_is_used_again_misses_no_pair_and_changes_nothing() {
    const FIELDS: &[Field] = &[Field::Position, Field::Velocity, Field::InternalEnergy];
    let deck = |skin: f64| {
        expanding(&format!(
            "[run]\nsteps = 20\nprecision = \"double\"\n[sph]\nneighbors = 50\nneighbor_tolerance = 1e-10\n\
             [gravity]\nsoftening = 0.02\nopening_angle = 0.0\n[neighbors]\nskin = {skin}\n"
        ))
    };
    let skinned = plan(&deck(0.2));
    for ranks in [1, 3] {
        let found = run_local(ranks, |comm| {
            let mut simulation = started(&skinned, &comm);
            let mut lost = 0;
            while simulation.step < 20 {
                simulation.advance(simulation.next_step).expect("a step");
                lost += missing(&simulation);
            }
            (lost, simulation.neighborhood.builds())
        });
        for (lost, builds) in found {
            println!("{builds} lists for 21 evaluations");
            assert_eq!(lost, 0, "{ranks} ranks");
            assert!(builds <= 15, "lists are used again: {builds}");
        }
        let fresh = evolved(&plan(&deck(0.0)), 1, 1, 20, FIELDS);
        let apart = difference(&fresh, &evolved(&skinned, ranks, 1, 20, FIELDS));
        assert!(apart < 1e-7, "{ranks} ranks: {apart:e} apart");
    }
}
