//! Two point masses on an elliptic orbit about their center of mass, at rest at the origin. The solution is
//! Kepler's: exact at any time.

use std::ops::Range;

use super::case::{Case, CaseReader, POINTS, Surroundings, Template};
use super::tools::kepler::{Ellipse, runge_lenz};
use super::tools::keys::MASS;
use super::tools::pictures::{Panel, draw};
use super::tools::subject::title;
use super::{Check, Findings, Subject};
use crate::layout::{Layout, Values};
use crate::particles::{Field, Particles};
use crate::sections::{Default, FRACTION, POSITIVE, Section, between, key, number, quantity, section};
use crate::space::Vec3d;
use crate::units::Dimension;
use serde::{Deserialize, Serialize};

/// `[start.two-body]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TwoBody {
    /// Eccentricity, 0 to 0.99.
    pub eccentricity: f64,
    /// Second mass over the first, > 0 and <= 1.
    pub mass_ratio: f64,
    /// Semi-major axis of the relative orbit, > 0.
    pub axis: f64,
    /// Sum of the masses, > 0.
    pub mass: f64,
}

/// Gates of the position over the semi-major axis, of the turn of the Runge-Lenz vector (radians, over the
/// phase too) and of the energy, over the square of the step's mean anomaly, for eccentricities up to the
/// default. The error of the position grows with the phase: its gate is that for a radian of mean anomaly.
/// 1.25 times the figures of the deck.
const GATES: [f64; 3] = [1.13, 0.79, 3.3];
const ECCENTRICITY: &str = "0.5";

impl Case for TwoBody {
    const SECTION: Section = section(
        "start.two-body",
        "Two point masses on an elliptic orbit, at the apocenter.",
        &[
            key(
                "eccentricity",
                number(between(0.0, 0.99)),
                Default::Value(ECCENTRICITY),
                "Eccentricity of the orbit.",
            )
            .also(&["e"]),
            key("mass_ratio", number(FRACTION), Default::Value("0.25"), "Second mass over the first.")
                .also(&["q", "ratio"]),
            key(
                "axis",
                quantity(POSITIVE, Dimension::Length),
                Default::Value("1.0"),
                "Semi-major axis of the relative orbit.",
            )
            .also(&["a", "semi_major_axis", "separation"]),
            MASS,
        ],
    );
    const TITLE: &'static str = "two-body orbit";
    const TEMPLATE: Template = Template {
        title: "Two bodies on an ellipse: ten periods",
        sections: &["gravity"],
        settings: &[
            ("run.end_time", "62.83185307179586"),
            ("run.precision", "\"double\""),
            ("gravity.softening", "0.0"),
            ("time_step.fixed", "0.006283185307179587"),
            ("output.directory", "\"out/two-body\""),
        ],
        omitted: &["time_step.*"],
    };
    const NEEDS: &'static [Field] = POINTS;

    fn read(section: &mut dyn CaseReader) -> Self {
        Self {
            eccentricity: section.number("eccentricity"),
            mass_ratio: section.number("mass_ratio"),
            axis: section.number("axis"),
            mass: section.number("mass"),
        }
    }

    fn check(&self, surroundings: &Surroundings, section: &mut dyn CaseReader) {
        section.require_gravity(surroundings);
        if surroundings.gas {
            let help = "remove [sph]".into();
            section.report(&[], "two bodies are point masses, not a gas".into(), help);
        }
    }

    fn count(&self) -> u64 {
        2
    }

    fn seed(&self) -> u64 {
        0
    }

    fn layout(&self, surroundings: &Surroundings, share: Range<u64>) -> Layout {
        let [position, velocity] = self.ellipse(surroundings.gravity.unwrap_or(1.0)).at(0.0);
        let parts = self.parts();
        let rows = share.start.min(2) as usize..share.end.min(2) as usize;
        let scaled = |vector: Vec3d| [parts[1] * -vector, parts[0] * vector][rows.clone()].to_vec();
        let axis = self.axis;
        Layout {
            positions: scaled(position),
            velocities: Some(scaled(velocity)),
            mass: Values::PerParticle(parts[rows.clone()].iter().map(|part| part * self.mass).collect()),
            internal_energy: Values::Uniform(0.0),
            volume_of: Box::new(move |_, _| axis.powi(3)),
        }
    }

    fn judge(&self, subject: &Subject) -> Findings {
        let ellipse = self.ellipse(subject.gravity());
        let Some([position, velocity]) = relative(subject.particles) else {
            let check = Check::gated("position / axis", None, 0.0, None);
            return Findings { checks: vec![check], pictures: Vec::new() };
        };
        let [exact, _] = ellipse.at(subject.time);
        let phase = ellipse.mean_motion() * subject.time;
        let step = subject.surroundings.and_then(|surroundings| surroundings.fixed_step);
        let step = step.map(|step| ellipse.mean_motion() * step);
        let known = step.filter(|_| self.eccentricity <= ECCENTRICITY.parse().unwrap_or(0.0));
        let gated = |name, measured: f64, gate: f64| match known {
            // rounding remains at the start
            Some(step) => Check::gated(name, Some(measured), gate * step * step + 1e-12, None)
                .noting(format!("{:.0} steps a period", 2.0 * std::f64::consts::PI / step)),
            None => Check::reported(name, Some(measured)),
        };
        let energy = 0.5 * velocity.norm_squared() - ellipse.strength / position.norm();
        let largest = subject.history.and_then(|history| history.drift(subject.time * (1.0 + 1e-9)));
        let largest = largest.unwrap_or((energy / ellipse.energy() - 1.0).abs());
        let momentum = (position.cross(&velocity) - ellipse.angular_momentum()).norm();
        let lenz = runge_lenz(position, velocity, ellipse.strength);
        let turn = (-lenz.y).atan2(-lenz.x).abs();
        let checks = vec![
            gated("position / axis", (position - exact).norm() / ellipse.axis, GATES[0] * phase),
            gated("largest energy error", largest, GATES[2]),
            Check::gated(
                "angular momentum",
                Some(momentum / ellipse.angular_momentum().norm()),
                ANGULAR_MOMENTUM,
                None,
            ),
            Check::reported("energy error now", Some((energy / ellipse.energy() - 1.0).abs())),
            if self.eccentricity > 0.0 {
                gated("turn of the Runge-Lenz vector", turn, GATES[1] * phase)
            } else {
                Check::skipped("turn of the Runge-Lenz vector", "a circle has no pericenter")
            },
        ];
        Findings { checks, pictures: vec![("orbit", self.picture(subject, position, &ellipse))] }
    }
}

