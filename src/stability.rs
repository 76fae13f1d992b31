//! Linear stability analysis of a lattice of gas particles at rest, with the force passes of a step.
//!
//! Displacements x, velocities v and internal energies u obey, to first order and without viscosity,
//!
//! ```text
//! x' = v,    v' = D x + E u,    u' = F v        so that        v'' = (D + E F) v
//! ```
//!
//! The matrices are measured by displacing, heating and moving each particle of one cell of a periodic
//! crystal and evaluating the forces in double precision: D and E by central differences, F exactly, because
//! heating is linear in the velocities. For a plane wave of wave vector k they reduce to small matrices,
//! whose eigenvalues are the squared growth rates. All wave vectors that are periodic in the crystal (at
//! least 12 mean spacings) are analyzed; for these the finite size causes no error.

use crate::comm::Communicator;
use crate::particles::Field;
use crate::plan::{Device, LatticeKind, LatticeStart, Plan, Precision, SpacePlan, StartPlan};
use crate::space::Boundary;
use crate::step::Simulation;
use crate::{Error, Result, start};
use nalgebra::{Complex, DMatrix, Schur};
use std::f64::consts::TAU;

/// Lattices to analyze, by their names in `[start.lattice]`.
pub const LATTICES: [LatticeKind; 4] =
    [LatticeKind::SimpleCubic, LatticeKind::BodyCentered, LatticeKind::FaceCentered, LatticeKind::Hexagonal];

/// Modes with a growth rate up to this, in units of the speed of sound over the mean spacing, count as
/// neutral. Rounding causes such rates; growth by a factor e takes 60 sound crossings of 16 spacings.
pub const NEUTRAL: f64 = 1e-3;

/// Minimum edge of the crystal, in mean spacings n^(-1/3).
const MIN_EDGE: f64 = 12.0;

/// Step of the central differences: displacement in mean spacings, relative change of an internal energy.
const SMALL: f64 = 1e-4;

/// Tolerance of the eigenvalue iteration; force differences are accurate to about 1e-8.
const EIGENVALUE_TOLERANCE: f64 = 1e-11;

/// Shift of the eigenvalues during the iteration, in squared rate units.
const SHIFT: f64 = 10.0;

/// Stability of a lattice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stability {
    /// Largest growth rate, in units of the speed of sound over the mean spacing n^(-1/3).
    pub growth: f64,
    /// Share of modes that grow faster than [`NEUTRAL`], 0 to 1.
    pub growing: f64,
    /// Number of wave vectors analyzed.
    pub wave_vectors: usize,
}

/// Analyzes a lattice under the `[sph]` section of a plan: formulation, gradients, kernel, neighbors,
/// equation of state. Viscosity and conductivity are off.
///
/// # Errors
/// [`Error::Usage`] if the plan has no gas or the eigenvalue iteration fails; those of the forces.
pub fn of_lattice(plan: &Plan, kind: LatticeKind) -> Result<Stability> {
    let crystal = Crystal::new(plan, kind)?;
    let matrices = crystal.matrices()?;
    let [nx, ny, nz] = crystal.cells;
    let (mut growth, mut growing, mut modes) = (0.0f64, 0, 0);
    for wave in (0..nx * ny * nz).map(|k| [k / (ny * nz), k / nz % ny, k % nz]) {
        for squared_rate in matrices.squared_rates(wave, crystal.cells, crystal.rate_unit.powi(2))? {
            let rate = squared_rate.sqrt().re.abs() / crystal.rate_unit;
            growth = growth.max(rate);
            growing += usize::from(rate > NEUTRAL);
            modes += 1;
        }
    }
    let share = growing as f64 / f64::from(u32::try_from(modes.max(1)).unwrap_or(u32::MAX));
    Ok(Stability { growth, growing: share, wave_vectors: nx * ny * nz })
}

/// A periodic crystal, and the plan for its forces.
struct Crystal {
    plan: Plan,
    cells: [usize; 3],
    basis: usize,
    /// Mean spacing n^(-1/3).
    spacing: f64,
    energy: f64,
    /// Speed of sound over the mean spacing.
    rate_unit: f64,
}

/// Disturbance of one particle of the first cell: axis and amount.
#[derive(Clone, Copy)]
enum Disturbance {
    Position(usize, f64),
    Velocity(usize, f64),
    Energy(f64),
}

/// Acceleration and heating rate of a particle.
type Response = ([f64; 3], f64);

impl Crystal {
    fn new(plan: &Plan, kind: LatticeKind) -> Result<Self> {
        let mut plan = plan.clone();
        let Some(sph) = &mut plan.sph else {
            return Err(Error::usage("the deck has no gas", "stability is that of a gas: add [sph]"));
        };
        sph.viscosity.switch = false;
        (sph.viscosity.alpha_min, sph.viscosity.alpha_max) = (0.0, 0.0);
        (sph.conductivity, sph.neighbor_tolerance) = (0.0, 1e-14);
        let energy = 1.0;
        let sound = sph.equation_of_state.evaluate(1.0, energy).1;
        let basis = kind.particles_per_cell() as usize;
        let edges = kind.edges();
        let spacing = (edges.iter().product::<f64>() / basis as f64).cbrt();
        // the list radius exceeds the support, and must not exceed half a period
        let support = (3.0 * sph.neighbors / (4.0 * std::f64::consts::PI)).cbrt();
        let edge = spacing * MIN_EDGE.max(2.3 * support);
        let cells = edges.map(|cell| (edge / cell).ceil() as usize);
        plan.start = StartPlan::Lattice(LatticeStart {
            kind,
            cells: cells.map(|count| count as u64),
            spacing: 1.0,
            density: 1.0,
            internal_energy: energy,
            temperature: 0.0,
            jitter: 0.0,
            seed: 1,
        });
        let upper = std::array::from_fn(|c| edges[c] * cells[c] as f64);
        plan.space = SpacePlan { corners: Some([[0.0; 3], upper]), boundary: Some([Boundary::Periodic; 3]) };
        (plan.gravity, plan.external, plan.interaction) = (None, None, None);
        (plan.run.precision, plan.run.device) = (Precision::Double, Device::Cpu);
        Ok(Self { plan, cells, basis, spacing, energy, rate_unit: sound / spacing })
    }

