//! Halos: the particles of other ranks with which own particles may interact.
//!
//! Every rank publishes tight boxes of its super-clusters, merged per coarse leaf in which they begin, with
//! the largest radius inside. A sender selects the particles that are closer to a box of the receiver than
//! the larger of both radii. Each particle lies inside a box of its rank, and its radius is at most that of
//! the box. Hence no pair with r < max(radius_i, radius_j) is missed.
//!
//! If each pair across ranks is evaluated once ([`PairSharing::OneRank`]), only the halos of those pairs are
//! sent. The boxes of the higher rank are split where half of its particles lie before. Rows of the first
//! half go to the lower rank. Boxes of the second half request rows from the lower rank.

use super::PairSharing;
use super::assign::Assignment;
use super::halo_selection::{OwnBoxes, OwnRows, union};
use super::migrate::{ReservedRows, columns_of_packed};
use crate::comm::Communicator;
use crate::faults::{Fault, planted};
use crate::parallel::RowRanges;
use crate::particles::{CLUSTER, Field, OverlappedWork, Particles, ReturnedSums, SUPER_CLUSTER, SumWriter};
use crate::space::SimulationBox;
use rayon::prelude::*;
use std::cell::RefCell;
use std::ops::Range;
/// Halo rows are allocated in steps of one to two times their number divided by this.
const ROOM_DIVISOR: usize = 16;

/// Minimum length, in super-clusters, of a run that is processed separately.
const MIN_RUN: usize = 4;

/// The halo communication pattern: the rows sent to and received from each rank.
#[derive(Clone, Debug, Default)]
pub(super) struct Halos {
    /// For each rank, the rows sent to it, in order, relative to the first owned row.
    send: Vec<RowRanges>,
    /// For each rank, the local rows of its halo particles.
    pub rows: Vec<Range<usize>>,
    /// The owned rows.
    owned: Range<usize>,
    /// The first own super-cluster that has pairs with halos of lower ranks here, relative to the first owned
    /// one.
    pub first_with_lower: usize,
    across: PairSharing,
    /// Runs of owned rows that no other rank contributes sums to, relative to the first owned row. Only for
    /// [`PairSharing::OneRank`].
    pub unshared: Vec<Range<usize>>,
}

impl Halos {
    /// Returns the rows to reserve for the next halos, if their number is about the same.
    pub fn room(&self) -> ReservedRows {
        let end = self.rows.iter().map(|rows| rows.end).max().unwrap_or(0);
        let behind = end.saturating_sub(self.owned.end);
        ReservedRows { before: self.owned.start, behind: behind + behind / ROOM_DIVISOR }
    }

    /// Determines the owned rows that each rank needs. `particles` has no halos yet. Collective.
    pub fn find(
        comm: &Communicator,
        bx: &SimulationBox,
        assignment: &Assignment,
        particles: &Particles,
        radius: &[f64],
        across: PairSharing,
    ) -> Self {
        if comm.size() == 1 {
            let send = vec![RowRanges::default()];
            return Self {
                unshared: across.unshared(&send, particles.owned().len()),
                send,
                across,
                ..Self::default()
            };
        }
        let thin: Vec<f64>;
        let radius = if planted(Fault::HaloThin) {
            thin = radius.iter().map(|radius| 0.8 * radius).collect();
            &thin
        } else {
            radius
        };
        let own = OwnBoxes::new(assignment, comm.rank(), OwnRows::of(particles, radius));
        let boxes = comm.all_gather(own.boxes());
        let send = boxes.iter().enumerate().map(|(rank, theirs)| match rank {
            rank if rank == comm.rank() => RowRanges::default(),
            _ => own.needed((rank, theirs), &union(theirs.iter().copied()), bx, across),
        });
        let send: Vec<RowRanges> = send.collect();
        let unshared = across.unshared(&send, particles.owned().len());
        Self { send, first_with_lower: own.first_with_lower(across), across, unshared, ..Self::default() }
    }

