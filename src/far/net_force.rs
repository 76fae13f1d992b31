//! Removal of the net force and torque of gravity.
//!
//! The tree walk is one-sided: the force on a target from a node is not the opposite of the forces on the
//! particles of the node from the target. The errors of the multipoles therefore add up to a net force and a
//! net torque, which accelerate the center of mass and change the angular momentum of an isolated system. The
//! field of a rigid motion,
//!
//! ```text
//! a(x) = F / M + alpha x (x - x_c),    I alpha = T
//! ```
//!
//! with the net force F, mass M, net torque T about the center of mass x_c and moment of inertia I, has the
//! same net force and torque, and of all such fields the least sum of m |a|^2. It is subtracted. In a box with
//! a periodic dimension angular momentum is not conserved: alpha is 0 there. Processors and devices share
//! [`RigidField`].

use crate::comm::Communicator;
use crate::particles::blocks::{map_blocks, reduce_blocks};
use crate::particles::{Field, Particles};
use crate::space::{SimulationBox, Vec3d};
use nalgebra::Matrix3;

/// Number of sums: mass, first moments, second moments (xx, yy, zz, xy, xz, yz), force, torque.
pub const SUMS: usize = 16;

/// Principal moments of inertia below this fraction of the largest one count as zero: no torque acts along
/// the axis of a line of particles.
const DEGENERATE: f64 = 1e-10;

/// Sums over particles with coordinates relative to a fixed origin near them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NetForce(pub [f64; SUMS]);

impl NetForce {
    /// Sums over the owned particles of this rank, bitwise equal for any number of threads.
    pub fn of(particles: &Particles, origin: Vec3d) -> Self {
        let [x, y, z] = particles.vector(Field::Position);
        let [ax, ay, az] = particles.vector(Field::Acceleration);
        let mass = particles.scalar(Field::Mass);
        let of_block = |rows: std::ops::Range<usize>| {
            let mut sums = [0.0; SUMS];
            for row in rows {
                let m = mass[row];
                let r = Vec3d::new(x[row], y[row], z[row]) - origin;
                let force = m * Vec3d::new(ax[row], ay[row], az[row]);
                let (first, torque) = (m * r, r.cross(&force));
                let terms = [
                    m,
                    first.x,
                    first.y,
                    first.z,
                    first.x * r.x,
                    first.y * r.y,
                    first.z * r.z,
                    first.x * r.y,
                    first.x * r.z,
                    first.y * r.z,
                    force.x,
                    force.y,
                    force.z,
                    torque.x,
                    torque.y,
                    torque.z,
                ];
                sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
            }
            sums
        };
        let add = |a: [f64; SUMS], b: [f64; SUMS]| std::array::from_fn(|k| a[k] + b[k]);
        NetForce(reduce_blocks(particles.owned(), of_block, add).unwrap_or([0.0; SUMS]))
    }

    /// Forces and torques of these sums minus those of `before`.
    #[must_use]
    pub fn since(mut self, before: &Self) -> Self {
        for k in 10..SUMS {
            self.0[k] -= before.0[k];
        }
        self
    }

    /// Reduces over all ranks. Collective.
    #[must_use]
    pub fn over_ranks(mut self, comm: &Communicator) -> Self {
        comm.all_sum(&mut self.0);
        self
    }

    /// Net force, and net torque about the center of mass.
    pub fn force_and_torque(&self) -> [Vec3d; 2] {
        let force = self.vector(10);
        [force, self.vector(13) - self.center().cross(&force)]
    }

    /// Center of mass relative to the origin.
    fn center(&self) -> Vec3d {
        if self.0[0] > 0.0 { self.vector(1) / self.0[0] } else { Vec3d::zeros() }
    }

    fn vector(&self, first: usize) -> Vec3d {
        Vec3d::new(self.0[first], self.0[first + 1], self.0[first + 2])
    }

    /// Moment of inertia about the center of mass.
    fn inertia(&self) -> Matrix3<f64> {
        let [_, _, _, _, xx, yy, zz, xy, xz, yz, ..] = self.0;
        let (mass, c) = (self.0[0], self.center());
        let second = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz) - mass * c * c.transpose();
        Matrix3::identity() * second.trace() - second
    }
}

/// Accelerations of a rigid motion: `linear + angular x (x - center)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidField {
    /// Center of mass.
    pub center: Vec3d,
    /// Acceleration of the center of mass.
    pub linear: Vec3d,
    /// Angular acceleration.
    pub angular: Vec3d,
}

impl RigidField {
    /// The rigid field with the net force and torque of the sums over all ranks; `None` without mass, and for
    /// sums that are not finite.
    pub fn of(sums: &NetForce, origin: Vec3d) -> Option<Self> {
        if sums.0[0] <= 0.0 || !sums.0.iter().all(|sum| sum.is_finite()) {
            return None;
        }
        let [force, torque] = sums.force_and_torque();
        let axes = sums.inertia().symmetric_eigen();
        let largest = axes.eigenvalues.max();
        let mut angular = Vec3d::zeros();
        for (moment, axis) in axes.eigenvalues.iter().zip(axes.eigenvectors.column_iter()) {
            if *moment > DEGENERATE * largest {
                angular += axis * (axis.dot(&torque) / moment);
            }
        }
        Some(RigidField { center: origin + sums.center(), linear: force / sums.0[0], angular })
    }

