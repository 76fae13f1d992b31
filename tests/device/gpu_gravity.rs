//! Gravity on a device against direct summation and against the processors' tree. Runs on the emulation, and on a GPU with
//! HILBRIUM_DEVICE_UNDER_TEST=cuda.

use hilbrium::comm::Communicator;
use hilbrium::device::columns::Columns;
use hilbrium::device::exchange::Exchange;
use hilbrium::device::external;
use hilbrium::device::gravity::{Gravity, InteractionCounts, MassColumns, UnitScales};
use hilbrium::device::net_force::{NetForces, without_net_force};
use hilbrium::device::{Buffer, Device};
use hilbrium::far::accuracy::{Distribution, Experiment, sample};
use hilbrium::far::direct::direct;
use hilbrium::far::external::ExternalField;
use hilbrium::far::net_force::{self, NetForce};
use hilbrium::far::{Criterion, Expansion, GravityPlan, SofteningKernel};
use hilbrium::pair::Precision;
use hilbrium::particles::{Field, Particles, SUPER_CLUSTER};
use hilbrium::space::{Boundary, SimulationBox, Vec3d};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Rows before the ones that gravity is asked for, and ghosts behind.
const BEFORE: usize = 3;
const GHOSTS: usize = 5;

/// What acceleration and potential hold before.
const OLD: [f64; 2] = [1.0, 7.0];

/// Acceleration x, y, z and potential of particles `[x, y, z, mass]`, by the device; and what it met. Other rows must stay
/// as they are.
fn solved(
    device: &Device,
    plan: &GravityPlan,
    precision: Precision,
    particles: &[[f64; 4]],
    extent: UnitScales,
) -> (Vec<[f64; 4]>, InteractionCounts) {
    solved_by(Gravity::new(device, plan, precision).unwrap(), device, particles, extent)
}

fn solved_by(
    mut gravity: Gravity,
    device: &Device,
    particles: &[[f64; 4]],
    extent: UnitScales,
) -> (Vec<[f64; 4]>, InteractionCounts) {
    let count = particles.len();
    let column = |k: usize| {
        let ghost = [f64::NAN, 1e300, -1e300, 0.0][k];
        let mut column = vec![0.5; BEFORE];
        column.extend(particles.iter().map(|particle| particle[k]));
        column.extend([ghost; GHOSTS]);
        Buffer::from_host(device, &column).unwrap()
    };
    let mut id: Vec<u64> = (0..(BEFORE + count) as u64).collect();
    id.extend([u64::MAX; GHOSTS]);
    let all = id.len();
    let (position, mass) = ([column(0), column(1), column(2)], column(3));
    let id = Buffer::from_host(device, &id).unwrap();
    let results = [0, 0, 0, 1].map(|which| Buffer::from_host(device, &vec![OLD[which]; all]).unwrap());
    let [ax, ay, az, potential] = &results;
    let massive = MassColumns { position: [&position[0], &position[1], &position[2]], mass: &mass, id: &id };
    let exchange = Exchange::new(device, &Communicator::solo()).unwrap();
    gravity.run(&exchange, &massive, BEFORE..all, extent, [ax, ay, az], potential).unwrap();
    let met = gravity.interaction_counts().unwrap();
    let results = results.map(|buffer| buffer.download().unwrap());
    let found = |row: usize| [0, 1, 2, 3].map(|k| results[k][row] - if k < 3 { OLD[0] } else { 0.0 });
    for row in (0..BEFORE).chain(BEFORE + count..all) {
        assert_eq!(found(row), [0.0, 0.0, 0.0, OLD[1]], "row {row} of no particle was changed");
    }
    ((BEFORE..BEFORE + count).map(found).collect(), met)
}