    /// Exchanges id, key and the halo fields, and lays out the rows: halos of lower ranks, padding, owned
    /// rows, halos of higher ranks. Padding keys are spaced evenly between the keys around them, so that all
    /// keys stay sorted and no tree leaf fills up with padding. With [`PairSharing::OneRank`], owned rows are
    /// padded to a full cluster with the last own key: no cluster mixes owned rows with halos, because the
    /// pairs among halos belong to other ranks. Collective.
    pub fn attach(&mut self, comm: &Communicator, own_keys: Range<u64>, particles: &mut Particles) {
        let fields = particles.fields_of_halos();
        let leaving: Vec<Vec<u64>> = self.send.iter().map(|runs| pack(particles, &fields, runs)).collect();
        let arrived = comm.all_to_all(&leaving);
        let width = columns_of_packed(&fields);
        let counts: Vec<usize> = arrived.iter().map(|words| words.len() / width).collect();
        let lower: usize = counts[..comm.rank()].iter().sum();
        let present = particles.owned();
        let start = owned_start(lower);
        let owned = start..start + present.len();
        self.rows.clear();
        let (mut next, mut behind) = (0, 0..0);
        for (rank, &count) in counts.iter().enumerate() {
            if rank == comm.rank() {
                let shares =
                    self.across == PairSharing::OneRank && counts[rank..].iter().any(|&count| count > 0);
                next = if shares { owned.end.next_multiple_of(CLUSTER) } else { owned.end };
                behind = owned.end..next;
            }
            self.rows.push(next..next + count);
            next += count;
        }
        self.owned = owned.clone();
        let layout = Layout { present, owned: owned.clone(), padding: lower..start, rows: next };
        if layout.is_identity() {
            return;
        }
        let halo = |column: usize, place: &mut dyn FnMut(Range<usize>, &[u64])| {
            for ((rows, words), &count) in self.rows.iter().zip(&arrived).zip(&counts) {
                place(rows.clone(), &words[column * count..(column + 1) * count]);
            }
        };
        layout.move_column(&mut particles.id, u64::MAX);
        halo(0, &mut |rows, words| particles.id[rows].copy_from_slice(words));
        layout.move_column(&mut particles.key, own_keys.start);
        particles.key[behind].fill(own_keys.end.saturating_sub(1));
        halo(1, &mut |rows, words| particles.key[rows].copy_from_slice(words));
        let last = particles.key[..lower].last().copied().unwrap_or(0);
        let keys = spaced_keys(last..own_keys.start, layout.padding.len());
        particles.key[layout.padding.clone()]
            .iter_mut()
            .zip(keys)
            .for_each(|(key, spaced_keys)| *key = spaced_keys);
        let mut packed = 2;
        for (field, column) in particles.rebuild() {
            layout.move_column(column, if field == Field::Position { f64::INFINITY } else { 0.0 });
            if fields.contains(&field) {
                halo(packed, &mut |rows, words| {
                    column[rows].copy_from_slice(bytemuck::cast_slice(words));
                });
                packed += 1;
            } else {
                column[..layout.padding.start].fill(0.0);
            }
        }
        particles.set_owned(owned);
    }

    /// Returns the sums accumulated for halo rows to their owners, and passes the sums received for own rows
    /// to `show` in rank order. `meanwhile` runs while messages are in flight. Collective.
    pub fn give_back(
        &self,
        comm: &Communicator,
        words: usize,
        sums: &SumWriter,
        meanwhile: impl FnOnce(),
        show: impl FnOnce(&[ReturnedSums]),
    ) {
        if comm.size() == 1 || self.send.is_empty() {
            meanwhile();
            return show(&[]);
        }
        let to: Vec<usize> = self.rows.iter().map(|rows| rows.len() * words).collect();
        let from: Vec<usize> = self.send.iter().map(|sent| sent.rows() * words).collect();
        let write = |rank: usize, values: &mut [u64]| sums(self.rows[rank].clone(), values);
        let read = |values: &[&[u64]]| {
            let returned = self.send.iter().zip(values).map(|(rows, sums)| ReturnedSums { rows, sums });
            show(&returned.filter(|returned| !returned.rows.is_empty()).collect::<Vec<_>>());
        };
        comm.exchange_in_place((&to, write), (&from, read), meanwhile);
    }

