// Spreading by tiles: a warp owns 8 x 8 x 8 mesh points in registers and adds all particles that reach them.
// Each mesh point is written once, without atomic additions and without clearing the mesh before. Sums are
// reproducible bit for bit if the order of records is.
#include "../mesh/bins.cuh"
#include "../arguments/mesh_tiles.cuh"

namespace hilbrium {
namespace mesh {

// Warps of a block: their slabs fit into 48 KiB of shared memory.
constexpr unsigned SPREAD_WARPS = sizeof(Real) == 4 ? 8 : 4;
constexpr unsigned SPREAD_THREADS = SPREAD_WARPS * WARP;

// Mesh points of a tile per lane: 8 of x times 2 of y.
constexpr unsigned POINTS_OF_LANE = TILE * TILE * TILE / WARP;

// Weights of up to 32 particles on the eight points of each dimension of a tile, zero where a particle does
// not reach; x has the value as a factor. Rows of x are aligned for loads of 16 bytes, which all lanes share.
// The stride of 33 makes both the writes (a lane per particle) and the reads (a lane per point) of y and z
// free of bank conflicts. A ninth point of each dimension takes the weights of points outside of the tile.
struct alignas(16) Slab {
    Real x[WARP][TILE + WIDE];
    Real y[TILE + 1][WARP + 1];
    Real z[TILE + 1][WARP + 1];
};

// Writes the weights of a particle whose cell has this offset from the first point of the tile.
template <unsigned stride>
__device__ __forceinline__ void stage(Real* to, const Real (&weight)[ORDER], int offset) {
    const int first = offset - (ORDER - 1);
#pragma unroll
    for (unsigned u = 0; u < TILE; ++u) { to[u * stride] = Real(0); }
#pragma unroll
    for (int k = 0; k < ORDER; ++k) {
        to[smaller(static_cast<unsigned>(first + k), TILE) * stride] = weight[k];
    }
}

// Adds the `count` staged particles: sums[8 h + u] is the point (u, lane / 8 + 4 h, lane % 8).
__device__ __forceinline__ void add_staged(const Slab& slab, unsigned count, Real (&sums)[POINTS_OF_LANE]) {
    const Real* const y = slab.y[lane_index() / TILE];
    const Real* const z = slab.z[lane_index() % TILE];
#pragma unroll 4
    for (unsigned particle = 0; particle < count; ++particle) {
        const Wide* const x = reinterpret_cast<const Wide*>(slab.x[particle]);
        const Real of_z = z[particle];
        const Real lower = y[particle] * of_z;
        const Real upper = (y + TILE / 2u * (WARP + 1u))[particle] * of_z;
#pragma unroll
        for (unsigned group = 0; group < TILE / WIDE; ++group) {
            const Wide four = x[group];
#pragma unroll
            for (unsigned k = 0; k < WIDE; ++k) {
                const unsigned u = group * WIDE + k;
                sums[u] = mul_add(four.number[k], lower, sums[u]);
                sums[TILE + u] = mul_add(four.number[k], upper, sums[TILE + u]);
            }
        }
    }
}

// Adds slice `slice` of the candidates of a tile.
__device__ __forceinline__ void add_slice(
    const SpreadTilesArguments& args, const Tile& tile, unsigned slice, unsigned slices, Slab& slab,
    Real (&sums)[POINTS_OF_LANE]) {
    const unsigned lane = lane_index();
    const Range range = range_of(args.geometry, args.binned.starts, tile, lane);
    const unsigned through = warp_inclusive_sum(range.length);
    const unsigned candidates = __shfl_sync(FULL, through, WARP - 1u);
    // a lane's candidate plus this is its record
    const unsigned to_record = range.first - (through - range.length);
    const int shift_xy = range.shift[0] | range.shift[1] << 16;
    const unsigned long long all = candidates;
    const unsigned begin = static_cast<unsigned>(all * slice / slices);
    const unsigned end = static_cast<unsigned>(all * (slice + 1u) / slices);
    for (unsigned batch = begin; batch < end; batch += WARP) {
        const bool active = batch + lane < end;
        const unsigned candidate = active ? batch + lane : end - 1u;
        // its range: the number of ranges that end at or before it
        unsigned of = 0;
#pragma unroll
        for (unsigned step = WARP / 2u; step > 0u; step /= 2u) {
            if (__shfl_sync(FULL, through, of + step - 1u) <= candidate) { of += step; }
        }
        const unsigned slot = candidate + __shfl_sync(FULL, to_record, of);
        const int xy = __shfl_sync(FULL, shift_xy, of);
        const int shift_z = __shfl_sync(FULL, range.shift[2], of);
        const Record record = args.binned.records[slot];
        const Real value = static_cast<Real>(args.values[args.binned.rows[slot]]);
        const int offset_x = (xy & 0xffff) + static_cast<int>(record.along(0) & (TILE - 1u));
        const int offset_y = (xy >> 16) + static_cast<int>(record.along(1) & (TILE - 1u));
        const int offset_z = shift_z + static_cast<int>(record.along(2));
        const bool reaches = active && offset_x < static_cast<int>(reach_of(tile.width[0])) &&
                             offset_y < static_cast<int>(reach_of(tile.width[1])) && value != Real(0);
        const unsigned accepted = __ballot_sync(FULL, reaches);
        if (reaches) {
            const unsigned place = __popc(accepted & lanes_below());
            Real weight[ORDER];
            weights_of(record.fraction[0], weight);
#pragma unroll
            for (int k = 0; k < ORDER; ++k) { weight[k] *= value; }
            stage<1>(slab.x[place], weight, offset_x);
            weights_of(record.fraction[1], weight);
            stage<WARP + 1u>(&slab.y[0][place], weight, offset_y);
            weights_of(record.fraction[2], weight);
            stage<WARP + 1u>(&slab.z[0][place], weight, offset_z);
        }
        __syncwarp();
        add_staged(slab, __popc(accepted), sums);
        __syncwarp(); // all reads precede the next writes
    }
}

// Writes the points of a tile; those beyond the mesh are left out.
__device__ __forceinline__ void write_tile(
    const MeshParameters& geometry, const Tile& tile, const Real (&sums)[POINTS_OF_LANE], Real* mesh) {
    const unsigned z = lane_index() % TILE;
    if (z >= tile.width[2]) { return; }
#pragma unroll
    for (unsigned half = 0; half < 2u; ++half) {
        const unsigned y = lane_index() / TILE + half * (TILE / 2u);
        if (y >= tile.width[1]) { continue; }
#pragma unroll
        for (unsigned x = 0; x < TILE; ++x) {
            if (x < tile.width[0]) {
                mesh[index_of(geometry, tile.first[0] + x, tile.first[1] + y, tile.first[2] + z)] =
                    sums[half * TILE + x];
            }
        }
    }
}

} // namespace mesh

// Spreads the values of binned particles (bins.cu). The first `tiles` warps have a tile each; those behind
// have a part of a split tile, and the last one of a tile to arrive sums its parts in their order.
// Launch: blocks of SPREAD_THREADS, one warp per tile and one per possible part.
// Floor at p = 6: each particle reaches 4.3 = ((7 + p) / 8)^3 tiles and is a candidate of 6.5 = 2 x 2 x 13 /
// 8. Per reached tile 25 instructions of a warp: 16 fused multiply-adds, 2 products, 5 loads from shared
// memory, 2 of the loop. Per candidate 250 / 32. Together 160 per particle: 0.17 ns on 132 multiprocessors
// with 4 instructions per cycle at 1.75 GHz. Memory: 4 bytes per point, 28 per candidate, most of them from
// the second-level cache.
// Prediction: 65 % of the issue rate, 0.27 ns per particle, 8e11 additions per second. In double precision a
// fused multiply-add takes two issue slots: 0.37 ns. On a mesh of 256^3 points with 100,000 particles 0.03
// ms: the points are written at 70 % of the memory's rate.
// Outcome on an H200: 76 % of the issue rate, 170 instructions and 0.24 ns per particle at one million, 0.21
// ns at ten million; 1.0e12 additions per second. In double precision 0.37 and 0.34 ns. The sparse mesh takes
// 0.07 ms. Loading the next candidates before the last ones are added takes more registers and up to 14 % longer.
extern "C" __global__ void __launch_bounds__(mesh::SPREAD_THREADS)
    spread_tiles(const __grid_constant__ SpreadTilesArguments args) {
    using namespace mesh;
    __shared__ Slab slabs[SPREAD_WARPS];
    const unsigned warp = warp_of_grid(), lane = lane_index();
    const bool whole = warp < args.tiles;
    const unsigned part = warp - args.tiles;
    if (!whole && part >= *args.parts) { return; }
    const unsigned number = whole ? warp : args.tile_of_part[part];
    const unsigned slices = args.slices[number];
    if (whole && slices > 1u) { return; } // its parts have warps of their own
    const unsigned first_part = args.first_part[number];
    const Tile tile = tile_at(args.geometry, number);
    Real sums[POINTS_OF_LANE];
#pragma unroll
    for (unsigned k = 0; k < POINTS_OF_LANE; ++k) { sums[k] = Real(0); }
    add_slice(args, tile, whole ? 0u : part - first_part, slices, slabs[warp_of_block()], sums);
    if (!whole) {
        constexpr unsigned POINTS = TILE * TILE * TILE;
        Real* const own = args.partial + static_cast<unsigned long long>(part) * POINTS + lane;
#pragma unroll
        for (unsigned k = 0; k < POINTS_OF_LANE; ++k) { own[k * WARP] = sums[k]; }
        __threadfence();
        __syncwarp();
        unsigned before = 0;
        if (lane == 0) { before = atomicAdd(args.arrived + number, 1u); }
        if (__shfl_sync(FULL, before, 0) != slices - 1u) { return; }
        __threadfence();
        if (lane == 0) { args.arrived[number] = 0; } // for the next spreading
#pragma unroll
        for (unsigned k = 0; k < POINTS_OF_LANE; ++k) { sums[k] = Real(0); }
#pragma unroll 2
        for (unsigned slice = 0; slice < slices; ++slice) {
            const Real* const other =
                args.partial + static_cast<unsigned long long>(first_part + slice) * POINTS + lane;
#pragma unroll
            for (unsigned k = 0; k < POINTS_OF_LANE; ++k) { sums[k] += __ldcg(other + k * WARP); }
        }
    }
    write_tile(args.geometry, tile, sums, args.sums);
}
HILBRIUM_EXPORT(spread_tiles)

} // namespace hilbrium
