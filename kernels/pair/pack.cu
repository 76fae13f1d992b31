// Packs particle columns for sweeps.
#include "../pair/pack.cuh"

// Packs the rows of super-clusters [first_super_cluster, end_super_cluster): halo rows may arrive later than
// owned ones.
// Launch: one warp per super-cluster to pack, blocks of whole warps; each lane handles rows `lane` and `lane
// + 32`. There are `super_clusters` in total.
//   position, radius columns of `rows` doubles; radius may be null with a common cutoff
//   id               of each row, or null if there are no ghosts
//   inputs           pointers to the law's input columns
//   packed_position  per row, padded to whole super-clusters: offset, squared radius or first prepared value
//   further          [group][row]: further prepared values
//   squared_radius   per row, if the cutoff is the particle's own
//   frame            per super-cluster six doubles: center and half widths of its box
//   boxes            per cluster eight floats: center of its box relative to the super-cluster's, largest
//                    radius, half widths (rounded up), unused
// Floor: bytes, 8 (4 + INPUTS) + 4 or 8 (4 + 4 GROUPS) per row; 0.04 ms for four million rows of
// Lennard-Jones particles.
extern "C" __global__ void pack(const __grid_constant__ hilbrium::PackArguments args) {
    using namespace hilbrium;
    const double* const position[3] = {args.position[0], args.position[1], args.position[2]};
    const unsigned super_cluster = args.first_super_cluster + warp_of_grid();
    if (super_cluster >= args.end_super_cluster) return;
    pair::pack_super_cluster(args, super_cluster,
                             [&](int, unsigned long long row, int d) { return position[d][row]; });
}
HILBRIUM_EXPORT(pack)
