//! Assignment of keys to ranks and migration of particles: [`crate::domain::assign`] on devices.

use super::super::Buffer;
use super::super::arguments::leaves::FirstRowsArguments;
use super::super::columns::Columns;
use super::super::exchange::{Exchange, Message};
use super::super::launch::THREADS;
use super::super::order::Order;
use super::super::sort::{COLUMNS_OF_LAUNCH, rows_of_32_bits};
use crate::Result;
use crate::domain::DomainSettings;
use crate::domain::assign::Assignment;
use crate::tree::leaves::Leaves;
use bytemuck::Pod;
use std::ops::Range;

/// The first rows of leaves among sorted keys.
#[derive(Debug)]
struct FirstRows {
    bounds: Buffer<u64>,
    rows: Buffer<u32>,
}

impl FirstRows {
    /// The first row whose key is not below each bound, or the number of rows.
    fn of(&mut self, columns: &Columns, bounds: &[u64]) -> Result<&Buffer<u32>> {
        self.bounds.resize(bounds.len())?;
        self.bounds.upload(bounds)?;
        self.rows.resize(bounds.len())?;
        let device = columns.device();
        let arguments = FirstRowsArguments {
            keys: (&columns.key).into(),
            rows: rows_of_32_bits(columns.owned().len())?,
            bounds: (&self.bounds).into(),
            count: bounds.len() as u32,
            first: (&self.rows).into(),
        };
        device.run(bounds.len().div_ceil(THREADS as usize), THREADS, &arguments)?;
        Ok(&self.rows)
    }
}

/// The owners of keys.
#[derive(Debug)]
pub(super) struct Owners {
    pub assignment: Assignment,
    first_rows: FirstRows,
    /// For each rank the rows of this rank that it owns.
    rows: Vec<Range<usize>>,
}

impl Owners {
    /// All keys belong to the first rank.
    pub fn new(exchange: &Exchange) -> Result<Self> {
        let (device, ranks) = (exchange.device(), exchange.comm().size());
        let first_rows = FirstRows { bounds: Buffer::new(device, 0)?, rows: Buffer::new(device, 0)? };
        Ok(Self { assignment: Assignment::new(ranks), first_rows, rows: Vec::new() })
    }

    /// Partitions the curve for the particles of all ranks, if sorting succeeded on all of them. Collective.
    pub fn assign(&mut self, exchange: &Exchange, mut ordered: Result<()>, columns: &Columns) -> Result<()> {
        let comm = exchange.comm();
        if comm.size() == 1 {
            return ordered;
        }
        comm.agree(std::mem::replace(&mut ordered, Ok(())))?;
        let mut total = [columns.rows() as u64; 2];
        comm.all_sum(&mut total);
        let (first_rows, mut first) = (&mut self.first_rows, Vec::new());
        // a rank that fails takes part without particles, as the others wait for its sums
        let mut sums_of = |leaves: &Leaves| {
            let found = match &ordered {
                Ok(()) => first_rows.of(columns, leaves.keys()).and_then(Buffer::download),
                Err(_) => Ok(Vec::new()),
            };
            first = found.unwrap_or_else(|error| {
                ordered = Err(error);
                Vec::new()
            });
            first.resize(leaves.keys().len(), 0);
            // each particle has weight 1
            let mut sums: Vec<[u64; 2]> =
                first.windows(2).map(|rows| [u64::from(rows[1] - rows[0]); 2]).collect();
            comm.all_sum(bytemuck::cast_slice_mut::<_, u64>(&mut sums));
            sums
        };
        self.assignment.decide(total, &DomainSettings::default(), &mut sums_of);
        comm.agree(ordered)?;
        // from the last counts of leaves, those of the final partition
        let rows = |rank: usize| {
            let leaves = self.assignment.leaves_of(rank);
            first[leaves.start] as usize..first[leaves.end] as usize
        };
        self.rows = (0..comm.size()).map(rows).collect();
        Ok(())
    }

