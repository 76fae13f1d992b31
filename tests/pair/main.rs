//! Pair laws, sweeps and neighbor lists against the O(N^2) sums.
//!
//! All tests that instantiate sweeps are in this program, because each sweep is compiled for every
//! instruction set, precision and list kind.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]

mod formulas;
mod molecular_laws;
mod neighbors_battery;
mod pair_laws;
mod pair_sweep;
