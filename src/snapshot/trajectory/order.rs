//! The particle order of trajectories: sorted by id, so that a row is the same particle in every frame.
//!
//! Each rank writes an even share of the ids, received from their owners. The splitters between the shares
//! are found once by bisection over the ids with global counts: no rank ever holds all ids.

use crate::comm::Communicator;
use crate::comm::distribution::share;
use crate::particles::{Field, Particles};

/// The partition of the ids over the ranks.
pub(super) struct Order {
    /// Smallest id of each rank but the first.
    splitters: Vec<u64>,
    /// First row of each rank, then the total.
    first_rows: Vec<u64>,
}

impl Order {
    /// Finds the splitters for the ids of all ranks, which must be unique. Collective.
    pub(super) fn new(comm: &Communicator, ids: &[u64]) -> Self {
        let mut sorted = ids.to_vec();
        sorted.sort_unstable();
        let mut total = [sorted.len() as u64];
        comm.all_sum(&mut total);
        let ranks = comm.size();
        let ends = (0..ranks).map(|rank| share(total[0], rank, ranks).end);
        let first_rows: Vec<u64> = std::iter::once(0).chain(ends).collect();
        let wanted = &first_rows[1..ranks];
        let (mut low, mut high) = (vec![0u64; wanted.len()], vec![u64::MAX; wanted.len()]);
        for _ in 0..u64::BITS {
            let middle: Vec<u64> = low.iter().zip(&high).map(|(low, high)| low + (high - low) / 2).collect();
            let mut below: Vec<u64> =
                middle.iter().map(|&id| sorted.partition_point(|&other| other < id) as u64).collect();
            comm.all_sum(&mut below);
            for (k, &wanted) in wanted.iter().enumerate() {
                if below[k] >= wanted {
                    high[k] = middle[k]
                } else {
                    low[k] = middle[k].saturating_add(1).min(high[k])
                }
            }
        }
        Self { splitters: high, first_rows }
    }

    /// Total particles of all ranks.
    pub(super) fn total(&self) -> u64 {
        self.first_rows.last().copied().unwrap_or(0)
    }

    /// The rows that this rank writes.
    pub(super) fn rows(&self, comm: &Communicator) -> std::ops::Range<u64> {
        self.first_rows[comm.rank()]..self.first_rows[comm.rank() + 1]
    }

    /// Plans the redistribution of the currently owned particles to the ranks that write them. Collective.
    pub(super) fn redistribution(&self, comm: &Communicator, particles: &Particles) -> Redistribution {
        let mut rows = vec![Vec::new(); comm.size()];
        for row in particles.owned() {
            let rank = self.splitters.partition_point(|&splitter| splitter <= particles.id[row]);
            rows[rank].push(row);
        }
        let sent: Vec<Vec<u64>> =
            rows.iter().map(|rows| rows.iter().map(|&row| particles.id[row]).collect()).collect();
        let ids = comm.all_to_all(&sent).concat();
        let mut sort_order: Vec<usize> = (0..ids.len()).collect();
        sort_order.sort_unstable_by_key(|&place| ids[place]);
        Redistribution { rows, ids, sort_order }
    }
}

/// Destination rank of each owned particle, and the sort order of the received ones.
pub(super) struct Redistribution {
    rows: Vec<Vec<usize>>,
    ids: Vec<u64>,
    sort_order: Vec<usize>,
}

impl Redistribution {
    /// The ids that this rank writes, ascending.
    pub(super) fn ids(&self) -> Vec<u64> {
        self.sort_order.iter().map(|&place| self.ids[place]).collect()
    }

    /// Redistributes a field: returns the values in id order, row-major. Collective.
    pub(super) fn column(&self, comm: &Communicator, particles: &Particles, field: Field) -> Vec<f64> {
        let width = field.components();
        let components: Vec<&[f64]> = (0..width).map(|c| particles.component(field, c)).collect();
        let values = |rows: &Vec<usize>| -> Vec<f64> {
            rows.iter().flat_map(|&row| components.iter().map(move |component| component[row])).collect()
        };
        let arrived = comm.all_to_all(&self.rows.iter().map(values).collect::<Vec<_>>()).concat();
        self.sort_order
            .iter()
            .flat_map(|&place| arrived[place * width..(place + 1) * width].iter().copied())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::run_local;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn rows_are_in_the_order_of_the_ids(
            ids in prop::collection::hash_set(prop_oneof![0..40u64, 0..u64::MAX], 0..60), ranks in 1usize..6
        ) {
            let ids: Vec<u64> = ids.into_iter().collect();
            let parts = run_local(ranks, |comm| {
                let mine: Vec<u64> = ids.iter().copied().skip(comm.rank()).step_by(ranks).collect();
                let mut particles = Particles::new(&[Field::Position], mine.len());
                for (row, &id) in mine.iter().enumerate() {
                    particles.set_vector(Field::Position, row, [id as f64, row as f64, 0.0].into());
                }
                particles.id = mine;
                let order = Order::new(&comm, &particles.id);
                let redistribution = order.redistribution(&comm, &particles);
                let rows = order.rows(&comm);
                assert_eq!((rows.end - rows.start) as usize, redistribution.ids().len());
                (redistribution.ids(), redistribution.column(&comm, &particles, Field::Position))
            });
            let mut sorted = ids.clone();
            sorted.sort_unstable();
            prop_assert_eq!(parts.iter().flat_map(|part| part.0.clone()).collect::<Vec<_>>(), sorted.clone());
            let first: Vec<f64> = parts.iter().flat_map(|part| part.1.iter().step_by(3).copied()).collect();
            prop_assert_eq!(first, sorted.iter().map(|&id| id as f64).collect::<Vec<_>>());
        }
    }
}
