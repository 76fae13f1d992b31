//! Generalized volume elements.

use crate::pair::language::*;

pub use volume_elements::*;

/// k_i = sum_j X_j W(r_ij, h_i), including particle i. Particle i has the volume V_i = X_i / k_i and the
/// density m_i k_i / X_i (Garcia-Senz, Cabezon & Escartin 2022). V_i depends on h_i through k_i only, hence
/// Omega_i = 1 + h_i / (3 k_i) d k_i / d h_i. Radius: 2 h.
#[pair(cutoff = own)]
pub mod volume_elements {
    /// The smoothing kernel.
    struct Law {
        kernel: Kernel,
    }
    struct Particle {
        mass: Real,
        smoothing_length: Real,
        volume_element: Real,
    }
    struct Sums {
        value: Real,
        slope: Real,
    }
    struct Output {
        volume_sum: Real,
        density: Real,
        grad_h: Real,
    }

    /// X_j w, and -X_j (3 w + q w'), both without 1 / h^3.
    fn interact(law: Law, i: Particle, j: Particle, r: Vec3, r2: Real) -> Sums {
        let s = i.smoothing_length.reciprocal();
        let q2 = r2 * (s * s);
        let w = kernel_value(law.kernel, q2);
        Sums {
            value: j.volume_element * w,
            slope: -j.volume_element * (3.0 * w + kernel_slope(law.kernel, q2)),
        }
    }

    /// Adds the particle itself, at q = 0.
    fn finish(law: Law, i: Particle, sums: Sums) -> Output {
        let h = i.smoothing_length;
        let own =
            if planted(SelfDensityMissing) { 0.0 } else { i.volume_element * kernel_value(law.kernel, 0.0) };
        let value = sums.value + own;
        let k = value / (h * h * h);
        Output {
            volume_sum: k,
            density: k * i.mass / i.volume_element,
            grad_h: if planted(GradHMissing) { 1.0 } else { 1.0 + (sums.slope - 3.0 * own) / (3.0 * value) },
        }
    }
}
