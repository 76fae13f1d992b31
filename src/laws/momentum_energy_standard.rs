//! Momentum and energy equations of the standard formulation.

use crate::pair::language::*;

pub use momentum_energy_standard::*;

/// With A_i = C_i (r_j - r_i) W(r_ij, h_i) in place of the kernel gradient (Garcia-Senz, Cabezon & Escartin
/// 2012, Cabezon, Garcia-Senz & Figueira 2017), A_j = C_j (r_j - r_i) W(r_ij, h_j) and p = P / (Omega rho^2):
///
/// - m_i a_i = -sum_j m_i m_j [p_i A_i + p_j A_j + Pi / 2 (A_i / rho_i + A_j / rho_j)]
/// - m_i du_i/dt = sum_j m_i m_j [p_i A_i + Pi / 4 (A_i / rho_i + A_j / rho_j)] . (v_i - v_j), plus
///   conduction
/// - Pi = -v_sig w, v_sig = alpha ((c_i + c_j) / 2 - beta w), w = min(0, v_ij . r_ij / |r_ij|),
///   alpha = (alpha_i + alpha_j) / 2: the signal velocity of Monaghan 1997. The viscosity switch scales the
///   quadratic term too, so that smooth compression stays adiabatic
/// - conduction (Price 2008, with the speed |v_ij . r_ij| / |r_ij| of Wadsley et al. 2008) adds to
///   m_i du_i/dt: m_i m_j a_u |v_ij . r_ij| / |r_ij| (u_i - u_j) (r_i - r_j) / |r_ij| . (A_i / rho_i +
///   A_j / rho_j) / 2
///
/// Antisymmetric in i and j: momentum is conserved, and sum_i m_i (v_i . a_i + du_i/dt) = 0. Radius: 2 h.
#[pair(cutoff = either)]
pub mod momentum_energy_standard {
    /// Kernel, coefficient beta of the quadratic viscosity at alpha = 1 (2), coefficient a_u of the
    /// conductivity of every pair and its part per mean alpha of the pair (0: off).
    struct Law {
        kernel: Kernel,
        beta: Real,
        conductivity: Real,
        switched_conductivity: Real,
    }
    struct Particle {
        mass: Real,
        smoothing_length: Real,
        density: Real,
        grad_h: Real,
        pressure: Real,
        sound_speed: Real,
        internal_energy: Real,
        viscosity: Real,
        velocity: Vec3,
        gradient_matrix: Tensor,
    }
    /// What a particle's pairs share: 1 / h, 1 / rho and P / (Omega rho^2), with the fields of these names.
    struct Prepared {
        mass: Real,
        per_length: Real,
        per_density: Real,
        pressure: Real,
        sound_speed: Real,
        internal_energy: Real,
        viscosity: Real,
        velocity: Vec3,
        gradient_matrix: Tensor,
    }
    struct Sums {
        #[odd]
        force: Vec3,
        heating: Real,
        #[even]
        #[max]
        signal: Real,
    }
    struct Output {
        acceleration: Vec3,
        internal_energy_rate: Real,
        signal_speed: Real,
    }

    fn prepare(law: Law, particle: Particle) -> Prepared {
        let per_density = 1.0 / particle.density;
        Prepared {
            mass: particle.mass,
            per_length: 1.0 / particle.smoothing_length,
            per_density,
            pressure: particle.pressure / particle.grad_h * (per_density * per_density),
            sound_speed: particle.sound_speed,
            internal_energy: particle.internal_energy,
            viscosity: particle.viscosity,
            velocity: particle.velocity,
            gradient_matrix: particle.gradient_matrix,
        }
    }

    /// -A: C r W.
    fn gradient(law: Law, particle: Prepared, r: Vec3, r2: Real) -> Vec3 {
        let s = particle.per_length;
        (particle.gradient_matrix * r) * (kernel_value(law.kernel, r2 * (s * s)) * (s * s * s))
    }

    fn interact(law: Law, i: Prepared, j: Prepared, r: Vec3, r2: Real) -> Sums {
        let v = i.velocity - j.velocity;
        let gradient_i = gradient(law, i, r, r2);
        let gradient_j = gradient(law, j, r, r2);

        let per_distance = r2.max(1e-30).sqrt().reciprocal();
        let speed = v.dot(r) * per_distance;
        let w = speed.min(0.0);
        let sound = i.sound_speed + j.sound_speed;
        let alpha = 0.5 * (i.viscosity + j.viscosity);
        let viscosity = alpha * w * (law.beta * w - 0.5 * sound);
        let shared = (gradient_i * i.per_density + gradient_j * j.per_density) * 0.5;
        let masses = i.mass * j.mass;
        let conductivity = law.conductivity + law.switched_conductivity * alpha;
        let conduction = conductivity * speed.abs() * (i.internal_energy - j.internal_energy) * per_distance;
        Sums {
            force: (gradient_i * i.pressure + gradient_j * j.pressure + shared * viscosity) * masses,
            heating: -masses
                * (i.pressure * gradient_i.dot(v)
                    + 0.5 * viscosity * shared.dot(v)
                    + conduction * shared.dot(r)),
            signal: sound - 3.0 * w,
        }
    }

    /// Without a neighbor the signal is the particle's own sound.
    fn finish(law: Law, i: Particle, sums: Sums) -> Output {
        Output {
            acceleration: sums.force * (1.0 / i.mass),
            internal_energy_rate: sums.heating / i.mass,
            signal_speed: sums.signal.max(i.sound_speed),
        }
    }
}
