// Threads, blocks and the barriers between them.
//
// A worker (a thread of the CPU) runs one block at a time. The block's threads
// run one after another on one stack for as long as none has to wait; one that
// waits keeps its stack, and the threads after it go on with another. So a
// kernel without barriers is a plain loop, and one with barriers needs a stack,
// not a thread of the CPU, for each thread that waits.
//
// Each stack lies at a multiple of its size, with the state of the thread that
// runs on it at the bottom: the stack pointer leads there.
#pragma once

typedef unsigned char gocuda_u8;
typedef unsigned short gocuda_u16;
typedef unsigned int gocuda_u32;
typedef unsigned long gocuda_u64;

#define GOCUDA_RAW __attribute__((no_sanitize("kernel-address")))
#define GOCUDA_INLINE inline __attribute__((always_inline))
#define GOCUDA_STACK (256ul << 10)

namespace gocuda {

struct Failure {
    gocuda_u32 kind; // 0 none, 1 illegal address, 2 assert, 3 trap, 4 deadlock, 5 misaligned
    gocuda_u32 size, write, line;
    gocuda_u64 address;
    gocuda_u32 block[3], thread[3];
    char text[256];
};

// Launch is one launch of a kernel, filled in by the caller (launch.go has the
// same layout).
struct Launch {
    gocuda_u64 next, blocks; // the next block to run; taken atomically
    gocuda_u32 grid[3], block[3];
    gocuda_u32 shared, cooperative;
    const gocuda_u8 *params;
    gocuda_u64 base, size, shift, reachable; // the devices' address space and which arenas of it
    const gocuda_u16 *valid;                 // allocated bytes of each granule
    const gocuda_u64 *ranges;                // registered host memory: start, end, ...
    gocuda_u64 nranges;
    gocuda_u64 image[2]; // the module's own memory
    gocuda_u64 bytes;    // of memory accessed, counted where accesses are checked
    gocuda_u32 stop;     // something failed: do not start more blocks
    gocuda_u32 seed;
    Failure failure;
};

struct Worker;

// Group collects the lanes of a warp that take part in one exchange.
struct Group {
    gocuda_u32 mask, arrived, op;
};

struct Warp {
    gocuda_u32 live; // lanes that have not returned
    gocuda_u32 ngroups;
    Group groups[32];
    gocuda_u64 in[32], out[32];
    gocuda_u32 arg[32];
    struct Thread *waiting[32];
};

struct Thread {
    gocuda_u32 threadx, thready, threadz;
    gocuda_u32 blockx, blocky, blockz;
    gocuda_u32 dimx, dimy, dimz;
    gocuda_u32 gridx, gridy, gridz;
    gocuda_u32 rank, waits; // number in the block; whether it is suspended
    gocuda_u64 base, size, shift, reachable;
    const gocuda_u16 *valid;
    gocuda_u64 tls[2];
    gocuda_u64 bytes;
    char *shared; // the block's dynamic shared memory
    Worker *worker;
    void *sp;     // while suspended
    Thread *next; // in a queue
};

// Worker is a thread of the CPU at work (launch.go has the same layout up to
// local).
struct Worker {
    char *stacks; // GOCUDA_STACK bytes each
    gocuda_u64 nstacks;
    char *shared; // dynamic shared memory
    gocuda_u64 tls[2];
    // local
    Launch *launch;
    void (*body)(Thread *);
    void *sp; // of the scheduler below, while a thread runs
    gocuda_u32 started, threads, live, arrived;
    gocuda_u32 count, any, result_count, result_any, result_all;
    gocuda_u32 dead; // the block is given up
    Thread *ready, **ready_end;
    Thread *barrier, **barrier_end;
    Thread *idle; // stacks without a thread
    gocuda_u64 used;
    gocuda_u32 block[3];
    Warp warps[32];
};

static GOCUDA_INLINE Thread *self() {
    gocuda_u64 sp;
#if defined(__x86_64__)
    asm("movq %%rsp, %0" : "=r"(sp));
#elif defined(__aarch64__)
    asm("mov %0, sp" : "=r"(sp));
#else
#error "simulated kernels need x86-64 or arm64"
#endif
    return (Thread *)(sp & ~(GOCUDA_STACK - 1));
}

// load reads a field of the thread's state without a check of the access.
static GOCUDA_INLINE gocuda_u32 load(const gocuda_u32 &field) {
    gocuda_u32 v;
#if defined(__x86_64__)
    asm("movl %1, %0" : "=r"(v) : "m"(field));
#else
    asm("ldr %w0, %1" : "=r"(v) : "m"(field));
#endif
    return v;
}

static GOCUDA_INLINE void *load(char *const &field) {
    void *v;
#if defined(__x86_64__)
    asm("movq %1, %0" : "=r"(v) : "m"(field));
#else
    asm("ldr %0, %1" : "=r"(v) : "m"(field));
#endif
    return v;
}

// gocuda_switch saves the caller's registers and stack pointer and goes on
// where another stack was left.
extern "C" void gocuda_switch(void **save, void *to) __attribute__((visibility("hidden")));
#if defined(__x86_64__)
asm(R"(
.text
.globl gocuda_switch
.hidden gocuda_switch
.type gocuda_switch, @function
gocuda_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size gocuda_switch, .-gocuda_switch
)");
#else
asm(R"(
.text
.globl gocuda_switch
.hidden gocuda_switch
.type gocuda_switch, %function
gocuda_switch:
    sub sp, sp, #160
    stp x19, x20, [sp]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
.size gocuda_switch, .-gocuda_switch
)");
#endif

static GOCUDA_INLINE void append(Thread **&end, Thread *t) {
    t->next = nullptr;
    *end = t;
    end = &t->next;
}

// suspend leaves the thread until something puts it on the ready queue.
static __attribute__((noinline)) GOCUDA_RAW void suspend(Thread *t) {
    gocuda_switch(&t->sp, t->worker->sp);
}

// resume lets a thread run until it suspends or its stack has nothing to do.
static __attribute__((noinline)) GOCUDA_RAW void resume(Worker *w, Thread *t) {
    gocuda_switch(&w->sp, t->sp);
}

// wake puts all threads of the block's barrier on the ready queue.
static GOCUDA_RAW void wake(Worker *w) {
    w->arrived = 0;
    w->result_count = w->count;
    w->result_any = w->any;
    w->count = w->any = 0;
    if (!w->barrier) return;
    *w->ready_end = w->barrier;
    w->ready_end = w->barrier_end;
    w->barrier = nullptr;
    w->barrier_end = &w->barrier;
}

// arrive is a barrier of the block's threads that have not returned.
static __attribute__((noinline)) GOCUDA_RAW void arrive(gocuda_u32 predicate) {
    Thread *t = self();
    Worker *w = t->worker;
    asm volatile("" ::: "memory");
    w->arrived++;
    w->count += predicate != 0;
    w->any |= predicate != 0;
    if (w->arrived == w->live) {
        w->result_all = w->count == w->live;
        wake(w);
    } else {
        append(w->barrier_end, t);
        suspend(t);
    }
    asm volatile("" ::: "memory");
}

static GOCUDA_RAW void settle(Worker *w, Warp *warp);

// leave notes that the thread has returned: nobody waits for it any more.
static __attribute__((noinline)) GOCUDA_RAW void leave(Thread *t) {
    Worker *w = t->worker;
    w->live--;
    Warp *warp = &w->warps[t->rank / 32];
    warp->live &= ~(1u << t->rank % 32);
    if (warp->ngroups) settle(w, warp);
    if (w->arrived && w->arrived == w->live) {
        w->result_all = w->count == w->live;
        wake(w);
    }
}

// advance moves the stack on to the next thread of the block.
static GOCUDA_INLINE GOCUDA_RAW bool advance(Thread *t) {
    Worker *w = t->worker;
    if (w->started == w->threads) return false;
    gocuda_u32 r = w->started++;
    t->rank = r;
    t->threadx = r % t->dimx;
    t->thready = r / t->dimx % t->dimy;
    t->threadz = r / t->dimx / t->dimy;
    return true;
}

// work is where each stack begins.
static GOCUDA_RAW void work() {
    Thread *t = self();
    for (;;) {
        t->worker->body(t);
        t->next = t->worker->idle;
        t->worker->idle = t;
        suspend(t);
    }
}

// fresh is a stack that will begin at work, or null if there are no more.
static GOCUDA_RAW Thread *fresh(Worker *w) {
    Thread *t = w->idle;
    if (t) {
        w->idle = t->next;
    } else {
        if (w->used == w->nstacks) return nullptr;
        char *base = w->stacks + GOCUDA_STACK * w->used++;
        t = (Thread *)base;
        gocuda_u64 *top = (gocuda_u64 *)(base + GOCUDA_STACK - 64);
#if defined(__x86_64__)
        *--top = 0; // work's return address: it never returns
        *--top = (gocuda_u64)&work;
        for (int i = 0; i < 6; i++) *--top = 0;
#else
        top -= 20;
        for (int i = 0; i < 20; i++) top[i] = 0;
        top[11] = (gocuda_u64)&work;
#endif
        t->sp = top;
    }
    Launch *l = w->launch;
    t->worker = w;
    t->blockx = w->block[0], t->blocky = w->block[1], t->blockz = w->block[2];
    t->dimx = l->block[0], t->dimy = l->block[1], t->dimz = l->block[2];
    t->gridx = l->grid[0], t->gridy = l->grid[1], t->gridz = l->grid[2];
    t->base = l->base, t->size = l->size, t->shift = l->shift, t->reachable = l->reachable;
    t->valid = l->valid;
    t->tls[0] = w->tls[0], t->tls[1] = w->tls[1];
    t->shared = w->shared;
    t->bytes = 0;
    return t;
}

static GOCUDA_RAW void copy_text(char *to, const char *from) {
    int i = 0;
    for (; from && from[i] && i < 255; i++) to[i] = from[i];
    to[i] = 0;
}

// give_up records the launch's first failure.
static __attribute__((noinline)) GOCUDA_RAW void give_up(Worker *w, Thread *t, Failure f) {
    Launch *l = w->launch;
    w->dead = 1;
    if (__atomic_exchange_n(&l->stop, 1u, __ATOMIC_SEQ_CST)) return;
    for (int i = 0; i < 3; i++) f.block[i] = w->block[i];
    if (t) f.thread[0] = t->threadx, f.thread[1] = t->thready, f.thread[2] = t->threadz;
    l->failure = f;
}

// fail ends the thread, and with it the launch.
static __attribute__((noinline)) GOCUDA_RAW void fail(gocuda_u32 kind, gocuda_u64 address, gocuda_u32 size, gocuda_u32 write, const char *text = nullptr, gocuda_u32 line = 0) {
    Thread *t = self();
    Failure f = {};
    f.kind = kind, f.address = address, f.size = size, f.write = write, f.line = line;
    copy_text(f.text, text);
    give_up(t->worker, t, f);
    suspend(t); // for good: the block's stacks are started anew
}

// run_block runs one block to its end, or until a thread fails.
static GOCUDA_RAW void run_block(Worker *w) {
    w->started = w->arrived = w->count = w->any = w->dead = 0;
    w->live = w->threads;
    w->ready = w->barrier = nullptr;
    w->ready_end = &w->ready;
    w->barrier_end = &w->barrier;
    w->idle = nullptr;
    w->used = 0;
    for (gocuda_u32 i = 0; i * 32 < w->threads; i++) {
        gocuda_u32 n = w->threads - i * 32;
        w->warps[i].live = n >= 32 ? ~0u : (1u << n) - 1;
        w->warps[i].ngroups = 0;
    }
    while (!w->dead) {
        Thread *t = w->ready;
        if (t) {
            if (!(w->ready = t->next)) w->ready_end = &w->ready;
        } else if (w->started < w->threads) {
            t = fresh(w);
        } else if (w->live == 0) {
            break;
        } else {
            Failure f = {};
            f.kind = 4;
            give_up(w, w->barrier, f);
            break;
        }
        resume(w, t);
    }
    for (gocuda_u64 i = 0; i < w->used; i++) {
        __atomic_fetch_add(&w->launch->bytes, ((Thread *)(w->stacks + GOCUDA_STACK * i))->bytes, __ATOMIC_RELAXED);
    }
}

} // namespace gocuda

