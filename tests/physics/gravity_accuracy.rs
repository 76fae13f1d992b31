//! The tree's force errors against direct summation, and that potential and force belong together.

use crate::common::{difference, evolved, plan};
use hilbrium::far::accuracy::{Distribution, Experiment, potential_energy, sample};
use hilbrium::far::direct::direct;
use hilbrium::far::{Expansion, GravityPlan, SofteningKernel};
use hilbrium::particles::Field;

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

/// A deck's order reaches the forces: octupoles are a third as far from direct summation, or less.
#[test]
fn a_deck_chooses_the_order() {
    let forces = |settings: &str| {
        let deck = format!(
            "[run]\nsteps = 0\nprecision = \"double\"\n[start.plummer]\nparticles = 4000\nvelocities = \"rest\"\n\
             [gravity]\nsoftening = 0.05\n{settings}"
        );
        evolved(&plan(&deck), 1, 1, 0, &[Field::Acceleration])
    };
    let exact = forces("opening_angle = 0.0");
    let error =
        |order: &str| difference(&exact, &forces(&format!("opening_angle = 0.4\norder = \"{order}\"")));
    let (quadrupole, octupole) = (error("quadrupole"), error("octupole"));
    println!("largest errors: {quadrupole:e} with quadrupoles, {octupole:e} with octupoles");
    assert!(octupole < 0.5 * quadrupole && octupole > 1e-9, "{quadrupole:e} {octupole:e}");
}

/// Nothing depends on the scale: a tight clump far inside a large sphere, with nodes of its own or all in one cell of the
/// deepest level.
#[test]
fn a_small_clump_in_a_large_sphere_keeps_its_forces() {
    for scale in [1e-4, 1e-8] {
        let (_, mut particles) = sample(Distribution::Plummer, 3000, 2);
        particles.iter_mut().for_each(|particle| (0..3).for_each(|d| particle[d] *= scale));
        let (_, far) = sample(Distribution::Plummer, 500, 3);
        particles.extend(far.iter().map(|[x, y, z, mass]| [x + 3.0, *y, *z, 1e-3 * mass]));
        let experiment = Experiment::of(particles, 1000, (SofteningKernel::Plummer, 0.0));
        for expansion in [Expansion::Quadrupole, Expansion::Octupole] {
            let plan = GravityPlan { expansion, ..GravityPlan::default() };
            let found = experiment.measure(&plan, 1, false);
            println!("{scale} {expansion:?}: {:?} {:?}", found.error, found.interactions_per_particle());
            // all but the few clump particles that share a super-cluster, and so a frame, with distant ones
            assert!(found.error[1] < 1e-4, "{scale} {expansion:?}: {:?}", found.error);
            assert!(found.error[0] < 3e-4 || scale < 1e-6, "{scale} {expansion:?}: {:?}", found.error);
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
