//! `bench gravity`: time of the tree walk and its error against direct summation, on processors or a GPU.

mod on_device;

use super::{Cell, Column, Common, Findings, Table};
use crate::Result;
use crate::far::accuracy::{Distribution, Experiment};
use crate::far::periodic_accuracy::{PeriodicDistribution, PeriodicExperiment};
use crate::far::{Expansion, GravityPlan, SofteningKernel};

/// Options of `bench gravity`.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Errors are those of the force, relative to direct summation, of point masses. Pairs and nodes are\n\
    the interactions of a particle with particles and with nodes of the tree. The second table gives the\n\
    cost of an rms error: opening angle and time are interpolated between the measured angles, linearly\n\
    in the logarithms; there is no row if the error is outside of the measured range. The third table\n\
    compares a periodic cube at the program's default settings with an open box of the same particles.\n\
    Its errors are those of the force, relative to the rms force, of Ewald sums. With --device cuda there\n\
    are the first two tables; times are those of the device, and far nodes act on a super-cluster of 64\n\
    particles or a group of eight of them through local expansions."
)]
pub struct Options {
    /// Number of particles
    #[arg(long, default_value_t = 65_465, value_parser = clap::value_parser!(u64).range(200..1_000_000_000))]
    particles: u64,
    /// Distributions of the particles, comma-separated
    #[arg(long, value_enum, value_delimiter = ',', default_value = "plummer,evrard")]
    distribution: Vec<Sphere>,
    /// Orders of the expansion, comma-separated
    #[arg(long, value_enum, value_delimiter = ',', default_value = "quadrupole,octupole")]
    expansion: Vec<Order>,
    /// Precisions, comma-separated
    #[arg(long, value_enum, value_delimiter = ',', default_value = "mixed,double")]
    precision: Vec<Numbers>,
    /// Opening angles, comma-separated
    #[arg(long, value_delimiter = ',', default_value = "0.3,0.5,0.7,1.0", value_parser = angle)]
    opening_angle: Vec<f64>,
    /// The rms errors whose cost is interpolated, comma-separated
    #[arg(long, value_delimiter = ',', default_value = "2e-4", value_parser = error)]
    error: Vec<f64>,
    /// Number of particles compared with direct summation
    #[arg(long, default_value_t = 4000, value_parser = clap::value_parser!(u64).range(1..1_000_000))]
    compared: u64,
    /// Where gravity is computed
    #[arg(long, value_enum, default_value = "cpu")]
    device: Place,
}

/// Where gravity is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Place {
    /// Processors
    Cpu,
    /// A GPU
    Cuda,
}

/// A sphere of point masses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Sphere {
    /// Plummer sphere, with a dense center
    Plummer,
    /// Evrard sphere, density 1 / r
    Evrard,
}

/// Order of the expansion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Order {
    /// Up to quadrupoles
    Quadrupole,
    /// Up to octupoles
    Octupole,
}

/// Precision of the lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Numbers {
    /// Single-precision lanes on offsets from double-precision frames
    Mixed,
    /// Double-precision lanes
    Double,
}

fn angle(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(angle) if (0.05..=2.0).contains(&angle) => Ok(angle),
        _ => Err("an opening angle lies between 0.05 and 2".into()),
    }
}

fn error(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(error) if error > 0.0 && error < 1.0 => Ok(error),
        _ => Err("an error lies between 0 and 1".into()),
    }
}

const COLUMNS: &[Column] = &[
    ("particles", "distribution"),
    ("expansion", "expansion"),
    ("opening angle", "opening_angle"),
    ("precision", "precision"),
    ("error rms", "error_rms"),
    ("median", "error_median"),
    ("99 %", "error_99_percent"),
    ("largest", "error_largest"),
    ("of energy", "error_of_energy"),
    ("pairs", "pairs_per_particle"),
    ("nodes", "nodes_per_particle"),
    ("us per particle", "microseconds_per_particle"),
    ("1e9 interactions per s", "billion_interactions_per_second"),
];

const PERIODIC: &[Column] = &[
    ("particles", "distribution"),
    ("precision", "precision"),
    ("error rms", "error_rms"),
    ("largest", "error_largest"),
    ("pairs", "pairs_per_particle"),
    ("nodes", "nodes_per_particle"),
    ("us per particle", "microseconds_per_particle"),
    ("of the mesh", "mesh_microseconds_per_particle"),
    ("open pairs", "open_pairs_per_particle"),
    ("open nodes", "open_nodes_per_particle"),
    ("open us per particle", "open_microseconds_per_particle"),
    ("over open", "ratio"),
];

/// Largest number of particles compared with Ewald sums, each of which takes as long as some ten direct sums.
const MOST_EWALD_SUMS: u64 = 400;

const AT_ERROR: &[Column] = &[
    ("particles", "distribution"),
    ("expansion", "expansion"),
    ("precision", "precision"),
    ("error rms", "error_rms"),
    ("opening angle", "opening_angle"),
    ("us per particle", "microseconds_per_particle"),
    ("1e9 interactions per s", "billion_interactions_per_second"),
    ("s in all", "seconds"),
];

impl Sphere {
    fn distribution(self) -> Distribution {
        match self {
            Sphere::Plummer => Distribution::Plummer,
            Sphere::Evrard => Distribution::Evrard,
        }
    }
}

impl Order {
    fn expansion(self) -> Expansion {
        match self {
            Order::Quadrupole => Expansion::Quadrupole,
            Order::Octupole => Expansion::Octupole,
        }
    }
}

fn experiment(options: &Options, sphere: Sphere) -> Experiment {
    let (particles, compared) = (options.particles as usize, options.compared as usize);
    Experiment::new(sphere.distribution(), particles, compared, (SofteningKernel::Plummer, 0.0))
}

