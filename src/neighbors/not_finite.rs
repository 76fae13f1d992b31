//! The error for a particle with a non-finite value; it names the particle's nearest neighbors.

use crate::Error;
use crate::particles::{Field, Particles};
use crate::space::SimulationBox;

/// Number of neighbors in the error.
const NAMED: usize = 4;

/// Error for a non-finite value of a field. It names the particle of the row, its position, and the nearest
/// particles among all rows.
pub(crate) fn not_finite(
    bx: &SimulationBox,
    particles: &Particles,
    field: Field,
    value: f64,
    row: usize,
) -> Error {
    let (position, near) = (particles.vector_at(Field::Position, row), nearest(bx, particles, row, NAMED));
    Error::State {
        step: 0,
        what: format!(
            "{} of particle {} is {value}; it is at ({:e}, {:e}, {:e}), its nearest neighbors are {near:?}",
            field.name(),
            particles.id[row],
            position[0],
            position[1],
            position[2],
        ),
        remedy: "look at those particles in the checkpoint of the last good step; a shorter step (time_step.courant or \
                 time_step.fixed), more softening, or a [minimize] before the first step often helps"
            .into(),
    }
}

/// Ids of the particles nearest to a row, nearest first, without ghosts.
fn nearest(bx: &SimulationBox, particles: &Particles, row: usize, count: usize) -> Vec<u64> {
    let at = |row| particles.vector_at(Field::Position, row);
    let here = at(row);
    let mut near: Vec<(f64, u64)> = (0..particles.len())
        .filter(|&other| other != row && !particles.ghost(other))
        .map(|other| (bx.shortest(at(other) - here).norm_squared(), particles.id[other]))
        .collect();
    near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    near.truncate(count);
    near.into_iter().map(|(_, id)| id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{Boundary, Vec3d};

    #[test]
    fn the_error_names_the_nearest_images_and_no_ghosts() {
        let boundary = [Boundary::Periodic, Boundary::Open, Boundary::Open];
        let bx = SimulationBox { lower: Vec3d::zeros(), upper: Vec3d::repeat(10.0), boundary };
        let mut particles = Particles::new(&[Field::Position], 7);
        for (row, x) in [0.5, 9.0, 3.0, 5.0, 2.0, 6.0, f64::INFINITY].into_iter().enumerate() {
            particles.id[row] = 10 + row as u64;
            particles.set_vector(Field::Position, row, Vec3d::new(x, 1.0, 1.0));
        }
        particles.id[6] = u64::MAX;
        let error = not_finite(&bx, &particles, Field::Density, f64::NAN, 0).to_string();
        assert!(error.contains("density of particle 10 is NaN; it is at (5e-1, 1e0, 1e0)"), "{error}");
        // Distance 1.5 across the face of the box, then 1.5, 2.5, 4.5: ties by id.
        assert!(error.contains("its nearest neighbors are [11, 14, 12, 13]"), "{error}");
    }
}
