//! The force split of periodic boxes: the potential of a point mass is the sum of a short-range part, which
//! the tree sums over particles and images within a cut, and a smooth long-range part, which a mesh sums.
//!
//! With the splitting parameter a = 1 / (2 r_s), for G = 1:
//!
//! ```text
//! 1/r = erfc(a r)/r + erf(a r)/r
//! ```
//!
//! (Ewald 1921; for trees and meshes Bagla 2002 and Springel 2005). The long-range part and its derivatives
//! are entire functions of s = (a r)^2:
//!
//! ```text
//! (1/r d/dr)^k erf(a r)/r = (-2)^k a^(2k+1) 2/sqrt(pi) F_k(s),   F_k(s) = integral_0^1 t^(2k) exp(-s t^2) dt
//! ```
//!
//! with the Boys functions F_k. Inside the cut they are polynomials of s here. The tree subtracts them from
//! the softened pair force and from the derivatives in a node's multipole expansion, so that softening acts
//! as in open boxes, and masses farther than the cut act as points.

use super::lanes::Scalar;
use super::opening::TargetBox;
use nalgebra::{DMatrix, DVector};
use std::f64::consts::{FRAC_2_SQRT_PI, PI};
use std::sync::{Arc, Mutex, PoisonError};

/// Number of Boys functions: a force from octupoles needs the fourth derivative.
pub(crate) const ORDERS: usize = 5;

/// Largest number of coefficients of a polynomial.
pub(crate) const MOST_TERMS: usize = 18;

/// Largest number of coefficients of a polynomial for near sources.
pub(crate) const MOST_NEAR_TERMS: usize = 8;

/// Fraction of the cut within which sources are near: shorter polynomials suffice for them.
pub(crate) const NEAR: f64 = 0.25;

/// Range of the cut in units of 1 / a. The polynomials are fitted to such ranges.
pub const CUTS: std::ops::RangeInclusive<f64> = 1.5..=3.5;

/// The short-range part of the force split in a periodic box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    /// Splitting parameter a.
    pub splitting: f64,
    /// Distance beyond which the short-range part is neglected.
    pub cut: f64,
    /// Edges of the periodic box.
    pub lengths: [f64; 3],
}

impl Split {
    /// Calls `visit` with the shift of every image of `bounds` that particles between `lower` and `upper` may
    /// be near to, by less than the cut. An image is the box minus the shift. The images of a box include
    /// those of every box inside it, also in floating point.
    pub(crate) fn for_each_image(
        &self,
        bounds: &TargetBox,
        (lower, upper): ([f64; 3], [f64; 3]),
        mut visit: impl FnMut([f64; 3]),
    ) {
        let range = |d: usize| {
            let first = ((bounds.lower[d] - self.cut - upper[d]) / self.lengths[d]).ceil();
            let last = ((bounds.upper[d] + self.cut - lower[d]) / self.lengths[d]).floor();
            first as i64..=last as i64
        };
        for x in range(0) {
            for y in range(1) {
                for z in range(2) {
                    visit([
                        x as f64 * self.lengths[0],
                        y as f64 * self.lengths[1],
                        z as f64 * self.lengths[2],
                    ]);
                }
            }
        }
    }

    /// The short-range fraction of the force of a point mass at a distance.
    pub(crate) fn short_range_fraction(&self, distance: f64) -> f64 {
        let x = self.splitting * distance;
        libm::erfc(x) + FRAC_2_SQRT_PI * x * (-x * x).exp()
    }

    /// Minus the potential for G = 1 of the short-range parts beyond the cut, for a unit mass per box of even
    /// density: 1/V times the integral of erfc(a r)/r over all space outside the cut.
    pub(crate) fn tail(&self) -> f64 {
        let x = self.splitting * self.cut;
        let volume: f64 = self.lengths.iter().product();
        let integral = libm::erfc(x) * (0.25 - 0.5 * x * x) + x * (-x * x).exp() * (0.25 * FRAC_2_SQRT_PI);
        4.0 * PI * integral / (self.splitting * self.splitting * volume)
    }
}

