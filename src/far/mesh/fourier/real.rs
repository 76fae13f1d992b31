//! Transforms of real lines: half a spectrum, from complex transforms of half the length.

use super::FourierScalar;
use super::butterfly::Complex;
use super::lines::{Lines, Place};
use crate::simd::Lanes;
use crate::simd::real::Real;
use fearless_simd::Simd;
use std::f64::consts::TAU;

/// The plan of transforms of real lines, in vectors with a line per lane.
///
/// A line of an even number of points is transformed as complex numbers `x[2j] + i x[2j+1]`, of which the
/// transforms of the even and of the odd points are separated afterwards (Press et al., Numerical Recipes,
/// section 12.3). A line of an odd number of points is transformed as complex numbers.
pub(super) struct RealLines<T> {
    points: usize,
    lines: Lines<T>,
    /// Half the sine and half the cosine of `2 pi k / points`.
    half_turns: Vec<[T; 2]>,
    /// For each real point, its vector after the inverse transform.
    vectors: Vec<usize>,
}

const PAIRS: Place = Place::ADJACENT;

impl<T: FourierScalar> RealLines<T> {
    pub fn new(points: usize) -> Self {
        let even = points.is_multiple_of(2);
        let lines = Lines::new(if even { points / 2 } else { points });
        let half_turns = (0..=points / 4).map(|k| {
            let (sin, cos) = (TAU * k as f64 / points as f64).sin_cos();
            [T::from_f64(0.5 * sin), T::from_f64(0.5 * cos)]
        });
        let vector = |point: usize| match even {
            true => 2 * lines.positions[point / 2] + point % 2,
            false => 2 * lines.positions[point],
        };
        let vectors = (0..points).map(vector).collect();
        RealLines { points, half_turns: half_turns.collect(), vectors, lines }
    }

    /// Number of points of a line.
    pub fn points(&self) -> usize {
        self.points
    }

    /// Number of waves: half the points, and the wave number 0.
    pub fn waves(&self) -> usize {
        self.points / 2 + 1
    }

    /// Number of vectors of the complex lines.
    pub fn vectors(&self) -> usize {
        2 * self.lines.len()
    }

    /// Distance of the vectors of real points for [`Self::forward`].
    #[inline(always)]
    pub fn input_stride(&self) -> usize {
        if self.is_even() { 1 } else { 2 }
    }

    /// The vectors of the real points from `first` on, after [`Self::inverse`].
    #[inline(always)]
    pub fn output(&self, first: usize) -> &[usize] {
        &self.vectors[first..]
    }

    /// Whether the number of points is even.
    #[inline(always)]
    pub fn is_even(&self) -> bool {
        self.points.is_multiple_of(2)
    }

    /// Transforms real points to `waves`, which have real and imaginary parts in turn. `points` is
    /// overwritten.
    #[inline(always)]
    pub fn forward<S: Simd>(&self, simd: S, points: &mut [T::Vector], waves: &mut [T::Vector]) {
        let (length, positions) = (self.lines.len(), &self.lines.positions);
        if !self.is_even() {
            let zero = T::Lanes::broadcast(simd, T::default());
            (0..length).for_each(|point| zero.store(points[2 * point + 1].as_mut()));
        }
        self.lines.transform(simd, points, PAIRS);
        if !self.is_even() {
            for k in 0..self.waves() {
                PAIRS.store::<T, S>(PAIRS.load::<T, S>(simd, points, positions[k]), waves, k);
            }
            return;
        }
        let half = T::Lanes::literal(simd, 0.5);
        for k in 0..=length / 2 {
            let first = PAIRS.load::<T, S>(simd, points, positions[k]);
            let opposite = positions[if k > 0 { length - k } else { 0 }];
            let [even, odd] = halves(first, PAIRS.load::<T, S>(simd, points, opposite));
            let (even, turned) = (even.scaled(half), odd.times(self.half_turn(simd, k, 1.0)));
            PAIRS.store::<T, S>(even - turned, waves, k);
            PAIRS.store::<T, S>((even + turned).conjugate(), waves, length - k);
        }
    }

    /// Transforms `waves` to real points, unnormalized: the inverse of [`Self::forward`] times the number of
    /// points. Imaginary parts of the first wave, and of the last one if it has half the points, are taken as
    /// 0 to rounding.
    #[inline(always)]
    pub fn inverse<S: Simd>(&self, simd: S, waves: &[T::Vector], points: &mut [T::Vector]) {
        let length = self.lines.len();
        if self.is_even() {
            let (two, minus_two) = (T::Lanes::literal(simd, 2.0), T::Lanes::literal(simd, -2.0));
            for k in 0..=length / 2 {
                let first = PAIRS.load::<T, S>(simd, waves, k);
                let [even, odd] = halves(first, PAIRS.load::<T, S>(simd, waves, length - k));
                let turned = odd.times(self.half_turn(simd, k, -1.0));
                if k > 0 {
                    PAIRS.store::<T, S>(even.plus(minus_two, turned).conjugate(), points, length - k);
                }
                PAIRS.store::<T, S>(even.plus(two, turned), points, k);
            }
        } else {
            for k in 0..self.waves() {
                let wave = PAIRS.load::<T, S>(simd, waves, k);
                PAIRS.store::<T, S>(wave, points, k);
                if k > 0 {
                    PAIRS.store::<T, S>(wave.conjugate(), points, length - k);
                }
            }
        }
        self.lines.transform(simd, points, PAIRS.exchanged());
    }

    /// `(sign sin + i cos) / 2` of the angle `2 pi k / points`.
    #[inline(always)]
    fn half_turn<S: Simd>(&self, simd: S, k: usize, sign: f64) -> Complex<T::Lanes<S>> {
        let [sin, cos] = self.half_turns[k];
        Complex {
            re: T::Lanes::broadcast(simd, sin) * T::Lanes::literal(simd, sign),
            im: T::Lanes::broadcast(simd, cos),
        }
    }
}

/// `a + b*` and `a - b*`: twice the transform of the even points, and i times twice that of the odd ones.
#[inline(always)]
fn halves<R: Real>(a: Complex<R>, b: Complex<R>) -> [Complex<R>; 2] {
    [Complex { re: a.re + b.re, im: a.im - b.im }, Complex { re: a.re - b.re, im: a.im + b.im }]
}
