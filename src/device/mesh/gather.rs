//! Spreading by gathering (kernels/mesh/gather.cu).

use super::super::arguments::mesh_gather::{
    GatherPointsArguments, PlaceOnPointsArguments, SpreadOverflowArguments,
};
use super::super::arguments::{Input, Output};
use super::super::launch::THREADS;
use super::super::{Buffer, Device};
use super::{Mesh, MeshParticles, Records};
use crate::Result;

/// Threads per block, and blocks per multiprocessor, of the overflow's kernel.
const OVERFLOW_THREADS: u32 = 128;
const OVERFLOW_BLOCKS: usize = 16;

/// Particles on points, and those that found their point taken.
#[derive(Debug)]
pub(super) struct Gather {
    records: Records,
    holders: Buffer<u32>,
    overflow: Buffer<u32>,
    overflowing: Buffer<u32>,
}

impl Gather {
    /// Without particles.
    ///
    /// # Errors
    /// Those of the device.
    pub(super) fn new(device: &Device) -> Result<Self> {
        Ok(Self {
            records: Records::new(device)?,
            holders: Buffer::new(device, 0)?,
            overflow: Buffer::new(device, 0)?,
            overflowing: Buffer::zeros(device, 1)?,
        })
    }

    /// Allocated bytes.
    pub(super) fn bytes(&self) -> usize {
        self.records.bytes() + self.holders.bytes() + self.overflow.bytes() + self.overflowing.bytes()
    }

    /// Places the particles on points.
    ///
    /// # Errors
    /// Those of the device.
    pub(super) fn construct(&mut self, mesh: &Mesh, particles: &MeshParticles) -> Result<()> {
        self.records.find(mesh, particles)?;
        self.holders.resize(mesh.geometry.len())?;
        self.holders.fill_bytes(0xff)?;
        self.overflow.resize(particles.rows.len())?;
        self.overflowing.fill_bytes(0)?;
        let arguments = PlaceOnPointsArguments {
            geometry: mesh.parameters(),
            records: self.records.input(),
            count: particles.rows.len() as u32,
            holders: (&self.holders).into(),
            overflow: (&self.overflow).into(),
            overflowing: (&self.overflowing).into(),
        };
        mesh.over(particles.rows.len(), THREADS, &arguments)
    }

    /// Number of particles that found their point taken.
    ///
    /// # Errors
    /// Those of the device.
    pub(super) fn overflowing(&self) -> Result<usize> {
        Ok(self.overflowing.download()?[0] as usize)
    }

    /// Replaces the mesh by the sum over the particles.
    ///
    /// # Errors
    /// Those of the device.
    pub(super) fn spread(
        &self,
        mesh: &Mesh,
        particles: &MeshParticles,
        values: &Buffer<f64>,
        to: &mut Buffer<u8>,
    ) -> Result<()> {
        let values = Input::at(values, particles.rows.start);
        let gathering = GatherPointsArguments {
            geometry: mesh.parameters(),
            records: self.records.input(),
            values,
            holders: (&self.holders).into(),
            sums: Output::cast(to),
        };
        mesh.over(mesh.geometry.len(), THREADS, &gathering)?;
        let adding = SpreadOverflowArguments {
            geometry: mesh.parameters(),
            records: self.records.input(),
            values,
            overflow: (&self.overflow).into(),
            overflowing: (&self.overflowing).into(),
            sums: Output::cast(to),
        };
        let threads = OVERFLOW_BLOCKS * mesh.device.multiprocessors() as usize * OVERFLOW_THREADS as usize;
        mesh.over(threads.min(particles.rows.len()), OVERFLOW_THREADS, &adding)
    }
}
