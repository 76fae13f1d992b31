//! Reference of the Evrard collapse: a one-dimensional Lagrangian Godunov solution (4000 shells,
//! M = R = G = 1, u = 0.05, gamma = 5/3), converged to 1e-3 behind the shock and to 1e-6 ahead of it; and
//! SPH-EXA's deviations from it.

use crate::cases::History;

/// Profile at one time, at increasing radii.
struct Profile {
    time: f64,
    /// Radius of the shock.
    shock: f64,
    radius: Vec<f64>,
    velocity: Vec<f64>,
    /// Natural logarithms of radius, density, pressure and entropy.
    logarithm: Logarithms,
}

struct Logarithms {
    radius: Vec<f64>,
    density: Vec<f64>,
    pressure: Vec<f64>,
    entropy: Vec<f64>,
}

/// The reference at one time.
pub struct Reference {
    profiles: [Profile; 2],
    /// Weight of the second profile.
    weight: f64,
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

/// Largest distance of a snapshot from the times of the tables; the shock moves by less than 6e-4 in that
/// time.
const TIME_TOLERANCE: f64 = 1.5e-3;

impl Reference {
    /// Returns the reference at `time`; `None` outside of the tables, 0.77 to 0.80. In between, the profiles
    /// are interpolated at equal radius over shock radius.
    pub fn at(time: f64) -> Option<Self> {
        let profiles = [
            Profile::new(0.77, 0.1254, include_str!("reference/evrard-t0.770.csv")),
            Profile::new(0.80, 0.1362, include_str!("reference/evrard-t0.800.csv")),
        ];
        let (first, last) = (profiles[0].time, profiles[1].time);
        (first - TIME_TOLERANCE..=last + TIME_TOLERANCE)
            .contains(&time)
            .then(|| Self { weight: ((time - first) / (last - first)).clamp(0.0, 1.0), profiles })
    }

    /// Returns the radius of the shock.
    pub fn shock(&self) -> f64 {
        self.blend(|profile| profile.shock)
    }

    /// Returns the density at a radius.
    pub fn density(&self, radius: f64) -> f64 {
        self.logarithmic(radius, |columns| &columns.density)
    }

    /// Returns the pressure at a radius.
    pub fn pressure(&self, radius: f64) -> f64 {
        self.logarithmic(radius, |columns| &columns.pressure)
    }

    /// Returns K = P / density^gamma at a radius.
    pub fn entropy(&self, radius: f64) -> f64 {
        self.logarithmic(radius, |columns| &columns.entropy)
    }

    /// Returns the radial velocity at a radius.
    pub fn velocity(&self, radius: f64) -> f64 {
        let shock = self.shock();
        self.blend(|profile| interpolate(&profile.radius, &profile.velocity, radius * profile.shock / shock))
    }

    fn logarithmic(&self, radius: f64, column: impl Fn(&Logarithms) -> &Vec<f64>) -> f64 {
        let shock = self.shock();
        self.blend(|profile| {
            let at = (radius * profile.shock / shock).ln();
            interpolate(&profile.logarithm.radius, column(&profile.logarithm), at)
        })
        .exp()
    }

    fn blend(&self, value: impl Fn(&Profile) -> f64) -> f64 {
        let [early, late] = &self.profiles;
        match self.weight {
            0.0 => value(early),
            1.0 => value(late),
            weight => (1.0 - weight) * value(early) + weight * value(late),
        }
    }
}

impl Profile {
    fn new(time: f64, shock: f64, table: &str) -> Self {
        let [radius, density, velocity, pressure, entropy] = columns(table);
        let [log_radius, density, pressure, entropy] = [&radius, &density, &pressure, &entropy]
            .map(|column| column.iter().map(|value| value.ln()).collect::<Vec<_>>());
        let logarithm = Logarithms { radius: log_radius, density, pressure, entropy };
        Self { time, shock, radius, velocity, logarithm }
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

    #[test]
    fn tables_are_whole() {
        let reference = Reference::at(0.77).unwrap();
        for profile in &reference.profiles {
            assert!(profile.radius.len() > 270 && profile.radius.is_sorted());
            assert_eq!(profile.radius.len(), profile.logarithm.entropy.len());
        }
        let energies = energies();
        assert_eq!(energies.time.len(), energies.potential.len());
        assert!(energies.drift(3.0).unwrap() < 2e-5);
        assert!(energies.time.len() == 301 && energies.time[300] == 3.0);
    }

    #[test]
    fn the_shock_stands_between_both_sides_at_every_time() {
        for time in [0.77, 0.78, 0.7834, 0.79, 0.80] {
            let reference = Reference::at(time).unwrap();
            let shock = reference.shock();
            assert!(reference.velocity(0.97 * shock) > -0.4, "behind at {time}");
            assert!(reference.velocity(1.03 * shock) < -1.4, "ahead at {time}");
            let (radius, density) = (1.5 * shock, reference.density(1.5 * shock));
            let entropy = reference.pressure(radius) / density.powf(5.0 / 3.0);
            assert!((entropy / reference.entropy(radius) - 1.0).abs() < 1e-3);
        }
        assert!(
            Reference::at(0.76).is_none()
                && Reference::at(0.81).is_none()
                && Reference::at(f64::NAN).is_none()
        );
    }

    #[test]
    fn gates_scale_with_the_distance_of_particles() {
        assert_eq!(sph_exa(0.77, 65_465), SPH_EXA_077);
        assert_eq!(sph_exa(0.80, 8 * 65_465).density, 0.5 * SPH_EXA_080.density);
        assert!((sph_exa(0.785, 65_465).entropy - 0.071).abs() < 1e-12);
    }

    #[test]
    fn the_initial_entropy_is_that_of_the_sphere() {
        let (radius, gamma) = (0.37f64, 5.0 / 3.0);
        let density: f64 = 1.0 / (2.0 * std::f64::consts::PI * radius);
        let entropy = (gamma - 1.0) * density * 0.05 / density.powf(gamma);
        assert!((initial_entropy(radius * radius) / entropy - 1.0).abs() < 1e-14);
    }
}