/// The extent of particles.
fn extent_of(particles: &[[f64; 4]]) -> UnitScales {
    let edge = |d: usize| {
        let values = || particles.iter().map(|particle| particle[d]);
        values().fold(f64::MIN, f64::max) - values().fold(f64::MAX, f64::min)
    };
    UnitScales {
        length: (0..3).map(edge).fold(0.0, f64::max),
        mass: particles.iter().map(|particle| particle[3]).sum(),
    }
}

/// The largest error of accelerations over the sum of the absolute pulls on a particle, and of potentials over their sizes.
fn worst(found: &[[f64; 4]], particles: &[[f64; 4]], plan: &GravityPlan) -> [f64; 2] {
    let all: Vec<usize> = (0..particles.len()).collect();
    let truth = direct(particles, &all, plan.kernel, plan.softening);
    let mut most = [0f64; 2];
    for (row, (found, truth)) in found.iter().zip(&truth).enumerate() {
        assert!(found.iter().all(|value| value.is_finite()), "row {row}: {found:?}");
        let mut pulls = f64::MIN_POSITIVE;
        for (other, source) in particles.iter().enumerate() {
            let to: f64 = (0..3).map(|d| (source[d] - particles[row][d]).powi(2)).sum::<f64>().sqrt();
            if other != row {
                pulls += source[3] * plan.kernel.evaluate(to, plan.softening).1 * to;
            }
        }
        let difference: f64 = (0..3).map(|d| (found[d] / plan.constant - truth[d]).powi(2)).sum();
        most[0] = most[0].max(difference.sqrt() / pulls);
        let size = truth[3].abs() + particles[row][3] * plan.kernel.central(plan.softening);
        most[1] = most[1].max((found[3] / plan.constant - truth[3]).abs() / size.max(f64::MIN_POSITIVE));
    }
    most
}

/// The relative errors of accelerations, root mean square.
fn error(found: &[[f64; 4]], particles: &[[f64; 4]], plan: &GravityPlan) -> f64 {
    let targets: Vec<usize> = (0..particles.len()).collect();
    let truth = direct(particles, &targets, plan.kernel, plan.softening);
    let square = |(target, truth): (&usize, &[f64; 4])| {
        let off: f64 = (0..3).map(|d| (found[*target][d] - truth[d]).powi(2)).sum();
        off / (0..3).map(|d| truth[d].powi(2)).sum::<f64>()
    };
    (targets.iter().zip(&truth).map(square).sum::<f64>() / targets.len() as f64).sqrt()
}

fn uniform(count: usize, seed: u64) -> Vec<[f64; 4]> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    (0..count).map(|_| [0; 4].map(|_| random.random_range(0.5..1.5))).collect()
}

const SOFTENINGS: [(SofteningKernel, f64); 3] =
    [(SofteningKernel::Plummer, 0.0), (SofteningKernel::Plummer, 0.05), (SofteningKernel::Spline, 0.05)];

/// Few super-clusters: their nodes are shared by several warps.
#[test]
fn warps_that_share_a_super_cluster_meet_its_nodes_once() {
    let device = Device::under_test().unwrap();
    for (precision, bound) in [(Precision::Double, 1e-13), (Precision::Mixed, 3e-6)] {
        for (expansion, count) in
            [(Expansion::Quadrupole, 60), (Expansion::Quadrupole, 3000), (Expansion::Octupole, 2000)]
        {
            let plan = GravityPlan { opening_angle: 0.8, softening: 0.02, expansion, ..Default::default() };
            let (_, particles) = sample(Distribution::Evrard, count, 5);
            let by = |warps| {
                let gravity = Gravity::new(&device, &plan, precision).unwrap().with_warps(warps);
                solved_by(gravity, &device, &particles, extent_of(&particles))
            };
            let (alone, met) = by(1);
            assert!(count < 100 || (met.near > 0 && met.far > 0), "{met:?}");
            let size = alone.iter().flatten().fold(0f64, |most, value| most.max(value.abs()));
            for warps in [2, 4] {
                let (shared, met_by_all) = by(warps);
                assert_eq!(met, met_by_all, "{warps} warps");
                let pairs = alone.iter().flatten().zip(shared.iter().flatten());
                let apart = pairs.fold(0f64, |most, (a, b)| most.max((a - b).abs()));
                assert!(apart < bound * size, "{precision:?} {warps} warps: {:e}", apart / size);
            }
        }
    }
}

