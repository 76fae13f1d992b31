//! Mean square displacement over time lags up to a window, averaged over time origins, and the diffusion
//! coefficient as its slope (Einstein 1905, Ann. Phys. 322, 549): D = (1/6) d <|x(t) - x(0)|^2> / dt.
//!
//! A new origin starts at every fraction of the window, and each is followed for one window. The reference
//! positions of an origin are stored on the rank to which a particle's id belongs (`super::home`), so that
//! neither particle order nor ownership matters.

use std::collections::VecDeque;

use rayon::prelude::*;

use super::blocking::Blocking;
use super::particles_by_id::ParticlesById;
use super::radial_distribution::{kind_of, kinds_of};
use crate::comm::Communicator;
use crate::domain::Domain;
use crate::particles::Particles;
use crate::plan::{MeanSquareDisplacementPlan, Plan};
use crate::units::Units;

/// Particles per partial sum: sums are bitwise equal for any number of threads.
const ROWS_PER_BLOCK: usize = 4096;

/// The measurement so far.
pub struct MeanSquareDisplacement {
    /// Its settings.
    pub plan: MeanSquareDisplacementPlan,
    pub(super) kinds: Vec<String>,
    pub(super) units: Units,
    /// Number of particles of each species, over all ranks.
    pub(super) particle_counts: Vec<u64>,
    pub(super) by_id: ParticlesById,
    /// Number of measurements so far.
    pub(super) samples: u64,
    pub(super) origins: VecDeque<Origin>,
    pub(super) sums: Sums,
}

/// Sums over all origins; the same on all ranks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sums {
    /// By lag, from one interval on: number of origins that have reached it, and the sum of their times.
    pub counts: Vec<u64>,
    pub times: Vec<f64>,
    /// By lag, species and component: sums of the mean squares over the origins.
    pub squares: Vec<f64>,
    /// Mean square displacements of complete windows by lag and species, for their errors.
    pub curves: Blocking,
    /// Diffusion coefficients of complete windows by species.
    pub diffusion: Blocking,
    /// Temperature and edge of the box, if the finite-size correction needs them.
    pub state: Blocking,
}

/// A time origin.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Origin {
    /// Index of its measurement.
    pub sample: u64,
    /// Its time.
    pub time: f64,
    /// Positions of this rank's particles at that time.
    pub positions: [Vec<f64>; 3],
    /// Times since then, and mean square displacements by time and species.
    pub times: Vec<f64>,
    pub curve: Vec<f64>,
}

impl Sums {
    pub fn new(lags: usize, kinds: usize) -> Self {
        Self {
            counts: vec![0; lags],
            times: vec![0.0; lags],
            squares: vec![0.0; lags * kinds * 3],
            curves: Blocking::new(lags * kinds),
            diffusion: Blocking::new(kinds),
            state: Blocking::new(2),
        }
    }
}

impl MeanSquareDisplacement {
    /// Creates an empty measurement; `None` if the plan has none.
    pub fn new(plan: &Plan) -> Option<Self> {
        let kinds = kinds_of(plan);
        let wanted = plan.measure.mean_square_displacement.clone()?;
        Some(Self {
            sums: Sums::new(wanted.lags as usize, kinds.len()),
            plan: wanted,
            units: plan.units,
            particle_counts: vec![0; kinds.len()],
            kinds,
            by_id: ParticlesById::default(),
            samples: 0,
            origins: VecDeque::new(),
        })
    }

    /// Adds the present state at `time`; `temperature` is that of the particles, if known. Collective.
    pub fn measure(&mut self, domain: &Domain, particles: &Particles, time: f64, temperature: Option<f64>) {
        let comm = &domain.comm;
        let kinds = self.kinds.len();
        let positions = self.by_id.gather(domain, particles, kind_of(particles, kinds));
        if self.samples == 0 {
            self.particle_counts.fill(0);
            self.by_id.kinds.iter().for_each(|&kind| self.particle_counts[kind] += 1);
            comm.all_sum(&mut self.particle_counts);
        }
        if let Some(temperature) = temperature {
            self.sums.state.push(&[temperature, domain.bx.lengths().x]);
        }
        self.add_displacements(comm, &positions, time);
        if self.samples.is_multiple_of(self.plan.stride) {
            let (sample, times, curve) = (self.samples, Vec::new(), Vec::new());
            self.origins.push_back(Origin { sample, time, positions, times, curve });
        }
        self.samples += 1;
    }

    /// Adds the displacements since every origin.
    fn add_displacements(&mut self, comm: &Communicator, positions: &[Vec<f64>; 3], time: f64) {
        let kinds = self.kinds.len();
        let mut squares: Vec<f64> = self
            .origins
            .iter()
            .flat_map(|origin| squares(&origin.positions, positions, &self.by_id.kinds, kinds))
            .collect();
        comm.all_sum(&mut squares);
        for (origin, squares) in self.origins.iter_mut().zip(squares.chunks_exact(3 * kinds)) {
            let lag = (self.samples - origin.sample - 1) as usize;
            self.sums.counts[lag] += 1;
            self.sums.times[lag] += time - origin.time;
            origin.times.push(time - origin.time);
            for kind in 0..kinds {
                let number = self.particle_counts[kind].max(1) as f64;
                let means = [0, 1, 2].map(|c| squares[3 * kind + c] / number);
                (0..3).for_each(|c| self.sums.squares[(lag * kinds + kind) * 3 + c] += means[c]);
                origin.curve.push(means.iter().sum());
            }
        }
        while self.origins.front().is_some_and(|origin| origin.times.len() as u64 == self.plan.lags) {
            let Some(origin) = self.origins.pop_front() else { break };
            self.sums.curves.push(&origin.curve);
            let slope = |kind| {
                let points = origin.times.iter().zip(origin.curve.iter().skip(kind).step_by(kinds));
                slope(points.filter(|(time, _)| **time >= self.plan.fit_from * (1.0 - 1e-9)))
            };
            let coefficients: Vec<f64> = (0..kinds).map(|kind| slope(kind) / 6.0).collect();
            self.sums.diffusion.push(&coefficients);
        }
    }
}

/// Returns the sums of the squared displacements by species and component.
fn squares(from: &[Vec<f64>; 3], to: &[Vec<f64>; 3], kind: &[usize], kinds: usize) -> Vec<f64> {
    let starts: Vec<usize> = (0..kind.len()).step_by(ROWS_PER_BLOCK).collect();
    let block = |&start: &usize| {
        let mut sums = vec![0.0; 3 * kinds];
        for k in start..kind.len().min(start + ROWS_PER_BLOCK) {
            for c in 0..3 {
                sums[3 * kind[k] + c] += (to[c][k] - from[c][k]).powi(2);
            }
        }
        sums
    };
    let blocks: Vec<Vec<f64>> = starts.par_iter().map(block).collect();
    let mut sums = vec![0.0; 3 * kinds];
    blocks.iter().for_each(|block| sums.iter_mut().zip(block).for_each(|(sum, value)| *sum += value));
    sums
}

/// Returns the slope of the least-squares line through the points; not a number for fewer than two.
fn slope<'a>(points: impl Iterator<Item = (&'a f64, &'a f64)> + Clone) -> f64 {
    let count = points.clone().count() as f64;
    let (x, y) = points.clone().fold((0.0, 0.0), |sum, (x, y)| (sum.0 + x / count, sum.1 + y / count));
    let (products, squares) = points.fold((0.0, 0.0), |sum, point| {
        (sum.0 + (point.0 - x) * (point.1 - y), sum.1 + (point.0 - x).powi(2))
    });
    products / squares
}
