// Particle lists, for sweeps where only few particles of the neighbor clusters are neighbors.
//
// Built from the records of a full cluster list. The entries of a super-cluster are its clusters, in order.
// Particle k of entry e has the number 8 (e + 1) + k, and number 0 is out of reach of every particle. A sweep
// stages the particles of the entries in shared memory under these numbers. Hence a neighbor takes 16 bits,
// and positions are read once per super-cluster.
//
// The 32 particles of each half of a super-cluster are the lanes of a warp. Neighbor numbers are stored two
// per word; word m of lane l is at 32 (begin + m) + l. All lanes are padded with 0 to the longest of the 32
// lists.
//
// The order of neighbors within a lane's list is free. Neighbors in the first ENTRIES_OF_ROUND entries
// precede those in the next ones: a sweep that cannot stage all entries takes them in rounds, and in each the
// lanes have their neighbors in about the same words. Lanes of a sweep that read 16 bytes each have bank
// conflicts if their numbers are equal modulo 8. In each round, lane l therefore starts with numbers equal to
// l modulo 8, continues with l + 1, and so on.
//
// The first kernel tests distances and stores one bit per pair. After a prefix sum over the lengths of the
// lists, the second one turns bits into numbers. A pair is listed if its distance in double precision is
// below the larger radius, as in ParticleList. Single precision decides pairs outside of its error bound.
#include "../device.cuh"
#include "../arguments/neighbors_particle_list.cuh"
#include "../neighbors/decode.cuh"
#include "../neighbors/particle_pairs.cuh"

namespace hilbrium {

// Warps per block, and blocks per multiprocessor that test distances.
constexpr unsigned LIST_WARPS = 2, FIND_BLOCKS = 12;

// Largest number of entries that 16 bits can address.
constexpr unsigned MOST_ENTRIES = 8190;

// Reasons why a list cannot be swept: too many entries, or pairs with several images of a particle.
constexpr unsigned TOO_MANY = 1, TOO_WIDE = 2;

// Rows of 32 words for the bits of half a super-cluster and a batch of entries.
constexpr unsigned BATCH_ROWS = CLUSTER;

// Words with any bit that a lane keeps in shared memory.
constexpr unsigned MOST_WORDS = 64;

// Batches of a round: their numbers precede those of the next round.
constexpr unsigned BATCHES_OF_ROUND = ENTRIES_OF_ROUND / BATCH;

// Bits of all pairs of a record: bit c of row s of batch b, lane l, is the pair with particle (s + l) % 8 of
// entry 32 b + c. The rows of the first half precede those of the second one, and row s of all batches row
// s + 1. A lane finds the numbers of a round in the order of its list by reading the words of its batches,
// row by row.
struct FoundRows {
    unsigned long long first;  // row
    unsigned batches;

    // Each record begins a batch of its own.
    __device__ __forceinline__ FoundRows(unsigned long long begin, unsigned count, unsigned record)
        : first(2 * BATCH_ROWS * (begin / BATCH + record)), batches((count + BATCH - 1) / BATCH) {}

