// Decodes the nibble code of sorted indices (src/neighbors/compress.rs) with a warp: 32 differences at a
// time, one per lane.
#pragma once

#include "../device.cuh"

namespace hilbrium {

// Reads a record. Eight more bytes of any value must follow the record; the data starts at a multiple of 4
// bytes.
class NibbleDecoder {
  public:
    // Starts at byte `offset` of the data; the record holds `count` indices.
    __device__ __forceinline__ NibbleDecoder(const unsigned char* data, unsigned long long offset, unsigned count)
        : words(reinterpret_cast<const unsigned*>(data)), place(2ull * offset), before(0xffffffffu), left(count) {}

    // Number of indices not yet read.
    __device__ __forceinline__ unsigned remaining() const { return left; }

    // Reads a block: lane k gets index k of the next min(32, remaining()) indices; other lanes get an
    // unspecified value. All lanes must call. About 75 instructions.
    __device__ __forceinline__ unsigned next() {
        const unsigned lane = lane_index();
        const unsigned length = left < WARP ? left : WARP;
        const unsigned mask_nibbles = (length + 3u) / 4u;
        // Bit 31 - k is set if difference k is not 1.
        const unsigned mask = eight(place) & (0xffffffffu << (WARP - length));
        const unsigned bit = mask >> (WARP - 1u - lane) & 1u;
        const unsigned infos = __popc(mask);
        const unsigned rank = __popc(mask & ~(0xffffffffu >> lane));
        const unsigned info = eight(place + mask_nibbles + rank) >> 28;
        const bool wide = bit != 0u && info < 8u;
        const unsigned nibbles = wide ? info + 1u : 0u;
        const unsigned end = warp_inclusive_sum(nibbles);
        unsigned difference = bit != 0u ? info - 6u : 1u;
        const unsigned long long data = place + mask_nibbles + infos;
        if (wide) { difference = eight(data + (end - nibbles)) >> (32u - 4u * nibbles); }
        const unsigned index = before + warp_inclusive_sum(lane < length ? difference : 0u);
        before = __shfl_sync(FULL, index, WARP - 1u);
        place = data + __shfl_sync(FULL, end, WARP - 1u);
        left -= length;
        return index;
    }

  private:
    // Eight nibbles from position `at` on, the first one in the highest bits.
    __device__ __forceinline__ unsigned eight(unsigned long long at) const {
        const unsigned long long word = at / 8u;
        const unsigned first = __byte_perm(words[word], 0u, 0x0123), second = __byte_perm(words[word + 1u], 0u, 0x0123);
        return __funnelshift_l(second, first, 4u * static_cast<unsigned>(at % 8u));
    }

    const unsigned* words;
    unsigned long long place;
    unsigned before;
    unsigned left;
};

}  // namespace hilbrium
