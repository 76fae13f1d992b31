//! Stack frames aligned to cache lines, for functions that spill vectors.

use fearless_simd::Simd;
use std::hint::black_box;
use std::mem::MaybeUninit;

/// One cache line.
#[repr(align(64))]
#[expect(dead_code, reason = "only its alignment is used")]
struct CacheLine([u8; 64]);

/// Runs `work`, which is `#[inline(always)]`, in the caller's function and aligns its stack frame to a cache
/// line.
///
/// Vector registers spill to the stack, which compilers align to 16 bytes unless a local requires more.
/// Spilled vectors would cross cache lines and, depending on the initial stack address, pages: sweeps over
/// ions lost a quarter of their speed in one process out of four.
#[inline(always)]
pub fn aligned<O>(work: impl FnOnce() -> O) -> O {
    // Taking its address keeps the local, and so the alignment of the frame.
    black_box(&MaybeUninit::<CacheLine>::uninit());
    work()
}

/// Runs `work` in a function of its own with the target features of `simd` and an [`aligned`] stack frame.
/// `work` must be `#[inline(always)]`, or it is compiled without these features.
#[inline(always)]
pub fn vectorize<S: Simd, O>(simd: S, work: impl FnOnce() -> O) -> O {
    simd.vectorize(
        #[inline(always)]
        || aligned(work),
    )
}
