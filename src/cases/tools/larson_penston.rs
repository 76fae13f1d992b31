//! The self-similar collapse of an isothermal gas sphere before its center becomes singular (Larson 1969,
//! MNRAS 145, 271; Penston 1969, MNRAS 144, 425; Hunter 1977, ApJ 218, 834).
//!
//! With the time tau left, x = r / (c tau), rho = alpha / (4 pi G tau^2), v = c w, the enclosed mass is
//! (c^3 tau / G) (x + w) x^2 alpha, and
//!
//! ```text
//! alpha' / alpha = y (2 y / x - alpha) / (1 - y^2),    w' = -y (2 / x + alpha' / alpha),    y = x + w
//! ```
//!
//! The solution is regular at the center (w = -2 x / 3 and any alpha) and at the critical point y = 1, where
//! alpha = 2 / x and alpha' / alpha = -1 / x. The point is a node: all solutions from the center reach it,
//! and the central alpha of the one with this slope, 1.667, is found by bisection.

use super::ode::runge_kutta;

/// Step of the integration in x.
const STEP: f64 = 5e-4;
/// First x of the integration, at which the expansion about the center is exact to rounding.
const CENTER: f64 = 1e-3;
/// Distance in y from the critical point at which the integration passes over to the expansion about it.
const NEAR: f64 = 1e-3;
/// Central values of alpha between which the solution is looked for.
const BRACKET: [f64; 2] = [1.4, 2.0];

/// The solution as a table.
#[derive(Clone, Debug)]
pub struct LarsonPenston {
    /// x, ascending from 0.
    x: Vec<f64>,
    /// alpha and w.
    values: Vec<[f64; 2]>,
}

impl LarsonPenston {
    /// Solves the collapse up to x = `reach`, at least 3.
    pub fn new(reach: f64) -> Self {
        let [mut low, mut high] = BRACKET;
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            if excess(&rows_outward(middle)) > 0.0 { low = middle } else { high = middle }
        }
        let center = 0.5 * (low + high);
        let inner = rows_outward(center);
        let &(last, [_, w]) = inner.last().unwrap_or(&(1.0, [1.0, 0.0]));
        let critical = last + (1.0 - last - w) / (1.0 - 1.0 / last);
        let (mut x, mut values) = (vec![0.0], vec![[center, 0.0]]);
        for (at, state) in inner {
            x.push(at);
            values.push(state);
        }
        // as far beyond the critical point as the last row is before it
        let mut at = 2.0 * critical - last;
        let mut state = near(critical, at - critical);
        while at < reach.max(3.0) + STEP {
            x.push(at);
            values.push(state);
            state = runge_kutta(slope, at, &state, STEP);
            at += STEP;
        }
        Self { x, values }
    }

    /// alpha and w at x, up to the reach.
    pub fn at(&self, x: f64) -> [f64; 2] {
        let above = self.x.partition_point(|&row| row <= x).clamp(1, self.x.len() - 1);
        let (low, high) = (self.x[above - 1], self.x[above]);
        let part = ((x - low) / (high - low)).clamp(0.0, 1.0);
        std::array::from_fn(|k| {
            self.values[above - 1][k] + part * (self.values[above][k] - self.values[above - 1][k])
        })
    }

    /// The rows of x.
    pub fn rows(&self) -> &[f64] {
        &self.x
    }

    /// Radius over c tau_0, at the time `left` (as a fraction of the first, tau_0), of a sound wave that went
    /// inward from x = `edge`: what is inside does not know of an edge.
    pub fn wave(&self, edge: f64, left: f64) -> f64 {
        const STEPS: usize = 2000;
        let step = (1.0 - left) / STEPS as f64;
        let mut radius = [edge];
        for k in 0..STEPS {
            // forward in time: the time left is 1 - elapsed
            let speed =
                |elapsed: f64, [radius]: &[f64; 1]| [self.at(radius.max(0.0) / (1.0 - elapsed))[1] - 1.0];
            radius = runge_kutta(speed, k as f64 * step, &radius, step);
        }
        radius[0].max(0.0)
    }
}

fn slope(x: f64, [alpha, w]: &[f64; 2]) -> [f64; 2] {
    let y = x + w;
    let logarithmic = y * (2.0 * y / x - alpha) / (1.0 - y * y);
    [alpha * logarithmic, -y * (2.0 / x + logarithmic)]
}

/// First-order expansion at a distance from the critical point.
fn near(critical: f64, distance: f64) -> [f64; 2] {
    let inverse = 1.0 / critical;
    [2.0 * inverse * (1.0 - distance * inverse), 1.0 - critical - distance * inverse]
}

/// Integrates from the center to the neighborhood of the critical point: rows of ascending x.
fn rows_outward(center: f64) -> Vec<(f64, [f64; 2])> {
    let mut at = CENTER;
    // alpha' / alpha = (x / 3) (2 / 3 - alpha) near the center
    let mut state = [center * (1.0 + (2.0 / 3.0 - center) * at * at / 6.0), -2.0 / 3.0 * at];
    let mut rows = Vec::new();
    while at + state[1] < 1.0 - NEAR && at < 3.0 {
        rows.push((at, state));
        state = runge_kutta(slope, at, &state, STEP);
        at += STEP;
    }
    rows
}

/// Excess of alpha' / alpha over -1 / x in the last row.
fn excess(rows: &[(f64, [f64; 2])]) -> f64 {
    rows.last().map_or(0.0, |(x, state)| slope(*x, state)[0] / state[0] + 1.0 / x)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Central density 1.667 (Larson 1969, appendix C); far out w = -3.28 and alpha x^2 = 8.85 (Hunter 1977,
    /// table 1).
    #[test]
    fn the_numbers_are_those_of_the_literature() {
        let solution = LarsonPenston::new(2000.0);
        let [center, _] = solution.at(0.0);
        assert!((center - 1.667).abs() < 2e-3, "{center}");
        let [alpha, w] = solution.at(2000.0);
        assert!(
            (w + 3.28).abs() < 0.01 && (alpha * 2000f64.powi(2) / 8.86 - 1.0).abs() < 0.01,
            "{alpha} {w}"
        );
    }

    /// The enclosed mass from its formula is the integral of the density.
    #[test]
    fn mass_is_conserved() {
        let solution = LarsonPenston::new(8.0);
        let rows = solution.rows();
        let mut mass = 0.0;
        for pair in rows.windows(2) {
            let middle = 0.5 * (pair[0] + pair[1]);
            mass += solution.at(middle)[0] * middle * middle * (pair[1] - pair[0]);
            let [alpha, w] = solution.at(pair[1]);
            let formula = (pair[1] + w) * pair[1].powi(2) * alpha;
            if pair[1] > 0.1 {
                assert!((mass / formula - 1.0).abs() < 1e-3, "{}: {mass} {formula}", pair[1]);
            }
        }
    }

    #[test]
    fn waves_outrun_the_gas() {
        let solution = LarsonPenston::new(8.0);
        let radius = solution.wave(6.0, 0.5);
        // the gas itself is slower by the speed of sound
        assert!((1.0..4.0).contains(&radius), "{radius}");
        assert!((solution.wave(6.0, 1.0) - 6.0).abs() < 1e-12);
        assert_eq!(solution.wave(0.5, 0.1), 0.0);
    }
}
