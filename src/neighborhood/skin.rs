//! Validity of a reused list: its radii exceed the interaction radii by a skin, which no pair may cross
//! unnoticed.

use crate::neighbors::Radii;
use crate::particles::blocks::reduce_blocks;
use crate::particles::{Field, Particles};
use crate::simd::Instructions;
use crate::simd::{Task, dispatch};
use crate::space::{SimulationBox, Vec3d};
use fearless_simd::{Simd, f64x8, prelude::*};
use rayon::prelude::*;
use std::ops::Range;

/// Skin of a list, and the particles at its build (the reference).
///
/// With skin s the list covers all pairs closer than `(1 + s) max(r_i, r_j)` at the build. Since then a
/// particle has moved by `u` and its radius has grown by `g` (at least 0). The list is valid while `u + g <=
/// s r / 2` for every particle. Proof: a pair within range now, i having the larger radius, had a distance of
/// at most `r_i + g_i + u_i + u_j` at the build, and this is at most `r_i + s (r_i + r_j) / 2 <= (1 + s)
/// max(r_i, r_j)`.
#[derive(Clone, Debug)]
pub struct Skin {
    fraction: f64,
    reference: Option<Reference>,
}

#[derive(Clone, Debug, Default)]
struct Reference {
    periods: Vec3d,
    id: Vec<u64>,
    position: [Vec<f64>; 3],
    /// One value for all rows, or one per row.
    radius: Vec<f64>,
}

/// Rows per task.
const TASK_ROWS: usize = 4096;

impl Skin {
    /// A skin as a fraction of each particle's radius. With 0 the list is valid until a particle moves.
    pub fn new(fraction: f64) -> Self {
        Self { fraction: fraction.max(0.0), reference: None }
    }

    /// The skin as a fraction of each particle's radius.
    pub fn fraction(&self) -> f64 {
        self.fraction
    }

    /// Records the owned particles at the build of the list. `radius` excludes the skin.
    pub fn remember(&mut self, bx: &SimulationBox, particles: &Particles, radius: Radii) {
        let owned = particles.owned();
        let reference = self.reference.get_or_insert_default();
        reference.periods = bx.periods();
        copy_column(&mut reference.id, &particles.id[owned.clone()]);
        for (then, now) in reference.position.iter_mut().zip(particles.vector(Field::Position)) {
            copy_column(then, &now[owned.clone()]);
        }
        match radius {
            Radii::All(radius) => reference.radius = vec![radius],
            Radii::Each(radius) => copy_column(&mut reference.radius, &radius[owned]),
        }
    }

    /// Per owned row, the largest radius whose pairs the list still covers, if all other particles are within
    /// half their skins: `(1 + s / 2) r - u`, by the lemma above. Empty without a list.
    pub fn limits(&self, bx: &SimulationBox, particles: &Particles) -> Vec<f64> {
        let Some(reference) = &self.reference else { return Vec::new() };
        let limit = |(k, row): (usize, usize)| {
            let displacement =
                bx.shortest(reference.displacement(k, particles.vector_at(Field::Position, row))).norm();
            (1.0 + 0.5 * self.fraction) * reference.radius(k) - displacement
        };
        particles.owned().into_par_iter().with_min_len(TASK_ROWS).enumerate().map(limit).collect()
    }

    /// Invalidates the list.
    pub fn forget(&mut self) {
        self.reference = None;
    }

    /// Used skin of this rank's owned particles: maximum of `2 (u + g) / r`. Infinite without a list, if the
    /// rows differ from those of the list, if a periodic edge has changed, or for NaN. The list is valid
    /// while it is at most the skin on every rank.
    pub fn used(&self, bx: &SimulationBox, particles: &Particles, radius: Radii) -> f64 {
        let owned = particles.owned();
        let Some(reference) = &self.reference else { return f64::INFINITY };
        if reference.periods != bx.periods() || !same_ids(&reference.id, &particles.id[owned.clone()]) {
            return f64::INFINITY;
        }
        if let Radii::All(radius) = radius
            && reference.radius.len() == 1
            && reference.radius[0] > 0.0
        {
            let grown = (radius - reference.radius[0]).max(0.0);
            return 2.0 * (reference.max_displacement(bx, particles) + grown) / reference.radius[0];
        }
        let used = |(k, row): (usize, usize)| {
            let displacement =
                bx.shortest(reference.displacement(k, particles.vector_at(Field::Position, row))).norm();
            let grown = radius.at(row) - reference.radius(k);
            let used = 2.0 * (displacement + grown.max(0.0)) / reference.radius(k);
            // An unmoved particle uses nothing, even if its radius is 0.
            if displacement == 0.0 && grown <= 0.0 {
                0.0
            } else if used.is_nan() || grown.is_nan() {
                f64::INFINITY
            } else {
                used
            }
        };
        owned.into_par_iter().with_min_len(TASK_ROWS).enumerate().map(used).reduce(|| 0.0, f64::max)
    }
}

