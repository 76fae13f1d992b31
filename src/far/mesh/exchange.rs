//! Exchange of mesh values between ranks: bricks around particles, and blocks of the Fourier transform.

use super::MeshScalar;
use super::brick::Brick;
use super::fourier::FourierGrid;
use crate::comm::Communicator;
use std::ops::Range;

/// The rows that bricks of particles and blocks of the transform have in common.
pub struct BrickExchange {
    points: [usize; 3],
    rank: usize,
    /// Origin and extent of the brick of each rank.
    bricks: Vec<[[usize; 3]; 2]>,
    /// Ranges of x and y of the block of each rank.
    blocks: Vec<[Range<usize>; 2]>,
}

impl BrickExchange {
    /// Gathers the bricks of all ranks. Collective.
    pub fn new<S: MeshScalar>(comm: &Communicator, grid: &FourierGrid, brick: &Brick<S>) -> Self {
        let own: Vec<u64> =
            brick.origin().iter().chain(&brick.extent()).map(|&number| number as u64).collect();
        let three = |numbers: &[u64]| [0, 1, 2].map(|d| numbers[d] as usize);
        let all = comm.all_gather(&own);
        BrickExchange {
            points: grid.points(),
            rank: comm.rank(),
            bricks: all.iter().map(|numbers| [three(&numbers[..3]), three(&numbers[3..])]).collect(),
            blocks: (0..comm.size()).map(|rank| grid.real_block(rank)).collect(),
        }
    }

    /// Indices within a brick whose mesh points are in a range of a dimension.
    fn common(&self, brick: usize, d: usize, range: &Range<usize>) -> impl Iterator<Item = usize> + Clone {
        let [origin, extent] = self.bricks[brick].map(|corner| corner[d]);
        let (points, range) = (self.points[d], range.clone());
        (0..extent).filter(move |index| range.contains(&((origin + index) % points)))
    }

    /// Values of a brick that are in a block.
    fn count(&self, brick: usize, block: usize) -> usize {
        let [x, y] = &self.blocks[block];
        self.common(brick, 0, x).count() * self.common(brick, 1, y).count() * self.bricks[brick][1][2]
    }

    /// Calls `visit` with the first value of each common row in the brick and in the block.
    fn rows(&self, brick: usize, block: usize, mut visit: impl FnMut(usize, usize)) {
        let [origin, extent] = self.bricks[brick];
        let [x, y] = &self.blocks[block];
        let rows = self.common(brick, 1, y);
        for plane in self.common(brick, 0, x) {
            let block_plane = (origin[0] + plane) % self.points[0] - x.start;
            for row in rows.clone() {
                let block_row = (origin[1] + row) % self.points[1] - y.start;
                visit(
                    (plane * extent[1] + row) * extent[2],
                    (block_plane * y.len() + block_row) * self.points[2],
                );
            }
        }
    }

    /// The runs of a brick's row in a row of the mesh: first value in the brick, first point, length.
    fn runs(&self, brick: usize) -> [[usize; 3]; 2] {
        let [origin, extent] = self.bricks[brick].map(|corner| corner[2]);
        let before = extent.min(self.points[2] - origin);
        [[0, origin, before], [before, 0, extent - before]]
    }

    /// Sets the own block to the sum of all bricks, in the order of ranks. Collective.
    pub fn collect<S: MeshScalar>(&self, comm: &Communicator, brick: &Brick<S>, block: &mut [S]) {
        let counts = |count: &dyn Fn(usize) -> usize| -> Vec<usize> {
            (0..comm.size()).map(|rank| if rank == self.rank { 0 } else { count(rank) }).collect()
        };
        let to = counts(&|rank| self.count(self.rank, rank));
        let from = counts(&|rank| self.count(rank, self.rank));
        block.fill(S::default());
        let length = brick.extent()[2];
        let write = |rank: usize, message: &mut [S]| {
            let mut rows = message.chunks_exact_mut(length);
            self.rows(self.rank, rank, |row, _| {
                if let Some(values) = rows.next() {
                    values.copy_from_slice(&brick.values[row..row + length]);
                }
            });
        };
        let mut add = |sender: usize, row: &[S], to: usize| {
            for [first, point, count] in self.runs(sender) {
                let points = &mut block[to + point..to + point + count];
                points
                    .iter_mut()
                    .zip(&row[first..first + count])
                    .for_each(|(sum, &value)| *sum = *sum + value);
            }
        };
        let read = |messages: &[&[S]]| {
            for (sender, message) in messages.iter().enumerate() {
                let length = self.bricks[sender][1][2];
                if sender == self.rank {
                    self.rows(sender, self.rank, |row, to| {
                        add(sender, &brick.values[row..row + length], to);
                    });
                } else if length > 0 {
                    let mut rows = message.chunks_exact(length);
                    self.rows(sender, self.rank, |_, to| {
                        if let Some(row) = rows.next() {
                            add(sender, row, to);
                        }
                    });
                }
            }
        };
        comm.exchange_in_place((&to, write), (&from, read), || ());
    }

    /// Sets the brick to the values of all blocks. Collective.
    pub fn distribute<S: MeshScalar>(&self, comm: &Communicator, block: &[S], brick: &mut Brick<S>) {
        let counts = |count: &dyn Fn(usize) -> usize| -> Vec<usize> {
            (0..comm.size()).map(|rank| if rank == self.rank { 0 } else { count(rank) }).collect()
        };
        let to = counts(&|rank| self.count(rank, self.rank));
        let from = counts(&|rank| self.count(self.rank, rank));
        let write = |rank: usize, message: &mut [S]| {
            let mut rows = message.chunks_exact_mut(self.bricks[rank][1][2].max(1));
            self.rows(rank, self.rank, |_, from| {
                if let Some(values) = rows.next() {
                    for [first, point, count] in self.runs(rank) {
                        values[first..first + count]
                            .copy_from_slice(&block[from + point..from + point + count]);
                    }
                }
            });
        };
        let length = brick.extent()[2];
        let read = |messages: &[&[S]]| {
            for (sender, message) in messages.iter().enumerate() {
                if sender == self.rank {
                    self.rows(self.rank, sender, |row, from| {
                        for [first, point, count] in self.runs(self.rank) {
                            brick.values[row + first..row + first + count]
                                .copy_from_slice(&block[from + point..from + point + count]);
                        }
                    });
                } else if length > 0 {
                    let mut rows = message.chunks_exact(length);
                    self.rows(self.rank, sender, |row, _| {
                        if let Some(values) = rows.next() {
                            brick.values[row..row + length].copy_from_slice(values);
                        }
                    });
                }
            }
        };
        comm.exchange_in_place((&to, write), (&from, read), || ());
    }
}
