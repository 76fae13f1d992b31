//! Fits piecewise polynomials to pair energies.

use crate::simd::piecewise::{Intervals, Piecewise};
use std::f64::consts::PI;

/// Most factors of 2 of the squared distance below the breakpoint: distances down to 1/64 of it.
const OCTAVES: i32 = 12;
/// Magnitude of V or r dV/dr from which on smaller distances are continued linearly.
const LARGEST: f64 = 1e25;
/// Largest error of the double-precision polynomials for which no finer intervals are tried.
const TOLERANCE_DOUBLE: f64 = 1e-13;
/// The same in single precision, below its rounding errors.
const TOLERANCE_SINGLE: f64 = 1e-8;
/// Base-2 logarithms of the numbers of intervals per factor of 2 to be tried.
const BITS_DOUBLE: std::ops::RangeInclusive<u32> = 6..=8;
const BITS_SINGLE: std::ops::RangeInclusive<u32> = 8..=9;
/// Energies up to this multiple of the largest outer one count for the errors: no pair has more.
const CORE: f64 = 1e6;
/// Fraction of the largest outer energy that bounds the denominator of relative errors from below.
const FLOOR: f64 = 1e-3;

/// Largest errors of the polynomials, relative to |V| + |r dV/dr| where that is at most a million times its
/// largest value beyond half the cutoff.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FitErrors {
    /// In double precision.
    pub double: f64,
    /// In single precision, without rounding.
    pub single: f64,
    /// Distance of the largest error in double precision.
    pub distance: f64,
}

/// A family of pair energies to be fitted.
pub struct RadialFunction<'a> {
    /// Number of species, >= 1.
    pub kinds: usize,
    /// Distance at which the functions may have a jump of a higher derivative, > 0: an interval ends there.
    pub breakpoint: f64,
    /// Largest distance, at least the breakpoint.
    pub cutoff: f64,
    /// Distance below which the energy does not matter; 1/64 of the breakpoint at least.
    pub smallest: f64,
    /// V and dV/d(r^2) of species a <= b at a squared distance.
    pub energy: &'a dyn Fn([usize; 2], f64) -> [f64; 2],
}

/// Fits the polynomials of both precisions.
pub(super) fn fitted_polynomials(function: &RadialFunction<'_>) -> (Piecewise, FitErrors) {
    let (double, double_rows, error) = finest::<7>(function, BITS_DOUBLE, TOLERANCE_DOUBLE);
    let (single, single_rows, single_error) = finest::<3>(function, BITS_SINGLE, TOLERANCE_SINGLE);
    let polynomials = Piecewise {
        double,
        single,
        double_rows: double_rows.into_iter().map(|row| std::array::from_fn(|k| row[k])).collect(),
        single_rows: single_rows.into_iter().map(|row| std::array::from_fn(|k| row[k] as f32)).collect(),
    };
    let errors = FitErrors { double: error.size, single: single_error.size, distance: error.distance };
    (polynomials, errors)
}

/// The largest error and its distance.
#[derive(Clone, Copy, Debug, Default)]
struct WorstError {
    size: f64,
    distance: f64,
}

/// Fits with the coarsest intervals that keep the tolerance, or else the finest ones.
fn finest<const NODES: usize>(
    function: &RadialFunction<'_>,
    bits: std::ops::RangeInclusive<u32>,
    tolerance: f64,
) -> (Intervals, Vec<Vec<f64>>, WorstError) {
    let last = *bits.end();
    for bits in bits {
        let intervals = intervals(function, bits);
        let (rows, error) = fitted_rows::<NODES>(function, intervals);
        if error.size <= tolerance || bits == last {
            return (intervals, rows, error);
        }
    }
    unreachable!("the range of bits is not empty")
}

/// Intervals of (r / breakpoint)^2 up to the cutoff.
fn intervals(function: &RadialFunction<'_>, bits: u32) -> Intervals {
    let end = (function.cutoff / function.breakpoint).powi(2);
    let above = end.log2().ceil().clamp(0.0, 64.0) as i32;
    let below = (function.breakpoint / function.smallest).powi(2).log2().ceil();
    let below = below.clamp(1.0, f64::from(OCTAVES)) as i32;
    Intervals { first_exponent: -below, octaves: (below + above) as u32, bits }
}

/// Coefficients of all intervals of all pairs of species, and the largest error.
fn fitted_rows<const NODES: usize>(
    function: &RadialFunction<'_>,
    intervals: Intervals,
) -> (Vec<Vec<f64>>, WorstError) {
    let (mut rows, mut worst) = (Vec::new(), WorstError::default());
    for b in 0..function.kinds {
        for a in 0..=b {
            let pair = OnePair::new(function, [a, b]);
            let start = rows.len();
            rows.resize(start + intervals.count(), vec![0.0; NODES + 1]);
            pair.fit::<NODES>(intervals, &mut rows[start..], &mut worst);
        }
    }
    (rows, worst)
}

/// A pair of species as a function of x = (r / breakpoint)^2.
struct OnePair<'a> {
    function: &'a RadialFunction<'a>,
    species: [usize; 2],
    square: f64,
    end: f64,
    floor: f64,
}

