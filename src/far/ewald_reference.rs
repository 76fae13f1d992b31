//! Exact Ewald sums (Ewald 1921) in double precision: the reference for gravity in periodic boxes. The mean
//! density is removed: without it neither potential nor force of a periodic system is defined.
use super::softening::SofteningKernel;
use rayon::prelude::*;
use std::f64::consts::{FRAC_2_SQRT_PI, PI, TAU};

/// Terms below exp(-REACH^2) of the leading ones are neglected: those are the reciprocal vectors beyond twice
/// the splitting parameter times this, and the images beyond this over the splitting parameter.
const REACH: f64 = 6.2;

/// Splitting parameter times the cube root of the volume.
const SPLITTING: f64 = 5.0;

/// Computes acceleration x, y, z and potential, for G = 1, of the particles with indices `targets`, due to
/// all `particles` (`[x, y, z, mass]`) and their images in a box with these edges, in double precision. A
/// particle feels its own images, not itself. Coincident particles are skipped, as in the tree.
pub fn ewald(particles: &[[f64; 4]], targets: &[usize], lengths: [f64; 3]) -> Vec<[f64; 4]> {
    let splitting = SPLITTING / lengths.iter().product::<f64>().cbrt();
    let long = long_range(particles, targets, lengths, splitting);
    let cut = REACH / splitting;
    let add = |(field, &target): ([f64; 4], &usize)| {
        let mut field = field;
        for (index, source) in particles.iter().enumerate() {
            for_each_image(particles[target], *source, lengths, cut, |to, distance| {
                let x = splitting * distance;
                let (phi, force) = match (index == target, distance == 0.0) {
                    // the long-range part acts on the particle itself, and on coincident ones
                    (_, true) => (-splitting * FRAC_2_SQRT_PI, 0.0),
                    _ => {
                        let fraction = libm::erfc(x) + FRAC_2_SQRT_PI * x * (-x * x).exp();
                        (libm::erfc(x) / distance, fraction / distance.powi(3))
                    }
                };
                (0..3).for_each(|d| field[d] += source[3] * force * to[d]);
                field[3] -= source[3] * phi;
            });
        }
        field
    };
    long.into_par_iter().zip(targets).map(add).collect()
}

/// Adds to fields of [`ewald`] what softening changes: each mass within `range` of a target, as the particle
/// or one of its images, acts by the softened law instead of as a point.
pub fn soften(
    fields: &mut [[f64; 4]],
    particles: &[[f64; 4]],
    targets: &[usize],
    lengths: [f64; 3],
    (kernel, softening, range): (SofteningKernel, f64, f64),
) {
    fields.par_iter_mut().zip(targets).for_each(|(field, &target)| {
        for (index, source) in particles.iter().enumerate() {
            for_each_image(particles[target], *source, lengths, range, |to, distance| {
                if index == target && distance == 0.0 {
                    return;
                }
                let (phi, force) = kernel.evaluate(distance, softening);
                let point = SofteningKernel::Plummer.evaluate(distance, 0.0);
                (0..3).for_each(|d| field[d] += source[3] * (force - point.1) * to[d]);
                field[3] -= source[3] * (phi - point.0);
            });
        }
    });
}

/// Calls `visit` with the vector and the distance from the target to each image of the source within `range`.
fn for_each_image(
    target: [f64; 4],
    source: [f64; 4],
    lengths: [f64; 3],
    range: f64,
    mut visit: impl FnMut([f64; 3], f64),
) {
    let to = [0, 1, 2].map(|d| source[d] - target[d]);
    let images = |d: usize| {
        let first = ((-range - to[d]) / lengths[d]).ceil() as i64;
        first..=((range - to[d]) / lengths[d]).floor() as i64
    };
    for i in images(0) {
        for j in images(1) {
            for k in images(2) {
                let shift = [i, j, k];
                let to = [0, 1, 2].map(|d| to[d] + shift[d] as f64 * lengths[d]);
                let squared = to[0] * to[0] + to[1] * to[1] + to[2] * to[2];
                if squared <= range * range {
                    visit(to, squared.sqrt());
                }
            }
        }
    }
}

