//! Linked cells: the rows in and around a cell are loaded once. Those in range of each row of the cell are
//! found, then gathered, so that the law is evaluated for pairs in range alone.

use super::cell_search::{CellRows, Neighborhood};
use super::gathered::{gathered_sums, reduce_eight};
use super::neighbor_search::NeighborSearch;
use super::pipeline::Rows;
use super::{Shared, vec3_from_fn};
use crate::neighbors::{CLUSTER, CellList, SUPER_CLUSTER};
use crate::pair::cell_input::CellInput;
use crate::pair::law::{Columns, Cutoff, PairLaw};
use crate::pair::pack::GEOMETRY;
use crate::pair::record::{OFFSETS, QUAD, quads, stride};
use crate::pair::sums::ChunkSums;
use crate::parallel::Aligned;
use crate::simd::{Lanes, Scalar, vectorize};
use fearless_simd::Simd;

/// Lanes with elements `T`.
type R<T, S> = <T as Scalar>::Lanes<S>;

/// What a chunk's sweep reads.
struct CellSweep<'a, L, T: 'static> {
    shared: &'a Shared<'a, L, T>,
    list: &'a CellList,
    input: &'a CellInput<T>,
}

/// Sums of a chunk's super-clusters.
#[inline(always)]
pub(super) fn sums<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    shared: &Shared<L, T>,
    list: &CellList,
    input: &CellInput<T>,
    sums: &mut ChunkSums<T>,
) {
    let packed = &shared.packed;
    let mut around = Neighborhood::new(list.needs_images().then_some([packed.periods, packed.frequency]));
    let mut search = NeighborSearch::new(stride::<T>(quads::<L>()));
    let mut totals = Aligned::new(0);
    totals.resize(const { L::SUMS.len() * CLUSTER * R::<T, S>::COUNT });
    let mut records = T::take_records();
    let sweep = CellSweep { shared, list, input };
    let places = sweep.chunk_places(sums);
    let mut begin = 0;
    while let Some(cell) = places.get(begin).and_then(|&place| sweep.cell_at(place)) {
        let end = list.places_of(cell).end;
        let count = places[begin..].partition_point(|&place| (place as usize) < end);
        around.begin(list, cell, input);
        while around.next_segment(simd, input, const { L::Prepared::<f64>::COUNT }) {
            write_records::<L, T, S>(simd, &around, &mut records);
            for places in places[begin..begin + count].chunks(CLUSTER) {
                sweep.add_sums(simd, places, &around, &records, &mut search, &mut totals, sums);
            }
        }
        begin += count;
    }
    T::return_records(records);
}

/// Writes the records of a segment.
#[inline(always)]
fn write_records<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    around: &Neighborhood<T>,
    records: &mut T::Records,
) {
    let nothing = [T::default(); CLUSTER];
    let records = T::values_mut(records).chunks_exact_mut(const { CLUSTER * QUAD * quads::<L>() });
    for (block, records) in records.take(around.length / CLUSTER).enumerate() {
        for quad in 0..const { quads::<L>() } {
            let mut four: [&[T]; QUAD] = [&nothing; QUAD];
            for (k, four) in four.iter_mut().enumerate() {
                // Records omit the squared radius, which columns have between offsets and inputs.
                let column = match quad * QUAD + k {
                    c if c < OFFSETS => c,
                    c => c - OFFSETS + GEOMETRY,
                };
                if column < const { GEOMETRY + L::Prepared::<f64>::COUNT } {
                    *four = &around.column(column)[block * CLUSTER..][..CLUSTER];
                }
            }
            R::<T, S>::write_quads(simd, four, records, const { quads::<L>() }, quad);
        }
    }
}

