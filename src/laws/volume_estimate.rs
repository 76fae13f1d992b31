//! First estimate of the volume elements.

use crate::pair::language::*;

pub use volume_estimate::*;

/// Estimate X_i of the volume of a particle, before the partition of unity ([`super::volume_elements`]).
///
/// The number density gives 1 / n_i, which is smooth over 2 h. The thermal energy E = m u gives
/// E_i / sum_j E_j W(r_ij, h_i), which is exact where the pressure is uniform, and follows jumps of density
/// and mass (Saitoh & Makino 2013 take the density from it everywhere). At shocks it is wrong. Therefore
///
/// - X_i = (1 / n_i)^(1 - s) (E_i / sum_j E_j W_ij)^s, with the share s = f_E (1 - f_o) (1 - f_c) of three
///   factors, each a linear ramp from 0 to 1
/// - f_E: contrast of the energies, the mean of [(E_i - E_j) / (E_i + E_j)]^2 weighted by W_ij
/// - f_o: offset of the center of the energies from i, |sum_j E_j (r_j - r_i) W_ij| / sum_j E_j W_ij, over
///   h_i; small in a uniform pressure, large ahead of a shock
/// - f_c: compression -h div v / c with the speed of sound c, large in a shock
///
/// The two volumes differ by a factor of at most 100: a particle without energy keeps a volume.
///
/// `density` is m n of the smoothing-length search, `velocity_divergence` that of the last evaluation.
/// Radius: 2 h.
#[pair(cutoff = own)]
pub mod volume_estimate {
    /// The smoothing kernel; 1 if E = m u, 0 if E = m (isothermal gas); c^2 over u, or c^2 (isothermal gas);
    /// start of each ramp, and 1 over its width.
    struct Law {
        kernel: Kernel,
        ideal: Real,
        sound_squared: Real,
        contrast_start: Real,
        contrast_slope: Real,
        offset_start: Real,
        offset_slope: Real,
        compression_start: Real,
        compression_slope: Real,
    }
    struct Particle {
        mass: Real,
        density: Real,
        internal_energy: Real,
        velocity_divergence: Real,
        smoothing_length: Real,
    }
    /// E and 1 / h.
    struct Prepared {
        energy: Real,
        per_length: Real,
    }
    struct Sums {
        energy: Real,
        contrast: Real,
        moment: Vec3,
    }
    struct Output {
        volume_element: Real,
    }

    /// E / m of a particle.
    fn specific_energy(law: Law, particle: Particle) -> Real {
        1.0 + law.ideal * (particle.internal_energy - 1.0)
    }

    fn prepare(law: Law, particle: Particle) -> Prepared {
        Prepared {
            energy: particle.mass * specific_energy(law, particle),
            per_length: 1.0 / particle.smoothing_length,
        }
    }

    /// Terms without 1 / h^3.
    fn interact(law: Law, i: Prepared, j: Prepared, r: Vec3, r2: Real) -> Sums {
        let w = kernel_value(law.kernel, r2 * (i.per_length * i.per_length));
        let contrast = (i.energy - j.energy) * (i.energy + j.energy).max(1e-30).reciprocal();
        let weighted = j.energy * w;
        Sums { energy: weighted, contrast: contrast * contrast * w, moment: r * weighted }
    }

    /// Linear from 0 at `start` to 1.
    fn ramp(value: Real, start: Real, slope: Real) -> Real {
        ((value - start) * slope).max(0.0).min(1.0)
    }

    /// Adds the particle itself, at q = 0. n h^3 weighs the contrast.
    fn finish(law: Law, i: Particle, sums: Sums) -> Output {
        let h = i.smoothing_length;
        let by_number = i.mass / i.density;
        let specific = specific_energy(law, i);
        let own = i.mass * specific;
        let energy = (sums.energy + own * kernel_value(law.kernel, 0.0)).max(1e-30);
        let by_energy = (own * (h * h * h) / energy).max(1e-30);
        let contrast = ramp(sums.contrast * by_number / (h * h * h), law.contrast_start, law.contrast_slope);
        let offset = sums.moment.dot(sums.moment).sqrt() / (energy * h);
        let sound = (law.sound_squared * specific).max(1e-30).sqrt();
        let compression = -i.velocity_divergence * h / sound;
        let share = contrast
            * (1.0 - ramp(offset, law.offset_start, law.offset_slope))
            * (1.0 - ramp(compression, law.compression_start, law.compression_slope));
        // 4.6 = ln 100
        let log_ratio = (by_energy / by_number).ln().max(-4.6).min(4.6);
        let estimate = by_number * (share * log_ratio).exp();
        Output { volume_element: if planted(VolumeByNumber) { by_number } else { estimate } }
    }
}
