//! What the system's allocator does with memory that is freed.
//!
//! Every pass allocates its arrays anew. To give them back to the system in between costs a page fault for every 4 KiB of
//! them, up to a tenth of a step: what is freed is kept. But what is kept in pieces of one size may be of no use for the next
//! array, so that a process comes to have more than it ever asked for at once. Where a step turns from many arrays to few large ones,
//! or is done, it gives back what it does not use.

/// Memory of a process below which nothing is given back: it is not what fills a machine.
const SMALL: usize = 64 << 20;

/// Have the allocator keep what is freed, but for the largest arrays. To be called before any other thread exists.
pub fn keep() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const LARGEST_KEPT: libc::c_int = 32 << 20;
        // SAFETY: these calls set two numbers of the allocator, before any other thread exists.
        unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, LARGEST_KEPT);
            libc::mallopt(libc::M_TRIM_THRESHOLD, libc::c_int::MAX);
        }
    }
}

/// Give back to the system what has been freed and kept, if the process holds so many bytes that it matters.
pub fn give_back(held: usize) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if held >= SMALL {
        // SAFETY: the call takes the allocator's own locks; memory that is in use stays as it is.
        unsafe { libc::malloc_trim(0) };
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = (held, SMALL);
}
