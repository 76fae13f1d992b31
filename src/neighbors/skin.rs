//! How long a list may be reused: its radii are wider by a skin, and no pair can cross it unnoticed.

use crate::comm::Communicator;
use crate::particles::{Field, Particles};
use crate::space::{SimulationBox, Vec3d};
use rayon::prelude::*;

/// The skin of a list, and the particles as they were when the list was built.
///
/// With skin s the list holds all pairs closer than `(1 + s) max(r_i, r_j)` of that time. Since then a particle has
/// moved by `u` and its radius has grown by `g` (not below 0). The list serves while `u + g <= s r / 2` for every
/// particle: a pair in reach now was at most `r_i + g_i + u_i + u_j` apart then, i the one that reaches the other
/// now, and that is at most `r_i + s (r_i + r_j) / 2 <= (1 + s) max(r_i, r_j)`.
#[derive(Clone, Debug)]
pub struct Skin {
    fraction: f64,
    built: Option<Built>,
}

#[derive(Clone, Debug)]
struct Built {
    bx: SimulationBox,
    id: Vec<u64>,
    position: Vec<Vec3d>,
    radius: Vec<f64>,
}

impl Skin {
    /// A skin of this fraction of each particle's radius; with 0 the list serves until a particle moves.
    pub fn new(fraction: f64) -> Self {
        Self { fraction: fraction.max(0.0), built: None }
    }

    /// The skin as a fraction of each particle's radius.
    pub fn fraction(&self) -> f64 {
        self.fraction
    }

    /// The radii to build the list with: `radius` and the skin.
    pub fn widen(&self, radius: &[f64]) -> Vec<f64> {
        radius.iter().map(|radius| radius * (1.0 + self.fraction)).collect()
    }

    /// Remembers the owned particles as the list is built. `radius` is without the skin, of all rows.
    pub fn remember(&mut self, bx: &SimulationBox, particles: &Particles, radius: &[f64]) {
        let owned = particles.owned();
        self.built = Some(Built {
            bx: *bx,
            id: particles.id[owned.clone()].to_vec(),
            position: owned.clone().map(|row| particles.vector_at(Field::Position, row)).collect(),
            radius: radius[owned].to_vec(),
        });
    }

    /// Per owned row the largest radius whose pairs the list still holds, if all others are within half their skins:
    /// `(1 + s / 2) r - u`, by the lemma above. Empty without a list.
    pub fn limits(&self, bx: &SimulationBox, particles: &Particles) -> Vec<f64> {
        let Some(built) = &self.built else { return Vec::new() };
        let limit = |(k, row): (usize, usize)| {
            let moved = bx.shortest(particles.vector_at(Field::Position, row) - built.position[k]).norm();
            (1.0 + 0.5 * self.fraction) * built.radius[k] - moved
        };
        particles.owned().into_par_iter().with_min_len(4096).enumerate().map(limit).collect()
    }

    /// Forgets the list: the next question is answered with yes.
    pub fn forget(&mut self) {
        self.built = None;
    }

    /// Whether a pair in reach might not be in the list. Collective; all ranks get the same answer.
    ///
    /// Also if there is no list, a rank's rows are others than those of the list, or a periodic edge changed.
    pub fn exceeded(
        &self,
        bx: &SimulationBox,
        particles: &Particles,
        radius: &[f64],
        comm: &Communicator,
    ) -> bool {
        let mut ranks = [u64::from(!self.serves(bx, particles, radius))];
        comm.all_sum(&mut ranks);
        ranks[0] > 0
    }

    /// Whether this rank's owned particles stayed within half their skins.
    fn serves(&self, bx: &SimulationBox, particles: &Particles, radius: &[f64]) -> bool {
        let owned = particles.owned();
        let Some(built) = &self.built else { return false };
        if built.bx.periods() != bx.periods() || built.id[..] != particles.id[owned.clone()] {
            return false;
        }
        owned.into_par_iter().with_min_len(4096).enumerate().all(|(k, row)| {
            let moved = bx.shortest(particles.vector_at(Field::Position, row) - built.position[k]).norm();
            let grown = radius[row] - built.radius[k];
            // What is no number is not within the skin.
            !grown.is_nan() && moved + grown.max(0.0) <= 0.5 * self.fraction * built.radius[k]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::run_local;
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
            skin.remember(&bx, &particles, &radius);
            let wide = skin.widen(&radius);
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
                if skin.exceeded(&bx, &particles, &radius, &Communicator::solo()) {
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
    fn the_limit_is_exact_and_all_ranks_agree() {
        let bx = unit_box(Boundary::Open);
        // Half the skin is an eighth.
        for (moved, growth, exceeded) in [
            (0.125, 0.0, false),
            (0.125, -0.1, false),
            (0.1251, 0.0, true),
            (0.0625, 0.0625, false),
            (0.0625, 0.0626, true),
        ] {
            let answers = run_local(3, |comm| {
                let mut particles = cloud(&bx, 3);
                let mut radius = vec![0.5; 3];
                let mut skin = Skin::new(0.5);
                particles.component_mut(Field::Position, 0)[1] = 0.0;
                skin.remember(&bx, &particles, &radius);
                if comm.rank() == 1 {
                    particles.component_mut(Field::Position, 0)[1] = moved;
                    radius[1] += growth;
                }
                skin.exceeded(&bx, &particles, &radius, &comm)
            });
            assert_eq!(answers, [exceeded; 3]);
        }
    }

    #[test]
    fn other_rows_or_no_numbers_need_a_new_list() {
        let bx = unit_box(Boundary::Periodic);
        let (mut particles, radius, comm) = (cloud(&bx, 4), vec![0.1; 4], Communicator::solo());
        let mut skin = Skin::new(10.0);
        assert!(skin.exceeded(&bx, &particles, &radius, &comm));
        skin.remember(&bx, &particles, &radius);
        assert!(!skin.exceeded(&bx, &particles, &radius, &comm));
        particles.id.swap(0, 1);
        assert!(skin.exceeded(&bx, &particles, &radius, &comm));
        particles.id.swap(0, 1);
        particles.component_mut(Field::Position, 2)[3] = f64::NAN;
        assert!(skin.exceeded(&bx, &particles, &radius, &comm));
        skin.forget();
        assert!(skin.exceeded(&bx, &particles, &radius, &comm));
    }
}
