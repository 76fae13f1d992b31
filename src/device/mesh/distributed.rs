//! Convolution of a mesh that is distributed over ranks with a device each.
//!
//! Each rank has a whole mesh with the values of its particles. Steps of a convolution:
//! 1. Planes of constant x that a rank's particles touch go to their owners, which add them in the order of
//!    ranks.
//! 2. Owners transform their planes along z and y.
//! 3. Waves go to the ranks that own their ky.
//! 4. These transform lines along x, multiply by the influence function and transform back.
//! 5. to 7. Steps 3 to 1 in reverse: planes go to the ranks whose particles touch them.
//!
//! Planes of a mesh and the lines of a range of x are contiguous, so that only waves on their way to the
//! lines are packed (kernels/mesh/slabs.cu).

use super::super::arguments::mesh_slabs::{
    AddPlanesArguments, PackWavesArguments, UnpackWavesArguments, WaveBlocks,
};
use super::super::arguments::{Arguments, Input, Output};
use super::super::exchange::{Exchange, Message};
use super::super::fourier::{LineTransform, RealTransform, half};
use super::super::launch::THREADS;
use super::super::{Buffer, Device, Unit};
use super::influence::{WaveFactors, real};
use super::slabs::{PlaneRun, SharedPlanes, Slabs};
use super::{DeviceSpreader, MeshParticles};
use crate::Result;
use crate::far::mesh::{Influence, Quantity};
use crate::pair::Precision;
use std::ops::Range;

/// Transforms of the own planes and lines of a rank; `None` without planes or lines.
#[derive(Debug)]
pub(super) struct SlabTransforms {
    planes: Option<RealTransform>,
    lines: Option<LineTransform>,
}

impl SlabTransforms {
    /// Plans the transforms of a rank.
    ///
    /// # Errors
    /// [`crate::Error::Usage`] if the device has no transforms; [`crate::Error::Device`] when its memory is
    /// too small.
    pub(super) fn new(device: &Device, slabs: &Slabs, rank: usize, precision: Precision) -> Result<Self> {
        let double = precision == Precision::Double;
        let [nx, ny, nz] = slabs.points;
        let (planes, lines) = (slabs.planes(rank).len(), slabs.rows(rank).len() * half(nz));
        let of_planes =
            (planes > 0).then(|| RealTransform::of_planes(device, [planes, ny, nz], double)).transpose();
        let of_lines = (lines > 0).then(|| LineTransform::new(device, nx, lines, double)).transpose();
        Ok(SlabTransforms { planes: of_planes?, lines: of_lines? })
    }
}

/// The state of this rank.
///
/// Bytes on a device, for `n` waves of the mesh and R ranks, in complex numbers: n / R in each of `waves`,
/// `lines` and `scratch`, half of it in the factors of each quantity, and the work areas of the plans.
/// `scratch` is larger if the planes received from others are, at most (R - 1) / R meshes.
#[derive(Debug)]
pub(super) struct DistributedWaves {
    device: Device,
    slabs: Slabs,
    rank: usize,
    precision: Precision,
    transforms: SlabTransforms,
    factors: WaveFactors,
    /// Waves of the own planes, and of the own lines.
    waves: Buffer<u8>,
    lines: Buffer<u8>,
    /// Received planes, then waves packed by rank.
    scratch: Buffer<u8>,
    /// For each ky the first one of its rank and their number.
    owners: Buffer<u32>,
    /// Received planes of each own plane: index of the first one and of the end; their numbers.
    starts: Buffer<u32>,
    sources: Buffer<u32>,
}

impl DistributedWaves {
    /// A mesh over ranks with these transforms.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device's memory is too small.
    pub(super) fn new(
        device: &Device,
        slabs: Slabs,
        rank: usize,
        transforms: SlabTransforms,
        influence: Influence,
        precision: Precision,
    ) -> Result<Self> {
        let factors = WaveFactors::new(device, influence, slabs.points, slabs.rows(rank), precision)?;
        let wave = 2 * real(precision).1;
        let of_planes = slabs.planes(rank).len() * slabs.points[1] * half(slabs.points[2]) * wave;
        Ok(Self {
            waves: Buffer::new(device, of_planes)?,
            lines: Buffer::new(device, factors.waves() * wave)?,
            scratch: Buffer::new(device, of_planes)?,
            owners: Buffer::from_host(device, slabs.owners().as_flattened())?,
            starts: Buffer::new(device, slabs.planes(rank).len() + 1)?,
            sources: Buffer::new(device, 0)?,
            device: device.clone(),
            slabs,
            rank,
            precision,
            transforms,
            factors,
        })
    }

