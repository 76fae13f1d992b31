//! Butterflies: Fourier transforms of a few complex numbers, each number a vector of lanes.

use crate::simd::real::Real;
use std::f64::consts::FRAC_1_SQRT_2;
use std::ops::{Add, Sub};

/// A complex number.
#[derive(Clone, Copy)]
pub(super) struct Complex<R> {
    pub re: R,
    pub im: R,
}

impl<R: Real> Add for Complex<R> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Complex { re: self.re + other.re, im: self.im + other.im }
    }
}

impl<R: Real> Sub for Complex<R> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Complex { re: self.re - other.re, im: self.im - other.im }
    }
}

impl<R: Real> Complex<R> {
    /// The product with another complex number.
    #[inline(always)]
    pub fn times(self, other: Self) -> Self {
        Complex {
            re: self.re.mul_add(other.re, -(self.im * other.im)),
            im: self.im.mul_add(other.re, self.re * other.im),
        }
    }

    /// `self + factor * other`.
    #[inline(always)]
    pub fn plus(self, factor: R, other: Self) -> Self {
        Complex { re: other.re.mul_add(factor, self.re), im: other.im.mul_add(factor, self.im) }
    }

    /// The product with a real number.
    #[inline(always)]
    pub fn scaled(self, factor: R) -> Self {
        Complex { re: self.re * factor, im: self.im * factor }
    }

    /// The complex conjugate.
    #[inline(always)]
    pub fn conjugate(self) -> Self {
        Complex { re: self.re, im: -self.im }
    }

    /// `self + i * other`.
    #[inline(always)]
    pub fn plus_turned(self, other: Self) -> Self {
        Complex { re: self.re - other.im, im: self.im + other.re }
    }

    /// `self - i * other`.
    #[inline(always)]
    pub fn minus_turned(self, other: Self) -> Self {
        Complex { re: self.re + other.im, im: self.im - other.re }
    }
}

#[inline(always)]
pub(super) fn two<R: Real>(_: R::Token, [a, b]: [Complex<R>; 2]) -> [Complex<R>; 2] {
    [a + b, a - b]
}

#[inline(always)]
pub(super) fn four<R: Real>(token: R::Token, [a, b, c, d]: [Complex<R>; 4]) -> [Complex<R>; 4] {
    let ([p, q], [r, s]) = (two(token, [a, c]), two(token, [b, d]));
    [p + r, q.minus_turned(s), p - r, q.plus_turned(s)]
}

#[inline(always)]
pub(super) fn eight<R: Real>(token: R::Token, x: [Complex<R>; 8]) -> [Complex<R>; 8] {
    let [a, b, c, d] = four(token, [x[0], x[2], x[4], x[6]]);
    let [e, f, g, h] = four(token, [x[1], x[3], x[5], x[7]]);
    let (root, minus_root) = (R::literal(token, FRAC_1_SQRT_2), R::literal(token, -FRAC_1_SQRT_2));
    // sqrt(2) times f exp(-i pi / 4) and h exp(-3 i pi / 4)
    let f = Complex { re: f.re + f.im, im: f.im - f.re };
    let h = Complex { re: h.im - h.re, im: -(h.re + h.im) };
    [
        a + e,
        b.plus(root, f),
        c.minus_turned(g),
        d.plus(root, h),
        a - e,
        b.plus(minus_root, f),
        c.plus_turned(g),
        d.plus(minus_root, h),
    ]
}

#[inline(always)]
pub(super) fn three<R: Real>(token: R::Token, x: [Complex<R>; 3]) -> [Complex<R>; 3] {
    odd(token, x, [-0.5], [0.866_025_403_784_438_6])
}

#[inline(always)]
pub(super) fn five<R: Real>(token: R::Token, x: [Complex<R>; 5]) -> [Complex<R>; 5] {
    let cos = [0.309_016_994_374_947_45, -0.809_016_994_374_947_5];
    odd(token, x, cos, [0.951_056_516_295_153_5, 0.587_785_252_292_473_1])
}

#[inline(always)]
pub(super) fn seven<R: Real>(token: R::Token, x: [Complex<R>; 7]) -> [Complex<R>; 7] {
    let cos = [0.623_489_801_858_733_5, -0.222_520_933_956_314_4, -0.900_968_867_902_419_1];
    odd(token, x, cos, [0.781_831_482_468_029_8, 0.974_927_912_181_823_6, 0.433_883_739_117_558_1])
}

/// The butterfly of an odd number N of `2 H + 1` numbers, where `cos[j]` and `sin[j]` are of the angle
/// `2 pi (j + 1) / N`.
#[inline(always)]
fn odd<R: Real, const N: usize, const H: usize>(
    token: R::Token,
    x: [Complex<R>; N],
    cos: [f64; H],
    sin: [f64; H],
) -> [Complex<R>; N] {
    let mut y = x;
    let (mut sums, mut differences) = ([x[0]; H], [x[0]; H]);
    for j in 1..=H {
        [sums[j - 1], differences[j - 1]] = two(token, [x[j], x[N - j]]);
        y[0] = y[0] + sums[j - 1];
    }
    for k in 1..=H {
        let mut even = x[0].plus(R::literal(token, cos[k - 1]), sums[0]);
        let first = R::literal(token, sin[k - 1]);
        let mut odd = differences[0].scaled(first);
        for j in 2..=H {
            // the angle of j k, folded to the first half turn
            let turn = j * k % N;
            let (index, sign) = if turn > H { (N - turn - 1, -1.0) } else { (turn - 1, 1.0) };
            even = even.plus(R::literal(token, cos[index]), sums[j - 1]);
            odd = odd.plus(R::literal(token, sign * sin[index]), differences[j - 1]);
        }
        y[k] = even.minus_turned(odd);
        y[N - k] = even.plus_turned(odd);
    }
    y
}
