//! Convolution of a distributed mesh.

use super::FourierScalar;
use super::grid::{FourierGrid, range};
use super::layout::Layout;
use super::lines::Lines;
use super::planes::{
    forward_rows, inverse_rows, read_waves, row_work, transform_columns, write_tail, write_waves,
};
use super::real::RealLines;
use super::transposition::{Transposition, by_plane, by_plane_mut};
use super::waves::{convolve, wave_work};
use crate::comm::Communicator;
use crate::parallel::{Aligned, ScratchPool, map_items, split_range};
use crate::simd::Scalar;
use bytemuck::Zeroable;
use std::ops::Range;

/// The convolution of mesh values with a function that is given by its influence on each wave.
pub struct Convolution<T: FourierScalar> {
    grid: FourierGrid,
    rank: usize,
    x: Lines<T>,
    y: Lines<T>,
    z: RealLines<T>,
    /// Ranges of y, and of kz, of the ranks with the same planes.
    rows: Vec<Range<usize>>,
    kz: Vec<Range<usize>>,
    /// For each rank with the same kz, the ky of its rows of waves, and the rows of these ky after the
    /// transform along y.
    ky: Vec<[Vec<usize>; 2]>,
    /// The waves that this rank transforms along x.
    layout: Layout,
    /// Within planes: from all z to all y.
    within: Transposition,
    /// Over planes: from all y to all x.
    over: Transposition,
    /// Values before and after a transposition. The second is empty on a single rank.
    buffers: [Aligned<T>; 2],
}

impl<T: FourierScalar> Convolution<T> {
    /// Plans convolutions on a rank of a grid.
    pub fn new(grid: FourierGrid, rank: usize) -> Self {
        let ([nx, ny, nz], [over, within]) = (grid.points(), grid.ranks());
        let (x, y, z) = (Lines::new(nx), Lines::new(ny), RealLines::new(nz));
        let parts = |length: usize, parts: usize| -> Vec<Range<usize>> {
            (0..parts).map(|part| range(length, part, parts)).collect()
        };
        let (planes, rows, kz) = (parts(nx, over), parts(ny, within), parts(z.waves(), within));
        // A single rank leaves waves in the order of the transform.
        let ky: Vec<[Vec<usize>; 2]> = match over {
            1 => vec![[y.order.clone(), (0..ny).collect()]],
            _ => parts(ny, over)
                .into_iter()
                .map(|ky| [ky.clone().collect(), y.positions[ky].to_vec()])
                .collect(),
        };
        let (mut within_planes, mut over_planes) = (Transposition::default(), Transposition::default());
        let mut layout = Layout::new::<T>(0, 0);
        if let Some([a, b]) = grid.position(rank) {
            let size = |y: usize, z: usize| planes[a].len() * 2 * rows[y].len() * kz[z].len();
            within_planes = Transposition {
                partners: (0..within).map(|part| a * within + part).collect(),
                outgoing: (0..within).map(|part| size(b, part)).collect(),
                incoming: (0..within).map(|part| size(part, b)).collect(),
            };
            let layout_of = |a: usize| Layout::new::<T>(ky[a][0].len(), kz[b].len());
            let size = |x: usize, y: usize| planes[x].len() * layout_of(y).vectors() * T::LANES;
            over_planes = Transposition {
                partners: (0..over).map(|part| part * within + b).collect(),
                outgoing: (0..over).map(|part| size(a, part)).collect(),
                incoming: (0..over).map(|part| size(part, a)).collect(),
            };
            layout = layout_of(a);
        }
        let size = within_planes.size().max(over_planes.size());
        let buffers = [Aligned::new(size), Aligned::new(if over * within > 1 { size } else { 0 })];
        Convolution {
            grid,
            rank,
            x,
            y,
            z,
            rows,
            kz,
            ky,
            layout,
            within: within_planes,
            over: over_planes,
            buffers,
        }
    }

    /// The distribution of the mesh.
    pub fn grid(&self) -> &FourierGrid {
        &self.grid
    }

