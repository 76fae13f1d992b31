//! The two interactions of the tree: particle with particle, and particle with node. Lanes run over the targets of a
//! super-cluster, sources are broadcast.
//!
//! Everything is in the walk's own units (see [`super::walk`]), chosen so that single precision neither overflows nor
//! underflows whatever the units of the run are, and relative to the super-cluster's center.
use super::lanes::{Lane, Roots, Scalar};
use super::softening::{
    INNER_FORCE, INNER_POTENTIAL, OUTER_FORCE, OUTER_POLE_FORCE, OUTER_POLE_POTENTIAL, OUTER_POTENTIAL,
    Polynomial,
};
use crate::tree::moments::Moments;
use fearless_simd::prelude::*;

/// Rows of a super-cluster.
pub(crate) const GROUP: usize = 64;

/// The targets of a super-cluster: x, y, z relative to its center. Unused lanes are zero, and ignored.
pub(crate) type Targets<E> = [[E; GROUP]; 3];

/// What the targets gather: acceleration x, y, z and minus the potential, with G = 1.
pub(crate) type Gathered = [[f64; GROUP]; 4];

/// A particle as a source: x, y, z, mass.
pub(crate) type PointSource<E> = [E; 4];

/// Entries of a [`NodeSource`].
pub(crate) const NODE_ENTRIES: usize = 24;

/// A node as a source: center (3), mass, 3 M (6), its trace, 7.5 O (10), 1.5 tr O (3), with M and O the raw second and
/// third moments.
pub(crate) type NodeSource<E> = [E; NODE_ENTRIES];

/// The kernel's parameters in the walk's units.
#[derive(Clone, Copy)]
pub(crate) struct Softened {
    /// Plummer's softening length, or 0.
    pub plummer: f64,
    /// The spline's support, or 0.
    pub spline: f64,
}

/// Prepare a node as a source for targets about `frame`.
#[inline(always)]
pub(crate) fn node_source<E: Scalar>(
    moments: &Moments,
    frame: [f64; 3],
    length: f64,
    mass: f64,
) -> NodeSource<E> {
    let mut source = [E::default(); NODE_ENTRIES];
    for d in 0..3 {
        source[d] = E::of((moments.center[d] - frame[d]) * length);
    }
    source[3] = E::of(moments.mass * mass);
    let second = 3.0 * mass * length * length;
    for k in 0..6 {
        source[4 + k] = E::of(moments.second[k] * second);
    }
    let [xx, _, _, yy, _, zz] = moments.second;
    source[10] = E::of((xx + yy + zz) * second);
    let third = 7.5 * mass * length * length * length;
    for k in 0..10 {
        source[11 + k] = E::of(moments.third[k] * third);
    }
    let [xxx, xxy, xxz, xyy, _, xzz, yyy, yyz, yzz, zzz] = moments.third;
    for (k, trace) in [xxx + xyy + xzz, xxy + yyy + yzz, xxz + yyz + zzz].into_iter().enumerate() {
        source[21 + k] = E::of(trace * third * 0.2);
    }
    source
}

/// Add what `sources` do to the first `count` targets. Coinciding unsoftened points do nothing.
#[inline(always)]
pub(crate) fn points<S: Roots, V: Lane<S>>(
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
        let squared = V::splat(simd, <V::Element as Scalar>::of(softened.plummer * softened.plummer));
        sweep::<S, V, 4>(
            simd,
            targets,
            count,
            sources,
            gathered,
            #[inline(always)]
            |source, to, sum| {
                let [x, y, z] = to;
                let inverse = x.mul_add(x, y.mul_add(y, z.mul_add(z, squared))).reciprocal_root();
                let phi = inverse * source[3];
                let pull = phi * inverse * inverse;
                *sum =
                    [x.mul_add(pull, sum[0]), y.mul_add(pull, sum[1]), z.mul_add(pull, sum[2]), sum[3] + phi];
            },
        );
    }
}

