//! Particles go to their owners and into the order of their keys, ties in the order of their ids.

use super::assign::Assignment;
use crate::comm::Communicator;
use crate::particles::{Field, Particles, Role};
use crate::space::{SimulationBox, hilbert};
use bytemuck::Pod;
use rayon::prelude::*;

/// Rows a task.
const CHUNK: usize = 8 * 1024;

/// The owned rows of a rank in the order of key and id.
pub struct Sorted {
    /// Their keys.
    pub keys: Vec<u64>,
    /// The rows where they are now.
    pub rows: Vec<u32>,
}

/// Compute the owned particles' keys and sort their rows; nothing is moved yet.
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

/// Rows that are left free for halos, so that the owned ones need not move when these come.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Room {
    /// Before the owned rows.
    pub before: usize,
    /// Behind them.
    pub behind: usize,
}

/// Send every particle to the owner of its key and arrange those owned here in key order, without halos, behind the first rows
/// of the room. State columns move, derived ones become zero.
pub(super) fn migrate(
    comm: &Communicator,
    assignment: &Assignment,
    sorted: Sorted,
    particles: &mut Particles,
    room: Room,
) {
    let rows_of = |rank: usize| {
        let range = assignment.range(rank);
        let from = sorted.keys.partition_point(|&key| key < range.start);
        let to = sorted.keys.partition_point(|&key| key < range.end);
        &sorted.rows[from..to]
    };
    let state = particles.fields_of(Role::State);
    let leaving: Vec<Vec<u64>> = (0..comm.size())
        .map(|rank| if rank == comm.rank() { Vec::new() } else { pack(particles, &state, rows_of(rank)) })
        .collect();
    let arrived = Arrived { words: comm.all_to_all(&leaving), columns: columns_of_packed(&state) };
    let order = arrived.merge(particles, rows_of(comm.rank()));
    arrived.gather(particles, &order, room);
    particles.set_owned(room.before..room.before + order.len());
}

/// Number of columns of a particle that is packed with these fields: its id and key, too.
pub(super) fn columns_of_packed(fields: &[Field]) -> usize {
    2 + fields.iter().map(|field| field.components()).sum::<usize>()
}

/// Columns of particles that travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    /// Of one that goes to its owner: id, key, state.
    pub migrant: usize,
    /// Of a halo.
    pub halo: usize,
}

impl Width {
    /// Of particles with these fields.
    pub fn of(fields: &[Field]) -> Self {
        let state: Vec<Field> = fields.iter().copied().filter(|field| field.role() == Role::State).collect();
        Self { migrant: columns_of_packed(&state), halo: columns_of_packed(&Field::of_halos(fields)) }
    }
}

/// Id, key and these fields of some rows, one column after the other.
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

/// Packed particles of other ranks.
struct Arrived {
    words: Vec<Vec<u64>>,
    columns: usize,
}

impl Arrived {
    /// A packed column, of all ranks one after the other.
    fn column(&self, column: usize) -> impl Iterator<Item = u64> {
        self.words.iter().flat_map(move |words| {
            let count = words.len() / self.columns;
            words[column * count..(column + 1) * count].iter().copied()
        })
    }

    /// The order of kept rows and arrived particles together; the latter have the row numbers behind all present
    /// rows.
    fn merge(&self, particles: &Particles, kept: &[u32]) -> Vec<u32> {
        let first = particles.len() as u32;
        let mut arrived: Vec<(u64, u64, u32)> =
            self.column(1).zip(self.column(0)).zip(first..).map(|((key, id), row)| (key, id, row)).collect();
        // The stable sort finds and merges the sorted runs that came from the ranks.
        arrived.sort();
        let mut order = Vec::with_capacity(kept.len() + arrived.len());
        let mut rest = kept;
        for (key, id, row) in arrived {
            let before = |&row: &u32| (particles.key[row as usize], particles.id[row as usize]) < (key, id);
            let (ahead, behind) = rest.split_at(rest.partition_point(before));
            order.extend_from_slice(ahead);
            order.push(row);
            rest = behind;
        }
        order.extend_from_slice(rest);
        order
    }

    /// Make the particles those of `order`, behind rows in which anything may be.
    fn gather(&self, particles: &mut Particles, order: &[u32], room: Room) {
        let mut spare = Vec::new();
        particles.id.extend(self.column(0));
        take(&mut particles.id, order, room, &mut spare);
        particles.key.extend(self.column(1));
        take(&mut particles.key, order, room, &mut spare);
        let (mut spare, mut next) = (Vec::new(), 2);
        for (field, column) in particles.rebuild() {
            match field.role() {
                Role::State => {
                    column.extend(self.column(next).map(f64::from_bits));
                    take(column, order, room, &mut spare);
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

/// Replace a column by its values at `order`, in such a room, where anything may be. The column's memory becomes the spare one of the
/// next call.
fn take<T: Pod + Send + Sync>(column: &mut Vec<T>, order: &[u32], room: Room, spare: &mut Vec<T>) {
    let values: &[T] = column;
    // what was there need not go: halos come before anybody looks
    spare.resize(room.before, T::zeroed());
    spare.reserve(order.len() + room.behind);
    spare.par_extend(order.par_iter().with_min_len(CHUNK).map(|&row| values[row as usize]));
    std::mem::swap(column, spare);
}