impl<'a> OnePair<'a> {
    fn new(function: &'a RadialFunction<'a>, species: [usize; 2]) -> Self {
        let square = function.breakpoint * function.breakpoint;
        let end = (function.cutoff / function.breakpoint).powi(2);
        let mut pair = OnePair { function, species, square, end, floor: 0.0 };
        let outer = (0..=64).map(|k| pair.size(end * (0.25 + 0.75 * f64::from(k) / 64.0)));
        let largest =
            |sizes: &mut dyn Iterator<Item = f64>| sizes.filter(|size| *size < LARGEST).fold(0.0, f64::max);
        let mut most = largest(&mut outer.into_iter());
        if most == 0.0 {
            // no force at larger distances
            let all =
                (0..512).map(|k| pair.size(end * 2f64.powf(-f64::from(k) * f64::from(OCTAVES) / 512.0)));
            most = largest(&mut all.into_iter());
        }
        pair.floor = FLOOR * most;
        pair
    }

    /// V and dV/dx; beside x where the function has no value at x alone.
    fn at(&self, x: f64) -> [f64; 2] {
        let energy = |x: f64| (self.function.energy)(self.species, x * self.square);
        let [value, slope] = match energy(x) {
            [value, slope] if value.is_nan() || slope.is_nan() => energy(x * (1.0 + 1e-12)),
            found => found,
        };
        [value, slope * self.square]
    }

    /// |V| + |r dV/dr|.
    fn size(&self, x: f64) -> f64 {
        let [value, slope] = self.at(x);
        value.abs() + (2.0 * x * slope).abs()
    }

    /// Fits the intervals from the last one down, until the energy becomes too large; further ones are
    /// straight lines. The slopes are interpolated at Chebyshev's extrema and integrated: rounding errors of
    /// the function would be amplified by differences of its values. Energy and slope are continuous.
    fn fit<const NODES: usize>(&self, intervals: Intervals, rows: &mut [Vec<f64>], worst: &mut WorstError) {
        let extrema: [f64; NODES] =
            std::array::from_fn(|k| 0.5 - 0.5 * (PI * k as f64 / (NODES - 1) as f64).cos());
        // energy at the upper end of the interval
        let mut energy = self.at(self.end)[0];
        let mut line: Option<f64> = None;
        for interval in (0..intervals.count()).rev() {
            let (lower, upper) = (intervals.lower(interval), intervals.lower(interval + 1));
            let width = upper - lower;
            if lower >= self.end {
                continue;
            }
            let end = (upper.min(self.end) - lower) / width;
            // no number counts as too large
            let moderate = self.size(lower) < LARGEST;
            if line.is_none() && !moderate {
                line = Some(self.at(lower + end * width)[1]);
            }
            let row = &mut rows[interval];
            if let Some(slope) = line {
                row[0] = energy - slope * width * end;
                row[1] = slope * width;
                energy = row[0];
                continue;
            }
            let places = extrema.map(|node| node * end);
            let slopes = places.map(|place| self.at(lower + place * width)[1] * width);
            integrated(&interpolated(places, slopes), end, energy, row);
            energy = row[0];
            self.check(lower, width, end * width, row, worst);
        }
    }

    /// Compares a fitted interval with the function between the nodes.
    fn check(&self, lower: f64, width: f64, range: f64, row: &[f64], worst: &mut WorstError) {
        for node in [0.13, 0.5, 0.87] {
            let x = lower + node * range;
            let place = node * range / width;
            let (mut value, mut slope) = (0.0, 0.0);
            for &coefficient in row.iter().rev() {
                slope = slope * place + value;
                value = value * place + coefficient;
            }
            let [truth, true_slope] = self.at(x);
            let error = (value - truth).abs() + (2.0 * x * (slope / width - true_slope)).abs();
            let scale = self.size(x).max(self.floor).max(f64::MIN_POSITIVE);
            let size = error / scale;
            if scale * FLOOR < CORE * self.floor && (size > worst.size || size.is_nan()) {
                *worst = WorstError { size, distance: (x * self.square).sqrt() };
            }
        }
    }
}

/// Coefficients, from the lowest power up, of the polynomial through these points, by Newton's divided
/// differences.
fn interpolated<const N: usize>(places: [f64; N], values: [f64; N]) -> [f64; N] {
    let mut differences = values;
    for order in 1..N {
        for k in (order..N).rev() {
            differences[k] = (differences[k] - differences[k - 1]) / (places[k] - places[k - order]);
        }
    }
    // Newton's form to powers, from the last factor on
    let mut powers = [0.0; N];
    for k in (0..N).rev() {
        for power in (1..N).rev() {
            powers[power] = powers[power - 1] - places[k] * powers[power];
        }
        powers[0] = differences[k] - places[k] * powers[0];
    }
    powers
}

/// Coefficients of the integral of a polynomial that has a value at a place.
fn integrated(slope: &[f64], place: f64, value: f64, row: &mut [f64]) {
    let mut sum = 0.0;
    for (power, coefficient) in slope.iter().enumerate().rev() {
        row[power + 1] = coefficient / (power + 1) as f64;
        sum = sum * place + row[power + 1];
    }
    row[0] = value - sum * place;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_polynomial_is_fitted_exactly() {
        let places = [0.0, 0.1, 0.3, 0.5, 0.6, 0.8, 1.0];
        let slopes = places.map(|x: f64| 2.0 + 12.0 * x.powi(3) - 7.0 * x.powi(6));
        let mut row = [0.0; 8];
        integrated(&interpolated(places, slopes), 1.0, 5.0, &mut row);
        for (found, wanted) in row.iter().zip([1.0, 2.0, 0.0, 0.0, 3.0, 0.0, 0.0, -1.0]) {
            assert!((found - wanted).abs() < 1e-12, "{row:?}");
        }
    }
}
