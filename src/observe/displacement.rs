//! The mean square displacement over times up to a window, from many times of reference (origins), and the diffusion
//! coefficient as its slope (Einstein 1905, Ann. Phys. 322, 549): D = (1/6) d <|x(t) - x(0)|^2> / dt.
//!
//! Origins follow each other by a fraction of the window, and each is followed for one window. Where particles were at an
//! origin is kept by the rank that their id belongs to (`super::home`), so that neither the order of the particles nor
//! their owners matter.

use std::collections::VecDeque;

use rayon::prelude::*;

use super::blocking::Blocking;
use super::home::Home;
use super::radial_distribution::{kind_of, kinds_of};
use crate::comm::Communicator;
use crate::deck::plan::{MeanSquareDisplacementPlan, Plan};
use crate::domain::Domain;
use crate::particles::Particles;
use crate::units::Units;

/// Particles that are summed in one piece: sums are the same bits for any number of threads.
const PIECE: usize = 4096;

/// Displacements, as far as they have been measured.
pub struct MeanSquareDisplacement {
    /// What the deck asks for.
    pub plan: MeanSquareDisplacementPlan,
    pub(super) kinds: Vec<String>,
    pub(super) units: Units,
    /// Particles of each kind, of all ranks.
    pub(super) numbers: Vec<u64>,
    pub(super) home: Home,
    /// Measurements so far.
    pub(super) samples: u64,
    pub(super) origins: VecDeque<Origin>,
    pub(super) sums: Sums,
}

/// What is known of all origins together; the same on all ranks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sums {
    /// By lag, from one interval on: how many origins have got there, and the sum of the times that it took them.
    pub counts: Vec<u64>,
    pub times: Vec<f64>,
    /// By lag, kind and component: sums over the origins of mean squares.
    pub squares: Vec<f64>,
    /// Mean square displacements of whole windows by lag and kind, for their errors.
    pub curves: Blocking,
    /// Diffusion coefficients of whole windows by kind.
    pub diffusion: Blocking,
    /// Temperatures and edges of the box, where a correction needs them.
    pub state: Blocking,
}

/// A time of reference.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Origin {
    /// The measurement that it is.
    pub sample: u64,
    /// Its time.
    pub time: f64,
    /// Where this rank's particles were.
    pub places: [Vec<f64>; 3],
    /// Times since then, and by time and kind the mean square displacements.
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
    /// Nothing measured yet; `None` where the plan does not ask for it.
    pub fn new(plan: &Plan) -> Option<Self> {
        let kinds = kinds_of(plan);
        let wanted = plan.measure.mean_square_displacement.clone()?;
        Some(Self {
            sums: Sums::new(wanted.lags as usize, kinds.len()),
            plan: wanted,
            units: plan.units,
            numbers: vec![0; kinds.len()],
            kinds,
            home: Home::default(),
            samples: 0,
            origins: VecDeque::new(),
        })
    }

    /// Add the present state at `time`; `temperature` is that of the particles, where it is known. Collective.
    pub fn measure(&mut self, domain: &Domain, particles: &Particles, time: f64, temperature: Option<f64>) {
        let comm = &domain.comm;
        let kinds = self.kinds.len();
        let places = self.home.gather(domain, particles, kind_of(particles, kinds));
        if self.samples == 0 {
            self.numbers.fill(0);
            self.home.kinds.iter().for_each(|&kind| self.numbers[kind] += 1);
            comm.all_sum(&mut self.numbers);
        }
        if let Some(temperature) = temperature {
            self.sums.state.push(&[temperature, domain.bx.lengths().x]);
        }
        self.follow(comm, &places, time);
        if self.samples.is_multiple_of(self.plan.stride) {
            let (sample, times, curve) = (self.samples, Vec::new(), Vec::new());
            self.origins.push_back(Origin { sample, time, places, times, curve });
        }
        self.samples += 1;
    }

    /// How far the particles have come from every origin.
    fn follow(&mut self, comm: &Communicator, places: &[Vec<f64>; 3], time: f64) {
        let kinds = self.kinds.len();
        let mut squares: Vec<f64> = self
            .origins
            .iter()
            .flat_map(|origin| squares(&origin.places, places, &self.home.kinds, kinds))
            .collect();
        comm.all_sum(&mut squares);
        for (origin, squares) in self.origins.iter_mut().zip(squares.chunks_exact(3 * kinds)) {
            let lag = (self.samples - origin.sample - 1) as usize;
            self.sums.counts[lag] += 1;
            self.sums.times[lag] += time - origin.time;
            origin.times.push(time - origin.time);
            for kind in 0..kinds {
                let number = self.numbers[kind].max(1) as f64;
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

/// Sums of the squared components by kind.
fn squares(from: &[Vec<f64>; 3], to: &[Vec<f64>; 3], kind: &[usize], kinds: usize) -> Vec<f64> {
    let starts: Vec<usize> = (0..kind.len()).step_by(PIECE).collect();
    let piece = |&start: &usize| {
        let mut sums = vec![0.0; 3 * kinds];
        for k in start..kind.len().min(start + PIECE) {
            for c in 0..3 {
                sums[3 * kind[k] + c] += (to[c][k] - from[c][k]).powi(2);
            }
        }
        sums
    };
    let pieces: Vec<Vec<f64>> = starts.par_iter().map(piece).collect();
    let mut sums = vec![0.0; 3 * kinds];
    pieces.iter().for_each(|piece| sums.iter_mut().zip(piece).for_each(|(sum, value)| *sum += value));
    sums
}

/// Slope of the line through the points, by least squares; not a number with fewer than two.
fn slope<'a>(points: impl Iterator<Item = (&'a f64, &'a f64)> + Clone) -> f64 {
    let count = points.clone().count() as f64;
    let (x, y) = points.clone().fold((0.0, 0.0), |sum, (x, y)| (sum.0 + x / count, sum.1 + y / count));
    let (products, squares) = points.fold((0.0, 0.0), |sum, point| {
        (sum.0 + (point.0 - x) * (point.1 - y), sum.1 + (point.0 - x).powi(2))
    });
    products / squares
}
