//! SIMD support of the gravity kernels beyond portable operations: reciprocal square root, and run-time
//! choice of the instruction set (AVX-512, AVX2, or the target's baseline).
use super::split::{MOST_NEAR_TERMS, MOST_TERMS, ORDERS};
use fearless_simd::{Simd, SimdFloat, f32x16, f64x8, prelude::*};

/// Element type of a vector.
pub(crate) trait Scalar: Copy + Default + Send + Sync + 'static {
    /// Degrees of the polynomials of [`super::split::LongRangePart`].
    const SPLIT_DEGREES: [usize; ORDERS];
    /// Degree of its polynomials for near sources.
    const NEAR_DEGREE: usize;
    /// Rounds from double precision.
    fn of(value: f64) -> Self;
    /// Converts to double precision.
    fn wide(self) -> f64;
}

impl Scalar for f32 {
    const SPLIT_DEGREES: [usize; ORDERS] = [8, 8, 6, 6, 6];
    const NEAR_DEGREE: usize = 3;
    #[inline(always)]
    fn of(value: f64) -> Self {
        value as f32
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
}

impl Scalar for f64 {
    const SPLIT_DEGREES: [usize; ORDERS] = [MOST_TERMS - 1; ORDERS];
    const NEAR_DEGREE: usize = MOST_NEAR_TERMS - 1;
    #[inline(always)]
    fn of(value: f64) -> Self {
        value
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
}

/// An instruction set with a reciprocal square root for `f32x16` and `f64x8`.
///
/// Functions return twice the root: this saves the multiplication by one half in the last Newton step.
pub(crate) trait ReciprocalSqrt: Simd {
    /// 2 / sqrt(x) to two units in the last place; unspecified where x is 0.
    fn twice_rsqrt_single(self, x: f32x16<Self>) -> f32x16<Self>;
    /// 2 / sqrt(x) to two units in the last place; unspecified where x is 0.
    fn twice_rsqrt_double(self, x: f64x8<Self>) -> f64x8<Self>;
}

/// A vector in single or double precision.
pub(crate) trait Lane<S: ReciprocalSqrt>: SimdFloat<S, Element: Scalar> {
    /// 2 / sqrt(x); unspecified where x <= 0.
    fn twice_rsqrt(self) -> Self;

