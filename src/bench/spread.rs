//! `bench spread`: construction and spreading of particles onto a mesh by each method, for one and for many
//! spreadings of a configuration, and interpolation.

use super::{Cell, Column, Common, Findings, Table, median_value};
use crate::device::columns::Columns;
use crate::device::mesh::{DeviceSpreader, InterpolationTarget, MeshParticles, Method};
use crate::device::order::Order;
use crate::device::{self, Buffer, Device, cuda};
use crate::far::mesh::{MeshGeometry, Window};
use crate::pair::Precision;
use crate::particles::{Field, Particles};
use crate::space::{Boundary, SimulationBox, Vec3d};
use crate::{Error, Result};
use rand::{RngExt as _, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Options of `bench spread`.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Particles are uniformly distributed in a cube and ordered along the Hilbert curve. A spreading adds\n\
    p^3 numbers per particle to the mesh, and clears the mesh before, where the method requires that.\n\
    Construction is what a method prepares once for a configuration of particles. Rates are additions\n\
    per second of one construction with 1 and with 20 spreadings, and without construction (many). The\n\
    floor of one spreading is the larger of two times: 32 bytes per particle and the mesh at the\n\
    measured rate of a copy in device memory; and p^3 fused multiply-adds per particle on all lanes of\n\
    the device at the given clock. Rows without times are matrices that exceed the device's memory.\n\
    Sizes, order and distribution are those of Guo et al. 2015 (doi 10.1016/j.procs.2015.05.210),\n\
    figures 7 to 9."
)]
pub struct Options {
    /// Mesh points per dimension, comma-separated
    #[arg(long, value_delimiter = ',', default_value = "32,64,128,256",
          value_parser = clap::value_parser!(u64).range(8..=1024))]
    points: Vec<u64>,
    /// Numbers of particles, comma-separated
    #[arg(long, value_delimiter = ',', default_value = "1000,10000,100000,1000000,10000000",
          value_parser = clap::value_parser!(u64).range(1..1_000_000_000))]
    particles: Vec<u64>,
    /// Order of the B-splines
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u64).range(4..=8))]
    order: u64,
    /// Precisions of the mesh, comma-separated
    #[arg(long, value_enum, value_delimiter = ',', default_value = "mixed")]
    precision: Vec<Numbers>,
    /// Methods by their names in the table with hyphens for spaces, comma-separated [default: all]
    #[arg(long, value_delimiter = ',', value_parser = method)]
    method: Vec<Method>,
    /// What spreads: processors, a GPU, or all that there is
    #[arg(long, value_enum, default_value_t = Spreader::All)]
    device: Spreader,
    /// Clock of the device's multiprocessors, for the floor of instructions (GHz)
    #[arg(long, default_value_t = 1.755, value_parser = clock)]
    clock: f64,
}

/// What spreads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Spreader {
    /// Processors, and a GPU if there is one
    All,
    /// Processors
    Cpu,
    /// A GPU
    Cuda,
}

/// Precision of the mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Numbers {
    /// Single precision
    Mixed,
    /// Double precision
    Double,
}

impl Numbers {
    fn precision(self) -> Precision {
        match self {
            Numbers::Mixed => Precision::Mixed,
            Numbers::Double => Precision::Double,
        }
    }
}

/// The name of a method on the command line.
fn option(method: Method) -> String {
    method.name().replace(',', "").replace(' ', "-")
}

fn method(text: &str) -> Result<Method, String> {
    let found = Method::ALL.into_iter().find(|&method| option(method) == text);
    found.ok_or_else(|| format!("one of {}", Method::ALL.map(option).join(", ")))
}

fn clock(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(clock) if (0.1..=10.0).contains(&clock) => Ok(clock),
        _ => Err("a clock is between 0.1 and 10 GHz".into()),
    }
}

const COLUMNS: &[Column] = &[
    ("points", "points_per_dimension"),
    ("particles", "particles"),
    ("precision", "precision"),
    ("additions per point", "additions_per_point"),
    ("method", "method"),
    ("construct ms", "construct_milliseconds"),
    ("spread ms", "spread_milliseconds"),
    ("interpolate ms", "interpolate_milliseconds"),
    ("1e9 additions per s, once", "billion_additions_per_second_once"),
    ("20 times", "billion_additions_per_second_of_twenty"),
    ("many", "billion_additions_per_second_of_many"),
    ("floor ms", "floor_milliseconds"),
    ("% of floor, once", "percent_of_floor_once"),
    ("many", "percent_of_floor_of_many"),
    ("bytes per particle", "bytes_per_particle"),
];