/// Far nodes of a group act through its expansion: about the same errors, of both expansions and criteria.
/// Groups whose candidates exceed the capacity change no bit.
#[test]
fn groups_share_the_far_field_of_their_super_clusters() {
    let device = Device::under_test().unwrap();
    let criteria = [(0.6, Criterion::Geometric), (1.0, Criterion::RelativeError(1e-3))];
    for (distribution, expansion, (opening_angle, criterion)) in [
        (Distribution::Evrard, Expansion::Quadrupole, criteria[0]),
        (Distribution::Plummer, Expansion::Quadrupole, criteria[1]),
        (Distribution::Plummer, Expansion::Octupole, criteria[0]),
    ] {
        let plan = GravityPlan { opening_angle, criterion, expansion, softening: 0.01, ..Default::default() };
        // the last group has one super-cluster, and that one particle
        let (_, particles) = sample(distribution, 8 * 512 + 1, 5);
        for precision in [Precision::Mixed, Precision::Double] {
            let by = |capacity, at_once| {
                let gravity = Gravity::new(&device, &plan, precision).unwrap().with_groups(capacity, at_once);
                solved_by(gravity, &device, &particles, extent_of(&particles))
            };
            let (alone, met) = by(0, 1);
            let (grouped, met_by_groups) = by(4096, 100);
            let errors = [&alone, &grouped].map(|found| error(found, &particles, &plan));
            println!("{plan:?} {precision:?}: {errors:?} {met:?} {met_by_groups:?}");
            assert!(errors[1] < 1.2 * errors[0] && grouped != alone, "{plan:?} {precision:?}: {errors:?}");
            // a node that is far from the group is far from each super-cluster, and replaces its children
            assert_eq!(met_by_groups.points, met.points);
            assert!(met_by_groups.far > met.far / 2 && met_by_groups.far < met.far + met.far / 10);
            assert!(by(4096, 2).0 == grouped, "two groups at once");
            assert!(by(3, 100).0 == alone, "candidates exceed the capacity");
        }
    }
}

#[test]
fn opening_angle_zero_is_direct_summation() {
    let device = Device::under_test().unwrap();
    for (kernel, softening) in SOFTENINGS {
        for (precision, bound) in [(Precision::Double, 1e-13), (Precision::Mixed, 2e-5)] {
            for count in [1, 2, 7, 8, 9, 63, 64, 65, 511, 513, 1100] {
                let plan = GravityPlan {
                    constant: 2.5,
                    opening_angle: 0.0,
                    kernel,
                    softening,
                    ..Default::default()
                };
                let particles = uniform(count, count as u64);
                let (found, met) = solved(&device, &plan, precision, &particles, extent_of(&particles));
                let errors = worst(&found, &particles, &plan);
                assert!(errors[0] < bound && errors[1] < bound, "{plan:?} {count}: {errors:?}");
                assert_eq!((met.near, met.far), (0, 0), "{count}");
                assert!(met.points >= (count.div_ceil(SUPER_CLUSTER) * count) as u64);
            }
        }
    }
}