/// Computes the long-range part of [`ewald`] with this splitting parameter a, by a direct sum over reciprocal
/// vectors: the field of masses whose potential is -erf(a r)/r, including each particle's own, without the mean
/// density of the whole field.
pub fn long_range(
    particles: &[[f64; 4]],
    targets: &[usize],
    lengths: [f64; 3],
    splitting: f64,
) -> Vec<[f64; 4]> {
    let volume: f64 = lengths.iter().product();
    let limit = 2.0 * splitting * REACH;
    let most = lengths.map(|length| (limit * length / TAU).ceil() as i64);
    let mut waves = Vec::new();
    for i in 0..=most[0] {
        for j in -most[1]..=most[1] {
            for k in -most[2]..=most[2] {
                // one of each pair of opposite vectors
                if (i, j, k) <= (0, 0, 0) {
                    continue;
                }
                let number = [i, j, k];
                let wave = [0, 1, 2].map(|d| TAU * number[d] as f64 / lengths[d]);
                let squared = wave.iter().map(|w| w * w).sum::<f64>();
                if squared <= limit * limit {
                    let strength =
                        8.0 * PI / volume / squared * (-squared / (4.0 * splitting * splitting)).exp();
                    waves.push((wave, strength));
                }
            }
        }
    }
    let phase = |wave: &[f64; 3], particle: &[f64; 4]| {
        (wave[0] * particle[0] + wave[1] * particle[1] + wave[2] * particle[2]).sin_cos()
    };
    let structure: Vec<([f64; 3], [f64; 2])> = waves
        .par_iter()
        .map(|(wave, strength)| {
            let mut sum = [0.0; 2];
            for particle in particles {
                let (sine, cosine) = phase(wave, particle);
                sum[0] += particle[3] * cosine;
                sum[1] += particle[3] * sine;
            }
            (*wave, sum.map(|sum| sum * strength))
        })
        .collect();
    let mass: f64 = particles.iter().map(|particle| particle[3]).sum();
    let background = PI * mass / (volume * splitting * splitting);
    targets
        .par_iter()
        .map(|&target| {
            let mut field = [0.0, 0.0, 0.0, background];
            for (wave, [cosines, sines]) in &structure {
                let (sine, cosine) = phase(wave, &particles[target]);
                field[3] -= cosines * cosine + sines * sine;
                let slope = sines * cosine - cosines * sine;
                (0..3).for_each(|d| field[d] += slope * wave[d]);
            }
            field
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A point mass in a cube, and in the same lattice seen as another box: xi = 2.837297 (Hasimoto 1959).
    #[test]
    fn a_cubic_lattice_has_its_potential() {
        const LATTICE: f64 = 2.837_297_479_480_62;
        for (edge, mass) in [(1.0, 1.0), (2.5, 0.3)] {
            let one = ewald(&[[0.3, 0.9, 0.2, mass]], &[0], [edge; 3])[0];
            assert!((one[3] * edge / mass - LATTICE).abs() < 1e-11, "{}", one[3]);
            assert!(one[..3].iter().all(|a| a.abs() < 1e-12));
            // two cells beside each other
            let pair = [[0.3, 0.9, 0.2, mass], [0.3 + edge, 0.9, 0.2, mass]];
            for field in ewald(&pair, &[0, 1], [2.0 * edge, edge, edge]) {
                assert!((field[3] * edge / mass - LATTICE).abs() < 1e-11, "{}", field[3]);
                assert!(field[..3].iter().all(|a| a.abs() < 1e-11 * mass));
            }
        }
    }

    /// Rock salt: the constant of Madelung is 1.747564594633182.
    #[test]
    fn rock_salt_has_its_constant() {
        let mut ions = Vec::new();
        for place in 0..8u32 {
            let at = [place & 1, place >> 1 & 1, place >> 2].map(f64::from);
            let sign = if place.count_ones() % 2 == 0 { 1.0 } else { -1.0 };
            ions.push([at[0], at[1], at[2], sign]);
        }
        for field in ewald(&ions, &[0, 3, 5], [2.0; 3]) {
            // the potential is that of gravity, where equal masses attract
            assert!((field[3].abs() - 1.747_564_594_633_182).abs() < 1e-11, "{}", field[3]);
            assert!(field[..3].iter().all(|a| a.abs() < 1e-11));
        }
    }

    /// The force is minus the slope of the potential, and the sum does not depend on the period of a target.
    #[test]
    fn force_is_the_potentials_slope() {
        let lengths = [1.0, 1.5, 0.8];
        let with = |x: f64| vec![[0.1, 0.2, 0.3, 1.0], [0.7, 1.3, 0.1, 2.0], [x, 0.6, 0.75, 1e-30]];
        let step = 1e-4;
        let [below, above] = [0.4 - step, 0.4 + step].map(|x| ewald(&with(x), &[2], lengths)[0][3]);
        let field = ewald(&with(0.4), &[2], lengths)[0];
        assert!((field[0] + (above - below) / (2.0 * step)).abs() < 1e-6, "{field:?}");
        let moved = ewald(&with(0.4 + 3.0 * lengths[0]), &[2], lengths)[0];
        for k in 0..4 {
            assert!((field[k] - moved[k]).abs() < 1e-11, "{field:?} {moved:?}");
        }
    }

    #[test]
    fn softening_acts_within_its_range() {
        let pair = [[0.1, 0.2, 0.3, 1.0], [1.9, 0.2, 0.3, 2.0]];
        let mut field = ewald(&pair, &[0], [2.0; 3]);
        let point = field[0];
        soften(&mut field, &pair, &[0], [2.0; 3], (SofteningKernel::Plummer, 0.1, 0.5));
        let (phi, force) = SofteningKernel::Plummer.evaluate(0.2, 0.1);
        assert!((field[0][3] - point[3] - 2.0 * (5.0 - phi)).abs() < 1e-12);
        assert!((field[0][0] - point[0] + 2.0 * 0.2 * (force - 125.0)).abs() < 1e-11);
    }
}
