//! The self-similar collapse of an isothermal gas sphere before its center becomes singular (Larson 1969, MNRAS
//! 145, 271; Penston 1969, MNRAS 144, 425; Hunter 1977, ApJ 218, 834).
//!
//! With the time tau left, x = r / (c tau), rho = alpha / (4 pi G tau^2), v = c w, the enclosed mass is
//! (c^3 tau / G) (x + w) x^2 alpha, and
//!
//! ```text
//! alpha' / alpha = y (2 y / x - alpha) / (1 - y^2),    w' = -y (2 / x + alpha' / alpha),    y = x + w
//! ```
//!
//! The solution is regular at the center (w = -2 x / 3) and at the critical point y = 1, where alpha = 2 / x and
//! alpha' / alpha = w' = -1 / x. Both fix the critical point: x = 2.341.

use super::ode::runge_kutta;

/// Rows of the table from the center to the critical point.
const INNER_ROWS: usize = 4000;
/// Distance from the critical point at which its expansion is left.
const EXPANSION: f64 = 1e-4;
/// Smallest x of the integration.
const CENTER: f64 = 1e-2;

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
        let critical = critical_point();
        let mut inward = rows_inward(critical);
        let center = *inward.last().unwrap_or(&(CENTER, [1.0, 0.0]));
        inward.push((0.0, [center.1[0], 0.0]));
        inward.reverse();
        let (mut x, mut values): (Vec<f64>, Vec<[f64; 2]>) = inward.into_iter().unzip();
        let (mut at, mut state) = (critical + EXPANSION, near(critical, EXPANSION));
        let step = critical / INNER_ROWS as f64;
        while at < reach.max(3.0) + step {
            x.push(at);
            values.push(state);
            state = runge_kutta(slope, at, &state, step);
            at += step;
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

/// Integrates from the critical point towards the center: rows of descending x.
fn rows_inward(critical: f64) -> Vec<(f64, [f64; 2])> {
    let (mut at, mut state) = (critical - EXPANSION, near(critical, -EXPANSION));
    let step = (at - CENTER) / INNER_ROWS as f64;
    let mut rows = vec![(critical, near(critical, 0.0)), (at, state)];
    for _ in 0..INNER_ROWS {
        state = runge_kutta(slope, at, &state, -step);
        at -= step;
        rows.push((at, state));
    }
    rows
}

/// The critical point from which the solution reaches the center regularly, by bisection.
fn critical_point() -> f64 {
    let excess = |critical: f64| {
        let &(x, [_, w]) = &rows_inward(critical)[INNER_ROWS + 1];
        w / x + 2.0 / 3.0
    };
    let (mut low, mut high) = (2.2, 2.5);
    let rising = excess(high) > excess(low);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if (excess(middle) > 0.0) == rising { high = middle } else { low = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Central density 1.667 (Larson 1969, appendix C); far out w = -3.28 and alpha x^2 = 8.85 (Hunter 1977,
    /// table 1).
    #[test]
    fn the_numbers_are_those_of_the_literature() {
        let critical = critical_point();
        assert!((critical - 2.341).abs() < 1e-3, "{critical}");
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
