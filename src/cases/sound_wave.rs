//! A plane sound wave along x in a periodic bar of length 1: density 1 + A sin(2 pi (x - t)), velocity
//! A sin(2 pi (x - t)), for the speed of sound 1. The solution is that of the linear equations; the error of
//! the solution is of order A^2.

use std::f64::consts::PI;
use std::ops::Range;

use super::case::{Case, CaseReader, NOISE, SEED, Surroundings, Template};
use super::tools::keys::{depth, side};
use super::tools::plane_wave::displaced;
use super::tools::profile::{Profile, State};
use super::tools::subject::title;
use super::{Check, Findings, Subject};
use crate::layout::cuboid::{Cuboid, Edge, filled};
use crate::layout::glass::Tile;
use crate::layout::{Arrangement, Layout, Values};
use crate::sections::{self, Kind, Section, between, key, number, section};
use crate::space::{Boundary, Vec3d};
use serde::{Deserialize, Serialize};

const GAMMA: f64 = 5.0 / 3.0;
/// Gate of the norms relative to the amplitude, times the square of the particles a wavelength: that of AREPO
/// (examples/wave_1d/check.py, 5e-5 / N^2 at an amplitude of 1e-6 after one period).
const GATE: f64 = 50.0;

/// `[start.sound-wave]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SoundWave {
    /// Particles a wavelength.
    pub side: u64,
    /// Thickness of the bar in distances of the particles.
    pub depth: u64,
    /// Amplitude A.
    pub amplitude: f64,
    /// The layout.
    pub arrangement: Arrangement,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl SoundWave {
    fn bar(&self) -> Cuboid {
        let across = Edge::Distances(self.depth as f64);
        let edges = [Edge::Fixed(1.0), across, across];
        Cuboid::fitted([0.0; 3], edges, 1.0 / self.side as f64, self.arrangement, self.seed)
    }

    /// The linear solution.
    fn exact(&self, x: f64, time: f64, gamma: f64) -> State {
        let wave = self.amplitude * (2.0 * PI * (x - time)).sin();
        State { density: 1.0 + wave, velocity: wave, pressure: (1.0 + gamma * wave) / gamma }
    }
}

impl Case for SoundWave {
    const SECTION: Section = section(
        "start.sound-wave",
        "A plane sound wave of length 1 along x: density 1, for an ideal gas with the speed of sound 1.",
        &[
            side("32", "Particles a wavelength."),
            depth("10"),
            key(
                "amplitude",
                number(between(1e-9, 0.1)),
                sections::Default::Value("1e-3"),
                "Amplitude of density and velocity.",
            ),
            key(
                "arrangement",
                Kind::Choice(Arrangement::NAMES),
                sections::Default::Value("\"fcc\""),
                "Layout of the gas without the wave; the noise of a glass hides a small wave.",
            ),
            NOISE,
            SEED,
        ],
    );
    const TITLE: &'static str = "Sound wave";
    const TEMPLATE: Template = Template {
        title: "Sound wave",
        sections: &["sph"],
        settings: &[
            ("run.end_time", "1.0"),
            ("run.precision", "\"double\""),
            ("start.sound-wave.side", "32"),
            ("space.boundary", "\"periodic\""),
            ("output.directory", "\"out/sound-wave\""),
            ("output.snapshots.every_time", "0.5"),
        ],
        omitted: &[],
    };

    fn read(section: &mut dyn CaseReader) -> Self {
        Self {
            side: section.integer("side"),
            depth: section.integer("depth"),
            amplitude: section.number("amplitude"),
            arrangement: section.arrangement(),
            seed: section.integer("seed"),
        }
    }

    fn check(&self, surroundings: &Surroundings, section: &mut dyn CaseReader) {
        section.require_ideal_gas(surroundings);
        section.require_boundary(surroundings, Boundary::Periodic);
    }

    fn corners(&self) -> Option<[[f64; 3]; 2]> {
        Some([[0.0; 3], self.bar().lengths])
    }

