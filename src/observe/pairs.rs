//! Pair counts by distance: exact integers, equal for any number of ranks and threads.

use crate::Result;
use crate::domain::Domain;
use crate::neighbors::{CLUSTER, ClusterList, Coding, Entry, ListRequest};
use crate::particles::{Field, Particles};
use crate::simd::aligned;
use crate::space::SimulationBox;
use fearless_simd::{Level, dispatch};
use rayon::prelude::*;
use std::ops::Range;

/// Super-clusters per task.
const SUPER_CLUSTERS_PER_TASK: usize = 4;

/// Evenly spaced distance bins: bin k holds the distances r with `floor(r * bins / distance) = k`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bins {
    /// Pairs closer than this distance are counted; at most half of any period.
    pub distance: f64,
    /// Number of bins.
    pub bins: usize,
}

impl Bins {
    /// Returns the bin of a squared distance; `bins` beyond the last bin.
    #[inline(always)]
    fn of(self, square: f64) -> u32 {
        // convert by way of a signed 32-bit integer, for which SIMD has an instruction
        (square.sqrt() * (self.bins as f64 / self.distance)).min(self.bins as f64) as i32 as u32
    }

    /// Returns the lower edge of a bin.
    pub fn lower(self, bin: usize) -> f64 {
        bin as f64 * self.distance / self.bins as f64
    }
}

/// Counts pairs by distance, over all ranks: twice the number of pairs by bin, for each pair of species. The
/// bins of species a <= b start at row [`pair_of_kinds`]. `kind` returns the species of an owned row, below
/// `kinds`. Collective; all ranks get the same counts.
///
/// # Errors
/// [`crate::Error::State`] on all ranks if a period is less than twice the distance.
pub fn count_pairs(
    domain: &Domain,
    particles: &Particles,
    bins: Bins,
    kinds: usize,
    kind: impl Fn(usize) -> usize,
) -> Result<Vec<u64>> {
    let mut with_halos = particles.bare(&[]);
    with_halos.add(&[Field::Species]);
    // the species column holds the kinds, whatever they are
    let kinds_of = with_halos.scalar_mut(Field::Species).iter_mut().zip(particles.owned());
    kinds_of.for_each(|(value, row)| *value = kind(row) as f64);
    let mut domain = domain.with_all_halos();
    domain.renew_halos(&mut with_halos, |particles| vec![bins.distance; particles.len()]);
    let radius = vec![bins.distance; with_halos.len()];
    let built = ClusterList::build(&ListRequest::of(&domain.bx, &with_halos, &radius, true, Coding::Plain));
    let (list, outcome) = match built {
        Ok(list) => (Some(list), Ok(())),
        Err(error) => (None, Err(error)),
    };
    domain.comm.agree(outcome)?;
    let mut counts = list
        .map_or_else(Vec::new, |list| PairCounter::new(&domain.bx, &with_halos, bins, kinds).count(&list));
    domain.comm.all_sum(&mut counts);
    Ok(counts)
}

/// Returns the index of a pair of species, in rows of bins.
pub fn pair_of_kinds(a: usize, b: usize) -> usize {
    let (less, more) = (a.min(b), a.max(b));
    more * (more + 1) / 2 + less
}

/// Returns the number of pairs of species.
pub fn pairs_of(kinds: usize) -> usize {
    kinds * (kinds + 1) / 2
}

/// Data of one cluster: eight particles.
#[derive(Clone, Copy)]
struct Block {
    position: [[f64; CLUSTER]; 3],
    /// Weight of a pair with this row on this rank: 2 for an owned particle, 1 for a halo (the other rank
    /// counts the pair too), 0 for an empty slot.
    weight: [u64; CLUSTER],
    kind: [usize; CLUSTER],
}

/// Inputs of the pair count.
struct PairCounter {
    blocks: Vec<Block>,
    /// Periods and half periods; 0 and infinity along open dimensions.
    period: [f64; 3],
    half: [f64; 3],
    bins: Bins,
    kinds: usize,
}

impl PairCounter {
    fn new(bx: &SimulationBox, particles: &Particles, bins: Bins, kinds: usize) -> Self {
        let (owned, rows) = (particles.owned(), particles.len());
        let block = |cluster: usize| {
            let mut block =
                Block { position: [[f64::INFINITY; CLUSTER]; 3], weight: [0; CLUSTER], kind: [0; CLUSTER] };
            for lane in 0..CLUSTER {
                let row = cluster * CLUSTER + lane;
                if row < rows && !particles.ghost(row) {
                    (0..3)
                        .for_each(|c| block.position[c][lane] = particles.component(Field::Position, c)[row]);
                    block.weight[lane] = if owned.contains(&row) { 2 } else { 1 };
                    block.kind[lane] = particles.scalar(Field::Species)[row] as usize;
                }
            }
            block
        };
        let periods = bx.periods();
        let period = |d: usize| if periods[d].is_finite() { periods[d] } else { 0.0 };
        Self {
            blocks: (0..rows.div_ceil(CLUSTER)).into_par_iter().map(block).collect(),
            period: [0, 1, 2].map(period),
            half: [0, 1, 2].map(|d| 0.5 * periods[d]),
            bins,
            kinds,
        }
    }

