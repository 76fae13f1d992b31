//! Smoothed particle hydrodynamics: order of the passes. The pair laws are in [`crate::laws`].

mod gas;
mod hydrodynamics;
pub mod instability;
pub mod passes;
pub mod smoothing;

pub use hydrodynamics::{Hydrodynamics, Processors, Searches, SmoothingStatistics};
pub(crate) use passes::reset_values;
pub use passes::{Backend, evaluate_passes, find_smoothing_lengths};
