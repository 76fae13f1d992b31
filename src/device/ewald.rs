//! The long-range part of the forces of charges on a device, the counterpart of
//! [`crate::molecules::EwaldMesh`].

use super::columns::Columns;
use super::mesh::{DevicePotential, DeviceSpreader, InterpolationTarget, MeshParticles, Method};
use super::{Buffer, Device};
use crate::Result;
use crate::comm::Communicator;
use crate::far::mesh::{MeshGeometry, Quantity, Window};
use crate::molecules::Ewald;
use crate::pair::Precision;
use crate::particles::Field;
use crate::report;
use crate::space::SimulationBox;

/// The mesh of the charges on a device.
#[derive(Debug)]
pub struct EwaldMesh {
    spreader: DeviceSpreader,
    potential: DevicePotential,
    mesh: Buffer<u8>,
    constant: f64,
}

impl EwaldMesh {
    /// The mesh of an Ewald sum in a box, for about this number of particles of this rank. Tells if Fourier
    /// transforms run on the hosts. Collective.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device's memory is too small.
    pub fn new(
        device: &Device,
        comm: &Communicator,
        bx: &SimulationBox,
        ewald: &Ewald,
        particles: usize,
        precision: Precision,
    ) -> Result<Self> {
        let settings = &ewald.settings;
        let (geometry, window) = (MeshGeometry::new(settings.points, bx), Window::b_spline(settings.order));
        let method = Method::chosen(particles, &geometry, settings.order);
        let spreader = DeviceSpreader::new(device, &geometry, &window, precision, method)?;
        let potential = DevicePotential::new(device, comm, bx, settings, precision)?;
        if let Some(reason) = potential.reason().filter(|_| comm.is_root()) {
            report::line(&format!("Fourier transforms of the mesh run on processors: {reason}"));
        }
        let mesh = Buffer::new(device, spreader.mesh_bytes())?;
        Ok(EwaldMesh { spreader, potential, mesh, constant: ewald.constant })
    }

    /// Adds the mesh forces of the owned particles to their forces. Collective.
    ///
    /// # Errors
    /// Those of the device.
    pub fn add_forces(&mut self, comm: &Communicator, columns: &Columns) -> Result<()> {
        let target = InterpolationTarget {
            weights: Some(columns.scalar(Field::Charge)),
            force: Some(columns.vector(Field::Force)),
            force_factor: self.constant,
            potential: None,
            potential_factor: 0.0,
        };
        self.add(comm, columns, Quantity::Potential, &target)
    }

    /// Adds the mesh energies and virials of the owned particles. Collective.
    ///
    /// # Errors
    /// Those of the device.
    pub fn add_energies(&mut self, comm: &Communicator, columns: &Columns) -> Result<()> {
        for (quantity, field) in [(Quantity::Potential, Field::PairEnergy), (Quantity::Virial, Field::Virial)]
        {
            let target = InterpolationTarget {
                weights: Some(columns.scalar(Field::Charge)),
                force: None,
                force_factor: 0.0,
                potential: Some(columns.scalar(field)),
                potential_factor: 0.5 * self.constant,
            };
            self.add(comm, columns, quantity, &target)?;
        }
        Ok(())
    }

    fn add(
        &mut self,
        comm: &Communicator,
        columns: &Columns,
        quantity: Quantity,
        target: &InterpolationTarget,
    ) -> Result<()> {
        let particles = MeshParticles { position: columns.vector(Field::Position), rows: columns.owned() };
        self.spreader.construct(&particles)?;
        self.spreader.spread(&particles, columns.scalar(Field::Charge), &mut self.mesh)?;
        self.potential.convolve(comm, &mut self.mesh, quantity)?;
        self.spreader.interpolate(&particles, &self.mesh, target)
    }
}
