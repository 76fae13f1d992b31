//! The law of pair energies that a deck gives as a formula or a table, and what both share: truncation,
//! checks and the cached fit.

use super::coulomb::{Charges, WithCharges};
use super::interaction::{SectionReader, switch_start};
use crate::pair::language::*;
use crate::pair::radial::{FitErrors, RadialFunction};
use crate::sections::{Default, Key, Kind, POSITIVE, key, quantity};
use crate::units::Dimension;
use std::fmt;
use std::sync::OnceLock;

pub use radial::*;

/// V(r) of each pair of species, as processors fit it and devices compile it
/// ([`RadialEnergy`]). Force and virial are those of its derivative.
#[pair(molecular)]
pub mod radial {
    /// Energy as a function of the squared distance.
    struct Law {
        energy: RadialEnergy,
    }
    /// Index of the species.
    struct Particle {
        species: Real,
    }

    fn interact(law: Law, i: Particle, j: Particle, r: Vec3, r2: Real) -> Sums {
        let found = radial_energy(law.energy, i.species, j.species, r2);
        let factor = -2.0 * found.slope;
        Sums { force: r * factor, energy: found.value, virial: r2 * factor }
    }
}

choice! {
    /// Truncation of a formula or a table at its cutoff.
    RadialTruncation {
        /// Nothing: energy and force jump.
        Plain = "plain",
        /// The energy is shifted to zero; the force jumps.
        Shifted = "shifted",
        /// The energy is multiplied by 1 - 10 x^3 + 15 x^4 - 6 x^5, x from 0 at `switch_start` to 1 at the
        /// cutoff.
        Switched = "switched",
    }
}

/// Key of the truncation.
pub const TRUNCATION: Key = key(
    "truncation",
    Kind::Choice(RadialTruncation::NAMES),
    Default::Value("\"plain\""),
    "At the cutoff: plain, shifted to zero energy, or with the energy switched off from switch_start on.",
)
.also(&["shift", "modifier"]);

/// Key of the start of the switch.
pub const SWITCH_START: Key = key(
    "switch_start",
    quantity(POSITIVE, Dimension::Length),
    Default::Unset("required by truncation = \"switched\""),
    "Distance from which the energy is switched off.",
)
.also(&["r_switch", "rvdw_switch"]);

/// Most species: each pair has polynomials of its own.
pub const MOST_SPECIES: usize = 16;

/// All pairs (a, b) of species with a <= b, ordered by b, then a.
pub fn pairs(species: usize) -> impl Iterator<Item = [usize; 2]> {
    (0..species).flat_map(|b| (0..=b).map(move |a| [a, b]))
}

/// The fitted energies of a potential, made at the first use. All potentials count as equal here: the fit
/// follows from the rest.
#[derive(Clone, std::default::Default)]
pub struct CachedFit(OnceLock<(RadialEnergy<f64>, FitErrors)>);

impl CachedFit {
    /// The fit; `device` is the C++ of [`RadialEnergy::fit`].
    pub fn get(
        &self,
        function: &RadialFunction<'_>,
        device: Option<[String; 2]>,
    ) -> (RadialEnergy<f64>, FitErrors) {
        *self.0.get_or_init(|| RadialEnergy::fit(function, device))
    }

    /// The law, with charges if there are any.
    pub fn law(
        (energy, _): (RadialEnergy<f64>, FitErrors),
        cutoff: f64,
        charges: Option<&Charges>,
    ) -> WithCharges<Law<f64>> {
        WithCharges::new(Law { energy }, cutoff, charges)
    }
}

impl PartialEq for CachedFit {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for CachedFit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "CachedFit")
    }
}

