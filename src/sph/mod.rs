//! Smoothed particle hydrodynamics: the order of the passes; the laws themselves are in [`crate::laws`].

pub mod calm;
mod gas;
mod hydrodynamics;
pub mod smoothing;

pub(crate) use hydrodynamics::{CROSSING, MOST_ROUNDS, MOST_SWEEPS, first_guesses, outgrew_all};
pub use hydrodynamics::{Hydrodynamics, Searches, Smoothing, Stage};
