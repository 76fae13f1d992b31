//! Gradient of the velocity divergence, the input of the viscosity switch.

use crate::pair::language::*;

pub use divergence_gradient::*;

/// grad div v = sum_j V_j (div v_j - div v_i) C_i (r_j - r_i) W(r_ij, h_i), V = m / rho: the integral
/// approach (Garcia-Senz, Cabezon & Escartin 2012) applied to the divergence from [`super::gradients`].
/// Radius: 2 h.
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
    /// V, 1 / h and div v.
    struct Prepared {
        volume: Real,
        per_length: Real,
        divergence: Real,
    }
    struct Sums {
        gradient: Vec3,
    }
    struct Output {
        divergence_gradient: Vec3,
    }

    fn prepare(law: Law, particle: Particle) -> Prepared {
        Prepared {
            volume: particle.mass / particle.density,
            per_length: 1.0 / particle.smoothing_length,
            divergence: particle.velocity_divergence,
        }
    }

    /// Without C_i / h^3, which all terms share.
    fn interact(law: Law, i: Prepared, j: Prepared, r: Vec3, r2: Real) -> Sums {
        let w = kernel_value(law.kernel, r2 * (i.per_length * i.per_length));
        Sums { gradient: r * (j.volume * w * (i.divergence - j.divergence)) }
    }

    fn finish(law: Law, i: Particle, sums: Sums) -> Output {
        let h = i.smoothing_length;
        Output { divergence_gradient: (i.gradient_matrix * sums.gradient) * (1.0 / (h * h * h)) }
    }
}