/// Runs the benchmark.
pub(super) fn measure(options: &Options, common: &Common) -> Result<Findings> {
    let mut table = Table::new(COLUMNS);
    let mut findings = Findings::default();
    if options.device != Spreader::Cuda {
        // processors
    }
    if options.device != Spreader::Cpu {
        match open() {
            Ok(device) => {
                let bench = Bench::new(&device, options, common)?;
                bench.all(&mut table)?;
                findings.remarks.extend([
                    ("device", Cell::text(device.name())),
                    ("device_gigabytes_per_second", Cell::Number(1e-9 * bench.bandwidth, 1)),
                ]);
            }
            Err(error) if options.device == Spreader::Cuda => return Err(error),
            Err(_) => findings.remarks.push(("device", Cell::text("none is present"))),
        }
    }
    findings.tables.push(table);
    findings
        .remarks
        .extend([("order", Cell::count(options.order)), ("repeats", Cell::count(common.repeats(REPEATS)))]);
    Ok(findings)
}

const REPEATS: u64 = 11;

/// Opens the emulation if it is asked for, else the first GPU.
fn open() -> Result<Device> {
    match device::is_emulated() {
        true => Device::emulated(),
        false if cuda::count() == 0 => Err(Error::usage("there is no GPU", "use --device cpu")),
        false => Device::cuda(0),
    }
}

/// The benchmark on a device.
struct Bench<'a> {
    device: &'a Device,
    options: &'a Options,
    repeats: usize,
    window: Window,
    /// Bytes per second of a copy, read and written ones.
    bandwidth: f64,
}

/// Particles, their number and what they receive.
struct Configuration<'a> {
    columns: &'a Columns,
    points: usize,
    precision: Precision,
}

impl Configuration<'_> {
    fn particles(&self) -> MeshParticles<'_> {
        MeshParticles { position: self.columns.vector(Field::Position), rows: self.columns.owned() }
    }
}

impl<'a> Bench<'a> {
    fn new(device: &'a Device, options: &'a Options, common: &Common) -> Result<Self> {
        let window = Window::b_spline(options.order as usize);
        let bandwidth = bandwidth(device)?;
        Ok(Self { device, options, repeats: common.repeats(REPEATS), window, bandwidth })
    }

    fn all(&self, table: &mut Table) -> Result<()> {
        for &particles in &self.options.particles {
            let columns = columns(self.device, particles as usize)?;
            for (&points, numbers) in
                self.options.points.iter().flat_map(|k| self.options.precision.iter().map(move |p| (k, p)))
            {
                let configuration = Configuration {
                    columns: &columns,
                    points: points as usize,
                    precision: numbers.precision(),
                };
                for &method in self.methods() {
                    let row = self.row(&configuration, method)?;
                    table.push(row);
                }
            }
        }
        Ok(())
    }

    fn methods(&self) -> &[Method] {
        if self.options.method.is_empty() { &Method::ALL } else { &self.options.method }
    }

    /// The median device time (s) of a task, after one warm-up run.
    fn seconds(&self, mut task: impl FnMut() -> Result<()>) -> Result<f64> {
        task()?;
        let all: Result<Vec<f64>> = (0..self.repeats).map(|_| self.device.time(&mut task)).collect();
        Ok(median_value(all?))
    }

    /// Time (s) that one spreading takes at least.
    fn floor(&self, configuration: &Configuration, mesh_bytes: usize) -> f64 {
        let particles = configuration.columns.owned().len() as f64;
        let bytes = particles * 32.0 + mesh_bytes as f64;
        let lanes = if configuration.precision == Precision::Double { 64.0 } else { 128.0 };
        let rate = f64::from(self.device.multiprocessors()) * lanes * self.options.clock * 1e9;
        let additions = particles * (self.window.order() as f64).powi(3);
        f64::max(bytes / self.bandwidth, additions / rate)
    }

