//! Fourier transforms on an emulated device, which stand for cuFFT's in tests: recursive, line by line, in
//! double precision. Addresses are those of host memory.

use super::half;
use bytemuck::Pod;
use std::f64::consts::TAU;
use std::ops::{Add, Mul};

/// A number of a mesh.
pub(super) trait Number: Pod {
    fn from_double(value: f64) -> Self;
    fn to_double(self) -> f64;
}

impl Number for f32 {
    fn from_double(value: f64) -> Self {
        value as f32
    }

    fn to_double(self) -> f64 {
        self.into()
    }
}

impl Number for f64 {
    fn from_double(value: f64) -> Self {
        value
    }

    fn to_double(self) -> f64 {
        self
    }
}

/// A complex number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Complex {
    real: f64,
    imaginary: f64,
}

impl Complex {
    /// exp(i angle).
    fn of_angle(angle: f64) -> Self {
        Complex { real: angle.cos(), imaginary: angle.sin() }
    }

    fn conjugate(self) -> Self {
        Complex { real: self.real, imaginary: -self.imaginary }
    }
}

impl Add for Complex {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Complex { real: self.real + other.real, imaginary: self.imaginary + other.imaginary }
    }
}

impl Mul for Complex {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Complex {
            real: self.real * other.real - self.imaginary * other.imaginary,
            imaginary: self.real * other.imaginary + self.imaginary * other.real,
        }
    }
}

/// The sums over j of `values[j] exp(sign 2 pi i j k / n)` for all k (Cooley and Tukey 1965): n is split by
/// its smallest prime factor.
fn transformed(values: &[Complex], sign: f64) -> Vec<Complex> {
    let count = values.len();
    let Some(factor) = (2..=count).find(|factor| count.is_multiple_of(*factor)) else {
        return values.to_vec();
    };
    let parts: Vec<Vec<Complex>> = (0..factor)
        .map(|first| {
            let part: Vec<Complex> = values[first..].iter().step_by(factor).copied().collect();
            transformed(&part, sign)
        })
        .collect();
    let sum = |k: usize| {
        parts.iter().enumerate().fold(Complex::default(), |sum, (first, part)| {
            let turn = (first * k % count) as f64 / count as f64;
            sum + part[k % part.len()] * Complex::of_angle(sign * TAU * turn)
        })
    };
    (0..count).map(sum).collect()
}

/// Transforms lines in place: element `k` of the line that begins at `first` has the index
/// `first + k * stride`.
fn transform_lines(
    values: &mut [Complex],
    firsts: impl Iterator<Item = usize>,
    (count, stride): (usize, usize),
    sign: f64,
) {
    for first in firsts {
        let line: Vec<Complex> = (0..count).map(|k| values[first + k * stride]).collect();
        for (k, value) in transformed(&line, sign).into_iter().enumerate() {
            values[first + k * stride] = value;
        }
    }
}

/// Transforms along y, and along x unless `planar`.
fn transform_across([nx, ny, waves]: [usize; 3], planar: bool, values: &mut [Complex], sign: f64) {
    let firsts = (0..nx).flat_map(|x| (0..waves).map(move |z| x * ny * waves + z));
    transform_lines(values, firsts, (ny, waves), sign);
    if !planar {
        transform_lines(values, 0..ny * waves, (nx, ny * waves), sign);
    }
}

/// Memory of a device as numbers or waves `V` of a mesh of numbers `T`. As cuFFT requires, it is aligned to
/// waves.
fn slice<'a, T: Number, V: Pod>(address: u64, length: usize) -> &'a mut [V] {
    assert!(address.is_multiple_of(size_of::<[T; 2]>() as u64), "a mesh at {address:#x} is not aligned");
    // SAFETY: a buffer of the caller on an emulated device, large enough, aligned as asserted, and used by
    // nobody else meanwhile, as kernels run when they are launched
    unsafe { std::slice::from_raw_parts_mut(address as *mut V, length) }
}

fn read<T: Number>(waves: &[[T; 2]]) -> Vec<Complex> {
    let number =
        |[real, imaginary]: &[T; 2]| Complex { real: real.to_double(), imaginary: imaginary.to_double() };
    waves.iter().map(number).collect()
}

fn write<T: Number>(values: &[Complex], waves: &mut [[T; 2]]) {
    for (wave, value) in waves.iter_mut().zip(values) {
        *wave = [value.real, value.imaginary].map(T::from_double);
    }
}

/// Values of a mesh to waves, in three dimensions or plane by plane.
pub(super) fn forward<T: Number>(points: [usize; 3], planar: bool, values: u64, waves: u64) {
    let [nx, ny, nz] = points;
    let values: &[T] = slice::<T, T>(values, nx * ny * nz);
    let mut result = Vec::with_capacity(nx * ny * half(nz));
    for line in values.chunks_exact(nz) {
        let line: Vec<Complex> =
            line.iter().map(|value| Complex { real: value.to_double(), imaginary: 0.0 }).collect();
        result.extend_from_slice(&transformed(&line, -1.0)[..half(nz)]);
    }
    transform_across([nx, ny, half(nz)], planar, &mut result, -1.0);
    write::<T>(&result, slice::<T, [T; 2]>(waves, result.len()));
}

/// The reverse, unnormalized. Waves are overwritten, as cuFFT does.
pub(super) fn inverse<T: Number>(points: [usize; 3], planar: bool, waves: u64, values: u64) {
    let [nx, ny, nz] = points;
    let waves = slice::<T, [T; 2]>(waves, nx * ny * half(nz));
    let mut sums = read(waves);
    waves.fill([T::from_double(f64::NAN); 2]);
    transform_across([nx, ny, half(nz)], planar, &mut sums, 1.0);
    let values = slice::<T, T>(values, nx * ny * nz);
    for (line, half_line) in values.chunks_exact_mut(nz).zip(sums.chunks_exact(half(nz))) {
        let whole: Vec<Complex> = (0..nz)
            .map(|k| if k < half(nz) { half_line[k] } else { half_line[nz - k].conjugate() })
            .collect();
        for (value, sum) in line.iter_mut().zip(transformed(&whole, 1.0)) {
            *value = T::from_double(sum.real);
        }
    }
}

/// Complex lines along the first dimension, in place.
pub(super) fn lines<T: Number>(points: usize, lines: usize, address: u64, inverse: bool) {
    let waves = slice::<T, [T; 2]>(address, points * lines);
    let mut values = read(waves);
    transform_lines(&mut values, 0..lines, (points, lines), if inverse { 1.0 } else { -1.0 });
    write(&values, waves);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the sum over all points, for prime and composite lengths.
    #[test]
    fn lines_are_the_sums_over_points() {
        for count in 1..=30 {
            let values: Vec<Complex> = (0..count)
                .map(|j| Complex { real: (j as f64 * 0.7).sin(), imaginary: (j as f64 * 1.3).cos() })
                .collect();
            for sign in [-1.0, 1.0] {
                for (k, found) in transformed(&values, sign).into_iter().enumerate() {
                    let sum = values.iter().enumerate().fold(Complex::default(), |sum, (j, &value)| {
                        sum + value * Complex::of_angle(sign * TAU * (j * k) as f64 / count as f64)
                    });
                    let error = (found.real - sum.real).hypot(found.imaginary - sum.imaginary);
                    assert!(error < 1e-12 * count as f64, "{count} points, wave {k}: {found:?}, not {sum:?}");
                }
            }
        }
    }
}