    /// Copies fields of the owned rows to the halo rows on other ranks. `meanwhile` runs while messages are
    /// in flight and must not read halos. Collective.
    pub fn refresh(
        &self,
        comm: &Communicator,
        particles: &mut Particles,
        fields: &[Field],
        meanwhile: Option<&mut OverlappedWork>,
    ) {
        if comm.size() == 1 || self.send.is_empty() {
            return;
        }
        let components: Vec<(Field, usize)> =
            fields.iter().flat_map(|&field| (0..field.components()).map(move |c| (field, c))).collect();
        let first = particles.owned().start;
        let to: Vec<usize> = self.send.iter().map(|sent| sent.rows() * components.len()).collect();
        let from: Vec<usize> = self.rows.iter().map(|rows| rows.len() * components.len()).collect();
        // The closures below borrow the particles one after the other.
        let particles = RefCell::new(particles);
        let write = |rank: usize, values: &mut [f64]| {
            let (particles, sent): (&Particles, _) = (&particles.borrow(), &self.send[rank]);
            let columns = values.par_chunks_exact_mut(sent.rows()).zip(&components);
            columns.for_each(|(values, &(field, component))| {
                sent.copy(&particles.component(field, component)[first..], values);
            });
        };
        let read = |values: &[&[f64]]| {
            if planted(Fault::HaloStale) && comm.rank() == 1 {
                return;
            }
            let mut particles = particles.borrow_mut();
            for (rows, values) in self.rows.iter().zip(values).filter(|(rows, _)| !rows.is_empty()) {
                for (values, &(field, component)) in values.chunks_exact(rows.len()).zip(&components) {
                    particles.component_mut(field, component)[rows.clone()].copy_from_slice(values);
                }
            }
        };
        comm.exchange_in_place((&to, write), (&from, read), || {
            if let Some(meanwhile) = meanwhile {
                meanwhile(&particles.borrow());
            }
        });
    }
}

impl PairSharing {
    /// Returns the runs of the first `rows` own rows that no other rank contributes sums to.
    fn unshared(self, send: &[RowRanges], rows: usize) -> Vec<Range<usize>> {
        match self {
            PairSharing::BothRanks => Vec::new(),
            PairSharing::OneRank => unshared_runs(send, rows),
        }
    }
}

/// Returns the runs of at least [`MIN_RUN`] super-clusters that contain none of the rows in `some`, out of
/// `rows` rows.
fn unshared_runs(some: &[RowRanges], rows: usize) -> Vec<Range<usize>> {
    let mut have = vec![false; rows.div_ceil(SUPER_CLUSTER)];
    let touched = |run: &Range<usize>| run.start / SUPER_CLUSTER..run.end.div_ceil(SUPER_CLUSTER);
    some.iter().flat_map(RowRanges::iter).for_each(|run| have[touched(run)].fill(true));
    let mut begin = 0;
    let runs = have.chunk_by(|a, b| a == b).map(|run| {
        begin += run.len();
        (run, begin - run.len()..begin)
    });
    runs.filter(|(run, _)| !run[0] && run.len() >= MIN_RUN)
        .map(|(_, run)| run.start * SUPER_CLUSTER..rows.min(run.end * SUPER_CLUSTER))
        .collect()
}

/// Returns the first owned row after `lower` halos of lower ranks. Rounding keeps it unchanged for about the
/// same number of halos, so that owned rows rarely move. It depends on the number only, so that row numbers
/// do not depend on history.
fn owned_start(lower: usize) -> usize {
    lower.next_multiple_of((lower / ROOM_DIVISOR).next_power_of_two().max(SUPER_CLUSTER))
}

/// Returns `count` keys in order, spaced evenly within a range; all equal to its end if the range is empty.
fn spaced_keys(keys: Range<u64>, count: usize) -> impl Iterator<Item = u64> {
    let step = keys.end.saturating_sub(keys.start) / (count as u64 + 1);
    (1..=count as u64).map(move |k| keys.end.min(keys.start + k * step))
}

/// Packs id, key and these fields of runs of owned rows, column by column.
fn pack(particles: &Particles, fields: &[Field], rows: &RowRanges) -> Vec<u64> {
    if rows.is_empty() {
        return Vec::new();
    }
    let mut words = vec![0; rows.rows() * columns_of_packed(fields)];
    let components = fields.iter().flat_map(|&field| (0..field.components()).map(move |c| (field, c)));
    let columns = components.map(|(field, c)| bytemuck::cast_slice(particles.component(field, c)));
    let columns = [&particles.id[..], &particles.key].into_iter().chain(columns);
    for (column, words) in columns.zip(words.chunks_exact_mut(rows.rows())) {
        rows.copy(&column[particles.owned()], words);
    }
    words
}

/// The row layout before and after halos are attached.
struct Layout {
    /// Current and new range of the owned rows.
    present: Range<usize>,
    owned: Range<usize>,
    padding: Range<usize>,
    rows: usize,
}

impl Layout {
    /// Returns whether there are only owned rows, before and after. Comparing row counts is not enough: the
    /// number of halos behind may equal the number of rows left free before.
    fn is_identity(&self) -> bool {
        self.present.start == 0 && self.owned == (0..self.rows)
    }

