//! Sums of a law over the pairs that one of the methods of runs finds ([`Method`]): lists of clusters, lists
//! of particles, cells, or the two-level search.

use super::arguments::finish::FinishArguments;
use super::arguments::pack::PackArguments;
use super::cells::{CellSweep, Cells};
use super::domain::{Arriving, Domain};
use super::list::Records;
use super::pack::Shape;
use super::particle_list::ParticleRecords;
use super::particle_sweep::ParticleSweep;
use super::search::{NeighborSearch, Space, TwoLevel, TwoLevelMemory};
use super::sweep::{Part, Pass, Sweep, SweepMemory};
use super::{Buffer, Device};
use crate::neighborhood::Method;
use crate::pair::{PairLaw, Precision};
use crate::{Error, Result};

/// Where the pairs of a pass are.
#[derive(Clone, Copy, Debug)]
pub enum Neighbors<'a> {
    /// In a list of clusters.
    Clusters(&'a Records),
    /// In a list of particles.
    Particles(&'a ParticleRecords),
    /// In no list: rows closer than this, the largest interaction radius.
    Within(f64),
}

/// Scratch memory that the sums of all laws share.
#[derive(Debug)]
pub struct SumMemory {
    sweep: SweepMemory,
    cells: Cells,
    search: TwoLevelMemory,
}

impl SumMemory {
    /// Without memory yet.
    ///
    /// # Errors
    /// [`Error::Device`] when the device has failed.
    pub fn new(device: &Device) -> Result<Self> {
        Ok(Self {
            sweep: SweepMemory::new(device)?,
            cells: Cells::new(device)?,
            search: TwoLevelMemory::new(device)?,
        })
    }

    /// Allocated bytes of grids, beside packed rows and sums.
    pub fn grid_bytes(&self) -> usize {
        self.cells.bytes() + self.search.bytes()
    }
}

/// The kernels of a law with its constants, for one method.
#[derive(Debug)]
pub struct LawSums {
    /// For lists of clusters. Its first and last stage are those of most methods.
    stages: Sweep,
    /// Another method than lists of clusters.
    other: Option<Box<dyn OtherSums>>,
}

/// Sums over pairs that are not in a list of clusters.
trait OtherSums: Send {
    /// Packs the rows and sums over the pairs of the owned ones.
    fn sums(
        &mut self,
        memory: &mut SumMemory,
        pass: &Pass,
        neighbors: Neighbors,
        inputs: &[&Buffer<f64>],
    ) -> Result<()>;

    /// Sums over the pairs of rows that are packed in their order.
    fn sums_of_packed(&mut self, _: &mut SumMemory, _: &Pass, _: Neighbors) -> Result<()> {
        Err(mismatch())
    }
}

impl std::fmt::Debug for dyn OtherSums {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("OtherSums")
    }
}

impl LawSums {
    /// The kernels of a law. Those that need no list or grid are compiled now, unless they are cached; the
    /// others at their first use. `symmetric` lists of clusters hold each pair once; all else is full.
    ///
    /// # Errors
    /// Those of [`Device::kernel`].
    pub fn new<L: PairLaw>(
        device: &Device,
        law: &L,
        precision: Precision,
        method: Method,
        symmetric: bool,
    ) -> Result<Self> {
        let other: Option<Box<dyn OtherSums>> = match method {
            Method::Clusters => None,
            Method::Particles => Some(Box::new(ParticleSweep::new(device, *law, precision)?)),
            Method::Cells => Some(Box::new(CellSweep::of_runs(device, *law, precision)?)),
            Method::Search => Some(Box::new(TwoLevel::new(device, *law, precision, None)?)),
        };
        let symmetric = symmetric && other.is_none();
        Ok(Self { stages: Sweep::new(device, law, precision, symmetric)?, other })
    }

    /// Evaluates the law for the owned rows over the pairs and writes its outputs. `inputs` and `outputs` are
    /// the law's columns, component by component in the order of its fields.
    ///
    /// # Errors
    /// As [`LawSums::sums`].
    pub fn run(
        &mut self,
        memory: &mut SumMemory,
        pass: &Pass,
        neighbors: Neighbors,
        [inputs, outputs]: [&[&Buffer<f64>]; 2],
        halos: (&Domain, Arriving),
    ) -> Result<()> {
        self.sums(memory, pass, neighbors, inputs, halos)?;
        self.finish(memory, pass, outputs)
    }

