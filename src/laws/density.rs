//! Density sum and grad-h factor.

use crate::pair::language::*;

pub use density::*;

/// rho_i = sum_j m_j W(r_ij, h_i), including particle i, and Omega_i = 1 + h_i / (3 rho_i) d rho_i / d h_i
/// (Springel & Hernquist 2002; Price 2012). Radius: 2 h.
#[pair(cutoff = own)]
pub mod density {
    /// The smoothing kernel.
    struct Law {
        kernel: Kernel,
    }
    struct Particle {
        mass: Real,
        smoothing_length: Real,
    }
    struct Sums {
        value: Real,
        slope: Real,
    }
    struct Output {
        density: Real,
        grad_h: Real,
    }

    /// m_j w, and -m_j (3 w + q w'), both without 1 / h^3.
    fn interact(law: Law, i: Particle, j: Particle, r: Vec3, r2: Real) -> Sums {
        let s = i.smoothing_length.reciprocal();
        let q2 = r2 * (s * s);
        let w = kernel_value(law.kernel, q2);
        Sums { value: j.mass * w, slope: -j.mass * (3.0 * w + kernel_slope(law.kernel, q2)) }
    }

    /// Adds the particle itself, at q = 0; d / d ln h = h d / d h.
    fn finish(law: Law, i: Particle, sums: Sums) -> Output {
        let h = i.smoothing_length;
        let own = i.mass * kernel_value(law.kernel, 0.0);
        let value = sums.value + own;
        Output { density: value / (h * h * h), grad_h: 1.0 + (sums.slope - 3.0 * own) / (3.0 * value) }
    }
}
