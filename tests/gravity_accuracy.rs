//! The tree's force errors against direct summation, and that potential and force belong together.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]

use hilbrium::far::accuracy::{Distribution, Experiment, potential_energy, sample};
use hilbrium::far::direct::direct;
use hilbrium::far::{GravityPlan, SofteningKernel};

/// The bounds promised for the default plan: rms 3e-4, 99th percentile 0.15 %.
#[test]
fn default_plan_keeps_its_promise() {
    for distribution in [Distribution::Plummer, Distribution::Evrard] {
        for count in [4000, 20_000] {
            for (softening, kernel) in [
                (0.0, SofteningKernel::Plummer),
                (0.01, SofteningKernel::Plummer),
                (0.01, SofteningKernel::Spline),
            ] {
                let experiment = Experiment::new(distribution, count, 1000, (kernel, softening));
                for double in [false, true] {
                    let [rms, _, percentile99, largest] =
                        experiment.measure(&GravityPlan::default(), 1, double).error;
                    let what = format!("{distribution:?} {count} {softening} {kernel:?} double {double}");
                    assert!(
                        rms <= 3e-4 && percentile99 <= 1.5e-3,
                        "{what}: rms {rms:.2e}, 99 % {percentile99:.2e}"
                    );
                    assert!(largest < 0.05, "{what}: largest {largest:.2e}");
                    assert!(rms > 1e-6, "{what}: too good to be a tree");
                }
            }
        }
    }
}

/// Errors fall with the opening angle, and vanish to rounding at angle 0.
#[test]
fn opening_angle_controls_the_error() {
    for distribution in [Distribution::Plummer, Distribution::Evrard] {
        let mut last = 0.0;
        let experiment = Experiment::new(distribution, 5000, 500, (SofteningKernel::Plummer, 0.005));
        for opening_angle in [0.0, 0.3, 0.5, 0.7, 1.0] {
            let plan = GravityPlan { opening_angle, ..GravityPlan::default() };
            let measured = experiment.measure(&plan, 1, true);
            let rms = measured.error[0];
            println!("{distribution:?} theta {opening_angle}: {:?}", measured.error);
            assert!(rms > last, "{distribution:?} {opening_angle}");
            if opening_angle == 0.0 {
                assert!(measured.error[3] < 1e-11 && measured.energy_error.abs() < 1e-12);
                let mixed = experiment.measure(&plan, 1, false);
                assert!(mixed.error[0] < 2e-6, "{:?}", mixed.error);
            }
            last = rms;
        }
    }
}

/// The sampled spheres are what they say: their potential energy is the continuous one's within the sampling noise.
#[test]
fn samples_have_the_potential_energy_of_their_distribution() {
    for distribution in [Distribution::Plummer, Distribution::Evrard] {
        let (_, particles) = sample(distribution, 8000, 5);
        let all: Vec<usize> = (0..particles.len()).collect();
        let field = direct(&particles, &all, SofteningKernel::Plummer, 0.0);
        let energy: f64 = field.iter().zip(&particles).map(|(at, particle)| 0.5 * particle[3] * at[3]).sum();
        let expected = potential_energy(distribution);
        assert!((energy / expected - 1.0).abs() < 0.04, "{distribution:?} {energy} {expected}");
    }
}