/// Nodes are other ones than the processors', so that errors are alike, not equal.
#[test]
fn errors_are_those_of_the_processors_tree() {
    let device = Device::under_test().unwrap();
    let [points, plummer, spline] = SOFTENINGS.map(|(kernel, softening)| (kernel, 0.2 * softening));
    let cases = [
        (points, Expansion::Quadrupole, 0.4, Criterion::Geometric),
        (plummer, Expansion::Quadrupole, 0.6, Criterion::Geometric),
        (spline, Expansion::Quadrupole, 0.8, Criterion::Geometric),
        (points, Expansion::Octupole, 0.6, Criterion::Geometric),
        (plummer, Expansion::Octupole, 0.8, Criterion::Geometric),
        (plummer, Expansion::Quadrupole, 1.0, Criterion::RelativeError(1e-3)),
        (spline, Expansion::Octupole, 1.0, Criterion::RelativeError(1e-3)),
    ];
    for distribution in [Distribution::Evrard, Distribution::Plummer] {
        let (_, particles) = sample(distribution, 4000, 1);
        for ((kernel, softening), expansion, opening_angle, criterion) in cases {
            let plan =
                GravityPlan { opening_angle, criterion, expansion, kernel, softening, ..Default::default() };
            let experiment = Experiment::of(particles.clone(), particles.len(), (kernel, softening));
            let there = experiment.measure(&plan, 1, false).error[0];
            let (found, met) = solved(&device, &plan, Precision::Mixed, &particles, extent_of(&particles));
            let here = error(&found, &particles, &plan);
            println!("{distribution:?} {plan:?}: {here:.2e}, processors {there:.2e}, {met:?}");
            assert!(here < 2.5 * there, "{distribution:?} {plan:?}: {here:e}, processors {there:e}");
            assert!(met.near > 0 && met.far > 0 && met.points < met.groups * 4000, "{plan:?}: {met:?}");
        }
    }
}

/// Two clumps of 64: what one does to the other is one far node, whose error must fall with the third power of the
/// distance, with octupoles the fourth.
#[test]
fn local_expansions_converge_with_their_order() {
    let device = Device::under_test().unwrap();
    for (expansion, order) in [(Expansion::Quadrupole, 3), (Expansion::Octupole, 4)] {
        let plan = GravityPlan { opening_angle: 1.0, softening: 0.3, expansion, ..Default::default() };
        let mut last: Option<f64> = None;
        for distance in [16.0, 32.0, 64.0, 128.0] {
            let mut particles = uniform(128, 5);
            for particle in &mut particles[64..] {
                for (d, direction) in [0.6, 0.64, -0.48].into_iter().enumerate() {
                    particle[d] += distance * direction;
                }
            }
            let (found, met) = solved(&device, &plan, Precision::Double, &particles, extent_of(&particles));
            assert_eq!((met.near, met.far), (0, 2), "one node each");
            let (mut off, mut size) = (0.0, 0.0);
            for (row, found) in found.iter().enumerate() {
                let whole = direct(&particles, &[row], plan.kernel, plan.softening)[0];
                let own = 64 * (row / 64);
                let near = direct(&particles[own..own + 64], &[row - own], plan.kernel, plan.softening)[0];
                for d in 0..3 {
                    off += (found[d] - whole[d]).powi(2);
                    size += (whole[d] - near[d]).powi(2);
                }
            }
            let error: f64 = (off / size).sqrt();
            if let Some(last) = last {
                let fall = (last / error).log2();
                assert!(fall > f64::from(order) - 0.3, "{expansion:?} {distance}: {error:e} {fall}");
                // near, both expansions' errors may partly cancel
                assert!(
                    distance < 100.0 || fall < f64::from(order) + 0.3,
                    "{expansion:?} {distance}: {fall}"
                );
            }
            last = Some(error);
        }
    }
}

