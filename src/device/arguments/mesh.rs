//! The arguments that the kernels of meshes share.

use super::Input;
use super::twin::Record;
use crate::far::mesh::MeshGeometry;

kernel_arguments! {
    unit "mesh/mesh";

    /// A periodic mesh.
    pub struct MeshParameters {
        /// Lower corner of the box.
        pub lower: [f64; 3],
        /// Points per length.
        pub scale: [f64; 3],
        /// Points per dimension.
        pub points: [u32; 3],
    }

    /// Particles sorted into bins (kernels/mesh/bins.cuh).
    pub struct BinnedRecords {
        /// Fractions and cells of particles by bin.
        pub records: Input<Record>,
        /// Their rows.
        pub rows: Input<u32>,
        /// First record of each bin, then the number of records.
        pub starts: Input<u64>,
    }
}

impl From<&MeshGeometry> for MeshParameters {
    fn from(geometry: &MeshGeometry) -> Self {
        let MeshGeometry { points, lower, scale } = *geometry;
        Self { lower, scale, points: points.map(|points| points as u32) }
    }
}