    /// All but the last stage of [`LawSums::run`]: packs the rows, builds a grid where there is no list, and
    /// sums over the pairs. Finishes the pending exchange of halos, even after an error: on lists of clusters
    /// after the records without halo rows, with the other methods before all else.
    ///
    /// # Errors
    /// [`Error::State`] when the reach exceeds half of a periodic edge, [`Error::Device`] when the device
    /// fails, its memory is too small, or the neighbors are not those of the method.
    pub fn sums(
        &mut self,
        memory: &mut SumMemory,
        pass: &Pass,
        neighbors: Neighbors,
        inputs: &[&Buffer<f64>],
        (domain, arriving): (&Domain, Arriving),
    ) -> Result<()> {
        let Self { stages, other } = self;
        match (neighbors, other) {
            // a list of particles may not have sufficed
            (Neighbors::Clusters(records), _) if arriving.is_nothing() => {
                stages.pack(&mut memory.sweep, pass, inputs, Part::All)?;
                stages.sweep(&mut memory.sweep, pass, records, Part::All)
            }
            (Neighbors::Clusters(records), _) => {
                let arrive = || domain.finish_refresh(arriving);
                stages.sums_arriving(&mut memory.sweep, pass, records, inputs, arrive)
            }
            (_, Some(other)) => {
                domain.finish_refresh(arriving)?;
                other.sums(memory, pass, neighbors, inputs)
            }
            (_, None) => domain.finish_refresh(arriving).and(Err(mismatch())),
        }
    }

    /// The shape of packed rows and sums.
    pub(super) fn shape(&self) -> &Shape {
        self.stages.shape()
    }

    /// The arguments of the kernel that packs all rows for [`LawSums::sums_of_packed`].
    pub(super) fn pack_arguments(
        &self,
        memory: &mut SumMemory,
        pass: &Pass,
        inputs: &[&Buffer<f64>],
    ) -> Result<PackArguments> {
        self.stages.pack_arguments(&mut memory.sweep, pass, inputs)
    }

    /// The second stage of [`LawSums::run`] over lists: sums over the pairs of packed rows, without halos.
    pub(super) fn sums_of_packed(
        &mut self,
        memory: &mut SumMemory,
        pass: &Pass,
        neighbors: Neighbors,
    ) -> Result<()> {
        match (neighbors, &mut self.other) {
            (Neighbors::Clusters(records), _) => {
                self.stages.sweep(&mut memory.sweep, pass, records, Part::All)
            }
            (_, Some(other)) => other.sums_of_packed(memory, pass, neighbors),
            (_, None) => Err(mismatch()),
        }
    }

    /// The arguments of the kernel of [`LawSums::finish`].
    pub(super) fn finish_arguments(
        &self,
        memory: &SumMemory,
        pass: &Pass,
        outputs: &[&Buffer<f64>],
    ) -> FinishArguments {
        self.stages.finish_arguments(&memory.sweep, pass, outputs)
    }

    /// The last stage of [`LawSums::run`]: outputs of the owned rows from sums and inputs.
    ///
    /// # Errors
    /// [`Error::Device`] when the device fails.
    pub fn finish(&self, memory: &mut SumMemory, pass: &Pass, outputs: &[&Buffer<f64>]) -> Result<()> {
        self.stages.finish(&mut memory.sweep, pass, outputs)
    }
}

fn mismatch() -> Error {
    Error::device("the neighbors are those of another method", "this is an error in the program")
}

impl<L: PairLaw> OtherSums for ParticleSweep<L> {
    fn sums(
        &mut self,
        memory: &mut SumMemory,
        pass: &Pass,
        neighbors: Neighbors,
        inputs: &[&Buffer<f64>],
    ) -> Result<()> {
        self.stages().pack(&mut memory.sweep, pass, inputs, Part::All)?;
        self.sums_of_packed(memory, pass, neighbors)
    }

    fn sums_of_packed(&mut self, memory: &mut SumMemory, pass: &Pass, neighbors: Neighbors) -> Result<()> {
        let Neighbors::Particles(records) = neighbors else { return Err(mismatch()) };
        self.sweep(&mut memory.sweep, pass, records)
    }
}

impl<L: PairLaw> OtherSums for CellSweep<L> {
    fn sums(
        &mut self,
        memory: &mut SumMemory,
        pass: &Pass,
        neighbors: Neighbors,
        inputs: &[&Buffer<f64>],
    ) -> Result<()> {
        let Neighbors::Within(reach) = neighbors else { return Err(mismatch()) };
        let SumMemory { sweep, cells, .. } = memory;
        self.stages().pack(sweep, pass, inputs, Part::All)?;
        if pass.owned.is_empty() {
            return Ok(());
        }
        let launch = self.build(sweep, cells, pass, reach)?;
        // rows without a cell keep these sums
        sweep.clear_sums()?;
        self.sweep(sweep, cells, pass, &launch)
    }
}

impl<L: PairLaw> OtherSums for TwoLevel<L> {
    fn sums(
        &mut self,
        memory: &mut SumMemory,
        pass: &Pass,
        neighbors: Neighbors,
        inputs: &[&Buffer<f64>],
    ) -> Result<()> {
        let Neighbors::Within(reach) = neighbors else { return Err(mismatch()) };
        let SumMemory { sweep, search, .. } = memory;
        self.swap_memory(search);
        let found = Space::around(self.device(), pass, reach).and_then(|space| {
            self.build(sweep, pass, &space, inputs)?;
            self.search(sweep, pass)
        });
        self.swap_memory(search);
        found
    }
}
