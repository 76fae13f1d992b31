//! What a particle adds to a pixel, over the squared distance from it in smoothing lengths: the kernel in a
//! plane, or its integral along the line of sight.

use crate::pair::Kernel;
use crate::pair::kernel::kernel_value;
use crate::simd::real::Real;

/// Terms of the polynomial of the integral, which errs by at most 5e-4 of the value at 0 (Wendland C2), 1e-4
/// for most kernels.
const TERMS: usize = 14;

/// Intervals of Simpson's rule along the line of sight.
const LINE_INTERVALS: usize = 256;

/// A function of u = q^2, q = r / h, that is zero from u = 4 on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Profile {
    /// w(q), by which W = w / h^3.
    Value(Kernel<f64>),
    /// Integral of w along a line, by which the integral of W is that over h^2: a polynomial of t, where
    /// u = 2 (t + 1). Its even and its odd powers are polynomials of t^2, coefficients from the highest power
    /// down: two chains of dependent operations are shorter than one.
    Column([[f64; TERMS / 2]; 2]),
}

impl Profile {
    /// End of the support.
    pub(super) const END: f64 = Kernel::SUPPORT * Kernel::SUPPORT;

    /// The profile of the integral along a line, interpolated at Chebyshev nodes. Its integral over the plane
    /// is 1.
    pub(super) fn column(kernel: Kernel<f64>) -> Self {
        let angle = |k: usize| std::f64::consts::PI * (k as f64 + 0.5) / TERMS as f64;
        let values: [f64; TERMS] =
            std::array::from_fn(|k| line_integral(kernel, 2.0 * (angle(k).cos() + 1.0)));
        // Chebyshev series; T_n as polynomials, coefficients from the lowest power up
        let (mut previous, mut current) = ([0.0; TERMS], [0.0; TERMS]);
        (previous[0], current[1]) = (1.0, 1.0);
        let mut terms = [0.0; TERMS];
        for n in 0..TERMS {
            let sum: f64 = (0..TERMS).map(|k| values[k] * (n as f64 * angle(k)).cos()).sum();
            let factor = if n == 0 { 1.0 } else { 2.0 } / TERMS as f64 * sum;
            terms.iter_mut().zip(previous).for_each(|(term, power)| *term += factor * power);
            let next = std::array::from_fn(|k| {
                let raised = if k > 0 { 2.0 * current[k - 1] } else { 0.0 };
                raised - previous[k]
            });
            (previous, current) = (current, next);
        }
        // the integral over the plane is pi times that over u; odd powers cancel
        let integral: f64 =
            terms.iter().step_by(2).zip(0..).map(|(term, k)| term * 2.0 / f64::from(2 * k + 1)).sum();
        let area = 2.0 * std::f64::consts::PI * integral;
        let powers = |first: usize| std::array::from_fn(|k| terms[TERMS - 2 - 2 * k + first] / area);
        Self::Column([powers(0), powers(1)])
    }

    /// The value at u: zero for u >= 4, positive below.
    #[inline(always)]
    pub(super) fn at<R: Real>(&self, u: R) -> R {
        let of = |value: f64| R::literal(u.token(), value);
        match self {
            Self::Value(kernel) => kernel_value(kernel.lift(u.token()), u),
            Self::Column([even, odd]) => {
                let t = u.mul_add(of(0.5), of(-1.0));
                let square = t * t;
                let value = t.mul_add(square.polynomial(odd), square.polynomial(even));
                // near the end of the support rounding could make it negative
                let positive = value.max(of(1e-12));
                R::select(u.less(of(Self::END)), positive, of(0.0))
            }
        }
    }
}

/// The integral of w along the line whose squared distance from the center is u, by Simpson's rule.
fn line_integral(kernel: Kernel<f64>, u: f64) -> f64 {
    let step = (Profile::END - u).max(0.0).sqrt() / LINE_INTERVALS as f64;
    let weight = |k: usize| match k {
        0 | LINE_INTERVALS => 1.0,
        _ if k % 2 == 1 => 4.0,
        _ => 2.0,
    };
    let along = |k: usize| k as f64 * step;
    let sum: f64 =
        (0..=LINE_INTERVALS).map(|k| weight(k) * kernel_value(kernel, along(k) * along(k) + u)).sum();
    2.0 * sum * step / 3.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan;

    #[test]
    fn columns_are_integrals_of_the_kernel() {
        for name in plan::Kernel::NAMES {
            let kernel = Kernel::named(name).unwrap();
            let column = Profile::column(kernel);
            let peak = line_integral(kernel, 0.0);
            let mut mass = 0.0;
            for k in 0..4000 {
                let u = (f64::from(k) + 0.5) * 1e-3;
                let error = column.at(u) - line_integral(kernel, u);
                assert!(error.abs() < 5e-4 * peak && column.at(u) > 0.0, "{name} at {u}: {error:e}");
                mass += std::f64::consts::PI * column.at(u) * 1e-3;
            }
            assert!((mass - 1.0).abs() < 2e-4, "{name}: {mass}");
            for u in [4.0, 5.0, 1e300, f64::INFINITY] {
                assert_eq!([column.at(u), Profile::Value(kernel).at(u)], [0.0; 2], "{name}");
            }
        }
    }
}
