//! hilbrium: molecular dynamics and smoothed particle hydrodynamics along a Hilbert curve.
//!
//! The modules in the order of a step:
//! [`deck`] → [`start`] → [`domain`] → [`neighbors`] → [`pair`] passes of [`laws`] → [`far`] → [`motion`] →
//! [`observe`], [`snapshot`].

// Laws refer to the crate by name, so that they can also be defined in other crates.
extern crate self as hilbrium;

#[macro_use]
pub mod sections;

pub mod allocator;
pub mod bench;
pub mod cases;
pub mod clock;
pub mod comm;
pub mod commands;
pub mod deck;
pub mod device;
pub mod domain;
pub mod error;
pub mod far;
pub mod faults;
pub mod formula;
mod inputs;
pub mod laws;
pub mod layout;
pub mod maps;
pub mod memory;
pub mod molecules;
pub mod motion;
pub mod neighborhood;
pub mod neighbors;
pub mod observe;
pub mod pair;
pub mod parallel;
pub mod particles;
pub mod plan;
pub mod report;
pub mod run;
pub mod run_report;
pub mod simd;
pub mod snapshot;
pub mod space;
pub mod sph;
pub mod stability;
pub mod start;
pub mod status;
pub mod step;
pub mod tree;
pub mod units;
pub mod validate;

pub use error::{Error, Result};
