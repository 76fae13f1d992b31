//! Gravity in periodic boxes on devices against exact Ewald sums and the processors' tree. Runs on the emulation, and on a
//! GPU with HILBRIUM_DEVICE_UNDER_TEST=cuda.

use hilbrium::comm::run_local;
use hilbrium::device::exchange::Exchange;
use hilbrium::device::gravity::{Gravity, MassColumns, UnitScales};
use hilbrium::device::{Buffer, Device};
use hilbrium::far::ewald_reference::{ewald, soften};
use hilbrium::far::long_range::PeriodicSettings;
use hilbrium::far::periodic_accuracy::{PeriodicDistribution, periodic_box, periodic_sample};
use hilbrium::far::{Criterion, Expansion, GravityPlan, SofteningKernel};
use hilbrium::pair::Precision;
use hilbrium::space::{Boundary, SimulationBox};

/// Acceleration x, y, z and potential of particles `[x, y, z, mass]` in the order of the curve, of which each rank has an
/// equal part, with ghosts behind them.
fn solved(
    bx: &SimulationBox,
    ranks: usize,
    plan: &GravityPlan,
    precision: Precision,
    particles: &[[f64; 4]],
) -> Result<Vec<[f64; 4]>, String> {
    const GHOSTS: usize = 3;
    let scales =
        UnitScales { length: bx.lengths().max(), mass: particles.iter().map(|particle| particle[3]).sum() };
    let results = run_local(ranks, |comm| {
        let device = Device::under_test().unwrap();
        let exchange = Exchange::new(&device, &comm).unwrap();
        let count = particles.len();
        let own = &particles[count * comm.rank() / ranks..count * (comm.rank() + 1) / ranks];
        let column = |k: usize| {
            let mut column: Vec<f64> = own.iter().map(|particle| particle[k]).collect();
            column.extend([[f64::NAN, 1e300, -1e300, 0.0][k]; GHOSTS]);
            Buffer::from_host(&device, &column).unwrap()
        };
        let (position, mass) = ([column(0), column(1), column(2)], column(3));
        let mut id: Vec<u64> = (0..own.len() as u64).collect();
        id.extend([u64::MAX; GHOSTS]);
        let id = Buffer::from_host(&device, &id).unwrap();
        let all = own.len() + GHOSTS;
        let results = [0; 4].map(|_| Buffer::from_host(&device, &vec![1.0; all]).unwrap());
        let [ax, ay, az, potential] = &results;
        let mut gravity = Gravity::new(&device, plan, precision).unwrap();
        let massive =
            MassColumns { position: [&position[0], &position[1], &position[2]], mass: &mass, id: &id };
        gravity
            .run_in(bx, &exchange, &massive, 0..own.len(), scales, [ax, ay, az], potential)
            .map_err(|error| error.to_string())?;
        let results: [Vec<f64>; 4] = [0, 1, 2, 3].map(|k| results[k].download().unwrap());
        for row in own.len()..all {
            assert!(results.iter().all(|column| column[row] == 1.0), "a row that is not owned was changed");
        }
        let found = |row: usize| [0, 1, 2, 3].map(|k| results[k][row] - if k < 3 { 1.0 } else { 0.0 });
        Ok((0..own.len()).map(found).collect::<Vec<_>>())
    });
    results.into_iter().collect::<Result<Vec<_>, String>>().map(|parts| parts.concat())
}

/// Root mean square of the errors of accelerations over that of the accelerations, and the error of the energy.
fn errors(found: &[[f64; 4]], exact: &[[f64; 4]]) -> [f64; 2] {
    let (mut squares, mut energy) = ([0.0; 2], [0.0; 2]);
    for (found, exact) in found.iter().zip(exact) {
        assert!(found.iter().all(|value| value.is_finite()), "{found:?}");
        squares[0] += (0..3).map(|d| (found[d] - exact[d]).powi(2)).sum::<f64>();
        squares[1] += (0..3).map(|d| exact[d].powi(2)).sum::<f64>();
        energy[0] += found[3];
        energy[1] += exact[3];
    }
    [(squares[0] / squares[1]).sqrt(), (energy[0] / energy[1] - 1.0).abs()]
}

#[test]
fn devices_have_the_ewald_forces_on_any_ranks() {
    for (distribution, lengths) in
        [(PeriodicDistribution::Poisson, [1.0; 3]), (PeriodicDistribution::Clustered, [1.6, 1.0, 0.9])]
    {
        let bx = periodic_box(lengths);
        let (_, all) = periodic_sample(distribution, lengths, 700, 2);
        let targets: Vec<usize> = (0..all.len()).collect();
        let points = ewald(&all, &targets, lengths);
        for (softening, kernel, expansion) in [
            (0.0, SofteningKernel::Plummer, Expansion::Quadrupole),
            (0.004, SofteningKernel::Plummer, Expansion::Octupole),
            (0.01, SofteningKernel::Spline, Expansion::Quadrupole),
        ] {
            let plan = GravityPlan { constant: 2.5, softening, kernel, expansion, ..GravityPlan::default() };
            let mut exact = points.clone();
            if softening > 0.0 {
                let cut = PeriodicSettings::new(&plan, &bx, all.len() as u64).unwrap().split.cut;
                soften(&mut exact, &all, &targets, lengths, (kernel, softening, cut));
            }
            exact.iter_mut().flatten().for_each(|value| *value *= 2.5);
            for (ranks, precision) in [(1, Precision::Mixed), (1, Precision::Double), (3, Precision::Mixed)] {
                let found = solved(&bx, ranks, &plan, precision, &all).unwrap();
                let [error, energy] = errors(&found, &exact);
                println!(
                    "{distribution:?} {softening} {kernel:?} {expansion:?} {ranks} ranks {precision:?}: {error:.2e}, \
                     energy {energy:.1e}"
                );
                assert!(error < 5e-4 && energy < 5e-3, "{error:.2e} {energy:.2e}");
            }
        }
    }
}

/// At opening angle 0 device and processors sum the same pairs.
#[test]
fn opening_angle_zero_is_the_sum_of_the_processors() {
    let bx = periodic_box([1.0, 0.8, 0.9]);
    let (_, all) = periodic_sample(PeriodicDistribution::Clustered, [1.0, 0.8, 0.9], 300, 3);
    let targets: Vec<usize> = (0..all.len()).collect();
    let exact = ewald(&all, &targets, [1.0, 0.8, 0.9]);
    // a wide split, so that the mesh is exact to 1e-6
    let (mesh, split) = (Some([32; 3]), Some(2.0));
    let plan = GravityPlan { opening_angle: 0.0, cut: 7.0, mesh, split, ..GravityPlan::default() };
    let [error, energy] = errors(&solved(&bx, 2, &plan, Precision::Double, &all).unwrap(), &exact);
    assert!(error < 3e-6 && energy < 1e-5, "{error:.2e} {energy:.2e}");
}

#[test]
fn what_devices_lack_is_refused() {
    let all = [[0.1, 0.2, 0.3, 1.0]];
    let partly = SimulationBox {
        boundary: [Boundary::Periodic, Boundary::Open, Boundary::Periodic],
        ..periodic_box([1.0; 3])
    };
    let refused = solved(&partly, 1, &GravityPlan::default(), Precision::Mixed, &all).unwrap_err();
    assert!(refused.contains("periodic in all"), "{refused}");
    let relative = GravityPlan { criterion: Criterion::RelativeError(1e-3), ..GravityPlan::default() };
    let refused = solved(&periodic_box([1.0; 3]), 1, &relative, Precision::Mixed, &all).unwrap_err();
    assert!(refused.contains("relative criterion"), "{refused}");
}
