//! Gravity in periodic boxes against exact Ewald sums, over ranks, distributions and boxes.

use hilbrium::comm::{Communicator, run_local};
use hilbrium::domain::{Domain, DomainSettings};
use hilbrium::far::accuracy::{Distribution, sample};
use hilbrium::far::ewald_reference::{ewald, soften};
use hilbrium::far::long_range::PeriodicSettings;
use hilbrium::far::net_force;
use hilbrium::far::periodic_accuracy::{PeriodicDistribution, periodic_box, periodic_sample};
use hilbrium::far::{
    Criterion, Expansion, GravityPlan, GravityStatistics, SelfGravity, SofteningKernel, gravity,
};
use hilbrium::particles::{Field, Particles};
use hilbrium::simd::Precision;
use hilbrium::space::{Boundary, SimulationBox, Vec3d};

const FIELDS: &[Field] = &[Field::Position, Field::Mass, Field::Acceleration, Field::Potential, Field::Work];

/// Acceleration and potential by particle, and each rank's statistics. Particle k starts on rank k % ranks.
fn on_ranks(
    all: &[[f64; 4]],
    bx: &SimulationBox,
    ranks: usize,
    plan: &GravityPlan,
    precision: Precision,
    without_net_force: bool,
) -> (Vec<[f64; 4]>, Vec<GravityStatistics>) {
    let parts = run_local(ranks, |comm: Communicator| {
        let mine: Vec<usize> = (comm.rank()..all.len()).step_by(ranks).collect();
        let mut particles = Particles::new(FIELDS, mine.len());
        for (row, &index) in mine.iter().enumerate() {
            let [x, y, z, mass] = all[index];
            particles.id[row] = index as u64;
            particles.set_vector(Field::Position, row, Vec3d::new(x, y, z));
            particles.scalar_mut(Field::Mass)[row] = mass;
        }
        let mut domain = Domain::new(comm, *bx, DomainSettings::default());
        domain.sync(&mut particles, |particles| vec![0.0; particles.len()]).unwrap();
        let mut solver = SelfGravity::new(plan);
        let statistics = solver.evaluate(&domain, &mut particles, precision).unwrap();
        if without_net_force {
            net_force::remove(None, &mut particles, &domain.comm, &domain.bx);
        }
        let rows: Vec<(u64, [f64; 4])> = particles
            .owned()
            .map(|row| {
                let a = particles.vector_at(Field::Acceleration, row);
                (particles.id[row], [a.x, a.y, a.z, particles.scalar(Field::Potential)[row]])
            })
            .collect();
        (rows, statistics)
    });
    let mut fields = vec![[f64::NAN; 4]; all.len()];
    for (rows, _) in &parts {
        for (id, field) in rows {
            fields[*id as usize] = *field;
        }
    }
    assert!(fields.iter().flatten().all(|value| value.is_finite()));
    (fields, parts.into_iter().map(|(_, statistics)| statistics).collect())
}

/// The Ewald sums of all particles, softened within the cut.
fn exact(all: &[[f64; 4]], bx: &SimulationBox, plan: &GravityPlan) -> Vec<[f64; 4]> {
    let targets: Vec<usize> = (0..all.len()).collect();
    let lengths = bx.lengths().into();
    let mut fields = ewald(all, &targets, lengths);
    if plan.softening > 0.0 {
        let cut = PeriodicSettings::new(plan, bx, all.len() as u64).unwrap().split.cut;
        soften(&mut fields, all, &targets, lengths, (plan.kernel, plan.softening, cut));
    }
    fields
}

/// Root mean square of the errors of accelerations over that of the accelerations.
fn error(found: &[[f64; 4]], exact: &[[f64; 4]]) -> f64 {
    let squares = |of: &dyn Fn(usize, usize) -> f64| -> f64 {
        (0..exact.len()).map(|k| (0..3).map(|d| of(k, d).powi(2)).sum::<f64>()).sum()
    };
    (squares(&|k, d| found[k][d] - exact[k][d]) / squares(&|k, d| exact[k][d])).sqrt()
}

/// The potential energy, for G = 1.
fn energy(fields: &[[f64; 4]], all: &[[f64; 4]]) -> f64 {
    fields.iter().zip(all).map(|(field, particle)| 0.5 * particle[3] * field[3]).sum()
}

