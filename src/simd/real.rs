//! Real numbers as laws use them: one scalar, or SIMD lanes. Laws are generic over [`Real`].

use super::piecewise::{self, Piecewise};
use super::rsqrt::{reciprocal_root_double, reciprocal_root_single};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x16, f64x8};
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Sub};

/// A real number: a scalar or a vector of lanes.
pub trait Real:
    Copy
    + std::fmt::Debug
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// Proof that the instruction set of the lanes is supported; `()` for scalars.
    type Token: Copy;
    /// Boolean per lane.
    type Mask: Copy + BitAnd<Output = Self::Mask> + BitOr<Output = Self::Mask>;
    /// Whether lanes are in single precision; polynomials then need fewer terms.
    const SINGLE: bool;

    /// Broadcasts a number to all lanes.
    fn literal(token: Self::Token, value: f64) -> Self;
    /// The token of this number.
    fn token(self) -> Self::Token;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// Minimum (either operand in lanes with NaN).
    fn min(self, other: Self) -> Self;
    /// Maximum (either operand in lanes with NaN).
    fn max(self, other: Self) -> Self;
    /// `self * factor + term`, fused where the processor supports it.
    fn mul_add(self, factor: Self, term: Self) -> Self;
    /// `1 / self` to 3 ulp, for magnitudes between 1e-37 and 1e37.
    fn reciprocal(self) -> Self;
    /// `1 / self.sqrt()` to 3 ulp, for numbers between 1e-37 and 1e37.
    fn reciprocal_root(self) -> Self;
    /// Lanes with `self < other`; false for NaN.
    fn less(self, other: Self) -> Self::Mask;
    /// Lanes with `self <= other`; false for NaN.
    fn less_or_equal(self, other: Self) -> Self::Mask;
    /// `yes` where the mask is set, else `no`. Both are evaluated.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// `2^self` for integers within the exponent range.
    fn power_of_two(self) -> Self;
    /// Exponent and mantissa of a positive normal number: `self = mantissa * 2^exponent`, 1 <= mantissa < 2.
    fn split_exponent(self) -> (Self, Self);
    /// Nearest integer, ties to even.
    fn round(self) -> Self;
    /// Value and derivative of piecewise polynomials at `self` > 0, each lane of its own `number`, or of the
    /// first one.
    fn piecewise(self, number: Option<Self>, polynomials: &Piecewise) -> [Self; 2];

    /// `self^exponent` by repeated squaring.
    #[inline(always)]
    fn power(self, exponent: u32) -> Self {
        let (mut left, mut square) = (exponent, self);
        let mut result = Self::literal(self.token(), 1.0);
        while left > 0 {
            if left & 1 == 1 {
                result = result * square;
            }
            square = square * square;
            left >>= 1;
        }
        result
    }

    /// Polynomial by Horner's scheme, coefficients from the highest power down.
    #[inline(always)]
    fn polynomial(self, coefficients: &[f64]) -> Self {
        let mut sum = Self::literal(self.token(), 0.0);
        for &coefficient in coefficients {
            sum = sum.mul_add(self, Self::literal(self.token(), coefficient));
        }
        sum
    }

    /// Exponential to 4 ulp. Arguments are clamped to the range of normal results.
    ///
    /// x = k ln 2 + r with |r| <= ln 2 / 2, and the Taylor series of exp(r): 8 terms in single precision
    /// (relative remainder 5e-9), 13 in double (2e-16).
    #[inline(always)]
    fn exp(self) -> Self {
        let of = |value| Self::literal(self.token(), value);
        let bound = if Self::SINGLE { 87.0 } else { 708.0 };
        let x = self.min(of(bound)).max(of(-bound));
        let k = (x * of(std::f64::consts::LOG2_E)).round();
        let (high, low) = if Self::SINGLE { LN_2_SINGLE } else { LN_2_DOUBLE };
        let r = k.mul_add(of(-low), k.mul_add(of(-high), x));
        let terms = if Self::SINGLE { &INVERSE_FACTORIALS[5..] } else { INVERSE_FACTORIALS.as_slice() };
        r.polynomial(terms) * k.power_of_two()
    }

    /// Natural logarithm of a positive normal number, to 4 ulp of max(1, |result|).
    ///
    /// x = m 2^k with m between the roots of 1/2 and 2, ln m = 2 artanh((m - 1) / (m + 1)) by its series: 5
    /// terms in single precision (remainder 4e-10), 11 in double (1e-18).
    #[inline(always)]
    fn ln(self) -> Self {
        let of = |value| Self::literal(self.token(), value);
        let (exponent, mantissa) = self.split_exponent();
        let large = of(std::f64::consts::SQRT_2).less(mantissa);
        let m = Self::select(large, mantissa * of(0.5), mantissa);
        let k = Self::select(large, exponent + of(1.0), exponent);
        let z = (m - of(1.0)) / (m + of(1.0));
        let terms = if Self::SINGLE { &INVERSE_ODD[6..] } else { INVERSE_ODD.as_slice() };
        let (high, low) = if Self::SINGLE { LN_2_SINGLE } else { LN_2_DOUBLE };
        k.mul_add(of(high), k.mul_add(of(low), (z + z) * (z * z).polynomial(terms)))
    }
}

