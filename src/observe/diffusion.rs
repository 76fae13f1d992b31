//! Results of the mean square displacement: tables, diffusion coefficients, checkpoint data.

use std::f64::consts::PI;

use super::blocking::{Blocking, Estimate};
use super::displacement::{MeanSquareDisplacement, Origin, Sums};
use super::files::column_name;
use crate::comm::Communicator;
use crate::comm::distribution::rank_of;
use crate::report;
use crate::snapshot::Table;

/// Finite-size constant xi of a cubic box (Yeh & Hummer 2004, J. Phys. Chem. B 108, 15873).
const CUBIC: f64 = 2.837_297;

/// The diffusion coefficient of a species.
#[derive(Clone, Debug, PartialEq)]
pub struct Diffusion {
    /// Name of the species; empty if it is the only one.
    pub kind: String,
    /// The coefficient from the slopes of all complete windows, which are its `values`.
    pub coefficient: Estimate,
    /// The coefficient in an infinite system, with the deck's viscosity eta: D + xi k_B T / (6 pi eta L) (Yeh
    /// & Hummer 2004).
    pub corrected: Option<f64>,
}

impl MeanSquareDisplacement {
    /// Returns the diffusion coefficients by species.
    pub fn diffusion(&self) -> Vec<Diffusion> {
        let correction = self.plan.viscosity.map(|viscosity| {
            let (temperature, edge) = (self.sums.state.mean(0), self.sums.state.mean(1));
            CUBIC * self.units.boltzmann * temperature / (6.0 * PI * viscosity * edge)
        });
        let of = |(kind, name): (usize, &String)| {
            let coefficient = self.sums.diffusion.estimate(kind);
            let corrected = correction.map(|correction| coefficient.mean + correction);
            Diffusion { kind: name.clone(), coefficient, corrected }
        };
        self.kinds.iter().enumerate().map(of).collect()
    }

    /// Returns time, and mean square displacement along x, y and z, by lag from one interval on.
    pub fn values(&self, kind: usize) -> Vec<(f64, [f64; 3])> {
        let sums = &self.sums;
        let reached = sums.counts.iter().take_while(|&&count| count > 0).enumerate();
        reached
            .map(|(lag, &count)| {
                let first = (lag * self.kinds.len() + kind) * 3;
                let mean = |sum: f64| sum / count as f64;
                (mean(sums.times[lag]), [0, 1, 2].map(|c| mean(sums.squares[first + c])))
            })
            .collect()
    }

    /// Formats the table of displacements as CSV: a line per lag reached so far.
    pub fn csv(&self) -> String {
        let (time, area) = (self.units.name([0, 0, 1]), self.units.name([0, 2, 0]));
        let mut titles = vec![format!("time [{time}]"), "origins [1]".to_owned()];
        for kind in &self.kinds {
            for name in ["mean_square_displacement", "standard_error", "x", "y", "z"] {
                titles.push(format!("{} [{area}]", column_name(name, &[kind])));
            }
        }
        let values: Vec<_> = (0..self.kinds.len()).map(|kind| self.values(kind)).collect();
        let mut text = titles.join(",") + "\n";
        for lag in 0..values[0].len() {
            text += &format!("{:e},{}", values[0][lag].0, self.sums.counts[lag]);
            for (kind, values) in values.iter().enumerate() {
                let [x, y, z] = values[lag].1;
                let error = self.sums.curves.estimate(lag * self.kinds.len() + kind).standard_error;
                text += &format!(",{:e},{error:e},{x:e},{y:e},{z:e}", x + y + z);
            }
            text.push('\n');
        }
        text
    }

