//! The self-similar point explosion in a gas of uniform density in three dimensions (Sedov 1946; closed form
//! of Landau & Lifshitz, Fluid Mechanics, section 106).
//!
//! With the shock at R(t), x = r / R and v = (2 r / 5 t) V, the solution is given by V from 1 / gamma at the
//! center to 2 / (gamma + 1) at the shock.

use super::profile::State;

/// The profile behind the shock as a table, and the constant of the shock's radius.
#[derive(Clone, Debug)]
pub struct Explosion {
    gamma: f64,
    /// R = beta (E t^2 / rho)^(1/5).
    beta: f64,
    /// r / R, ascending.
    x: Vec<f64>,
    /// Density, velocity and pressure over those behind the shock.
    ratios: Vec<[f64; 3]>,
}

/// Rows of the table.
const ROWS: usize = 4000;

impl Explosion {
    /// Solves the explosion for an adiabatic exponent, 1 < gamma < 7. Exponents with a closed form of their
    /// own (2 and 7) are replaced by neighboring ones.
    pub fn new(gamma: f64) -> Self {
        let gamma = if (gamma - 2.0).abs() < 1e-5 { 2.0 + 1e-5 } else { gamma };
        let exponents = Exponents::new(gamma);
        // V - 1 / gamma in equal steps of its logarithm: x goes to 0 with a small power of it
        let width = 2.0 / (gamma + 1.0) - 1.0 / gamma;
        let (mut x, mut ratios) = (vec![0.0], Vec::new());
        for k in 0..=ROWS {
            let small = width * 10f64.powf(-20.0 * (1.0 - k as f64 / ROWS as f64));
            let (at, row) = exponents.row(gamma, small, width);
            x.push(at);
            ratios.push(row);
        }
        // at the center the pressure is that of the first row, and the gas is thin and at rest
        ratios.insert(0, [0.0, 0.0, ratios[0][2]]);
        let mut explosion = Self { gamma, beta: 1.0, x, ratios };
        explosion.beta = explosion.energy().powf(-0.2);
        explosion
    }

    /// Radius of the shock.
    pub fn shock(&self, energy: f64, density: f64, time: f64) -> f64 {
        self.beta * (energy * time * time / density).powf(0.2)
    }

    /// Constant of the shock's radius.
    pub fn beta(&self) -> f64 {
        self.beta
    }

    /// State right behind the shock at radius `shock` in gas of this density.
    pub fn behind(&self, shock: f64, density: f64, time: f64) -> State {
        let speed = 0.4 * shock / time;
        let factor = 2.0 / (self.gamma + 1.0);
        State {
            density: density * (self.gamma + 1.0) / (self.gamma - 1.0),
            velocity: factor * speed,
            pressure: factor * density * speed * speed,
        }
    }

