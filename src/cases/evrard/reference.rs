//! Reference of the Evrard collapse (M = R = G = 1, u = 0.05, gamma = 5/3) at any time up to t = 3, computed
//! by the Lagrangian Godunov solver; and figures that gates are made of: deviations of SPH-EXA and of this
//! program from it.

use crate::cases::History;
use crate::cases::tools::lagrange::{Geometry, Lagrange, Outside, Setup, uniform};
use crate::cases::tools::profile::State;
use std::f64::consts::PI;
use std::sync::{Arc, Mutex, PoisonError};

/// Number of shells, of equal width at the start. The profiles are then converged to 1e-3 behind the shock
/// (2.5e-3 for 1000) and to 1e-6 between the shock and the rarefaction from the surface.
const SHELLS: usize = 2500;
/// Last time of the reference.
pub const LAST_TIME: f64 = 3.0;

/// The reference at one time, at increasing radii.
pub struct Reference {
    shock: Option<f64>,
    radius: Vec<f64>,
    velocity: Vec<f64>,
    /// Natural logarithms of radius, density, pressure and entropy.
    logarithm: Logarithms,
    energies: [f64; 3],
}

struct Logarithms {
    radius: Vec<f64>,
    density: Vec<f64>,
    pressure: Vec<f64>,
    entropy: Vec<f64>,
}

/// Number of particles of the SPH-EXA run.
pub const SPH_EXA_PARTICLES: f64 = 65_465.0;

/// Deviations of a run from the reference: mean absolute deviation of log10(density), of log10(pressure) and
/// of the radial velocity, and median deviation of the entropy ahead of the shock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// log10(density).
    pub density: f64,
    /// log10(pressure).
    pub pressure: f64,
    /// Radial velocity.
    pub velocity: f64,
    /// K / K0 - 1.
    pub entropy: f64,
}

/// SPH-EXA (develop of February 2025, volume elements, 100 neighbors, 65,465 particles) at t = 0.77, measured
/// as in `validate --against evrard`.
pub const SPH_EXA_077: Figures = Figures { density: 0.054, pressure: 0.115, velocity: 0.059, entropy: 0.065 };
/// The same run at t = 0.80.
pub const SPH_EXA_080: Figures = Figures { density: 0.052, pressure: 0.109, velocity: 0.054, entropy: 0.077 };

/// Returns SPH-EXA's figures at a time, scaled to `particles` by the cube root: deviations shrink with the
/// particle spacing.
pub fn sph_exa(time: f64, particles: u64) -> Figures {
    let weight = ((time - 0.77) / 0.03).clamp(0.0, 1.0);
    let scale = (SPH_EXA_PARTICLES / particles.max(1) as f64).cbrt();
    let between = |early: f64, late: f64| scale * (early + weight * (late - early));
    let (early, late) = (SPH_EXA_077, SPH_EXA_080);
    Figures {
        density: between(early.density, late.density),
        pressure: between(early.pressure, late.pressure),
        velocity: between(early.velocity, late.velocity),
        entropy: between(early.entropy, late.entropy),
    }
}

/// Returns the initial entropy K = P / density^gamma of the shell that encloses the mass `enclosed`:
/// (2/3) 0.05 density^(-2/3) with density 1 / (2 pi r0) and r0 = sqrt(enclosed). It is conserved until the
/// shock.
pub fn initial_entropy(enclosed: f64) -> f64 {
    (2.0 * std::f64::consts::PI * enclosed.max(0.0).sqrt()).powf(2.0 / 3.0) / 30.0
}

/// Times at which a snapshot is compared with SPH-EXA's figures; the shock moves by less than 6e-4 in the
/// tolerance.
const SPH_EXA_TIMES: (f64, f64) = (0.77, 0.80);
const TIME_TOLERANCE: f64 = 1.5e-3;

/// Whether SPH-EXA's figures are known at a time.
pub fn sph_exa_knows(time: f64) -> bool {
    (SPH_EXA_TIMES.0 - TIME_TOLERANCE..=SPH_EXA_TIMES.1 + TIME_TOLERANCE).contains(&time)
}

