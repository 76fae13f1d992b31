// Spreading by padded tiles: a warp adds consecutive records of the bins to 8 + p - 1 points per dimension in
// shared memory, and then adds these atomically to the mesh (the "subproblems" of cuFINUFFT, Shih et al.
// 2021, IEEE IPDPSW, doi 10.1109/IPDPSW52791.2021.00105, without atomic additions in shared memory).
#include "../mesh/bins.cuh"
#include "../arguments/mesh_padded.cuh"

namespace hilbrium {
namespace mesh {

// A line is p points along x. A particle has p^2 lines, numbered by y, then z.
constexpr unsigned LINES = ORDER * ORDER;

// Lanes whose numbers shared memory serves together, one per bank.
constexpr unsigned BANKS = 128u / sizeof(Real);

// Whether a lane loads all its points before it stores the first: 1.24 ms without and 1.11 ms with it in
// single precision, 2.01 and 2.44 ms in double precision (ten million particles, 128^3 points, H200).
constexpr bool LOADS_FIRST = sizeof(Real) == 4;

// Lines that a lane has at most.
constexpr unsigned TURNS = (LINES + WARP / 2u) / WARP;
constexpr unsigned PLACES = TURNS * WARP;

// How lines are dealt out: place (turn and lane) of each, PLACES for those whose points all lanes share.
struct Deal {
    unsigned place[LINES], shared;
};

// Lanes served together get lines of different banks.
__device__ constexpr Deal deal_lines() {
    Deal deal{};
    for (unsigned line = 0; line < LINES; ++line) { deal.place[line] = PLACES; }
    deal.shared = LINES;
    for (unsigned first = 0; first < PLACES; first += BANKS) {
        unsigned taken = 0, place = first;
        for (unsigned line = 0; line < LINES; ++line) {
            const unsigned bank = 1u << (line / ORDER * STRIDE + line % ORDER) % BANKS;
            if (deal.place[line] == PLACES && place < first + BANKS && (taken & bank) == 0u) {
                taken |= bank;
                deal.place[line] = place;
                ++place;
                --deal.shared;
            }
        }
    }
    return deal;
}

// Rounds in which each lane has one point of the shared lines.
constexpr unsigned ROUNDS = (deal_lines().shared * ORDER + WARP - 1u) / WARP;

// Lines of a lane and those of its points of shared lines; LINES for none.
struct Share {
    unsigned own[TURNS], other[ROUNDS + 1u];
};

__device__ __forceinline__ Share share_of(unsigned lane) {
    constexpr Deal deal = deal_lines();
    Share share;
#pragma unroll
    for (unsigned turn = 0; turn < TURNS; ++turn) { share.own[turn] = LINES; }
#pragma unroll
    for (unsigned round = 0; round < ROUNDS; ++round) { share.other[round] = LINES; }
    unsigned shared = 0;
#pragma unroll
    for (unsigned line = 0; line < LINES; ++line) {
#pragma unroll
        for (unsigned turn = 0; turn < TURNS; ++turn) {
            if (deal.place[line] == turn * WARP + lane) { share.own[turn] = line; }
        }
        if (deal.place[line] < PLACES) { continue; }
#pragma unroll
        for (unsigned round = 0; round < ROUNDS; ++round) {
            if ((lane + round * WARP) / ORDER == shared) { share.other[round] = line; }
        }
        ++shared;
    }
    return share;
}

// Weights of x in groups of 16 bytes.
constexpr unsigned WIDE_WEIGHTS = (ORDER + WIDE - 1u) / WIDE;

// Weights of 32 particles and the places of their first points; x has the value as a factor.
struct alignas(16) Weights {
    Real x[WARP][(WIDE_WEIGHTS + 1u) * WIDE];
    Real y[ORDER][WARP + 1];
    Real z[ORDER][WARP + 1];
    unsigned place[WARP];
};

} // namespace mesh

// Adds the particles to the mesh, which is initially zero. A warp has args.records_of_warp consecutive
// records; it writes its points when they end and at each run of eight layers of a column.
// Launch: blocks of 32 threads. Floor at p = 6, single precision: 31 of 36 lines of y and z have lanes of
// their own, whose banks differ, and the 30 points of the others are one per lane. Per particle 7 loads and 7
// stores in shared memory, 8 loads of weights and a place, one bank conflict or two: 23 cycles of shared
// memory, 0.099 ns on 132 multiprocessors at 1.755 GHz. Per run 69 atomic additions of a warp to 440 sectors:
// as much as 2 particles of spread_particles. Prediction: 0.105 ns per particle at 1 and more particles per
// point.
// Outcome on an H200: 0.111 ns at 4.8 particles per point (1.95e12 additions per second; shared memory is
// busy for 95 % of the time; 60 instructions of a warp per particle, 54 % of the issue slots), 0.18 ns at
// 0.5, 0.39 ns at 0.06. Before, with lines in the order of lanes, of which two of a warp had a bank in
// common: 0.186 ns. In double precision 0.20 instead of 0.31 ns. At orders 7 and 8, with two lines a lane,
// 0.22 and 0.35 ns instead of 0.27 and 0.31: for order 8 tiles are faster.
extern "C" __global__ void __launch_bounds__(WARP)
    spread_padded(const __grid_constant__ SpreadPaddedArguments args) {
    using namespace mesh;
    __shared__ Real points[PADDED * PADDED * STRIDE];
    __shared__ Weights weights;
    const MeshParameters& geometry = args.geometry;
    const unsigned lane = threadIdx.x;
    const unsigned begin = blockIdx.x * args.records_of_warp;
    const unsigned end = smaller(begin + args.records_of_warp, args.count);
    const Share share = share_of(lane);
    unsigned own_y[TURNS], own_z[TURNS];
#pragma unroll
    for (unsigned turn = 0; turn < TURNS; ++turn) {
        own_y[turn] = smaller(share.own[turn] / ORDER, ORDER - 1u);
        own_z[turn] = share.own[turn] % ORDER;
    }
    unsigned other_x[ROUNDS + 1u], other_y[ROUNDS + 1u], other_z[ROUNDS + 1u];
#pragma unroll
    for (unsigned round = 0; round < ROUNDS; ++round) {
        other_x[round] = (lane + round * WARP) % ORDER;
        other_y[round] = smaller(share.other[round] / ORDER, ORDER - 1u);
        other_z[round] = share.other[round] % ORDER;
    }
    for (unsigned k = lane; k < PADDED * PADDED * STRIDE; k += WARP) { points[k] = Real(0); }
    for (unsigned from = begin; from < end;) {
        unsigned cell[3];
        const Record first = args.binned.records[from];
        const unsigned to = smaller(end, end_of_run(geometry, args.binned.starts, first, cell));
        for (; from < to; from += WARP) {
            const unsigned slot = from + lane, count = smaller(to - from, WARP);
            if (slot < to) {
                const Record record = args.binned.records[slot];
                const Real value = static_cast<Real>(args.values[args.binned.rows[slot]]);
                Real weight[ORDER];
                weights_of(record.fraction[0], weight);
#pragma unroll
                for (int k = 0; k < ORDER; ++k) { weights.x[lane][k] = weight[k] * value; }
                weights_of(record.fraction[1], weight);
#pragma unroll
                for (int k = 0; k < ORDER; ++k) { weights.y[k][lane] = weight[k]; }
                weights_of(record.fraction[2], weight);
#pragma unroll
                for (int k = 0; k < ORDER; ++k) { weights.z[k][lane] = weight[k]; }
                const unsigned line = (record.along(0) - cell[0]) * PADDED + record.along(1) - cell[1];
                weights.place[lane] = line * STRIDE + record.along(2) - cell[2];
            }
            __syncwarp();
            for (unsigned particle = 0; particle < count; ++particle) {
                Wide x[WIDE_WEIGHTS];
#pragma unroll
                for (unsigned k = 0; k < WIDE_WEIGHTS; ++k) {
                    x[k] = reinterpret_cast<const Wide*>(weights.x[particle])[k];
                }
                Real* const corner = points + weights.place[particle];
                Real of_yz[TURNS], sums[TURNS][ORDER], other[ROUNDS + 1u];
                const auto load = [&](unsigned turn) {
                    of_yz[turn] = weights.y[own_y[turn]][particle] * weights.z[own_z[turn]][particle];
                    const Real* const own = corner + own_y[turn] * STRIDE + own_z[turn];
                    if (share.own[turn] == LINES) { return; }
#pragma unroll
                    for (int i = 0; i < ORDER; ++i) { sums[turn][i] = own[i * PADDED * STRIDE]; }
                };
                if (LOADS_FIRST) {
#pragma unroll
                    for (unsigned turn = 0; turn < TURNS; ++turn) { load(turn); }
                }
#pragma unroll
                for (unsigned round = 0; round < ROUNDS; ++round) {
                    if (share.other[round] == LINES) { continue; }
                    const unsigned x_of = other_x[round], y_of = other_y[round], z_of = other_z[round];
                    const Real both = weights.y[y_of][particle] * weights.z[z_of][particle];
                    const Real sum = corner[(x_of * PADDED + y_of) * STRIDE + z_of];
                    other[round] = mul_add(weights.x[particle][x_of], both, sum);
                }
#pragma unroll
                for (unsigned turn = 0; turn < TURNS; ++turn) {
                    if (share.own[turn] == LINES) { continue; }
                    if (!LOADS_FIRST) { load(turn); }
                    Real* const own = corner + own_y[turn] * STRIDE + own_z[turn];
#pragma unroll
                    for (int i = 0; i < ORDER; ++i) {
                        const Real weight = x[i / WIDE].number[i % WIDE];
                        own[i * PADDED * STRIDE] = mul_add(weight, of_yz[turn], sums[turn][i]);
                    }
                }
#pragma unroll
                for (unsigned round = 0; round < ROUNDS; ++round) {
                    if (share.other[round] == LINES) { continue; }
                    const unsigned line = other_x[round] * PADDED + other_y[round];
                    corner[line * STRIDE + other_z[round]] = other[round];
                }
                __syncwarp(); // other lanes have these points of the next particle
            }
        }
        from = to;
        for (unsigned k = lane; k < PADDED * PADDED * PADDED; k += WARP) {
            Real& sum = points[padded_place(k)];
            unsigned point;
            if (sum != Real(0) && padded_point(geometry, cell, k, point)) {
                atomicAdd(args.sums + point, sum);
            }
            sum = Real(0);
        }
        __syncwarp();
    }
}
HILBRIUM_EXPORT(spread_padded)

} // namespace hilbrium
