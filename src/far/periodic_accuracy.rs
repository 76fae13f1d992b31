//! Measures the errors of gravity in periodic boxes against exact Ewald sums.
use super::essential_tree::TreeInput;
use super::ewald_reference::{ewald, soften};
use super::gravity::{GravityPlan, GravityStatistics, solve};
use super::long_range::{MeshField, PeriodicMesh, PeriodicSettings};
use super::split::Split;
use super::walk::GroupField;
use crate::Result;
use crate::comm::Communicator;
use crate::particles::SUPER_CLUSTER;
use crate::simd::Precision;
use crate::space::{Boundary, SimulationBox, Vec3d, hilbert};
use crate::tree::Leaves;
use rand::{RngExt, SeedableRng};
use std::f64::consts::TAU;
use std::time::Instant;

/// A mass distribution in a periodic box, of unit mass, to be sampled at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeriodicDistribution {
    /// Independent particles of even density.
    Poisson,
    /// Plummer spheres, with a scale of 1/40 of the box's shortest edge, at random places; the first one is at a
    /// corner of the box. A tenth of the particles is even.
    Clustered,
}

/// The periodic box from the origin with these edges.
pub fn periodic_box(lengths: [f64; 3]) -> SimulationBox {
    SimulationBox { lower: Vec3d::zeros(), upper: Vec3d::from(lengths), boundary: [Boundary::Periodic; 3] }
}

/// Samples a distribution in the box from the origin with these edges. Returns keys and particles
/// `[x, y, z, mass]`, in key order. Deterministic.
pub fn periodic_sample(
    distribution: PeriodicDistribution,
    lengths: [f64; 3],
    count: usize,
    seed: u64,
) -> (Vec<u64>, Vec<[f64; 4]>) {
    const SPHERES: usize = 8;
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    let bx = periodic_box(lengths);
    let scale = lengths.into_iter().fold(f64::INFINITY, f64::min) / 40.0;
    let mut centers = [[0.0; 3]; SPHERES];
    for center in centers.iter_mut().skip(1) {
        *center = [0, 1, 2].map(|d| lengths[d] * random.random::<f64>());
    }
    let mass = 1.0 / count.max(1) as f64;
    let mut particles: Vec<(u64, [f64; 4])> = Vec::with_capacity(count);
    while particles.len() < count {
        let even = [0, 1, 2].map(|d| lengths[d] * random.random::<f64>());
        let position = match distribution {
            PeriodicDistribution::Poisson => even,
            PeriodicDistribution::Clustered if particles.len().is_multiple_of(10) => even,
            PeriodicDistribution::Clustered => {
                let enclosed: f64 = random.random();
                let radius = scale * (enclosed.powf(-2.0 / 3.0) - 1.0).powf(-0.5);
                let (cosine, angle) = (random.random_range(-1.0..1.0f64), random.random_range(0.0..TAU));
                if radius > 20.0 * scale {
                    continue;
                }
                let sine = (1.0 - cosine * cosine).sqrt();
                let center = centers[particles.len() % SPHERES];
                let to = [sine * angle.cos(), sine * angle.sin(), cosine];
                [0, 1, 2].map(|d| center[d] + radius * to[d])
            }
        };
        let position = bx.wrap(Vec3d::from(position));
        particles.push((hilbert::key_of(&position, &bx), [position.x, position.y, position.z, mass]));
    }
    particles.sort_by_key(|(key, _)| *key);
    particles.into_iter().unzip()
}

/// Result of [`PeriodicExperiment::measure`].
#[derive(Clone, Copy, Debug)]
pub struct PeriodicMeasurement {
    /// Root mean square of the force errors over that of the forces, of the compared particles.
    pub error: f64,
    /// Largest force error over the root mean square of the forces.
    pub largest: f64,
    /// Error of the total potential energy of the compared particles over the energy.
    pub energy_error: f64,
    /// Median wall time in seconds of the tree, without the mesh.
    pub seconds: f64,
    /// Statistics of the last evaluation.
    pub statistics: GravityStatistics,
}

/// Gravity in a periodic box beside that of the same particles in an open box, on one rank.
#[derive(Clone, Copy, Debug)]
pub struct OpenComparison {
    /// The periodic box: its error, and its tree's time and interactions.
    pub periodic: PeriodicMeasurement,
    /// Median wall time in seconds of the mesh.
    pub mesh_seconds: f64,
    /// Median wall time in seconds of the open tree.
    pub open_seconds: f64,
    /// Statistics of the open tree.
    pub open_statistics: GravityStatistics,
}

