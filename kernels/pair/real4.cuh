// The unit of a particle's packed values.
#pragma once

#include "../pair/real.cuh"

namespace hilbrium {
namespace pair {

// Four Reals that are read and written together. The first Real4 of a row holds its offset from the center of
// its super-cluster, or of its cell (kernels/cells), and the squared radius or, if pairs do not use both
// radii, the first prepared value.
struct alignas(16) Real4 {
    Real x, y, z, w;
};

}  // namespace pair
}  // namespace hilbrium
