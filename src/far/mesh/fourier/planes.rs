//! Transforms of planes of constant x: real rows along z, then columns of waves along y.

use super::FourierScalar;
use super::layout::Layout;
use super::lines::{Lines, Place};
use super::real::RealLines;
use crate::simd::prefetch::prefetch_for_write;
use crate::simd::{Instructions, Lanes, Task, dispatch};
use fearless_simd::Simd;

/// Waves of a plane in kz as blocks of `LANES` waves: in each, the vectors of all rows, real and imaginary
/// parts in turn.
pub(super) type Blocks<'b, V> = [&'b mut [V]];

/// First items of ranges of `width` items that cover all items. The last range overlaps the one before it,
/// rather than being shorter; it is shorter if there are less than `width` items.
#[inline(always)]
fn starts(items: usize, width: usize) -> impl Iterator<Item = usize> {
    (0..items.div_ceil(width)).map(move |k| (k * width).min(items.saturating_sub(width)))
}

/// Transforms all columns in place, or inversely. Afterwards wave (or point) `lines.order[row]` is in `row`.
pub(super) fn transform_columns<T: FourierScalar>(
    lines: &Lines<T>,
    inverse: bool,
    blocks: &mut Blocks<'_, T::Vector>,
) {
    dispatch(Instructions::Best, Columns { lines, inverse, blocks });
}

struct Columns<'p, 'b, T: FourierScalar> {
    lines: &'p Lines<T>,
    inverse: bool,
    blocks: &'p mut Blocks<'b, T::Vector>,
}

impl<T: FourierScalar> Task for Columns<'_, '_, T> {
    type Output = ();
    type Scalar = T;
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        // one call for both directions, so that there is one copy of the transform
        let [real, imaginary] = if self.inverse { [1, 0] } else { [0, 1] };
        for block in self.blocks.iter_mut() {
            self.lines.transform(simd, block, Place { stride: 2, real, imaginary });
        }
    }
}

/// Number of vectors of the working memory of transforms of rows: points, then waves.
pub(super) fn row_work<T: FourierScalar>(lines: &RealLines<T>) -> usize {
    point_work(lines) + 2 * lines.waves().next_multiple_of(T::LANES)
}

/// Vectors of the points: at least those of a block.
fn point_work<T: FourierScalar>(lines: &RealLines<T>) -> usize {
    lines.vectors().max(2 * T::LANES)
}

/// Transforms real rows, stored one behind the other, to waves.
pub(super) fn forward_rows<T: FourierScalar>(
    lines: &RealLines<T>,
    values: &[T],
    blocks: &mut Blocks<'_, T::Vector>,
    work: &mut [T::Vector],
) {
    let (length, mut pitch) = (lines.points(), lines.points());
    let count = values.len() / length;
    let (mut values, mut padded) = (values, Vec::new());
    if length < T::LANES {
        pitch = T::LANES;
        padded.resize(count * pitch, T::default());
        let rows = values.chunks_exact(length).zip(padded.chunks_exact_mut(pitch));
        rows.for_each(|(row, padded)| padded[..length].copy_from_slice(row));
        values = &padded;
    }
    dispatch(Instructions::Best, ForwardRows { lines, values, pitch, count, blocks, work });
}

/// Transforms waves to real rows. Row k is in row `rows[k]` of the waves.
pub(super) fn inverse_rows<T: FourierScalar>(
    lines: &RealLines<T>,
    blocks: &Blocks<'_, T::Vector>,
    rows: &[usize],
    values: &mut [T],
    work: &mut [T::Vector],
) {
    let length = lines.points();
    if length < T::LANES {
        let pitch = T::LANES;
        let mut padded = vec![T::default(); rows.len() * pitch];
        dispatch(Instructions::Best, InverseRows { lines, blocks, rows, values: &mut padded, pitch, work });
        let rows = values.chunks_exact_mut(length).zip(padded.chunks_exact(pitch));
        rows.for_each(|(row, padded)| row.copy_from_slice(&padded[..length]));
    } else {
        dispatch(Instructions::Best, InverseRows { lines, blocks, rows, values, pitch: length, work });
    }
}

