//! Plane waves along x in a periodic box of edge 1: displaced particles, first Fourier modes.

use std::f64::consts::PI;

/// Returns the place x at which the mass from 0 to x is `uniform`, for the density 1 + `amplitude` sin(2 pi x):
/// x + amplitude / (2 pi) (1 - cos(2 pi x)) = uniform, solved by Newton's method. `amplitude` is below 1.
pub fn displaced(uniform: f64, amplitude: f64) -> f64 {
    const ITERATIONS: usize = 50;
    let wave = 2.0 * PI;
    let mut x = uniform;
    for _ in 0..ITERATIONS {
        let excess = x + amplitude / wave * (1.0 - (wave * x).cos()) - uniform;
        x -= excess / (1.0 + amplitude * (wave * x).sin());
    }
    x
}

/// Returns the coefficients of sin(2 pi x) and cos(2 pi x) of a quantity, from points `(x, value, weight)`.
pub fn first_mode(points: impl IntoIterator<Item = (f64, f64, f64)>) -> [f64; 2] {
    let (mut sine, mut cosine, mut total) = (0.0, 0.0, 0.0);
    for (x, value, weight) in points {
        let (sin, cos) = (2.0 * PI * x).sin_cos();
        sine += weight * value * sin;
        cosine += weight * value * cos;
        total += weight;
    }
    [sine, cosine].map(|sum| 2.0 * sum / total.max(f64::MIN_POSITIVE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displaced_points_have_the_density() {
        for x in [0.0, 0.1, 0.37, 0.5, 0.99] {
            let slope = (displaced(x + 1e-6, 0.05) - displaced(x - 1e-6, 0.05)) / 2e-6;
            let density = 1.0 + 0.05 * (2.0 * PI * displaced(x, 0.05)).sin();
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
