//! What a deck leaves open, and which candidates a model rules out.

use std::f64::consts::PI;

use super::table::Row;
use super::{cutoff, speed};
use crate::neighborhood::{Method, NeighborSettings, Skins};
use crate::particles::Field;
use crate::plan;
use crate::report;
use crate::step::Simulation;

/// A way to find pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The method.
    pub method: Method,
    /// Whether each pair is found once.
    pub symmetric: bool,
}

impl Candidate {
    /// With these skins.
    pub fn settings(self, skins: Skins) -> NeighborSettings {
        NeighborSettings { method: self.method, symmetric: self.symmetric, skins }
    }
}

/// Particles of a GPU below which launches take most of a step, whatever the method.
const FEWEST_ON_DEVICE: u64 = 10_000;

/// Smallest share of list builds in a step for which methods without lists are tried, on processors and GPUs:
/// they save the builds, but test the distances of about six times the pairs in range.
const BUILD_SHARE: [f64; 2] = [0.5, 0.3];

/// Largest number of pairs of cells, as a multiple of those of a uniform gas.
const MOST_PAIRS_OF_CELLS: f64 = 4.0;

/// Volume of 27 cells as wide as the interaction range, over that within the range.
const CELLS_OVER_RANGE: f64 = 27.0 * 3.0 / (4.0 * PI);

/// What a deck leaves open, and what bounds the choice.
#[derive(Clone, Debug)]
pub struct Open {
    candidates: Vec<Candidate>,
    /// Most bytes per particle.
    pub memory: f64,
    /// Particles per volume.
    pub number_density: f64,
    /// Displacement of the fastest particle in a step; 0 if it is not known.
    pub stride: f64,
    /// Particles of all ranks.
    pub count: u64,
    on_device: bool,
    /// Neighbors of a particle within the first skin.
    neighbors: f64,
}

impl Open {
    /// `None` if there is nothing to choose. Without a `stride` that of the host's particles is taken.
    /// Collective.
    pub fn of(simulation: &mut Simulation, stride: Option<f64>) -> Option<Self> {
        let neighbors = &simulation.plan.neighbors;
        let (automatic, skin_is_open) =
            (neighbors.method == Some(plan::Method::Auto), neighbors.skin.is_none());
        let present = simulation.neighbors();
        let stride = match cutoff(simulation) {
            Some(_) if simulation.molecules.is_some() => {
                Some(stride.unwrap_or_else(|| speed::expected_stride(simulation)))
            }
            _ if simulation.hydrodynamics.is_some() && automatic => Some(0.0),
            _ => None,
        }?;
        let (count, number_density) = speed::count_and_density(simulation);
        let (on_device, gas) = (simulation.is_resident(), simulation.hydrodynamics.is_some());
        let few = count < 2 || on_device && count < FEWEST_ON_DEVICE * simulation.domain.comm.size() as u64;
        // without a fixed step or at rest nothing is known of the lifetime of lists
        if few || !gas && stride <= 0.0 || !(automatic || skin_is_open) {
            return None;
        }
        let symmetric = simulation.plan.neighbors.symmetric;
        let mut candidates = vec![Candidate { method: present.method, symmetric: present.symmetric }];
        if automatic {
            candidates = clusters(symmetric, gas);
            let methods = [Method::Particles, Method::Cells, Method::Search];
            let others = methods.into_iter().filter(|&method| on_device || method != Method::Search);
            if symmetric != Some(true) {
                candidates.extend(others.map(|method| Candidate { method, symmetric: false }));
            }
        }
        let neighbors = match (cutoff(simulation), &simulation.plan.sph) {
            (Some(cutoff), _) => {
                4.0 / 3.0 * PI * (cutoff * (1.0 + present.skins.outer)).powi(3) * number_density
            }
            (None, sph) => sph.as_ref().map_or(0.0, |sph| sph.neighbors),
        };
        let free = simulation.free_memory() / 4.0;
        let memory = simulation.plan.neighbors.memory.unwrap_or(free / simulation.owned().max(1) as f64);
        let mut least = [memory];
        simulation.domain.comm.all_min(&mut least);
        Some(Open { candidates, memory: least[0], number_density, stride, count, on_device, neighbors })
    }

