//! Entry point: sets up the allocator and runs the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    hilbrium::allocator::keep();
    hilbrium::commands::main(std::env::args_os())
}

/// Runs before the initializers of libraries, see [`hilbrium::run::signals::note_ignored_hangup`].
// SAFETY: the section is an array of functions of this type, which the dynamic loader of Linux calls in
// order.
#[cfg(target_os = "linux")]
#[used]
#[unsafe(link_section = ".preinit_array")]
static BEFORE_LIBRARIES: extern "C" fn() = hilbrium::run::signals::note_ignored_hangup;
