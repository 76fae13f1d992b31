//! Arguments, command, exit status.

use std::process::ExitCode;

fn main() -> ExitCode {
    keep_memory();
    hilbrium::commands::main(std::env::args_os())
}

/// Have the allocator keep what is freed. Every pass allocates its arrays anew; to give them back to the system in between
/// costs a page fault for every 4 KiB of them, up to a tenth of a step.
fn keep_memory() {
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