/// Reads cutoff, truncation and the start of the switch (the cutoff without one) from a section. `longest` is
/// the cutoff if none is given; `None`: the key has a default.
pub fn read_truncation(
    section: &mut dyn SectionReader,
    longest: Option<f64>,
) -> (f64, RadialTruncation, f64) {
    let cutoff = match longest {
        Some(longest) => section.optional_number("cutoff").unwrap_or(longest),
        None => section.number("cutoff"),
    };
    let truncation = RadialTruncation::named(section.choice("truncation")).unwrap_or(RadialTruncation::Plain);
    if truncation != RadialTruncation::Switched {
        section.without_effect("switch_start", "truncation, which is not \"switched\"");
        return (cutoff, truncation, cutoff);
    }
    let start = switch_start(section, cutoff);
    if start * WIDEST_SWITCH < cutoff {
        let message = format!("`switch_start` is below cutoff / {WIDEST_SWITCH}");
        section.report(&["switch_start"], message, "begin the switch later".into());
        return (cutoff, truncation, cutoff);
    }
    (cutoff, truncation, start)
}

/// Largest ratio of the cutoff to the start of a switch.
const WIDEST_SWITCH: f64 = 16.0;

/// Distances of an inspection, from the cutoff / 64 to the cutoff.
const INSPECTED: usize = 3000;
/// Deviation of a difference of energies from the integral of the force, relative to both, that suggests a
/// jump.
const SUSPICIOUS: f64 = 1e-3;

/// Least ratio of a jump to the rounding errors beside it.
const NOISE: f64 = 10.0;

/// What is wrong with a pair energy, and where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Irregularity {
    /// No number at this distance.
    NotANumber(f64),
    /// Infinite at this distance and finite at smaller ones.
    Singular(f64),
    /// The energy jumps at this distance.
    Jump(f64),
}

/// Looks for distances within the cutoff at which an energy is no number, infinite or discontinuous.
/// `energy` returns V and dV/dr.
pub fn inspect(energy: &dyn Fn(f64) -> [f64; 2], cutoff: f64) -> Result<(), Irregularity> {
    let distance = |k: usize| cutoff * 64f64.powf(k as f64 / INSPECTED as f64 - 1.0);
    let mut outer: Option<(f64, [f64; 2])> = None;
    let mut core: Option<f64> = None;
    for k in (0..=INSPECTED).rev() {
        let r = if k == INSPECTED { cutoff } else { distance(k) };
        let [value, slope] = energy(r);
        if value.is_nan() || (slope.is_nan() && value.is_finite()) {
            return Err(Irregularity::NotANumber(r));
        }
        if value.is_infinite() || slope.is_infinite() {
            core = Some(core.unwrap_or(r));
            outer = None;
            continue;
        }
        if let Some(singular) = core {
            return Err(Irregularity::Singular(singular));
        }
        if let Some(outer) = outer
            && let Some(found) = between(energy, (r, [value, slope]), outer)
        {
            return Err(found);
        }
        outer = Some((r, [value, slope]));
    }
    Ok(())
}

/// Difference of the energies of two distances less the integral of the slopes, relative to both.
fn discrepancy((r, [value, slope]): (f64, [f64; 2]), (s, [other, other_slope]): (f64, [f64; 2])) -> f64 {
    let (change, integral) = (other - value, 0.5 * (slope + other_slope) * (s - r));
    let scale = change.abs() + integral.abs() + 1e-9 * (value.abs() + other.abs());
    if scale > 0.0 { (change - integral).abs() / scale } else { 0.0 }
}

/// Bisects an interval whose energies and slopes disagree.
fn between(
    energy: &dyn Fn(f64) -> [f64; 2],
    mut inner: (f64, [f64; 2]),
    mut outer: (f64, [f64; 2]),
) -> Option<Irregularity> {
    if discrepancy(inner, outer) < SUSPICIOUS {
        return None;
    }
    let noise_of =
        |inner: f64, outer: f64| rounding_noise(energy, inner, -1.0).max(rounding_noise(energy, outer, 1.0));
    let before = inner.1[0].abs().max(outer.1[0].abs()).max(noise_of(inner.0, outer.0));
    for _ in 0..60 {
        let r = 0.5 * (inner.0 + outer.0);
        if !(r > inner.0 && r < outer.0) {
            break;
        }
        let middle = (r, energy(r));
        if middle.1[0].is_nan() {
            return Some(Irregularity::NotANumber(r));
        }
        if middle.1[0].is_infinite() {
            return Some(Irregularity::Singular(r));
        }
        // the half with the larger absolute deviation has the jump
        let deviation = |a: (f64, [f64; 2]), b: (f64, [f64; 2])| {
            ((b.1[0] - a.1[0]) - 0.5 * (a.1[1] + b.1[1]) * (b.0 - a.0)).abs()
        };
        if deviation(inner, middle) > deviation(middle, outer) { outer = middle } else { inner = middle }
    }
    let (low, high) = (inner.1[0], outer.1[0]);
    let noise = noise_of(inner.0, outer.0);
    let (size, jump) = (low.abs().max(high.abs()), (high - low).abs());
    if size > 1e6 * (before + f64::MIN_POSITIVE) {
        return Some(Irregularity::Singular(inner.0));
    }
    (jump > 1e-6 * before && jump > NOISE * noise).then_some(Irregularity::Jump(inner.0))
}

