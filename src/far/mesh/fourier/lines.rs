//! Fourier transforms of many lines of equal length, a line per lane.

use super::FourierScalar;
use super::butterfly::{Complex, eight, five, four, seven, three, two};
use crate::simd::Lanes;
use fearless_simd::Simd;
use std::f64::consts::TAU;

/// Returns the smallest even number of points, at least `points`, whose transform is fast: its prime factors
/// are 2, 3, 5 and 7.
pub fn fast_points(points: usize) -> usize {
    let is_fast = |points: &usize| radices(*points).iter().all(|&radix| radix <= LARGEST_UNROLLED);
    (points.max(2).next_multiple_of(2)..).step_by(2).find(is_fast).unwrap_or(points)
}

/// The largest radix that has a butterfly of its own.
const LARGEST_UNROLLED: usize = 8;

/// Returns the radices of the passes of a transform: 8 and 4 for most of the factors 2 (two passes of radix 4
/// rather than 8 and 2), then odd primes.
fn radices(points: usize) -> Vec<usize> {
    let (mut radices, mut left) = (Vec::new(), points);
    let mut twos = points.trailing_zeros();
    left >>= twos;
    while twos > 0 {
        let power = if twos == 4 { 2 } else { twos.min(3) };
        radices.push(1 << power);
        twos -= power;
    }
    let mut prime = 3;
    while left > 1 {
        if left.is_multiple_of(prime) {
            radices.push(prime);
            left /= prime;
        } else {
            prime += 2;
        }
    }
    radices
}

/// Where the points of lines are in an array of vectors: point k has its real part in vector
/// `k * stride + real`, its imaginary part in vector `k * stride + imaginary`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub stride: usize,
    pub real: usize,
    pub imaginary: usize,
}

impl Place {
    /// Real and imaginary parts of consecutive points in turn.
    pub const ADJACENT: Place = Place { stride: 2, real: 0, imaginary: 1 };

    /// The place with real and imaginary parts exchanged. The forward transform of exchanged parts is the
    /// inverse transform, with its parts exchanged.
    pub fn exchanged(self) -> Self {
        Place { real: self.imaginary, imaginary: self.real, ..self }
    }

    #[inline(always)]
    pub fn load<T: FourierScalar, S: Simd>(
        self,
        simd: S,
        data: &[T::Vector],
        point: usize,
    ) -> Complex<T::Lanes<S>> {
        let first = point * self.stride;
        Complex {
            re: T::Lanes::load(simd, data[first + self.real].as_ref()),
            im: T::Lanes::load(simd, data[first + self.imaginary].as_ref()),
        }
    }

    #[inline(always)]
    pub fn store<T: FourierScalar, S: Simd>(
        self,
        value: Complex<T::Lanes<S>>,
        data: &mut [T::Vector],
        point: usize,
    ) {
        let first = point * self.stride;
        value.re.store(data[first + self.real].as_mut());
        value.im.store(data[first + self.imaginary].as_mut());
    }
}

/// The plan of the transforms `sum_j x[j] exp(-2 pi i j k / length)` in place.
///
/// Mixed-radix decimation in frequency (Cooley and Tukey 1965, Math. Comput. 19, 297; Gentleman and Sande
/// 1966). Waves end in the order of their reversed digits: see [`Self::order`].
pub(super) struct Lines<T> {
    length: usize,
    passes: Vec<Pass<T>>,
    /// Wave of each position, after the transform.
    pub order: Vec<usize>,
    /// Position of each wave.
    pub positions: Vec<usize>,
}

/// A pass over all points: butterflies of `radix` points that are `groups` apart.
struct Pass<T> {
    radix: usize,
    /// Butterflies with different twiddle factors.
    groups: usize,
    /// Butterflies with the same twiddle factors.
    repeats: usize,
    /// For each group, the factors of the results 1 to `radix - 1`: real and imaginary part.
    twiddles: Vec<T>,
    /// Cosine and sine of `2 pi j / radix`.
    circle: Vec<[f64; 2]>,
}