static GOCUDA_INLINE void __syncthreads() { gocuda::arrive(0); }
static inline GOCUDA_RAW int __syncthreads_count(int p) { gocuda::arrive(p != 0); return (int)gocuda::self()->worker->result_count; }
static inline GOCUDA_RAW int __syncthreads_or(int p) { gocuda::arrive(p != 0); return (int)gocuda::self()->worker->result_any; }
static inline GOCUDA_RAW int __syncthreads_and(int p) { gocuda::arrive(p != 0); return (int)gocuda::self()->worker->result_all; }
static GOCUDA_INLINE void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static GOCUDA_INLINE void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static GOCUDA_INLINE void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __trap() { gocuda::fail(3, 0, 0, 0); }
static GOCUDA_INLINE void __brkpt() {}
static GOCUDA_INLINE void __nanosleep(unsigned) {}

static GOCUDA_INLINE long long clock64() {
#if defined(__x86_64__)
    return (long long)__builtin_ia32_rdtsc();
#else
    long long v;
    asm volatile("mrs %0, cntvct_el0" : "=r"(v));
    return v;
#endif
}
static GOCUDA_INLINE int clock() { return (int)clock64(); }

extern "C" int printf(const char *, ...);

#undef assert
#ifdef NDEBUG
#define assert(x) ((void)0)
#else
#define assert(x) ((x) ? (void)0 : gocuda::fail(2, 0, 0, 0, #x, __LINE__))
#endif