    /// Density, velocity and pressure at `x` = r / R over those behind the shock, for x up to 1.
    pub fn ratios(&self, x: f64) -> [f64; 3] {
        let above = self.x.partition_point(|&node| node < x).clamp(1, self.x.len() - 1);
        let (low, high) = (self.x[above - 1], self.x[above]);
        let part = if high > low { ((x - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 };
        std::array::from_fn(|k| {
            self.ratios[above - 1][k] + part * (self.ratios[above][k] - self.ratios[above - 1][k])
        })
    }

    /// Energy over rho R^5 / t^2: (4 pi / 25) times the integral of 4 (rho / rho0) (...) x^2 dx.
    fn energy(&self) -> f64 {
        let behind = self.behind(1.0, 1.0, 1.0);
        let density = |k: usize| {
            let [rho, v, p] = self.ratios[k];
            let kinetic = 0.5 * behind.density * rho * (behind.velocity * v).powi(2);
            kinetic + behind.pressure * p / (self.gamma - 1.0)
        };
        4.0 * std::f64::consts::PI * self.integral(density)
    }

    /// Integral of a quantity of the rows times x^2 over x.
    fn integral(&self, of: impl Fn(usize) -> f64) -> f64 {
        (1..self.x.len())
            .map(|k| 0.5 * (of(k - 1) + of(k)) * (self.x[k].powi(3) - self.x[k - 1].powi(3)) / 3.0)
            .sum()
    }
}

/// Exponents of the closed form, Landau & Lifshitz (106.12).
struct Exponents([f64; 5]);

impl Exponents {
    fn new(gamma: f64) -> Self {
        let first =
            -(13.0 * gamma * gamma - 7.0 * gamma + 12.0) / ((3.0 * gamma - 1.0) * (2.0 * gamma + 1.0));
        let second = 5.0 * (gamma - 1.0) / (2.0 * gamma + 1.0);
        let third = 3.0 / (2.0 * gamma + 1.0);
        Self([first, second, third, -first / (2.0 - gamma), -2.0 / (2.0 - gamma)])
    }

    /// x and the ratios at V = 1 / gamma + `small`, `width` at the shock.
    fn row(&self, gamma: f64, small: f64, width: f64) -> (f64, [f64; 3]) {
        let [first, second, third, fourth, fifth] = self.0;
        let v = 1.0 / gamma + small;
        let middle = (gamma + 1.0) / (7.0 - gamma) * (5.0 - (3.0 * gamma - 1.0) * v);
        // (gamma + 1) / (gamma - 1) (gamma V - 1), without cancellation
        let inner = small / width;
        let outer = (gamma + 1.0) / (gamma - 1.0) * (1.0 - v);
        let fifth_power = (0.5 * (gamma + 1.0) * v).powi(-2) * middle.powf(first) * inner.powf(second);
        let x = fifth_power.powf(0.2);
        // the last two exponents have a pole at gamma = 2, where the bases are equal
        let density = inner.powf(third) * (fourth * middle.ln() + fifth * outer.ln()).exp();
        // Z = c^2 t^2 / (2 r / 5)^2 over that behind the shock
        let sound = |v: f64, excess: f64| (1.0 - v) * v * v / excess;
        let z = sound(v, small) / sound(2.0 / (gamma + 1.0), width);
        (x, [density, x * v * 0.5 * (gamma + 1.0), density * z * x * x])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shock_radii_are_the_published_ones() {
        // Sedov 1959; Kamm & Timmes 2007 for 1.4
        for (gamma, beta) in [(5.0 / 3.0, 1.15167), (1.4, 1.03278)] {
            let found = Explosion::new(gamma).beta();
            assert!((found - beta).abs() < 3e-5, "{gamma}: {found}, not {beta}");
        }
    }

    #[test]
    fn the_gas_behind_the_shock_is_what_it_swept_up() {
        for gamma in [1.2, 1.4, 5.0 / 3.0, 2.0, 3.0] {
            let explosion = Explosion::new(gamma);
            let density = (gamma + 1.0) / (gamma - 1.0);
            let mass = 3.0 * density * explosion.integral(|k| explosion.ratios[k][0]);
            assert!((mass - 1.0).abs() < 1e-4, "{gamma}: {mass}");
            for (k, ratio) in explosion.ratios(1.0).into_iter().enumerate() {
                assert!((ratio - 1.0).abs() < 1e-9, "{gamma}: {k}");
            }
            assert!(explosion.x.is_sorted());
        }
        // the pressure at the center over that behind the shock: 0.306 for 5/3 (Sedov 1959), 0.366 for 1.4
        assert!((Explosion::new(5.0 / 3.0).ratios(0.01)[2] - 0.306).abs() < 1e-3);
        assert!((Explosion::new(1.4).ratios(0.01)[2] - 0.366).abs() < 1e-3);
    }

    #[test]
    fn it_obeys_the_momentum_equation() {
        // rho (dv/dt + v dv/dr) = -dP/dr at fixed r, by differences
        for gamma in [1.4, 5.0 / 3.0] {
            let explosion = Explosion::new(gamma);
            let at = |radius: f64, time: f64| {
                let shock = explosion.shock(1.0, 1.0, time);
                let behind = explosion.behind(shock, 1.0, time).values();
                let ratios = explosion.ratios(radius / shock);
                [0, 1, 2].map(|k| behind[k] * ratios[k])
            };
            for x in [0.6, 0.8, 0.95] {
                let (time, step) = (1.0, 1e-3);
                let radius = x * explosion.shock(1.0, 1.0, time);
                let slope =
                    |k: usize| (at(radius + step, time)[k] - at(radius - step, time)[k]) / (2.0 * step);
                let change = (at(radius, time + step)[1] - at(radius, time - step)[1]) / (2.0 * step);
                let [density, velocity, _] = at(radius, time);
                let (left, right) = (density * (change + velocity * slope(1)), -slope(2));
                assert!((left - right).abs() < 2e-2 * right.abs().max(0.05), "{gamma} {x}: {left} {right}");
            }
        }
    }
}