/// Copies a column in parallel.
fn copy_column<T: Copy + Send + Sync>(values: &mut Vec<T>, column: &[T]) {
    values.clear();
    values.reserve_exact(column.len());
    column.par_iter().with_min_len(TASK_ROWS).copied().collect_into_vec(values);
}

/// Compares ids in parallel.
fn same_ids(then: &[u64], now: &[u64]) -> bool {
    then.len() == now.len()
        && reduce_blocks(0..now.len(), |rows| then[rows.clone()] == now[rows], |a, b| a && b).unwrap_or(true)
}

impl Reference {
    fn radius(&self, k: usize) -> f64 {
        self.radius[k.min(self.radius.len() - 1)]
    }

    /// Displacement of owned particle k, without periodic wrapping.
    fn displacement(&self, k: usize, now: Vec3d) -> Vec3d {
        now - Vec3d::new(self.position[0][k], self.position[1][k], self.position[2][k])
    }

    /// Maximum displacement; infinite for NaN or infinity.
    fn max_displacement(&self, bx: &SimulationBox, particles: &Particles) -> f64 {
        let owned = particles.owned();
        let now = particles.vector(Field::Position).map(|column| &column[owned.clone()]);
        let (periods, frequencies) = (bx.finite_periods(), bx.frequencies());
        let max_displacement = |rows: Range<usize>| {
            let columns = [0, 1, 2].map(|d| Column {
                now: &now[d][rows.clone()],
                then: &self.position[d][rows.clone()],
                period: periods[d],
                frequency: frequencies[d],
            });
            dispatch(Instructions::Best, MaxDisplacement { columns })
        };
        reduce_blocks(0..owned.len(), max_displacement, f64::max).unwrap_or(0.0).sqrt()
    }
}

/// Current and reference positions along one dimension; period and frequency are 0 if open.
#[derive(Clone, Copy)]
struct Column<'a> {
    now: &'a [f64],
    then: &'a [f64],
    period: f64,
    frequency: f64,
}

/// Maximum squared displacement with minimum images; infinite for NaN or infinity.
struct MaxDisplacement<'a> {
    columns: [Column<'a>; 3],
}

impl Task for MaxDisplacement<'_> {
    type Output = f64;
    type Scalar = f64;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> f64 {
        const LANES: usize = 8;
        let count = self.columns[0].now.len();
        let (mut largest, mut poison) = (f64x8::splat(simd, 0.0), f64x8::splat(simd, 0.0));
        for first in (0..count).step_by(LANES) {
            let mut square = f64x8::splat(simd, 0.0);
            for column in &self.columns {
                let mut displacement =
                    load_eight(simd, column.now, first) - load_eight(simd, column.then, first);
                displacement =
                    displacement - (displacement * column.frequency).round_ties_even() * column.period;
                square = displacement.mul_add(displacement, square);
            }
            largest = largest.max(square);
            poison = square.mul_add(0.0, poison);
        }
        let finite = poison.as_slice().iter().sum::<f64>() == 0.0;
        if finite { largest.as_slice().iter().copied().fold(0.0, f64::max) } else { f64::INFINITY }
    }
}

