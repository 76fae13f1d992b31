//! What a plan of the gas means for its passes: kernels, equations of state.

use crate::deck::plan::{EquationOfState, Gradients, SphPlan};
use crate::pair::Kernel;
use crate::pair::pieces::over_pieces;
use crate::particles::{Field, Particles};

impl SphPlan {
    /// The interpolation kernel.
    pub(crate) fn interpolation_kernel(&self) -> Kernel<f64> {
        let kernel = Kernel::named(self.kernel.name());
        kernel.unwrap_or_else(|| unreachable!("the plan has a kernel that the passes lack"))
    }

    /// The kernel of the momentum and energy equations, whose gradient is C r times its value over h^3. With
    /// the kernel's own gradient C is the unit matrix over h^2 ([`isotropic_matrices`]) and the value that of
    /// -w'(q) / q.
    pub(crate) fn momentum_kernel(&self) -> Kernel<f64> {
        match self.gradients {
            Gradients::Integral => self.interpolation_kernel(),
            Gradients::Kernel => self.interpolation_kernel().gradient(),
        }
    }
}

/// Give the owned particles the gradient matrix 1 / h^2, in place of that of the integral approach.
pub(super) fn isotropic_matrices(particles: &mut Particles) {
    for component in 0..6 {
        // xx xy xz yy yz zz
        let diagonal = matches!(component, 0 | 3 | 5);
        let wanted = [(Field::GradientMatrix, component), (Field::SmoothingLength, 0)];
        over_pieces(particles, wanted, |piece| {
            let [matrix, length] = piece.columns;
            for (entry, h) in matrix.iter_mut().zip(length) {
                *entry = if diagonal { 1.0 / (*h * *h) } else { 0.0 };
            }
        });
    }
}

impl EquationOfState {
    /// Pressure and speed of sound at density `rho` and specific internal energy `u`.
    pub fn evaluate(&self, rho: f64, u: f64) -> (f64, f64) {
        match *self {
            EquationOfState::IdealGas { gamma } => {
                ((gamma - 1.0) * rho * u, (gamma * (gamma - 1.0) * u).sqrt())
            }
            EquationOfState::Isothermal { sound_speed } => (sound_speed * sound_speed * rho, sound_speed),
        }
    }

    /// Give the owned particles pressure and speed of sound.
    pub fn apply(&self, particles: &mut Particles) {
        particles.add(&[Field::Pressure, Field::SoundSpeed]);
        let wanted =
            [(Field::Density, 0), (Field::InternalEnergy, 0), (Field::Pressure, 0), (Field::SoundSpeed, 0)];
        over_pieces(particles, wanted, |piece| {
            let [density, energy, pressure, sound] = piece.columns;
            let given = density.iter().zip(energy);
            for ((rho, u), (pressure, sound)) in given.zip(pressure.iter_mut().zip(sound)) {
                (*pressure, *sound) = self.evaluate(*rho, *u);
            }
        });
    }
}
