// How a worker runs the threads of a block, and the barriers between them.
#pragma once

namespace gocuda {

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

// moved notes that a thread of the block does something else than to look
// whether it may go on.
static GOCUDA_INLINE GOCUDA_RAW void moved(Block *b) {
    b->moved = 1;
    b->spinner = nullptr;
}

// suspend leaves the thread until something puts it on the ready queue, and
// goes on with another that is there or with the scheduler.
static __attribute__((noinline)) GOCUDA_RAW void suspend(Thread *t) {
    Worker *w = t->worker;
    Queue *ready = &t->block->ready;
    Thread *next = ready->first;
    t->waited = 1;
    moved(t->block);
    if (next && !w->dead) {
        if (!(ready->first = next->next)) ready->end = &ready->first;
        if (next != t) gocuda_switch(&t->sp, next->sp);
        return;
    }
    gocuda_switch(&t->sp, w->sp);
}

// yield lets the block's other threads run, first of all those that have not
// started. A thread that is to come last goes on after all others that are ready.
static __attribute__((noinline)) GOCUDA_RAW void yield(bool last) {
    Thread *t = self();
    if (t->order == GOCUDA_NOBODY) return;
    tell(t);
    t->budget = GOCUDA_TURN;
    Queue *ready = &t->block->ready;
    if (last || !ready->first) {
        append(*ready, t);
    } else {
        t->next = ready->first;
        ready->first = t;
    }
    t->block->impatient = 1;
    gocuda_switch(&t->sp, t->worker->sp);
    t->waited = 1;
}

// pause is the turn of a thread that waits for another to write something, or
// may do so: if there is nothing but such threads, other blocks get a turn.
GOCUDA_CALL void pause() {
    Thread *t = self();
    if (t->order == GOCUDA_NOBODY) return;
    if (!t->block->spinner) t->block->spinner = t;
    yield(true);
}

// tire is a pause after a long time.
static __attribute__((noinline)) GOCUDA_RAW void tire() {
    self()->worker->waited += GOCUDA_PATIENCE / 10;
    pause();
}

// release lets the threads of the block's barrier go on.
static GOCUDA_RAW void release(Block *b) {
    b->result_all = b->count == b->live;
    b->result_count = b->count;
    b->result_any = b->any;
    b->arrived = b->count = b->any = 0;
    GOCUDA_ORDER(order_met(self()->worker, b));
    GOCUDA_COUNT(count_met(self()->worker, b));
    moved(b);
    splice(b->ready, b->barrier);
}

// arrive is a barrier of the block's threads that have not returned.
GOCUDA_CALL void arrive(gocuda_u32 predicate) {
    Thread *t = self();
    Block *b = t->block;
    asm volatile("" ::: "memory");
    tell(t);
    t->accessed[5] += t->counts;
    b->arrived++;
    b->count += predicate != 0;
    b->any |= predicate != 0;
    if (b->arrived == b->live) {
        // Threads that meet again and again need not come to where else it is seen.
        if (__atomic_load_n(&t->worker->launch->stop, __ATOMIC_RELAXED)) t->worker->dead = 1;
        release(b);
    } else {
        append(b->barrier, t);
        suspend(t);
    }
    asm volatile("" ::: "memory");
}

// meet_at lets the threads of a barrier with a number go on if enough of them have come.
static GOCUDA_RAW void meet_at(Block *b, gocuda_u32 number, Worker *w) {
    Barrier *at = &b->barriers[number];
    gocuda_u32 whole = 0, missing = 0, voted = 0, came = 0;
    for (gocuda_u32 i = 0; i * 32 < w->threads; i++) {
        gocuda_u32 live = b->warps[i].live;
        if (!(at->warps >> i & 1)) {
            missing |= live;
        } else if (live & ~at->here[i]) {
            missing = 1;
        } else {
            whole |= 1u << i;
            voted += (gocuda_u32)__builtin_popcount(at->yes[i]);
            came += (gocuda_u32)__builtin_popcount(at->here[i]);
        }
    }
    if (at->threads ? 32 * (gocuda_u32)__builtin_popcount(whole) < at->threads : missing) return;
    if (__atomic_load_n(&w->launch->stop, __ATOMIC_RELAXED)) w->dead = 1;
    GOCUDA_ORDER(order_group(w, b, number, at->here, whole, at->queue.first));
    Queue all = at->queue;
    if (!all.first) all.end = &all.first;
    clear(at->queue);
    for (Thread *t = all.first, *next; t; t = next) {
        next = t->next;
        if (!(whole >> t->rank / 32 & 1)) {
            append(at->queue, t);
            continue;
        }
        t->answer = voted | (gocuda_u32)(voted == came) << 31;
        append(b->ready, t);
    }
    if (!(at->warps &= ~whole)) b->numbered &= ~(1u << number);
    moved(b);
}

// come_to is a barrier with a number, of so many threads or of all; one need not wait there.
GOCUDA_CALL void come_to(gocuda_u32 number, gocuda_u32 threads, gocuda_u32 predicate, gocuda_u32 waits) {
    Thread *t = self();
    Block *b = t->block;
    gocuda_u32 warp = t->rank / 32, lane = 1u << t->rank % 32;
    asm volatile("" ::: "memory");
    tell(t);
    t->accessed[5] += t->counts;
    Barrier *at = &b->barriers[number &= 15];
    if (!(b->numbered >> number & 1)) {
        b->numbered |= 1u << number;
        at->warps = 0;
        clear(at->queue);
    }
    if (!(at->warps >> warp & 1)) {
        at->warps |= 1u << warp;
        at->here[warp] = at->yes[warp] = 0;
    }
    at->threads = threads;
    at->here[warp] |= lane;
    if (predicate) at->yes[warp] |= lane;
    GOCUDA_ORDER(order_came(t, number, waits));
    if (waits) append(at->queue, t);
    meet_at(b, number, t->worker);
    if (waits) suspend(t);
    asm volatile("" ::: "memory");
}

// met notes that so many threads, which a loop runs, have come to a barrier. Where the
// launch is given up, they go no further.
GOCUDA_CALL void met(gocuda_u32 threads) {
    Thread *t = self();
    if (t->counts) t->accessed[5] += threads;
    GOCUDA_ORDER(order_met(t->worker, t->block));
    GOCUDA_COUNT(count_met(t->worker, t->block));
    if (!__atomic_load_n(&t->worker->launch->stop, __ATOMIC_RELAXED)) return;
    t->worker->dead = 1;
    gocuda_switch(&t->sp, t->worker->sp);
}

// arrive_grid is a barrier of all blocks of a cooperative launch.
GOCUDA_CALL void arrive_grid() {
    Thread *t = self();
    asm volatile("" ::: "memory");
    tell(t);
    append(t->block->grid, t);
    suspend(t);
    asm volatile("" ::: "memory");
}

// meet_cluster lets the threads of a cluster go on if all of them wait for each other.
static GOCUDA_RAW void meet_cluster(Block *b) {
    gocuda_u32 live = 0, waiting = 0;
    for (gocuda_u32 i = 0; i < b->mates; i++) live += b->mate[i]->live, waiting += b->mate[i]->waiting;
    if (!waiting || waiting != live) return;
    GOCUDA_ORDER(order_all(self()->worker, b->mates, [b](gocuda_u64 i) { return b->mate[i]; }));
    for (gocuda_u32 i = 0; i < b->mates; i++) {
        splice(b->mate[i]->ready, b->mate[i]->cluster);
        b->mate[i]->waiting = 0;
        moved(b->mate[i]);
    }
}

// arrive_cluster is a barrier of all blocks of a cluster.
GOCUDA_CALL void arrive_cluster() {
    Thread *t = self();
    asm volatile("" ::: "memory");
    tell(t);
    append(t->block->cluster, t);
    t->block->waiting++;
    meet_cluster(t->block);
    suspend(t);
    asm volatile("" ::: "memory");
}

GOCUDA_CALL gocuda_u32 cluster_rank() { return self()->block->rank; }
GOCUDA_CALL gocuda_u32 cluster_size() { return self()->block->mates; }

// cluster_shared is where the cluster's block of that rank has what is at p in the
// shared memory of this one. A block whose threads do not run keeps its static shared
// memory elsewhere.
GOCUDA_CALL void *cluster_shared(void *p, gocuda_u32 rank) {
    Thread *t = self();
    Block *b = t->block;
    gocuda_u64 a = (gocuda_u64)p, s = (gocuda_u64)b->shared;
    if (rank >= b->mates) return nullptr;
    Block *mate = b->mate[rank];
    if (mate == b) return p;
    if (a >= t->tls[0] && a < t->tls[1]) return mate->kept + (a - t->tls[0]);
    if (a - s < t->worker->launch->shared) return mate->shared + (a - s);
    return p;
}

static GOCUDA_RAW void settle(Block *b, Warp *warp);
static GOCUDA_RAW bool converge(Block *b, gocuda_u32 warps);

// A thread that returns without having waited needs nobody's attention: its
// stack goes on with the next, and reports all of them when one waits or there
// are no more.

// leave notes that threads have returned, by the order in which they were
// started: nobody waits for them any more.
static GOCUDA_RAW void leave(Thread *t, gocuda_u32 from, gocuda_u32 to) {
    if (from == to) return;
    Block *b = t->block;
    moved(b);
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
    for (gocuda_u32 left = b->numbered; left; left &= left - 1) meet_at(b, (gocuda_u32)__builtin_ctz(left), t->worker);
    if (b->mates > 1) meet_cluster(b);
}

// tell makes known which threads the stack has started and which have returned.
static __attribute__((noinline)) GOCUDA_RAW void tell(Thread *t) {
    if (t->waited) return; // it was done when it waited first
    t->block->started = t->order + 1;
    leave(t, t->left, t->order);
    t->left = t->order;
}

// place sets which thread of the block the stack runs.
static GOCUDA_RAW void place(Thread *t, gocuda_u32 rank) {
    t->rank = rank;
    t->threadx = rank % t->dimx;
    t->thready = rank / t->dimx % t->dimy;
    t->threadz = rank / t->dimx / t->dimy;
}

// enter readies the stack for the thread that is next in its block.
GOCUDA_CALL bool enter(Thread *t) {
    Worker *w = t->worker;
    gocuda_u32 r = t->block->started;
    if (r == w->threads) {
        t->order = GOCUDA_NOBODY;
        return false;
    }
    t->order = t->left = r;
    t->waited = 0;
    place(t, w->launch->reversed ? w->threads - 1 - r : r);
    return true;
}

// go_on ends the thread that the stack ran, after a wait or where the order is
// not the plain one, and enters the next.
GOCUDA_CALL bool go_on(Thread *t) {
    tell(t);
    leave(t, t->order, t->order + 1);
    return enter(t);
}

// finish reports all threads of the stack once the last of the block has
// returned.
GOCUDA_CALL void finish(Thread *t, gocuda_u32 threads) {
    t->block->started = threads;
    leave(t, t->left, threads);
    t->order = GOCUDA_NOBODY;
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
        for (int i = 0; i < GOCUDA_SAVED; i++) *--top = 0;
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
        for (int k = 0; k < 6; k++) t->accessed[k] = 0;
        t->plain = 0;
        t->budget = GOCUDA_TURN;
        t->turns = t->atomic = t->grid[1] = 0;
    }
    moved(b);
    t->block = b;
    t->order = GOCUDA_NOBODY;
    t->counts = b->counts;
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
    gocuda_u64 past = f.address - (gocuda_u64)w->block->shared;
    if (f.kind == 1 && f.size && past >= l->shared && past < GOCUDA_MOST_SHARED) f.kind = 9, f.address = past, f.line = l->shared;
    if (t && t->order != GOCUDA_NOBODY) {
        if (t->plain) place(t, t->order);
        f.thread[0] = t->threadx, f.thread[1] = t->thready, f.thread[2] = t->threadz;
    } else {
        f.thread[0] = GOCUDA_NOBODY;
    }
    l->failure = f;
}