    // Returns the index of this lane's word in row 0 of a half's batch; row s is s * stride() further.
    __device__ __forceinline__ unsigned long long word(unsigned half, unsigned batch) const {
        return WARP * (first + BATCH_ROWS * half * batches + batch) + lane_index();
    }
    __device__ __forceinline__ unsigned stride() const { return WARP * batches; }
};

// Returns whether any of the four members of a half is within reach of a cluster's box.
__device__ __forceinline__ bool near_half(const Frame& frame, unsigned half, float3 center, float4 extent) {
    bool near = false;
    for (unsigned k = 0; k < CLUSTERS / 2; ++k) {
        const float4 member = frame.member_center[CLUSTERS / 2 * half + k];
        const float4 edge = frame.member_half[CLUSTERS / 2 * half + k];
        const float gap_x = fmaxf(fabsf(center.x - member.x) - (extent.x + edge.x), 0.0f);
        const float gap_y = fmaxf(fabsf(center.y - member.y) - (extent.y + edge.y), 0.0f);
        const float gap_z = fmaxf(fabsf(center.z - member.z) - (extent.z + edge.z), 0.0f);
        const float reach = fmaxf(square(extent.w + frame.margin), member.w);
        near |= square(gap_x) + square(gap_y) + square(gap_z) <= reach;
    }
    return near;
}

// Finds the neighbors of the particles of a super-cluster with entries. Writes the entries' clusters and the
// bits of pairs, and returns the numbers of neighbors of this lane's particles.
__device__ __forceinline__ uint2 find_neighbors(const ListRequest& request, NibbleDecoder decoder,
                                                unsigned super_cluster, ParticleListMemory& memory,
                                                FoundRows rows, unsigned* clusters, unsigned* found,
                                                unsigned* unfit) {
    const unsigned lane = lane_index(), row = SUPER_CLUSTER * super_cluster + lane;
    prepare(request, super_cluster, memory.frame);
    const Frame& frame = memory.frame;
    Tested a, b;
    a.place(request, frame.particles[lane], row);
    b.place(request, frame.particles[WARP + lane], row + WARP);
    // The smallest squared radius. The bit patterns of non-negative floats are ordered like their values.
    float least = fminf(a.acts() ? a.squared_radius : NOWHERE, b.acts() ? b.squared_radius : NOWHERE);
    least = __uint_as_float(__reduce_min_sync(FULL, __float_as_uint(least)));
    const double magnitude = fmax(fmax(fabs(frame.center[0]), fabs(frame.center[1])), fabs(frame.center[2]));
    // Error of positions in double precision: of the frame's center, and of positions in the frame.
    const float slack =
        float(slack_of(magnitude, request.widest_period()) * request.scale) + 1e-14f * frame.extent;

    bool wide = false;  // whether even particles may have several images in reach
#pragma unroll 1
    for (unsigned batch = 0; batch < rows.batches; ++batch) {
        const unsigned entries = smaller(decoder.remaining(), BATCH);
        const bool there = lane < entries;
        const unsigned cluster = decoder.next();
        bool of_a = false, of_b = false, of_one_image = true;
        if (there) {
            const float4 extent = request.extent[cluster];
            float3 center;
            approaches<HILBRIUM_PERIODIC>(request, frame, cluster, extent, center);
            // In an open box, an entry that does not fit is far away. The bound of errors allows for that,
            // but the test of boxes does not.
            const bool fit = fits<HILBRIUM_PERIODIC>(request, frame, center, extent);
            of_a = !fit || near_half(frame, 0, center, extent);
            of_b = !fit || near_half(frame, 1, center, extent);
            // A cluster of halos may span most of a periodic box: its particles then have images of their
            // own.
            of_one_image = fit || !HILBRIUM_PERIODIC;
            clusters[BATCH * batch + lane] = of_one_image ? cluster : cluster | WIDE_ENTRY;
            const float3 nearest = {0.0f, 0.0f, 0.0f};
            const float4 point = {0.0f, 0.0f, 0.0f, extent.w};
            wide |= !fit && !fits<HILBRIUM_PERIODIC>(request, frame, nearest, point);
        }
        const unsigned near_a = __ballot_sync(FULL, of_a), near_b = __ballot_sync(FULL, of_b);
        const unsigned count = __popc(near_a | near_b);
        if (of_a || of_b) {
            const unsigned staged = __popc((near_a | near_b) & lanes_below());
            memory.cluster[staged] = of_one_image ? cluster : cluster | WIDE_ENTRY;
            memory.place[staged] = lane;
            for (unsigned d = 0; HILBRIUM_PERIODIC && d < 3; ++d) {
                const double center = request.center[d * request.nodes + cluster];
                // The image nearest to the frame's center: others of an entry of one image are out of reach.
                const double turns = rint((center - frame.center[d]) * frame.frequency[d]);
                memory.origin[d][staged] = frame.center[d] + turns * request.period[d];
            }
        }
        const float2 largest = stage(request, memory, count);
        a.begin(largest.x, largest.y, slack);
        b.begin(largest.x, largest.y, slack);
        if (largest.y > least) {
            test_batch<true>(memory, entries, near_a, near_b, a, b);
        } else {
            test_batch<false>(memory, entries, near_a, near_b, a, b);
        }

        // The bit of a particle with itself is in row 0 of its lane.
        unsigned self_a = 0, self_b = 0;
        unsigned selves = __ballot_sync(FULL, there && cluster / CLUSTERS == super_cluster);
        for (; selves != 0; selves &= selves - 1) {
            const unsigned place = __ffs(int(selves)) - 1;
            const unsigned member = __shfl_sync(FULL, cluster, place) % CLUSTERS;
            if (member == lane / CLUSTER) { self_a |= 1u << place; }
            if (member == lane / CLUSTER + CLUSTERS / 2) { self_b |= 1u << place; }
        }
        a.store(found + rows.word(0, batch), rows.stride(), self_a);
        b.store(found + rows.word(1, batch), rows.stride(), self_b);
        if (__any_sync(FULL, a.doubtful() || b.doubtful())) {
            decide(request, memory, count, a, row, found + rows.word(0, batch), rows.stride());
            decide(request, memory, count, b, row + WARP, found + rows.word(1, batch), rows.stride());
        }
    }
    if (HILBRIUM_PERIODIC && __any_sync(FULL, wide) && lane == 0) { atomicOr(unfit, TOO_WIDE); }
    return {a.count, b.count};
}

// Writes, for each record, from `begins` on, its clusters, the bits of its pairs (FoundRows), and for each
// half the number of words of its longest list. Sets bits in `unfit` if the list cannot be swept. Launch: one
// warp per super-cluster, blocks of LIST_WARPS.
// Floor: 5.5 instructions per half and particle of an entry near it, two more if radii differ, and a
// broadcast of 16 bytes from shared memory for both halves; 1200 per 32 entries, half of them to stage
// particles, and 500 per super-cluster. Memory traffic is the positions of the surroundings, mostly from
// caches, and 64 bytes per entry.
extern "C" __global__ void __launch_bounds__(LIST_WARPS * 32, FIND_BLOCKS)
    particle_list_find(const __grid_constant__ ParticleListFindArguments args) {
    __shared__ ParticleListMemory memory[LIST_WARPS];
    const unsigned record = warp_of_grid();
    if (record >= args.super_clusters) { return; }
    const ListRequest request = list_request(args.search);
    const ListRecords& list = args.list;
    const unsigned count = list.counts[record];
    const unsigned long long begin = args.begins[record];
    uint2 longest = {0, 0};
    if (count > MOST_ENTRIES) {
        if (lane_index() == 0) { atomicOr(args.unfit, TOO_MANY); }
    } else if (count > 0) {
        longest = find_neighbors(request, {list.data, list.offsets[record], count}, args.first + record,
                                 memory[warp_of_block()], {begin, count, record}, args.clusters + begin,
                                 args.found, args.unfit);
    }
    longest = {__reduce_max_sync(FULL, longest.x), __reduce_max_sync(FULL, longest.y)};
    if (lane_index() == 0) {
        args.widths[2 * record] = (longest.x + 1) / 2;
        args.widths[2 * record + 1] = (longest.y + 1) / 2;
    }
}
HILBRIUM_EXPORT(particle_list_find)

// Words of the lanes with any bit, and the number of bit 0 of each. One more word of each lane is its end.
struct NumbersMemory {
    unsigned bits[(MOST_WORDS + 1) * WARP];
    unsigned short first[(MOST_WORDS + 1) * WARP];
};

// Reads the rows of a half: all rows of the batches of a round, then those of the next round.
struct RowReader {
    const unsigned* words;  // of the lane
    unsigned batches;

