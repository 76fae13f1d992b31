//! The sweep over a particle list on a device (kernels/pair/particle_sweep.cu), for runs whose method it is
//! and as the baseline of `bench sweep --device cuda` (docs/src/gpu.md).

use super::arguments::particle_sweep::ParticleSweepArguments;
use super::arguments::{Arguments, Output};
use super::particle_list::ParticleRecords;
use super::sweep::{Part, Pass, Sweep, SweepMemory};
use super::{Buffer, Device};
use crate::Result;
use crate::neighbors::{CLUSTER, SUPER_CLUSTER};
use crate::pair::{PairLaw, Precision};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Threads a particle.
const SHARERS: u32 = 2;

/// Largest shared memory of a block for positions in bytes, and the granularity of the number of staged
/// clusters, which limits the number of compiled kernels.
const MOST_STAGED: usize = 32 * 1024;
const STEP: usize = 16;

/// The kernels of a law with its constants, for particle lists.
#[derive(Debug)]
pub struct ParticleSweep<L> {
    device: Device,
    law: L,
    sweep: Sweep,
    /// Clusters staged in the last sweep; 0 before the first.
    last_staged: AtomicUsize,
}

impl<L: PairLaw> ParticleSweep<L> {
    /// Compiles the kernels of a law, unless they are cached.
    ///
    /// # Errors
    /// Those of [`Device::kernel`].
    pub fn new(device: &Device, law: L, precision: Precision) -> Result<Self> {
        let sweep = Sweep::new(device, &law, precision, false)?;
        Ok(Self { device: device.clone(), law, sweep, last_staged: AtomicUsize::new(0) })
    }

    /// Evaluates the law for the owned rows over the listed pairs and writes its outputs, as [`Sweep::run`],
    /// reproducible bit for bit.
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

    /// The cluster sweep, whose first and last stage [`ParticleSweep::run`] uses.
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

    /// Number of clusters staged in shared memory at once.
    fn staged(&self, records: &ParticleRecords) -> usize {
        let mean = records.entries as usize / records.super_clusters.len().max(1);
        let room = MOST_STAGED / (4 * self.sweep.shape().real * CLUSTER) / STEP * STEP;
        let staged = staged_clusters(mean, room, self.last_staged.load(Relaxed));
        self.last_staged.store(staged, Relaxed);
        staged
    }
}

/// Number of clusters to stage, if super-clusters have `mean` neighbor clusters: enough for most of them, and
/// no more than `room`. The number of the last sweep (0: none) stays while it suffices, because another one
/// compiles another kernel.
fn staged_clusters(mean: usize, room: usize, last: usize) -> usize {
    let wanted = (mean + mean / 3).next_multiple_of(STEP).clamp(STEP, room);
    let suffices = last >= (mean + mean / 8).min(room) && last <= wanted + wanted / 2;
    if last > 0 && suffices { last } else { wanted }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_staged_clusters_changes_seldom() {
        let room = 256;
        assert_eq!(
            [0, 1, 12, 13, 100, 1000].map(|mean| staged_clusters(mean, room, 0)),
            [16, 16, 16, 32, 144, 256]
        );
        // less than an eighth of slack, or too much, chooses again
        assert_eq!([100, 128, 129].map(|mean| staged_clusters(mean, room, 144)), [144, 144, 176]);
        assert_eq!([72, 60].map(|mean| staged_clusters(mean, room, 144)), [144, 80]);
        assert_eq!(staged_clusters(1000, room, 256), 256);
    }
}
