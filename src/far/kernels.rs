//! Particle-particle and particle-node interaction kernels. Vector lanes hold the targets of a super-cluster;
//! sources are broadcast.
//!
//! Coordinates are relative to the super-cluster's center and in the walk's units (see [`super::walk`]), so
//! that single precision neither overflows nor underflows in any unit system.
use super::lanes::{Lane, ReciprocalSqrt, Scalar};
use super::softening::{
    INNER_FORCE, INNER_POTENTIAL, OUTER_FORCE, OUTER_POLE_FORCE, OUTER_POLE_POTENTIAL, OUTER_POTENTIAL,
    Polynomial,
};
use crate::faults::{Fault, planted};
use crate::particles::SUPER_CLUSTER;
use crate::tree::moments::Moments;
use fearless_simd::prelude::*;

/// Targets of a super-cluster: x, y, z relative to its center. Unused lanes are zero, and their results
/// ignored.
pub(crate) type Targets<E> = [[E; SUPER_CLUSTER]; 3];

/// Sums of the targets, with G = 1: four times the acceleration x, y, z, and minus the potential. The factor
/// 4 comes from twice the reciprocal distance (see [`super::lanes`]); the caller divides by it.
pub(crate) type Gathered = [[f64; SUPER_CLUSTER]; 4];

/// A particle as a source: x, y, z, half the mass.
pub(crate) type PointSource<E> = [E; 4];

/// A node as a source: center (3), half the mass, 3/8 M (6), -1/16 tr M, -3/16 tr M. With octupoles also
/// 15/64 O (10) and 3/16 tr O (3). M and O are the raw second and third moments.
pub(crate) type NodeSource<E, const N: usize> = [E; N];

/// Length of a [`NodeSource`] with second moments.
pub(crate) const QUADRUPOLE: usize = 12;

/// Length of a [`NodeSource`] with second and third moments.
pub(crate) const OCTUPOLE: usize = 25;

/// Softening parameters in the walk's units.
#[derive(Clone, Copy)]
pub(crate) struct Softened {
    /// Plummer softening length, or 0.
    pub plummer: f64,
    /// Spline support, or 0.
    pub spline: f64,
}

/// Packs a node in the walk's units. The center stays zero.
#[inline(always)]
pub(crate) fn node_source<E: Scalar, const N: usize>(
    moments: &Moments,
    length: f64,
    mass: f64,
) -> NodeSource<E, N> {
    let mut source = [E::default(); N];
    source[3] = E::of(0.5 * moments.mass * mass);
    let sign = if planted(Fault::QuadrupoleSign) { -1.0 } else { 1.0 };
    let second = sign * mass * length * length;
    for k in 0..6 {
        source[4 + k] = E::of(moments.second[k] * (0.375 * second));
    }
    let [xx, _, _, yy, _, zz] = moments.second;
    source[10] = E::of((xx + yy + zz) * (-0.0625 * second));
    source[11] = E::of((xx + yy + zz) * (-0.1875 * second));
    if N == OCTUPOLE {
        let third = second * length;
        for k in 0..10 {
            source[12 + k] = E::of(moments.third[k] * (0.234375 * third));
        }
        let [xxx, xxy, xxz, xyy, _, xzz, yyy, yyz, yzz, zzz] = moments.third;
        for (k, trace) in [xxx + xyy + xzz, xxy + yyy + yzz, xxz + yyz + zzz].into_iter().enumerate() {
            source[22 + k] = E::of(trace * (0.1875 * third));
        }
    }
    source
}

/// Above this squared softening length, the potential of a coincident point is finite in single precision.
/// Coincident points then need no special case.
pub(super) const MIN_SOFTENING_SQUARED: f64 = 1e-24;

