//! Sweeps on a device: evaluation of a law over a cluster list, as [`crate::pair::Sweep`]
//! (kernels/pair/sweep.cuh).

use super::arguments::finish::FinishArguments;
use super::arguments::pack::PackArguments;
use super::arguments::sweep::SweepArguments;
use super::arguments::{Arguments, Input, MOST_COLUMNS, Output, law_columns};
use super::list::Records;
use super::pack::{Packed, Shape};
use super::{Buffer, Device, Kernel, Unit};
use crate::Result;
use crate::neighbors::SUPER_CLUSTER;
use crate::pair::{PairLaw, Precision};
use crate::space::SimulationBox;
use std::ops::Range;
use std::sync::OnceLock;

/// Threads a block of kernels over rows.
const THREADS: u32 = 256;

/// Warps a multiprocessor up to which several share a super-cluster: twice those that it can hold.
const WARPS_WANTED: usize = 128;

/// The input of a sweep beside the law's columns.
#[derive(Clone, Copy)]
pub struct Pass<'a> {
    /// Number of rows, including halos and ghosts.
    pub rows: usize,
    /// The owned rows, which get outputs; they begin with a super-cluster.
    pub owned: &'a Range<usize>,
    /// Position columns.
    pub position: [&'a Buffer<f64>; 3],
    /// Identities, `u64::MAX` of ghosts; `None` without ghosts.
    pub id: Option<&'a Buffer<u64>>,
    /// Interaction radii; unused by laws with one cutoff.
    pub radius: Option<&'a Buffer<f64>>,
    /// The cutoff of all pairs, of laws with one cutoff.
    pub cutoff: f64,
    /// The box. Positions are inside along periodic dimensions.
    pub bx: &'a SimulationBox,
    /// One byte a row, padded to whole super-clusters: 0 for rows that keep their outputs. On full lists
    /// only.
    pub active: Option<&'a Buffer<u8>>,
}

/// The rows and records of a stage, if halo rows come after owned ones and begin with a super-cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All rows, all records.
    All,
    /// Owned rows and records without halo rows; all without halos.
    Inner,
    /// Halo rows and records with halo rows; none without halos. It follows the inner part.
    Outer,
}

/// Scratch memory that sweeps of all laws share.
#[derive(Debug)]
pub struct SweepMemory {
    packed: Packed,
    sums: Buffer<u8>,
    /// Input columns of the last packed rows.
    inputs: [Input<f64>; MOST_COLUMNS],
}

impl SweepMemory {
    /// Without memory yet.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device has failed.
    pub fn new(device: &Device) -> Result<Self> {
        Ok(Self {
            packed: Packed::new(device)?,
            sums: Buffer::new(device, 0)?,
            inputs: [Input::NULL; MOST_COLUMNS],
        })
    }

    /// The packed rows, and the buffer of sums for a shape.
    pub(super) fn buffers(&mut self, shape: &Shape) -> Result<(&Packed, &Buffer<u8>)> {
        self.sums.resize(self.packed.rows * shape.stride * shape.real)?;
        Ok((&self.packed, &self.sums))
    }

    /// The law's input columns and the buffer of sums, for `rows` rows that are packed elsewhere, in an order
    /// of their own ([`super::search`]).
    pub(super) fn columns(
        &mut self,
        shape: &Shape,
        rows: usize,
        inputs: &[&Buffer<f64>],
    ) -> Result<([Input<f64>; MOST_COLUMNS], &Buffer<u8>)> {
        self.inputs = law_columns(inputs, Input::NULL);
        self.sums.resize(rows * shape.stride * shape.real)?;
        Ok((self.inputs, &self.sums))
    }

    /// The arguments of the kernel that packs these super-clusters of a pass.
    fn pack_arguments(&self, pass: &Pass, super_clusters: Range<usize>) -> PackArguments {
        let packed = &self.packed;
        PackArguments {
            position: pass.position.map(Input::from),
            radius: pass.radius.into(),
            id: pass.id.into(),
            inputs: self.inputs,
            rows: pass.rows as u64,
            first_super_cluster: super_clusters.start as u32,
            end_super_cluster: super_clusters.end as u32,
            super_clusters: packed.super_clusters() as u32,
            packed_position: Output::cast(&packed.position),
            further: Output::cast(&packed.further),
            squared_radius: Output::cast(&packed.squared_radius),
            frame: (&packed.frame).into(),
            boxes: Output::cast(&packed.boxes),
        }
    }

    /// The sums.
    pub(super) fn sums(&self) -> Output<super::arguments::twin::Real> {
        Output::cast(&self.sums)
    }

    /// Sets the sums of all rows to 0.
    pub(super) fn clear_sums(&mut self) -> Result<()> {
        self.sums.fill_bytes(0)
    }

