// The law that a unit is compiled for, under names that the engine knows: its constants, what a particle is read as,
// what a pair needs of it, and the sums that are wanted.
//
// A unit is compiled with
//   HILBRIUM_LAW              the law's namespace
//   HILBRIUM_LAW_HEADER       its header, as a string
//   HILBRIUM_CONSTANTS        the members of its Law, as a braced list
//   HILBRIUM_REAL             float or double, the pairs' arithmetic
//   HILBRIUM_SYMMETRIC        1: half lists, both particles of a pair gain its sums; 0: full lists
//   HILBRIUM_CUTOFF           when a pair acts: 0 r < radius of i, 1 r < the larger radius, 2 r < one cutoff of all
//   HILBRIUM_FIRST_SUM, HILBRIUM_SUM_COUNT
//                             the wanted part of the law's sums; all of them where these are not given
#pragma once

#include "../device.cuh"
#include "../pair/real.cuh"
#include HILBRIUM_LAW_HEADER

#ifndef HILBRIUM_FIRST_SUM
#define HILBRIUM_FIRST_SUM 0
#endif
#ifndef HILBRIUM_SUM_COUNT
#define HILBRIUM_SUM_COUNT HILBRIUM_LAW::SUMS
#endif

namespace hilbrium {

// What a law that does not declare them finds in their place.
struct Particle {};
struct Prepared {};

namespace HILBRIUM_LAW {
using ParticleOfLaw = Particle;
using PreparedOfLaw = Prepared;
}  // namespace HILBRIUM_LAW

namespace pair {

template <class A, class B> struct Same { static constexpr bool value = false; };
template <class A> struct Same<A, A> { static constexpr bool value = true; };
template <bool first, class A, class B> struct Either { using Type = A; };
template <class A, class B> struct Either<false, A, B> { using Type = B; };

namespace law = HILBRIUM_LAW;

using Law = law::Law;
using Sums = law::Sums;
using Input = law::ParticleOfLaw;

constexpr bool PREPARES = !Same<law::PreparedOfLaw, ::hilbrium::Prepared>::value;
constexpr bool SYMMETRIC = HILBRIUM_SYMMETRIC;
constexpr int INPUTS = law::INPUTS, PREPARED = law::PREPARED, SUMS = law::SUMS, OUTPUTS = law::OUTPUTS;
constexpr int FIRST_SUM = HILBRIUM_FIRST_SUM, SUM_COUNT = HILBRIUM_SUM_COUNT;

// What a pair needs of each of its particles.
using Pair = Either<PREPARES, law::PreparedOfLaw, law::ParticleOfLaw>::Type;

// When a pair acts.
enum class Cutoff { OWN, EITHER, COMMON };
constexpr Cutoff CUTOFF = static_cast<Cutoff>(HILBRIUM_CUTOFF);

static_assert(sizeof(Sums) == SUMS * sizeof(Real), "the sums of a law are nothing but Reals");
static_assert(PREPARED == 0 || sizeof(Pair) == PREPARED * sizeof(Real), "what is prepared is nothing but Reals");
static_assert(FIRST_SUM >= 0 && SUM_COUNT >= 1 && FIRST_SUM + SUM_COUNT <= SUMS, "the wanted sums are sums of the law");

// Four Reals that are read and written together. The first one of a row is its offset from its super-cluster's centre,
// with its squared radius, or, where radii are not those of pairs, the first value that was prepared.
struct alignas(16) Real4 {
    Real x, y, z, w;
};

// Values that were prepared and are not in the first Real4, and the Real4 that hold them.
constexpr bool FIRST_WITH_POSITION = CUTOFF != Cutoff::EITHER && PREPARED > 0;
constexpr int FURTHER = PREPARED - (FIRST_WITH_POSITION ? 1 : 0);
constexpr int GROUPS = (FURTHER + 3) / 4;

// Reals from a row's wanted sums to those of the next row: such that a row's sums lie in one sector, if they can.
constexpr int SUM_STRIDE = SUM_COUNT <= 2 ? SUM_COUNT : (SUM_COUNT + 3) / 4 * 4;

// Numbers -1 to 1, two bits each: device code reads no arrays of the host.
constexpr unsigned long long coded(const int* numbers) {
    unsigned long long code = 0;
    for (int sum = 0; sum < SUM_COUNT; ++sum) {
        code |= static_cast<unsigned long long>(numbers[FIRST_SUM + sum] + 1) << 2 * sum;
    }
    return code;
}
static_assert(SUM_COUNT <= 32, "two bits a sum");
constexpr unsigned long long REDUCTIONS = coded(law::REDUCTION), PARITIES = coded(law::PARITY);

// A wanted sum's reduction and parity: 0 added, -1 the least, 1 the largest; 1 even, -1 odd, 0 neither.
__device__ constexpr int reduction(int sum) { return static_cast<int>(REDUCTIONS >> 2 * sum & 3u) - 1; }
__device__ constexpr int parity(int sum) { return static_cast<int>(PARITIES >> 2 * sum & 3u) - 1; }

// Whether what a pair gives to j is what it gives to i, but for the sign.
constexpr bool mirrored() {
    for (int sum = 0; sum < SUM_COUNT; ++sum) {
        if (law::PARITY[FIRST_SUM + sum] == 0) return false;
    }
    return true;
}

// The sum of no pair.
__device__ __forceinline__ Real nothing(int sum) {
    constexpr Real LARGEST = sizeof(Real) == 4 ? Real(3.402823466e38) : Real(1.7976931348623157e308);
    const int kind = reduction(sum);
    return kind == 0 ? Real(0) : kind < 0 ? LARGEST * Real(2) : -LARGEST * Real(2);
}

// Two sums of pairs as one.
__device__ __forceinline__ Real joined(int sum, Real a, Real b) {
    const int kind = reduction(sum);
    return kind == 0 ? a + b : kind < 0 ? min(a, b) : max(a, b);
}

// The law's constants, known when the unit is compiled.
__device__ __forceinline__ Law constants() { return Law HILBRIUM_CONSTANTS; }

// What a pair gives to i, from the separation r = r_i - r_j. The law's functions are found by the type of its
// constants when this is instantiated, since a law has only one of the two forms.
template <class L, class P>
__device__ __forceinline__ Sums given(const L& own, const P& i, const P& j, Vec3 r, Real r2) {
    if constexpr (PREPARED == 0) {
        return interact(own, r, r2);
    } else {
        return interact(own, i, j, r, r2);
    }
}

// What pairs need of a particle.
template <class L, class I> __device__ __forceinline__ Pair prepared(const L& own, const I& input) {
    if constexpr (PREPARES) {
        return prepare(own, input);
    } else {
        return input;
    }
}

}  // namespace pair
}  // namespace hilbrium
