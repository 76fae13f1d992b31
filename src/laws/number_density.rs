//! Number density, from which the smoothing length is found.

use crate::pair::language::*;

pub use number_density::*;

/// n_i = sum_j W(r_ij, h_i), including particle i, and dn_i / d ln h_i = -sum_j (3 w + q w') / h_i^3.
///
/// The smoothing length solves n_i h_i^3 = constant (Springel & Hernquist 2002, with the number density in
/// place of the mass density). Radius: 2 h.
#[pair(cutoff = own)]
pub mod number_density {
    /// The smoothing kernel.
    struct Law {
        kernel: Kernel,
    }
    struct Particle {
        smoothing_length: Real,
    }
    struct Sums {
        value: Real,
        slope: Real,
    }
    struct Output {
        number_density: Real,
        number_density_slope: Real,
    }

    /// w, and -(3 w + q w'), both without 1 / h^3.
    fn interact(law: Law, i: Particle, j: Particle, r: Vec3, r2: Real) -> Sums {
        let s = i.smoothing_length.reciprocal();
        let q2 = r2 * (s * s);
        let w = kernel_value(law.kernel, q2);
        Sums { value: w, slope: -(3.0 * w + kernel_slope(law.kernel, q2)) }
    }

    /// Adds the particle itself, at q = 0.
    fn finish(law: Law, i: Particle, sums: Sums) -> Output {
        let h = i.smoothing_length;
        let per_volume = 1.0 / (h * h * h);
        let own = kernel_value(law.kernel, 0.0);
        Output {
            number_density: (sums.value + own) * per_volume,
            number_density_slope: (sums.slope - 3.0 * own) * per_volume,
        }
    }
}
