// Multipoles of the hierarchy's nodes, and their field at a target: mirrors src/tree/moments.rs and the
// expansion of src/far/kernels.rs. HILBRIUM_ORDER is the order of the expansion: 2 (quadrupoles) or 3
// (octupoles).
//
// Nodes correspond to those of tree/hierarchy.cuh element by element. Lengths are in the walk's unit
// (positions times `length_unit`, about 1 for the whole system), as are masses (total about 1), so that
// squares and cubes neither overflow nor underflow in single precision whatever the units of the simulation.
// Moments are raw, not traceless: the softened expansion needs the traces.
#pragma once

#include "../device.cuh"
#include "../pair/real.cuh"
#include "../far/split.cuh"

#ifndef HILBRIUM_ORDER
#define HILBRIUM_ORDER 2
#endif

namespace hilbrium {

// Node data read by the walk, 32 bytes in two loads.
struct __align__(16) Node {
    double x, y, z;  // center of mass
    float radius;    // largest distance of a particle from it, rounded up; -1 for a node without mass
    float mass;      // rounded; used by the opening criteria only
};

constexpr float NOTHING_ACTS = -1.0f;

// Four numbers read together.
struct __align__(16) Real4 {
    Real x, y, z, w;
};

// Multipole moments of a node: mass and second moments M = sum m y y, y relative to the center of mass; with
// octupoles also the third moments O = sum m y y y. In single precision 32 bytes, 80 with octupoles.
struct __align__(16) Multipole {
    Real mass, xx, xy, xz, yy, yz, zz, unused;
#if HILBRIUM_ORDER == 3
    Real xxx, xxy, xxz, xyy, xyz, xzz, yyy, yyz, yzz, zzz, unused_too[2];
#endif
};

// Multipole as a source for near targets, in the form that is broadcast: three loads, seven with octupoles.
struct NodeSource {
    Real4 place;   // position relative to the targets' center, mass
    Real4 first;   // 3 M: xx, xy, xz, yy
    Real4 second;  // 3 M: yz, zz; minus half the trace of M, and three times that
#if HILBRIUM_ORDER == 3
    Real4 third;   // 15/2 O: xxx, xxy, xxz, xyy
    Real4 fourth;  // 15/2 O: xyz, xzz, yyy, yyz
    Real4 fifth;   // 15/2 O: yzz, zzz; 3/2 of the traces of O: x, y
    Real4 sixth;   // z
#endif
};

__device__ __forceinline__ NodeSource node_source(const Multipole& multipole, Real x, Real y, Real z) {
    const Real half = Real(-0.5) * (multipole.xx + multipole.yy + multipole.zz);
    NodeSource source;
    source.place = {x, y, z, multipole.mass};
    source.first = {Real(3) * multipole.xx, Real(3) * multipole.xy, Real(3) * multipole.xz, Real(3) * multipole.yy};
    source.second = {Real(3) * multipole.yz, Real(3) * multipole.zz, half, Real(3) * half};
#if HILBRIUM_ORDER == 3
    const Real f = Real(7.5), t = Real(1.5);
    source.third = {f * multipole.xxx, f * multipole.xxy, f * multipole.xxz, f * multipole.xyy};
    source.fourth = {f * multipole.xyz, f * multipole.xzz, f * multipole.yyy, f * multipole.yyz};
    source.fifth = {f * multipole.yzz, f * multipole.zzz, t * (multipole.xxx + multipole.xyy + multipole.xzz),
                    t * (multipole.xxy + multipole.yyy + multipole.yzz)};
    source.sixth = {t * (multipole.xxz + multipole.yyz + multipole.zzz), Real(0), Real(0), Real(0)};
#endif
    return source;
}

// A target and its accumulated field for G = 1: acceleration, and minus the potential.
struct Target {
    Real x, y, z;
    Real pull_x, pull_y, pull_z, potential;
};

// Adds the field of a node at a target. With d the vector to the node, v = (d^2 + epsilon^2)^(-1/2), S = 3 M
// d and q = v^2 d.S, minus the potential is v [m + v^2 (q / 2 - tr M / 2)] and the acceleration v^3 [d (m +
// v^2 (5/2 q - 3/2 tr M)) - v^2 S]. Octupoles, with U = 15/2 v^2 O dd, w = 3/2 tr O, o = v^2 d.U and p = v^2
// d.w, add v^3 (p - o / 3) and v^5 [U - w + d (5 p - 7/3 o)].
// Floor: 35 arithmetic instructions and a reciprocal square root; about 45 more with octupoles.
// In a periodic box, the derivative of order k of the potential is multiplied by its short-range fraction T_k.
__device__ __forceinline__ void gather_node(const NodeSource& source, Real squared_softening,
#if HILBRIUM_PERIODIC
                                            const SplitArguments& split,
#endif
                                            Target& target) {
    const Real x = source.place.x - target.x, y = source.place.y - target.y, z = source.place.z - target.z;
    const Real v = reciprocal_root(x * x + (y * y + (z * z + squared_softening)));
#if HILBRIUM_PERIODIC
    const Real at = split_place(split, x * x + (y * y + z * z));
    if (!(at < Real(1))) { return; }
    const Real half = Real(0.5) * v * (x * x + (y * y + (z * z + squared_softening))), square = half * half;
    const Real half3 = half * square, half5 = half3 * square, half7 = half5 * square;
    const Real t0 = Real(1) - half * long_range_part<0u>(split, at),
               t1 = Real(1) - half3 * long_range_part<1u>(split, at),
               t2 = Real(1) - half5 * long_range_part<2u>(split, at),
               t3 = Real(1) - half7 * long_range_part<3u>(split, at);
#if HILBRIUM_ORDER == 3
    const Real t4 = Real(1) - half7 * square * long_range_part<4u>(split, at);
#endif
#else
    constexpr Real t0 = Real(1), t1 = Real(1), t2 = Real(1), t3 = Real(1);
#if HILBRIUM_ORDER == 3
    constexpr Real t4 = Real(1);
#endif
#endif
    Real side_x = source.first.x * x + (source.first.y * y + source.first.z * z);
    Real side_y = source.first.y * x + (source.first.w * y + source.second.x * z);
    Real side_z = source.first.z * x + (source.second.x * y + source.second.y * z);
    const Real w = v * v;
    const Real q = w * (x * side_x + (y * side_y + z * side_z));
    const Real v3 = v * w;
    Real of_potential = t2 * (Real(0.5) * q) + t1 * source.second.z,
         of_pull = t3 * (Real(2.5) * q) + t2 * source.second.w;
    side_x *= t2;
    side_y *= t2;
    side_z *= t2;
#if HILBRIUM_ORDER == 3
    const Real a = w * x, b = w * y, xx = a * x, yy = b * y, zz = w * z * z, xy = Real(2) * a * y, xz = Real(2) * a * z,
               yz = Real(2) * b * z;
    const Real ux = source.third.x * xx + (source.third.y * xy + source.third.z * xz) +
                    (source.third.w * yy + (source.fourth.x * yz + source.fourth.y * zz));
    const Real uy = source.third.y * xx + (source.third.w * xy + source.fourth.x * xz) +
                    (source.fourth.z * yy + (source.fourth.w * yz + source.fifth.x * zz));
    const Real uz = source.third.z * xx + (source.fourth.x * xy + source.fourth.y * xz) +
                    (source.fourth.w * yy + (source.fifth.x * yz + source.fifth.y * zz));
    const Real o = w * (x * ux + (y * uy + z * uz));
    const Real p = w * (x * source.fifth.z + (y * source.fifth.w + z * source.sixth.x));
    of_potential += t2 * p - t3 * (Real(1.0 / 3.0) * o);
    of_pull += t3 * (Real(5) * p) - t4 * (Real(7.0 / 3.0) * o);
    side_x += t2 * source.fifth.z - t3 * ux;
    side_y += t2 * source.fifth.w - t3 * uy;
    side_z += t2 * source.sixth.x - t3 * uz;
#endif
    const Real radial = v3 * (w * of_pull + t1 * source.place.w);
    const Real across = -v3 * w;
    target.potential += v * (w * of_potential + t0 * source.place.w);
    target.pull_x += x * radial + side_x * across;
    target.pull_y += y * radial + side_y * across;
    target.pull_z += z * radial + side_z * across;
}

} // namespace hilbrium
