//! Counter-based random numbers: functions of seed, particle id and step only. They do not depend on the
//! number of ranks and threads, and are reproducible after a restart.
//!
//! Philox4x32-10 (Salmon, Moraes, Dror & Shaw 2011, Parallel random numbers: as easy as 1, 2, 3, SC '11)
//! turns a counter into four 32-bit words. Two words give two normal deviates (Box & Muller 1958, Ann. Math.
//! Stat. 29, 610).

use fearless_simd::prelude::*;
use fearless_simd::{Simd, f64x8};

use crate::simd::real::Real;

/// Number of particles per vector.
pub const LANES: usize = 8;

/// Purpose of random numbers. Each purpose has its own counters, hence independent numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Purpose {
    /// Noise of the Langevin thermostat.
    Noise = 1,
    /// Separation directions of overlapping particles in the energy minimization.
    Separation = 2,
}

const LOW: u64 = 0xffff_ffff;

/// Philox4x32-10 for eight counters. Word k of counter l is the low half of `counter[k][l]`.
#[inline(always)]
fn philox(mut counter: [[u64; LANES]; 4], key: [u32; 2]) -> [[u64; LANES]; 4] {
    let mut key = key.map(u64::from);
    for _ in 0..10 {
        let [c0, c1, c2, c3] = &mut counter;
        for l in 0..LANES {
            let (first, second) = (0xd251_1f53 * (c0[l] & LOW), 0xcd9e_8d57 * (c2[l] & LOW));
            c0[l] = (second >> 32) ^ c1[l] ^ key[0];
            c1[l] = second & LOW;
            c2[l] = (first >> 32) ^ c3[l] ^ key[1];
            c3[l] = first & LOW;
        }
        key = [(key[0] + 0x9e37_79b9) & LOW, (key[1] + 0xbb67_ae85) & LOW];
    }
    counter
}

/// Three independent normal deviates of unit variance for each of eight particles, as
/// `[component][particle]`. Magnitudes are at most 6.8, because the uniform deviates have 32 bits.
#[inline(always)]
pub fn normals<S: Simd>(
    simd: S,
    purpose: Purpose,
    seed: u64,
    step: u64,
    id: &[u64; LANES],
) -> [[f64; LANES]; 3] {
    let mut counter = [[0; LANES]; 4];
    for l in 0..LANES {
        counter[0][l] = id[l] & LOW;
        counter[1][l] = id[l] >> 32;
        counter[2][l] = step & LOW;
        // step numbers of a deck are at most 2^53
        counter[3][l] = (step >> 32) | u64::from(purpose as u32) << 24;
    }
    let words = philox(counter, [seed as u32, (seed >> 32) as u32]);
    let (x, y) = pair(simd, &words[0], &words[1]);
    let (z, _) = pair(simd, &words[2], &words[3]);
    let mut values = [[0.0; LANES]; 3];
    values[0].copy_from_slice(x.as_slice());
    values[1].copy_from_slice(y.as_slice());
    values[2].copy_from_slice(z.as_slice());
    values
}

/// Box-Muller transform: two normal deviates from two words.
#[inline(always)]
fn pair<S: Simd>(simd: S, first: &[u64; LANES], second: &[u64; LANES]) -> (f64x8<S>, f64x8<S>) {
    let of = |value: f64| f64x8::splat(simd, value);
    let turn = fraction(simd, second) - of(0.5);
    let radius = Real::sqrt(of(-2.0) * fraction(simd, first).ln());
    // reduce the angle to at most pi/4 around the nearest quarter turn
    let quarter = Real::round(turn * of(4.0));
    let angle = (turn - quarter * of(0.25)) * of(std::f64::consts::TAU);
    let square = angle * angle;
    let (sine, cosine) = (angle * square.polynomial(&SINE), square.polynomial(&COSINE));
    let size = Real::abs(quarter);
    let odd = of(0.5).less(size) & size.less(of(1.5));
    let even_sign = of(1.0) - size;
    let x = <f64x8<S> as Real>::select(odd, -(quarter * sine), even_sign * cosine);
    let y = <f64x8<S> as Real>::select(odd, quarter * cosine, even_sign * sine);
    (radius * x, radius * y)
}