    /// 2 / sqrt(x), 0 where x <= 0.
    #[inline(always)]
    fn twice_rsqrt_or_zero(self) -> Self {
        let zero = Self::splat(self.token(), Self::Element::default());
        self.simd_gt(zero).select(self.twice_rsqrt(), zero)
    }
}

impl<S: ReciprocalSqrt> Lane<S> for f32x16<S> {
    #[inline(always)]
    fn twice_rsqrt(self) -> Self {
        self.token().twice_rsqrt_single(self)
    }
}

impl<S: ReciprocalSqrt> Lane<S> for f64x8<S> {
    #[inline(always)]
    fn twice_rsqrt(self) -> Self {
        self.token().twice_rsqrt_double(self)
    }
}

/// Square root and division, for instruction sets without a useful estimate.
macro_rules! exact_roots {
    ($($set:ty),*) => {$(
        impl ReciprocalSqrt for $set {
            #[inline(always)]
            fn twice_rsqrt_single(self, x: f32x16<Self>) -> f32x16<Self> {
                f32x16::splat(self, 2.0) / x.sqrt()
            }
            #[inline(always)]
            fn twice_rsqrt_double(self, x: f64x8<Self>) -> f64x8<Self> {
                f64x8::splat(self, 2.0) / x.sqrt()
            }
        }
    )*};
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::*;
    use crate::simd::rsqrt::{estimate_double, estimate_half, estimate_single};
    use fearless_simd::{Avx2, Avx512, Sse2};

    /// One Newton step for 1 / sqrt(x), times two. It doubles the number of correct digits of `y`.
    #[inline(always)]
    fn newton_step<S: Simd, V: SimdFloat<S>>(x: V, y: V, three: V) -> V {
        y * (-(x * y)).mul_add(y, three)
    }

    impl ReciprocalSqrt for Avx512 {
        #[inline(always)]
        fn twice_rsqrt_single(self, x: f32x16<Self>) -> f32x16<Self> {
            newton_step(x, estimate_single(self, x), f32x16::splat(self, 3.0))
        }
        #[inline(always)]
        fn twice_rsqrt_double(self, x: f64x8<Self>) -> f64x8<Self> {
            let three = f64x8::splat(self, 3.0);
            let y = newton_step(x, estimate_double(self, x), three) * 0.5;
            newton_step(x, y, three)
        }
    }

    impl ReciprocalSqrt for Avx2 {
        #[inline(always)]
        fn twice_rsqrt_single(self, x: f32x16<Self>) -> f32x16<Self> {
            let (low, high) = x.split();
            let y = estimate_half(self, low).combine(estimate_half(self, high));
            newton_step(x, y, f32x16::splat(self, 3.0))
        }
        #[inline(always)]
        fn twice_rsqrt_double(self, x: f64x8<Self>) -> f64x8<Self> {
            f64x8::splat(self, 2.0) / x.sqrt()
        }
    }

    exact_roots!(Sse2);
}

#[cfg(target_arch = "aarch64")]
exact_roots!(fearless_simd::Neon);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
exact_roots!(fearless_simd::Fallback);

/// Evaluates `$body` with its features enabled and `$simd` bound to the token of the best instruction set
/// that implements [`ReciprocalSqrt`]. Only these sets are compiled, because the kernels are long.
macro_rules! with_lanes {
    ($simd:ident => $body:expr) => {{
        let level = fearless_simd::Level::new();
        #[cfg(target_arch = "x86_64")]
        {
            if let Some($simd) = level.as_avx512() {
                $crate::simd::vectorize(
                    $simd,
                    #[inline(always)]
                    || $body,
                )
            } else if let Some($simd) = level.as_avx2() {
                $crate::simd::vectorize(
                    $simd,
                    #[inline(always)]
                    || $body,
                )
            } else if let Some($simd) = level.as_sse2() {
                $crate::simd::vectorize(
                    $simd,
                    #[inline(always)]
                    || $body,
                )
            } else {
                unreachable!("every x86-64 processor has SSE2")
            }
        }
        #[cfg(target_arch = "aarch64")]
        {
            let Some($simd) = level.as_neon() else { unreachable!("every 64-bit ARM processor has NEON") };
            $crate::simd::vectorize(
                $simd,
                #[inline(always)]
                || $body,
            )
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        {
            let _ = level;
            let $simd = fearless_simd::Fallback::new();
            $crate::simd::vectorize(
                $simd,
                #[inline(always)]
                || $body,
            )
        }
    }};
}
pub(crate) use with_lanes;

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(always)]
    fn check<S: ReciprocalSqrt>(simd: S) {
        for exponent in -60..60 {
            let x: f64 = 1.37 * f64::from(exponent).exp2();
            let single = f32x16::splat(simd, x as f32).twice_rsqrt()[3];
            assert!((f64::from(single) * 0.5 * x.sqrt() - 1.0).abs() < 2.5e-7, "{exponent} {single}");
            let double = f64x8::splat(simd, x).twice_rsqrt()[5];
            assert!((double * 0.5 * x.sqrt() - 1.0).abs() < 1e-15, "{exponent} {double}");
        }
        assert_eq!(f32x16::splat(simd, 0.0).twice_rsqrt_or_zero()[0], 0.0);
        assert_eq!(f64x8::splat(simd, 0.0).twice_rsqrt_or_zero()[0], 0.0);
    }

    #[test]
    fn roots_are_right_on_every_instruction_set() {
        with_lanes!(simd => check(simd));
        #[cfg(target_arch = "x86_64")]
        {
            let level = fearless_simd::Level::new();
            if let Some(simd) = level.as_avx2() {
                simd.vectorize(|| check(simd));
            }
            if let Some(simd) = level.as_sse2() {
                simd.vectorize(|| check(simd));
            }
        }
    }
}
