//! Potential of a mesh on a device: Fourier transforms by cuFFT on one rank, else on the hosts.

use super::super::arguments::mesh_influence::MultiplyWavesArguments;
use super::super::arguments::{Input, Output};
use super::super::cufft::{self, Transform};
use super::super::launch::THREADS;
use super::super::{Buffer, Device, Unit};
use crate::Result;
use crate::comm::Communicator;
use crate::far::mesh::MeshScalar;
use crate::far::mesh::brick::Brick;
use crate::far::mesh::{Influence, MeshPotential, MeshSettings, Quantity};
use crate::pair::Precision;
use crate::space::SimulationBox;
use bytemuck::cast_slice;

/// Convolution of a device's mesh with the influence function.
#[derive(Debug)]
pub struct DevicePotential {
    place: Place,
    influence: Influence,
    points: [usize; 3],
    precision: Precision,
    /// Why transforms run on the hosts, if they do.
    reason: Option<String>,
}

#[derive(Debug)]
enum Place {
    /// On the device.
    Device(Box<Waves>),
    /// On the hosts, in single precision.
    HostSingle(Box<MeshPotential<f32>>),
    /// On the hosts, in double precision.
    HostDouble(Box<MeshPotential<f64>>),
}

/// Transforms on a device.
#[derive(Debug)]
struct Waves {
    transform: Transform,
    waves: Buffer<u8>,
    /// Influence function of the potential and, once wanted, of the virial.
    potential: Buffer<u8>,
    virial: Option<Buffer<u8>>,
}

impl DevicePotential {
    /// A mesh with these settings over a periodic box. Transforms run on the device if there is one rank and
    /// cuFFT is installed. Collective.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device's memory is too small.
    pub fn new(
        device: &Device,
        comm: &Communicator,
        bx: &SimulationBox,
        settings: &MeshSettings,
        precision: Precision,
    ) -> Result<Self> {
        let influence = Influence::new(bx, settings);
        let points = settings.points;
        let transform = match comm.size() {
            1 => Transform::new(device, points, precision == Precision::Double)
                .map_err(|error| error.to_string()),
            ranks => Err(format!("the mesh of {ranks} ranks is distributed over hosts")),
        };
        let (place, reason) = match transform {
            Ok(transform) => {
                let potential = factors(device, &influence, points, precision, Quantity::Potential)?;
                let waves = Buffer::new(device, 2 * potential.len())?;
                (Place::Device(Box::new(Waves { transform, waves, potential, virial: None })), None)
            }
            Err(reason) => {
                let place = match precision {
                    Precision::Mixed => Place::HostSingle(Box::new(MeshPotential::new(comm, bx, settings))),
                    Precision::Double => Place::HostDouble(Box::new(MeshPotential::new(comm, bx, settings))),
                };
                (place, Some(reason))
            }
        };
        Ok(DevicePotential { place, influence, points, precision, reason })
    }

    /// Why the transforms run on the hosts; `None`: they run on the device.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// Replaces the charges of the mesh, of all ranks, by a quantity. Collective.
    ///
    /// # Errors
    /// Those of the device.
    pub fn convolve(&mut self, comm: &Communicator, mesh: &mut Buffer<u8>, quantity: Quantity) -> Result<()> {
        match &mut self.place {
            Place::HostSingle(potential) => on_host(potential, comm, mesh, self.points, quantity),
            Place::HostDouble(potential) => on_host(potential, comm, mesh, self.points, quantity),
            Place::Device(waves) => {
                let device = mesh.device().clone();
                if quantity == Quantity::Virial && waves.virial.is_none() {
                    let factors = factors(&device, &self.influence, self.points, self.precision, quantity)?;
                    waves.virial = Some(factors);
                }
                let influence = match (quantity, &waves.virial) {
                    (Quantity::Virial, Some(virial)) => virial,
                    _ => &waves.potential,
                };
                waves.transform.forward(mesh.at(0), waves.waves.at(0))?;
                let count = cufft::waves(self.points);
                let double = self.precision == Precision::Double;
                let unit = Unit::new("mesh/influence.cu")
                    .with("HILBRIUM_REAL", if double { "double" } else { "float" });
                let arguments = MultiplyWavesArguments {
                    waves: Output::cast(&waves.waves),
                    influence: Input::cast(influence),
                    count: count as u64,
                };
                let kernel = device.kernel(&unit)?;
                device.launch(&kernel, count.div_ceil(THREADS as usize), THREADS, &arguments)?;
                waves.transform.inverse(waves.waves.at(0), mesh.at(0))
            }
        }
    }
}

/// The influence function of all waves, in the order of cuFFT.
fn factors(
    device: &Device,
    influence: &Influence,
    points: [usize; 3],
    precision: Precision,
    quantity: Quantity,
) -> Result<Buffer<u8>> {
    let signed = |mode: usize, points: usize| match 2 * mode > points {
        true => mode as i64 - points as i64,
        false => mode as i64,
    };
    let mut values = Vec::with_capacity(cufft::waves(points));
    for x in 0..points[0] {
        for y in 0..points[1] {
            for z in 0..=points[2] / 2 {
                let modes = [signed(x, points[0]), signed(y, points[1]), z as i64];
                values.push(influence.factor(modes, quantity));
            }
        }
    }
    match precision {
        Precision::Double => Buffer::from_host(device, cast_slice(&values)),
        Precision::Mixed => {
            let single: Vec<f32> = values.iter().map(|&value| value as f32).collect();
            Buffer::from_host(device, cast_slice(&single))
        }
    }
}

/// Convolves on the hosts.
fn on_host<S: MeshScalar>(
    potential: &mut MeshPotential<S>,
    comm: &Communicator,
    mesh: &mut Buffer<u8>,
    points: [usize; 3],
    quantity: Quantity,
) -> Result<()> {
    let mut brick = Brick::whole(points);
    mesh.download_to(0, bytemuck::cast_slice_mut(&mut brick.values))?;
    potential.convolve(comm, &mut brick, quantity);
    mesh.upload(cast_slice(&brick.values))
}