    /// Allocated bytes.
    pub fn bytes(&self) -> usize {
        self.packed.bytes() + self.sums.bytes()
    }
}

/// The kernels of a law with its constants, for half (`symmetric`) or full lists.
#[derive(Debug)]
pub struct Sweep {
    device: Device,
    shape: Shape,
    pack: Kernel<PackArguments>,
    /// Without the macro for the number of warps a super-cluster of a full list.
    sweep: Unit,
    /// The kernels of `sweep` that have been used, by the binary logarithm of that number.
    sweeps: [OnceLock<Kernel<SweepArguments>>; 3],
    finish: Kernel<FinishArguments>,
    inputs: usize,
    outputs: usize,
    parts: Option<usize>,
}

impl Sweep {
    /// Compiles the pack and finish kernels of a law, unless they are cached; the sweep kernel at its first
    /// use.
    ///
    /// # Errors
    /// Those of [`Device::kernel`].
    pub fn new<L: PairLaw>(device: &Device, law: &L, precision: Precision, symmetric: bool) -> Result<Self> {
        let shape = Shape::of::<L>(precision, symmetric);
        let number = shape.number();
        let finish = shape.unit(law, FinishArguments::UNIT, "double").with("HILBRIUM_SUM_REAL", number);
        let columns =
            |fields: &[crate::particles::Field]| fields.iter().map(|field| field.components()).sum();
        Ok(Self {
            device: device.clone(),
            shape,
            pack: device.kernel(&shape.unit(law, PackArguments::UNIT, number))?,
            sweep: shape.unit(law, SweepArguments::UNIT, number),
            sweeps: Default::default(),
            finish: device.kernel(&finish)?,
            inputs: columns(L::INPUTS),
            outputs: columns(L::OUTPUTS),
            parts: None,
        })
    }

    /// Sets the number of warps a super-cluster, a power of two: for tests and benchmarks.
    ///
    /// At most 32 on half lists; on full lists four in single and two in double precision.
    pub fn with_parts(mut self, parts: usize) -> Self {
        assert!(parts.is_power_of_two() && parts <= self.most_parts(), "{parts} warps a super-cluster");
        self.parts = Some(parts);
        self
    }

    /// The shape of its packed rows.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Evaluates the law for the owned rows over the listed pairs and writes its outputs, in three stages:
    /// pack, sweep, finish. `inputs` and `outputs` are the law's columns, component by component in the order
    /// of its fields.
    ///
    /// Full lists are reproducible bit for bit. On half lists sums are added atomically, in varying order.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device fails or its memory is too small.
    pub fn run(
        &self,
        memory: &mut SweepMemory,
        pass: &Pass,
        records: &Records,
        inputs: &[&Buffer<f64>],
        outputs: &[&Buffer<f64>],
    ) -> Result<()> {
        self.pack(memory, pass, inputs, Part::All)?;
        self.sweep(memory, pass, records, Part::All)?;
        self.finish(memory, pass, outputs)
    }

    /// The first two stages of [`Sweep::run`], overlapped with a halo exchange: sweeps the records without
    /// halo rows, calls `arrive` even after an error, then sweeps the others. On full lists the sums have the
    /// same bits as without overlap.
    ///
    /// # Errors
    /// As [`Sweep::run`]; those of `arrive`.
    pub fn sums_arriving(
        &self,
        memory: &mut SweepMemory,
        pass: &Pass,
        records: &Records,
        inputs: &[&Buffer<f64>],
        arrive: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let mut stages = |part| {
            self.pack(memory, pass, inputs, part)?;
            self.sweep(memory, pass, records, part)
        };
        let inner = stages(Part::Inner);
        // collective: other ranks wait even if this one has failed
        let arrived = arrive();
        inner.and(arrived)?;
        stages(Part::Outer)
    }

    /// The first stage of [`Sweep::run`] or a part of it: packs rows.
    ///
    /// # Errors
    /// As [`Sweep::run`].
    pub fn pack(
        &self,
        memory: &mut SweepMemory,
        pass: &Pass,
        inputs: &[&Buffer<f64>],
        part: Part,
    ) -> Result<()> {
        assert_eq!(inputs.len(), self.inputs, "one column for each component of the law's inputs");
        assert!(part == Part::All || pass.owned.start == 0, "rows of others are behind the owned ones");
        let packed = &mut memory.packed;
        if part != Part::Outer {
            packed.resize(pass.rows, &self.shape)?;
            memory.inputs = law_columns(inputs, Input::NULL);
        }
        let (super_clusters, of_owned) = (packed.super_clusters(), pass.owned.end.div_ceil(SUPER_CLUSTER));
        let Range { start, end } = match part {
            Part::All => 0..super_clusters,
            Part::Inner => 0..of_owned,
            Part::Outer => of_owned..super_clusters,
        };
        let blocks = (end - start).div_ceil(THREADS as usize / 32);
        let arguments = memory.pack_arguments(pass, start..end);
        self.device.launch(&self.pack, blocks, THREADS, &arguments)
    }

