//! The long-range part of the forces of charges on a device, the counterpart of
//! [`crate::molecules::EwaldMesh`].

use super::columns::Columns;
use super::exchange::Exchange;
use super::mesh::{DeviceMesh, InterpolationTarget, MeshParticles, Reproducibility};
use crate::Result;
use crate::far::mesh::Quantity;
use crate::molecules::Ewald;
use crate::pair::Precision;
use crate::particles::Field;
use crate::space::SimulationBox;

/// The mesh of the charges on a device.
#[derive(Debug)]
pub struct EwaldMesh {
    mesh: DeviceMesh,
    constant: f64,
}

impl EwaldMesh {
    /// The mesh of an Ewald sum in a box, for about this number of particles of this rank. Tells if Fourier
    /// transforms run on the hosts. Collective.
    ///
    /// # Errors
    /// Those of [`DeviceMesh::new`].
    pub fn new(
        exchange: &Exchange,
        bx: &SimulationBox,
        ewald: &Ewald,
        particles: usize,
        precision: Precision,
    ) -> Result<Self> {
        let fastest = Reproducibility::Fastest(particles);
        let mesh = DeviceMesh::new(exchange, bx, &ewald.settings, precision, fastest)?;
        Ok(EwaldMesh { mesh, constant: ewald.constant })
    }

    /// Adds the mesh forces of the owned particles to their forces. Collective.
    ///
    /// # Errors
    /// Those of the device.
    pub fn add_forces(&mut self, exchange: &Exchange, columns: &Columns) -> Result<()> {
        let target = InterpolationTarget {
            weights: Some(columns.scalar(Field::Charge)),
            force: Some(columns.vector(Field::Force)),
            force_factor: self.constant,
            potential: None,
            potential_factor: 0.0,
        };
        self.add(exchange, columns, Quantity::Potential, &target)
    }

    /// Adds the mesh energies and virials of the owned particles. Collective.
    ///
    /// # Errors
    /// Those of the device.
    pub fn add_energies(&mut self, exchange: &Exchange, columns: &Columns) -> Result<()> {
        for (quantity, field) in [(Quantity::Potential, Field::PairEnergy), (Quantity::Virial, Field::Virial)]
        {
            let target = InterpolationTarget {
                weights: Some(columns.scalar(Field::Charge)),
                force: None,
                force_factor: 0.0,
                potential: Some(columns.scalar(field)),
                potential_factor: 0.5 * self.constant,
            };
            self.add(exchange, columns, quantity, &target)?;
        }
        Ok(())
    }

    fn add(
        &mut self,
        exchange: &Exchange,
        columns: &Columns,
        quantity: Quantity,
        target: &InterpolationTarget,
    ) -> Result<()> {
        let particles = MeshParticles { position: columns.vector(Field::Position), rows: columns.owned() };
        self.mesh.add(exchange, &particles, columns.scalar(Field::Charge), quantity, target)
    }
}
