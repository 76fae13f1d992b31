// Sweep over a particle list (kernels/neighbors/particle_list.cu), for few neighbors, or if memory allows two
// bytes per pair. Full lists: each particle accumulates its own sums, bitwise reproducible.
//
// One block per super-cluster. Its threads move the particles of neighbor clusters to the super-cluster's
// frame and stage them with their prepared values in shared memory. Then SHARERS threads share the neighbors
// of each particle and look them up there. Lists with more than HILBRIUM_ENTRIES entries are processed in
// several rounds: in each, a thread uses the neighbors that are staged, and skips words without any.
#include "../device.cuh"
#include "../arguments/pair_particle_sweep.cuh"
#include "../pair/law.cuh"
#include "../pair/scattered.cuh"

namespace hilbrium {
namespace pair {

// Number of entries staged in shared memory at once.
#ifndef HILBRIUM_ENTRIES
#define HILBRIUM_ENTRIES 96
#endif
constexpr unsigned ENTRIES = HILBRIUM_ENTRIES;

// Entries of a round, if a list has more of them: as its numbers are ordered, where that is possible.
constexpr unsigned ROUND =
    ENTRIES < ENTRIES_OF_ROUND ? ENTRIES : ENTRIES / ENTRIES_OF_ROUND * ENTRIES_OF_ROUND;

// Threads per particle, and threads per block.
#ifndef HILBRIUM_SHARERS
#define HILBRIUM_SHARERS 2
#endif
constexpr unsigned SHARERS = HILBRIUM_SHARERS, SWEEP_THREADS = SHARERS * SUPER_CLUSTER;

// Position pieces, and neighbor words, that a thread loads ahead.
constexpr unsigned BATCH = 2 * PIECES, AHEAD = 4;

// Whether pairs out of range are skipped by a branch: for laws with more loads or long evaluations.
#ifndef HILBRIUM_SKIPS
#define HILBRIUM_SKIPS (GROUPS > 0 || SUM_COUNT > 4)
#endif

struct ParticleStage {
    // number 0 is out of reach, numbers from CLUSTER on belong to entries
    Scattered<CLUSTER * (ENTRIES + 1)> rows[1 + GROUPS];  // positions, then further prepared values
    // the shifts are dead when the sums are stored
    union {
        Real4 shift[ENTRIES];
        Real sums[SHARERS > 1 ? (SHARERS - 1) * SUPER_CLUSTER * SUM_COUNT : 1];
    };
};
// Shared memory of a block, as the launch asks for it.
#ifdef HILBRIUM_SHARED
static_assert(sizeof(ParticleStage) <= HILBRIUM_SHARED, "shared memory of a block");
#endif

// Output of `pack`, and the box.
struct Packed {
    const Real4* position;
    const Real4* further;
    const double* frame;
    const float4* boxes;
    unsigned long long count;
    double period[3], frequency[3];
};

// A particle's prepared values from its first Real4 and the further ones, further_of(group).
template <class Further>
__device__ __forceinline__ Pair prepared_values(Real4 first, const Further& further_of) {
    Pair own{};
    if constexpr (PREPARED > 0) {
        Real* members = reinterpret_cast<Real*>(&own);
        constexpr int SKIP = FIRST_WITH_POSITION ? 1 : 0;
        if (FIRST_WITH_POSITION) members[0] = first.w;
#pragma unroll
        for (int group = 0; group < GROUPS; ++group) {
            const Real4 four = further_of(group);
            const Real numbers[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                if (SKIP + 4 * group + c < PREPARED) members[SKIP + 4 * group + c] = numbers[c];
            }
        }
    }
    return own;
}

// A thread's particle and the sums of its pairs.
struct Accumulator {
    Real4 own;
    Pair values;
    Real squared_reach;  // of the particle, or common
    Real sums[SUM_COUNT];

