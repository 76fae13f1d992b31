//! Migration of particles to their owners, and sorting by key, then id.

use super::assign::Assignment;
use crate::comm::Communicator;
use crate::faults::{Fault, planted};
use crate::particles::{Field, Particles, Role};
use crate::space::{SimulationBox, hilbert};
use bytemuck::Pod;
use rayon::prelude::*;

/// Rows per task.
const CHUNK: usize = 8 * 1024;

/// The owned rows of a rank, sorted by key, then id.
pub struct Sorted {
    /// The sorted keys.
    pub keys: Vec<u64>,
    /// The current rows.
    pub rows: Vec<u32>,
}

/// Computes the keys of the owned particles and sorts their row numbers; no column is moved yet.
pub fn sort(bx: &SimulationBox, particles: &mut Particles) -> Sorted {
    let owned = particles.owned();
    let mut keys = std::mem::take(&mut particles.key);
    let position = particles.vector(Field::Position).map(|column| &column[owned.clone()]);
    hilbert::keys(bx, position, &mut keys[owned.clone()]);
    particles.key = keys;

    let id = &particles.id;
    let key = &particles.key[owned.clone()];
    let mut pairs: Vec<(u64, u32)> = key
        .par_iter()
        .enumerate()
        .with_min_len(CHUNK)
        .map(|(k, &key)| (key, (owned.start + k) as u32))
        .collect();
    let order =
        |a: &(u64, u32), b: &(u64, u32)| a.0.cmp(&b.0).then_with(|| id[a.1 as usize].cmp(&id[b.1 as usize]));
    let sorted = pairs.par_windows(2).with_min_len(CHUNK).all(|pair| order(&pair[0], &pair[1]).is_le());
    if !sorted {
        pairs.par_sort_unstable_by(order);
    }
    let (keys, rows) = pairs.into_par_iter().with_min_len(CHUNK).unzip();
    Sorted { keys, rows }
}

/// Rows reserved for halos, so that the owned rows need not move when halos arrive.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReservedRows {
    /// Rows before the owned ones.
    pub before: usize,
    /// Rows behind the owned ones.
    pub behind: usize,
}

/// Sends every particle to the owner of its key and arranges the owned ones in key order, without halos,
/// after `room.before` free rows. State columns move, derived columns become zero. Collective.
pub(super) fn migrate(
    comm: &Communicator,
    assignment: &Assignment,
    sorted: Sorted,
    particles: &mut Particles,
    room: ReservedRows,
) {
    let rows_of = |rank: usize| {
        let range = assignment.range(rank);
        let from = sorted.keys.partition_point(|&key| key < range.start);
        let to = sorted.keys.partition_point(|&key| key < range.end);
        &sorted.rows[from..to]
    };
    let state = particles.fields_of(Role::State);
    let leaving: Vec<Vec<u64>> = (0..comm.size())
        .map(|rank| match rows_of(rank) {
            _ if rank == comm.rank() => Vec::new(),
            [_, rows @ ..] if planted(Fault::MigrantLost) => pack(particles, &state, rows),
            rows => pack(particles, &state, rows),
        })
        .collect();
    let received = PackedParticles { words: comm.all_to_all(&leaving), columns: columns_of_packed(&state) };
    let order = received.merge(particles, rows_of(comm.rank()));
    received.gather(particles, &order, room);
    particles.set_owned(room.before..room.before + order.len());
}

/// Returns the number of columns of a packed particle with these fields, including id and key.
pub(super) fn columns_of_packed(fields: &[Field]) -> usize {
    2 + fields.iter().map(|field| field.components()).sum::<usize>()
}

/// Number of columns of particles that travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    /// Columns of a migrating particle: id, key, state.
    pub migrant: usize,
    /// Columns of a halo particle.
    pub halo: usize,
}

impl Width {
    /// Returns the widths for particles with these fields.
    pub fn of(fields: &[Field]) -> Self {
        let state: Vec<Field> = fields.iter().copied().filter(|field| field.role() == Role::State).collect();
        Self { migrant: columns_of_packed(&state), halo: columns_of_packed(&Field::halo_fields(fields)) }
    }
}

/// Packs id, key and these fields of the given rows, column by column.
pub(super) fn pack(particles: &Particles, fields: &[Field], rows: &[u32]) -> Vec<u64> {
    let mut words = Vec::with_capacity(rows.len() * columns_of_packed(fields));
    words.extend(rows.iter().map(|&row| particles.id[row as usize]));
    words.extend(rows.iter().map(|&row| particles.key[row as usize]));
    for &field in fields {
        for component in 0..field.components() {
            let column = particles.component(field, component);
            words.extend(rows.iter().map(|&row| column[row as usize].to_bits()));
        }
    }
    words
}

/// Packed particles from other ranks.
struct PackedParticles {
    words: Vec<Vec<u64>>,
    columns: usize,
}

impl PackedParticles {
    /// Iterates over a packed column, concatenated over the ranks.
    fn column(&self, column: usize) -> impl Iterator<Item = u64> {
        self.words.iter().flat_map(move |words| {
            let count = words.len() / self.columns;
            words[column * count..(column + 1) * count].iter().copied()
        })
    }

    /// Merges the kept rows and the received particles by key, then id. Received particles are numbered after
    /// the present rows.
    fn merge(&self, particles: &Particles, kept: &[u32]) -> Vec<u32> {
        let first = particles.len() as u32;
        let mut received: Vec<(u64, u64, u32)> =
            self.column(1).zip(self.column(0)).zip(first..).map(|((key, id), row)| (key, id, row)).collect();
        // The stable sort detects and merges the sorted runs of the ranks.
        received.sort();
        let mut order = Vec::with_capacity(kept.len() + received.len());
        let mut rest = kept;
        for (key, id, row) in received {
            let before = |&row: &u32| (particles.key[row as usize], particles.id[row as usize]) < (key, id);
            let (ahead, behind) = rest.split_at(rest.partition_point(before));
            order.extend_from_slice(ahead);
            order.push(row);
            rest = behind;
        }
        order.extend_from_slice(rest);
        order
    }

    /// Rearranges all columns to `order`, after `room.before` rows with unspecified content.
    fn gather(&self, particles: &mut Particles, order: &[u32], room: ReservedRows) {
        let mut spare = Vec::new();
        particles.id.extend(self.column(0));
        gather_column(&mut particles.id, order, room, &mut spare);
        particles.key.extend(self.column(1));
        gather_column(&mut particles.key, order, room, &mut spare);
        let (mut spare, mut next) = (Vec::new(), 2);
        for (field, column) in particles.rebuild() {
            match field.role() {
                Role::State => {
                    column.extend(self.column(next).map(f64::from_bits));
                    gather_column(column, order, room, &mut spare);
                    next += 1;
                }
                Role::Derived => {
                    column.resize(room.before + order.len(), 0.0);
                    column[room.before..].par_chunks_mut(CHUNK).for_each(|rows| rows.fill(0.0));
                }
            }
        }
    }
}

/// Replaces a column by its values at `order`, after `room.before` rows with unspecified content. Leaves the
/// old buffer of the column in `spare` for reuse.
fn gather_column<T: Pod + Send + Sync>(
    column: &mut Vec<T>,
    order: &[u32],
    room: ReservedRows,
    spare: &mut Vec<T>,
) {
    let values: &[T] = column;
    // Rows before the owned ones keep unspecified values: halos overwrite them before any read.
    spare.resize(room.before, T::zeroed());
    spare.reserve(order.len() + room.behind);
    spare.par_extend(order.par_iter().with_min_len(CHUNK).map(|&row| values[row as usize]));
    std::mem::swap(column, spare);
}
