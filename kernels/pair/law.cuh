// Binds the law that a unit is compiled for to the names used by the pair engine: constants, inputs, prepared
// values, and the requested sums.
//
// A unit is compiled with
//   HILBRIUM_LAW              the law's namespace
//   HILBRIUM_LAW_HEADER       its header, as a string
//   HILBRIUM_CONSTANTS        the members of its Law, as a braced list
//   HILBRIUM_DEFINITIONS      a header that these members need; only for laws of a deck
//   HILBRIUM_REAL             float or double, the precision of the pairs
//   HILBRIUM_SYMMETRIC        1: half lists, both particles of a pair receive its sums; 0: full lists
//   HILBRIUM_CUTOFF           when a pair acts: 0 r < radius of i, 1 r < larger radius, 2 r < common cutoff
//   HILBRIUM_FIRST_SUM, HILBRIUM_SUM_COUNT
//                             the requested range of the law's sums; default: all of them
#pragma once

#include "../device.cuh"
#include "../pair/real4.cuh"
#include HILBRIUM_LAW_HEADER
#ifdef HILBRIUM_DEFINITIONS
#include HILBRIUM_DEFINITIONS
#endif

#ifndef HILBRIUM_FIRST_SUM
#define HILBRIUM_FIRST_SUM 0
#endif
#ifndef HILBRIUM_SUM_COUNT
#define HILBRIUM_SUM_COUNT HILBRIUM_LAW::SUMS
#endif

namespace hilbrium {

// Fallbacks for laws that do not declare these structs.
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

// Prepared values of one particle of a pair.
using Pair = Either<PREPARES, law::PreparedOfLaw, law::ParticleOfLaw>::Type;

// When a pair acts.
enum class Cutoff { OWN, EITHER, COMMON };
constexpr Cutoff CUTOFF = static_cast<Cutoff>(HILBRIUM_CUTOFF);

static_assert(sizeof(Sums) == SUMS * sizeof(Real), "a law's sums are Reals only");
static_assert(PREPARED == 0 || sizeof(Pair) == PREPARED * sizeof(Real), "prepared values are Reals only");
static_assert(FIRST_SUM >= 0 && SUM_COUNT >= 1 && FIRST_SUM + SUM_COUNT <= SUMS,
              "the requested sums are sums of the law");

// Number of prepared values outside of the first Real4, and the number of Real4 that hold them.
constexpr bool FIRST_WITH_POSITION = CUTOFF != Cutoff::EITHER && PREPARED > 0;
constexpr int FURTHER = PREPARED - (FIRST_WITH_POSITION ? 1 : 0);
constexpr int GROUPS = (FURTHER + 3) / 4;

// Reals between the sums of consecutive rows, chosen so that a row's sums lie in one memory sector if
// possible.
constexpr int SUM_STRIDE = SUM_COUNT <= 2 ? SUM_COUNT : (SUM_COUNT + 3) / 4 * 4;

// Packs numbers -1 to 1 in two bits each: device code cannot read host arrays.
constexpr unsigned long long coded(const int* numbers) {
    unsigned long long code = 0;
    for (int sum = 0; sum < SUM_COUNT; ++sum) {
        code |= static_cast<unsigned long long>(numbers[FIRST_SUM + sum] + 1) << 2 * sum;
    }
    return code;
}
static_assert(SUM_COUNT <= 32, "two bits per sum");
constexpr unsigned long long REDUCTIONS = coded(law::REDUCTION), PARITIES = coded(law::PARITY);

// Reduction and parity of a requested sum: 0 sum, -1 minimum, 1 maximum; 1 even, -1 odd, 0 neither.
__device__ constexpr int reduction(int sum) { return static_cast<int>(REDUCTIONS >> 2 * sum & 3u) - 1; }
__device__ constexpr int parity(int sum) { return static_cast<int>(PARITIES >> 2 * sum & 3u) - 1; }

// Returns whether each requested sum of j equals that of i up to the sign.
constexpr bool mirrored() {
    for (int sum = 0; sum < SUM_COUNT; ++sum) {
        if (law::PARITY[FIRST_SUM + sum] == 0) return false;
    }
    return true;
}

// Neutral element of a sum.
__device__ __forceinline__ Real neutral_element(int sum) {
    constexpr Real LARGEST = sizeof(Real) == 4 ? Real(3.402823466e38) : Real(1.7976931348623157e308);
    const int kind = reduction(sum);
    return kind == 0 ? Real(0) : kind < 0 ? LARGEST * Real(2) : -LARGEST * Real(2);
}

// Combines two values of a sum.
__device__ __forceinline__ Real combine(int sum, Real a, Real b) {
    const int kind = reduction(sum);
    return kind == 0 ? a + b : kind < 0 ? min(a, b) : max(a, b);
}

// The law's constants, known at compile time.
__device__ __forceinline__ Law constants() { return Law HILBRIUM_CONSTANTS; }

// Contribution of a pair to i, for the separation r = r_i - r_j. Template, so that only the form that the law
// has is instantiated, and its functions are found by argument-dependent lookup.
template <class L, class P>
__device__ __forceinline__ Sums pair_contribution(const L& own, const P& i, const P& j, Vec3 r, Real r2) {
    if constexpr (PREPARED == 0) {
        return interact(own, r, r2);
    } else {
        return interact(own, i, j, r, r2);
    }
}

// Prepared values of a particle.
template <class L, class I> __device__ __forceinline__ Pair prepared(const L& own, const I& input) {
    if constexpr (PREPARES) {
        return prepare(own, input);
    } else {
        return input;
    }
}

}  // namespace pair
}  // namespace hilbrium
