//! Distribution of a mesh and of its waves over ranks with a device each, and the planes that they exchange.

use crate::comm::distribution::share;
use std::ops::Range;

/// Slabs of a mesh: each rank owns a range of planes of constant x, and the waves of a range of ky. A rank
/// may own nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slabs {
    /// Points per dimension.
    pub points: [usize; 3],
    /// Number of ranks.
    pub ranks: usize,
}

impl Slabs {
    /// The planes of a rank. cuFFT takes values that are aligned to complex numbers, so that slabs begin at
    /// even planes where planes have an odd number of values.
    pub fn planes(&self, rank: usize) -> Range<usize> {
        let [planes, y, z] = self.points;
        let step = 1 + y * z % 2;
        let range = range(planes.div_ceil(step), rank, self.ranks);
        (range.start * step).min(planes)..(range.end * step).min(planes)
    }

    /// The ky of a rank.
    pub fn rows(&self, rank: usize) -> Range<usize> {
        range(self.points[1], rank, self.ranks)
    }

    /// For each ky the first one of its rank and their number.
    pub fn owners(&self) -> Vec<[u32; 2]> {
        let of_rank = |rank: usize| {
            let rows = self.rows(rank);
            std::iter::repeat_n([rows.start as u32, rows.len() as u32], rows.len())
        };
        (0..self.ranks).flat_map(of_rank).collect()
    }
}

fn range(length: usize, rank: usize, ranks: usize) -> Range<usize> {
    let range = share(length as u64, rank, ranks);
    range.start as usize..range.end as usize
}

/// A run of planes that a rank exchanges with another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlaneRun {
    /// The other rank.
    pub rank: usize,
    /// The planes.
    pub planes: Range<usize>,
}

/// The planes that the particles of one rank touch and another rank owns. The lists of two ranks match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SharedPlanes {
    /// Planes of other ranks that the own particles touch, in the order of ranks.
    pub away: Vec<PlaneRun>,
    /// Own planes that the particles of other ranks touch, in the order of ranks.
    pub home: Vec<PlaneRun>,
}

impl SharedPlanes {
    /// The planes that a rank shares with others. `occupied` has a bit for each cell along x of each rank,
    /// 32 in a word; a particle touches the planes of its cell and of the `order - 1` cells before.
    pub fn new(slabs: &Slabs, rank: usize, occupied: &[Vec<u32>], order: usize) -> Self {
        let of_pair = |touching: usize, owner: usize| {
            let touched = touched(&occupied[touching], slabs.points[0], order);
            runs(&touched, slabs.planes(owner))
        };
        let others = || (0..slabs.ranks).filter(|&other| other != rank);
        let with = |rank: usize, runs: Vec<Range<usize>>| {
            runs.into_iter().map(move |planes| PlaneRun { rank, planes })
        };
        SharedPlanes {
            away: others().flat_map(|other| with(other, of_pair(rank, other))).collect(),
            home: others().flat_map(|other| with(other, of_pair(other, rank))).collect(),
        }
    }

    /// Number of planes that other ranks send to be added.
    pub fn received(&self) -> usize {
        self.home.iter().map(|run| run.planes.len()).sum()
    }

    /// For each of the own planes the numbers of the received planes that are added to it, in the order of
    /// ranks: the index of the first one of each plane and of the end, and the numbers.
    pub fn sources(&self, own: Range<usize>) -> (Vec<u32>, Vec<u32>) {
        let mut of_plane = vec![Vec::new(); own.len()];
        for (number, plane) in self.home.iter().flat_map(|run| run.planes.clone()).enumerate() {
            of_plane[plane - own.start].push(number as u32);
        }
        let mut starts = vec![0];
        for sources in &of_plane {
            starts.push(starts[starts.len() - 1] + sources.len() as u32);
        }
        (starts, of_plane.concat())
    }
}

/// Which planes the particles in these cells touch.
fn touched(occupied: &[u32], points: usize, order: usize) -> Vec<bool> {
    let mut touched = vec![false; points];
    let cells = (0..points).filter(|cell| occupied[cell / 32] >> (cell % 32) & 1 == 1);
    for cell in cells {
        for k in 0..order.min(points) {
            touched[(cell + points - k) % points] = true;
        }
    }
    touched
}

