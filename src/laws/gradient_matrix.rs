//! The matrix of the integral approach to derivatives.

use crate::pair::language::*;
use crate::particles::Particles;

pub use gradient_matrix::*;

/// C_i, the inverse of tau_i = sum_j V_j (r_j - r_i) (x) (r_j - r_i) W(r_ij, h_i) with V_j = m_j / rho_j
/// (Garcia-Senz, Cabezon & Escartin 2012; Cabezon, Garcia-Senz & Escartin 2012). Then A = C_i (r_j - r_i) W
/// takes the place of the kernel's gradient, and is exact for linear functions. Radius: 2 h.
#[pair(cutoff = own)]
pub mod gradient_matrix {
    /// The smoothing kernel.
    struct Law {
        kernel: Kernel,
    }
    struct Particle {
        mass: Real,
        density: Real,
        smoothing_length: Real,
    }
    struct Sums {
        tau: Tensor,
    }
    struct Output {
        gradient_matrix: Tensor,
    }

    /// tau's term without 1 / h^3.
    fn interact(law: Law, i: Particle, j: Particle, r: Vec3, r2: Real) -> Sums {
        let w = kernel_value(law.kernel, r2.sqrt() / i.smoothing_length);
        Sums { tau: outer(r) * (j.mass / j.density * w) }
    }

    /// The inverse by cofactors of tau over its mean diagonal t. Where the neighbors lie (nearly) in a plane, the
    /// determinant, 1 for an isotropic tau, vanishes: then the isotropic 1 / t, and zero without any neighbor.
    fn finish(law: Law, i: Particle, sums: Sums) -> Output {
        let h = i.smoothing_length;
        let tau = sums.tau * (1.0 / (h * h * h));
        let t = (tau.xx + tau.yy + tau.zz) / 3.0;
        let inverse = if t > 0.0 { 1.0 / t } else { 0.0 };
        let n = tau * inverse;
        let xx = n.yy * n.zz - n.yz * n.yz;
        let xy = n.xz * n.yz - n.xy * n.zz;
        let xz = n.xy * n.yz - n.xz * n.yy;
        let determinant = n.xx * xx + n.xy * xy + n.xz * xz;
        let regular = if determinant > 1e-4 { 1.0 } else { 0.0 };
        let factor = if determinant > 1e-4 { inverse / determinant } else { 0.0 };
        let isotropic = (1.0 - regular) * inverse;
        Output {
            gradient_matrix: Tensor {
                xx: xx * factor + isotropic,
                xy: xy * factor,
                xz: xz * factor,
                yy: (n.xx * n.zz - n.xz * n.xz) * factor + isotropic,
                yz: (n.xy * n.xz - n.xx * n.yz) * factor,
                zz: (n.xx * n.yy - n.xy * n.xy) * factor + isotropic,
            },
        }
    }
}

/// How many owned particles got the isotropic matrix because their neighbors lie in a plane, or have none.
pub fn fallbacks(particles: &Particles) -> usize {
    let [xx, xy, xz, yy, yz, zz] = [0, 1, 2, 3, 4, 5].map(|c| particles.component(Field::GradientMatrix, c));
    let plain = |&row: &usize| {
        xy[row] == 0.0 && xz[row] == 0.0 && yz[row] == 0.0 && xx[row] == yy[row] && yy[row] == zz[row]
    };
    particles.owned().filter(plain).count()
}