/// Deviations of log10(density), log10(pressure) and velocity with `inputs/evrard.toml` and
/// `MEASURED_PARTICLES` particles, by time: an upper envelope of the snapshots every 0.05. They shrink
/// about as N^(-1/4), at t = 1.2 to 1.3 the pressure as N^(-1/5).
const MEASURED: [(f64, [f64; 3]); 17] = [
    (0.0, [0.010, 0.016, 0.007]),
    (0.3, [0.010, 0.016, 0.0085]),
    (0.4, [0.013, 0.022, 0.014]),
    (0.5, [0.027, 0.051, 0.035]),
    (0.6, [0.060, 0.113, 0.059]),
    (0.7, [0.075, 0.148, 0.094]),
    (0.9, [0.075, 0.148, 0.094]),
    (1.0, [0.075, 0.171, 0.118]),
    (1.1, [0.098, 0.252, 0.118]),
    (1.15, [0.110, 0.302, 0.131]),
    (1.2, [0.110, 0.310, 0.131]),
    (1.25, [0.103, 0.290, 0.120]),
    (1.29, [0.085, 0.192, 0.112]),
    (1.4, [0.080, 0.125, 0.045]),
    (1.7, [0.097, 0.159, 0.032]),
    (2.2, [0.097, 0.159, 0.032]),
    (2.5, [0.101, 0.165, 0.038]),
];
const MEASURED_PARTICLES: f64 = 10_000.0;
/// Gates over these figures.
const MARGIN: f64 = 1.25;

/// Returns the gates of density, pressure and velocity at times at which SPH-EXA's figures are not known.
pub fn own_gates(time: f64, particles: u64) -> [f64; 3] {
    let scale = MARGIN * (MEASURED_PARTICLES / particles.max(1) as f64).powf(0.2);
    let times = MEASURED.map(|row| row.0);
    std::array::from_fn(|k| scale * interpolate(&times, &MEASURED.map(|row| row.1[k]), time))
}
/// Radii and last time between which the reference has one clear shock.
const SHOCK_RANGE: (f64, f64) = (0.03, 0.6);
const LAST_SHOCK_TIME: f64 = 1.2;
/// Smallest fall of the velocity from one shell to the next in a shock.
const SHOCK_FALL: f64 = 0.1;

