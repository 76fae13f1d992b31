//! Octrees: the cornerstone array of leaves, the linked octree, multipole moments.