/// Adds the field of `sources` to the first `count` targets. Coincident unsoftened points are skipped.
#[inline(always)]
pub(crate) fn points<S: ReciprocalSqrt, V: Lane<S>>(
    simd: S,
    targets: &Targets<V::Element>,
    count: usize,
    sources: &[PointSource<V::Element>],
    softened: Softened,
    gathered: &mut Gathered,
) {
    if softened.spline > 0.0 {
        sweep::<S, V, 4>(
            simd,
            targets,
            count,
            sources,
            gathered,
            #[inline(always)]
            |source, to, sum| spline_point::<S, V>(simd, source, to, softened.spline, sum),
        );
    } else {
        let squared = softened.plummer * softened.plummer;
        let softening = V::splat(simd, <V::Element as Scalar>::of(squared));
        if squared > MIN_SOFTENING_SQUARED {
            sweep::<S, V, 4>(
                simd,
                targets,
                count,
                sources,
                gathered,
                #[inline(always)]
                |source, to, sum| point::<S, V, true>(source, to, softening, sum),
            );
        } else {
            sweep::<S, V, 4>(
                simd,
                targets,
                count,
                sources,
                gathered,
                #[inline(always)]
                |source, to, sum| point::<S, V, false>(source, to, softening, sum),
            );
        }
    }
}

/// Point mass at separation `to`, with the squared Plummer length `softening`. Coincident points contribute
/// nothing unless `SOFTENED`.
#[inline(always)]
fn point<S: ReciprocalSqrt, V: Lane<S>, const SOFTENED: bool>(
    source: &PointSource<V::Element>,
    [x, y, z]: [V; 3],
    softening: V,
    sum: &mut [V; 4],
) {
    let squared = x.mul_add(x, y.mul_add(y, z.mul_add(z, softening)));
    let inverse = if SOFTENED { squared.twice_rsqrt() } else { squared.twice_rsqrt_or_zero() };
    let phi = inverse * source[3];
    let pull = phi * (inverse * inverse);
    let phi = if planted(Fault::PotentialUnsoftened) {
        x.mul_add(x, y.mul_add(y, z * z)).twice_rsqrt_or_zero() * source[3]
    } else {
        phi
    };
    *sum = [x.mul_add(pull, sum[0]), y.mul_add(pull, sum[1]), z.mul_add(pull, sum[2]), sum[3] + phi];
}

/// Spline-softened point. The polynomials are evaluated only if a lane is inside the support.
#[inline(always)]
fn spline_point<S: ReciprocalSqrt, V: Lane<S>>(
    simd: S,
    source: &PointSource<V::Element>,
    to: [V; 3],
    support: f64,
    sum: &mut [V; 4],
) {
    let [x, y, z] = to;
    let (phi, pull) = spline_inside(simd, x.mul_add(x, y.mul_add(y, z * z)), support);
    let (phi, pull) = (phi * source[3], pull * source[3]);
    *sum = [x.mul_add(pull, sum[0]), y.mul_add(pull, sum[1]), z.mul_add(pull, sum[2]), sum[3] + phi];
}

/// Twice minus the potential, and eight times the acceleration over the distance, of a spline-softened unit
/// mass at a squared distance.
#[inline(always)]
pub(super) fn spline_inside<S: ReciprocalSqrt, V: Lane<S>>(simd: S, squared: V, support: f64) -> (V, V) {
    let of = |value: f64| V::splat(simd, <V::Element as Scalar>::of(value));
    let twice = squared.twice_rsqrt_or_zero();
    let inside = squared.simd_lt(of(support * support));
    let mut phi = twice;
    let mut pull = twice * twice * twice;
    if inside.any_true() {
        let u = squared * twice * of(0.5 / support);
        let v = twice * of(0.5 * support);
        let inner = u.simd_lt(of(0.5));
        let outer_phi = v.mul_add(of(OUTER_POLE_POTENTIAL), polynomial(simd, &OUTER_POTENTIAL, u));
        let outer_pull = (v * v * v).mul_add(of(OUTER_POLE_FORCE), polynomial(simd, &OUTER_FORCE, u));
        let soft_phi = inner.select(polynomial(simd, &INNER_POTENTIAL, u), outer_phi) * of(2.0 / support);
        let soft_pull =
            inner.select(polynomial(simd, &INNER_FORCE, u), outer_pull) * of(8.0 * support.powi(-3));
        phi = inside.select(soft_phi, phi);
        pull = inside.select(soft_pull, pull);
    }
    (phi, pull)
}

