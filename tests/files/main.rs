//! Files: snapshots, checkpoints, trajectories, starts and text formats of other programs, verdicts.
//!
//! The only processes that start here are Python readers. A child process inherits the locks that HDF5 holds
//! on open files. The library takes none, and no test creates a file through HDF5 and opens it so again.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]

#[path = "../common/mod.rs"]
mod common;

mod hdf5_starts;
mod snapshot_readers;
mod snapshots;
mod text_formats;
mod trajectory;
mod validate;
