//! Neighbors: clusters of 8, super-clusters of 64, list building and compression.