    fn count(&self) -> u64 {
        self.bar().count()
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn tiles(&self) -> Vec<Tile> {
        self.bar().tile().into_iter().collect()
    }

    fn layout(&self, surroundings: &Surroundings, share: Range<u64>) -> Layout {
        let gamma = surroundings.gamma_or(GAMMA);
        let bar = self.bar();
        let mut layout = filled(&bar, &bar.quiet_filling(surroundings.noise), 1.0, 0.0, share);
        let base = 1.0 / (gamma * (gamma - 1.0));
        let (mut velocities, mut energies) = (Vec::new(), Vec::new());
        for position in &mut layout.positions {
            position.x = displaced(position.x, self.amplitude);
            let wave = self.amplitude * (2.0 * PI * position.x).sin();
            velocities.push(Vec3d::new(wave, 0.0, 0.0));
            // the adiabat
            energies.push(base * (1.0 + wave).powf(gamma - 1.0));
        }
        layout.velocities = Some(velocities);
        layout.internal_energy = Values::PerParticle(energies);
        layout
    }

    fn judge(&self, subject: &Subject) -> Findings {
        let gamma = subject.gamma.unwrap_or(GAMMA);
        let mut profile =
            Profile::new(subject.particles, gamma, |position, velocity| (position.x, velocity.x));
        let side = profile.side();
        // the error of the kernel in a uniform gas is no error of the wave
        let mean = |of: &dyn Fn(&State) -> f64| {
            profile.rows.iter().map(|row| of(&row.state)).sum::<f64>() / profile.rows.len().max(1) as f64
        };
        let (density, pressure) = (mean(&|state| state.density), mean(&|state| state.pressure));
        for row in &mut profile.rows {
            row.state.density /= density;
            row.state.pressure /= gamma * pressure;
        }
        let exact = |x: f64| self.exact(x, subject.time, gamma);
        let norms = profile.norms((f64::NEG_INFINITY, f64::INFINITY), exact);
        let gate = GATE / side.powi(2) * subject.time.max(1.0);
        let relative = |norm: Option<f64>| norm.map(|norm| norm / self.amplitude);
        let (amplitude, speed) = fitted(&profile, subject.time);
        let checks = vec![
            Check::gated("L1 density / amplitude", relative(norms[0]), gate, None)
                .noting("mean of |deviation| from the mean density"),
            Check::gated("L1 velocity / amplitude", relative(norms[1]), gate, None),
            Check::reported("L1 pressure / amplitude", relative(norms[2])),
            Check::reported("amplitude − 1", Some((amplitude / self.amplitude - 1.0).abs()))
                .noting(format!("{:+.2e}, of the velocity", amplitude / self.amplitude - 1.0)),
            Check::reported("phase speed − 1", speed.map(f64::abs))
                .noting(speed.map_or_else(String::new, |speed| format!("{speed:+.2e}"))),
            subject.drift_check(1e-5),
        ];
        let picture = profile.picture(&title(Self::TITLE, subject), "x", (0.0, 1.0), exact);
        Findings { checks, pictures: vec![("profiles", picture)] }
    }
}

/// Amplitude of the first Fourier mode of the velocity, and the error of its phase speed; `None` at the
/// start.
fn fitted(profile: &Profile, time: f64) -> (f64, Option<f64>) {
    let (mut sine, mut cosine, mut volume) = (0.0, 0.0, 0.0);
    for row in &profile.rows {
        let phase = 2.0 * PI * (row.at - time);
        sine += row.volume * row.state.velocity * phase.sin();
        cosine += row.volume * row.state.velocity * phase.cos();
        volume += row.volume;
    }
    let amplitude = 2.0 * sine.hypot(cosine) / volume.max(f64::MIN_POSITIVE);
    // sin(phase - 2 pi error time)
    let ahead = -cosine.atan2(sine) / (2.0 * PI);
    (amplitude, (time > 0.0).then(|| ahead / time))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::tools::testing::{NOWHERE, exact, failed, measured, subject};

    fn case() -> SoundWave {
        SoundWave { side: 16, depth: 8, amplitude: 1e-3, arrangement: Arrangement::FaceCentered, seed: 1 }
    }

    #[test]
    fn the_speed_of_sound_is_about_1() {
        let case = SoundWave { amplitude: 0.05, ..case() };
        let layout = case.layout(&NOWHERE, 0..case.count());
        let sound = (GAMMA * (GAMMA - 1.0) * layout.internal_energy.at(0)).sqrt();
        assert!((sound - 1.0).abs() < 0.05);
    }

    #[test]
    fn the_solution_passes_and_errors_are_found() {
        let case = case();
        let layout = case.layout(&NOWHERE, 0..case.count());
        let at = |time: f64, factor: f64| {
            exact(&layout, GAMMA, |position| {
                let state = case.exact(position.x, time, GAMMA);
                (state.density, Vec3d::new(factor * state.velocity, 0.0, 0.0), state.pressure)
            })
        };
        let findings = case.judge(&subject(&at(2.0, 1.0), 2.0, GAMMA));
        assert!(failed(&findings).is_empty(), "{:?}", findings.checks);
        assert!(measured(&findings, "L1 velocity / amplitude") < 1e-10);
        assert!(measured(&findings, "L1 density / amplitude") < 1e-3);
        assert!(measured(&findings, "phase speed − 1") < 1e-3);
        // late by a tenth of a wavelength after one period
        let findings = case.judge(&subject(&at(0.9, 1.0), 1.0, GAMMA));
        assert!((measured(&findings, "phase speed − 1") - 0.1).abs() < 1e-3, "{:?}", findings.checks);
        assert_eq!(failed(&findings), ["L1 density / amplitude", "L1 velocity / amplitude"]);
        let findings = case.judge(&subject(&at(1.0, 0.6), 1.0, GAMMA));
        assert!((measured(&findings, "amplitude − 1") - 0.4).abs() < 1e-3);
        assert_eq!(failed(&findings), ["L1 velocity / amplitude"]);
    }
}
