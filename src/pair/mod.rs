//! Pair passes: laws, the SIMD sweep over neighbor lists, and the O(N^2) reference.
//!
//! A law is written once, in the restricted Rust of [`language::pair`]. [`Sweep`] evaluates it over a
//! neighbor list in SIMD lanes, [`naive`] over all pairs in scalars.

mod cell_input;
mod chunks;
pub mod device_text;
mod finish;
mod force_energy;
mod inner;
pub mod kernel;
pub mod law;
mod law_lanes;
mod naive;
mod pack;
pub mod radial;
mod reaction_buffer;
mod record;
mod scratch_pools;
pub mod smooth;
mod sums;
mod sweep;
pub mod table;
pub mod together;

pub use crate::simd::{Instructions, Precision};
pub use finish::{FinishedRows, RowCallback};
pub use force_energy::{Energies, Forces};
pub use inner::{find_tiles, supports_tiles};
pub use kernel::Kernel;
pub use law::PairLaw;
pub use naive::naive;
pub use sweep::{Pass, Sweep, SweepStatistics};
pub use together::Together;

/// Imports of a law's module.
pub mod language {
    pub use super::device_text;
    pub use super::kernel::{Kernel, kernel_slope, kernel_value};
    pub use super::law::{Columns, Cutoff, NoInput, PairLaw, Parity, Reduction, Sum};
    pub use super::radial::{RadialEnergy, RadialValue, radial_energy};
    pub use super::smooth::{SmoothPart, smooth_part};
    pub use super::table::{Table, table_value};
    pub use crate::particles::Field;
    pub use crate::simd::real::Real;
    pub use crate::simd::vec3::{Tensor, Vec3, outer};
    pub use pair_macro::{pair, shared};
}
