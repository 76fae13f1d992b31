//! A collapse drawn from the reference itself passes; each kind of error fails its own check.

use super::*;
use crate::cases::case::GAS;
use crate::cases::evrard::reference::{Reference, energies, initial_entropy};
use crate::particles::Particles;
use crate::space::Vec3d;

const TIME: f64 = 0.77;

/// Draws `count` particles of equal mass with the reference's enclosed mass, in directions of a golden
/// spiral.
fn drawn(time: f64, count: usize) -> Particles {
    let reference = Reference::at(time).unwrap();
    let fields = [
        Field::Position,
        Field::Velocity,
        Field::Mass,
        Field::Density,
        Field::InternalEnergy,
        Field::SmoothingLength,
    ];
    let mut particles = Particles::new(&fields, count);
    // enclosed mass on a fine grid of radii, out to the edge of the sphere
    let radii: Vec<f64> = (0..=4000).map(|k| 5e-4 * (1.1 / 5e-4f64).powf(f64::from(k) / 4000.0)).collect();
    let mut enclosed = vec![0.0];
    for ends in radii.windows(2) {
        let middle = (ends[0] * ends[1]).sqrt();
        let volume = 4.0 / 3.0 * std::f64::consts::PI * (ends[1].powi(3) - ends[0].powi(3));
        enclosed.push(enclosed[enclosed.len() - 1] + reference.density(middle) * volume);
    }
    let total = enclosed[enclosed.len() - 1];
    assert!((total - 1.0).abs() < 0.01, "the reference holds the mass {total}");
    for row in 0..count {
        let share = total * (row as f64 + 0.5) / count as f64;
        let k = enclosed.partition_point(|&mass| mass < share).clamp(1, radii.len() - 1);
        let part = (share - enclosed[k - 1]) / (enclosed[k] - enclosed[k - 1]);
        let radius = radii[k - 1] + part * (radii[k] - radii[k - 1]);
        let z = 1.0 - 2.0 * (row as f64 * 0.754_877_666_246_692_7).fract();
        let turn = 2.0 * std::f64::consts::PI * (row as f64 * 0.569_840_290_998_053_2).fract();
        let ring = (1.0 - z * z).sqrt();
        let direction = Vec3d::new(ring * turn.cos(), ring * turn.sin(), z);
        let density = reference.density(radius);
        particles.set_vector(Field::Position, row, direction * radius + Vec3d::new(0.3, -0.2, 0.1));
        particles.set_vector(Field::Velocity, row, direction * reference.velocity(radius));
        particles.scalar_mut(Field::Mass)[row] = 1.0 / count as f64;
        particles.scalar_mut(Field::Density)[row] = density;
        particles.scalar_mut(Field::InternalEnergy)[row] = 1.5 * reference.pressure(radius) / density;
        let volume = 100.0 / count as f64 / density;
        particles.scalar_mut(Field::SmoothingLength)[row] =
            0.5 * (0.75 * volume / std::f64::consts::PI).cbrt();
    }
    particles
}

fn verdict(particles: &Particles, time: f64, history: Option<&History>) -> Verdict {
    judge(
        &Subject { particles, time, gamma: None, history, surroundings: None },
        "evrard",
        Path::new("snapshot.hdf5"),
    )
    .unwrap()
    .0
}

fn measured(verdict: &Verdict, name: &str) -> f64 {
    verdict.check(name).unwrap().measured.unwrap()
}

fn failures(verdict: &Verdict) -> Vec<&str> {
    verdict.checks.iter().filter(|check| check.outcome == Outcome::Failed).map(|check| check.name).collect()
}

/// Scales a column by a factor.
fn scaled(mut particles: Particles, field: Field, factor: f64) -> Particles {
    particles.scalar_mut(field).iter_mut().for_each(|value| *value *= factor);
    particles
}

#[test]
fn the_reference_passes_its_own_check() {
    for time in [0.77, 0.785, 0.80] {
        let verdict = verdict(&drawn(time, 20_000), time, Some(&energies()));
        assert!(verdict.passed, "{}", verdict.text());
        // the remaining deviation is the bin with the shock: half a jump in one of 40 bins
        assert!(measured(&verdict, "log10 density") < 0.02, "{}", verdict.text());
        assert!(measured(&verdict, "log10 pressure") < 0.04, "{}", verdict.text());
        assert!(measured(&verdict, "radial velocity") < 0.04, "{}", verdict.text());
        assert!(measured(&verdict, "entropy ahead of the shock") < 0.01, "{}", verdict.text());
        assert!(measured(&verdict, "shock radius / h") < 0.5, "{}", verdict.text());
        for name in ["time of kinetic maximum", "time of thermal maximum", "time of potential minimum"] {
            assert!(measured(&verdict, name) < 0.01, "{}", verdict.text());
        }
    }
}

