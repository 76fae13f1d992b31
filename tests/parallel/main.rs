//! Ranks: the domain decomposition, gravity over ranks, and snapshots of several processes.
//!
//! MPI starts once in a process. The tests of MPI therefore start this program again, under mpirun, with the
//! name of one test.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]

#[path = "../common/mod.rs"]
mod common;

mod decomposition;
#[cfg(feature = "mpi")]
mod domain_mpi;
mod domain_sync;
mod gravity_ranks;
mod snapshot_mpi;
