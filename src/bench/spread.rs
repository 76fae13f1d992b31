//! `bench spread`: construction and spreading of particles onto a mesh by each method, for one and for many
//! spreadings of a configuration, and interpolation; on processors and on a GPU.

mod contender;
mod device;
mod processors;
mod row;

use super::{Cell, Common, Findings, Table};
use crate::far::mesh::Window;
use crate::pair::Precision;
use crate::particles::{Field, Particles};
use crate::space::{Boundary, SimulationBox, Vec3d};
use crate::{Error, Result};
use contender::{Contender, Figure};
use rand::{RngExt as _, SeedableRng};
use rand_chacha::ChaCha8Rng;
use row::{COLUMNS, Case};

/// Options of `bench spread`.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Particles are uniformly distributed in a cube and ordered along the Hilbert curve. A\n\
    spreading adds p^3 numbers per particle to the mesh, and clears the mesh before, where the method\n\
    requires that.\n\
    Construction is what a method prepares once for a configuration of particles. Rates are additions\n\
    per second of one construction with 1 and with 20 spreadings, and without construction (many).\n\
    Interpolation is that of forces, on processors also of potentials; its rate counts p^3 points per\n\
    particle.\n\
    \n\
    The floor of one spreading is the larger of two times: p^3 fused multiply-adds per particle on all\n\
    lanes; and 32 bytes per particle and the mesh at the measured rate of a copy. That of interpolation\n\
    has 2 p^3 fused multiply-adds, and 80 bytes per particle (56 on processors) and the mesh. On a GPU\n\
    lanes issue at the given clock, and the copy is one of device memory. On processors the rate of\n\
    fused multiply-adds is measured on one core and multiplied by the threads, and the copy is one by all\n\
    threads of as many bytes, from caches if they hold them. There each addition also loads and stores\n\
    its sum: \"cached sums\" below the table is the measured rate of such additions in the first-level\n\
    cache of a core, a bound of all methods that do not keep sums in registers.\n\
    \n\
    Rows without times are matrices that exceed the device's memory. The row `processors` is what runs\n\
    without a GPU do; without one the table has only such rows. Sizes, order, distribution and figures\n\
    are those of Guo et al. 2015 (doi 10.1016/j.procs.2015.05.210)."
)]
pub struct Options {
    /// Mesh points per dimension, comma-separated [default: 32,64,128,256, or those of the figure]
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u64).range(8..=1024))]
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
    #[arg(long, value_delimiter = ',', value_parser = contender::named)]
    method: Vec<Contender>,
    /// Compare what a figure of Guo et al. 2015 compares
    #[arg(long, value_enum, conflicts_with = "method")]
    figure: Option<Figure>,
    /// What spreads: processors, a GPU, or all that there is
    #[arg(long, value_enum, default_value_t = Spreaders::All)]
    device: Spreaders,
    /// Clock of the device's multiprocessors, for the floor of instructions (GHz)
    #[arg(long, default_value_t = 1.755, value_parser = clock)]
    clock: f64,
}

/// What spreads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Spreaders {
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

fn clock(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(clock) if (0.1..=10.0).contains(&clock) => Ok(clock),
        _ => Err("a clock is between 0.1 and 10 GHz".into()),
    }
}

impl Options {
    /// What is compared, on processors and on a device.
    fn contenders(&self) -> Vec<Contender> {
        let chosen = match self.figure {
            Some(figure) => figure.contenders(),
            None if self.method.is_empty() => contender::all(),
            None => self.method.clone(),
        };
        let wanted = |contender: &Contender| match self.device {
            Spreaders::All => true,
            Spreaders::Cpu => *contender == Contender::Processors,
            Spreaders::Cuda => *contender != Contender::Processors,
        };
        chosen.into_iter().filter(wanted).collect()
    }

    /// The meshes, in the order of rows, for each number of particles.
    fn cases(&self, particles: u64) -> Vec<Case> {
        let points = match (self.points.is_empty(), self.figure) {
            (false, _) => self.points.clone(),
            (true, Some(figure)) => vec![figure.points()],
            (true, None) => vec![32, 64, 128, 256],
        };
        let of_points = |points| {
            self.precision.iter().map(move |numbers| Case {
                points: points as usize,
                particles: particles as usize,
                order: self.order as usize,
                precision: numbers.precision(),
            })
        };
        points.into_iter().flat_map(of_points).collect()
    }

    fn window(&self) -> Window {
        Window::b_spline(self.order as usize)
    }
}

/// Repetitions of each time.
const REPEATS: u64 = 11;

/// Runs the benchmark.
pub(super) fn measure(options: &Options, common: &Common) -> Result<Findings> {
    let mut table = Table::new(COLUMNS);
    let mut findings = Findings::default();
    let contenders = options.contenders();
    let on_processors = contenders.contains(&Contender::Processors);
    let on_device: Vec<Contender> =
        contenders.into_iter().filter(|&contender| contender != Contender::Processors).collect();
    if !on_processors && on_device.is_empty() {
        return Err(Error::usage(
            "the chosen methods and the chosen device exclude each other",
            "use --device all",
        ));
    }
    if on_processors {
        findings.remarks.extend(processors::measure(options, common, &mut table));
    }
    if !on_device.is_empty() {
        match device::open() {
            Ok(device) => {
                findings.remarks.extend(device::measure(&device, &on_device, options, common, &mut table)?);
            }
            // processors have their rows
            Err(_) if on_processors && options.device == Spreaders::All => {
                findings.remarks.push(("device", Cell::text("none is present")));
            }
            Err(error) => return Err(error),
        }
    }
    findings.tables.push(table);
    if let Some(figure) = options.figure {
        findings.remarks.push(("figure", Cell::count(figure.number())));
    }
    findings
        .remarks
        .extend([("order", Cell::count(options.order)), ("repeats", Cell::count(common.repeats(REPEATS)))]);
    Ok(findings)
}

/// The box of the particles.
fn cube() -> SimulationBox {
    SimulationBox { lower: Vec3d::zeros(), upper: Vec3d::repeat(1.0), boundary: [Boundary::Periodic; 3] }
}

/// Uniformly distributed charges, in random order.
fn particles(count: usize) -> Particles {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut particles = Particles::new(&[Field::Position, Field::Charge, Field::Force], count);
    for row in 0..count {
        particles.set_vector(Field::Position, row, Vec3d::from_fn(|_, _| random.random()));
        particles.scalar_mut(Field::Charge)[row] = if row % 2 == 0 { 1.0 } else { -1.0 };
    }
    particles
}
