//! The device path: kernels as text, in the emulation, and compiled for GPUs.
//!
//! `make gpu-test` runs the modules `gpu_*` on a GPU, each in a process of its own, because an error of a GPU
//! outlives the test that caused it. `gpu_exchange` starts this program again, under mpirun, with the name of
//! one test.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]

#[path = "../common/mod.rs"]
mod common;

mod emulation;
mod gpu_cells;
mod gpu_domain;
mod gpu_exchange;
mod gpu_gas;
mod gpu_gravity;
mod gpu_gravity_periodic;
mod gpu_gravity_ranks;
mod gpu_list;
mod gpu_mesh;
mod gpu_mesh_ranks;
mod gpu_methods;
mod gpu_molecules;
mod gpu_motion;
mod gpu_order;
mod gpu_overlap;
mod gpu_particle_list;
mod gpu_ranks;
mod gpu_run;
mod gpu_search;
mod gpu_sweep;
mod gpu_tuning;
mod kernel_arguments;
mod kernels_compile;
mod pair_cuda;
