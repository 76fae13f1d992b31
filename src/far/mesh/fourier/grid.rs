//! Distribution of a mesh and of its waves over the ranks.

use crate::comm::distribution::share;
use std::ops::Range;

/// A grid of ranks over a mesh. Rank `a * ranks[1] + b` owns the mesh points of the a-th range of x and the
/// b-th range of y, and the waves of the a-th range of ky and the b-th range of kz.
///
/// One range in y (slabs) takes one transposition over the ranks each way, several (pencils) take two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FourierGrid {
    points: [usize; 3],
    ranks: [usize; 2],
}

impl FourierGrid {
    /// The grid for this many points per dimension and ranks.
    ///
    /// Of all grids in which each rank owns points and waves, it has the least work of the busiest rank; a
    /// second transposition counts as a third of the work. Ranks beyond the grid own nothing.
    ///
    /// # Panics
    /// If a number of points or the number of ranks is 0.
    pub fn new(points: [usize; 3], ranks: usize) -> Self {
        assert!(ranks > 0 && points.iter().all(|&points| points > 0), "{points:?} points, {ranks} ranks");
        let [nx, ny, nz] = points;
        let waves = nz / 2 + 1;
        let grids = (1..=ranks.min(nx).min(ny)).map(|a| [a, (ranks / a).min(ny).min(waves)]);
        let cost = |&[a, b]: &[usize; 2]| {
            // transforms of the busiest rank: real values before, complex values after the transposition
            let real = nx.div_ceil(a) * ny.div_ceil(b) * nz;
            let complex = 2 * nx * ny.div_ceil(a) * waves.div_ceil(b);
            ((real + complex) * if b > 1 { 4 } else { 3 }, a + b)
        };
        FourierGrid { points, ranks: grids.min_by_key(cost).unwrap_or([1, 1]) }
    }

    /// Points per dimension.
    pub fn points(&self) -> [usize; 3] {
        self.points
    }

    /// Number of ranges: of x and ky, of y and kz.
    pub fn ranks(&self) -> [usize; 2] {
        self.ranks
    }

    /// Ranges of x and y of the mesh points of a rank. Values are stored as `[x][y][z]`, all z.
    pub fn real_block(&self, rank: usize) -> [Range<usize>; 2] {
        self.block(rank, [self.points[0], self.points[1]])
    }

    /// Ranges of ky and kz of the waves of a rank, in all `points[1]` and `points[2] / 2 + 1` waves. The
    /// influence is stored as `[kx][ky][kz]`, all kx.
    pub fn wave_block(&self, rank: usize) -> [Range<usize>; 2] {
        self.block(rank, [self.points[1], self.points[2] / 2 + 1])
    }

    /// Number of mesh points of a rank.
    pub fn real_len(&self, rank: usize) -> usize {
        self.real_block(rank).iter().map(Range::len).product::<usize>() * self.points[2]
    }

    /// Number of waves of a rank.
    pub fn wave_len(&self, rank: usize) -> usize {
        self.wave_block(rank).iter().map(Range::len).product::<usize>() * self.points[0]
    }

    /// Signed wave numbers of the waves of a rank in the order of the influence, and the number of waves of
    /// the full spectrum that each stands for: 2 if the wave of opposite sign is left out, else 1. A wave
    /// number of half the points is positive.
    pub fn wave_numbers(&self, rank: usize) -> impl Iterator<Item = ([i64; 3], f64)> + use<> {
        let (points, [ky, kz]) = (self.points, self.wave_block(rank));
        let signed =
            move |d: usize, k: usize| k as i64 - if k > points[d] / 2 { points[d] as i64 } else { 0 };
        let weight = move |kz: usize| if kz == 0 || 2 * kz == points[2] { 1.0 } else { 2.0 };
        (0..points[0]).flat_map(move |x| {
            let kz = kz.clone();
            ky.clone().flat_map(move |y| {
                kz.clone().map(move |z| ([signed(0, x), signed(1, y), signed(2, z)], weight(z)))
            })
        })
    }

    /// Position of a rank in the grid.
    pub(super) fn position(&self, rank: usize) -> Option<[usize; 2]> {
        let position = [rank / self.ranks[1], rank % self.ranks[1]];
        (position[0] < self.ranks[0]).then_some(position)
    }

    fn block(&self, rank: usize, lengths: [usize; 2]) -> [Range<usize>; 2] {
        match self.position(rank) {
            Some(position) => [0, 1].map(|d| range(lengths[d], position[d], self.ranks[d])),
            None => [0..0, 0..0],
        }
    }
}

/// The range number `part` of `parts` of almost equal length.
pub(super) fn range(length: usize, part: usize, parts: usize) -> Range<usize> {
    let range = share(length as u64, part, parts);
    range.start as usize..range.end as usize
}
