// Local expansions: the field of far nodes at all particles of a super-cluster.
//
// Let d be the vector from the center of the targets to the node, x a target relative to that center, and y a
// particle relative to the node's center of mass. The potential f(d + y - x), f(r) = (r^2 +
// epsilon^2)^(-1/2), is expanded in y - x through fourth order, as in a fast multipole method (Greengard &
// Rokhlin 1987; Cartesian form by Dehnen 2002):
//     phi(x) = A0 - A1 x + 1/2 A2 xx - 1/6 A3 xxx + 1/24 A4 xxxx   (minus the potential; G = 1)
// With v = (d^2 + epsilon^2)^(-1/2), e = d v and x, y in units of the targets' radius b (t = b v), the
// derivatives are d^k f = v^(k+1) P_k(e): P_1 = -e, P_2 = 3 ee - 1, P_3 = -(15 eee - 3 e1), P_4 = 105 eeee -
// 15 ee1 + 3 11, where 1 is the unit tensor and products are symmetrized over their distinct permutations.
// With mu = m v and N = M v^3:
//     A0 = mu + N:P_2 / 2,  A1 = t (mu P_1 + N:P_3 / 2),  A2 = t^2 (mu P_2 + N:P_4 / 2),  A3 = t^3 mu P_3,
//     A4 = t^4 mu P_4;  octupoles, with Q = O v^4, add Q:P_3 / 6 to A0 and t Q:P_4 / 6 to A1.
// Each lane processes one node. A far node therefore costs a warp about 6 instructions, compared with 75 for
// evaluation at 64 targets.
#pragma once

#include "../far/multipole.cuh"

