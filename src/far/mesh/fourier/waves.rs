//! The transform along x, the influence, and the inverse transform along x.

use super::FourierScalar;
use super::lines::{Lines, Place};
use crate::simd::prefetch::prefetch_for_write;
use crate::simd::{Instructions, Lanes, Task, dispatch};
use fearless_simd::Simd;

/// Number of vectors of the working memory of [`convolve`].
pub(super) fn wave_work<T: FourierScalar>(lines: &Lines<T>) -> usize {
    4 * lines.len()
}

/// Transforms waves along x, multiplies them by their influence and transforms them back, unnormalized.
///
/// `planes` has for each x the same units of two vectors, real and imaginary parts. `influence` has a vector
/// for each unit and kx.
pub(super) fn convolve<T: FourierScalar>(
    lines: &Lines<T>,
    planes: Vec<&mut [T::Vector]>,
    influence: &[T],
    work: &mut [T::Vector],
) {
    dispatch(Instructions::Best, Convolve { lines, planes, influence, work });
}

struct Convolve<'p, 'w, T: FourierScalar> {
    lines: &'p Lines<T>,
    planes: Vec<&'w mut [T::Vector]>,
    influence: &'p [T],
    work: &'p mut [T::Vector],
}

impl<T: FourierScalar> Task for Convolve<'_, '_, T> {
    type Output = ();
    type Scalar = T;
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { lines, mut planes, influence, work } = self;
        let (points, spectrum) = work.split_at_mut(2 * lines.len());
        for (unit, influence) in influence.chunks_exact(T::LANES * lines.len()).enumerate() {
            for (plane, point) in planes.iter().zip(points.chunks_exact_mut(2)) {
                prefetch_for_write(plane.as_ptr().wrapping_add(2 * unit + 2), 2);
                point.copy_from_slice(&plane[2 * unit..2 * unit + 2]);
            }
            // one call in a loop, so that there is one copy of the transform
            for inverse in [false, true] {
                let [real, imaginary] = if inverse { [1, 0] } else { [0, 1] };
                let data = if inverse { &mut *spectrum } else { &mut *points };
                lines.transform(simd, data, Place { stride: 2, real, imaginary });
                if !inverse {
                    for (point, &kx) in points.chunks_exact(2).zip(&lines.order) {
                        let factors = T::Lanes::load(simd, &influence[kx * T::LANES..][..T::LANES]);
                        let wave = &mut spectrum[2 * kx..2 * kx + 2];
                        (T::Lanes::load(simd, point[0].as_ref()) * factors).store(wave[0].as_mut());
                        (T::Lanes::load(simd, point[1].as_ref()) * factors).store(wave[1].as_mut());
                    }
                }
            }
            for (point, &x) in spectrum.chunks_exact(2).zip(&lines.order) {
                planes[x][2 * unit..2 * unit + 2].copy_from_slice(point);
            }
        }
    }
}
