//! Scratch memory of sweeps and tile searches.

use super::inner::TileSearchScratch;
use super::pack::PackedStorage;
use crate::parallel::ScratchPool;
use crate::simd::{PerScalar, Scalar};

/// Pools for lanes with elements `T`.
pub struct ScratchPools<T: Scalar> {
    /// Reaction sums of a chunk, which other threads reduce.
    pub(crate) vectors: ScratchPool<Vec<T::Vector>>,
    /// Packed input.
    pub(crate) packed: ScratchPool<PackedStorage<T>>,
    /// Memory of a tile search per chunk.
    pub(crate) searches: ScratchPool<TileSearchScratch<T>>,
}

impl<T: Scalar> ScratchPools<T> {
    const fn new() -> Self {
        Self { vectors: ScratchPool::new(), packed: ScratchPool::new(), searches: ScratchPool::new() }
    }
}

static SINGLE: ScratchPools<f32> = ScratchPools::new();
static DOUBLE: ScratchPools<f64> = ScratchPools::new();

struct Pools;

impl PerScalar for Pools {
    type Of<T: Scalar> = &'static ScratchPools<T>;
}

/// Pools for lanes with elements `T`.
pub fn scratch_pools<T: Scalar>() -> &'static ScratchPools<T> {
    T::select::<Pools>(&SINGLE, &DOUBLE)
}
