//! Lines of the cache that are about to be written. A store to a line that another core has read waits until that core has given it up,
//! and few stores wait at once; asked for beforehand, lines come side by side.

/// Bytes of a line.
const LINE: usize = 64;

/// Ask for the lines of so many values from an address on, to write them. Nothing is changed, and it may be any address.
#[inline(always)]
pub(crate) fn claim<T>(first: *const T, count: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..count * size_of::<T>()).step_by(LINE) {
        let address = first.wrapping_byte_add(line);
        // SAFETY: a hint, which changes nothing and never fails.
        unsafe {
            std::arch::asm!("prefetchw [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (first, count, LINE);
}
