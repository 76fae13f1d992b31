//! Prefetch for writing: `prefetchw` fetches cache lines in exclusive state, so that stores do not stall on
//! lines that another core has read.

/// Bytes of a cache line.
const LINE: usize = 64;

/// Prefetches the cache lines of `count` values from `first` on for writing. A hint: any address is allowed.
#[inline(always)]
pub(crate) fn prefetch_for_write<T>(first: *const T, count: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..count * size_of::<T>()).step_by(LINE) {
        let address = first.wrapping_byte_add(line);
        // SAFETY: prefetchw changes no memory and never faults.
        unsafe {
            std::arch::asm!("prefetchw [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (first, count, LINE);
}
