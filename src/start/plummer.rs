//! The Plummer sphere (Plummer 1911), sampled as by Aarseth, Henon & Wielen (1974, A&A 37, 183), with the center of
//! mass at rest at the origin.

use std::f64::consts::PI;
use std::ops::Range;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{InternalEnergy, Layout, random_direction, random_of};
use crate::deck::plan::{PlummerStart, Velocities};
use crate::space::Vec3d;

/// The sphere is infinite; the outermost thousandth of its mass is left out (it would begin at 38.7 Plummer radii) and
/// the particles carry the total mass.
const MASS_FRACTION: f64 = 0.999;

/// The particles of a range of ids; `constant` is the gravitational constant of the equilibrium.
pub fn layout(start: &PlummerStart, constant: f64, share: Range<u64>) -> Layout {
    let count = start.particles.max(1) as f64;
    let moving = start.velocities == Velocities::Equilibrium;
    let sample = |id| {
        let mut random = random_of(start.seed, id);
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
        internal_energy: InternalEnergy::Even(start.internal_energy),
        volume_of: Box::new(move |position, neighbors| {
            let squared = position.norm_squared() / radius.powi(2);
            let density = 3.0 * count / (4.0 * PI * radius.powi(3)) * (1.0 + squared).powf(-2.5);
            // Far outside the nearest neighbors lie inwards: no ball needs to reach beyond the core.
            (neighbors / density).min(4.0 / 3.0 * PI * (position.norm() + 2.0 * radius).powi(3))
        }),
    }
}

/// A position of the sphere with Plummer radius one.
fn position(random: &mut ChaCha8Rng) -> Vec3d {
    let mass = (1.0 - random.random::<f64>()) * MASS_FRACTION;
    random_direction(random) / (mass.powf(-2.0 / 3.0) - 1.0).sqrt()
}

/// A velocity at a position, for G = M = 1: the escape speed sqrt(2) (1 + r^2)^(-1/4) times q, which is distributed as
/// q^2 (1 - q^2)^(7/2).
fn velocity(random: &mut ChaCha8Rng, position: &Vec3d) -> Vec3d {
    let escape = 2f64.sqrt() * (1.0 + position.norm_squared()).powf(-0.25);
    loop {
        let q: f64 = random.random();
        // The density's maximum is 0.092.
        if 0.1 * random.random::<f64>() < q * q * (1.0 - q * q).powf(3.5) {
            return random_direction(random) * (q * escape);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
