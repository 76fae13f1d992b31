// CUDA vector types with their alignments. double4 etc. are omitted: CUDA 13 names them by alignment.
#pragma once

#define EMULATION_PAIR(name, Value)                            \
    struct alignas(2 * sizeof(Value)) name {                   \
        Value x, y;                                            \
    };                                                         \
    inline name make_##name(Value x, Value y) { return {x, y}; }

#define EMULATION_TRIPLE(name, Value)                                      \
    struct name {                                                          \
        Value x, y, z;                                                     \
    };                                                                     \
    inline name make_##name(Value x, Value y, Value z) { return {x, y, z}; }

#define EMULATION_QUADRUPLE(name, Value)                                               \
    struct alignas(4 * sizeof(Value)) name {                                           \
        Value x, y, z, w;                                                              \
    };                                                                                 \
    inline name make_##name(Value x, Value y, Value z, Value w) { return {x, y, z, w}; }

#define EMULATION_VECTORS(name, Value)   \
    EMULATION_PAIR(name##2, Value)       \
    EMULATION_TRIPLE(name##3, Value)     \
    EMULATION_QUADRUPLE(name##4, Value)

EMULATION_VECTORS(char, char)
EMULATION_VECTORS(uchar, unsigned char)
EMULATION_VECTORS(short, short)
EMULATION_VECTORS(ushort, unsigned short)
EMULATION_VECTORS(int, int)
EMULATION_VECTORS(uint, unsigned)
EMULATION_VECTORS(float, float)
EMULATION_PAIR(longlong2, long long)
EMULATION_TRIPLE(longlong3, long long)
EMULATION_PAIR(ulonglong2, unsigned long long)
EMULATION_TRIPLE(ulonglong3, unsigned long long)
EMULATION_PAIR(double2, double)
EMULATION_TRIPLE(double3, double)

#undef EMULATION_VECTORS
#undef EMULATION_PAIR
#undef EMULATION_TRIPLE
#undef EMULATION_QUADRUPLE

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
