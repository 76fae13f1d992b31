//! All measurements of a run: their schedules, files and checkpoint data.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::displacement::MeanSquareDisplacement;
use super::files::replace_atomically;
use super::observe;
use super::radial_distribution::RadialDistribution;
use crate::Result;
use crate::comm::Communicator;
use crate::domain::Domain;
use crate::particles::Particles;
use crate::plan::Plan;
use crate::report;
use crate::snapshot::Table;
use crate::units::Units;

/// Shortest time between two writes of the files, which happen at measurements.
const WRITE_INTERVAL: Duration = Duration::from_secs(10);

const RADIAL: &str = "radial_distribution";
const DISPLACEMENT: &str = "mean_square_displacement";
const POSITIONS: &str = "mean_square_displacement_places";

/// The measurements of a run.
pub struct Measurements {
    /// Radial distribution function, if measured.
    pub radial_distribution: Option<RadialDistribution>,
    /// Mean square displacement, if measured.
    pub mean_square_displacement: Option<MeanSquareDisplacement>,
    directory: PathBuf,
    units: Units,
    written: Option<Instant>,
}

/// Whether a measurement is due at this step and time.
fn due(every_steps: u64, from_time: f64, step: u64, time: f64) -> bool {
    // a time within rounding of `from_time` has reached it
    step.is_multiple_of(every_steps) && time * (1.0 + 1e-12) >= from_time
}

impl Measurements {
    /// Creates empty measurements; the files go to `directory`.
    pub fn new(plan: &Plan, directory: &Path) -> Self {
        Self {
            radial_distribution: RadialDistribution::new(plan),
            mean_square_displacement: MeanSquareDisplacement::new(plan),
            directory: directory.to_owned(),
            units: plan.units,
            written: None,
        }
    }

    /// Resumes from the tables of a checkpoint. A measurement whose settings have changed starts anew, which
    /// is logged. Collective.
    pub fn resume(&mut self, comm: &Communicator, tables: &BTreeMap<String, Table>) {
        let words = |name: &str| -> Vec<u64> {
            comm.all_gather(tables.get(name).map_or(&[][..], |table| &table.words)).concat()
        };
        let mut restarted = Vec::new();
        if let Some(radial) = &mut self.radial_distribution
            && !radial.resume(&words(RADIAL))
        {
            restarted.push("radial-distribution");
        }
        if let Some(displacement) = &mut self.mean_square_displacement {
            let positions = tables.get(POSITIONS).cloned().unwrap_or_default();
            if !displacement.resume(comm, &words(DISPLACEMENT), &positions) {
                restarted.push("mean-square-displacement");
            }
        }
        for name in restarted.iter().filter(|_| comm.is_root()) {
            report::line(&format!("[measure.{name}] differs from that of the checkpoint: it begins anew"));
        }
    }

    /// Whether any measurement is due.
    pub fn due(&self, step: u64, time: f64) -> bool {
        self.radial_due(step, time) || self.displacement_due(step, time)
    }

    fn radial_due(&self, step: u64, time: f64) -> bool {
        let radial = self.radial_distribution.as_ref();
        radial.is_some_and(|radial| due(radial.plan.every_steps, radial.plan.from_time, step, time))
    }

    fn displacement_due(&self, step: u64, time: f64) -> bool {
        let displacement = self.mean_square_displacement.as_ref();
        displacement.is_some_and(|it| due(it.plan.every_steps, it.plan.from_time, step, time))
    }

    /// Performs the measurements that are due. Collective.
    ///
    /// # Errors
    /// An unsuitable box, or a file that cannot be written; on all ranks.
    pub fn measure(&mut self, domain: &Domain, particles: &Particles, step: u64, time: f64) -> Result<()> {
        let (radial, displacement) = (self.radial_due(step, time), self.displacement_due(step, time));
        if let Some(measured) = self.radial_distribution.as_mut().filter(|_| radial) {
            measured.measure(domain, particles).map_err(|error| error.at_step(step))?;
        }
        if let Some(measured) = self.mean_square_displacement.as_mut().filter(|_| displacement) {
            let wanted = measured.plan.viscosity.is_some();
            let seen =
                wanted.then(|| observe(&domain.comm, &domain.bx, particles, &self.units, step, time, 0.0));
            let temperature = seen.and_then(|seen| seen.molecular).map(|molecular| molecular.temperature);
            measured.measure(domain, particles, time, temperature);
        }
        // the root's clock decides, and the outcome is shared
        let fresh = self.written.is_some_and(|written| written.elapsed() < WRITE_INTERVAL);
        domain.comm.agree(if domain.comm.is_root() && !fresh { self.replace_files() } else { Ok(()) })
    }

    /// Writes the files as of now. Collective.
    ///
    /// # Errors
    /// A file that cannot be written; on all ranks.
    pub fn write(&mut self, comm: &Communicator) -> Result<()> {
        comm.agree(if comm.is_root() { self.replace_files() } else { Ok(()) })
    }

    fn replace_files(&mut self) -> Result<()> {
        let write_file = |name: &str, text: String| {
            replace_atomically(&self.directory.join(name), |file| file.write_all(text.as_bytes()))
        };
        if let Some(radial) = &self.radial_distribution {
            write_file("radial-distribution.csv", radial.csv())?;
        }
        if let Some(displacement) = &self.mean_square_displacement {
            write_file("mean-square-displacement.csv", displacement.csv())?;
            write_file("diffusion.csv", displacement.diffusion_csv())?;
        }
        self.written = Some(Instant::now());
        Ok(())
    }

    /// Returns this rank's rows of the checkpoint tables.
    pub fn tables(&self, comm: &Communicator) -> BTreeMap<String, Table> {
        let mut tables = BTreeMap::new();
        if let Some(radial) = &self.radial_distribution {
            let empty = Table { width: 1, words: Vec::new() };
            tables.insert(RADIAL.to_owned(), if comm.is_root() { radial.table() } else { empty });
        }
        if let Some(displacement) = &self.mean_square_displacement {
            let [sums, positions] = displacement.tables(comm);
            tables.extend([(DISPLACEMENT.to_owned(), sums), (POSITIONS.to_owned(), positions)]);
        }
        tables
    }

    /// Describes the results for the user, at the end of a run.
    pub fn summary(&self) -> Vec<String> {
        self.mean_square_displacement.as_ref().map_or_else(Vec::new, MeanSquareDisplacement::summary)
    }
}
