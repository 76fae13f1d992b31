//! Smoothed particle hydrodynamics: order of the passes. The pair laws are in [`crate::laws`].

mod gas;
mod hydrodynamics;
pub mod instability;
pub mod passes;
pub mod smoothing;

pub use hydrodynamics::{Hydrodynamics, Processors, Searches, Smoothing};
pub(crate) use passes::first_guesses;
pub use passes::{Backend, evaluate_passes, find_smoothing_lengths};
