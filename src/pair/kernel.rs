//! SPH smoothing kernels as functions of q = r / h with support 2: W(r, h) = w(q) / h^3.
//!
//! Cubic spline: Monaghan & Lattanzio 1985. Wendland C2, C4, C6: Dehnen & Aly 2012, table 1 (there in units
//! of the support H = 2h). Sinc S_n(q) = B_n sinc(pi q / 2)^n: Cabezon, Garcia-Senz & Relano 2008.

use super::device_text;
use crate::simd::real::Real;

/// Shape of a smoothing kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The M4 spline.
    CubicSpline,
    /// Wendland's C2 function in three dimensions.
    WendlandC2,
    /// Wendland's C4 function in three dimensions.
    WendlandC4,
    /// Wendland's C6 function in three dimensions.
    WendlandC6,
    /// A power of sin(x) / x, x = pi q / 2.
    Sinc,
}

/// Smoothing kernel: shape, exponent (of sinc kernels) and normalization. Its value is w(q), or that of the
/// gradient, see [`Kernel::gradient`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kernel<R> {
    shape: Shape,
    exponent: u32,
    normalization: R,
    is_gradient: bool,
}

impl Kernel<f64> {
    /// Support radius of all kernels in units of the smoothing length.
    pub const SUPPORT: f64 = 2.0;

    fn new(shape: Shape, exponent: u32, normalization: f64) -> Self {
        Self { shape, exponent, normalization, is_gradient: false }
    }

    /// The kernel with g(q) = -w'(q) / q in place of w: the gradient of W(r, h) with respect to r is -g(q) r
    /// / h^5. For use with [`kernel_value`]; [`kernel_slope`] is meaningless for it.
    pub fn gradient(self) -> Self {
        Self { is_gradient: true, ..self }
    }

    /// The cubic spline.
    pub fn cubic_spline() -> Self {
        Self::new(Shape::CubicSpline, 0, 0.25 * std::f64::consts::FRAC_1_PI)
    }

    /// Wendland C2.
    pub fn wendland_c2() -> Self {
        Self::wendland(Shape::WendlandC2, 21.0 / 16.0)
    }

    /// Wendland C4.
    pub fn wendland_c4() -> Self {
        Self::wendland(Shape::WendlandC4, 495.0 / 256.0)
    }

    /// Wendland C6.
    pub fn wendland_c6() -> Self {
        Self::wendland(Shape::WendlandC6, 1365.0 / 512.0)
    }

    fn wendland(shape: Shape, factor: f64) -> Self {
        Self::new(shape, 0, factor * std::f64::consts::FRAC_1_PI)
    }

    /// Sinc kernel of exponent 3 to 12; `None` otherwise. Normalized by Simpson's rule on 4000 intervals
    /// (error below 1e-13).
    pub fn sinc(exponent: u32) -> Option<Self> {
        if !(3..=12).contains(&exponent) {
            return None;
        }
        let mut kernel = Self::new(Shape::Sinc, exponent, 1.0);
        let intervals = 4000;
        let step = Self::SUPPORT / f64::from(intervals);
        let sum: f64 = (0..=intervals)
            .map(|k| {
                let q = f64::from(k) * step;
                let weight = if k == 0 || k == intervals { 1.0 } else { 2.0 + 2.0 * f64::from(k % 2) };
                weight * q * q * kernel_value(kernel, q * q)
            })
            .sum();
        kernel.normalization = 1.0 / (4.0 * std::f64::consts::PI * sum * step / 3.0);
        Some(kernel)
    }

    /// Kernel by name in a deck: "cubic-spline", "wendland-c2", "wendland-c4", "wendland-c6", "sinc-3" to
    /// "sinc-12".
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "cubic-spline" => Some(Self::cubic_spline()),
            "wendland-c2" => Some(Self::wendland_c2()),
            "wendland-c4" => Some(Self::wendland_c4()),
            "wendland-c6" => Some(Self::wendland_c6()),
            _ => name.strip_prefix("sinc-")?.parse().ok().and_then(Self::sinc),
        }
    }

    /// The integral of q_x^2 w(q) over all q, by Simpson's rule on 4000 intervals (error below 1e-13).
    pub fn second_moment(self) -> f64 {
        let intervals = 4000;
        let step = Self::SUPPORT / f64::from(intervals);
        let sum: f64 = (0..=intervals)
            .map(|k| {
                let q = f64::from(k) * step;
                let weight = if k == 0 || k == intervals { 1.0 } else { 2.0 + 2.0 * f64::from(k % 2) };
                weight * q.powi(4) * kernel_value(self, q * q)
            })
            .sum();
        4.0 / 3.0 * std::f64::consts::PI * sum * step / 3.0
    }

    /// Broadcasts the kernel to lanes.
    #[inline(always)]
    pub fn lift<R: Real>(&self, token: R::Token) -> Kernel<R> {
        Kernel {
            shape: self.shape,
            exponent: self.exponent,
            normalization: R::literal(token, self.normalization),
            is_gradient: self.is_gradient,
        }
    }

    /// C++ initializer of the kernel.
    pub fn device_text(&self) -> String {
        let shape = match self.shape {
            Shape::CubicSpline => 0,
            Shape::WendlandC2 => 1,
            Shape::WendlandC4 => 2,
            Shape::WendlandC6 => 3,
            Shape::Sinc => 4,
        };
        let normalization = device_text::real(self.normalization);
        format!("Kernel{{{shape}, {}, {normalization}, {}}}", self.exponent, self.is_gradient)
    }

    /// Shape, exponent and normalization.
    pub fn parts(&self) -> (Shape, u32, f64) {
        (self.shape, self.exponent, self.normalization)
    }
}

