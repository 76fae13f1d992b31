//! Gravity over ranks: the locally essential tree holds what is needed, little more, and changes no result.

use hilbrium::comm::{Communicator, run_local};
use hilbrium::domain::{Domain, DomainSettings};
use hilbrium::far::accuracy::{Distribution, sample};
use hilbrium::far::direct::direct;
use hilbrium::far::{Criterion, Expansion, GravityPlan, GravityStatistics, SofteningKernel, gravity};
use hilbrium::pair::Precision;
use hilbrium::particles::{Field, Particles};
use hilbrium::space::{Boundary, SimulationBox, Vec3d};

const FIELDS: &[Field] = &[Field::Position, Field::Mass, Field::Acceleration, Field::Potential, Field::Work];

/// An open box; the domain fits it to the particles.
fn open_box() -> SimulationBox {
    SimulationBox { lower: Vec3d::repeat(-1.0), upper: Vec3d::repeat(1.0), boundary: [Boundary::Open; 3] }
}

/// Acceleration and potential by particle, and each rank's statistics. Particle k starts on rank k % ranks.
fn on_ranks(
    all: &[[f64; 4]],
    ranks: usize,
    plan: &GravityPlan,
    precision: Precision,
) -> (Vec<[f64; 4]>, Vec<GravityStatistics>) {
    let parts = run_local(ranks, |comm: Communicator| {
        let mine: Vec<usize> = (comm.rank()..all.len()).step_by(ranks).collect();
        let mut particles = Particles::new(FIELDS, mine.len());
        for (row, &index) in mine.iter().enumerate() {
            particles.id[row] = index as u64;
            particles.set_vector(
                Field::Position,
                row,
                Vec3d::new(all[index][0], all[index][1], all[index][2]),
            );
            particles.scalar_mut(Field::Mass)[row] = all[index][3];
        }
        let mut domain = Domain::new(comm, open_box(), DomainSettings::default());
        domain.sync(&mut particles, |particles| vec![0.0; particles.len()]).unwrap();
        let statistics = gravity(plan, &domain, &mut particles, precision).unwrap();
        let rows: Vec<(u64, [f64; 4])> = particles
            .owned()
            .map(|row| {
                let a = particles.vector_at(Field::Acceleration, row);
                assert!(particles.scalar(Field::Work)[row] > 0.0);
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

/// Root mean square of the relative difference of accelerations.
fn difference(one: &[[f64; 4]], other: &[[f64; 4]]) -> f64 {
    let each = one.iter().zip(other).map(|(a, b)| {
        let apart: f64 = (0..3).map(|d| (a[d] - b[d]).powi(2)).sum();
        apart / (0..3).map(|d| b[d].powi(2)).sum::<f64>()
    });
    (each.sum::<f64>() / one.len() as f64).sqrt()
}

fn truth(all: &[[f64; 4]], plan: &GravityPlan) -> Vec<[f64; 4]> {
    direct(all, &(0..all.len()).collect::<Vec<_>>(), plan.kernel, plan.softening)
}

#[test]
fn angle_zero_is_direct_summation_on_any_ranks() {
    let (_, all) = sample(Distribution::Evrard, 1500, 3);
    for (softening, kernel) in [(0.01, SofteningKernel::Plummer), (0.05, SofteningKernel::Spline)] {
        let plan = GravityPlan { opening_angle: 0.0, softening, kernel, ..GravityPlan::default() };
        let exact = truth(&all, &plan);
        for ranks in [1, 2, 3, 5] {
            let (fields, statistics) = on_ranks(&all, ranks, &plan, Precision::Double);
            for (index, (field, exact)) in fields.iter().zip(&exact).enumerate() {
                let size = exact[..3].iter().map(|a| a * a).sum::<f64>().sqrt();
                for d in 0..3 {
                    assert!((field[d] - exact[d]).abs() < 1e-9 * size, "{ranks} ranks, particle {index}");
                }
                assert!(
                    (field[3] - exact[3]).abs() < 1e-9 * exact[3].abs(),
                    "{ranks} ranks, particle {index}"
                );
            }
            let received: usize = statistics.iter().map(|s| s.received_particles).sum();
            assert_eq!(received, (ranks - 1) * all.len(), "angle 0 needs every particle everywhere");
        }
    }
}

#[test]
fn ranks_agree_within_the_trees_error() {
    for distribution in [Distribution::Plummer, Distribution::Evrard] {
        let (_, all) = sample(distribution, 6000, 4);
        for criterion in [Criterion::Geometric, Criterion::RelativeError(1e-3)] {
            for expansion in [Expansion::Quadrupole, Expansion::Octupole] {
                let plan = GravityPlan { criterion, expansion, softening: 0.005, ..GravityPlan::default() };
                let exact = truth(&all, &plan);
                for (ranks, precision) in [
                    (1, Precision::Double),
                    (2, Precision::Mixed),
                    (3, Precision::Mixed),
                    (5, Precision::Double),
                ] {
                    let (fields, _) = on_ranks(&all, ranks, &plan, precision);
                    let error = difference(&fields, &exact);
                    assert!(
                        error < 3e-4,
                        "{distribution:?} {criterion:?} {expansion:?} {ranks} ranks: {error:.2e}"
                    );
                }
            }
        }
    }
}

#[test]
fn no_rank_holds_the_whole_tree() {
    let plan = GravityPlan { softening: 0.005, ..GravityPlan::default() };
    for (count, most) in [(20_000, 0.65), (80_000, 0.5)] {
        let (_, all) = sample(Distribution::Evrard, count, 5);
        let (_, alone) = on_ranks(&all, 1, &plan, Precision::Mixed);
        let (_, statistics) = on_ranks(&all, 5, &plan, Precision::Mixed);
        assert_eq!(statistics.iter().map(|s| s.particles).sum::<usize>(), count);
        for (rank, of) in statistics.iter().enumerate() {
            let particles = of.particles + of.received_particles;
            let nodes = of.own_nodes + of.received_nodes;
            println!(
                "rank {rank}: {} own and {} received particles of {count}, {nodes} nodes of {}",
                of.particles, of.received_particles, alone[0].own_nodes
            );
            assert!((particles as f64) < most * count as f64 && nodes < alone[0].own_nodes, "rank {rank}");
        }
    }
}

#[test]
fn the_same_ranks_give_the_same_bits() {
    let (_, all) = sample(Distribution::Plummer, 3000, 6);
    for criterion in [Criterion::Geometric, Criterion::RelativeError(1e-3)] {
        let plan = GravityPlan { criterion, ..GravityPlan::default() };
        let once = on_ranks(&all, 3, &plan, Precision::Mixed).0;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(once, on_ranks(&all, 3, &plan, Precision::Mixed).0);
        assert_eq!(
            on_ranks(&all, 1, &plan, Precision::Mixed).0,
            pool.install(|| on_ranks(&all, 1, &plan, Precision::Mixed).0),
            "the number of threads must not matter"
        );
    }
}

#[test]
fn few_particles_on_many_ranks() {
    let point = [0.25, 0.5, -0.125, 0.5];
    let other = [1.25, 0.5, -0.125, 2.0];
    for ranks in [1, 2, 3, 5] {
        for precision in [Precision::Mixed, Precision::Double] {
            let plan = GravityPlan { constant: 3.0, ..GravityPlan::default() };
            assert!(on_ranks(&[], ranks, &plan, precision).0.is_empty());
            assert_eq!(on_ranks(&[point], ranks, &plan, precision).0, [[0.0; 4]]);
            let (two, _) = on_ranks(&[point, other], ranks, &plan, precision);
            let expected = [[6.0, 0.0, 0.0, -6.0], [-1.5, 0.0, 0.0, -1.5]];
            for (field, expected) in two.iter().flatten().zip(expected.iter().flatten()) {
                assert!((field - expected).abs() < 1e-6, "{two:?}");
            }
            // All at one point: unsoftened, nothing; softened, no force and the central potential of all others.
            let crowd = vec![point; 300];
            assert!(on_ranks(&crowd, ranks, &plan, precision).0.iter().flatten().all(|value| *value == 0.0));
            for kernel in [SofteningKernel::Plummer, SofteningKernel::Spline] {
                let soft = GravityPlan { softening: 0.1, kernel, ..plan };
                for field in on_ranks(&crowd, ranks, &soft, precision).0 {
                    assert_eq!(field[..3], [0.0; 3]);
                    assert!((field[3] / (-3.0 * 299.0 * 0.5 / 0.1) - 1.0).abs() < 1e-5, "{}", field[3]);
                }
            }
        }
    }
}

#[test]
fn potential_and_force_belong_together() {
    // The work done by the tree's force along a line is the difference of the tree's potential at its ends.
    let (_, mut all) = sample(Distribution::Plummer, 2000, 7);
    let softening = 0.05;
    for kernel in [SofteningKernel::Plummer, SofteningKernel::Spline] {
        for opening_angle in [0.0, 0.5] {
            let plan = GravityPlan { softening, kernel, opening_angle, ..GravityPlan::default() };
            let probe = all.len();
            for at in [[0.3, 0.1, -0.2], [0.02, 0.01, 0.03], [2.0, -1.0, 0.5]] {
                let mut probed = |x: f64| {
                    all.push([x, at[1], at[2], 1e-30]);
                    let field = on_ranks(&all, 1, &plan, Precision::Double).0[probe];
                    all.truncate(probe);
                    field
                };
                let step = 1e-4;
                let slope = (probed(at[0] + step)[3] - probed(at[0] - step)[3]) / (2.0 * step);
                let force = probed(at[0]);
                let size = force[..3].iter().map(|a| a * a).sum::<f64>().sqrt();
                let tolerance = if opening_angle == 0.0 { 1e-5 } else { 2e-3 };
                assert!(
                    (slope + force[0]).abs() < tolerance * size,
                    "{kernel:?} {opening_angle} {at:?}: {slope} {}",
                    force[0]
                );
            }
        }
    }
}

#[test]
fn units_do_not_matter() {
    // Powers of two change no bit of the result but its exponent; cgs-like scales must not overflow single precision.
    let (_, all) = sample(Distribution::Evrard, 2000, 8);
    let (length, mass) = (2f64.powi(80), 2f64.powi(130));
    let scaled: Vec<[f64; 4]> =
        all.iter().map(|p| [p[0] * length, p[1] * length, p[2] * length, p[3] * mass]).collect();
    let plan = GravityPlan { softening: 0.0078125, ..GravityPlan::default() };
    let (one, _) = on_ranks(&all, 1, &plan, Precision::Mixed);
    let (other, _) =
        on_ranks(&scaled, 1, &GravityPlan { softening: plan.softening * length, ..plan }, Precision::Mixed);
    for (one, other) in one.iter().zip(&other) {
        for d in 0..3 {
            assert_eq!(one[d], other[d] * length * length / mass);
        }
        assert_eq!(one[3], other[3] * length / mass);
    }
}

#[test]
fn periodic_boxes_are_refused() {
    let bx = SimulationBox { boundary: [Boundary::Periodic, Boundary::Open, Boundary::Open], ..open_box() };
    let mut particles = Particles::new(FIELDS, 1);
    particles.scalar_mut(Field::Mass)[0] = 1.0;
    let mut domain = Domain::new(Communicator::solo(), bx, DomainSettings::default());
    domain.sync(&mut particles, |particles| vec![0.0; particles.len()]).unwrap();
    let refused = gravity(&GravityPlan::default(), &domain, &mut particles, Precision::Mixed);
    assert!(refused.unwrap_err().to_string().contains("boundary"));
}
