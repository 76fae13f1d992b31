//! Spreading onto a periodic mesh and interpolation from it, on a device (kernels/mesh).
//!
//! [`Method`] names five methods of Guo et al. 2015 (Procedia Computer Science 51, doi
//! 10.1016/j.procs.2015.05.210) and three by tiles of the mesh. All add the same terms in different orders.
//! [`DeviceSpreader::construct`] prepares a configuration of particles, for which
//! [`DeviceSpreader::spread`] then spreads any number of columns.

mod bins;
mod distributed;
mod gather;
mod influence;
mod interpolation;
mod matrix;
mod method;
mod potential;
mod records;
mod slabs;
mod solver;
pub use interpolation::InterpolationTarget;
pub use method::{Method, Variant, Weights};
pub use potential::DevicePotential;
pub use solver::{DeviceMesh, Reproducibility};

use super::arguments::mesh::MeshParameters;
use super::arguments::mesh_occupied::MarkOccupiedCellsArguments;
use super::arguments::mesh_particles::SpreadParticlesArguments;
use super::arguments::{Arguments, Input, Output};
use super::launch::THREADS;
use super::reduction::{ROWS_PER_BLOCK, Vector};
use super::sort::rows_of_32_bits;
use super::{Buffer, Device, Unit};
use crate::far::mesh::{MeshGeometry, Window};
use crate::pair::Precision;
use crate::{Error, Result};
use bins::{Bins, Order};
use gather::Gather;
use matrix::{Layout, Matrix};
use records::Records;
use std::ops::Range;

/// Most points per dimension (CELL_BITS of kernels/mesh/mesh.cuh).
const MOST_POINTS: usize = 1024;

/// The particles of a configuration.
#[derive(Clone, Debug)]
pub struct MeshParticles<'a> {
    /// Positions.
    pub position: Vector<'a>,
    /// The rows that are spread, without ghosts; rows are best ordered along the Hilbert curve.
    pub rows: Range<usize>,
}

impl MeshParticles<'_> {
    /// The columns as arguments.
    fn inputs(&self) -> [Input<f64>; 3] {
        self.position.map(Input::from)
    }
}

/// A mesh, its window and the precision of its values, with their kernels.
#[derive(Clone, Debug)]
struct Mesh {
    device: Device,
    geometry: MeshGeometry,
    window: Window,
    precision: Precision,
    /// The macros of all units: writing the window's coefficients takes longer than a small kernel.
    definitions: Vec<(String, String)>,
}

/// The unit of a file of kernels/mesh.
pub fn unit(file: &'static str, window: &Window, precision: Precision) -> Unit {
    let order = window.order();
    let of_point = |point: &[f64]| {
        let numbers: Vec<String> = point.iter().map(|number| format!("{number:?}")).collect();
        format!("{{{}}}", numbers.join(","))
    };
    let points: Vec<String> = window.coefficients().iter().map(|point| of_point(&point[..order])).collect();
    Unit::new(file)
        .with("HILBRIUM_REAL", if precision == Precision::Double { "double" } else { "float" })
        .with("HILBRIUM_ORDER", order)
        .with("HILBRIUM_WINDOW", format!("{{{}}}", points.join(",")))
}

impl Mesh {
    fn new(device: &Device, geometry: &MeshGeometry, window: &Window, precision: Precision) -> Self {
        let definitions = unit("", window, precision).definitions;
        Self { device: device.clone(), geometry: *geometry, window: window.clone(), precision, definitions }
    }

    /// The unit of a file of kernels/mesh.
    fn unit(&self, file: &'static str) -> Unit {
        Unit { definitions: self.definitions.clone(), ..Unit::new(file) }
    }

    /// Bytes of a mesh value.
    fn real(&self) -> usize {
        if self.precision == Precision::Double { size_of::<f64>() } else { size_of::<f32>() }
    }

    /// The shape as an argument.
    fn parameters(&self) -> MeshParameters {
        (&self.geometry).into()
    }

    /// Launches a kernel with at least `count` threads.
    fn over<A: Arguments>(&self, count: usize, threads: u32, arguments: &A) -> Result<()> {
        self.launch(&self.unit(A::UNIT), count, threads, arguments)
    }

    /// Launches a kernel of a unit with at least `count` threads.
    fn launch<A: Arguments>(&self, unit: &Unit, count: usize, threads: u32, arguments: &A) -> Result<()> {
        let kernel = self.device.kernel(unit)?;
        self.device.launch(&kernel, count.div_ceil(threads as usize), threads, arguments)
    }
}

