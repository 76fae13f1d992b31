//! The influence function of waves on a device.

use super::super::arguments::mesh_influence::MultiplyWavesArguments;
use super::super::arguments::{Input, Output};
use super::super::fourier::half;
use super::super::launch::THREADS;
use super::super::{Buffer, Device, Unit};
use crate::Result;
use crate::far::mesh::{Influence, Quantity};
use crate::pair::Precision;
use bytemuck::cast_slice;
use std::ops::Range;

/// The C++ type and the bytes of a mesh value.
pub(super) fn real(precision: Precision) -> (&'static str, usize) {
    match precision {
        Precision::Double => ("double", size_of::<f64>()),
        Precision::Mixed => ("float", size_of::<f32>()),
    }
}

/// Factors of waves `[kx][ky][kz]`: all kx, a range of ky, and the kz of a real transform.
#[derive(Debug)]
pub(super) struct WaveFactors {
    device: Device,
    influence: Influence,
    points: [usize; 3],
    rows: Range<usize>,
    precision: Precision,
    /// The factors of the potential and, once wanted, of the virial.
    potential: Buffer<u8>,
    virial: Option<Buffer<u8>>,
}

impl WaveFactors {
    /// The factors of the waves of a range of ky.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device's memory is too small.
    pub(super) fn new(
        device: &Device,
        influence: Influence,
        points: [usize; 3],
        rows: Range<usize>,
        precision: Precision,
    ) -> Result<Self> {
        let potential = Buffer::new(device, 0)?;
        let device = device.clone();
        let mut factors = Self { device, influence, points, rows, precision, potential, virial: None };
        factors.potential = factors.of(Quantity::Potential)?;
        Ok(factors)
    }

    /// Number of waves.
    pub(super) fn waves(&self) -> usize {
        self.points[0] * self.rows.len() * half(self.points[2])
    }

    /// Allocated bytes.
    pub(super) fn bytes(&self) -> usize {
        self.potential.bytes() + self.virial.as_ref().map_or(0, Buffer::bytes)
    }

    /// The factors of a quantity.
    fn of(&self, quantity: Quantity) -> Result<Buffer<u8>> {
        let points = self.points;
        let signed = |mode: usize, points: usize| match 2 * mode > points {
            true => mode as i64 - points as i64,
            false => mode as i64,
        };
        let mut values = Vec::with_capacity(self.waves());
        for x in 0..points[0] {
            for y in self.rows.clone() {
                for z in 0..half(points[2]) {
                    let modes = [signed(x, points[0]), signed(y, points[1]), z as i64];
                    values.push(self.influence.factor(modes, quantity));
                }
            }
        }
        match self.precision {
            Precision::Double => Buffer::from_host(&self.device, cast_slice(&values)),
            Precision::Mixed => {
                let single: Vec<f32> = values.iter().map(|&value| value as f32).collect();
                Buffer::from_host(&self.device, cast_slice(&single))
            }
        }
    }

    /// Provides the factors of a quantity.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device's memory is too small.
    pub(super) fn prepare(&mut self, quantity: Quantity) -> Result<()> {
        if quantity == Quantity::Virial && self.virial.is_none() {
            self.virial = Some(self.of(quantity)?);
        }
        Ok(())
    }

    /// Multiplies the waves by the factors of a quantity, which have been prepared.
    ///
    /// # Errors
    /// Those of the device.
    pub(super) fn multiply(&self, waves: &Buffer<u8>, quantity: Quantity) -> Result<()> {
        let influence = match (quantity, &self.virial) {
            (Quantity::Potential, _) => &self.potential,
            (Quantity::Virial, Some(virial)) => virial,
            (Quantity::Virial, None) => unreachable!("the factors have been prepared"),
        };
        let count = self.waves();
        let unit = Unit::new("mesh/influence.cu").with("HILBRIUM_REAL", real(self.precision).0);
        let arguments = MultiplyWavesArguments {
            waves: Output::cast(waves),
            influence: Input::cast(influence),
            count: count as u64,
        };
        let kernel = self.device.kernel(&unit)?;
        self.device.launch(&kernel, count.div_ceil(THREADS as usize), THREADS, &arguments)
    }
}