    /// Formats the table of diffusion coefficients as CSV: a line per species.
    pub fn diffusion_csv(&self) -> String {
        let (time, unit) = (self.units.name([0, 0, 1]), self.units.name([0, 2, -1]));
        let mut text = format!(
            "species,diffusion_coefficient [{unit}],standard_error [{unit}],windows [1],converged,\
             fit_from [{time}],fit_to [{time}],corrected_coefficient [{unit}]\n"
        );
        let last = self.sums.counts.last().zip(self.sums.times.last());
        let end = last.map_or(f64::NAN, |(&count, time)| time / count as f64);
        for Diffusion { kind, coefficient, corrected } in self.diffusion() {
            let name = if kind.is_empty() { "all" } else { &kind };
            let Estimate { mean, standard_error, values, converged, .. } = coefficient;
            text += &format!(
                "{name},{mean:e},{standard_error:e},{values},{converged},{:e},{end:e},{:e}\n",
                self.plan.fit_from,
                corrected.unwrap_or(f64::NAN)
            );
        }
        text
    }

    /// Describes the coefficients for the user.
    pub fn summary(&self) -> Vec<String> {
        let unit = self.units.name([0, 2, -1]);
        let describe = |found: Diffusion| {
            let of = if found.kind.is_empty() { String::new() } else { format!(" of {}", found.kind) };
            let Estimate { mean, standard_error, values, .. } = found.coefficient;
            if values == 0 {
                return format!("diffusion coefficient{of}: no window is full yet");
            }
            let corrected =
                found.corrected.map(|value| format!("; {} in an infinite system", report::rounded(value, 3)));
            format!(
                "diffusion coefficient{of}: {} +- {} {unit} from {values} windows{}",
                report::rounded(mean, 3),
                report::rounded(standard_error, 1),
                corrected.unwrap_or_default()
            )
        };
        self.diffusion().into_iter().map(describe).collect()
    }

    /// Returns the checkpoint data: sums and origins on the root, and the reference positions of this rank's
    /// particles.
    pub fn tables(&self, comm: &Communicator) -> [Table; 2] {
        let mut words = Vec::new();
        if comm.is_root() {
            let sums = &self.sums;
            words.extend([self.plan.lags, self.plan.stride, self.plan.every_steps, self.kinds.len() as u64]);
            words.extend([self.plan.fit_from.to_bits(), self.samples, self.origins.len() as u64]);
            words.extend(self.particle_counts.iter().chain(&sums.counts));
            words.extend(sums.times.iter().chain(&sums.squares).map(|value| value.to_bits()));
            [&sums.curves, &sums.diffusion, &sums.state]
                .iter()
                .for_each(|blocks| words.extend(blocks.to_words()));
            for origin in &self.origins {
                words.extend([origin.sample, origin.time.to_bits()]);
                words.extend(origin.times.iter().chain(&origin.curve).map(|value| value.to_bits()));
            }
        }
        let width = 2 + 3 * self.origins.len();
        let mut positions = Vec::with_capacity(self.by_id.ids.len() * width);
        for (k, (&id, &kind)) in self.by_id.ids.iter().zip(&self.by_id.kinds).enumerate() {
            positions.extend([id, kind as u64]);
            positions.extend(
                self.origins.iter().flat_map(|origin| [0, 1, 2].map(|c| origin.positions[c][k].to_bits())),
            );
        }
        [Table { width: 1, words }, Table { width, words: positions }]
    }

    /// Resumes from the data of [`Self::tables`]: the words of the root, and any share of the rows of all
    /// ranks. Returns false and starts anew if they belong to another measurement. Collective.
    pub fn resume(&mut self, comm: &Communicator, words: &[u64], positions: &Table) -> bool {
        if words.is_empty() {
            return true;
        }
        let known = self.read_words(&mut words.iter().copied());
        let width = 2 + 3 * self.origins.len();
        let mut fits = [u64::from(known.is_some() && positions.width == width)];
        comm.all_min(&mut fits);
        if fits == [0] {
            self.origins.clear();
            self.samples = 0;
            self.sums = Sums::new(self.plan.lags as usize, self.kinds.len());
            return false;
        }
        let mut outgoing = vec![Vec::new(); comm.size()];
        for row in positions.words.chunks_exact(width) {
            outgoing[rank_of(row[0], comm.size())].extend_from_slice(row);
        }
        let incoming = comm.all_to_all(&outgoing);
        let mut rows: Vec<&[u64]> = incoming.iter().flat_map(|words| words.chunks_exact(width)).collect();
        rows.sort_unstable_by_key(|row| row[0]);
        self.by_id.ids = rows.iter().map(|row| row[0]).collect();
        self.by_id.kinds = rows.iter().map(|row| (row[1] as usize).min(self.kinds.len() - 1)).collect();
        for (k, origin) in self.origins.iter_mut().enumerate() {
            for c in 0..3 {
                origin.positions[c] = rows.iter().map(|row| f64::from_bits(row[2 + 3 * k + c])).collect();
            }
        }
        true
    }

