//! The long-range part of gravity in a periodic box: the choice of its mesh, and its share of the field.
use super::gravity::GravityPlan;
use super::mesh::choice::transform_length;
use super::mesh::{MeshSettings, MeshSolver, Quantity};
use super::split::{CUTS, Split};
use super::walk::GroupField;
use crate::comm::Communicator;
use crate::particles::SUPER_CLUSTER;
use crate::simd::Precision;
use crate::space::{Boundary, SimulationBox};
use crate::{Error, Result};

/// Order of the mesh's window.
pub const ORDER: usize = 8;

/// Default split length r_s in mesh spacings. With order 8, the mesh's force errors are then below 5e-5 of the rms
/// force of particles without correlations.
pub const SPLIT: f64 = 1.0;

/// Default cut of the short-range part in split lengths r_s.
pub const CUT: f64 = 5.2;

/// Mesh points per particle, from which the default mesh is chosen. More of them shorten the cut, and with it
/// the tree's work: with 2, 4 and 8, gravity of 65,465 uniform particles takes 1.38, 1.07 and 0.86 times as
/// long as in an open box (mixed precision, AVX-512).
const POINTS_PER_PARTICLE: f64 = 4.0;

/// Least number of mesh points in a dimension.
const LEAST_POINTS: usize = 16;

/// The mesh and the force split of a periodic box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PeriodicSettings {
    /// Mesh points per dimension.
    pub points: [usize; 3],
    /// Order of the window.
    pub order: usize,
    /// The force split.
    pub split: Split,
}

impl PeriodicSettings {
    /// Chooses the settings for a number of particles of all ranks. The default mesh has about four points
    /// per particle, and at least 16 per dimension; the split is in units of its largest spacing.
    ///
    /// # Errors
    /// [`Error::Usage`] if the box is not periodic in all dimensions.
    pub fn new(plan: &GravityPlan, bx: &SimulationBox, particles: u64) -> Result<Self> {
        if bx.boundary != [Boundary::Periodic; 3] {
            return Err(Error::usage(
                "gravity in a box that is periodic in some dimensions and open in others is not supported: the \
                 Fourier transforms of its long-range part need a box that is periodic in all of them",
                "write boundary = \"periodic\" or boundary = \"open\" in [space], or remove [gravity] from the deck",
            ));
        }
        let lengths: [f64; 3] = bx.lengths().into();
        let shortest = lengths.into_iter().fold(f64::INFINITY, f64::min);
        let wanted = POINTS_PER_PARTICLE * particles.max(1) as f64;
        let spacing = (bx.lengths().product() / wanted).cbrt().min(shortest / LEAST_POINTS as f64);
        let points = plan
            .mesh
            .unwrap_or(lengths.map(|length| transform_length((length / spacing - 1e-9).ceil() as usize)));
        let widest = (0..3).map(|d| lengths[d] / points[d] as f64).fold(0.0, f64::max);
        let length = plan.split.unwrap_or(SPLIT) * widest;
        let splitting = 0.5 / length;
        let range = (0.5 * plan.cut).clamp(*CUTS.start(), *CUTS.end());
        let split = Split { splitting, cut: range / splitting, lengths };
        Ok(PeriodicSettings { points, order: ORDER, split })
    }
}

/// The long-range solver of a box.
#[derive(Debug)]
pub(crate) struct PeriodicMesh {
    bx: SimulationBox,
    precision: Precision,
    /// The mesh and the force split.
    pub settings: PeriodicSettings,
    solver: MeshSolver,
}

impl PeriodicMesh {
    /// Makes the solver. Collective.
    pub fn new(
        comm: &Communicator,
        bx: &SimulationBox,
        settings: PeriodicSettings,
        precision: Precision,
    ) -> Self {
        let PeriodicSettings { points, order, split } = settings;
        let mesh = MeshSettings { points, order, splitting: split.splitting };
        let solver = MeshSolver::new(comm, bx, &mesh, precision);
        PeriodicMesh { bx: *bx, precision, settings, solver }
    }