    /// The candidates, in the order of their measurement.
    pub fn candidates(&self) -> impl Iterator<Item = Candidate> + use<> {
        self.candidates.clone().into_iter()
    }

    /// Why a candidate is not tried, if the model rules it out. Collective.
    pub fn ruled_out(&self, candidate: Candidate, rows: &[Row], simulation: &Simulation) -> Option<String> {
        let best = rows.iter().filter_map(Row::usable).min_by(|a, b| a.seconds.total_cmp(&b.seconds))?;
        match candidate.method {
            Method::Clusters if self.on_device => None,
            Method::Clusters => Some("evaluates each pair twice".into()),
            Method::Particles if !self.on_device => {
                Some("is built from the list of clusters, and sweeps as many pairs".into())
            }
            Method::Particles => {
                // two bytes a neighbor, padded; four bytes a neighbor cluster of a super-cluster
                let bytes = 2.4 * self.neighbors + 8.0;
                (bytes > self.memory).then(|| {
                    let limit = report::rounded(self.memory, 3);
                    format!("would take {bytes:.0} bytes per particle; at most {limit} are allowed")
                })
            }
            Method::Cells | Method::Search => {
                let least = BUILD_SHARE[usize::from(self.on_device)];
                if best.build_share < least {
                    let share = 100.0 * best.build_share;
                    return Some(format!(
                        "could save no more than the builds, {share:.0} % of the pairs' time"
                    ));
                }
                if let Some(sweep) = full_sweep(rows).filter(|sweep| self.on_device && *sweep > best.seconds)
                {
                    return Some(format!(
                        "tests more pairs than lists of clusters from both sides, whose sweep takes {} ms",
                        report::rounded(1e3 * sweep, 3)
                    ));
                }
                self.too_uneven(simulation)
            }
        }
    }

    /// The reason why cells do not suit a gas of unequal smoothing lengths, if that is so. Collective.
    fn too_uneven(&self, simulation: &Simulation) -> Option<String> {
        let sph = simulation.plan.sph.as_ref()?;
        let particles = &simulation.particles;
        let lengths = &particles.scalar(Field::SmoothingLength)[particles.owned()];
        let mut largest = [lengths.iter().copied().fold(0.0, f64::max)];
        simulation.domain.comm.all_max(&mut largest);
        // cells are as wide as the largest support; a particle of a smaller one has as many neighbors in a
        // smaller volume
        let pairs: f64 = lengths.iter().map(|h| (largest[0] / h).powi(3)).sum();
        let mut sums = [pairs, lengths.len() as f64];
        simulation.domain.comm.all_sum(&mut sums);
        let factor = sums[0] / sums[1].max(1.0);
        (factor > MOST_PAIRS_OF_CELLS).then(|| {
            let pairs = factor * CELLS_OVER_RANGE * sph.neighbors;
            format!("would evaluate about {pairs:.0} pairs per particle: smoothing lengths are too unequal")
        })
    }
}

/// Predicted seconds of a sweep over lists of clusters from both sides without a skin, if they were measured.
fn full_sweep(rows: &[Row]) -> Option<f64> {
    let full = Candidate { method: Method::Clusters, symmetric: false };
    let costs = rows.iter().find(|row| row.candidate == full)?.measured()?.costs?;
    Some(costs.sweep_seconds(Skins { outer: 0.0, inner: None }))
}

/// Lists of clusters: with the symmetry of the deck, or both, the usual one first.
fn clusters(symmetric: Option<bool>, gas: bool) -> Vec<Candidate> {
    let of = |symmetric| Candidate { method: Method::Clusters, symmetric };
    match symmetric {
        Some(symmetric) => vec![of(symmetric)],
        None if gas => vec![of(false)],
        None => vec![of(true), of(false)],
    }
}
