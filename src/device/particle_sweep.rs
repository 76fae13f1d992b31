//! The sweep over a list of particles on a device (kernels/pair/particle_sweep.cu). Runs do not use it; it is there to compare
//! the sweep over lists of clusters with, in `bench sweep --device cuda` (docs/src/gpu.md).

use super::arguments::particle_sweep::ParticleSweepArguments;
use super::arguments::{Arguments, Output};
use super::particle_list::ParticleRecords;
use super::sweep::{Part, Pass, Sweep, SweepMemory};
use super::{Buffer, Device};
use crate::Result;
use crate::neighbors::{CLUSTER, SUPER_CLUSTER};
use crate::pair::{PairLaw, Precision};

/// Threads that share a particle.
const SHARERS: u32 = 2;

/// Bytes of shared memory that a block takes for positions at most, and clusters whose particles are staged at
/// once, in steps: so few kernels are compiled.
const MOST_STAGED: usize = 32 * 1024;
const STEP: usize = 16;

/// The kernels of a law with its constants, for lists of particles.
#[derive(Debug)]
pub struct ParticleSweep<L> {
    device: Device,
    law: L,
    sweep: Sweep,
}

impl<L: PairLaw> ParticleSweep<L> {
    /// Of a law; kernels that were not yet are compiled.
    ///
    /// # Errors
    /// Those of [`Device::kernel`].
    pub fn new(device: &Device, law: L, precision: Precision) -> Result<Self> {
        let sweep = Sweep::new(device, &law, precision, false)?;
        Ok(Self { device: device.clone(), law, sweep })
    }

    /// Evaluates the law for the owned rows over the listed pairs and writes its outputs, as [`Sweep::run`]. The same bits
    /// in every run.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device fails or its memory is too small.
    pub fn run(
        &self,
        memory: &mut SweepMemory,
        pass: &Pass,
        records: &ParticleRecords,
        inputs: &[&Buffer<f64>],
        outputs: &[&Buffer<f64>],
    ) -> Result<()> {
        self.sweep.pack(memory, pass, inputs, Part::All)?;
        self.sweep(memory, pass, records)?;
        self.sweep.finish(memory, pass, outputs)
    }

    /// The law.
    pub fn law(&self) -> &L {
        &self.law
    }

    /// The first and the last stage of [`ParticleSweep::run`] are those of this.
    pub fn stages(&self) -> &Sweep {
        &self.sweep
    }

    /// The second stage of [`ParticleSweep::run`]: sums over the pairs of packed rows.
    ///
    /// # Errors
    /// As [`ParticleSweep::run`].
    pub fn sweep(&self, memory: &mut SweepMemory, pass: &Pass, records: &ParticleRecords) -> Result<()> {
        let shape = self.sweep.shape();
        let unit = shape
            .unit(&self.law, ParticleSweepArguments::UNIT, shape.number())
            .with("HILBRIUM_SHARERS", SHARERS)
            .with("HILBRIUM_ENTRIES", self.staged(records));
        let (packed, sums) = memory.buffers(shape)?;
        let arguments = ParticleSweepArguments {
            packed: packed.arguments(),
            clusters: (&records.clusters).into(),
            begins: (&records.begins).into(),
            words: (&records.words).into(),
            word_begins: (&records.word_begins).into(),
            first_super_cluster: records.super_clusters.start as u32,
            cutoff: pass.cutoff,
            bx: pass.bx.into(),
            active: pass.active.into(),
            sums: Output::cast(sums),
        };
        let (blocks, threads) = (records.super_clusters.len(), SUPER_CLUSTER as u32 * SHARERS);
        self.device.launch(&self.device.kernel(&unit)?, blocks, threads, &arguments)
    }

    /// Clusters whose particles are in shared memory at once: of most super-clusters all, as far as there is room.
    fn staged(&self, records: &ParticleRecords) -> usize {
        let mean = records.entries as usize / records.super_clusters.len().max(1);
        let room = MOST_STAGED / (4 * self.sweep.shape().real * CLUSTER);
        (mean + mean / 3).next_multiple_of(STEP).max(STEP).min(room / STEP * STEP)
    }
}