/// Rows of a batch: a lane without a row has the last one.
#[inline(always)]
fn batch_rows<T: FourierScalar>(first: usize, count: usize) -> [usize; MOST_LANES] {
    let mut rows = [0; MOST_LANES];
    for lane in 0..T::LANES {
        rows[lane] = (first + lane).min(count - 1);
    }
    rows
}

/// The largest number of lanes.
const MOST_LANES: usize = 16;

struct ForwardRows<'p, 'b, T: FourierScalar> {
    lines: &'p RealLines<T>,
    values: &'p [T],
    /// Distance of rows, at least a vector.
    pitch: usize,
    /// Number of rows.
    count: usize,
    blocks: &'p mut Blocks<'b, T::Vector>,
    work: &'p mut [T::Vector],
}

impl<T: FourierScalar> Task for ForwardRows<'_, '_, T> {
    type Output = ();
    type Scalar = T;
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { lines, values, pitch, count, blocks, work } = self;
        let (points, spectrum) = work.split_at_mut(point_work(lines));
        let stride = lines.input_stride();
        // behind the last wave
        spectrum.fill(T::vector(0.0));
        for first in starts(count, T::LANES) {
            let rows = batch_rows::<T>(first, count);
            for begin in starts(pitch, T::LANES) {
                let points = &mut points[begin * stride..][..T::LANES * stride];
                T::transpose(
                    simd,
                    #[inline(always)]
                    |lane| &values[rows[lane] * pitch + begin..][..T::LANES],
                    #[inline(always)]
                    |k, lanes| lanes.store(points[k * stride].as_mut()),
                );
            }
            prefetch_for_write(values.as_ptr().wrapping_add((first + T::LANES) * pitch), T::LANES * pitch);
            lines.forward(simd, points, spectrum);
            for (block, spectrum) in blocks.iter_mut().zip(spectrum.chunks_exact(2 * T::LANES)) {
                for part in 0..2 {
                    T::transpose(
                        simd,
                        #[inline(always)]
                        |k| spectrum[2 * k + part].as_ref(),
                        #[inline(always)]
                        |lane, lanes| lanes.store(block[2 * rows[lane] + part].as_mut()),
                    );
                }
            }
        }
    }
}

struct InverseRows<'p, 'b, T: FourierScalar> {
    lines: &'p RealLines<T>,
    blocks: &'p Blocks<'b, T::Vector>,
    rows: &'p [usize],
    values: &'p mut [T],
    /// Distance of rows, at least a vector.
    pitch: usize,
    work: &'p mut [T::Vector],
}

impl<T: FourierScalar> Task for InverseRows<'_, '_, T> {
    type Output = ();
    type Scalar = T;
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { lines, blocks, rows, values, pitch, work } = self;
        let (points, spectrum) = work.split_at_mut(point_work(lines));
        for first in starts(rows.len(), T::LANES) {
            let numbers = batch_rows::<T>(first, rows.len());
            let mut places = [0; MOST_LANES];
            for lane in 0..T::LANES {
                places[lane] = 2 * rows[numbers[lane]];
            }
            for (block, spectrum) in blocks.iter().zip(spectrum.chunks_exact_mut(2 * T::LANES)) {
                for part in 0..2 {
                    T::transpose(
                        simd,
                        #[inline(always)]
                        |lane| block[places[lane] + part].as_ref(),
                        #[inline(always)]
                        |k, lanes| lanes.store(spectrum[2 * k + part].as_mut()),
                    );
                }
            }
            prefetch_for_write(values.as_ptr().wrapping_add(first * pitch), T::LANES * pitch);
            lines.inverse(simd, spectrum, points);
            for begin in starts(pitch, T::LANES) {
                let output = lines.output(begin);
                T::transpose(
                    simd,
                    #[inline(always)]
                    |k| points[output[k.min(output.len() - 1)]].as_ref(),
                    #[inline(always)]
                    |lane, lanes| lanes.store(&mut values[numbers[lane] * pitch + begin..][..T::LANES]),
                );
            }
        }
    }
}

