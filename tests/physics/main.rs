//! Whole runs: conservation, agreement over ranks, threads and precisions, published values, measurements.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]

#[path = "../common/mod.rs"]
mod common;

mod agreement;
mod conservation;
mod ewald;
mod external;
mod foreign_files;
mod gravity_accuracy;
mod measure;
mod minimize;
mod molecular_motion;
mod molecules;
mod net_force;
mod periodic_gravity;
mod sedov;
mod skins;
mod species;
mod stability;
