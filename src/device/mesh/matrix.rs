//! Spreading by a stored sparse matrix: single, group and hybrid mesh (kernels/mesh/single.cu, group.cu,
//! hybrid.cu).

use super::super::arguments::mesh_group::{
    CountGroupsArguments, InsertGroupsArguments, MultiplyGroupsArguments,
};
use super::super::arguments::mesh_hybrid::{
    FindExcessArguments, InsertHybridArguments, MultiplyExcessArguments, MultiplyRectangleArguments,
};
use super::super::arguments::mesh_single::{
    CountPointsArguments, InsertPointsArguments, MultiplyRowsArguments,
};
use super::super::arguments::{Input, Output};
use super::super::launch::{THREADS, WARP};
use super::super::scan::Scan;
use super::super::{Buffer, Device, Unit};
use super::{Mesh, MeshParticles, Records, Weights};
use crate::{Error, Result};

/// Mesh points of a group.
const GROUP: usize = 64;

/// Arrangement of the entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Compressed rows.
    Single,
    /// Compressed groups of 64 rows.
    Group,
    /// A rectangle and a list.
    Hybrid,
}

/// The spreading matrix.
#[derive(Debug)]
pub(super) struct Matrix {
    layout: Layout,
    weights: Weights,
    records: Records,
    scan: Scan,
    /// Entries not yet inserted, of each row or group.
    counts: Buffer<u32>,
    /// First entry of each row or group; of the list of each row (hybrid).
    starts: Buffer<u64>,
    entries: Entries,
    /// Points within groups.
    places: Buffer<u8>,
    /// Entries beyond the rectangle: their number by row, points, and columns and weights.
    excess_counts: Buffer<u32>,
    excess_points: Buffer<u32>,
    excess: Entries,
    /// Lanes per row of the product.
    lanes: usize,
    /// Entries per row of the rectangle.
    width: usize,
}

/// Columns and weights.
#[derive(Debug)]
struct Entries {
    columns: Buffer<u32>,
    weights: Buffer<u8>,
}

impl Entries {
    fn new(device: &Device) -> Result<Self> {
        Ok(Self { columns: Buffer::new(device, 0)?, weights: Buffer::new(device, 0)? })
    }

    fn resize(&mut self, count: usize, mesh: &Mesh, weights: Weights) -> Result<()> {
        self.columns.resize(count)?;
        self.weights.resize(if weights == Weights::Stored { count * mesh.real() } else { 0 })
    }

    fn bytes(&self) -> usize {
        self.columns.bytes() + self.weights.bytes()
    }
}

/// Lanes per row of the product for this mean number of entries per row: the rule of Guo et al. 2015.
fn lanes_of(mean: f64) -> usize {
    match mean {
        _ if mean >= 16.0 => 16,
        _ if mean < 1.0 => 1,
        _ => 1 << mean.log2().floor() as u32,
    }
}

/// An error if `needed` bytes exceed the `free` ones.
fn check_memory(needed: usize, free: u64) -> Result<()> {
    if needed as u64 <= free {
        return Ok(());
    }
    Err(Error::device(
        format!("the stored spreading matrix takes {needed} bytes, and {free} bytes of memory are free"),
        "spread by tiles, store no weights, or use fewer particles",
    ))
}

impl Matrix {
    /// Without particles.
    ///
    /// # Errors
    /// Those of the device.
    pub(super) fn new(device: &Device, layout: Layout, weights: Weights) -> Result<Self> {
        Ok(Self {
            layout,
            weights,
            records: Records::new(device)?,
            scan: Scan::new(device)?,
            counts: Buffer::new(device, 0)?,
            starts: Buffer::new(device, 0)?,
            entries: Entries::new(device)?,
            places: Buffer::new(device, 0)?,
            excess_counts: Buffer::new(device, 0)?,
            excess_points: Buffer::new(device, 0)?,
            excess: Entries::new(device)?,
            lanes: 1,
            width: 1,
        })
    }

    /// Allocated bytes.
    pub(super) fn bytes(&self) -> usize {
        let words = self.counts.bytes() + self.excess_counts.bytes() + self.excess_points.bytes();
        let entries = self.entries.bytes() + self.excess.bytes() + self.places.bytes();
        self.records.bytes() + words + self.starts.bytes() + entries
    }

    /// The unit of a file with this matrix's macros.
    fn unit(&self, file: &'static str, mesh: &Mesh) -> Unit {
        let unit = mesh.unit(file).with("HILBRIUM_STORED", u8::from(self.weights == Weights::Stored));
        match file {
            "mesh/single.cu" => unit.with("HILBRIUM_LANES", self.lanes),
            _ => unit,
        }
    }

