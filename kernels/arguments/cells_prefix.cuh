#pragma once
#include "../arguments/layout.cuh"
#include "../pair/real.cuh"
namespace hilbrium {
namespace pair { struct Real4; }
struct PrefixInPlaceArguments {
    const unsigned* numbers;
    unsigned count;
    unsigned repeats;
    unsigned* sums;
    unsigned* counted;
};
struct PrefixByWarpsArguments {
    const unsigned* numbers;
    unsigned count;
    unsigned repeats;
    unsigned* sums;
};
}
extern "C" __global__ void prefix_in_place(const __grid_constant__ hilbrium::PrefixInPlaceArguments args);
extern "C" __global__ void prefix_by_warps(const __grid_constant__ hilbrium::PrefixByWarpsArguments args);