    fn count(&self, list: &ClusterList) -> Vec<u64> {
        let range = list.super_clusters();
        let width = self.bins.bins + 1;
        let empty = || vec![0u64; pairs_of(self.kinds) * width];
        let level = Level::new();
        let counts = (0..range.len().div_ceil(SUPER_CLUSTERS_PER_TASK))
            .into_par_iter()
            .fold(empty, |mut counts, chunk| {
                let begin = range.start + chunk * SUPER_CLUSTERS_PER_TASK;
                let chunk = begin..range.end.min(begin + SUPER_CLUSTERS_PER_TASK);
                dispatch!(level, _ => aligned(
                    #[inline(always)]
                    || self.count_chunk(list, chunk, &mut counts),
                ));
                counts
            })
            .reduce(empty, |mut one, other| {
                one.iter_mut().zip(other).for_each(|(sum, count)| *sum += count);
                one
            });
        // the last bin of each row holds pairs beyond the distance
        counts.chunks_exact(width).flat_map(|row| row[..self.bins.bins].iter().copied()).collect()
    }

    // loops instead of closures down to the lanes: a closure does not inherit target features
    #[inline(always)]
    fn count_chunk(&self, list: &ClusterList, super_clusters: Range<usize>, counts: &mut [u64]) {
        let mut entries: Vec<Entry> = Vec::new();
        for super_cluster in super_clusters {
            list.decode(super_cluster, &mut entries);
            for entry in &entries {
                let other = &self.blocks[entry.cluster as usize];
                for member in 0..8 {
                    if entry.mask >> member & 1 == 0 {
                        continue;
                    }
                    let cluster = super_cluster * 8 + member;
                    let Some(own) = self.blocks.get(cluster) else { break };
                    for lane in 0..CLUSTER {
                        if own.weight[lane] == 2 {
                            // within a cluster count each pair of lanes once
                            let first = if entry.cluster as usize == cluster { lane + 1 } else { 0 };
                            self.count_row(own, lane, other, first, counts);
                        }
                    }
                }
            }
        }
    }

