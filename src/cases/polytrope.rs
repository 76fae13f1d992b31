//! A gas sphere in hydrostatic balance: the polytrope of index n = 1 / (gamma - 1), 3/2 for gamma = 5/3 (Lane
//! 1870). It has uniform entropy, so that it is neutral to convection, and stays at rest.

use std::ops::Range;

use super::case::{ARRANGEMENT, Case, CaseReader, PARTICLES, SEED, Surroundings, Template};
use super::tools::keys::{MASS, RADIUS};
use super::tools::lane_emden::Polytrope as Star;
use super::tools::profile::{Profile, Row, State};
use super::tools::subject::title;
use super::{Check, Findings, Subject};
use crate::layout::radial_table::RadialTable;
use crate::layout::{Arrangement, Layout, Values};
use crate::particles::{Field, Particles};
use crate::sections::{Section, section};
use crate::space::Vec3d;
use serde::{Deserialize, Serialize};

const GAMMA: f64 = 5.0 / 3.0;
/// Gates at 20,000 particles: mean deviation of the density of the particles over the central density, which
/// shrinks with the power [`DENSITY_ORDER`] of their distance; kinetic over potential energy, of the
/// oscillation that the smoothed surface begins, which shrinks with its square. Gates of the center of mass
/// over the radius, and of the energy drift.
const DENSITY: f64 = 0.0221;
const DENSITY_ORDER: f64 = 1.5;
const PARTICLES_OF_GATE: f64 = 20_000.0;
const KINETIC: f64 = 2e-3;
const CENTER: f64 = 1e-3;
const ENERGY: f64 = 1e-3;

/// `[start.polytrope]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Polytrope {
    /// Number of particles, >= 1.
    pub particles: u64,
    /// Layout before it is mapped to the density profile.
    pub arrangement: Arrangement,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Radius R, > 0.
    pub radius: f64,
    /// Total mass M, > 0.
    pub mass: f64,
}

impl Case for Polytrope {
    const SECTION: Section = section(
        "start.polytrope",
        "A polytrope of index 1 / (gamma - 1) at rest, in hydrostatic balance.",
        &[PARTICLES, ARRANGEMENT, SEED, RADIUS, MASS],
    );
    const TITLE: &'static str = "polytrope";
    const TEMPLATE: Template = Template {
        title: "Polytrope of index 3/2 at rest",
        sections: &["sph", "gravity"],
        settings: &[
            ("run.end_time", "10.0"),
            ("start.polytrope.particles", "20_000"),
            ("sph.formulation", "\"standard\""),
            ("gravity.softening", "0.01"),
            ("output.directory", "\"out/polytrope\""),
            ("output.snapshots.every_time", "1.0"),
        ],
        omitted: &["sph.volume_iterations", "sph.volume_estimate"],
    };

    fn read(section: &mut dyn CaseReader) -> Self {
        Self {
            particles: section.integer("particles"),
            arrangement: section.arrangement(),
            seed: section.integer("seed"),
            radius: section.number("radius"),
            mass: section.number("mass"),
        }
    }

    fn check(&self, surroundings: &Surroundings, section: &mut dyn CaseReader) {
        section.require_ideal_gas(surroundings);
        section.require_gravity(surroundings);
        if surroundings.gamma_or(GAMMA) <= 1.2 {
            section.report(
                &["sph.gamma"],
                "a polytrope of finite radius needs gamma > 1.2".into(),
                "give gamma = \"5/3\" in [sph]".into(),
            );
        }
    }

