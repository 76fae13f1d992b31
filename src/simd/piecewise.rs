//! Piecewise polynomials of one variable, evaluated in lanes.
//!
//! The range of the variable x > 0 is cut into intervals, the same number for every factor of 2: the leading
//! bits of x are the number of its interval, the following bits its place in it. An evaluation loads the
//! coefficients of each lane and transposes them.

use super::columns_of_quads;
use super::real::Real;
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x4, f32x16, f64x4, f64x8};

/// Coefficients of an interval in double precision, of the powers 0 to 7 of the place.
pub type DoubleRow = [f64; 8];
/// The same in single precision, powers 0 to 3.
pub type SingleRow = [f32; 4];

/// The intervals of x in one precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Intervals {
    /// First power of 2.
    pub first_exponent: i32,
    /// Number of factors of 2.
    pub octaves: u32,
    /// Base-2 logarithm of the number of intervals per factor of 2.
    pub bits: u32,
}

impl Intervals {
    /// Number of intervals.
    pub const fn count(&self) -> usize {
        (self.octaves as usize) << self.bits
    }

    /// Lower end of an interval; that after the last one is the end of the range.
    pub fn lower(&self, interval: usize) -> f64 {
        let (octave, place) = (interval >> self.bits, interval % (1 << self.bits));
        let scale = 2f64.powi(self.first_exponent + octave as i32);
        scale * (1.0 + place as f64 / f64::from(1u32 << self.bits))
    }
}

/// Several piecewise polynomials over the same range, in both precisions. Values of x outside are moved to
/// its ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Piecewise {
    /// Intervals in double precision.
    pub double: Intervals,
    /// Intervals in single precision.
    pub single: Intervals,
    /// Rows of double precision, polynomial by polynomial.
    pub double_rows: Vec<DoubleRow>,
    /// Rows of single precision.
    pub single_rows: Vec<SingleRow>,
}

/// Value of a polynomial and its derivative, coefficients from the lowest power up.
#[inline(always)]
pub fn horner<R: Real, const N: usize>(coefficients: [R; N], x: R) -> [R; 2] {
    let (mut value, mut slope) = (coefficients[N - 1], R::literal(x.token(), 0.0));
    for k in (0..N - 1).rev() {
        slope = slope.mul_add(x, value);
        value = value.mul_add(x, coefficients[k]);
    }
    [value, slope]
}

macro_rules! scalar {
    ($name:ident, $t:ident, $bits:ident, $intervals:ident, $rows:ident, $mantissa:literal, $bias:literal) => {
        /// Value and derivative of polynomial `number` at x.
        #[inline(always)]
        pub(super) fn $name(x: $t, number: Option<$t>, piecewise: &Piecewise) -> [$t; 2] {
            let Intervals { first_exponent, bits, .. } = piecewise.$intervals;
            let count = piecewise.$intervals.count();
            let lowest = ((first_exponent + $bias) as $bits) << bits;
            let shift = $mantissa - bits;
            let row = (x.to_bits() >> shift).saturating_sub(lowest).min((count - 1) as $bits);
            let base = $t::from_bits((row + lowest) << shift);
            let width = $t::from_bits(((row + lowest) >> bits) << $mantissa) / (1u64 << bits) as $t;
            let end = base + width;
            let place = (x.max(base).min(end) - base) / width;
            let all = &piecewise.$rows;
            let row = number.map_or(0, |number| number as usize) * count + row as usize;
            let coefficients = all.get(row).copied().unwrap_or_default();
            let [value, slope] = horner(coefficients, place);
            [value, slope / width]
        }
    };
}
scalar!(double, f64, u64, double, double_rows, 52, 1023);
scalar!(single, f32, u32, single, single_rows, 23, 127);

