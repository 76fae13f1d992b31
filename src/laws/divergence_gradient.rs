//! The gradient of the velocity divergence, which the viscosity switch watches.

use crate::pair::language::*;

pub use divergence_gradient::*;

/// grad div v = sum_j V_j (div v_j - div v_i) C_i (r_j - r_i) W(r_ij, h_i), V = m / rho: the integral approach
/// (Garcia-Senz, Cabezon & Escartin 2012) once more, to the divergence of the pass before. Radius: 2 h.
#[pair(cutoff = own)]
pub mod divergence_gradient {
    /// The smoothing kernel.
    struct Law {
        kernel: Kernel,
    }
    struct Particle {
        mass: Real,
        density: Real,
        smoothing_length: Real,
        velocity_divergence: Real,
        gradient_matrix: Tensor,
    }
    struct Sums {
        gradient: Vec3,
    }
    struct Output {
        divergence_gradient: Vec3,
    }

    /// Without C_i / h^3, which all terms share.
    fn interact(law: Law, i: Particle, j: Particle, r: Vec3, r2: Real) -> Sums {
        let w = kernel_value(law.kernel, r2.sqrt() / i.smoothing_length);
        Sums { gradient: r * (j.mass / j.density * w * (i.velocity_divergence - j.velocity_divergence)) }
    }

    fn finish(law: Law, i: Particle, sums: Sums) -> Output {
        let h = i.smoothing_length;
        Output { divergence_gradient: (i.gradient_matrix * sums.gradient) * (1.0 / (h * h * h)) }
    }
}
