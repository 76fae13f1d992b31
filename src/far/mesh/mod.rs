//! Particle-mesh methods in periodic boxes: spreading onto a regular mesh, interpolation from it, and the
//! potential of smoothed charges or masses by Fourier transforms.
//!
//! A particle in the mesh cell `c` with the fraction `f` in `[0, 1)` of each dimension spreads onto the
//! points `c - p + 1` to `c` (modulo the number of points), where `p` is the order of the [`Window`]. Values
//! of the mesh are stored with the last dimension contiguous.

pub mod brick;
pub mod choice;
mod exchange;
pub mod fourier;
pub mod geometry;
pub mod interpolate;
pub mod naive;
pub mod potential;
mod solver;
pub mod spread;
pub mod window;

pub use brick::Brick;
pub use choice::{ChargeStatistics, MeshSettings, Request};
pub use fourier::FourierScalar;
pub use geometry::MeshGeometry;
pub use potential::{Influence, MeshPotential, Quantity};
pub use solver::MeshSolver;
pub use spread::{SpreadScalar, Spreader};
pub use window::Window;

/// Values of a mesh: `f32` or `f64`.
pub trait MeshScalar: FourierScalar + SpreadScalar {}
impl<S: FourierScalar + SpreadScalar> MeshScalar for S {}
