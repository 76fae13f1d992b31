//! A cold ring of gas about a point mass: circular orbits, which shear without end. Pressure is negligible
//! (the speed of sound is 0.01 of the orbital one), so that the ring stays as it is; artificial viscosity and
//! errors of gradients heat it, spread it, and break it up (Hopkins 2015, MNRAS 450, 53). The deck has no
//! artificial viscosity: with the default one the inner edge falls in within an orbit.
//!
//! The ring is a slab of uniform density between two radii, periodic along z, about an axis of attraction:
//! the ring of set-ups in two dimensions.

use std::ops::Range;

use super::case::{ARRANGEMENT, Case, CaseReader, SEED, Surroundings, Template};
use super::tools::keys::{depth, side};
use super::tools::pictures::{Panel, draw};
use super::tools::subject::title;
use super::{Check, Findings, PointMass, Subject};
use crate::layout::cuboid::{Cuboid, Edge, Filling};
use crate::layout::{Arrangement, Layout, Values};
use crate::particles::{Field, Particles};
use crate::sections::{Section, section};
use crate::space::{Boundary, Vec3d};
use serde::{Deserialize, Serialize};

/// Radii of the ring.
const INNER: f64 = 0.5;
const OUTER: f64 = 1.5;
/// Density.
const DENSITY: f64 = 1.0;
/// Gates up to one orbit at radius 1: rms of the radial velocity and of the deviation of the rotation, over
/// the orbital velocity; mean displacement of the mass; angular momentum. 1.25 times the figures of the deck
/// at 8 particles along a length of 1 (angular momentum: twice).
const GATES: [f64; 4] = [2.9e-3, 2.2e-3, 3.4e-3, 1e-6];
const LAST_ORBIT: f64 = 1.0;

