//! The point explosion of Sedov (1946, Prikl. Mat. Mekh. 10, 241) and Taylor (1950, Proc. R. Soc. A 201,
//! 159): cold gas of uniform density at rest in a cube about the origin, with energy E around its center.
//!
//! The energy is distributed as exp(-(r / width)^2) with a fixed width, so that runs of different resolution
//! solve the same problem (as in SPH-EXA). It is normalized by the sum over particles: the particles carry E
//! in any arrangement, and a narrow width gives all energy to the innermost particle.

use std::ops::Range;

use super::case::{ARRANGEMENT, Case, CaseReader, NOISE, PARTICLES, SEED, Surroundings, Template};
use super::tools::profile::{Profile, State, norm_checks};
use super::tools::radial::Radial;
use super::tools::sedov::Explosion;
use super::tools::subject::title;
use super::{Check, Findings, Subject};
use crate::layout::cuboid::{Cuboid, filled};
use crate::layout::glass::Tile;
use crate::layout::{Arrangement, Layout, Values};
use crate::sections::{Default, NOT_NEGATIVE, POSITIVE, Section, key, number, quantity, section};
use crate::space::Vec3d;
use crate::units::Dimension;
use serde::{Deserialize, Serialize};

const GAMMA: f64 = 5.0 / 3.0;
/// Gates at 64,000 particles and t = 0.06 (distance of the particles over the shock's radius): 1.25 times the
/// norms of the default settings. These shrink with the distance to the power 0.6: the width of the start is
/// part of them.
const GATES: [f64; 3] = [0.19, 0.16, 0.083];
const SPACING_OF_GATES: f64 = 0.0669;
const ORDER: f64 = 0.6;
/// Largest radius of the norms over that of the shock.
const WINDOW: f64 = 1.25;

/// `[start.sedov]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sedov {
    /// Number of particles, >= 1; the layout may round it.
    pub particles: u64,
    /// The layout.
    pub arrangement: Arrangement,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Edge of the cube about the origin, > 0.
    pub edge: f64,
    /// Mass density, > 0.
    pub density: f64,
    /// Energy of the explosion, > 0.
    pub energy: f64,
    /// Distance at which its energy density has fallen to 1/e of that at the center, > 0.
    pub width: f64,
    /// Specific internal energy of the gas before the explosion, >= 0.
    pub internal_energy: f64,
}

impl Sedov {
    /// The cube to fill.
    fn cube(&self) -> Cuboid {
        Cuboid {
            particles: self.particles,
            lower: [-0.5 * self.edge; 3],
            lengths: [self.edge; 3],
            arrangement: self.arrangement,
            cells: None,
            seed: self.seed,
        }
    }
}

impl Case for Sedov {
    const SECTION: Section = section(
        "start.sedov",
        "Sedov explosion: a point explosion in a cube of cold gas about the origin, at rest.",
        &[
            PARTICLES,
            key("edge", quantity(POSITIVE, Dimension::Length), Default::Value("1.0"), "Edge of the cube.")
                .also(&["length", "lengths", "size", "box", "box_size"]),
            key(
                "density",
                quantity(POSITIVE, Dimension::Density),
                Default::Value("1.0"),
                "Mass density of the gas.",
            )
            .also(&["rho"]),
            key("energy", number(POSITIVE), Default::Value("1.0"), "Energy of the explosion.").also(&["e"]),
            key(
                "width",
                quantity(POSITIVE, Dimension::Length),
                Default::Value("0.1"),
                "Radius at which the explosion's energy density, spread as exp(-(r/width)^2), has fallen to \
             1/e.",
            )
            .also(&["radius", "sigma"]),
            key(
                "internal_energy",
                number(NOT_NEGATIVE),
                Default::Value("1e-8"),
                "Specific internal energy of the gas before the explosion.",
            )
            .also(&["u"]),
            ARRANGEMENT,
            NOISE,
            SEED,
        ],
    );
    const TITLE: &'static str = "Sedov explosion";
    const TEMPLATE: Template = Template {
        title: "Sedov explosion",
        sections: &["sph"],
        settings: &[
            ("run.end_time", "0.06"),
            ("start.sedov.particles", "64_000"),
            ("space.boundary", "\"periodic\""),
            ("output.directory", "\"out/sedov\""),
            ("output.snapshots.every_time", "0.01"),
        ],
        omitted: &[],
    };