    // Accumulates the pair with the particle at a place of the stage.
    __device__ __forceinline__ void take(const ParticleStage& stage, unsigned place) {
        const Real4 other = stage.rows[0][place];
        const Vec3 r = {own.x - other.x, own.y - other.y, own.z - other.z};
        const Real r2 = dot(r, r);
        const bool within = r2 < (CUTOFF == Cutoff::EITHER ? max(squared_reach, other.w) : squared_reach);
        if (HILBRIUM_SKIPS && !within) { return; }
        const Pair theirs = prepared_values(other, [&](int group) { return stage.rows[1 + group][place]; });
        const Sums pair = pair_contribution(constants(), values, theirs, r, r2);
        const Real* added = reinterpret_cast<const Real*>(&pair) + FIRST_SUM;
        // Select instead of a branch, so that the law's multiplications and these additions contract to fused
        // multiply-adds.
#pragma unroll
        for (int s = 0; s < SUM_COUNT; ++s) { sums[s] = within ? combine(s, sums[s], added[s]) : sums[s]; }
    }
};

// Moves a piece of a position to the image nearest to the frame's center. In single precision its error is
// about 3e-8 of the period, as that of positions in the frame of a super-cluster that spans the box.
__device__ __forceinline__ void fold(const Packed& rows, unsigned which, Piece& piece) {
#pragma unroll
    for (unsigned c = 0; c < PIECE; ++c) {
        const unsigned d = which * PIECE + c;
        if (d < 3u) {
            const Real period = static_cast<Real>(rows.period[d]);
            piece.values[c] -= period * ::rint(piece.values[c] * static_cast<Real>(rows.frequency[d]));
        }
    }
}

// Stages the particles of entries [begin, end) in the frame of the super-cluster: first each thread computes
// the shift of an entry, then adds shifts to pieces of positions. Ends with a barrier.
__device__ __forceinline__ void stage_entries(const Packed& rows, ParticleStage& stage,
                                              unsigned super_cluster, const unsigned* clusters,
                                              unsigned begin, unsigned end) {
    constexpr unsigned AT_ONCE = SWEEP_THREADS / (PIECES * CLUSTER);
    static_assert(AT_ONCE > 0, "threads for an entry's pieces");
    const unsigned which = threadIdx.x % PIECES, k = threadIdx.x / PIECES % CLUSTER, count = end - begin;
    const unsigned mine = threadIdx.x / (PIECES * CLUSTER);
    const Piece* pieces = reinterpret_cast<const Piece*>(rows.position) + PIECES * k + which;
    // Bits of the pieces ahead whose particles have images of their own.
    unsigned wide_ahead = 0;
    const auto piece_of = [&](unsigned entry, unsigned b) {
        if (entry >= count) { return Piece{}; }
        const unsigned cluster = clusters[begin + entry];
        wide_ahead |= (cluster & WIDE_ENTRY) != 0 ? 1u << b : 0u;
        return pieces[static_cast<unsigned long long>(PIECES * CLUSTER) * (cluster & ~WIDE_ENTRY)];
    };
    // Loads in flight during the computation of the shifts.
    Piece ahead[BATCH];
#pragma unroll
    for (unsigned b = 0; b < BATCH; ++b) { ahead[b] = piece_of(mine + AT_ONCE * b, b); }

    const double* own = rows.frame + 6ull * super_cluster;
    for (unsigned entry = threadIdx.x; entry < count; entry += SWEEP_THREADS) {
        const unsigned flagged = clusters[begin + entry], cluster = flagged & ~WIDE_ENTRY;
        const double* other = rows.frame + 6ull * (cluster / CLUSTERS);
        double by[3];
#pragma unroll
        for (int d = 0; d < 3; ++d) { by[d] = other[d] - own[d]; }
        if (rows.period[0] + rows.period[1] + rows.period[2] > 0.0 && flagged == cluster) {
            const float4 box = rows.boxes[2ull * cluster];
            const float middle[3] = {box.x, box.y, box.z};
            // Image nearest to the frame's center: the list guarantees that no other image is in reach.
#pragma unroll
            for (int d = 0; d < 3; ++d) { by[d] -= rows.period[d] * ::rint((by[d] + middle[d]) * rows.frequency[d]); }
        }
        stage.shift[entry] = {static_cast<Real>(by[0]), static_cast<Real>(by[1]), static_cast<Real>(by[2]), Real(0)};
    }
    __syncthreads();
    const Piece* shifts = reinterpret_cast<const Piece*>(stage.shift) + which;
#pragma unroll 1
    for (unsigned first = mine; first < count; first += AT_ONCE * BATCH) {
        const unsigned wide = wide_ahead;
        wide_ahead = 0;
#pragma unroll
        for (unsigned b = 0; b < BATCH; ++b) {
            const unsigned entry = first + AT_ONCE * b;
            if (entry < count) {
                Piece piece = ahead[b];
                const Piece shift = shifts[PIECES * entry];
#pragma unroll
                for (unsigned c = 0; c < PIECE; ++c) { piece.values[c] += shift.values[c]; }
                if (wide >> b & 1) { fold(rows, which, piece); }
                stage.rows[0].write_piece(CLUSTER * (entry + 1) + k, which, piece);
            }
        }
#pragma unroll
        for (unsigned b = 0; b < BATCH; ++b) { ahead[b] = piece_of(first + AT_ONCE * (BATCH + b), b); }
    }
    if constexpr (GROUPS > 0) {
        const Piece* further = reinterpret_cast<const Piece*>(rows.further) + PIECES * k + which;
#pragma unroll 1
        for (unsigned entry = mine; entry < count; entry += AT_ONCE) {
            const unsigned long long row =
                static_cast<unsigned long long>(CLUSTER) * (clusters[begin + entry] & ~WIDE_ENTRY);
            Piece pieces_of_row[GROUPS > 0 ? GROUPS : 1];
#pragma unroll
            for (int group = 0; group < GROUPS; ++group) {
                pieces_of_row[group] = further[PIECES * (group * rows.count + row)];
            }
#pragma unroll
            for (int group = 0; group < GROUPS; ++group) {
                stage.rows[1 + group].write_piece(CLUSTER * (entry + 1) + k, which, pieces_of_row[group]);
            }
        }
    }
    __syncthreads();
}

// A thread's share of the words of its particle's half; uniform over the lanes of a warp.
struct NeighborWords {
    const unsigned* words;
    unsigned share, width;
    // Words loaded ahead.
    unsigned ahead[AHEAD];