#[test]
fn default_plan_keeps_its_promise_on_any_ranks() {
    for distribution in [PeriodicDistribution::Poisson, PeriodicDistribution::Clustered] {
        for lengths in [[1.0; 3], [1.6, 1.0, 0.9]] {
            let bx = periodic_box(lengths);
            let (_, all) = periodic_sample(distribution, lengths, 1500, 2);
            for (softening, kernel) in [
                (0.0, SofteningKernel::Plummer),
                (0.004, SofteningKernel::Plummer),
                (0.02, SofteningKernel::Spline),
            ] {
                let plan = GravityPlan { softening, kernel, ..GravityPlan::default() };
                let exact = exact(&all, &bx, &plan);
                for (ranks, precision) in [
                    (1, Precision::Mixed),
                    (1, Precision::Double),
                    (2, Precision::Mixed),
                    (3, Precision::Double),
                    (5, Precision::Mixed),
                ] {
                    let (found, _) = on_ranks(&all, &bx, ranks, &plan, precision, false);
                    let error = error(&found, &exact);
                    let of_energy = energy(&found, &all) / energy(&exact, &all) - 1.0;
                    println!(
                        "{distribution:?} {lengths:?} {softening} {kernel:?} {ranks} ranks {precision:?}: {error:.2e}, \
                         energy {of_energy:.1e}"
                    );
                    assert!(error < 5e-4, "{error:.2e}");
                    assert!(of_energy.abs() < 5e-3, "{of_energy:.2e}");
                    assert!(error > 1e-6, "too good to be a tree");
                }
            }
        }
    }
}

#[test]
fn criteria_and_orders_hold_their_errors() {
    let lengths = [1.0, 1.2, 0.8];
    let bx = periodic_box(lengths);
    let (_, all) = periodic_sample(PeriodicDistribution::Clustered, lengths, 1500, 3);
    let plan = GravityPlan { softening: 0.002, constant: 1.0, ..GravityPlan::default() };
    let exact = exact(&all, &bx, &plan);
    for criterion in [Criterion::Geometric, Criterion::RelativeError(5e-4)] {
        for expansion in [Expansion::Quadrupole, Expansion::Octupole] {
            let plan = GravityPlan { criterion, expansion, ..plan };
            for ranks in [1, 3] {
                let (found, _) = on_ranks(&all, &bx, ranks, &plan, Precision::Double, false);
                let error = error(&found, &exact);
                println!("{criterion:?} {expansion:?} {ranks} ranks: {error:.2e}");
                assert!(error < 5e-4, "{criterion:?} {expansion:?} {ranks} ranks: {error:.2e}");
            }
        }
    }
}

/// Errors fall with a larger cut at opening angle 0, to those of mesh and polynomials.
#[test]
fn the_cut_controls_the_error() {
    let lengths = [1.0; 3];
    let bx = periodic_box(lengths);
    let (_, all) = periodic_sample(PeriodicDistribution::Poisson, lengths, 500, 4);
    // a wide split, so that the mesh is exact to 1e-6
    let (mesh, split) = (Some([32; 3]), Some(2.0));
    let plan = GravityPlan { opening_angle: 0.0, mesh, split, ..GravityPlan::default() };
    let exact = exact(&all, &bx, &plan);
    let mut last = 1.0;
    for cut in [4.0, 5.0, 6.0, 7.0] {
        let (found, _) = on_ranks(&all, &bx, 2, &GravityPlan { cut, ..plan }, Precision::Double, false);
        let error = error(&found, &exact);
        println!("cut {cut}: {error:.2e}");
        assert!(error < 0.5 * last, "{cut}: {error:.2e}");
        last = error;
    }
    assert!(last < 3e-6, "{last:.2e}");
}

/// Two Plummer spheres, one of them across the edges of the box.
#[test]
fn a_periodic_pair_of_plummer_spheres_has_its_ewald_forces() {
    let bx = periodic_box([10.0, 8.0, 8.0]);
    let mut all = Vec::new();
    for (seed, center) in [(5, [0.1, 7.9, 0.0]), (6, [4.5, 4.0, 3.0])] {
        let (_, sphere) = sample(Distribution::Plummer, 600, seed);
        all.extend(sphere.iter().map(|[x, y, z, mass]| {
            let position = bx.wrap(Vec3d::new(0.1 * x, 0.1 * y, 0.1 * z) + Vec3d::from(center));
            [position.x, position.y, position.z, *mass]
        }));
    }
    let plan = GravityPlan { softening: 0.01, ..GravityPlan::default() };
    let exact = exact(&all, &bx, &plan);
    for (ranks, precision) in [(1, Precision::Mixed), (3, Precision::Mixed), (5, Precision::Double)] {
        let (found, _) = on_ranks(&all, &bx, ranks, &plan, precision, false);
        let error = error(&found, &exact);
        assert!(error < 5e-4, "{ranks} ranks: {error:.2e}");
        // The force between the spheres is a small part of those inside: the center of mass of each shows it. The
        // tree's errors inside of a sphere have a net force; a direct sum has none.
        let (found, _) =
            on_ranks(&all, &bx, ranks, &GravityPlan { opening_angle: 0.0, ..plan }, precision, false);
        for half in [0..600, 600..1200] {
            let mean = |fields: &[[f64; 4]]| {
                let sum = half.clone().fold(Vec3d::zeros(), |sum, k| {
                    sum + Vec3d::new(fields[k][0], fields[k][1], fields[k][2])
                });
                sum / 600.0
            };
            let (of_found, of_exact) = (mean(&found), mean(&exact));
            assert!((of_found - of_exact).norm() < 1e-2 * of_exact.norm(), "{of_found} {of_exact}");
        }
    }
}