    /// Refuses `count` entries of this many bytes each, and `others` bytes, if they do not fit.
    fn check(&self, mesh: &Mesh, count: usize, bytes: usize, others: usize) -> Result<()> {
        let of_weight = if self.weights == Weights::Stored { mesh.real() } else { 0 };
        let needed = count.saturating_mul(bytes + of_weight).saturating_add(others);
        let (free, _) = mesh.device.memory()?;
        check_memory(needed, free.saturating_add(self.bytes() as u64))
    }

    /// Builds the matrix.
    ///
    /// # Errors
    /// [`Error::Device`] when the matrix exceeds the free memory, or with the error of a kernel.
    pub(super) fn construct(&mut self, mesh: &Mesh, particles: &MeshParticles) -> Result<()> {
        let (count, points) = (particles.rows.len(), mesh.geometry.len());
        let entries = count * mesh.window.order().pow(3);
        let mean = entries as f64 / points as f64;
        self.lanes = lanes_of(mean);
        self.width = (mean.ceil() as usize).max(1);
        // counts and starts of points, and records
        let others = points * 20 + count * 4 * mesh.real();
        match self.layout {
            Layout::Single => self.check(mesh, entries, size_of::<u32>(), others)?,
            Layout::Group => self.check(mesh, entries, size_of::<u32>() + 1, others)?,
            Layout::Hybrid => self.check(mesh, points * self.width, size_of::<u32>(), others)?,
        }
        self.records.find(mesh, particles)?;
        self.counts.resize(if self.layout == Layout::Group { points.div_ceil(GROUP) } else { points })?;
        self.counts.fill_bytes(0)?;
        match self.layout {
            Layout::Single => self.construct_single(mesh, count, entries),
            Layout::Group => self.construct_group(mesh, count, entries),
            Layout::Hybrid => self.construct_hybrid(mesh, count, entries),
        }
    }

    fn count_points(&mut self, mesh: &Mesh, count: usize, entries: usize) -> Result<()> {
        let arguments = CountPointsArguments {
            geometry: mesh.parameters(),
            records: self.records.input(),
            count: count as u32,
            counts: (&self.counts).into(),
        };
        mesh.launch(&self.unit("mesh/single.cu", mesh), entries, THREADS, &arguments)
    }

    fn construct_single(&mut self, mesh: &Mesh, count: usize, entries: usize) -> Result<()> {
        self.count_points(mesh, count, entries)?;
        self.scan.sums(&self.counts, &mut self.starts)?;
        self.entries.resize(entries, mesh, self.weights)?;
        let arguments = InsertPointsArguments {
            geometry: mesh.parameters(),
            records: self.records.input(),
            count: count as u32,
            counts: (&self.counts).into(),
            starts: (&self.starts).into(),
            columns: (&self.entries.columns).into(),
            weights: Output::cast(&self.entries.weights),
        };
        mesh.launch(&self.unit("mesh/single.cu", mesh), entries, THREADS, &arguments)
    }

    fn construct_group(&mut self, mesh: &Mesh, count: usize, entries: usize) -> Result<()> {
        let unit = self.unit("mesh/group.cu", mesh);
        let lines = count * mesh.window.order().pow(2);
        let counting = CountGroupsArguments {
            geometry: mesh.parameters(),
            records: self.records.input(),
            count: count as u32,
            counts: (&self.counts).into(),
        };
        mesh.launch(&unit, lines, THREADS, &counting)?;
        self.scan.sums(&self.counts, &mut self.starts)?;
        self.entries.resize(entries, mesh, self.weights)?;
        self.places.resize(entries)?;
        let inserting = InsertGroupsArguments {
            geometry: mesh.parameters(),
            records: self.records.input(),
            count: count as u32,
            counts: (&self.counts).into(),
            starts: (&self.starts).into(),
            columns: (&self.entries.columns).into(),
            places: (&self.places).into(),
            weights: Output::cast(&self.entries.weights),
        };
        mesh.launch(&unit, lines, THREADS, &inserting)
    }