/// Copies waves from blocks, where row r is in row `rows[r]`, to a message. `from_block` is the first block
/// to copy.
pub(super) fn write_waves<T: FourierScalar>(
    layout: Layout,
    blocks: &Blocks<'_, T::Vector>,
    rows: &[usize],
    message: &mut [T::Vector],
) {
    let (full, tail) = message.split_at_mut(layout.full_vectors());
    for (block, message) in blocks.iter().zip(full.chunks_exact_mut(2 * layout.rows)) {
        for (&row, message) in rows.iter().zip(message.chunks_exact_mut(2)) {
            message.copy_from_slice(&block[2 * row..2 * row + 2]);
        }
    }
    write_tail::<T>(layout, blocks, rows, tail);
}

/// Copies the waves of the last, partial block to the tail of a message.
pub(super) fn write_tail<T: FourierScalar>(
    layout: Layout,
    blocks: &Blocks<'_, T::Vector>,
    rows: &[usize],
    tail: &mut [T::Vector],
) {
    if let Some(block) = blocks.get(layout.blocks) {
        dispatch(Instructions::Best, WriteTail::<T> { layout, block, rows, tail });
    }
}

/// The inverse of [`write_waves`].
pub(super) fn read_waves<T: FourierScalar>(
    layout: Layout,
    blocks: &mut Blocks<'_, T::Vector>,
    rows: &[usize],
    message: &[T::Vector],
) {
    let (full, tail) = message.split_at(layout.full_vectors());
    for (block, message) in blocks.iter_mut().zip(full.chunks_exact(2 * layout.rows)) {
        for (&row, message) in rows.iter().zip(message.chunks_exact(2)) {
            block[2 * row..2 * row + 2].copy_from_slice(message);
        }
    }
    if let Some(block) = blocks.get_mut(layout.blocks) {
        dispatch(Instructions::Best, ReadTail::<T> { layout, block, rows, tail });
    }
}

struct WriteTail<'p, T: FourierScalar> {
    layout: Layout,
    block: &'p [T::Vector],
    rows: &'p [usize],
    tail: &'p mut [T::Vector],
}

impl<T: FourierScalar> Task for WriteTail<'_, T> {
    type Output = ();
    type Scalar = T;
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { layout, block, rows, tail } = self;
        for group in 0..layout.groups {
            for part in 0..2 {
                T::transpose(
                    simd,
                    #[inline(always)]
                    |k| block[2 * rows[(group * T::LANES + k).min(rows.len() - 1)] + part].as_ref(),
                    #[inline(always)]
                    |wave, lanes| {
                        if wave < layout.tail {
                            lanes.store(tail[2 * (wave * layout.groups + group) + part].as_mut());
                        }
                    },
                );
            }
        }
    }
}

struct ReadTail<'p, T: FourierScalar> {
    layout: Layout,
    block: &'p mut [T::Vector],
    rows: &'p [usize],
    tail: &'p [T::Vector],
}

impl<T: FourierScalar> Task for ReadTail<'_, T> {
    type Output = ();
    type Scalar = T;
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { layout, block, rows, tail } = self;
        let zero = T::vector(0.0);
        for group in 0..layout.groups {
            for part in 0..2 {
                T::transpose(
                    simd,
                    #[inline(always)]
                    |wave| match wave < layout.tail {
                        true => tail[2 * (wave * layout.groups + group) + part].as_ref(),
                        false => zero.as_ref(),
                    },
                    #[inline(always)]
                    |k, lanes| {
                        if let Some(&row) = rows.get(group * T::LANES + k) {
                            lanes.store(block[2 * row + part].as_mut());
                        }
                    },
                );
            }
        }
    }
}
