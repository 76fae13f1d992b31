//! What a sweep, or a search for tiles, leaves for the next one.

use super::inner::TileSearch;
use super::lane::Scalar;
use super::pack::Room;
use crate::unused::Unused;

/// What nobody uses at the moment.
pub struct Kept<T: Scalar> {
    /// Vectors of what a chunk gives to particles; another thread joins them.
    pub(crate) vectors: Unused<Vec<T::Vector>>,
    /// Memory of packed input.
    pub(crate) rooms: Unused<Room<T>>,
    /// Searches for the tiles of a chunk.
    pub(crate) searches: Unused<TileSearch<T>>,
}

impl<T: Scalar> Kept<T> {
    /// Nothing yet.
    pub const fn new() -> Self {
        Self { vectors: Unused::new(), rooms: Unused::new(), searches: Unused::new() }
    }
}