    /// Whether this is the solver of a box with these settings.
    pub fn is_for(&self, bx: &SimulationBox, settings: &PeriodicSettings, precision: Precision) -> bool {
        self.bx == *bx && self.settings == *settings && self.precision == precision
    }

    /// The long-range part of the field at particles `[x, y, z, mass]`. Collective.
    pub fn field(&mut self, comm: &Communicator, particles: &[[f64; 4]]) -> MeshField {
        let column = |k: usize| particles.iter().map(|particle| particle[k]).collect::<Vec<f64>>();
        let [x, y, z, mass] = [0, 1, 2, 3].map(column);
        let values = self.solver.fields(comm, [&x, &y, &z], &mass, Quantity::Potential);
        MeshField { split: self.settings.split, values }
    }
}

/// The long-range part of the field at a rank's particles.
pub(crate) struct MeshField {
    /// The force split.
    pub split: Split,
    /// Minus the potential for G = 1, including each particle's own, and its gradient: the acceleration.
    pub values: [Vec<f64>; 4],
}

impl MeshField {
    /// Returns the mean acceleration of a group of 64 consecutive particles.
    pub fn mean_acceleration(&self, group: usize) -> [f64; 3] {
        [1, 2, 3].map(|k| {
            let rows = self.values[k].chunks(SUPER_CLUSTER).nth(group).unwrap_or_default();
            rows.iter().sum::<f64>() / rows.len().max(1) as f64
        })
    }

    /// Adds the field to that of the tree, and `tail` to minus the potential.
    pub fn add_to(&self, fields: &mut [GroupField], tail: f64) {
        for (target, source) in [1, 2, 3, 0].into_iter().enumerate() {
            let added = if source == 0 { tail } else { 0.0 };
            for (field, rows) in fields.iter_mut().zip(self.values[source].chunks(SUPER_CLUSTER)) {
                for (value, row) in field.gathered[target].iter_mut().zip(rows) {
                    *value += row + added;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Vec3d;

    fn periodic(lengths: [f64; 3]) -> SimulationBox {
        SimulationBox {
            lower: Vec3d::zeros(),
            upper: Vec3d::from(lengths),
            boundary: [Boundary::Periodic; 3],
        }
    }

    #[test]
    fn the_mesh_follows_the_number_of_particles_and_the_box() {
        let plan = GravityPlan::default();
        let of = |lengths, particles| PeriodicSettings::new(&plan, &periodic(lengths), particles).unwrap();
        assert_eq!(of([1.0; 3], 1).points, [16; 3]);
        assert_eq!(of([1.0; 3], 4000).points, [27; 3]);
        assert_eq!(of([2.0, 1.0, 1.0], 4000).points, [40, 20, 20]);
        let thin = of([16.0, 1.0, 1.0], 10);
        assert_eq!(thin.points, [256, 16, 16]);
        assert!((thin.split.splitting * 2.0 / 16.0 - 1.0).abs() < 1e-12);
        assert!((thin.split.cut - CUT / 16.0).abs() < 1e-12);
        let given = GravityPlan { mesh: Some([32, 24, 16]), split: Some(1.25), ..plan };
        let given = PeriodicSettings::new(&given, &periodic([1.0; 3]), 100).unwrap();
        assert_eq!(given.points, [32, 24, 16]);
        assert!((given.split.splitting - 8.0 / 1.25).abs() < 1e-12);
    }

    #[test]
    fn partly_periodic_boxes_are_refused() {
        let bx = SimulationBox {
            boundary: [Boundary::Periodic, Boundary::Open, Boundary::Periodic],
            ..periodic([1.0; 3])
        };
        let refused = PeriodicSettings::new(&GravityPlan::default(), &bx, 10).unwrap_err().to_string();
        assert!(refused.contains("periodic in all"), "{refused}");
    }
}