    // Loads words from number `first` on; 0, two numbers out of reach, beyond the last word.
    __device__ __forceinline__ void prefetch(unsigned first) {
#pragma unroll
        for (unsigned k = 0; k < AHEAD; ++k) {
            const unsigned m = first + SHARERS * k;
            ahead[k] = m < width ? words[WARP * m] : 0u;
        }
    }
    __device__ __forceinline__ void prefetch() { prefetch(share); }

    // Accumulates the neighbors among the staged entries [begin, end). `ALL` if these are all entries. The
    // first words must have been loaded.
    template <bool ALL>
    __device__ __forceinline__ void take(Accumulator& accumulator, const ParticleStage& stage, unsigned begin,
                                         unsigned end) {
#pragma unroll 1
        for (unsigned first = share; first < width; first += SHARERS * AHEAD) {
            unsigned now[AHEAD];
#pragma unroll
            for (unsigned k = 0; k < AHEAD; ++k) now[k] = ahead[k];
            prefetch(first + SHARERS * AHEAD);
#pragma unroll
            for (unsigned k = 0; k < AHEAD; ++k) {
                if (first + SHARERS * k >= width) { break; }
                const unsigned a = now[k] & 0xffffu, b = now[k] >> 16;
                unsigned place_a = a, place_b = b;
                if (!ALL) {
                    // numbers of other entries map to number 0, which is out of reach
                    const unsigned least = CLUSTER * (begin + 1), count = CLUSTER * (end - begin);
                    place_a = a - least < count ? a - CLUSTER * begin : 0u;
                    place_b = b - least < count ? b - CLUSTER * begin : 0u;
                    if (!__any_sync(FULL, (place_a | place_b) != 0u)) { continue; }
                }
                accumulator.take(stage, place_a);
                accumulator.take(stage, place_b);
            }
        }
    }
};

}  // namespace pair
}  // namespace hilbrium