// fail ends the thread, and with it the launch.
GOCUDA_CALL void fail(gocuda_u32 kind, gocuda_u64 address, gocuda_u32 size, gocuda_u32 write, const char *text, gocuda_u32 line) {
    Thread *t = self();
    Failure f = {};
    f.kind = kind, f.address = address, f.size = size, f.write = write, f.line = line;
    copy_text(f.text, text);
    give_up(t->worker, t, f);
    gocuda_switch(&t->sp, t->worker->sp); // for good: the stacks are started again
}

#if defined(__x86_64__)
// misaligned says whether an instruction that the processor refused, for no
// address that it names, moves what must be aligned.
static GOCUDA_RAW bool misaligned(const gocuda_u8 *pc) {
    while (*pc == 0x66 || *pc == 0xf2 || *pc == 0xf3 || (*pc & 0xf0) == 0x40) pc++;
    if (*pc == 0xc5) pc += 2;
    else if (*pc == 0xc4) pc += 3;
    else if (*pc++ != 0x0f) return false;
    return *pc == 0x28 || *pc == 0x29 || *pc == 0x2b || *pc == 0x6f || *pc == 0x7f || *pc == 0xe7;
}

// fault is where a worker goes on whose thread a signal has stopped
// (signals_linux_amd64.s), on its first stack: nothing goes on that was there.
// How is the signal and, above it, its code. The thread's state, which its stack
// pointer leads to, may be overwritten; the worker is known for certain.
static GOCUDA_RAW void fault(Worker *w, gocuda_u64 how, gocuda_u64 address, gocuda_u64 error, const gocuda_u8 *pc, gocuda_u64 sp) {
    Launch *l = w->launch;
    Thread *t = nullptr;
    if (sp >= (gocuda_u64)w->stacks) t = thread_of(sp & ~(GOCUDA_STACK - 1));
    if (t && (t->worker != w || t->dimx != l->block[0] || t->dimy != l->block[1])) t = nullptr;
    Failure f = {};
    switch ((gocuda_u32)how) {
    case 4: // SIGILL
    case 5: // SIGTRAP
        f.kind = 7;
        break;
    case 8: // SIGFPE
        f.kind = 8;
        break;
    case 7: // SIGBUS
    case 11: // SIGSEGV
        f.kind = 1;
        f.write = error >> 4 & 1 ? 2 : error >> 1 & 1;
        f.address = address;
        if (how >> 32 == 0x80) { // SI_KERNEL: the address is not told
            f.address = ~0ul;
            if ((gocuda_u64)pc - l->image[0] < l->image[1] - l->image[0] && misaligned(pc)) f.kind = 5;
        }
    }
    if (sp < (gocuda_u64)w->stacks) f.kind = 6;
    if (f.kind) give_up(w, t, f);
    w->dead = 1;
    void *nowhere;
    gocuda_switch(&nowhere, w->sp); // for good
}
#else
static GOCUDA_RAW void fault(Worker *, gocuda_u64, gocuda_u64, gocuda_u64, const gocuda_u8 *, gocuda_u64) {}
#endif