    /// Reads the words of the root; `None` if they belong to another measurement.
    fn read_words(&mut self, words: &mut impl Iterator<Item = u64>) -> Option<()> {
        let (lags, kinds) = (self.plan.lags as usize, self.kinds.len());
        let settings = [
            self.plan.lags,
            self.plan.stride,
            self.plan.every_steps,
            kinds as u64,
            self.plan.fit_from.to_bits(),
        ];
        for setting in settings {
            (words.next()? == setting).then_some(())?;
        }
        let (samples, origins) = (words.next()?, words.next()?);
        self.particle_counts = take_words(words, kinds)?;
        let counts = take_words(words, lags)?;
        let mut values =
            |count| Some(take_words(words, count)?.into_iter().map(f64::from_bits).collect::<Vec<f64>>());
        let (times, squares) = (values(lags)?, values(3 * lags * kinds)?);
        let curves = Blocking::from_words(words, lags * kinds)?;
        let diffusion = Blocking::from_words(words, kinds)?;
        let state = Blocking::from_words(words, 2)?;
        self.origins.clear();
        for _ in 0..origins.min(self.plan.lags) {
            let (sample, time) = (words.next()?, f64::from_bits(words.next()?));
            let followed = sample.checked_add(1).and_then(|next| samples.checked_sub(next));
            let followed = followed.filter(|&followed| followed < self.plan.lags)? as usize;
            let times = take_words(words, followed)?.into_iter().map(f64::from_bits).collect();
            let curve = take_words(words, followed * kinds)?.into_iter().map(f64::from_bits).collect();
            self.origins.push_back(Origin { sample, time, positions: Default::default(), times, curve });
        }
        self.samples = samples;
        self.sums = Sums { counts, times, squares, curves, diffusion, state };
        Some(())
    }
}

/// Takes `count` words.
fn take_words(words: &mut impl Iterator<Item = u64>, count: usize) -> Option<Vec<u64>> {
    (0..count).map(|_| words.next()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::observe::particles_by_id::ParticlesById;
    use crate::plan::MeanSquareDisplacementPlan;
    use crate::units::{UnitSystem, Units};

    fn measured() -> MeanSquareDisplacement {
        let plan = MeanSquareDisplacementPlan {
            lags: 4,
            stride: 1,
            every_steps: 1,
            from_time: 0.0,
            fit_from: 0.0,
            viscosity: None,
        };
        MeanSquareDisplacement {
            sums: Sums::new(plan.lags as usize, 1),
            plan,
            kinds: vec![String::new()],
            units: Units::new(UnitSystem::Reduced),
            particle_counts: vec![1],
            by_id: ParticlesById { ids: vec![7], kinds: vec![0] },
            samples: 0,
            origins: VecDeque::new(),
        }
    }

    /// A checkpoint with an impossible origin is treated as another measurement.
    #[test]
    fn an_impossible_origin_begins_anew() {
        let comm = Communicator::solo();
        let positions = [0, 1, 2].map(|_| vec![0.5]);
        for (samples, sample, goes_on) in [(1, 0, true), (1, 1, false), (9, 0, false), (0, u64::MAX, false)] {
            let mut written = measured();
            written.samples = samples;
            let origin =
                Origin { sample, time: 0.0, positions: positions.clone(), times: vec![], curve: vec![] };
            written.origins.push_back(origin);
            let [words, rows] = written.tables(&comm);
            let mut read = measured();
            assert_eq!(read.resume(&comm, &words.words, &rows), goes_on, "origin {sample} of {samples}");
            assert_eq!((read.samples, read.origins.len()), if goes_on { (1, 1) } else { (0, 0) });
        }
    }
}