    /// [`Self::of`] with the center of the box as origin; without rotation in a box with a periodic dimension.
    pub fn in_box(sums: &NetForce, bx: &SimulationBox) -> Option<Self> {
        let field = Self::of(sums, bx.center())?;
        Some(if bx.any_periodic() { RigidField { angular: Vec3d::zeros(), ..field } } else { field })
    }

    /// Subtracts the field from the accelerations of the owned particles.
    pub fn subtract(&self, particles: &mut Particles) {
        let mut wanted = [(Field::Position, 0); 6];
        for c in 0..3 {
            (wanted[c], wanted[3 + c]) = ((Field::Position, c), (Field::Acceleration, c));
        }
        map_blocks(particles, wanted, |block| {
            let [x, y, z, ax, ay, az] = block.columns;
            for k in 0..x.len() {
                let away = Vec3d::new(x[k], y[k], z[k]) - self.center;
                let rigid = self.linear + self.angular.cross(&away);
                ax[k] -= rigid.x;
                ay[k] -= rigid.y;
                az[k] -= rigid.z;
            }
        });
    }
}

/// Subtracts the rigid field of the forces since `before` (`None`: accelerations were zero), whose origin is
/// the center of the box, from the accelerations of the owned particles. Collective.
pub fn remove(before: Option<NetForce>, particles: &mut Particles, comm: &Communicator, bx: &SimulationBox) {
    let sums = NetForce::of(particles, bx.center());
    let sums = before.map_or(sums, |before| sums.since(&before)).over_ranks(comm);
    if let Some(field) = RigidField::in_box(&sums, bx) {
        field.subtract(particles);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    const ORIGIN: Vec3d = Vec3d::new(0.5, 2.0, -3.0);

    fn cloud(count: usize, shape: impl Fn([f64; 3]) -> Vec3d) -> Particles {
        let mut random = ChaCha8Rng::seed_from_u64(count as u64);
        let mut particles = Particles::new(&[Field::Position, Field::Acceleration, Field::Mass], count);
        for row in 0..count {
            let mut draw = || std::array::from_fn::<f64, 3, _>(|_| random.random::<f64>() - 0.5);
            particles.set_vector(Field::Position, row, ORIGIN + shape(draw()));
            particles.set_vector(Field::Acceleration, row, Vec3d::from(draw()));
            particles.scalar_mut(Field::Mass)[row] = 1.5 + draw()[0];
        }
        particles
    }

    fn remove(particles: &mut Particles) -> Option<RigidField> {
        let field = RigidField::of(&NetForce::of(particles, ORIGIN), ORIGIN)?;
        field.subtract(particles);
        Some(field)
    }

    #[test]
    fn no_force_and_no_torque_are_left() {
        let ball: fn([f64; 3]) -> Vec3d = Vec3d::from;
        let shapes = [
            (5000, ball),
            (300, |[x, y, _]| Vec3d::new(x, y, 0.0)),
            (50, |[x, _, _]| Vec3d::new(x, 2.0 * x, -x)),
            (2, ball),
            (1, ball),
        ];
        for (count, shape) in shapes {
            let mut particles = cloud(count, shape);
            let [force, torque] = NetForce::of(&particles, ORIGIN).force_and_torque();
            assert!(force.norm() > 1e-3 && (count == 1 || torque.norm() > 1e-3), "{count}");
            remove(&mut particles).expect("there are particles");
            let [force, torque] = NetForce::of(&particles, ORIGIN).force_and_torque();
            assert!(force.norm() < 1e-12 * count as f64, "{count}: {force}");
            // a line has no moment of inertia about itself: only the torque across it is removed
            let along = if count == 50 { Vec3d::new(1.0, 2.0, -1.0).normalize() } else { Vec3d::zeros() };
            let torque = torque - along * along.dot(&torque);
            assert!(torque.norm() < 1e-10 * count as f64, "{count}: {torque}");
        }
    }

    #[test]
    fn a_field_without_net_force_and_torque_stays_and_a_rigid_one_vanishes() {
        let mut particles = cloud(400, Vec3d::from);
        remove(&mut particles);
        let before = particles.clone();
        remove(&mut particles);
        for row in 0..400 {
            let change =
                particles.vector_at(Field::Acceleration, row) - before.vector_at(Field::Acceleration, row);
            assert!(change.norm() < 1e-14, "{change}");
        }
        let field = RigidField {
            center: Vec3d::zeros(),
            linear: Vec3d::new(1.0, -2.0, 0.5),
            angular: Vec3d::new(0.3, 0.1, -0.7),
        };
        for row in 0..400 {
            let rigid = field.linear + field.angular.cross(&particles.vector_at(Field::Position, row));
            particles.set_vector(Field::Acceleration, row, rigid);
        }
        let found = remove(&mut particles).unwrap();
        assert!((found.angular - field.angular).norm() < 1e-12);
        let left = (0..400).map(|row| particles.vector_at(Field::Acceleration, row).norm());
        assert!(left.fold(0.0, f64::max) < 1e-11);
    }

    #[test]
    fn values_that_are_not_finite_are_left_to_the_check_of_the_rates() {
        let mut particles = cloud(10, Vec3d::from);
        particles.component_mut(Field::Acceleration, 1)[3] = f64::NAN;
        assert_eq!(remove(&mut particles), None);
        assert_eq!(
            remove(&mut Particles::new(&[Field::Position, Field::Acceleration, Field::Mass], 0)),
            None
        );
    }
}
