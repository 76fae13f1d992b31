//! External accelerations: a uniform field and a fixed, softened point mass. Processors and devices share
//! [`ExternalField`]; the formula of the point mass is [`plummer`].

use crate::comm::Communicator;
use crate::faults::{Fault, planted};
use crate::laws::shared::plummer;
use crate::particles::blocks::{map_blocks, reduce_blocks};
use crate::particles::{Field, Particles};
use crate::space::Vec3d;

/// An external field: `a(x) = g - G M s / (s^2 + epsilon^2)^(3/2)` with `s = counted * (x - center)`, and the
/// potential `-g.x - G M / sqrt(s^2 + epsilon^2)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExternalField {
    /// Uniform acceleration g.
    pub uniform: [f64; 3],
    /// Position of the point mass.
    pub center: [f64; 3],
    /// Per dimension 1, or 0 where the distance from the point mass does not count.
    pub counted: [f64; 3],
    /// G M of the point mass; 0: there is none.
    pub strength: f64,
    /// epsilon^2.
    pub squared_softening: f64,
}

impl ExternalField {
    /// Acceleration and potential at a position. Not finite at the position of a point mass without
    /// softening.
    pub fn at(&self, position: Vec3d) -> (Vec3d, f64) {
        let mut acceleration = Vec3d::from(self.uniform);
        let mut potential = -acceleration.dot(&position);
        if self.strength > 0.0 {
            let away = Vec3d::from_fn(|d, _| self.counted[d] * (position[d] - self.center[d]));
            let inverse = plummer::inverse_distance((), away.norm_squared(), self.squared_softening);
            let factor = if planted(Fault::ExternalPull) { 1.1 } else { 1.0 };
            acceleration -= factor * self.strength * plummer::pull((), inverse) * away;
            potential -= self.strength * inverse;
        }
        (acceleration, potential)
    }

    /// Adds the field to the accelerations of the owned particles.
    pub fn accelerate(&self, particles: &mut Particles) {
        let mut wanted = [(Field::Position, 0); 6];
        for c in 0..3 {
            (wanted[c], wanted[3 + c]) = ((Field::Position, c), (Field::Acceleration, c));
        }
        map_blocks(particles, wanted, |block| {
            let [x, y, z, ax, ay, az] = block.columns;
            for k in 0..x.len() {
                let (acceleration, _) = self.at(Vec3d::new(x[k], y[k], z[k]));
                ax[k] += acceleration.x;
                ay[k] += acceleration.y;
                az[k] += acceleration.z;
            }
        });
    }

    /// Sum of m phi over the particles of all ranks, bitwise equal for any number of threads. Collective.
    pub fn energy(&self, particles: &Particles, comm: &Communicator) -> f64 {
        let [x, y, z] = particles.vector(Field::Position);
        let mass = particles.scalar(Field::Mass);
        let of_row = |row: usize| mass[row] * self.at(Vec3d::new(x[row], y[row], z[row])).1;
        let of_block = |rows: std::ops::Range<usize>| rows.map(of_row).sum::<f64>();
        let mut energy = [reduce_blocks(particles.owned(), of_block, |a, b| a + b).unwrap_or(0.0)];
        comm.all_sum(&mut energy);
        energy[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The acceleration is minus the gradient of the potential.
    #[test]
    fn acceleration_and_potential_agree() {
        for (counted, squared_softening) in [([1.0; 3], 0.0), ([1.0; 3], 0.04), ([1.0, 1.0, 0.0], 0.01)] {
            let field = ExternalField {
                uniform: [0.3, -0.1, -9.81],
                center: [0.5, 0.25, -1.0],
                counted,
                strength: 2.5,
                squared_softening,
            };
            for position in [Vec3d::new(1.0, 2.0, 3.0), Vec3d::new(0.6, 0.2, -1.1)] {
                let (acceleration, _) = field.at(position);
                for d in 0..3 {
                    let mut step = Vec3d::zeros();
                    step[d] = 1e-5;
                    let slope = (field.at(position + step).1 - field.at(position - step).1) / 2e-5;
                    assert!((acceleration[d] + slope).abs() < 1e-6 * slope.abs().max(1.0), "{d}: {slope}");
                }
            }
        }
    }

    #[test]
    fn a_point_mass_attracts_as_newton_says() {
        let field = ExternalField {
            uniform: [0.0; 3],
            center: [1.0, 0.0, 0.0],
            counted: [1.0; 3],
            strength: 8.0,
            squared_softening: 0.0,
        };
        let (acceleration, potential) = field.at(Vec3d::new(3.0, 0.0, 0.0));
        assert_eq!((acceleration, potential), (Vec3d::new(-2.0, 0.0, 0.0), -4.0));
        let mut particles = Particles::new(&[Field::Position, Field::Acceleration, Field::Mass], 2);
        particles.set_vector(Field::Position, 0, Vec3d::new(3.0, 0.0, 0.0));
        particles.set_vector(Field::Position, 1, Vec3d::new(1.0, 0.0, 1.0));
        particles.scalar_mut(Field::Mass).copy_from_slice(&[0.5, 0.25]);
        field.accelerate(&mut particles);
        assert_eq!(particles.vector_at(Field::Acceleration, 1), Vec3d::new(0.0, 0.0, -8.0));
        assert_eq!(field.energy(&particles, &Communicator::solo()), -2.0 - 2.0);
    }
}
