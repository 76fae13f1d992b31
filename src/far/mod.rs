//! Barnes-Hut gravity: tree construction, multipole acceptance, locally essential trees, and SIMD evaluation.
#![allow(clippy::needless_range_loop, reason = "an index names the component of several vectors at once")]

mod acceleration_estimate;
pub mod accuracy;
pub mod direct;
mod essential_tree;
pub mod ewald_reference;
pub mod external;
pub mod gravity;
mod kernels;
mod lanes;
pub mod long_range;
pub mod mesh;
pub mod net_force;
pub mod opening;
pub mod periodic_accuracy;
mod prune;
pub mod simulated_ranks;
pub mod softening;
pub mod split;
mod split_kernels;
pub mod tree;
mod walk;

pub use gravity::{Expansion, GravityPlan, GravityStatistics, SelfGravity, gravity, gravity_in_cells};
pub use opening::Criterion;
pub use softening::SofteningKernel;
