// The sweep over a list of single particles (kernels/neighbors/particle_list.cu): for few neighbors, or where there is
// memory for two bytes a pair. Full lists: each particle gains its own sums, the same bits in every run.
//
// A block has a super-cluster. Its threads bring the particles of neighbor clusters into the super-cluster's frame and
// leave them in shared memory; then two threads share a particle's neighbors, which they look up there. Where there are
// more entries than HILBRIUM_ENTRIES this is done in turns: each thread goes on with its list as far as the numbers
// that are there.
#include "../device.cuh"
#include "../pair/sweep.cuh"

namespace hilbrium {
namespace pair {

// Entries whose particles are in shared memory at once.
#ifndef HILBRIUM_ENTRIES
#define HILBRIUM_ENTRIES 96
#endif
constexpr unsigned ENTRIES = HILBRIUM_ENTRIES;

// Threads that share a particle, and those of a block.
constexpr unsigned SHARERS = 2, SWEEP_THREADS = SHARERS * SUPER_CLUSTER;

struct ParticleStage {
    // number 0 is out of reach, numbers from CLUSTER on are entries'
    Real4 position[CLUSTER * (ENTRIES + 1)];
    Real sums[SUPER_CLUSTER * SUM_COUNT];
};
static_assert(sizeof(ParticleStage) <= 48 * 1024, "shared memory of a block");

// What one thread needs to evaluate its pairs.
struct Taker {
    const Arguments& all;
    const ParticleStage& stage;
    const unsigned* clusters;  // of the entries
    Particle4 i;
    Real sums[SUM_COUNT];

    // The neighbor of that number, with the entry `first` being the first one that is there.
    __device__ __forceinline__ void take(unsigned number, unsigned first) {
        const Real4 position = stage.position[number - CLUSTER * first];
        unsigned long long row = 0;
        if (GROUPS > 0) {
            row = number < CLUSTER ? 0 : CLUSTER * static_cast<unsigned long long>(clusters[number / CLUSTER - 1]) + number % CLUSTER;
        }
        const Particle4 j = particle(position, Real(0), [&](int group) { return all.further[group * all.rows + row]; });
        evaluate<false>(all, i, j, false, false, sums, nullptr);
    }
};

// Brings the particles of entries [begin, end) into the frame of the super-cluster, eight threads an entry.
__device__ __forceinline__ void stage_entries(const Arguments& all, ParticleStage& stage, unsigned super_cluster,
                                              const unsigned* clusters, unsigned begin, unsigned end) {
    const unsigned k = threadIdx.x % CLUSTER;
    const double own = all.frame[6ull * super_cluster + (k < 3 ? k : 0)];
    for (unsigned first = begin; first < end; first += SWEEP_THREADS / CLUSTER) {
        const unsigned entry = first + threadIdx.x / CLUSTER;
        const bool there = entry < end;
        const unsigned cluster = there ? clusters[entry] : CLUSTERS * super_cluster;
        // lane d of the eight has component d of the shift
        double by = 0.0;
        if (k < 3) {
            by = all.frame[6ull * (cluster / CLUSTERS) + k] - own;
            const double period = k == 0 ? all.period[0] : k == 1 ? all.period[1] : all.period[2];
            if (period > 0.0) {
                const float4 middle = all.box[2ull * cluster];
                const double at = k == 0 ? middle.x : k == 1 ? middle.y : middle.z;
                const double frequency = k == 0 ? all.frequency[0] : k == 1 ? all.frequency[1] : all.frequency[2];
                by -= period * ::rint((by + at) * frequency);
            }
        }
        const Real component = static_cast<Real>(by);
        const unsigned lane = lane_index() - k;
        const Real x = __shfl_sync(FULL, component, lane), y = __shfl_sync(FULL, component, lane + 1);
        const Real z = __shfl_sync(FULL, component, lane + 2);
        if (there) {
            Real4 position = all.position[CLUSTER * static_cast<unsigned long long>(cluster) + k];
            position.x += x;
            position.y += y;
            position.z += z;
            stage.position[CLUSTER * (entry - begin + 1) + k] = position;
        }
    }
}

}  // namespace pair
}  // namespace hilbrium

