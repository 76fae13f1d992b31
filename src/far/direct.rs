//! Direct summation: the reference for the tree.
use super::softening::SofteningKernel;
use rayon::prelude::*;

/// Computes acceleration x, y, z and potential, for G = 1, of the particles with indices `targets`, due to
/// all other `particles` (`[x, y, z, mass]`), in double precision. Coincident unsoftened particles are
/// skipped, as in the tree.
pub fn direct(
    particles: &[[f64; 4]],
    targets: &[usize],
    kernel: SofteningKernel,
    softening: f64,
) -> Vec<[f64; 4]> {
    targets
        .par_iter()
        .map(|&i| {
            let mut sum = [0.0; 4];
            for (j, source) in particles.iter().enumerate() {
                if j == i {
                    continue;
                }
                let to = [0, 1, 2].map(|d| source[d] - particles[i][d]);
                let distance = (to[0] * to[0] + to[1] * to[1] + to[2] * to[2]).sqrt();
                let (phi, force) = kernel.evaluate(distance, softening);
                for d in 0..3 {
                    sum[d] += source[3] * force * to[d];
                }
                sum[3] -= source[3] * phi;
            }
            sum
        })
        .collect()
}
