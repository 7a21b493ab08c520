// Threads, blocks and the barriers between them.
//
// A worker (a thread of the CPU) runs one block at a time. The block's threads
// run one after another on one stack for as long as none has to wait; one that
// waits keeps its stack, and the threads after it go on with another. So a
// kernel without barriers is a plain loop, and one with barriers needs a stack,
// not a thread of the CPU, for each thread that waits.
//
// Each stack lies at a multiple of its size, with the state of the thread that
// runs on it above the stack's own start: the stack pointer leads there. How far
// up that is differs from stack to stack, since lines of memory at the same
// place in each would compete for the same few lines of the cache.
#pragma once

typedef unsigned char gocuda_u8;
typedef unsigned short gocuda_u16;
typedef unsigned int gocuda_u32;
typedef unsigned long gocuda_u64;

// GOCUDA_RAW functions are compiled without checks of their accesses.
#ifdef GOCUDA_CHECK
#define GOCUDA_RAW __attribute__((no_sanitize("kernel-address")))
#else
#define GOCUDA_RAW
#endif
#define GOCUDA_INLINE inline __attribute__((always_inline))
#define GOCUDA_STACK (256ul << 10)
#define GOCUDA_ROOM 256ul // for a Thread
#define GOCUDA_TURN 100000u // accesses after which a thread lets others run

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
    gocuda_u64 accessed[2]; // bytes read and written, counted where accesses are checked
    gocuda_u32 stop;     // something failed: do not start more blocks
    gocuda_u32 reversed; // start each block's threads from the last to the first
    Failure failure;
};

struct Worker;
struct Block;
struct Thread;

// Group collects the lanes of a warp that take part in one exchange.
struct Group {
    gocuda_u32 mask, arrived, op;
};

struct Warp {
    gocuda_u32 live; // lanes that have not returned
    gocuda_u32 ngroups;
    gocuda_u32 converging; // lanes that wait for all others to wait
    Group groups[32];
    gocuda_u64 in[32], out[32];
    gocuda_u32 arg[32];
    Thread *waiting[32];
};

// Thread is the state of the thread that runs on a stack.
struct Thread {
    gocuda_u32 threadx, thready, threadz;
    gocuda_u32 blockx, blocky, blockz;
    gocuda_u32 dimx, dimy, dimz;
    gocuda_u32 gridx, gridy, gridz;
    gocuda_u32 rank;    // number in the block
    gocuda_u32 order;   // when it was started: its number, or counted from the end
    gocuda_u32 left;    // the first of this stack's threads that nobody was told have returned
    gocuda_u32 waited;  // it was suspended since it started
    gocuda_u32 budget;  // accesses outside of device memory left before others get a turn
    gocuda_u64 base, size, shift, reachable;
    const gocuda_u16 *valid;
    gocuda_u64 tls[2];
    gocuda_u64 accessed[2];
    char *shared; // the block's dynamic shared memory
    Block *block;
    Worker *worker;
    void *sp;     // while suspended
    Thread *next; // in a queue
};

static_assert(sizeof(Thread) <= GOCUDA_ROOM);

struct Queue {
    Thread *first, **end;
};

// Block is a block in progress.
struct Block {
    gocuda_u32 index[3];
    gocuda_u32 started, live, arrived;
    gocuda_u32 count, any, result_count, result_any, result_all;
    Queue ready, barrier, grid;
    char *shared; // dynamic shared memory
    char *kept;   // static shared memory while another block runs here
    Warp warps[32];
};

// Worker is a thread of the CPU at work (launch.go has the same layout up to
// local). It runs one block at a time; for a cooperative launch, whose blocks
// wait for each other, it goes round them all.
struct Worker {
    char *stacks; // GOCUDA_STACK bytes each
    gocuda_u64 nstacks;
    Block *blocks; // one, or all of a cooperative launch
    char *shared;  // dynamic shared memory of them all
    char *kept;    // static shared memory of them all, where there are several
    gocuda_u64 tls[2];
    // local
    Launch *launch;
    void (*body)(Thread *);
    Block *block; // whose threads run
    void *sp;     // of the scheduler below, while a thread runs
    gocuda_u32 threads;
    gocuda_u32 dead; // a thread failed: the launch is given up
    Thread *idle;    // stacks without a thread
    gocuda_u64 used;
};

