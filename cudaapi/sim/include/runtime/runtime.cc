// What is the same for all kernels: compiled once for each compiler, linked to
// every kernel.
#include "../sim/thread.h"
#include "../sim/runtime.h"
#include "switch.h"
#ifdef GOCUDA_RACES
#include "../sim/order.h"
#include "order.h"
#define GOCUDA_ORDER(call) gocuda::call
#else
#define GOCUDA_ORDER(call)
#endif
#ifdef GOCUDA_COUNTS
#include "../sim/count.h"
#include "count.h"
#define GOCUDA_COUNT(call) gocuda::call
#else
#define GOCUDA_COUNT(call)
#endif
#include "block.h"
#include "lanes.h"
#include "turns.h"
#include "heap.h"
#include "print.h"
#include "print_ptx.h"
#include "check.h"
#include "texture.h"

// gocuda_run runs blocks of a launch on a worker. It returns 1 when there are
// none left; before that, when all that are in progress wait for memory to
// change: 0, or 2 if a thread moved since the last such return.
extern "C" __attribute__((visibility("default"))) GOCUDA_RAW gocuda_u64 gocuda_run(gocuda::Launch *l, gocuda::Worker *w, const gocuda::Kernel *k) {
    if (!w->begun) {
        w->launch = l;
        w->body = k->body;
        w->threads = l->block[0] * l->block[1] * l->block[2];
        w->idle = nullptr;
        w->now = nullptr;
        w->used = w->slots = w->live = w->waited = 0;
        w->dead = w->poke = w->patience = w->stirred = 0;
        w->image[0] = l->image[0], w->image[1] = l->image[1];
        w->faulted = 0;
        w->fault = gocuda::fault;
        w->begun = 1;
    }
#ifdef GOCUDA_SITES
    void *kept; // the caller's
    asm volatile("movq %%r15, %0" : "=r"(kept));
#endif
    bool over = gocuda::run(l, w);
#ifdef GOCUDA_SITES
    asm volatile("movq %0, %%r15" ::"r"(kept));
#endif
    if (over) {
        w->fault = nullptr;
        gocuda::tally(w);
        GOCUDA_COUNT(count_ended(w));
#ifdef GOCUDA_SITES
        gocuda::finish_all(w);
#endif
        return 1;
    }
    bool stirred = w->stirred;
    w->stirred = 0;
    return stirred ? 2 : 0;
}

// The sizes that the host must agree on.
extern "C" {
__attribute__((visibility("default"))) gocuda_u64 gocuda_sizes[] = {sizeof(gocuda::Launch), sizeof(gocuda::Worker), sizeof(gocuda::Block)};
}

static __thread gocuda_u64 gocuda_tls_anchor __attribute__((used));
extern "C" __attribute__((visibility("default"))) GOCUDA_RAW void *gocuda_tls() { return &gocuda_tls_anchor; }
