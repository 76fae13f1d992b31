//! Halos: the particles of other ranks that own ones may interact with.
//!
//! Every rank publishes the tight boxes of its super-clusters, united per coarse leaf in which they begin, with the
//! largest radius inside. A sender gives away the particles that are closer to a box of the receiver than the larger
//! of both radii. As each particle is inside a box of its rank and its radius at most the box's, no pair with
//! r < max(radius_i, radius_j) is missed.
//!
//! Where one of two ranks has their pairs ([`Across::One`]) only the halos of those pairs are sent: the boxes of the higher
//! rank are cut in two where half of its particles are in leaves before. The first ones go to the lower rank, the others ask for
//! what they need of that rank.

use super::Across;
use super::assign::Assignment;
use super::exchange::{Room, columns_of_packed};
use super::needed::{Own, OwnRows, union};
use crate::comm::Communicator;
use crate::particles::{CLUSTER, Field, Meanwhile, Particles, Returned, SUPER_CLUSTER, SumsOf};
use crate::runs::Runs;
use crate::space::SimulationBox;
use rayon::prelude::*;
use std::cell::RefCell;
use std::ops::Range;
/// Rows for halos come in steps of one to two such parts of their number.
const PARTS: usize = 16;

/// A run of so many super-clusters is worth to be seen to by itself.
const RUN: usize = 4;

/// Who sends which rows to whom.
#[derive(Clone, Debug, Default)]
pub(super) struct Halos {
    /// For each rank the rows it is sent, in order, counted from the first owned one.
    send: Vec<Runs>,
    /// For each rank the rows where its particles are here.
    pub rows: Vec<Range<usize>>,
    /// Where the owned rows are.
    owned: Range<usize>,
    /// The first of the own super-clusters that have pairs with particles of lower ranks here.
    pub first_with_lower: usize,
    across: Across,
    /// Runs of owned rows, counted from the first one, of which no other rank has sums, where one of two has their pairs.
    pub alone: Vec<Range<usize>>,
}

impl Halos {
    /// What the next halos need of rows, if they are about as many.
    pub fn room(&self) -> Room {
        let end = self.rows.iter().map(|rows| rows.end).max().unwrap_or(0);
        let behind = end.saturating_sub(self.owned.end);
        Room { before: self.owned.start, behind: behind + behind / PARTS }
    }

    /// Find who needs which of the owned rows; there are no halos yet. Collective.
    pub fn find(
        comm: &Communicator,
        bx: &SimulationBox,
        assignment: &Assignment,
        particles: &Particles,
        radius: &[f64],
        across: Across,
    ) -> Self {
        if comm.size() == 1 {
            let send = vec![Runs::default()];
            return Self {
                alone: across.alone(&send, particles.owned().len()),
                send,
                across,
                ..Self::default()
            };
        }
        let own = Own::new(assignment, comm.rank(), OwnRows::of(particles, radius));
        let boxes = comm.all_gather(own.boxes());
        let send = boxes.iter().enumerate().map(|(rank, theirs)| match rank {
            rank if rank == comm.rank() => Runs::default(),
            _ => own.needed((rank, theirs), &union(theirs.iter().copied()), bx, across),
        });
        let send: Vec<Runs> = send.collect();
        let alone = across.alone(&send, particles.owned().len());
        Self { send, first_with_lower: own.first_with_lower(across), across, alone, ..Self::default() }
    }