#[test]
fn wrong_density_is_found() {
    // the pressure stays: u falls as the density rises
    let dense = scaled(scaled(drawn(TIME, 100_000), Field::Density, 1.2), Field::InternalEnergy, 1.0 / 1.2);
    let verdict = verdict(&dense, TIME, None);
    assert!((measured(&verdict, "log10 density") - 1.2f64.log10()).abs() < 0.005, "{}", verdict.text());
    assert_eq!(failures(&verdict), ["log10 density", "entropy ahead of the shock"]);
}

#[test]
fn wrong_entropy_is_found() {
    let verdict = verdict(&scaled(drawn(TIME, 100_000), Field::InternalEnergy, 1.1), TIME, None);
    assert_eq!(failures(&verdict), ["entropy ahead of the shock"]);
    assert!((measured(&verdict, "entropy ahead of the shock") - 0.1).abs() < 0.01);
}

#[test]
fn velocity_of_the_wrong_sign_is_found() {
    let mut particles = drawn(TIME, 50_000);
    for component in 0..3 {
        particles.component_mut(Field::Velocity, component).iter_mut().for_each(|value| *value = -*value);
    }
    let verdict = verdict(&particles, TIME, None);
    assert!(failures(&verdict).contains(&"radial velocity"));
    assert!(!failures(&verdict).contains(&"log10 density"));
}

#[test]
fn a_shock_at_another_place_is_found() {
    let mut particles = drawn(TIME, 100_000);
    let reference = Reference::at(TIME).unwrap();
    let center = Vec3d::new(0.3, -0.2, 0.1);
    for row in 0..particles.len() {
        let outward = particles.vector_at(Field::Position, row) - center;
        let velocity = reference.velocity(outward.norm() / 1.4);
        particles.set_vector(Field::Velocity, row, outward.normalize() * velocity);
    }
    let verdict = verdict(&particles, TIME, None);
    let shock = verdict.check("shock radius / h").unwrap();
    assert!(shock.outcome == Outcome::Failed && shock.note.starts_with("at 0.17"), "{}", verdict.text());
}

#[test]
fn gates_scale_and_aims_are_below_them() {
    let [few, many] = [2_000, 16_000].map(|count| verdict(&drawn(TIME, count), TIME, None));
    for name in ["log10 density", "log10 pressure", "radial velocity", "entropy ahead of the shock"] {
        let gates = [&few, &many].map(|verdict| verdict.check(name).unwrap().gate.unwrap());
        assert!((gates[0] / gates[1] - 2.0).abs() < 1e-12);
        let check = many.check(name).unwrap();
        assert_eq!(check.ratio, Some(check.measured.unwrap() / check.baseline.unwrap()));
    }
    let density = many.check("log10 density").unwrap();
    assert!((density.aim.unwrap() / density.gate.unwrap() - 0.7).abs() < 1e-12);
    assert_eq!(many.check("entropy ahead of the shock").unwrap().aim, Some(0.02));
}

#[test]
fn other_times_get_the_checks_that_apply() {
    // the initial state: density 1 / (2 pi r) at rest
    let mut particles = drawn(TIME, 20_000);
    for row in 0..particles.len() {
        let enclosed = (row as f64 + 0.5) / 20_000.0;
        let direction = (particles.vector_at(Field::Position, row) - Vec3d::new(0.3, -0.2, 0.1)).normalize();
        let density = 0.5 / (std::f64::consts::PI * enclosed.sqrt());
        particles.set_vector(Field::Position, row, direction * enclosed.sqrt());
        particles.set_vector(Field::Velocity, row, Vec3d::zeros());
        particles.scalar_mut(Field::Density)[row] = density;
        particles.scalar_mut(Field::InternalEnergy)[row] =
            1.5 * initial_entropy(enclosed) * density.powf(2.0 / 3.0);
    }
    let start = verdict(&particles, 0.0, None);
    assert!(start.passed, "{}", start.text());
    assert!(measured(&start, "log10 density") < 2e-3, "{}", start.text());
    assert!(measured(&start, "thermal energy / |E|") < 1e-3);
    // the same particles at a later time: the energies are wrong, and reported so
    let late = verdict(&particles, 0.9, None);
    assert!(measured(&late, "kinetic energy / |E|") > 0.5, "{}", late.text());
    let wrong = ["log10 density", "log10 pressure", "radial velocity"];
    assert!(wrong.iter().all(|name| failures(&late).contains(name)), "{}", late.text());
    // after the end of the reference only conservation can be checked
    let beyond = verdict(&particles, 5.0, None);
    assert_eq!(beyond.check("kinetic energy / |E|").unwrap().outcome, Outcome::Skipped);
}

