//! Smoothed particle hydrodynamics: the order of the passes; the laws themselves are in [`crate::laws`].

mod gas;
mod hydrodynamics;
pub mod smoothing;

pub use hydrodynamics::{Hydrodynamics, Searches, Smoothing, Stage};
