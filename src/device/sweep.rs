//! The sweep on a device: a law over a neighbor list, as [`crate::pair::sweep`] (kernels/pair/sweep.cuh).

use super::arguments::finish::FinishArguments;
use super::arguments::pack::PackArguments;
use super::arguments::sweep::SweepArguments;
use super::arguments::{Arguments, Input, Output};
use super::list::Records;
use super::pack::{Packed, Shape};
use super::{Buffer, Device, Kernel, Unit};
use crate::Result;
use crate::neighbors::SUPER_CLUSTER;
use crate::pair::{PairLaw, Precision};
use crate::space::SimulationBox;
use std::ops::Range;

/// Threads of a block where a thread does a row.
const THREADS: u32 = 256;

/// Warps that a multiprocessor should have of a sweep at least, so that none of its parts waits.
const WARPS_WANTED: usize = 64;

/// What a sweep reads beside the law's inputs.
#[derive(Clone, Copy)]
pub struct Pass<'a> {
    /// Rows, halos and ghosts included.
    pub rows: usize,
    /// The owned ones, which get outputs; they begin with a super-cluster.
    pub owned: &'a Range<usize>,
    /// Position columns.
    pub position: [&'a Buffer<f64>; 3],
    /// Identities, `u64::MAX` of ghosts; `None` where there are no ghosts.
    pub id: Option<&'a Buffer<u64>>,
    /// Interaction radii; not needed where all pairs have one cutoff.
    pub radius: Option<&'a Buffer<f64>>,
    /// The cutoff of all pairs, of laws with one cutoff.
    pub cutoff: f64,
    /// The box; positions are inside where it is periodic.
    pub bx: &'a SimulationBox,
    /// Bytes per row, up to whole super-clusters, not 0 where outputs are wanted: others keep theirs. On full lists only.
    pub active: Option<&'a Buffer<u8>>,
}

/// What a stage of a sweep is for, of rows that are owned before all others, each kind in super-clusters of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All rows, all records.
    All,
    /// Owned rows, and records without rows of others: all of them where there are no rows of others.
    Inner,
    /// Rows of others, and records with some: none where there are no rows of others. It comes after the inner part.
    Outer,
}

/// Memory that sweeps of all laws share.
#[derive(Debug)]
pub struct SweepMemory {
    packed: Packed,
    sums: Buffer<u8>,
    inputs: Buffer<u64>,
    outputs: Buffer<u64>,
}

impl SweepMemory {
    /// None yet.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device has failed.
    pub fn new(device: &Device) -> Result<Self> {
        Ok(Self {
            packed: Packed::new(device)?,
            sums: Buffer::new(device, 0)?,
            inputs: Buffer::new(device, 0)?,
            outputs: Buffer::new(device, 0)?,
        })
    }

    /// The packed rows, and room for the sums of rows of a shape.
    pub(super) fn buffers(&mut self, shape: &Shape) -> Result<(&Packed, &Buffer<u8>)> {
        self.sums.resize(self.packed.rows * shape.stride * shape.real)?;
        Ok((&self.packed, &self.sums))
    }

    /// The memory it takes, in bytes.
    pub fn bytes(&self) -> usize {
        self.packed.bytes() + self.sums.bytes() + self.inputs.bytes() + self.outputs.bytes()
    }
}

/// The kernels of a law with its constants, for half (`symmetric`) or full lists.
#[derive(Debug)]
pub struct Sweep {
    device: Device,
    shape: Shape,
    pack: Kernel<PackArguments>,
    /// Compiled for the number of warps that share a super-cluster of a full list.
    sweep: Unit,
    finish: Kernel<FinishArguments>,
    inputs: usize,
    outputs: usize,
    parts: Option<usize>,
}

