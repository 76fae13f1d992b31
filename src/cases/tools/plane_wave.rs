//! Plane waves along x in a periodic box of edge 1: displaced particles, first Fourier modes, standing waves.

use std::f64::consts::PI;

/// Wave number.
pub const WAVE: f64 = 2.0 * PI;

/// Returns the place x at which the mass from 0 to x is `uniform`, for the density 1 + `amplitude` sin(2 pi
/// x): x + amplitude / (2 pi) (1 - cos(2 pi x)) = uniform, solved by Newton's method. `amplitude` is below
/// 1.
pub fn displaced(uniform: f64, amplitude: f64) -> f64 {
    const ITERATIONS: usize = 50;
    let mut x = uniform;
    for _ in 0..ITERATIONS {
        let excess = x + amplitude / WAVE * (1.0 - (WAVE * x).cos()) - uniform;
        x -= excess / (1.0 + amplitude * (WAVE * x).sin());
    }
    x
}

/// Returns the coefficients of sin(2 pi x) and cos(2 pi x) of a quantity, from points `(x, value, weight)`.
pub fn first_mode(points: impl IntoIterator<Item = (f64, f64, f64)>) -> [f64; 2] {
    let (mut sine, mut cosine, mut total) = (0.0, 0.0, 0.0);
    for (x, value, weight) in points {
        let (sin, cos) = (WAVE * x).sin_cos();
        sine += weight * value * sin;
        cosine += weight * value * cos;
        total += weight;
    }
    [sine, cosine].map(|sum| 2.0 * sum / total.max(f64::MIN_POSITIVE))
}

/// A standing wave at rest at the start: the density is rho (1 + A C(t) sin(k x)), the velocity
/// A C'(t) / k cos(k x), with C'' = `square` C and C(0) = 1.
pub struct StandingWave {
    /// Density of the uniform gas.
    pub density: f64,
    /// Amplitude at the start.
    pub amplitude: f64,
    /// Square of the growth rate, 4 pi G rho - c^2 k^2; minus that of the angular frequency.
    pub square: f64,
}

impl StandingWave {
    /// Returns angular frequency or growth rate.
    pub fn rate(&self) -> f64 {
        self.square.abs().sqrt()
    }

    /// Returns C and C'.
    pub fn factors(&self, time: f64) -> [f64; 2] {
        let (rate, phase) = (self.rate(), self.rate() * time);
        if self.square > 0.0 {
            [phase.cosh(), rate * phase.sinh()]
        } else {
            [phase.cos(), -rate * phase.sin()]
        }
    }

    /// Returns density over that of the uniform gas, and velocity.
    pub fn at(&self, x: f64, time: f64) -> [f64; 2] {
        let [factor, slope] = self.factors(time).map(|factor| factor * self.amplitude);
        [1.0 + factor * (WAVE * x).sin(), slope / WAVE * (WAVE * x).cos()]
    }

    /// Returns the largest factor of the amplitude up to a time.
    pub fn grown(&self, time: f64) -> f64 {
        if self.square > 0.0 { self.factors(time)[0] } else { 1.0 }
    }

    /// Returns the relative error of frequency or growth rate, from the coefficients of sin(k x) of density
    /// and of cos(k x) of velocity; `None` at the start.
    pub fn rate_error(&self, density: f64, velocity: f64, time: f64) -> Option<f64> {
        let (rate, phase) = (self.rate(), self.rate() * time);
        let momentum = velocity * WAVE / rate;
        let error = if self.square > 0.0 {
            // the growing mode, A exp(rate t)
            ((density + momentum) / self.amplitude).ln() / phase - 1.0
        } else {
            let ahead = (-momentum).atan2(density) - phase;
            (ahead - WAVE * (ahead / WAVE).round()) / phase
        };
        (phase > 0.0).then_some(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displaced_points_have_the_density() {
        for x in [0.0, 0.1, 0.37, 0.5, 0.99] {
            let slope = (displaced(x + 1e-6, 0.05) - displaced(x - 1e-6, 0.05)) / 2e-6;
            let density = 1.0 + 0.05 * (WAVE * displaced(x, 0.05)).sin();
            assert!((slope * density - 1.0).abs() < 1e-8, "{x}");
        }
        assert!((displaced(1.0, 0.05) - 1.0).abs() < 1e-14);
    }

    #[test]
    fn the_first_mode_of_displaced_points_is_that_of_their_density() {
        let count = 200;
        let points = (0..count).map(|k| displaced((f64::from(k) + 0.5) / f64::from(count), 0.3));
        let [sine, cosine] = first_mode(points.map(|x| (x, 1.0, 1.0)));
        assert!((sine - 0.3).abs() < 1e-4 && cosine.abs() < 1e-12, "{sine} {cosine}");
    }
}
