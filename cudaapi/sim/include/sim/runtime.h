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
    gocuda_u64 shared; // bytes of its own that lie before dynamic shared memory
};

// The threads of a block, in the order in which they start: sim/kernel.h.
GOCUDA_CALL bool enter(Thread *t);
GOCUDA_CALL bool go_on(Thread *t);
GOCUDA_CALL void finish(Thread *t, gocuda_u32 threads);

// Barriers, and the lanes of a warp.
GOCUDA_CALL void arrive(gocuda_u32 predicate);
GOCUDA_CALL void met(gocuda_u32 threads);
GOCUDA_CALL void come_to(gocuda_u32 number, gocuda_u32 threads, gocuda_u32 predicate, gocuda_u32 waits);
GOCUDA_CALL void arrive_grid();
GOCUDA_CALL void arrive_cluster();
GOCUDA_CALL gocuda_u32 cluster_rank();
GOCUDA_CALL gocuda_u32 cluster_size();
GOCUDA_CALL void *cluster_shared(void *p, gocuda_u32 rank);
enum { opShuffle, opBallot, opMatchAny, opMatchAll, opAdd, opMin, opMax, opMinU, opMaxU, opAnd, opOr, opXor, opSync, opTogether };
GOCUDA_CALL gocuda_u64 exchange(gocuda_u32 op, gocuda_u32 mask, gocuda_u64 v, gocuda_u32 arg);
// Meeting is what a lane brings to an opTogether: act does what all 32 lanes came for, if all came to
// the same instruction (number). Its address is the value, metAt the argument.
struct Meeting {
    void (*act)(Meeting *const *lanes);
    gocuda_u32 number, acted;
};
enum : gocuda_u32 { metAt = 0x3e7 };
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

// Textures and surfaces. A shape is how many dimensions there are, and of which kind; where has
// as many coordinates, of surfaces the layer in the third.
enum { shapeLayered = 4, shapeCube = 8, boundaryTrap = 0, boundaryClamp = 1, boundaryZero = 2 };
GOCUDA_CALL void texture_at(gocuda_u64 handle, gocuda_u32 shape, gocuda_u32 layer, const float *where, gocuda_u32 *out, gocuda_u32 line);
GOCUDA_CALL void texture_element(gocuda_u64 handle, gocuda_u32 shape, gocuda_u32 layer, const int *where, gocuda_u32 *out, gocuda_u32 line);
GOCUDA_CALL void texture_gather(gocuda_u64 handle, gocuda_u32 shape, gocuda_u32 layer, const float *where, gocuda_u32 channel, gocuda_u32 *out, gocuda_u32 line);
GOCUDA_CALL void surface_load(gocuda_u64 handle, gocuda_u32 shape, const int *where, void *out, gocuda_u32 n, gocuda_u32 mode, gocuda_u32 line);
GOCUDA_CALL void surface_store(gocuda_u64 handle, gocuda_u32 shape, const int *where, const void *in, gocuda_u32 n, gocuda_u32 mode, gocuda_u32 line);
GOCUDA_CALL gocuda_u32 object_size(gocuda_u64 handle, gocuda_u32 surface, gocuda_u32 what, gocuda_u32 line);

} // namespace gocuda

// The memory that kernels allocate.
extern "C" {
GOCUDA_CALL void *gocuda_heap_malloc(unsigned long n);
GOCUDA_CALL void gocuda_heap_free(void *block);
}
