//! The long-range part of gravity in a periodic box on a device.

use super::super::Buffer;
use super::super::exchange::Exchange;
use super::super::mesh::{DeviceMesh, InterpolationTarget, MeshParticles, Reproducibility};
use super::super::reduction::Vector;
use super::MassColumns;
use crate::Result;
use crate::far::GravityPlan;
use crate::far::long_range::PeriodicSettings;
use crate::far::mesh::{MeshSettings, Quantity};
use crate::far::split::Split;
use crate::pair::Precision;
use crate::space::SimulationBox;
use std::ops::Range;

/// A periodic box, its force split and its mesh.
#[derive(Debug)]
pub(super) struct LongRange {
    /// The box.
    pub bx: SimulationBox,
    settings: PeriodicSettings,
    mesh: DeviceMesh,
}

impl LongRange {
    /// The mesh for all ranks' `rows`, which have no ghosts; `previous` if it suits. `None` in an open box.
    /// Collective.
    ///
    /// # Errors
    /// On all ranks if there is one on any: [`crate::Error::Usage`] in a box that is periodic in some
    /// dimensions only, [`crate::Error::Device`] when the device's memory is too small.
    pub fn prepare(
        previous: Option<Self>,
        exchange: &Exchange,
        (plan, precision): (&GravityPlan, Precision),
        bx: &SimulationBox,
        rows: &Range<usize>,
    ) -> Result<Option<Self>> {
        if !bx.any_periodic() {
            return Ok(None);
        }
        let mut particles = [rows.len() as u64];
        exchange.comm().all_sum(&mut particles);
        let settings = PeriodicSettings::new(plan, bx, particles[0])?;
        if let Some(previous) = previous
            && previous.bx == *bx
            && previous.settings == settings
        {
            return Ok(Some(previous));
        }
        let PeriodicSettings { points, order, split } = settings;
        let of_mesh = MeshSettings { points, order, splitting: split.splitting };
        let mesh = DeviceMesh::new(exchange, bx, &of_mesh, precision, Reproducibility::Bitwise)?;
        Ok(Some(LongRange { bx: *bx, settings, mesh }))
    }

    /// The force split.
    pub fn split(&self) -> &Split {
        &self.settings.split
    }

    /// Adds the accelerations and potentials of the mesh, for this gravitational constant. Collective.
    ///
    /// # Errors
    /// On all ranks if there is one on any: those of the device.
    pub fn add(
        &mut self,
        exchange: &Exchange,
        constant: f64,
        massive: &MassColumns,
        rows: &Range<usize>,
        (acceleration, potential): (Vector, &Buffer<f64>),
    ) -> Result<()> {
        let particles = MeshParticles { position: massive.position, rows: rows.clone() };
        let target = InterpolationTarget {
            weights: None,
            force: Some(acceleration),
            force_factor: -constant,
            potential: Some(potential),
            potential_factor: -constant,
        };
        let added = self.mesh.add(exchange, &particles, massive.mass, Quantity::Potential, &target);
        exchange.comm().agree(added)
    }

    /// Allocated bytes on the device.
    pub fn bytes(&self) -> usize {
        self.mesh.bytes()
    }
}
