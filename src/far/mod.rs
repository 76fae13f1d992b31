//! Long-range forces: Barnes-Hut gravity.
pub mod bench;
pub mod direct;
pub mod gravity;
mod kernels;
mod lanes;
pub mod opening;
mod rough;
pub mod softening;
pub mod tree;
mod walk;

pub use gravity::{Expansion, GravityPlan, GravityStatistics};
pub use opening::Criterion;
pub use softening::SofteningKernel;
