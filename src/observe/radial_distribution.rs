//! Radial distribution function: the probability of a pair at a distance relative to that of uncorrelated
//! particles.
//!
//! For species a and b there are N_a (N_a - 1) ordered pairs, or 2 N_a N_b for a != b. A sample counts those
//! in each bin. Without correlations the count would be their number times v / V, with v the volume of the
//! bin's shell and V that of the box. g is the ratio of the two, averaged over samples: exactly 1 on average
//! for an ideal gas of any number of particles.

use std::f64::consts::PI;

use super::blocking::Blocking;
use super::files::column_name;
use super::pairs::{Bins, count_pairs, pair_of_kinds, pairs_of};
use crate::Result;
use crate::domain::Domain;
use crate::particles::{Field, Particles};
use crate::plan::{Plan, RadialDistributionPlan};
use crate::snapshot::Table;
use crate::units::Units;

/// The measurement so far.
pub struct RadialDistribution {
    /// Its settings.
    pub plan: RadialDistributionPlan,
    /// Default distance, if the box is large enough.
    default_distance: f64,
    kinds: Vec<String>,
    units: Units,
    sums: Option<Sums>,
}

/// Sums over all samples so far; the same on all ranks.
struct Sums {
    bins: Bins,
    /// Number of particles of each species.
    particle_counts: Vec<u64>,
    samples: u64,
    /// Sum over the samples of the inverse volume of the box.
    inverse_volumes: f64,
    /// Twice the number of pairs, by pair of species and bin.
    counts: Vec<u64>,
    /// The functions of single samples, for the errors.
    blocks: Blocking,
}

/// Returns the species of a row, below `kinds`.
pub(super) fn kind_of(particles: &Particles, kinds: usize) -> impl Fn(usize) -> usize {
    let species = particles.has(Field::Species).then(|| particles.scalar(Field::Species));
    move |row| species.map_or(0, |species| (species[row] as usize).min(kinds - 1))
}

/// Returns the names of the species; a single empty name if the deck has fewer than two.
pub(super) fn kinds_of(plan: &Plan) -> Vec<String> {
    let names: Vec<String> = plan.species.iter().map(|kind| kind.name.clone()).collect();
    if names.len() > 1 { names } else { vec![String::new()] }
}

impl RadialDistribution {
    /// Creates an empty measurement; `None` if the plan has none.
    pub fn new(plan: &Plan) -> Option<Self> {
        let cutoff = plan.interaction.as_ref().map_or(f64::INFINITY, |interaction| interaction.cutoff);
        Some(Self {
            plan: plan.measure.radial_distribution.clone()?,
            default_distance: 2.0 * cutoff,
            kinds: kinds_of(plan),
            units: plan.units,
            sums: None,
        })
    }

    /// Adds the present state as a sample. Collective.
    ///
    /// # Errors
    /// On all ranks, with step 0, if the box is open or narrower than twice the distance.
    pub fn measure(&mut self, domain: &Domain, particles: &Particles) -> Result<()> {
        let periods = domain.bx.periods();
        if !periods.iter().all(|period| period.is_finite()) {
            return Err(crate::Error::State {
                step: 0,
                what: "the radial distribution needs a density, and a box that is open has none".into(),
                remedy:
                    "use a box that is periodic in all dimensions, or remove [measure.radial-distribution]"
                        .into(),
            });
        }
        let kinds = self.kinds.len();
        let kind = kind_of(particles, kinds);
        if self.sums.is_none() {
            let mut particle_counts = vec![0; kinds];
            particles.owned().for_each(|row| particle_counts[kind(row)] += 1);
            domain.comm.all_sum(&mut particle_counts);
            let distance = self.plan.distance.unwrap_or(self.default_distance.min(0.5 * periods.min()));
            self.sums = Some(Sums::new(Bins { distance, bins: self.plan.bins }, particle_counts));
        }
        let Some(sums) = &mut self.sums else { unreachable!("the sums have just been made") };
        let counts = count_pairs(domain, particles, sums.bins, kinds, kind)?;
        sums.add(&counts, periods.product());
        Ok(())
    }

    /// Formats the table as CSV: a line per bin.
    pub fn csv(&self) -> String {
        let kinds = self.kinds.len();
        let length = self.units.name([0, 1, 0]);
        let mut titles = vec![format!("distance [{length}]"), format!("outer_distance [{length}]")];
        for (a, b) in pairs(kinds) {
            let both = if a == b && self.kinds[a].is_empty() {
                vec![]
            } else {
                vec![self.kinds[a].as_str(), &self.kinds[b]]
            };
            titles.push(format!("{} [1]", column_name("radial_distribution", &both)));
            titles.push(format!("{} [1]", column_name("standard_error", &both)));
            titles.push(format!("{} [1]", column_name("coordination", &both)));
            if a != b {
                titles
                    .push(format!("{} [1]", column_name("coordination", &[&self.kinds[b], &self.kinds[a]])));
            }
        }
        let mut text = titles.join(",") + "\n";
        let Some(sums) = &self.sums else { return text };
        let mut within = vec![0; pairs_of(kinds)];
        for bin in 0..sums.bins.bins {
            let (lower, upper) = (sums.bins.lower(bin), sums.bins.lower(bin + 1));
            let mut cells = vec![0.5 * (lower + upper), upper];
            for (a, b) in pairs(kinds) {
                let pair = pair_of_kinds(a, b);
                let place = pair * sums.bins.bins + bin;
                within[pair] += sums.counts[place];
                let coordination = |kind: usize| {
                    let ordered_pairs = if a == b { 1.0 } else { 0.5 } * within[pair] as f64;
                    ordered_pairs / (sums.samples as f64 * sums.particle_counts[kind] as f64)
                };
                cells.extend([
                    sums.g(pair, bin),
                    sums.blocks.estimate(place).standard_error,
                    coordination(a),
                ]);
                if a != b {
                    cells.push(coordination(b));
                }
            }
            text += &cells.iter().map(|value| format!("{value:e}")).collect::<Vec<_>>().join(",");
            text.push('\n');
        }
        text
    }