// thread_of is the state of the thread on the stack that lies at base.
static GOCUDA_INLINE Thread *thread_of(gocuda_u64 base) {
    return (Thread *)(base + GOCUDA_STACK - GOCUDA_ROOM - (base / (GOCUDA_STACK / 64) & 0xffc0));
}

static GOCUDA_INLINE Thread *self() {
    gocuda_u64 sp;
#if defined(__x86_64__)
    asm("movq %%rsp, %0" : "=r"(sp));
#elif defined(__aarch64__)
    asm("mov %0, sp" : "=r"(sp));
#else
#error "simulated kernels need x86-64 or arm64"
#endif
    return thread_of(sp & ~(GOCUDA_STACK - 1));
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

static GOCUDA_INLINE GOCUDA_RAW void clear(Queue &q) {
    q.first = nullptr;
    q.end = &q.first;
}

static GOCUDA_INLINE GOCUDA_RAW void append(Queue &q, Thread *t) {
    t->next = nullptr;
    *q.end = t;
    q.end = &t->next;
}

// splice moves all threads of one queue to the end of another.
static GOCUDA_INLINE GOCUDA_RAW void splice(Queue &to, Queue &from) {
    if (!from.first) return;
    *to.end = from.first;
    to.end = from.end;
    clear(from);
}

static GOCUDA_RAW void tell(Thread *t);

// suspend leaves the thread until something puts it on the ready queue, and
// goes on with another that is there or with the scheduler.
static __attribute__((noinline)) GOCUDA_RAW void suspend(Thread *t) {
    Worker *w = t->worker;
    Queue *ready = &t->block->ready;
    Thread *next = ready->first;
    t->waited = 1;
    if (next && !w->dead) {
        if (!(ready->first = next->next)) ready->end = &ready->first;
        if (next != t) gocuda_switch(&t->sp, next->sp);
        return;
    }
    gocuda_switch(&t->sp, w->sp);
}

// yield lets the block's other threads run.
static __attribute__((noinline)) GOCUDA_RAW void yield() {
    Thread *t = self();
    tell(t);
    t->budget = GOCUDA_TURN;
    append(t->block->ready, t);
    gocuda_switch(&t->sp, t->worker->sp); // which may start others first
    t->waited = 1;
}

// release lets the threads of the block's barrier go on.
static GOCUDA_RAW void release(Block *b) {
    b->result_all = b->count == b->live;
    b->result_count = b->count;
    b->result_any = b->any;
    b->arrived = b->count = b->any = 0;
    splice(b->ready, b->barrier);
}

// arrive is a barrier of the block's threads that have not returned.
static __attribute__((noinline)) GOCUDA_RAW void arrive(gocuda_u32 predicate) {
    Thread *t = self();
    Block *b = t->block;
    asm volatile("" ::: "memory");
    tell(t);
    b->arrived++;
    b->count += predicate != 0;
    b->any |= predicate != 0;
    if (b->arrived == b->live) {
        release(b);
    } else {
        append(b->barrier, t);
        suspend(t);
    }
    asm volatile("" ::: "memory");
}

// arrive_grid is a barrier of all blocks of a cooperative launch.
static __attribute__((noinline)) GOCUDA_RAW void arrive_grid() {
    Thread *t = self();
    asm volatile("" ::: "memory");
    tell(t);
    append(t->block->grid, t);
    suspend(t);
    asm volatile("" ::: "memory");
}

static GOCUDA_RAW void settle(Block *b, Warp *warp);
static GOCUDA_RAW bool converge(Block *b, gocuda_u32 warps);

// A thread that returns without having waited needs nobody's attention: its
// stack goes on with the next, and tells of all of them when one waits or there
// are no more.

// leave notes that threads have returned, by the order in which they were
// started: nobody waits for them any more.
static GOCUDA_RAW void leave(Thread *t, gocuda_u32 from, gocuda_u32 to) {
    if (from == to) return;
    Block *b = t->block;
    b->live -= to - from;
    if (t->worker->launch->reversed) {
        gocuda_u32 n = t->worker->threads, first = n - to;
        to = n - from;
        from = first;
    }
    for (gocuda_u32 w = from / 32; w * 32 < to; w++) {
        gocuda_u32 lo = from > w * 32 ? from - w * 32 : 0, hi = to - w * 32;
        Warp *warp = &b->warps[w];
        warp->live &= ~((hi < 32 ? (1u << hi) - 1 : ~0u) & ~((1u << lo) - 1));
        if (warp->ngroups) settle(b, warp);
    }
    if (b->arrived && b->arrived == b->live) release(b);
}

// tell makes known which threads the stack has started and which have returned.
static __attribute__((noinline)) GOCUDA_RAW void tell(Thread *t) {
    if (t->waited) return; // it was done when it waited first
    t->block->started = t->order + 1;
    leave(t, t->left, t->order);
    t->left = t->order;
}

// enter readies the stack for the thread that is next in its block.
static GOCUDA_RAW bool enter(Thread *t) {
    Worker *w = t->worker;
    gocuda_u32 r = t->block->started;
    if (r == w->threads) return false;
    t->order = t->left = r;
    t->waited = 0;
    if (w->launch->reversed) r = w->threads - 1 - r;
    t->rank = r;
    t->threadx = r % t->dimx;
    t->thready = r / t->dimx % t->dimy;
    t->threadz = r / t->dimx / t->dimy;
    return true;
}

// go_on ends the thread that the stack ran, after a wait or where the order is
// not the plain one, and enters the next.
static __attribute__((noinline)) GOCUDA_RAW bool go_on(Thread *t) {
    tell(t);
    leave(t, t->order, t->order + 1);
    return enter(t);
}

// finish tells of all threads of the stack once the last of the block has
// returned.
static __attribute__((noinline)) GOCUDA_RAW void finish(Thread *t, gocuda_u32 threads) {
    t->block->started = threads;
    leave(t, t->left, threads);
}

// work is where each stack begins.
static GOCUDA_RAW void work() {
    Thread *t = self();
    for (;;) {
        t->worker->body(t);
        t->next = t->worker->idle;
        t->worker->idle = t;
        gocuda_switch(&t->sp, t->worker->sp);
    }
}

// fresh is a stack that will begin at work, or go on there, for a block.
static GOCUDA_RAW Thread *fresh(Worker *w, Block *b) {
    Thread *t = w->idle;
    if (t) {
        w->idle = t->next;
    } else {
        t = thread_of((gocuda_u64)w->stacks + GOCUDA_STACK * w->used++);
        gocuda_u64 *top = (gocuda_u64 *)t - 8;
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
        Launch *l = w->launch;
        t->worker = w;
        t->dimx = l->block[0], t->dimy = l->block[1], t->dimz = l->block[2];
        t->gridx = l->grid[0], t->gridy = l->grid[1], t->gridz = l->grid[2];
        t->base = l->base, t->size = l->size, t->shift = l->shift, t->reachable = l->reachable;
        t->valid = l->valid;
        t->tls[0] = w->tls[0], t->tls[1] = w->tls[1];
        t->accessed[0] = t->accessed[1] = 0;
        t->budget = GOCUDA_TURN;
    }
    t->block = b;
    t->shared = b->shared;
    t->blockx = b->index[0], t->blocky = b->index[1], t->blockz = b->index[2];
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
    for (int i = 0; i < 3; i++) f.block[i] = w->block->index[i];
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
    gocuda_switch(&t->sp, t->worker->sp); // for good: the stacks are started anew
}

// begin readies a block to run.
static GOCUDA_RAW void begin(Worker *w, Block *b, gocuda_u64 number) {
    Launch *l = w->launch;
    b->index[0] = (gocuda_u32)(number % l->grid[0]);
    b->index[1] = (gocuda_u32)(number / l->grid[0] % l->grid[1]);
    b->index[2] = (gocuda_u32)(number / l->grid[0] / l->grid[1]);
    b->started = b->arrived = b->count = b->any = 0;
    b->live = w->threads;
    clear(b->ready);
    clear(b->barrier);
    clear(b->grid);
    for (gocuda_u32 i = 0; i * 32 < w->threads; i++) {
        gocuda_u32 n = w->threads - i * 32;
        b->warps[i].live = n >= 32 ? ~0u : (1u << n) - 1;
        b->warps[i].ngroups = b->warps[i].converging = 0;
    }
}

// turn runs a block for as long as any of its threads can. It reports whether
// one did.
static GOCUDA_RAW bool turn(Worker *w, Block *b) {
    bool ran = false;
    w->block = b;
    while (!w->dead) {
        Thread *t = b->ready.first;
        if (t) {
            if (!(b->ready.first = t->next)) b->ready.end = &b->ready.first;
        } else if (b->started < w->threads) {
            t = fresh(w, b);
        } else if (b->live && converge(b, (w->threads + 31) / 32)) {
            continue;
        } else {
            break;
        }
        ran = true;
        gocuda_switch(&w->sp, t->sp);
    }
    return ran;
}

// stuck records that the threads left wait for something that never comes.
static GOCUDA_RAW void stuck(Worker *w) {
    Failure f = {};
    f.kind = 4;
    give_up(w, nullptr, f);
}

// tally adds what the worker's threads accessed to the launch.
static GOCUDA_RAW void tally(Worker *w) {
    for (gocuda_u64 i = 0; i < w->used; i++)
        for (int k = 0; k < 2; k++)
            __atomic_fetch_add(&w->launch->accessed[k], thread_of((gocuda_u64)w->stacks + GOCUDA_STACK * i)->accessed[k], __ATOMIC_RELAXED);
}

// run takes blocks of a launch until there are none left.
static GOCUDA_RAW void run(Launch *l, Worker *w) {
    Block *b = w->blocks;
    b->shared = w->shared;
    while (!w->dead && !__atomic_load_n(&l->stop, __ATOMIC_RELAXED)) {
        gocuda_u64 n = __atomic_fetch_add(&l->next, 1ul, __ATOMIC_RELAXED);
        if (n >= l->blocks) break;
        begin(w, b, n);
        turn(w, b);
        if (b->live && !w->dead) stuck(w);
    }
}

// swap changes whose static shared memory the worker's threads see.
static GOCUDA_RAW void swap(Worker *w, Block *from, Block *to) {
    if (from == to) return;
    gocuda_u64 n = w->tls[1] - w->tls[0];
    if (from) __builtin_memcpy(from->kept, (void *)w->tls[0], n);
    __builtin_memcpy((void *)w->tls[0], to->kept, n);
}

// run_together runs all blocks of a cooperative launch.
static GOCUDA_RAW void run_together(Launch *l, Worker *w) {
    Block *now = nullptr;
    gocuda_u64 shared = (l->shared + 15ul) & ~15ul, kept = (w->tls[1] - w->tls[0] + 15ul) & ~15ul;
    for (gocuda_u64 i = 0; i < l->blocks; i++) {
        Block *b = &w->blocks[i];
        begin(w, b, i);
        b->shared = w->shared + shared * i;
        b->kept = w->kept + kept * i;
    }
    while (!w->dead) {
        bool ran = false;
        gocuda_u64 live = 0, waiting = 0;
        for (gocuda_u64 i = 0; i < l->blocks && !w->dead; i++) {
            Block *b = &w->blocks[i];
            if (b->ready.first || b->started < w->threads) {
                swap(w, now, b);
                now = b;
                ran = turn(w, b) || ran;
            }
            live += b->live;
            for (Thread *t = b->grid.first; t; t = t->next) waiting++;
        }
        if (ran || w->dead) continue;
        if (live == 0) break;
        if (waiting < live) {
            stuck(w);
            break;
        }
        for (gocuda_u64 i = 0; i < l->blocks; i++) splice(w->blocks[i].ready, w->blocks[i].grid);
    }
}

} // namespace gocuda

static GOCUDA_INLINE void __syncthreads() { gocuda::arrive(0); }
static inline GOCUDA_RAW int __syncthreads_count(int p) { gocuda::arrive(p != 0); return (int)gocuda::self()->block->result_count; }
static inline GOCUDA_RAW int __syncthreads_or(int p) { gocuda::arrive(p != 0); return (int)gocuda::self()->block->result_any; }
static inline GOCUDA_RAW int __syncthreads_and(int p) { gocuda::arrive(p != 0); return (int)gocuda::self()->block->result_all; }
static GOCUDA_INLINE void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static GOCUDA_INLINE void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static GOCUDA_INLINE void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __trap() { gocuda::fail(3, 0, 0, 0); }
static GOCUDA_INLINE void __brkpt() {}
static GOCUDA_INLINE void __nanosleep(unsigned) { gocuda::yield(); }

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
