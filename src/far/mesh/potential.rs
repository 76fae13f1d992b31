//! The potential of a mesh of smoothed charges: convolution with the influence function, over all ranks.

use super::MeshScalar;
use super::brick::Brick;
use super::choice::MeshSettings;
use super::exchange::BrickExchange;
use super::fourier::{Convolution, FourierGrid};
use super::window::Window;
use crate::comm::Communicator;
use crate::space::SimulationBox;
use std::f64::consts::PI;

/// Which sum over waves a mesh has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// The potential erf(a r) / r of each charge; half of charge times potential is a particle's energy.
    Potential,
    /// The potential whose half times the charge is a particle's share of the virial, -3 V dE/dV: each wave's
    /// energy times 1 - k^2 / (2 a^2) (Essmann et al. 1995, equation 2.7, the trace), and that of the
    /// background times 3.
    Virial,
}

/// The influence function: what a wave of charge is multiplied by.
#[derive(Clone, Debug)]
pub struct Influence {
    lengths: [f64; 3],
    splitting: f64,
    /// Response of the window per dimension.
    response: [Vec<f64>; 3],
}

impl Influence {
    /// The influence function of a mesh over a periodic box.
    pub fn new(bx: &SimulationBox, settings: &MeshSettings) -> Self {
        let (window, lengths) = (Window::b_spline(settings.order), bx.lengths());
        Influence {
            lengths: [0, 1, 2].map(|d| lengths[d]),
            splitting: settings.splitting,
            response: settings.points.map(|points| window.response(points)),
        }
    }

    /// Factor of the wave with these mode numbers: 4 pi / (V k^2) exp(-k^2 / (4 a^2)) over the response of the
    /// window (Essmann et al. 1995, equations 4.7 and 4.8). Wave 0 has the limit -pi / (V a^2) of a neutralizing
    /// background.
    pub fn factor(&self, modes: [i64; 3], quantity: Quantity) -> f64 {
        let volume: f64 = self.lengths.iter().product();
        let smoothing = self.splitting * self.splitting;
        if modes == [0; 3] {
            let times = if quantity == Quantity::Virial { 3.0 } else { 1.0 };
            return -times * PI / (volume * smoothing);
        }
        let (mut square, mut response) = (0.0, 1.0);
        for d in 0..3 {
            square += (2.0 * PI * modes[d] as f64 / self.lengths[d]).powi(2);
            let points = self.response[d].len() as i64;
            response *= self.response[d][modes[d].rem_euclid(points) as usize];
        }
        let times = if quantity == Quantity::Virial { 1.0 - square / (2.0 * smoothing) } else { 1.0 };
        times * 4.0 * PI / (volume * square) * (-square / (4.0 * smoothing)).exp() / response
    }
}

/// Convolution of a mesh that is distributed over ranks; the state of this rank.
pub struct MeshPotential<S: MeshScalar> {
    influence: Influence,
    grid: FourierGrid,
    convolution: Convolution<S>,
    /// Own block of the mesh; empty on one rank, whose brick is the mesh.
    block: Vec<S>,
    /// Influence function of own waves, for the potential and, once wanted, the virial.
    potential: Vec<S>,
    virial: Option<Vec<S>>,
}

impl<S: MeshScalar> MeshPotential<S> {
    /// A mesh with these settings over a periodic box.
    pub fn new(comm: &Communicator, bx: &SimulationBox, settings: &MeshSettings) -> Self {
        let grid = FourierGrid::new(settings.points, comm.size());
        let own = if comm.size() > 1 { grid.real_len(comm.rank()) } else { 0 };
        let mut potential = MeshPotential {
            influence: Influence::new(bx, settings),
            convolution: Convolution::new(grid, comm.rank()),
            grid,
            block: vec![S::zeroed(); own],
            potential: Vec::new(),
            virial: None,
        };
        potential.potential = potential.factors(Quantity::Potential);
        potential
    }

    /// The influence function of the own waves.
    fn factors(&self, quantity: Quantity) -> Vec<S> {
        let mut factors = vec![S::default(); self.convolution.influence_len()];
        for (index, modes, _) in self.convolution.waves() {
            factors[index] = S::from_f64(self.influence.factor(modes, quantity));
        }
        factors
    }

    /// Replaces the charges of the bricks of all ranks, whose common points add up, by a quantity. On one rank
    /// the brick is the whole mesh. Collective.
    pub fn convolve(&mut self, comm: &Communicator, brick: &mut Brick<S>, quantity: Quantity) {
        if quantity == Quantity::Virial && self.virial.is_none() {
            self.virial = Some(self.factors(quantity));
        }
        let influence = match (quantity, &self.virial) {
            (Quantity::Virial, Some(virial)) => virial,
            _ => &self.potential,
        };
        if comm.size() == 1 {
            return self.convolution.convolve(comm, &mut brick.values, influence);
        }
        let exchange = BrickExchange::new(comm, &self.grid, brick);
        exchange.collect(comm, brick, &mut self.block);
        self.convolution.convolve(comm, &mut self.block, influence);
        exchange.distribute(comm, &self.block, brick);
    }

    /// Allocated bytes of this rank.
    pub fn bytes(&self) -> usize {
        let influence = self.potential.len() + self.virial.as_ref().map_or(0, Vec::len);
        (self.block.len() + influence) * size_of::<S>()
    }
}

impl<S: MeshScalar> std::fmt::Debug for MeshPotential<S> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "MeshPotential({:?})", self.grid)
    }
}