/// Positions times 2^l and masses times 2^m make accelerations 2^(m - 2l) times as large, to the last bit.
#[test]
fn units_change_no_bit() {
    let device = Device::under_test().unwrap();
    let (_, particles) = sample(Distribution::Plummer, 2000, 3);
    let plan = GravityPlan { softening: 0.01, ..Default::default() };
    for precision in [Precision::Mixed, Precision::Double] {
        let (expected, met) = solved(&device, &plan, precision, &particles, extent_of(&particles));
        for (length, mass) in [(120, -90), (-100, 200)] {
            let (lengths, masses) = (f64::from(length).exp2(), f64::from(mass).exp2());
            let scaled: Vec<[f64; 4]> = particles
                .iter()
                .map(|p| [p[0] * lengths, p[1] * lengths, p[2] * lengths, p[3] * masses])
                .collect();
            // what is there before is no round number in these units
            let constant = lengths * lengths / masses;
            let plan = GravityPlan { softening: plan.softening * lengths, constant, ..plan };
            let (found, same) = solved(&device, &plan, precision, &scaled, extent_of(&scaled));
            assert_eq!(same, met);
            for (row, (found, expected)) in found.iter().zip(&expected).enumerate() {
                assert_eq!(found[..3], expected[..3], "row {row}");
                assert_eq!(found[3], expected[3] * lengths, "row {row}");
            }
        }
    }
}

#[test]
fn shapes_without_an_extent() {
    let device = Device::under_test().unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(9);
    let count = 700;
    let mut line: Vec<[f64; 4]> =
        (0..count).map(|_| [random.random_range(0.0..1.0), 0.2, 0.3, 0.1]).collect();
    line.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let plane: Vec<[f64; 4]> = uniform(count, 2).iter().map(|p| [p[0], p[1], -4.0, p[3]]).collect();
    let point = vec![[0.3, 0.1, 0.7, 0.1]; count];
    let mut points = vec![[1e3, 0.1, 0.7, 0.1]; count];
    points[300..].fill([-1e3, 0.1, 0.7, 0.2]);
    let mut massless = uniform(count, 4);
    massless.iter_mut().step_by(2).for_each(|particle| particle[3] = 0.0);
    for (name, particles) in
        [("line", line), ("plane", plane), ("point", point), ("two points", points), ("massless", massless)]
    {
        for (kernel, softening) in SOFTENINGS {
            // what is near cancels on a line: its pulls are compared with the sum of their sizes
            let plan = GravityPlan { opening_angle: 0.5, kernel, softening, ..Default::default() };
            let (found, _) = solved(&device, &plan, Precision::Double, &particles, extent_of(&particles));
            let errors = worst(&found, &particles, &plan);
            let bound = if name.contains("point") { 1e-10 } else { 4e-3 };
            assert!(errors[0] < bound && errors[1] < bound, "{name} {kernel:?} {softening}: {errors:?}");
            let again = solved(&device, &plan, Precision::Double, &particles, extent_of(&particles)).0;
            assert!(found == again, "{name}: another run gives other bits");
        }
    }
}

#[test]
fn nothing_to_do_and_nobody_there() {
    let device = Device::under_test().unwrap();
    let plan = GravityPlan::default();
    let (found, met) = solved(&device, &plan, Precision::Mixed, &[], UnitScales { length: 0.0, mass: 0.0 });
    assert!(found.is_empty());
    assert_eq!(
        met,
        InteractionCounts { groups: 1, ..Default::default() },
        "a super-cluster of ghosts meets nothing"
    );
    let empty = || Buffer::<f64>::new(&device, 0).unwrap();
    let (position, others) = ([empty(), empty(), empty()], [empty(), empty()]);
    let id = Buffer::new(&device, 0).unwrap();
    let massive =
        MassColumns { position: [&position[0], &position[1], &position[2]], mass: &others[0], id: &id };
    let mut gravity = Gravity::new(&device, &plan, Precision::Mixed).unwrap();
    let acceleration = [&position[0], &position[1], &position[2]];
    let exchange = Exchange::new(&device, &Communicator::solo()).unwrap();
    let extent = UnitScales { length: 1.0, mass: 1.0 };
    gravity.run(&exchange, &massive, 0..0, extent, acceleration, &others[1]).unwrap();
    assert_eq!(gravity.interaction_counts().unwrap(), InteractionCounts::default());
}

