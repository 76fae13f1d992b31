// Warp collectives. A lane stores its value and waits; the last one to arrive computes the results of all
// lanes.
#pragma once

namespace emulation {

template <class Value> inline unsigned long long bits_of(Value value) {
    static_assert(sizeof(Value) <= 8, "a collective moves at most 64 bits");
    unsigned long long bits = 0;
    std::memcpy(&bits, &value, sizeof(Value));
    return bits;
}
template <class Value> inline Value of_bits(unsigned long long bits) {
    Value value;
    std::memcpy(&value, &bits, sizeof(Value));
    return value;
}

// Result of reading a lane that does not participate: all ones, NaN as a float.
constexpr unsigned long long NOTHING = ~0ull;

inline unsigned long long combined(Operation operation, unsigned long long a, unsigned long long b) {
    const unsigned x = static_cast<unsigned>(a);
    const unsigned y = static_cast<unsigned>(b);
    switch (operation) {
        case Operation::ADD: return x + y;
        case Operation::SMALLEST: return x < y ? x : y;
        case Operation::LARGEST: return x > y ? x : y;
        case Operation::SMALLEST_SIGNED: return static_cast<int>(x) < static_cast<int>(y) ? x : y;
        case Operation::LARGEST_SIGNED: return static_cast<int>(x) > static_cast<int>(y) ? x : y;
        case Operation::AND: return x & y;
        case Operation::OR: return x | y;
        default: return x ^ y;
    }
}

inline void complete(Warp& warp, const Meeting& meeting) {
    const unsigned arrived = meeting.arrived;
    unsigned true_lanes = 0;
    unsigned long long all = 0;
    switch (meeting.operation) {
        case Operation::SYNC: return;
        case Operation::SHUFFLE:
            for (unsigned lane = 0; lane < 32; lane++) {
                if ((arrived >> lane & 1u) == 0) { continue; }
                const unsigned source = warp.parameter[lane];
                warp.result[lane] = (arrived >> source & 1u) != 0 ? warp.value[source] : NOTHING;
            }
            return;
        case Operation::MATCH_ANY:
        case Operation::MATCH_ALL:
            for (unsigned lane = 0; lane < 32; lane++) {
                if ((arrived >> lane & 1u) == 0) { continue; }
                unsigned same = 0;
                for (unsigned other = 0; other < 32; other++) {
                    if ((arrived >> other & 1u) != 0 && warp.value[other] == warp.value[lane]) { same |= 1u << other; }
                }
                warp.result[lane] = meeting.operation == Operation::MATCH_ANY || same == arrived ? same : 0;
            }
            return;
        case Operation::BALLOT:
        case Operation::ANY:
        case Operation::ALL:
            for (unsigned lane = 0; lane < 32; lane++) {
                if ((arrived >> lane & 1u) != 0 && warp.value[lane] != 0) { true_lanes |= 1u << lane; }
            }
            all = meeting.operation == Operation::BALLOT ? true_lanes
                : meeting.operation == Operation::ANY    ? true_lanes != 0
                                                         : true_lanes == arrived;
            break;
        default: {
            bool first = true;
            for (unsigned lane = 0; lane < 32; lane++) {
                if ((arrived >> lane & 1u) == 0) { continue; }
                all = first ? warp.value[lane] : combined(meeting.operation, all, warp.value[lane]);
                first = false;
            }
        }
    }
    for (unsigned lane = 0; lane < 32; lane++) {
        if ((arrived >> lane & 1u) != 0) { warp.result[lane] = all; }
    }
}

// Completes a collective if every lane of its mask has arrived or returned.
inline bool ended(Block& block, Warp& warp, unsigned index) {
    const Meeting& meeting = warp.meeting[index];
    if ((meeting.mask & ~warp.exited) != meeting.arrived) { return false; }
    complete(warp, meeting);
    warp.ready |= meeting.arrived;
    block.patience = 0;
    warp.meeting[index] = warp.meeting[--warp.meetings];
    return true;
}

inline unsigned long long meet(Operation operation, unsigned mask, unsigned long long value, unsigned parameter,
                               const char* file, int line) {
    Block& block = running_block();
    const unsigned index = running_fiber();
    Warp& warp = block.warp[index / 32];
    const unsigned lane = index % 32;
    const unsigned bit = 1u << lane;
    warp.place[lane] = {file, line};
    warp.value[lane] = value;
    warp.parameter[lane] = parameter;
    if ((mask & bit) == 0) {
        std::fprintf(stderr, "emulation: lane %u at %s:%d is not in the mask %08x of its %s\n", lane, file, line, mask,
                     NAMES[static_cast<int>(operation)]);
        stop(block, "a lane calls a collective that it takes no part in");
    }
    unsigned m = 0;
    while (m < warp.meetings && (warp.meeting[m].mask != mask || warp.meeting[m].operation != operation ||
                                 warp.meeting[m].line != line)) {
        m++;
    }
    if (m == warp.meetings) {
        warp.meeting[m] = {mask, 0u, line, operation};
        warp.meetings++;
    }
    warp.meeting[m].arrived |= bit;
    if (!ended(block, warp, m)) {
        warp.ready &= ~bit;
        go_on_with(block, index, next(block, index / 32));
    }
    return warp.result[lane];
}

// A thread returns: collectives and barriers continue without it.
inline void leave(Block& block, unsigned index) {
    Warp& warp = block.warp[index / 32];
    const unsigned bit = 1u << (index % 32);
    warp.ready &= ~bit;
    warp.exited |= bit;
    block.alive--;
    block.patience = 0;
    for (unsigned m = 0; m < warp.meetings;) {
        if (!ended(block, warp, m)) { m++; }
    }
    if (block.alive > 0 && block.waiting == block.alive) { open_barrier(block); }
    go_on_with(block, index, next(block, index / 32));
}

// Entry point of a fiber.
inline void run_thread() {
    Block& block = running_block();
    block.call(block.arguments);
    leave(block, running_fiber());
    __builtin_unreachable();
}

inline unsigned lane() { return running_fiber() % 32; }

template <class Value>
inline Value shuffled(unsigned mask, Value value, unsigned source, const char* file, int line) {
    return of_bits<Value>(meet(Operation::SHUFFLE, mask, bits_of(value), source, file, line));
}
inline unsigned reduced(Operation operation, unsigned mask, unsigned value, const char* file, int line) {
    return static_cast<unsigned>(meet(operation, mask, value, 0, file, line));
}

}  // namespace emulation