/// A spline-softened point; only vectors with a lane inside the support pay for it.
#[inline(always)]
fn spline_point<S: Roots, V: Lane<S>>(
    simd: S,
    source: &PointSource<V::Element>,
    to: [V; 3],
    support: f64,
    sum: &mut [V; 4],
) {
    let of = |value: f64| V::splat(simd, <V::Element as Scalar>::of(value));
    let [x, y, z] = to;
    let squared = x.mul_add(x, y.mul_add(y, z * z));
    let inverse = squared.reciprocal_root();
    let inside = squared.simd_lt(of(support * support));
    let mut phi = inverse;
    let mut pull = inverse * inverse * inverse;
    if inside.any_true() {
        let u = squared * inverse * of(1.0 / support);
        let v = inverse * of(support);
        let inner = u.simd_lt(of(0.5));
        let outer_phi = v.mul_add(of(OUTER_POLE_POTENTIAL), polynomial(simd, &OUTER_POTENTIAL, u));
        let outer_pull = (v * v * v).mul_add(of(OUTER_POLE_FORCE), polynomial(simd, &OUTER_FORCE, u));
        let soft_phi = inner.select(polynomial(simd, &INNER_POTENTIAL, u), outer_phi) * of(1.0 / support);
        let soft_pull = inner.select(polynomial(simd, &INNER_FORCE, u), outer_pull) * of(support.powi(-3));
        phi = inside.select(soft_phi, phi);
        pull = inside.select(soft_pull, pull);
    }
    pull *= source[3];
    phi *= source[3];
    *sum = [x.mul_add(pull, sum[0]), y.mul_add(pull, sum[1]), z.mul_add(pull, sum[2]), sum[3] + phi];
}

#[inline(always)]
fn polynomial<S: Roots, V: Lane<S>, const N: usize>(simd: S, coefficients: &Polynomial<N>, u: V) -> V {
    let mut sum = V::splat(simd, <V::Element as Scalar>::of(coefficients.0[N - 1]));
    for k in (0..N - 1).rev() {
        sum = sum.mul_add(u, V::splat(simd, <V::Element as Scalar>::of(coefficients.0[k])));
    }
    sum
}

