//! Runtime dispatch to an instruction set.

use super::{Scalar, vectorize};
use fearless_simd::{Level, Simd};

/// Instruction sets that sweeps are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instructions {
    /// The best of the following that this processor supports.
    Best,
    /// At most AVX2 with FMA.
    Avx2,
    /// What every processor of the architecture supports: SSE2, NEON.
    Baseline,
}

/// A SIMD task, compiled for every instruction set.
pub trait Task {
    /// Result of the task.
    type Output;
    /// Element type of its lanes.
    type Scalar: Scalar;
    /// Runs the task. Must be `#[inline(always)]`, or it is compiled without the instruction set's target
    /// features.
    fn run<S: Simd>(self, simd: S) -> Self::Output;
}

impl Instructions {
    /// Whether single-precision lanes are compiled for these instructions. They are not for the x86-64
    /// baseline: processors without AVX2 run mixed precision in doubles.
    pub fn have_single(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return self != Instructions::Baseline && Level::new().as_avx2().is_some();
        #[cfg(not(target_arch = "x86_64"))]
        true
    }
}

/// Name of the best instruction set that this processor supports and lanes are compiled for.
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

/// Runs the task with the requested instructions, or the best supported ones below them. Only three variants
/// are compiled: AVX-512, AVX2 and the baseline.
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
