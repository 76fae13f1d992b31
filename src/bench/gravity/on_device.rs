//! `bench gravity --device cuda`.

use super::super::{Cell, Column, Common, Findings, Table};
use super::{Numbers, Options, experiment, interpolated};
use crate::Result;
use crate::comm::Communicator;
use crate::device::exchange::Exchange;
use crate::device::gravity::{Gravity, MassColumns, UnitScales};
use crate::device::{self, Buffer, Device};
use crate::far::GravityPlan;
use crate::far::accuracy::Experiment;
use crate::pair::Precision;

/// Columns of a device's table.
const ON_DEVICE: &[Column] = &[
    ("particles", "distribution"),
    ("expansion", "expansion"),
    ("opening angle", "opening_angle"),
    ("precision", "precision"),
    ("error rms", "error_rms"),
    ("median", "error_median"),
    ("99 %", "error_99_percent"),
    ("largest", "error_largest"),
    ("of energy", "error_of_energy"),
    ("ms", "milliseconds"),
    ("1e6 particles per s", "million_particles_per_second"),
    ("points", "points_per_super_cluster"),
    ("near", "near_nodes_per_super_cluster"),
    ("far", "far_nodes_per_super_cluster"),
];

const ON_DEVICE_AT_ERROR: &[Column] = &[
    ("particles", "distribution"),
    ("expansion", "expansion"),
    ("precision", "precision"),
    ("error rms", "error_rms"),
    ("opening angle", "opening_angle"),
    ("ms", "milliseconds"),
    ("1e6 particles per s", "million_particles_per_second"),
];

/// Measures a GPU, or its emulation.
///
/// # Errors
/// Those of the device.
pub(super) fn measure(options: &Options, common: &Common) -> Result<Findings> {
    let device = if device::is_emulated() { Device::emulated()? } else { Device::cuda(0)? };
    let repeats = common.repeats(7);
    let (mut table, mut at_error) = (Table::new(ON_DEVICE), Table::named("at_error", ON_DEVICE_AT_ERROR));
    for &sphere in &options.distribution {
        let experiment = experiment(options, sphere);
        for (precision, order) in options
            .precision
            .iter()
            .flat_map(|precision| options.expansion.iter().map(move |order| (precision, order)))
        {
            let names = [
                Cell::text(format!("{sphere:?}").to_lowercase()),
                Cell::text(format!("{order:?}").to_lowercase()),
                Cell::text(format!("{precision:?}").to_lowercase()),
            ];
            let mut curve = Vec::new();
            for &opening_angle in &options.opening_angle {
                let plan =
                    GravityPlan { opening_angle, expansion: order.expansion(), ..GravityPlan::default() };
                let found = DeviceMeasurement::of(&device, &experiment, &plan, *precision, repeats)?;
                let rate = options.particles as f64 / found.seconds * 1e-6;
                curve.push([found.error[0], opening_angle, found.seconds, rate]);
                let mut row = names.to_vec();
                row.insert(2, Cell::Number(opening_angle, 2));
                row.extend(found.error.map(Cell::Error));
                row.extend([
                    Cell::Error(found.energy_error),
                    Cell::Number(found.seconds * 1e3, 3),
                    Cell::Number(rate, 0),
                ]);
                row.extend(found.met.map(|count| Cell::Number(count, 0)));
                table.push(row);
            }
            for &error in &options.error {
                if let Some([angle, seconds, rate]) = interpolated(&curve, error) {
                    let mut row = names.to_vec();
                    row.extend([
                        Cell::Error(error),
                        Cell::Number(angle, 3),
                        Cell::Number(seconds * 1e3, 3),
                        Cell::Number(rate, 0),
                    ]);
                    at_error.push(row);
                }
            }
        }
    }
    let remarks = vec![
        ("particles", Cell::count(options.particles)),
        ("repeats", Cell::count(repeats)),
        ("device", Cell::text(device.name())),
    ];
    Ok(Findings { tables: vec![table, at_error], remarks })
}

/// Gravity of an experiment's particles on a device.
struct DeviceMeasurement {
    error: [f64; 4],
    energy_error: f64,
    /// Median time of multipoles and walk.
    seconds: f64,
    /// Particles, near and far nodes of a super-cluster, on average.
    met: [f64; 3],
}

impl DeviceMeasurement {
    fn of(
        device: &Device,
        experiment: &Experiment,
        plan: &GravityPlan,
        precision: Numbers,
        repeats: usize,
    ) -> Result<Self> {
        let (kernel, softening) = experiment.softening();
        let plan = GravityPlan { kernel, softening, ..*plan };
        let precision = match precision {
            Numbers::Mixed => Precision::Mixed,
            Numbers::Double => Precision::Double,
        };
        let particles = experiment.particles();
        let rows = particles.len();
        let column = |k: usize| {
            Buffer::from_host(device, &particles.iter().map(|particle| particle[k]).collect::<Vec<f64>>())
        };
        let (x, y, z, mass) = (column(0)?, column(1)?, column(2)?, column(3)?);
        let id = Buffer::from_host(device, &(0..rows as u64).collect::<Vec<u64>>())?;
        let massive = MassColumns { position: [&x, &y, &z], mass: &mass, id: &id };
        let zeros = || Buffer::from_host(device, &vec![0.0; rows]);
        let results = [zeros()?, zeros()?, zeros()?, zeros()?];
        let [ax, ay, az, potential] = &results;
        let exchange = Exchange::new(device, &Communicator::solo())?;
        let largest = particles.iter().flat_map(|particle| &particle[..3]);
        let length = 2.0 * largest.fold(0.0, |most: f64, value| most.max(value.abs()));
        let scales = UnitScales { length, mass: particles.iter().map(|particle| particle[3]).sum() };
        let mut gravity = Gravity::new(device, &plan, precision)?;
        let mut run = || gravity.run(&exchange, &massive, 0..rows, scales, [ax, ay, az], potential);
        run()?;
        let [ax, ay, az, potential] = [ax.download()?, ay.download()?, az.download()?, potential.download()?];
        let (error, energy_error) = experiment.compare(|row| [ax[row], ay[row], az[row], potential[row]]);
        let mut seconds = (0..repeats).map(|_| device.time(&mut run)).collect::<Result<Vec<f64>>>()?;
        seconds.sort_by(f64::total_cmp);
        let met = gravity.interaction_counts()?;
        let each = |count: u64| count as f64 / met.groups.max(1) as f64;
        let met = [each(met.points), each(met.near), each(met.far)];
        Ok(Self { error, energy_error, seconds: seconds[repeats / 2], met })
    }
}
