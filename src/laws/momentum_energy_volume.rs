//! Momentum and energy equations of the volume-element formulation.

use crate::pair::language::*;

pub use momentum_energy_volume::*;

/// With A_i = C_i (r_j - r_i) W(r_ij, h_i), A_j = C_j (r_j - r_i) W(r_ij, h_j), the volumes
/// V = X / k = m / rho and T_i = X_i^(2 - s) X_j^s P_i / (Omega_i k_i^2) = V_i^2 (X_j / X_i)^s P_i / Omega_i
/// (Garcia-Senz, Cabezon & Escartin 2022):
///
/// - m_i a_i = -sum_j [T_i A_i + T_j A_j + m_i m_j Pi / 2 (A_i / rho_i + A_j / rho_j)]
/// - m_i du_i/dt = sum_j [T_i A_i + m_i m_j Pi / 4 (A_i / rho_i + A_j / rho_j)] . (v_i - v_j), plus
///   conduction
/// - s rises linearly from 0 to 1 with the Atwood number |rho_i - rho_j| / (rho_i + rho_j): uncrossed in
///   smooth density, crossed at density jumps
///
/// Viscosity, conduction and conservation as in [`super::momentum_energy_standard`]. Radius: 2 h.
#[pair(cutoff = either)]
pub mod momentum_energy_volume {
    /// Kernel, coefficient beta of the quadratic viscosity at alpha = 1 (2), coefficient a_u of the
    /// conductivity of every pair and its part per mean alpha of the pair (0: off), Atwood number at which
    /// crossing begins (0.1), and 1 over the width of its rise (10).
    struct Law {
        kernel: Kernel,
        beta: Real,
        conductivity: Real,
        switched_conductivity: Real,
        crossing_start: Real,
        crossing_slope: Real,
    }
    struct Particle {
        mass: Real,
        smoothing_length: Real,
        density: Real,
        volume_element: Real,
        grad_h: Real,
        pressure: Real,
        sound_speed: Real,
        internal_energy: Real,
        viscosity: Real,
        velocity: Vec3,
        gradient_matrix: Tensor,
    }
    /// What a particle's pairs share: 1 / h, 1 / rho, ln X and P V^2 / Omega, with the fields of these names.
    struct Prepared {
        mass: Real,
        per_length: Real,
        per_density: Real,
        log_volume_element: Real,
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
        let volume = particle.mass * per_density;
        Prepared {
            mass: particle.mass,
            per_length: 1.0 / particle.smoothing_length,
            per_density,
            log_volume_element: particle.volume_element.ln(),
            pressure: particle.pressure / particle.grad_h * (volume * volume),
            sound_speed: particle.sound_speed,
            internal_energy: particle.internal_energy,
            viscosity: if planted(ViscositySign) { -particle.viscosity } else { particle.viscosity },
            velocity: particle.velocity,
            gradient_matrix: particle.gradient_matrix,
        }
    }

    /// -A: C r W.
    fn gradient(law: Law, particle: Prepared, r: Vec3, r2: Real) -> Vec3 {
        let s = particle.per_length;
        if planted(GradientFactor) {
            (particle.gradient_matrix * r) * (2.0 * kernel_value(law.kernel, r2 * (s * s)) * (s * s * s))
        } else {
            (particle.gradient_matrix * r) * (kernel_value(law.kernel, r2 * (s * s)) * (s * s * s))
        }
    }

    /// (X_j / X_i)^s; the Atwood number is the same of the inverse densities.
    fn crossing(law: Law, i: Prepared, j: Prepared) -> Real {
        let sum = i.per_density + j.per_density;
        let atwood = (i.per_density - j.per_density).abs() * sum.reciprocal();
        let s = ((atwood - law.crossing_start) * law.crossing_slope).max(0.0).min(1.0);
        (s * (j.log_volume_element - i.log_volume_element)).exp()
    }

    fn interact(law: Law, i: Prepared, j: Prepared, r: Vec3, r2: Real) -> Sums {
        let v = i.velocity - j.velocity;
        let gradient_i = gradient(law, i, r, r2);
        let gradient_j = gradient(law, j, r, r2);
        let crossed = crossing(law, i, j);
        let pressure_i = i.pressure * crossed;
        let pressure_j = j.pressure * crossed.reciprocal();

        let per_distance = r2.max(1e-30).sqrt().reciprocal();
        let speed = v.dot(r) * per_distance;
        let w = speed.min(0.0);
        let sound = i.sound_speed + j.sound_speed;
        let alpha = 0.5 * (i.viscosity + j.viscosity);
        let viscosity = alpha * w * (law.beta * w - 0.5 * sound);
        let shared = (gradient_i * i.per_density + gradient_j * j.per_density) * (0.5 * i.mass * j.mass);
        let conductivity = law.conductivity + law.switched_conductivity * alpha;
        let conduction = conductivity * speed.abs() * (i.internal_energy - j.internal_energy) * per_distance;
        Sums {
            force: if planted(PressureSign) {
                gradient_i * pressure_i - gradient_j * pressure_j + shared * viscosity
            } else {
                gradient_i * pressure_i + gradient_j * pressure_j + shared * viscosity
            },
            heating: if planted(HeatingOfNeighbor) {
                -(pressure_j * gradient_j.dot(v)
                    + 0.5 * viscosity * shared.dot(v)
                    + conduction * shared.dot(r))
            } else if planted(ViscousHeatMissing) {
                -(pressure_i * gradient_i.dot(v) + conduction * shared.dot(r))
            } else {
                -(pressure_i * gradient_i.dot(v)
                    + 0.5 * viscosity * shared.dot(v)
                    + conduction * shared.dot(r))
            },
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
