// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/shared.cuh"
#include "../pair/real.cuh"

namespace hilbrium {

// Addition of planes from other ranks.
struct AddPlanesArguments {
    // The own planes.
    Real* planes;
    // The received planes.
    const Real* received;
    // First source of each own plane in `sources`, then the number of sources.
    const unsigned* starts;
    // Numbers of the received planes that an own plane gets, in the order of ranks.
    const unsigned* sources;
    // Number of own planes.
    unsigned count;
    // Values of a plane.
    unsigned values;
};
HILBRIUM_SIZE(AddPlanesArguments, 40)
HILBRIUM_OFFSET(AddPlanesArguments, planes, 0)
HILBRIUM_OFFSET(AddPlanesArguments, received, 8)
HILBRIUM_OFFSET(AddPlanesArguments, starts, 16)
HILBRIUM_OFFSET(AddPlanesArguments, sources, 24)
HILBRIUM_OFFSET(AddPlanesArguments, count, 32)
HILBRIUM_OFFSET(AddPlanesArguments, values, 36)

// Waves of a rank between the transforms of planes and of lines.
struct WaveBlocks {
    // Waves of the own planes: all ky and kz of each x. Real and imaginary part.
    Real* planes;
    // The same by the rank that transforms their lines, without the own part: its ky and all kz of each
    // own x.
    Real* blocks;
    // Waves of the own lines: all x, the own ky, all kz.
    Real* lines;
    // For each ky two numbers: the first ky of the rank that transforms its lines, and their number.
    const unsigned* owners;
    // The own planes.
    Rows x;
    // The ky of the own lines.
    Rows y;
    // Number of ky.
    unsigned rows;
    // Number of kz.
    unsigned waves;
};
HILBRIUM_SIZE(WaveBlocks, 56)
HILBRIUM_OFFSET(WaveBlocks, planes, 0)
HILBRIUM_OFFSET(WaveBlocks, blocks, 8)
HILBRIUM_OFFSET(WaveBlocks, lines, 16)
HILBRIUM_OFFSET(WaveBlocks, owners, 24)
HILBRIUM_OFFSET(WaveBlocks, x, 32)
HILBRIUM_OFFSET(WaveBlocks, y, 40)
HILBRIUM_OFFSET(WaveBlocks, rows, 48)
HILBRIUM_OFFSET(WaveBlocks, waves, 52)

// Sorts waves of planes by the ranks that transform their lines.
struct PackWavesArguments {
    // The waves.
    WaveBlocks waves;
};
HILBRIUM_SIZE(PackWavesArguments, 56)
HILBRIUM_OFFSET(PackWavesArguments, waves, 0)

// The reverse.
struct UnpackWavesArguments {
    // The waves.
    WaveBlocks waves;
};
HILBRIUM_SIZE(UnpackWavesArguments, 56)
HILBRIUM_OFFSET(UnpackWavesArguments, waves, 0)

}  // namespace hilbrium

extern "C" __global__ void add_planes(
    const __grid_constant__ hilbrium::AddPlanesArguments args);
extern "C" __global__ void pack_waves(
    const __grid_constant__ hilbrium::PackWavesArguments args);
extern "C" __global__ void unpack_waves(
    const __grid_constant__ hilbrium::UnpackWavesArguments args);