/// Loads eight values of a column, zeros beyond its end.
#[inline(always)]
fn load_eight<S: Simd>(simd: S, column: &[f64], first: usize) -> f64x8<S> {
    match column.get(first..first + 8) {
        Some(values) => f64x8::from_slice(simd, values),
        None => {
            let mut values = [0.0; 8];
            values.iter_mut().zip(&column[first..]).for_each(|(value, own)| *value = *own);
            f64x8::simd_from(simd, values)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neighbors::{ClusterList, Coding, Entry, ListRequest};
    use crate::space::{Boundary, hilbert};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn cloud(bx: &SimulationBox, count: usize) -> Particles {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let mut points: Vec<Vec3d> =
            (0..count).map(|_| Vec3d::from_fn(|_, _| random.random_range(0.0..1.0))).collect();
        points.sort_by_key(|point| hilbert::key_of(point, bx));
        let mut particles = Particles::new(&[Field::Position], count);
        for (row, point) in points.into_iter().enumerate() {
            particles.key[row] = hilbert::key_of(&point, bx);
            particles.set_vector(Field::Position, row, point);
        }
        particles
    }

    fn unit_box(boundary: Boundary) -> SimulationBox {
        SimulationBox { lower: Vec3d::zeros(), upper: Vec3d::repeat(1.0), boundary: [boundary; 3] }
    }

    /// Whether the full list covers the pair.
    fn covers(list: &ClusterList, i: usize, j: usize) -> bool {
        let mut entries: Vec<Entry> = Vec::new();
        list.decode(i / 64, &mut entries);
        entries.iter().any(|entry| entry.cluster as usize == j / 8 && entry.mask >> (i / 8 % 8) & 1 == 1)
    }

    #[test]
    fn a_reused_list_misses_no_pair() {
        for boundary in [Boundary::Open, Boundary::Periodic] {
            let bx = unit_box(boundary);
            let mut particles = cloud(&bx, 300);
            let mut random = ChaCha8Rng::seed_from_u64(6);
            let mut radius: Vec<f64> = (0..300).map(|_| random.random_range(0.1..0.2)).collect();
            let mut skin = Skin::new(0.3);
            skin.remember(&bx, &particles, Radii::Each(&radius));
            let wide: Vec<f64> = radius.iter().map(|radius| 1.3 * radius).collect();
            let list = ClusterList::build(&ListRequest::of(&bx, &particles, &wide, false, Coding::Nibble));
            let list = list.unwrap();
            let (mut reuses, mut crossed) = (0, 0);
            for _ in 0..40 {
                for (row, radius) in radius.iter_mut().enumerate() {
                    let step = Vec3d::from_fn(|_, _| random.random_range(-0.003..0.003));
                    let moved = bx.wrap(particles.vector_at(Field::Position, row) + step);
                    particles.set_vector(Field::Position, row, moved);
                    *radius += random.random_range(-2e-4..2e-4);
                }
                let missed = (0..300).flat_map(|i| (0..300).map(move |j| (i, j))).any(|(i, j)| {
                    let apart =
                        particles.vector_at(Field::Position, i) - particles.vector_at(Field::Position, j);
                    i != j && bx.shortest(apart).norm() < radius[i].max(radius[j]) && !covers(&list, i, j)
                });
                if skin.used(&bx, &particles, Radii::Each(&radius)) > skin.fraction() {
                    crossed += 1;
                } else {
                    reuses += 1;
                    assert!(!missed, "a reused list missed a pair");
                }
            }
            assert!(reuses > 2 && crossed > 2, "{reuses} reuses, {crossed} not");
        }
    }

    #[test]
    fn the_limit_is_exact() {
        let bx = unit_box(Boundary::Open);
        // Half the skin is an eighth.
        for (displacement, growth, exceeded) in [
            (0.125, 0.0, false),
            (0.125, -0.1, false),
            (0.1251, 0.0, true),
            (0.0625, 0.0625, false),
            (0.0625, 0.0626, true),
        ] {
            let mut particles = cloud(&bx, 3);
            let mut radius = vec![0.5; 3];
            let mut skin = Skin::new(0.5);
            particles.component_mut(Field::Position, 0)[1] = 0.0;
            skin.remember(&bx, &particles, Radii::Each(&radius));
            particles.component_mut(Field::Position, 0)[1] = displacement;
            radius[1] += growth;
            assert_eq!(skin.used(&bx, &particles, Radii::Each(&radius)) > 0.5, exceeded);
            if growth == 0.0 {
                let mut skin = Skin::new(0.5);
                particles.component_mut(Field::Position, 0)[1] = 0.0;
                skin.remember(&bx, &particles, Radii::All(0.5));
                particles.component_mut(Field::Position, 0)[1] = displacement;
                assert_eq!(skin.used(&bx, &particles, Radii::All(0.5)) > 0.5, exceeded);
            }
        }
    }

    #[test]
    fn other_rows_or_no_numbers_need_a_new_list() {
        let bx = unit_box(Boundary::Periodic);
        let (mut particles, radius) = (cloud(&bx, 4), vec![0.1; 4]);
        for radius in [Radii::All(0.1), Radii::Each(&radius)] {
            let mut skin = Skin::new(10.0);
            assert_eq!(skin.used(&bx, &particles, radius), f64::INFINITY);
            skin.remember(&bx, &particles, radius);
            assert_eq!(skin.used(&bx, &particles, radius), 0.0);
            // A periodic image of the same position.
            particles.component_mut(Field::Position, 1)[2] += 1.0;
            assert!(skin.used(&bx, &particles, radius) < 1e-12);
            particles.component_mut(Field::Position, 1)[2] -= 1.0;
            particles.id.swap(0, 1);
            assert_eq!(skin.used(&bx, &particles, radius), f64::INFINITY);
            particles.id.swap(0, 1);
            let kept = std::mem::replace(&mut particles.component_mut(Field::Position, 2)[3], f64::NAN);
            assert_eq!(skin.used(&bx, &particles, radius), f64::INFINITY);
            particles.component_mut(Field::Position, 2)[3] = kept;
            skin.forget();
            assert_eq!(skin.used(&bx, &particles, radius), f64::INFINITY);
        }
    }
}