// Sums over the pairs of a particle list. Launch: one block of SWEEP_THREADS per super-cluster, with the
// dynamic shared memory of a ParticleStage.
//   packed                output of `pack`; its number of rows is a multiple of 64
//   clusters, begins      clusters of the entries, and their start per super-cluster, with one extra element
//   words, word_begins    neighbor numbers, two per word, and their start per half, in units of 32 words
//   cutoff                the common cutoff, if the law uses one
//   bx                    the box
//   active                per row, whether its sums are wanted, or null for all
//   sums                  SUM_STRIDE Reals per row are written, for super-clusters with active rows
// Floor: per pair the law's instructions plus twelve; bytes: 2 per pair, and the output of `pack`; shared
// memory cycles: 4 per 32 pairs and Real4, 8 in double precision, and more with bank conflicts.
extern "C" __global__ void __launch_bounds__(hilbrium::pair::SWEEP_THREADS)
    particle_sweep(const __grid_constant__ hilbrium::ParticleSweepArguments args) {
    using namespace hilbrium;
    using namespace hilbrium::pair;
    const Real4* const position = args.packed.position;
    const unsigned long long* const begins = args.begins;
    const unsigned long long* const word_begins = args.word_begins;
    const unsigned char* const active = args.active;
    Real* const sums = args.sums;
    static_assert(!SYMMETRIC, "particle lists are full lists");
    HILBRIUM_DYNAMIC_SHARED(ParticleStage, shared_stage);
    ParticleStage& stage = *shared_stage;
    const unsigned record = blockIdx.x, super_cluster = args.first_super_cluster + record;
    const unsigned member = threadIdx.x % SUPER_CLUSTER, share = threadIdx.x / SUPER_CLUSTER;
    const unsigned long long row = static_cast<unsigned long long>(super_cluster) * SUPER_CLUSTER + member;
    const bool wanted = active == nullptr || active[row] != 0;
    if (active != nullptr && !__syncthreads_or(wanted)) { return; }
    const Packed all = {position,
                        args.packed.further,
                        args.packed.frame,
                        args.packed.boxes,
                        args.packed.rows,
                        {args.bx.period[0], args.bx.period[1], args.bx.period[2]},
                        {args.bx.frequency[0], args.bx.frequency[1], args.bx.frequency[2]}};
    const unsigned long long begin = begins[record];
    const unsigned entries = static_cast<unsigned>(begins[record + 1] - begin);
    const unsigned long long half = 2ull * record + member / WARP;
    const unsigned width = static_cast<unsigned>(word_begins[half + 1] - word_begins[half]);
    const unsigned* own = args.words + WARP * word_begins[half] + lane_index();

    const unsigned* const clusters = args.clusters + begin;
    Accumulator accumulator{position[row]};
    const auto own_further = [&](int group) { return all.further[group * all.count + row]; };
    accumulator.values = prepared_values(accumulator.own, own_further);
    const Real limit = static_cast<Real>(args.cutoff);
    accumulator.squared_reach = CUTOFF == Cutoff::COMMON ? limit * limit
                                : CUTOFF == Cutoff::OWN  ? args.packed.squared_radius[row]
                                                         : accumulator.own.w;
#pragma unroll
    for (int s = 0; s < SUM_COUNT; ++s) { accumulator.sums[s] = neutral_element(s); }
    if (threadIdx.x < CLUSTER) { stage.rows[0].write(threadIdx.x, {Real(-1e18), Real(0), Real(0), Real(0)}); }

    NeighborWords neighbors{own, share, width, {}};
    if (entries <= ENTRIES) {
        neighbors.prefetch();
        stage_entries(all, stage, super_cluster, clusters, 0, entries);
        neighbors.take<true>(accumulator, stage, 0, entries);
    } else {
        for (unsigned first = 0; first < entries; first += ROUND) {
            const unsigned end = smaller(first + ROUND, entries);
            __syncthreads();
            neighbors.prefetch();
            stage_entries(all, stage, super_cluster, clusters, first, end);
            neighbors.take<false>(accumulator, stage, first, end);
        }
    }

    if (SHARERS > 1) {
        if (share > 0) {
#pragma unroll
            for (int s = 0; s < SUM_COUNT; ++s) {
                stage.sums[((share - 1) * SUPER_CLUSTER + member) * SUM_COUNT + s] = accumulator.sums[s];
            }
        }
        __syncthreads();
    }
    if (share == 0 && wanted) {
        // Includes the padding between rows, so that whole memory sectors are written.
        Real total[SUM_STRIDE] = {};
#pragma unroll
        for (int s = 0; s < SUM_COUNT; ++s) {
            total[s] = accumulator.sums[s];
            for (unsigned other = 0; other + 1 < SHARERS; ++other) {
                total[s] = combine(s, total[s], stage.sums[(other * SUPER_CLUSTER + member) * SUM_COUNT + s]);
            }
        }
        if constexpr (SUM_STRIDE % PIECE == 0) {
#pragma unroll
            for (int s = 0; s < SUM_STRIDE; s += PIECE) {
                Piece piece;
#pragma unroll
                for (unsigned c = 0; c < PIECE; ++c) { piece.values[c] = total[s + c]; }
                *reinterpret_cast<Piece*>(sums + row * SUM_STRIDE + s) = piece;
            }
        } else {
#pragma unroll
            for (int s = 0; s < SUM_COUNT; ++s) { sums[row * SUM_STRIDE + s] = total[s]; }
        }
    }
}
HILBRIUM_EXPORT(particle_sweep)