// Sums of the pairs of a list of particles. One block of 128 threads a super-cluster.
//   position ... box      as `pack` left them, `rows` a multiple of 64
//   clusters, begins      the entries' clusters, and where those of a super-cluster begin; one more than there are
//   words, word_begins    neighbors' numbers, two a word, and where those of a half begin, in units of 32 words
//   cutoff                the one of all pairs, where that is the law's way
//   period_*, frequency_* the box's periods and one over them, 0 where it is open
//   active                per row whether its sums are wanted, or 0 where all are
//   sums                  per row SUM_STRIDE Reals are written, of super-clusters that have active rows
// Floor: per pair the law's instructions and twelve; bytes: 2 a pair, and what pack wrote.
extern "C" __global__ void __launch_bounds__(hilbrium::pair::SWEEP_THREADS)
    particle_sweep(const hilbrium::pair::Real4* position, const hilbrium::pair::Real4* further,
                   const hilbrium::Real* squared_radius, const double* frame, const float4* box,
                   unsigned long long rows, const unsigned* clusters, const unsigned long long* begins,
                   const unsigned* words, const unsigned long long* word_begins, unsigned first_super_cluster,
                   double cutoff, double period_x, double period_y, double period_z, double frequency_x,
                   double frequency_y, double frequency_z, const unsigned char* active, hilbrium::Real* sums) {
    using namespace hilbrium;
    using namespace hilbrium::pair;
    static_assert(!SYMMETRIC, "lists of particles are full");
    __shared__ ParticleStage stage;
    const unsigned record = blockIdx.x, super_cluster = first_super_cluster + record;
    const unsigned member = threadIdx.x % SUPER_CLUSTER, share = threadIdx.x / SUPER_CLUSTER;
    const unsigned long long row = static_cast<unsigned long long>(super_cluster) * SUPER_CLUSTER + member;
    const bool wanted = active == nullptr || active[row] != 0;
    if (active != nullptr && !__syncthreads_or(wanted)) { return; }
    const Real limit = static_cast<Real>(cutoff);
    Arguments all = {};
    all.position = position;
    all.further = further;
    all.frame = frame;
    all.box = box;
    all.rows = rows;
    all.period[0] = period_x, all.period[1] = period_y, all.period[2] = period_z;
    all.frequency[0] = frequency_x, all.frequency[1] = frequency_y, all.frequency[2] = frequency_z;
    all.squared_cutoff = limit * limit;
    const unsigned long long begin = begins[record];
    const unsigned entries = static_cast<unsigned>(begins[record + 1] - begin);
    const unsigned long long half = 2ull * record + member / WARP;
    const unsigned width = static_cast<unsigned>(word_begins[half + 1] - word_begins[half]);
    const unsigned* own = words + WARP * word_begins[half] + lane_index();

    Taker taker{all, stage, clusters + begin,
                particle(position[row], CUTOFF == Cutoff::OWN ? squared_radius[row] : Real(0),
                         [&](int group) { return further[group * rows + row]; }),
                {}};
#pragma unroll
    for (int s = 0; s < SUM_COUNT; ++s) taker.sums[s] = nothing(s);
    if (threadIdx.x < CLUSTER) { stage.position[threadIdx.x] = {Real(-1e18), Real(0), Real(0), Real(0)}; }

    if (entries <= ENTRIES) {
        stage_entries(all, stage, super_cluster, taker.clusters, 0, entries);
        __syncthreads();
#pragma unroll 2
        for (unsigned m = share; m < width; m += SHARERS) {
            const unsigned two = own[WARP * m];
            taker.take(two & 0xffffu, 0);
            taker.take(two >> 16, 0);
        }
    } else {
        unsigned next = 2 * share;  // of the numbers, two a word, every other word
        for (unsigned first = 0; first < entries; first += ENTRIES) {
            const unsigned end = smaller(first + ENTRIES, entries);
            __syncthreads();
            stage_entries(all, stage, super_cluster, taker.clusters, first, end);
            __syncthreads();
            while (next < 2 * width) {
                const unsigned number = own[WARP * (next / 2)] >> (16 * (next % 2)) & 0xffffu;
                if (number >= CLUSTER * (end + 1)) { break; }
                // what fills the list up comes last, and needs no look
                if (number != 0) { taker.take(number, first); }
                next += next % 2 == 0 ? 1 : 2 * SHARERS - 1;
            }
        }
    }

    if (share == 1) {
#pragma unroll
        for (int s = 0; s < SUM_COUNT; ++s) stage.sums[member * SUM_COUNT + s] = taker.sums[s];
    }
    __syncthreads();
    if (share == 0 && wanted) {
#pragma unroll
        for (int s = 0; s < SUM_COUNT; ++s) {
            sums[row * SUM_STRIDE + s] = joined(s, taker.sums[s], stage.sums[member * SUM_COUNT + s]);
        }
    }
}
HILBRIUM_EXPORT(particle_sweep)
