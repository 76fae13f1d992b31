//! The choice of instructions when the program starts.

use super::{Scalar, vectorize};
use fearless_simd::{Level, Simd};

/// The instruction sets that a sweep exists for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instructions {
    /// The best of those below that this processor has.
    Best,
    /// At most AVX2 with FMA.
    Avx2,
    /// What every processor of the architecture has: SSE2, NEON.
    Baseline,
}

/// Work in lanes that is compiled for every instruction set.
pub trait Task {
    /// Its result.
    type Output;
    /// What its lanes store.
    type Scalar: Scalar;
    /// Do it; `#[inline(always)]`, or it loses the instructions.
    fn run<S: Simd>(self, simd: S) -> Self::Output;
}

impl Instructions {
    /// Whether single-precision lanes are compiled for them. Not for the x86-64 baseline: processors without AVX2 run
    /// mixed precision in doubles.
    pub fn have_single(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return self != Instructions::Baseline && Level::new().as_avx2().is_some();
        #[cfg(not(target_arch = "x86_64"))]
        true
    }
}

/// The name of the best instructions that this processor has and lanes are compiled for.
pub fn widest() -> &'static str {
    let level = Level::new();
    #[cfg(target_arch = "x86_64")]
    {
        if level.as_avx512().is_some() {
            return "AVX-512";
        }
        if level.as_avx2().is_some() {
            return "AVX2";
        }
    }
    let _ = level;
    "baseline"
}

/// Run the task with the instructions asked for, or fewer where the processor lacks them. Only three variants are
/// compiled: AVX-512, AVX2 and the baseline.
pub fn dispatch<T: Task>(instructions: Instructions, task: T) -> T::Output {
    let level = Level::new();
    #[cfg(target_arch = "x86_64")]
    {
        if let (Instructions::Best, Some(simd)) = (instructions, level.as_avx512()) {
            return vectorize(
                simd,
                #[inline(always)]
                || task.run(simd),
            );
        }
        if let (Instructions::Best | Instructions::Avx2, Some(simd)) = (instructions, level.as_avx2()) {
            return vectorize(
                simd,
                #[inline(always)]
                || task.run(simd),
            );
        }
        match level.as_sse2() {
            Some(simd) => T::Scalar::baseline(simd, task),
            None => unreachable!("x86-64 has SSE2"),
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = instructions;
        fearless_simd::dispatch!(level, simd => task.run(simd))
    }
}
