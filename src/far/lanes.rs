//! What the gravity kernels need of vectors beyond the portable operations: the reciprocal square root, and the choice
//! of the instruction set at run time (AVX-512, AVX2, or what the target has anyway).
use fearless_simd::{Simd, SimdFloat, f32x16, f64x8, prelude::*};

/// A floating-point number that lanes are made of.
pub(crate) trait Scalar: Copy + Default + Send + Sync {
    /// Rounded from double precision.
    fn of(value: f64) -> Self;
    /// In double precision.
    fn wide(self) -> f64;
}

impl Scalar for f32 {
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
/// It is twice the root that the last step of Newton's iteration gives without a multiplication by one half.
pub(crate) trait Roots: Simd {
    /// 2 / sqrt(x) to two units in the last place; anything where x is 0.
    fn twice_root_single(self, x: f32x16<Self>) -> f32x16<Self>;
    /// 2 / sqrt(x) to two units in the last place; anything where x is 0.
    fn twice_root_double(self, x: f64x8<Self>) -> f64x8<Self>;
}

/// A vector of lanes in one of the two precisions.
pub(crate) trait Lane<S: Roots>: SimdFloat<S, Element: Scalar> {
    /// 2 / sqrt(x); anything where x <= 0.
    fn twice_reciprocal_root(self) -> Self;

    /// 2 / sqrt(x), 0 where x <= 0.
    #[inline(always)]
    fn twice_reciprocal_root_or_zero(self) -> Self {
        let zero = Self::splat(self.token(), Self::Element::default());
        self.simd_gt(zero).select(self.twice_reciprocal_root(), zero)
    }
}

impl<S: Roots> Lane<S> for f32x16<S> {
    #[inline(always)]
    fn twice_reciprocal_root(self) -> Self {
        self.token().twice_root_single(self)
    }
}

impl<S: Roots> Lane<S> for f64x8<S> {
    #[inline(always)]
    fn twice_reciprocal_root(self) -> Self {
        self.token().twice_root_double(self)
    }
}

/// Roots by division, for instruction sets without an estimate worth using.
macro_rules! exact_roots {
    ($($set:ty),*) => {$(
        impl Roots for $set {
            #[inline(always)]
            fn twice_root_single(self, x: f32x16<Self>) -> f32x16<Self> {
                f32x16::splat(self, 2.0) / x.sqrt()
            }
            #[inline(always)]
            fn twice_root_double(self, x: f64x8<Self>) -> f64x8<Self> {
                f64x8::splat(self, 2.0) / x.sqrt()
            }
        }
    )*};
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::*;
    use crate::pair::roots::{estimate_double, estimate_half, estimate_single};
    use fearless_simd::{Avx2, Avx512, Sse2};

    /// One step of Newton's iteration for 1 / sqrt(x), which doubles the number of right digits of `y`; twice the result.
    #[inline(always)]
    fn refine<S: Simd, V: SimdFloat<S>>(x: V, y: V, three: V) -> V {
        y * (-(x * y)).mul_add(y, three)
    }

    impl Roots for Avx512 {
        #[inline(always)]
        fn twice_root_single(self, x: f32x16<Self>) -> f32x16<Self> {
            refine(x, estimate_single(self, x), f32x16::splat(self, 3.0))
        }
        #[inline(always)]
        fn twice_root_double(self, x: f64x8<Self>) -> f64x8<Self> {
            let three = f64x8::splat(self, 3.0);
            let y = refine(x, estimate_double(self, x), three) * 0.5;
            refine(x, y, three)
        }
    }

    impl Roots for Avx2 {
        #[inline(always)]
        fn twice_root_single(self, x: f32x16<Self>) -> f32x16<Self> {
            let (low, high) = x.split();
            let y = estimate_half(self, low).combine(estimate_half(self, high));
            refine(x, y, f32x16::splat(self, 3.0))
        }
        #[inline(always)]
        fn twice_root_double(self, x: f64x8<Self>) -> f64x8<Self> {
            f64x8::splat(self, 2.0) / x.sqrt()
        }
    }

    exact_roots!(Sse2);
}

#[cfg(target_arch = "aarch64")]
exact_roots!(fearless_simd::Neon);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
exact_roots!(fearless_simd::Fallback);

/// Evaluate `$body` with `$simd` bound to the token of the best instruction set that [`Roots`] knows, with its
/// features enabled. Only these are compiled: the kernels are long.
macro_rules! with_lanes {
    ($simd:ident => $body:expr) => {{
        let level = fearless_simd::Level::new();
        #[cfg(target_arch = "x86_64")]
        {
            if let Some($simd) = level.as_avx512() {
                $crate::pair::lane::vectorize(
                    $simd,
                    #[inline(always)]
                    || $body,
                )
            } else if let Some($simd) = level.as_avx2() {
                $crate::pair::lane::vectorize(
                    $simd,
                    #[inline(always)]
                    || $body,
                )
            } else if let Some($simd) = level.as_sse2() {
                $crate::pair::lane::vectorize(
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
            $crate::pair::lane::vectorize(
                $simd,
                #[inline(always)]
                || $body,
            )
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        {
            let _ = level;
            let $simd = fearless_simd::Fallback::new();
            $crate::pair::lane::vectorize(
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
    fn check<S: Roots>(simd: S) {
        for exponent in -60..60 {
            let x: f64 = 1.37 * f64::from(exponent).exp2();
            let single = f32x16::splat(simd, x as f32).twice_reciprocal_root()[3];
            assert!((f64::from(single) * 0.5 * x.sqrt() - 1.0).abs() < 2.5e-7, "{exponent} {single}");
            let double = f64x8::splat(simd, x).twice_reciprocal_root()[5];
            assert!((double * 0.5 * x.sqrt() - 1.0).abs() < 1e-15, "{exponent} {double}");
        }
        assert_eq!(f32x16::splat(simd, 0.0).twice_reciprocal_root_or_zero()[0], 0.0);
        assert_eq!(f64x8::splat(simd, 0.0).twice_reciprocal_root_or_zero()[0], 0.0);
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