/// Boys functions F_0 to F_4 of s >= 0. The highest one by its series of positive terms, the others by downward
/// recursion: F_(k-1) = (2 s F_k + exp(-s)) / (2k - 1).
fn boys(s: f64) -> [f64; ORDERS] {
    let decay = (-s).exp();
    let mut values = [0.0; ORDERS];
    let highest = ORDERS - 1;
    let (mut term, mut sum) = (1.0 / (2 * highest + 1) as f64, 0.0);
    let mut denominator = (2 * highest + 1) as f64;
    while term > 1e-18 * sum {
        sum += term;
        denominator += 2.0;
        term *= 2.0 * s / denominator;
    }
    values[highest] = decay * sum;
    for k in (1..=highest).rev() {
        values[k - 1] = (2.0 * s * values[k] + decay) / (2 * k - 1) as f64;
    }
    values
}

/// Polynomials of the long-range parts, in the walk's units, of the variable `t = r^2 scale - 1`, which is
/// -1 at distance 0 and 1 at the cut. Polynomial k is that of the k-th derivative, times the factor with which
/// the kernels have it: 2 for k = 0, 8, 32/3, 128/15, 512/105 (so that Newton's part is (2/r)^(2k+1)).
#[derive(Clone, Copy, Debug)]
pub(crate) struct LongRangePart<E> {
    /// Factor of the squared distance.
    pub scale: E,
    /// Coefficients of each polynomial by ascending power. Polynomial k has the degree
    /// [`Scalar::SPLIT_DEGREES`]`[k]`.
    pub terms: [[E; MOST_TERMS]; ORDERS],
    /// The same for distances up to [`NEAR`] of the cut, where `t` is 1, with the degree
    /// [`Scalar::NEAR_DEGREE`]: potential and force of particles.
    pub near_scale: E,
    /// Coefficients of near polynomials.
    pub near_terms: [[E; MOST_NEAR_TERMS]; 2],
}

impl<E: Scalar> LongRangePart<E> {
    /// Fits the polynomials. `length` is the factor of lengths to the walk's units.
    ///
    /// The error of potential and force of a particle is below 1e-5 of the whole in single and 1e-10 in
    /// double precision, for a cut of 2.5 / a.
    pub fn new(split: &Split, length: f64) -> Self {
        let range = split.splitting * split.cut;
        let splitting = split.splitting / length;
        let cut = split.cut * length;
        let fits_within = fits(range, &E::SPLIT_DEGREES);
        let fits_near = fits(NEAR * range, &[E::NEAR_DEGREE; 2]);
        let mut terms = [[E::default(); MOST_TERMS]; ORDERS];
        let mut near_terms = [[E::default(); MOST_NEAR_TERMS]; 2];
        let mut factor = 2.0 * FRAC_2_SQRT_PI * splitting;
        for k in 0..ORDERS {
            for (term, value) in terms[k].iter_mut().zip(&fits_within[k]) {
                *term = E::of(factor * value);
            }
            let near =
                near_terms.get_mut(k).into_iter().flatten().zip(fits_near.get(k).into_iter().flatten());
            near.for_each(|(term, value)| *term = E::of(factor * value));
            // (2^(2k+3) / (2k+1)!!) 2^(k+1) a^(2k+3) over the same of k
            factor *= 8.0 * splitting * splitting / (2 * k + 1) as f64;
        }
        let scale = |cut: f64| E::of(2.0 / (cut * cut));
        LongRangePart { scale: scale(cut), terms, near_scale: scale(NEAR * cut), near_terms }
    }
}

/// Coefficients of the polynomials of each order.
type Fits = Arc<Vec<Vec<f64>>>;