    /// Allocated bytes, with those of the plans.
    pub(super) fn bytes(&self) -> usize {
        let plans = self.transforms.planes.as_ref().map_or(0, RealTransform::bytes)
            + self.transforms.lines.as_ref().map_or(0, LineTransform::bytes);
        let waves = self.waves.bytes() + self.lines.bytes() + self.scratch.bytes();
        let tables = self.owners.bytes() + self.starts.bytes() + self.sources.bytes();
        plans + waves + tables + self.factors.bytes()
    }

    /// As [`super::DevicePotential::convolve`].
    ///
    /// # Errors
    /// Those of the device, on all ranks.
    pub(super) fn convolve(
        &mut self,
        exchange: &Exchange,
        spreader: &DeviceSpreader,
        particles: &MeshParticles,
        mesh: &Buffer<u8>,
        quantity: Quantity,
    ) -> Result<()> {
        let comm = exchange.comm();
        let occupied = comm.agree_on(spreader.occupied_cells(particles))?;
        let occupied = comm.all_gather(&occupied);
        let shared = SharedPlanes::new(&self.slabs, self.rank, &occupied, spreader.order());
        comm.agree(self.prepare(&shared, quantity))?;
        // All ranks take part in all exchanges, also after an error.
        let home = self.in_scratch(&shared.home);
        let (away, own) = (self.in_mesh(mesh, &shared.away), self.in_mesh(mesh, &shared.home));
        let collected = exchange.exchange(&away, &home).and_then(|()| self.planes_to_waves(mesh, &shared));
        let (blocks, lines) = (self.blocks(), self.parts_of_lines());
        let transposed = exchange.exchange(&blocks, &lines);
        let convolved = collected.and(transposed).and_then(|()| self.convolve_lines(quantity));
        let returned = exchange.exchange(&lines, &blocks);
        let restored = convolved.and(returned).and_then(|()| self.waves_to_planes(mesh));
        let distributed = exchange.exchange(&own, &away);
        comm.agree(restored.and(distributed))
    }

    /// Provides memory, and the tables of the received planes.
    fn prepare(&mut self, shared: &SharedPlanes, quantity: Quantity) -> Result<()> {
        self.factors.prepare(quantity)?;
        self.scratch.resize(self.waves.len().max(shared.received() * self.plane_bytes()))?;
        let (starts, sources) = shared.sources(self.slabs.planes(self.rank));
        self.starts.upload(&starts)?;
        self.sources.resize(sources.len())?;
        self.sources.upload(&sources)
    }

    /// Adds the received planes to the own ones, and transforms them.
    fn planes_to_waves(&self, mesh: &Buffer<u8>, shared: &SharedPlanes) -> Result<()> {
        let Some(transform) = &self.transforms.planes else { return Ok(()) };
        let own = self.slabs.planes(self.rank);
        let planes = mesh.at(own.start * self.plane_bytes());
        if shared.received() > 0 {
            let values = self.slabs.points[1] * self.slabs.points[2];
            let adding = AddPlanesArguments {
                planes: Output::from_address(planes),
                received: Input::cast(&self.scratch),
                starts: (&self.starts).into(),
                sources: (&self.sources).into(),
                count: own.len() as u32,
                values: values as u32,
            };
            self.over(own.len() * values, &adding)?;
        }
        transform.forward(planes, self.waves.at(0))?;
        self.over(self.own_waves(), &PackWavesArguments { waves: self.wave_blocks() })
    }

    /// Transforms the own lines, multiplies them by the influence function and transforms them back.
    fn convolve_lines(&self, quantity: Quantity) -> Result<()> {
        let Some(transform) = &self.transforms.lines else { return Ok(()) };
        transform.transform(self.lines.at(0), false)?;
        self.factors.multiply(&self.lines, quantity)?;
        transform.transform(self.lines.at(0), true)
    }

