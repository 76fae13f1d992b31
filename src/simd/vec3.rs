//! Three-dimensional vectors and symmetric tensors of lanes.

use super::real::Real;
use std::ops::{Add, Mul, Neg, Sub};

/// Vector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vec3<R> {
    /// First component.
    pub x: R,
    /// Second component.
    pub y: R,
    /// Third component.
    pub z: R,
}

/// Symmetric tensor of rank two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tensor<R> {
    /// Component xx.
    pub xx: R,
    /// Components xy and yx.
    pub xy: R,
    /// Components xz and zx.
    pub xz: R,
    /// Component yy.
    pub yy: R,
    /// Components yz and zy.
    pub yz: R,
    /// Component zz.
    pub zz: R,
}

impl<R: Real> Vec3<R> {
    /// Inner product.
    #[inline(always)]
    pub fn dot(self, other: Self) -> R {
        self.x.mul_add(other.x, self.y.mul_add(other.y, self.z * other.z))
    }

    /// Cross product.
    #[inline(always)]
    pub fn cross(self, other: Self) -> Self {
        Self {
            x: self.y * other.z - self.z * other.y,
            y: self.z * other.x - self.x * other.z,
            z: self.x * other.y - self.y * other.x,
        }
    }
}

impl Vec3<f64> {
    /// Broadcasts the vector to all lanes.
    #[inline(always)]
    pub fn lift<R: Real>(&self, token: R::Token) -> Vec3<R> {
        let lane = |value| R::literal(token, value);
        Vec3 { x: lane(self.x), y: lane(self.y), z: lane(self.z) }
    }
}

impl Tensor<f64> {
    /// Broadcasts the tensor to all lanes.
    #[inline(always)]
    pub fn lift<R: Real>(&self, token: R::Token) -> Tensor<R> {
        let lane = |value| R::literal(token, value);
        Tensor {
            xx: lane(self.xx),
            xy: lane(self.xy),
            xz: lane(self.xz),
            yy: lane(self.yy),
            yz: lane(self.yz),
            zz: lane(self.zz),
        }
    }
}

/// Outer product r (x) r.
#[inline(always)]
pub fn outer<R: Real>(r: Vec3<R>) -> Tensor<R> {
    Tensor { xx: r.x * r.x, xy: r.x * r.y, xz: r.x * r.z, yy: r.y * r.y, yz: r.y * r.z, zz: r.z * r.z }
}

impl<R: Real> Add for Vec3<R> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { x: self.x + other.x, y: self.y + other.y, z: self.z + other.z }
    }
}

impl<R: Real> Sub for Vec3<R> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self { x: self.x - other.x, y: self.y - other.y, z: self.z - other.z }
    }
}

impl<R: Real> Neg for Vec3<R> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self { x: -self.x, y: -self.y, z: -self.z }
    }
}

impl<R: Real> Mul<R> for Vec3<R> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, factor: R) -> Self {
        Self { x: self.x * factor, y: self.y * factor, z: self.z * factor }
    }
}

impl<R: Real> Add for Tensor<R> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self {
            xx: self.xx + other.xx,
            xy: self.xy + other.xy,
            xz: self.xz + other.xz,
            yy: self.yy + other.yy,
            yz: self.yz + other.yz,
            zz: self.zz + other.zz,
        }
    }
}

impl<R: Real> Mul<R> for Tensor<R> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, factor: R) -> Self {
        Self {
            xx: self.xx * factor,
            xy: self.xy * factor,
            xz: self.xz * factor,
            yy: self.yy * factor,
            yz: self.yz * factor,
            zz: self.zz * factor,
        }
    }
}

impl<R: Real> Mul<Vec3<R>> for Tensor<R> {
    type Output = Vec3<R>;
    #[inline(always)]
    fn mul(self, v: Vec3<R>) -> Vec3<R> {
        Vec3 {
            x: self.xx.mul_add(v.x, self.xy.mul_add(v.y, self.xz * v.z)),
            y: self.xy.mul_add(v.x, self.yy.mul_add(v.y, self.yz * v.z)),
            z: self.xz.mul_add(v.x, self.yz.mul_add(v.y, self.zz * v.z)),
        }
    }
}
