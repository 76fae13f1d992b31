//! The Plummer sphere (Plummer 1911), sampled as in Aarseth, Henon & Wielen (1974, A&A 37, 183), with the
//! center of mass at rest at the origin.

use std::f64::consts::PI;
use std::ops::Range;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{InternalEnergy, Layout, particle_rng, random_direction};
use crate::plan::{PlummerStart, Velocities};
use crate::space::Vec3d;

/// Mass fraction that is sampled. The sphere is infinite; the outermost thousandth of its mass, beyond 38.7
/// Plummer radii, is cut off. The particles carry the total mass.
const MASS_FRACTION: f64 = 0.999;

/// Lays out the particles of a range of ids; `constant` is the gravitational constant of the equilibrium.
pub fn layout(start: &PlummerStart, constant: f64, share: Range<u64>) -> Layout {
    let count = start.particles.max(1) as f64;
    let moving = start.velocities == Velocities::Equilibrium;
    let sample = |id| {
        let mut random = particle_rng(start.seed, id);
        let position = position(&mut random);
        let velocity = if moving { velocity(&mut random, &position) } else { Vec3d::zeros() };
        (position, velocity)
    };
    let (mut center, mut drift) = (Vec3d::zeros(), Vec3d::zeros());
    for (position, velocity) in (0..start.particles).map(sample) {
        center += position;
        drift += velocity;
    }
    let speed = (constant * start.mass / start.radius).sqrt();
    let (positions, velocities) = share
        .map(sample)
        .map(|(x, v)| ((x - center / count) * start.radius, (v - drift / count) * speed))
        .unzip();
    let radius = start.radius;
    Layout {
        positions,
        velocities: moving.then_some(velocities),
        mass: start.mass / count,
        internal_energy: InternalEnergy::Uniform(start.internal_energy),
        volume_of: Box::new(move |position, neighbors| {
            let ball = ball_radius(MASS_FRACTION * neighbors / count, position.norm() / radius);
            4.0 / 3.0 * PI * (ball * radius).powi(3)
        }),
    }
}

/// Samples a position in the sphere of Plummer radius one.
fn position(random: &mut ChaCha8Rng) -> Vec3d {
    let mass = (1.0 - random.random::<f64>()) * MASS_FRACTION;
    random_direction(random) / (mass.powf(-2.0 / 3.0) - 1.0).sqrt()
}

/// Samples a velocity at a position, for G = M = 1: the escape speed sqrt(2) (1 + r^2)^(-1/4) times q, with
/// density proportional to q^2 (1 - q^2)^(7/2).
fn velocity(random: &mut ChaCha8Rng, position: &Vec3d) -> Vec3d {
    let escape = 2f64.sqrt() * (1.0 + position.norm_squared()).powf(-0.25);
    loop {
        let q: f64 = random.random();
        // Rejection sampling; the maximum of the density is 0.092.
        if 0.1 * random.random::<f64>() < q * q * (1.0 - q * q).powf(3.5) {
            return random_direction(random) * (q * escape);
        }
    }
}

/// Radius of the ball at `distance` from the center that holds the mass fraction `mass`, at most the ball
/// that reaches two Plummer radii beyond the center. Lengths in Plummer radii.
fn ball_radius(mass: f64, distance: f64) -> f64 {
    /// Bisections: accurate to a millionth of the largest radius.
    const HALVINGS: usize = 20;
    let (mut least, mut most) = (0.0, distance + 2.0);
    if mass_in_ball(distance, most) <= mass {
        return most;
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (least + most);
        if mass_in_ball(distance, middle) < mass { least = middle } else { most = middle }
    }
    0.5 * (least + most)
}

