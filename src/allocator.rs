//! Retention and release of freed memory by the system allocator.
//!
//! Every pass allocates new arrays. Returning their memory to the system in between costs a page fault per 4
//! KiB, up to a tenth of a step, hence freed memory is retained. Retained memory fragments, however: the
//! process may grow beyond its peak use. [`give_back`] releases unused memory where a step changes from many
//! arrays to few large ones, and at its end.

/// Process size below which nothing is released (bytes): it does not fill a machine.
const SMALL: usize = 64 << 20;

/// Makes the allocator retain freed memory, except for the largest arrays. Must be called before other
/// threads exist.
pub fn keep() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const LARGEST_KEPT: libc::c_int = 32 << 20;
        // SAFETY: these calls set two parameters of the allocator, before any other thread exists.
        unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, LARGEST_KEPT);
            libc::mallopt(libc::M_TRIM_THRESHOLD, libc::c_int::MAX);
        }
    }
}

/// Releases retained free memory to the system, if the process holds enough bytes (`held`) for it to matter.
pub fn give_back(held: usize) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if held >= SMALL {
        // SAFETY: the call takes the allocator's own locks and does not move memory in use.
        unsafe { libc::malloc_trim(0) };
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = (held, SMALL);
}