    fn read(section: &mut dyn CaseReader) -> Self {
        Self {
            particles: section.integer("particles"),
            arrangement: section.arrangement(),
            seed: section.integer("seed"),
            edge: section.number("edge"),
            density: section.number("density"),
            energy: section.number("energy"),
            width: section.number("width"),
            internal_energy: section.number("internal_energy"),
        }
    }

    fn check(&self, surroundings: &Surroundings, section: &mut dyn CaseReader) {
        if surroundings.gamma.is_none() {
            section.report(
                &[],
                "an explosion needs a gas that takes up its energy".into(),
                "add [sph], with the equation of state of an ideal gas".into(),
            );
        }
    }

    fn corners(&self) -> Option<[[f64; 3]; 2]> {
        Some([[-0.5 * self.edge; 3], [0.5 * self.edge; 3]])
    }

    fn requested(&self) -> u64 {
        self.particles
    }

    fn count(&self) -> u64 {
        self.cube().count()
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn tiles(&self) -> Vec<Tile> {
        self.cube().tile().into_iter().collect()
    }

    fn layout(&self, surroundings: &Surroundings, share: Range<u64>) -> Layout {
        let cube = self.cube();
        let filling = cube.quiet_filling(surroundings.noise);
        let squared = |id: u64| (filling.position(id) - filling.middle()).norm_squared();
        let total = cube.count();
        let innermost = (0..total).map(squared).fold(f64::INFINITY, f64::min);
        // Relative to the innermost particle, so that at least one weight is 1.
        let weight = |id: u64| ((innermost - squared(id)) / self.width / self.width).exp();
        let sum: f64 = (0..total).map(weight).sum();
        let mut layout = filled(&cube, &filling, self.density, self.internal_energy, share.clone());
        let specific = self.energy / (layout.mass.at(0) * sum);
        let energies = share.map(|id| self.internal_energy + specific * weight(id)).collect();
        layout.internal_energy = Values::PerParticle(energies);
        layout
    }

    fn judge(&self, subject: &Subject) -> Findings {
        let gamma = subject.gamma.unwrap_or(GAMMA);
        let explosion = Explosion::new(gamma);
        let time = subject.time;
        let shock = explosion.shock(self.energy, self.density, time);
        let behind = explosion.behind(shock, self.density, time.max(f64::MIN_POSITIVE));
        let exact = |radius: f64| {
            if radius > shock {
                let pressure = (gamma - 1.0) * self.density * self.internal_energy;
                return State { density: self.density, velocity: 0.0, pressure };
            }
            let [density, velocity, pressure] = explosion.ratios(radius / shock);
            State {
                density: density * behind.density,
                velocity: velocity * behind.velocity,
                pressure: pressure * behind.pressure,
            }
        };
        let profile = Profile::radial(subject.particles, gamma, Vec3d::zeros());
        let names = ["L1 density", "L1 velocity", "L1 pressure"];
        let outer = WINDOW * shock;
        let mut checks = if shock < 2.0 * self.width || outer > 0.5 * self.edge {
            let why = format!("the shock, at {shock:.3}, is too near to the start or to the faces");
            names.map(|name| Check::skipped(name, why.clone())).to_vec()
        } else {
            let spacing = self.edge / (profile.rows.len().max(1) as f64).cbrt();
            let scale = (spacing / shock / SPACING_OF_GATES).powf(ORDER);
            let norms = profile.norms((0.0, outer), exact);
            let units = [self.density, behind.velocity, behind.pressure];
            let note = format!("by volume, r < {outer:.3}; over the density ahead, v and P behind the shock");
            norm_checks(names, norms, units, GATES.map(|gate| gate * scale), &note).to_vec()
        };
        checks.push(shock_check(subject, gamma, shock));
        checks.push(subject.drift_check(1e-3));
        let range = (0.0, (1.4 * shock).clamp(0.1 * self.edge, 0.5 * self.edge));
        let picture = profile.picture(&title(Self::TITLE, subject), "radius r", range, exact);
        Findings { checks, pictures: vec![("profiles", picture)] }
    }
}

/// The distance of the shock from the exact one, in smoothing lengths.
fn shock_check(subject: &Subject, gamma: f64, expected: f64) -> Check {
    let name = "shock radius / h";
    let found = Radial::new(subject.particles, gamma).shock((0.5 * expected, 1.5 * expected));
    let check = Check::gated(name, found.map(|(radius, h)| (radius - expected).abs() / h), 1.5, None);
    match found {
        Some((radius, h)) => check.noting(format!("at {radius:.4}, exact {expected:.4}, h {h:.4}")),
        None => check,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::tools::testing::{NOWHERE, exact, failed, measured, subject};
    use crate::layout::ball::{MassTable, RadialProfile};

    fn start(particles: u64, arrangement: Arrangement, width: f64) -> Sedov {
        Sedov {
            particles,
            arrangement,
            seed: 1,
            edge: 2.0,
            density: 0.5,
            energy: 3.0,
            width,
            internal_energy: 1e-3,
        }
    }

    fn energies(layout: &Layout) -> &[f64] {
        match &layout.internal_energy {
            Values::PerParticle(energies) => energies,
            Values::Uniform(_) => panic!("an explosion is not even"),
        }
    }

    #[test]
    fn holds_its_mass_and_its_energy_whatever_the_width() {
        for &arrangement in Arrangement::ALL {
            for width in [1e-200, 1e-3, 0.2, 1e3] {
                let start = start(1000, arrangement, width);
                let total = start.count();
                let layout = start.layout(&NOWHERE, 0..total);
                assert!((layout.mass.at(0) * total as f64 / 4.0 - 1.0).abs() < 1e-12, "{arrangement:?}");
                let energy: f64 = energies(&layout).iter().map(|u| layout.mass.at(0) * u).sum();
                assert!((energy / 3.004 - 1.0).abs() < 1e-12, "{arrangement:?} {width}: {energy}");
                let coldest = energies(&layout).iter().copied().fold(f64::INFINITY, f64::min);
                assert!(coldest >= 1e-3, "{arrangement:?} {width}: {coldest}");
            }
        }
    }

    #[test]
    fn the_solution_passes_and_errors_are_found() {
        let case = start(8000, Arrangement::FaceCentered, 0.1);
        let case = Sedov { density: 1.0, energy: 1.0, edge: 1.0, width: 0.1, ..case };
        let start = case.layout(&NOWHERE, 0..case.count());
        let explosion = Explosion::new(GAMMA);
        let radii: Vec<f64> = (0..=2000).map(|k| f64::from(k) / 2000.0).collect();
        let mut masses = vec![0.0];
        for ends in radii.windows(2) {
            let density = 4.0 * explosion.ratios(0.5 * (ends[0] + ends[1]))[0];
            masses.push(masses[masses.len() - 1] + density * (ends[1].powi(3) - ends[0].powi(3)));
        }
        let swept = MassTable::new(&radii, &masses);
        let at = |time: f64| {
            let shock = explosion.shock(1.0, 1.0, time);
            let behind = explosion.behind(shock, 1.0, time);
            let mut layout = case.layout(&NOWHERE, 0..0);
            layout.positions = start.positions.clone();
            for position in &mut layout.positions {
                let x = position.norm() / shock;
                if x < 1.0 {
                    *position *= swept.radius(x.powi(3)) / x;
                }
            }
            exact(&layout, GAMMA, |position| {
                let radius = position.norm();
                let [density, velocity, pressure] = explosion.ratios(radius / shock);
                if radius > shock {
                    return (1.0, Vec3d::zeros(), (GAMMA - 1.0) * 1e-3);
                }
                let direction = position / radius;
                let speed = velocity * behind.velocity;
                (density * behind.density, direction * speed, pressure * behind.pressure)
            })
        };
        let findings = case.judge(&subject(&at(0.06), 0.06, GAMMA));
        assert!(failed(&findings).is_empty(), "{:?}", findings.checks);
        for name in ["L1 density", "L1 velocity", "L1 pressure"] {
            assert!(measured(&findings, name) < 1e-9, "{name}");
        }
        let findings = case.judge(&subject(&at(0.03), 0.06, GAMMA));
        assert!(failed(&findings).contains(&"L1 density"), "{:?}", findings.checks);
        assert!(failed(&findings).contains(&"shock radius / h"), "{:?}", findings.checks);
    }

    #[test]
    fn is_a_gaussian_about_the_middle() {
        let start = start(8000, Arrangement::SimpleCubic, 0.25);
        let layout = start.layout(&NOWHERE, 0..8000);
        // At density 1/2, half the specific energy is the energy per volume.
        let most = 3.0 / (0.5 * (std::f64::consts::PI * 0.25f64.powi(2)).powf(1.5));
        for (position, energy) in layout.positions.iter().zip(energies(&layout)) {
            let exact = 1e-3 + most * (-position.norm_squared() / 0.25f64.powi(2)).exp();
            assert!((energy / exact - 1.0).abs() < 1e-6, "{position:?}: {energy}, not {exact}");
        }
    }
}