    fn row(&self, configuration: &Configuration, method: Method) -> Result<Vec<Cell>> {
        let precision = configuration.precision;
        let geometry = MeshGeometry::new([configuration.points; 3], &cube());
        let particles = configuration.particles();
        let count = particles.rows.len();
        let additions = count as f64 * (self.window.order() as f64).powi(3);
        let mut row = vec![
            Cell::count(configuration.points),
            Cell::count(count),
            Cell::text(if precision == Precision::Double { "double" } else { "mixed" }),
            Cell::Number(additions / geometry.len() as f64, 2),
            Cell::text(method.name()),
        ];
        let mut spreader = DeviceSpreader::new(self.device, &geometry, &self.window, precision, method)?;
        let Some(construct) = self.construct(&mut spreader, &particles)? else {
            row.resize(COLUMNS.len(), Cell::Nothing);
            return Ok(row);
        };
        let mut mesh = Buffer::new(self.device, spreader.mesh_bytes())?;
        let values = configuration.columns.scalar(Field::Charge);
        let spread = self.seconds(|| spreader.spread(&particles, values, &mut mesh))?;
        let target = InterpolationTarget {
            weights: Some(values),
            force: Some(configuration.columns.vector(Field::Force)),
            force_factor: 1.0,
            potential: None,
            potential_factor: 0.0,
        };
        let interpolate = match method {
            Method::Particles | Method::Tiles => {
                let seconds = self.seconds(|| spreader.interpolate(&particles, &mesh, &target))?;
                Cell::Number(1e3 * seconds, 4)
            }
            _ => Cell::Nothing,
        };
        let floor = self.floor(configuration, spreader.mesh_bytes());
        let rate = |seconds: f64| Cell::Number(1e-9 * additions / seconds, 1);
        row.extend([
            Cell::Number(1e3 * construct, 4),
            Cell::Number(1e3 * spread, 4),
            interpolate,
            rate(construct + spread),
            rate(construct / 20.0 + spread),
            rate(spread),
            Cell::Number(1e3 * floor, 4),
            Cell::Number(100.0 * floor / (construct + spread), 1),
            Cell::Number(100.0 * floor / spread, 1),
            Cell::Number(spreader.bytes() as f64 / count as f64, 1),
        ]);
        Ok(row)
    }

    /// Time of a construction (s), 0 without one; `None` if memory does not suffice.
    fn construct(&self, spreader: &mut DeviceSpreader, particles: &MeshParticles) -> Result<Option<f64>> {
        if spreader.method() == Method::Particles {
            return Ok(Some(0.0));
        }
        match spreader.construct(particles) {
            Ok(()) => self.seconds(|| spreader.construct(particles)).map(Some),
            // an error of a kernel would recur here
            Err(Error::Device { .. }) => self.device.synchronize().map(|()| None),
            Err(error) => Err(error),
        }
    }
}

/// The bytes per second that a copy reads and writes.
fn bandwidth(device: &Device) -> Result<f64> {
    const BYTES: usize = 1 << 28;
    let bytes = if device::is_emulated() { BYTES >> 6 } else { BYTES };
    let (from, mut to) = (Buffer::<u8>::zeros(device, bytes)?, Buffer::<u8>::zeros(device, bytes)?);
    let times: Result<Vec<f64>> = (0..5).map(|_| device.time(|| to.copy_from(0, &from))).collect();
    Ok(2.0 * bytes as f64 / median_value(times?))
}

/// The box of the particles.
fn cube() -> SimulationBox {
    SimulationBox { lower: Vec3d::zeros(), upper: Vec3d::repeat(1.0), boundary: [Boundary::Periodic; 3] }
}

/// Uniformly distributed charges, ordered along the Hilbert curve.
fn columns(device: &Device, count: usize) -> Result<Columns> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut particles = Particles::new(&[Field::Position, Field::Charge, Field::Force], count);
    for row in 0..count {
        particles.set_vector(Field::Position, row, Vec3d::from_fn(|_, _| random.random()));
        particles.scalar_mut(Field::Charge)[row] = if row % 2 == 0 { 1.0 } else { -1.0 };
    }
    let mut columns = Columns::upload(device, &particles, particles.fields())?;
    Order::new(device)?.sync(&cube(), &mut columns)?;
    Ok(columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_have_names_on_the_command_line() {
        for each in Method::ALL {
            assert_eq!(method(&option(each)), Ok(each));
        }
        assert_eq!(option(Method::OrderedTiles), "ordered-tiles");
        assert!(method("tile").unwrap_err().contains("single-mesh-no-weights"));
    }
}