    /// Send and receive id, key and the fields of halos, and lay out the rows: halos of lower ranks, padding, owned, halos of
    /// higher ranks. The keys of padding are between those around it, one after the other, so that all keys stay sorted and no leaf of
    /// a tree over them is full of it. Where one of two ranks has their pairs there is padding behind owned rows, too, with the last
    /// key: no cluster has owned rows and halos, whose pairs with each other are others'.
    pub fn attach(&mut self, comm: &Communicator, own_keys: Range<u64>, particles: &mut Particles) {
        let fields = particles.fields_of_halos();
        let leaving: Vec<Vec<u64>> = self.send.iter().map(|runs| pack(particles, &fields, runs)).collect();
        let arrived = comm.all_to_all(&leaving);
        let width = columns_of_packed(&fields);
        let counts: Vec<usize> = arrived.iter().map(|words| words.len() / width).collect();
        let lower: usize = counts[..comm.rank()].iter().sum();
        let present = particles.owned();
        let start = begin_behind(lower);
        let owned = start..start + present.len();
        self.rows.clear();
        let (mut next, mut behind) = (0, 0..0);
        for (rank, &count) in counts.iter().enumerate() {
            if rank == comm.rank() {
                let shares = self.across == Across::One && counts[rank..].iter().any(|&count| count > 0);
                next = if shares { owned.end.next_multiple_of(CLUSTER) } else { owned.end };
                behind = owned.end..next;
            }
            self.rows.push(next..next + count);
            next += count;
        }
        self.owned = owned.clone();
        let layout = Layout { present, owned: owned.clone(), padding: lower..start, rows: next };
        if layout.changes_nothing() {
            return;
        }
        let halo = |column: usize, place: &mut dyn FnMut(Range<usize>, &[u64])| {
            for ((rows, words), &count) in self.rows.iter().zip(&arrived).zip(&counts) {
                place(rows.clone(), &words[column * count..(column + 1) * count]);
            }
        };
        layout.spread(&mut particles.id, u64::MAX);
        halo(0, &mut |rows, words| particles.id[rows].copy_from_slice(words));
        layout.spread(&mut particles.key, own_keys.start);
        particles.key[behind].fill(own_keys.end.saturating_sub(1));
        halo(1, &mut |rows, words| particles.key[rows].copy_from_slice(words));
        let last = particles.key[..lower].last().copied().unwrap_or(0);
        let keys = between(last..own_keys.start, layout.padding.len());
        particles.key[layout.padding.clone()].iter_mut().zip(keys).for_each(|(key, between)| *key = between);
        let mut packed = 2;
        for (field, column) in particles.rebuild() {
            layout.spread(column, if field == Field::Position { f64::INFINITY } else { 0.0 });
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

    /// Give the owners of halos what was summed for these, and show what other ranks summed for rows of this one, in the order of the
    /// ranks; `meanwhile` is done while that is on its way. Collective.
    pub fn give_back(
        &self,
        comm: &Communicator,
        words: usize,
        sums: &SumsOf,
        meanwhile: impl FnOnce(),
        show: impl FnOnce(&[Returned]),
    ) {
        if comm.size() == 1 || self.send.is_empty() {
            meanwhile();
            return show(&[]);
        }
        let to: Vec<usize> = self.rows.iter().map(|rows| rows.len() * words).collect();
        let from: Vec<usize> = self.send.iter().map(|sent| sent.rows() * words).collect();
        let write = |rank: usize, values: &mut [u64]| sums(self.rows[rank].clone(), values);
        let read = |values: &[&[u64]]| {
            let returned = self.send.iter().zip(values).map(|(rows, sums)| Returned { rows, sums });
            show(&returned.filter(|returned| !returned.rows.is_empty()).collect::<Vec<_>>());
        };
        comm.exchange_in_place((&to, write), (&from, read), meanwhile);
    }

    /// Copy fields of the owned rows into the halo rows of the other ranks; `meanwhile` is done while they are on their way,
    /// and must not look at halos.
    pub fn refresh(
        &self,
        comm: &Communicator,
        particles: &mut Particles,
        fields: &[Field],
        meanwhile: Option<&mut Meanwhile>,
    ) {
        if comm.size() == 1 || self.send.is_empty() {
            return;
        }
        let components: Vec<(Field, usize)> =
            fields.iter().flat_map(|&field| (0..field.components()).map(move |c| (field, c))).collect();
        let first = particles.owned().start;
        let to: Vec<usize> = self.send.iter().map(|sent| sent.rows() * components.len()).collect();
        let from: Vec<usize> = self.rows.iter().map(|rows| rows.len() * components.len()).collect();
        // written, shown to others and read one after the other
        let particles = RefCell::new(particles);
        let write = |rank: usize, values: &mut [f64]| {
            let (particles, sent): (&Particles, _) = (&particles.borrow(), &self.send[rank]);
            let columns = values.par_chunks_exact_mut(sent.rows()).zip(&components);
            columns.for_each(|(values, &(field, component))| {
                sent.copy(&particles.component(field, component)[first..], values);
            });
        };
        let read = |values: &[&[f64]]| {
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

impl Across {
    /// Runs of rows, of so many, of which no other rank has sums that is sent these.
    fn alone(self, send: &[Runs], rows: usize) -> Vec<Range<usize>> {
        match self {
            Across::Both => Vec::new(),
            Across::One => alone(send, rows),
        }
    }
}

/// Runs of super-clusters, of at least [`RUN`] each, that have none of these rows, of so many in all.
fn alone(some: &[Runs], rows: usize) -> Vec<Range<usize>> {
    let mut have = vec![false; rows.div_ceil(SUPER_CLUSTER)];
    let touched = |run: &Range<usize>| run.start / SUPER_CLUSTER..run.end.div_ceil(SUPER_CLUSTER);
    some.iter().flat_map(Runs::iter).for_each(|run| have[touched(run)].fill(true));
    let mut begin = 0;
    let runs = have.chunk_by(|a, b| a == b).map(|run| {
        begin += run.len();
        (run, begin - run.len()..begin)
    });
    runs.filter(|(run, _)| !run[0] && run.len() >= RUN)
        .map(|(_, run)| run.start * SUPER_CLUSTER..rows.min(run.end * SUPER_CLUSTER))
        .collect()
}

/// Where owned rows begin behind so many halos of lower ranks: with the next ones, which are about as many, they mostly begin there again
/// and need not move. The number alone decides, so that rows do not tell what was before.
fn begin_behind(lower: usize) -> usize {
    lower.next_multiple_of((lower / PARTS).next_power_of_two().max(SUPER_CLUSTER))
}

/// So many keys, in order, from those of a range, or all of them its end where it has none.
fn between(keys: Range<u64>, count: usize) -> impl Iterator<Item = u64> {
    let step = keys.end.saturating_sub(keys.start) / (count as u64 + 1);
    (1..=count as u64).map(move |k| keys.end.min(keys.start + k * step))
}

/// Id, key and these fields of runs of owned rows, one column after the other.
fn pack(particles: &Particles, fields: &[Field], rows: &Runs) -> Vec<u64> {
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

/// Where rows go when halos come.
struct Layout {
    /// Where owned rows are, and where they are to be.
    present: Range<usize>,
    owned: Range<usize>,
    padding: Range<usize>,
    rows: usize,
}

impl Layout {
    /// Whether owned rows are all there is, before and after. To compare numbers of rows would not do: as many may come behind as were
    /// left free before.
    fn changes_nothing(&self) -> bool {
        self.present.start == 0 && self.owned == (0..self.rows)
    }

    /// Move a column of owned rows to its place, if it is not there, and fill the padding and the halos behind; those before, which
    /// may have been owned rows, are to be overwritten.
    fn spread<T: Copy>(&self, column: &mut Vec<T>, ghost: T) {
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

/// Remove all rows that are not owned.
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
            layout.spread(&mut column, usize::MAX);
            prop_assert_eq!(layout.changes_nothing(), column == before && layout.rows == count);
            prop_assert_eq!(column.len(), layout.rows);
            prop_assert_eq!(&column[owned.clone()], &(here..here + count).collect::<Vec<_>>()[..]);
            let ghosts = layout.padding.clone().chain(owned.end..layout.rows);
            prop_assert!(ghosts.into_iter().all(|row| column[row] == usize::MAX));
        }

        #[test]
        fn owned_rows_begin_with_a_super_cluster_not_far_behind_halos(lower in 0..1_000_000usize) {
            let begin = begin_behind(lower);
            prop_assert!(begin.is_multiple_of(SUPER_CLUSTER) && begin >= lower);
            prop_assert!(begin - lower < SUPER_CLUSTER.max(2 * lower / PARTS + 2), "{}", begin);
        }

        #[test]
        fn keys_between_are_in_order_and_apart_where_there_is_room(start in 0..u64::MAX / 2, width in 0..300u64, count in 0..200usize) {
            let keys: Vec<u64> = between(start..start + width, count).collect();
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
            let sent: Vec<Runs> = some.iter().map(|rows| Runs::of(rows)).collect();
            let runs = alone(&sent, rows);
            let touched = |s: usize| some.iter().flatten().any(|&row| row as usize / SUPER_CLUSTER == s);
            let count = rows.div_ceil(SUPER_CLUSTER);
            for s in 0..count {
                // how far the super-clusters around it are untouched, too
                let before = (0..s).rev().take_while(|&s| !touched(s)).count();
                let behind = (s..count).take_while(|&s| !touched(s)).count();
                let long = !touched(s) && before + behind >= RUN;
                let members = s * SUPER_CLUSTER..rows.min((s + 1) * SUPER_CLUSTER);
                let within = runs.iter().filter(|run| run.start <= members.start && members.end <= run.end).count();
                let meets = runs.iter().filter(|run| run.start < members.end && members.start < run.end).count();
                prop_assert_eq!((within, meets), (usize::from(long), usize::from(long)), "{}", s);
            }
            prop_assert!(runs.windows(2).all(|two| two[0].end < two[1].start));
        }
    }
}
