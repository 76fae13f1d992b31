//! The rows around a cell, and the search of those in range of its rows; independent of the law.

use super::gathered::Images;
use super::neighbor_search::{MAX_ROWS, NeighborSearch};
use super::{lift, minimum_image, vec3_from_fn};
use crate::neighbors::{CLUSTER, CellList, CellRun};
use crate::pair::cell_input::CellInput;
use crate::pair::pack::GEOMETRY;
use crate::pair::record::PARTICLES;
use crate::parallel::Aligned;
use crate::simd::real::Real;
use crate::simd::vec3::Vec3;
use crate::simd::{Lanes, Scalar, vectorize};
use crate::space::rounded;
use fearless_simd::Simd;
use std::ops::Range;

/// Lanes with elements `T`.
type R<T, S> = <T as Scalar>::Lanes<S>;

/// The rows in and around a cell, a segment of at most [`PARTICLES`] at a time.
pub(super) struct Neighborhood<T> {
    /// Runs of places that are left.
    runs: Vec<CellRun>,
    /// First one of them.
    next: usize,
    /// Runs of places of the segment.
    segment: Vec<CellRun>,
    /// Origin of the offsets: center of the bounding box of the cell's rows.
    pub center: [f64; 3],
    /// Offsets x, y, z of the segment's rows from the center, squared radii and prepared inputs: columns of
    /// `length` values, a multiple of eight.
    columns: Aligned<T>,
    pub length: usize,
    /// Places of the cell.
    cell: Range<usize>,
    /// Places of the cell in the segment.
    own: Range<usize>,
    /// Position in the columns of the first one.
    own_first: usize,
    /// Periods and their inverses, if minimum images are computed per pair.
    pub images: Option<Images>,
}

/// Rows whose neighbors are searched.
pub(super) struct CellRows<T> {
    /// Offsets and squared radii, as columns; NaN for no row.
    pub geometry: [[T; CLUSTER]; GEOMETRY],
    /// Position of each row itself in the columns of the neighborhood; `usize::MAX` if it is not there.
    pub own: [usize; CLUSTER],
}

impl<T: Scalar> Neighborhood<T> {
    /// Empty.
    pub fn new(images: Option<Images>) -> Self {
        Neighborhood {
            runs: Vec::new(),
            next: 0,
            segment: Vec::new(),
            center: [0.0; 3],
            columns: Aligned::new(0),
            length: 0,
            cell: 0..0,
            own: 0..0,
            own_first: 0,
            images,
        }
    }

    /// Begins with a cell.
    pub fn begin(&mut self, list: &CellList, cell: usize, input: &CellInput<T>) {
        list.runs(cell, &mut self.runs);
        (self.next, self.cell) = (0, list.places_of(cell));
        for (center, column) in self.center.iter_mut().zip(input.position()) {
            let column = &column[self.cell.clone()];
            let lower = column.iter().copied().fold(f64::INFINITY, f64::min);
            let upper = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            *center = 0.5 * lower + 0.5 * upper;
        }
    }

    /// Loads the next segment, with `inputs` prepared inputs. Returns whether there is one.
    pub fn next_segment<S: Simd>(&mut self, simd: S, input: &CellInput<T>, inputs: usize) -> bool {
        // Independent of the law, so it is compiled once.
        vectorize(
            simd,
            #[inline(always)]
            || self.select_places() && self.load(input, inputs),
        )
    }

    /// Selects the places of the next segment. Returns whether there are any.
    #[inline(always)]
    fn select_places(&mut self) -> bool {
        self.segment.clear();
        let mut left = PARTICLES;
        while let Some(run) = self.runs.get_mut(self.next)
            && left > 0
        {
            let middle = run.places.start + run.places.len().min(left);
            self.segment.push(CellRun { places: run.places.start..middle, shift: run.shift });
            left -= middle - run.places.start;
            run.places.start = middle;
            if run.places.is_empty() {
                self.next += 1;
            }
        }
        !self.segment.is_empty()
    }