    /// Moves particles to their owners and sorts by key and identity; does nothing if no particle has to
    /// move. Leaving rows are contiguous ranges of the columns, sent in place. Floor: 16 bytes a kept row and
    /// column, 8 on either side for each that moves; a sort of all rows if any arrive. Collective.
    pub fn migrate(&self, exchange: &Exchange, order: &mut Order, columns: &mut Columns) -> Result<()> {
        let comm = exchange.comm();
        if comm.size() == 1 {
            return Ok(());
        }
        let mut counts: Vec<Vec<u64>> = self.rows.iter().map(|rows| vec![rows.len() as u64]).collect();
        counts[comm.rank()][0] = 0;
        let arriving: Vec<usize> = comm.all_to_all(&counts).iter().map(|count| count[0] as usize).collect();
        let mut moving = [counts.iter().map(|count| count[0]).sum::<u64>()];
        comm.all_sum(&mut moving);
        if moving[0] == 0 {
            return Ok(());
        }
        let kept = self.rows[comm.rank()].clone();
        let arrived: usize = arriving.iter().sum();
        let rows = kept.len() + arrived;
        let moves = Moves { exchange, leaving: &self.rows, kept, arriving };
        let gather = &mut order.gather;
        let mut words = [&mut columns.id, &mut columns.key];
        moves.run(&mut words, |count| gather.spare_words(count, rows))?;
        let mut doubles: Vec<&mut Buffer<f64>> = columns.all_mut().collect();
        for doubles in doubles.chunks_mut(COLUMNS_OF_LAUNCH) {
            moves.run(doubles, |count| gather.spare_doubles(count, rows))?;
        }
        let sorted = columns.resize(rows, rows).and_then(|()| match arrived {
            0 => Ok(()),
            _ => order.sort(columns),
        });
        comm.agree(sorted)
    }

    /// The first row of each leaf of a rank among its own sorted rows, then the number of rows.
    pub fn first_rows(&mut self, rank: usize, columns: &Columns) -> Result<&Buffer<u32>> {
        let leaves = self.assignment.leaves_of(rank);
        self.first_rows.of(columns, &self.assignment.leaves().keys()[leaves.start..=leaves.end])
    }
}

/// A migration of rows between ranks.
struct Moves<'a> {
    exchange: &'a Exchange,
    /// For each rank the rows that move there.
    leaving: &'a [Range<usize>],
    /// The rows that stay.
    kept: Range<usize>,
    /// For each rank the number of rows that arrive from it.
    arriving: Vec<usize>,
}

impl Moves<'_> {
    /// Fills spare columns with the rows that stay, then those that arrive by rank, and swaps them with the
    /// columns. Collective.
    fn run<'s, T: Pod>(
        &self,
        columns: &mut [&mut Buffer<T>],
        spare: impl FnOnce(usize) -> Result<&'s mut [Buffer<T>]>,
    ) -> Result<()> {
        let ready = spare(columns.len()).and_then(|spare| {
            for (column, spare) in columns.iter().zip(&mut *spare) {
                spare.copy_range(0, column, self.kept.clone())?;
            }
            Ok(spare)
        });
        let comm = self.exchange.comm();
        let spare = comm.agree_on(ready)?;
        let message = |rank: usize, column: &Buffer<T>, rows: Range<usize>| Message {
            rank,
            address: column.at(rows.start),
            bytes: rows.len() * size_of::<T>(),
        };
        let (mut send, mut receive) = (Vec::new(), Vec::new());
        let mut next = self.kept.len();
        for rank in (0..comm.size()).filter(|&rank| rank != comm.rank()) {
            let (leaving, arriving) = (&self.leaving[rank], next..next + self.arriving[rank]);
            next = arriving.end;
            if !leaving.is_empty() {
                send.extend(columns.iter().map(|column| message(rank, column, leaving.clone())));
            }
            if !arriving.is_empty() {
                receive.extend(spare.iter().map(|column| message(rank, column, arriving.clone())));
            }
        }
        self.exchange.exchange(&send, &receive)?;
        for (column, spare) in columns.iter_mut().zip(spare) {
            std::mem::swap(*column, spare);
        }
        Ok(())
    }
}