/// What a method has constructed.
#[derive(Debug)]
enum Configuration {
    /// Nothing.
    None,
    /// Particles on mesh points.
    Gather(Box<Gather>),
    /// The spreading matrix.
    Matrix(Box<Matrix>),
    /// Binned particles.
    Bins(Box<Bins>),
}

impl Configuration {
    fn new(mesh: &Mesh, method: Method) -> Result<Self> {
        let matrix = |layout, weights| Matrix::new(&mesh.device, layout, weights).map(Box::new);
        let bins = |order| Bins::new(&mesh.device, order).map(Box::new);
        Ok(match method {
            Method::Particles => Self::None,
            Method::Gather => Self::Gather(Box::new(Gather::new(&mesh.device)?)),
            Method::SingleMesh(weights) => Self::Matrix(matrix(Layout::Single, weights)?),
            Method::GroupMesh(weights) => Self::Matrix(matrix(Layout::Group, weights)?),
            Method::HybridMesh(weights) => Self::Matrix(matrix(Layout::Hybrid, weights)?),
            Method::Tiles | Method::PaddedTiles => Self::Bins(bins(Order::Counted)?),
            Method::OrderedTiles => Self::Bins(bins(Order::Sorted)?),
        })
    }
}

/// Spreads particles onto a mesh and interpolates from it.
#[derive(Debug)]
pub struct DeviceSpreader {
    mesh: Mesh,
    method: Method,
    configuration: Configuration,
}

impl DeviceSpreader {
    /// A spreader without particles. The mesh has single precision if the precision is mixed.
    ///
    /// # Errors
    /// [`Error::Device`] for fewer points per dimension than the order, more than 1024, or 2^30 in all.
    pub fn new(
        device: &Device,
        geometry: &MeshGeometry,
        window: &Window,
        precision: Precision,
        method: Method,
    ) -> Result<Self> {
        let points = geometry.points;
        let fits = points.iter().all(|&points| (window.order()..=MOST_POINTS).contains(&points));
        if !fits || rows_of_32_bits(geometry.len()).is_err() {
            let order = window.order();
            return Err(Error::device(
                format!("a mesh of {points:?} points does not suit a device and order {order}"),
                format!("use {order} to {MOST_POINTS} points per dimension, fewer than 2^30 in all"),
            ));
        }
        let mesh = Mesh::new(device, geometry, window, precision);
        let configuration = Configuration::new(&mesh, method)?;
        Ok(Self { mesh, method, configuration })
    }

    /// The same with other kernels, for comparisons. Call it before the first construction.
    pub fn with_variant(mut self, variant: Variant) -> Self {
        let (name, value) = variant.definition();
        self.mesh.definitions.push((name.into(), value.to_string()));
        self
    }

    /// The method.
    pub fn method(&self) -> Method {
        self.method
    }

    /// Order of the window.
    pub fn order(&self) -> usize {
        self.mesh.window.order()
    }

    /// The cells along x that hold particles: a bit per cell, 32 in a word. Waits for the device.
    ///
    /// # Errors
    /// Those of the device.
    pub(super) fn occupied_cells(&self, particles: &MeshParticles) -> Result<Vec<u32>> {
        rows_of_32_bits(particles.rows.end)?;
        let cells = Buffer::zeros(&self.mesh.device, MOST_POINTS / u32::BITS as usize)?;
        let arguments = MarkOccupiedCellsArguments {
            position: particles.position[0].into(),
            geometry: self.mesh.parameters(),
            rows: (&particles.rows).into(),
            cells: (&cells).into(),
        };
        let kernel = self.mesh.device.kernel(&self.mesh.unit(MarkOccupiedCellsArguments::UNIT))?;
        let blocks = particles.rows.len().div_ceil(ROWS_PER_BLOCK);
        self.mesh.device.launch(&kernel, blocks, THREADS, &arguments)?;
        cells.download()
    }

    /// Bytes of the mesh.
    pub fn mesh_bytes(&self) -> usize {
        self.mesh.geometry.len() * self.mesh.real()
    }

    /// Bytes of what has been constructed.
    pub fn bytes(&self) -> usize {
        match &self.configuration {
            Configuration::None => 0,
            Configuration::Gather(gather) => gather.bytes(),
            Configuration::Matrix(matrix) => matrix.bytes(),
            Configuration::Bins(bins) => bins.bytes(),
        }
    }

