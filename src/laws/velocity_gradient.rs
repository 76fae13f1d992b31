//! Divergence and curl of the velocity.

use crate::pair::language::*;

pub use velocity_gradient::*;

/// div v and |curl v| by the integral approach: d v_a / d x_b = sum_j V_j (v_j - v_i)_a (C_i (r_j - r_i))_b W(r_ij, h_i)
/// (Garcia-Senz, Cabezon & Escartin 2012), V = m / rho. Radius: 2 h.
#[pair(cutoff = own)]
pub mod velocity_gradient {
    /// The smoothing kernel.
    struct Law {
        kernel: Kernel,
    }
    struct Particle {
        mass: Real,
        density: Real,
        smoothing_length: Real,
        velocity: Vec3,
        gradient_matrix: Tensor,
    }
    struct Sums {
        divergence: Real,
        curl: Vec3,
    }
    struct Output {
        velocity_divergence: Real,
        velocity_curl: Real,
    }

    /// Both signs of r and v cancel: (v_j - v_i) . C (r_j - r_i) = v . C r.
    fn interact(law: Law, i: Particle, j: Particle, r: Vec3, r2: Real) -> Sums {
        let w = kernel_value(law.kernel, r2.sqrt() / i.smoothing_length);
        let a = (i.gradient_matrix * r) * (j.mass / j.density * w);
        let v = i.velocity - j.velocity;
        Sums { divergence: a.dot(v), curl: a.cross(v) }
    }

    fn finish(law: Law, i: Particle, sums: Sums) -> Output {
        let h = i.smoothing_length;
        let volume = h * h * h;
        Output {
            velocity_divergence: sums.divergence / volume,
            velocity_curl: sums.curl.dot(sums.curl).sqrt() / volume,
        }
    }
}