impl<L: PairLaw, T: Scalar> CellSweep<'_, L, T> {
    /// Places of the rows of a chunk whose pairs are evaluated, by cell.
    fn chunk_places(&self, sums: &ChunkSums<T>) -> Vec<u32> {
        let owned = &self.shared.owned;
        let begin = (sums.super_clusters.start * SUPER_CLUSTER).max(owned.start);
        let end = (sums.super_clusters.end * SUPER_CLUSTER).min(owned.end);
        let wanted =
            |row: &usize| self.shared.rows.wanted(*row..*row + 1) && self.list.cell_of(*row).is_some();
        let mut places: Vec<u32> =
            (begin..end).filter(wanted).map(|row| self.list.place(row) as u32).collect();
        places.sort_unstable();
        places
    }

    /// Cell at a place.
    fn cell_at(&self, place: u32) -> Option<usize> {
        self.list.cell_of(self.list.rows()[place as usize] as usize)
    }

    /// Adds the sums of up to eight rows of a cell over a segment. `totals` is scratch for a vector per sum
    /// and row.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "scratch memory of the caller")]
    fn add_sums<S: Simd>(
        &self,
        simd: S,
        places: &[u32],
        around: &Neighborhood<T>,
        records: &T::Records,
        search: &mut NeighborSearch,
        totals: &mut [T],
        sums: &mut ChunkSums<T>,
    ) {
        let (members, lanes) = const { (R::<T, S>::ROWS, R::<T, S>::COUNT) };
        let rows = self.load_rows(places, around);
        for first in (0..places.len()).step_by(members) {
            self.find(simd, &rows, first, around, search);
            sums.lane_pairs += (around.length * members) as u64;
            for (k, place) in places[first..].iter().take(members).enumerate() {
                let place = *place as usize;
                let neighbors = search.neighbors(k);
                let i = Rows {
                    position: vec3_from_fn(
                        #[inline(always)]
                        |d| R::<T, S>::broadcast(simd, rows.geometry[d][first + k]),
                    ),
                    prepared: L::Prepared::<R<T, S>>::from_columns(
                        #[inline(always)]
                        |c| R::<T, S>::broadcast(simd, self.input.column(1 + c)[place]),
                    ),
                };
                let own =
                    gathered_sums::<L, T, S>(simd, self.shared.law, &i, records, neighbors, around.images);
                let evaluated = neighbors.1 * (1 + L::INPUTS.len() + L::SUMS.len());
                sums.add_work(self.list.rows()[place] as usize, 1, around.length + evaluated);
                // All columns at once: an array of structs of vectors would be copied per column.
                let own = own.to_columns();
                for (c, &total) in own.as_ref().iter().enumerate() {
                    total.store(&mut totals[(c * CLUSTER + first + k) * lanes..][..lanes]);
                }
            }
        }
        reduce_eight::<L, T, S>(
            simd,
            totals,
            #[inline(always)]
            |c, joined| {
                let reduction = L::SUMS[c].reduction;
                for (&place, value) in places.iter().zip(joined) {
                    let row = self.list.rows()[place as usize] as usize;
                    let target = &mut sums.blocks.cluster_mut(row / CLUSTER)[c * CLUSTER + row % CLUSTER];
                    *target = reduction.join(*target, value.to_f64());
                }
            },
        );
    }

    /// Loads the geometry of up to eight rows.
    #[inline(always)]
    fn load_rows(&self, places: &[u32], around: &Neighborhood<T>) -> CellRows<T> {
        let nothing = [T::from_f64(f64::NAN); CLUSTER];
        let mut rows = CellRows { geometry: [nothing; GEOMETRY], own: [usize::MAX; CLUSTER] };
        let common = T::from_f64(self.shared.packed.largest * self.shared.packed.largest);
        for (k, &place) in places.iter().enumerate() {
            let place = place as usize;
            for (d, position) in self.input.position().into_iter().enumerate() {
                rows.geometry[d][k] = T::from_f64(position[place] - around.center[d]);
            }
            rows.geometry[GEOMETRY - 1][k] = match L::CUTOFF {
                Cutoff::Common => common,
                Cutoff::Own | Cutoff::Either => self.input.column(0)[place],
            };
            rows.own[k] = around.index(place);
        }
        rows
    }

    /// Finds the neighbors in range of a vector of rows, from row `first` on.
    #[inline(always)]
    fn find<S: Simd>(
        &self,
        simd: S,
        rows: &CellRows<T>,
        first: usize,
        around: &Neighborhood<T>,
        search: &mut NeighborSearch,
    ) {
        // Independent of the law, so they are compiled once.
        match const { L::CUTOFF } {
            Cutoff::Either => vectorize(
                simd,
                #[inline(always)]
                || search.find_in_cells::<T, S, true>(simd, rows, first, around),
            ),
            Cutoff::Own | Cutoff::Common => vectorize(
                simd,
                #[inline(always)]
                || search.find_in_cells::<T, S, false>(simd, rows, first, around),
            ),
        }
    }
}