    // Calls `use` with the bits of each row and the number of bit 0; that of bit c is 8 c larger. As many
    // rows as a batch has are loaded at once.
    template <class Use> __device__ __forceinline__ void read(Use use) {
#pragma unroll 1
        for (unsigned begin = 0; begin < batches; begin += BATCHES_OF_ROUND) {
            const unsigned end = smaller(begin + BATCHES_OF_ROUND, batches);
            unsigned loaded = begin, loaded_row = 0, batch = begin, residue = lane_index() % CLUSTER;
#pragma unroll 1
            for (unsigned left = end - begin; left > 0; --left) {
                unsigned bits[BATCH_ROWS];
#pragma unroll
                for (unsigned k = 0; k < BATCH_ROWS; ++k) {
                    bits[k] = words[WARP * (loaded_row * batches + loaded)];
                    if (++loaded == end) {
                        loaded = begin;
                        ++loaded_row;
                    }
                }
#pragma unroll
                for (unsigned k = 0; k < BATCH_ROWS; ++k) {
                    use(bits[k], CLUSTER * (BATCH * batch + 1) + residue);
                    if (++batch == end) {
                        batch = begin;
                        residue = (residue + 1) % CLUSTER;
                    }
                }
            }
        }
    }
};

// Removes the last bit of a word and returns its place. `bits` is not 0.
__device__ __forceinline__ unsigned remove_last(unsigned& bits) {
    const unsigned place = WARP - 1 - __clz(int(bits));
    bits ^= 1u << place;
    return place;
}

// Index of the last word that a lane keeps.
__device__ __forceinline__ unsigned last_place() { return WARP * MOST_WORDS + lane_index(); }

// Collects the words of all rows. Returns the index of this lane's end; it is beyond the last place if words
// were dropped.
__device__ __forceinline__ unsigned collect(RowReader reader, NumbersMemory& memory) {
    const unsigned last = last_place();
    unsigned next = lane_index();
    reader.read([&](unsigned bits, unsigned first) {
        // The next word overwrites an empty one.
        const unsigned place = smaller(next, last);
        memory.bits[place] = bits;
        memory.first[place] = static_cast<unsigned short>(first);
        next += bits != 0 ? WARP : 0;
    });
    return next;
}

// Writes numbers, one by one, for lists with too many words.
__device__ __forceinline__ void write_singly(RowReader reader, unsigned* words, unsigned width) {
    unsigned count = 0;
    const auto put = [&](unsigned number) {
        unsigned short* const halves = reinterpret_cast<unsigned short*>(words + count / 2 * WARP);
        halves[count % 2] = static_cast<unsigned short>(number);
        ++count;
    };
    reader.read([&](unsigned bits, unsigned first) {
#pragma unroll 1
        while (bits != 0) { put(first + CLUSTER * remove_last(bits)); }
    });
#pragma unroll 1
    while (count < 2 * width) { put(0); }
}

// Writes the neighbor numbers of each half from `word_begins` on, in units of 32 words. Launch: one warp per
// half, blocks of LIST_WARPS.
// Floor: 29 instructions per word of the longest list and 17 per row of bits; bytes: 4 per word and lane, and
// 32 per entry and half.
extern "C" __global__ void __launch_bounds__(LIST_WARPS * 32)
    particle_list_write(const __grid_constant__ ParticleListWriteArguments args) {
    __shared__ NumbersMemory all[LIST_WARPS];
    NumbersMemory& memory = all[warp_of_block()];
    const unsigned which = warp_of_grid(), record = which / 2, lane = lane_index();
    if (record >= args.super_clusters) { return; }
    const unsigned long long word_begin = args.word_begins[which], begin = args.begins[record];
    const unsigned width = static_cast<unsigned>(args.word_begins[which + 1] - word_begin);
    if (width == 0) { return; }
    const FoundRows rows{begin, static_cast<unsigned>(args.begins[record + 1] - begin), record};
    const RowReader reader{args.found + rows.word(which % 2, 0), rows.batches};
    unsigned* words = args.words + WARP * word_begin + lane;
    const unsigned end = collect(reader, memory);
    if (__any_sync(FULL, end > last_place())) {
        write_singly(reader, words, width);
        return;
    }
    // The end is number 0, as often as it is read.
    memory.bits[end] = 1;
    memory.first[end] = 0;
    unsigned next = lane, bits = 0, first = 0;
    const auto number = [&]() {
        if (bits == 0) {
            bits = memory.bits[next];
            first = memory.first[next];
            next = smaller(next + WARP, end);
        }
        return first + CLUSTER * remove_last(bits);
    };
#pragma unroll 1
    for (unsigned m = 0; m < width; ++m, words += WARP) {
        const unsigned low = number(), high = number();
        *words = low | high << 16;
    }
}
HILBRIUM_EXPORT(particle_list_write)

}  // namespace hilbrium
