// Iteration of the smoothing lengths, one thread per row: mirrors src/sph/smoothing.rs and the iteration of
// src/sph/hydrodynamics.rs. Bracketed Newton iteration on ln h for
//
//     n_i h_i^3 = 3 N / (32 pi)
//
// The operations are the CPU's, except exponentials and logarithms, which are accurate to one ulp on either
// side: smoothing lengths agree to a few ulp.
//
// State per row: the lower end of the bracket, and the upper end, negative while it is the largest allowed
// smoothing length rather than a bracket. One byte flags an active search, another one a row that outgrew the
// list. Rows [begin, end) are the owned ones, without ghosts.
#include "../device.cuh"
#include "../arguments/sph_smoothing.cuh"
#include "../motion/block.cuh"
#include "../motion/rounded.cuh"

namespace hilbrium {

// Outcome of a step: converged, try the new length, or even the largest length is too small.
enum class Verdict { found, attempt, beyond };

struct Search {
    double lower, upper;
    bool bounded;
};

struct Next {
    Verdict verdict;
    double length;
};

// Next step from the number density n and its derivative dn / d ln h at h. The last Newton step is accepted
// without another evaluation if its second-order error is below the tolerance.
__device__ __forceinline__ Next next(Search& search, double h, double n, double slope, double target, double tolerance,
                                     double largest) {
    const Rounded length = h;
    const Rounded ratio = Rounded(n) * length * length * length / Rounded(target);
    if (ratio.value < 1.0) {
        if (h >= search.upper && !search.bounded) { return {Verdict::beyond, search.upper}; }
        search.lower = ::fmax(search.lower, h);
    } else {
        search.upper = ::fmin(search.upper, h);
        search.bounded = true;
    }
    // d ln(n h^3) / d ln h: 3 in a homogeneous gas, never far below in practice.
    const Rounded exponent = Rounded(3.0) + Rounded(slope) / Rounded(n);
    const bool slow = !(exponent.value > 0.3);
    const Rounded step = clamped(-Rounded(::log(ratio.value)) / exponent, -0.25, 0.25);
    const double newton = slow ? 0.0 : rounded_product(h, ::exp(step.value));
    const Rounded error = ratio - 1.0;
    // Comparisons with NaN are false, on the CPU as here.
    const bool tried = !slow && newton > 0.0;
    if (tried && (error * error).value < tolerance && newton <= rounded_product(search.upper, 1.01)) {
        return {Verdict::found, ::fmin(newton, largest)};
    }
    if (tried && newton > search.lower && newton < search.upper) { return {Verdict::attempt, newton}; }
    // At most doubling: the list must cover the new support.
    if (!search.bounded) { return {Verdict::attempt, ::fmin(2.0 * h, search.upper)}; }
    if (search.lower == 0.0) { return {Verdict::attempt, 0.5 * h}; }
    if (search.upper <= rounded_product(search.lower, (Rounded(1.0) + Rounded(0.1) * tolerance).value)) {
        return {Verdict::found, search.upper};
    }
    return {Verdict::attempt, root(Rounded(search.lower) * search.upper).value};
}

// One step of the active searches. Reads number density and slope at the current smoothing length. Writes the
// next length, the density m n extrapolated to it with the slope, and the new state. `support` is the largest
// 2 h that the list covers. Adds to three counters: rows that outgrew the list, rows with too few neighbors
// at the largest length, rows still searching.
// Launch: blocks of 256 threads, one thread per row. Floor: 1 byte read per row; 56 read, 34 written per
// searching row.
extern "C" __global__ void __launch_bounds__(THREADS)
    search_smoothing_lengths(const __grid_constant__ SearchSmoothingArguments args) {
    double* __restrict__ const smoothing_length = args.smoothing_length;
    const double* __restrict__ const number_density = args.number_density;
    const double* __restrict__ const number_density_slope = args.number_density_slope;
    const double* __restrict__ const mass = args.mass;
    double* __restrict__ const density = args.density;
    const double* __restrict__ const support = args.support;
    double* __restrict__ const lower = args.lower;
    double* __restrict__ const upper = args.upper;
    unsigned char* __restrict__ const active = args.active;
    unsigned char* __restrict__ const outgrown = args.outgrown;
    const auto [begin, end] = args.rows;
    unsigned* __restrict__ const counters = args.counters;
    const unsigned long long place = thread_of_grid(), row = begin + place;
    bool grew = false, lonely = false, still = false;
    if (place < end - begin && active[row] != 0) {
        const double h = smoothing_length[row], n = number_density[row], slope = number_density_slope[row];
        const double end_of_bracket = upper[row];
        Search search = {lower[row], ::fabs(end_of_bracket), end_of_bracket > 0.0};
        const Next chosen = next(search, h, n, slope, args.target, args.tolerance, args.largest);
        const Rounded there = Rounded(n) + Rounded(slope) * (Rounded(chosen.length) / Rounded(h) - 1.0);
        density[row] = (Rounded(mass[row]) * greatest(there, Rounded(0.1) * n)).value;
        smoothing_length[row] = chosen.length;
        grew = 2.0 * chosen.length > support[row];
        lonely = chosen.verdict == Verdict::beyond && !grew;
        still = chosen.verdict == Verdict::attempt && !grew;
        lower[row] = search.lower;
        upper[row] = search.bounded ? search.upper : -search.upper;
        outgrown[row] = grew;
        active[row] = still;
    }
    count({grew, lonely, still}, counters);
}
HILBRIUM_EXPORT(search_smoothing_lengths)

// Restarts the search for rows that outgrew their list, with lengths up to `largest`, and for no others; with
// `all`, for every row. Launch: blocks of 256 threads, one thread per row. Floor: 1 byte read, 2 written per
// row.
extern "C" __global__ void __launch_bounds__(THREADS)
    restart_searches(const __grid_constant__ RestartSearchesArguments args) {
    double* __restrict__ const lower = args.lower;
    double* __restrict__ const upper = args.upper;
    unsigned char* __restrict__ const active = args.active;
    unsigned char* __restrict__ const outgrown = args.outgrown;
    const auto [begin, end] = args.rows;
    const unsigned long long place = thread_of_grid(), row = begin + place;
    if (place >= end - begin) { return; }
    const bool searches = args.all != 0 || outgrown[row] != 0;
    if (searches) {
        lower[row] = 0.0;
        upper[row] = -args.largest;
    }
    active[row] = searches;
    outgrown[row] = 0;
}
HILBRIUM_EXPORT(restart_searches)

}  // namespace hilbrium