    /// Sizes the memory for all rows of a pass, and returns the arguments of the kernel that packs them.
    pub(super) fn pack_arguments(
        &self,
        memory: &mut SweepMemory,
        pass: &Pass,
        inputs: &[&Buffer<f64>],
    ) -> Result<PackArguments> {
        assert_eq!(inputs.len(), self.inputs, "one column for each component of the law's inputs");
        memory.packed.resize(pass.rows, &self.shape)?;
        memory.inputs = law_columns(inputs, Input::NULL);
        Ok(memory.pack_arguments(pass, 0..memory.packed.super_clusters()))
    }

    /// The second stage of [`Sweep::run`] or a part of it: sums over the pairs of packed rows.
    ///
    /// # Errors
    /// As [`Sweep::run`].
    pub fn sweep(&self, memory: &mut SweepMemory, pass: &Pass, records: &Records, part: Part) -> Result<()> {
        assert!(
            !(self.shape.symmetric && pass.active.is_some()),
            "pairs of half lists act on both particles, active or not"
        );
        let packed = &memory.packed;
        if part != Part::Outer {
            memory.sums.resize(packed.rows * self.shape.stride * self.shape.real)?;
            if self.shape.symmetric {
                memory.sums.fill_bytes(0)?;
            }
        }
        let of_all = records.super_clusters.len();
        let (count, chosen) = match (part, &records.interior_and_boundary) {
            (Part::All, _) | (Part::Inner, None) => (of_all, None),
            (Part::Inner, Some([inner, _])) => (inner.len(), Some(inner)),
            (Part::Outer, Some([_, outer])) => (outer.len(), Some(outer)),
            (Part::Outer, None) => (0, None),
        };
        // on full lists independent of the part, as the bits of sums depend on it
        let shared = if self.shape.symmetric { count } else { of_all };
        let parts =
            self.parts.unwrap_or_else(|| self.device.workers(shared, WARPS_WANTED, self.most_parts()));
        let warps = if self.shape.symmetric { 1 } else { parts };
        let arguments = SweepArguments {
            packed: packed.arguments(),
            list: records.into(),
            chosen: chosen.into(),
            first_super_cluster: records.super_clusters.start as u32,
            super_clusters: count as u32,
            parts: parts as u32,
            cutoff: pass.cutoff,
            bx: pass.bx.into(),
            active: pass.active.into(),
            sums: Output::cast(&memory.sums),
        };
        let kernel = self.sweep_kernel(warps)?;
        self.device.launch(&kernel, (count * parts).div_ceil(warps), 32 * warps as u32, &arguments)
    }

    /// The sweep kernel for this number of warps a super-cluster of a full list.
    fn sweep_kernel(&self, warps: usize) -> Result<Kernel<SweepArguments>> {
        let known = &self.sweeps[warps.ilog2() as usize];
        if let Some(kernel) = known.get() {
            return Ok(*kernel);
        }
        let kernel = self.device.kernel(&self.sweep.clone().with("HILBRIUM_WARPS", warps))?;
        Ok(*known.get_or_init(|| kernel))
    }

    /// The last stage of [`Sweep::run`]: outputs of the owned rows from sums and the packed inputs.
    ///
    /// # Errors
    /// As [`Sweep::run`].
    pub fn finish(&self, memory: &mut SweepMemory, pass: &Pass, outputs: &[&Buffer<f64>]) -> Result<()> {
        let Range { start, end } = pass.owned.clone();
        let arguments = self.finish_arguments(memory, pass, outputs);
        self.device.launch(&self.finish, (end - start).div_ceil(THREADS as usize), THREADS, &arguments)
    }

    /// The arguments of [`Sweep::finish`].
    pub(super) fn finish_arguments(
        &self,
        memory: &SweepMemory,
        pass: &Pass,
        outputs: &[&Buffer<f64>],
    ) -> FinishArguments {
        assert_eq!(outputs.len(), self.outputs, "one column for each component of the law's outputs");
        let Range { start, end } = pass.owned.clone();
        FinishArguments {
            begin: start as u64,
            end: end as u64,
            id: pass.id.into(),
            active: pass.active.into(),
            inputs: memory.inputs,
            sums: Input::cast(&memory.sums),
            outputs: law_columns(outputs, Output::NULL),
            output_count: outputs.len() as i32,
        }
    }

    /// The largest number of warps a super-cluster. Full lists reduce sums in the shared memory of a block.
    fn most_parts(&self) -> usize {
        match (self.shape.symmetric, self.shape.real) {
            (true, _) => 32,
            (false, 4) => 4,
            _ => 2,
        }
    }
}