/// Particles of a distribution, with the Ewald sums of point masses for some of them.
pub struct PeriodicExperiment {
    /// Edges of the box, which begins at the origin.
    pub lengths: [f64; 3],
    /// Particles `[x, y, z, mass]`, sorted along the curve.
    pub particles: Vec<[f64; 4]>,
    keys: Vec<u64>,
    targets: Vec<usize>,
    reference: Vec<[f64; 4]>,
}

impl PeriodicExperiment {
    /// Samples `count` particles (at least one). About `compared` of them, evenly spaced along the curve, get
    /// Ewald sums.
    pub fn new(distribution: PeriodicDistribution, lengths: [f64; 3], count: usize, compared: usize) -> Self {
        let (keys, particles) = periodic_sample(distribution, lengths, count.max(1), 1);
        let step = (particles.len() / compared.max(1)).max(1);
        let targets: Vec<usize> = (0..particles.len()).step_by(step).collect();
        let reference = ewald(&particles, &targets, lengths);
        Self { lengths, particles, keys, targets, reference }
    }

    /// Evaluates gravity `repeats` times on one rank. `long_range` has minus the potential and the acceleration
    /// of the long-range part of each particle, for G = 1.
    pub fn measure(
        &self,
        plan: &GravityPlan,
        split: Split,
        long_range: [Vec<f64>; 4],
        repeats: usize,
        double: bool,
    ) -> PeriodicMeasurement {
        let mesh = MeshField { split, values: long_range };
        let (fields, statistics, seconds) = self.solve(plan, Some(&mesh), repeats, double);
        let mut reference = self.reference.clone();
        if plan.softening > 0.0 {
            let softening = (plan.kernel, plan.softening, split.cut);
            soften(&mut reference, &self.particles, &self.targets, self.lengths, softening);
        }
        let own = plan.kernel.central(plan.softening);
        let (mut squares, mut largest, mut energy) = ([0.0; 2], 0f64, [0.0; 2]);
        for (&target, reference) in self.targets.iter().zip(&reference) {
            let gathered = &fields[target / SUPER_CLUSTER].gathered;
            let at = |k: usize| gathered[k][target % SUPER_CLUSTER];
            let difference: f64 = (0..3).map(|d| (at(d) - reference[d]).powi(2)).sum();
            largest = largest.max(difference);
            squares[0] += difference;
            squares[1] += (0..3).map(|d| reference[d].powi(2)).sum::<f64>();
            energy[0] -= at(3) - self.particles[target][3] * own;
            energy[1] += reference[3];
        }
        PeriodicMeasurement {
            error: (squares[0] / squares[1]).sqrt(),
            largest: (largest * self.targets.len() as f64 / squares[1]).sqrt(),
            energy_error: energy[0] / energy[1] - 1.0,
            seconds,
            statistics,
        }
    }

    /// Evaluates the tree `repeats` times on one rank for G = 1. Returns fields, statistics, and the median
    /// of the seconds.
    fn solve(
        &self,
        plan: &GravityPlan,
        mesh: Option<&MeshField>,
        repeats: usize,
        double: bool,
    ) -> (Vec<GroupField>, GravityStatistics, f64) {
        let plan = GravityPlan { constant: 1.0, ..*plan };
        let comm = Communicator::solo();
        let mut leaves = Leaves::root();
        leaves.converge(&self.keys, (self.keys.len() as u64 / 128).max(64));
        let (mut seconds, mut fields, mut statistics) =
            (Vec::new(), Vec::new(), GravityStatistics::default());
        for _ in 0..repeats.max(1) {
            let input = TreeInput {
                leaves: &leaves,
                own: 0..leaves.len(),
                keys: &self.keys,
                particles: self.particles.clone(),
                bucket: plan.bucket,
            };
            let start = Instant::now();
            (fields, statistics) = solve(&plan, &comm, input, mesh, double);
            seconds.push(start.elapsed().as_secs_f64());
        }
        (fields, statistics, median(seconds))
    }

