//! Octrees: the cornerstone array of leaves, the linked octree, the tight boxes of its nodes, multipole moments.

pub mod bounds;
pub mod leaves;
pub mod octree;

pub use bounds::Bounds;
pub use leaves::Leaves;
pub use octree::Octree;