/// Sums and corrected accelerations of a device equal those of processors.
#[test]
fn net_force_and_torque_are_removed_as_on_processors() {
    let device = Device::under_test().unwrap();
    let (comm, bx) = (
        Communicator::solo(),
        SimulationBox { lower: Vec3d::zeros(), upper: Vec3d::repeat(4.0), boundary: [Boundary::Open; 3] },
    );
    for count in [1, 2, 5000] {
        let mut random = ChaCha8Rng::seed_from_u64(count as u64);
        let fields = [Field::Position, Field::Acceleration, Field::Mass];
        let mut particles = Particles::new(&fields, count);
        for row in 0..count {
            let mut draw = || Vec3d::from_fn(|_, _| 3.0 * random.random::<f64>());
            particles.set_vector(Field::Position, row, draw());
            particles.set_vector(Field::Acceleration, row, draw());
            particles.scalar_mut(Field::Mass)[row] = 0.5 + draw().x;
        }
        for alone in [true, false] {
            let mut here = particles.clone();
            let mut columns = Columns::upload(&device, &here, &fields).unwrap();
            let mut net_forces = NetForces::new(&device).unwrap();
            // gravity that adds nothing: if it is alone, all forces are its own, else none
            let nothing = |_: &mut Columns| Ok(());
            without_net_force(&mut net_forces, &comm, &mut columns, &bx, alone, nothing).unwrap();
            let before = (!alone).then(|| NetForce::of(&here, bx.center()));
            net_force::remove(before, &mut here, &comm, &bx);
            let mut there = Particles::new(&fields, 0);
            columns.download(&mut there, &fields).unwrap();
            for row in 0..count {
                let apart =
                    there.vector_at(Field::Acceleration, row) - here.vector_at(Field::Acceleration, row);
                assert!(apart.norm() < 1e-12, "{count} {alone} {row}: {apart}");
            }
            let changed =
                here.vector_at(Field::Acceleration, 0) != particles.vector_at(Field::Acceleration, 0);
            assert_eq!(changed, alone);
        }
    }
}

/// Accelerations and energy of an external field on a device equal those of processors.
#[test]
fn external_fields_act_as_on_processors() {
    let device = Device::under_test().unwrap();
    let comm = Communicator::solo();
    let field = ExternalField {
        uniform: [0.25, -0.5, 2.0],
        center: [0.5, 1.0, 1.5],
        counted: [1.0; 3],
        strength: 3.0,
        squared_softening: 0.01,
    };
    let cylindrical = ExternalField { counted: [1.0, 1.0, 0.0], squared_softening: 0.0, ..field };
    for (count, field) in
        [(1, field), (5000, field), (3000, cylindrical), (300, ExternalField { strength: 0.0, ..field })]
    {
        let mut random = ChaCha8Rng::seed_from_u64(count as u64);
        let fields = [Field::Position, Field::Acceleration, Field::Mass];
        let mut here = Particles::new(&fields, count);
        for row in 0..count {
            let mut draw = || Vec3d::from_fn(|_, _| 3.0 * random.random::<f64>());
            here.set_vector(Field::Position, row, draw());
            here.set_vector(Field::Acceleration, row, draw());
            here.scalar_mut(Field::Mass)[row] = 0.5 + draw().x;
        }
        let columns = Columns::upload(&device, &here, &fields).unwrap();
        external::accelerate(&field, &columns).unwrap();
        field.accelerate(&mut here);
        let mut there = Particles::new(&fields, 0);
        columns.download(&mut there, &fields).unwrap();
        for row in 0..count {
            let expected = here.vector_at(Field::Acceleration, row);
            let apart = there.vector_at(Field::Acceleration, row) - expected;
            assert!(apart.norm() < 1e-13 * expected.norm(), "{count} {row}: {apart}");
        }
        let [there, here] = [external::energy(&field, &columns, &comm).unwrap(), field.energy(&here, &comm)];
        assert!((there / here - 1.0).abs() < 1e-12, "{count}: {there} {here}");
    }
}