    /// Loads the columns of the segment.
    #[inline(always)]
    fn load(&mut self, input: &CellInput<T>, inputs: usize) -> bool {
        let count = self.segment.iter().map(|run| run.places.len()).sum::<usize>();
        let length = count.next_multiple_of(CLUSTER);
        self.columns.resize((GEOMETRY + inputs) * length);
        (self.length, self.own, self.own_first) = (length, 0..0, 0);
        let columns = &mut self.columns[..];
        let mut first = 0;
        for CellRun { places, shift } in &self.segment {
            for (d, position) in input.position().into_iter().enumerate() {
                let center = self.center[d] - shift[d];
                let target = &mut columns[d * length + first..][..places.len()];
                match self.images {
                    None => {
                        for (offset, x) in target.iter_mut().zip(&position[places.clone()]) {
                            *offset = T::from_f64(x - center);
                        }
                    }
                    Some([periods, frequency]) => {
                        for (offset, x) in target.iter_mut().zip(&position[places.clone()]) {
                            let apart = x - center;
                            *offset = T::from_f64(apart - periods[d] * rounded(apart * frequency[d]));
                        }
                    }
                }
            }
            for column in 0..=inputs {
                columns[(GEOMETRY - 1 + column) * length + first..][..places.len()]
                    .copy_from_slice(&input.column(column)[places.clone()]);
            }
            // The cell itself is in a run without shift.
            let own = places.start.max(self.cell.start)..places.end.min(self.cell.end);
            if *shift == [0.0; 3] && !own.is_empty() {
                self.own_first = first + own.start - places.start;
                self.own = own;
            }
            first += places.len();
        }
        for d in 0..3 {
            columns[d * length + count..(d + 1) * length].fill(T::from_f64(f64::NAN));
        }
        true
    }

    /// Column of the segment: x, y, z, squared radius, prepared inputs.
    #[inline(always)]
    pub fn column(&self, column: usize) -> &[T] {
        &self.columns[column * self.length..][..self.length]
    }

    /// Position in the columns of a place of the cell; `usize::MAX` if it is not in the segment.
    #[inline(always)]
    pub fn index(&self, place: usize) -> usize {
        if self.own.contains(&place) { self.own_first + place - self.own.start } else { usize::MAX }
    }

    /// Blocks of eight rows with special treatment: those with rows of the cell itself, or all if images are
    /// computed per pair.
    #[inline(always)]
    fn special_blocks(&self) -> Range<usize> {
        match self.images {
            Some(_) => 0..self.length / CLUSTER,
            None if self.own.is_empty() => 0..0,
            None => self.own_first / CLUSTER..(self.own_first + self.own.len()).div_ceil(CLUSTER),
        }
    }
}

impl NeighborSearch {
    /// Finds the neighbors in range of a vector of rows, from row `first` of eight on. With `EITHER`, the
    /// larger radius of both particles counts.
    #[inline(always)]
    pub fn find_in_cells<T: Scalar, S: Simd, const EITHER: bool>(
        &mut self,
        simd: S,
        rows: &CellRows<T>,
        first: usize,
        around: &Neighborhood<T>,
    ) {
        let mut counts = [0; MAX_ROWS];
        let special = around.special_blocks();
        let (before, behind) = (0..special.start, special.end..around.length / CLUSTER);
        self.test_blocks::<T, S, EITHER, false>(simd, rows, first, around, before, &mut counts);
        self.test_blocks::<T, S, EITHER, true>(simd, rows, first, around, special, &mut counts);
        self.test_blocks::<T, S, EITHER, false>(simd, rows, first, around, behind, &mut counts);
        self.finish(const { R::<T, S>::ROWS }, counts);
    }

    /// Tests blocks of eight particles, special ones or not.
    #[inline(always)]
    fn test_blocks<T: Scalar, S: Simd, const EITHER: bool, const SPECIAL: bool>(
        &mut self,
        simd: S,
        rows: &CellRows<T>,
        first: usize,
        around: &Neighborhood<T>,
        blocks: Range<usize>,
        counts: &mut [usize; MAX_ROWS],
    ) {
        let members = const { R::<T, S>::ROWS };
        let row = vec3_from_fn(
            #[inline(always)]
            |d| R::<T, S>::broadcast_rows(simd, &rows.geometry[d], first),
        );
        let reach = R::<T, S>::broadcast_rows(simd, &rows.geometry[GEOMETRY - 1], first);
        let column = |c: usize| &around.column(c).as_chunks::<CLUSTER>().0[blocks.clone()];
        let (x, y, z, radius) = (column(0), column(1), column(2), column(GEOMETRY - 1));
        let stride = self.block_stride();
        for (((x, y), (z, radius)), block) in x.iter().zip(y).zip(z.iter().zip(radius)).zip(blocks) {
            let other = Vec3 {
                x: R::<T, S>::repeat_rows(simd, x),
                y: R::<T, S>::repeat_rows(simd, y),
                z: R::<T, S>::repeat_rows(simd, z),
            };
            let mut r = row - other;
            if let Some([periods, frequency]) = around.images
                && SPECIAL
            {
                r = minimum_image(r, lift(simd, periods), lift(simd, frequency));
            }
            let reach = if EITHER { Real::max(reach, R::<T, S>::repeat_rows(simd, radius)) } else { reach };
            let mut bits = R::<T, S>::bits(r.dot(r).less(reach));
            if SPECIAL {
                for (k, &own) in rows.own[first..first + members].iter().enumerate() {
                    let itself = if own / CLUSTER == block { 1 << (k * CLUSTER + own % CLUSTER) } else { 0 };
                    bits &= !itself;
                }
            }
            self.append(simd, counts, members, bits, block as u16 * stride);
        }
    }
}
