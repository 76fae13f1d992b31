//! Convolutions against sums over waves, shifts of the mesh, and each other over ranks and threads.

use super::*;
use crate::comm::{Communicator, run_local};
use crate::parallel::loops::tests::on;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::f64::consts::TAU;

fn random(count: usize) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(count as u64);
    (0..count).map(|_| random.random_range(-1.0..1.0)).collect()
}

/// Convolves a mesh over ranks, with the influence as a function of the wave numbers.
fn convolve<T: FourierScalar>(
    points: [usize; 3],
    ranks: usize,
    values: &[f64],
    influence: impl Fn([i64; 3]) -> f64 + Sync,
) -> Vec<T> {
    let grid = FourierGrid::new(points, ranks);
    let blocks = run_local(ranks, |comm| convolve_block::<T>(grid, &comm, values, &influence));
    let mut mesh = vec![T::default(); values.len()];
    for (rank, block) in blocks.into_iter().enumerate() {
        assert_eq!(block.len(), grid.real_len(rank));
        places(grid, rank).zip(block).for_each(|(place, value)| mesh[place] = value);
    }
    mesh
}

/// Convolves the block of a rank twice: the second time in used buffers.
fn convolve_block<T: FourierScalar>(
    grid: FourierGrid,
    comm: &Communicator,
    values: &[f64],
    influence: &impl Fn([i64; 3]) -> f64,
) -> Vec<T> {
    let mut convolution = Convolution::<T>::new(grid, comm.rank());
    // The influence of the padding does not matter.
    let mut factors = vec![T::from_f64(7.0); convolution.influence_len()];
    for (index, wave, _) in convolution.waves() {
        factors[index] = T::from_f64(influence(wave));
    }
    let block: Vec<T> = places(grid, comm.rank()).map(|place| T::from_f64(values[place])).collect();
    let (mut first, mut second) = (block.clone(), block);
    convolution.convolve(comm, &mut first, &factors);
    convolution.convolve(comm, &mut second, &factors);
    assert!(bits(&first) == bits(&second));
    first
}

/// Indices in the mesh of the values of a rank's block.
fn places(grid: FourierGrid, rank: usize) -> impl Iterator<Item = usize> {
    let ([_, ny, nz], [x, y]) = (grid.points(), grid.real_block(rank));
    x.flat_map(move |x| y.clone().flat_map(move |y| (0..nz).map(move |z| (x * ny + y) * nz + z)))
}

fn bits<T: FourierScalar>(values: &[T]) -> &[u8] {
    bytemuck::cast_slice(values)
}

fn largest_difference<T: FourierScalar>(values: &[T], expected: &[f64]) -> f64 {
    assert_eq!(values.len(), expected.len());
    values.iter().zip(expected).map(|(value, expected)| (value.to_f64() - expected).abs()).fold(0.0, f64::max)
}

/// An influence without symmetries but that of opposite waves.
fn influence(points: [usize; 3]) -> impl Fn([i64; 3]) -> f64 {
    move |wave| {
        let phase = |weights: [f64; 3]| -> f64 {
            (0..3).map(|d| TAU * weights[d] * wave[d] as f64 / points[d] as f64).sum()
        };
        1.0 + 0.7 * phase([1.0, 2.0, 1.0]).cos() - 0.4 * phase([2.0, -1.0, 3.0]).cos()
            + phase([1.0, 0.0, -2.0]).sin().powi(2)
    }
}

/// The convolution by its definition: a sum over all points for each wave, and over all waves for each point.
fn sums(points: [usize; 3], values: &[f64], influence: impl Fn([i64; 3]) -> f64) -> Vec<f64> {
    let [nx, ny, nz] = points;
    let places: Vec<[usize; 3]> = (0..nx * ny * nz).map(|k| [k / (ny * nz), k / nz % ny, k % nz]).collect();
    let phase = |k: [usize; 3], r: [usize; 3]| -> f64 {
        TAU * (0..3).map(|d| (k[d] * r[d] % points[d]) as f64 / points[d] as f64).sum::<f64>()
    };
    let signed = |k: [usize; 3]| {
        [0, 1, 2].map(|d| k[d] as i64 - if 2 * k[d] > points[d] { points[d] as i64 } else { 0 })
    };
    let waves: Vec<[f64; 2]> = places
        .iter()
        .map(|&k| {
            let factor = influence(signed(k));
            let terms = places.iter().zip(values).map(|(&r, value)| {
                let (sin, cos) = phase(k, r).sin_cos();
                [value * factor * cos, -value * factor * sin]
            });
            terms.fold([0.0; 2], |sum, term| [sum[0] + term[0], sum[1] + term[1]])
        })
        .collect();
    let point = |&r: &[usize; 3]| {
        let terms = places.iter().zip(&waves).map(|(&k, wave)| {
            let (sin, cos) = phase(k, r).sin_cos();
            wave[0] * cos - wave[1] * sin
        });
        terms.sum()
    };
    places.iter().map(point).collect()
}

const SMALL: [[usize; 3]; 11] = [
    [1, 1, 1],
    [1, 1, 9],
    [1, 5, 2],
    [2, 1, 4],
    [3, 1, 1],
    [4, 6, 5],
    [7, 3, 8],
    [5, 9, 11],
    [2, 3, 34],
    [3, 13, 7],
    [4, 2, 32],
];

#[test]
fn convolutions_are_the_sums_over_waves() {
    for points in SMALL {
        let count = points.iter().product::<usize>();
        let values = random(count);
        let expected = sums(points, &values, influence(points));
        let double = largest_difference(&convolve::<f64>(points, 1, &values, influence(points)), &expected);
        let single = largest_difference(&convolve::<f32>(points, 1, &values, influence(points)), &expected);
        let bound = count as f64;
        assert!(double < 6e-15 * bound && single < 1.5e-6 * bound, "{points:?} {double:e} {single:e}");
    }
}