/// Gate of the angular momentum, which the integrator conserves: the rounding of the forces.
const ANGULAR_MOMENTUM: f64 = 1e-10;

impl TwoBody {
    /// Fractions of the mass.
    fn parts(&self) -> [f64; 2] {
        [1.0 / (1.0 + self.mass_ratio), self.mass_ratio / (1.0 + self.mass_ratio)]
    }

    fn ellipse(&self, constant: f64) -> Ellipse {
        Ellipse { axis: self.axis, eccentricity: self.eccentricity, strength: constant * self.mass }
    }

    /// The relative orbit with its solution.
    fn picture(
        &self,
        subject: &Subject,
        position: Vec3d,
        ellipse: &Ellipse,
    ) -> super::tools::pictures::Picture {
        const POINTS: u32 = 400;
        let period = 2.0 * std::f64::consts::PI / ellipse.mean_motion();
        let exact = (0..=POINTS).map(|k| ellipse.at(period * f64::from(k) / f64::from(POINTS))[0]);
        let reach = 1.1 * self.axis * (1.0 + self.eccentricity);
        let panel = Panel {
            label: "relative y",
            particles: vec![(position.x, position.y)],
            exact: exact.map(|at| (at.x, at.y)).collect(),
        };
        draw(&title(Self::TITLE, subject), "relative x", (-reach, reach), vec![panel])
    }
}

/// Position and velocity of the second body relative to the first; `None` unless there are two.
fn relative(particles: &Particles) -> Option<[Vec3d; 2]> {
    let mut rows: Vec<usize> = particles.owned().collect();
    rows.sort_by_key(|&row| particles.id[row]);
    let [first, second] = rows[..] else { return None };
    let between = |field| particles.vector_at(field, second) - particles.vector_at(field, first);
    Some([between(Field::Position), between(Field::Velocity)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::tools::testing::{NOWHERE, exact, failed, measured, subject};

    fn case() -> TwoBody {
        TwoBody { eccentricity: 0.5, mass_ratio: 0.25, axis: 2.0, mass: 3.0 }
    }

    #[test]
    fn the_center_of_mass_rests_at_the_origin() {
        let layout = case().layout(&Surroundings { gravity: Some(1.7), ..NOWHERE }, 0..2);
        let velocities = layout.velocities.unwrap();
        let sum = |vectors: &[Vec3d]| layout.mass.at(0) * vectors[0] + layout.mass.at(1) * vectors[1];
        assert!(sum(&layout.positions).norm() < 1e-15 && sum(&velocities).norm() < 1e-15);
        assert!((layout.mass.at(0) - 2.4).abs() < 1e-15 && (layout.mass.at(1) - 0.6).abs() < 1e-15);
        let [first, second] = [layout.positions[0], layout.positions[1]];
        assert!(((second - first) - Vec3d::new(3.0, 0.0, 0.0)).norm() < 1e-15);
        let one = case().layout(&NOWHERE, 1..2);
        assert_eq!((one.positions, one.mass.at(0)), (vec![second], 3.0 * 0.2));
    }

    #[test]
    fn the_orbit_passes_and_a_late_one_fails() {
        let layout = case().layout(&NOWHERE, 0..2);
        let surroundings = Surroundings { fixed_step: Some(0.01), ..NOWHERE };
        let moved = |time: f64| {
            let mut particles = exact(&layout, 5.0 / 3.0, |_| (1.0, Vec3d::zeros(), 1.0));
            let [position, velocity] = case().ellipse(1.0).at(time);
            for (row, part) in [(0, -0.2), (1, 0.8)] {
                particles.set_vector(Field::Position, row, part * position);
                particles.set_vector(Field::Velocity, row, part * velocity);
            }
            particles
        };
        let judged = |particles: &Particles, time: f64| {
            case().judge(&Subject { surroundings: Some(surroundings), ..subject(particles, time, 5.0 / 3.0) })
        };
        let findings = judged(&moved(5.0), 5.0);
        assert!(failed(&findings).is_empty() && measured(&findings, "position / axis") < 1e-12);
        assert_eq!(failed(&judged(&moved(5.1), 5.0)), ["position / axis"]);
        let mut fast = moved(5.0);
        let velocity = fast.vector_at(Field::Velocity, 1);
        fast.set_vector(Field::Velocity, 1, 1.01 * velocity);
        assert_eq!(
            failed(&judged(&fast, 5.0)),
            ["largest energy error", "angular momentum", "turn of the Runge-Lenz vector"]
        );
    }
}
