//! The program as a user starts it: commands, what it prints and writes, restarts, the system that runs.
//!
//! Accidents are in `tests/reliability`, benchmarks in `tests/bench.rs`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]

#[path = "../common/mod.rs"]
mod common;

mod cases;
mod deck_commands;
mod decomposition_command;
mod gas_settings;
mod installed;
mod methods;
mod pictures;
mod report_page;
mod said;
mod session;
mod systems;
mod trajectory_runs;
mod watch;
