//! The deck: raw TOML, checked once, becomes a plan.
