//! Potential of a mesh over ranks with a device each: Fourier transforms on the devices, else on the hosts.

use super::super::exchange::Exchange;
use super::super::fourier::{RealTransform, half};
use super::super::{Buffer, Device};
use super::distributed::{DistributedWaves, SlabTransforms};
use super::influence::{WaveFactors, real};
use super::slabs::Slabs;
use super::{DeviceSpreader, MeshParticles};
use crate::Result;
use crate::comm::Communicator;
use crate::far::mesh::MeshScalar;
use crate::far::mesh::brick::Brick;
use crate::far::mesh::{Influence, MeshPotential, MeshSettings, Quantity};
use crate::pair::Precision;
use crate::space::SimulationBox;
use bytemuck::{cast_slice, cast_slice_mut};

/// Convolution of a device's mesh with the influence function.
#[derive(Debug)]
pub struct DevicePotential {
    place: Place,
    points: [usize; 3],
    /// Why transforms run on the hosts, if they do.
    reason: Option<String>,
}

#[derive(Debug)]
enum Place {
    /// On the device of the only rank.
    Device(Box<Waves>),
    /// On the devices of several ranks.
    Devices(Box<DistributedWaves>),
    /// On the hosts, in single precision.
    HostSingle(Box<MeshPotential<f32>>),
    /// On the hosts, in double precision.
    HostDouble(Box<MeshPotential<f64>>),
}

/// Transforms on the device of the only rank.
#[derive(Debug)]
struct Waves {
    transform: RealTransform,
    waves: Buffer<u8>,
    factors: WaveFactors,
}

impl Waves {
    fn convolve(&mut self, mesh: &Buffer<u8>, quantity: Quantity) -> Result<()> {
        self.factors.prepare(quantity)?;
        self.transform.forward(mesh.at(0), self.waves.at(0))?;
        self.factors.multiply(&self.waves, quantity)?;
        self.transform.inverse(self.waves.at(0), mesh.at(0))
    }
}

impl DevicePotential {
    /// A mesh with these settings over a periodic box. Transforms run on the devices if all of them have
    /// cuFFT or are emulated, else on the hosts. Collective.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the memory of a device is too small.
    pub fn new(
        device: &Device,
        exchange: &Exchange,
        bx: &SimulationBox,
        settings: &MeshSettings,
        precision: Precision,
    ) -> Result<Self> {
        let comm = exchange.comm();
        let (influence, points) = (Influence::new(bx, settings), settings.points);
        let place = if comm.size() == 1 {
            RealTransform::of_mesh(device, points, precision == Precision::Double).map(|transform| {
                let waves = points[0] * points[1] * half(points[2]);
                let waves = Buffer::new(device, waves * 2 * real(precision).1)?;
                let factors = WaveFactors::new(device, influence, points, 0..points[1], precision)?;
                Ok(Place::Device(Box::new(Waves { transform, waves, factors })))
            })
        } else {
            let (slabs, rank) = (Slabs { points, ranks: comm.size() }, comm.rank());
            comm.agree_on(SlabTransforms::new(device, &slabs, rank, precision)).map(|transforms| {
                let waves = DistributedWaves::new(device, slabs, rank, transforms, influence, precision);
                comm.agree_on(waves).map(|waves| Place::Devices(Box::new(waves)))
            })
        };
        match place {
            Ok(place) => Ok(DevicePotential { place: place?, points, reason: None }),
            Err(error) => Ok(Self::on_hosts(comm, bx, settings, precision, error.to_string())),
        }
    }

    /// As [`Self::new`], with transforms on the hosts for a reason. Collective.
    pub fn on_hosts(
        comm: &Communicator,
        bx: &SimulationBox,
        settings: &MeshSettings,
        precision: Precision,
        reason: String,
    ) -> Self {
        let place = match precision {
            Precision::Mixed => Place::HostSingle(Box::new(MeshPotential::new(comm, bx, settings))),
            Precision::Double => Place::HostDouble(Box::new(MeshPotential::new(comm, bx, settings))),
        };
        DevicePotential { place, points: settings.points, reason: Some(reason) }
    }

    /// Why the transforms run on the hosts; `None`: they run on the devices.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// Allocated bytes on the device.
    pub fn bytes(&self) -> usize {
        match &self.place {
            Place::Device(waves) => waves.transform.bytes() + waves.waves.bytes() + waves.factors.bytes(),
            Place::Devices(waves) => waves.bytes(),
            Place::HostSingle(_) | Place::HostDouble(_) => 0,
        }
    }

    /// Replaces the charges of all ranks by a quantity. `mesh` has [`DeviceSpreader::mesh_bytes`] bytes: what
    /// `spreader` has spread of particles of this rank, all of them among `particles`. Afterwards it has the
    /// quantity at the points on which `particles` spread; on several ranks, other points have no meaning.
    /// Collective.
    ///
    /// # Errors
    /// Those of the device, on all ranks.
    pub fn convolve(
        &mut self,
        exchange: &Exchange,
        spreader: &DeviceSpreader,
        particles: &MeshParticles,
        mesh: &mut Buffer<u8>,
        quantity: Quantity,
    ) -> Result<()> {
        assert_eq!(mesh.len(), spreader.mesh_bytes(), "the bytes of the mesh");
        let comm = exchange.comm();
        match &mut self.place {
            Place::Device(waves) => waves.convolve(mesh, quantity),
            Place::Devices(waves) => waves.convolve(exchange, spreader, particles, mesh, quantity),
            Place::HostSingle(potential) => on_host(potential, comm, mesh, self.points, quantity),
            Place::HostDouble(potential) => on_host(potential, comm, mesh, self.points, quantity),
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
    comm.agree(mesh.download_to(0, cast_slice_mut(&mut brick.values)))?;
    potential.convolve(comm, &mut brick, quantity);
    comm.agree(mesh.upload(cast_slice(&brick.values)))
}
