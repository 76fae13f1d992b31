//! Measures the tree's errors against direct summation, on two standard mass distributions.
use super::direct::direct;
use super::essential_tree::TreeInput;
use super::gravity::{GravityPlan, GravityStatistics, solve};
use super::softening::SofteningKernel;
use crate::comm::Communicator;
use crate::particles::SUPER_CLUSTER;
use crate::space::{Boundary, SimulationBox, Vec3d, hilbert};
use crate::tree::Leaves;
use rand::{RngExt, SeedableRng};
use std::f64::consts::{PI, TAU};
use std::time::Instant;

/// A spherical mass distribution of unit mass, to be sampled at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Plummer sphere with a = 1, truncated at 20 a.
    Plummer,
    /// Evrard sphere: density 1 / (2 pi r) inside r = 1.
    Evrard,
}

/// Samples a distribution. Returns keys and particles `[x, y, z, mass]`, in key order. Deterministic.
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

/// Result of [`Experiment::measure`].
#[derive(Clone, Copy, Debug)]
pub struct GravityMeasurement {
    /// Relative force error |a - a_direct| / |a_direct| of the compared particles: root mean square, median,
    /// 99th percentile, maximum.
    pub error: [f64; 4],
    /// Relative error of the total potential energy of the compared particles.
    pub energy_error: f64,
    /// Median wall time in seconds, on the threads of the current pool.
    pub seconds: f64,
    /// Statistics of the last evaluation.
    pub statistics: GravityStatistics,
}

impl GravityMeasurement {
    /// Particle-particle and particle-node interactions per particle.
    pub fn interactions_per_particle(&self) -> [f64; 2] {
        let count = self.statistics.particles.max(1) as f64;
        [self.statistics.pairs as f64 / count, self.statistics.nodes as f64 / count]
    }

    /// Particle-particle plus particle-node interactions per second.
    pub fn interactions_per_second(&self) -> f64 {
        (self.statistics.pairs + self.statistics.nodes) as f64 / self.seconds
    }
}

/// Particles of a distribution, with the direct sums for some of them.
#[derive(Clone, Debug)]
pub struct Experiment {
    keys: Vec<u64>,
    particles: Vec<[f64; 4]>,
    targets: Vec<usize>,
    reference: Vec<[f64; 4]>,
    kernel: SofteningKernel,
    softening: f64,
}

impl Experiment {
    /// Samples `count` particles (at least one). About `compared` of them, evenly spaced along the curve, get
    /// direct sums.
    pub fn new(
        distribution: Distribution,
        count: usize,
        compared: usize,
        (kernel, softening): (SofteningKernel, f64),
    ) -> Self {
        Self::sorted(sample(distribution, count.max(1), 1), compared, (kernel, softening))
    }

    /// Same as [`Self::new`] for particles `[x, y, z, mass]` (at least one) of the caller.
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
        let reference = direct(&particles, &targets, kernel, softening);
        Self { keys, particles, targets, reference, kernel, softening }
    }

    /// Measures errors and the median time of `repeats` evaluations, on the threads of the current pool. The
    /// plan's softening is replaced by the experiment's; G = 1.
    pub fn measure(&self, plan: &GravityPlan, repeats: usize, double: bool) -> GravityMeasurement {
        let plan = GravityPlan { kernel: self.kernel, softening: self.softening, ..*plan };
        let count = self.particles.len();
        let mut leaves = Leaves::root();
        leaves.converge(&self.keys, (count as u64 / 128).max(64));
        let input = || TreeInput {
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
            let input = input();
            let start = Instant::now();
            (fields, statistics) = solve(&plan, &comm, input, None, double);
            seconds.push(start.elapsed().as_secs_f64());
        }
        seconds.sort_by(f64::total_cmp);
        let self_potential = plan.kernel.central(plan.softening);
        let (error, energy_error) = self.compare(|row| {
            let gathered = &fields[row / SUPER_CLUSTER].gathered;
            let [x, y, z, minus_potential] = [0, 1, 2, 3].map(|k| gathered[k][row % SUPER_CLUSTER]);
            [x, y, z, self.particles[row][3] * self_potential - minus_potential]
        });
        GravityMeasurement { error, energy_error, seconds: seconds[seconds.len() / 2], statistics }
    }

    /// The particles `[x, y, z, mass]`, sorted along the curve.
    pub fn particles(&self) -> &[[f64; 4]] {
        &self.particles
    }

    /// The softening kernel and length of the direct sums.
    pub fn softening(&self) -> (SofteningKernel, f64) {
        (self.kernel, self.softening)
    }

    /// Compares accelerations x, y, z and potentials of rows, for G = 1, with the direct sums. Returns the
    /// errors of [`GravityMeasurement::error`] and of [`GravityMeasurement::energy_error`].
    pub fn compare(&self, field: impl Fn(usize) -> [f64; 4]) -> ([f64; 4], f64) {
        let mut errors: Vec<f64> = Vec::with_capacity(self.targets.len());
        let mut energy = [0.0; 2];
        for (&target, reference) in self.targets.iter().zip(&self.reference) {
            let found = field(target);
            let (mut difference, mut size) = (0.0, 0.0);
            for d in 0..3 {
                difference += (found[d] - reference[d]).powi(2);
                size += reference[d].powi(2);
            }
            errors.push((difference / size).sqrt());
            energy[0] += found[3];
            energy[1] += reference[3];
        }
        errors.sort_by(f64::total_cmp);
        let at = |fraction: f64| errors[((errors.len() - 1) as f64 * fraction).round() as usize];
        let square = errors.iter().map(|error| error * error).sum::<f64>() / errors.len() as f64;
        ([square.sqrt(), at(0.5), at(0.99), at(1.0)], energy[0] / energy[1] - 1.0)
    }
}

/// Potential energy of the continuous distribution of unit mass, for G = 1.
pub fn potential_energy(distribution: Distribution) -> f64 {
    match distribution {
        Distribution::Plummer => -3.0 * PI / 32.0,
        Distribution::Evrard => -2.0 / 3.0,
    }
}
