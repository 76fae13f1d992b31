//! Reciprocal square roots by Newton iteration from the processor's estimates, where it has them.

use fearless_simd::{Simd, f32x16, f64x8, prelude::*};

#[cfg(target_arch = "x86_64")]
mod estimates {
    use core::arch::x86_64::{_mm256_rsqrt_ps, _mm512_rsqrt14_pd, _mm512_rsqrt14_ps};
    use fearless_simd::{Avx2, Avx512, f32x8, f32x16, f64x8, kernel, prelude::*};

    kernel!(
        /// 1 / sqrt(x) to 14 bits.
        #[inline(always)]
        pub(crate) fn estimate_single(token: Avx512, x: f32x16<Avx512>) -> f32x16<Avx512> {
            _mm512_rsqrt14_ps(x.into()).simd_into(token)
        }
    );
    kernel!(
        /// 1 / sqrt(x) to 14 bits.
        #[inline(always)]
        pub(crate) fn estimate_double(token: Avx512, x: f64x8<Avx512>) -> f64x8<Avx512> {
            _mm512_rsqrt14_pd(x.into()).simd_into(token)
        }
    );
    kernel!(
        /// 1 / sqrt(x) to 11 bits.
        #[inline(always)]
        pub(crate) fn estimate_half(token: Avx2, x: f32x8<Avx2>) -> f32x8<Avx2> {
            _mm256_rsqrt_ps(x.into()).simd_into(token)
        }
    );
}

#[cfg(target_arch = "x86_64")]
pub(crate) use estimates::{estimate_double, estimate_half, estimate_single};

/// One Newton step for 1 / sqrt(x): doubles the number of correct digits of `y`.
#[inline(always)]
fn refine<S: Simd, V: SimdFloat<S>>(x: V, y: V, half: V, one: V) -> V {
    (y * half).mul_add((-(x * y)).mul_add(y, one), y)
}

/// 1 / sqrt(x) to 2 ulp. Unspecified where x is not a positive normal number.
#[inline(always)]
pub(crate) fn reciprocal_root_single<S: Simd>(x: f32x16<S>) -> f32x16<S> {
    let simd = x.simd;
    let (half, one) = (f32x16::splat(simd, 0.5), f32x16::splat(simd, 1.0));
    #[cfg(target_arch = "x86_64")]
    {
        // Resolved at compile time: the level of S is a constant.
        if let Some(token) = simd.level().as_avx512() {
            let y = estimate_single(token, f32x16::from_slice(token, x.as_slice()));
            return refine(x, f32x16::from_slice(simd, y.as_slice()), half, one);
        }
        if let Some(token) = simd.level().as_avx2() {
            let (low, high) = f32x16::from_slice(token, x.as_slice()).split();
            let y = estimate_half(token, low).combine(estimate_half(token, high));
            return refine(x, f32x16::from_slice(simd, y.as_slice()), half, one);
        }
    }
    one / x.sqrt()
}

/// 1 / sqrt(x) to 2 ulp. Unspecified where x is not a positive normal number.
#[inline(always)]
pub(crate) fn reciprocal_root_double<S: Simd>(x: f64x8<S>) -> f64x8<S> {
    let simd = x.simd;
    let (half, one) = (f64x8::splat(simd, 0.5), f64x8::splat(simd, 1.0));
    #[cfg(target_arch = "x86_64")]
    if let Some(token) = simd.level().as_avx512() {
        let y = estimate_double(token, f64x8::from_slice(token, x.as_slice()));
        let y = refine(x, f64x8::from_slice(simd, y.as_slice()), half, one);
        return refine(x, y, half, one);
    }
    one / x.sqrt()
}
