//! The tree's errors against direct summation, on two standard mass distributions.
use super::direct::direct;
use super::focus::Share;
use super::gravity::{GravityPlan, GravityStatistics, solve};
use super::softening::SofteningKernel;
use crate::comm::Communicator;
use crate::particles::SUPER_CLUSTER;
use crate::space::{Boundary, SimulationBox, Vec3d, hilbert};
use crate::tree::Leaves;
use rand::{RngExt, SeedableRng};
use std::f64::consts::{PI, TAU};
use std::time::Instant;

/// A spherical mass distribution of unit mass, sampled at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Plummer's sphere with a = 1, out to 20 a.
    Plummer,
    /// Evrard's sphere: density 1 / (2 pi r) inside r = 1.
    Evrard,
}

/// Particles of a distribution, `[x, y, z, mass]`, with their keys, in key order. The same for the same arguments.
pub fn sample(distribution: Distribution, count: usize, seed: u64) -> (Vec<u64>, Vec<[f64; 4]>) {
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    let mass = 1.0 / count.max(1) as f64;
    let mut particles: Vec<(u64, [f64; 4])> = Vec::with_capacity(count);
    let edge = 40.0;
    let bx = SimulationBox {
        lower: Vec3d::repeat(-0.5 * edge),
        upper: Vec3d::repeat(0.5 * edge),
        boundary: [Boundary::Open; 3],
    };
    let bx = match distribution {
        Distribution::Plummer => bx,
        Distribution::Evrard => bx.fitted((Vec3d::repeat(-1.0), Vec3d::repeat(1.0))),
    };
    while particles.len() < count {
        let enclosed: f64 = random.random();
        let radius = match distribution {
            // M(<r) = r^3 (1 + r^2)^(-3/2)
            Distribution::Plummer => (enclosed.powf(-2.0 / 3.0) - 1.0).powf(-0.5),
            // M(<r) = r^2
            Distribution::Evrard => enclosed.sqrt(),
        };
        let (cosine, angle) = (random.random_range(-1.0..1.0f64), random.random_range(0.0..TAU));
        if radius >= 0.5 * edge {
            continue;
        }
        let sine = (1.0 - cosine * cosine).sqrt();
        let position = Vec3d::new(sine * angle.cos(), sine * angle.sin(), cosine) * radius;
        particles.push((hilbert::key_of(&position, &bx), [position.x, position.y, position.z, mass]));
    }
    particles.sort_by_key(|(key, _)| *key);
    particles.into_iter().unzip()
}

/// What [`Experiment::measure`] finds.
#[derive(Clone, Copy, Debug)]
pub struct GravityMeasurement {
    /// The relative force error |a - a_direct| / |a_direct| of the particles compared: root mean square, median,
    /// 99th percentile, maximum.
    pub error: [f64; 4],
    /// Relative error of the total potential energy of the particles compared.
    pub energy_error: f64,
    /// Median of the wall times in seconds, on the threads of the current pool.
    pub seconds: f64,
    /// What was done.
    pub statistics: GravityStatistics,
}

impl GravityMeasurement {
    /// Particle-particle and particle-node interactions per particle.
    pub fn interactions_per_particle(&self) -> [f64; 2] {
        let count = self.statistics.particles.max(1) as f64;
        [self.statistics.pairs as f64 / count, self.statistics.nodes as f64 / count]
    }

    /// Interactions of both kinds per second.
    pub fn interactions_per_second(&self) -> f64 {
        (self.statistics.pairs + self.statistics.nodes) as f64 / self.seconds
    }
}

/// Particles of a distribution with what some of them feel by direct summation.
#[derive(Clone, Debug)]
pub struct Experiment {
    keys: Vec<u64>,
    particles: Vec<[f64; 4]>,
    targets: Vec<usize>,
    truth: Vec<[f64; 4]>,
    kernel: SofteningKernel,
    softening: f64,
}

impl Experiment {
    /// `count` particles (at least one), of which about `compared`, evenly spread over the curve, are summed directly.
    pub fn new(
        distribution: Distribution,
        count: usize,
        compared: usize,
        (kernel, softening): (SofteningKernel, f64),
    ) -> Self {
        Self::sorted(sample(distribution, count.max(1), 1), compared, (kernel, softening))
    }