    /// Number of particles that [`Method::Gather`] adds atomically; none with other methods.
    ///
    /// # Errors
    /// Those of the device.
    pub fn overflowing(&self) -> Result<usize> {
        match &self.configuration {
            Configuration::Gather(gather) => gather.overflowing(),
            _ => Ok(0),
        }
    }

    /// Prepares spreading of a configuration of particles.
    ///
    /// # Errors
    /// [`Error::Device`] when the device's memory is too small, for a spreading matrix before it is
    /// allocated, or with the error of a kernel.
    pub fn construct(&mut self, particles: &MeshParticles) -> Result<()> {
        rows_of_32_bits(particles.rows.end)?;
        match &mut self.configuration {
            Configuration::None => Ok(()),
            Configuration::Gather(gather) => gather.construct(&self.mesh, particles),
            Configuration::Matrix(matrix) => matrix.construct(&self.mesh, particles),
            Configuration::Bins(bins) => {
                bins.construct(&self.mesh, particles, self.method != Method::PaddedTiles)
            }
        }
    }

    /// Replaces the mesh by the sum over the constructed particles of a value times the window; rows whose
    /// value is 0 are left out. `values` has one value per row of the columns, `mesh` [`Self::mesh_bytes`]
    /// bytes: numbers of the mesh's precision, the last dimension contiguous.
    ///
    /// # Errors
    /// Those of the device.
    pub fn spread(
        &mut self,
        particles: &MeshParticles,
        values: &Buffer<f64>,
        mesh: &mut Buffer<u8>,
    ) -> Result<()> {
        assert_eq!(mesh.len(), self.mesh_bytes(), "the bytes of the mesh");
        assert!(values.len() >= particles.rows.end, "a value per row");
        match &mut self.configuration {
            Configuration::None => {
                mesh.fill_bytes(0)?;
                let arguments = SpreadParticlesArguments {
                    position: particles.inputs(),
                    values: values.into(),
                    geometry: self.mesh.parameters(),
                    rows: (&particles.rows).into(),
                    sums: Output::cast(mesh),
                };
                const THREADS: u32 = 128;
                self.mesh.over(particles.rows.len(), THREADS, &arguments)
            }
            Configuration::Gather(gather) => gather.spread(&self.mesh, particles, values, mesh),
            Configuration::Matrix(matrix) => matrix.spread(&self.mesh, particles, values, mesh),
            Configuration::Bins(bins) if self.method == Method::PaddedTiles => {
                bins.spread_padded(&self.mesh, values, mesh)
            }
            Configuration::Bins(bins) => bins.spread(&self.mesh, values, mesh),
        }
    }

    /// Adds to columns what the mesh has at the particles: potentials, and forces by the gradient of the
    /// window. The mesh may be another one than that of the last spreading.
    ///
    /// # Errors
    /// Those of the device.
    pub fn interpolate(
        &self,
        particles: &MeshParticles,
        mesh: &Buffer<u8>,
        target: &InterpolationTarget,
    ) -> Result<()> {
        let pays = |bins: &&Bins| interpolation::pays(bins.count(), self.mesh.geometry.len());
        self.interpolate_from(self.bins().filter(pays), particles, mesh, target)
    }

    /// As [`Self::interpolate`], through tiles of the mesh in shared memory wherever particles are binned,
    /// also where this takes longer.
    ///
    /// # Errors
    /// Those of the device.
    pub fn interpolate_through_tiles(
        &self,
        particles: &MeshParticles,
        mesh: &Buffer<u8>,
        target: &InterpolationTarget,
    ) -> Result<()> {
        self.interpolate_from(self.bins(), particles, mesh, target)
    }

    fn interpolate_from(
        &self,
        bins: Option<&Bins>,
        particles: &MeshParticles,
        mesh: &Buffer<u8>,
        target: &InterpolationTarget,
    ) -> Result<()> {
        assert_eq!(mesh.len(), self.mesh_bytes(), "the bytes of the mesh");
        interpolation::interpolate(&self.mesh, bins, particles, mesh, target)
    }

    fn bins(&self) -> Option<&Bins> {
        match &self.configuration {
            Configuration::Bins(bins) => Some(bins),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_have_the_windows_coefficients() {
        let unit = unit("mesh/tiles.cu", &Window::b_spline(4), Precision::Mixed);
        let window = &unit.definitions.iter().find(|(name, _)| name == "HILBRIUM_WINDOW").unwrap().1;
        assert!(window.starts_with("{{0.1666") && window.contains("},{0.6666"), "{window}");
        assert_eq!(window.matches(',').count(), 15);
    }
}