// gocuda_overflow is where a function goes that finds no room on the stack.
extern "C" __attribute__((visibility("hidden"), used)) GOCUDA_RAW void gocuda_overflow() { fail(6, 0, 0, 0); }

// gocuda_note_zero notes that the thread divides by zero.
extern "C" __attribute__((visibility("hidden"), used)) GOCUDA_RAW void gocuda_note_zero(gocuda_u32 line) {
    Thread *t = self();
    Launch *l = t->worker->launch;
    if (__atomic_fetch_add(&l->zeros, 1u, __ATOMIC_RELAXED)) return;
    if (t->plain) place(t, t->order);
    l->zero_line = line;
    for (int i = 0; i < 3; i++) l->zero_block[i] = t->block->index[i];
    l->zero_thread[0] = t->threadx, l->zero_thread[1] = t->thready, l->zero_thread[2] = t->threadz;
}

#if defined(__x86_64__)
// gocuda_zero calls it where the compiler counts on every register (asm.go).
#ifdef __AVX__
#define GOCUDA_KEEP(n) "vmovdqu %ymm" #n ", " #n "*32(%rsp)\n"
#define GOCUDA_BACK(n) "vmovdqu " #n "*32(%rsp), %ymm" #n "\n"
#else
#define GOCUDA_KEEP(n) "movdqu %xmm" #n ", " #n "*32(%rsp)\n"
#define GOCUDA_BACK(n) "movdqu " #n "*32(%rsp), %xmm" #n "\n"
#endif
#define GOCUDA_EACH(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11) f(12) f(13) f(14) f(15)
asm(".text\n.globl gocuda_zero\n.hidden gocuda_zero\n.type gocuda_zero, @function\ngocuda_zero:\n"
    "pushq %rbp\nmovq %rsp, %rbp\n"
    "pushq %rax\npushq %rcx\npushq %rdx\npushq %rsi\npushq %r8\npushq %r9\npushq %r10\npushq %r11\n"
    "andq $-32, %rsp\nsubq $512, %rsp\n" GOCUDA_EACH(GOCUDA_KEEP)
    "call gocuda_note_zero\n" GOCUDA_EACH(GOCUDA_BACK)
    "leaq -64(%rbp), %rsp\n"
    "popq %r11\npopq %r10\npopq %r9\npopq %r8\npopq %rsi\npopq %rdx\npopq %rcx\npopq %rax\n"
    "popq %rbp\nret\n.size gocuda_zero, .-gocuda_zero\n");
