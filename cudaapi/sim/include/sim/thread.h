// Threads, blocks and the barriers between them.
//
// A worker (a thread of the CPU) runs one block at a time. The block's threads
// run one after another on one stack for as long as none has to wait; one that
// waits keeps its stack, and the threads after it go on with another. So a
// kernel without barriers is a plain loop, and one with barriers needs a stack,
// not a thread of the CPU, for each thread that waits. Where all threads of a
// block wait, some for memory to change, the worker goes on with a further
// block, as long as the device has room for it.
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

// GOCUDA_RAW functions are compiled without checks of their accesses and of
// their stack.
#ifdef GOCUDA_CHECK
#define GOCUDA_RAW __attribute__((no_sanitize("kernel-address"), no_instrument_function))
#else
#define GOCUDA_RAW __attribute__((no_instrument_function))
#endif
// GOCUDA_LOOP functions, which kernels may become part of, have their stack checked.
#ifdef GOCUDA_CHECK
#define GOCUDA_LOOP __attribute__((no_sanitize("kernel-address"), noinline))
#else
#define GOCUDA_LOOP __attribute__((noinline))
#endif
#define GOCUDA_INLINE inline __attribute__((always_inline))
#define GOCUDA_LAMBDA __attribute__((always_inline, no_instrument_function))
#define GOCUDA_STACK (256ul << 10)
#define GOCUDA_ROOM 320ul // for a Thread
#define GOCUDA_COUNT_FIRST 8 // blocks whose accesses are counted: the first ones
#define GOCUDA_COUNT_EVERY 64 // and some of the others (launch.go knows this too)
#define GOCUDA_NOBODY ~0u // a stack's order while it runs no thread
#define GOCUDA_TURN 100000u // accesses after which a thread lets others run
#define GOCUDA_SITES_SIZE 65536ul // bytes of all sites, a power of two; their trails lie after them
#define GOCUDA_PIECE 12 // bits of an address in a piece of memory (traces.go knows this too)
#define GOCUDA_MARKS 2048ul // bytes of a piece's marks
#define GOCUDA_HEAP (8ul << 20) // bytes of a context's heap (context.go)
#define GOCUDA_MOST_SHARED (256ul << 10) // bytes of shared memory that a block of any GPU has at most, and more
#define GOCUDA_IMAGE_MARKS (16ul << 20) // of a module's own memory, that can be marked
#define GOCUDA_AREAS 8 // (launch.go knows this too)
#define GOCUDA_PATIENCE 200u // turns in which no thread moves, before a further block begins