impl Reference {
    /// Returns the reference at `time`; `None` outside of 0 to 3. It takes 0.7 s of a core up to t = 0.77,
    /// 7 s up to t = 3, and is kept for later calls.
    pub fn at(time: f64) -> Option<Arc<Self>> {
        static KNOWN: Mutex<Vec<(f64, Arc<Reference>)>> = Mutex::new(Vec::new());
        if !(0.0..=LAST_TIME * (1.0 + 1e-9)).contains(&time) {
            return None;
        }
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, reference)) = known.iter().find(|(at, _)| *at == time) {
            return Some(reference.clone());
        }
        let reference = Arc::new(Self::computed(time, SHELLS));
        known.push((time, reference.clone()));
        Some(reference)
    }

    /// Computes the reference with a number of shells.
    fn computed(time: f64, shells: usize) -> Self {
        let setup =
            Setup { geometry: Geometry::Spherical, gamma: 5.0 / 3.0, gravity: 1.0, outside: Outside::Vacuum };
        // M(<r) = r^2
        let mut flow = Lagrange::new(setup, uniform(0.0, 1.0, shells), |a, b| {
            let density = 0.75 / PI * (b * b - a * a) / (b.powi(3) - a.powi(3));
            State { density, velocity: 0.0, pressure: 2.0 / 3.0 * density * 0.05 }
        });
        flow.advance(time);
        let cells = flow.cells();
        let fall = |k: usize| cells[k].state.velocity - cells[k + 1].state.velocity;
        let shock = (0..cells.len() - 1)
            .filter(|&k| cells[k].at > SHOCK_RANGE.0 && cells[k].at < SHOCK_RANGE.1)
            .filter(|&k| time <= LAST_SHOCK_TIME && fall(k) > SHOCK_FALL)
            .max_by(|&a, &b| fall(a).total_cmp(&fall(b)));
        let column = |value: &dyn Fn(&State) -> f64| cells.iter().map(|cell| value(&cell.state)).collect();
        let radius: Vec<f64> = cells.iter().map(|cell| cell.at).collect();
        let logarithm = Logarithms {
            radius: radius.iter().map(|radius| radius.ln()).collect(),
            density: column(&|state| state.density.ln()),
            pressure: column(&|state| state.pressure.ln()),
            entropy: column(&|state| state.pressure.ln() - 5.0 / 3.0 * state.density.ln()),
        };
        let velocity = column(&|state| state.velocity);
        let shock = shock.map(|k| flow.faces()[k + 1]);
        Self { shock, radius, velocity, logarithm, energies: flow.energies() }
    }

    /// Returns the radius of the shock, from its formation until it has left most of the gas.
    pub fn shock(&self) -> Option<f64> {
        self.shock
    }

    /// Returns kinetic, thermal and potential energy.
    pub fn energies(&self) -> [f64; 3] {
        self.energies
    }

    /// Returns the density at a radius.
    pub fn density(&self, radius: f64) -> f64 {
        self.logarithmic(radius, &self.logarithm.density)
    }

    /// Returns the pressure at a radius.
    pub fn pressure(&self, radius: f64) -> f64 {
        self.logarithmic(radius, &self.logarithm.pressure)
    }

    /// Returns K = P / density^gamma at a radius.
    pub fn entropy(&self, radius: f64) -> f64 {
        self.logarithmic(radius, &self.logarithm.entropy)
    }

    /// Returns the radial velocity at a radius.
    pub fn velocity(&self, radius: f64) -> f64 {
        interpolate(&self.radius, &self.velocity, radius)
    }

    fn logarithmic(&self, radius: f64, column: &[f64]) -> f64 {
        interpolate(&self.logarithm.radius, column, radius.ln()).exp()
    }
}

/// Returns the reference's energies, every 0.01 up to t = 3.
pub fn energies() -> History {
    let [time, kinetic, thermal, potential, _] = columns(include_str!("reference/evrard-energies.csv"));
    History { time, kinetic, thermal, potential }
}

/// Interpolates linearly between the nodes; constant beyond them.
pub fn interpolate(nodes: &[f64], values: &[f64], x: f64) -> f64 {
    let after = nodes.partition_point(|&node| node <= x);
    match after {
        0 => values[0],
        _ if after == nodes.len() => values[after - 1],
        _ => {
            let share = (x - nodes[after - 1]) / (nodes[after] - nodes[after - 1]);
            values[after - 1] + share * (values[after] - values[after - 1])
        }
    }
}

