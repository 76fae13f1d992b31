//! Octrees: the cornerstone array of leaves, the linked octree, tight boxes and multipole moments of nodes.

pub mod bounds;
pub mod leaves;
pub mod moments;
pub mod octree;

pub use bounds::Bounds;
pub use leaves::Leaves;
pub use moments::Moments;
pub use octree::Octree;
