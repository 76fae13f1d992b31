//! Packed rows, the input of sweeps on a device (kernels/pair/pack.cu).

use super::arguments::Input;
use super::arguments::packed::PackedRows;
use super::{Buffer, Device, Unit};
use crate::Result;
use crate::neighbors::{CLUSTER, SUPER_CLUSTER};
use crate::pair::law::{Columns, Cutoff};
use crate::pair::{PairLaw, Precision};

/// Compile-time choices of a law's kernels and the resulting sizes, as in kernels/pair/law.cuh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Bytes of a number of the pair arithmetic.
    pub real: usize,
    /// Whether each pair is evaluated once and added to both particles (half lists).
    pub symmetric: bool,
    /// Stride of sums between rows, in numbers.
    pub stride: usize,
    /// Groups of four prepared values a row beside the position.
    pub groups: usize,
    /// Whether each row has its own cutoff.
    pub own_radius: bool,
}

impl Shape {
    /// The shape of a law.
    pub fn of<L: PairLaw>(precision: Precision, symmetric: bool) -> Self {
        let prepared = <L::Prepared<f64> as Columns<f64>>::COUNT;
        let with_position = usize::from(L::CUTOFF != Cutoff::Either && prepared > 0);
        let sums = L::SUMS.len();
        Shape {
            real: if precision == Precision::Double { size_of::<f64>() } else { size_of::<f32>() },
            symmetric,
            stride: if sums <= 2 { sums } else { sums.next_multiple_of(4) },
            groups: (prepared - with_position).div_ceil(4),
            own_radius: L::CUTOFF == Cutoff::Own,
        }
    }

    /// The C++ type of the pair arithmetic.
    pub fn number(&self) -> &'static str {
        if self.real == size_of::<f64>() { "double" } else { "float" }
    }

    /// The unit of a kernel file for a law of this shape; `number` is the C++ type of its arithmetic.
    pub fn unit<L: PairLaw>(&self, law: &L, file: &'static str, number: &str) -> Unit {
        let cutoff = match L::CUTOFF {
            Cutoff::Own => 0,
            Cutoff::Either => 1,
            Cutoff::Common => 2,
        };
        Unit::new(file)
            .with("HILBRIUM_LAW", L::namespace())
            .with("HILBRIUM_LAW_HEADER", format!("\"../laws/{}.cuh\"", L::namespace()))
            .with("HILBRIUM_CONSTANTS", format!("{{{}}}", law.constants()))
            .with("HILBRIUM_REAL", number)
            .with("HILBRIUM_SYMMETRIC", u8::from(self.symmetric))
            .with("HILBRIUM_CUTOFF", cutoff)
            .with_header("HILBRIUM_DEFINITIONS", definitions(law))
            .with("HILBRIUM_FIRST_SUM", L::FIRST_COLUMN)
            .with("HILBRIUM_SUM_COUNT", L::SUMS.len())
    }
}

/// The definitions that a law's constants need, as a header; empty if there are none.
fn definitions<L: PairLaw>(law: &L) -> String {
    let text = law.device_definitions();
    if text.is_empty() {
        text
    } else {
        format!("namespace hilbrium {{\n\n{text}\n}} // namespace hilbrium\n")
    }
}

/// Packed rows in memory that all laws share.
#[derive(Debug)]
pub struct Packed {
    /// Number of rows, rounded up to whole super-clusters.
    pub rows: usize,
    /// Offsets from super-clusters' centers, with the squared radius or the first prepared value.
    pub position: Buffer<u8>,
    /// Further prepared values, in groups of four.
    pub further: Buffer<u8>,
    /// Squared radii, if each row has its own cutoff.
    pub squared_radius: Buffer<u8>,
    /// Centers and half widths of super-clusters.
    pub frame: Buffer<f64>,
    /// Boxes of clusters about the centers of their super-clusters, and their largest radii.
    pub boxes: Buffer<[f32; 8]>,
}

impl Packed {
    /// No rows.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device has failed.
    pub fn new(device: &Device) -> Result<Self> {
        Ok(Self {
            rows: 0,
            position: Buffer::new(device, 0)?,
            further: Buffer::new(device, 0)?,
            squared_radius: Buffer::new(device, 0)?,
            frame: Buffer::new(device, 0)?,
            boxes: Buffer::new(device, 0)?,
        })
    }

    /// Sizes the buffers for `rows` rows of a shape; the contents are lost.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when the device's memory is too small.
    pub fn resize(&mut self, rows: usize, shape: &Shape) -> Result<()> {
        let four = 4 * shape.real;
        self.rows = rows.next_multiple_of(SUPER_CLUSTER);
        self.position.resize(self.rows * four)?;
        self.further.resize(self.rows * four * shape.groups)?;
        self.squared_radius.resize(if shape.own_radius { self.rows * shape.real } else { 0 })?;
        self.frame.resize(self.super_clusters() * 6)?;
        self.boxes.resize(self.rows / CLUSTER)
    }

    /// The arguments of sweeps.
    pub(super) fn arguments(&self) -> PackedRows {
        PackedRows {
            position: Input::cast(&self.position),
            further: Input::cast(&self.further),
            squared_radius: Input::cast(&self.squared_radius),
            frame: (&self.frame).into(),
            boxes: Input::cast(&self.boxes),
            rows: self.rows as u64,
        }
    }

    /// Number of super-clusters.
    pub fn super_clusters(&self) -> usize {
        self.rows / SUPER_CLUSTER
    }

    /// Allocated bytes.
    pub fn bytes(&self) -> usize {
        let rows = self.position.bytes() + self.further.bytes() + self.squared_radius.bytes();
        rows + self.frame.bytes() + self.boxes.bytes()
    }
}