/// Parses the columns of a compiled-in table; lines that begin with '#' are comments.
fn columns(table: &str) -> [Vec<f64>; 5] {
    let mut columns: [Vec<f64>; 5] = Default::default();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        for (column, cell) in columns.iter_mut().zip(line.split(',')) {
            match cell.parse() {
                Ok(value) => column.push(value),
                Err(_) => unreachable!("reference table of the Evrard collapse: {line}"),
            }
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean |deviation| of density, pressure and entropy, relative to a table, and of the velocity, at the
    /// rows between two radii.
    fn deviation(reference: &Reference, table: &[Vec<f64>; 5], (inner, outer): (f64, f64)) -> [f64; 4] {
        let [radius, density, velocity, pressure, entropy] = table;
        let rows: Vec<usize> =
            (0..radius.len()).filter(|&k| radius[k] > inner && radius[k] < outer).collect();
        assert!(rows.len() > 30, "{} rows", rows.len());
        let mean = |deviation: &dyn Fn(usize, f64) -> f64| {
            rows.iter().map(|&k| deviation(k, radius[k]).abs()).sum::<f64>() / rows.len() as f64
        };
        [
            mean(&|k, r| reference.density(r) / density[k] - 1.0),
            mean(&|k, r| reference.pressure(r) / pressure[k] - 1.0),
            mean(&|k, r| reference.entropy(r) / entropy[k] - 1.0),
            mean(&|k, r| reference.velocity(r) - velocity[k]),
        ]
    }

    #[test]
    fn an_independent_solution_with_4000_shells_is_met() {
        for (time, shock, table) in [
            (0.77, 0.1254, include_str!("reference/evrard-t0.770.csv")),
            (0.80, 0.1362, include_str!("reference/evrard-t0.800.csv")),
        ] {
            let (reference, table) = (Reference::at(time).unwrap(), columns(table));
            assert!(table[0].len() > 270 && table[0].is_sorted());
            let found = reference.shock().unwrap();
            assert!((found - shock).abs() < 8e-4, "{time}: shock at {found}");
            let behind = deviation(&reference, &table, (0.003, 0.9 * shock));
            assert!(behind.iter().all(|&value| value < 1e-3), "{time}: {behind:?}");
            let ahead = deviation(&reference, &table, (1.1 * shock, 0.42));
            assert!(ahead.iter().all(|&value| value < 2e-5), "{time}: {ahead:?}");
        }
    }

    #[test]
    fn energies_agree_with_the_table() {
        let table = energies();
        assert!(table.drift(3.0).unwrap() < 2e-5 && table.time.len() == 301 && table.time[300] == 3.0);
        for time in [0.77, 0.80, 0.9] {
            let reference = Reference::at(time).unwrap();
            for (found, column) in
                reference.energies().iter().zip([&table.kinetic, &table.thermal, &table.potential])
            {
                let expected = interpolate(&table.time, column, time);
                assert!((found - expected).abs() < 4e-4, "{time}: {found}, not {expected}");
            }
        }
    }

    #[test]
    fn the_shock_stands_between_both_sides() {
        for time in [0.77, 0.785, 0.80] {
            let reference = Reference::at(time).unwrap();
            let shock = reference.shock().unwrap();
            assert!(reference.velocity(0.97 * shock) > -0.4, "behind at {time}");
            assert!(reference.velocity(1.03 * shock) < -1.4, "ahead at {time}");
        }
        assert!(Reference::at(-0.1).is_none() && Reference::at(3.1).is_none());
        assert!(Reference::at(f64::NAN).is_none());
        let start = Reference::at(0.0).unwrap();
        assert!(start.shock().is_none());
        assert!((start.density(0.5) * PI - 1.0).abs() < 1e-5 && start.velocity(0.5) == 0.0);
    }

    #[test]
    fn few_shells_reach_the_end() {
        let reference = Reference::computed(3.0, 150);
        let total: f64 = reference.energies().iter().sum();
        assert!((total + 0.616667).abs() < 1e-4 && reference.shock().is_none());
        let table = energies();
        assert!((reference.energies()[1] - table.thermal[300]).abs() < 0.03, "{:?}", reference.energies());
        assert!(reference.density(0.02) > reference.density(0.2));
    }

    #[test]
    fn gates_scale_with_the_distance_of_particles() {
        assert_eq!(sph_exa(0.77, 65_465), SPH_EXA_077);
        assert_eq!(sph_exa(0.80, 8 * 65_465).density, 0.5 * SPH_EXA_080.density);
        assert!((sph_exa(0.785, 65_465).entropy - 0.071).abs() < 1e-12);
        for (time, [density, ..]) in MEASURED {
            assert!((own_gates(time, 320_000)[0] - 0.5 * MARGIN * density).abs() < 1e-12);
        }
        assert!(MEASURED.is_sorted_by(|a, b| a.0 < b.0));
        assert!(
            sph_exa_knows(0.7691) && sph_exa_knows(0.801) && !sph_exa_knows(0.82) && !sph_exa_knows(1.29)
        );
    }

    #[test]
    fn the_initial_entropy_is_that_of_the_sphere() {
        let (radius, gamma) = (0.37f64, 5.0 / 3.0);
        let density: f64 = 1.0 / (2.0 * std::f64::consts::PI * radius);
        let entropy = (gamma - 1.0) * density * 0.05 / density.powf(gamma);
        assert!((initial_entropy(radius * radius) / entropy - 1.0).abs() < 1e-14);
    }
}