macro_rules! lanes {
    ($name:ident, $lanes:ident, $t:ident, $bits:ident, $intervals:ident, $mantissa:literal, $bias:literal, $load:ident, $count:literal) => {
        /// Value and derivative of the polynomials `number` at x.
        #[inline(always)]
        pub(super) fn $name<S: Simd>(
            x: $lanes<S>,
            number: Option<$lanes<S>>,
            piecewise: &Piecewise,
        ) -> [$lanes<S>; 2] {
            let token = x.simd;
            let Intervals { first_exponent, octaves, bits } = piecewise.$intervals;
            let shift = $mantissa - bits;
            let lowest = ((first_exponent + $bias) as $bits) << bits;
            // moved into the range: below its end in the last place
            let lower = $t::from_bits(((first_exponent + $bias) as $bits) << $mantissa);
            let end = $t::from_bits((((first_exponent + $bias) as $bits) + octaves as $bits) << $mantissa);
            let upper = $t::from_bits(end.to_bits() - 1);
            let x = Real::min(Real::max(x, $lanes::splat(token, lower)), $lanes::splat(token, upper));
            let code = x.to_bits();
            let mut rows = (code >> shift) - lowest;
            if let Some(number) = number {
                // the integer is in the low bits
                let magic = (1u64 << $mantissa) as $t;
                let number = (number + $lanes::splat(token, magic)).to_bits() & ((1 << $mantissa) - 1);
                rows += number * (piecewise.$intervals.count() as $bits);
            }
            let one = (1.0 as $t).to_bits();
            let place =
                $lanes::from_bits(((code & ((1 << shift) - 1)) << bits) | one) - $lanes::splat(token, 1.0);
            // 2^(bits - exponent), by exponent arithmetic
            let exponent = code & !((1 << $mantissa) - 1);
            let inverse_width =
                $lanes::from_bits(((2 * $bias as $bits + bits as $bits) << $mantissa) - exponent);
            let [value, slope] = horner($load(token, rows.as_slice(), piecewise), place);
            [value, slope * inverse_width]
        }
    };
}
lanes!(double_lanes, f64x8, f64, u64, double, 52, 1023, load_double, 8);
lanes!(single_lanes, f32x16, f32, u32, single, 23, 127, load_single, 4);

/// Loads the coefficients of 16 intervals and transposes them.
#[inline(always)]
fn load_single<S: Simd>(token: S, rows: &[u32], piecewise: &Piecewise) -> [f32x16<S>; 4] {
    let all = piecewise.single_rows.as_slice();
    columns_of_quads!(
        four_of_single(token, all, &rows[..4]),
        four_of_single(token, all, &rows[4..8]),
        four_of_single(token, all, &rows[8..12]),
        four_of_single(token, all, &rows[12..16])
    )
}

#[inline(always)]
fn four_of_single<S: Simd>(token: S, all: &[SingleRow], rows: &[u32]) -> f32x16<S> {
    let (a, b) = (row_of_single(token, all, rows[0]), row_of_single(token, all, rows[1]));
    let (c, d) = (row_of_single(token, all, rows[2]), row_of_single(token, all, rows[3]));
    a.combine(b).combine(c.combine(d))
}

#[inline(always)]
fn row_of_single<S: Simd>(token: S, all: &[SingleRow], row: u32) -> f32x4<S> {
    const NONE: SingleRow = [0.0; 4];
    f32x4::from_slice(token, all.get(row as usize).unwrap_or(&NONE))
}

/// Loads the coefficients of 8 intervals and transposes them.
#[inline(always)]
fn load_double<S: Simd>(token: S, rows: &[u64], piecewise: &Piecewise) -> [f64x8<S>; 8] {
    let all = piecewise.double_rows.as_slice();
    let [a, b, c, d] = half_of_double(token, all, rows, 0);
    let [e, f, g, h] = half_of_double(token, all, rows, 4);
    [a, b, c, d, e, f, g, h]
}

#[inline(always)]
fn half_of_double<S: Simd>(token: S, all: &[DoubleRow], rows: &[u64], from: usize) -> [f64x8<S>; 4] {
    columns_of_quads!(
        two_of_double(token, all, &rows[..2], from),
        two_of_double(token, all, &rows[2..4], from),
        two_of_double(token, all, &rows[4..6], from),
        two_of_double(token, all, &rows[6..8], from)
    )
}

#[inline(always)]
fn two_of_double<S: Simd>(token: S, all: &[DoubleRow], rows: &[u64], from: usize) -> f64x8<S> {
    quad_of_double(token, all, rows[0], from).combine(quad_of_double(token, all, rows[1], from))
}

