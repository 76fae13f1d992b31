//! Pair passes: what a pass is, the loop over lanes, and the O(N^2) truth.
//!
//! A law is written once, in the restricted Rust of [`language::pair`]; [`sweep`] evaluates it over a neighbor list in
//! lanes, [`naive`] over all pairs in scalars.

mod aligned;
mod chunks;
pub mod device_text;
mod finish;
mod given;
mod inner;
mod kept;
pub mod kernel;
pub mod lane;
pub mod law;
mod naive;
mod pack;
mod parts;
pub mod pieces;
pub mod real;
mod record;
pub(crate) mod roots;
mod sums;
mod sweep;
pub mod table;
pub mod together;
pub mod vec3;

pub use finish::{Finished, Then};
pub use inner::find_tiles;
pub use kernel::Kernel;
pub use lane::Instructions;
pub use law::PairLaw;
pub use naive::naive;
pub use parts::{Energies, Forces};
pub use sweep::{
    Pass, SweepStatistics, Traffic, sweep, sweep_across, sweep_double, sweep_spending, sweep_then, sweep_with,
};
pub use together::Together;

/// Everything a law's module sees.
pub mod language {
    pub use super::device_text;
    pub use super::kernel::{Kernel, kernel_slope, kernel_value};
    pub use super::law::{Columns, Cutoff, NoInput, PairLaw, Parity, Reduction, Sum};
    pub use super::real::Real;
    pub use super::table::{Table, table_value};
    pub use super::vec3::{Tensor, Vec3, outer};
    pub use crate::particles::Field;
    pub use pair_macro::{pair, shared};
}

/// The arithmetic of a pass; state and accumulated outputs are always in double precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Single-precision lanes (16) on offsets from double-precision frames.
    Mixed,
    /// Double-precision lanes (8).
    Double,
}