/// Mass fraction of a Plummer sphere in a ball at `distance` from its center; lengths in Plummer radii.
///
/// A ball of radius R at distance d contains the fraction `(R^2 - (d - r)^2) / (4 d r)` of a shell of radius
/// r that it cuts. With the density `3 / (4 pi) (1 + r^2)^(-5/2)`, the mass from cut shells is `3 / (4 d)`
/// times the integral of `r (R^2 - (d - r)^2) (1 + r^2)^(-5/2)` over r from |d - R| to d + R.
fn mass_in_ball(distance: f64, radius: f64) -> f64 {
    // The differences cancel near the center.
    let d = distance.max(1e-4);
    let integral = |r: f64| {
        let root = (1.0 + r * r).sqrt();
        let cube = root.powi(3);
        let [first, second] = [-1.0 / (3.0 * cube), r.powi(3) / (3.0 * cube)];
        let third = 1.0 / (3.0 * cube) - 1.0 / root;
        (radius * radius - d * d) * first + 2.0 * d * second - third
    };
    let inside = (radius - d).max(0.0);
    let whole = (inside / (1.0 + inside * inside).sqrt()).powi(3);
    whole + 0.75 / d * (integral(d + radius) - integral((d - radius).abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balls_hold_what_they_should() {
        // A ball about the center, and small balls elsewhere.
        for radius in [0.01f64, 0.7, 3.0, 30.0] {
            let exact = (radius / (1.0 + radius * radius).sqrt()).powi(3);
            assert!((mass_in_ball(0.0, radius) - exact).abs() < 1e-6, "{radius}");
        }
        for distance in [0.3f64, 1.0, 5.0] {
            let exact = 1e-6 * (1.0 + distance * distance).powf(-2.5);
            assert!((mass_in_ball(distance, 0.01) / exact - 1.0).abs() < 1e-3, "{distance}");
        }
        let start = PlummerStart {
            particles: 20_000,
            radius: 2.0,
            mass: 3.0,
            velocities: Velocities::Rest,
            internal_energy: 0.0,
            seed: 1,
        };
        let layout = layout(&start, 1.0, 0..start.particles);
        // Far outside, the nearest neighbors lie inwards, around the center.
        for (least, most) in [(0.0, 1.0), (1.0, 5.0), (5.0, 15.0), (15.0, 80.0)] {
            let within = |position: &&Vec3d| (least..most).contains(&position.norm());
            let (mut found, mut count) = (0, 0);
            for position in layout.positions.iter().filter(within).step_by(20).take(100) {
                let radius = (0.75 / PI * (layout.volume_of)(position, 100.0)).cbrt();
                found += layout.positions.iter().filter(|other| (*other - position).norm() < radius).count();
                count += 1;
            }
            // The count includes the particle itself, and has noise.
            let mean = f64::from(found as u32) / f64::from(count);
            assert!(count > 5 && (mean - 101.0).abs() < 12.0, "{least} to {most}: {mean} of {count}");
        }
        let beyond = (layout.volume_of)(&Vec3d::new(6.0, 0.0, 0.0), 1e9);
        assert!((beyond - 4.0 / 3.0 * PI * 10f64.powi(3)).abs() < 1e-9);
    }

    #[test]
    fn has_the_profile_and_is_in_equilibrium() {
        let count = 40_000;
        let start = PlummerStart {
            particles: count,
            radius: 2.0,
            mass: 3.0,
            velocities: Velocities::Equilibrium,
            internal_energy: 0.0,
            seed: 5,
        };
        let constant = 1.7;
        let layout = layout(&start, constant, 0..count);
        for radius in [0.5f64, 1.0, 2.0, 4.0, 8.0] {
            let inside = layout.positions.iter().filter(|p| p.norm() < radius).count() as f64 / count as f64;
            let exact = (radius / (radius * radius + 4.0).sqrt()).powi(3) / MASS_FRACTION;
            assert!((inside - exact).abs() < 0.01, "M(<{radius}) = {inside}, exact {exact}");
        }
        let velocities = layout.velocities.unwrap();
        // Virial theorem: 2 T = -W = 3 pi G M^2 / (32 a).
        let kinetic: f64 = velocities.iter().map(|v| 0.5 * layout.mass * v.norm_squared()).sum();
        let exact = 3.0 * PI * constant * 9.0 / (64.0 * 2.0);
        assert!((kinetic / exact - 1.0).abs() < 0.02, "kinetic energy {kinetic}, exact {exact}");
        assert!(velocities.iter().sum::<Vec3d>().norm() < 1e-9);
        assert!(layout.positions.iter().sum::<Vec3d>().norm() < 1e-8);
    }
}