#[inline(always)]
fn quad_of_double<S: Simd>(token: S, all: &[DoubleRow], row: u64, from: usize) -> f64x4<S> {
    const NONE: DoubleRow = [0.0; 8];
    f64x4::from_slice(token, &all.get(row as usize).unwrap_or(&NONE)[from..from + 4])
}

#[cfg(test)]
mod tests {
    use super::*;
    use fearless_simd::{Level, dispatch};

    /// Two polynomials: x^2 and 1 / x, by their Taylor series about the lower end of each interval.
    fn example() -> Piecewise {
        let double = Intervals { first_exponent: -3, octaves: 5, bits: 6 };
        let single = Intervals { bits: 8, ..double };
        let taylor = |intervals: Intervals, interval: usize, number: usize, power: usize| {
            let (x, width) =
                (intervals.lower(interval), intervals.lower(interval + 1) - intervals.lower(interval));
            match number {
                0 => [x * x, 2.0 * x * width, width * width].get(power).copied().unwrap_or(0.0),
                _ => (-width / x).powi(power as i32) / x,
            }
        };
        let rows = |intervals: Intervals| {
            (0..2).flat_map(move |number| (0..intervals.count()).map(move |interval| (number, interval)))
        };
        let double_rows = rows(double)
            .map(|(number, interval)| std::array::from_fn(|power| taylor(double, interval, number, power)))
            .collect();
        let single_rows = rows(single)
            .map(|(number, interval)| {
                std::array::from_fn(|power| taylor(single, interval, number, power) as f32)
            })
            .collect();
        Piecewise { double, single, double_rows, single_rows }
    }

    /// Largest relative errors of value and slope: lanes and scalars, double and single.
    #[inline(always)]
    fn worst<S: Simd>(simd: S) -> [f64; 4] {
        let piecewise = example();
        let mut worst = [0f64; 4];
        for k in 0..3000 {
            let number = f64::from(k % 2);
            let x = 0.125 * 1.00115f64.powi(k);
            let truth = |x: f64| if number == 0.0 { [x * x, 2.0 * x] } else { [1.0 / x, -1.0 / (x * x)] };
            let mut record = |slot: usize, found: [f64; 2], truth: [f64; 2]| {
                for (found, truth) in found.into_iter().zip(truth) {
                    worst[slot] = worst[slot].max((found / truth - 1.0).abs());
                }
            };
            let of = |number: f64| f64x8::splat(simd, number);
            let found = double_lanes(of(x), Some(of(number)), &piecewise).map(|lanes| lanes.as_slice()[5]);
            record(0, found, truth(x));
            record(1, double(x, Some(number), &piecewise), truth(x));
            let (x, number) = (x as f32, number as f32);
            let of = |number: f32| f32x16::splat(simd, number);
            let found = single_lanes(of(x), Some(of(number)), &piecewise)
                .map(|lanes| f64::from(lanes.as_slice()[11]));
            record(2, found, truth(f64::from(x)));
            record(3, single(x, Some(number), &piecewise).map(f64::from), truth(f64::from(x)));
        }
        worst
    }

    #[test]
    fn lanes_and_scalars_find_their_intervals() {
        let [double_lanes, double, single_lanes, single] = dispatch!(Level::new(), simd => worst(simd));
        assert!(double_lanes < 3e-12 && double < 3e-12, "{double_lanes:e} {double:e}");
        assert!(single_lanes < 2e-6 && single < 2e-6, "{single_lanes:e} {single:e}");
    }

    #[test]
    fn places_outside_of_the_range_are_moved_to_its_ends() {
        let piecewise = example();
        for x in [0.0, 1e-30, 0.1] {
            assert_eq!(double(x, None, &piecewise)[0], 0.125 * 0.125);
            let lanes = dispatch!(Level::new(), simd => double_lanes(f64x8::splat(simd, x), None, &piecewise)[0].as_slice()[0]);
            assert_eq!(lanes, 0.125 * 0.125);
        }
        for x in [4.0, 1e30] {
            assert!((single(x, None, &piecewise)[0] - 16.0).abs() < 1e-4);
            let lanes = dispatch!(Level::new(), simd => single_lanes(f32x16::splat(simd, x), None, &piecewise)[0].as_slice()[0]);
            assert!((lanes - 16.0).abs() < 1e-4, "{lanes}");
        }
    }
}