/// A mass alone feels its images: no force, and the potential of a cubic lattice.
#[test]
fn few_particles_on_many_ranks() {
    let bx = periodic_box([2.0; 3]);
    // a wide split: the mesh's force of a mass on itself is below 1e-6
    let (mesh, split) = (Some([32; 3]), Some(2.5));
    let plan = GravityPlan { constant: 3.0, softening: 0.01, mesh, split, ..GravityPlan::default() };
    for ranks in [1, 2, 5] {
        for precision in [Precision::Mixed, Precision::Double] {
            assert!(on_ranks(&[], &bx, ranks, &plan, precision, false).0.is_empty());
            let one = on_ranks(&[[1.9, 0.3, 0.7, 0.5]], &bx, ranks, &plan, precision, false).0[0];
            let expected = 2.837_297 * 3.0 * 0.5 / 2.0;
            assert!((one[3] / expected - 1.0).abs() < 1e-4, "{one:?} {expected}");
            let rounding = if precision == Precision::Mixed { 1e-5 } else { 1e-6 };
            assert!(one[..3].iter().all(|a| a.abs() < rounding), "{one:?}");
            // the nearest image acts, through a corner
            let pair = [[0.05, 0.05, 0.05, 1.0], [1.95, 1.95, 1.95, 1.0]];
            let fields = on_ranks(&pair, &bx, ranks, &plan, precision, false).0;
            let exact = exact(&pair, &bx, &plan);
            for (field, exact) in fields.iter().zip(&exact) {
                for k in 0..4 {
                    assert!(
                        (field[k] - 3.0 * exact[k]).abs() < 1e-4 * (3.0 * exact[k]).abs(),
                        "{field:?} {exact:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_removal_of_the_net_force_leaves_no_momentum_and_the_torque() {
    let lengths = [1.0, 1.1, 0.9];
    let bx = periodic_box(lengths);
    let (_, all) = periodic_sample(PeriodicDistribution::Clustered, lengths, 1000, 5);
    let plan = GravityPlan { softening: 0.002, ..GravityPlan::default() };
    let [before, after] =
        [false, true].map(|removed| on_ranks(&all, &bx, 2, &plan, Precision::Mixed, removed).0);
    let force = |fields: &[[f64; 4]]| {
        fields
            .iter()
            .zip(&all)
            .fold(Vec3d::zeros(), |sum, (a, particle)| sum + particle[3] * Vec3d::new(a[0], a[1], a[2]))
    };
    assert!(
        force(&before).norm() > 1e-9 && force(&after).norm() < 1e-13,
        "{} {}",
        force(&before),
        force(&after)
    );
    // the same acceleration for all: no rotation, which a periodic box does not have
    let change: Vec<Vec3d> =
        (0..all.len()).map(|k| Vec3d::from_fn(|d, _| after[k][d] - before[k][d])).collect();
    assert!(change.iter().all(|c| (c - change[0]).norm() < 1e-12));
}

/// Ranks receive what is within the cut of them, and no more: less than the whole tree.
#[test]
fn no_rank_holds_the_whole_tree() {
    const COUNT: usize = 2400;
    let lengths = [8.0, 1.0, 1.0];
    let (_, all) = periodic_sample(PeriodicDistribution::Poisson, lengths, COUNT, 6);
    let plan = GravityPlan { mesh: Some([80, 10, 10]), split: Some(0.8), cut: 4.0, ..GravityPlan::default() };
    let (_, statistics) = on_ranks(&all, &periodic_box(lengths), 4, &plan, Precision::Mixed, false);
    for (rank, of) in statistics.iter().enumerate() {
        println!("rank {rank}: {} own, {} received of {COUNT}", of.particles, of.received_particles);
        assert!(of.received_particles > 0, "rank {rank}");
        assert!(of.particles + of.received_particles < COUNT * 85 / 100, "rank {rank}");
    }
}

#[test]
fn partly_periodic_boxes_are_refused() {
    let bx = SimulationBox {
        boundary: [Boundary::Periodic, Boundary::Open, Boundary::Periodic],
        ..periodic_box([1.0; 3])
    };
    let mut particles = Particles::new(FIELDS, 1);
    particles.scalar_mut(Field::Mass)[0] = 1.0;
    let mut domain = Domain::new(Communicator::solo(), bx, DomainSettings::default());
    domain.sync(&mut particles, |particles| vec![0.0; particles.len()]).unwrap();
    let refused = gravity(&GravityPlan::default(), &domain, &mut particles, Precision::Mixed);
    assert!(refused.unwrap_err().to_string().contains("periodic in all"));
}