// Location of the caller, as trailing parameters.
#define EMULATION_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

inline void __syncthreads(EMULATION_HERE) { emulation::barrier("__syncthreads", false, file, line); }
inline int __syncthreads_count(int predicate, EMULATION_HERE) {
    emulation::barrier("__syncthreads_count", predicate != 0, file, line);
    return static_cast<int>(emulation::running_block().barrier_count);
}
inline int __syncthreads_or(int predicate, EMULATION_HERE) {
    emulation::barrier("__syncthreads_or", predicate != 0, file, line);
    return emulation::running_block().barrier_count != 0 ? 1 : 0;
}
inline int __syncthreads_and(int predicate, EMULATION_HERE) {
    emulation::barrier("__syncthreads_and", predicate != 0, file, line);
    return emulation::running_block().barrier_count == emulation::running_block().barrier_threads ? 1 : 0;
}
inline void __syncwarp(unsigned mask = 0xffffffffu, EMULATION_HERE) {
    emulation::meet(emulation::Operation::SYNC, mask, 0, 0, file, line);
}

inline unsigned __ballot_sync(unsigned mask, int predicate, EMULATION_HERE) {
    return emulation::reduced(emulation::Operation::BALLOT, mask, predicate != 0 ? 1u : 0u, file, line);
}
inline int __any_sync(unsigned mask, int predicate, EMULATION_HERE) {
    return static_cast<int>(emulation::reduced(emulation::Operation::ANY, mask, predicate != 0 ? 1u : 0u, file, line));
}
inline int __all_sync(unsigned mask, int predicate, EMULATION_HERE) {
    return static_cast<int>(emulation::reduced(emulation::Operation::ALL, mask, predicate != 0 ? 1u : 0u, file, line));
}
template <class Value> inline unsigned __match_any_sync(unsigned mask, Value value, EMULATION_HERE) {
    const unsigned long long bits = emulation::bits_of(value);
    return static_cast<unsigned>(emulation::meet(emulation::Operation::MATCH_ANY, mask, bits, 0, file, line));
}
template <class Value> inline unsigned __match_all_sync(unsigned mask, Value value, int* predicate, EMULATION_HERE) {
    const unsigned long long bits = emulation::bits_of(value);
    const unsigned long long met = emulation::meet(emulation::Operation::MATCH_ALL, mask, bits, 0, file, line);
    const auto same = static_cast<unsigned>(met);
    *predicate = same != 0 ? 1 : 0;
    return same;
}