/// Converts words to numbers between 0 and 1, both excluded.
#[inline(always)]
fn fraction<S: Simd>(simd: S, words: &[u64; LANES]) -> f64x8<S> {
    const TWO_52: f64 = (1u64 << 52) as f64;
    let mut whole = [0.0; LANES];
    for l in 0..LANES {
        // or-ing an integer into the low mantissa bits of 2^52 adds it
        whole[l] = f64::from_bits(TWO_52.to_bits() | words[l]) - TWO_52;
    }
    (f64x8::from_slice(simd, &whole) + f64x8::splat(simd, 0.5)) * f64x8::splat(simd, 2f64.powi(-32))
}

/// Taylor polynomials of sin(x) / x and cos(x) in x^2, for |x| <= pi/4. The remainders are 1e-14 and 1e-15.
const SINE: [f64; 7] = alternating(1);
const COSINE: [f64; 8] = alternating(0);

/// Coefficients (-1)^k / (2 k + first)!, highest k first.
const fn alternating<const N: usize>(first: usize) -> [f64; N] {
    let mut terms = [1.0; N];
    let mut k = 1;
    while k < N {
        terms[N - 1 - k] = -terms[N - k] / ((2 * k + first) * (2 * k + first - 1)) as f64;
        k += 1;
    }
    terms
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Instructions;
    use crate::simd::{Task, dispatch};

    struct Normals(u64, u64, [u64; LANES]);
    impl Task for Normals {
        type Output = [[f64; LANES]; 3];
        type Scalar = f64;
        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> Self::Output {
            normals(simd, Purpose::Noise, self.0, self.1, &self.2)
        }
    }

    fn drawn(seed: u64, step: u64, first: u64) -> [[f64; LANES]; 3] {
        dispatch(Instructions::Best, Normals(seed, step, std::array::from_fn(|l| first + l as u64)))
    }

    /// Known answers published with the authors' program.
    #[test]
    fn the_generator_is_that_of_the_paper() {
        let cases = [
            ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([LOW; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0],
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ),
        ];
        for (counter, key, words) in cases {
            let found = philox(counter.map(|word| [word; LANES]), key);
            assert_eq!(found.map(|words| words[5]), words);
        }
    }

    #[test]
    fn deviates_are_normal_and_independent() {
        const COUNT: usize = 200_000;
        let mut values = Vec::with_capacity(COUNT);
        for block in 0..(COUNT / LANES) as u64 {
            let [x, y, z] = drawn(7, block % 50, block / 50 * LANES as u64);
            values.extend((0..LANES).map(|l| [x[l], y[l], z[l]]));
        }
        let mean = |of: &dyn Fn(&[f64; 3]) -> f64| values.iter().map(of).sum::<f64>() / COUNT as f64;
        // six standard errors
        let error = |variance: f64| 6.0 * (variance / COUNT as f64).sqrt();
        for c in 0..3 {
            for (power, expected, variance) in
                [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0), (6, 15.0, 10_170.0)]
            {
                let found = mean(&|v| v[c].powi(power));
                assert!((found - expected).abs() < error(variance), "{c} {power}: {found}");
            }
            let other = (c + 1) % 3;
            assert!(mean(&|v| v[c] * v[other]).abs() < error(1.0));
            assert!(mean(&|v| v[c] * v[c] * v[other] * v[other] - 1.0).abs() < error(8.0));
            // fraction within one standard deviation, to which moments are insensitive
            let within = mean(&|v| f64::from(v[c].abs() < 1.0));
            assert!((within - 0.682_689).abs() < error(0.2166), "{within}");
            assert!(values.iter().all(|v| v[c].abs() < 6.7));
        }
    }

    #[test]
    fn seeds_steps_and_particles_have_numbers_of_their_own() {
        let first = drawn(1, 1, 0);
        assert_eq!(first, drawn(1, 1, 0));
        for other in
            [drawn(2, 1, 0), drawn(1, 2, 0), drawn(1, 1, 8), drawn(1, 1 + (1 << 32), 0), drawn(1, 1, 1 << 32)]
        {
            assert!((0..3).all(|c| (0..LANES).all(|l| first[c][l] != other[c][l])));
        }
        // deviates of a particle do not depend on its lane or its neighbors in the vector
        assert_eq!(drawn(1, 1, 3)[1][2], first[1][5]);
    }
}
