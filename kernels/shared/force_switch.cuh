// Printed from the law's Rust source by #[pair]: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device pair_cuda
#pragma once

#include "../pair/real.cuh"

namespace hilbrium {

namespace force_switch {

/// r_1, and per power A, B, and the shift C of the energy.
struct Switch {
    Real start;
    Real a12;
    Real b12;
    Real c12;
    Real a6;
    Real b6;
    Real c6;
};

/// r times the force, and the energy, of each power.
struct Powers {
    Real force12;
    Real force6;
    Real energy12;
    Real energy6;
};

/// The switched powers at a distance; r6 is 1 / r^6.
__device__ inline Powers switched(Switch to, Real distance, Real r6) {
    const auto x = max((distance - to.start), Real(0.0));
    const auto x2 = x * x;
    const auto x3 = x2 * x;
    return Powers{Real(12.0) * r6 * r6 + (to.a12 * x2 + to.b12 * x3) * distance, Real(6.0) * r6 + (to.a6 * x2 + to.b6 * x3) * distance, r6 * r6 - (to.a12 * (Real(1.0) / Real(3.0)) + to.b12 * Real(0.25) * x) * x3 - to.c12, r6 - (to.a6 * (Real(1.0) / Real(3.0)) + to.b6 * Real(0.25) * x) * x3 - to.c6};
}

} // namespace force_switch

} // namespace hilbrium
