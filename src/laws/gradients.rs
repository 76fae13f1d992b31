//! Matrix of the integral approach to derivatives; velocity divergence and curl from it.

use crate::pair::language::*;

pub use gradients::*;

impl Law<f64> {
    /// The law of a kernel.
    pub fn new(kernel: Kernel<f64>) -> Self {
        Law { kernel, per_moment: 1.0 / kernel.second_moment() }
    }
}

/// C_i, the inverse of tau_i = sum_j V_j (r_j - r_i) (x) (r_j - r_i) W(r_ij, h_i) with V_j = m_j / rho_j
/// (Garcia-Senz, Cabezon & Escartin 2012; Cabezon, Garcia-Senz & Escartin 2012). A = C_i (r_j - r_i) W
/// replaces the kernel gradient. The derivative d v_a / d x = sum_j V_j (v_j - v_i)_a A is exact for linear
/// functions. It is C_i times a sum without C_i, so one pass computes both. Radius: 2 h.
///
/// The output C_i is reduced where the neighbors do not fill the kernel of a particle; div v and curl v have
/// the whole one. A particle that leaves a surface has dense neighbors of small volume: tau is small, C_i
/// large, and its pressure would expel it ever faster. With x = tr tau_i / (3 kappa h_i^2), which is 1 where
/// they fill it, C_i is multiplied by x + (1 - x) f; f rises from 0 at x = 0.1 to 1 at x = 0.2. C_i x is the
/// isotropic matrix of a filled kernel.
#[pair(cutoff = own)]
pub mod gradients {
    /// The smoothing kernel, and 1 / kappa of its second moment, the integral of q_x^2 w(q) over q.
    struct Law {
        kernel: Kernel,
        per_moment: Real,
    }
    struct Particle {
        mass: Real,
        density: Real,
        smoothing_length: Real,
        velocity: Vec3,
    }
    /// V, 1 / h and v.
    struct Prepared {
        volume: Real,
        per_length: Real,
        velocity: Vec3,
    }
    /// tau, and sum_j V_j (v_j - v_i)_a (r_j - r_i) W for each component a of the velocity.
    struct Sums {
        tau: Tensor,
        along_x: Vec3,
        along_y: Vec3,
        along_z: Vec3,
    }
    struct Output {
        gradient_matrix: Tensor,
        velocity_divergence: Real,
        velocity_curl: Real,
    }

    fn prepare(law: Law, particle: Particle) -> Prepared {
        Prepared {
            volume: particle.mass / particle.density,
            per_length: 1.0 / particle.smoothing_length,
            velocity: particle.velocity,
        }
    }

    /// Terms without 1 / h^3. Both signs of r and v cancel: (v_j - v_i) (r_j - r_i) = v r.
    fn interact(law: Law, i: Prepared, j: Prepared, r: Vec3, r2: Real) -> Sums {
        let w = j.volume * kernel_value(law.kernel, r2 * (i.per_length * i.per_length));
        let v = i.velocity - j.velocity;
        let weighted = r * w;
        Sums {
            tau: Tensor {
                xx: weighted.x * r.x,
                xy: weighted.x * r.y,
                xz: weighted.x * r.z,
                yy: weighted.y * r.y,
                yz: weighted.y * r.z,
                zz: weighted.z * r.z,
            },
            along_x: weighted * v.x,
            along_y: weighted * v.y,
            along_z: weighted * v.z,
        }
    }

    /// The inverse by cofactors of tau over its mean diagonal t. Where the neighbors lie (nearly) in a plane,
    /// the determinant, 1 for an isotropic tau, vanishes: then the isotropic 1 / t, and zero without any
    /// neighbor.
    fn inverse(tau: Tensor) -> Tensor {
        let t = (tau.xx + tau.yy + tau.zz) / 3.0;
        let scale = if t > 0.0 { 1.0 / t } else { 0.0 };
        let n = tau * scale;
        let xx = n.yy * n.zz - n.yz * n.yz;
        let xy = n.xz * n.yz - n.xy * n.zz;
        let xz = n.xy * n.yz - n.xz * n.yy;
        let determinant = n.xx * xx + n.xy * xy + n.xz * xz;
        let regular = if determinant > 1e-4 { 1.0 } else { 0.0 };
        let factor = if determinant > 1e-4 { scale / determinant } else { 0.0 };
        let isotropic = (1.0 - regular) * scale;
        Tensor {
            xx: xx * factor + isotropic,
            xy: xy * factor,
            xz: if planted(MatrixSign) { -xz * factor } else { xz * factor },
            yy: (n.xx * n.zz - n.xz * n.xz) * factor + isotropic,
            yz: (n.xy * n.xz - n.xx * n.yz) * factor,
            zz: (n.xx * n.yy - n.xy * n.xy) * factor + isotropic,
        }
    }

    /// Share of the matrix in the momentum equation, given the filling x of the kernel.
    fn share(filling: Real) -> Real {
        let x = filling.min(1.0);
        x + (1.0 - x) * (10.0 * x - 1.0).max(0.0).min(1.0)
    }

    fn finish(law: Law, i: Particle, sums: Sums) -> Output {
        let s = 1.0 / i.smoothing_length;
        let per_volume = s * s * s;
        let matrix = inverse(sums.tau * per_volume);
        let filling = (sums.tau.xx + sums.tau.yy + sums.tau.zz) / 3.0 * per_volume * (s * s) * law.per_moment;
        let along_x = matrix * (sums.along_x * per_volume);
        let along_y = matrix * (sums.along_y * per_volume);
        let along_z = matrix * (sums.along_z * per_volume);
        let curl = Vec3 { x: along_z.y - along_y.z, y: along_x.z - along_z.x, z: along_y.x - along_x.y };
        Output {
            gradient_matrix: matrix * share(filling),
            velocity_divergence: along_x.x + along_y.y + along_z.z,
            velocity_curl: curl.dot(curl).sqrt(),
        }
    }
}
