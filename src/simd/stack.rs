//! Functions of lanes, whose vectors on the stack each lie in one line of the cache.

use fearless_simd::Simd;
use std::hint::black_box;
use std::mem::MaybeUninit;

/// A line of the cache.
#[repr(align(64))]
#[expect(dead_code, reason = "nobody reads it")]
struct Line([u8; 64]);

/// Do some work, `#[inline(always)]`, in the caller's function.
///
/// That function's frame begins with a line of the cache. What registers have no room for goes to the stack, of which the compiler
/// promises only 16 bytes of alignment where nothing of a function asks for more: vectors would lie across two lines, and where the
/// stack happens to begin so also across two pages, which cost ions a quarter of their speed in one process of four.
#[inline(always)]
pub fn aligned<O>(work: impl FnOnce() -> O) -> O {
    // who sees its address keeps it, and so the frame's alignment
    black_box(&MaybeUninit::<Line>::uninit());
    work()
}

/// Do some work in a function of its own that has the instructions of `simd`, with a frame that is [`aligned`]. `work` is
/// `#[inline(always)]`, or it loses them.
#[inline(always)]
pub fn vectorize<S: Simd, O>(simd: S, work: impl FnOnce() -> O) -> O {
    simd.vectorize(
        #[inline(always)]
        || aligned(work),
    )
}