    /// Transforms the own planes back.
    fn waves_to_planes(&self, mesh: &Buffer<u8>) -> Result<()> {
        let Some(transform) = &self.transforms.planes else { return Ok(()) };
        self.over(self.own_waves(), &UnpackWavesArguments { waves: self.wave_blocks() })?;
        transform.inverse(self.waves.at(0), mesh.at(self.slabs.planes(self.rank).start * self.plane_bytes()))
    }

    /// Launches a kernel of kernels/mesh/slabs.cu with at least `count` threads.
    fn over<A: Arguments>(&self, count: usize, arguments: &A) -> Result<()> {
        let unit = Unit::new(A::UNIT).with("HILBRIUM_REAL", real(self.precision).0);
        let kernel = self.device.kernel(&unit)?;
        self.device.launch(&kernel, count.div_ceil(THREADS as usize), THREADS, arguments)
    }

    fn wave_blocks(&self) -> WaveBlocks {
        WaveBlocks {
            planes: Output::cast(&self.waves),
            blocks: Output::cast(&self.scratch),
            lines: Output::cast(&self.lines),
            owners: (&self.owners).into(),
            x: (&self.slabs.planes(self.rank)).into(),
            y: (&self.slabs.rows(self.rank)).into(),
            rows: self.slabs.points[1] as u32,
            waves: half(self.slabs.points[2]) as u32,
        }
    }

    /// Bytes of a plane of the mesh.
    fn plane_bytes(&self) -> usize {
        self.slabs.points[1] * self.slabs.points[2] * real(self.precision).1
    }

    /// Bytes of the waves of one kx and ky.
    fn row_bytes(&self) -> usize {
        half(self.slabs.points[2]) * 2 * real(self.precision).1
    }

    /// Number of waves of the own planes.
    fn own_waves(&self) -> usize {
        self.slabs.planes(self.rank).len() * self.slabs.points[1] * half(self.slabs.points[2])
    }

    /// Planes where they are in the mesh.
    fn in_mesh(&self, mesh: &Buffer<u8>, runs: &[PlaneRun]) -> Vec<Message> {
        let bytes = self.plane_bytes();
        let message = |run: &PlaneRun| {
            let Range { start, end } = run.planes;
            Message { rank: run.rank, address: mesh.at(start * bytes), bytes: (end - start) * bytes }
        };
        runs.iter().map(message).collect()
    }

    /// Planes one after the other in the scratch memory.
    fn in_scratch(&self, runs: &[PlaneRun]) -> Vec<Message> {
        let mut next = 0;
        let mut messages = Vec::with_capacity(runs.len());
        for run in runs {
            let bytes = run.planes.len() * self.plane_bytes();
            messages.push(Message { rank: run.rank, address: self.scratch.at(next), bytes });
            next += bytes;
        }
        messages
    }

    /// Waves of the own planes in the scratch memory, by the rank that owns their ky.
    fn blocks(&self) -> Vec<Message> {
        let of_row = self.slabs.planes(self.rank).len() * self.row_bytes();
        self.messages(&self.scratch, |slabs, rank| slabs.rows(rank), of_row)
    }

    /// Waves of the own lines, by the rank that owns their planes.
    fn parts_of_lines(&self) -> Vec<Message> {
        let of_plane = self.slabs.rows(self.rank).len() * self.row_bytes();
        self.messages(&self.lines, |slabs, rank| slabs.planes(rank), of_plane)
    }

    /// The part of each other rank of a buffer with consecutive ranges of items.
    fn messages(
        &self,
        buffer: &Buffer<u8>,
        range: impl Fn(&Slabs, usize) -> Range<usize>,
        bytes: usize,
    ) -> Vec<Message> {
        let message = |rank: usize| {
            let Range { start, end } = range(&self.slabs, rank);
            Message { rank, address: buffer.at(start * bytes), bytes: (end - start) * bytes }
        };
        (0..self.slabs.ranks).filter(|&rank| rank != self.rank).map(message).collect()
    }
}
