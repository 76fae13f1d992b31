//! The lists of a neighborhood.

use crate::Result;
use crate::device::Device;
use crate::device::list::{ListBuilder, Records, Search};
use crate::device::particle_list::{ParticleListBuilder, ParticleRecords};

/// Lists of clusters and of particles, with the memory of their builds.
#[derive(Debug)]
pub(super) struct Lists {
    builder: ListBuilder,
    pub(super) clusters: Records,
    particle_builder: ParticleListBuilder,
    pub(super) particles: ParticleRecords,
    /// Whether the pairs are in the list of particles.
    pub(super) of_particles: bool,
    /// Whether the last list of particles of any rank did not suffice.
    pub(super) fell_back: bool,
}

impl Lists {
    pub(super) fn new(device: &Device) -> Result<Self> {
        Ok(Self {
            builder: ListBuilder::new(device)?,
            clusters: Records::new(device)?,
            particle_builder: ParticleListBuilder::new(device)?,
            particles: ParticleRecords::new(device)?,
            of_particles: false,
            fell_back: false,
        })
    }

    /// Builds a list of clusters and, if `of_particles`, the list of particles from it.
    pub(super) fn build(&mut self, search: &Search, of_particles: bool) -> Result<()> {
        self.of_particles = false;
        let begins = of_particles.then_some(&mut self.particles.begins);
        self.particles.entries = self.builder.build_counted(search, &mut self.clusters, begins)?;
        if of_particles {
            let Self { particle_builder, clusters, particles, .. } = self;
            self.of_particles = particle_builder.build_counted(search, clusters, particles)?;
        }
        Ok(())
    }

    pub(super) fn bytes(&self) -> usize {
        let clusters = self.builder.bytes() + self.clusters.bytes();
        clusters + self.particle_builder.bytes() + self.particles.bytes()
    }
}
