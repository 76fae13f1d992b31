// Interpolation of a potential and its gradient from the mesh to particles: the adjoint of spreading, with
// the gradient from differentiated weights.
//
// Macros beside those of mesh.cuh: HILBRIUM_FORCE and HILBRIUM_POTENTIAL are 1 where the force and the
// potential are wanted.
#include "../mesh/bins.cuh"
#include "../arguments/mesh_interpolate.cuh"

namespace hilbrium {
namespace mesh {

constexpr bool FORCE = HILBRIUM_FORCE != 0;
constexpr bool POTENTIAL = HILBRIUM_POTENTIAL != 0;
constexpr unsigned INTERPOLATE_THREADS = 128;

// Potential and its derivatives with respect to the fractions.
struct Interpolated {
    Real potential, slope[3];
};

// Sum over the p^3 points of a particle; `line(i, j)` is the memory of p points along z, of which `at(k)` is
// the index of point k. Per point two fused multiply-adds (one without forces), per line four.
template <class Line, class At>
__device__ __forceinline__ Interpolated interpolated(const Record& record, Line line, At at) {
    Real x[ORDER], y[ORDER], z[ORDER], slope_x[ORDER], slope_y[ORDER], slope_z[ORDER];
    weights_and_slopes(record.fraction[0], x, slope_x);
    weights_and_slopes(record.fraction[1], y, slope_y);
    weights_and_slopes(record.fraction[2], z, slope_z);
    Interpolated found{};
#pragma unroll
    for (int i = 0; i < ORDER; ++i) {
        Real plane = 0, plane_y = 0, plane_z = 0;
#pragma unroll
        for (int j = 0; j < ORDER; ++j) {
            const Real* const values = line(i, j);
            Real sum = 0, sum_z = 0;
#pragma unroll
            for (int k = 0; k < ORDER; ++k) {
                const Real value = values[at(k)];
                sum = mul_add(value, z[k], sum);
                if (FORCE) { sum_z = mul_add(value, slope_z[k], sum_z); }
            }
            plane = mul_add(sum, y[j], plane);
            if (FORCE) {
                plane_y = mul_add(sum, slope_y[j], plane_y);
                plane_z = mul_add(sum_z, y[j], plane_z);
            }
        }
        found.potential = mul_add(plane, x[i], found.potential);
        if (FORCE) {
            found.slope[0] = mul_add(plane, slope_x[i], found.slope[0]);
            found.slope[1] = mul_add(plane_y, x[i], found.slope[1]);
            found.slope[2] = mul_add(plane_z, x[i], found.slope[2]);
        }
    }
    return found;
}

// Adds what a particle gets to the columns of its row.
__device__ __forceinline__ void add_to_row(
    const MeshParameters& geometry, const InterpolationColumns& to, unsigned row, const Interpolated& found) {
    const double weight = to.weights == nullptr ? 1.0 : to.weights[row];
    if (FORCE) {
#pragma unroll
        for (unsigned d = 0; d < 3; ++d) {
            const double factor = -to.force_factor * weight * geometry.scale[d];
            to.force[d][row] += factor * static_cast<double>(found.slope[d]);
        }
    }
    if (POTENTIAL) {
        to.potential[row] += to.potential_factor * weight * static_cast<double>(found.potential);
    }
}

} // namespace mesh

// A thread per row, which reads its p^3 points from device memory. For few particles per mesh point, and for
// particles that have not been binned.
// Launch: blocks of 128 threads, one thread per row. Floor: 24 bytes read per row, 8 for the weight, 48 for
// forces, 16 for a potential, and 2 p^3 fused multiply-adds. Reads of a warp touch up to 32 sectors: with
// rows along the Hilbert curve about 10 lines of 128 bytes per load. Prediction for p = 6: 67 cycles of a
// multiprocessor per particle, 0.29 ns on 132. Outcome on an H200: 0.26 ns at 0.5 particles per point, 0.12
// ns at 5, 0.085 ns at 40 and more.
extern "C" __global__ void __launch_bounds__(mesh::INTERPOLATE_THREADS)
    interpolate_rows(const __grid_constant__ InterpolateRowsArguments args) {
    using namespace mesh;
    const auto [begin, end] = args.rows;
    const unsigned long long place = thread_of_grid();
    if (place >= end - begin) { return; }
    const unsigned row = begin + static_cast<unsigned>(place);
    const MeshParameters& geometry = args.geometry;
    const Record record = record_of(geometry, args.position, row);
    unsigned along[ORDER];
#pragma unroll
    for (int k = 0; k < ORDER; ++k) { along[k] = point_of(record.along(2), k, geometry.points[2]); }
    const auto line = [&](int i, int j) {
        const unsigned x = point_of(record.along(0), i, geometry.points[0]);
        const unsigned y = point_of(record.along(1), j, geometry.points[1]);
        return args.mesh + index_of(geometry, x, y, 0u);
    };
    const auto at = [&](int k) { return along[k]; };
    add_to_row(geometry, args.to, row, interpolated(record, line, at));
}
HILBRIUM_EXPORT(interpolate_rows)

// A block has 128 consecutive records of the bins, in which few columns and layers occur. For each run of up
// to eight layers of one column it loads the points that the run's particles reach into shared memory, and a
// thread per particle reads them there. Equal work for all blocks whatever the distribution.
// Launch: blocks of 128 threads, 128 records each. Floor, for p = 6: 20 bytes read per particle, 8 for the
// weight, 48 for forces, 16 for a potential; (7 + p)^3 = 2197 points per run. 2 p^3 fused multiply-adds and
// p^3 loads per lane from shared memory, which 32 particles at random cells serialize 3.5 times: 24 cycles of
// a multiprocessor per particle, 0.1 ns on 132. Prediction at 0.1 particles per point: 43 points loaded per
// particle, 0.18 ns. Outcome on an H200: 0.14 ns at 0.5 particles per point, 0.11 ns at 5, but 0.43 ns at
// 0.06, where rows take 0.32 ns; 39 microseconds for 32,000 particles.
extern "C" __global__ void __launch_bounds__(mesh::INTERPOLATE_THREADS)
    interpolate_bins(const __grid_constant__ InterpolateBinsArguments args) {
    using namespace mesh;
    __shared__ Real window[PADDED * PADDED * STRIDE];
    const MeshParameters& geometry = args.geometry;
    const unsigned end = smaller((blockIdx.x + 1u) * INTERPOLATE_THREADS, args.count);
    for (unsigned from = blockIdx.x * INTERPOLATE_THREADS; from < end;) {
        const Record first = args.binned.records[from];
        unsigned cell[3];
        const unsigned to = smaller(end, end_of_run(geometry, args.binned.starts, first, cell));
        // layers up to that of the last record
        const unsigned layers = args.binned.records[to - 1u].along(2) - cell[2] + ORDER;
        __syncthreads(); // all reads precede the next writes
        for (unsigned k = threadIdx.x; k < PADDED * PADDED * PADDED; k += INTERPOLATE_THREADS) {
            unsigned point;
            if (k % PADDED < layers && padded_point(geometry, cell, k, point)) {
                window[padded_place(k)] = args.mesh[point];
            }
        }
        __syncthreads();
        const unsigned slot = from + threadIdx.x;
        if (slot < to) {
            const Record record = args.binned.records[slot];
            const unsigned x = record.along(0) - cell[0], y = record.along(1) - cell[1];
            const Real* const corner = window + (x * PADDED + y) * STRIDE + (record.along(2) - cell[2]);
            const auto line = [&](unsigned i, unsigned j) { return corner + (i * PADDED + j) * STRIDE; };
            const auto at = [](int k) { return k; };
            add_to_row(geometry, args.to, args.binned.rows[slot], interpolated(record, line, at));
        }
        from = to;
    }
}
HILBRIUM_EXPORT(interpolate_bins)

} // namespace hilbrium
