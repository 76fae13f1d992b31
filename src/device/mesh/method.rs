//! Methods of spreading, and which one to choose.

use crate::far::mesh::MeshGeometry;

/// Whether the spreading matrix holds its weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Weights {
    /// A number per entry.
    Stored,
    /// Computed again in each spreading, from 16 or 32 bytes per particle.
    Recomputed,
}

/// How particles are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// A thread per particle with atomic additions. Nothing to construct.
    Particles,
    /// Mesh points hold one particle each and gather from the points around them; other particles are added
    /// atomically.
    Gather,
    /// The spreading matrix in compressed rows.
    SingleMesh(Weights),
    /// The spreading matrix in compressed groups of 64 rows.
    GroupMesh(Weights),
    /// The spreading matrix as a rectangle (ELL) and a list (COO).
    HybridMesh(Weights),
    /// A warp per tile of the mesh, which writes each point once; the order of particles in a bin, hence the
    /// last bits, differ between runs.
    Tiles,
    /// As `Tiles`, with particles of a bin in the order of rows: reproducible bit for bit on a device.
    OrderedTiles,
    /// A warp per run of particles, which adds them up in shared memory and then atomically to the mesh.
    PaddedTiles,
}

/// A change of a method's kernels for comparisons, which only the benchmark of spreading and tests use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// Lanes reduce the rows of a matrix by warp shuffles: what `SingleMesh` and `HybridMesh` do anyway.
    Shuffles,
    /// Lanes reduce the rows of a matrix through shared memory: what `GroupMesh` does anyway.
    SharedMemory,
    /// `Particles` without atomic operations: threads overwrite each other's additions. Sums are wrong as
    /// soon as particles share a mesh point; only the time is of interest.
    NotAtomic,
}

impl Variant {
    /// The macro that chooses it, and its value (kernels/mesh/entries.cuh, scatter.cuh).
    pub fn definition(self) -> (&'static str, u8) {
        match self {
            Variant::Shuffles => ("HILBRIUM_SHUFFLES", 1),
            Variant::SharedMemory => ("HILBRIUM_SHUFFLES", 0),
            Variant::NotAtomic => ("HILBRIUM_ATOMIC", 0),
        }
    }

    /// The name in tables, which follows that of the method.
    pub fn name(self) -> &'static str {
        match self {
            Variant::Shuffles => "by shuffles",
            Variant::SharedMemory => "through shared memory",
            Variant::NotAtomic => "not atomic: sums are wrong",
        }
    }
}

impl Method {
    /// All methods.
    pub const ALL: [Method; 11] = [
        Method::Particles,
        Method::Gather,
        Method::SingleMesh(Weights::Stored),
        Method::SingleMesh(Weights::Recomputed),
        Method::GroupMesh(Weights::Stored),
        Method::GroupMesh(Weights::Recomputed),
        Method::HybridMesh(Weights::Stored),
        Method::HybridMesh(Weights::Recomputed),
        Method::Tiles,
        Method::OrderedTiles,
        Method::PaddedTiles,
    ];

    /// The fastest method for one spreading of uniformly distributed particles that are ordered along the
    /// Hilbert curve, as `hilbrium bench spread` finds it on an H200.
    ///
    /// The construction of tiles takes about 30 microseconds, in which a thread per particle spreads some
    /// ten thousand particles; and tiles cost where they are without particles, unlike a thread per particle.
    /// A padded tile costs its points, which many particles share, and then less per particle than a tile.
    pub fn chosen(particles: usize, geometry: &MeshGeometry, order: usize) -> Self {
        let per_point = particles as f64 / geometry.len() as f64;
        let enough_of_padded = match order {
            ..=6 => 0.35,
            7 => 1.0,
            _ => f64::INFINITY,
        };
        if particles < 20_000 || per_point * (order.pow(3) as f64) < 0.4 {
            Method::Particles
        } else if particles >= 100_000 && per_point >= enough_of_padded {
            Method::PaddedTiles
        } else {
            Method::Tiles
        }
    }

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Method::Particles => "particles",
            Method::Gather => "gather",
            Method::SingleMesh(Weights::Stored) => "single mesh",
            Method::SingleMesh(Weights::Recomputed) => "single mesh, no weights",
            Method::GroupMesh(Weights::Stored) => "group mesh",
            Method::GroupMesh(Weights::Recomputed) => "group mesh, no weights",
            Method::HybridMesh(Weights::Stored) => "hybrid mesh",
            Method::HybridMesh(Weights::Recomputed) => "hybrid mesh, no weights",
            Method::Tiles => "tiles",
            Method::OrderedTiles => "ordered tiles",
            Method::PaddedTiles => "padded tiles",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_particles_are_spread_by_threads_of_their_own() {
        let mesh = |points| MeshGeometry { points: [points; 3], lower: [0.0; 3], scale: [1.0; 3] };
        assert_eq!(Method::chosen(1000, &mesh(32), 6), Method::Particles);
        assert_eq!(Method::chosen(100_000, &mesh(256), 6), Method::Tiles);
        assert_eq!(Method::chosen(100_000, &mesh(1024), 4), Method::Particles);
        assert_eq!(Method::chosen(25_000, &mesh(256), 6), Method::Particles);
    }

    #[test]
    fn many_particles_per_point_are_spread_by_padded_tiles() {
        let mesh = |points| MeshGeometry { points: [points; 3], lower: [0.0; 3], scale: [1.0; 3] };
        assert_eq!(Method::chosen(1_000_000, &mesh(128), 6), Method::PaddedTiles);
        assert_eq!(Method::chosen(1_000_000, &mesh(128), 7), Method::Tiles);
        assert_eq!(Method::chosen(1_000_000, &mesh(256), 6), Method::Tiles);
        assert_eq!(Method::chosen(10_000_000, &mesh(128), 8), Method::Tiles);
    }
}