#[inline(always)]
fn polynomial<S: ReciprocalSqrt, V: Lane<S>, const N: usize>(
    simd: S,
    coefficients: &Polynomial<N>,
    u: V,
) -> V {
    let mut sum = V::splat(simd, <V::Element as Scalar>::of(coefficients.0[N - 1]));
    for k in (0..N - 1).rev() {
        sum = sum.mul_add(u, V::splat(simd, <V::Element as Scalar>::of(coefficients.0[k])));
    }
    sum
}

/// Adds the field of nodes to the first `count` targets: the Taylor expansion of the Plummer-softened
/// potential (Newtonian if `plummer` is 0) about the center of mass, to the quadrupole or octupole.
///
/// With R^2 = r^2 + eps^2, e = (vector to the node) / R, q = e.Me and o = Oeee:
/// `-phi = 1/R [m + 1/R^2 (3q/2 - tr M/2) - 1/R^3 (5o/2 - 3/2 tr O.e)]`,
/// `a = 1/R^2 [e (m + 1/R^2 (15q/2 - 3/2 tr M) - 1/R^3 (35o/2 - 15/2 tr O.e)) - 3 Me / R^2 + (15/2 Oee - 3/2
/// tr O) / R^3]`.
/// The code uses v = 2/R, E = 2e and the source entries m' = m/2, M' = 3/8 M, t = 1/16 tr M, O' = 15/64 O, s
/// = 3/16 tr O. With Q = E.M'E and P = O'EEE, most factors cancel:
/// `-phi = v [m' + v^2 (Q/8 - t - v (P/12 - s.E/4))]`,
/// `4 a = v^2 [E (m' + v^2 (5Q/8 - 3t - v (7P/12 - 5/4 s.E))) - v^2 (M'E - v (O'EE - s))]`.
#[inline(always)]
pub(crate) fn nodes<S: ReciprocalSqrt, V: Lane<S>, const N: usize>(
    simd: S,
    targets: &Targets<V::Element>,
    count: usize,
    sources: &[NodeSource<V::Element, N>],
    softened: Softened,
    gathered: &mut Gathered,
) {
    let of = |value: f64| V::splat(simd, <V::Element as Scalar>::of(value));
    // Accepted nodes are distant, but the distance may underflow in single precision: keep the result finite.
    let squared =
        of((softened.plummer * softened.plummer).max(MIN_SOFTENING_SQUARED * MIN_SOFTENING_SQUARED.sqrt()));
    let (eighth, five_eighths) = (of(0.125), of(0.625));
    sweep::<S, V, N>(
        simd,
        targets,
        count,
        sources,
        gathered,
        #[inline(always)]
        |source, [x, y, z], sum| {
            let at = |k: usize| V::splat(simd, source[k]);
            let v = x.mul_add(x, y.mul_add(y, z.mul_add(z, squared))).twice_rsqrt();
            let (x, y, z) = (x * v, y * v, z * v);
            let mut side_x = x.mul_add(at(4), y.mul_add(at(5), z * at(6)));
            let mut side_y = x.mul_add(at(5), y.mul_add(at(7), z * at(8)));
            let mut side_z = x.mul_add(at(6), y.mul_add(at(8), z * at(9)));
            let q = x.mul_add(side_x, y.mul_add(side_y, z * side_z));
            let mut potential = q.mul_add(eighth, at(10));
            let mut radial = q.mul_add(five_eighths, at(11));
            if N == OCTUPOLE {
                let (x2, y2) = (x + x, y + y);
                let products = [x * x, x2 * y, x2 * z, y * y, y2 * z, z * z];
                let ox = contract::<S, V, N>(simd, source, [12, 13, 14, 15, 16, 17], products);
                let oy = contract::<S, V, N>(simd, source, [13, 15, 16, 18, 19, 20], products);
                let oz = contract::<S, V, N>(simd, source, [14, 16, 17, 19, 20, 21], products);
                let p = x.mul_add(ox, y.mul_add(oy, z * oz));
                let s = x.mul_add(at(22), y.mul_add(at(23), z * at(24)));
                potential = (-v).mul_add(p.mul_add(of(1.0 / 12.0), s * of(-0.25)), potential);
                radial = (-v).mul_add(p.mul_add(of(7.0 / 12.0), s * of(-1.25)), radial);
                side_x = (-v).mul_add(ox - at(22), side_x);
                side_y = (-v).mul_add(oy - at(23), side_y);
                side_z = (-v).mul_add(oz - at(24), side_z);
            }
            let (v2, mass) = (v * v, at(3));
            let radial = v2.mul_add(radial, mass);
            let potential = v2.mul_add(potential, mass);
            *sum = [
                v2.mul_add((-v2).mul_add(side_x, x * radial), sum[0]),
                v2.mul_add((-v2).mul_add(side_y, y * radial), sum[1]),
                v2.mul_add((-v2).mul_add(side_z, z * radial), sum[2]),
                v.mul_add(potential, sum[3]),
            ];
        },
    );
}