    /// Returns the responses of all particles, in lattice order, to a disturbance of one particle of the
    /// first cell.
    fn responses(&self, particle: usize, disturbance: Disturbance) -> Result<Vec<Response>> {
        let comm = Communicator::solo();
        // ids are in lattice order, cell by cell
        let (space, mut particles) = start::particles(&self.plan, &comm, &Simulation::fields(&self.plan))?;
        match disturbance {
            Disturbance::Position(c, by) => particles.component_mut(Field::Position, c)[particle] += by,
            Disturbance::Velocity(c, by) => particles.component_mut(Field::Velocity, c)[particle] = by,
            Disturbance::Energy(by) => particles.scalar_mut(Field::InternalEnergy)[particle] += by,
        }
        let mut simulation = Simulation::new(self.plan.clone(), &comm, space, particles);
        simulation.evaluate_forces(0.0)?;
        let particles = &simulation.particles;
        let mut responses = vec![([0.0; 3], 0.0); particles.owned().len()];
        let acceleration = particles.vector(Field::Acceleration);
        let rate = particles.scalar(Field::InternalEnergyRate);
        for row in particles.owned() {
            responses[particles.id[row] as usize] = (acceleration.map(|column| column[row]), rate[row]);
        }
        Ok(responses)
    }

    /// Returns the central difference of the responses with respect to a disturbance.
    fn central(&self, particle: usize, size: f64, of: impl Fn(f64) -> Disturbance) -> Result<Vec<Response>> {
        let mut forth = self.responses(particle, of(size))?;
        let back = self.responses(particle, of(-size))?;
        for ((a, q), (a_back, q_back)) in forth.iter_mut().zip(back) {
            *a = std::array::from_fn(|c| (a[c] - a_back[c]) / (2.0 * size));
            *q = (*q - q_back) / (2.0 * size);
        }
        Ok(forth)
    }

    fn matrices(&self) -> Result<Matrices> {
        let mut matrices = Matrices { basis: self.basis, displaced: vec![], moved: vec![], heated: vec![] };
        for particle in 0..self.basis {
            for c in 0..3 {
                let size = SMALL * self.spacing;
                matrices.displaced.push(self.central(particle, size, |by| Disturbance::Position(c, by))?);
                matrices.moved.push(self.central(particle, 1.0, |by| Disturbance::Velocity(c, by))?);
            }
            matrices.heated.push(self.central(particle, SMALL * self.energy, Disturbance::Energy)?);
        }
        Ok(matrices)
    }
}

/// D, F and E in real space: the responses of all particles to a disturbance of each particle of the first
/// cell, along each axis.
struct Matrices {
    basis: usize,
    displaced: Vec<Vec<Response>>,
    moved: Vec<Vec<Response>>,
    heated: Vec<Vec<Response>>,
}

impl Matrices {
    /// Returns the eigenvalues of D + E F for a plane wave, the squared growth rates. `wave` counts its
    /// periods along the edges of a crystal of `cells`; `scale` is the unit of the eigenvalues.
    fn squared_rates(&self, wave: [usize; 3], cells: [usize; 3], scale: f64) -> Result<Vec<Complex<f64>>> {
        let size = 3 * self.basis;
        let zeros = DMatrix::<Complex<f64>>::zeros;
        let mut d = zeros(size, size);
        let mut e = zeros(size, self.basis);
        let mut f = zeros(self.basis, size);
        for cell in 0..cells.iter().product() {
            let place = [cell / (cells[1] * cells[2]), cell / cells[2] % cells[1], cell % cells[2]];
            let periods: f64 = (0..3).map(|c| (wave[c] * place[c]) as f64 / cells[c] as f64).sum();
            let phase = Complex::from_polar(1.0, -TAU * periods);
            for i in 0..self.basis {
                let row = cell * self.basis + i;
                for column in 0..size {
                    for c in 0..3 {
                        d[(3 * i + c, column)] += phase * self.displaced[column][row].0[c];
                    }
                    f[(i, column)] += phase * self.moved[column][row].1;
                }
                for column in 0..self.basis {
                    for c in 0..3 {
                        e[(3 * i + c, column)] += phase * self.heated[column][row].0[c];
                    }
                }
            }
        }
        // the iteration does not converge at zero eigenvalues: shift them away from zero
        let shift = DMatrix::<Complex<f64>>::identity(size, size) * Complex::new(SHIFT * scale, 0.0);
        let schur = Schur::try_new(d + e * f + &shift, EIGENVALUE_TOLERANCE, 10_000).ok_or_else(|| {
            Error::usage("the eigenvalues of a lattice's modes were not found", "try other sph.neighbors")
        })?;
        let (_, triangle): (_, DMatrix<Complex<f64>>) = schur.unpack();
        Ok(triangle.diagonal().iter().map(|value| value - SHIFT * scale).collect())
    }
}
