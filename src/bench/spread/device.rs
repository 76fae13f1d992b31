//! The rows of `bench spread` for methods on a device.

use super::super::{Cell, Common, Remark, Table, median_value};
use super::contender::Contender;
use super::row::{Case, Floors, Times};
use super::{Options, REPEATS, cube, particles};
use crate::device::columns::Columns;
use crate::device::mesh::{DeviceSpreader, InterpolationTarget, MeshParticles, Method, Variant};
use crate::device::order::Order;
use crate::device::{self, Buffer, Device, cuda};
use crate::far::mesh::Window;
use crate::pair::Precision;
use crate::particles::Field;
use crate::{Error, Result};

/// Bytes per particle of an interpolation: position and value read, force read and written.
const INTERPOLATED_BYTES: f64 = 80.0;

/// Opens the emulation if it is asked for, else the first GPU.
pub fn open() -> Result<Device> {
    match device::is_emulated() {
        true => Device::emulated(),
        false if cuda::count() == 0 => {
            Err(Error::usage("there is no GPU", "use --device cpu, without --figure or with --figure 8"))
        }
        false => Device::cuda(0),
    }
}

/// Measures all cases. Returns what holds for all rows.
pub fn measure(
    device: &Device,
    contenders: &[Contender],
    options: &Options,
    common: &Common,
    table: &mut Table,
) -> Result<Vec<Remark>> {
    let (window, bandwidth) = (options.window(), bandwidth(device)?);
    let repeats = common.repeats(REPEATS);
    for &particles in &options.particles {
        let columns = columns(device, particles as usize)?;
        for case in options.cases(particles) {
            let floors = floors(device, &case, options.clock, bandwidth);
            let bench = Bench { device, window: &window, repeats, case: &case, columns: &columns };
            for &contender in contenders {
                if let Contender::Device(method, variant) = contender {
                    let times = bench.times(method, variant)?;
                    table.push(case.row(contender, times.map(|times| (times, floors))));
                }
            }
        }
    }
    Ok(vec![
        ("device", Cell::text(device.name())),
        ("device_gigabytes_per_second", Cell::Number(1e-9 * bandwidth, 1)),
    ])
}

/// The least times of a case. `clock` is in GHz, `bandwidth` in bytes per second.
fn floors(device: &Device, case: &Case, clock: f64, bandwidth: f64) -> Floors {
    let lanes = if case.precision == Precision::Double { 64.0 } else { 128.0 };
    let fused = f64::from(device.multiprocessors()) * lanes * clock * 1e9;
    case.floors(fused, [bandwidth; 2], INTERPOLATED_BYTES)
}

/// A case on a device.
struct Bench<'a> {
    device: &'a Device,
    window: &'a Window,
    repeats: usize,
    case: &'a Case,
    columns: &'a Columns,
}

impl Bench<'_> {
    /// The median device time (s) of a task, after one warm-up run.
    fn seconds(&self, mut task: impl FnMut() -> Result<()>) -> Result<f64> {
        task()?;
        let all: Result<Vec<f64>> = (0..self.repeats).map(|_| self.device.time(&mut task)).collect();
        Ok(median_value(all?))
    }

    /// The times of a method; `None` if memory does not suffice.
    fn times(&self, method: Method, variant: Option<Variant>) -> Result<Option<Times>> {
        let Bench { device, window, case, columns, .. } = self;
        let particles = MeshParticles { position: columns.vector(Field::Position), rows: columns.owned() };
        let new = DeviceSpreader::new(device, &case.geometry(), window, case.precision, method)?;
        let mut spreader = match variant {
            Some(variant) => new.with_variant(variant),
            None => new,
        };
        let Some(construct) = self.construct(&mut spreader, &particles)? else { return Ok(None) };
        let mut mesh = Buffer::new(device, spreader.mesh_bytes())?;
        let values = columns.scalar(Field::Charge);
        let spread = self.seconds(|| spreader.spread(&particles, values, &mut mesh))?;
        let target = InterpolationTarget {
            weights: Some(values),
            force: Some(columns.vector(Field::Force)),
            force_factor: 1.0,
            potential: None,
            potential_factor: 0.0,
        };
        let interpolate = match (method, variant) {
            (Method::Particles | Method::Tiles, None) => {
                Some(self.seconds(|| spreader.interpolate(&particles, &mesh, &target))?)
            }
            _ => None,
        };
        Ok(Some(Times { construct, spread, interpolate, bytes: Some(spreader.bytes()) }))
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

/// The particles, ordered along the Hilbert curve.
fn columns(device: &Device, count: usize) -> Result<Columns> {
    let particles = particles(count);
    let mut columns = Columns::upload(device, &particles, particles.fields())?;
    Order::new(device)?.sync(&cube(), &mut columns)?;
    Ok(columns)
}