/// Add what the nodes do to the first `count` targets: the Taylor expansion of the Plummer-softened potential (Newton's
/// when `plummer` is 0) about the center of mass, through the quadrupole or the octupole.
///
/// With R^2 = r^2 + eps^2, e = (vector to the node) / R, M' = 3 M, O' = 7.5 O, s = 1.5 tr O:
/// `-phi = 1/R [m + 1/R^2 (q/2 - tr M'/6) - 1/R^3 (o/3 - s.e)]`,
/// `a = 1/R^2 [e (m + 1/R^2 (5q/2 - tr M'/2) - 1/R^3 (7o/3 - 5 s.e)) - M'e / R^2 + (O'ee - s) / R^3]`,
/// where q = e.M'e and o = O'eee.
#[inline(always)]
pub(crate) fn nodes<S: Roots, V: Lane<S>, const OCTUPOLE: bool>(
    simd: S,
    targets: &Targets<V::Element>,
    count: usize,
    sources: &[NodeSource<V::Element>],
    softened: Softened,
    gathered: &mut Gathered,
) {
    let of = |value: f64| V::splat(simd, <V::Element as Scalar>::of(value));
    let squared = of(softened.plummer * softened.plummer);
    let (half, sixth, third) = (of(0.5), of(-1.0 / 6.0), of(1.0 / 3.0));
    let (quad, octo, minus_half, minus_five) = (of(2.5), of(7.0 / 3.0), of(-0.5), of(-5.0));
    sweep::<S, V, NODE_ENTRIES>(
        simd,
        targets,
        count,
        sources,
        gathered,
        #[inline(always)]
        |source, to, sum| {
            let at = |k: usize| V::splat(simd, source[k]);
            let [x, y, z] = to;
            let inverse = x.mul_add(x, y.mul_add(y, z.mul_add(z, squared))).reciprocal_root();
            let inverse2 = inverse * inverse;
            let (x, y, z) = (x * inverse, y * inverse, z * inverse);
            let mx = x.mul_add(at(4), y.mul_add(at(5), z * at(6)));
            let my = x.mul_add(at(5), y.mul_add(at(7), z * at(8)));
            let mz = x.mul_add(at(6), y.mul_add(at(8), z * at(9)));
            let q = x.mul_add(mx, y.mul_add(my, z * mz));
            let trace = at(10);
            let mut potential = q.mul_add(half, trace * sixth);
            let mut radial = q.mul_add(quad, trace * minus_half);
            let (mut side_x, mut side_y, mut side_z) = (-mx, -my, -mz);
            if OCTUPOLE {
                let (xx, yy, zz) = (x * x, y * y, z * z);
                let (x2, y2) = (x + x, y + y);
                let (xy, xz, yz) = (x2 * y, x2 * z, y2 * z);
                let ox = contract::<S, V>(simd, source, [11, 12, 13, 14, 15, 16], [xx, xy, xz, yy, yz, zz]);
                let oy = contract::<S, V>(simd, source, [12, 14, 15, 17, 18, 19], [xx, xy, xz, yy, yz, zz]);
                let oz = contract::<S, V>(simd, source, [13, 15, 16, 18, 19, 20], [xx, xy, xz, yy, yz, zz]);
                let o = x.mul_add(ox, y.mul_add(oy, z * oz));
                let s = x.mul_add(at(21), y.mul_add(at(22), z * at(23)));
                potential = (-inverse).mul_add(o.mul_add(third, -s), potential);
                radial = (-inverse).mul_add(o.mul_add(octo, s * minus_five), radial);
                side_x = inverse.mul_add(ox - at(21), side_x);
                side_y = inverse.mul_add(oy - at(22), side_y);
                side_z = inverse.mul_add(oz - at(23), side_z);
            }
            let mass = at(3);
            let radial = inverse2.mul_add(radial, mass) * inverse2;
            let sideways = inverse2 * inverse2;
            let potential = inverse2.mul_add(potential, mass);
            *sum = [
                x.mul_add(radial, side_x.mul_add(sideways, sum[0])),
                y.mul_add(radial, side_y.mul_add(sideways, sum[1])),
                z.mul_add(radial, side_z.mul_add(sideways, sum[2])),
                potential.mul_add(inverse, sum[3]),
            ];
        },
    );
}

/// The sum of products of the source's entries at `k` with `p`.
#[inline(always)]
fn contract<S: Roots, V: Lane<S>>(simd: S, source: &NodeSource<V::Element>, k: [usize; 6], p: [V; 6]) -> V {
    let at = |k: usize| V::splat(simd, source[k]);
    let first = p[0].mul_add(at(k[0]), p[1].mul_add(at(k[1]), p[2] * at(k[2])));
    let second = p[3].mul_add(at(k[3]), p[4].mul_add(at(k[4]), p[5] * at(k[5])));
    first + second
}

/// Sources between two additions to the double-precision sums.
const STRETCH: usize = 512;

/// The loop: two vectors of targets at a time stay in registers while the sources stream by.
#[inline(always)]
fn sweep<S: Roots, V: Lane<S>, const N: usize>(
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
        for stretch in sources.chunks(STRETCH) {
            let (mut sum_a, mut sum_b) = ([zero; 4], [zero; 4]);
            for source in stretch {
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

/// Add lanes to double-precision sums.
#[inline(always)]
fn add<S: Roots, V: Lane<S>>(lanes: V, sums: &mut [f64]) {
    let mut values = [V::Element::default(); 16];
    lanes.store_slice(&mut values[..V::LEN]);
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum += value.wide();
    }
}
