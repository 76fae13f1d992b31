//! Arguments, command, exit status.

use std::process::ExitCode;

fn main() -> ExitCode {
    hilbrium::allocator::keep();
    hilbrium::commands::main(std::env::args_os())
}