/// The runs of touched planes within a range.
fn runs(touched: &[bool], range: Range<usize>) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for plane in range.filter(|&plane| touched[plane]) {
        match runs.last_mut() {
            Some(run) if run.end == plane => run.end += 1,
            _ => runs.push(plane..plane + 1),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of these cells.
    fn words(cells: &[usize]) -> Vec<u32> {
        let mut words = vec![0; 32];
        cells.iter().for_each(|cell| words[cell / 32] |= 1 << (cell % 32));
        words
    }

    #[test]
    fn particles_touch_planes_across_the_periodic_face() {
        let of = |cells: &[usize], points: usize, order: usize| -> Vec<usize> {
            let touched = touched(&words(cells), points, order);
            (0..points).filter(|&plane| touched[plane]).collect()
        };
        assert_eq!(of(&[1, 6], 8, 4), [0, 1, 3, 4, 5, 6, 7]);
        assert_eq!(of(&[], 8, 4), [0; 0]);
        assert_eq!(of(&[39], 50, 3), [37, 38, 39]);
        assert_eq!(of(&[0], 4, 4), [0, 1, 2, 3]);
        assert_eq!(runs(&touched(&words(&[1, 6]), 8, 3), 0..8), [0..2, 4..8]);
        assert_eq!(runs(&touched(&words(&[1, 6]), 8, 3), 1..5), [1..2, 4..5]);
        assert_eq!(runs(&touched(&words(&[1, 6]), 8, 3), 3..3), [0..0; 0]);
    }

    /// All planes and ky have one owner, also with more ranks than planes.
    #[test]
    fn slabs_cover_the_mesh_once() {
        for ranks in 1..=23 {
            for points in [[8, 9, 10], [7, 9, 11], [8, 9, 11]] {
                let slabs = Slabs { points, ranks };
                let planes: Vec<usize> = (0..ranks).flat_map(|rank| slabs.planes(rank)).collect();
                assert_eq!(planes, (0..points[0]).collect::<Vec<usize>>());
                let slabs = (0..ranks).map(|rank| slabs.planes(rank)).filter(|planes| !planes.is_empty());
                for planes in slabs {
                    assert_eq!(planes.start * points[1] * points[2] % 2, 0, "{points:?}, {ranks} ranks");
                }
            }
            let slabs = Slabs { points: [8, 9, 10], ranks };
            let rows: Vec<usize> = (0..ranks).flat_map(|rank| slabs.rows(rank)).collect();
            assert_eq!(rows, (0..9).collect::<Vec<usize>>());
            for (row, [first, count]) in slabs.owners().into_iter().enumerate() {
                let rank = (0..ranks).find(|&rank| slabs.rows(rank).contains(&row)).unwrap();
                assert_eq!(first as usize..(first + count) as usize, slabs.rows(rank));
            }
        }
    }

    /// Each rank's planes of others are what the others expect, and own and received planes give each plane
    /// one term of each rank that touches it, in the order of ranks.
    #[test]
    fn planes_of_any_ranks_add_up() {
        for (points, ranks, order) in [(8, 3, 4), (8, 10, 5), (40, 7, 6), (9, 2, 8), (5, 5, 4)] {
            let slabs = Slabs { points: [points, 9, 10], ranks };
            // the particles of a rank are in two places; one rank has none
            let occupied: Vec<Vec<u32>> = (0..ranks)
                .map(|rank| match rank {
                    1 => words(&[]),
                    _ => words(&[rank * points / ranks, (rank * 7 + 3) % points]),
                })
                .collect();
            let shared: Vec<SharedPlanes> =
                (0..ranks).map(|rank| SharedPlanes::new(&slabs, rank, &occupied, order)).collect();
            let sent = |from: usize, to: usize| -> Vec<Range<usize>> {
                let runs = shared[from].away.iter().filter(|run| run.rank == to);
                runs.map(|run| run.planes.clone()).collect()
            };
            for (rank, of_rank) in shared.iter().enumerate() {
                let own = slabs.planes(rank);
                for other in 0..ranks {
                    let expected: Vec<Range<usize>> = of_rank
                        .home
                        .iter()
                        .filter(|run| run.rank == other)
                        .map(|run| run.planes.clone())
                        .collect();
                    assert_eq!(expected, sent(other, rank), "from {other} to {rank} of {ranks}");
                }
                let senders: Vec<usize> =
                    of_rank.home.iter().flat_map(|run| run.planes.clone().map(|_| run.rank)).collect();
                assert_eq!(senders.len(), of_rank.received());
                let (starts, sources) = of_rank.sources(own.clone());
                for (k, plane) in own.enumerate() {
                    let terms: Vec<usize> = sources[starts[k] as usize..starts[k + 1] as usize]
                        .iter()
                        .map(|&source| senders[source as usize])
                        .collect();
                    let touching: Vec<usize> = (0..ranks)
                        .filter(|&other| other != rank && touched(&occupied[other], points, order)[plane])
                        .collect();
                    assert_eq!(terms, touching, "plane {plane} of rank {rank} of {ranks}");
                }
            }
        }
    }
}