inline unsigned __reduce_add_sync(unsigned mask, unsigned value, EMULATION_HERE) {
    return emulation::reduced(emulation::Operation::ADD, mask, value, file, line);
}
inline int __reduce_add_sync(unsigned mask, int value, EMULATION_HERE) {
    const auto bits = static_cast<unsigned>(value);
    return static_cast<int>(emulation::reduced(emulation::Operation::ADD, mask, bits, file, line));
}
inline unsigned __reduce_min_sync(unsigned mask, unsigned value, EMULATION_HERE) {
    return emulation::reduced(emulation::Operation::SMALLEST, mask, value, file, line);
}
inline int __reduce_min_sync(unsigned mask, int value, EMULATION_HERE) {
    const auto bits = static_cast<unsigned>(value);
    return static_cast<int>(emulation::reduced(emulation::Operation::SMALLEST_SIGNED, mask, bits, file, line));
}
inline unsigned __reduce_max_sync(unsigned mask, unsigned value, EMULATION_HERE) {
    return emulation::reduced(emulation::Operation::LARGEST, mask, value, file, line);
}
inline int __reduce_max_sync(unsigned mask, int value, EMULATION_HERE) {
    const auto bits = static_cast<unsigned>(value);
    return static_cast<int>(emulation::reduced(emulation::Operation::LARGEST_SIGNED, mask, bits, file, line));
}
inline unsigned __reduce_and_sync(unsigned mask, unsigned value, EMULATION_HERE) {
    return emulation::reduced(emulation::Operation::AND, mask, value, file, line);
}
inline unsigned __reduce_or_sync(unsigned mask, unsigned value, EMULATION_HERE) {
    return emulation::reduced(emulation::Operation::OR, mask, value, file, line);
}
inline unsigned __reduce_xor_sync(unsigned mask, unsigned value, EMULATION_HERE) {
    return emulation::reduced(emulation::Operation::XOR, mask, value, file, line);
}

// Shuffles within segments of `width` lanes, a power of two. A source outside of the segment selects the own
// lane, except for __shfl_sync, which takes it modulo the width.
template <class Value>
inline Value __shfl_sync(unsigned mask, Value value, int source, int width = 32, EMULATION_HERE) {
    const unsigned within = static_cast<unsigned>(width) - 1u;
    const unsigned lane = (emulation::lane() & ~within) | (static_cast<unsigned>(source) & within);
    return emulation::shuffled(mask, value, lane, file, line);
}
template <class Value>
inline Value __shfl_xor_sync(unsigned mask, Value value, int distance, int width = 32, EMULATION_HERE) {
    const unsigned lane = emulation::lane();
    const unsigned end = (lane | (static_cast<unsigned>(width) - 1u)) + 1u;
    const unsigned source = lane ^ static_cast<unsigned>(distance);
    return emulation::shuffled(mask, value, source < end ? source : lane, file, line);
}
template <class Value>
inline Value __shfl_down_sync(unsigned mask, Value value, unsigned distance, int width = 32, EMULATION_HERE) {
    const unsigned lane = emulation::lane();
    const unsigned within = static_cast<unsigned>(width) - 1u;
    const bool inside = (lane & within) + distance <= within;
    return emulation::shuffled(mask, value, inside ? lane + distance : lane, file, line);
}
template <class Value>
inline Value __shfl_up_sync(unsigned mask, Value value, unsigned distance, int width = 32, EMULATION_HERE) {
    const unsigned lane = emulation::lane();
    const unsigned within = static_cast<unsigned>(width) - 1u;
    const bool inside = (lane & within) >= distance;
    return emulation::shuffled(mask, value, inside ? lane - distance : lane, file, line);
}
