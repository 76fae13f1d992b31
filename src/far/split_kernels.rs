//! Interaction kernels of the short-range part of the force split ([`super::split`]): those of
//! [`super::kernels`] minus the long-range part of the sources.
use super::kernels::{
    Gathered, MIN_SOFTENING_SQUARED, NodeSource, OCTUPOLE, PointSource, Softened, Targets, contract,
    spline_inside, sweep,
};
use super::lanes::{Lane, ReciprocalSqrt, Scalar};
use super::split::{LongRangePart, ORDERS};
use fearless_simd::prelude::*;

/// Adds the short-range field of `sources` to the first `count` targets. A coincident unsoftened point has no
/// Newtonian part; its long-range part is subtracted, as from every point. `NEAR`: all sources are within
/// [`super::split::NEAR`] of the cut of all targets.
#[inline(always)]
pub(crate) fn points<S: ReciprocalSqrt, V: Lane<S>, const NEAR: bool>(
    simd: S,
    targets: &Targets<V::Element>,
    count: usize,
    sources: &[PointSource<V::Element>],
    softened: Softened,
    part: &LongRangePart<V::Element>,
    gathered: &mut Gathered,
) {
    let squared = softened.plummer * softened.plummer;
    let softening = V::splat(simd, <V::Element as Scalar>::of(squared));
    if softened.spline > 0.0 {
        sweep::<S, V, 4>(
            simd,
            targets,
            count,
            sources,
            gathered,
            #[inline(always)]
            |source, to, sum| {
                point::<S, V, NEAR>(
                    simd,
                    source,
                    to,
                    part,
                    sum,
                    #[inline(always)]
                    |squared| spline_inside(simd, squared, softened.spline),
                );
            },
        );
    } else if squared > MIN_SOFTENING_SQUARED {
        sweep::<S, V, 4>(
            simd,
            targets,
            count,
            sources,
            gathered,
            #[inline(always)]
            |source, to, sum| {
                point::<S, V, NEAR>(
                    simd,
                    source,
                    to,
                    part,
                    sum,
                    #[inline(always)]
                    |squared| {
                        let inverse = (squared + softening).twice_rsqrt();
                        (inverse, inverse * inverse * inverse)
                    },
                );
            },
        );
    } else {
        sweep::<S, V, 4>(
            simd,
            targets,
            count,
            sources,
            gathered,
            #[inline(always)]
            |source, to, sum| {
                point::<S, V, NEAR>(
                    simd,
                    source,
                    to,
                    part,
                    sum,
                    #[inline(always)]
                    |squared| {
                        let inverse = squared.twice_rsqrt_or_zero();
                        (inverse, inverse * inverse * inverse)
                    },
                );
            },
        );
    }
}

/// Particle at separation `to`. `soften`, a closure that is always inlined, returns twice minus the
/// potential, and eight times the acceleration over the distance, of a unit mass at a squared distance.
#[inline(always)]
fn point<S: ReciprocalSqrt, V: Lane<S>, const NEAR: bool>(
    simd: S,
    source: &PointSource<V::Element>,
    [x, y, z]: [V; 3],
    part: &LongRangePart<V::Element>,
    sum: &mut [V; 4],
    soften: impl FnOnce(V) -> (V, V),
) {
    let squared = x.mul_add(x, y.mul_add(y, z * z));
    let mut mass = V::splat(simd, source[3]);
    let (phi, pull) = soften(squared);
    let [of_phi, of_pull] = if NEAR {
        let at = place(simd, squared, part.near_scale);
        [near_long_range::<S, V, 0>(simd, part, at), near_long_range::<S, V, 1>(simd, part, at)]
    } else {
        let at = place(simd, squared, part.scale);
        mass = within(simd, at).select(mass, V::splat(simd, V::Element::default()));
        [long_range::<S, V, 0>(simd, part, at), long_range::<S, V, 1>(simd, part, at)]
    };
    let (phi, pull) = ((phi - of_phi) * mass, (pull - of_pull) * mass);
    *sum = [x.mul_add(pull, sum[0]), y.mul_add(pull, sum[1]), z.mul_add(pull, sum[2]), sum[3] + phi];
}

/// The variable of the polynomials: -1 at distance 0, 1 at the end of their range.
#[inline(always)]
fn place<S: ReciprocalSqrt, V: Lane<S>>(simd: S, squared: V, scale: V::Element) -> V {
    squared.mul_add(V::splat(simd, scale), V::splat(simd, <V::Element as Scalar>::of(-1.0)))
}

/// Whether a source is within the cut.
#[inline(always)]
fn within<S: ReciprocalSqrt, V: Lane<S>>(simd: S, at: V) -> V::Mask {
    at.simd_lt(V::splat(simd, <V::Element as Scalar>::of(1.0)))
}

/// The long-range part of derivative `K`.
#[inline(always)]
fn long_range<S: ReciprocalSqrt, V: Lane<S>, const K: usize>(
    simd: S,
    part: &LongRangePart<V::Element>,
    at: V,
) -> V {
    polynomial(simd, &part.terms[K][..=<V::Element as Scalar>::SPLIT_DEGREES[K]], at)
}

/// The long-range part of derivative `K` of near sources.
#[inline(always)]
fn near_long_range<S: ReciprocalSqrt, V: Lane<S>, const K: usize>(
    simd: S,
    part: &LongRangePart<V::Element>,
    at: V,
) -> V {
    polynomial(simd, &part.near_terms[K][..=<V::Element as Scalar>::NEAR_DEGREE], at)
}