/// ln 2 in two parts. The first has trailing zeros, so that its integer multiples are exact in single
/// precision.
const LN_2_SINGLE: (f64, f64) = (0.693359375, -2.121_944_400_546_905_8e-4);
/// The same for double precision (fdlibm's split).
const LN_2_DOUBLE: (f64, f64) = (6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10);

/// 1/12!, ..., 1/1!, 1/0!.
const INVERSE_FACTORIALS: [f64; 13] = {
    let mut terms = [1.0; 13];
    let mut k = 1;
    while k < 13 {
        terms[12 - k] = terms[13 - k] / k as f64;
        k += 1;
    }
    terms
};

/// 1/21, ..., 1/3, 1.
const INVERSE_ODD: [f64; 11] = {
    let mut terms = [1.0; 11];
    let mut k = 0;
    while k < 11 {
        terms[10 - k] = 1.0 / (2 * k + 1) as f64;
        k += 1;
    }
    terms
};

macro_rules! scalar {
    ($t:ident, $bits:ident, $single:literal, $mantissa:literal, $bias:literal, $piecewise:ident) => {
        impl Real for $t {
            type Token = ();
            type Mask = bool;
            const SINGLE: bool = $single;
            #[inline(always)]
            fn literal((): (), value: f64) -> Self {
                value as $t
            }
            #[inline(always)]
            fn token(self) {}
            #[inline(always)]
            fn sqrt(self) -> Self {
                $t::sqrt(self)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                $t::abs(self)
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                $t::min(self, other)
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                $t::max(self, other)
            }
            // Not fused: without FMA instructions a fused multiply-add is a library call.
            #[inline(always)]
            fn mul_add(self, factor: Self, term: Self) -> Self {
                self * factor + term
            }
            #[inline(always)]
            fn reciprocal(self) -> Self {
                1.0 / self
            }
            #[inline(always)]
            fn reciprocal_root(self) -> Self {
                1.0 / $t::sqrt(self)
            }
            #[inline(always)]
            fn less(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn less_or_equal(self, other: Self) -> bool {
                self <= other
            }
            #[inline(always)]
            fn select(mask: bool, yes: Self, no: Self) -> Self {
                if mask { yes } else { no }
            }
            #[inline(always)]
            fn power_of_two(self) -> Self {
                $t::powi(2.0, self as i32)
            }
            #[inline(always)]
            fn split_exponent(self) -> (Self, Self) {
                let bits = self.to_bits();
                let exponent = (bits >> $mantissa) as $t - $bias;
                let mantissa = (bits & ((1 << $mantissa) - 1)) | (1.0 as $t).to_bits();
                (exponent, $t::from_bits(mantissa))
            }
            #[inline(always)]
            fn round(self) -> Self {
                self.round_ties_even()
            }
            #[inline(always)]
            fn piecewise(self, number: Option<Self>, polynomials: &Piecewise) -> [Self; 2] {
                piecewise::$piecewise(self, number, polynomials)
            }
        }
    };
}
scalar!(f64, u64, false, 52, 1023.0, double);
scalar!(f32, u32, true, 23, 127.0, single);

macro_rules! lanes {
    ($lanes:ident, $t:ident, $single:literal, $mantissa:literal, $bias:literal, $mask:ident, $reciprocal:ident, $root:ident, $piecewise:ident) => {
        impl<S: Simd> Real for $lanes<S> {
            type Token = S;
            type Mask = fearless_simd::$mask<S>;
            const SINGLE: bool = $single;
            #[inline(always)]
            fn literal(token: S, value: f64) -> Self {
                Self::splat(token, value as $t)
            }
            #[inline(always)]
            fn token(self) -> S {
                self.simd
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                SimdFloat::sqrt(self)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                SimdBase::abs(self)
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                SimdBase::min(self, other)
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                SimdBase::max(self, other)
            }
            #[inline(always)]
            fn mul_add(self, factor: Self, term: Self) -> Self {
                SimdFloat::mul_add(self, factor, term)
            }
            #[inline(always)]
            fn reciprocal(self) -> Self {
                $reciprocal(self)
            }
            #[inline(always)]
            fn reciprocal_root(self) -> Self {
                $root(self)
            }
            #[inline(always)]
            fn less(self, other: Self) -> Self::Mask {
                self.simd_lt(other)
            }
            #[inline(always)]
            fn less_or_equal(self, other: Self) -> Self::Mask {
                self.simd_le(other)
            }
            #[inline(always)]
            fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
                Select::select(mask, yes, no)
            }
            // Adding 1.5 * 2^mantissa leaves the integer in the low bits of the mantissa.
            #[inline(always)]
            fn power_of_two(self) -> Self {
                let magic = Self::splat(self.simd, 1.5 * (1u64 << $mantissa) as $t + $bias);
                Self::from_bits((self + magic).to_bits() << $mantissa)
            }
            // An integer in the low bits below the exponent of 2^mantissa represents 2^mantissa plus this
            // integer.
            #[inline(always)]
            fn split_exponent(self) -> (Self, Self) {
                let bits = self.to_bits();
                let power = (1u64 << $mantissa) as $t;
                let exponent = Self::from_bits((bits >> $mantissa) | power.to_bits());
                let exponent = exponent - Self::splat(self.simd, power + $bias);
                (exponent, Self::from_bits((bits & ((1 << $mantissa) - 1)) | (1.0 as $t).to_bits()))
            }
            #[inline(always)]
            fn round(self) -> Self {
                self.round_ties_even()
            }
            #[inline(always)]
            fn piecewise(self, number: Option<Self>, polynomials: &Piecewise) -> [Self; 2] {
                piecewise::$piecewise(self, number, polynomials)
            }
        }
    };
}
lanes!(f64x8, f64, false, 52, 1023.0, mask64x8, reciprocal_double, reciprocal_root_double, double_lanes);
lanes!(f32x16, f32, true, 23, 127.0, mask32x16, reciprocal_single, reciprocal_root_single, single_lanes);