    /// Moves the owned rows of a column to their new range and fills the padding and the halos behind with
    /// `ghost`. Rows before the padding may hold stale owned values and must be overwritten.
    fn move_column<T: Copy>(&self, column: &mut Vec<T>, ghost: T) {
        column.resize(self.rows.max(self.present.end), ghost);
        if self.present != self.owned {
            column.copy_within(self.present.clone(), self.owned.start);
        }
        if self.present.end > self.owned.end {
            column[self.owned.end..self.present.end].fill(ghost);
        }
        column.truncate(self.rows);
        column[self.padding.clone()].fill(ghost);
    }
}

/// Removes all rows that are not owned.
pub(super) fn detach(particles: &mut Particles) {
    let owned = particles.owned();
    if owned.len() == particles.len() {
        return;
    }
    fn keep<T: Copy>(column: &mut Vec<T>, owned: &Range<usize>) {
        column.copy_within(owned.clone(), 0);
        column.truncate(owned.len());
    }
    keep(&mut particles.id, &owned);
    keep(&mut particles.key, &owned);
    particles.rebuild().for_each(|(_, column)| keep(column, &owned));
    particles.set_owned(0..owned.len());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn owned_rows_come_to_their_place_from_any(
            (here, there) in (0..9usize, 0..9usize),
            count in 0..30usize,
            (padding, behind) in (0..5usize, 0..20usize),
        ) {
            let owned = there..there + count;
            let layout = Layout {
                present: here..here + count,
                padding: there.saturating_sub(padding)..there,
                rows: owned.end + behind,
                owned: owned.clone(),
            };
            let mut column: Vec<usize> = (0..here + count).collect();
            let before = column.clone();
            layout.move_column(&mut column, usize::MAX);
            prop_assert_eq!(layout.is_identity(), column == before && layout.rows == count);
            prop_assert_eq!(column.len(), layout.rows);
            prop_assert_eq!(&column[owned.clone()], &(here..here + count).collect::<Vec<_>>()[..]);
            let ghosts = layout.padding.clone().chain(owned.end..layout.rows);
            prop_assert!(ghosts.into_iter().all(|row| column[row] == usize::MAX));
        }

        #[test]
        fn owned_rows_begin_with_a_super_cluster_not_far_behind_halos(lower in 0..1_000_000usize) {
            let begin = owned_start(lower);
            prop_assert!(begin.is_multiple_of(SUPER_CLUSTER) && begin >= lower);
            prop_assert!(begin - lower < SUPER_CLUSTER.max(2 * lower / ROOM_DIVISOR + 2), "{}", begin);
        }

        #[test]
        fn keys_between_are_in_order_and_apart_where_there_is_room(start in 0..u64::MAX / 2, width in 0..300u64, count in 0..200usize) {
            let keys: Vec<u64> = spaced_keys(start..start + width, count).collect();
            prop_assert_eq!(keys.len(), count);
            prop_assert!(keys.is_sorted() && keys.iter().all(|key| (start..=start + width).contains(key)));
            prop_assert!(width <= count as u64 || keys.windows(2).all(|two| two[0] < two[1]));
        }

        #[test]
        fn runs_without_some_rows_are_all_that_are_long_enough(
            rows in 0..3000usize,
            ranks in prop::collection::vec(prop::collection::btree_set(0..3000u32, 0..6), 0..4),
        ) {
            let of = |some: std::collections::BTreeSet<u32>| {
                some.into_iter().filter(|&row| (row as usize) < rows).collect::<Vec<_>>()
            };
            let some: Vec<Vec<u32>> = ranks.into_iter().map(of).collect();
            let sent: Vec<RowRanges> = some.iter().map(|rows| RowRanges::of(rows)).collect();
            let runs = unshared_runs(&sent, rows);
            let touched = |s: usize| some.iter().flatten().any(|&row| row as usize / SUPER_CLUSTER == s);
            let count = rows.div_ceil(SUPER_CLUSTER);
            for s in 0..count {
                // Length of the untouched run around this super-cluster.
                let before = (0..s).rev().take_while(|&s| !touched(s)).count();
                let behind = (s..count).take_while(|&s| !touched(s)).count();
                let long = !touched(s) && before + behind >= MIN_RUN;
                let members = s * SUPER_CLUSTER..rows.min((s + 1) * SUPER_CLUSTER);
                let within = runs.iter().filter(|run| run.start <= members.start && members.end <= run.end).count();
                let meets = runs.iter().filter(|run| run.start < members.end && members.start < run.end).count();
                prop_assert_eq!((within, meets), (usize::from(long), usize::from(long)), "{}", s);
            }
            prop_assert!(runs.windows(2).all(|two| two[0].end < two[1].start));
        }
    }
}
