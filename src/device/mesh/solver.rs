//! Fields of smoothed charges or masses at the particles of a device, the counterpart of
//! [`crate::far::mesh::MeshSolver`].

use super::{DevicePotential, DeviceSpreader, InterpolationTarget, MeshParticles, Method};
use crate::Result;
use crate::device::Buffer;
use crate::device::exchange::Exchange;
use crate::far::mesh::{MeshGeometry, MeshSettings, Quantity, Window};
use crate::pair::Precision;
use crate::report;
use crate::space::SimulationBox;

/// Spreading, convolution and interpolation on a device. Memory: 4 bytes a mesh point for values and, if the
/// transforms run on the devices, a rank's share of 6 for waves and influence function, and the work areas of
/// the transforms (twice that in double precision).
#[derive(Debug)]
pub struct DeviceMesh {
    spreader: DeviceSpreader,
    potential: DevicePotential,
    mesh: Buffer<u8>,
}

/// How a [`DeviceMesh`] spreads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reproducibility {
    /// By the method that is fastest for this number of particles of a rank; the last bits differ between
    /// runs.
    Fastest(usize),
    /// By ordered tiles: the same bits in each run.
    Bitwise,
}

impl DeviceMesh {
    /// A mesh with these settings over a periodic box. Tells if Fourier transforms run on the hosts.
    /// Collective.
    ///
    /// # Errors
    /// On all ranks if there is one on any: [`crate::Error::Device`] when the device's memory is too small,
    /// or for a mesh of more than 1024 points in a dimension.
    pub fn new(
        exchange: &Exchange,
        bx: &SimulationBox,
        settings: &MeshSettings,
        precision: Precision,
        reproducibility: Reproducibility,
    ) -> Result<Self> {
        let (device, comm) = (exchange.device(), exchange.comm());
        let (geometry, window) = (MeshGeometry::new(settings.points, bx), Window::b_spline(settings.order));
        let method = match reproducibility {
            Reproducibility::Fastest(particles) => Method::chosen(particles, &geometry, settings.order),
            Reproducibility::Bitwise => Method::OrderedTiles,
        };
        let spreader = DeviceSpreader::new(device, &geometry, &window, precision, method)
            .and_then(|spreader| Ok((Buffer::new(device, spreader.mesh_bytes())?, spreader)));
        let (mesh, spreader) = comm.agree_on(spreader)?;
        let potential = DevicePotential::new(device, exchange, bx, settings, precision)?;
        if let Some(reason) = potential.reason().filter(|_| comm.is_root()) {
            report::line(&format!("Fourier transforms of the mesh run on processors: {reason}"));
        }
        Ok(DeviceMesh { spreader, potential, mesh })
    }

    /// Adds a quantity of the charges or masses `values` of all ranks and their periodic images, and its
    /// gradient, to columns of the particles of this rank. Includes the particle itself. Collective.
    ///
    /// # Errors
    /// Those of the device.
    pub fn add(
        &mut self,
        exchange: &Exchange,
        particles: &MeshParticles,
        values: &Buffer<f64>,
        quantity: Quantity,
        target: &InterpolationTarget,
    ) -> Result<()> {
        let spread = self
            .spreader
            .construct(particles)
            .and_then(|()| self.spreader.spread(particles, values, &mut self.mesh));
        exchange.comm().agree(spread)?;
        self.potential.convolve(exchange, &self.spreader, particles, &mut self.mesh, quantity)?;
        self.spreader.interpolate(particles, &self.mesh, target)
    }

    /// Allocated bytes on the device.
    pub fn bytes(&self) -> usize {
        self.mesh.bytes() + self.spreader.bytes() + self.potential.bytes()
    }
}
