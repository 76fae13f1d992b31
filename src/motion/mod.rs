//! Motion: the leapfrog and its time step.
