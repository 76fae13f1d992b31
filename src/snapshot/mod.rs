//! Files: snapshots, checkpoints, sidecars, initial conditions.
