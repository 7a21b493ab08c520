// What kernels call of the runtime, which is the same for all of them: it is
// compiled once (../runtime) and linked to each.
#pragma once

#define GOCUDA_CALL __attribute__((visibility("hidden"))) GOCUDA_RAW

namespace gocuda {

struct Param {
    gocuda_u32 offset, size;
};

// Kernel describes one __global__ function (module.go has the same layout).
struct Kernel {
    const char *name; // as written: a function's name or a template's instance
    const void *function;
    void (*body)(Thread *);
    const Param *params;
    gocuda_u64 nparams;
    gocuda_u32 threads, cluster[3]; // at most in a block, and blocks in a cluster; 0: not said
};

// The threads of a block, in the order in which they start: sim/kernel.h.
GOCUDA_CALL bool enter(Thread *t);
GOCUDA_CALL bool go_on(Thread *t);
GOCUDA_CALL void finish(Thread *t, gocuda_u32 threads);

// Barriers, and the lanes of a warp.
GOCUDA_CALL void arrive(gocuda_u32 predicate);
GOCUDA_CALL void met(gocuda_u32 threads);
GOCUDA_CALL void arrive_grid();
GOCUDA_CALL void arrive_cluster();
GOCUDA_CALL gocuda_u32 cluster_rank();
GOCUDA_CALL gocuda_u32 cluster_size();
GOCUDA_CALL void *cluster_shared(void *p, gocuda_u32 rank);
enum { opShuffle, opBallot, opMatchAny, opMatchAll, opAdd, opMin, opMax, opMinU, opMaxU, opAnd, opOr, opXor, opSync };
GOCUDA_CALL gocuda_u64 exchange(gocuda_u32 op, gocuda_u32 mask, gocuda_u64 v, gocuda_u32 arg);
#ifdef __clang__
__attribute__((nomerge)) // each place in the code is one of its own
#endif
GOCUDA_CALL gocuda_u32 active();

// Turns for other threads.
GOCUDA_CALL void pause();
GOCUDA_CALL void between();
GOCUDA_CALL void linger(bool looks);
GOCUDA_CALL void arrived();

GOCUDA_CALL void fail(gocuda_u32 kind, gocuda_u64 address, gocuda_u32 size, gocuda_u32 write, const char *text = nullptr, gocuda_u32 line = 0);

} // namespace gocuda
