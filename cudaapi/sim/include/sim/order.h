// What a kernel in PTX reports its accesses to memory where races between the threads of a
// launch are looked for (package ptx/cpp writes the calls, runtime/order.h has the rules).
#pragma once

namespace gocuda {

// An access is told in a word: its line, the logarithm of its bytes, its scope and these bits.
enum : gocuda_u32 {
    lineBits = (1u << 19) - 1,
    isWrite = 1u << 19,
    isStrong = 1u << 20, // an order that is not weak, or volatile
    isAtomic = 1u << 21, // it reads and writes as one
    isVolatile = 1u << 22,
    isPolled = 1u << 23, // in a loop that waits; of a weak read: what it sees is compared and swapped later
    scopeAt = 24,        // 0 block, 1 cluster, 2 device, 3 system
    sizeAt = 26,
    isAcquire = 1u << 29,
    isRelease = 1u << 30,
    hasValue = 1u << 31,
};

// order_turn lets others run, now and then. It stands before what is told after it was done.
GOCUDA_CALL void order_turn();
// order_access is about one access. A value that is written is told before it is.
GOCUDA_CALL void order_access(gocuda_u64 a, gocuda_u32 what, gocuda_u64 value);
// order_range is about accesses to n bytes.
GOCUDA_CALL void order_range(gocuda_u64 a, gocuda_u64 n, gocuda_u32 what);
GOCUDA_CALL void order_fence(gocuda_u32 scope);
// order_at says on which line a barrier or something that lanes do together stands; mask is
// that of the lanes. number is what barriers are told apart by, 64 for others.
GOCUDA_CALL void order_at(gocuda_u32 line, gocuda_u32 number);
// order_beyond says which barriers' places a thread has left behind for good.
GOCUDA_CALL void order_beyond(gocuda_u32 line, gocuda_u64 numbers);
GOCUDA_CALL void order_lanes(gocuda_u32 line, gocuda_u32 mask);

// Of barriers in memory: a thread arrives, a phase is over, a thread has waited for it.
GOCUDA_CALL void order_arrive(gocuda_u64 a);
GOCUDA_CALL void order_phase(gocuda_u64 a);
GOCUDA_CALL void order_passed(gocuda_u64 a);

} // namespace gocuda