impl Sweep {
    /// Of a law. Kernels that were not yet are compiled, that of the sweep itself when it is first needed.
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
            finish: device.kernel(&finish)?,
            inputs: columns(L::INPUTS),
            outputs: columns(L::OUTPUTS),
            parts: None,
        })
    }

    /// With so many warps a super-cluster, a power of two, instead of what the device suggests: for tests and benchmarks.
    ///
    /// On half lists there can be up to eight, on full lists four in single precision and two in double.
    pub fn with_parts(mut self, parts: usize) -> Self {
        assert!(parts.is_power_of_two() && parts <= self.most_parts(), "{parts} warps a super-cluster");
        self.parts = Some(parts);
        self
    }

    /// The shape of its packed rows.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Evaluates the law for the owned rows over the listed pairs and writes its outputs: packs, sweeps, finishes.
    /// `inputs` and `outputs` are the law's columns, component by component in the order of its fields.
    ///
    /// On full lists the same bits in every run. On half lists sums are added atomically, in an order that differs.
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

    /// The first two stages of [`Sweep::run`], while positions or inputs of rows of others are on their way: what needs none
    /// of them is swept, `arrive` is called, whatever has gone wrong before, and then the others are swept. On full lists the
    /// same bits as those of the stages in one part.
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
        // other ranks wait for this one, even if it has failed
        let arrived = arrive();
        inner.and(arrived)?;
        stages(Part::Outer)
    }

    /// The first stage of [`Sweep::run`], or a part of it: packs rows.
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
            let addresses: Vec<u64> = inputs.iter().map(|column| column.at(0)).collect();
            memory.inputs.resize(addresses.len())?;
            memory.inputs.upload(&addresses)?;
        }
        let (super_clusters, of_owned) = (packed.super_clusters(), pass.owned.end.div_ceil(SUPER_CLUSTER));
        let Range { start, end } = match part {
            Part::All => 0..super_clusters,
            Part::Inner => 0..of_owned,
            Part::Outer => of_owned..super_clusters,
        };
        let arguments = PackArguments {
            position: pass.position.map(Input::from),
            radius: pass.radius.into(),
            id: pass.id.into(),
            inputs: Input::cast(&memory.inputs),
            rows: pass.rows as u64,
            first_super_cluster: start as u32,
            end_super_cluster: end as u32,
            super_clusters: super_clusters as u32,
            packed_position: Output::cast(&packed.position),
            further: Output::cast(&packed.further),
            squared_radius: Output::cast(&packed.squared_radius),
            frame: (&packed.frame).into(),
            boxes: Output::cast(&packed.boxes),
        };
        let blocks = (end - start).div_ceil(THREADS as usize / 32);
        self.device.launch(&self.pack, blocks, THREADS, &arguments)
    }

    /// The second stage of [`Sweep::run`], or a part of it: sums over the pairs of packed rows.
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
        let (count, chosen) = match (part, &records.parts) {
            (Part::All, _) | (Part::Inner, None) => (of_all, None),
            (Part::Inner, Some([inner, _])) => (inner.len(), Some(inner)),
            (Part::Outer, Some([_, outer])) => (outer.len(), Some(outer)),
            (Part::Outer, None) => (0, None),
        };
        // on full lists as many as in one sweep over all: the bits of sums depend on it
        let shared = if self.shape.symmetric { count } else { of_all };
        let parts = self.parts.unwrap_or_else(|| self.parts(shared));
        let warps = if self.shape.symmetric { 1 } else { parts };
        let unit = self.sweep.clone().with("HILBRIUM_WARPS", warps);
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
        let kernel = self.device.kernel(&unit)?;
        self.device.launch(&kernel, (count * parts).div_ceil(warps), 32 * warps as u32, &arguments)
    }

    /// The last stage of [`Sweep::run`]: from sums to outputs, of the owned rows. The inputs are those that were packed.
    ///
    /// # Errors
    /// As [`Sweep::run`].
    pub fn finish(&self, memory: &mut SweepMemory, pass: &Pass, outputs: &[&Buffer<f64>]) -> Result<()> {
        assert_eq!(outputs.len(), self.outputs, "one column for each component of the law's outputs");
        let addresses: Vec<u64> = outputs.iter().map(|column| column.at(0)).collect();
        memory.outputs.resize(addresses.len())?;
        memory.outputs.upload(&addresses)?;
        let Range { start, end } = pass.owned.clone();
        let arguments = FinishArguments {
            begin: start as u64,
            end: end as u64,
            id: pass.id.into(),
            active: pass.active.into(),
            inputs: Input::cast(&memory.inputs),
            sums: Input::cast(&memory.sums),
            outputs: Input::cast(&memory.outputs),
            output_count: outputs.len() as i32,
        };
        self.device.launch(&self.finish, (end - start).div_ceil(THREADS as usize), THREADS, &arguments)
    }

    /// Sums of a full list are joined within a block, which shared memory has room for.
    fn most_parts(&self) -> usize {
        match (self.shape.symmetric, self.shape.real) {
            (true, _) => 8,
            (false, 4) => 4,
            _ => 2,
        }
    }

    /// Warps that share a super-cluster: more where there are too few super-clusters to keep the device busy.
    fn parts(&self, super_clusters: usize) -> usize {
        let most = self.most_parts();
        let wanted = WARPS_WANTED * self.device.multiprocessors() as usize;
        let mut parts = 1;
        while parts < most && super_clusters * parts < wanted {
            parts *= 2;
        }
        parts
    }
}
