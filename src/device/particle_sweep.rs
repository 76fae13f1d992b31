//! The sweep over a particle list on a device (kernels/pair/particle_sweep.cu), for runs whose method it is
//! and as the baseline of `bench sweep --device cuda` (docs/src/gpu.md).

use super::arguments::particle_sweep::ParticleSweepArguments;
use super::arguments::{Arguments, Output};
use super::pack::Shape;
use super::particle_list::ParticleRecords;
use super::sweep::{Part, Pass, Sweep, SweepMemory};
use super::{Buffer, Device, Kernel, locked};
use crate::Result;
use crate::neighbors::{CLUSTER, SUPER_CLUSTER};
use crate::pair::{PairLaw, Precision};
use std::sync::Mutex;

/// Threads a particle, at least, with further prepared values, and at most. Values take shared memory, so
/// that fewer blocks run at once.
const LEAST_SHARERS: u32 = 2;
const SHARERS_OF_VALUES: u32 = 4;
const MOST_SHARERS: u32 = 8;

/// Warps a multiprocessor up to which more threads share a particle.
const WARPS_WANTED: usize = 64;

/// Largest shared memory of a block for sums of sharers in bytes.
const MOST_SUMS: usize = 15 * 1024;

/// Largest shared memory of a block for positions alone in bytes.
const MOST_STAGED: usize = 32 * 1024;

/// Granularity of the number of staged clusters, which limits the number of compiled kernels.
const STEP: usize = 16;

/// The kernels of a law with its constants, for particle lists.
#[derive(Debug)]
pub struct ParticleSweep<L> {
    device: Device,
    law: L,
    sweep: Sweep,
    /// The kernel of the last sweep.
    last: Mutex<Option<Compiled>>,
}

/// A sweep kernel with its compile-time choices.
#[derive(Clone, Copy, Debug)]
struct Compiled {
    /// Clusters staged in shared memory at once.
    staged: usize,
    /// Threads a particle.
    sharers: u32,
    /// Bytes of shared memory of a block.
    shared: usize,
    kernel: Kernel<ParticleSweepArguments>,
}

impl<L: PairLaw> ParticleSweep<L> {
    /// Compiles the kernels of a law, unless they are cached.
    ///
    /// # Errors
    /// Those of [`Device::kernel`].
    pub fn new(device: &Device, law: L, precision: Precision) -> Result<Self> {
        let sweep = Sweep::new(device, &law, precision, false)?;
        Ok(Self { device: device.clone(), law, sweep, last: Mutex::default() })
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
        let Compiled { sharers, shared, kernel, .. } = self.kernel(records)?;
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
        let (blocks, threads) = (records.super_clusters.len(), SUPER_CLUSTER as u32 * sharers);
        self.device.launch_with_shared(&kernel, blocks, threads, shared, &arguments)
    }

    /// The kernel for a list.
    fn kernel(&self, records: &ParticleRecords) -> Result<Compiled> {
        let shape = self.sweep.shape();
        let super_clusters = records.super_clusters.len();
        let mean = records.entries as usize / super_clusters.max(1);
        let room = most_staged(shape, self.device.shared_memory());
        let mut last = locked(&self.last);
        let staged = staged_clusters(mean, room, last.map_or(0, |last| last.staged));
        let (most, usual) =
            (most_sharers(shape), if shape.groups > 0 { SHARERS_OF_VALUES } else { LEAST_SHARERS });
        // a super-cluster of 64 particles has two warps a sharer
        let fitting = self.device.workers(2 * super_clusters, WARPS_WANTED, most as usize);
        let sharers = most.min(usual.max(fitting as u32));
        if let Some(last) = last.filter(|last| (last.staged, last.sharers) == (staged, sharers)) {
            return Ok(last);
        }
        let shared = shared_bytes(shape, staged, sharers);
        let unit = shape
            .unit(&self.law, ParticleSweepArguments::UNIT, shape.number())
            .with("HILBRIUM_SHARERS", sharers)
            .with("HILBRIUM_ENTRIES", staged)
            .with("HILBRIUM_SHARED", shared);
        let compiled = Compiled { staged, sharers, shared, kernel: self.device.kernel(&unit)? };
        *last = Some(compiled);
        Ok(compiled)
    }
}

/// Largest number of clusters that are staged at once, if a block may have `shared` bytes of shared memory.
/// With further values two blocks of single precision run at once, or one of double precision.
pub fn most_staged(shape: &Shape, shared: usize) -> usize {
    let of_cluster = 4 * shape.real * CLUSTER * (1 + shape.groups);
    let room = match (shape.groups, shape.real) {
        (0, _) => MOST_STAGED.min(shared - MOST_SUMS),
        (_, 4) => shared / 2 - MOST_SUMS,
        _ => shared - MOST_SUMS,
    };
    (room / of_cluster - 1) / STEP * STEP
}

/// Shared memory of a block in bytes: rows of the staged clusters and of one out of reach, then their shifts
/// or the sums of sharers (ParticleStage of kernels/pair/particle_sweep.cu).
pub fn shared_bytes(shape: &Shape, staged: usize, sharers: u32) -> usize {
    // halves of rows are apart in double precision
    let apart = if shape.real == size_of::<f64>() { 64 } else { 0 };
    let rows = (4 * shape.real * CLUSTER * (staged + 1) + apart) * (1 + shape.groups);
    let sums = (sharers as usize - 1) * SUPER_CLUSTER * shape.stride * shape.real;
    (rows + sums.max(4 * shape.real * staged)).next_multiple_of(64)
}

/// Largest number of threads a particle: their sums must fit beside the positions.
pub fn most_sharers(shape: &Shape) -> u32 {
    let fits = |sharers: u32| (sharers as usize - 1) * SUPER_CLUSTER * shape.stride * shape.real <= MOST_SUMS;
    [MOST_SHARERS, MOST_SHARERS / 2].into_iter().find(|&sharers| fits(sharers)).unwrap_or(LEAST_SHARERS)
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
