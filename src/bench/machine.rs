//! What the machine does at best: its clock, its arithmetic, its memory.

use std::hint::black_box;
use std::time::Instant;

use crate::pair::Precision;
use fearless_simd::{Level, Simd, dispatch, f32x16, f64x8, prelude::*};

/// How often each is measured; the best counts, as a core can be slower than it is but not faster.
const REPEATS: usize = 5;

/// Cycles per second of this core under scalar work: from a chain of shifts and exclusive ors, each of which waits for the one before and
/// takes a cycle.
pub fn clock() -> f64 {
    const ROUNDS: u32 = 1 << 20;
    best(|| {
        let mut x = black_box(88_172_645_463_325_252u64);
        for _ in 0..ROUNDS {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
        }
        black_box(x);
        6.0 * f64::from(ROUNDS)
    })
}

/// Most operations per second of this core, a fused multiply-add counted as two: measured with independent ones on lanes
/// in registers.
pub fn peak(precision: Precision) -> f64 {
    let level = Level::new();
    match precision {
        Precision::Mixed => best(|| dispatch!(level, simd => fused_single(simd))),
        Precision::Double => best(|| dispatch!(level, simd => fused_double(simd))),
    }
}

/// The most per second over the repeats of what counts itself.
fn best(mut task: impl FnMut() -> f64) -> f64 {
    let rate = |_| {
        let start = Instant::now();
        let done = task();
        done / start.elapsed().as_secs_f64()
    };
    (0..REPEATS).map(rate).fold(0.0, f64::max)
}

macro_rules! fused {
    ($name:ident, $lanes:ident, $scalar:ident, $count:literal) => {
        /// Chains of fused multiply-adds, as many as hide how long each takes and fit the registers; returns the operations.
        #[inline(always)]
        fn $name<S: Simd>(simd: S) -> f64 {
            const ROUNDS: u32 = 1 << 16;
            // half as many registers are needed where a vector is one of them, and twice as many are there
            if size_of::<S::f32s>() == 64 {
                chains!($lanes, $scalar, simd, 12, ROUNDS);
                return f64::from(2 * 12 * $count * ROUNDS);
            }
            chains!($lanes, $scalar, simd, 6, ROUNDS);
            f64::from(2 * 6 * $count * ROUNDS)
        }
    };
}

macro_rules! chains {
    ($lanes:ident, $scalar:ident, $simd:ident, $chains:literal, $rounds:ident) => {
        let factor = $lanes::splat($simd, black_box(0.5 as $scalar));
        let mut sums = [factor; $chains];
        for sum in &mut sums {
            *sum = $lanes::splat($simd, black_box(1.0 as $scalar));
        }
        for _ in 0..$rounds {
            for sum in &mut sums {
                *sum = sum.mul_add(factor, factor);
            }
        }
        for sum in sums {
            black_box(sum.as_slice()[0]);
        }
    };
}

fused!(fused_single, f32x16, f32, 16);
fused!(fused_double, f64x8, f64, 8);

/// Give memory that is free back to the system and count [`crate::memory::peak`] anew, where the system lets us; elsewhere the peak is that since
/// the start of the process.
pub fn forget_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the allocator looks after itself.
    unsafe {
        libc::malloc_trim(0);
    }
    // 5 sets the peak to what is held now, see proc(5); a system without it keeps the old peak
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Seconds that processors have worked for this process, all threads together; NaN where the system does not tell.
pub fn processor_seconds() -> f64 {
    #[cfg(unix)]
    {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the time is ours to write to.
        if unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) } == 0 {
            return time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9;
        }
    }
    f64::NAN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_is_as_fast_as_cores_are() {
        let clock = clock();
        assert!((2e8..1e10).contains(&clock), "{clock:e}");
        let (single, double) = (peak(Precision::Mixed), peak(Precision::Double));
        assert!(single > 0.5 * clock && double > 0.3 * clock, "{single:e} {double:e} {clock:e}");
        assert!(single < 300.0 * clock && double < 150.0 * clock, "{single:e} {double:e} {clock:e}");
    }
}