    /// Returns the values of g by bin for a pair of species; empty before the first sample.
    pub fn values(&self, a: usize, b: usize) -> Vec<f64> {
        let bins = |sums: &Sums| (0..sums.bins.bins).map(|bin| sums.g(pair_of_kinds(a, b), bin)).collect();
        self.sums.as_ref().map_or_else(Vec::new, bins)
    }

    /// Returns the bins; `None` before the first sample.
    pub fn bins(&self) -> Option<Bins> {
        self.sums.as_ref().map(|sums| sums.bins)
    }

    /// Returns the checkpoint data, on the root.
    pub fn table(&self) -> Table {
        let words = self.sums.as_ref().map_or_else(Vec::new, |sums| {
            let mut words = vec![
                sums.bins.distance.to_bits(),
                sums.bins.bins as u64,
                sums.particle_counts.len() as u64,
                sums.samples,
            ];
            words.push(sums.inverse_volumes.to_bits());
            words.extend(sums.particle_counts.iter().chain(&sums.counts));
            words.extend(sums.blocks.to_words());
            words
        });
        Table { width: 1, words }
    }

    /// Resumes from the data of [`Self::table`] on the root, given here to all ranks. Returns false and
    /// starts anew if they belong to another measurement.
    pub fn resume(&mut self, words: &[u64]) -> bool {
        if words.is_empty() {
            return true;
        }
        self.sums = Sums::from_words(&mut words.iter().copied(), self.kinds.len(), self.plan.bins)
            .filter(|sums| self.plan.distance.is_none_or(|distance| distance == sums.bins.distance));
        self.sums.is_some()
    }
}

/// Iterates over the pairs of species a <= b.
fn pairs(kinds: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..kinds).flat_map(move |b| (0..=b).map(move |a| (a, b)))
}

impl Sums {
    fn new(bins: Bins, particle_counts: Vec<u64>) -> Self {
        let width = pairs_of(particle_counts.len()) * bins.bins;
        Self {
            bins,
            particle_counts,
            samples: 0,
            inverse_volumes: 0.0,
            counts: vec![0; width],
            blocks: Blocking::new(width),
        }
    }

    fn add(&mut self, counts: &[u64], volume: f64) {
        self.samples += 1;
        self.inverse_volumes += 1.0 / volume;
        let mut values = Vec::with_capacity(counts.len());
        for (a, b) in pairs(self.particle_counts.len()) {
            for bin in 0..self.bins.bins {
                let place = pair_of_kinds(a, b) * self.bins.bins + bin;
                self.counts[place] += counts[place];
                values.push(
                    counts[place] as f64 / (self.ordered_pairs(a, b) * self.shell_volume(bin) / volume),
                );
            }
        }
        self.blocks.push(&values);
    }

    /// Returns the number of ordered pairs of two species.
    fn ordered_pairs(&self, a: usize, b: usize) -> f64 {
        let (one, other) = (self.particle_counts[a] as f64, self.particle_counts[b] as f64);
        if a == b { one * (one - 1.0) } else { 2.0 * one * other }
    }

    fn shell_volume(&self, bin: usize) -> f64 {
        4.0 / 3.0 * PI * (self.bins.lower(bin + 1).powi(3) - self.bins.lower(bin).powi(3))
    }

    fn g(&self, pair: usize, bin: usize) -> f64 {
        let (a, b) = pairs(self.particle_counts.len()).nth(pair).unwrap_or((0, 0));
        let expected = self.ordered_pairs(a, b) * self.shell_volume(bin) * self.inverse_volumes;
        self.counts[pair * self.bins.bins + bin] as f64 / expected
    }

    fn from_words(words: &mut impl Iterator<Item = u64>, kinds: usize, bins: usize) -> Option<Self> {
        let distance = f64::from_bits(words.next()?);
        let same = words.next()? == bins as u64 && words.next()? == kinds as u64 && distance > 0.0;
        same.then_some(())?;
        let (samples, inverse_volumes) = (words.next()?, f64::from_bits(words.next()?));
        let particle_counts: Vec<u64> = (0..kinds).map(|_| words.next()).collect::<Option<_>>()?;
        let width = pairs_of(kinds) * bins;
        let counts: Vec<u64> = (0..width).map(|_| words.next()).collect::<Option<_>>()?;
        let blocks = Blocking::from_words(words, width)?;
        Some(Self {
            bins: Bins { distance, bins },
            particle_counts,
            samples,
            inverse_volumes,
            counts,
            blocks,
        })
    }
}