    /// Counts the pairs of one row with the lanes from `first` on of a block.
    #[inline(always)]
    fn count_row(&self, own: &Block, lane: usize, other: &Block, first: usize, counts: &mut [u64]) {
        let mut square = [0.0; CLUSTER];
        for d in 0..3 {
            let (at, half, period) = (own.position[d][lane], self.half[d], self.period[d]);
            for k in 0..CLUSTER {
                let difference = at - other.position[d][k];
                // particles may have left the box a little since the last sort, so one period always suffices
                let image = if difference > half { period } else { 0.0 }
                    - if difference < -half { period } else { 0.0 };
                let difference = difference - image;
                square[k] += difference * difference;
            }
        }
        let mut bin = [0; CLUSTER];
        for k in 0..CLUSTER {
            bin[k] = self.bins.of(square[k]);
        }
        let width = self.bins.bins + 1;
        if self.kinds == 1 {
            for k in first..CLUSTER {
                counts[bin[k] as usize] += other.weight[k];
            }
        } else {
            for k in first..CLUSTER {
                counts[pair_of_kinds(own.kind[lane], other.kind[k]) * width + bin[k] as usize] +=
                    other.weight[k];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::run_local;
    use crate::domain::DomainSettings;
    use crate::space::{Boundary, Vec3d};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    const COUNT: usize = 700;

    fn points(bx: &SimulationBox) -> Vec<Vec3d> {
        let mut random = ChaCha8Rng::seed_from_u64(11);
        // half of them in a clump, so that ranks and clusters are uneven
        let clump = |k: usize| if k.is_multiple_of(2) { 1.0 } else { 0.2 };
        (0..COUNT)
            .map(|k| bx.lower + bx.lengths().map(|length| clump(k) * length * random.random::<f64>()))
            .collect()
    }

    /// Reference: all pairs.
    fn naive(bx: &SimulationBox, points: &[Vec3d], bins: Bins, kinds: usize) -> Vec<u64> {
        let mut counts = vec![0; pairs_of(kinds) * bins.bins];
        for (i, a) in points.iter().enumerate() {
            for (j, b) in points.iter().enumerate().filter(|&(j, _)| j != i) {
                let bin = bins.of(bx.shortest(a - b).norm_squared());
                if (bin as usize) < bins.bins {
                    counts[pair_of_kinds(i % kinds, j % kinds) * bins.bins + bin as usize] += 1;
                }
            }
        }
        counts
    }

    fn counted(bx: &SimulationBox, points: &[Vec3d], bins: Bins, kinds: usize, ranks: usize) -> Vec<u64> {
        let all = run_local(ranks, |comm| {
            let mine = (0..COUNT).filter(|k| k * ranks / COUNT == comm.rank()).collect::<Vec<_>>();
            let mut particles = Particles::new(&[Field::Position], mine.len());
            for (row, k) in mine.into_iter().enumerate() {
                particles.id[row] = k as u64;
                particles.set_vector(Field::Position, row, points[k]);
            }
            let mut domain = Domain::new(comm, *bx, DomainSettings::default());
            // halos much narrower than the distances
            domain.sync(&mut particles, |particles| vec![0.01; particles.len()]).unwrap();
            count_pairs(&domain, &particles, bins, kinds, |row| particles.id[row] as usize % kinds).unwrap()
        });
        assert!(all.iter().all(|counts| *counts == all[0]), "all ranks have the same");
        all[0].clone()
    }

    #[test]
    fn counts_are_those_of_all_pairs_on_any_number_of_ranks() {
        let corner = Vec3d::new(-1.0, 2.0, 0.0);
        for boundary in [Boundary::Periodic, Boundary::Open] {
            let bx = SimulationBox {
                lower: corner,
                upper: corner + Vec3d::new(1.0, 1.5, 1.2),
                boundary: [boundary, Boundary::Periodic, boundary],
            };
            let points = points(&bx);
            // half the shortest period, and less
            for (distance, bins, kinds) in [(0.5, 37, 1), (0.5, 10, 3), (0.13, 100, 2)] {
                let bins = Bins { distance, bins };
                let expected = naive(&bx, &points, bins, kinds);
                assert!(expected.iter().sum::<u64>() > 1000);
                for ranks in [1, 2, 3, 5] {
                    assert_eq!(
                        counted(&bx, &points, bins, kinds, ranks),
                        expected,
                        "{ranks} {bins:?} {kinds}"
                    );
                }
            }
        }
    }

    #[test]
    fn particles_that_left_the_box_since_they_were_ordered_count_where_they_are() {
        let bx = SimulationBox {
            lower: Vec3d::zeros(),
            upper: Vec3d::repeat(1.0),
            boundary: [Boundary::Periodic; 3],
        };
        let points = points(&bx);
        let bins = Bins { distance: 0.5, bins: 50 };
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let moves: Vec<Vec3d> =
            (0..COUNT).map(|_| Vec3d::from_fn(|_, _| random.random_range(-0.1..0.1))).collect();
        let moved: Vec<Vec3d> = points.iter().zip(&moves).map(|(point, by)| point + by).collect();
        let all = run_local(2, |comm| {
            let mut particles = Particles::new(&[Field::Position], if comm.is_root() { COUNT } else { 0 });
            for row in particles.owned() {
                particles.set_vector(Field::Position, row, points[row]);
            }
            let mut domain = Domain::new(comm, bx, DomainSettings::default());
            domain.sync(&mut particles, |particles| vec![0.1; particles.len()]).unwrap();
            for row in particles.owned() {
                particles.set_vector(Field::Position, row, moved[particles.id[row] as usize]);
            }
            count_pairs(&domain, &particles, bins, 1, |_| 0).unwrap()
        });
        assert_eq!(all[0], naive(&bx, &moved, bins, 1));
    }

    #[test]
    fn a_distance_beyond_half_a_period_is_refused_and_few_particles_are_no_accident() {
        let bx = SimulationBox {
            lower: Vec3d::zeros(),
            upper: Vec3d::repeat(1.0),
            boundary: [Boundary::Periodic; 3],
        };
        for count in [0, 1] {
            let mut particles = Particles::new(&[Field::Position], count);
            let mut domain = Domain::new(crate::comm::Communicator::solo(), bx, DomainSettings::default());
            domain.sync(&mut particles, |particles| vec![0.1; particles.len()]).unwrap();
            let counts = count_pairs(&domain, &particles, Bins { distance: 0.5, bins: 4 }, 1, |_| 0).unwrap();
            assert_eq!(counts, [0; 4]);
            let far = Bins { distance: 0.51, bins: 4 };
            assert_eq!(count_pairs(&domain, &particles, far, 1, |_| 0).is_err(), count > 0);
        }
    }
}
