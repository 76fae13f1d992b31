//! The evaluation of a law over cells.

use super::super::arguments::cells::{CellPass, CellTasks};
use super::super::arguments::cells_cell::{SweepCellsArguments, SweepCellsSharedArguments};
use super::super::arguments::cells_particles::SweepParticlesArguments;
use super::super::arguments::cells_pencil::SweepPencilsArguments;
use super::super::arguments::cells_sub_box::SweepSubBoxesArguments;
use super::super::arguments::{Arguments, Output};
use super::super::sweep::{Part, Pass, Sweep, SweepMemory};
use super::super::{Buffer, Device};
use super::grid::Cells;
use super::strategy::{Launch, Limits, Strategy, USUAL_SHARED, bytes_of_particle};
use crate::Result;
use crate::pair::{PairLaw, Precision};

/// The kernels of a law with its constants, for one strategy or for those of runs.
#[derive(Debug)]
pub struct CellSweep<L> {
    device: Device,
    law: L,
    stages: Sweep,
    /// `None` where each build chooses.
    strategy: Option<Strategy>,
    shared: usize,
    all_pairs: bool,
}

impl<L: PairLaw> CellSweep<L> {
    /// Compiles the pack and finish kernels of a law, unless they are cached; the others at their first use.
    ///
    /// # Errors
    /// Those of [`Device::kernel`].
    pub fn new(device: &Device, law: L, precision: Precision, strategy: Strategy) -> Result<Self> {
        let stages = Sweep::new(device, &law, precision, false)?;
        // a sub-box gains from memory; the others gain from blocks that share a multiprocessor
        let shared = if strategy == Strategy::SubBox { device.shared_memory() } else { USUAL_SHARED };
        Ok(Self { device: device.clone(), law, stages, strategy: Some(strategy), shared, all_pairs: false })
    }

    /// As [`CellSweep::new`], with the strategy that suits the particles of each build.
    ///
    /// # Errors
    /// Those of [`Device::kernel`].
    pub fn of_runs(device: &Device, law: L, precision: Precision) -> Result<Self> {
        Ok(Self { strategy: None, ..Self::new(device, law, precision, Strategy::Particle)? })
    }

    /// Sets the shared memory of a block (bytes), for tests and benchmarks. Beyond that of the device it is
    /// that of the device.
    pub fn with_shared_memory(mut self, bytes: usize) -> Self {
        self.shared = bytes.min(self.device.shared_memory());
        self
    }

    /// Evaluates all pairs of neighboring cells, whatever their distance: for comparisons with the figures of
    /// the paper. In open boxes only, as images would count.
    pub fn with_all_pairs(mut self) -> Self {
        self.all_pairs = true;
        self
    }

    /// The law.
    pub fn law(&self) -> &L {
        &self.law
    }

    /// The cluster sweep whose first and last stage [`CellSweep::run`] uses.
    pub fn stages(&self) -> &Sweep {
        &self.stages
    }

    /// Evaluates the law for the owned rows over all pairs in range and writes its outputs, in four stages:
    /// pack, build, sweep, finish. `reach` is the largest interaction radius; `inputs` and `outputs` are the
    /// law's columns, component by component in the order of its fields. Reproducible bit for bit.
    ///
    /// # Errors
    /// [`crate::Error::State`] when the reach exceeds half of a periodic edge, [`crate::Error::Device`] when
    /// the device fails or its memory is too small.
    pub fn run(
        &self,
        memory: &mut SweepMemory,
        cells: &mut Cells,
        pass: &Pass,
        reach: f64,
        inputs: &[&Buffer<f64>],
        outputs: &[&Buffer<f64>],
    ) -> Result<()> {
        self.stages.pack(memory, pass, inputs, Part::All)?;
        let launch = self.build(memory, cells, pass, reach)?;
        self.sweep(memory, cells, pass, &launch)?;
        self.stages.finish(memory, pass, outputs)
    }

    /// The second stage of [`CellSweep::run`]: sorts packed rows into cells and finds the work of the blocks.
    /// Waits for the device.
    ///
    /// # Errors
    /// As [`CellSweep::run`].
    pub fn build(
        &self,
        memory: &mut SweepMemory,
        cells: &mut Cells,
        pass: &Pass,
        reach: f64,
    ) -> Result<Launch> {
        let shape = self.stages.shape();
        let (packed, _) = memory.buffers(shape)?;
        cells.build(shape, packed, pass, reach)?;
        let limits = Limits {
            multiprocessors: self.device.multiprocessors() as usize,
            shared: self.shared,
            fullest: cells.fullest(),
        };
        let suited = || Strategy::suited(cells.particles(), cells.occupied());
        let strategy = self.strategy.unwrap_or_else(suited);
        let launch = strategy.launch(cells.grid()?, shape, &limits);
        if strategy.has_tasks() {
            cells.find_tasks(launch.shape, launch.slice)?;
        }
        Ok(launch)
    }

    /// The third stage of [`CellSweep::run`]: sums over the pairs of neighboring cells.
    ///
    /// # Errors
    /// As [`CellSweep::run`].
    pub fn sweep(&self, memory: &mut SweepMemory, cells: &Cells, pass: &Pass, launch: &Launch) -> Result<()> {
        let (_, sums) = memory.buffers(self.stages.shape())?;
        let arguments = CellPass {
            grid: cells.grid_arguments()?,
            particles: cells.particle_arguments(),
            begin: pass.owned.start as u32,
            end: pass.owned.end as u32,
            active: pass.active.into(),
            cutoff: pass.cutoff,
            sums: Output::cast(sums),
        };
        if !launch.strategy.has_tasks() {
            let multiprocessors = self.device.multiprocessors() as usize;
            let blocks = launch.strategy.blocks(cells.particles(), multiprocessors);
            return self.start(blocks, launch, &SweepParticlesArguments { pass: arguments });
        }
        let (boxes, slices, count) = cells.task_arguments();
        let tasks = CellTasks {
            boxes,
            slices,
            count,
            shape: launch.shape.map(|cells| cells as u32),
            slice: launch.slice as u32,
        };
        let blocks = cells.tasks();
        let (pass, capacity) = (arguments, launch.capacity as u32);
        match launch.strategy {
            Strategy::Particle | Strategy::ParticleLoop | Strategy::Cell => {
                self.start(blocks, launch, &SweepCellsArguments { pass, tasks })
            }
            Strategy::CellShared => {
                self.start(blocks, launch, &SweepCellsSharedArguments { pass, tasks, capacity })
            }
            Strategy::SubBox => self.start(blocks, launch, &SweepSubBoxesArguments { pass, tasks, capacity }),
            Strategy::Pencil | Strategy::PencilRegisters => {
                self.start(blocks, launch, &SweepPencilsArguments { pass, tasks, capacity })
            }
        }
    }

    fn start<A: Arguments>(&self, blocks: usize, launch: &Launch, arguments: &A) -> Result<()> {
        let shape = self.stages.shape();
        let mut unit = shape.unit(&self.law, A::UNIT, shape.number());
        if self.all_pairs {
            unit = unit.with("HILBRIUM_ALL_PAIRS", 1);
        }
        if launch.strategy == Strategy::PencilRegisters {
            unit = unit.with("HILBRIUM_FROM_REGISTERS", 1);
        }
        let kernel = self.device.kernel(&unit)?;
        let shared = launch.capacity * bytes_of_particle(shape);
        self.device.launch_with_shared(&kernel, blocks, launch.threads as u32, shared, arguments)
    }
}
