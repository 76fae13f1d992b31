//! What can go wrong with a run, each kind of accident in its file: every outcome is defined.
//! `docs/src/reliability.md` lists them. And the soak: memory and energies over many steps.
//!
//! The runs are child processes, which get signals, limits, and a library in front of the C library.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]

mod case;
mod clock;
mod crash;
mod damage;
mod disk;
mod fault;
mod input;
mod kept;
mod lock;
mod ranks;
mod restart;
mod signals;
mod soak;
mod status;
mod stop;
