//! Interpolation from a mesh (kernels/mesh/interpolate.cu).

use super::super::Buffer;
use super::super::arguments::mesh_interpolate::{
    InterpolateBinsArguments, InterpolateRowsArguments, InterpolationColumns,
};
use super::super::arguments::{Input, Output};
use super::super::reduction::Vector;
use super::bins::Bins;
use super::{Mesh, MeshParticles};
use crate::Result;

/// INTERPOLATE_THREADS of kernels/mesh/interpolate.cu.
const THREADS: u32 = 128;

/// Particles per mesh point for which tiles of the mesh in shared memory pay: with fewer, loading them costs
/// more than it saves; with more, a warp's particles of consecutive rows read the same lines of the cache.
const PER_POINT: std::ops::Range<f64> = 0.12..4.0;

/// Fewest particles for which they pay: blocks with fewer wait for their loads.
const FEWEST: usize = 100_000;

/// Columns to which interpolation adds, one value per row.
#[derive(Clone, Copy, Debug)]
pub struct InterpolationTarget<'a> {
    /// Charges or masses, or none for 1.
    pub weights: Option<&'a Buffer<f64>>,
    /// `force += -force_factor * weight * gradient of the mesh`.
    pub force: Option<Vector<'a>>,
    /// Factor of forces.
    pub force_factor: f64,
    /// `potential += potential_factor * weight * mesh`.
    pub potential: Option<&'a Buffer<f64>>,
    /// Factor of potentials.
    pub potential_factor: f64,
}

/// Whether interpolation through the bins pays.
pub(super) fn pays(count: usize, points: usize) -> bool {
    count >= FEWEST && PER_POINT.contains(&(count as f64 / points as f64))
}

/// Interpolates to the particles, through the bins if there are any.
pub(super) fn interpolate(
    mesh: &Mesh,
    bins: Option<&Bins>,
    particles: &MeshParticles,
    from: &Buffer<u8>,
    target: &InterpolationTarget,
) -> Result<()> {
    if target.force.is_none() && target.potential.is_none() {
        return Ok(());
    }
    let to = InterpolationColumns {
        weights: target.weights.into(),
        force_factor: target.force_factor,
        potential_factor: target.potential_factor,
        force: target.force.map_or([Output::NULL; 3], |force| force.map(Output::from)),
        potential: target.potential.into(),
    };
    let unit = mesh
        .unit("mesh/interpolate.cu")
        .with("HILBRIUM_FORCE", u8::from(target.force.is_some()))
        .with("HILBRIUM_POTENTIAL", u8::from(target.potential.is_some()));
    match bins {
        Some(bins) => {
            let arguments = InterpolateBinsArguments {
                geometry: mesh.parameters(),
                binned: bins.binned(),
                count: bins.count() as u32,
                mesh: Input::cast(from),
                to,
            };
            mesh.launch(&unit, bins.count(), THREADS, &arguments)
        }
        None => {
            let arguments = InterpolateRowsArguments {
                position: particles.inputs(),
                geometry: mesh.parameters(),
                rows: (&particles.rows).into(),
                mesh: Input::cast(from),
                to,
            };
            mesh.launch(&unit, particles.rows.len(), THREADS, &arguments)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_pay_for_many_particles_of_some_per_point() {
        assert!(pays(1_000_000, 128 * 128 * 128));
        assert!(!pays(32_000, 64 * 64 * 64));
        assert!(!pays(1_000_000, 256 * 256 * 256));
        assert!(!pays(10_000_000, 64 * 64 * 64));
    }
}
