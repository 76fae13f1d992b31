//! The two-body problem: relative motion on an ellipse.

use crate::space::Vec3d;

/// Bisections and Newton steps of [`eccentric_anomaly`]: more than it needs for the last bit.
const MOST_STEPS: usize = 60;

/// An elliptic relative orbit in the plane z = 0, at the apocenter on the positive x axis at time 0, turning
/// from x to y.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ellipse {
    /// Semi-major axis, > 0.
    pub axis: f64,
    /// Eccentricity, 0 <= e < 1.
    pub eccentricity: f64,
    /// G times the sum of the masses, > 0.
    pub strength: f64,
}

impl Ellipse {
    /// Mean angular speed.
    pub fn mean_motion(&self) -> f64 {
        (self.strength / self.axis.powi(3)).sqrt()
    }

    /// Relative position and velocity at a time.
    pub fn at(&self, time: f64) -> [Vec3d; 2] {
        let (e, n) = (self.eccentricity, self.mean_motion());
        let anomaly = eccentric_anomaly(n * time + std::f64::consts::PI, e);
        let (sine, cosine) = anomaly.sin_cos();
        let minor = self.axis * (1.0 - e * e).sqrt();
        let rate = n / (1.0 - e * cosine);
        // the pericenter lies on the negative x axis
        let position = Vec3d::new(-self.axis * (cosine - e), -minor * sine, 0.0);
        [position, rate * Vec3d::new(self.axis * sine, -minor * cosine, 0.0)]
    }

    /// Energy per reduced mass.
    pub fn energy(&self) -> f64 {
        -0.5 * self.strength / self.axis
    }

    /// Angular momentum per reduced mass.
    pub fn angular_momentum(&self) -> Vec3d {
        let square = self.strength * self.axis * (1.0 - self.eccentricity * self.eccentricity);
        Vec3d::new(0.0, 0.0, square.sqrt())
    }
}

/// Solves Kepler's equation E - e sin E = M. Newton's method, kept within the bracket M - e <= E <= M + e.
pub fn eccentric_anomaly(mean: f64, eccentricity: f64) -> f64 {
    let (mut least, mut most) = (mean - eccentricity, mean + eccentricity);
    let mut anomaly = mean;
    for _ in 0..MOST_STEPS {
        let excess = anomaly - eccentricity * anomaly.sin() - mean;
        if excess > 0.0 {
            most = anomaly
        } else {
            least = anomaly
        }
        let newton = anomaly - excess / (1.0 - eccentricity * anomaly.cos());
        let next = if (least..=most).contains(&newton) { newton } else { 0.5 * (least + most) };
        if next == anomaly {
            break;
        }
        anomaly = next;
    }
    anomaly
}

/// Runge-Lenz vector over the strength: v x L / (G M) - x / r, of the length of the eccentricity, towards the
/// pericenter.
pub fn runge_lenz(position: Vec3d, velocity: Vec3d, strength: f64) -> Vec3d {
    velocity.cross(&position.cross(&velocity)) / strength - position.normalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keplers_equation_is_solved() {
        // Meeus 1998, Astronomical Algorithms, example 30.a: e = 0.1, M = 5 degrees, E = 5.554589 degrees
        let found = eccentric_anomaly(5f64.to_radians(), 0.1).to_degrees();
        assert!((found - 5.554_589).abs() < 1e-6, "{found}");
        for eccentricity in [0.0, 0.3, 0.9, 0.999] {
            for k in -50..50 {
                let mean = 0.37 * f64::from(k);
                let anomaly = eccentric_anomaly(mean, eccentricity);
                let back = anomaly - eccentricity * anomaly.sin();
                assert!((back - mean).abs() < 1e-13 * mean.abs().max(1.0), "{eccentricity} {mean}: {back}");
            }
        }
    }

    #[test]
    fn the_orbit_obeys_newton() {
        let ellipse = Ellipse { axis: 2.0, eccentricity: 0.7, strength: 3.0 };
        let [start, velocity] = ellipse.at(0.0);
        assert!((start - Vec3d::new(3.4, 0.0, 0.0)).norm() < 1e-12 && velocity.y > 0.0);
        for time in [0.0, 1.0, 4.4, 9.0] {
            let [position, velocity] = ellipse.at(time);
            let step = 1e-4;
            let [before, after] = [time - step, time + step].map(|time| ellipse.at(time));
            assert!(((after[0] - before[0]) / (2.0 * step) - velocity).norm() < 1e-6);
            let pull = -ellipse.strength * position / position.norm().powi(3);
            assert!(((after[1] - before[1]) / (2.0 * step) - pull).norm() < 1e-6 * pull.norm().max(1.0));
            let energy = 0.5 * velocity.norm_squared() - ellipse.strength / position.norm();
            assert!((energy - ellipse.energy()).abs() < 1e-12);
            assert!((position.cross(&velocity) - ellipse.angular_momentum()).norm() < 1e-12);
            let lenz = runge_lenz(position, velocity, ellipse.strength);
            assert!((lenz - Vec3d::new(-0.7, 0.0, 0.0)).norm() < 1e-12, "{lenz}");
        }
    }
}