namespace hilbrium {

// A0; A1 x y z; A2 xx xy xz yy yz zz; A3 xxx xxy xxz xyy xyz xzz yyy yyz yzz zzz; A4 without its constant
// terms xxxx xxxy xxxz xxyy xxyz xxzz xyyy xyyz xyzz xzzz yyyy yyyz yyzz yzzz zzzz; and the common factor of
// these constant terms.
constexpr unsigned LOCAL_TERMS = 36u;

// Adds a node to this lane's terms. Floor: 150 instructions per lane.
__device__ __forceinline__ void local_of_node(const Multipole& node, Real dx, Real dy, Real dz, Real radius,
                                              Real squared_softening, Real (&terms)[LOCAL_TERMS]) {
    const Real v = reciprocal_root(dx * dx + (dy * dy + (dz * dz + squared_softening)));
    const Real x = dx * v, y = dy * v, z = dz * v;
    const Real mu = node.mass * v;
    const Real xx = x * x, xy = x * y, xz = x * z, yy = y * y, yz = y * z, zz = z * z;
    const Real v3 = v * v * v;
    const Real nxx = node.xx * v3, nxy = node.xy * v3, nxz = node.xz * v3, nyy = node.yy * v3, nyz = node.yz * v3,
               nzz = node.zz * v3;
    const Real trace = nxx + nyy + nzz;
    const Real sx = nxx * x + (nxy * y + nxz * z), sy = nxy * x + (nyy * y + nyz * z),
               sz = nxz * x + (nyz * y + nzz * z);
    const Real q = sx * x + (sy * y + sz * z);
    const Real t = radius * v, t2 = t * t;
    terms[0] += mu + (Real(1.5) * q - Real(0.5) * trace);
    {
        // N:P_3 = -(15 q e - 3 e tr N - 6 N e)
        const Real along = t * (Real(1.5) * trace - Real(7.5) * q - mu), across = Real(3) * t;
        terms[1] += along * x + across * sx;
        terms[2] += along * y + across * sy;
        terms[3] += along * z + across * sz;
    }
#if HILBRIUM_ORDER == 3
    {
        // Q:P_3 = -(15 o - 9 p), Q:P_4 = 105 o e - 45 (p e + u) + 9 w
        // with u = Q ee, o = u.e, w = tr Q, p = w.e
        const Real v4 = v3 * v, exy = Real(2) * xy, exz = Real(2) * xz, eyz = Real(2) * yz;
        const Real ux = v4 * (node.xxx * xx + (node.xxy * exy + node.xxz * exz) +
                              (node.xyy * yy + (node.xyz * eyz + node.xzz * zz)));
        const Real uy = v4 * (node.xxy * xx + (node.xyy * exy + node.xyz * exz) +
                              (node.yyy * yy + (node.yyz * eyz + node.yzz * zz)));
        const Real uz = v4 * (node.xxz * xx + (node.xyz * exy + node.xzz * exz) +
                              (node.yyz * yy + (node.yzz * eyz + node.zzz * zz)));
        const Real wx = v4 * (node.xxx + node.xyy + node.xzz), wy = v4 * (node.xxy + node.yyy + node.yzz),
                   wz = v4 * (node.xxz + node.yyz + node.zzz);
        const Real o = x * ux + (y * uy + z * uz), p = x * wx + (y * wy + z * wz);
        terms[0] += Real(1.5) * p - Real(2.5) * o;
        const Real along = t * (Real(17.5) * o - Real(7.5) * p), across = Real(-7.5) * t, trace_part = Real(1.5) * t;
        terms[1] += along * x + (across * ux + trace_part * wx);
        terms[2] += along * y + (across * uy + trace_part * wy);
        terms[3] += along * z + (across * uz + trace_part * wz);
    }
#endif
    {
        // N:P_4 = 105 q ee - 15 (ee tr N + q 1 + 2 (Ne e + e Ne)) + 3 (1 tr N + 2 N)
        const Real along = t2 * (Real(3) * mu + (Real(52.5) * q - Real(7.5) * trace));
        const Real unit = t2 * (Real(1.5) * trace - Real(7.5) * q - mu);
        const Real mixed = Real(-15) * t2, three = Real(3) * t2;
        const Real mx = mixed * x, my = mixed * y, mz = mixed * z;
        terms[4] += along * xx + (Real(2) * mx * sx + (three * nxx + unit));
        terms[5] += along * xy + (mx * sy + (my * sx + three * nxy));
        terms[6] += along * xz + (mx * sz + (mz * sx + three * nxz));
        terms[7] += along * yy + (Real(2) * my * sy + (three * nyy + unit));
        terms[8] += along * yz + (my * sz + (mz * sy + three * nyz));
        terms[9] += along * zz + (Real(2) * mz * sz + (three * nzz + unit));
    }
    {
        const Real third = -mu * t2 * t;
        const Real ex = third * x, ey = third * y, ez = third * z;
        const Real hx = Real(15) * xx - Real(3), hy = Real(15) * yy - Real(3), hz = Real(15) * zz - Real(3);
        terms[10] += ex * (hx - Real(6));
        terms[11] += ey * hx;
        terms[12] += ez * hx;
        terms[13] += ex * hy;
        terms[14] += Real(15) * ex * yz;
        terms[15] += ex * hz;
        terms[16] += ey * (hy - Real(6));
        terms[17] += ez * hy;
        terms[18] += ey * hz;
        terms[19] += ez * (hz - Real(6));
    }
    {
        const Real fourth = mu * t2 * t2, factor = Real(15) * fourth;
        const Real fxx = factor * xx, fxy = factor * xy, fxz = factor * xz, fyy = factor * yy, fyz = factor * yz,
                   fzz = factor * zz;
        const Real gx = Real(7) * xx - Real(1), gy = Real(7) * yy - Real(1), gz = Real(7) * zz - Real(1);
        terms[20] += fxx * (gx - Real(5));
        terms[21] += fxy * (gx - Real(2));
        terms[22] += fxz * (gx - Real(2));
        terms[23] += fxx * gy - fyy;
        terms[24] += fyz * gx;
        terms[25] += fxx * gz - fzz;
        terms[26] += fxy * (gy - Real(2));
        terms[27] += fxz * gy;
        terms[28] += fxy * gz;
        terms[29] += fxz * (gz - Real(2));
        terms[30] += fyy * (gy - Real(5));
        terms[31] += fyz * (gy - Real(2));
        terms[32] += fyy * gz - fzz;
        terms[33] += fyz * (gz - Real(2));
        terms[34] += fzz * (gz - Real(5));
        terms[35] += Real(3) * fourth;
    }
}

// One stage of the reduction below: COUNT terms from FIRST on become COUNT / 2; lanes with the bit DISTANCE
// keep the upper half. A template, because all array indices must be compile-time constants to stay in
// registers.
template <unsigned FIRST, unsigned COUNT, unsigned DISTANCE>
__device__ __forceinline__ void fold_terms(Real (&terms)[LOCAL_TERMS]) {
    constexpr unsigned HALF = COUNT / 2u;
    const bool upper = (lane_index() & DISTANCE) != 0u;
#pragma unroll
    for (unsigned i = FIRST; i < FIRST + HALF; ++i) {
        const Real kept = upper ? terms[i + HALF] : terms[i], given = upper ? terms[i] : terms[i + HALF];
        terms[i] = kept + __shfl_xor_sync(FULL, given, DISTANCE);
    }
    if constexpr (HALF > 1u) { fold_terms<FIRST, HALF, DISTANCE / 2u>(terms); }
}

// Reduce-scatter of the terms over the warp: lane l gets term l in `low`, and term 32 + l / 8 in `high`. In
// each stage, a lane sends half of its terms to its partner and keeps the other half: 37 exchanges instead of
// 180.
__device__ __forceinline__ void sum_of_terms(Real (&terms)[LOCAL_TERMS], Real& low, Real& high) {
    fold_terms<0u, 32u, 16u>(terms);
    fold_terms<32u, 4u, 16u>(terms);
    low = terms[0];
    high = terms[32];
    high += __shfl_xor_sync(FULL, high, 4u);
    high += __shfl_xor_sync(FULL, high, 2u);
    high += __shfl_xor_sync(FULL, high, 1u);
}

// Evaluates the expansion at a target. For each order k, computes the gradient g_k; its contribution to phi
// is x.g_k / k.
__device__ inline void gather_local(const Real* terms, Real inverse_radius, Target& target) {
    const Real x = target.x * inverse_radius, y = target.y * inverse_radius, z = target.z * inverse_radius;
    const Real *a = terms + 4, *b = terms + 10, *c = terms + 20;
    const Real once = terms[35], thrice = Real(3) * once;
    const Real xx = x * x, yy = y * y, zz = z * z, xy = Real(2) * x * y, xz = Real(2) * x * z, yz = Real(2) * y * z;
    const Real gx2 = a[0] * x + (a[1] * y + a[2] * z), gy2 = a[1] * x + (a[3] * y + a[4] * z),
               gz2 = a[2] * x + (a[4] * y + a[5] * z);
    const Real half = Real(-0.5);
    const Real gx3 = half * (b[0] * xx + b[1] * xy + b[2] * xz + b[3] * yy + b[4] * yz + b[5] * zz),
               gy3 = half * (b[1] * xx + b[3] * xy + b[4] * xz + b[6] * yy + b[7] * yz + b[8] * zz),
               gz3 = half * (b[2] * xx + b[4] * xy + b[5] * xz + b[7] * yy + b[8] * yz + b[9] * zz);
    const Real xxx = xx * x, xxy = Real(3) * xx * y, xxz = Real(3) * xx * z, xyy = Real(3) * yy * x,
               xyz = Real(3) * xy * z, xzz = Real(3) * zz * x, yyy = yy * y, yyz = Real(3) * yy * z,
               yzz = Real(3) * zz * y, zzz = zz * z;
    const Real sixth = Real(1.0 / 6.0);
    const Real gx4 = sixth * ((c[0] + thrice) * xxx + c[1] * xxy + c[2] * xxz + (c[3] + once) * xyy + c[4] * xyz +
                              (c[5] + once) * xzz + c[6] * yyy + c[7] * yyz + c[8] * yzz + c[9] * zzz),
               gy4 = sixth * (c[1] * xxx + (c[3] + once) * xxy + c[4] * xxz + c[6] * xyy + c[7] * xyz + c[8] * xzz +
                              (c[10] + thrice) * yyy + c[11] * yyz + (c[12] + once) * yzz + c[13] * zzz),
               gz4 = sixth * (c[2] * xxx + c[4] * xxy + (c[5] + once) * xxz + c[7] * xyy + c[8] * xyz + c[9] * xzz +
                              c[11] * yyy + (c[12] + once) * yyz + c[13] * yzz + (c[14] + thrice) * zzz);
    target.pull_x += inverse_radius * (gx2 + gx3 + gx4 - terms[1]);
    target.pull_y += inverse_radius * (gy2 + gy3 + gy4 - terms[2]);
    target.pull_z += inverse_radius * (gz2 + gz3 + gz4 - terms[3]);
    const Real third = Real(1.0 / 3.0), quarter = Real(0.25);
    target.potential += terms[0] + x * (Real(0.5) * gx2 + third * gx3 + quarter * gx4 - terms[1]) +
                        y * (Real(0.5) * gy2 + third * gy3 + quarter * gy4 - terms[2]) +
                        z * (Real(0.5) * gz2 + third * gz3 + quarter * gz4 - terms[3]);
}

} // namespace hilbrium