/// The polynomials of these degrees for distances up to `range` / a, which depend on nothing else. Fitting
/// takes milliseconds, more than gravity of few particles: the latest fits are kept.
fn fits(range: f64, degrees: &[usize]) -> Fits {
    const MOST_KEPT: usize = 8;
    static KEPT: Mutex<Vec<(f64, Vec<usize>, Fits)>> = Mutex::new(Vec::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((.., fits)) = kept.iter().find(|(of, with, _)| *of == range && with == degrees) {
        return fits.clone();
    }
    let of_order = |(k, &degree): (usize, &usize)| fitted(k, degree, range * range);
    let fits = Arc::new(degrees.iter().enumerate().map(of_order).collect::<Vec<_>>());
    if kept.len() == MOST_KEPT {
        kept.remove(0);
    }
    kept.push((range, degrees.to_vec(), fits.clone()));
    fits
}

/// Coefficients by ascending power of the polynomial of t = 2 s / largest - 1 that fits F_k on 0 <= s <=
/// `largest`. The fit is by least squares of the error relative to the Newtonian derivative of order k.
fn fitted(k: usize, degree: usize, largest: f64) -> Vec<f64> {
    const POINTS: usize = 160;
    let at = |point: usize| (PI * (point as f64 + 0.5) / POINTS as f64).cos();
    let abscissa = |t: f64| 0.5 * (t + 1.0) * largest;
    // Newton's derivative falls as s^(-(2k + 1)/2); the weight stays finite at s = 0
    let weight = |s: f64| (0.1 + s).powf(k as f64 + 0.5);
    let chebyshev = |t: f64, n: usize| (n as f64 * t.acos()).cos();
    let matrix =
        DMatrix::from_fn(POINTS, degree + 1, |row, n| weight(abscissa(at(row))) * chebyshev(at(row), n));
    let values = DVector::from_fn(POINTS, |row, _| {
        let s = abscissa(at(row));
        weight(s) * boys(s)[k]
    });
    let factors = matrix.qr();
    let mut right = factors.q().transpose() * values;
    let solved = factors.r().solve_upper_triangular_mut(&mut right);
    debug_assert!(solved, "the Chebyshev polynomials are independent on their points");
    monomials(right.as_slice())
}

/// Coefficients by ascending power of a sum of Chebyshev polynomials.
fn monomials(chebyshev: &[f64]) -> Vec<f64> {
    let count = chebyshev.len();
    let (mut before, mut present) = (vec![0.0; count], vec![0.0; count]);
    present[0] = 1.0;
    let mut sum = vec![0.0; count];
    for (n, factor) in chebyshev.iter().enumerate() {
        for (sum, term) in sum.iter_mut().zip(&present) {
            *sum += factor * term;
        }
        // T_(n+1) = 2 t T_n - T_(n-1), T_1 = t
        let twice = if n == 0 { 1.0 } else { 2.0 };
        let mut next = vec![0.0; count];
        for power in 0..count {
            let raised = if power > 0 { present[power - 1] } else { 0.0 };
            next[power] = twice * raised - before[power];
        }
        before = present;
        present = next;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(range: f64) -> Split {
        Split { splitting: 3.0, cut: range / 3.0, lengths: [2.0, 3.0, 4.0] }
    }

    #[test]
    fn boys_functions_are_the_derivatives_of_the_error_function() {
        for k in 1..400 {
            let x = 0.01 * f64::from(k);
            let values = boys(x * x);
            let expected = libm::erf(x) / (x * FRAC_2_SQRT_PI);
            assert!((values[0] - expected).abs() < 1e-15, "{x}: {} {expected}", values[0]);
            // F_(k+1) = -dF_k/ds
            let step = 1e-4;
            let (up, down) = (boys(x * x + step), boys((x * x - step).max(0.0)));
            if x * x > step {
                for order in 0..ORDERS - 1 {
                    let slope = (down[order] - up[order]) / (2.0 * step);
                    assert!((slope - values[order + 1]).abs() < 1e-8, "{x} {order}");
                }
            }
        }
        for (k, value) in boys(0.0).into_iter().enumerate() {
            assert!((value - 1.0 / (2 * k + 1) as f64).abs() < 1e-16);
        }
    }

    /// The largest error of polynomial k, relative to the Newtonian derivative of the same order.
    fn error<E: Scalar>(range: f64, k: usize) -> f64 {
        let (split, length) = (split(range), 0.5);
        let part = LongRangePart::<E>::new(&split, length);
        let mut most: f64 = 0.0;
        for step in 1..=1000 {
            let r = split.cut * length * f64::from(step) / 1000.0;
            let t = r * r * part.scale.wide() - 1.0;
            let terms = &part.terms[k][..=E::SPLIT_DEGREES[k]];
            let value = terms.iter().rev().fold(0.0, |sum, term| sum * t + term.wide());
            let x = r / length * split.splitting;
            let odd: f64 = (1..=k).map(|j| (2 * j - 1) as f64).product();
            let exact =
                2f64.powi(k as i32) * FRAC_2_SQRT_PI * boys(x * x)[k] * x.powi(2 * k as i32 + 1) / odd;
            most = most.max((value * (0.5 * r).powi(2 * k as i32 + 1) - exact).abs());
        }
        most
    }

    /// The largest error of the near polynomial k, relative to the whole.
    fn near_error<E: Scalar>(range: f64, k: usize) -> f64 {
        let (split, length) = (split(range), 0.5);
        let part = LongRangePart::<E>::new(&split, length);
        let mut most: f64 = 0.0;
        for step in 1..=1000 {
            let r = NEAR * split.cut * length * f64::from(step) / 1000.0;
            let t = r * r * part.near_scale.wide() - 1.0;
            let terms = &part.near_terms[k][..=E::NEAR_DEGREE];
            let value = terms.iter().rev().fold(0.0, |sum, term| sum * t + term.wide());
            let x = r / length * split.splitting;
            let exact = [FRAC_2_SQRT_PI, 2.0 * FRAC_2_SQRT_PI][k] * boys(x * x)[k] * x.powi(2 * k as i32 + 1);
            most = most.max((value * (0.5 * r).powi(2 * k as i32 + 1) - exact).abs());
        }
        most
    }

    #[test]
    fn polynomials_of_near_sources_have_the_stated_errors() {
        for k in 0..2 {
            let found = [near_error::<f32>(2.6, k), near_error::<f64>(2.6, k)];
            println!("derivative {k}: {found:?}");
            assert!(found[0] < 1e-5 && found[1] < 1e-10, "{k}: {found:?}");
        }
    }

    #[test]
    fn polynomials_have_the_stated_errors() {
        let bounds = [[1e-5, 1e-5, 2e-4, 2e-4, 2e-4], [1e-10; ORDERS]];
        for k in 0..ORDERS {
            let found = [error::<f32>(2.5, k), error::<f64>(2.5, k)];
            println!("derivative {k}: {found:?}, at 3.0: {:?}", [error::<f32>(3.0, k), error::<f64>(3.0, k)]);
            assert!(found[0] < bounds[0][k] && found[1] < bounds[1][k], "{k}: {found:?}");
        }
    }

    #[test]
    fn the_tail_is_the_integral_beyond_the_cut() {
        let split = split(1.7);
        let (steps, end) = (200_000, 4.0);
        let width = (end - split.cut) / f64::from(steps);
        let sum: f64 = (0..steps)
            .map(|step| {
                let r = split.cut + (f64::from(step) + 0.5) * width;
                4.0 * PI * r * libm::erfc(split.splitting * r) * width
            })
            .sum();
        assert!((split.tail() * 24.0 / sum - 1.0).abs() < 1e-6, "{} {sum}", split.tail());
    }

    #[test]
    fn images_are_those_within_the_cut() {
        let split = split(1.5);
        let bounds = TargetBox { lower: [0.1, 1.0, 3.9], upper: [0.3, 1.2, 4.0], acceleration: 0.0 };
        let mut found = Vec::new();
        split.for_each_image(&bounds, ([0.0; 3], [2.0, 3.0, 4.0]), |shift| found.push(shift));
        assert_eq!(found, [[-2.0, 0.0, 0.0], [-2.0, 0.0, 4.0], [0.0; 3], [0.0, 0.0, 4.0]]);
    }
}