    fn construct_hybrid(&mut self, mesh: &Mesh, count: usize, entries: usize) -> Result<()> {
        self.count_points(mesh, count, entries)?;
        let unit = self.unit("mesh/hybrid.cu", mesh);
        let points = mesh.geometry.len();
        self.excess_counts.resize(points)?;
        let finding = FindExcessArguments {
            counts: (&self.counts).into(),
            points: points as u32,
            width: self.width as u32,
            excess: (&self.excess_counts).into(),
        };
        mesh.launch(&unit, points, THREADS, &finding)?;
        self.scan.sums(&self.excess_counts, &mut self.starts)?;
        let mut excess = [0];
        self.starts.download_to(points, &mut excess)?;
        let excess = excess[0] as usize;
        let of_weight = if self.weights == Weights::Stored { mesh.real() } else { 0 };
        let rectangle = points * self.width * (size_of::<u32>() + of_weight);
        self.check(mesh, excess, 2 * size_of::<u32>(), rectangle + points * 20)?;
        self.excess_points.resize(excess)?;
        self.excess.resize(excess, mesh, self.weights)?;
        self.entries.resize(points * self.width, mesh, self.weights)?;
        self.entries.columns.fill_bytes(0xff)?;
        let inserting = InsertHybridArguments {
            geometry: mesh.parameters(),
            records: self.records.input(),
            count: count as u32,
            counts: (&self.counts).into(),
            points: points as u32,
            width: self.width as u32,
            columns: (&self.entries.columns).into(),
            weights: Output::cast(&self.entries.weights),
            excess_starts: (&self.starts).into(),
            excess_points: (&self.excess_points).into(),
            excess_columns: (&self.excess.columns).into(),
            excess_weights: Output::cast(&self.excess.weights),
        };
        mesh.launch(&unit, entries, THREADS, &inserting)
    }

    /// Replaces the mesh by the product of the matrix and the values of the constructed rows.
    ///
    /// # Errors
    /// Those of the device.
    pub(super) fn spread(
        &self,
        mesh: &Mesh,
        particles: &MeshParticles,
        values: &Buffer<f64>,
        to: &mut Buffer<u8>,
    ) -> Result<()> {
        let (points, geometry) = (mesh.geometry.len(), mesh.parameters());
        let (records, sums) = (self.records.input(), Output::cast(to));
        let values = Input::at(values, particles.rows.start);
        let (columns, weights) = ((&self.entries.columns).into(), Input::cast(&self.entries.weights));
        match self.layout {
            Layout::Single => {
                let starts = (&self.starts).into();
                let points_32 = points as u32;
                let arguments = MultiplyRowsArguments {
                    geometry,
                    records,
                    values,
                    starts,
                    columns,
                    weights,
                    points: points_32,
                    sums,
                };
                mesh.launch(&self.unit("mesh/single.cu", mesh), points * self.lanes, THREADS, &arguments)
            }
            Layout::Group => {
                let groups = points.div_ceil(GROUP);
                let arguments = MultiplyGroupsArguments {
                    geometry,
                    records,
                    values,
                    starts: (&self.starts).into(),
                    columns,
                    places: (&self.places).into(),
                    weights,
                    groups: groups as u32,
                    points: points as u32,
                    sums,
                };
                mesh.launch(&self.unit("mesh/group.cu", mesh), groups * WARP, THREADS, &arguments)
            }
            Layout::Hybrid => {
                let unit = self.unit("mesh/hybrid.cu", mesh);
                let rectangle = MultiplyRectangleArguments {
                    geometry,
                    records,
                    values,
                    columns,
                    weights,
                    points: points as u32,
                    width: self.width as u32,
                    sums,
                };
                mesh.launch(&unit, points, THREADS, &rectangle)?;
                let excess = self.excess_points.len();
                let list = MultiplyExcessArguments {
                    geometry,
                    records,
                    values,
                    excess_points: (&self.excess_points).into(),
                    excess_columns: (&self.excess.columns).into(),
                    excess_weights: Input::cast(&self.excess.weights),
                    excess: excess as u64,
                    sums,
                };
                mesh.launch(&unit, excess, THREADS, &list)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_follow_the_rule_of_the_paper() {
        for (mean, lanes) in
            [(0.0, 1), (0.99, 1), (1.0, 1), (2.0, 2), (3.9, 2), (8.0, 8), (15.9, 8), (16.0, 16)]
        {
            assert_eq!(lanes_of(mean), lanes, "{mean}");
        }
        assert_eq!(lanes_of(1e5), 16);
    }

    #[test]
    fn a_matrix_that_does_not_fit_is_refused() {
        assert!(check_memory(1000, 1000).is_ok());
        let error = check_memory(1001, 1000).unwrap_err().to_string();
        assert!(error.contains("takes 1001 bytes, and 1000 bytes"), "{error}");
    }
}