#endif

// begin readies a block to run.
static GOCUDA_RAW void begin(Worker *w, Block *b, gocuda_u64 number) {
    Launch *l = w->launch;
    gocuda_u64 at = number, within = 0; // counted by clusters
    if (l->cluster[0] > 1) at = number / l->cluster[0], within = number % l->cluster[0];
    b->rank = (gocuda_u32)within;
    b->mates = 1;
    b->mate[0] = b;
    for (int i = 0; i < 3; i++) {
        gocuda_u32 size = l->cluster[0] > 1 ? l->cluster[1 + i] : 1, clusters = l->grid[i] / size;
        b->index[i] = (gocuda_u32)(at % clusters * size + within % size);
        at /= clusters, within /= size;
    }
    b->started = b->arrived = b->count = b->any = b->impatient = b->numbered = 0;
    moved(b);
    b->live = w->threads;
#ifdef GOCUDA_SITES
    b->counts = number < GOCUDA_COUNT_FIRST || number % GOCUDA_COUNT_EVERY == 0;
#else
    b->counts = 1; // each access comes to check.h anyway
#endif
    clear(b->ready);
    clear(b->barrier);
    clear(b->grid);
    clear(b->cluster);
    b->waiting = 0;
    for (gocuda_u32 i = 0; i * 32 < w->threads; i++) {
        gocuda_u32 n = w->threads - i * 32;
        b->warps[i].live = n >= 32 ? ~0u : (1u << n) - 1;
        b->warps[i].ngroups = b->warps[i].converging = 0;
    }
    GOCUDA_ORDER(order_begin(w, b, number));
    GOCUDA_COUNT(count_begin(w, b));
}

