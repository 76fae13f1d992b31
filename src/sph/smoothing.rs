//! Smoothing lengths: h of each particle such that its support 2h holds the required number of neighbors N,
//!
//! ```text
//! (4 pi / 3) (2 h_i)^3 n_i(h_i) = N,    n_i = sum_j W(r_ij, h_i),   so   n_i h_i^3 = 3 N / (32 pi)
//! ```
//!
//! by Newton's method on ln h with a bracket (Springel & Hernquist 2002, MNRAS 333, 649; Price 2012, J.
//! Comput. Phys. 231, 759).

use crate::pair::Kernel;
use crate::pair::kernel::kernel_value;
use crate::particles::{Field, Particles};
use crate::space::{Boundary, SimulationBox};
use crate::{Error, Result};

/// Smoothing lengths below this fraction of the longest edge of the box are invalid. `k` coincident particles
/// have `n h^3 >= k w(0)` at any h; if that exceeds the target, the search halves h until it ends.
const MIN_LENGTH: f64 = 1e-12;

/// Factor for the deficit of the kernel sum at the largest h in an open box: at 100 box edges the kernel is
/// constant to 1e-3 over the diagonal.
const FLAT_KERNEL: f64 = 1.001;

/// Maximum number of particles that an error lists.
const MAX_LISTED: usize = 6;

/// Target of `n h^3` for `neighbors` particles in the support.
pub fn target(neighbors: f64) -> f64 {
    3.0 * neighbors / (32.0 * std::f64::consts::PI)
}

/// Search for one particle's smoothing length. Invariant: the root lies in `lower..=upper`; it may lie above
/// `upper` until `bounded` is set.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    lower: f64,
    upper: f64,
    largest: f64,
    bounded: bool,
}

/// Next action of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// Converged.
    Found(f64),
    /// Evaluate the number density at this smoothing length.
    Try(f64),
    /// Even the largest allowed smoothing length, given here, has too few neighbors.
    Beyond(f64),
}

impl Search {
    /// Starts a search with smoothing lengths up to `largest`.
    pub fn new(largest: f64) -> Self {
        Search { lower: 0.0, upper: largest, largest, bounded: false }
    }

    /// Advances the search, given the number density `n` and `slope = dn / d ln h` at `h`. The last Newton
    /// step needs no further evaluation if its second-order error is below `tolerance`.
    pub fn next(&mut self, h: f64, n: f64, slope: f64, target: f64, tolerance: f64) -> Next {
        let ratio = n * h * h * h / target;
        if ratio < 1.0 {
            if h >= self.upper && !self.bounded {
                return Next::Beyond(self.upper);
            }
            self.lower = self.lower.max(h);
        } else {
            (self.upper, self.bounded) = (self.upper.min(h), true);
        }
        // d ln(n h^3) / d ln h: 3 for a homogeneous gas at constant kernel sum, and rarely much smaller
        let exponent = 3.0 + slope / n;
        let newton =
            if exponent > 0.3 { h * (-ratio.ln() / exponent).clamp(-0.25, 0.25).exp() } else { f64::NAN };
        let error = ratio - 1.0;
        if error * error < tolerance && newton > 0.0 && newton <= self.upper * 1.01 {
            return Next::Found(newton.min(self.largest));
        }
        if newton > self.lower && newton < self.upper {
            return Next::Try(newton);
        }
        if !self.bounded {
            // at most double h, because the list must grow with it
            return Next::Try((2.0 * h).min(self.upper));
        }
        if self.lower == 0.0 {
            return Next::Try(0.5 * h);
        }
        if self.upper <= self.lower * (1.0 + 0.1 * tolerance) {
            return Next::Found(self.upper);
        }
        Next::Try((self.lower * self.upper).sqrt())
    }
}

/// A particle's contribution to its own number of neighbors, at every smoothing length: `w(0)` over the
/// target of one.
pub(crate) fn self_contribution(kernel: Kernel<f64>) -> f64 {
    kernel_value(kernel, 0.0) / target(1.0)
}

/// Checks that `particles` particles can have the required number of neighbors. `n h^3` of `k` particles is
/// at most `k w(0)`, and approaches that when h is much larger than their distances. In a periodic box n is
/// the mean density at the largest h.
///
/// # Errors
/// [`Error::State`] with step 0.
pub(crate) fn check_count(
    bx: &SimulationBox,
    particles: u64,
    largest: f64,
    kernel: Kernel<f64>,
    neighbors: f64,
) -> Result<()> {
    let count = particles as f64;
    let periodic = bx.boundary.map(|boundary| boundary == Boundary::Periodic);
    let (most, limit) = if periodic == [true; 3] {
        let support = target(1.0).recip() * largest.powi(3) / bx.lengths().product();
        (count * support, "within half of the periodic box's shortest edge")
    } else if periodic == [false; 3] {
        (count * self_contribution(kernel) / FLAT_KERNEL, "however wide the kernel is")
    } else {
        return Ok(());
    };
    if particles == 0 || most >= neighbors {
        return Ok(());
    }
    let least = (neighbors * count / most).ceil();
    // fewer neighbors help only above a particle's own contribution
    let fewer = match most > 1.05 * self_contribution(kernel) {
        true => format!(", or sph.neighbors below {most:.1}"),
        false => String::new(),
    };
    Err(Error::State {
        step: 0,
        what: format!(
            "{particles} gas particles are too few for sph.neighbors = {neighbors}: the kernel's sum counts at most {most:.1} \
             {limit}"
        ),
        remedy: format!("take at least {least} particles{fewer}"),
    })
}