impl<T: FourierScalar> Lines<T> {
    pub fn new(length: usize) -> Self {
        let (mut passes, mut left) = (Vec::new(), length);
        let mut order = vec![0; length];
        for radix in radices(length) {
            let (groups, repeats) = (left / radix, length / left);
            let angle = |turns: usize, of: usize| TAU * (turns % of) as f64 / of as f64;
            let twiddle = |turns: usize| {
                let (sin, cos) = angle(turns, left).sin_cos();
                [T::from_f64(cos), T::from_f64(-sin)]
            };
            let twiddles =
                (0..groups).flat_map(|p| (1..radix).flat_map(move |k| [p * k])).flat_map(twiddle).collect();
            let circle = (0..radix).map(|j| [angle(j, radix).cos(), angle(j, radix).sin()]).collect();
            for (position, wave) in order.iter_mut().enumerate() {
                *wave += repeats * (position % left / groups);
            }
            passes.push(Pass { radix, groups, repeats, twiddles, circle });
            left = groups;
        }
        let mut positions = vec![0; length];
        order.iter().enumerate().for_each(|(position, &wave)| positions[wave] = position);
        Lines { length, passes, order, positions }
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Transforms the lines at a place of an array in place.
    #[inline(always)]
    pub fn transform<S: Simd>(&self, simd: S, data: &mut [T::Vector], place: Place) {
        for pass in &self.passes {
            macro_rules! run {
                ($butterfly:ident) => {
                    pass.run(
                        simd,
                        data,
                        place,
                        #[inline(always)]
                        |x| $butterfly(simd, x),
                    )
                };
            }
            match pass.radix {
                2 => run!(two),
                3 => run!(three),
                4 => run!(four),
                5 => run!(five),
                7 => run!(seven),
                8 => run!(eight),
                _ => pass.run_any(simd, data, place),
            }
        }
    }
}

impl<T: FourierScalar> Pass<T> {
    #[inline(always)]
    fn run<S: Simd, const N: usize>(
        &self,
        simd: S,
        data: &mut [T::Vector],
        place: Place,
        butterfly: impl Fn([Complex<T::Lanes<S>>; N]) -> [Complex<T::Lanes<S>>; N],
    ) {
        let (groups, repeats) = (self.groups, self.repeats);
        for q in 0..repeats {
            let point = |j: usize| groups * (N * q + j);
            let x = butterfly(std::array::from_fn(
                #[inline(always)]
                |j| place.load::<T, S>(simd, data, point(j)),
            ));
            for k in 0..N {
                place.store::<T, S>(x[k], data, point(k));
            }
        }
        for p in 1..groups {
            let twiddles = &self.twiddles[2 * (N - 1) * p..][..2 * (N - 1)];
            for q in 0..repeats {
                let point = |j: usize| p + groups * (N * q + j);
                let mut x = butterfly(std::array::from_fn(
                    #[inline(always)]
                    |j| place.load::<T, S>(simd, data, point(j)),
                ));
                for k in 1..N {
                    x[k] = x[k].times(twiddle::<T, S>(simd, twiddles, k));
                }
                for k in 0..N {
                    place.store::<T, S>(x[k], data, point(k));
                }
            }
        }
    }

    /// The pass of an odd prime, with loops over its points.
    #[inline(always)]
    fn run_any<S: Simd>(&self, simd: S, data: &mut [T::Vector], place: Place) {
        let n = self.radix;
        let zero = T::Lanes::broadcast(simd, T::default());
        let mut x = vec![Complex { re: zero, im: zero }; n];
        for p in 0..self.groups {
            let twiddles = &self.twiddles[2 * (n - 1) * p..][..2 * (n - 1)];
            for q in 0..self.repeats {
                let point = |j: usize| p + self.groups * (n * q + j);
                x[0] = place.load::<T, S>(simd, data, point(0));
                let mut sum = x[0];
                for j in 1..=n / 2 {
                    let ends = [
                        place.load::<T, S>(simd, data, point(j)),
                        place.load::<T, S>(simd, data, point(n - j)),
                    ];
                    [x[j], x[n - j]] = two(simd, ends);
                    sum = sum + x[j];
                }
                place.store::<T, S>(sum, data, point(0));
                for k in 1..=n / 2 {
                    let (mut even, mut odd) = (x[0], Complex { re: zero, im: zero });
                    for j in 1..=n / 2 {
                        let [cos, sin] = self.circle[j * k % n];
                        even = even.plus(T::Lanes::broadcast(simd, T::from_f64(cos)), x[j]);
                        odd = odd.plus(T::Lanes::broadcast(simd, T::from_f64(sin)), x[n - j]);
                    }
                    let results = [(k, even.minus_turned(odd)), (n - k, even.plus_turned(odd))];
                    for (k, result) in results {
                        let result =
                            if p > 0 { result.times(twiddle::<T, S>(simd, twiddles, k)) } else { result };
                        place.store::<T, S>(result, data, point(k));
                    }
                }
            }
        }
    }
}

/// The factor of result `k`, from 1 on.
#[inline(always)]
fn twiddle<T: FourierScalar, S: Simd>(simd: S, twiddles: &[T], k: usize) -> Complex<T::Lanes<S>> {
    Complex {
        re: T::Lanes::broadcast(simd, twiddles[2 * k - 2]),
        im: T::Lanes::broadcast(simd, twiddles[2 * k - 1]),
    }
}
