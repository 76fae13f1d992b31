//! Pair passes: what a pass is, the loop over lanes, and the O(N^2) truth.
