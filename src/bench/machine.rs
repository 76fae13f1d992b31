//! Machine limits: clock rate, peak arithmetic, rates of caches and memory, and resets of memory counters.

use std::hint::black_box;
use std::time::Instant;

use crate::pair::Precision;
use fearless_simd::{Level, Simd, dispatch, f32x16, f64x8, prelude::*};
use rayon::prelude::*;

/// Number of repetitions; the best counts, because disturbances only slow a core down.
const REPEATS: usize = 5;

/// Measures the clock rate of this core (Hz) under scalar work: a chain of dependent shifts and exclusive
/// ors, one cycle each.
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

/// Measures the peak floating-point rate of this core (operations per second): independent fused
/// multiply-adds in registers, counted as two operations each.
pub fn peak(precision: Precision) -> f64 {
    let level = Level::new();
    match precision {
        Precision::Mixed => best(|| dispatch!(level, simd => fused_single(simd))),
        Precision::Double => best(|| dispatch!(level, simd => fused_double(simd))),
    }
}

/// Measures how many sums in the first-level cache this core adds to (per second): each vector of sums is
/// loaded, changed by a fused multiply-add, and stored.
pub fn cached_sums(precision: Precision) -> f64 {
    let level = Level::new();
    match precision {
        Precision::Mixed => best(|| dispatch!(level, simd => cached_single(simd))),
        Precision::Double => best(|| dispatch!(level, simd => cached_double(simd))),
    }
}

/// Measures the rate of a copy by all threads (bytes per second, read and written ones) whose source and
/// destination have `bytes` together. Caches that hold them deliver them.
pub fn copied(bytes: usize) -> f64 {
    /// Each repetition copies at least as many bytes: the start of threads then takes little of its time.
    const LEAST: usize = 1 << 26;
    const MOST: usize = 1 << 30;
    let half = (bytes.min(MOST) / 2).max(1 << 12);
    let (from, mut to) = (vec![1u8; half], vec![0u8; half]);
    let of_thread = half.div_ceil(rayon::current_num_threads());
    let rounds = (LEAST / 2).div_ceil(half);
    best(|| {
        to.par_chunks_mut(of_thread).zip(from.par_chunks(of_thread)).for_each(|(to, from)| {
            for _ in 0..rounds {
                black_box(&mut *to).copy_from_slice(black_box(from));
            }
        });
        (2 * half * rounds) as f64
    })
}

/// Returns the highest rate over the repetitions; `task` returns its number of operations.
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
        /// Runs enough independent chains of fused multiply-adds to hide their latency, and few enough to fit
        /// the register file. Returns the number of operations.
        #[inline(always)]
        fn $name<S: Simd>(simd: S) -> f64 {
            const ROUNDS: u32 = 1 << 16;
            // With full-width vector registers, a vector takes half as many registers, and twice as many
            // exist.
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

macro_rules! cached {
    ($name:ident, $lanes:ident, $scalar:ident, $count:literal) => {
        /// Adds to sums of 16 KiB, which the first-level caches of all processors hold. Returns the number of
        /// additions.
        #[inline(always)]
        fn $name<S: Simd>(simd: S) -> f64 {
            const ROUNDS: usize = 1 << 10;
            const COUNT: usize = (16 << 10) / size_of::<$scalar>();
            let factor = $lanes::splat(simd, black_box(0.5 as $scalar));
            let mut sums = [1.0 as $scalar; COUNT];
            for _ in 0..ROUNDS {
                for vector in sums.chunks_exact_mut($count) {
                    factor.mul_add(factor, $lanes::from_slice(simd, vector)).store_slice(vector);
                }
                black_box(&mut sums);
            }
            (ROUNDS * COUNT) as f64
        }
    };
}

cached!(cached_single, f32x16, f32, 16);
cached!(cached_double, f64x8, f64, 8);

/// Releases free memory to the system and resets [`crate::memory::peak`], if the system supports it.
/// Otherwise the peak remains that since the start of the process.
pub fn reset_peak_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: malloc_trim takes the allocator's own locks.
    unsafe {
        libc::malloc_trim(0);
    }
    // Writing 5 resets the peak to the current value, see proc(5); systems without it keep the old peak.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Returns the CPU time of this process over all threads (s); NaN if the system does not report it.
pub fn processor_seconds() -> f64 {
    #[cfg(unix)]
    {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the pointer is valid for writes.
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
        for (peak, precision) in [(single, Precision::Mixed), (double, Precision::Double)] {
            let cached = cached_sums(precision);
            // a fused multiply-add is two operations; without optimization loads and stores cost more
            assert!(cached > 1e-3 * peak && cached < 0.75 * peak, "{cached:e} {peak:e}");
        }
    }

    #[test]
    fn caches_copy_at_least_about_as_fast_as_memory() {
        let [small, large] = [1 << 14, 1 << 27].map(copied);
        assert!((1e8..1e13).contains(&small) && (1e8..1e13).contains(&large), "{small:e} {large:e}");
        assert!(small > 0.2 * large, "{small:e} {large:e}");
    }
}