/// The largest difference of energies at neighboring distances on one side of r: that of rounding errors.
fn rounding_noise(energy: &dyn Fn(f64) -> [f64; 2], r: f64, side: f64) -> f64 {
    let at = |k: i32| energy(r * (1.0 + side * f64::from(k) * 8.0 * f64::EPSILON))[0];
    (1..=32).map(|k| (at(k + 1) - at(k)).abs()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn irregular_energies_are_found_and_regular_ones_are_not() {
        let cutoff = 2.5;
        let of = |energy: &dyn Fn(f64) -> [f64; 2]| inspect(energy, cutoff);
        let near = |found: Result<(), Irregularity>, kind: fn(f64) -> Irregularity, r: f64| match found {
            Err(found) if found == kind(r) => true,
            Err(Irregularity::Jump(at) | Irregularity::Singular(at) | Irregularity::NotANumber(at)) => {
                let same = std::mem::discriminant(&kind(at)) == std::mem::discriminant(&found.unwrap_err());
                same && (at / r - 1.0).abs() < 2e-3
            }
            Ok(()) => false,
        };
        // regular: Lennard-Jones, an attractive core, a soft sphere with a kink in the force, a steep one
        assert_eq!(of(&|r| [r.powi(-12) - r.powi(-6), -12.0 * r.powi(-13) + 6.0 * r.powi(-7)]), Ok(()));
        assert_eq!(of(&|r| [(-r).exp() - r.powi(-6), -(-r).exp() + 6.0 * r.powi(-7)]), Ok(()));
        assert_eq!(of(&|r| [(1.0 - r).max(0.0).powi(2), -2.0 * (1.0 - r).max(0.0)]), Ok(()));
        assert_eq!(of(&|r| [(1.0 - r).abs(), if r < 1.0 { -1.0 } else { 1.0 }]), Ok(()));
        assert_eq!(of(&|r| [r.powi(-200), -200.0 * r.powi(-201)]), Ok(()));
        assert_eq!(of(&|_| [0.0, 0.0]), Ok(()));
        // differences of nearly equal numbers at short distances: no jump, but rounding
        let damped = |r: f64| {
            let sum: f64 = (0..=10).map(|k| r.powi(k) / (1..=k).map(f64::from).product::<f64>()).sum();
            let part = |r: f64, sum: f64| (1.0 - (-r).exp() * sum) * r.powi(-10);
            let slope = (-r).exp() * r.powi(10) / 3_628_800.0;
            [part(r, sum), slope * r.powi(-10) - 10.0 * part(r, sum) / r]
        };
        assert_eq!(of(&damped), Ok(()));
        // a step, poles of both orders, a root of a negative number
        assert!(near(of(&|r| [if r < 1.3 { 1.0 } else { 0.9 }, 0.0]), Irregularity::Jump, 1.3));
        let pole = |r: f64| r - 1.234567;
        assert!(near(of(&|r| [1.0 / pole(r), -pole(r).powi(-2)]), Irregularity::Singular, 1.234567));
        assert!(near(of(&|r| [pole(r).powi(-2), -2.0 * pole(r).powi(-3)]), Irregularity::Singular, 1.234567));
        assert!(near(of(&|r| [(r - 1.0).sqrt(), 0.5 / (r - 1.0).sqrt()]), Irregularity::NotANumber, 1.0));
        assert!(near(of(&|r| [(2.4 - r).sqrt(), -0.5 / (2.4 - r).sqrt()]), Irregularity::NotANumber, 2.5));
    }
}
