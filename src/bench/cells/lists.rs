//! Sweeps over cluster lists and particle lists, beside those over cells.

use super::scene::{CUTOFF, Scene};
use super::{Bench, Times};
use crate::Result;
use crate::device::hierarchy::{Hierarchy, Radii};
use crate::device::list::{ListBuilder, Records, Search};
use crate::device::particle_list::{ParticleListBuilder, ParticleRecords};
use crate::device::particle_sweep::ParticleSweep;
use crate::device::sweep::{Part, Sweep, SweepMemory};
use crate::device::{Buffer, Device};
use crate::neighbors::cluster::power_of_two_below;
use crate::pair::{PairLaw, Precision};
use crate::particles::Field;

impl Bench<'_> {
    /// The times of a cluster list that reaches as far as the cutoff.
    pub(super) fn clusters<L: PairLaw>(&self, scene: &Scene, law: &L, symmetric: bool) -> Result<Times> {
        let owned = 0..scene.particles();
        let pass = Self::pass(scene, &owned);
        let outputs = [scene.columns.scalar(Field::PairEnergy)];
        let sweep = Sweep::new(self.device, law, Precision::Mixed, symmetric)?;
        let mut memory = SweepMemory::new(self.device)?;
        let mut list = Listed::new(self.device, scene)?;
        list.build(scene, symmetric)?;
        sweep.pack(&mut memory, &pass, &[], Part::All)?;
        let swept = self.seconds(|| sweep.sweep(&mut memory, &pass, &list.records, Part::All))?;
        let build = self.seconds(|| list.build(scene, symmetric))?;
        let all = self.seconds(|| {
            list.build(scene, symmetric)?;
            sweep.run(&mut memory, &pass, &list.records, &[], &outputs)
        })?;
        Ok(Times { build, sweep: swept, all })
    }

    /// The times of a particle list that reaches as far as the cutoff; `None` if its encoding does not
    /// suffice.
    pub(super) fn particle_list<L: PairLaw>(&self, scene: &Scene, law: L) -> Result<Option<Times>> {
        let owned = 0..scene.particles();
        let pass = Self::pass(scene, &owned);
        let outputs = [scene.columns.scalar(Field::PairEnergy)];
        let sweep = ParticleSweep::new(self.device, law, Precision::Mixed)?;
        let mut memory = SweepMemory::new(self.device)?;
        let mut list = Listed::new(self.device, scene)?;
        if !list.build_particles(scene)? {
            return Ok(None);
        }
        sweep.stages().pack(&mut memory, &pass, &[], Part::All)?;
        let swept = self.seconds(|| sweep.sweep(&mut memory, &pass, &list.particles))?;
        let build = self.seconds(|| list.build_particles(scene).map(drop))?;
        let all = self.seconds(|| {
            list.build_particles(scene)?;
            sweep.run(&mut memory, &pass, &list.particles, &[], &outputs)
        })?;
        Ok(Some(Times { build, sweep: swept, all }))
    }
}

/// Lists with what their builds need.
struct Listed {
    hierarchy: Hierarchy,
    builder: ListBuilder,
    records: Records,
    refiner: ParticleListBuilder,
    particles: ParticleRecords,
    radius: Buffer<f64>,
}

impl Listed {
    fn new(device: &Device, scene: &Scene) -> Result<Self> {
        Ok(Self {
            hierarchy: Hierarchy::new(device)?,
            builder: ListBuilder::new(device)?,
            records: Records::new(device)?,
            refiner: ParticleListBuilder::new(device)?,
            particles: ParticleRecords::new(device)?,
            radius: Buffer::from_host(device, &vec![CUTOFF; scene.particles()])?,
        })
    }

    fn build(&mut self, scene: &Scene, symmetric: bool) -> Result<()> {
        self.build_all(scene, symmetric, false).map(drop)
    }

    /// Builds both lists; returns whether the encoding of particle lists suffices.
    fn build_particles(&mut self, scene: &Scene) -> Result<bool> {
        self.build_all(scene, false, true)
    }

    fn build_all(&mut self, scene: &Scene, symmetric: bool, particles: bool) -> Result<bool> {
        let (rows, position) = (scene.particles(), scene.columns.vector(Field::Position));
        let unit = power_of_two_below(CUTOFF);
        self.hierarchy.build(position, Radii::All(CUTOFF), None, rows, unit)?;
        let search = Search {
            rows,
            owned: 0..rows,
            symmetric,
            position,
            radius: &self.radius,
            id: &scene.columns.id,
            center: self.hierarchy.center(),
            extent: self.hierarchy.extent(),
            unit,
            bx: &scene.bx,
        };
        self.builder.build(&search, &mut self.records)?;
        if particles { self.refiner.build(&search, &self.records, &mut self.particles) } else { Ok(true) }
    }
}