/// sinc(pi q / 2) / (1 - u / 4) as a polynomial in u = q^2 from the highest power down, interpolated at
/// Chebyshev nodes of [0, 4]. The factor 1 - u / 4 keeps the zero at q = 2 exact. Relative error 1.2e-17.
const SINC_DOUBLE: [f64; 10] = [
    -5.823067516159113e-16,
    1.0839061254289035e-13,
    -1.501141501734521e-11,
    1.643032500260312e-9,
    -1.3837782504438124e-7,
    8.610867685597616e-6,
    -3.741166513510571e-4,
    1.0425522402193063e-2,
    -0.16123351671205632,
    1.0,
];

/// The same with relative error 5.5e-9.
const SINC_SINGLE: [f64; 6] = [
    -1.199551906653222e-7,
    8.52980951555938e-6,
    -3.7395030117334864e-4,
    1.0425367311457852e-2,
    -0.16123346368050961,
    0.9999999970553322,
];

/// w as a function of q^2; zero for q >= 2. For [`Kernel::gradient`]: g(q) = -w'(q) / q.
///
/// The relative rounding error of sinc-n is at most 2n + 8 ulp of the lane. Pairs have q^2, and the sinc
/// kernels, which are even, need no square root.
#[inline(always)]
pub fn kernel_value<R: Real>(kernel: Kernel<R>, q2: R) -> R {
    if kernel.is_gradient {
        return kernel_gradient(kernel, q2);
    }
    let of = |value| R::literal(q2.token(), value);
    let u = q2.min(of(4.0));
    let value = match kernel.shape {
        Shape::CubicSpline => {
            let q = u.sqrt();
            let (t, s) = (of(2.0) - q, (of(1.0) - q).max(of(0.0)));
            t * t * t - of(4.0) * (s * s * s)
        }
        Shape::WendlandC2 => {
            let q = u.sqrt();
            let t = of(1.0) - of(0.5) * q;
            t.power(4) * q.mul_add(of(2.0), of(1.0))
        }
        Shape::WendlandC4 => {
            let q = u.sqrt();
            let t = of(1.0) - of(0.5) * q;
            t.power(6) * q.polynomial(&[35.0 / 12.0, 3.0, 1.0])
        }
        Shape::WendlandC6 => {
            let q = u.sqrt();
            let t = of(1.0) - of(0.5) * q;
            t.power(8) * q.polynomial(&[4.0, 6.25, 4.0, 1.0])
        }
        Shape::Sinc => {
            let factor = u.mul_add(of(-0.25), of(1.0));
            let terms = if R::SINGLE { SINC_SINGLE.as_slice() } else { SINC_DOUBLE.as_slice() };
            (factor * u.polynomial(terms)).power(kernel.exponent)
        }
    };
    value * kernel.normalization
}

/// q dw/dq as a function of q^2; zero for q >= 2.
#[inline(always)]
pub fn kernel_slope<R: Real>(kernel: Kernel<R>, q2: R) -> R {
    R::literal(q2.token(), -1.0) * q2.min(R::literal(q2.token(), 4.0)) * kernel_gradient(kernel, q2)
}

