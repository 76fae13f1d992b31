//! Exact solution of the Riemann problem of an ideal gas (Toro 2009, Riemann Solvers and Numerical Methods
//! for Fluid Dynamics, chapter 4).

use super::profile::State;

/// The solution for two states, separated at x = 0 until t = 0. A vacuum does not form.
#[derive(Clone, Copy, Debug)]
pub struct Riemann {
    left: State,
    right: State,
    gamma: f64,
    /// Pressure and velocity between the outer waves.
    middle: (f64, f64),
}

impl Riemann {
    /// Solves the problem. Densities and pressures are positive, gamma > 1.
    pub fn new(left: State, right: State, gamma: f64) -> Self {
        /// Halvings of the logarithm of the pressure: to rounding.
        const HALVINGS: usize = 120;
        let (mut low, mut high) =
            (1e-14 * left.pressure.min(right.pressure), 1e6 * left.pressure.max(right.pressure));
        let excess = |p: f64| jump(p, &left, gamma) + jump(p, &right, gamma) + right.velocity - left.velocity;
        for _ in 0..HALVINGS {
            let middle = (low * high).sqrt();
            if excess(middle) < 0.0 { low = middle } else { high = middle }
        }
        let pressure = (low * high).sqrt();
        let change = jump(pressure, &right, gamma) - jump(pressure, &left, gamma);
        let velocity = 0.5 * (left.velocity + right.velocity + change);
        Self { left, right, gamma, middle: (pressure, velocity) }
    }

    /// Returns pressure and velocity between the outer waves.
    pub fn middle(&self) -> (f64, f64) {
        self.middle
    }

    /// Returns the state at a speed x / t.
    pub fn at(&self, speed: f64) -> State {
        if speed < self.middle.1 {
            return self.beside(speed, self.middle.1, &self.left);
        }
        // the right side is the mirror image of a left side
        let mirrored = State { velocity: -self.right.velocity, ..self.right };
        let state = self.beside(-speed, -self.middle.1, &mirrored);
        State { velocity: -state.velocity, ..state }
    }

    /// State left of the contact, which moves with `contact`.
    fn beside(&self, speed: f64, contact: f64, outer: &State) -> State {
        let (gamma, pressure) = (self.gamma, self.middle.0);
        let (ratio, sound) = (pressure / outer.pressure, sound_speed(outer, gamma));
        let factor = (gamma - 1.0) / (gamma + 1.0);
        let inner = |density: f64| State { density, velocity: contact, pressure };
        if ratio > 1.0 {
            let mach = ((gamma + 1.0) / (2.0 * gamma) * ratio + (gamma - 1.0) / (2.0 * gamma)).sqrt();
            return if speed < outer.velocity - sound * mach {
                *outer
            } else {
                inner(outer.density * (ratio + factor) / (factor * ratio + 1.0))
            };
        }
        if speed < outer.velocity - sound {
            return *outer;
        }
        if speed > contact - sound * ratio.powf((gamma - 1.0) / (2.0 * gamma)) {
            return inner(outer.density * ratio.powf(1.0 / gamma));
        }
        let cooling = 2.0 / (gamma + 1.0) + factor / sound * (outer.velocity - speed);
        State {
            density: outer.density * cooling.powf(2.0 / (gamma - 1.0)),
            velocity: 2.0 / (gamma + 1.0) * (sound + 0.5 * (gamma - 1.0) * outer.velocity + speed),
            pressure: outer.pressure * cooling.powf(2.0 * gamma / (gamma - 1.0)),
        }
    }
}

fn sound_speed(state: &State, gamma: f64) -> f64 {
    (gamma * state.pressure / state.density).sqrt()
}

/// Change of the velocity across the wave that connects a state with the pressure `p`.
fn jump(p: f64, state: &State, gamma: f64) -> f64 {
    if p > state.pressure {
        let a = 2.0 / ((gamma + 1.0) * state.density);
        let b = (gamma - 1.0) / (gamma + 1.0) * state.pressure;
        return (p - state.pressure) * (a / (p + b)).sqrt();
    }
    let exponent = (gamma - 1.0) / (2.0 * gamma);
    2.0 * sound_speed(state, gamma) / (gamma - 1.0) * ((p / state.pressure).powf(exponent) - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state([density, velocity, pressure]: [f64; 3]) -> State {
        State { density, velocity, pressure }
    }

    fn near(found: f64, exact: f64, digits: f64) {
        assert!((found - exact).abs() <= digits, "{found}, not {exact}");
    }

    #[test]
    fn published_values() {
        // Toro's tests, table 4.3, gamma = 1.4: left, right, p, u
        for (left, right, pressure, velocity) in [
            ([1.0, 0.0, 1.0], [0.125, 0.0, 0.1], 0.30313, 0.92745),
            ([1.0, -2.0, 0.4], [1.0, 2.0, 0.4], 0.00189, 0.0),
            ([1.0, 0.0, 1000.0], [1.0, 0.0, 0.01], 460.894, 19.5975),
            ([1.0, 0.0, 0.01], [1.0, 0.0, 100.0], 46.0950, -6.19633),
            ([5.99924, 19.5975, 460.894], [5.99242, -6.19633, 46.0950], 1691.64, 8.68975),
        ] {
            let found = Riemann::new(state(left), state(right), 1.4).middle();
            near(found.0, pressure, 6e-6f64.max(1e-5 * pressure));
            near(found.1, velocity, 1e-5 * velocity.abs().max(1.0));
        }
        for (gamma, middle, densities) in [
            (1.4, (0.30313, 0.92745), (0.42632, 0.26557)),
            (5.0 / 3.0, (0.29395, 0.84119), (0.47969, 0.22981)),
        ] {
            let sod = Riemann::new(state([1.0, 0.0, 1.0]), state([0.125, 0.0, 0.1]), gamma);
            near(sod.middle().0, middle.0, 1e-5);
            near(sod.middle().1, middle.1, 1e-5);
            near(sod.at(middle.1 - 1e-3).density, densities.0, 1e-5);
            near(sod.at(middle.1 + 1e-3).density, densities.1, 1e-5);
        }
    }

    #[test]
    fn waves_are_where_they_should_be() {
        let sod = Riemann::new(state([1.0, 0.0, 1.0]), state([0.125, 0.0, 0.1]), 1.4);
        assert_eq!(sod.at(-1.2), state([1.0, 0.0, 1.0]));
        assert_eq!(sod.at(1.76), state([0.125, 0.0, 0.1]));
        // the fan is isentropic, and constant along u - c = x / t
        for speed in [-1.1, -0.7, -0.1] {
            let fan = sod.at(speed);
            near(fan.pressure / fan.density.powf(1.4), 1.0, 1e-12);
            near(fan.velocity - sound_speed(&fan, 1.4), speed, 1e-12);
        }
        // mass and momentum through the shock of speed D: rho (D - u) is continuous
        let behind = sod.at(1.75);
        let speed = 0.26557 * 0.92745 / (0.26557 - 0.125);
        near(behind.density * (speed - behind.velocity), 0.125 * speed, 1e-4);
        near(behind.pressure - 0.1, 0.125 * speed * behind.velocity, 1e-4);
        // a mirrored problem has the mirrored solution
        let mirrored = Riemann::new(state([0.125, 0.0, 0.1]), state([1.0, 0.0, 1.0]), 1.4);
        for speed in [-1.0, 0.0, 0.9, 1.0, 1.7] {
            let (a, b) = (sod.at(speed), mirrored.at(-speed));
            near(a.density, b.density, 1e-12);
            near(a.velocity, -b.velocity, 1e-12);
        }
    }
}