    /// The same with particles `[x, y, z, mass]` (at least one) of one's own.
    pub fn of(particles: Vec<[f64; 4]>, compared: usize, softening: (SofteningKernel, f64)) -> Self {
        let corner = |best: fn(f64, f64) -> f64| {
            Vec3d::from_fn(|d, _| particles.iter().map(|particle| particle[d]).fold(particles[0][d], best))
        };
        let unit = SimulationBox {
            lower: Vec3d::repeat(-0.5),
            upper: Vec3d::repeat(0.5),
            boundary: [Boundary::Open; 3],
        };
        let bx = unit.fitted((corner(f64::min), corner(f64::max)));
        let key =
            |particle: &[f64; 4]| hilbert::key_of(&Vec3d::new(particle[0], particle[1], particle[2]), &bx);
        let mut keyed: Vec<(u64, [f64; 4])> =
            particles.iter().map(|particle| (key(particle), *particle)).collect();
        keyed.sort_by_key(|(key, _)| *key);
        Self::sorted(keyed.into_iter().unzip(), compared, softening)
    }

    fn sorted(
        (keys, particles): (Vec<u64>, Vec<[f64; 4]>),
        compared: usize,
        (kernel, softening): (SofteningKernel, f64),
    ) -> Self {
        let spacing = (particles.len() / compared.max(1)).max(1);
        let targets: Vec<usize> = (0..particles.len()).step_by(spacing).collect();
        let truth = direct(&particles, &targets, kernel, softening);
        Self { keys, particles, targets, truth, kernel, softening }
    }

    /// Errors of a plan, whose softening is replaced by the experiment's and whose constant is taken as 1, and the
    /// median time of `repeats` evaluations on the threads of the current pool.
    pub fn measure(&self, plan: &GravityPlan, repeats: usize, double: bool) -> GravityMeasurement {
        let plan = GravityPlan { kernel: self.kernel, softening: self.softening, ..*plan };
        let count = self.particles.len();
        let mut leaves = Leaves::root();
        leaves.converge(&self.keys, (count as u64 / 128).max(64));
        let share = || Share {
            leaves: &leaves,
            own: 0..leaves.len(),
            keys: &self.keys,
            particles: self.particles.clone(),
            bucket: plan.bucket,
        };
        let comm = Communicator::solo();
        let mut seconds = Vec::with_capacity(repeats.max(1));
        let (mut fields, mut statistics) = (Vec::new(), GravityStatistics::default());
        for _ in 0..repeats.max(1) {
            let share = share();
            let start = Instant::now();
            (fields, statistics) = solve(&plan, &comm, share, double);
            seconds.push(start.elapsed().as_secs_f64());
        }
        seconds.sort_by(f64::total_cmp);
        let own_share = plan.kernel.central(plan.softening);
        let mut errors: Vec<f64> = Vec::with_capacity(self.targets.len());
        let mut energy = [0.0; 2];
        for (&target, truth) in self.targets.iter().zip(&self.truth) {
            let gathered = &fields[target / SUPER_CLUSTER].gathered;
            let (mut difference, mut size) = (0.0, 0.0);
            for d in 0..3 {
                difference += (gathered[d][target % SUPER_CLUSTER] - truth[d]).powi(2);
                size += truth[d].powi(2);
            }
            errors.push((difference / size).sqrt());
            energy[0] -= gathered[3][target % SUPER_CLUSTER] - self.particles[target][3] * own_share;
            energy[1] += truth[3];
        }
        errors.sort_by(f64::total_cmp);
        let at = |fraction: f64| errors[((errors.len() - 1) as f64 * fraction).round() as usize];
        let square = errors.iter().map(|error| error * error).sum::<f64>() / errors.len() as f64;
        GravityMeasurement {
            error: [square.sqrt(), at(0.5), at(0.99), at(1.0)],
            energy_error: energy[0] / energy[1] - 1.0,
            seconds: seconds[seconds.len() / 2],
            statistics,
        }
    }
}

/// The potential energy of the continuous distribution of unit mass and G = 1.
pub fn potential_energy(distribution: Distribution) -> f64 {
    match distribution {
        Distribution::Plummer => -3.0 * PI / 32.0,
        Distribution::Evrard => -2.0 / 3.0,
    }
}