/// Measures all combinations of distribution, expansion, precision and opening angle.
///
/// # Errors
/// Those of a device.
pub(super) fn measure(options: &Options, common: &Common) -> Result<Findings> {
    match options.device {
        Place::Cpu => Ok(on_processors(options, common)),
        Place::Cuda => on_device::measure(options, common),
    }
}

/// Measures processors.
fn on_processors(options: &Options, common: &Common) -> Findings {
    let (mut table, mut at_error) = (Table::new(COLUMNS), Table::named("at_error", AT_ERROR));
    let repeats = common.repeats(5);
    for sphere in &options.distribution {
        let experiment = experiment(options, *sphere);
        for precision in &options.precision {
            for order in &options.expansion {
                let expansion = order.expansion();
                let mut curve = Vec::new();
                let names = [
                    Cell::text(format!("{sphere:?}").to_lowercase()),
                    Cell::text(format!("{order:?}").to_lowercase()),
                    Cell::text(format!("{precision:?}").to_lowercase()),
                ];
                for &opening_angle in &options.opening_angle {
                    let plan = GravityPlan { opening_angle, expansion, ..GravityPlan::default() };
                    let found = experiment.measure(&plan, repeats, *precision == Numbers::Double);
                    let [pairs, nodes] = found.interactions_per_particle();
                    let rate = found.interactions_per_second() * 1e-9;
                    curve.push([found.error[0], opening_angle, found.seconds, rate]);
                    let mut row = names.to_vec();
                    row.insert(2, Cell::Number(opening_angle, 2));
                    row.extend(found.error.map(Cell::Error));
                    row.extend([
                        Cell::Error(found.energy_error),
                        Cell::Number(pairs, 0),
                        Cell::Number(nodes, 0),
                        Cell::Number(found.seconds * 1e6 / options.particles as f64, 3),
                        Cell::Number(rate, 2),
                    ]);
                    table.push(row);
                }
                for (error, [angle, seconds, rate]) in
                    options.error.iter().filter_map(|&error| Some((error, interpolated(&curve, error)?)))
                {
                    let mut row = names.to_vec();
                    row.extend([
                        Cell::Error(error),
                        Cell::Number(angle, 3),
                        Cell::Number(seconds * 1e6 / options.particles as f64, 3),
                        Cell::Number(rate, 2),
                        Cell::Number(seconds, 4),
                    ]);
                    at_error.push(row);
                }
            }
        }
    }
    let remarks = vec![("particles", Cell::count(options.particles)), ("repeats", Cell::count(repeats))];
    Findings { tables: vec![table, at_error, periodic(options, repeats)], remarks }
}

/// Measures periodic cubes at the default settings, beside open boxes.
fn periodic(options: &Options, repeats: usize) -> Table {
    let mut table = Table::named("periodic", PERIODIC);
    let (particles, compared) = (options.particles as usize, options.compared.min(MOST_EWALD_SUMS) as usize);
    for distribution in [PeriodicDistribution::Poisson, PeriodicDistribution::Clustered] {
        let experiment = PeriodicExperiment::new(distribution, [1.0; 3], particles, compared);
        for precision in &options.precision {
            let double = *precision == Numbers::Double;
            let Ok(found) = experiment.beside_open(&GravityPlan::default(), repeats, double) else {
                continue;
            };
            let each = |seconds: f64| Cell::Number(seconds * 1e6 / particles as f64, 3);
            let per_particle = |count: u64| Cell::Number(count as f64 / particles as f64, 0);
            let all = found.periodic.seconds + found.mesh_seconds;
            table.push(vec![
                Cell::text(format!("{distribution:?}").to_lowercase()),
                Cell::text(format!("{precision:?}").to_lowercase()),
                Cell::Error(found.periodic.error),
                Cell::Error(found.periodic.largest),
                per_particle(found.periodic.statistics.pairs),
                per_particle(found.periodic.statistics.nodes),
                each(all),
                each(found.mesh_seconds),
                per_particle(found.open_statistics.pairs),
                per_particle(found.open_statistics.nodes),
                each(found.open_seconds),
                Cell::Number(all / found.open_seconds, 2),
            ]);
        }
    }
    table
}

/// Interpolates the other quantities of a curve at this error, linearly in the logarithms; `None` outside of
/// the measured range.
fn interpolated(curve: &[[f64; 4]], error: f64) -> Option<[f64; 3]> {
    let mut curve = curve.to_vec();
    curve.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let [below, above] = curve.windows(2).find_map(|pair| {
        let [below, above] = [pair[0], pair[1]];
        (below[0] <= error && error <= above[0]).then_some([below, above])
    })?;
    let width = (above[0] / below[0]).ln();
    let share = if width > 0.0 { (error / below[0]).ln() / width } else { 0.0 };
    Some([1, 2, 3].map(|k| below[k] * (above[k] / below[k]).powf(share)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_interpolated_exactly_and_nothing_is_extrapolated() {
        let at = |error: f64| [error, error.powf(0.25), 2.0 * error.powf(-0.5), 3.0];
        let curve = [at(1e-3), at(1e-5), at(1e-4)];
        for error in [1e-5, 2e-5, 2e-4, 1e-3] {
            let found = interpolated(&curve, error).unwrap();
            for (found, expected) in found.iter().zip(&at(error)[1..]) {
                assert!((found / expected - 1.0).abs() < 1e-12, "{error}: {found} {expected}");
            }
        }
        assert!(interpolated(&curve, 9e-6).is_none() && interpolated(&curve, 2e-3).is_none());
        assert!(interpolated(&[], 1e-3).is_none() && interpolated(&[at(1e-3)], 1e-3).is_none());
        assert_eq!(interpolated(&[at(1e-3), at(1e-3)], 1e-3).unwrap()[2], 3.0);
    }
}
