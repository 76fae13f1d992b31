//! Barnes-Hut gravity: tree construction, multipole acceptance, locally essential trees, and SIMD evaluation.
#![allow(clippy::needless_range_loop, reason = "an index names the component of several vectors at once")]

mod acceleration_estimate;
pub mod accuracy;
pub mod direct;
mod essential_tree;
pub mod external;
pub mod gravity;
mod kernels;
mod lanes;
pub mod mesh;
pub mod net_force;
pub mod opening;
mod prune;
pub mod simulated_ranks;
pub mod softening;
pub mod tree;
mod walk;

pub use gravity::{Expansion, GravityPlan, GravityStatistics, gravity, gravity_in_cells};
pub use opening::Criterion;
pub use softening::SofteningKernel;
