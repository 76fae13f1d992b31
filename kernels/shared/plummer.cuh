// Printed from the law's Rust source by #[pair]: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device pair_cuda
#pragma once

#include "../pair/real.cuh"

namespace hilbrium {

namespace plummer {

/// The inverse softened distance, from r^2 and epsilon^2.
__device__ inline Real inverse_distance(Real square, Real squared_softening) {
    return reciprocal_root((square + squared_softening));
}

/// The acceleration towards the mass over G m r: the cube of the inverse softened distance.
__device__ inline Real pull(Real inverse) {
    return inverse * inverse * inverse;
}

} // namespace plummer

} // namespace hilbrium
