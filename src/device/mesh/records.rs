//! Fractions and cells of particles in the order of rows.

use super::super::arguments::mesh_bins::FindRecordsArguments;
use super::super::arguments::twin::Record;
use super::super::arguments::{Input, Output};
use super::super::launch::THREADS;
use super::super::{Buffer, Device};
use super::{Mesh, MeshParticles};
use crate::Result;

/// Four numbers of the mesh's precision per particle.
#[derive(Debug)]
pub(super) struct Records(Buffer<u8>);

impl Records {
    /// Without particles.
    pub(super) fn new(device: &Device) -> Result<Self> {
        Ok(Self(Buffer::new(device, 0)?))
    }

    /// Computes the records of all rows.
    pub(super) fn find(&mut self, mesh: &Mesh, particles: &MeshParticles) -> Result<()> {
        self.0.resize(particles.rows.len() * 4 * mesh.real())?;
        let arguments = FindRecordsArguments {
            position: particles.inputs(),
            geometry: mesh.parameters(),
            rows: (&particles.rows).into(),
            records: Output::cast(&self.0),
        };
        mesh.over(particles.rows.len(), THREADS, &arguments)
    }

    /// The records as an argument.
    pub(super) fn input(&self) -> Input<Record> {
        Input::cast(&self.0)
    }

    /// Allocated bytes.
    pub(super) fn bytes(&self) -> usize {
        self.0.bytes()
    }
}
