// Encodes ascending cluster indices in the nibble code with a warp: mirrors src/neighbors/compress.rs byte
// for byte.
//
// A block of up to 32 differences is encoded at once, one per lane. Its bit mask is a ballot, the positions
// of info nibbles are popcounts of the mask, and those of data nibbles a prefix sum of their lengths. Nibbles
// are collected in a window in shared memory (words of eight nibbles, the first one in the highest bits) and
// flushed in whole words: to the record's slot, or beyond its end to the common overflow.
#pragma once

#include "../device.cuh"
#include "../arguments/neighbors_overflow.cuh"

namespace hilbrium {

// Differences per block.
constexpr unsigned ENCODE_BLOCK = 32;

// Largest size of a block in nibbles: 8 of mask, 32 of info, 32 times 8 of data.
constexpr unsigned ENCODE_BLOCK_NIBBLES = 296;

// Size of the window in words. It is flushed above WINDOW_FULL nibbles, so that a block always fits.
constexpr unsigned WINDOW_WORDS = 64;
constexpr unsigned WINDOW_FULL = 8 * WINDOW_WORDS - ENCODE_BLOCK_NIBBLES;

static_assert(sizeof(OverflowWindow::code) == 4 * WINDOW_WORDS, "the overflow stores whole windows");

// Destination of a warp's record: a slot of `capacity` bytes (a multiple of 4) at an address that is a
// multiple of 4, and the overflow of all records.
struct RecordPlace {
    unsigned char* slot;
    unsigned capacity;
    unsigned record;
    RecordOverflow overflow;
};

// Shared memory of an encoding warp.
struct EncoderMemory {
    unsigned waiting[2 * ENCODE_BLOCK];  // ring buffer of indices not yet encoded
    unsigned window[WINDOW_WORDS + 1];   // one spare word
    RecordPlace place;
    unsigned count;    // number of indices so far
    unsigned coded;    // number of them already encoded
    unsigned next;     // last encoded index plus 1
    unsigned nibbles;  // number of nibbles in the window
    unsigned flushed;  // number of bytes flushed
};

// Number of significant nibbles, at least 1.
__device__ __forceinline__ unsigned nibbles_of(unsigned value) { return larger(35 - __clz(int(value)), 4) / 4; }

// Writes a record. Its state is in shared memory, because it is used rarely and registers are scarce. All
// lanes must call all functions.
struct Encoder {
    EncoderMemory& memory;

    __device__ __forceinline__ void begin(RecordPlace record) {
        for (unsigned word = lane_index(); word <= WINDOW_WORDS; word += WARP) { memory.window[word] = 0; }
        if (lane_index() == 0) {
            memory.place = record;
            memory.count = memory.coded = memory.next = memory.nibbles = memory.flushed = 0;
        }
        __syncwarp();
    }

    // Appends the indices of the lanes in `lanes`, in ascending lane order. Fewer than 32 indices may be in
    // the buffer.
    __device__ __forceinline__ void take(unsigned lanes, unsigned index) {
        const unsigned count = memory.count;
        if (lanes >> lane_index() & 1) {
            memory.waiting[(count + __popc(lanes & lanes_below())) % (2 * ENCODE_BLOCK)] = index;
        }
        __syncwarp();
        if (lane_index() == 0) { memory.count = count + __popc(lanes); }
        __syncwarp();
    }

    // Encodes the buffered indices: whole blocks, or all if `last`.
    __device__ __forceinline__ void encode(bool last) {
        const unsigned count = memory.count;
        unsigned coded = memory.coded;
        // All lanes have read the count that lane 0 writes below.
        __syncwarp();
        for (; coded + ENCODE_BLOCK <= count || (last && coded < count); coded += ENCODE_BLOCK) {
            encode_block(coded, smaller(count - coded, ENCODE_BLOCK));
        }
        if (lane_index() == 0) { memory.coded = smaller(coded, count); }
        __syncwarp();
    }

    // Number of entries, once all are encoded. `end` below flushes the window and returns the length of the
    // record (bytes).
    __device__ __forceinline__ unsigned count() const { return memory.count; }
    // Last entry plus 1; 0 without entries.
    __device__ __forceinline__ unsigned next() const { return memory.next; }
    __device__ __forceinline__ unsigned end() {
        const unsigned nibbles = memory.nibbles, bytes = memory.flushed + (nibbles + 1) / 2;
        if (nibbles > 0) { flush((nibbles + 7) / 8); }
        return bytes;
    }

