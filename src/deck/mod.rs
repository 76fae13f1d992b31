//! The deck: raw TOML, checked once, becomes a plan.

pub mod plan;

pub use plan::Plan;