/// The polynomial with these coefficients by ascending power.
#[inline(always)]
fn polynomial<S: ReciprocalSqrt, V: Lane<S>>(simd: S, terms: &[V::Element], at: V) -> V {
    let degree = terms.len() - 1;
    let mut sum = V::splat(simd, terms[degree]);
    for power in (0..degree).rev() {
        sum = sum.mul_add(at, V::splat(simd, terms[power]));
    }
    sum
}

/// Adds the short-range field of nodes to the first `count` targets. In the expansion of
/// [`super::kernels::nodes`], the derivative of order k of the potential, (2k - 1)!! / R^(2k+1) but for the
/// sign, is multiplied by the fraction T_k of it that is short-range:
/// `-phi = v [m' T_0 + v^2 (Q/8 T_2 - t T_1 - v (P/12 T_3 - s.E/4 T_2))]`,
/// `4 a = v^2 [E (m' T_1 + v^2 (5Q/8 T_3 - 3t T_2 - v (7P/12 T_4 - 5/4 s.E T_3))) - v^2 (T_2 M'E - v (T_3 O'EE -
/// T_2 s))]`.
/// A node whose center of mass is beyond the cut from a target does not act on it.
#[inline(always)]
pub(crate) fn nodes<S: ReciprocalSqrt, V: Lane<S>, const N: usize>(
    simd: S,
    targets: &Targets<V::Element>,
    count: usize,
    sources: &[NodeSource<V::Element, N>],
    softened: Softened,
    part: &LongRangePart<V::Element>,
    gathered: &mut Gathered,
) {
    let of = |value: f64| V::splat(simd, <V::Element as Scalar>::of(value));
    let softening =
        of((softened.plummer * softened.plummer).max(MIN_SOFTENING_SQUARED * MIN_SOFTENING_SQUARED.sqrt()));
    let (eighth, five_eighths, quarter, one, zero) = (of(0.125), of(0.625), of(0.25), of(1.0), of(0.0));
    sweep::<S, V, N>(
        simd,
        targets,
        count,
        sources,
        gathered,
        #[inline(always)]
        |source, [x, y, z], sum| {
            let entry = |k: usize| V::splat(simd, source[k]);
            let squared = x.mul_add(x, y.mul_add(y, z * z));
            let at = place(simd, squared, part.scale);
            let inside = within(simd, at);
            let softened = squared + softening;
            let v = softened.twice_rsqrt();
            // half the softened distance
            let half = softened * v * quarter;
            let half_squared = half * half;
            let mut power = half;
            let mut fractions = [zero; ORDERS];
            fractions[0] = (-power).mul_add(long_range::<S, V, 0>(simd, part, at), one);
            power *= half_squared;
            fractions[1] = (-power).mul_add(long_range::<S, V, 1>(simd, part, at), one);
            power *= half_squared;
            fractions[2] = (-power).mul_add(long_range::<S, V, 2>(simd, part, at), one);
            power *= half_squared;
            fractions[3] = (-power).mul_add(long_range::<S, V, 3>(simd, part, at), one);
            if N == OCTUPOLE {
                power *= half_squared;
                fractions[4] = (-power).mul_add(long_range::<S, V, 4>(simd, part, at), one);
            }
            let v = inside.select(v, zero);
            let (x, y, z) = (x * v, y * v, z * v);
            let mut side_x = x.mul_add(entry(4), y.mul_add(entry(5), z * entry(6)));
            let mut side_y = x.mul_add(entry(5), y.mul_add(entry(7), z * entry(8)));
            let mut side_z = x.mul_add(entry(6), y.mul_add(entry(8), z * entry(9)));
            let q = x.mul_add(side_x, y.mul_add(side_y, z * side_z));
            (side_x, side_y, side_z) = (side_x * fractions[2], side_y * fractions[2], side_z * fractions[2]);
            let mut potential = (q * eighth).mul_add(fractions[2], fractions[1] * entry(10));
            let mut radial = (q * five_eighths).mul_add(fractions[3], fractions[2] * entry(11));
            if N == OCTUPOLE {
                let (x2, y2) = (x + x, y + y);
                let products = [x * x, x2 * y, x2 * z, y * y, y2 * z, z * z];
                let ox = contract::<S, V, N>(simd, source, [12, 13, 14, 15, 16, 17], products);
                let oy = contract::<S, V, N>(simd, source, [13, 15, 16, 18, 19, 20], products);
                let oz = contract::<S, V, N>(simd, source, [14, 16, 17, 19, 20, 21], products);
                let p = x.mul_add(ox, y.mul_add(oy, z * oz));
                let s = x.mul_add(entry(22), y.mul_add(entry(23), z * entry(24)));
                let of_potential = (p * of(1.0 / 12.0)).mul_add(fractions[3], s * of(-0.25) * fractions[2]);
                let of_radial = (p * of(7.0 / 12.0)).mul_add(fractions[4], s * of(-1.25) * fractions[3]);
                potential = (-v).mul_add(of_potential, potential);
                radial = (-v).mul_add(of_radial, radial);
                let side = |o: V, k: usize| o.mul_add(fractions[3], -(fractions[2] * entry(k)));
                side_x = (-v).mul_add(side(ox, 22), side_x);
                side_y = (-v).mul_add(side(oy, 23), side_y);
                side_z = (-v).mul_add(side(oz, 24), side_z);
            }
            let (v2, mass) = (v * v, entry(3));
            let radial = v2.mul_add(radial, mass * fractions[1]);
            let potential = v2.mul_add(potential, mass * fractions[0]);
            *sum = [
                v2.mul_add((-v2).mul_add(side_x, x * radial), sum[0]),
                v2.mul_add((-v2).mul_add(side_y, y * radial), sum[1]),
                v2.mul_add((-v2).mul_add(side_z, z * radial), sum[2]),
                v.mul_add(potential, sum[3]),
            ];
        },
    );
}