  private:
    // Writes nibbles, the first one in the highest bits of `value`, at nibble `at` of the window. Other lanes
    // may write to other nibbles of the same word.
    __device__ __forceinline__ void put(unsigned at, unsigned value) {
        unsigned* word = memory.window + at / 8;
        const unsigned shift = 4 * (at % 8);
        atomicOr(word, value >> shift);
        const unsigned rest = shift == 0 ? 0 : value << (32 - shift);
        if (rest != 0) { atomicOr(word + 1, rest); }
    }

    // Encodes `length` (1 to 32) buffered indices, starting with number `coded`.
    __device__ __forceinline__ void encode_block(unsigned coded, unsigned length) {
        const unsigned lane = lane_index(), nibbles = memory.nibbles;
        const bool there = lane < length;
        const unsigned index = memory.waiting[(coded + lane) % (2 * ENCODE_BLOCK)];
        const unsigned before = __shfl_up_sync(FULL, index, 1);
        const unsigned next = lane == 0 ? memory.next : before + 1;
        const unsigned difference = index - next + 1;

        const unsigned larger_than_one = __ballot_sync(FULL, there && difference != 1);
        const bool own = larger_than_one >> lane & 1;
        const unsigned info_at = nibbles + (length + 3) / 4;
        const unsigned data_at = info_at + __popc(larger_than_one);
        const unsigned data = own && difference > 9 ? nibbles_of(difference) : 0;
        if (lane == 0) { put(nibbles, __brev(larger_than_one)); }
        if (own) {
            const unsigned info = data == 0 ? difference + 6 : data - 1;
            put(info_at + __popc(larger_than_one & lanes_below()), info << 28);
        }
        unsigned end = data_at;
        if (__any_sync(FULL, data != 0)) {
            const unsigned sum = warp_inclusive_sum(data);
            if (data != 0) { put(data_at + sum - data, difference << (32 - 4 * data)); }
            end += __shfl_sync(FULL, sum, WARP - 1);
        }
        __syncwarp();
        if (lane == length - 1) { memory.next = index + 1; }
        if (lane == 0) { memory.nibbles = end; }
        __syncwarp();
        if (end > WINDOW_FULL) { flush(end / 8); }
    }

    // Word of the window in the order of the record's bytes.
    __device__ __forceinline__ unsigned in_byte_order(unsigned word) const {
        return __byte_perm(memory.window[word], 0, 0x0123);
    }

    // Flushes the first `words` words of the window and moves the rest to its start. Words that fit into the
    // slot go there; if any does not, all go to the overflow as well.
    __device__ __noinline__ void flush(unsigned words) {
        const unsigned flushed = memory.flushed, nibbles = memory.nibbles;
        const RecordPlace& place = memory.place;
        const unsigned room = flushed < place.capacity ? (place.capacity - flushed) / 4 : 0;
        unsigned* const slot = reinterpret_cast<unsigned*>(place.slot + flushed);
        for (unsigned word = lane_index(); word < smaller(words, room); word += WARP) {
            slot[word] = in_byte_order(word);
        }
        if (words > room) { store_overflow(words, flushed); }
        const unsigned rest = memory.window[words];
        __syncwarp();
        for (unsigned word = lane_index(); word <= words; word += WARP) { memory.window[word] = word == 0 ? rest : 0; }
        if (lane_index() == 0) {
            memory.flushed = flushed + 4 * words;
            memory.nibbles = nibbles - smaller(nibbles, 8 * words);
        }
        __syncwarp();
    }

    // Stores the first `words` words of the window, which begin at byte `offset` of the record, in the
    // overflow, if the capacity suffices.
    __device__ __forceinline__ void store_overflow(unsigned words, unsigned offset) {
        const RecordOverflow& overflow = memory.place.overflow;
        unsigned number = 0;
        if (lane_index() == 0) { number = atomicAdd(overflow.count, 1u); }
        number = __shfl_sync(FULL, number, 0);
        if (number >= overflow.capacity) { return; }
        OverflowWindow& window = overflow.windows[number];
        if (lane_index() == 0) {
            window.record = memory.place.record;
            window.offset = offset;
            window.words = words;
        }
        for (unsigned word = lane_index(); word < words; word += WARP) { window.code[word] = in_byte_order(word); }
    }
};

}  // namespace hilbrium
