//! hilbrium: molecular dynamics and smoothed particle hydrodynamics along a Hilbert curve.
//!
//! The modules stand in the order of a step:
//! [`deck`] → [`start`] → [`domain`] → [`neighbors`] → [`pair`] passes of [`laws`] → [`far`] → [`motion`] →
//! [`observe`], [`snapshot`].

// Laws name the crate by its name, so that they can also be written outside of it.
extern crate self as hilbrium;

#[macro_use]
pub mod sections;

pub mod allocator;
pub mod bench;
mod claim;
pub mod clock;
pub mod comm;
pub mod commands;
pub mod deck;
pub mod device;
pub mod domain;
pub mod error;
pub mod far;
mod inputs;
pub mod laws;
pub mod memory;
pub mod molecules;
pub mod motion;
pub mod neighbors;
pub mod observe;
pub mod pair;
pub mod particles;
pub mod report;
pub mod run;
pub mod runs;
pub mod snapshot;
pub mod space;
pub mod sph;
pub mod stability;
pub mod start;
pub mod step;
pub mod tree;
mod turns;
pub mod units;
mod unused;
pub mod validate;

pub use error::{Error, Result};