/// Lengths of every radix, and of repeated ones: the influence `cos(2 pi k s / points)` moves the mesh by s
/// and by -s.
#[test]
fn convolutions_of_long_lines_move_the_mesh() {
    for length in (1..=40).chain([49, 64, 77, 81, 96, 97, 100, 105, 120, 121, 125, 128, 196, 256, 360]) {
        for points in [[length, 2, 1], [1, length, 2], [2, 1, length]] {
            let count = 2 * length;
            let (values, by) = (random(count), points.map(|points| (points + 1) / 3));
            let [_, ny, nz] = points;
            let at = |sign: i64, k: usize| {
                let place = [k / (ny * nz), k / nz % ny, k % nz];
                let [x, y, z] = [0, 1, 2]
                    .map(|d| (place[d] as i64 + sign * by[d] as i64).rem_euclid(points[d] as i64) as usize);
                values[(x * ny + y) * nz + z]
            };
            let expected: Vec<f64> = (0..count).map(|k| 0.5 * (at(1, k) + at(-1, k))).collect();
            let moved = |wave: [i64; 3]| {
                // whole turns are removed exactly
                let turns = |d: usize| {
                    (wave[d] * by[d] as i64).rem_euclid(points[d] as i64) as f64 / points[d] as f64
                };
                (TAU * (turns(0) + turns(1) + turns(2))).cos() / count as f64
            };
            let double = largest_difference(&convolve::<f64>(points, 1, &values, moved), &expected);
            let single = largest_difference(&convolve::<f32>(points, 1, &values, moved), &expected);
            // rounding errors of a transform grow with the number of its passes
            let passes = (length as f64).log2().max(1.0);
            assert!(double < 2e-15 * passes && single < 1e-6, "{points:?} {double:e} {single:e}");
        }
    }
}

const RANKS: [usize; 6] = [1, 2, 3, 5, 8, 30];

fn results_do_not_depend_on_ranks<T: FourierScalar>() {
    for points in SMALL.into_iter().chain([[20, 18, 34], [33, 5, 40], [5, 48, 66], [2, 50, 9]]) {
        let values = random(points.iter().product());
        let results = RANKS.map(|ranks| convolve::<T>(points, ranks, &values, influence(points)));
        for (ranks, result) in RANKS.iter().zip(&results) {
            assert!(bits(result) == bits(&results[0]), "{points:?}, {ranks} ranks");
        }
    }
}

#[test]
fn single_results_do_not_depend_on_ranks() {
    results_do_not_depend_on_ranks::<f32>();
}

#[test]
fn double_results_do_not_depend_on_ranks() {
    results_do_not_depend_on_ranks::<f64>();
}

#[test]
fn results_do_not_depend_on_threads() {
    for points in [[20, 18, 34], [6, 5, 27]] {
        let values = random(points.iter().product());
        let run = |threads: usize| {
            let grid = FourierGrid::new(points, 1);
            on(threads, || convolve_block::<f32>(grid, &Communicator::solo(), &values, &influence(points)))
        };
        let results = [1, 4].map(run);
        assert!(bits(&results[0]) == bits(&results[1]), "{points:?}");
    }
}

#[test]
fn all_points_and_waves_are_owned_once() {
    for points in SMALL.into_iter().chain([[20, 18, 34], [2, 50, 9], [128, 1, 6]]) {
        for ranks in RANKS {
            let grid = FourierGrid::new(points, ranks);
            let count = points.iter().product::<usize>();
            let mut owned: Vec<usize> = (0..ranks).flat_map(|rank| places(grid, rank)).collect();
            owned.sort_unstable();
            assert!(owned.into_iter().eq(0..count), "{points:?}, {ranks} ranks");
            let (mut waves, mut weights) = (Vec::new(), 0.0);
            for rank in 0..ranks {
                let convolution = Convolution::<f32>::new(grid, rank);
                for (index, wave, weight) in convolution.waves() {
                    assert!(index < convolution.influence_len());
                    assert!((0..3).all(|d| 2 * wave[d].abs() <= points[d] as i64), "{points:?} {wave:?}");
                    waves.push(wave);
                    weights += weight;
                }
            }
            waves.sort_unstable();
            waves.dedup();
            assert_eq!(waves.len(), points[0] * points[1] * (points[2] / 2 + 1), "{points:?}");
            assert_eq!(weights, count as f64, "{points:?}");
        }
    }
}

#[test]
fn planes_are_split_only_if_it_saves_time() {
    let ranks = |points: [usize; 3], ranks: usize| FourierGrid::new(points, ranks).ranks();
    assert_eq!(ranks([128; 3], 1), [1, 1]);
    assert_eq!(ranks([128; 3], 16), [16, 1]);
    assert_eq!(ranks([128; 3], 128), [128, 1]);
    // 64 ranks would own one plane, the others none
    assert_eq!(ranks([64; 3], 256), [64, 4]);
    assert_eq!(ranks([1, 1, 9], 30), [1, 1]);
    assert!(ranks([100, 3, 100], 30)[1] > 1);
}

#[test]
fn fast_numbers_of_points_are_even_and_have_small_factors() {
    let found = [0, 1, 2, 11, 13, 34, 97, 100, 122, 129, 193].map(fast_points);
    assert_eq!(found, [2, 2, 2, 12, 14, 36, 98, 100, 126, 140, 196]);
}