// Functions, not closures: code that is not certainly inlined loses the target features of its caller.
#[inline(always)]
fn reciprocal_double<S: Simd>(x: f64x8<S>) -> f64x8<S> {
    // A 14-bit estimate exists where a vector fills one register (AVX-512); elsewhere the estimate is the
    // quotient.
    if size_of::<S::f64s>() < size_of::<f64x8<S>>() {
        return f64x8::splat(x.simd, 1.0) / x;
    }
    // 1 / x = y / (1 - h) = y (1 + h) (1 + h^2) (1 + h^4) ..., where h^4 is below the rounding error.
    let y = x.approximate_recip();
    let h = Real::mul_add(-x, y, f64x8::splat(x.simd, 1.0));
    let twice = Real::mul_add(y, h, y);
    Real::mul_add(twice, h * h, twice)
}

// One Newton step doubles the 12 bits of the processor's estimate. Arm's estimate has 8 bits and needs two
// steps.
#[inline(always)]
fn reciprocal_single<S: Simd>(x: f32x16<S>) -> f32x16<S> {
    let gather_two = f32x16::splat(x.simd, 2.0);
    let mut y = x.approximate_recip();
    if cfg!(target_arch = "aarch64") {
        y = y * Real::mul_add(-x, y, gather_two);
    }
    y * Real::mul_add(-x, y, gather_two)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fearless_simd::{Level, dispatch};

    #[inline(always)]
    fn worst<S: Simd>(simd: S) -> [f64; 9] {
        let mut worst = [0f64; 9];
        for k in 0..4000 {
            let x = -30.0 + 0.015 * f64::from(k) + 1e-3;
            let relative = |value: f64, truth: f64| ((value - truth) / truth).abs();
            let widened = f64x8::splat(simd, x);
            worst[0] = worst[0].max(relative(Real::exp(widened).as_slice()[3], x.exp()));
            let single = f32x16::splat(simd, x as f32);
            worst[1] =
                worst[1].max(relative(f64::from(Real::exp(single).as_slice()[3]), f64::from(x as f32).exp()));
            let y = x.exp();
            let error = |value: f64, truth: f64| (value - truth).abs() / truth.abs().max(1.0);
            worst[2] = worst[2].max(error(Real::ln(f64x8::splat(simd, y)).as_slice()[1], y.ln()));
            let single = f32x16::splat(simd, y as f32);
            worst[3] =
                worst[3].max(error(f64::from(Real::ln(single).as_slice()[1]), f64::from(y as f32).ln()));
            let inverse = f64::from(Real::reciprocal(single).as_slice()[0]);
            worst[4] = worst[4].max(relative(inverse, 1.0 / f64::from(y as f32)));
            let inverse = Real::reciprocal(f64x8::splat(simd, y)).as_slice()[7];
            worst[6] = worst[6].max(relative(inverse, 1.0 / y));
            let root = f64::from(Real::reciprocal_root(single).as_slice()[9]);
            worst[7] = worst[7].max(relative(root, 1.0 / f64::from(y as f32).sqrt()));
            let root = Real::reciprocal_root(f64x8::splat(simd, y)).as_slice()[2];
            worst[8] = worst[8].max(relative(root, 1.0 / y.sqrt()));
            worst[5] = worst[5].max(relative(Real::exp(x), x.exp())).max(error(Real::ln(y), y.ln()));
        }
        worst
    }

    #[test]
    fn functions_keep_their_errors() {
        let [exp64, exp32, ln64, ln32, reciprocal, scalar, reciprocal64, root32, root64] =
            dispatch!(Level::new(), simd => worst(simd));
        assert!(root32 < 4e-7 && root64 < 7e-16, "reciprocal root {root32:e} {root64:e}");
        assert!(exp64 < 1e-15 && exp32 < 5e-7, "exp {exp64:e} {exp32:e}");
        assert!(ln64 < 1e-15 && ln32 < 5e-7, "ln {ln64:e} {ln32:e}");
        assert!(reciprocal64 < 7e-16, "reciprocal {reciprocal64:e}");
        assert!(reciprocal < 4e-7 && scalar < 1e-15, "reciprocal {reciprocal:e} scalar {scalar:e}");
    }

    #[test]
    fn exponential_of_zero_is_one() {
        assert_eq!(dispatch!(Level::new(), simd => Real::exp(f32x16::splat(simd, 0.0)).as_slice()[7]), 1.0);
        assert_eq!(Real::exp(0f64), 1.0);
        assert_eq!(Real::power(3f64, 5), 243.0);
    }
}