/// g(q) = -w'(q) / q as a function of q^2; zero for q >= 2.
#[inline(always)]
fn kernel_gradient<R: Real>(kernel: Kernel<R>, q2: R) -> R {
    let of = |value| R::literal(q2.token(), value);
    let u = q2.min(of(4.0));
    let gradient = match kernel.shape {
        Shape::CubicSpline => {
            // 12 - 9 q up to q = 1, 3 (2 - q)^2 / q beyond.
            let q = u.sqrt();
            let (s, p) = ((of(1.0) - q).max(of(0.0)), q.max(of(1.0)));
            let t = of(2.0) - p;
            (of(3.0) * (t * t)) / p + of(9.0) * s
        }
        Shape::WendlandC2 => {
            let t = of(1.0) - of(0.5) * u.sqrt();
            of(5.0) * (t * t * t)
        }
        Shape::WendlandC4 => {
            let q = u.sqrt();
            let t = of(1.0) - of(0.5) * q;
            t.power(5) * q.polynomial(&[35.0 / 3.0, 14.0 / 3.0])
        }
        Shape::WendlandC6 => {
            let q = u.sqrt();
            let t = of(1.0) - of(0.5) * q;
            t.power(7) * q.polynomial(&[22.0, 19.25, 5.5])
        }
        Shape::Sinc => {
            let factor = u.mul_add(of(-0.25), of(1.0));
            let terms = if R::SINGLE { SINC_SINGLE.as_slice() } else { SINC_DOUBLE.as_slice() };
            let (mut p, mut dp) = (of(0.0), of(0.0));
            for &term in terms {
                dp = dp.mul_add(u, p);
                p = p.mul_add(u, of(term));
            }
            // s = factor * p, -ds/dq / q = -2 ds/du.
            let ds = (of(-2.0) * factor).mul_add(dp, of(0.5) * p);
            (factor * p).power(kernel.exponent - 1) * ds * of(f64::from(kernel.exponent))
        }
    };
    gradient * kernel.normalization
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<(String, Kernel<f64>)> {
        let names = ["cubic-spline", "wendland-c2", "wendland-c4", "wendland-c6"].map(String::from);
        let names = names.into_iter().chain((3..=12).map(|n| format!("sinc-{n}")));
        names.map(|name| (name.clone(), Kernel::named(&name).unwrap())).collect()
    }

    #[test]
    fn integral_is_one() {
        for (name, kernel) in all() {
            let n = 20_000;
            let step = 2.0 / f64::from(n);
            let midpoints = (0..n).map(|k| (f64::from(k) + 0.5) * step);
            let sum: f64 = midpoints.map(|q| q * q * kernel_value(kernel, q * q)).sum();
            let integral = 4.0 * std::f64::consts::PI * sum * step;
            assert!((integral - 1.0).abs() < 1e-8, "{name}: {integral}");
        }
    }

    #[test]
    fn slope_is_the_derivative() {
        for (name, kernel) in all() {
            for k in 1..200 {
                let (q, d) = (f64::from(k) * 0.01 + 0.003, 1e-5);
                let value = |q: f64| kernel_value(kernel, q * q);
                let difference = q * (value(q + d) - value(q - d)) / (2.0 * d);
                assert!((difference - kernel_slope(kernel, q * q)).abs() < 3e-8, "{name} at {q}");
                let gradient = kernel_value(kernel.gradient(), q * q);
                assert!((difference + q * q * gradient).abs() < 3e-8, "{name} at {q}");
            }
        }
    }

    #[test]
    fn nothing_beyond_the_support() {
        for (name, kernel) in all() {
            for q in [2.0, 2.5, 1e3, 1e18] {
                assert_eq!(kernel_value(kernel, q * q), 0.0, "{name} at {q}");
                assert_eq!(kernel_slope(kernel, q * q), 0.0, "{name} at {q}");
                assert_eq!(kernel_value(kernel.lift::<f32>(()), (q * q) as f32), 0.0, "{name} at {q}");
            }
        }
    }

    #[test]
    fn sinc_keeps_its_error() {
        let sinc = |q: f64| {
            if q == 0.0 {
                1.0
            } else {
                (0.5 * std::f64::consts::PI * q).sin() / (0.5 * std::f64::consts::PI * q)
            }
        };
        for exponent in 3..=12 {
            let kernel = Kernel::sinc(exponent).unwrap();
            let (_, _, normalization) = kernel.parts();
            let single = kernel.lift::<f32>(());
            for k in 0..=2000 {
                let q = f64::from(k) * 1e-3;
                let truth = sinc(q).powi(exponent as i32);
                let error = kernel_value(kernel, q * q) / normalization - truth;
                assert!(error.abs() < 1e-14, "sinc-{exponent} at {q}: {error:e}");
                // The lane's q^2 is rounded; the reference is evaluated there.
                let q2 = (q * q) as f32;
                let truth = sinc(f64::from(q2).sqrt()).powi(exponent as i32);
                let error = f64::from(kernel_value(single, q2)) / normalization - truth;
                assert!(error.abs() < 1e-7 * f64::from(exponent), "sinc-{exponent} at {q}: {error:e}");
            }
        }
        // In double arithmetic, the polynomial with single precision's terms is within 6e-9 of the reference.
        for k in 0..=2000 {
            let u = (f64::from(k) * 1e-3).powi(2);
            let error = (1.0 - 0.25 * u) * u.polynomial(&SINC_SINGLE) - sinc(u.sqrt());
            assert!(error.abs() < 6e-9, "{error:e}");
        }
    }

    #[test]
    fn names_outside_are_unknown() {
        for name in ["sinc-2", "sinc-13", "sinc-", "sinc-6.0", "quartic", ""] {
            assert_eq!(Kernel::named(name), None);
        }
    }
}