    /// Evaluates gravity `repeats` times as in a run, with the mesh of the plan, and by the tree of an open
    /// box over the same particles.
    ///
    /// # Errors
    /// Those of [`PeriodicSettings::new`].
    pub fn beside_open(&self, plan: &GravityPlan, repeats: usize, double: bool) -> Result<OpenComparison> {
        let bx = periodic_box(self.lengths);
        let settings = PeriodicSettings::new(plan, &bx, self.particles.len() as u64)?;
        let precision = if double { Precision::Double } else { Precision::Mixed };
        let comm = Communicator::solo();
        let mut mesh = PeriodicMesh::new(&comm, &bx, settings, precision);
        // the first evaluation allocates
        let mut field = mesh.field(&comm, &self.particles);
        let mut seconds = Vec::new();
        for _ in 0..repeats.max(1) {
            let start = Instant::now();
            field = mesh.field(&comm, &self.particles);
            seconds.push(start.elapsed().as_secs_f64());
        }
        let (_, open_statistics, open_seconds) = self.solve(plan, None, repeats, double);
        Ok(OpenComparison {
            periodic: self.measure(plan, settings.split, field.values, repeats, double),
            mesh_seconds: median(seconds),
            open_seconds,
            open_statistics,
        })
    }
}

/// The median, for an even number the larger of the two.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::far::ewald_reference::long_range;
    use crate::far::long_range::CUT;
    use crate::far::{Criterion, Expansion, SofteningKernel};

    /// The exact long-range part.
    fn exact_long_range(experiment: &PeriodicExperiment, splitting: f64) -> [Vec<f64>; 4] {
        let all: Vec<usize> = (0..experiment.particles.len()).collect();
        let fields = long_range(&experiment.particles, &all, experiment.lengths, splitting);
        [3, 0, 1, 2].map(|k| fields.iter().map(|f| if k == 3 { -f[k] } else { f[k] }).collect())
    }

    /// Without a mesh's errors, the tree's are left: those of expansions, of the cut, and of rounding.
    #[test]
    fn errors_are_those_of_the_open_tree() {
        for distribution in [PeriodicDistribution::Poisson, PeriodicDistribution::Clustered] {
            for (lengths, splitting) in [([1.0; 3], 10.0), ([2.0, 1.0, 0.7], 4.0)] {
                let experiment = PeriodicExperiment::new(distribution, lengths, 3000, 200);
                for (range, exact) in [(2.5, 5e-4), (3.5, 2e-5)] {
                    let split = Split { splitting, cut: range / splitting, lengths };
                    let values = exact_long_range(&experiment, splitting);
                    for (softening, kernel) in [
                        (0.0, SofteningKernel::Plummer),
                        (0.01, SofteningKernel::Plummer),
                        (0.01, SofteningKernel::Spline),
                    ] {
                        for (opening_angle, expansion, criterion) in [
                            (0.0, Expansion::Quadrupole, Criterion::Geometric),
                            (0.5, Expansion::Quadrupole, Criterion::Geometric),
                            (0.5, Expansion::Octupole, Criterion::Geometric),
                            (0.5, Expansion::Quadrupole, Criterion::RelativeError(5e-4)),
                        ] {
                            let usual =
                                (criterion, expansion) == (Criterion::Geometric, Expansion::Quadrupole);
                            let softened = softening > 0.0;
                            if softened && (!usual || lengths != [1.0; 3]) {
                                continue;
                            }
                            for double in [false, true] {
                                let plan = GravityPlan {
                                    softening,
                                    kernel,
                                    opening_angle,
                                    expansion,
                                    criterion,
                                    ..GravityPlan::default()
                                };
                                let found = experiment.measure(&plan, split, values.clone(), 1, double);
                                println!(
                                    "{distribution:?} {lengths:?} range {range} softening {softening} {kernel:?} \
                                     angle {opening_angle} {expansion:?} {criterion:?} double {double}: {:.2e} \
                                     {:.2e} energy {:.2e}, {} pairs {} nodes",
                                    found.error,
                                    found.largest,
                                    found.energy_error,
                                    found.statistics.pairs / 3000,
                                    found.statistics.nodes / 3000
                                );
                                // polynomials of single precision are made for the default cut
                                let fitted = double || 2.0 * range < 1.1 * CUT;
                                let bound = if opening_angle == 0.0 && fitted { exact } else { 5e-4 };
                                assert!(found.error < bound, "{found:?}");
                            }
                        }
                    }
                }
            }
        }
    }
}