// turn runs a block until its threads have ended or wait. It reports whether one
// of them moved.
static GOCUDA_RAW bool turn(Worker *w, Block *b) {
    w->block = b;
    b->moved = 0;
#ifdef GOCUDA_SITES
    asm volatile("movq %0, %%r15" ::"r"(b->counts ? w->nosites : w->trails ? w->traced : w->sites));
#endif
    while (!w->dead) {
        Thread *t = b->ready.first;
        if (t && b->impatient && b->started < w->threads) {
            t = fresh(w, b);
            b->impatient = 0;
        } else if (t && t == b->spinner) {
            b->spinner = nullptr;
            if (__atomic_load_n(&w->launch->stop, __ATOMIC_RELAXED)) w->dead = 1;
            break;
        } else if (t) {
            if (!(b->ready.first = t->next)) b->ready.end = &b->ready.first;
        } else if (b->started < w->threads) {
            t = fresh(w, b);
        } else if (b->live && converge(b, (w->threads + 31) / 32)) {
            continue;
        } else {
            break;
        }
        gocuda_switch(&w->sp, t->sp);
    }
    return b->moved;
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
        for (int k = 0; k < 6; k++)
            __atomic_fetch_add(&w->launch->accessed[k], thread_of((gocuda_u64)w->stacks + GOCUDA_STACK * i)->accessed[k], __ATOMIC_RELAXED);
}

// swap changes whose static shared memory the worker's threads see.
static GOCUDA_RAW void swap(Worker *w, Block *to) {
    Block *from = w->now;
    w->now = to;
    if (!from || from == to) return;
    gocuda_u64 n = w->tls[1] - w->tls[0];
    if (from->live) __builtin_memcpy(from->kept, (void *)w->tls[0], n);
    __builtin_memcpy((void *)w->tls[0], to->kept, n);
}

// held reports whether a block's memory may still be used: by itself or its cluster.
static GOCUDA_RAW bool held(Block *b) {
    for (gocuda_u32 i = 0; i < b->mates; i++)
        if (b->mate[i]->live) return true;
    return b->live;
}

// settle_in readies the block of that number where there is none.
static GOCUDA_RAW Block *settle_in(Launch *l, Worker *w, gocuda_u64 number) {
    gocuda_u64 i = 0;
    while (i < w->slots && held(&w->blocks[i])) i++;
    Block *b = &w->blocks[i];
    if (i == w->slots) {
        w->slots++;
        b->shared = w->shared + ((l->shared + 15ul) & ~15ul) * i;
        b->kept = w->kept + ((w->tls[1] - w->tls[0] + 15ul) & ~15ul) * i;
    }
    begin(w, b, number);
    w->live++;
    return b;
}