namespace gocuda {

struct Failure {
    // 0 none, 1 illegal address, 2 assert, 3 trap, 4 deadlock, 5 misaligned, 6 stack overflow,
    // 7 illegal instruction, 8 arithmetic, 9 past the end of dynamic shared memory, of so many bytes
    // (line), at an offset (address), 10 a texture or surface, as the text says, 11 lanes that are missing
    // from what a warp does as one (text)
    gocuda_u32 kind;
    gocuda_u32 size, write, line;
    gocuda_u64 address;
    gocuda_u32 block[3], thread[3];
    char text[256];
};

// Trail is what a site has touched that is not marked yet: from start to before next,
// in a region, from low to before high, of which all is right.
struct Trail {
    gocuda_u64 start, next, low, high;
};

// Launch is one launch of a kernel, filled in by the caller (launch.go has the
// same layout).
struct Launch {
    gocuda_u64 next, blocks; // the next block to run; taken atomically
    gocuda_u32 grid[3], block[3];
    gocuda_u32 shared, cooperative;
    gocuda_u32 beside, limit; // blocks that workers run beside their first, and how many may be
    const gocuda_u8 *params;
    gocuda_u64 base, size, shift; // the devices' address space
    const gocuda_u8 *reachable;   // a byte for each arena of it: may the kernel use it
    const gocuda_u16 *valid;                 // allocated bytes of each granule
    const gocuda_u64 *ranges;                // registered host memory: start, end, ...
    gocuda_u64 nranges;
    gocuda_u64 heap; // what kernels allocate lies there: GOCUDA_HEAP bytes; 0 if there is none
    const gocuda_u64 *regions; // allocations that the arguments point to: start, end, ...
    gocuda_u64 nregions;
    const gocuda_u64 *areas; // what the arguments point to, for the model of time: start, end, ...
    gocuda_u64 nareas;
    gocuda_u64 image[2]; // the module's own memory
    gocuda_u64 accessed[6]; // in the blocks that count them; see below
    // What was touched, if somebody wants to know: marks (traces.go), and which
    // pieces of memory have any.
    char *traces;
    gocuda_u8 *traced;
    gocuda_u32 cluster[4]; // blocks of a cluster, and how many there are in x, y and z; 0 or 1: none
    gocuda_u64 textures; // the table of texture and surface objects (objects.go); 0 where there are none
    gocuda_u32 stop;     // something failed: do not start more blocks
    gocuda_u32 reversed; // start each block's threads from the last to the first
    Failure failure;
    // Divisions by zero: where the first was, and how many there were.
    gocuda_u32 zeros, zero_line, zero_block[3], zero_thread[3];
    gocuda_u64 order; // what is known of who is ordered (runtime/order.h), or counted (runtime/count.h); 0 if nobody asks
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
    gocuda_u32 plain;   // it runs all threads of its block, and keeps only order
    gocuda_u32 counts;  // its accesses are counted
    gocuda_u32 budget;  // accesses outside of device memory left before others get a turn
    gocuda_u32 atomic;  // it is in an atomic operation
    gocuda_u32 turns;   // of a loop that may wait for others: spin.h
    gocuda_u64 before[6]; // what it had accessed when that loop began
    gocuda_u64 base, size, shift;
    const gocuda_u8 *reachable;
    const gocuda_u16 *valid;
    gocuda_u64 tls[2];
    gocuda_u64 accessed[6]; // bytes read and written, loads, stores, bytes of shared memory, barriers
    char *shared; // the block's dynamic shared memory
    Block *block;
    Worker *worker;
    gocuda_u32 answer;  // of a barrier with a number: how many voted, and above it whether all did
    gocuda_u32 grid[2]; // of a worker's first stack: what blocks count when all of a launch meet in PTX
    void *sp;     // while suspended
    Thread *next; // in a queue
};

static_assert(sizeof(Thread) <= GOCUDA_ROOM);

struct Queue {
    Thread *first, **end;
};

// Barrier is one of so many threads, by its number. It counts warps whose threads have all arrived.
struct Barrier {
    gocuda_u32 threads; // 0: all
    gocuda_u32 warps;   // that have threads here
    gocuda_u32 here[32], yes[32]; // their lanes, and those that voted
    Queue queue;
};

// Block is a block in progress.
struct Block {
    gocuda_u32 index[3];
    gocuda_u32 started, live, arrived;
    gocuda_u32 counts; // accesses are counted, for the model of time
    gocuda_u32 impatient; // a thread has given its turn to those that have not started
    gocuda_u32 moved;     // a thread did more than look whether it may go on
    Thread *spinner;      // the first that only looked since then
    gocuda_u32 count, any, result_count, result_any, result_all;
    Queue ready, barrier, grid;
    Queue cluster;                       // who waits for the cluster's threads, ...
    gocuda_u32 waiting, rank, mates;     // ... how many they are; its number in the cluster of so many blocks
    Block *mate[8];
    gocuda_u32 numbered; // barriers that somebody has come to
    void *order;         // what is known of its threads (runtime/order.h, runtime/count.h)
    Barrier barriers[16];
    char *shared; // dynamic shared memory
    char *kept;   // static shared memory while another block runs here
    Warp warps[32];
};

// Worker is a thread of the CPU at work (workers.go has the same layout up to
// local). It runs one block at a time; if blocks wait for each other, it goes
// round several.
struct Worker {
    char *stacks; // GOCUDA_STACK bytes each
    gocuda_u64 nstacks;
    Block *blocks;   // one for each of so many in progress
    char *shared;    // dynamic shared memory of them all
    char *kept;      // static shared memory of them all, where there are several
    gocuda_u64 room; // how many this launch may have in progress here
    gocuda_u64 used; // stacks that have been used
    gocuda_u64 tls[2];
    gocuda_u64 *sites, *nosites; // see check.h
    gocuda_u64 *traced; // sites that no access fits, with a trail each, ...
    gocuda_u8 *kinds;   // and what these are of: bits as trace has them, 0 for nothing
    gocuda_u64 trails;  // how many; 0 if nobody wants to know what is touched
    gocuda_u64 touched[2 * GOCUDA_AREAS + 2]; // bytes read and written in each area, and elsewhere
    void (*fault)(Worker *, gocuda_u64, gocuda_u64, gocuda_u64, const gocuda_u8 *, gocuda_u64); // block.h
    gocuda_u64 image[2];         // the module's memory
    gocuda_u32 halt;             // the host wants the thread that runs to end, wherever it is
    gocuda_u32 faulted;          // a signal has ended the launch here
    gocuda_u32 tid;              // the host's
    gocuda_u32 poke;             // let other threads of the block run: set now and then by the host
    gocuda_u32 begun;            // 0 before the launch's first call
    // local
    Launch *launch;
    void (*body)(Thread *);
    gocuda_u64 slots, live; // of blocks: used so far, in progress
    gocuda_u64 waited;      // turns of blocks since a thread moved
    Block *block; // whose threads run
    Block *now;   // whose static shared memory is in place
    void *sp;     // of the scheduler below, while a thread runs
    gocuda_u32 threads;
    gocuda_u32 patience; // changes until others come in between: races.h
    gocuda_u32 dead; // a thread failed: the launch is given up
    gocuda_u32 stirred; // a thread moved since the host was last told
    Thread *idle;    // stacks without a thread
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

// store writes one, at once: who looks may come by a signal.
static GOCUDA_INLINE void store(gocuda_u32 &field, gocuda_u32 v) {
#if defined(__x86_64__)
    asm volatile("movl %1, %0" : "=m"(field) : "r"(v));
#else
    asm volatile("str %w1, %0" : "=m"(field) : "r"(v));
#endif
}

// Atomic is the time of an atomic operation.
struct Atomic {
#ifdef GOCUDA_CHECK
    GOCUDA_INLINE GOCUDA_RAW Atomic() { store(self()->atomic, 1); }
    GOCUDA_INLINE GOCUDA_RAW ~Atomic() { store(self()->atomic, 0); }
#endif
};

static GOCUDA_INLINE void *load(char *const &field) {
    void *v;
#if defined(__x86_64__)
    asm("movq %1, %0" : "=r"(v) : "m"(field));
#else
    asm("ldr %0, %1" : "=r"(v) : "m"(field));
#endif
    return v;
}

} // namespace gocuda
