//! The long-range part of the forces of charges: smooth particle-mesh Ewald (Essmann et al. 1995, J. Chem.
//! Phys. 103, 8577).

use super::Ewald;
use crate::comm::Communicator;
use crate::far::mesh::{MeshSolver, Quantity};
use crate::pair::Precision;
use crate::particles::{Field, Particles};
use crate::space::SimulationBox;

/// The mesh of the charges on processors.
#[derive(Debug)]
pub struct EwaldMesh {
    solver: MeshSolver,
    constant: f64,
}

impl EwaldMesh {
    /// The mesh of an Ewald sum in a box.
    pub fn new(comm: &Communicator, bx: &SimulationBox, ewald: &Ewald, precision: Precision) -> Self {
        let solver = MeshSolver::new(comm, bx, &ewald.settings, precision);
        EwaldMesh { solver, constant: ewald.constant }
    }

    /// Adds the mesh forces of the owned particles to their forces and accelerations. Returns whether all
    /// accelerations are finite. Collective.
    pub fn add_forces(&mut self, comm: &Communicator, particles: &mut Particles) -> bool {
        let [_, gradient @ ..] = self.fields(comm, particles, Quantity::Potential);
        let owned = particles.owned();
        let mut finite = true;
        for (d, gradient) in gradient.iter().enumerate() {
            let wanted = [(Field::Charge, 0), (Field::Mass, 0), (Field::Force, d), (Field::Acceleration, d)];
            let [charge, mass, force, acceleration] =
                particles.components_mut(wanted).map(|column| &mut column[owned.clone()]);
            for (row, slope) in gradient.iter().enumerate() {
                let added = -self.constant * charge[row] * slope;
                force[row] += added;
                acceleration[row] += added / mass[row];
                finite &= acceleration[row].is_finite();
            }
        }
        finite
    }

    /// Adds the mesh energies and virials of the owned particles. Collective.
    pub fn add_energies(&mut self, comm: &Communicator, particles: &mut Particles) {
        for (quantity, field) in [(Quantity::Potential, Field::PairEnergy), (Quantity::Virial, Field::Virial)]
        {
            let [values, ..] = self.fields(comm, particles, quantity);
            let owned = particles.owned();
            let [charge, column] = particles.components_mut([(Field::Charge, 0), (field, 0)]);
            let rows = column[owned.clone()].iter_mut().zip(&charge[owned]).zip(&values);
            rows.for_each(|((value, charge), found)| *value += 0.5 * self.constant * charge * found);
        }
    }

    fn fields(&mut self, comm: &Communicator, particles: &Particles, quantity: Quantity) -> [Vec<f64>; 4] {
        let owned = particles.owned();
        let positions = particles.vector(Field::Position).map(|column| &column[owned.clone()]);
        let charges = &particles.scalar(Field::Charge)[owned.clone()];
        self.solver.fields(comm, positions, charges, quantity)
    }

    /// Allocated bytes of this rank.
    pub fn bytes(&self) -> usize {
        self.solver.bytes()
    }
}