/// Sum of the source's entries at `k` times `p`.
#[inline(always)]
pub(super) fn contract<S: ReciprocalSqrt, V: Lane<S>, const N: usize>(
    simd: S,
    source: &NodeSource<V::Element, N>,
    k: [usize; 6],
    p: [V; 6],
) -> V {
    let at = |k: usize| V::splat(simd, source[k]);
    let first = p[0].mul_add(at(k[0]), p[1].mul_add(at(k[1]), p[2] * at(k[2])));
    let second = p[3].mul_add(at(k[3]), p[4].mul_add(at(k[4]), p[5] * at(k[5])));
    first + second
}

/// Number of sources between two flushes of the vector sums into the double-precision sums.
const FLUSH_INTERVAL: usize = 512;

/// Main loop: two vectors of targets stay in registers while the sources stream.
#[inline(always)]
pub(super) fn sweep<S: ReciprocalSqrt, V: Lane<S>, const N: usize>(
    simd: S,
    targets: &Targets<V::Element>,
    count: usize,
    sources: &[[V::Element; N]],
    gathered: &mut Gathered,
    interact: impl Fn(&[V::Element; N], [V; 3], &mut [V; 4]),
) {
    let zero = V::splat(simd, V::Element::default());
    for first in (0..count).step_by(2 * V::LEN) {
        let load = |d: usize, k: usize| V::from_slice(simd, &targets[d][first + k * V::LEN..][..V::LEN]);
        let a = [load(0, 0), load(1, 0), load(2, 0)];
        let b = [load(0, 1), load(1, 1), load(2, 1)];
        for chunk in sources.chunks(FLUSH_INTERVAL) {
            let (mut sum_a, mut sum_b) = ([zero; 4], [zero; 4]);
            for source in chunk {
                let (x, y, z) =
                    (V::splat(simd, source[0]), V::splat(simd, source[1]), V::splat(simd, source[2]));
                interact(source, [x - a[0], y - a[1], z - a[2]], &mut sum_a);
                interact(source, [x - b[0], y - b[1], z - b[2]], &mut sum_b);
            }
            for k in 0..4 {
                let row = &mut gathered[k][first..first + 2 * V::LEN];
                add(sum_a[k], &mut row[..V::LEN]);
                add(sum_b[k], &mut row[V::LEN..]);
            }
        }
    }
}

/// Adds a vector to double-precision sums.
#[inline(always)]
fn add<S: ReciprocalSqrt, V: Lane<S>>(lanes: V, sums: &mut [f64]) {
    let mut values = [V::Element::default(); 16];
    lanes.store_slice(&mut values[..V::LEN]);
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum += value.wide();
    }
}