// take_cluster readies the blocks of the launch's next cluster. They count as beside
// each other, whatever the limit: they run together or not at all.
static GOCUDA_RAW bool take_cluster(Launch *l, Worker *w) {
    gocuda_u32 size = l->cluster[0];
    if (w->live + size > w->room) return false;
    gocuda_u64 n = __atomic_fetch_add(&l->next, (gocuda_u64)size, __ATOMIC_RELAXED);
    if (n >= l->blocks) return false;
    Block *list[8];
    __atomic_fetch_add(&l->beside, size - !w->live, __ATOMIC_RELAXED);
    for (gocuda_u32 i = 0; i < size; i++) list[i] = settle_in(l, w, n + i);
    for (gocuda_u32 i = 0; i < size; i++) {
        list[i]->mates = size;
        for (gocuda_u32 k = 0; k < size; k++) list[i]->mate[k] = list[k];
    }
    return true;
}

// take readies the launch's next block, if there is one and the device has room.
static GOCUDA_RAW bool take(Launch *l, Worker *w) {
    if (l->cluster[0] > 1) return take_cluster(l, w);
    bool beside = w->live > 0;
    if (__atomic_load_n(&l->next, __ATOMIC_RELAXED) >= l->blocks || w->live == w->room) return false;
    if (beside && __atomic_add_fetch(&l->beside, 1u, __ATOMIC_RELAXED) > l->limit) {
        __atomic_fetch_sub(&l->beside, 1u, __ATOMIC_RELAXED);
        return false;
    }
    gocuda_u64 n = __atomic_fetch_add(&l->next, 1ul, __ATOMIC_RELAXED);
    if (n >= l->blocks) {
        if (beside) __atomic_fetch_sub(&l->beside, 1u, __ATOMIC_RELAXED);
        return false;
    }
    settle_in(l, w, n);
    return true;
}

// round gives each block in progress a turn. It reports whether a thread moved.
static GOCUDA_RAW bool round(Launch *l, Worker *w) {
    bool any = false, ready = false;
    gocuda_u64 live = 0, waiting = 0;
    for (gocuda_u64 i = 0; i < w->slots && !w->dead; i++) {
        Block *b = &w->blocks[i];
        if (!b->live) continue;
        if (b->ready.first || b->started < w->threads) {
            swap(w, b);
            any = turn(w, b) || any;
            w->waited++;
            if (w->dead) return false;
            if (!b->live) {
                if (--w->live) __atomic_fetch_sub(&l->beside, 1u, __ATOMIC_RELAXED);
                continue;
            }
            if (!b->ready.first && (!b->grid.first || !l->cooperative) && !b->waiting) {
                stuck(w);
                return false;
            }
        }
        w->block = b;
        ready = ready || b->ready.first;
        live += b->live;
        for (Thread *t = b->grid.first; t; t = t->next) waiting++;
    }
    if (l->cluster[0] > 1 && !l->cooperative && !ready && live && !any) { // each waits for one that has ended, or waits elsewhere
        stuck(w);
        return false;
    }
    if (!l->cooperative || ready || !live) return any;
    if (waiting < live) {
        stuck(w);
        return false;
    }
    for (gocuda_u64 i = 0; i < w->slots; i++) splice(w->blocks[i].ready, w->blocks[i].grid);
    GOCUDA_ORDER(order_all(w, w->slots, [w](gocuda_u64 i) { return &w->blocks[i]; }));
    return true;
}

// run takes blocks of a launch until there are none left. If none of its blocks'
// threads moves and there is no room for more of them, it reports false: the
// host is to call it again.
static GOCUDA_RAW bool run(Launch *l, Worker *w) {
    for (;;) {
        if (w->dead || __atomic_load_n(&l->stop, __ATOMIC_RELAXED)) return true;
        if (!w->live && !take(l, w)) return true;
        while (l->cooperative && w->live < l->blocks && take(l, w)) {}
        if (round(l, w)) {
            w->stirred = 1;
            w->waited = 0;
        } else if (w->waited >= GOCUDA_PATIENCE && !w->dead && w->live) {
            w->waited = GOCUDA_PATIENCE;
            if (!take(l, w)) return false;
            w->waited = 0;
        }
    }
}

} // namespace gocuda
