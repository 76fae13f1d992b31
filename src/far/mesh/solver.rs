//! Potentials of smoothed charges at the particles: spreading, convolution, interpolation.

use super::MeshScalar;
use super::brick::Brick;
use super::choice::MeshSettings;
use super::geometry::MeshGeometry;
use super::interpolate::interpolate;
use super::potential::{MeshPotential, Quantity};
use super::spread::Spreader;
use super::window::Window;
use crate::comm::Communicator;
use crate::simd::Precision;
use crate::space::SimulationBox;

/// Potentials of smoothed charges on a mesh, the state of this rank.
pub struct MeshSolver(Scalars);

enum Scalars {
    Single(Box<Parts<f32>>),
    Double(Box<Parts<f64>>),
}

/// What a solver keeps between calls.
struct Parts<S: MeshScalar> {
    geometry: MeshGeometry,
    window: Window,
    spreader: Spreader<S>,
    potential: MeshPotential<S>,
    brick: Brick<S>,
}

impl MeshSolver {
    /// A mesh with these settings over a periodic box. `precision` is that of mesh and transforms.
    pub fn new(
        comm: &Communicator,
        bx: &SimulationBox,
        settings: &MeshSettings,
        precision: Precision,
    ) -> Self {
        MeshSolver(match precision {
            Precision::Mixed => Scalars::Single(Box::new(Parts::new(comm, bx, settings))),
            Precision::Double => Scalars::Double(Box::new(Parts::new(comm, bx, settings))),
        })
    }

    /// Computes a quantity and its gradient with respect to x, y, z at the positions of this rank, from the
    /// charges of all ranks and their periodic images. Includes the particle itself: for
    /// [`Quantity::Potential`] 2 a / sqrt(pi) times its charge. A net charge has a neutralizing background.
    /// Collective.
    pub fn fields(
        &mut self,
        comm: &Communicator,
        positions: [&[f64]; 3],
        charges: &[f64],
        quantity: Quantity,
    ) -> [Vec<f64>; 4] {
        match &mut self.0 {
            Scalars::Single(parts) => parts.fields(comm, positions, charges, quantity),
            Scalars::Double(parts) => parts.fields(comm, positions, charges, quantity),
        }
    }

    /// Allocated bytes of this rank.
    pub fn bytes(&self) -> usize {
        match &self.0 {
            Scalars::Single(parts) => parts.bytes(),
            Scalars::Double(parts) => parts.bytes(),
        }
    }
}

impl<S: MeshScalar> Parts<S> {
    fn new(comm: &Communicator, bx: &SimulationBox, settings: &MeshSettings) -> Self {
        Parts {
            geometry: MeshGeometry::new(settings.points, bx),
            window: Window::b_spline(settings.order),
            spreader: Spreader::new(),
            potential: MeshPotential::new(comm, bx, settings),
            brick: Brick::whole(settings.points),
        }
    }

    fn fields(
        &mut self,
        comm: &Communicator,
        positions: [&[f64]; 3],
        charges: &[f64],
        quantity: Quantity,
    ) -> [Vec<f64>; 4] {
        if comm.size() > 1 {
            self.brick = Brick::covering(&self.geometry, self.window.order(), positions);
        }
        self.spreader.spread(&self.geometry, &self.window, positions, charges, &mut self.brick);
        self.potential.convolve(comm, &mut self.brick, quantity);
        let mut fields = [(); 4].map(|()| vec![0.0; charges.len()]);
        let [potential, x, y, z] = &mut fields;
        interpolate(&self.geometry, &self.window, &self.brick, positions, [potential, x, y, z]);
        fields
    }

    fn bytes(&self) -> usize {
        self.brick.values.len() * size_of::<S>() + self.potential.bytes()
    }
}

impl std::fmt::Debug for MeshSolver {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Scalars::Single(parts) => write!(out, "MeshSolver({:?}, single)", parts.geometry),
            Scalars::Double(parts) => write!(out, "MeshSolver({:?}, double)", parts.geometry),
        }
    }
}