/// Checks that owned particles do not coincide in numbers that prevent a smoothing length. Call it after a
/// search that did not converge.
///
/// # Errors
/// [`Error::State`] with step 0, which lists the particles at the first such position.
pub(crate) fn check_coincident(
    bx: &SimulationBox,
    particles: &Particles,
    kernel: Kernel<f64>,
    neighbors: f64,
) -> Result<()> {
    let least = MIN_LENGTH * bx.lengths().max();
    let length = particles.scalar(Field::SmoothingLength);
    // NaN if there was no valid density
    let lost = particles.owned().find(|&row| length[row].is_nan() || length[row] < least);
    let Some(row) = lost else { return Ok(()) };
    let at = |row| particles.vector_at(Field::Position, row);
    let place = at(row);
    // include halos: the others may belong to another rank
    let rows = (0..particles.len()).filter(|&other| !particles.ghost(other));
    let together = rows.filter(|&other| bx.shortest(at(other) - place).norm() <= least);
    let mut names: Vec<u64> = together.map(|row| particles.id[row]).collect();
    names.sort_unstable();
    names.dedup();
    if names.len() < 2 {
        return Ok(());
    }
    let needed = names.len() as f64 * kernel_value(kernel, 0.0) * 32.0 * std::f64::consts::PI / 3.0;
    let count = names.len();
    let more = if count > MAX_LISTED { ", ..." } else { "" };
    names.truncate(MAX_LISTED);
    let names: Vec<String> = names.iter().map(u64::to_string).collect();
    Err(Error::State {
        step: 0,
        what: format!(
            "{count} particles coincide, so that none of them has a smoothing length with sph.neighbors = {neighbors}: \
             particles {}{more} are all at ({:e}, {:e}, {:e})",
            names.join(", "),
            place[0],
            place[1],
            place[2]
        ),
        remedy: format!(
            "remove all of them but one from the start, or move them apart; {count} particles at one place need sph.neighbors \
             above {needed:.0}"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{Boundary, Vec3d};
    use proptest::prelude::*;

    fn solve(n: impl Fn(f64) -> f64, start: f64, largest: f64, target: f64) -> (Next, usize) {
        let (mut search, mut h) = (Search::new(largest), start);
        for evaluations in 1..100 {
            let slope = (n(h * 1.000_001) - n(h * 0.999_999)) / 2e-6;
            match search.next(h, n(h), slope, target, 1e-8) {
                Next::Try(next) => h = next,
                end => return (end, evaluations),
            }
        }
        (Next::Try(h), 100)
    }

    proptest! {
        #[test]
        fn a_power_law_density_is_solved_from_any_start(density in 1e-3..1e6f64, power in -2.0..2.0f64, start in 1e-4..1e4f64) {
            let wanted = target(100.0);
            let root = (wanted / density).powf(1.0 / (3.0 + power));
            let (end, evaluations) = solve(|h| density * h.powf(power), start, 1e9, wanted);
            let Next::Found(h) = end else { return Err(TestCaseError::fail(format!("{end:?}"))) };
            prop_assert!((h / root - 1.0).abs() < 1e-6, "{} against {}", h, root);
            prop_assert!(evaluations < 90);
        }
    }

    #[test]
    fn a_good_guess_needs_one_evaluation() {
        let wanted = target(100.0);
        let (end, evaluations) = solve(|_| 1000.0, (wanted / 1000.0).cbrt() * 1.00001, 10.0, wanted);
        assert!(matches!(end, Next::Found(_)));
        assert_eq!(evaluations, 1);
    }

    #[test]
    fn a_lonely_particle_ends_at_the_largest_length() {
        // only its own contribution: n h^3 is constant and too small
        let (end, _) = solve(|h| 0.3 / (h * h * h), 0.01, 2.0, target(100.0));
        assert_eq!(end, Next::Beyond(2.0));
    }

    #[test]
    fn particles_at_one_place_are_named() {
        let bx = SimulationBox {
            lower: Vec3d::zeros(),
            upper: Vec3d::repeat(14.0),
            boundary: [Boundary::Periodic; 3],
        };
        let kernel = Kernel::named("sinc-6").unwrap();
        let mut particles = Particles::new(&[Field::Position, Field::SmoothingLength], 4);
        for (row, x) in [3.0, 5.0, 3.0, 9.0].into_iter().enumerate() {
            particles.id[row] = 11 + row as u64;
            particles.set_vector(Field::Position, row, Vec3d::new(x, 1.0, 1.0));
            particles.scalar_mut(Field::SmoothingLength)[row] = 1.0;
        }
        assert!(check_coincident(&bx, &particles, kernel, 40.0).is_ok(), "they have smoothing lengths");
        for row in [0, 2] {
            particles.scalar_mut(Field::SmoothingLength)[row] = 1e-17;
        }
        let error = check_coincident(&bx, &particles, kernel, 40.0).unwrap_err().to_string();
        for part in [
            "2 particles coincide",
            "sph.neighbors = 40",
            "particles 11, 13 are all at (3e0, 1e0, 1e0)",
            "remove",
        ] {
            assert!(error.contains(part), "{error}");
        }
        // the suggested number: above it n h^3 of the two alone is too small
        let needed: f64 = error.trim_end().rsplit(' ').next().unwrap().parse().unwrap();
        let alone = 2.0 * kernel_value(kernel, 0.0);
        assert!(target(needed + 1.0) > alone && target(needed - 1.0) < alone, "{needed}");
    }
}