    /// The waves of this rank: index of the wave's influence, signed wave numbers, and the number of waves of
    /// the full spectrum that it stands for: 2 if the wave of opposite sign is left out, else 1. A wave
    /// number of half the points is positive.
    pub fn waves(&self) -> impl Iterator<Item = (usize, [i64; 3], f64)> + '_ {
        let points = self.grid.points();
        let signed =
            move |d: usize, k: usize| k as i64 - if k > points[d] / 2 { points[d] as i64 } else { 0 };
        let first = self.own_kz().start;
        let ky = self.grid.position(self.rank).map_or(&[][..], |[a, _]| &self.ky[a][0]);
        (0..self.influence_len()).filter_map(move |index| {
            let (line, lane) = (index / T::LANES, index % T::LANES);
            let [row, kz] = self.layout.wave(line / points[0], lane)?;
            let kz = first + kz;
            let weight = if kz == 0 || 2 * kz == points[2] { 1.0 } else { 2.0 };
            Some((index, [signed(0, line % points[0]), signed(1, ky[row]), signed(2, kz)], weight))
        })
    }

    /// Number of influences of this rank, with padding.
    pub fn influence_len(&self) -> usize {
        self.layout.units() * T::LANES * self.grid.points()[0]
    }

    /// Multiplies each wave of the mesh by its influence.
    ///
    /// `values` is the rank's block of the mesh, see [`FourierGrid::real_block`], and is replaced by the sum
    /// over waves k of `influence(k) exp(2 pi i k r / points) sum_s values(s) exp(-2 pi i k s / points)`. The
    /// inverse transform is not normalized: an influence of 1 multiplies by the number of points.
    /// `influence` has [`Self::influence_len`] values, those of [`Self::waves`] and anything finite in the
    /// padding. Waves of opposite sign must have the same influence. Collective.
    ///
    /// # Panics
    /// If the number of values or of influences is not that of the rank, or the communicator is of another
    /// rank.
    pub fn convolve(&mut self, comm: &Communicator, values: &mut [T], influence: &[T]) {
        let rank = self.rank;
        assert!(rank == comm.rank(), "planned for rank {rank}, called on {comm:?}");
        assert!(values.len() == self.grid.real_len(rank) && influence.len() == self.influence_len());
        let [mut first, mut second] = std::mem::take(&mut self.buffers);
        let [over, within] = self.grid.ranks();
        if within == 1 {
            self.forward_planes(values, &mut first);
        } else {
            self.forward_rows(values, &mut first);
            self.within.run(comm, &first, &mut second);
            self.forward_columns(&second, &mut first);
        }
        if over == 1 {
            self.convolve_waves(&mut first, influence);
        } else {
            self.over.run(comm, &first, &mut second);
            self.convolve_waves(&mut second, influence);
            self.over.run_back(comm, &second, &mut first);
        }
        if within == 1 {
            self.inverse_planes(&first, values);
        } else {
            self.inverse_columns(&first, &mut second);
            self.within.run_back(comm, &second, &mut first);
            self.inverse_rows(&first, values);
        }
        self.buffers = [first, second];
    }

    /// Real planes to waves of planes: all rows of a plane, then all its columns.
    fn forward_planes(&self, values: &[T], waves: &mut [T]) {
        let messages = by_plane_mut(self.planes(), &self.over.outgoing, waves);
        let planes = values.chunks_exact(self.plane_len()).zip(messages);
        self.map_planes(self.y.len(), self.z.waves(), planes, |(values, mut messages), blocks, work| {
            if self.over.partners.len() == 1
                && let Some(message) = messages.first_mut()
            {
                // Whole blocks are transformed in the message.
                let message: &mut [T::Vector] = bytemuck::cast_slice_mut(message);
                let (full, tail) = message.split_at_mut(self.layout.full_vectors());
                let in_message = full.chunks_exact_mut(2 * self.layout.rows);
                let mut blocks: Vec<&mut [T::Vector]> = in_message
                    .chain(blocks.iter_mut().skip(self.layout.blocks).map(|block| &mut **block))
                    .collect();
                forward_rows(&self.z, values, &mut blocks, work);
                transform_columns(&self.y, false, &mut blocks);
                write_tail::<T>(self.layout, &blocks, &self.ky[0][1], tail);
            } else {
                forward_rows(&self.z, values, blocks, work);
                transform_columns(&self.y, false, blocks);
                self.write_waves(blocks, messages);
            }
        });
    }

    /// The inverse of [`Self::forward_planes`].
    fn inverse_planes(&self, waves: &[T], values: &mut [T]) {
        let messages = by_plane(self.planes(), &self.over.outgoing, waves);
        let planes = values.chunks_exact_mut(self.plane_len()).zip(messages);
        self.map_planes(self.y.len(), self.z.waves(), planes, |(values, messages), blocks, work| {
            self.read_waves(blocks, messages);
            transform_columns(&self.y, true, blocks);
            inverse_rows(&self.z, blocks, &self.y.positions, values, work);
        });
    }

    /// Real rows to waves of rows.
    fn forward_rows(&self, values: &[T], waves: &mut [T]) {
        let messages = by_plane_mut(self.planes(), &self.within.outgoing, waves);
        let planes = values.chunks_exact(self.plane_len()).zip(messages);
        let rows = self.plane_len() / self.z.points();
        self.map_planes(rows, self.z.waves(), planes, |(values, messages), blocks, work| {
            forward_rows(&self.z, values, blocks, work);
            for (message, kz) in messages.into_iter().zip(&self.kz) {
                for (k, value) in message.iter_mut().enumerate() {
                    let (row, part, kz) = (k / (2 * kz.len()), k / kz.len() % 2, kz.start + k % kz.len());
                    *value = blocks[kz / T::LANES][2 * row + part].as_ref()[kz % T::LANES];
                }
            }
        });
    }

    /// The inverse of [`Self::forward_rows`].
    fn inverse_rows(&self, waves: &[T], values: &mut [T]) {
        let messages = by_plane(self.planes(), &self.within.outgoing, waves);
        let planes = values.chunks_exact_mut(self.plane_len()).zip(messages);
        let rows: Vec<usize> = (0..self.plane_len() / self.z.points()).collect();
        self.map_planes(rows.len(), self.z.waves(), planes, |(values, messages), blocks, work| {
            for (message, kz) in messages.into_iter().zip(&self.kz) {
                for (k, &value) in message.iter().enumerate() {
                    let (row, part, kz) = (k / (2 * kz.len()), k / kz.len() % 2, kz.start + k % kz.len());
                    blocks[kz / T::LANES][2 * row + part].as_mut()[kz % T::LANES] = value;
                }
            }
            inverse_rows(&self.z, blocks, &rows, values, work);
        });
    }

    /// Waves of rows to waves of planes.
    fn forward_columns(&self, rows: &[T], waves: &mut [T]) {
        let parts = by_plane(self.planes(), &self.within.incoming, rows);
        let planes = parts.into_iter().zip(by_plane_mut(self.planes(), &self.over.outgoing, waves));
        let count = self.own_kz().len();
        self.map_planes(self.y.len(), count, planes, |(parts, messages), blocks, _| {
            for (part, rows) in parts.into_iter().zip(&self.rows) {
                for (k, &value) in part.iter().enumerate() {
                    let (row, part, kz) = (rows.start + k / (2 * count), k / count % 2, k % count);
                    blocks[kz / T::LANES][2 * row + part].as_mut()[kz % T::LANES] = value;
                }
            }
            transform_columns(&self.y, false, blocks);
            self.write_waves(blocks, messages);
        });
    }

    /// The inverse of [`Self::forward_columns`].
    fn inverse_columns(&self, waves: &[T], rows: &mut [T]) {
        let parts = by_plane_mut(self.planes(), &self.within.incoming, rows);
        let planes = parts.into_iter().zip(by_plane(self.planes(), &self.over.outgoing, waves));
        let count = self.own_kz().len();
        self.map_planes(self.y.len(), count, planes, |(parts, messages), blocks, _| {
            self.read_waves(blocks, messages);
            transform_columns(&self.y, true, blocks);
            for (part, rows) in parts.into_iter().zip(&self.rows) {
                for (k, value) in part.iter_mut().enumerate() {
                    let (y, part, kz) = (rows.start + k / (2 * count), k / count % 2, k % count);
                    *value = blocks[kz / T::LANES][2 * self.y.positions[y] + part].as_ref()[kz % T::LANES];
                }
            }
        });
    }

    /// Copies transformed columns to the messages of a plane.
    fn write_waves(&self, blocks: &[&mut [T::Vector]], messages: Vec<&mut [T]>) {
        for (message, [ky, positions]) in messages.into_iter().zip(&self.ky) {
            let layout = Layout::new::<T>(ky.len(), self.own_kz().len());
            write_waves::<T>(layout, blocks, positions, bytemuck::cast_slice_mut(message));
        }
    }

    /// Copies the messages of a plane to columns in the order of their waves.
    fn read_waves(&self, blocks: &mut [&mut [T::Vector]], messages: Vec<&[T]>) {
        for (message, [ky, _]) in messages.into_iter().zip(&self.ky) {
            let layout = Layout::new::<T>(ky.len(), self.own_kz().len());
            read_waves::<T>(layout, blocks, ky, bytemuck::cast_slice(message));
        }
    }

    /// Convolves waves of all x.
    fn convolve_waves(&self, waves: &mut [T], influence: &[T]) {
        let (units, nx) = (self.layout.units(), self.x.len());
        if units == 0 {
            return;
        }
        let chunk = units.div_ceil(CHUNKS * rayon::current_num_threads());
        let mut chunks: Vec<Vec<&mut [T::Vector]>> =
            split_range(0..units, chunk).iter().map(|_| Vec::with_capacity(nx)).collect();
        let vectors: &mut [T::Vector] = bytemuck::cast_slice_mut(&mut waves[..2 * units * nx * T::LANES]);
        for plane in vectors.chunks_exact_mut(2 * units) {
            chunks.iter_mut().zip(plane.chunks_mut(2 * chunk)).for_each(|(chunk, part)| chunk.push(part));
        }
        let influence = influence.chunks(chunk * nx * T::LANES);
        map_items(chunks.into_iter().zip(influence).collect(), |(planes, influence)| {
            let mut memory = POOL.take();
            convolve(&self.x, planes, influence, take::<T>(&mut memory, wave_work(&self.x)));
        });
    }

    /// Runs `work` on each item of the rank's planes, with blocks for this many rows and waves, and working
    /// memory for rows.
    fn map_planes<I: Send>(
        &self,
        rows: usize,
        waves: usize,
        items: impl Iterator<Item = I>,
        work: impl Fn(I, &mut [&mut [T::Vector]], &mut [T::Vector]) + Sync,
    ) {
        let size = 2 * rows * waves.div_ceil(T::LANES);
        map_items(items.collect(), |item| {
            let mut memory = POOL.take();
            let (blocks, rest) = take::<T>(&mut memory, size + row_work(&self.z)).split_at_mut(size);
            let mut blocks: Vec<&mut [T::Vector]> = blocks.chunks_exact_mut(2 * rows).collect();
            work(item, &mut blocks, rest);
        });
    }

    /// Number of planes of this rank.
    fn planes(&self) -> usize {
        self.grid.real_block(self.rank)[0].len()
    }

    /// Number of real values of a plane of this rank; 1 if it has no planes.
    fn plane_len(&self) -> usize {
        (self.grid.real_block(self.rank)[1].len() * self.z.points()).max(1)
    }

    fn own_kz(&self) -> Range<usize> {
        self.grid.wave_block(self.rank)[1].clone()
    }
}

/// Chunks of waves per thread: some, so that threads can help each other.
const CHUNKS: usize = 4;

/// A cache line.
type Line = <f64 as Scalar>::Vector;

static POOL: ScratchPool<Vec<Line>> = ScratchPool::new();

/// Returns `count` vectors of the memory, with any values.
fn take<T: FourierScalar>(memory: &mut Vec<Line>, count: usize) -> &mut [T::Vector] {
    if memory.len() < count {
        memory.resize(count, Line::zeroed());
    }
    &mut bytemuck::cast_slice_mut(memory)[..count]
}