    fn count(&self) -> u64 {
        self.particles
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn layout(&self, surroundings: &Surroundings, share: Range<u64>) -> Layout {
        let gamma = surroundings.gamma_or(GAMMA);
        let table = self.table(gamma, surroundings.gravity.unwrap_or(1.0));
        let layout = table.layout(self.particles, self.arrangement, self.seed, share);
        Layout { mass: Values::Uniform(self.mass / self.particles.max(1) as f64), ..layout }
    }

    fn judge(&self, subject: &Subject) -> Findings {
        let gamma = subject.gamma.unwrap_or(GAMMA);
        let table = self.table(gamma, subject.gravity());
        let exact = |radius: f64| {
            let density = if radius < self.radius { table.at(&table.density, radius) } else { 0.0 };
            let energy = table.at(&table.internal_energy, radius);
            State { density, velocity: 0.0, pressure: (gamma - 1.0) * density * energy }
        };
        let center = center(subject.particles);
        let profile = Profile::radial(subject.particles, gamma, center);
        let coarseness = (PARTICLES_OF_GATE / profile.rows.len().max(1) as f64).cbrt();
        // by mass: the surface has the volume
        let deviation = |row: &Row| (row.state.density - exact(row.at).density).abs();
        let count = profile.rows.len();
        let density = (count > 0).then(|| profile.rows.iter().map(deviation).sum::<f64>() / count as f64);
        let largest = subject.particles.scalar(Field::Density)[subject.particles.owned()]
            .iter()
            .copied()
            .reduce(f64::max);
        let ratio = subject.energies().map(|[kinetic, _, potential]| kinetic / potential.abs());
        let checks = vec![
            Check::gated(
                "density / rho_c",
                density.map(|norm| norm / table.density[0]),
                DENSITY * coarseness.powf(DENSITY_ORDER),
                None,
            ),
            Check::reported(
                "largest density / rho_c − 1",
                largest.map(|rho| (rho / table.density[0] - 1.0).abs()),
            ),
            match ratio {
                Some(ratio) => Check::gated("K / |W|", Some(ratio), KINETIC * coarseness.powi(2), None),
                None => Check::skipped("K / |W|", "no observables.csv beside the snapshot"),
            },
            Check::gated("center of mass / R", Some(center.norm() / self.radius), CENTER, None),
            subject.drift_check(ENERGY),
        ];
        let range = (0.0, 1.2 * self.radius);
        let picture = profile.picture(&title(Self::TITLE, subject), "radius r", range, exact);
        Findings { checks, pictures: vec![("profiles", picture)] }
    }
}

impl Polytrope {
    /// Density and specific internal energy over the radius, for a gravitational constant.
    fn table(&self, gamma: f64, constant: f64) -> RadialTable {
        let index = 1.0 / (gamma.max(1.21) - 1.0);
        let star = Star::new(index);
        let density = star.central_density() * self.mass / self.radius.powi(3);
        let pressure = star.central_pressure() * constant * self.mass.powi(2) / self.radius.powi(4);
        let energy = index * pressure / density;
        RadialTable {
            radii: star.radii.iter().map(|radius| radius * self.radius).collect(),
            density: star.theta.iter().map(|theta| density * theta.powf(index)).collect(),
            internal_energy: star.theta.iter().map(|theta| energy * theta.max(SURFACE)).collect(),
            velocity: vec![0.0; star.radii.len()],
        }
    }
}

/// Smallest theta of the internal energy: a gas has no zero temperature.
const SURFACE: f64 = 1e-3;

/// Center of mass.
fn center(particles: &Particles) -> Vec3d {
    let masses = particles.scalar(Field::Mass);
    let (mut center, mut mass) = (Vec3d::zeros(), 0.0);
    for row in particles.owned() {
        center += masses[row] * particles.vector_at(Field::Position, row);
        mass += masses[row];
    }
    if mass > 0.0 { center / mass } else { center }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::History;
    use crate::cases::tools::testing::{NOWHERE, exact, failed, measured, subject};

    fn case() -> Polytrope {
        Polytrope { particles: 4000, arrangement: Arrangement::BodyCentered, seed: 1, radius: 2.0, mass: 3.0 }
    }

    /// The virial theorem: 3 (gamma - 1) U = -W = 3 / (5 - n) G M^2 / R.
    #[test]
    fn the_thermal_energy_balances_gravity() {
        let layout = case().layout(&Surroundings { gravity: Some(1.5), ..NOWHERE }, 0..4000);
        let thermal: f64 = (0..4000).map(|row| layout.mass.at(row) * layout.internal_energy.at(row)).sum();
        let potential = 3.0 / 3.5 * 1.5 * 9.0 / 2.0;
        assert!((2.0 * thermal / potential - 1.0).abs() < 2e-3, "{thermal} {potential}");
        let total: f64 = (0..4000).map(|row| layout.mass.at(row)).sum();
        assert!((total - 3.0).abs() < 1e-12);
        assert!(layout.velocities.is_none());
    }

    #[test]
    fn the_solution_passes_and_faults_are_found() {
        let case = case();
        let layout = case.layout(&NOWHERE, 0..4000);
        let table = case.table(GAMMA, 1.0);
        let particles = exact(&layout, GAMMA, |x| {
            let density = table.at(&table.density, x.norm()).max(1e-6);
            (density, Vec3d::zeros(), density * table.at(&table.internal_energy, x.norm()) * (GAMMA - 1.0))
        });
        let history = |kinetic: f64| History {
            time: vec![0.0, 1.0],
            kinetic: vec![0.0, kinetic],
            thermal: vec![1.9, 1.9 - kinetic],
            potential: vec![-3.8; 2],
        };
        let judged = |particles: &Particles, kinetic: f64| {
            let history = history(kinetic);
            case.judge(&Subject { history: Some(&history), ..subject(particles, 1.0, GAMMA) })
        };
        let good = judged(&particles, 1e-3);
        assert!(failed(&good).is_empty() && measured(&good, "density / rho_c") < 1e-4, "{:?}", good.checks);
        let mut moved = particles.clone();
        for row in 0..4000 {
            let position = moved.vector_at(Field::Position, row) + Vec3d::new(0.003, 0.0, 0.0);
            moved.set_vector(Field::Position, row, position);
            moved.scalar_mut(Field::Density)[row] *= 1.4;
        }
        assert_eq!(failed(&judged(&moved, 0.05)), ["density / rho_c", "K / |W|", "center of mass / R"]);
    }
}
