//! Motion: the leapfrog and its time step.

pub mod leapfrog;
pub mod time_step;