/// `[start.keplerian-ring]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeplerianRing {
    /// Particles along a length of 1.
    pub side: u64,
    /// Thickness of the slab in distances of the particles.
    pub depth: u64,
    /// The layout.
    pub arrangement: Arrangement,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Case for KeplerianRing {
    const SECTION: Section = section(
        "start.keplerian-ring",
        "A cold ring of gas between the radii 0.5 and 1.5 about a point mass, in a slab across z.",
        &[side("12", "Particles along a length of 1."), depth("18"), ARRANGEMENT, SEED],
    );
    const TITLE: &'static str = "Keplerian ring";
    const TEMPLATE: Template = Template {
        title: "Keplerian ring: one orbit",
        sections: &["sph", "external"],
        settings: &[
            ("run.end_time", "6.283185307179586"),
            ("start.keplerian-ring.side", "12"),
            ("space.boundary", "[\"open\", \"open\", \"periodic\"]"),
            ("sph.equation_of_state", "\"isothermal\""),
            ("sph.sound_speed", "0.01"),
            ("sph.viscosity.alpha_min", "0.0"),
            ("sph.viscosity.alpha_max", "0.0"),
            ("sph.viscosity.beta", "0.0"),
            ("external.point_mass.mass", "1.0"),
            ("external.point_mass.distance", "\"cylindrical\""),
            ("output.directory", "\"out/keplerian-ring\""),
            ("output.snapshots.every_time", "1.5707963267948966"),
        ],
        omitted: &["sph.gamma", "sph.conductivity", "sph.conductivity_switch"],
    };
    const NEEDS: &'static [Field] = &[Field::Position, Field::Velocity, Field::Mass];

    fn read(section: &mut dyn CaseReader) -> Self {
        Self {
            side: section.integer("side"),
            depth: section.integer("depth"),
            arrangement: section.arrangement(),
            seed: section.integer("seed"),
        }
    }

    fn check(&self, surroundings: &Surroundings, section: &mut dyn CaseReader) {
        if surroundings.boundary != [Boundary::Open, Boundary::Open, Boundary::Periodic] {
            let help = "write boundary = [\"open\", \"open\", \"periodic\"] in [space]".into();
            let message = "this case needs a slab that is periodic along z, and open across".into();
            section.report(&["space.boundary"], message, help);
        }
        if !surroundings.gas {
            section.report(&[], "this case needs a gas".into(), "add [sph], with an isothermal gas".into());
        }
        let fits = |point: PointMass| point.cylindrical && point.position[..2] == [0.0; 2];
        if !surroundings.point_mass.is_some_and(fits) {
            let help =
                "add [external.point_mass] with mass = 1.0 and distance = \"cylindrical\", at the origin";
            section.report(
                &["external.point_mass.position"],
                "this case needs a point mass".into(),
                help.into(),
            );
        }
    }

    fn corners(&self) -> Option<[[f64; 3]; 2]> {
        let slab = self.slab();
        Some([slab.lower, std::array::from_fn(|d| slab.lower[d] + slab.lengths[d])])
    }

    fn requested(&self) -> u64 {
        let length = (self.side as f64).powi(2) * std::f64::consts::PI * (OUTER * OUTER - INNER * INNER);
        (length * self.depth as f64) as u64
    }

    fn count(&self) -> u64 {
        let slab = self.slab();
        ids(&slab, &slab.filling()).count() as u64
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn layout(&self, surroundings: &Surroundings, share: Range<u64>) -> Layout {
        let energy = surroundings.sound_speed.unwrap_or(0.0).powi(2);
        Layout { internal_energy: Values::Uniform(energy), ..self.ring(surroundings.point_mass, share) }
    }

    fn judge(&self, subject: &Subject) -> Findings {
        let point = subject.surroundings.and_then(|surroundings| surroundings.point_mass);
        let rows: Vec<Orbiting> =
            subject.particles.owned().map(|row| Orbiting::of(subject.particles, row, point)).collect();
        let count = rows.len().max(1) as f64;
        let rms = |value: &dyn Fn(&Orbiting) -> f64| {
            (rows.iter().map(|row| value(row).powi(2)).sum::<f64>() / count).sqrt()
        };
        let orbits = subject.time * speed(point, 1.0) / (2.0 * std::f64::consts::PI);
        let start = self.ring(point, 0..self.count());
        let momentum: f64 = rows.iter().map(|row| row.angular_momentum).sum();
        let first: f64 = (0..start.positions.len()).map(|row| angular_momentum(&start, row)).sum();
        let figures = [
            ("rms radial velocity / v", rms(&|row| row.radial / row.orbital)),
            ("rms rotation / v − 1", rms(&|row| row.rotation / row.orbital - 1.0)),
            ("displacement of the mass", displacement(&rows, &start)),
            ("angular momentum", (momentum / first - 1.0).abs()),
        ];
        let mut checks = Vec::new();
        for ((name, figure), gate) in figures.into_iter().zip(GATES) {
            // a margin for rounding in the comparison of times
            checks.push(if orbits < LAST_ORBIT * (1.0 + 1e-6) {
                Check::gated(name, Some(figure), gate, None).noting(format!("{orbits:.1} orbits at r = 1"))
            } else {
                Check::reported(name, Some(figure))
            });
        }
        Findings { checks, pictures: vec![("profiles", picture(subject, &rows, point))] }
    }
}

impl KeplerianRing {
    /// The particles of a range of ids, without internal energy.
    fn ring(&self, point: Option<PointMass>, share: Range<u64>) -> Layout {
        let slab = self.slab();
        let filling = slab.filling();
        let (skipped, taken) = (share.start as usize, (share.end - share.start) as usize);
        let positions: Vec<Vec3d> =
            ids(&slab, &filling).skip(skipped).take(taken).map(|id| filling.position(id)).collect();
        let velocity = |position: &Vec3d| {
            let radius = position.x.hypot(position.y);
            Vec3d::new(-position.y, position.x, 0.0) * (speed(point, radius) / radius)
        };
        let volume = slab.volume() / slab.count().max(1) as f64;
        Layout {
            velocities: Some(positions.iter().map(velocity).collect()),
            mass: Values::Uniform(DENSITY * volume),
            internal_energy: Values::Uniform(0.0),
            volume_of: Box::new(move |_, neighbors| neighbors * volume),
            positions,
        }
    }

    /// The slab from which the ring is cut.
    fn slab(&self) -> Cuboid {
        let edges = [Edge::Fixed(2.0 * OUTER), Edge::Fixed(2.0 * OUTER), Edge::Distances(self.depth as f64)];
        Cuboid::fitted([-OUTER, -OUTER, 0.0], edges, 1.0 / self.side as f64, self.arrangement, self.seed)
    }
}

/// Ids of the slab's particles that are in the ring.
fn ids(slab: &Cuboid, filling: &Filling) -> impl Iterator<Item = u64> {
    (0..slab.count()).filter(|&id| {
        let position = filling.position(id);
        (INNER..OUTER).contains(&position.x.hypot(position.y))
    })
}

/// Orbital velocity at a radius: v^2 / r = G M r / (r^2 + epsilon^2)^(3/2). G M is 1 without a point mass.
fn speed(point: Option<PointMass>, radius: f64) -> f64 {
    let (strength, softening) = point.map_or((1.0, 0.0), |point| (point.strength, point.softening));
    radius * (strength / (radius * radius + softening * softening).powf(1.5)).sqrt()
}

fn angular_momentum(layout: &Layout, row: usize) -> f64 {
    let velocity = layout.velocities.as_ref().map_or(Vec3d::zeros(), |velocities| velocities[row]);
    layout.mass.at(row) * layout.positions[row].cross(&velocity).z
}

/// A particle in cylindrical coordinates.
struct Orbiting {
    radius: f64,
    /// Radial and azimuthal velocity, and that of a circular orbit.
    radial: f64,
    rotation: f64,
    orbital: f64,
    angular_momentum: f64,
}

impl Orbiting {
    fn of(particles: &Particles, row: usize, point: Option<PointMass>) -> Self {
        let [x, v] = [Field::Position, Field::Velocity].map(|field| particles.vector_at(field, row));
        let radius = x.x.hypot(x.y).max(f64::MIN_POSITIVE);
        let rotation = (x.x * v.y - x.y * v.x) / radius;
        Self {
            radius,
            radial: (x.x * v.x + x.y * v.y) / radius,
            rotation,
            orbital: speed(point, radius),
            angular_momentum: particles.scalar(Field::Mass)[row] * radius * rotation,
        }
    }
}

/// Mean distance by which the mass has moved radially since the start: the particles in order of their radii
/// against the radii of the start in their order.
fn displacement(rows: &[Orbiting], start: &Layout) -> f64 {
    let sorted = |mut radii: Vec<f64>| {
        radii.sort_by(f64::total_cmp);
        radii
    };
    let now = sorted(rows.iter().map(|row| row.radius).collect());
    let before = sorted(start.positions.iter().map(|x| x.x.hypot(x.y)).collect());
    now.iter().zip(&before).map(|(now, before)| (now - before).abs()).sum::<f64>() / now.len().max(1) as f64
}

/// Radial velocity and rotation over the radius.
fn picture(
    subject: &Subject,
    rows: &[Orbiting],
    point: Option<PointMass>,
) -> super::tools::pictures::Picture {
    let range = (0.6 * INNER, 1.2 * OUTER);
    let at = |k: u32| range.0 + (range.1 - range.0) * f64::from(k) / 200.0;
    let panel = |label, value: &dyn Fn(&Orbiting) -> f64, exact: &dyn Fn(f64) -> f64| Panel {
        label,
        particles: rows.iter().map(|row| (row.radius, value(row))).collect(),
        exact: (0..=200).map(|k| (at(k), exact(at(k)))).collect(),
    };
    let panels = vec![
        panel("radial velocity", &|row| row.radial, &|_| 0.0),
        panel("rotation", &|row| row.rotation, &|radius| speed(point, radius)),
    ];
    draw(&title(KeplerianRing::TITLE, subject), "radius r", range, panels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::tools::testing::{NOWHERE, exact, failed, measured, subject};

    fn case() -> KeplerianRing {
        KeplerianRing { side: 12, depth: 8, arrangement: Arrangement::SimpleCubic, seed: 1 }
    }

    const POINT: PointMass =
        PointMass { strength: 4.0, position: [0.0; 3], softening: 0.0, cylindrical: true };

    #[test]
    fn the_ring_is_whole_and_turns() {
        let surroundings = Surroundings { point_mass: Some(POINT), ..NOWHERE };
        let case = case();
        let layout = case.layout(&surroundings, 0..case.count());
        assert_eq!(layout.positions.len() as u64, case.count());
        let mass = layout.mass.at(0) * layout.positions.len() as f64;
        let volume = 2.0 * std::f64::consts::PI * 8.0 / 12.0;
        assert!((mass / volume - 1.0).abs() < 0.03, "{mass} {volume}");
        let (x, v) = (layout.positions[9], layout.velocities.as_ref().unwrap()[9]);
        let radius = x.x.hypot(x.y);
        assert!((v.norm_squared() * radius - 4.0).abs() < 1e-12 && v.dot(&x).abs() < 1e-12);
        let part = case.layout(&surroundings, 100..120);
        assert_eq!(part.positions, layout.positions[100..120]);
    }

    #[test]
    fn the_start_passes_and_faults_are_found() {
        let case = case();
        let surroundings = Surroundings { point_mass: Some(POINT), ..NOWHERE };
        let layout = case.layout(&surroundings, 0..case.count());
        let velocities = layout.velocities.clone().unwrap();
        let judged = |scale: f64, turn: f64| {
            let mut particles = exact(&layout, 5.0 / 3.0, |_| (1.0, Vec3d::zeros(), 1.0));
            for (row, &x) in layout.positions.iter().enumerate() {
                let outward = Vec3d::new(x.x, x.y, 0.0);
                particles.set_vector(Field::Position, row, x + scale * outward);
                particles.set_vector(Field::Velocity, row, velocities[row] + turn * outward);
            }
            case.judge(&Subject { surroundings: Some(surroundings), ..subject(&particles, 1.0, 5.0 / 3.0) })
        };
        let good = judged(0.0, 0.0);
        assert!(failed(&good).is_empty(), "{:?}", good.checks);
        assert!(measured(&good, "rms radial velocity / v") < 1e-12);
        assert!(measured(&good, "displacement of the mass") < 1e-12);
        assert_eq!(failed(&judged(0.0, 0.1)), ["rms radial velocity / v"]);
        let wide = failed(&judged(0.1, 0.0));
        assert_eq!(wide, ["rms rotation / v − 1", "displacement of the mass", "angular momentum"]);
    }
}