#[test]
fn a_drifting_or_late_run_is_found() {
    let particles = drawn(TIME, 20_000);
    let mut drifting = energies();
    drifting.thermal.iter_mut().zip(&drifting.time).for_each(|(value, time)| *value += 0.02 * time);
    let found = verdict(&particles, TIME, Some(&drifting));
    assert_eq!(failures(&found), ["energy drift"], "{}", found.text());
    assert!((measured(&found, "energy drift") - 0.02 * 0.77 / 0.6167).abs() < 1e-3);

    let mut late = energies();
    late.time.iter_mut().for_each(|time| *time *= 1.04);
    let found = verdict(&particles, TIME, Some(&late));
    let times = ["time of kinetic maximum", "time of thermal maximum", "time of potential minimum"];
    assert_eq!(failures(&found), times, "{}", found.text());

    let mut short = energies();
    for column in [&mut short.time, &mut short.kinetic, &mut short.thermal, &mut short.potential] {
        column.truncate(60);
    }
    let found = verdict(&particles, TIME, Some(&short));
    assert_eq!(found.check("energy drift").unwrap().outcome, Outcome::Skipped);
}

#[test]
fn few_particles_fail_and_do_not_panic() {
    for count in [0, 1, 2, 20] {
        let mut particles = Particles::new(GAS, count);
        particles.scalar_mut(Field::Mass).iter_mut().for_each(|mass| *mass = 1.0);
        particles.scalar_mut(Field::Density).iter_mut().for_each(|density| *density = 1.0);
        let subject = Subject {
            particles: &particles,
            time: TIME,
            gamma: None,
            history: Some(&History::default()),
            surroundings: None,
        };
        let (verdict, findings) = judge(&subject, "evrard", Path::new("snapshot.hdf5")).unwrap();
        assert!(!verdict.passed && failures(&verdict).contains(&"log10 density"));
        let folder = tempfile::tempdir().unwrap();
        findings.pictures[0].1.write(folder.path(), "few").unwrap();
    }
}

#[test]
fn what_cannot_be_judged_is_an_error_with_a_remedy() {
    let judged = |particles: &Particles, time, against| {
        let subject = Subject { particles, time, gamma: None, history: None, surroundings: None };
        judge(&subject, against, Path::new("snapshot.hdf5")).err().unwrap().to_string()
    };
    let good = drawn(TIME, 100);
    assert!(judged(&good, TIME, "sedof").contains("the solutions are: evrard"));
    assert!(judged(&good, f64::NAN, "evrard").contains("time"));
    assert!(judged(&Particles::new(&[Field::Position], 3), TIME, "evrard").contains("no velocity"));
    let mut broken = good.clone();
    broken.component_mut(Field::Velocity, 1)[7] = f64::NAN;
    assert!(judged(&broken, TIME, "evrard").contains("velocity of particle 7 is NaN"));
    let negative = scaled(good, Field::Density, -1.0);
    assert!(judged(&negative, TIME, "evrard").contains("density of particle 0 is -"));
}
#[test]
fn pictures_show_profiles_and_energies() {
    let (particles, history) = (drawn(0.785, 2_000), energies());
    let subject = Subject {
        particles: &particles,
        time: 0.785,
        gamma: None,
        history: Some(&history),
        surroundings: None,
    };
    let (_, findings) = judge(&subject, "evrard", Path::new("snapshot.hdf5")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (tail, picture) in &findings.pictures {
        picture.write(folder.path(), tail).unwrap();
    }
    for (name, word) in [("profiles", "radial velocity"), ("energies", "drift of the total energy")] {
        let svg = std::fs::read_to_string(folder.path().join(format!("{name}.svg"))).unwrap();
        assert!(svg.contains(word) && svg.contains("reference"));
        assert!(folder.path().join(format!("{name}.png")).exists());
    }
}
