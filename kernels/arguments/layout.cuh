// Assertions that a struct of arguments has the layout of its Rust twin. CUDA's run-time compiler has no
// offsetof: the emulation's compiler, whose layout is the same, checks the offsets.
#pragma once

#define HILBRIUM_SIZE(type, bytes) \
    static_assert(sizeof(type) == bytes, "the Rust twin of " #type " has another size");
#ifdef HILBRIUM_EMULATED
#define HILBRIUM_OFFSET(type, member, bytes) \
    static_assert(offsetof(type, member) == bytes, "the Rust twin of " #type " has " #member " elsewhere");
#else
#define HILBRIUM_OFFSET(type, member, bytes)
#endif
