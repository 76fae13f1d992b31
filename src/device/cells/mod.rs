//! Sweeps over a grid of cells on a device, without a list (docs/src/cells.md): the strategies of Algis,
//! Bramas, Darles and Aveneau 2024 (hal-04621128). For runs whose method they are, and for `bench cells`.
//!
//! [`Cells`] sorts particles into cells, [`CellSweep`] evaluates a law over them by a [`Strategy`].

mod grid;
pub mod prefix;
mod strategy;
mod sweep;

pub use grid::{Cells, Grid};
pub use strategy::{Launch, Strategy};
pub use sweep::CellSweep;
