//! Polytropes: the Lane-Emden equation (Lane 1870; Chandrasekhar 1939, An Introduction to the Study of
//! Stellar Structure, chapter IV).

use super::ode::runge_kutta;
use std::f64::consts::PI;

/// Rows of the table of a polytrope.
const ROWS: usize = 2000;

/// A polytrope of index n, P = K rho^(1 + 1/n), in hydrostatic balance under its own gravity.
#[derive(Clone, Debug)]
pub struct Polytrope {
    /// Index n, 0 <= n < 5.
    pub index: f64,
    /// Radius over the length alpha of the equation: the first zero of theta.
    pub zero: f64,
    /// -theta' at the zero.
    pub slope: f64,
    /// Radii over that of the star, in equal steps from 0 to 1.
    pub radii: Vec<f64>,
    /// theta at the radii: rho / rho_c = theta^n.
    pub theta: Vec<f64>,
}

impl Polytrope {
    /// Integrates theta'' + (2 / xi) theta' = -theta^n from the center to its first zero.
    pub fn new(index: f64) -> Self {
        let slope = |xi: f64, [theta, rate]: &[f64; 2]| {
            [*rate, -theta.max(0.0).powf(index) - if xi > 0.0 { 2.0 * rate / xi } else { 0.0 }]
        };
        // theta = 1 - xi^2 / 6 + n xi^4 / 120 near the center
        let begin = 1e-3f64;
        let center = [
            1.0 - begin.powi(2) / 6.0 + index * begin.powi(4) / 120.0,
            -begin / 3.0 + index * begin.powi(3) / 30.0,
        ];
        let integrate = |step: f64, visit: &mut dyn FnMut(f64, &[f64; 2]) -> bool| {
            let (mut xi, mut values) = (begin, center);
            while visit(xi, &values) {
                values = runge_kutta(slope, xi, &values, step);
                xi += step;
            }
        };
        let (mut zero, mut rate) = (0.0, 0.0);
        // Newton's method from the last positive theta
        integrate(1e-3, &mut |xi, [theta, slope]| {
            let rest = -theta / slope;
            // theta'' = -2 theta' / xi - theta^n
            (zero, rate) = (xi + rest, slope + rest * (-2.0 * slope / xi - theta.max(0.0).powf(index)));
            *theta > -slope * 1e-3
        });
        let step = (zero - begin) / ROWS as f64;
        let (mut radii, mut thetas) = (vec![0.0], vec![1.0]);
        integrate(step, &mut |xi, [theta, _]| {
            radii.push((xi / zero).min(1.0));
            thetas.push(theta.max(0.0));
            radii.len() < ROWS + 2
        });
        Self { index, zero, slope: -rate, radii, theta: thetas }
    }

    /// Central density of a star of mass and radius 1.
    pub fn central_density(&self) -> f64 {
        self.zero / (4.0 * PI * self.slope)
    }

    /// Central pressure of a star of G = M = R = 1.
    pub fn central_pressure(&self) -> f64 {
        1.0 / (4.0 * PI * (self.index + 1.0) * self.slope * self.slope)
    }

    /// Potential energy of a star of G = M = R = 1: -3 / (5 - n).
    pub fn potential_energy(&self) -> f64 {
        -3.0 / (5.0 - self.index)
    }

    /// theta at a radius over that of the star; 0 outside.
    pub fn theta_at(&self, radius: f64) -> f64 {
        if radius >= 1.0 {
            return 0.0;
        }
        let above = self.radii.partition_point(|&row| row <= radius).clamp(1, self.radii.len() - 1);
        let (low, high) = (self.radii[above - 1], self.radii[above]);
        let part = if high > low { (radius - low) / (high - low) } else { 0.0 };
        self.theta[above - 1] + part * (self.theta[above] - self.theta[above - 1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chandrasekhar 1939, table 4: the zero, and rho_c over the mean density.
    #[test]
    fn zeros_and_concentrations_are_those_of_the_table() {
        for (index, zero, concentration) in [
            (0.0, 6f64.sqrt(), 1.0),
            (1.0, PI, PI * PI / 3.0),
            (1.5, 3.65375, 5.99071),
            (3.0, 6.89685, 54.1825),
        ] {
            let star = Polytrope::new(index);
            assert!((star.zero / zero - 1.0).abs() < 1e-5, "{index}: {}", star.zero);
            let found = star.zero / (3.0 * star.slope);
            assert!((found / concentration - 1.0).abs() < 3e-5, "{index}: {found}");
        }
        let sine = Polytrope::new(1.0);
        let exact = |x: f64| (PI * x).sin() / (PI * x);
        assert!((sine.theta_at(0.37) - exact(0.37)).abs() < 1e-6);
        assert_eq!(sine.theta_at(1.2), 0.0);
    }

    /// The virial theorem: the integral of 3 P is minus the potential energy.
    #[test]
    fn the_star_is_in_balance() {
        let star = Polytrope::new(1.5);
        let shell = |k: usize| {
            let radius = 0.5 * (star.radii[k] + star.radii[k + 1]);
            let width = star.radii[k + 1] - star.radii[k];
            let pressure = star.central_pressure() * star.theta_at(radius).powf(2.5);
            12.0 * PI * radius * radius * width * pressure
        };
        let thrice: f64 = (0..star.radii.len() - 1).map(shell).sum();
        assert!((thrice + star.potential_energy()).abs() < 1e-4, "{thrice}");
    }
}
