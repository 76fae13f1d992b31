//! Kernels and equation of state of the gas, from its plan.

use crate::faults::{Fault, planted};
use crate::pair::Kernel;
use crate::particles::blocks::map_blocks;
use crate::particles::{Field, Particles};
use crate::plan::{EquationOfState, Gradients, SphPlan};

impl SphPlan {
    /// Returns the interpolation kernel W.
    pub(crate) fn interpolation_kernel(&self) -> Kernel<f64> {
        let kernel = Kernel::named(self.kernel.name());
        kernel.unwrap_or_else(|| unreachable!("the plan has a kernel that the passes lack"))
    }

    /// Returns the coefficient of the thermal conductivity of all pairs, and that per mean alpha of a pair,
    /// which reaches `conductivity` at the largest alpha.
    pub(crate) fn conductivities(&self) -> [f64; 2] {
        let most = self.viscosity.alpha_max;
        match self.conductivity_switch {
            false => [self.conductivity, 0.0],
            true if most > 0.0 => [0.0, self.conductivity / most],
            true => [0.0, 0.0],
        }
    }

    /// Returns the kernel of the momentum and energy equations. They evaluate its gradient as C r times its
    /// value over h^3. With [`Gradients::Integral`] C is the matrix of the integral approach and the value
    /// that of W. With [`Gradients::Kernel`] C is the unit matrix over h^2 ([`isotropic_matrices`]) and the
    /// value is -w'(q) / q.
    pub(crate) fn momentum_kernel(&self) -> Kernel<f64> {
        match self.gradients {
            Gradients::Integral => self.interpolation_kernel(),
            Gradients::Kernel => self.interpolation_kernel().gradient(),
        }
    }
}

/// Sets the gradient matrix of the owned particles to 1 / h^2, instead of the matrix of the integral
/// approach.
pub(super) fn isotropic_matrices(particles: &mut Particles) {
    for component in 0..6 {
        // xx xy xz yy yz zz
        let diagonal = matches!(component, 0 | 3 | 5);
        let wanted = [(Field::GradientMatrix, component), (Field::SmoothingLength, 0)];
        map_blocks(particles, wanted, |block| {
            let [matrix, length] = block.columns;
            for (entry, h) in matrix.iter_mut().zip(length) {
                *entry = if diagonal { 1.0 / (*h * *h) } else { 0.0 };
            }
        });
    }
}

impl EquationOfState {
    /// Returns pressure and sound speed at density `rho` and specific internal energy `u`.
    pub fn evaluate(&self, rho: f64, u: f64) -> (f64, f64) {
        match *self {
            EquationOfState::IdealGas { gamma } => {
                let factor = if planted(Fault::PressureFactor) { 1.03 } else { 1.0 };
                let exponent = if planted(Fault::SoundExponent) { 1.0 } else { gamma };
                (factor * (gamma - 1.0) * rho * u, (exponent * (gamma - 1.0) * u).sqrt())
            }
            EquationOfState::Isothermal { sound_speed } => {
                let factor = if planted(Fault::IsothermalPressure) { 0.9 } else { 1.0 };
                (factor * sound_speed * sound_speed * rho, sound_speed)
            }
        }
    }

    /// Computes pressure and sound speed of the owned particles.
    pub fn apply(&self, particles: &mut Particles) {
        particles.add(&[Field::Pressure, Field::SoundSpeed]);
        let wanted =
            [(Field::Density, 0), (Field::InternalEnergy, 0), (Field::Pressure, 0), (Field::SoundSpeed, 0)];
        map_blocks(particles, wanted, |block| {
            let [density, energy, pressure, sound] = block.columns;
            let inputs = density.iter().zip(energy);
            for ((rho, u), (pressure, sound)) in inputs.zip(pressure.iter_mut().zip(sound)) {
                (*pressure, *sound) = self.evaluate(*rho, *u);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Formulation, Kernel, ViscosityPlan, VolumeEstimate};

    #[test]
    fn a_switched_conductivity_is_per_alpha() {
        let mut plan = SphPlan {
            formulation: Formulation::Standard,
            gradients: Gradients::Integral,
            volume_estimate: VolumeEstimate::Energy,
            volume_iterations: 0,
            kernel: Kernel::WendlandC6,
            neighbors: 190.0,
            neighbor_tolerance: 1e-2,
            equation_of_state: EquationOfState::IdealGas { gamma: 1.4 },
            viscosity: ViscosityPlan {
                alpha_min: 0.0,
                alpha_max: 1.5,
                beta: 2.0,
                switch: true,
                limiter: true,
            },
            conductivity: 3.0,
            conductivity_switch: true,
        };
        assert_eq!(plan.conductivities(), [0.0, 2.0]);
        plan.viscosity.alpha_max = 0.0;
        assert_eq!(plan.conductivities(), [0.0, 0.0]);
        plan.conductivity_switch = false;
        assert_eq!(plan.conductivities(), [3.0, 0.0]);
    }
}
