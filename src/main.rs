//! Arguments, command, exit status.

use std::process::ExitCode;

fn main() -> ExitCode {
    hilbrium::commands::main(std::env::args_os())
}
