//! Smoothed particle hydrodynamics: the order of the passes; the laws themselves are in [`crate::laws`].

mod gas;
mod hydrodynamics;
pub mod instability;
pub mod smoothing;

pub(crate) use hydrodynamics::{CROSSING, MOST_ROUNDS, MOST_SWEEPS, first_guesses, outgrew_all};
pub use hydrodynamics::{Hydrodynamics, Searches, Smoothing, Stage};
